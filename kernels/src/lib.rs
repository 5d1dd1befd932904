//! The device code of Coalesce: one file per memory pattern, in a folder for what it teaches; a ladder of variants from
//! naive to fastest, with the teaching doc on top of each file.
//!
//! Compiled for the GPU every `#[kernel]` is a PTX entry; compiled for the host it is a typed token
//! that a launch checks its arguments against.
//!
//! A number of elements that a kernel takes is at most 2^31; that is part of every launch contract, and the program
//! refuses larger sizes. An index of 32 bits may then pass the end by all threads of a grid that covers the elements
//! and not wrap around. What a product of two numbers makes of it is computed in 64 bits.

#![no_std]
#![allow(missing_docs)]
// On an old target the kernels that need a newer one are left out, and so is what only they import.
#![cfg_attr(target_arch = "nvptx64", allow(unused_imports))]
// A test build links the standard library, whose floats have the methods of `GpuFloat` themselves.
#![cfg_attr(test, allow(unused_imports))]

/// A pointer to the first element of an array in shared memory: `shared_array!(WORDS: [f32; 32])`.
macro_rules! shared_array {
    ($name:ident: [$element:ty; $len:expr]) => {{
        #[address_space(shared)]
        static mut $name: ::core::mem::MaybeUninit<[$element; ($len) as usize]> =
            ::core::mem::MaybeUninit::uninit();
        (&raw mut $name).cast::<$element>()
    }};
}

pub mod caches;
pub mod collectives;
pub mod execution;
pub mod global;
pub mod memory_management;
pub mod shared;
pub mod streams;
pub mod transfer;
