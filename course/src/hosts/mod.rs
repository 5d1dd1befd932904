//! The solved files of host tasks, of which a learner's are made. Compiled here, they are held to all rules.
#![allow(dead_code, reason = "they run in programs of their own, as a learner's do")]

mod batch;
mod default_stream;
mod graph;
mod lost_order;
mod overlap;
mod pinned;
mod pool;
mod reused_buffer;
