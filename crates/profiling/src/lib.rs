//! Profiles of programs of others: what their kernels did on the virtual device, with advice.
//!
//! A [`Collector`] is given each launch and makes a [`results::ProgramProfile`] of them, which `report` shows. Its users
//! are `coalesce explain FILE.ptx`, which launches a kernel itself, and `virtual_libcuda`, whose program launches what it
//! likes. [`advice`] is a pure function of the profile.
//!
//! ```no_run
//! use virtual_gpu::LaunchRecord;
//!
//! fn profile_of(launches: Vec<LaunchRecord>) -> results::ProgramProfile {
//!     let mut collector =
//!         profiling::Collector::new("my program".into(), "h200".into(), true, String::new());
//!     for launch in launches {
//!         collector.launch(launch);
//!     }
//!     collector.profile()
//! }
//! ```

pub mod advice;
mod collector;
mod names;
mod sources;

pub use collector::{Collector, instruction, mistake, profiled};
pub use names::demangled;
pub use sources::{SourceLine, Sources};
