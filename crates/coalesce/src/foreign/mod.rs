//! Kernels of others: a PTX file by any compiler, launched on the virtual device with arguments from the command line.
//!
//! ```no_run
//! let (text, _module) = coalesce::foreign::read("kernel.ptx".as_ref())?;
//! println!("{} bytes of PTX", text.len());
//! # anyhow::Ok(())
//! ```

mod argument;
mod explain;
mod trace;

pub use argument::{Argument, Shape, declared};
pub use explain::{Launch, Saved, chosen_kernel, explain, read};
pub use trace::{MOST as MOST_STEPS, TracedWarp, text as trace_text};
