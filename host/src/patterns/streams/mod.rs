pub mod graphs;
pub mod overlap;
pub mod stream_semantics;
