use super::cuda_program::CudaProgram;
use super::explain_ptx::{Check, CheckArguments, FOUND};
use super::interrupt::INTERRUPTED;
use super::ptxas;
use super::shared::{WrongArgument, sarif, writable};
use super::terminal::error_screen;
use crate::catalogue::Catalogue;
use crate::os;
use ::report::profile;
use ::report::screen::Screen;
use ::results::{Advice, FailOn, ProgramProfile, write, write_somewhere};
use anyhow::{Context, Result};
use cuda_host::Choice;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use tempfile::TempDir;

/// A library of ours that takes the place of one of NVIDIA's.
struct Library {
    /// The file that cargo makes of it, and the package.
    file: &'static str,
    package: &'static str,
    /// The names under which programs ask for it; an archive of ours has it by the first.
    names: &'static [&'static str],
    /// The variable that names the file where it is not beside this program.
    variable: &'static str,
    /// The file itself, in a program that was built to carry it: one that `cargo install` takes away from its folder.
    bundled: Option<&'static [u8]>,
}

// Documentation is made without the libraries.
#[cfg(all(feature = "bundled-libcuda", target_os = "linux", not(doc)))]
macro_rules! bundled {
    ($variable:literal) => {
        Some(include_bytes!(env!($variable)))
    };
}
#[cfg(not(all(feature = "bundled-libcuda", target_os = "linux", not(doc))))]
macro_rules! bundled {
    ($variable:literal) => {
        None
    };
}

const DRIVER: Library = Library {
    file: "libvirtual_libcuda.so",
    package: "coalesce-virtual-libcuda",
    names: &["libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1"],
    variable: "COALESCE_VIRTUAL_LIBCUDA",
    bundled: bundled!("COALESCE_BUILT_LIBCUDA"),
};
const RUNTIME: Library = Library {
    file: "libvirtual_libcudart.so",
    package: "coalesce-virtual-libcudart",
    names: &["libcudart.so.13", "libcudart.so.12", "libcudart.so"],
    variable: "COALESCE_VIRTUAL_LIBCUDART",
    bundled: bundled!("COALESCE_BUILT_LIBCUDART"),
};

/// The exit code where a program succeeded and no kernel was recorded.
const NO_KERNEL: u8 = 5;

/// A device of PyTorch whose tensors lie in host memory.
const TORCH: &str = include_str!("../python/coalesce_torch.py");
const TORCH_FILE: &str = "coalesce_torch.py";

/// Run a CUDA program on the virtual GPU, and print what its kernels did: requests, sectors, bank
/// conflicts, hazards with their lines, leaks, misuse of the driver, predicted times, and advice.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM run -- ./program args\n  PROGRAM run --check --report pages -- python3 train.py\n  PROGRAM run --check --torch -- python3 train_with_pytorch_and_triton.py\n  PROGRAM run --device virtual:a100 --check --fail-on hazards -- ./program\n\nThe exit code is the program's; 4 when something was found that --fail-on names; 5 when the program succeeded and no kernel was recorded; 128 and the signal's number when a signal ended the program; 130 when it was interrupted and failed."
)]
pub struct Arguments {
    /// The virtual device: virtual, virtual:PROFILE, virtual:PROFILExN, or virtual:FILE.json. With gpu or gpu:N, a program that is linked to the CUDA runtime runs on the GPU by our runtime, and nothing is counted.
    #[arg(long, value_name = "DEVICE", default_value = "virtual")]
    device: Choice,
    #[command(flatten)]
    checks: CheckArguments,
    /// Findings that make the run fail with exit code 4: hazards, misuse, leaks, any or none. The default is any with --check, else none.
    #[arg(long, value_name = "FINDINGS")]
    fail_on: Option<FailOn>,
    /// The program is `python` with a PyTorch script: its tensors on "cuda" lie in host memory, operators run on the CPU, and kernels of Triton on the virtual GPU.
    #[arg(long)]
    torch: bool,
    /// Only kernels whose name has this text.
    #[arg(long, value_name = "TEXT")]
    kernel: Option<String>,
    /// Take a kernel to run forever after so many warp-instructions (20000000000 without this option), and say where it is.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Show lines of source files below this folder, too: without it only of those below the working folder.
    #[arg(long, value_name = "DIR")]
    sources: Vec<PathBuf>,
    /// Print every line and all advice, where a terminal gets the longest kernels.
    #[arg(long)]
    all: bool,
    /// Write pages for a browser into this folder.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Write the profile to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write what was found to this file as SARIF, for editors and code scanning.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write the timeline to this file, for chrome://tracing or ui.perfetto.dev.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    if let Some(why) = os::RUN_REFUSAL {
        return Err(WrongArgument(why.to_owned()).into());
    }
    let (name, program) =
        (arguments.program[0].to_string_lossy(), CudaProgram::named(&arguments.program[0]));
    let machine = match &arguments.device {
        Choice::Virtual(name) => format!("virtual:{name}"),
        Choice::Auto => "virtual".to_owned(),
        Choice::Gpu(index) => return on_gpu(arguments, &program, *index),
        Choice::AllGpus => return on_gpu(arguments, &program, 0),
    };
    if let Some(why) = program.refusal(&name, false) {
        return Err(WrongArgument(why).into());
    }
    if let Some(note) = program.note(&name) {
        eprintln!("Note: {note}.");
    }
    // Before the program starts, not after it has worked for hours.
    for file in [&arguments.json, &arguments.sarif, &arguments.trace].into_iter().flatten() {
        writable(file)?;
    }
    if let Some(folder) = &arguments.report {
        ::report::check_folder(folder).map_err(|error| WrongArgument(format!("{error:#}")))?;
    }
    remove_leftovers();
    let folder = private_folder()?;
    let _lock = locked(folder.path())?;
    for library in [&DRIVER, &RUNTIME] {
        library.put_in_front(folder.path())?;
    }
    // What assembles its PTX itself gets the PTX back, which the virtual GPU takes.
    let this = std::env::current_exe().context("cannot find where this program is")?;
    os::link(&this, &folder.path().join(ptxas::NAME))
        .context("cannot put an assembler in front of the program")?;
    if arguments.torch {
        check_python(&arguments.program)?;
        std::fs::write(folder.path().join(TORCH_FILE), TORCH)
            .context("cannot put PyTorch's device in front of the program")?;
    }
    let mut command = command(arguments, folder.path())?;
    profiled(&mut command, arguments, &machine, folder.path())?;
    let status = finished(command, &arguments.program[0], folder.path())?;
    let taught = |advice: &Advice| catalogue.taught(advice.kind);
    let Some(profile) = collected(folder.path())? else {
        eprintln!(
            "`{name}` never loaded libcuda.so.1 or libcudart.so, so there is nothing to profile: it has to use the driver API or the runtime API, linked or opened by name"
        );
        tell_end(status, folder.path());
        return Ok(if status.success() { ExitCode::from(NO_KERNEL) } else { code_of(status) });
    };
    // What the program writes to standard output stays its own.
    match error_screen() {
        Some(screen) if !arguments.all => {
            eprint!("\n{}", profile::screen(&profile, &taught, &screen));
            let pages = if arguments.report.is_some() { "" } else { "; pages: --report FOLDER" };
            eprintln!("\n{}", screen.wrap(&format!("All of it, line by line: --all{pages}")));
        }
        whole => {
            let shown = whole.unwrap_or(Screen::PIPE);
            eprint!("\n{}", profile::text(&profile, &taught, &shown));
        }
    }
    tell_end(status, folder.path());
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&profile).context("a profile is plain data")?;
        write_somewhere(path, (text + "\n").as_bytes())?;
    }
    if let Some(path) = &arguments.trace {
        write_somewhere(path, profile::chrome_trace(&profile.timeline).as_bytes())?;
    }
    if let Some(folder) = &arguments.report {
        profile::pages(&profile, &taught, folder)?;
        eprintln!("\nReport, for a browser: {}", folder.join("index.html").display());
    }
    let is_interrupted = os::was_interrupted();
    if let Some(path) = &arguments.sarif {
        let mut findings = sarif("run", &subject(&arguments.program))?;
        findings.add_profile(&profile);
        if is_interrupted {
            findings.set_interrupted();
        }
        findings.save(path)?;
    }
    let checks = arguments.checks.check != Check::None;
    let fail_on = arguments.fail_on.unwrap_or(if checks { FailOn::Any } else { FailOn::None });
    let found = profile.findings(fail_on);
    if found > 0 {
        eprintln!("\nFailed: {found} finding{}.", if found == 1 { "" } else { "s" });
    }
    if is_interrupted && (found > 0 || !status.success()) {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if found > 0 {
        return Ok(ExitCode::from(FOUND));
    }
    if profile.kernels.is_empty() && status.success() {
        if let Some(text) = &arguments.kernel {
            eprintln!("\nNo kernel whose name has `{text}` ran.");
        }
        return Ok(ExitCode::from(NO_KERNEL));
    }
    Ok(code_of(status))
}

/// The file that is said to have what no source is known of: the script of an interpreter, else the program.
fn subject(program: &[OsString]) -> String {
    let is_text = |word: &&OsString| Path::new(word).extension().is_some_and(|it| it == "py");
    let script = program[1..].iter().find(is_text);
    script.unwrap_or(&program[0]).to_string_lossy().into_owned()
}

/// Runs a program on the GPU, with our runtime in place of NVIDIA's.
fn on_gpu(arguments: &Arguments, program: &CudaProgram, index: u32) -> Result<ExitCode> {
    let name = &arguments.program[0];
    let shown = name.to_string_lossy();
    if let Some(why) = program.refusal(&shown, true) {
        return Err(WrongArgument(why).into());
    }
    if !program.takes_our_runtime() {
        let message = format!(
            "a GPU counts nothing, and a program that is to run on it needs no wrapper: start `{shown}` by itself, or name a virtual device, such as --device virtual:a100"
        );
        return Err(WrongArgument(message).into());
    }
    let folder = private_folder()?;
    let _lock = locked(folder.path())?;
    RUNTIME.put_in_front(folder.path())?;
    let mut command = command(arguments, folder.path())?;
    command.env_remove("COALESCE_DEVICE");
    if index > 0 {
        command.env("CUDA_VISIBLE_DEVICES", index.to_string());
    }
    eprintln!(
        "`{shown}` runs on the GPU by our runtime, for comparison: nothing is counted or checked there."
    );
    let status = finished(command, name, folder.path())?;
    tell_end(status, folder.path());
    Ok(code_of(status))
}

/// Makes a temporary folder for the libraries and the profile.
fn private_folder() -> Result<TempDir> {
    // Private: the profile has source lines. The error's own text has a name that means nothing to the reader.
    let mut private = tempfile::Builder::new();
    private.prefix(PREFIX);
    os::make_private(&mut private);
    private.tempdir().map_err(|error| {
        let (place, cause) = (std::env::temp_dir(), error.kind());
        anyhow::anyhow!(
            "cannot make a temporary folder for the profile in {}: {cause}; set TMPDIR to a folder that takes files",
            place.display()
        )
    })
}

/// The begin of the temporary folders' names, in which the processes of a program leave their profiles.
const PREFIX: &str = "coalesce-run-";
/// The file in such a folder that a run locks as long as it lives.
const LOCK: &str = "lock";

/// Locks a folder of this run; the system takes the lock away when this process ends, however it does.
fn locked(folder: &Path) -> Result<File> {
    // Under its name it is locked from the first moment on.
    let path = folder.join("new");
    let make = || {
        let file = File::create(&path)?;
        file.lock()?;
        std::fs::rename(&path, folder.join(LOCK))?;
        Ok::<_, std::io::Error>(file)
    };
    make().with_context(|| format!("cannot lock {}", path.display()))
}

/// Removes the folders of runs that were killed. What cannot be removed is another user's, and stays.
fn remove_leftovers() {
    let entries = std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for folder in named.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir())) {
        let lock = File::open(folder.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

/// Checks that `--torch` has a Python to work with.
fn check_python(program: &[OsString]) -> Result<()> {
    let name = Path::new(&program[0]).file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("python") && program.len() > 1 {
        return Ok(());
    }
    let message = "--torch takes a program of Python: write `-- python SCRIPT`, `-- python -m MODULE` (such as pytest) or `-- python -c TEXT`";
    Err(WrongArgument(message.to_owned()).into())
}

/// The program, with our libraries in front.
fn command(arguments: &Arguments, folder: &Path) -> Result<Command> {
    let (program, rest) = arguments.program.split_first().expect("clap asks for one");
    let mut paths = vec![folder.to_owned()];
    paths.extend(std::env::var_os("LD_LIBRARY_PATH").iter().flat_map(std::env::split_paths));
    let paths = std::env::join_paths(paths).with_context(|| {
        format!(
            "LD_LIBRARY_PATH cannot hold {}: set TMPDIR to a folder without `:` in its name",
            folder.display()
        )
    })?;
    let mut command = Command::new(program);
    if arguments.torch {
        let mut paths = vec![folder.to_owned()];
        paths.extend(std::env::var_os("PYTHONPATH").iter().flat_map(std::env::split_paths));
        let paths = std::env::join_paths(paths).context("PYTHONPATH cannot hold the folder")?;
        command.env("PYTHONPATH", paths).env("COALESCE_REGISTERED", "device");
        command.args(["-m", "coalesce_torch"]);
    }
    command.args(rest).env("LD_LIBRARY_PATH", paths);
    Ok(command)
}

/// Tells the libraries what to collect of the program.
fn profiled(
    command: &mut Command,
    arguments: &Arguments,
    machine: &str,
    folder: &Path,
) -> Result<()> {
    command.env("COALESCE_DEVICE", machine).env("COALESCE_COLLECT", folder);
    for variable in ptxas::VARIABLES {
        command.env(variable, folder.join(ptxas::NAME));
    }
    command.env("TRITON_LIBCUDA_PATH", folder);
    let sources =
        std::env::join_paths(&arguments.sources).context("--sources cannot hold a `:`")?;
    command.env("COALESCE_SOURCES", sources);
    command.env("COALESCE_CHECK", arguments.checks.check.name());
    command.env("COALESCE_SCHEDULES", arguments.checks.schedules.to_string());
    command
        .env("COALESCE_LIMIT", arguments.limit.map_or_else(String::new, |limit| limit.to_string()));
    command.env("COALESCE_KERNEL", arguments.kernel.as_deref().unwrap_or_default());
    // These are written here, once for all processes of the program.
    for name in ["COALESCE_REPORT", "COALESCE_JSON", "COALESCE_TRACE", "COALESCE_FAIL_ON"] {
        command.env_remove(name);
    }
    Ok(())
}

/// The file to which each interrupt adds a byte: the program's library reads it, and ends the launch under way.
const INTERRUPTS: &str = "interrupts";

/// Runs the program to its end.
fn finished(mut command: Command, program: &OsStr, folder: &Path) -> Result<ExitStatus> {
    let interrupts = folder.join(INTERRUPTS);
    let file = File::create(&interrupts);
    let file = file.with_context(|| format!("cannot make {}", interrupts.display()))?;
    let ended = os::run_to_end(&mut command, &file);
    ended.with_context(|| format!("cannot start `{}`", program.to_string_lossy()))
}

/// The ending of a file that a process leaves in the folder when it ends before it could write the last of its profile.
const RUNS: &str = "runs";

/// Says that the program did not end by itself, and what of it is shown.
fn tell_end(status: ExitStatus, folder: &Path) {
    let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let marks = files.map(|entry| entry.path());
    let marks = marks.filter(|path| path.extension().is_some_and(|ending| ending == RUNS));
    let marks: Vec<(u64, String)> = marks.map(|path| unawaited(&path)).collect();
    let is_cut_off = !marks.is_empty();
    let who = match os::signal(status) {
        Some(signal) => format!("Signal {signal} ended the program"),
        None if is_cut_off => {
            "The program, or one that it started, ended without its exit handlers, as by `_exit`"
                .to_owned()
        }
        None => return,
    };
    let shown = if is_cut_off {
        "what it did until a tenth of a second before is shown, and no later launch"
    } else {
        "what it did until then is shown"
    };
    eprintln!("\n{who}; {shown}.");
    for (launches, kernel) in marks {
        let (were, did) = match launches {
            0 => continue,
            1 => (format!("1 launch of `{kernel}` was"), "it did not run: wait for it"),
            many => (
                format!("{many} launches, the last of `{kernel}`, were"),
                "they did not run: wait for them",
            ),
        };
        eprintln!(
            "{were} enqueued and not awaited, so {did}, for example by cudaDeviceSynchronize, before the program ends."
        );
    }
}

/// Reads of a process's mark how many launches it has not awaited, and the last one's kernel.
fn unawaited(mark: &Path) -> (u64, String) {
    let bytes = std::fs::read(mark).unwrap_or_default();
    let (count, name) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).into_owned();
    (u64::from_le_bytes(*count), profiling::demangled(&name).unwrap_or(name))
}

/// The program's exit code, or that of the signal that ended it.
fn code_of(status: ExitStatus) -> ExitCode {
    let code = os::signal(status).map(|signal| 128u8.wrapping_add(signal as u8));
    ExitCode::from(code.unwrap_or_else(|| status.code().unwrap_or(1) as u8))
}

/// Returns what the processes of the program left, joined; nothing where none loaded the library.
fn collected(folder: &Path) -> Result<Option<ProgramProfile>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .context("the temporary folder of the profile is gone")?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let mut joined: Option<ProgramProfile> = None;
    for file in files {
        let profile = ProgramProfile::load(&file)?;
        joined = Some(match joined {
            Some(before) => before.join(profile),
            None => profile,
        });
    }
    Ok(joined)
}

impl Library {
    /// Puts the library into a folder, by all of its names.
    fn put_in_front(&self, folder: &Path) -> Result<()> {
        let file = self.place(folder)?;
        for name in self.names {
            os::link(&file, &folder.join(name))
                .with_context(|| format!("cannot put {name} in front of the program"))?;
        }
        Ok(())
    }

    /// The file that the variable names, or the newest beside this program, or the one that it carries, written to the folder.
    fn place(&self, folder_of_this_run: &Path) -> Result<PathBuf> {
        let Library { file, package, names, variable, bundled } = self;
        if let Some(named) = std::env::var_os(variable) {
            let path = PathBuf::from(named);
            let found = path.canonicalize();
            return found.map_err(|error| {
                WrongArgument(format!("{variable} names {}: {error}", path.display())).into()
            });
        }
        let program = std::env::current_exe().context("cannot find where this program is")?;
        let folder = program.parent().unwrap_or(Path::new("."));
        let places = [
            // In an archive of ours, where no search of the loader comes upon it.
            folder.join("lib").join(names[0]),
            folder.join(file),
            // Where cargo puts what it built for another crate.
            folder.join("deps").join(file),
        ];
        let built =
            |path: &PathBuf| std::fs::metadata(path).and_then(|facts| facts.modified()).ok();
        let newest = places.into_iter().filter_map(|path| Some((built(&path)?, path))).max();
        let Some((_, path)) = newest else {
            let Some(bundled) = bundled else {
                return Err(WrongArgument(format!(
                    "there is no lib/{} beside {}, and this program was built without the feature bundled-libcuda: build it with that, or build the library by `cargo build --release -p {package}`, and copy {file} there or name it by {variable}",
                    names[0],
                    program.display()
                ))
                .into());
            };
            let path = folder_of_this_run.join(file);
            write(&path, bundled)?;
            return Ok(path);
        };
        path.canonicalize().with_context(|| format!("cannot find {}", path.display()))
    }
}
