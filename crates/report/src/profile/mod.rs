//! Profiles of programs: as text for a terminal, as pages, as pictures and as a trace for a viewer.
//!
//! ```no_run
//! let profile = results::ProgramProfile::load("profile.json".as_ref())?;
//! std::fs::write("trace.json", report::profile::chrome_trace(&profile.timeline))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod page;
mod screen;
mod text;
mod trace;
mod words;

pub use page::{pages, pictures};
pub use screen::screen;
pub use text::text;
pub use trace::chrome_trace;
pub use words::Taught;
