//! Clocks, the identity of the multiprocessor, and debugging aids.
//!
//! The registers are read by inline assembly that the compiler may neither drop, nor duplicate, nor
//! move over memory accesses, so that the difference of two clocks is the time of what is written
//! between them. None of it communicates with other lanes.
//!
//! Source: PTX ISA, "Special Registers", `brkpt`, `pmevent`.
//!
//! ```no_run
//! use cuda_std::misc::clock;
//! let begin = clock();
//! let cycles = clock() - begin;
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::gpu_only;

/// Declares functions that read a special register anew each time.
macro_rules! changing_register {
    ($($(#[$documentation:meta])* $name:ident $class:ident $kind:ident $instruction:literal;)*) => {
        $(
            $(#[$documentation])*
            #[gpu_only]
            #[inline(always)]
            #[must_use]
            pub fn $name() -> $kind {
                let value: $kind;
                // SAFETY: reading a special register has no precondition.
                unsafe {
                    asm!($instruction, out($class) value, options(nostack, preserves_flags));
                }
                value
            }
        )*
    };
}

changing_register! {
    /// The multiprocessor's cycle counter. PTX: `%clock64`.
    clock reg64 u64 "mov.u64 {}, %clock64;";
    /// The low half of the cycle counter, which wraps after seconds but costs less to read.
    /// PTX: `%clock`. Beyond rust-cuda.
    clock32 reg32 u32 "mov.u32 {}, %clock;";
    /// The device's wall clock in nanoseconds; it advances in steps of up to a microsecond.
    /// PTX: `%globaltimer`. Beyond rust-cuda.
    globaltimer reg64 u64 "mov.u64 {}, %globaltimer;";
    /// The multiprocessor that runs the block. PTX: `%smid`. Beyond rust-cuda.
    smid reg32 u32 "mov.u32 {}, %smid;";
    /// The number of multiprocessor identifiers, at least that of multiprocessors. PTX: `%nsmid`.
    /// Beyond rust-cuda.
    nsmid reg32 u32 "mov.u32 {}, %nsmid;";
    /// The warp's slot on the multiprocessor; not its index in the block. PTX: `%warpid`. Beyond
    /// rust-cuda.
    warpid reg32 u32 "mov.u32 {}, %warpid;";
    /// The launch's number, different for each grid of a process. PTX: `%gridid`. Beyond rust-cuda.
    gridid reg64 u64 "mov.u64 {}, %gridid;";
}

/// Stops the thread for a debugger. PTX: `brkpt`.
#[gpu_only]
#[inline(always)]
pub fn breakpoint() {
    // SAFETY: the instruction touches no memory.
    unsafe {
        asm!("brkpt;", options(nostack, preserves_flags));
    }
}

/// Increments one of the profiler's eight counters. PTX: `pmevent`, whose operand is an immediate:
/// with a counter that is only known at run time this becomes a choice between eight of them.
///
/// # Panics
/// When `counter` is above 7.
#[gpu_only]
#[inline(always)]
pub fn profiler_counter(counter: u32) {
    /// Declares the choice between the eight instructions.
    macro_rules! event {
        ($($number:literal)*) => {
            match counter {
                $(
                    $number => {
                        // SAFETY: the instruction touches no memory.
                        unsafe {
                            asm!(
                                concat!("pmevent ", $number, ";"),
                                options(nomem, nostack, preserves_flags)
                            );
                        }
                    }
                )*
                _ => panic!("the counters of the profiler are 0 to 7"),
            }
        };
    }
    event!(0 1 2 3 4 5 6 7)
}
