//! Cases and launches that several patterns share.

pub mod copy;
pub mod product;
