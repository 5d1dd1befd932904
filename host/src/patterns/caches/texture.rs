use crate::prelude::*;
use anyhow::bail;
use cuda_std::texture::{Plane, Texture};
use cust::memory::DeviceBuffer;
use cust_ext::texture as images;
use cust_ext::texture::{AddressMode, Filter, Sampling, Shape, Uses};
use kernels::caches::texture::{self as device, THREADS_PER_BLOCK, TILE, Walk};
use rayon::prelude::*;
use std::collections::HashSet;

/// The walks, in the order of the dimension's names.
const ROW: usize = 0;
const COLUMN: usize = 1;
const ROTATED: usize = 2;
const RANDOM: usize = 3;

/// The outputs: the nearest pixel; of an image that repeats; the mean of four; the mean by weights of 256ths.
const NEAREST: usize = 0;
const REPEATED: usize = 1;
const MEAN: usize = 2;
const ROUNDED_MEAN: usize = 3;

/// Parts of a pixel in which places are counted.
const PARTS: i64 = 256;
/// The distance behind the centre of a pixel at which walks along rows and columns read, in parts.
const BEHIND: [i64; 2] = [37, 91];
/// The cosine and the sine of 45 degrees, in parts.
const DIAGONAL: i64 = 181;
/// The most texels of a texture of plain memory.
const MAX_LINEAR: usize = 1 << 27;
/// The largest edge of an array that is gathered from.
const MAX_EDGE: usize = 1 << 15;
/// The largest edge that is no power of two and whose texels normalized coordinates find.
const MAX_WRAPPED: usize = 1024;

pub const PATTERN: Pattern = Pattern {
    name: "texture",
    group: "caches",
    doc_source: include_str!("../../../../kernels/src/caches/texture.rs"),
    dimensions: &[
        Dimension::extent("columns", "of both images", 1),
        Dimension::extent("rows", "of both images", 1),
        Dimension::choice(
            "walk",
            "where neighbouring pixels come from",
            &["row", "column", "rotated", "random"],
        ),
    ],
    verify_sizes: &[
        &[1, 1, ROW],
        &[1, 1, RANDOM],
        &[31, 7, ROW],
        &[32, 32, COLUMN],
        &[33, 31, ROTATED],
        &[64, 33, RANDOM],
        &[5, 70, COLUMN],
        &[61, 60, RANDOM],
        &[1001, 17, ROTATED],
    ],
    bench_size: &[1 << 13, 1 << 13, ROTATED],
    count_size: &[1 << 7, 1 << 6, ROTATED],
    sweeps: &[Sweep {
        dimension: 2,
        values: &[ROW, COLUMN, ROTATED, RANDOM],
        variants: &[0, 1, 2, 3, 4, 5, 6, 7],
    }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        variant!(device::texture_plain, loads, NEAREST).only_when(fits).expecting(|size| {
            loading(size, ROW_OF_PIXELS, clamp, "the sectors of 32 neighbours, rotated")
        }),
        variant!(device::texture_linear => linear)
            .prepared(make_linear)
            .only_when(fits_linear)
            .expecting(|size| Expectation {
                texture_sectors: Some(sectors(size, ROW_OF_PIXELS, IN_ROWS, clamp, NEAREST_ONE)),
                ..stores("the sectors of `plain`")
            }),
        variant!(device::texture_array, fetch, "nearest", NEAREST)
            .prepared(|with| make_array(with, "nearest"))
            .only_when(fits)
            .expecting(|size| fetching(size, ROW_OF_PIXELS, clamp, NEAREST_ONE)),
        variant!(device::texture_array_tile, fetch, "nearest", NEAREST)
            .prepared(|with| make_array(with, "nearest"))
            .only_when(fits)
            .expecting(|size| fetching(size, TILE_OF_PIXELS, clamp, NEAREST_ONE)),
        variant!(device::texture_plain_tile, loads, NEAREST).only_when(fits).expecting(|size| {
            loading(size, TILE_OF_PIXELS, clamp, "the sectors of 8 x 4 pixels, rotated")
        }),
        variant!(device::texture_bilinear_plain, loads, MEAN)
            .writing(&[MEAN])
            .only_when(fits)
            .expecting(loading_four),
        variant!(device::texture_bilinear_gather, fetch, "gather", MEAN)
            .prepared(|with| make_array(with, "gather"))
            .writing(&[MEAN])
            .only_when(fits)
            .expecting(|size| fetching(size, TILE_OF_PIXELS, clamp, AROUND)),
        variant!(device::texture_bilinear_array, fetch, "filter", ROUNDED_MEAN)
            .prepared(|with| make_array(with, "filter"))
            .writing(&[ROUNDED_MEAN])
            .only_when(fits)
            .expecting(|size| fetching(size, TILE_OF_PIXELS, clamp, AROUND)),
        variant!(device::texture_wrap_plain, loads, REPEATED)
            .writing(&[REPEATED])
            .only_when(fits)
            .expecting(|size| {
                loading(
                    size,
                    ROW_OF_PIXELS,
                    repeat,
                    "the sectors of 32 neighbours, rotated and repeated",
                )
            }),
        variant!(device::texture_wrap_array => wrap)
            .prepared(|with| make_array(with, "repeated"))
            .writing(&[REPEATED])
            .only_when(fits_wrapped)
            .expecting(|size| fetching(size, ROW_OF_PIXELS, repeat, NEAREST_ONE)),
    ],
};

fn fits(size: &Size) -> std::result::Result<(), &'static str> {
    let [columns, rows, _] = size.get();
    if columns.max(rows) > MAX_EDGE {
        return Err("an image has at most 32768 columns and rows");
    }
    fits_grid_y(rows.div_ceil(TILE as usize))
}

fn fits_linear(size: &Size) -> std::result::Result<(), &'static str> {
    let [columns, rows, _] = size.get();
    if columns * rows > MAX_LINEAR {
        return Err("a texture of plain memory has at most 2^27 texels");
    }
    fits(size)
}

fn fits_wrapped(size: &Size) -> std::result::Result<(), &'static str> {
    let [columns, rows, _] = size.get::<3>();
    if [columns, rows].iter().any(|edge| !edge.is_power_of_two() && *edge > MAX_WRAPPED) {
        return Err(
            "normalized coordinates are cut to 21 bits: edges above 1024 are powers of two",
        );
    }
    fits(size)
}

/// Source positions of an image's pixels, in parts of a pixel.
struct Places {
    start: [i64; 2],
    right: [i64; 2],
    down: [i64; 2],
    extent: [i64; 2],
    is_random: bool,
}

impl Places {
    fn of(size: &Size) -> Places {
        let [columns, rows, walk] = size.get();
        let extent @ [width, height] = [columns, rows].map(|edge: usize| edge as i64);
        let near = BEHIND.map(|behind| PARTS / 2 + behind);
        let (start, right, down) = match walk {
            ROW => (near, [PARTS, 0], [0, PARTS]),
            COLUMN => (near, [0, PARTS], [PARTS, 0]),
            ROTATED => {
                // The centre of the image stays where it is.
                let (across, along) = (width - 1 - (height - 1), width - 1 + height - 1);
                let start = [
                    width * PARTS / 2 - DIAGONAL * across / 2,
                    height * PARTS / 2 - DIAGONAL * along / 2,
                ];
                (start, [DIAGONAL; 2], [-DIAGONAL, DIAGONAL])
            }
            _ => (near, [0; 2], [0; 2]),
        };
        Places { start, right, down, extent, is_random: walk == RANDOM }
    }

    fn at(&self, column: i64, row: i64) -> [i64; 2] {
        if self.is_random {
            let first = scrambled((row * self.extent[0] + column) as u32);
            let place = |axis: usize, number: u32| {
                self.start[axis] + PARTS * ((i64::from(number) * self.extent[axis]) >> 32)
            };
            return [place(0, first), place(1, scrambled(first))];
        }
        let place =
            |axis: usize| self.start[axis] + column * self.right[axis] + row * self.down[axis];
        [place(0), place(1)]
    }

    /// The same for a kernel.
    fn walk(&self) -> Walk {
        let number = |parts: i64| parts as f32 / PARTS as f32;
        Walk {
            x: number(self.start[0]),
            x_right: number(self.right[0]),
            x_down: number(self.down[0]),
            y: number(self.start[1]),
            y_right: number(self.right[1]),
            y_down: number(self.down[1]),
            columns: self.extent[0] as u32,
            rows: self.extent[1] as u32,
            is_random: u32::from(self.is_random),
        }
    }
}

/// Another number for each number, without order.
fn scrambled(number: u32) -> u32 {
    let number = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
    let number = (number ^ number >> 15).wrapping_mul(0x846c_a68b);
    number ^ number >> 16
}

/// Pixels from 0 to 255, so that all means are exact.
fn case(size: &Size, random: &mut Random) -> Case {
    let [columns, rows, _] = size.get();
    let source: Vec<f32> = random.u8s(columns * rows).into_iter().map(f32::from).collect();
    let places = Places::of(size);
    let output = |pixel: &(dyn Fn([i64; 2]) -> f32 + Sync)| {
        Output::exact(Data::F32(reference(&places, pixel)))
    };
    let [width, height] = places.extent;
    let texel = |x: i64, y: i64| source[(y * width + x) as usize];
    let clamped = |x: i64, y: i64| texel(x.clamp(0, width - 1), y.clamp(0, height - 1));
    Case {
        outputs: vec![
            output(&|at| {
                let [x, y] = at.map(|at| at.div_euclid(PARTS));
                clamped(x, y)
            }),
            output(&|at| {
                let [x, y] = at.map(|at| at.div_euclid(PARTS));
                texel(x.rem_euclid(width), y.rem_euclid(height))
            }),
            output(&|at| mean(at, clamped, exact_weights, 1.0 / (PARTS * PARTS) as f64)),
            output(&|at| mean(at, clamped, texture_weights, 1.0 / PARTS as f64)),
        ],
        inputs: vec![Data::F32(source)],
    }
}

fn reference(places: &Places, pixel: &(dyn Fn([i64; 2]) -> f32 + Sync)) -> Vec<f32> {
    let [width, height] = places.extent;
    (0..width * height).into_par_iter().map(|i| pixel(places.at(i % width, i / width))).collect()
}

/// The mean of the four pixels around a place, above left and right, below left and right, with weights of a unit.
fn mean(
    at: [i64; 2],
    pixel: impl Fn(i64, i64) -> f32,
    weights: fn([i64; 2]) -> [i64; 4],
    unit: f64,
) -> f32 {
    let [x, y] = at.map(|at| (at - PARTS / 2).div_euclid(PARTS));
    let weights = weights(at.map(|at| (at - PARTS / 2).rem_euclid(PARTS)));
    let pixels = [pixel(x, y), pixel(x + 1, y), pixel(x, y + 1), pixel(x + 1, y + 1)];
    let sum: f64 = weights.iter().zip(pixels).map(|(w, value)| *w as f64 * f64::from(value)).sum();
    (sum * unit) as f32
}

/// The weights as they are, in 65536ths.
fn exact_weights([right, below]: [i64; 2]) -> [i64; 4] {
    let (left, above) = (PARTS - right, PARTS - below);
    [left * above, right * above, left * below, right * below]
}

/// The weights of a texture unit, in 256ths: each column's is split between its rows and rounded, halves up on the
/// right and down on the left.
fn texture_weights([right, below]: [i64; 2]) -> [i64; 4] {
    let left = PARTS - right;
    let lower_left = (left * below + PARTS / 2 - 1) / PARTS;
    let lower_right = (right * below + PARTS / 2) / PARTS;
    [left - lower_left, right - lower_right, lower_left, lower_right]
}

/// Of a rotated square image, 2 (sqrt(2) - 1) remain inside. Of n random pixels of n, 1 - 1/e are different.
fn bytes(size: &Size) -> Bytes {
    let [columns, rows, walk] = size.get();
    let n = columns * rows;
    let thousandths = match walk {
        ROTATED => 828,
        RANDOM => 632,
        _ => 1000,
    };
    Bytes { read: 4 * (n * thousandths).div_ceil(1000), written: 4 * n }
}

/// Columns and rows of pixels.
type Block = [i64; 2];
/// The pixels that the lanes of a warp compute.
const ROW_OF_PIXELS: Block = [32, 1];
const TILE_OF_PIXELS: Block = [8, 4];
/// The pixels of a sector: of row-major memory, and of an array, by the executor's model.
const IN_ROWS: Block = [8, 1];
const IN_ARRAY: Block = [4, 2];

/// For each warp, the places of its pixels.
fn warps(size: &Size, [width, height]: Block) -> impl Iterator<Item = Vec<[i64; 2]>> {
    let places = Places::of(size);
    let [columns, rows] = places.extent;
    let corners = (0..rows / height).flat_map(move |row| {
        (0..columns / width).map(move |column| [column * width, row * height])
    });
    corners.map(move |[column, row]| {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [column + x, row + y]));
        pixels.map(|[column, row]| places.at(column, row)).collect()
    })
}

/// The mean number of different sectors per request, for whole tiles; each request reads some of the four pixels around
/// each place, or the nearest.
fn sectors(size: &Size, warp: Block, sector: Block, edge: Edge, offsets: &[[i64; 2]]) -> f64 {
    let [columns, rows, _] = size.get().map(|edge: usize| edge as i64);
    let (mut sum, mut requests) = (0, 0);
    for places in warps(size, warp) {
        let different: HashSet<[i64; 2]> = places
            .iter()
            .flat_map(|[x, y]| offsets.iter().map(move |[dx, dy]| [x + dx, y + dy]))
            .map(|[x, y]| {
                let (x, y) = (edge(x.div_euclid(PARTS), columns), edge(y.div_euclid(PARTS), rows));
                [x / sector[0], y / sector[1]]
            })
            .collect();
        sum += different.len();
        requests += 1;
    }
    sum as f64 / f64::from(requests)
}

/// The column or row that stands for one beyond the edge.
type Edge = fn(i64, i64) -> i64;

fn clamp(at: i64, extent: i64) -> i64 {
    at.clamp(0, extent - 1)
}

fn repeat(at: i64, extent: i64) -> i64 {
    at.rem_euclid(extent)
}

/// The place itself, and the four around it.
const NEAREST_ONE: &[[i64; 2]] = &[[0, 0]];
const HALF: i64 = PARTS / 2;
const AROUND: &[[i64; 2]] = &[[-HALF, -HALF], [HALF, -HALF], [-HALF, HALF], [HALF, HALF]];

fn stores(arithmetic: &'static str) -> Expectation {
    Expectation { store_sectors: Some(4.0), arithmetic, ..Expectation::default() }
}

/// Loads of one pixel per place.
fn loading(size: &Size, warp: Block, edge: Edge, arithmetic: &'static str) -> Expectation {
    let sectors = sectors(size, warp, IN_ROWS, edge, NEAREST_ONE);
    Expectation { load_sectors: Some(sectors), ..stores(arithmetic) }
}

/// Fetches of one pixel per place, or of the four around it, of an array.
fn fetching(size: &Size, warp: Block, edge: Edge, pixels: &[[i64; 2]]) -> Expectation {
    let sectors = sectors(size, warp, IN_ARRAY, edge, pixels);
    Expectation {
        texture_sectors: Some(sectors),
        ..stores("by the model of an array: 4 x 2 pixels to a sector")
    }
}

/// One load for each of the four pixels around a place.
fn loading_four(size: &Size) -> Expectation {
    let of = |offset: &[i64; 2]| sectors(size, TILE_OF_PIXELS, IN_ROWS, clamp, &[*offset]);
    Expectation {
        load_sectors: Some(AROUND.iter().map(of).sum::<f64>() / 4.0),
        ..stores("each of the four loads has the sectors of 8 x 4 pixels, rotated")
    }
}

fn pixels<'a>(with: &'a Preparation<'_>) -> Result<&'a [f32]> {
    match &with.case.inputs[0] {
        Data::F32(pixels) => Ok(pixels),
        _ => bail!("the input of `texture` is f32"),
    }
}

fn make_linear(with: &Preparation<'_>) -> Result<()> {
    with.arrays.keep_texture("linear", || {
        let buffer = DeviceBuffer::from_slice(pixels(with)?)?;
        Ok(images::Texture::owning_buffer(buffer, false)?)
    })
}

/// Makes an array of the input and a texture of it, which samples as its name says.
fn make_array(with: &Preparation<'_>, name: &'static str) -> Result<()> {
    let [width, height, _] = with.size.get();
    let clamp = Sampling::default();
    let sampling = match name {
        "repeated" => clamp.address([AddressMode::Wrap; 3]).normalized_coordinates(true),
        "filter" => clamp.filter(Filter::Linear),
        _ => clamp,
    };
    with.arrays.keep_texture(name, || {
        let uses = Uses::default().gather(name == "gather");
        let mut array = images::Array::new(Shape::Plane { width, height }, uses)?;
        array.upload(pixels(with)?)?;
        Ok(images::Texture::owning_array(array, &sampling)?)
    })
}

fn grid(size: &Size) -> (u32, u32) {
    let [columns, rows, _] = size.get().map(|edge: usize| (edge as u32).div_ceil(TILE));
    (columns, rows)
}

/// Launches a kernel that loads from the input.
fn loads(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, Walk)>,
    output: usize,
) -> Result<(), GpuError> {
    let arguments = (arrays.input(0), arrays.output(output), Places::of(size).walk());
    // SAFETY: a block for each tile of pixels; both arrays hold all pixels and do not overlap; `fits` has checked the
    // edges.
    unsafe { launcher.launch(kernel, grid(size), THREADS_PER_BLOCK, 0, arguments) }
}

fn linear(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    // SAFETY: `make_linear` made a texture of plain f32, which the arrays keep.
    let texture = unsafe { Texture::from_raw(arrays.texture("linear")) };
    let arguments = (texture, arrays.output(NEAREST), Places::of(size).walk());
    // SAFETY: as in `loads`; the texture has all pixels.
    unsafe { launcher.launch(device::texture_linear, grid(size), THREADS_PER_BLOCK, 0, arguments) }
}

fn plane(arrays: &Arrays, name: &str) -> Texture<Plane, f32> {
    // SAFETY: `make_array` made a plane of f32, which the arrays keep.
    unsafe { Texture::from_raw(arrays.texture(name)) }
}

/// A kernel that fetches from a texture: what from, where to, and the places.
type Resampling = Kernel<fn(Texture<Plane, f32>, *mut f32, Walk)>;

/// Launches a kernel that fetches from a texture.
fn fetch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Resampling,
    name: &str,
    output: usize,
) -> Result<(), GpuError> {
    let arguments = (plane(arrays, name), arrays.output(output), Places::of(size).walk());
    // SAFETY: as in `loads`; the texture has all pixels, and samples as its name says.
    unsafe { launcher.launch(kernel, grid(size), THREADS_PER_BLOCK, 0, arguments) }
}

fn wrap(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [columns, rows, _] = size.get().map(|edge: usize| 1.0 / edge as f32);
    let (texture, target) = (plane(arrays, "repeated"), arrays.output(REPEATED));
    let arguments = (texture, target, Places::of(size).walk(), columns, rows);
    let kernel = device::texture_wrap_array;
    // SAFETY: as in `fetch`; `fits_wrapped` has checked the edges.
    unsafe { launcher.launch(kernel, grid(size), THREADS_PER_BLOCK, 0, arguments) }
}
