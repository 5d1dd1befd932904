//! Registry, verification and measurement of Coalesce's memory patterns.
//!
//! Start at [`patterns::PATTERNS`]: each [`pattern::Pattern`] is data, and everything else iterates
//! that list. A pattern's device half and teaching doc is `kernels/src/<group>/<pattern>.rs`.
//!
//! The driver is reached through [`gpu`] and nowhere else.

pub mod calibrate;
pub mod compare;
pub mod data;
pub mod environment;
pub mod gpu;
pub mod measure;
pub mod pattern;
pub mod patterns;
pub mod peers;
pub mod picture;
pub mod ptx;
pub mod report;
pub mod results;
pub mod tabulate;
pub mod timeline;
pub mod traffic;
pub mod verify;
