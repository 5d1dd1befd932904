//! Accesses of warps to memory in every state space.

pub(crate) mod access;
pub(crate) mod asynchronous;
pub(crate) mod atomic;
pub(crate) mod bounds;
pub(crate) mod bytes;
pub(crate) mod device;
pub(crate) mod mbarrier;
pub(crate) mod pattern;
pub(crate) mod pending;
pub(crate) mod request;
