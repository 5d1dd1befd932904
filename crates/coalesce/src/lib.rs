//! Lists, checks, measures, predicts and explains the memory patterns of a catalogue.
//!
//! A [`Pattern`](pattern::Pattern) is data: inputs, a CPU reference, and a ladder of variants that compute the same
//! thing. A [`Catalogue`] is a list of patterns with the PTX of their kernels. [`main`] makes a program of a catalogue;
//! its modules are the instruments that the commands use. Each takes what it needs as an argument:
//!
//! | module | does |
//! |---|---|
//! | [`verify`] | compares whole outputs with the CPU reference |
//! | [`measure`] | times variants on a GPU, and predicts their times without one |
//! | [`count`] | counts memory traffic by executing kernels |
//! | [`budget`] | holds kernels to the traffic that a file says |
//! | [`testing`] | all of that in `cargo test`, without a GPU |
//! | [`timeline`] | records which operations ran when on streams |
//! | [`hierarchy`] | tells of the memory spaces, with what was measured of each |
//! | [`foreign`] | profiles a kernel of any PTX file |
//! | [`calibrate`] | measures a device and writes its profile |
//!
//! An error of a function without a section on errors is the driver's, or that of the work that it runs.
//!
//! ```no_run
//! # const ALL: &[&coalesce::pattern::Pattern] = &[];
//! # const IMAGES: &[cuda_host::Image] = &[];
//! static CATALOGUE: coalesce::Catalogue = coalesce::Catalogue::new("my-kernels", ALL, IMAGES);
//!
//! fn main() -> std::process::ExitCode {
//!     coalesce::main(&CATALOGUE)
//! }
//! ```

pub mod arrays;
pub mod budget;
pub mod calibrate;
mod case;
mod catalogue;
mod command;
pub mod count;
mod counted;
pub mod data;
mod environment;
mod fault;
pub mod foreign;
pub mod hierarchy;
pub mod instruments;
pub mod measure;
mod measured_peaks;
pub mod nccl;
mod os;
pub mod pattern;
mod peer;
pub mod peers;
mod points;
mod side_by_side;
mod size;
pub mod testing;
pub mod timeline;
pub mod timing;
mod unavailable;
pub mod verify;
mod wrong_argument;

pub use ::results::{AdviceKind, Renamed};
pub use catalogue::{Catalogue, Selection, UnknownName};
pub use command::{description, main};
pub use count::COUNTING_DEVICE;
pub use counted::Counted;
