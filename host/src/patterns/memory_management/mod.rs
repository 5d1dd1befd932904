//! Memory itself: where it is allocated, how its addresses are told apart, and what that costs.

pub mod allocation;
pub mod managed_memory;
pub mod symbols;
pub mod unified_addressing;
