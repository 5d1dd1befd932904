//! Streams, events and graphs: what waits for what, and what runs at the same time.

pub mod graphs;
pub mod overlap;
pub mod stream_semantics;
