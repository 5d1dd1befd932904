//! The arguments of `#[kernel]`.
use cuda_std::kernel;

#[kernel(launch_bound(256))]
pub unsafe fn misspelt() {}

#[kernel(launch_bounds())]
pub unsafe fn empty() {}

#[kernel(launch_bounds(256), launch_bounds(128))]
pub unsafe fn twice() {}

#[kernel(min_compute_capability = 8)]
pub unsafe fn too_old() {}

#[kernel(cluster(1, 2, 3, 4))]
pub unsafe fn four_dimensions() {}

fn main() {}
