//! The solved files of host tasks; what a learner is given is made from them. Compiled here, they are held to the same
//! rules as all else.
#![allow(dead_code, reason = "they run in programs of their own, as a learner's do")]

mod batch;
mod default_stream;
mod graph;
mod lost_order;
mod overlap;
mod pinned;
mod pool;
mod reused_buffer;
