//! The one virtual GPU of a process, and the way into it.

use crate::code::{CuResult, NOT_INITIALIZED, NOT_PERMITTED};
use crate::driver::Driver;
use crate::options::Options;
use crate::thread;
use cuda_driver::{OperationKind, ReturnCode};
use gpu_model::CallCost;
use gpu_model::Topology;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A virtual GPU, for [`cuda_driver::select`].
#[derive(Debug)]
pub struct VirtualGpu {
    pub(crate) name: String,
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

static DRIVER: OnceLock<(VirtualGpu, Mutex<Driver>)> = OnceLock::new();

impl VirtualGpu {
    /// Starts the process's virtual GPU, or several: a [`Profile`](crate::Profile) or a [`Topology`]. Starting the same one again gives the running one, with the new options from
    /// there on; reads of memory that nobody wrote are found in allocations made after they were asked for.
    pub fn start(
        driver: impl Into<Topology>,
        options: Options,
    ) -> Result<&'static VirtualGpu, StartError> {
        let topology = driver.into();
        let name = format!("virtual {}", topology.name());
        let requested = name.clone();
        let (running, driver) = DRIVER
            .get_or_init(|| (VirtualGpu { name }, Mutex::new(Driver::new(topology, options))));
        if running.name == requested {
            driver.lock().unwrap_or_else(PoisonError::into_inner).set_options(options);
            Ok(running)
        } else {
            Err(StartError { running: running.name.clone(), requested })
        }
    }
}

/// The process that initialized the driver, 0 before that.
///
/// A child that it forks has the machine's memory but none of the threads, one of which may hold the lock. A GPU's driver
/// does not know such a child, either.
static INITIALIZED_BY: AtomicU32 = AtomicU32::new(0);

/// This process has initialized the driver.
pub(crate) fn initialized() {
    INITIALIZED_BY.store(std::process::id(), Ordering::Relaxed);
}

/// The machine, once it was started, unless it is that of a process which this one was forked from.
fn driver() -> Option<&'static Mutex<Driver>> {
    let owner = INITIALIZED_BY.load(Ordering::Relaxed);
    let is_ours = owner == 0 || owner == std::process::id();
    DRIVER.get().filter(|_| is_ours).map(|(_, driver)| driver)
}

/// Asks or tells the machine something outside of the driver API; without a machine the answer is empty.
pub(crate) fn with<R: Default>(body: impl FnOnce(&mut Driver) -> R) -> R {
    match driver() {
        Some(driver) => body(&mut driver.lock().unwrap_or_else(PoisonError::into_inner)),
        None => R::default(),
    }
}

/// Runs a driver function on the machine.
pub(crate) fn enter(
    call: &'static str,
    cost: CallCost,
    body: impl FnOnce(&mut Driver) -> CuResult,
) -> ReturnCode {
    if thread::is_in_host_function() {
        return NOT_PERMITTED;
    }
    let Some(driver) = driver() else { return NOT_INITIALIZED };
    let mut driver = driver.lock().unwrap_or_else(PoisonError::into_inner);
    driver.recorder.call = call;
    driver.select_current();
    let start = driver.clock.now;
    // A panic here is a bug of this crate; unwinding into a caller in C would end the process.
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut driver)));
    // Work is enqueued when the call begins; the host is held up until the call has ended.
    let usual = driver.device().profile.call_ns(cost);
    driver.clock.end_call(usual);
    let end = driver.clock.now;
    if end > start {
        driver.recorder.note(OperationKind::Call(call.into()), None, start..end);
    }
    match outcome {
        Ok(Ok(())) => ReturnCode::SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => ReturnCode::UNKNOWN,
    }
}
