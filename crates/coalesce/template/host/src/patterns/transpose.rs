//! The rows of one matrix become the columns of another.

use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random};
use coalesce::pattern::{Bytes, Case, Dimension, Pattern, Resource, Size, Variant};
use cuda_host::cust::function::GridSize;
use cuda_host::{GpuError, Launcher};
use my_app_kernels::transpose::{TILE, transpose_direct, transpose_tiled};

pub static PATTERN: Pattern = Pattern {
    name: "transpose",
    group: "linear_algebra",
    doc_source: include_str!("../../../kernels/src/transpose.rs"),
    dimensions: &[
        Dimension::extent("rows", "rows of the source", 1),
        Dimension::extent("columns", "columns of the source", 1),
    ],
    verify_sizes: &[&[1, 1], &[31, 33], &[100, 70], &[256, 128]],
    bench_size: &[8192, 8192],
    count_size: &[256, 128],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[Variant::kernel("direct", direct), Variant::kernel("tiled", tiled)],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.f32s(rows * columns);
    let target = (0..rows * columns).map(|i| source[i % rows * columns + i / rows]).collect();
    Case::exact(vec![Data::F32(target)], vec![Data::F32(source)])
}

fn bytes(size: &Size) -> Bytes {
    let [rows, columns] = size.get();
    Bytes { read: 4 * rows * columns, written: 4 * rows * columns }
}

/// The extents of source and target.
fn extents(size: &Size) -> [[u32; 2]; 2] {
    let [rows, columns] = size.get().map(|n: usize| n as u32);
    [[columns, rows], [rows, columns]]
}

/// The blocks that cover a plane.
fn blocks([width, height]: [u32; 2]) -> GridSize {
    GridSize::xy(width.div_ceil(TILE), height.div_ceil(TILE))
}

fn direct(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [source, target] = extents(size);
    let arguments = ((arrays.input(0), source), (arrays.output(0), target));
    // SAFETY: the arrays live until the instrument has waited, and are different ones.
    unsafe { launcher.enqueue(transpose_direct, blocks(target), arguments) }
}

fn tiled(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [source, target] = extents(size);
    let arguments = ((arrays.input(0), source), (arrays.output(0), target));
    // SAFETY: the arrays live until the instrument has waited, and are different ones.
    unsafe { launcher.enqueue(transpose_tiled, blocks(source), arguments) }
}
