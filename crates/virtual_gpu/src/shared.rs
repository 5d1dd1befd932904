//! Handles of what several processes share.

use crate::virtual_memory::FileName;
use std::ffi::c_char;

/// The content of a handle, whose other bytes are zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shared {
    pub(crate) kind: [u8; 8],
    pub(crate) process: u32,
    pub(crate) device: u32,
    /// The file of memory; of an event its handle is the number.
    pub(crate) file: FileName,
    pub(crate) bytes: u64,
    /// The file that names the pool of memory; 0 for memory of none.
    pub(crate) pool: u64,
}

impl Shared {
    /// Writes the handle.
    pub(crate) fn written(self) -> [c_char; 64] {
        let mut all = [0; 64];
        let parts = self.kind.into_iter().chain(self.process.to_le_bytes());
        let parts = parts.chain(self.device.to_le_bytes()).chain(self.file.number.to_le_bytes());
        let parts = parts.chain(self.bytes.to_le_bytes()).chain(self.file.identity.to_le_bytes());
        let parts = parts.chain(self.pool.to_le_bytes());
        all.iter_mut().zip(parts).for_each(|(place, byte)| *place = byte as c_char);
        all
    }

    /// Reads a handle of a kind, if it is one.
    pub(crate) fn read(handle: &[c_char; 64], kind: [u8; 8]) -> Option<Shared> {
        let bytes = handle.map(|byte| byte as u8);
        let word = |at: usize| Some(u64::from_le_bytes(*bytes[at..].first_chunk()?));
        let half = |at: usize| Some(u32::from_le_bytes(*bytes[at..].first_chunk()?));
        let (process, device) = (half(8)?, half(12)?);
        let (bytes, file) = (word(24)?, FileName { number: word(16)?, identity: word(32)? });
        let read = Shared { kind, process, device, file, bytes, pool: word(40)? };
        (read.written() == *handle).then_some(read)
    }
}
