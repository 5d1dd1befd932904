//! A parameter by value is copied.
use cuda_std::kernel;

pub struct Owner(Box<u32>);

#[kernel]
pub unsafe fn owner(value: Owner) {
    let _ = value;
}

#[kernel]
pub unsafe fn fat(pointer: *const [u32]) {
    let _ = pointer;
}

fn main() {}
