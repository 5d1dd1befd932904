//! Profiles the program that loaded the library.
//!
//! Launches are added up as they end. What is known is written behind the call that brought it, so that a program may end
//! right then without its exit handlers; where that would take more than a small part of the program's time, a thread
//! writes it ten times a second, the launch under way included. The rest is written when the program ends. A child that the program forked has its parent's memory and must not write it a second time: only the
//! process that made the first launch writes, or, if none made one, the process that loaded the library.

use crate::pending::Mark;
use crate::settings::Settings;
use profiling::Collector;
use report::screen::Screen;
use results::{ProgramProfile, write, write_json};
use simt::Watched;
use std::io::{IsTerminal, Write, stderr};
use std::process::id;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use virtual_gpu::{LaunchRecord, Misuse, OperationRecord};

/// The exit code of a program that fails because of what was found.
const FOUND: i32 = 4;
/// From one look for news to the next.
const PAUSE: Duration = Duration::from_millis(100);
/// The part of the program's time in which news may be written behind its calls, and what comes on top of that.
const PART: u32 = 20;
const AT_ONCE: Duration = Duration::from_millis(50);
/// Seconds after which a launch is written although it has not ended, and after which a terminal shows how far it is.
const LONG: u64 = 2;
/// The file in the folder of `coalesce run` to which that adds a byte at each interrupt.
const INTERRUPTS: &str = "interrupts";
/// Goes to the begin of a line of a terminal and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

struct Profiler {
    settings: Settings,
    collector: Mutex<Collector>,
    /// The process that writes.
    owner: AtomicU32,
    has_launched: AtomicBool,
    has_news: AtomicBool,
    ends: AtomicBool,
    under_way: Mutex<Option<UnderWay>>,
    /// Interrupts that were seen.
    interrupts: AtomicU64,
    mark: Mutex<Option<Mark>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// The time since which the program is profiled, and how much of it was spent in writing; who writes holds it.
    begin: Instant,
    written: Mutex<Duration>,
}

/// A launch that has begun.
struct UnderWay {
    begin: Instant,
    record: LaunchRecord,
    /// Seconds after which it was last looked at.
    seconds: u64,
    /// A terminal has a line of it.
    is_shown: bool,
}

static PROFILER: OnceLock<Profiler> = OnceLock::new();

/// Begins to collect. The library has just been loaded.
pub fn start(settings: Settings, device: String) {
    let program = std::env::args_os().map(|part| part.to_string_lossy().into_owned());
    let program = program.collect::<Vec<_>>().join(" ");
    let checked = settings.checks.any();
    let mut collector = Collector::new(program, device, checked, settings.kernel.clone());
    collector.read_sources_below(&settings.sources);
    let profiler = PROFILER.get_or_init(|| Profiler {
        settings,
        collector: Mutex::new(collector),
        owner: AtomicU32::new(id()),
        has_launched: AtomicBool::new(false),
        has_news: AtomicBool::new(false),
        ends: AtomicBool::new(false),
        under_way: Mutex::new(None),
        interrupts: AtomicU64::new(0),
        mark: Mutex::new(None),
        writer: Mutex::new(None),
        begin: Instant::now(),
        written: Mutex::new(Duration::ZERO),
    });
    virtual_gpu::behind_calls(|| {
        if let Some(profiler) = PROFILER.get() {
            profiler.write_behind_call();
        }
    });
    virtual_gpu::watch(Some(Watched::default()));
    virtual_gpu::observe_enqueued(|kernel| profiler.enqueued(kernel));
    virtual_gpu::observe_begins(|record| profiler.begins(record));
    virtual_gpu::observe(|record| profiler.launched(record));
    // That there is a file says that the program loaded the library.
    if profiler.settings.collect.is_some() {
        profiler.write(&profiler.profile());
    }
}

/// The program ends.
pub extern "C" fn end() {
    virtual_gpu::tell_of_runtime();
    let Some(profiler) = PROFILER.get() else { return };
    if !profiler.is_owner() {
        return profiler.remove_mark();
    }
    profiler.ends.store(true, Ordering::Release);
    let writer = profiler.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(writer) = writer {
        writer.thread().unpark();
        // It ends by itself; that it panicked changes nothing for the program.
        let _ = writer.join();
    }
    virtual_gpu::finish();
    profiler.gather();
    let leaks = virtual_gpu::leaks();
    profiler.collector().leaks(leaks, is_python());
    let profile = profiler.profile();
    profiler.write(&profile);
    profiler.remove_mark();
    if profiler.settings.collect.is_some() {
        return;
    }
    profiler.show(&profile);
    if profile.findings(profiler.settings.fail_on) > 0 {
        // SAFETY: both may be called at any time. The program's output is flushed here because `_exit` does not do it, and
        // `exit` is what the program is in.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(FOUND);
        }
    }
}

impl Profiler {
    fn is_owner(&self) -> bool {
        self.owner.load(Ordering::Acquire) == id()
    }

    fn mark(&self) -> MutexGuard<'_, Option<Mark>> {
        self.mark.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove_mark(&self) {
        if let Some(mark) = self.mark().take_if(|mark| mark.process == id()) {
            mark.remove();
        }
    }

    /// A kernel was launched, and runs later.
    fn enqueued(&self, kernel: &str) {
        let Some(folder) = &self.settings.collect else { return };
        let mut own = self.mark();
        if own.as_ref().is_none_or(|mark| mark.process != id()) {
            match Mark::new(folder) {
                Ok(made) => *own = Some(made),
                Err(error) => eprintln!("coalesce: cannot write to {}: {error}", folder.display()),
            }
        }
        if let Some(mark) = own.as_ref().filter(|mark| mark.process == id()) {
            mark.launched(kernel);
        }
    }

    fn collector(&self) -> MutexGuard<'_, Collector> {
        self.collector.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn under_way(&self) -> MutexGuard<'_, Option<UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A kernel begins to run. The machine is locked meanwhile, so nothing is asked of it here.
    fn begins(&'static self, record: LaunchRecord) {
        if !self.has_launched.swap(true, Ordering::AcqRel) {
            self.owner.store(id(), Ordering::Release);
            self.has_interrupts();
            *self.writer.lock().unwrap_or_else(PoisonError::into_inner) =
                std::thread::Builder::new()
                    .name("coalesce-profile".to_owned())
                    .spawn(|| self.write_news())
                    .ok();
        }
        if let Some(mark) = self.mark().as_ref().filter(|mark| mark.process == id()) {
            mark.begins();
        }
        let begin = Instant::now();
        *self.under_way() = Some(UnderWay { begin, record, seconds: 0, is_shown: false });
    }

    /// A kernel ran. The machine is locked meanwhile, too.
    fn launched(&self, record: LaunchRecord) {
        if self.under_way().take().is_some_and(|launch| launch.is_shown) {
            eprint!("{CLEAR_LINE}");
        }
        if self.is_owner() {
            self.collector().launch(record);
            self.has_news.store(true, Ordering::Release);
        }
    }

    /// Writes what is new until the program ends.
    fn write_news(&self) {
        while !self.ends.load(Ordering::Acquire) {
            if self.is_read() && self.has_news.load(Ordering::Acquire) {
                let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
                self.write_what_is_new(written);
            }
            self.look_at_launch();
            std::thread::park_timeout(PAUSE);
        }
    }

    /// Writes what is new, if that takes a small part of the program's time.
    fn write_behind_call(&self) {
        let has_news = || self.has_news.load(Ordering::Acquire);
        if !has_news() || !self.is_read() || !self.is_owner() {
            return;
        }
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *written <= AT_ONCE + self.begin.elapsed() / PART {
            self.write_what_is_new(written);
        }
    }

    fn write_what_is_new(&self, mut written: MutexGuard<'_, Duration>) {
        let begin = Instant::now();
        if !self.has_news.swap(false, Ordering::AcqRel) {
            return;
        }
        // A kernel that never ends keeps no other's results back.
        if let Some(news) = virtual_gpu::drain_if_idle() {
            self.collect(news);
        }
        self.write(&self.profile());
        *written += begin.elapsed();
    }

    /// Returns whether somebody reads files while the program runs: only these.
    fn is_read(&self) -> bool {
        self.settings.collect.is_some() || self.settings.json.is_some()
    }

    /// Returns whether there was an interrupt since the last look.
    fn has_interrupts(&self) -> bool {
        let Some(folder) = &self.settings.collect else { return false };
        let count = std::fs::metadata(folder.join(INTERRUPTS)).map_or(0, |facts| facts.len());
        self.interrupts.swap(count, Ordering::AcqRel) != count
    }

    /// Ends the launch under way where there was an interrupt; else shows and writes how far a long one is, each second.
    fn look_at_launch(&self) {
        let is_interrupted = self.has_interrupts();
        let mut under_way = self.under_way();
        let Some(launch) = &mut *under_way else { return };
        let all = simt::under_way();
        let Some(progress) = all.iter().find(|one| one.kernel() == launch.record.kernel) else {
            return;
        };
        if is_interrupted {
            progress.stop();
        }
        let seconds = launch.begin.elapsed().as_secs();
        if seconds == launch.seconds {
            return;
        }
        launch.seconds = seconds;
        let place = progress.place();
        if seconds < LONG {
            return;
        }
        let mut sentence = progress.sentence(seconds);
        if stderr().is_terminal() {
            let line = format!("{sentence}; Ctrl-C ends it");
            let line: String = line.chars().take(terminal_columns()).collect();
            eprint!("{CLEAR_LINE}{line}");
            // A terminal that was closed takes no text.
            let _ = stderr().flush();
            launch.is_shown = true;
        }
        if let Some(place) = place {
            sentence += &format!("; it was at {place}");
        }
        let fault = Some(format!("the program ended before this launch did: {sentence}"));
        let record = LaunchRecord { fault, ..launch.record.clone() };
        drop(under_way);
        if self.is_read() {
            let mut collector = self.collector().clone();
            collector.launch(record);
            self.write(&collector.profile());
        }
    }

    /// Takes mistakes and operations from the machine, before the collector is locked.
    fn gather(&self) {
        self.collect((virtual_gpu::misuse(), virtual_gpu::operations()));
    }

    fn collect(&self, (mistakes, operations): (Vec<Misuse>, Vec<OperationRecord>)) {
        let mut collector = self.collector();
        collector.mistakes(mistakes);
        collector.operations(operations);
    }

    fn profile(&self) -> ProgramProfile {
        self.collector().profile()
    }

    /// Writes the profile where it is wanted.
    fn write(&self, profile: &ProgramProfile) {
        let collected =
            self.settings.collect.as_ref().map(|folder| folder.join(format!("{}.json", id())));
        for path in [collected.as_ref(), self.settings.json.as_ref()].into_iter().flatten() {
            say(write_json(path, profile).map_err(|error| error.sentence()));
        }
    }

    fn show(&self, profile: &ProgramProfile) {
        // The library knows no catalogue.
        let taught = |_: &results::Advice| None;
        eprint!("{}", report::profile::text(profile, &taught, &Screen::PIPE));
        if let Some(folder) = &self.settings.report {
            say(report::profile::pages(profile, &taught, folder));
        }
        if let Some(file) = &self.settings.trace {
            let written = write(file, report::profile::chrome_trace(&profile.timeline).as_bytes());
            say(written.map_err(|error| error.sentence()));
        }
    }
}

/// Returns whether the process is an interpreter of Python.
fn is_python() -> bool {
    // SAFETY: the name is a text of C, and the address is not used.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"Py_IsInitialized".as_ptr()) }.is_null()
}

/// The letters of a line of the terminal that standard error is.
fn terminal_columns() -> usize {
    // SAFETY: numbers, of which all bits may be zero.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: the request writes to the structure alone.
    let known = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    // The last column stays free, as some terminals begin a new line behind it.
    if known == 0 && size.ws_col > 1 { usize::from(size.ws_col) - 1 } else { 79 }
}

/// Says what went wrong; the program goes on.
fn say<T, E: std::fmt::Display>(outcome: Result<T, E>) {
    if let Err(error) = outcome {
        eprintln!("coalesce: {error:#}");
    }
}
