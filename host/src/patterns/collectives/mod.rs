//! Many threads, one result: shuffles, atomics, and blocks that hand over to blocks.

pub mod atomics;
pub mod distributed_shared;
pub mod histogram;
pub mod reduction;
pub mod scan;
