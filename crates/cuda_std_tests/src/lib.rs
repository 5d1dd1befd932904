//! This crate has a kernel for every function of `cuda_std`, with the outputs that it must compute.
//!
//! - `kernels` are compiled for the device: the tests of this crate check that their PTX has the
//!   instruction that the function's documentation promises.
//! - `launches` is a table of what to run and what must come out, for whoever can execute PTX: a GPU,
//!   or an interpreter. `launches::all()` has the inputs and the outputs as bytes.
#![allow(missing_docs, reason = "this crate is not published")]
#![cfg_attr(target_arch = "nvptx64", no_std)]
// An import may serve only kernels that this target is too old for; the host sees all of them.
#![cfg_attr(target_arch = "nvptx64", allow(unused_imports))]
#![allow(clippy::missing_safety_doc)]

extern crate alloc;

pub mod kernels;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launches;
