//! A kernel has one name and one parameter layout.
use cuda_std::kernel;

#[kernel]
pub unsafe fn generic<T: Copy, const N: usize>(source: *const T) {
    let _ = source;
}

#[kernel]
pub unsafe fn hidden(source: impl Copy) {
    let _ = source;
}

fn main() {}
