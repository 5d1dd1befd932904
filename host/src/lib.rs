//! Registry, verification and measurement of Coalesce's memory patterns.
//!
//! Start at [`patterns::PATTERNS`]: each [`pattern::Pattern`] is data, and everything else iterates
//! that list. A pattern's device half and teaching doc is `kernels/src/<pattern>.rs`.
//!
//! The driver is reached through [`gpu`] and nowhere else.

pub mod calibrate;
pub mod compare;
pub mod data;
pub mod gpu;
pub mod measure;
pub mod pattern;
pub mod patterns;
pub mod peers;
pub mod ptx;
pub mod results;
pub mod traffic;
pub mod verify;
