//! Contracts that a kernel which is a safe function must not have.

use cuda_std::prelude::*;
use cuda_std::safe::PerThread;

#[kernel(block = 256)]
pub fn pointer(target: *mut f32) {}

#[kernel(block = 256)]
pub fn mutable_slice(target: &mut [f32]) {}

#[kernel(block = 256, same_length(x, count))]
pub fn no_length(x: &[f32], count: u32) {}

#[kernel(block = 256, launch_bounds(128))]
pub fn twice(x: &[f32]) {}

#[kernel(block = 256)]
pub unsafe fn not_safe(x: &[f32]) {}

#[kernel]
pub unsafe fn no_block(target: PerThread<f32>) {}

fn main() {}
