//! Safe Rust wrappers for the parts of the CUDA driver API that cust lacks.
//!
//! cust's own types are used wherever it has them: buffers, streams, events, modules and functions are cust's, and what
//! is here takes them by reference. Without the feature `cust` they are those of `driver_owners`, which have the same
//! names; textures and managed memory are then left out. All failures are one type, [`Error`].
//! It is the driver's where a function has no section on errors, and that of a copy between places of different lengths.
//!
//! | need | here |
//! |---|---|
//! | start a device | [`device::open`], [`device::attribute`], [`device::memory_info`] |
//! | mapped, portable, write-combined host memory | [`host_memory::HostBuffer`] |
//! | pin memory that exists already | [`host_memory::RegisteredBuffer`] |
//! | asynchronous copies that cannot outlive their buffers | [`transfer::scope`], [`transfer::InFlight`] |
//! | non-blocking streams, priorities, queries, host functions | [`stream`] |
//! | stream-ordered allocation | [`pool::Pool`] |
//! | graphs, captured from a stream | [`graph`] |
//! | L2 residency | [`l2`] |
//! | more than 48 KiB of shared memory, registers, occupancy | [`function`] |
//! | cooperative and cluster launches | [`launch::Launch`] |
//! | managed memory by range | `managed`, with the feature `cust` |
//! | `static` and constant arrays of a module | [`symbol::symbol`] |
//! | maps of tensors for copies by the TMA | [`tensor_map::Tiled`] |
//! | images: arrays, levels, textures, surfaces | `texture`, with the feature `cust` |
//! | the memory space of a pointer | [`mod@pointer`] |
//! | several devices | [`peer`] |

// Every `cust::` below means it.
#[cfg(not(feature = "cust"))]
extern crate driver_owners as cust;

/// Makes a setter of each field: options that grow cannot be written as a literal by other crates.
macro_rules! setters {
    ($options:ident { $($field:ident: $type:ty),* $(,)? }) => {
        impl $options {
            $(
                #[doc = concat!("The same with another [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                pub const fn $field(mut self, $field: $type) -> $options {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

pub mod device;
mod error;
pub mod function;
pub mod graph;
pub mod handle;
pub mod host_memory;
pub mod l2;
pub mod launch;
#[cfg(feature = "cust")]
pub mod managed;
pub mod peer;
pub mod pointer;
pub mod pool;
pub mod stream;
pub mod symbol;
pub mod tensor_map;
#[cfg(test)]
mod testing;
#[cfg(feature = "cust")]
pub mod texture;
pub mod transfer;

pub use error::{Error, Result};
