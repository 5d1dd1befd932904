//! A kernel cannot return.
use cuda_std::kernel;

#[kernel]
pub unsafe fn returns(source: *const u32) -> u32 {
    unsafe { *source }
}

fn main() {}
