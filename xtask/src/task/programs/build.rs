use super::suite::{How, Program};
use crate::workspace;
use anyhow::{Context, Result};
use cuda_builder::write_whole;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// In front of nvcc, so that Makefiles need no change.
const WRAPPER: &str = include_str!("nvcc.sh");
/// The seconds that a program may take to compile.
const LIMIT: &str = "300";

pub struct Toolkit {
    nvcc: PathBuf,
    include: Vec<PathBuf>,
    /// The wrapper's folder, and that of the libraries by the names that a linker asks for.
    programs: PathBuf,
    libraries: PathBuf,
}

impl Toolkit {
    pub fn new(nvcc: &Path, include: &[PathBuf], folder: &Path) -> Result<Toolkit> {
        let nvcc = which::which(nvcc).with_context(|| {
            format!("there is no {}: name the compiler by --nvcc", nvcc.display())
        })?;
        let nvcc = nvcc.canonicalize().context("cannot find the compiler")?;
        let include = include.iter().map(|folder| {
            folder.canonicalize().with_context(|| format!("there is no {}", folder.display()))
        });
        let include = include.collect::<Result<_>>()?;
        let (programs, libraries) = (folder.join("bin"), folder.join("lib"));
        for folder in [&programs, &libraries] {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let wrapper = programs.join("nvcc");
        write_whole(&wrapper, WRAPPER.as_bytes())?;
        std::fs::set_permissions(&wrapper, PermissionsExt::from_mode(0o755))
            .with_context(|| format!("cannot make {} a program", wrapper.display()))?;
        // A wheel has libraries with their versions only.
        let home = nvcc.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        for place in ["lib", "lib64"] {
            let entries = std::fs::read_dir(home.join(place)).into_iter().flatten().flatten();
            for entry in entries {
                let name = entry.file_name().to_string_lossy().into_owned();
                let plain = name.split_inclusive(".so").next().unwrap_or(&name).to_owned();
                link(&entry.path(), &libraries.join(plain))?;
            }
        }
        link(&workspace::virtual_libcuda(), &libraries.join("libcuda.so"))?;
        Ok(Toolkit { nvcc, include, programs, libraries })
    }

    pub fn version(&self) -> Result<String> {
        let output = Command::new(&self.nvcc).arg("--version").output();
        let output = output.context("cannot start nvcc")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let release = text.split("release ").nth(1).and_then(|rest| rest.split(',').next());
        Ok(release.unwrap_or("of unknown release").to_owned())
    }

    /// The folder of NVIDIA's runtime.
    pub fn runtime(&self) -> PathBuf {
        let home = self.nvcc.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let folder = home.join("lib64");
        if folder.is_dir() { folder } else { home.join("lib") }
    }

    /// A command for which `nvcc` is the wrapper.
    fn command(&self, program: &str, folder: &Path) -> Result<Command> {
        let mut paths = vec![self.programs.clone()];
        paths.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
        let paths = std::env::join_paths(paths).context("PATH cannot hold the folder")?;
        let include = self.include.iter().map(|folder| format!("-I {} ", folder.display()));
        let mut command = Command::new("timeout");
        command.args([LIMIT, program]).current_dir(folder).env("PATH", paths);
        command.env("COALESCE_NVCC", &self.nvcc).env("COALESCE_TOOLKIT_LIB", &self.libraries);
        command.env("NVCC_PREPEND_FLAGS", include.collect::<String>());
        Ok(command)
    }
}

/// Makes a link to a file, or makes it anew.
fn link(file: &Path, place: &Path) -> Result<()> {
    match std::fs::remove_file(place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot replace {}", place.display()));
        }
        _ => {}
    }
    std::os::unix::fs::symlink(file, place)
        .with_context(|| format!("cannot create {}", place.display()))
}

/// The way to start a built program.
pub struct Start {
    /// The folder where it runs, relative to the program's.
    pub folder: String,
    /// The program, relative to that folder.
    pub file: String,
    /// Its own arguments.
    pub arguments: String,
}

impl Program {
    /// Builds the program; how it is started, or why it was not built.
    pub fn build(&self, toolkit: &Toolkit) -> Result<Result<Start, String>> {
        match &self.how {
            How::NoMakefile => Ok(Err("it has no Makefile".to_owned())),
            How::Make => {
                let built = toolkit.command("make", &self.folder)?.output();
                let built = built.context("cannot start make")?;
                if !built.status.success() {
                    return Ok(Err(first_error(&built)));
                }
                let plan = toolkit.command("make", &self.folder)?.args(["-n", "run"]).output();
                let plan = plan.context("cannot start make")?;
                Ok(Ok(start(&String::from_utf8_lossy(&plan.stdout))))
            }
            How::Nvcc { arguments, kernels } => {
                for kernel in kernels {
                    let mut nvcc = toolkit.command("nvcc", &self.folder)?;
                    nvcc.args(["-I../../../Common", kernel.flag, "-o", &kernel.name]);
                    let built = nvcc.arg(&kernel.source).output().context("cannot start nvcc")?;
                    if !built.status.success() {
                        return Ok(Err(first_error(&built)));
                    }
                }
                let file = format!("./{}", workspace_name(&self.name));
                if !self.folder.join(&file).exists() {
                    let mut nvcc = toolkit.command("nvcc", &self.folder)?;
                    let built = nvcc.args(arguments).args(["-o", &file]).output();
                    let built = built.context("cannot start nvcc")?;
                    if !built.status.success() {
                        return Ok(Err(first_error(&built)));
                    }
                }
                Ok(Ok(Start { folder: String::new(), file, arguments: String::new() }))
            }
        }
    }
}

/// The name of the built file.
fn workspace_name(name: &str) -> String {
    format!("{}.built", name.rsplit('/').next().unwrap_or(name))
}

/// The program and its arguments in the commands of a Makefile's target `run`, and the folder that they change to.
fn start(commands: &str) -> Start {
    let commands = commands.replace("\\\n", " ");
    let words = commands.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let found = words.into_iter().find_map(|words| {
        // What ends so is the reference beside a program.
        let is_program = |word: &&str| {
            (word.starts_with("./") || word.starts_with("../")) && !word.ends_with("-cpu")
        };
        let place = words.iter().position(is_program)?;
        let folder = match words[..place] {
            ["cd", folder, "&&", ..] => folder,
            _ => "",
        };
        Some((folder.to_owned(), words[place..].to_vec()))
    });
    // Or a program in a folder of its own.
    let is_inner = |words: &Vec<&str>| words.first().is_some_and(|word| word.contains("/bin/"));
    let mut lines = commands.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let found = found.or_else(|| Some((String::new(), lines.find(is_inner)?)));
    let (folder, words) = found.unwrap_or_else(|| (String::new(), vec!["./main"]));
    let arguments = words[1..].iter().take_while(|word| {
        !word.starts_with(['>', '|', '&', ';', '2']) || word.parse::<f64>().is_ok()
    });
    let arguments: Vec<&str> = arguments.copied().collect();
    Start { folder, file: words[0].to_owned(), arguments: arguments.join(" ") }
}

/// The first error of a compiler or linker, without its place.
fn first_error(output: &Output) -> String {
    if output.status.code() == Some(124) {
        return format!("nvcc takes more than {LIMIT} s");
    }
    let text = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let marks = [
        "fatal error: ",
        "error: ",
        "fatal   : ",
        "cannot find ",
        "undefined reference to ",
        "ModuleNotFoundError: ",
        "*** ",
    ];
    let found = text.lines().find_map(|line| {
        marks.iter().find_map(|mark| {
            let (_, rest) = line.split_once(mark)?;
            let is_whole = mark.starts_with("cannot") || mark.starts_with("undefined");
            Some(if is_whole { format!("{mark}{rest}") } else { rest.to_owned() })
        })
    });
    found.unwrap_or_else(|| "it does not compile".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_makefile_says_how_a_program_is_started() {
        let found = start(" ./main -n 100 ../data/in.txt 2 > out\n./main 5\n");
        assert_eq!((&*found.file, &*found.arguments), ("./main", "-n 100 ../data/in.txt 2"));
        assert_eq!(start("./main -a \\\n -b\n").arguments, "-a -b");
        assert_eq!(start("").file, "./main");
        assert_eq!(start("./main-cpu in.txt\n./main in.txt\n").file, "./main");
        assert_eq!(start("build/bin/kernel in.txt\n").file, "build/bin/kernel");
        let found = start("cd data && ../main in.txt && cd ..\n");
        assert_eq!([found.folder, found.file, found.arguments], ["data", "../main", "in.txt"]);
    }
}
