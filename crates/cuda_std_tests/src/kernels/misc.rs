use cuda_std::{kernel, misc, thread};

/// Stores whether the clock advanced between two reads, as thousands of the reads' order.
#[kernel]
pub unsafe fn clock(target: *mut u64) {
    let start = misc::clock();
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe {
        *target.add(tid) = 0;
        let end = misc::clock();
        *target.add(tid) = u64::from(end > start);
    }
}

/// Stores whether the short clock changed between two reads.
#[kernel]
pub unsafe fn clock32(target: *mut u32) {
    let start = misc::clock32();
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe {
        *target.add(tid) = 0;
        let end = misc::clock32();
        *target.add(tid) = u32::from(end != start);
    }
}

/// Stores whether the wall clock did not run backwards.
#[kernel]
pub unsafe fn globaltimer(target: *mut u32) {
    let start = misc::globaltimer();
    let end = misc::globaltimer();
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(thread::thread_idx_x() as usize) = u32::from(end >= start) };
}

/// Stores whether the multiprocessor's identifier is below their number.
#[kernel]
pub unsafe fn multiprocessor(target: *mut u32) {
    let valid = misc::smid() < misc::nsmid();
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(thread::thread_idx_x() as usize) = u32::from(valid) };
}

/// Stores identifiers that no one can predict.
#[kernel]
pub unsafe fn identifiers(target: *mut u64) {
    let value = misc::gridid() ^ u64::from(misc::warpid());
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(thread::thread_idx_x() as usize) = value };
}

/// Stops for a debugger. Not launched by the tests.
#[kernel]
pub unsafe fn breakpoint(target: *mut u32) {
    misc::breakpoint();
    // SAFETY: the launch contract of the module.
    unsafe { *target = 1 };
}

/// Increments a counter of the profiler that is known when the kernel is compiled.
#[kernel]
pub unsafe fn profiler_counter(target: *mut u32) {
    misc::profiler_counter(3);
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(thread::thread_idx_x() as usize) = 1 };
}

/// Increments a counter of the profiler that is not.
#[kernel]
pub unsafe fn profiler_counter_dynamic(target: *mut u32, counter: u32) {
    misc::profiler_counter(counter);
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(thread::thread_idx_x() as usize) = 1 };
}
