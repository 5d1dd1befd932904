//! The last contents of a program's memory on the virtual device and on this machine's GPU, compared.

use super::build::Start;
use super::likeness::{CLOSE, Likeness};
use super::suite::Program;
use super::trial::{device, output_of};
use crate::workspace;
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Bytes of each allocation, and its content, by its number.
type Record = BTreeMap<u64, (u64, Vec<u8>)>;

/// Runs a program on both devices with our runtime, which records memory (`COALESCE_RECORD`). Nothing: one of them took too
/// long or recorded nothing, or the GPU's own runs differ.
pub fn compared(
    program: &Program,
    start: &Start,
    arguments: &[String],
    limit: Duration,
) -> Result<Option<Likeness>> {
    let gpu = || run(program, start, arguments, &["--device", "gpu"], limit);
    likenesses(gpu()?, gpu()?, || run(program, start, arguments, &device(program), limit))
}

/// Compares with what was recorded on a GPU elsewhere.
pub fn recorded(
    program: &Program,
    start: &Start,
    arguments: &[String],
    folder: &Path,
    limit: Duration,
) -> Result<Option<Likeness>> {
    let read = |kind: &str| {
        let file = folder.join(&program.name).with_added_extension(kind);
        std::fs::read(file).ok().map(|bytes| self::read(&bytes)).filter(is_telling)
    };
    likenesses(read("record"), read("record-again"), || {
        run(program, start, arguments, &device(program), limit)
    })
}

/// Compares what the GPU recorded twice with what the virtual device does.
fn likenesses(
    first: Option<Record>,
    again: Option<Record>,
    ours: impl FnOnce() -> Result<Option<Record>>,
) -> Result<Option<Likeness>> {
    let (Some(first), Some(again)) = (first, again) else { return Ok(None) };
    if likeness(&first, &again) == Likeness::Differs {
        return Ok(None);
    }
    let ours = ours()?;
    Ok(ours.map(|ours| likeness(&ours, &first).min(likeness(&ours, &again))))
}

/// Runs a program with our runtime on a device, and reads what it recorded, if that tells anything.
fn run(
    program: &Program,
    start: &Start,
    arguments: &[String],
    options: &[&str],
    limit: Duration,
) -> Result<Option<Record>> {
    let place = program.folder.join("memory.record");
    let mut command = Command::new(workspace::coalesce());
    command.arg("run").args(options).args(["--fail-on", "none", "--", &start.file]).args(arguments);
    command.env("COALESCE_RECORD", &place);
    let ended = output_of(&mut command, program, start, "memory", limit)?;
    let bytes = std::fs::read(&place).unwrap_or_default();
    let _ = std::fs::remove_file(&place);
    Ok(ended.map(|_| read(&bytes)).filter(is_telling))
}

/// Returns whether anything but zeros was recorded.
fn is_telling(record: &Record) -> bool {
    record.values().any(|(_, content)| content.iter().any(|byte| *byte != 0))
}

/// Reads a record as far as it goes.
fn read(mut bytes: &[u8]) -> Record {
    let mut record = Record::new();
    while let Some((head, rest)) = bytes.split_first_chunk::<24>() {
        let word = |index: usize| {
            let word = head[8 * index..].first_chunk().copied().unwrap_or_default();
            u64::from_le_bytes(word)
        };
        let kept = usize::try_from(word(2)).unwrap_or(usize::MAX);
        let Some((content, rest)) = rest.split_at_checked(kept) else { break };
        record.insert(word(0), (word(1), content.to_vec()));
        bytes = rest;
    }
    record
}

fn likeness(one: &Record, other: &Record) -> Likeness {
    if !one.keys().eq(other.keys()) {
        return Likeness::Differs;
    }
    let pairs = one.values().zip(other.values()).map(|((bytes, one), (others, other))| {
        // A record has the begin of what is large.
        let kept = one.len().min(other.len());
        let (one, other) = (&one[..kept], &other[..kept]);
        if bytes != others {
            Likeness::Differs
        } else if one == other {
            Likeness::Equal
        } else if are_close::<4>(one, other, |it| f64::from(f32::from_le_bytes(it)))
            || are_close::<8>(one, other, f64::from_le_bytes)
        {
            Likeness::Close
        } else {
            Likeness::Differs
        }
    });
    pairs.max().unwrap_or(Likeness::Equal)
}

/// Returns whether words that differ are numbers, and near each other beside the largest of them.
fn are_close<const BYTES: usize>(
    one: &[u8],
    other: &[u8],
    number: impl Fn([u8; BYTES]) -> f64,
) -> bool {
    let (ones, rest) = one.as_chunks::<BYTES>();
    let (others, other_rest) = other.as_chunks::<BYTES>();
    let differing = || {
        let pairs = ones.iter().zip(others).filter(|(one, other)| one != other);
        pairs.map(|(one, other)| [number(*one), number(*other)])
    };
    // Small integers read as numbers are far below this.
    const LEAST: f64 = 1e-30;
    let is_number = |it: f64| it == 0.0 || it.is_normal() && it.abs() > LEAST;
    let largest = differing().flatten().fold(0.0, |largest: f64, it| largest.max(it.abs()));
    rest == other_rest
        && differing().all(|[one, other]| {
            let size = one.abs().max(other.abs()).max(largest * CLOSE);
            is_number(one) && is_number(other) && (one - other).abs() <= CLOSE * size
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(allocations: &[(u64, Vec<u8>)]) -> Record {
        let mut bytes = Vec::new();
        for (number, content) in allocations {
            let length = content.len() as u64;
            bytes.extend([*number, length, length].map(u64::to_le_bytes).concat());
            bytes.extend(content);
        }
        read(&bytes)
    }

    #[test]
    fn numbers_may_be_close_and_integers_may_not() {
        let floats = |of: [f32; 3]| record(&[(0, of.map(f32::to_le_bytes).concat())]);
        let doubles = |of: [f64; 2]| record(&[(0, of.map(f64::to_le_bytes).concat())]);
        let integers = |of: [u32; 2]| record(&[(0, of.map(u32::to_le_bytes).concat())]);
        for (one, other, expected) in [
            (floats([1.0, 2.0, 3.0]), floats([1.0, 2.0, 3.0]), Likeness::Equal),
            (floats([1.0, 2.0, 3.0]), floats([1.0, 2.000_01, 3.0]), Likeness::Close),
            (floats([1.0, 2.0, 3.0]), floats([1.0, 2.1, 3.0]), Likeness::Differs),
            (doubles([1.0, 2.0]), doubles([1.0, 2.000_000_1]), Likeness::Close),
            (integers([1, 1_000_000]), integers([1, 1_000_001]), Likeness::Differs),
            (integers([1, 20_000_000]), integers([1, 20_000_001]), Likeness::Differs),
            (integers([1, 2]), record(&[]), Likeness::Differs),
            (integers([1, 2]), record(&[(1, vec![0; 8])]), Likeness::Differs),
        ] {
            assert_eq!(likeness(&one, &other), expected, "{one:?} {other:?}");
        }
        assert!(!is_telling(&integers([0, 0])) && is_telling(&integers([0, 1])));
    }
}
