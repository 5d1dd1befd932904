//! All that differs between systems: one half for Unix, one for Windows, with the same functions.

pub use half::*;
pub use machine::host;

#[cfg(not(target_os = "macos"))]
mod machine {
    use results::Host;
    use sysinfo::{Cpu, CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

    /// The processor, the memory and the operating system.
    pub fn host() -> Host {
        const UNKNOWN: &str = "unknown";
        let refresh = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(refresh).ok();
        let cpus = system.as_ref().map_or(&[][..], System::cpus);
        Host {
            cpu: cpus.first().map_or(UNKNOWN, Cpu::brand).to_owned(),
            logical_cores: cpus.len(),
            memory_bytes: system.as_ref().map_or(0, System::total_memory),
            system: System::long_os_version().unwrap_or_else(|_| UNKNOWN.to_owned()),
            kernel: System::kernel_version().unwrap_or_else(|_| UNKNOWN.to_owned()),
        }
    }
}

/// No GPU is measured on macOS, and asking it for more takes frameworks that only a Mac has.
#[cfg(target_os = "macos")]
mod machine {
    use results::Host;

    pub fn host() -> Host {
        Host {
            cpu: std::env::consts::ARCH.to_owned(),
            logical_cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_bytes: 0,
            system: std::env::consts::OS.to_owned(),
            kernel: "unknown".to_owned(),
        }
    }
}

#[cfg(unix)]
mod half {
    use std::fs::{FileType, Metadata};
    use std::io::Error;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::{Child, Command, ExitStatus};

    /// The reason why `coalesce run` cannot put a library in front of a program, if there is one.
    pub const RUN_REFUSAL: Option<&str> = if cfg!(target_os = "linux") {
        None
    } else {
        Some(
            "`run` puts libcuda.so.1 in front of a program by LD_LIBRARY_PATH, which only Linux has: run it on Linux, where programs of CUDA are, or give the kernel's PTX to `explain FILE.ptx` here",
        )
    };

    /// Sets signals as tools of a shell have them: a lost reader ends the program, a full file is an error of its writer.
    pub fn set_signals() {
        // SAFETY: no other thread runs yet; the default action needs no handler, nor does ignoring.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }

    /// Keeps the program going when the reader of its output ends.
    pub fn outlive_lost_readers() {
        // SAFETY: ignoring a signal needs no handler.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        }
    }

    /// Ignores the signal of a pipe without a reader as long as it lives.
    pub struct PipeIgnored(libc::sighandler_t);

    impl PipeIgnored {
        pub fn new() -> PipeIgnored {
            // SAFETY: ignoring a signal needs no handler.
            PipeIgnored(unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) })
        }
    }

    impl Drop for PipeIgnored {
        fn drop(&mut self) {
            // SAFETY: the action is the one that was there before.
            unsafe {
                libc::signal(libc::SIGPIPE, self.0);
            }
        }
    }

    /// Makes the command that takes a line as the user's shell does.
    pub fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    /// Asks a process to end, which may still write what it has.
    pub fn ask_to_end(child: &mut Child) {
        if matches!(child.try_wait(), Ok(None)) {
            // SAFETY: the call takes numbers; the process has not been waited for, so the number is still its own.
            unsafe { libc::kill(child.id().cast_signed(), libc::SIGTERM) };
        }
    }

    /// Returns whether reading a file of this type may never end.
    pub fn is_device(kind: FileType) -> bool {
        kind.is_char_device()
    }

    /// Returns whether a file is a program that may be started.
    pub fn is_program(facts: &Metadata) -> bool {
        facts.is_file() && facts.permissions().mode() & 0o111 != 0
    }

    /// Hides a temporary folder from other users.
    pub fn make_private(folder: &mut tempfile::Builder<'_, '_>) {
        folder.permissions(PermissionsExt::from_mode(0o700));
    }

    /// Gives a file a second name.
    pub fn link(file: &Path, name: &Path) -> Result<(), Error> {
        std::os::unix::fs::symlink(file, name)
    }

    /// Returns the signal that ended a process.
    pub fn signal(status: ExitStatus) -> Option<i32> {
        status.signal()
    }

    pub use signals::{run_to_end, was_interrupted};

    /// A program's run, in which signals are the program's, too.
    mod signals {
        use std::fs::File;
        use std::io::Error;
        use std::os::fd::AsRawFd;
        use std::os::unix::process::CommandExt;
        use std::process::{Command, ExitStatus};
        use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

        /// The process of the program while it runs, else 0.
        static PROGRAM: AtomicI32 = AtomicI32::new(0);
        static INTERRUPTS_FILE: AtomicI32 = AtomicI32::new(-1);
        static INTERRUPTED_HERE: AtomicBool = AtomicBool::new(false);

        /// Returns whether an interrupt came while a program ran.
        pub fn was_interrupted() -> bool {
            INTERRUPTED_HERE.load(Ordering::Relaxed)
        }

        /// Runs a program to its end. Each interrupt adds a byte to the file.
        pub fn run_to_end(command: &mut Command, interrupts: &File) -> Result<ExitStatus, Error> {
            // SAFETY: between fork and exec the child only says that a signal has its default action.
            unsafe {
                command.pre_exec(|| {
                    // Ignored here, which a program would inherit.
                    libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
                    Ok(())
                });
            }
            let mut child = command.spawn()?;
            PROGRAM.store(child.id().cast_signed(), Ordering::Relaxed);
            INTERRUPTS_FILE.store(interrupts.as_raw_fd(), Ordering::Relaxed);
            // An interrupt from the terminal is the program's, too; what it did until then is shown.
            // SAFETY: the handlers call nothing but `kill` and `write`, which handlers may call, and a `sigaction` may be all zeros.
            unsafe {
                let mut interrupt: libc::sigaction = std::mem::zeroed();
                interrupt.sa_sigaction = interrupted as *const () as libc::sighandler_t;
                interrupt.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                libc::sigaction(libc::SIGINT, &raw const interrupt, std::ptr::null_mut());
                for signal in [libc::SIGTERM, libc::SIGHUP] {
                    libc::signal(signal, pass_on as *const () as libc::sighandler_t);
                }
            }
            let ended = child.wait();
            // Its number may be another's from here on.
            PROGRAM.store(0, Ordering::Relaxed);
            INTERRUPTS_FILE.store(-1, Ordering::Relaxed);
            ended
        }

        /// Tells the program's library of an interrupt, and the program of one that a terminal has not sent to it, too.
        extern "C" fn interrupted(
            signal: libc::c_int,
            info: *const libc::siginfo_t,
            _context: *const libc::c_void,
        ) {
            let file = INTERRUPTS_FILE.load(Ordering::Relaxed);
            if file < 0 {
                return;
            }
            INTERRUPTED_HERE.store(true, Ordering::Relaxed);
            // SAFETY: the byte lives for ever, and the system gives a handler of this kind a valid `info`.
            let is_by_process = unsafe {
                libc::write(file, b"i".as_ptr().cast(), 1);
                (*info).si_code <= 0
            };
            if is_by_process {
                pass_on(signal);
            }
        }

        /// Sends the program the signal that this one got.
        extern "C" fn pass_on(signal: libc::c_int) {
            let program = PROGRAM.load(Ordering::Relaxed);
            if program > 0 {
                // SAFETY: the call takes numbers.
                unsafe { libc::kill(program, signal) };
            }
        }
    }
}

#[cfg(not(unix))]
mod half {
    use std::fs::{File, FileType, Metadata};
    use std::io::Error;
    use std::path::Path;
    use std::process::{Child, Command, ExitStatus};

    pub const RUN_REFUSAL: Option<&str> = Some(
        "`run` puts libcuda.so.1 in front of a program by LD_LIBRARY_PATH, which only Linux has: build the program in WSL 2 and run it there, or give the kernel's PTX to `explain FILE.ptx` here",
    );

    // A lost reader is an error of a write on this system, which the hook of `println!` takes.
    pub fn set_signals() {}

    pub fn outlive_lost_readers() {}

    pub struct PipeIgnored;

    impl PipeIgnored {
        pub fn new() -> PipeIgnored {
            PipeIgnored
        }
    }

    pub fn shell(line: &str) -> Command {
        let mut command = Command::new("cmd");
        command.args(["/C", line]);
        command
    }

    // No signal asks a process without a window: it is ended.
    pub fn ask_to_end(child: &mut Child) {
        let _ = child.kill();
    }

    pub fn is_device(_kind: FileType) -> bool {
        false
    }

    pub fn is_program(facts: &Metadata) -> bool {
        facts.is_file()
    }

    // The user's temporary folder is nobody else's on this system.
    pub fn make_private(_folder: &mut tempfile::Builder<'_, '_>) {}

    // A link takes rights that users lack.
    pub fn link(file: &Path, name: &Path) -> Result<(), Error> {
        std::fs::copy(file, name).map(drop)
    }

    pub fn signal(_status: ExitStatus) -> Option<i32> {
        None
    }

    pub fn run_to_end(command: &mut Command, _interrupts: &File) -> Result<ExitStatus, Error> {
        command.status()
    }

    pub fn was_interrupted() -> bool {
        false
    }
}
