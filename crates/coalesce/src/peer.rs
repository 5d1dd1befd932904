//! One peer: a function of a shared library that does a pattern's work on our arrays.

use crate::arrays::Arrays;
use crate::size::Size;
use crate::unavailable::Unavailable;
use anyhow::{Error, Result};
use cuda_host::Gpu;
use std::ffi::{CStr, c_char, c_void};

/// Enqueues a peer's work on a stream: the addresses of the inputs and outputs, the numbers of the size. The result is
/// null, or a sentence that says what failed, or, after [`NOT_RUN`], what is missing here.
pub type Run = unsafe extern "C" fn(
    stream: *mut c_void,
    inputs: *const u64,
    outputs: *const u64,
    size: *const usize,
) -> *const c_char;

/// The begin of the sentence where nothing failed, but the peer cannot run.
const NOT_RUN: &str = "not run: ";

/// A peer that can run.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub Run);

impl Peer {
    /// Enqueues its work.
    ///
    /// # Errors
    /// The message of the library; [`Unavailable`] where it says that the peer cannot run here.
    pub fn run(self, gpu: &Gpu, arrays: &Arrays, size: &Size) -> Result<()> {
        let (inputs, outputs) = arrays.addresses();
        // SAFETY: the library was built for this interface, which `load` asked for; it stays loaded. The arrays are
        // those of the pattern that the entry names, and the size has the numbers of its dimensions.
        let message = unsafe {
            (self.0)(
                gpu.stream().as_inner().cast(),
                inputs.as_ptr(),
                outputs.as_ptr(),
                size.values().as_ptr(),
            )
        };
        if message.is_null() {
            return Ok(());
        }
        // SAFETY: by the interface a message is a string that stays.
        Err(error(&unsafe { CStr::from_ptr(message) }.to_string_lossy()))
    }
}

/// Returns what a message of the library means.
fn error(message: &str) -> Error {
    match message.strip_prefix(NOT_RUN) {
        Some(reason) => Error::new(Unavailable(reason.to_owned())),
        None => Error::msg(message.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_no_failure() {
        let missing = error("not run: NPP was not found");
        assert!(missing.is::<Unavailable>());
        assert_eq!(missing.to_string(), "NPP was not found");
        assert!(!error("cublasSgemm(..) failed").is::<Unavailable>());
    }
}
