//! Values that cannot be passed to a kernel.
use cuda_std::kernel;

#[kernel]
pub unsafe fn text(message: &str) {
    let _ = message;
}

#[kernel]
pub unsafe fn object(value: &dyn Send) {
    let _ = value;
}

fn main() {}
