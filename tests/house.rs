//! The rules of the house: which crate may know which, and how files lie in a crate.

mod circles;
mod files;
mod layers;
mod names;
mod source;

pub(crate) use layers::published;
