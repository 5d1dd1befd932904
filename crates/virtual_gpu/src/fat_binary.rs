//! Fat binaries: what nvcc puts into a program, with a kernel's PTX among machine code for several devices.
//!
//! The format is not documented; this is what `fatbinary` of CUDA 13 writes, as its output shows: a header, then entries,
//! each with a header of its own.
//!
//! ```text
//! file     0 magic 0xba55ed50   4 version   6 bytes of this header   8 bytes of all entries
//! entry    0 kind: 1 is PTX   4 bytes of this header   8 bytes of the content   16 bytes of it that are compressed
//!         28 architecture   40 flags: 0x2000 is LZ4, 0x8000 is Zstandard   56 bytes once it is not compressed
//! ```

use std::io::Read;

/// The magic number of a fat binary.
pub(crate) const MAGIC: u32 = 0xba55_ed50;
/// That of the structure through which a program holds one: magic, version, address.
pub(crate) const WRAPPER_MAGIC: u32 = 0x4662_43b1;
/// Bytes of the file's header.
pub(crate) const HEADER: usize = 16;

const PTX: u16 = 1;
const LZ4: u64 = 0x2000;
const ZSTANDARD: u64 = 0x8000;
/// PTX of more bytes than this is none that a compiler wrote.
const MAX_BYTES: u64 = 1 << 28;

/// Returns whether bytes are those of a fat binary.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes())
}

/// Bytes of a fat binary, header included, as its header says; nothing for what is none.
pub(crate) fn length(header: [u8; HEADER]) -> Option<usize> {
    let magic = u32_at(&header, 0)?;
    let (own, entries) = (u16_at(&header, 6)?, u64_at(&header, 8)?);
    let entries = usize::try_from(entries).ok()?;
    (magic == MAGIC).then(|| usize::from(own).checked_add(entries)).flatten()
}

/// The entries of a fat binary, each from its header on, and the bytes of that and of both; nothing for what is cut.
fn entries(fat: &[u8]) -> Option<Vec<(&[u8], usize, usize)>> {
    let mut at = usize::from(u16_at(fat, 6)?);
    let mut found = Vec::new();
    while let Some(entry) = fat.get(at..).filter(|entry| !entry.is_empty()) {
        let (header, content) =
            (u32_at(entry, 4)? as usize, usize::try_from(u64_at(entry, 8)?).ok()?);
        let end = header.checked_add(content)?;
        found.push((entry, header, end));
        at = at.checked_add(end.max(1))?;
    }
    Some(found)
}

/// The PTX in a fat binary for the newest architecture that is not newer than this one; nothing when it has none.
pub(crate) fn ptx(fat: &[u8], architecture: u32) -> Option<String> {
    let mut newest: Option<(u32, String)> = None;
    for (entry, header, end) in entries(fat)? {
        let target = u32_at(entry, 28)?;
        let is_newer = newest.as_ref().is_none_or(|(known, _)| target > *known);
        if u16_at(entry, 0)? == PTX && target <= architecture && is_newer {
            let text = unpacked(entry, entry.get(header..end)?)?;
            newest = Some((target, text));
        }
    }
    newest.map(|(_, text)| text)
}

/// Returns whether a fat binary has nothing for a device of this architecture to link: no code, or PTX for newer ones
/// alone.
///
/// The latter is the device runtime that nvcc adds to whatever it links, which kernels need that launch kernels.
pub(crate) fn is_for_others(fat: &[u8], architecture: u32) -> bool {
    let Some(entries) = entries(fat) else { return false };
    let is_ptx = |entry: &&(&[u8], usize, usize)| u16_at(entry.0, 0) == Some(PTX);
    let has_newer = entries.iter().any(|entry| is_ptx(&entry));
    let all_are_newer = entries
        .iter()
        .filter(is_ptx)
        .all(|entry| u32_at(entry.0, 28).is_some_and(|target| target > architecture));
    entries.is_empty() || has_newer && all_are_newer
}

/// Returns whether any fat binary of a program's section has PTX.
pub fn fat_binaries_have_ptx(section: &[u8]) -> bool {
    let mut at = 0;
    while let Some(rest) = section.get(at..).filter(|rest| rest.len() >= HEADER) {
        let fat = bytes_at(rest, 0).and_then(length).and_then(|length| rest.get(..length));
        if fat.is_some_and(has_ptx) {
            return true;
        }
        // Each begins at a multiple of eight bytes.
        at += fat.map_or(1, <[u8]>::len).next_multiple_of(8);
    }
    false
}

fn has_ptx(fat: &[u8]) -> bool {
    entries(fat).is_some_and(|all| all.iter().any(|entry| u16_at(entry.0, 0) == Some(PTX)))
}

fn unpacked(entry: &[u8], content: &[u8]) -> Option<String> {
    let flags = u64_at(entry, 40)?;
    let bytes = u64_at(entry, 56)?;
    let packed = content.get(..u32_at(entry, 16)? as usize)?;
    if bytes > MAX_BYTES {
        return None;
    }
    let mut text = if flags & ZSTANDARD != 0 {
        let mut text = Vec::new();
        let decoder = ruzstd::decoding::StreamingDecoder::new(packed).ok()?;
        decoder.take(bytes).read_to_end(&mut text).ok()?;
        text
    } else if flags & LZ4 != 0 {
        lz4_flex::block::decompress(packed, bytes as usize).ok()?
    } else {
        content.to_vec()
    };
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text.truncate(end);
    String::from_utf8(text).ok()
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes_at(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes_at(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of nvcc 13.5 for `fixtures/twice.cu` in each of its modes of compression, for sm_80.
    const FILES: [&[u8]; 3] = [
        include_bytes!("../fixtures/twice_zstandard.fatbin"),
        include_bytes!("../fixtures/twice_lz4.fatbin"),
        include_bytes!("../fixtures/twice_plain.fatbin"),
    ];

    #[test]
    fn the_text_of_each_compression_is_the_same() {
        let texts = FILES.map(|file| ptx(file, 90).expect("it has PTX"));
        assert!(texts[0].contains(".visible .entry twice("), "{}", texts[0]);
        assert!(texts.iter().all(|text| *text == texts[0]));
        simt::Module::parse(&texts[0]).expect("PTX");
        // PTX for a newer architecture is of no use to an older device.
        assert_eq!(ptx(FILES[0], 70), None);
        assert!(is_for_others(FILES[0], 70) && !is_for_others(FILES[0], 80));
        let empty = [&FILES[0][..8], &[0; 8]].concat();
        assert!(is_for_others(&empty, 90));
    }

    #[test]
    fn a_section_of_fat_binaries_has_ptx_if_one_of_them_has() {
        let mut section = FILES[0].to_vec();
        // As if its PTX were machine code.
        section[HEADER] = 2;
        assert!(!fat_binaries_have_ptx(&section));
        section.resize(section.len().next_multiple_of(8) + 8, 0);
        assert!(!fat_binaries_have_ptx(&section));
        section.extend(FILES[2]);
        assert!(fat_binaries_have_ptx(&section));
    }

    #[test]
    fn a_file_that_is_cut_or_changed_has_no_ptx_and_breaks_nothing() {
        for file in FILES {
            assert_eq!(length(file[..HEADER].try_into().unwrap()), Some(file.len()));
            for end in 0..file.len() {
                let _ = ptx(&file[..end], 90);
                let _ = fat_binaries_have_ptx(&file[..end]);
            }
            for at in 0..file.len() {
                let mut changed = file.to_vec();
                changed[at] ^= 0xff;
                let _ = ptx(&changed, 90);
                let _ = fat_binaries_have_ptx(&changed);
            }
        }
    }
}
