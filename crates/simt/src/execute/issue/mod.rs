//! Warps that issue instructions: blocks on workers, warps in turns, what no memory is needed for.

pub(crate) mod block;
pub(crate) mod builtin;
pub(crate) mod cluster;
pub(crate) mod endless;
pub(crate) mod exchange;
pub(crate) mod geometry;
pub(crate) mod prepare;
#[cfg(test)]
pub(crate) mod reconvergence;
pub(crate) mod recursion;
pub(crate) mod run;
pub(crate) mod saved_frame;
pub(crate) mod start;
pub(crate) mod step;
pub(crate) mod trace;
pub(crate) mod turns;
pub(crate) mod warp;
pub(crate) mod worker;
pub(crate) mod workers;
