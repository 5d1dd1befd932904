//! The virtual GPU as a source of driver functions, and what can be asked of it besides.

use crate::device_state::DeviceState;
use crate::driver::Driver;
use crate::exports::{self, FindExported};
use crate::misuse::{Misuse, MisuseKind};
use crate::process::{self, VirtualGpu, enter, with, with_idle};
use crate::recorder::{EnqueuedObserver, LaunchRecord, Observer, OrderRecord};
use crate::thread;
use cuda_driver::{OperationRecord, ReturnCode, SymbolSource};
use gpu_model::CallCost;
use gpu_model::kernel_time::WorkScale;
use simt::{Trace, Watched};
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

// SAFETY: every address that `exports` gives is a function whose type was compared with the driver table's entry of
// that name when this was compiled; the functions live as long as the program.
unsafe impl SymbolSource for VirtualGpu {
    fn name(&self) -> String {
        with(|driver| format!("virtual {}", driver.topology.name()))
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        exports::symbol(name.to_str().ok()?)
    }

    fn missed(&self, name: &'static CStr) {
        // Who reads mistakes wants to know why the program stopped; others have the call's own answer.
        if with(|driver| driver.options.announce || driver.recorder.observer.is_some()) {
            let _ = refuse(name.to_str().unwrap_or_default());
        }
    }
}

/// The function that gives the CUDA runtime its tables.
const TABLES: &str = "cuGetExportTable";

/// Answers the call of a function of which only the name is there.
pub fn refuse(name: &'static str) -> ReturnCode {
    enter(name, CallCost::Api, |driver| {
        if name == TABLES {
            // Libraries ask for them that do without. Whether it is why a program stops is known when that has ended.
            driver.recorder.asks_for_tables = true;
        } else {
            let message = "the virtual device does not have this function".to_owned();
            driver.report(MisuseKind::Unsupported, message);
        }
        Err(ReturnCode::NOT_SUPPORTED)
    })
}

/// Notes that a call of a library above the driver fails without one of the driver's that did.
pub fn fails_above(name: &'static str, code: ReturnCode, why: String) {
    let _ = enter(name, CallCost::Api, |driver| Err(driver.refuse(code, why)));
}

/// The program has ended: if it asked for what the CUDA runtime needs and no kernel ran, that is the first of its mistakes.
pub fn tell_of_runtime() {
    with(|driver| {
        if driver.recorder.asks_for_tables && !driver.has_launched() {
            let message = "the CUDA runtime, which CuPy and PyTorch start, asks for tables that NVIDIA does not document, and \
                           no kernel ran; to fix it: launch kernels by the driver API, as Triton and cuda.core do, or give \
                           the PTX of a kernel to `coalesce explain` (NVRTC makes it of the source of a cupy.RawModule)";
            driver.recorder.begin_call(TABLES);
            driver.report(MisuseKind::Unsupported, message.to_owned());
            driver.recorder.misuse.rotate_right(1);
        }
    });
}

/// From here on, `cuGetProcAddress` looks here, too, for what the driver's table does not have.
pub fn also_find(find: FindExported) {
    // The library says so once, when it is loaded.
    let _ = exports::ALSO.set(find);
}

/// Calls a driver function in which stream 0 means the calling thread's own default stream.
pub fn with_own_default<T>(function: impl FnOnce() -> T) -> T {
    thread::with_own_default(function)
}

/// The mistakes found so far; each is reported once.
pub fn misuse() -> Vec<Misuse> {
    with(|driver| driver.recorder.drain_misuse())
}

/// The program ends: what it left pending is executed, so that its mistakes are found, but for what needs the program.
pub fn finish() {
    with(Driver::finish);
}

/// As [`misuse`] and [`operations`], of the process's machine; nothing while that executes, perhaps for ever.
pub fn drain_if_idle() -> Option<(Vec<Misuse>, Vec<OperationRecord>)> {
    with_idle(|driver| {
        let operations = std::mem::take(&mut driver.recorder.operations);
        (driver.recorder.drain_misuse(), operations.into())
    })
}

/// Returns what is still allocated: to be asked at a point where everything should have been freed.
pub fn leaks() -> Vec<Misuse> {
    with(|driver| driver.memory.leaks())
}

/// From here on, the times of kernels, copies and fills, and of what the host reads, are those of work so many times
/// larger than what is executed: for a benchmark whose size would take too long to execute.
pub fn extrapolate_to(larger: WorkScale) {
    with(|driver| driver.larger = larger);
}

/// No L2 holds anything any more but what a program has set aside parts of them for: as after a pass over other data.
pub fn empty_l2() {
    with(|driver| driver.devices.iter_mut().for_each(|device| device.l2.empty()));
}

/// From here on, kernels are launched and recorded, and their time is 0, but they are not executed: to learn
/// how a program would launch them.
pub fn skip_kernels(skip: bool) {
    with(|driver| driver.skips_kernels = skip);
}

/// From here on, a kernel is taken to run forever after so many warp-instructions, whatever [`Options`](crate::Options) say.
pub fn limit(warp_instructions: u64) {
    with(|driver| driver.limit = Some(warp_instructions));
}

/// From here on, host memory that the program registers counts as memory of the device: a tensor of the host stands for
/// one of the device.
pub fn take_registered_for_device() {
    with(|driver| driver.memory.registered_is_device = true);
}

/// Forgets that a kernel failed, so that later work is done again; on a GPU the process has to end. For tests that make
/// one failure after the other.
pub fn forget_failure() {
    with(|driver| driver.devices.iter_mut().for_each(DeviceState::reset));
}

/// Says that the host has just read so many bytes at an address, which takes it time that no driver call shows. Pages of
/// managed memory come to the host for it.
pub fn host_reads(address: usize, bytes: usize) {
    with(|driver| driver.host_reads(address as u64, bytes));
}

/// Says that the host has just written so many bytes at an address: if the memory is managed, its pages are on the host
/// from here on, and the host has waited for those that were not.
pub fn host_writes(address: usize, bytes: usize) {
    with(|driver| driver.host_writes(address as u64, bytes));
}

/// Says that the host has just used a few words of each page of a range: pages of managed memory come to the host for it,
/// and the rest takes no time.
pub fn host_touches(address: usize, bytes: usize) {
    with(|driver| driver.host_touches(address as u64, bytes, false));
}

/// Says how many registers per thread NVIDIA's assembler gave kernels, which decides how many blocks fit on a
/// multiprocessor; kernels that are not named get an estimate.
pub fn assume_registers<'a>(kernels: impl Iterator<Item = (&'a str, u32)>) {
    let kernels = kernels.map(|(kernel, registers)| (kernel.to_owned(), registers));
    with(|driver| driver.registers.extend(kernels));
}

/// The kernels that ran since the last call, in the order in which they were executed; of very many the last 4096.
pub fn launches() -> Vec<LaunchRecord> {
    with(|driver| std::mem::take(&mut driver.recorder.launches).into())
}

/// From here on, this function is given each launch when it has run, so that none is dropped; [`launches`] has none. It
/// must not ask this crate anything, and is called in the thread whose call made the kernel run.
pub fn observe(observer: impl FnMut(LaunchRecord) + Send + 'static) {
    with(|driver| driver.recorder.observer = Some(Observer(Box::new(observer))));
}

/// From here on, this function is called behind each call of the driver, in its thread, and may ask this crate anything.
pub fn behind_calls(function: fn()) {
    process::behind_calls(function);
}

/// From here on, this function is given each launch when it begins to run, with an empty report; as for [`observe`].
pub fn observe_begins(observer: impl FnMut(LaunchRecord) + Send + 'static) {
    with(|driver| driver.recorder.observer_of_begins = Some(Observer(Box::new(observer))));
}

/// From here on, this function is given the kernel of each launch when it is enqueued; as for [`observe`].
pub fn observe_enqueued(observer: impl FnMut(&str) + Send + 'static) {
    with(|driver| {
        driver.recorder.observer_of_enqueued = Some(EnqueuedObserver(Box::new(observer)))
    });
}

/// From here on, the reports of [`launches`] have the requests of this warp of each launch; of none with `None`.
pub fn watch(watched: Option<Watched>) {
    with(|driver| driver.watched = watched);
}

/// From here on, launches fill this trace; none with `None`.
pub fn trace(trace: Option<Arc<Trace>>) {
    with(|driver| driver.trace = trace);
}

/// Returns what device and host did since the last call, in the order in which it was executed; at most the latest 65536
/// operations. Calls are those that took the host time.
pub fn operations() -> Vec<OperationRecord> {
    with(|driver| std::mem::take(&mut driver.recorder.operations).into())
}

/// Returns what has ordered the work since the last call, which asks for it; at most the first 65536 records.
pub fn order() -> Vec<OrderRecord> {
    with(|driver| driver.recorder.order.replace(Vec::new()).unwrap_or_default())
}
