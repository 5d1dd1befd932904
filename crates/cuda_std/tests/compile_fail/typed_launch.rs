//! A token's type is its kernel's.
use cuda_std::kernel;
use cuda_std::kernel::Kernel;

#[kernel]
pub unsafe fn scale(source: &[f32], target: *mut f32) {
    let _ = (source, target);
}

fn main() {
    let _: Kernel<fn(&'static [f32], *const f32)> = scale;
}
