//! The kernels on the pages of the guide: `crates/guide` launches them as the pages do.

#![no_std]

include!(concat!(env!("OUT_DIR"), "/blocks.rs"));
