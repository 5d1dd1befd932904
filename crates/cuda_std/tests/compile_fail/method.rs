//! A kernel is launched without `self`.
use cuda_std::kernel;

struct Scene;

impl Scene {
    #[kernel]
    pub unsafe fn method(&self) {}
}

fn main() {}
