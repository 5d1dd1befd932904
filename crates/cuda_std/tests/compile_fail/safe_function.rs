//! A kernel is unsafe.
use cuda_std::kernel;

#[kernel]
pub fn safe(count: u32) {
    let _ = count;
}

fn main() {}
