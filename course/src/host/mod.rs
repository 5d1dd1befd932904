//! Host tasks: the learner edits calls of the driver. Here is how such a file becomes a program, and how its runs are
//! judged; what the file itself is linked with is `course_host`.

mod build;
mod counts;
mod judge;
mod numbers;
mod order;

pub use build::{Program, Source, build};
pub use judge::{HostSubmission, grade, run_at};
pub use numbers::{HostCounts, stepped};
