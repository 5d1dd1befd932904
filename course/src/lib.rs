//! The course: tasks that teach what memory does, graded by exact counts and hazards without a GPU.
//!
//! It is a catalogue like any other, by the public API of `coalesce`: a [`task::Task`] is a pattern with one launch,
//! questions, bounds and hints. Device code is in `course/kernels`.
#![allow(missing_docs, reason = "this crate is not published")]

pub mod bounds;
pub mod compile;
pub mod count;
pub mod cuda;
mod device;
pub mod diagnosis;
pub mod format;
pub mod grade;
mod group;
mod hash;
pub mod host;
mod hosts;
pub mod learn;
pub mod mistake;
mod os;
pub mod picture;
pub mod ptx;
pub mod question;
pub mod refuse;
pub mod student;
pub mod submission;
pub mod task;
pub mod tasks;
mod twins;
pub mod verdict;
mod words;
