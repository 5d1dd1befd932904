use crate::cases::copy;
use crate::prelude::*;
use kernels::caches::cache_operators::{self as device, KEYS_PER_THREAD, THREADS_PER_BLOCK};

/// Words of a sector, and lanes of a warp.
const SECTOR_WORDS: u32 = 8;
const WARP: usize = 32;
/// The inputs are the same in every case, so that the sectors of their requests can be promised.
const SEED: u64 = 64;
/// Tables of 16 KiB to 64 MiB: smaller than L1, than L2, and larger.
const TABLES: &[usize] =
    &[1 << 12, 1 << 14, 1 << 15, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 23, 1 << 24];

pub const PATTERN: Pattern = Pattern {
    name: "cache_operators",
    group: "caches",
    doc_source: include_str!("../../../../kernels/src/caches/cache_operators.rs"),
    dimensions: &[
        // So many that most of the words that they look up have been looked up before.
        Dimension::extent("n", "keys looked up", 1).predicted_at(1 << 19),
        Dimension::amount("words", "of the table, a power of two", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[31, 2],
        &[32, 64],
        &[33, 8],
        &[127, 8],
        &[128, 32],
        &[1023, 256],
        &[5003, 1024],
    ],
    bench_size: &[1 << 26, 1 << 15],
    count_size: &[1 << 12, 1 << 15],
    sweeps: &[Sweep {
        dimension: 1,
        values: TABLES,
        variants: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, copy::bytes(size).total())),
    variants: &[
        variant!(device::cache_operators_plain, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_stream_ca, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_stream_cg, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_stream_cs, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_stream_nc, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_stream_no_allocate, launch)
            .only_when(is_power)
            .expecting(traffic),
        variant!(device::cache_operators_stream_evict_first, launch)
            .only_when(is_power)
            .expecting(traffic),
        variant!(device::cache_operators_stream_prefetch_l2, launch)
            .only_when(is_power)
            .expecting(traffic),
        variant!(device::cache_operators_table_cg, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_table_nc, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_table_evict_last, launch)
            .only_when(is_power)
            .expecting(traffic),
        variant!(device::cache_operators_store_wb, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_store_cg, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_store_cs, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_store_wt, launch).only_when(is_power).expecting(traffic),
        variant!(device::cache_operators_both_cs, launch).only_when(is_power).expecting(traffic),
    ],
};

fn is_power(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, words] = size.get();
    if words.is_power_of_two() {
        Ok(())
    } else {
        Err("the words of the table must be a power of two")
    }
}

/// No operator changes what a request touches: a load of keys, and four of random words of the table.
fn traffic(size: &Size) -> Expectation {
    let (keys, _) = inputs(size);
    let [_, words] = size.get();
    let (mut sectors, mut requests) = (0, 0);
    for of_warp in keys.chunks(WARP * KEYS_PER_THREAD as usize) {
        sectors += (4 * of_warp.len()).div_ceil(32);
        requests += 1;
        for first in 0..KEYS_PER_THREAD as usize {
            let touched = of_warp.iter().skip(first).step_by(KEYS_PER_THREAD as usize);
            let mut touched: Vec<u32> =
                touched.map(|key| (key & (words as u32 - 1)) / SECTOR_WORDS).collect();
            touched.sort_unstable();
            touched.dedup();
            sectors += touched.len();
            requests += 1;
        }
    }
    Expectation::sectors(
        sectors as f64 / requests as f64,
        16.0,
        "a load of 16 sectors of keys, and four of as many sectors as the lanes' words \
            are in, nearly 32",
    )
}

fn inputs(size: &Size) -> (Vec<u32>, Vec<u32>) {
    let [n, words] = size.get();
    let mut random = Random::new(SEED);
    (random.u32s(n), random.u32s(words))
}

fn case(size: &Size, _random: &mut Random) -> Case {
    let (keys, table) = inputs(size);
    let found = reference(&keys, &table);
    Case::exact(vec![Data::U32(found)], vec![Data::U32(keys), Data::U32(table)])
}

/// The word of the table that the lower bits of each key choose.
fn reference(keys: &[u32], table: &[u32]) -> Vec<u32> {
    keys.iter().map(|key| table[*key as usize % table.len()]).collect()
}

fn bytes(size: &Size) -> Bytes {
    let [_, words] = size.get();
    let Bytes { read, written } = copy::bytes(size);
    Bytes { read: read + 4 * words, written }
}

/// A kernel of this file: keys, table, results, words of the table, number of keys.
type LookUp = Kernel<fn(*const u32, *const u32, *mut u32, u32, u32)>;

fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: LookUp,
) -> Result<(), GpuError> {
    let [n, words] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.input(1), arrays.output(0), words, n);
    let grid = n.div_ceil(THREADS_PER_BLOCK * KEYS_PER_THREAD);
    // SAFETY: the grid covers n keys; the arrays hold n keys, a table whose length is a power of two (precondition) and n
    // results, are 256-byte aligned and do not overlap.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}
