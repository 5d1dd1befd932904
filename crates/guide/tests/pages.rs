//! The Rust of README, the guide's pages and the doc of `cuda_host`, run on the virtual GPU with every check: a hazard fails.
//!
//! `blocks.rs` says how a page is read.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
