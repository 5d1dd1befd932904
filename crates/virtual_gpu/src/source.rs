//! Starting a virtual GPU, and what can be asked of it afterwards.

use crate::exports;
use crate::machine::{LaunchRecord, Machine};
use crate::misuse::Misuse;
use crate::model::Larger;
use crate::profile::Profile;
use cuda_driver::OperationRecord;
use cuda_driver::SymbolSource;
use simt::{Checks, Watched};
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock, PoisonError};

/// When work runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As late as possible: when the host waits for it. What the program forgot to order shows most this way.
    #[default]
    Late,
    /// When it is enqueued, which is always allowed and hides missing synchronisation.
    Immediate,
    /// As late as possible, and what may go first is drawn from a generator with this seed.
    Seeded(u64),
}

/// How a virtual GPU runs.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// When work runs.
    pub order: Order,
    /// Hazards to look for inside kernels; each costs time.
    pub checks: Checks,
    /// Whether to find host memory that changes under a pending copy, which reads the memory twice.
    pub watch_host_memory: bool,
    /// Whether mistakes that do more harm than to cost time are also written to standard error when they are found.
    pub announce: bool,
    /// Warp-instructions after which a kernel is taken to run forever.
    pub fuel: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            order: Order::Late,
            checks: Checks::none(),
            watch_host_memory: true,
            announce: false,
            fuel: 20_000_000_000,
        }
    }
}

/// A virtual GPU, for [`cuda_driver::select`].
#[derive(Debug)]
pub struct VirtualGpu {
    name: String,
}

/// A second virtual GPU was started in one process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{running} is already running: a process has one virtual device, start another process for {requested}"
)]
pub struct StartError {
    running: String,
    requested: String,
}

static MACHINE: OnceLock<(VirtualGpu, Mutex<Machine>)> = OnceLock::new();

impl VirtualGpu {
    /// Starts the process's virtual GPU. Starting the same one again gives the running one, with the new options from
    /// there on; reads of memory that nobody wrote are found in allocations made after they were asked for.
    pub fn start(profile: Profile, options: Options) -> Result<&'static VirtualGpu, StartError> {
        let name = format!("virtual {}", profile.name);
        let requested = name.clone();
        let (running, machine) = MACHINE
            .get_or_init(|| (VirtualGpu { name }, Mutex::new(Machine::new(profile, options))));
        if running.name == requested {
            machine.lock().unwrap_or_else(PoisonError::into_inner).set_options(options);
            Ok(running)
        } else {
            Err(StartError { running: running.name.clone(), requested })
        }
    }
}

// SAFETY: every address that `exports` gives is a function whose type was compared with the driver table's entry of
// that name when this was compiled; the functions live as long as the program.
unsafe impl SymbolSource for VirtualGpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        exports::symbol(name.to_str().ok()?)
    }

    fn missed(&self, name: &CStr) {
        if with(|machine| machine.options.announce) {
            eprintln!("{}: {} is not supported", self.name, name.to_string_lossy());
        }
    }
}

/// The machine, for the functions of the driver API.
pub(crate) fn machine() -> Option<&'static Mutex<Machine>> {
    MACHINE.get().map(|(_, machine)| machine)
}

fn with<R: Default>(body: impl FnOnce(&mut Machine) -> R) -> R {
    match machine() {
        Some(machine) => body(&mut machine.lock().unwrap_or_else(PoisonError::into_inner)),
        None => R::default(),
    }
}

/// The mistakes found so far; each is reported once.
pub fn misuse() -> Vec<Misuse> {
    with(|machine| std::mem::take(&mut machine.misuse))
}

/// What is still allocated: to be asked at a point where everything should have been freed.
pub fn leaks() -> Vec<Misuse> {
    with(|machine| machine.leaks())
}

/// From here on, the times of kernels, copies and fills, and of what the host reads, are those of work so many times
/// larger than what is executed: for a benchmark whose size would take too long to execute.
pub fn take_kernels_as_larger(larger: Larger) {
    with(|machine| machine.larger = larger);
}

/// From here on, kernels are launched and recorded, and their time is 0, but they are not executed: to learn
/// how a program would launch them.
pub fn skip_kernels(skip: bool) {
    with(|machine| machine.skips_kernels = skip);
}

/// Says that the host has just read so many bytes at an address, which takes it time that no driver call shows.
pub fn host_reads(address: usize, bytes: usize) {
    with(|machine| machine.host_reads(address as u64, bytes));
}

/// Says how many registers per thread NVIDIA's assembler gave kernels, which decides how many blocks fit on a
/// multiprocessor; kernels that are not named get an estimate.
pub fn assume_registers<'a>(kernels: impl Iterator<Item = (&'a str, u32)>) {
    let kernels = kernels.map(|(kernel, registers)| (kernel.to_owned(), registers));
    with(|machine| machine.registers.extend(kernels));
}

/// The kernels that ran since the last call, in the order in which they were executed; of very many the last 4096.
pub fn launches() -> Vec<LaunchRecord> {
    with(|machine| std::mem::take(&mut machine.launches).into())
}

/// From here on, the reports of [`launches`] have the requests of this warp of each launch; of none with `None`.
pub fn watch(watched: Option<Watched>) {
    with(|machine| machine.watched = watched);
}

/// What device and host did since the last call, in the order in which it was executed; of very much the last 65536
/// operations. Calls are those that took the host time.
pub fn operations() -> Vec<OperationRecord> {
    with(|machine| std::mem::take(&mut machine.operations).into())
}
