//! PTX of a suite's codes. What was compiled once is kept, by a hash of all that went into it.

use super::Code;
use anyhow::{Context, Result, bail};
use cuda_builder::write_whole;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The architecture that everything is compiled for.
const ARCH: &str = "sm_80";

/// The argument with which nvcc leaves what nobody reads: tests often race on what nobody reads.
pub const UNOPTIMIZED: &str = "-G";

/// Sources that are compiled at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// The source, or what includes several.
    pub text: String,
    /// The files that it includes and that the hash covers.
    pub sources: Vec<PathBuf>,
    /// Headers that stand in for those of the suite, by name.
    pub headers: Vec<(&'static str, &'static str)>,
    /// More arguments of nvcc.
    pub arguments: Vec<String>,
}

impl Unit {
    /// A source of a suite as it is.
    pub fn of_file(source: PathBuf) -> Unit {
        let text = format!("#include \"{}\"\n", source.display());
        Unit { text, sources: vec![source], ..Unit::default() }
    }
}

pub struct Compiler<'a> {
    pub nvcc: &'a Path,
    pub include: &'a [PathBuf],
    pub scratch: &'a Path,
}

impl Compiler<'_> {
    /// Compiles every unit of the codes, on all processors, and tells each job its PTX, and each code nvcc's errors.
    pub fn compile(&self, codes: &mut [Code]) -> Result<()> {
        let mut units: BTreeMap<&Unit, PathBuf> = BTreeMap::new();
        for code in codes.iter() {
            if !units.contains_key(&code.unit) {
                units.insert(&code.unit, self.target(&code.unit)?);
            }
        }
        let work = Mutex::new(units.iter().filter(|(_, target)| !target.exists()));
        let (outcome, refused) = (Mutex::new(Ok(())), Mutex::new(BTreeMap::new()));
        let compile = || {
            while let Some((unit, target)) = work.lock().ok().and_then(|mut work| work.next()) {
                let why = self.build(unit, target);
                if let Ok(mut refused) = refused.lock()
                    && let Ok(Some(why)) = &why
                {
                    refused.insert(target, why.clone());
                }
                if let Ok(mut outcome) = outcome.lock()
                    && let Err(error) = why
                {
                    *outcome = Err(error);
                }
            }
        };
        let threads = std::thread::available_parallelism()?.get();
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(compile))));
        outcome.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)?;
        let refused = refused.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let told = codes.iter().map(|code| {
            let target = &units[&code.unit];
            (target.clone(), refused.get(target).cloned())
        });
        let told: Vec<_> = told.collect();
        for (code, (target, why)) in codes.iter_mut().zip(told) {
            (code.job.ptx, code.refusal) = (target, why);
        }
        Ok(())
    }

    fn target(&self, unit: &Unit) -> Result<PathBuf> {
        let mut hash = Sha256::new();
        hash.update(format!("{ARCH} {} {unit:?}", self.nvcc.display()));
        for source in &unit.sources {
            let bytes = std::fs::read(source)
                .with_context(|| format!("cannot read {}", source.display()))?;
            hash.update(bytes);
        }
        let name: String = hash.finalize().iter().take(8).map(|it| format!("{it:02x}")).collect();
        Ok(self.scratch.join(name).with_extension("ptx"))
    }

    /// Compiles a unit, or returns why nvcc refuses it.
    fn build(&self, unit: &Unit, target: &Path) -> Result<Option<String>> {
        let folder = tempfile::tempdir()?;
        for (name, text) in unit.headers.iter().copied().chain([("unit.cu", &*unit.text)]) {
            std::fs::write(folder.path().join(name), text)?;
        }
        let output = folder.path().join("unit.ptx");
        let mut nvcc = Command::new(self.nvcc);
        nvcc.args(["-ptx", "-std=c++17", "-w", "-lineinfo", "-arch", ARCH]).args(&unit.arguments);
        for folder in self.include.iter().map(PathBuf::as_path).chain([folder.path()]) {
            nvcc.arg("-I").arg(folder);
        }
        let outcome = nvcc.arg(folder.path().join("unit.cu")).arg("-o").arg(&output).output();
        let outcome = outcome.with_context(|| {
            format!("cannot start {}: name the compiler by --nvcc", self.nvcc.display())
        })?;
        if outcome.status.success() {
            let text = std::fs::read(&output)?;
            write_whole(target, &text)?;
            return Ok(None);
        }
        let errors = String::from_utf8_lossy(&outcome.stderr).into_owned();
        let first = errors.lines().find_map(|line| line.split_once("error: "));
        Ok(Some(first.map_or("nvcc failed", |(_, why)| why).trim().to_owned()))
    }
}

pub fn version(nvcc: &Path) -> Result<String> {
    let output = Command::new(nvcc).arg("--version").output().context("cannot start nvcc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let release = text.split("release ").nth(1).and_then(|rest| rest.split(',').next());
    let Some(release) = release else { bail!("nvcc does not say its release") };
    Ok(release.to_owned())
}
