//! The last blocks of kernels at the largest sizes that the program accepts: 2^31 elements, where an index that is a
//! product, or a step of a loop, no longer fits 32 bits if it was not meant to.
//!
//! The executor runs one block of the grid, and an array has memory only where that block should be: an index that
//! wraps around is an access out of bounds. Kernels of which every block visits the whole array (`reduction`,
//! `histogram`) are left out: their launch contracts bound the grid, and so what they add to an index.

use host::CATALOGUE;
use simt::{Checks, Launch, Limits, Memory, Module, Options, run};
use std::ops::Range;
use std::sync::OnceLock;

/// The largest number of elements that the program accepts.
const MOST: usize = 1 << 31;
/// Elements at whose multiples pieces of an array begin: the alignment of an allocation.
const ALIGNED: usize = 128;

fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| {
        Module::parse(CATALOGUE.images.last().expect("there are kernels").text())
            .expect("our own PTX parses")
    })
}

/// Returns what a source holds at an index: small whole numbers, so that sums of them are exact.
fn value(i: usize) -> f32 {
    (i % 1021) as f32
}

/// An array of words of four bytes of which only some pieces have memory.
struct Sparse {
    /// Address of element 0.
    address: u64,
    pieces: Vec<Range<usize>>,
}

impl Sparse {
    /// With memory for one piece.
    fn new(memory: &mut Memory, piece: Range<usize>) -> Sparse {
        Sparse::in_pieces(memory, std::slice::from_ref(&piece))
    }

    /// With memory for one piece, filled with [`value`].
    fn source(memory: &mut Memory, piece: Range<usize>) -> Sparse {
        Sparse::source_in_pieces(memory, std::slice::from_ref(&piece))
    }

    /// With memory for pieces in ascending order, which begin at aligned elements.
    fn in_pieces(memory: &mut Memory, pieces: &[Range<usize>]) -> Sparse {
        let mut widened: Vec<Range<usize>> = Vec::new();
        for piece in pieces {
            let start = piece.start / ALIGNED * ALIGNED;
            match widened.last_mut() {
                // Allocations lie at least 1024 bytes apart.
                Some(last) if start < last.end + 4 * ALIGNED => last.end = piece.end,
                _ => widened.push(start..piece.end),
            }
        }
        let mut address = None;
        let mut allocate = |bytes: usize| memory.allocate(bytes as u64).expect("it fits");
        let mut spacers = Vec::new();
        let mut next = None;
        for piece in &widened {
            if let (Some(first), Some(next)) = (address, next) {
                let mut gap: u64 = first + 4 * piece.start as u64 - next;
                // From 2 MiB on, an allocation begins at a multiple of 2 MiB.
                while gap > 0 {
                    let part = gap.min(1 << 20);
                    spacers.push(allocate(part as usize - 512));
                    gap -= part;
                }
            }
            let base = allocate(4 * piece.len());
            address.get_or_insert(base.wrapping_sub(4 * piece.start as u64));
            assert_eq!(address, Some(base.wrapping_sub(4 * piece.start as u64)));
            next = Some((base + 4 * piece.len() as u64 + 512).next_multiple_of(512));
        }
        for spacer in spacers {
            memory.free(spacer).expect("it was allocated");
        }
        Sparse { address: address.expect("an array has pieces"), pieces: widened }
    }

    /// The same, filled with [`value`].
    fn source_in_pieces(memory: &mut Memory, pieces: &[Range<usize>]) -> Sparse {
        let array = Sparse::in_pieces(memory, pieces);
        for piece in &array.pieces {
            let bytes: Vec<u8> = piece.clone().flat_map(|i| value(i).to_ne_bytes()).collect();
            memory.write(array.address + 4 * piece.start as u64, &bytes).expect("it is there");
        }
        array
    }

    fn read(&self, memory: &Memory, range: Range<usize>) -> Vec<u32> {
        let mut bytes = vec![0; 4 * range.len()];
        memory.read(self.address + 4 * range.start as u64, &mut bytes).expect("it is there");
        let word = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
        bytes.chunks_exact(4).map(word).collect()
    }
}

fn run_blocks(memory: &mut Memory, launch: &Launch, blocks: &[u64]) {
    let options = Options {
        checks: Checks::all(),
        sample: Some(blocks.to_vec()),
        fuel: 10_000_000,
        // What the kernels compute is right for more blocks than a device takes.
        limits: Limits { grid: [u32::MAX; 3], ..Limits::default() },
        ..Options::default()
    };
    let report = run(module(), memory, launch, &options)
        .unwrap_or_else(|error| panic!("{}: {error}", launch.kernel));
    assert!(report.findings.is_empty(), "{}: {}", launch.kernel, report.findings[0]);
}

/// Runs the last block of a launch.
fn run_last(memory: &mut Memory, launch: &Launch) {
    run_blocks(memory, launch, &[launch.blocks() - 1]);
}

/// A launch of blocks of 256 threads that is given arrays and numbers.
fn launch_of(kernel: &str, blocks: usize, arrays: &[&Sparse], numbers: &[usize]) -> Launch {
    let launch = Launch::new(kernel, [blocks as u32, 1, 1], [256, 1, 1]);
    let launch = arrays.iter().fold(launch, |launch, array| launch.address(array.address));
    numbers.iter().fold(launch, |launch, number| launch.u32(*number as u32))
}

fn memory() -> Memory {
    Memory::new(64 << 30)
}

/// The end of an array of so many elements.
fn tail(len: usize) -> Range<usize> {
    len - 1024.min(len)..len
}

/// Kernels that copy `source[i]` to `target[i]` for the last elements, with a warp's or a block's part of them.
#[test]
fn copies_reach_the_last_element() {
    for (kernel, per_block, offset) in [
        ("coalescing_permuted", 256, None),
        ("coalescing_scalar", 256, None),
        ("coalescing_vectorized_8", 512, None),
        ("coalescing_vectorized_16", 1024, None),
        ("misalignment_shifted", 256, Some(1)),
        ("misalignment_peeled", 256, Some(1)),
        ("misalignment_staged", 1024, Some(1)),
        ("bus_utilization_aligned_cg", 256, None),
    ] {
        let mut memory = memory();
        let end = MOST + offset.unwrap_or(0) as usize;
        let source = Sparse::source(&mut memory, tail(end));
        let target = Sparse::new(&mut memory, tail(end));
        // `peeled` and `staged` begin at the line in which `offset` lies.
        let covered = if kernel == "misalignment_shifted" { MOST } else { end };
        let blocks = covered.div_ceil(per_block);
        let mut launch = launch_of(kernel, blocks, &[&source, &target], &[]);
        if let Some(offset) = offset {
            launch = launch.u32(offset);
        }
        run_last(&mut memory, &launch.u32(MOST as u32));
        let first = end - (covered - (blocks - 1) * per_block);
        let copied = first..end;
        let expected: Vec<u32> = copied.clone().map(|i| value(i).to_bits()).collect();
        assert_eq!(target.read(&memory, copied), expected, "{kernel}");
    }
}

/// The lanes of a warp lie 2^26 words apart.
#[test]
fn strided_lanes_reach_the_last_element() {
    for (kernel, factor) in [("coalescing_strided", None), ("zero_copy_strided", Some(1))] {
        let mut memory = memory();
        let rows = MOST / 32;
        let pieces: Vec<_> = (1..=32).map(|lane| lane * rows - 8..lane * rows).collect();
        let source = Sparse::source_in_pieces(&mut memory, &pieces);
        let target = Sparse::in_pieces(&mut memory, &pieces);
        let launch = launch_of(kernel, MOST / 256, &[&source, &target], &[MOST]);
        run_last(&mut memory, &factor.map_or(launch.clone(), |factor| launch.u32(factor)));
        for piece in pieces {
            let expected: Vec<u32> = piece.clone().map(|i| value(i).to_bits()).collect();
            assert_eq!(target.read(&memory, piece), expected, "{kernel}");
        }
    }
}

/// A loop whose step is the whole grid ends, whatever the grid: its contract takes any.
#[test]
fn a_grid_of_any_size_strides_to_an_end() {
    for blocks in [1_u32 << 22, (1 << 22) + 1, 0x7fff_ffff] {
        let mut memory = memory();
        let n = 3 * 4096 + 5;
        let source = Sparse::source(&mut memory, 0..n);
        let target = Sparse::new(&mut memory, 0..n);
        let launch = launch_of("coalescing_in_flight", blocks as usize, &[&source, &target], &[n]);
        run_blocks(&mut memory, &launch, &[0, 1, 2, 3, 1 << 20, u64::from(blocks) - 1]);
        let expected: Vec<u32> = (0..n).map(|i| value(i).to_bits()).collect();
        assert_eq!(target.read(&memory, 0..n), expected, "{blocks} blocks");
    }
}

#[test]
fn strides_reach_the_last_element() {
    let (n, stride) = (MOST / 64, 64);
    let last = n - 128..n;
    for (kernel, per_block) in
        [("stride_copy", 256), ("stride_gather", 256), ("stride_staged", 128)]
    {
        let mut memory = memory();
        let used = (n - 256) * stride..n * stride;
        let source = Sparse::source(&mut memory, used.clone());
        let packed = kernel != "stride_copy";
        let written = if packed { n - 256..n } else { used };
        let target = Sparse::new(&mut memory, written);
        let launch = Launch::new(kernel, [(n / per_block) as u32, 1, 1], [256, 1, 1])
            .shared(128 * stride as u32 * 4)
            .address(source.address)
            .address(target.address)
            .u32(stride as u32)
            .u32(n as u32);
        run_last(&mut memory, &launch);
        for i in last.clone() {
            let at = if packed { i } else { i * stride };
            let expected = value(i * stride).to_bits();
            assert_eq!(target.read(&memory, at..at + 1), [expected], "{kernel}, {i}");
        }
    }
}

/// Words that hold their own number, in layouts of up to 2^32 words.
#[test]
fn store_segments_reach_the_last_word() {
    for (kernel, len, per_block, last) in [
        ("store_segments_partial", 2 * MOST, 256, 2 * MOST - 5),
        ("store_segments_scattered", MOST / 32 * 48, 256, MOST / 32 * 48 - 1),
        ("store_segments_half_range", MOST, 128, MOST - 1),
        ("store_segments_consecutive", MOST, 256, MOST - 1),
    ] {
        let mut memory = memory();
        let target = Sparse::new(&mut memory, tail(len));
        let launch = launch_of(kernel, MOST / per_block, &[&target], &[MOST]);
        run_last(&mut memory, &launch);
        assert_eq!(target.read(&memory, last..last + 1), [last as u32], "{kernel}");
    }
}

#[test]
fn structures_reach_the_last_element() {
    for kernel in ["aos_soa_one_field_aos", "aos_soa_both_vectorized", "aos_soa_particle_aos"] {
        let mut memory = memory();
        let fields = if kernel == "aos_soa_particle_aos" { 7 } else { 2 };
        let source = Sparse::source(&mut memory, (MOST - 256) * fields..MOST * fields);
        let target = Sparse::new(&mut memory, MOST - 256..MOST);
        let launch = launch_of(kernel, MOST / 256, &[&source, &target], &[MOST]);
        run_last(&mut memory, &launch);
        let last: Vec<f32> = (0..fields).map(|field| value((MOST - 1) * fields + field)).collect();
        let squares: f32 = last.iter().take(6).map(|value| value * value).sum();
        let expected = match kernel {
            "aos_soa_one_field_aos" => 4.0 * last[0],
            "aos_soa_both_vectorized" => last[0] + last[1],
            _ => last[6] * 0.5 * squares,
        };
        assert_eq!(target.read(&memory, MOST - 1..MOST), [expected.to_bits()], "{kernel}");
    }
}

#[test]
fn transposes_reach_the_last_tile() {
    // 4 divides it, and its square is less than 2^31.
    let side = 46_340_usize;
    for (kernel, tile, block) in [
        ("transpose_column_write", 32, [32, 8, 1]),
        ("transpose_column_read", 32, [32, 8, 1]),
        ("transpose_tiled", 32, [32, 8, 1]),
        ("transpose_padded", 32, [32, 8, 1]),
        ("transpose_swizzled", 32, [32, 8, 1]),
        ("transpose_vectorized", 64, [16, 16, 1]),
        ("transpose_block_order", 64, [16, 16, 1]),
        ("transpose_async_copy", 64, [16, 16, 1]),
    ] {
        let mut memory = memory();
        let blocks = side.div_ceil(tile);
        let first = (blocks - 1) * tile;
        let last = first * side..side * side;
        let (source, target) =
            (Sparse::source(&mut memory, last.clone()), Sparse::new(&mut memory, last));
        let launch = Launch::new(kernel, [blocks as u32, blocks as u32, 1], block)
            .address(source.address)
            .address(target.address)
            .u32(side as u32)
            .u32(side as u32);
        run_last(&mut memory, &launch);
        for row in first..side {
            let found = target.read(&memory, row * side + first..(row + 1) * side);
            let expected: Vec<u32> =
                (first..side).map(|column| value(column * side + row).to_bits()).collect();
            assert_eq!(found, expected, "{kernel}, row {row}");
        }
    }
}

/// More than 2^27 rows of A have more than 2^32 elements, where those of C are still accepted.
#[test]
fn matmul_ab_reaches_the_last_row() {
    let (rows, columns, inner) = (1 << 29, 4, 32);
    for (kernel, tile, block) in [
        ("matmul_ab_naive", 32, [32, 32, 1]),
        ("matmul_ab_shared_a", 32, [32, 32, 1]),
        ("matmul_ab_shared_ab", 32, [32, 32, 1]),
        ("matmul_ab_register_tiled", 64, [128, 1, 1]),
    ] {
        let mut memory = memory();
        let first = rows - tile;
        let a = Sparse::source(&mut memory, first * inner..rows * inner);
        let b = Sparse::source(&mut memory, 0..inner * columns);
        let c = Sparse::new(&mut memory, first * columns..rows * columns);
        let launch = Launch::new(kernel, [1, (rows / tile) as u32, 1], block)
            .address(a.address)
            .address(b.address)
            .address(c.address)
            .u32(rows as u32)
            .u32(columns as u32);
        run_last(&mut memory, &launch);
        for (i, found) in c.read(&memory, first * columns..rows * columns).into_iter().enumerate() {
            let (row, column) = (first + i / columns, i % columns);
            let product = |step| value(row * inner + step) * value(step * columns + column);
            let expected: f32 = (0..inner).map(product).sum();
            assert_eq!(f32::from_bits(found), expected, "{kernel}, {row}, {column}");
        }
    }
}

#[test]
fn tiles_in_shared_memory_reach_the_last_element() {
    for kernel in [
        "async_copy_registers_4",
        "async_copy_registers_16",
        "async_copy_async_16",
        "async_copy_pipelined",
        "async_copy_bulk",
    ] {
        let mut memory = memory();
        let last = MOST - 16 * 2048..MOST;
        let source = Sparse::source(&mut memory, last.clone());
        let target = Sparse::new(&mut memory, last.clone());
        let launch = launch_of(kernel, MOST / 2048 / 16, &[&source, &target], &[MOST]);
        run_last(&mut memory, &launch);
        let expected: Vec<u32> =
            last.clone().map(|i| (value(i) + value(i ^ 128)).to_bits()).collect();
        assert_eq!(target.read(&memory, last), expected, "{kernel}");
    }
}

#[test]
fn a_scan_reaches_the_last_tile() {
    let tile = 8192;
    let mut memory = memory();
    let last = MOST - tile..MOST;
    let source = Sparse::source(&mut memory, last.clone());
    let target = Sparse::new(&mut memory, last.clone());
    let before = Sparse::source(&mut memory, MOST / tile - 2..MOST / tile - 1);
    let launch = launch_of("scan_vectorized", MOST / tile, &[&source, &before, &target], &[MOST]);
    run_last(&mut memory, &launch);
    let sum = value(MOST / tile - 2) + last.map(value).sum::<f32>();
    assert_eq!(target.read(&memory, MOST - 1..MOST), [sum.to_bits()]);

    let mut memory = self::memory();
    let source = Sparse::source(&mut memory, MOST - 8 * tile..MOST);
    let sums = Sparse::new(&mut memory, MOST / tile - 8..MOST / tile);
    let launch = launch_of("scan_sums", MOST / tile / 8, &[&source, &sums], &[MOST, tile]);
    run_last(&mut memory, &launch);
    let sum: f32 = (MOST - tile..MOST).map(value).sum();
    assert_eq!(sums.read(&memory, MOST / tile - 1..MOST / tile), [sum.to_bits()]);
}

/// Kernels of the host's patterns.
#[test]
fn kernels_beside_host_work_reach_the_last_element() {
    let blocks = [(MOST / 256) as u32, 1, 1];
    let last = MOST - 256..MOST;

    // Rows of one word, two words apart: the last index is 2^32 - 2.
    let mut memory = memory();
    let source = Sparse::source(&mut memory, last.clone());
    let target = Sparse::new(&mut memory, 2 * last.start..2 * last.end);
    let launch = Launch::new("batching_rows", blocks, [256, 1, 1])
        .address(source.address)
        .u32(1)
        .address(target.address)
        .u32(2)
        .u32(1)
        .u32(MOST as u32);
    run_last(&mut memory, &launch);
    for i in last.clone() {
        let found = target.read(&memory, 2 * i..2 * i + 1);
        assert_eq!(found, [value(i).to_bits()], "batching_rows, {i}");
    }

    let mut memory = self::memory();
    let source = Sparse::source_in_pieces(&mut memory, &[0..1 << 13, last.clone()]);
    let target = Sparse::new(&mut memory, last.clone());
    let launch = Launch::new("zero_copy_reread", blocks, [256, 1, 1])
        .address(source.address)
        .address(target.address)
        .u32(MOST as u32)
        .u32(2);
    run_last(&mut memory, &launch);
    for i in last.clone() {
        let again = (i + (1 << 13)) % MOST;
        let expected = value(i).to_bits().wrapping_add(value(again).to_bits());
        assert_eq!(target.read(&memory, i..i + 1), [expected], "zero_copy_reread, {i}");
    }

    let mut memory = self::memory();
    let last = MOST - 1024..MOST;
    let source = Sparse::source(&mut memory, last.clone());
    let table = Sparse::source(&mut memory, 0..4096);
    let target = Sparse::new(&mut memory, last.clone());
    let launch =
        launch_of("l2_persistence_add", MOST / 1024, &[&source, &table, &target], &[MOST, 4096]);
    run_last(&mut memory, &launch);
    let expected: Vec<u32> = last.clone().map(|i| (value(i) + value(i % 4096)).to_bits()).collect();
    assert_eq!(target.read(&memory, last), expected, "l2_persistence_add");
}
