//! Host tasks: the learner edits calls of the driver. Here is how such a file becomes a program, and how its runs are
//! judged; what the file itself is linked with is `course_host`.

mod build;
mod counts;
mod judge;
mod order;

pub use build::{Program, Source, build};
pub use counts::HostCounts;
pub use judge::{HostSubmission, grade, run_at};

/// Returns what `course_host::step` makes of a value, for references.
pub fn stepped(value: u32, factor: u32, add: u32, rounds: u32) -> u32 {
    (0..rounds).fold(value, |value, _| value.wrapping_mul(factor).wrapping_add(add))
}
