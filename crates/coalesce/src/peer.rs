//! One peer: a function of a shared library that does a pattern's work on our arrays.

use crate::arrays::Arrays;
use crate::size::Size;
use anyhow::{Result, bail};
use cuda_host::Gpu;
use std::ffi::{CStr, c_char, c_void};

/// Enqueues a peer's work on a stream: the addresses of the inputs and outputs, the numbers of the size. The result is
/// null, or a sentence that says what failed.
pub type Run = unsafe extern "C" fn(
    stream: *mut c_void,
    inputs: *const u64,
    outputs: *const u64,
    size: *const usize,
) -> *const c_char;

/// A peer that can run.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub Run);

impl Peer {
    /// Enqueues its work.
    ///
    /// # Errors
    /// The message of the library.
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
        bail!("{}", unsafe { CStr::from_ptr(message) }.to_string_lossy())
    }
}
