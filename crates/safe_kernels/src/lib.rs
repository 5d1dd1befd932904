//! Kernels without `unsafe`: in [`attacks`] some that try to break what `cuda_std::safe` promises, in [`uses`] what block,
//! warp, atomics and constants are for. `tests/safe_api.rs` launches all of them with every check.

#![no_std]
#![allow(missing_docs, reason = "this crate is not published")]
#![forbid(unsafe_code)]

pub mod attacks;
pub mod uses;
