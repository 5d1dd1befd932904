//! Numbers in the bytes of shared memory and of parameters.

/// Reads 1, 2, 4 or 8 bytes; past the end (which bounds checks exclude) reads zero.
#[inline(always)]
pub(crate) fn read_bytes(memory: &[u8], at: usize, bytes: u32) -> u64 {
    match bytes {
        1 => memory.get(at).copied().unwrap_or(0) as u64,
        2 => memory.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes)
            as u64,
        4 => memory.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
            as u64,
        _ => memory.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes),
    }
}

/// Writes the low bytes of a value; past the end (which bounds checks exclude) does nothing.
#[inline(always)]
pub(crate) fn write_bytes(memory: &mut [u8], at: usize, bytes: u32, value: u64) {
    let source = value.to_le_bytes();
    if let Some(target) = memory.get_mut(at..at + bytes as usize) {
        match bytes {
            4 => target.copy_from_slice(&source[..4]),
            8 => target.copy_from_slice(&source),
            2 => target.copy_from_slice(&source[..2]),
            _ => target.copy_from_slice(&source[..1]),
        }
    }
}
