pub mod allocation;
pub mod managed_memory;
pub mod symbols;
pub mod unified_addressing;
