//! A kernel has one name and one parameter layout, so a generic one says its instances.
use cuda_std::kernel;

#[kernel]
pub unsafe fn generic<T: Copy, const N: usize>(source: *const T) {
    let _ = source;
}

#[kernel]
pub unsafe fn hidden(source: impl Copy) {
    let _ = source;
}

#[kernel(T = [f32])]
pub unsafe fn half_said<T: Copy, const N: usize>(source: *const T) {
    let _ = source;
}

#[kernel(T = [f32], U = [u8])]
pub unsafe fn said_of_nothing<T: Copy>(source: *const T) {
    let _ = source;
}

#[kernel(T = [f32, String])]
pub unsafe fn not_in_the_bounds<T: Copy>(source: *const T) {
    let _ = source;
}

#[kernel(T = [f32])]
pub unsafe fn associated<T: Iterator>(source: T::Item) {
    let _ = source;
}

fn main() {}
