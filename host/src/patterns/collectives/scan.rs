use super::reduction::strided_tree;
use crate::prelude::*;
use coalesce::pattern::Before;
use cuda_std::warp::WARP_SIZE;
use kernels::collectives::scan as device;
use kernels::collectives::scan::published::{PREFIX, SUM};
use kernels::collectives::scan::rows::{VECTORIZED_THREADS, VECTORIZED_TILE};
use kernels::collectives::scan::specialized_warps::{self, Stages};
use kernels::collectives::scan::{SUMS_THREADS_PER_BLOCK, TILE, TREE_BLOCK, scan_sums};
use rayon::prelude::*;

const WARP: usize = WARP_SIZE as usize;
/// The kernel that the variants of two passes share.
const HELPER_KERNELS: &[&str] = &["sums"];
/// The outputs for sums of tiles of `TILE`, of tiles of these, and so on: 2^31 elements are 2^22, 2^13 and 16 sums.
const SUMS: &[usize] = &[1, 2, 3];
/// The same for tiles of `VECTORIZED_TILE`: 2^18 and 32 sums.
const VECTORIZED_SUMS: &[usize] = &[4, 5];
/// The output that holds the tickets and the words of `look_back`.
const STATE: usize = 6;
/// The output that holds those of `specialized_warps`, whose words are sums.
const SUMS_STATE: usize = 7;
/// The outputs that the variants with tiles of `TILE` write.
const OUTPUTS: &[usize] = &[0, 1, 2, 3];

pub const PATTERN: Pattern = Pattern {
    name: "scan",
    group: "collectives",
    doc_source: include_str!("../../../../kernels/src/collectives/scan.rs"),
    dimensions: &[Dimension::extent("n", "32-bit elements", 1)],
    // Sums of sums of tiles of 512.
    verify_sizes: lengths![
        1,
        2,
        31,
        32,
        33,
        511,
        512,
        513,
        8191,
        8192,
        8193,
        100_003,
        512 * 512,
        512 * 512 + 1,
        5_000_001
    ],
    bench_size: &[1 << 28],
    count_size: &[1 << 18],
    sweeps: &[Sweep {
        dimension: 0,
        values: &[1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26],
        variants: &[3, 4, 5, 6],
    }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        variant!(device::scan_hillis_steele, launch_two_passes, (TILE, TILE), SUMS)
            .writing(OUTPUTS)
            .with_helper_kernels(HELPER_KERNELS)
            .expecting(|size| {
                two_passes(
                    size,
                    TILE,
                    TILE,
                    (1.0, 1.0),
                    "neighbouring lanes access neighbouring words: 1 wavefront",
                )
            }),
        variant!(device::scan_blelloch, launch_two_passes, (TILE, TREE_BLOCK), SUMS)
            .writing(OUTPUTS)
            .with_helper_kernels(HELPER_KERNELS)
            .expecting(|size| {
                let (requests, wavefronts) = strided_tree();
                // Up two loads and a store, but none for the root, the last level; down two of each.
                let (up, up_wavefronts) = (requests - 1.0, wavefronts - 1.0);
                let loads = (2.0 * up_wavefronts + 2.0 * wavefronts + 16.0)
                    / (2.0 * up + 2.0 * requests + 16.0);
                let stores = (16.0 + up_wavefronts + 1.0 + 2.0 * wavefronts)
                    / (16.0 + up + 1.0 + 2.0 * requests);
                two_passes(
                    size,
                    TILE,
                    TREE_BLOCK,
                    (loads, stores),
                    "loads (2 x 94 + 2 x 95 + 16) / (2 x 19 + 2 x 20 + 16), \
                    stores (16 + 94 + 1 + 2 x 95) / (16 + 19 + 1 + 2 x 20)",
                )
            }),
        variant!(device::scan_blelloch_padded, launch_two_passes, (TILE, TREE_BLOCK), SUMS)
            .writing(OUTPUTS)
            .with_helper_kernels(HELPER_KERNELS)
            .expecting(|size| {
                two_passes(
                    size,
                    TILE,
                    TREE_BLOCK,
                    (1.0, 1.0),
                    "words 2 s apart are 2 s + 2 s / 32 banks apart: 1 wavefront",
                )
            }),
        variant!(device::scan_shuffle, launch_two_passes, (TILE, TILE), SUMS)
            .writing(OUTPUTS)
            .with_helper_kernels(HELPER_KERNELS)
            .expecting(|size| {
                two_passes(
                    size,
                    TILE,
                    TILE,
                    (1.0, 1.0),
                    "16 loads and 17 stores per block, shuffles use no shared memory",
                )
            }),
        variant!(
            device::scan_vectorized,
            launch_two_passes,
            (VECTORIZED_TILE, VECTORIZED_THREADS),
            VECTORIZED_SUMS
        )
        .writing(&[0, 4, 5])
        .with_helper_kernels(HELPER_KERNELS)
        .expecting(|size| {
            two_passes(
                size,
                VECTORIZED_TILE,
                VECTORIZED_THREADS,
                (1.0, 1.0),
                "32 lanes x 16 B / 32 B = 16 sectors, and 4 for the sums",
            )
        }),
        variant!(device::scan_look_back, launch_look_back).writing(&[0, STATE]).expecting(|size| {
            one_pass(
                size,
                (1.0, 1.0),
                "32 lanes x 16 B / 32 B = 16 sectors; a look back at 32 words of 8 B: 8 \
                or 9 sectors; one ticket per tile, and one more",
            )
        }),
        variant!(device::scan_look_back_async, launch_look_back).writing(&[0, STATE]).expecting(
            |size| {
                // Of a block of 8 warps: each lane has 16 bytes of 8 rows copied, and reads them twice.
                let [rows, again] = [8.0 * 8.0, 2.0 * 8.0 * 8.0];
                // Each warp reads ticket, words and the prefix before them; its sum is a store, ticket and result of the block
                // are two.
                let loads = (4.0 * again + 3.0 * 8.0) / (again + 3.0 * 8.0);
                // A copy that reads as many bytes as a register says takes each pass twice.
                let stores = (2.0 * 4.0 * rows + 8.0 + 2.0) / (rows + 8.0 + 2.0);
                one_pass(
                    size,
                    (loads, stores),
                    "sectors as before; 32 lanes x 16 B / 128 B = 4 wavefronts: loads (4 x \
                128 + 24) / 152, stores (2 x 4 x 64 + 10) / 74",
                )
            },
        ),
        variant!(device::scan_specialized_warps => launch_specialized_warps)
            .writing(&[0, SUMS_STATE])
            .expecting(specialized_warps),
    ],
};

fn elements(size: &Size) -> usize {
    let [n] = size.get();
    n
}

/// Returns the number of sums of each level: one per tile of elements, one per tile of these, while there are several.
fn levels(n: usize, tile: u32) -> Vec<usize> {
    let of_level = |len: &usize| (*len > tile as usize).then(|| len.div_ceil(tile as usize));
    std::iter::successors(of_level(&n), of_level).collect()
}

/// Requests and their sectors.
#[derive(Clone, Copy, Default)]
struct Requests {
    requests: usize,
    sectors: usize,
}

impl Requests {
    /// Adds requests of so many sectors each.
    fn add(&mut self, requests: usize, sectors: usize) {
        self.requests += requests;
        self.sectors += requests * sectors;
    }

    /// Adds those for `n` elements in tiles of `tile`, each once.
    fn add_tiles(&mut self, n: usize, tile: u32) {
        if tile == TILE {
            return self.add(n / WARP, 4);
        }
        let whole = n - n % VECTORIZED_TILE as usize;
        self.add(whole / (4 * WARP), 16);
        // In the rest lane l has the elements 4 l + k of a row, one k at a time.
        for row in (whole..n).step_by(4 * WARP) {
            let words = (n - row).min(4 * WARP);
            for k in 0..words.min(4) {
                self.add(1, (words - k).div_ceil(4).div_ceil(2));
            }
        }
    }

    fn average(self) -> Option<f64> {
        Some(self.sectors as f64 / self.requests as f64)
    }
}

/// The traffic of `scan_sums` and of a kernel that scans tiles, at all levels: the latter's wavefronts of shared loads and
/// stores, and its threads per block.
fn two_passes(
    size: &Size,
    tile: u32,
    block: u32,
    wavefronts: (f64, f64),
    arithmetic: &'static str,
) -> Expectation {
    let (mut loads, mut stores) = (Requests::default(), Requests::default());
    let mut n = elements(size);
    for sums in levels(n, tile) {
        loads.add(n / WARP, 4);
        stores.add(sums, 1);
        loads.add_tiles(n, tile);
        stores.add_tiles(n, tile);
        // Each warp of each tile but the first loads the prefix of the tile.
        loads.add((sums - 1) * block as usize / WARP, 1);
        n = sums;
    }
    loads.add_tiles(n, tile);
    stores.add_tiles(n, tile);
    Expectation {
        load_sectors: loads.average(),
        store_sectors: stores.average(),
        shared_load_wavefronts: Some(wavefronts.0),
        shared_store_wavefronts: Some(wavefronts.1),
        arithmetic,
        ..Expectation::default()
    }
}

/// The traffic of a look back when blocks run in turn: each tile looks once, at up to 32 words of 8 bytes, and finds
/// the one before it ready. Wavefronts of shared loads and stores.
fn one_pass(size: &Size, wavefronts: (f64, f64), arithmetic: &'static str) -> Expectation {
    let (mut loads, mut stores) = (Requests::default(), Requests::default());
    let n = elements(size);
    let tiles = n.div_ceil(VECTORIZED_TILE as usize);
    loads.add_tiles(n, VECTORIZED_TILE);
    stores.add_tiles(n, VECTORIZED_TILE);
    for tile in 1..tiles {
        // The words are after that of the tickets, four in a sector.
        let (first, last) = (1 + tile - tile.min(WARP), tile);
        loads.add(1, last / 4 - first / 4 + 1);
    }
    // Each tile but the first publishes its sum, too.
    stores.add(2 * tiles - 1, 1);
    Expectation {
        load_sectors: loads.average(),
        store_sectors: stores.average(),
        shared_load_wavefronts: Some(wavefronts.0),
        shared_store_wavefronts: Some(wavefronts.1),
        // The last ticket counts the launch.
        global_atomics: Some(tiles as f64 + 1.0),
        global_atomic_updates: Some(1.0),
        arithmetic,
        ..Expectation::default()
    }
}

/// The traffic of `specialized_warps` when blocks run in turn: the first takes all tiles, so it knows what is before each, and
/// the others the tickets that say that there are no more. There is a block per tile, as long as there are fewer than
/// multiprocessors.
fn specialized_warps(size: &Size) -> Expectation {
    let n = elements(size);
    let tiles = n.div_ceil(VECTORIZED_TILE as usize);
    let mut stores = Requests::default();
    stores.add_tiles(n, VECTORIZED_TILE);
    stores.add(tiles, 1);
    // Of a tile of 8 chunks: adders and writers read 8 rows each, and all but the loader the ticket.
    let (rows, tickets) = (2.0 * 8.0 * 8.0, 8.0 + 1.0 + 1.0 + 8.0);
    // The sums are read by publisher, looker and 7 writers, what is before by 8.
    let loads = rows + tickets + 1.0 + 1.0 + 7.0 + 8.0;
    Expectation {
        store_sectors: stores.average(),
        shared_load_wavefronts: Some((loads + 3.0 * rows + tickets) / (loads + tickets)),
        shared_store_wavefronts: Some(1.0),
        // A ticket for each tile and one more for each block; the last counts the launch.
        global_atomics: Some(2.0 * tiles as f64 + 1.0),
        global_atomic_updates: Some(1.0),
        arithmetic: "bulk copies are no loads; shared loads of a tile and a last ticket: \
                (163 + 3 x 128 + 18) / (163 + 18) wavefronts",
        ..Expectation::default()
    }
}

/// Floats that add without rounding, odd multiples of 1/64 in (-1, 1), and everything that any variant leaves behind.
fn case(size: &Size, random: &mut Random) -> Case {
    let n = elements(size);
    let exact = |byte: &u8| (f32::from(byte >> 2) * 2.0 - 63.0) / 64.0;
    let source: Vec<f32> = random.u8s(n).par_iter().map(exact).collect();
    let target = reference(&source);
    let mut outputs = Vec::new();
    for (tile, places) in [(TILE, SUMS), (VECTORIZED_TILE, VECTORIZED_SUMS)] {
        let mut below = target.as_slice();
        let mut sums = vec![Vec::new(); places.len()];
        for level in sums.iter_mut().take(levels(n, tile).len()) {
            *level = at_ends(below, tile);
            below = level;
        }
        outputs.extend(sums.into_iter().map(|level| Output::exact(Data::F32(level))));
    }
    // The tickets say that one launch has been; each tile's word is its last of launch 0.
    let prefixes = at_ends(&target, VECTORIZED_TILE).into_iter();
    let words = prefixes.map(|prefix| u64::from(PREFIX) << 32 | u64::from(prefix.to_bits()));
    let sums = source.chunks(VECTORIZED_TILE as usize).map(|tile| tile.iter().sum::<f32>());
    let sums = sums.map(|sum| u64::from(SUM) << 32 | u64::from(sum.to_bits())).collect();
    let states = [words.collect::<Vec<_>>(), sums].map(|words| Output {
        reference: Data::U64(std::iter::once(1 << 32).chain(words).collect()),
        tolerance: Tolerance::Exact,
        before: Before::Zeros,
    });
    outputs.insert(0, Output::exact(Data::F32(target)));
    outputs.extend(states);
    Case { inputs: vec![Data::F32(source)], outputs }
}

/// The last value of each tile.
fn at_ends(values: &[f32], tile: u32) -> Vec<f32> {
    values.chunks(tile as usize).filter_map(|tile| tile.last().copied()).collect()
}

/// The sums up to each element, in double precision, one after the other.
fn reference(source: &[f32]) -> Vec<f32> {
    let mut sum = 0.0;
    let add = |value: &f32| {
        sum += f64::from(*value);
        sum as f32
    };
    source.iter().map(add).collect()
}

fn bytes(size: &Size) -> Bytes {
    Bytes { read: 4 * elements(size), written: 4 * elements(size) }
}

/// A kernel that scans tiles. Its arguments are the source, the prefix of each tile, the target and the number of elements.
type ScanTiles = Kernel<fn(*const f32, *const f32, *mut f32, u32)>;

/// Sums tiles, up to a level that is one tile; then scans that level and those below it, down to the elements.
fn launch_two_passes(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: ScanTiles,
    (tile, block): (u32, u32),
    places: &[usize],
) -> Result<(), GpuError> {
    let source = arrays.input::<f32>(0);
    let sums = |level: usize| arrays.output::<f32>(places[level]);
    let lengths = levels(elements(size), tile);
    let mut n = elements(size) as u32;
    for (level, length) in lengths.iter().enumerate() {
        let tiles = *length as u32;
        let grid = tiles.div_ceil(SUMS_THREADS_PER_BLOCK / WARP as u32);
        // SAFETY: a warp per tile of `tile` elements, a multiple of 512; each level has a sum per tile of the one below.
        unsafe {
            if level == 0 {
                let arguments = (source, sums(0), n, tile);
                launcher.launch(scan_sums, grid, SUMS_THREADS_PER_BLOCK, 0, arguments)?;
            } else {
                let arguments = (sums(level - 1), sums(level), n, tile);
                launcher.launch(scan_sums, grid, SUMS_THREADS_PER_BLOCK, 0, arguments)?;
            }
        }
        n = tiles;
    }
    for level in (0..lengths.len()).rev() {
        let n = lengths[level] as u32;
        let before = sums((level + 1).min(places.len() - 1));
        // SAFETY: a block per tile of this level's sums, which it scans in place; the level above, already scanned, has a
        // sum for each tile, and where there is none there is one tile. All arrays are 256-byte aligned.
        unsafe {
            let arguments = (sums(level), before, sums(level), n);
            launcher.launch(kernel, n.div_ceil(tile), block, 0, arguments)?;
        }
    }
    let n = elements(size) as u32;
    // SAFETY: a block per tile of the array; source and target are two arrays of n elements, `sums(0)` has one per tile.
    unsafe {
        let arguments = (source, sums(0), arrays.output(0), n);
        launcher.launch(kernel, n.div_ceil(tile), block, 0, arguments)
    }
}

/// A kernel that looks back: of what, where to, its tickets and words, how many elements.
type LookBack = Kernel<fn(*const f32, *mut f32, *mut u64, u32)>;

fn launch_look_back(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: LookBack,
) -> Result<(), GpuError> {
    let n = elements(size) as u32;
    let arguments = (arrays.input(0), arrays.output(0), arrays.output(STATE), n);
    // SAFETY: a block per tile; both arrays have n elements and are 256-byte aligned; the state has a word per tile and
    // one more, was zero before the first launch, and the launches of a stream run one at a time.
    unsafe {
        launcher.launch(kernel, n.div_ceil(VECTORIZED_TILE), VECTORIZED_THREADS, 0, arguments)
    }
}

fn launch_specialized_warps(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
) -> Result<(), GpuError> {
    let n = elements(size) as u32;
    let gpu = launcher.gpu();
    let grid = gpu.multiprocessors()?.min(n.div_ceil(VECTORIZED_TILE));
    let tile_bytes = VECTORIZED_TILE * 4;
    let places = (gpu.shared_bytes_per_block()? - size_of::<Stages>() as u32) / tile_bytes;
    let stages = places.min(specialized_warps::MAX_STAGES);
    let arguments = (arrays.input(0), arrays.output(0), arrays.output(SUMS_STATE), n, stages);
    let kernel = device::scan_specialized_warps;
    // SAFETY: as for `launch_look_back`, with as many blocks each time; the block's shared memory holds the stages and as many
    // tiles, 1 at least: each device with these barriers has 99 KiB.
    unsafe {
        launcher.launch(kernel, grid, specialized_warps::THREADS, stages * tile_bytes, arguments)
    }
}
