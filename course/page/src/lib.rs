//! The course in a page. Tasks, grading and words are the files of `course`, compiled once more over a device that is
//! the executor and nothing else; learners' files, in Rust or CUDA C++, become PTX by `rust_to_ptx`.
//!
//! Those files name the crates that `course` is made of. Here this crate has all these names, with what the files need:
//! data and cases of `coalesce` from its own files, and a device (`gpu`) without a driver.
//!
//! A page calls [`alloc`], writes a request there, calls [`run`], and reads as many bytes as that says from [`result`].
#![allow(missing_docs, reason = "this crate is not published")]
#![allow(dead_code, unused_imports, reason = "a page needs a part of the files that it shares")]
#![allow(clippy::needless_update, reason = "the device of `course` has more options")]

extern crate self as coalesce;
extern crate self as course_host;
extern crate self as course_kernels;
extern crate self as cuda_host;
extern crate self as cust;
extern crate self as profiling;
extern crate self as results;
extern crate self as virtual_gpu;

mod gpu;
pub mod request;

// Of `coalesce`.
#[path = "../../../crates/coalesce/src/case.rs"]
mod case;
#[path = "../../../crates/coalesce/src/counted.rs"]
mod counted;
#[path = "../../../crates/coalesce/src/data.rs"]
pub mod data;
#[path = "../../../crates/coalesce/src/fault.rs"]
mod fault;
#[path = "../../../crates/coalesce/src/size.rs"]
mod size;
pub use counted::Counted;

// Of `course`.
#[path = "../../src/bounds.rs"]
pub mod bounds;
#[path = "../../src/count.rs"]
pub mod count;
#[path = "../../src/device.rs"]
mod device;
#[path = "../../src/diagnosis.rs"]
pub mod diagnosis;
#[path = "../../src/format.rs"]
pub mod format;
#[path = "../../src/grade.rs"]
pub mod grade;
#[path = "../../src/host/numbers.rs"]
pub mod host;
#[path = "../../src/mistake.rs"]
pub mod mistake;
#[path = "../../src/picture.rs"]
pub mod picture;
#[path = "../../src/ptx.rs"]
pub mod ptx;
#[path = "../../src/question.rs"]
pub mod question;
#[path = "../../src/refuse.rs"]
pub mod refuse;
#[path = "../../src/learn/screen.rs"]
pub mod screen;
#[path = "../../src/submission.rs"]
pub mod submission;
#[path = "../../src/task.rs"]
pub mod task;
#[path = "../../src/tasks/mod.rs"]
pub mod tasks;
#[path = "../../src/verdict.rs"]
pub mod verdict;
#[path = "../../src/words.rs"]
mod words;

#[path = "../../../crates/simt_page/src/json.rs"]
pub mod json;

// Names of the other crates.
pub use counters::{
    Counters, MisuseKind, RequestCounts, RequestKind, RequestRecord, SourceLocation,
};
pub use gpu::{
    Gpu, GpuError, Image, InstructionCounts, KernelFault, Launcher, Misuse, MisusedMemory,
    VirtualDevice, VirtualOptions, arrays, demangled, function, instruction, pattern, verify,
};
pub use simt::{Checks, Schedule};

/// The device whose counts the course takes.
pub const COUNTING_DEVICE: &str = "h200";

/// A place of the device's memory in a message, of host files only.
pub struct DevicePlace {
    pub text: String,
    pub offset: u64,
    pub bytes: u64,
}

/// The terminal, which a page is not.
mod os {
    pub fn terminal_columns() -> Option<usize> {
        None
    }
}

/// The kernels' names, as tasks launch them.
macro_rules! kernels {
    ($($name:ident)*) => { $(pub mod $name {
        #[allow(non_upper_case_globals, reason = "it is the kernel's name")]
        pub const $name: &str = stringify!($name);
    })* };
}
kernels! {
    any_order barrier_in_branch bins_private boss_capitals boss_classes boss_complex boss_matches boss_outer
    boss_row_sums boss_table constant_walk copy_not_awaited doubles_turned every_third first_warp grid_stride guard
    half_and_half line_or_sector lockstep lost_update matmul_tile missing_barrier offset_load one_counter one_field
    own_element pad_the_tile read_only_lie rows_to_lanes small_grid spilled stride_banks swizzle_the_tile tree
    two_writers uninitialized_halo useful_bytes wide_banks wide_loads window_sum wrong_mask
}

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Request that the page wrote, replaced by the answer.
static REQUEST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static RESULT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn locked(buffer: &'static Mutex<Vec<u8>>) -> MutexGuard<'static, Vec<u8>> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a request of so many bytes and says where it is.
// SAFETY: no other symbol of this name is linked into the module.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn alloc(length: usize) -> *mut u8 {
    let mut request = locked(&REQUEST);
    request.clear();
    request.resize(length, 0);
    request.as_mut_ptr()
}

/// Answers the request that was written, and says how many bytes the answer has.
// SAFETY: as for `alloc`.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn run() -> usize {
    let text = String::from_utf8_lossy(&locked(&REQUEST)).into_owned();
    let mut result = locked(&RESULT);
    *result = request::answer(&text).into_bytes();
    result.len()
}

// SAFETY: as for `alloc`.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn result() -> *const u8 {
    locked(&RESULT).as_ptr()
}
