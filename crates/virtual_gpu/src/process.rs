//! The virtual GPU of a process, those that threads have for themselves, and the way into them.

use crate::code::{CuResult, NOT_INITIALIZED, NOT_PERMITTED};
use crate::driver::Driver;
use crate::host_pages;
use crate::options::Options;
use crate::thread;
use cuda_driver::{OperationKind, ReturnCode};
use gpu_model::CallCost;
use gpu_model::Topology;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};

/// The virtual GPU of whoever calls, for [`cuda_driver::select`].
#[derive(Debug)]
pub struct VirtualGpu(());

/// A second virtual GPU was started in one process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{running} is already running: a process has one virtual device, start another process for {requested}"
)]
pub struct StartError {
    running: String,
    requested: String,
}

static GPU: VirtualGpu = VirtualGpu(());
static DRIVER: OnceLock<Mutex<Driver>> = OnceLock::new();

impl VirtualGpu {
    /// Starts the thread's own virtual GPU where it has an [`OwnMachine`], else the process's: a
    /// [`Profile`](crate::Profile), or several as a [`Topology`]. Starting the same one again gives the running one, with
    /// the new options from there on; reads of memory that nobody wrote are found in allocations made after they were asked
    /// for. A thread may start another one, which replaces its own.
    ///
    /// # Errors
    /// When the process has another one.
    pub fn start(
        driver: impl Into<Topology>,
        options: Options,
    ) -> Result<&'static VirtualGpu, StartError> {
        let topology = driver.into();
        let requested = topology.name();
        let reuse = |driver: &Mutex<Driver>| {
            let mut driver = driver.lock().unwrap_or_else(PoisonError::into_inner);
            if driver.topology.name() == requested {
                driver.set_options(options);
                return Ok(&GPU);
            }
            let name = |name: &str| format!("virtual {name}");
            Err(StartError { running: name(&driver.topology.name()), requested: name(&requested) })
        };
        let start = || Mutex::new(Driver::new(topology.clone(), options));
        match OWN.with_borrow(Option::clone) {
            Some(own) => {
                if own.as_deref().is_none_or(|own| reuse(own).is_err()) {
                    OWN.replace(Some(Some(Rc::new(start()))));
                }
                Ok(&GPU)
            }
            None => reuse(DRIVER.get_or_init(start)),
        }
    }
}

/// A thread's own machine, where it has one; nothing inside until that is started.
type Own = Option<Option<Rc<Mutex<Driver>>>>;

thread_local! {
    static OWN: RefCell<Own> = const { RefCell::new(None) };
}

/// A virtual machine that one thread has for itself, from [`OwnMachine::new`] until this is dropped.
///
/// The driver's calls of the thread reach this machine instead of the process's: it has memory, contexts, streams, a clock
/// and findings of its own. It is of the process's model, and starts, as new, each time that [`VirtualGpu::start`] is called.
/// So threads execute kernels side by side, and what each finds depends on no other.
#[derive(Debug)]
pub struct OwnMachine {
    before: Own,
    contexts: thread::Contexts,
}

impl OwnMachine {
    /// Gives this thread a machine of its own, which is not started yet.
    #[expect(clippy::new_without_default, reason = "it changes the thread")]
    pub fn new() -> OwnMachine {
        let contexts = thread::replace_contexts((None, Vec::new()));
        OwnMachine { before: OWN.replace(Some(None)), contexts }
    }

    /// Returns whether this thread has one.
    pub fn is_current() -> bool {
        OWN.with_borrow(Option::is_some)
    }
}

impl Drop for OwnMachine {
    fn drop(&mut self) {
        OWN.replace(self.before.take());
        thread::replace_contexts(std::mem::take(&mut self.contexts));
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

/// Threads that wait for the machine, which another one has.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// Returns whether a thread of the program waits in a call.
pub(crate) fn waits_in_a_call() -> bool {
    WAITING.load(Ordering::Relaxed) > 0
}

/// Does something with a machine: tells first what the host accessed meanwhile, and takes pages away behind it.
fn on_machine<R>(driver: &mut Driver, body: impl FnOnce(&mut Driver) -> R) -> R {
    host_pages::hold();
    driver.notice_host();
    let answer = body(driver);
    driver.settle_host();
    host_pages::let_go();
    answer
}

/// Does something with the machine of this thread or else the process's, once it was started, unless that is the machine
/// of a process which this one was forked from.
fn in_driver<R>(body: impl FnOnce(&mut Driver) -> R) -> Option<R> {
    let lock = |driver: &Mutex<Driver>| {
        let mut driver = driver.try_lock().unwrap_or_else(|_| {
            WAITING.fetch_add(1, Ordering::Relaxed);
            let driver = driver.lock().unwrap_or_else(PoisonError::into_inner);
            WAITING.fetch_sub(1, Ordering::Relaxed);
            driver
        });
        on_machine(&mut driver, body)
    };
    // A thread that is about to end has none any more.
    if let Ok(Some(own)) = OWN.try_with(|own| own.borrow().clone()) {
        return own.as_deref().map(lock);
    }
    let owner = INITIALIZED_BY.load(Ordering::Relaxed);
    let is_ours = owner == 0 || owner == std::process::id();
    DRIVER.get().filter(|_| is_ours).map(lock)
}

/// Asks or tells the machine something outside of the driver API; without a machine the answer is empty.
pub(crate) fn with<R: Default>(body: impl FnOnce(&mut Driver) -> R) -> R {
    in_driver(body).unwrap_or_default()
}

/// As [`with`] on the process's machine, unless that is busy: a kernel may never end.
pub(crate) fn with_idle<R>(body: impl FnOnce(&mut Driver) -> R) -> Option<R> {
    match DRIVER.get()?.try_lock() {
        Ok(mut driver) => Some(on_machine(&mut driver, body)),
        Err(TryLockError::Poisoned(driver)) => Some(on_machine(&mut driver.into_inner(), body)),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// A function that is called behind each call, when the machine is free again.
static BEHIND_CALLS: OnceLock<fn()> = OnceLock::new();

/// From here on, this function is called behind each call.
pub(crate) fn behind_calls(function: fn()) {
    // The first stays.
    let _is_first = BEHIND_CALLS.set(function);
}

/// Runs a driver function on the machine.
pub(crate) fn enter(
    call: &'static str,
    cost: CallCost,
    body: impl FnOnce(&mut Driver) -> CuResult,
) -> ReturnCode {
    if thread::is_in_host_function() {
        thread::refuses(call);
        return NOT_PERMITTED;
    }
    let entered = in_driver(|driver| {
        driver.recorder.begin_call(call);
        driver.select_current();
        let start = driver.clock.now;
        // A panic here is a bug of this crate; unwinding into a caller in C would end the process.
        let outcome = catch_unwind(AssertUnwindSafe(|| body(driver)));
        // Work is enqueued when the call begins; the host is held up until the call has ended.
        let usual = driver.device().profile.call_ns(cost);
        driver.clock.end_call(usual);
        let end = driver.clock.now;
        if end > start {
            driver.recorder.note(OperationKind::Call(call.into()), None, start..end);
        }
        if let Ok(Err(code)) = outcome {
            driver.fails(call, code);
        }
        outcome
    });
    if let Some(function) = BEHIND_CALLS.get() {
        function();
    }
    match entered {
        None => NOT_INITIALIZED,
        Some(Ok(Ok(()))) => ReturnCode::SUCCESS,
        Some(Ok(Err(code))) => code,
        Some(Err(_)) => ReturnCode::UNKNOWN,
    }
}
