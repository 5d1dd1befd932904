//! Host half of `coarsening`. Device half and teaching doc: `kernels/src/execution/coarsening.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Variant,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use kernels::execution::coarsening as device;
use kernels::execution::coarsening::{FACTOR, THREADS_PER_BLOCK};

pub const PATTERN: Pattern = Pattern {
    name: "coarsening",
    group: "execution",
    doc_source: include_str!("../../../../kernels/src/execution/coarsening.rs"),
    dimensions: &[Dimension::extent("n", "elements", 1)],
    verify_sizes: &[&[1], &[31], &[32], &[33], &[255], &[256], &[257], &[1023], &[4096], &[10_007]],
    bench_size: &[1 << 27],
    count_size: &[1 << 14],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        Variant::kernel("one", "one element per thread", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::coarsening_one, 1)
        })
        .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel(
            "consecutive_2",
            "each thread works on 2 consecutive elements",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::coarsening_consecutive_2, 2)
            },
        )
        .expecting(|_| traffic(8.0, "lanes 8 B apart: min(32 x 8 B / 32 B, 32 lanes) = 8 sectors")),
        Variant::kernel("consecutive_4", "4 consecutive elements", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::coarsening_consecutive_4, 4)
        })
        .expecting(|_| {
            traffic(16.0, "lanes 16 B apart: min(32 x 16 B / 32 B, 32 lanes) = 16 sectors")
        }),
        Variant::kernel("consecutive_8", "8 consecutive elements", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::coarsening_consecutive_8, 8)
        })
        .expecting(|_| {
            traffic(32.0, "lanes 32 B apart: min(32 x 32 B / 32 B, 32 lanes) = 32 sectors")
        }),
        Variant::kernel("consecutive_16", "16 consecutive elements", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::coarsening_consecutive_16, 16)
        })
        .expecting(|_| {
            traffic(32.0, "lanes 64 B apart: min(32 x 64 B / 32 B, 32 lanes) = 32 sectors")
        }),
        Variant::kernel(
            "strided_2",
            "each thread works on 2 elements that are a block apart",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::coarsening_strided_2, 2)
            },
        )
        .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel("strided_4", "4 such elements", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::coarsening_strided_4, 4)
        })
        .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel("strided_8", "8 such elements", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::coarsening_strided_8, 8)
        })
        .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel("strided_16", "16 such elements", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::coarsening_strided_16, 16)
        })
        .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel(
            "vectorized_4",
            "4 consecutive elements again, with one 16-byte access",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::coarsening_vectorized_4, 4)
            },
        )
        .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
        Variant::kernel(
            "vectorized_16",
            "four 16-byte accesses, a block apart",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::coarsening_vectorized_16, 16)
            },
        )
        .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
    ],
};

/// Loads and stores of so many sectors.
fn traffic(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(sectors),
        store_sectors: Some(sectors),
        arithmetic,
        ..Expectation::default()
    }
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let outputs = vec![Output::exact(Data::F32(reference(&source)))];
    Case { outputs, inputs: vec![Data::F32(source)] }
}

fn reference(source: &[f32]) -> Vec<f32> {
    source.iter().map(|element| FACTOR * element).collect()
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

/// Launches a kernel of this file, whose threads work on so many elements each.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32)>,
    items: u32,
) -> Result<()> {
    let [n] = size.get().map(|n: usize| n as u32);
    let grid = n.div_ceil(THREADS_PER_BLOCK * items);
    // SAFETY: the grid covers the kernel's threads; both arrays hold n elements and start at a multiple of 256 bytes;
    // input and output are different allocations.
    unsafe {
        Ok(launcher.launch(
            kernel,
            grid,
            THREADS_PER_BLOCK,
            0,
            (arrays.input(0), arrays.output(0), n),
        )?)
    }
}
