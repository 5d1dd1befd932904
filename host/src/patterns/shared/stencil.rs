use crate::prelude::*;
use cuda_std::tensor_copy::TensorMap;
use cust_ext::tensor_map::{Element as OfMap, Tiled};
use kernels::shared::stencil::{
    self as device, BLOCK, BOX, BOX_THREADS, BOX_TILE, COEFFICIENTS, COLUMNS_PER_THREAD,
    PLANES_PER_BLOCK, RADIUS, ROWS_PER_BLOCK, STRIP_THREADS, THREADS_PER_BLOCK, TILE, VOLUME_ROWS,
};
use rayon::prelude::*;

/// The coefficients of an element and of its neighbours by distance.
const VALUES: [f32; COEFFICIENTS] = [0.75, 0.5, -0.25, 0.375, -0.125];
/// Words that a warp loads at once with 4 bytes and with 16 bytes per lane.
const SCALAR: usize = 32;
const VECTORS: usize = 128;
/// Words that a vector has, and the radius.
const STEP: i64 = 4;
/// The outputs.
const LINE: usize = 0;
const PLANE_R1: usize = 1;
const PLANE: usize = 2;
const VOLUME_R1: usize = 3;
const VOLUME: usize = 4;

pub const PATTERN: Pattern = Pattern {
    name: "stencil",
    group: "shared",
    doc_source: include_str!("../../../../kernels/src/shared/stencil.rs"),
    dimensions: &[
        Dimension::extent("planes", "planes of the volume", 1).predicted_at(16),
        Dimension::extent("rows", "rows of a plane", 1).predicted_at(256),
        Dimension::extent("columns", "columns of a plane", 1),
    ],
    verify_sizes: &[
        &[1, 1, 1],
        &[1, 1, 4],
        &[1, 3, 33],
        &[2, 5, 31],
        &[3, 9, 40],
        &[5, 17, 36],
        &[1, 33, 68],
        &[1, 3, 516],
        &[66, 2, 4],
        &[1, 32, 32],
        &[1001, 1, 4],
        &[6, 19, 132],
    ],
    bench_size: &[64, 1024, 1024],
    count_size: &[4, 32, 256],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        variant!(device::stencil_line_global => |launcher, arrays, size| {
            let n = line_of(size)[2] as u32;
            let arguments = (arrays.input(0), arrays.input(1), arrays.output(LINE), n);
            let kernel = device::stencil_line_global;
            let grid = n.div_ceil(THREADS_PER_BLOCK);
            // SAFETY: the grid covers n threads; input and output hold n elements, input 1 the coefficients; the
            // output is another allocation.
            unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
        })
        .writing(&[LINE])
        .expecting(|size| {
            let shape = line_of(size);
            let coefficients = Requests { sectors: COEFFICIENTS, requests: COEFFICIENTS };
            let all = naive(shape, RADIUS) + coefficients * shape[2].div_ceil(SCALAR);
            loads(
                all,
                4.0,
                "9 loads of 4 or 5 sectors, and 5 of one word for all \
                    lanes",
            )
        }),
        constant(variant!(device::stencil_line_constant, line, 1)).writing(&[LINE]).expecting(
            |size| {
                let arithmetic = "9 loads of 4 or 5 sectors; a coefficient is one word for \
                    all lanes";
                with_constants(loads(naive(line_of(size), RADIUS), 4.0, arithmetic))
            },
        ),
        constant(variant!(device::stencil_line_shared, line, 1)).writing(&[LINE]).expecting(
            |size| {
                let [_, _, n] = line_of(size);
                let blocks = n / THREADS_PER_BLOCK as usize;
                let halos = Requests { sectors: 2 * blocks - 2, requests: blocks };
                let arithmetic = "4 sectors of own words, and one request for the halo, 2 \
                    sectors";
                let all = along(n, SCALAR, 0) + halos;
                with_shared(with_constants(loads(all, 4.0, arithmetic)), 1.0)
            },
        ),
        constant(variant!(device::stencil_line_vectorized, line, COLUMNS_PER_THREAD))
            .writing(&[LINE])
            .expecting(|size| {
                let [_, _, n] = line_of(size);
                let all = along(n, VECTORS, 0) + beside(n);
                with_constants(loads(all, 16.0, "16 sectors, and 17 for each of the loads beside"))
            }),
        constant(variant!(device::stencil_plane_r1_global, plane, EACH, PLANE_R1))
            .only_when(|size| fits_plane(size, EACH))
            .writing(&[PLANE_R1])
            .expecting(|size| {
                let all = naive(plane_of(size), 1);
                with_constants(loads(all, 4.0, "5 loads of 4 or 5 sectors"))
            }),
        constant(variant!(device::stencil_plane_r1_rolling, plane, STRIPS, PLANE_R1))
            .only_when(|size| fits_plane(size, STRIPS))
            .writing(&[PLANE_R1])
            .expecting(|size| {
                let arithmetic = "16 sectors for each row once, and 17 for each of the \
                    loads beside";
                with_constants(loads(rolling(size, 1), 16.0, arithmetic))
            }),
        constant(variant!(device::stencil_plane_global, plane, EACH, PLANE))
            .only_when(|size| fits_plane(size, EACH))
            .writing(&[PLANE])
            .expecting(|size| {
                let all = naive(plane_of(size), RADIUS);
                with_constants(loads(all, 4.0, "17 loads of 4 or 5 sectors"))
            }),
        constant(variant!(device::stencil_plane_shared, plane, TILES, PLANE))
            .only_when(|size| fits_plane(size, TILES))
            .writing(&[PLANE])
            .expecting(|size| {
                let [_, _, columns] = plane_of(size);
                let tiles = (0..columns).step_by(TILE as usize);
                let of_row = tiles.map(|left| {
                    span(columns, left as i64 - STEP, SCALAR)
                        + span(columns, left as i64 + SCALAR as i64 - STEP, 2 * RADIUS)
                });
                let arithmetic = "40 words of a row are a load of 32, 5 sectors, and one \
                    of 8, 2 sectors; 17 shared loads of neighbouring words";
                with_shared(with_constants(loads(sum(of_row), 4.0, arithmetic)), 1.0)
            }),
        constant(variant!(device::stencil_plane_boxes => plane_boxes))
            .only_when(|size| fits_plane(size, BOXES))
            .writing(&[PLANE])
            .expecting(|_| Expectation {
                store_sectors: Some(16.0),
                shared_load_wavefronts: Some(4.0),
                constant_wavefronts: Some(1.0),
                arithmetic: "a bulk copy of the box with its halo; shared: 32 x 16 B / 128 B = 4 wavefronts",
                ..Expectation::default()
            }),
        constant(variant!(device::stencil_plane_rolling, plane, STRIPS, PLANE))
            .only_when(|size| fits_plane(size, STRIPS))
            .writing(&[PLANE])
            .expecting(|size| {
                let arithmetic = "16 sectors for each row once, and 17 for each of the \
                    loads beside";
                with_constants(loads(rolling(size, RADIUS), 16.0, arithmetic))
            }),
        constant(variant!(device::stencil_volume_r1_global, volume, POINTS, VOLUME_R1))
            .only_when(|size| fits_volume(size, POINTS))
            .writing(&[VOLUME_R1])
            .expecting(|size| {
                let all = naive(size.get(), 1);
                with_constants(loads(all, 4.0, "7 loads of 4 or 5 sectors"))
            }),
        constant(variant!(device::stencil_volume_r1_rolling, volume, PILLARS, VOLUME_R1))
            .only_when(|size| fits_volume(size, PILLARS))
            .writing(&[VOLUME_R1])
            .expecting(|size| {
                let [planes, rows, columns] = size.get();
                let row = along(columns, VECTORS, 0);
                let all = beside(columns) * (rows * planes)
                    + row * (2 * (rows - 1) * planes)
                    + row * (rows * loaded(planes, PLANES_PER_BLOCK as usize, 1));
                let arithmetic = "16 sectors for each plane once and for the rows above \
                    and below, 17 for the loads beside";
                with_constants(loads(all, 16.0, arithmetic))
            }),
        constant(variant!(device::stencil_volume_global, volume, POINTS, VOLUME))
            .only_when(|size| fits_volume(size, POINTS))
            .writing(&[VOLUME])
            .expecting(|size| {
                let all = naive(size.get(), RADIUS);
                with_constants(loads(all, 4.0, "25 loads of 4 or 5 sectors"))
            }),
        constant(variant!(device::stencil_volume_rolling, volume, SLABS, VOLUME))
            .only_when(|size| fits_volume(size, SLABS))
            .writing(&[VOLUME])
            .expecting(|size| {
                let [planes, rows, columns] = size.get();
                let row = along(columns, VECTORS, 0);
                // Each end of the volume has no halo: of rows, and of columns.
                let halo_rows = 2 * RADIUS * (rows / VOLUME_ROWS as usize - 1);
                let sides = Requests {
                    sectors: 2 * rows * (columns / VECTORS - 1),
                    requests: columns / VECTORS * rows / VOLUME_ROWS as usize,
                };
                let all = row * (rows * loaded(planes, PLANES_PER_BLOCK as usize, RADIUS))
                    + row * (halo_rows * planes)
                    + sides * planes;
                let arithmetic = "16 sectors for each row of the tile and of the halo, and \
                    one sector per row and side; shared: 32 x 16 B / 128 B = \
                    4 wavefronts";
                with_shared(with_constants(loads(all, 16.0, arithmetic)), 4.0)
            }),
    ],
};

/// The part that a block computes of a plane: columns and rows; its threads follow.
type Tile = ((u32, u32), (u32, u32));
/// A thread per element.
const EACH: Tile = (BLOCK, BLOCK);
/// Several rows per thread.
const TILES: Tile = ((TILE, TILE), BLOCK);
/// Four columns and sixteen rows per thread.
const BOXES: Tile = (BOX_TILE, BOX_THREADS);
/// Four columns per thread, which walks down.
const STRIPS: Tile = ((STRIP_THREADS * COLUMNS_PER_THREAD, ROWS_PER_BLOCK), (STRIP_THREADS, 1));
/// The part that a block computes of a volume: columns, rows and planes; its threads follow.
type Brick = ((u32, u32, u32), (u32, u32));
/// A thread per element.
const POINTS: Brick = ((BLOCK.0, BLOCK.1, 1), BLOCK);
/// Four columns per thread, which walks through the planes.
const PILLARS: Brick = ((BLOCK.0 * COLUMNS_PER_THREAD, BLOCK.1, PLANES_PER_BLOCK), BLOCK);
/// The same with more rows.
const SLABS: Brick =
    ((BLOCK.0 * COLUMNS_PER_THREAD, VOLUME_ROWS, PLANES_PER_BLOCK), (BLOCK.0, VOLUME_ROWS));

/// The variant with the coefficients in constant memory.
const fn constant(variant: Variant) -> Variant {
    variant.prepared(|with| Ok(with.launcher.write::<device::STENCIL_COEFFICIENTS>(&VALUES)?))
}

fn line_of(size: &Size) -> [usize; 3] {
    [1, 1, size.values().iter().product()]
}

fn plane_of(size: &Size) -> [usize; 3] {
    let [planes, rows, columns] = size.get();
    [1, planes * rows, columns]
}

fn fits_plane(size: &Size, (tile, _): Tile) -> std::result::Result<(), &'static str> {
    let [_, rows, columns] = plane_of(size);
    whole_vectors(columns, tile.0)?;
    fits_grid_y(rows.div_ceil(tile.1 as usize))
}

fn fits_volume(size: &Size, (brick, _): Brick) -> std::result::Result<(), &'static str> {
    let [planes, rows, columns] = size.get();
    whole_vectors(columns, brick.0)?;
    if planes.div_ceil(brick.2 as usize) > 65_535 {
        return Err("its grid would have more than 65535 blocks in z");
    }
    fits_grid_y(rows.div_ceil(brick.1 as usize))
}

/// Returns whether rows consist of vectors, for kernels whose blocks are wider than a warp.
fn whole_vectors(columns: usize, width: u32) -> std::result::Result<(), &'static str> {
    if width as usize == SCALAR || columns.is_multiple_of(STEP as usize) {
        Ok(())
    } else {
        Err("4 must divide columns")
    }
}

/// Loads of a kernel, as they are counted.
#[derive(Clone, Copy, Default)]
struct Requests {
    sectors: usize,
    requests: usize,
}

impl std::ops::Add for Requests {
    type Output = Requests;
    fn add(self, other: Requests) -> Requests {
        Requests { sectors: self.sectors + other.sectors, requests: self.requests + other.requests }
    }
}

impl std::ops::Mul<usize> for Requests {
    type Output = Requests;
    fn mul(self, times: usize) -> Requests {
        Requests { sectors: self.sectors * times, requests: self.requests * times }
    }
}

fn sum(all: impl Iterator<Item = Requests>) -> Requests {
    all.fold(Requests::default(), |sum, one| sum + one)
}

/// A request for `len` words of a row from `first` on; lanes outside the row do not take part.
fn span(columns: usize, first: i64, len: usize) -> Requests {
    let end = (first + len as i64).clamp(0, columns as i64) as usize;
    let first = first.clamp(0, columns as i64) as usize;
    let is_empty = first == end;
    let sectors = if is_empty { 0 } else { (4 * end).div_ceil(32) - 4 * first / 32 };
    Requests { sectors, requests: usize::from(!is_empty) }
}

/// The requests of a row whose warps load so many words each, shifted by `by` words.
fn along(columns: usize, per_warp: usize, by: i64) -> Requests {
    sum((0..columns).step_by(per_warp).map(|first| span(columns, first as i64 + by, per_warp)))
}

/// The requests of a row for the vectors on the left and on the right of a thread's own.
fn beside(columns: usize) -> Requests {
    along(columns, VECTORS, -STEP) + along(columns, VECTORS, STEP)
}

/// The requests of a kernel with a thread per element that loads all its neighbours.
fn naive([planes, rows, columns]: [usize; 3], radius: usize) -> Requests {
    let reach = radius as i64;
    let row = sum((-reach..=reach).map(|by| along(columns, SCALAR, by)));
    let pairs = |extent: usize| -> usize {
        (1..=radius).map(|distance| 2 * extent.saturating_sub(distance)).sum()
    };
    let straight = along(columns, SCALAR, 0);
    row * (rows * planes) + straight * (pairs(rows) * planes + pairs(planes) * rows)
}

/// The rows or planes that are loaded where blocks of so many walk through all of them.
fn loaded(extent: usize, per_block: usize, radius: usize) -> usize {
    extent + 2 * radius * (extent.div_ceil(per_block) - 1)
}

/// The requests of a kernel that walks down the rows of the plane.
fn rolling(size: &Size, radius: usize) -> Requests {
    let [_, rows, columns] = plane_of(size);
    along(columns, VECTORS, 0) * loaded(rows, ROWS_PER_BLOCK as usize, radius)
        + beside(columns) * rows
}

fn loads(all: Requests, store_sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation::sectors(all.sectors as f64 / all.requests as f64, store_sectors, arithmetic)
}

/// All lanes use the same coefficient.
fn with_constants(expectation: Expectation) -> Expectation {
    Expectation { constant_wavefronts: Some(1.0), ..expectation }
}

fn with_shared(expectation: Expectation, wavefronts: f64) -> Expectation {
    Expectation {
        shared_load_wavefronts: Some(wavefronts),
        shared_store_wavefronts: Some(wavefronts),
        ..expectation
    }
}

fn case(size: &Size, random: &mut Random) -> Case {
    let source = random.f32s(size.values().iter().product());
    let shapes = [
        (line_of(size), RADIUS),
        (plane_of(size), 1),
        (plane_of(size), RADIUS),
        (size.get(), 1),
        (size.get(), RADIUS),
    ];
    let outputs = shapes.into_iter().map(|(shape, radius)| {
        let tolerance = Tolerance::sum_of_products(1 + 6 * radius);
        Output::near(Data::F32(reference(&source, shape, radius)), tolerance)
    });
    Case { outputs: outputs.collect(), inputs: vec![Data::F32(source), Data::F32(VALUES.to_vec())] }
}

/// The weighted sums of the neighbours along each axis; those outside count as zero.
fn reference(source: &[f32], [planes, rows, columns]: [usize; 3], radius: usize) -> Vec<f32> {
    let element = |index: usize| {
        let places = [
            (index % columns, columns, 1),
            (index / columns % rows, rows, columns),
            (index / columns / rows, planes, rows * columns),
        ];
        let mut sum = f64::from(VALUES[0]) * f64::from(source[index]);
        for (place, extent, apart) in places {
            for (distance, value) in VALUES.iter().enumerate().take(radius + 1).skip(1) {
                if place >= distance {
                    sum += f64::from(*value) * f64::from(source[index - distance * apart]);
                }
                if place + distance < extent {
                    sum += f64::from(*value) * f64::from(source[index + distance * apart]);
                }
            }
        }
        sum as f32
    };
    (0..source.len()).into_par_iter().map(element).collect()
}

/// Each element in and out once.
fn bytes(size: &Size) -> Bytes {
    let n: usize = size.values().iter().product();
    Bytes { read: 4 * n, written: 4 * n }
}

/// Launches a kernel on the volume as a line.
fn line(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32)>,
    per_thread: u32,
) -> Result<(), GpuError> {
    let n = line_of(size)[2] as u32;
    let arguments = (arrays.input(0), arrays.output(LINE), n);
    let grid = n.div_ceil(THREADS_PER_BLOCK * per_thread);
    // SAFETY: the grid covers n elements; input and output hold n elements each, are 256-byte aligned and do not overlap.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

/// Launches a kernel on the volume as a plane.
fn plane(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32, u32)>,
    (tile, block): Tile,
    output: usize,
) -> Result<(), GpuError> {
    let [_, rows, columns] = plane_of(size).map(|extent| extent as u32);
    let arguments = (arrays.input(0), arrays.output(output), rows, columns);
    let grid = (columns.div_ceil(tile.0), rows.div_ceil(tile.1));
    // SAFETY: the tiles of the grid cover the plane; 4 divides the columns where the kernel needs it (precondition);
    // input and output hold the plane, are 256-byte aligned and do not overlap.
    unsafe { launcher.launch(kernel, grid, block, 0, arguments) }
}

/// A kernel on a volume: of what, where to, its planes, rows and columns.
type OnVolume = Kernel<fn(*const f32, *mut f32, u32, u32, u32)>;

/// Launches a kernel on the volume.
/// Launches `plane_boxes`, whose source is a tensor map.
fn plane_boxes(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [_, rows, columns] = plane_of(size).map(|extent| extent as u32);
    let extents = [u64::from(columns), u64::from(rows)];
    let source = arrays.input::<f32>(0).address();
    let map = TensorMap(Tiled::new(OfMap::F32, source, &extents, &[BOX.0, BOX.1]).encode()?);
    let grid = (columns.div_ceil(BOX_TILE.0), rows.div_ceil(BOX_TILE.1));
    let arguments = (map, arrays.output::<f32>(PLANE), rows, columns);
    // SAFETY: the tiles of the grid cover the plane, whose map has boxes of a tile and its halo; 4 divides the columns
    // (precondition); input and output hold the plane, are 256-byte aligned and do not overlap.
    unsafe { launcher.launch(device::stencil_plane_boxes, grid, BOX_THREADS, 0, arguments) }
}

fn volume(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: OnVolume,
    (brick, block): Brick,
    output: usize,
) -> Result<(), GpuError> {
    let [planes, rows, columns] = size.get().map(|extent: usize| extent as u32);
    let arguments = (arrays.input(0), arrays.output(output), planes, rows, columns);
    let grid = (columns.div_ceil(brick.0), rows.div_ceil(brick.1), planes.div_ceil(brick.2));
    // SAFETY: the bricks of the grid cover the volume; 4 divides the columns where the kernel needs it (precondition);
    // input and output hold the volume, are 256-byte aligned and do not overlap.
    unsafe { launcher.launch(kernel, grid, block, 0, arguments) }
}
