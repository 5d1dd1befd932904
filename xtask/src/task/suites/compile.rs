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

/// What is compiled at once.
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
    pub scratch: &'a Path,
}

impl Compiler<'_> {
    /// Compiles every unit of the codes, on all processors, and tells each job its PTX. A code that does not compile has a PTX
    /// that is not there.
    pub fn compile(&self, codes: &mut [Code]) -> Result<()> {
        let mut units: BTreeMap<&Unit, PathBuf> = BTreeMap::new();
        for code in codes.iter() {
            if !units.contains_key(&code.unit) {
                units.insert(&code.unit, self.target(&code.unit)?);
            }
        }
        let work = Mutex::new(units.iter().filter(|(_, target)| !target.exists()));
        let outcome = Mutex::new(Ok(()));
        let compile = || {
            while let Some((unit, target)) = work.lock().ok().and_then(|mut work| work.next()) {
                if let Err(error) = self.build(unit, target)
                    && let Ok(mut outcome) = outcome.lock()
                {
                    *outcome = Err(error);
                }
            }
        };
        let threads = std::thread::available_parallelism()?.get();
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(compile))));
        outcome.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)?;
        let targets: Vec<PathBuf> = codes.iter().map(|code| units[&code.unit].clone()).collect();
        for (code, target) in codes.iter_mut().zip(targets) {
            code.job.ptx = target;
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

    /// Compiles a unit; where nvcc refuses it, what it says is kept in place of the PTX.
    fn build(&self, unit: &Unit, target: &Path) -> Result<()> {
        let folder = tempfile::tempdir()?;
        for (name, text) in unit.headers.iter().copied().chain([("unit.cu", &*unit.text)]) {
            std::fs::write(folder.path().join(name), text)?;
        }
        let output = folder.path().join("unit.ptx");
        let mut nvcc = Command::new(self.nvcc);
        nvcc.args(["-ptx", "-std=c++17", "-w", "-lineinfo", "-arch", ARCH]).args(&unit.arguments);
        nvcc.arg("-I").arg(folder.path());
        let outcome = nvcc.arg(folder.path().join("unit.cu")).arg("-o").arg(&output).output();
        let outcome = outcome.with_context(|| {
            format!("cannot start {}: name the compiler by --nvcc", self.nvcc.display())
        })?;
        if outcome.status.success() {
            let text = std::fs::read(&output)?;
            return Ok(write_whole(target, &text)?);
        }
        let errors = String::from_utf8_lossy(&outcome.stderr).into_owned();
        let first = errors.lines().find(|line| line.contains("error")).unwrap_or("nvcc failed");
        eprintln!("{}: {first}", unit.sources.first().map_or(Path::new("?"), |it| it).display());
        Ok(())
    }
}

/// The release of the compiler.
pub fn version(nvcc: &Path) -> Result<String> {
    let output = Command::new(nvcc).arg("--version").output().context("cannot start nvcc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let release = text.split("release ").nth(1).and_then(|rest| rest.split(',').next());
    let Some(release) = release else { bail!("nvcc does not say its release") };
    Ok(release.to_owned())
}
