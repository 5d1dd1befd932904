//! The rules of the house: which crate may know which.

mod layers;
mod names;

pub(crate) use layers::published;
