//! Host half of `histogram`. Device half and teaching doc: `kernels/src/histogram.rs`.

use crate::data::{Data, Random};
use crate::gpu::{Arrays, Launcher};
use crate::pattern::{Bytes, Case, Dimension, Expectation, Output, Pattern, Size, Variant};
use anyhow::Result;
use kernels::histogram as device;
use kernels::histogram::BLOCK;

pub const PATTERN: Pattern = Pattern {
    name: "histogram",
    shows: "the one claim a reader leaves with",
    device_source: include_str!("../../../kernels/src/histogram.rs"),
    sources: &["where the claim comes from"],
    dimensions: &[Dimension { name: "n", meaning: "elements", least: 1 }],
    verify_sizes: &[&[1], &[31], &[32], &[33], &[255], &[256], &[257], &[100_003]],
    bench_size: &[1 << 26],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    variants: &[Variant {
        name: "naive",
        change: "lane i touches word i",
        since: 70,
        precondition: Variant::ANY_SIZE,
        outputs: Variant::FIRST_OUTPUT,
        launch: naive,
        expect: |_| Expectation {
            load_sectors: Some(4.0),
            store_sectors: Some(4.0),
            arithmetic: "32 lanes x 4 B / 32 B = 4 sectors",
            ..Expectation::default()
        },
    }],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    Case {
        outputs: vec![Output::exact(Data::F32(reference(&source)))],
        inputs: vec![Data::F32(source)],
    }
}

fn reference(source: &[f32]) -> Vec<f32> {
    source.to_vec()
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

fn naive(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get().map(|n: usize| n as u32);
    // SAFETY: the grid covers n threads; both arrays hold n elements and do not overlap.
    unsafe {
        launcher.launch(
            device::histogram_naive,
            n.div_ceil(BLOCK),
            BLOCK,
            0,
            (arrays.input(0), arrays.output(0), n),
        )
    }
}
