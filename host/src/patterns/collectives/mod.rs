pub mod atomics;
pub mod distributed_shared;
pub mod histogram;
pub mod reduction;
pub mod scan;
