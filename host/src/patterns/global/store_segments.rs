//! Host half of `store_segments`. Device half and teaching doc: `kernels/src/global/store_segments.rs`.

use crate::data::{Data, POISON, Random};
use crate::gpu::{Arrays, Launcher};
use crate::pattern::{
    Bytes, Case, Dimension, Expectation, Limit, Output, Pattern, Size, Variant, Work,
};
use anyhow::Result;
use kernels::global::store_segments as device;
use kernels::global::store_segments::{BLOCK, FILLED, HALF, RANGE, SECTOR};

/// Lanes per warp.
const WARP: usize = 32;

pub const PATTERN: Pattern = Pattern {
    name: "store_segments",
    group: "global",
    shows: "stores move 32-byte segments; scattering them costs nothing while each is filled whole",
    doc_source: include_str!("../../../../kernels/src/global/store_segments.rs"),
    sources: &[
        "CUDA C++ Best Practices Guide, \"Coalesced Access to Global Memory\"",
        "CUDA C++ Programming Guide, \"Device Memory Accesses\"",
    ],
    dimensions: &[Dimension::extent("n", "words stored", 1)],
    verify_sizes: &[
        &[1],
        &[31],
        &[32],
        &[33],
        &[255],
        &[256],
        &[257],
        &[1000],
        &[4099],
        &[100_003],
        &[1 << 16],
    ],
    bench_size: &[1 << 27],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    floor: |_, size| Some((Limit::Write, bytes(size).total())),
    variants: &[
        Variant {
            name: "partial",
            change: "each warp fills the first half of eight sectors",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: &[2],
            work: Work::kernel(partial),
            expect: |_| stores(8.0, "32 lanes / 4 words in each sector = 8 sectors"),
        },
        Variant {
            name: "scattered",
            change: "four whole sectors of a range of six, lanes in a scrambled order",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: &[1],
            work: Work::kernel(scattered),
            expect: |_| stores(4.0, "32 lanes / 8 words in each sector = 4 sectors, 1 + 2 + 1"),
        },
        Variant {
            name: "half_range",
            change: "16 lanes fill one aligned range of 64 bytes",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: &[0],
            work: Work::kernel(half_range),
            expect: |_| stores(2.0, "16 lanes x 4 B / 32 B = 2 sectors"),
        },
        Variant {
            name: "consecutive",
            change: "32 lanes fill one aligned line",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: &[0],
            work: Work::kernel(consecutive),
            expect: |_| stores(4.0, "32 lanes x 4 B / 32 B = 4 sectors"),
        },
    ],
};

/// A variant that loads nothing.
fn stores(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation { store_sectors: Some(sectors), arithmetic, ..Expectation::default() }
}

/// Output 0 is packed; outputs 1 and 2 have words between that stay untouched.
fn case(size: &Size, _: &mut Random) -> Case {
    let [n] = size.get();
    let (sector, filled, range) = (SECTOR as usize, FILLED as usize, RANGE as usize);
    // The places of a warp's 32 words, in the order of lanes.
    let scattered: Vec<usize> = (0..WARP)
        .map(|lane| (lane * 5 + 3) % WARP)
        .map(|place| [0, 2, 3, 5][place / sector] * sector + place % sector)
        .collect();
    let outputs = [
        reference(n, n, &|i| i),
        reference(n, range * n.div_ceil(WARP), &|i| i / WARP * range + scattered[i % WARP]),
        reference(n, 2 * n.next_multiple_of(WARP), &|i| i / filled * sector + i % filled),
    ];
    Case {
        inputs: vec![],
        outputs: outputs.into_iter().map(|words| Output::exact(Data::U32(words))).collect(),
    }
}

/// `len` words, of which `n` hold their own number.
fn reference(n: usize, len: usize, word: &dyn Fn(usize) -> usize) -> Vec<u32> {
    let mut words = vec![u32::from_ne_bytes([POISON; 4]); len];
    for i in 0..n {
        words[word(i)] = word(i) as u32;
    }
    words
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 0, written: 4 * n }
}

/// The threads of `half_range`, of which half store a word: up to 2^32.
fn half_warps(n: u64) -> u64 {
    n.div_ceil(HALF.into()) * WARP as u64
}

/// Declares the launch of a kernel of this file's signature, with so many threads in all.
macro_rules! launches {
    ($($name:ident: $kernel:ident into $output:literal, |$n:ident| $threads:expr;)*) => {$(
        fn $name(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
            let [$n] = size.get().map(|n: usize| n as u64);
            let grid = u32::try_from(u64::div_ceil($threads, BLOCK.into()))?;
            // SAFETY: the grid covers the kernel's threads; the output holds the words of n lanes
            // in this kernel's layout.
            unsafe {
                launcher.launch(device::$kernel, grid, BLOCK, 0, (arrays.output($output), $n as u32))
            }
        }
    )*};
}

launches! {
    partial: store_segments_partial into 2, |n| n;
    scattered: store_segments_scattered into 1, |n| n;
    half_range: store_segments_half_range into 0, |n| half_warps(n);
    consecutive: store_segments_consecutive into 0, |n| n;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_lanes_cover_the_largest_size() {
        assert_eq!(half_warps(1), 32);
        assert_eq!(half_warps(1 << 31), 1 << 32);
    }
}
