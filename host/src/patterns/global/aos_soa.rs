//! Host half of `aos_soa`. Device half and teaching doc: `kernels/src/global/aos_soa.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random, Tolerance};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Variant,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use kernels::global::aos_soa as device;
use kernels::global::aos_soa::{FACTOR, THREADS_PER_BLOCK};

/// Fields of a point: x, y.
const POINT: usize = 2;
/// Fields of a particle: place x, y, z; speed x, y, z; mass.
const PARTICLE: usize = 7;

pub const PATTERN: Pattern = Pattern {
    name: "aos_soa",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/aos_soa.rs"),
    dimensions: &[Dimension::extent("n", "points, and particles", 1)],
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
        &[50_003],
        &[1 << 16],
    ],
    bench_size: &[1 << 24],
    count_size: &[1 << 14],
    sweeps: &[],
    case,
    bytes,
    minimum_time,
    variants: &[
        Variant::kernel(
            "one_field_aos",
            "x of each point is used, from an array of structures",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::aos_soa_one_field_aos, 0, 0)
            },
        )
        .expecting(|_| loads(8.0, "32 lanes x 8 B apart / 32 B = 8 sectors, half of each used")),
        Variant::kernel(
            "one_field_soa",
            "each field is in an array of its own",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::aos_soa_one_field_soa, 1, 0)
            },
        )
        .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors, all used")),
        Variant::kernel(
            "both_aos",
            "x and y are used, from an array of structures again",
            |launcher, arrays, size| launch(launcher, arrays, size, device::aos_soa_both_aos, 0, 1),
        )
        .writing(&[1])
        .moving(both)
        .expecting(|_| {
            loads(8.0, "32 lanes x 8 B apart / 32 B = 8 sectors, for x and again for y")
        }),
        Variant::kernel(
            "both_vectorized",
            "x and y with one 8-byte load",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::aos_soa_both_vectorized, 0, 1)
            },
        )
        .writing(&[1])
        .moving(both)
        .expecting(|_| loads(8.0, "32 lanes x 8 B / 32 B = 8 sectors, once")),
        Variant::kernel(
            "both_soa",
            "each field is in an array of its own",
            |launcher, arrays, size| launch(launcher, arrays, size, device::aos_soa_both_soa, 1, 1),
        )
        .writing(&[1])
        .moving(both)
        .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors, for x and for y")),
        Variant::kernel(
            "particle_aos",
            "seven fields are used, from an array of structures",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::aos_soa_particle_aos, 2, 2)
            },
        )
        .writing(&[2])
        .moving(particle)
        .expecting(|_| loads(28.0, "32 lanes x 28 B apart / 32 B = 28 sectors, seven times")),
        Variant::kernel(
            "particle_soa",
            "each field is in an array of its own",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::aos_soa_particle_soa, 3, 2)
            },
        )
        .writing(&[2])
        .moving(particle)
        .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors, seven times")),
    ],
};

/// Loads of so many sectors, and coalesced stores.
fn loads(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(sectors),
        store_sectors: Some(4.0),
        arithmetic,
        ..Expectation::default()
    }
}

/// Inputs 0 and 1 are the same points, 2 and 3 the same particles: structures, then fields.
/// Outputs: one field of the points, both fields, the particles' energies.
fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let (points, particles) = (random.f32s(POINT * n), random.f32s(PARTICLE * n));
    let (scaled, sums, energies) = reference(&points, &particles);
    let points_apart = fields_apart(&points, POINT);
    let particles_apart = fields_apart(&particles, PARTICLE);
    // Thirteen additions and multiplications of one sign, each rounded by at most half a unit.
    let tolerance = Tolerance::Near {
        relative: 13.0 * f64::from(f32::EPSILON) / 2.0,
        absolute: f64::from(f32::MIN_POSITIVE),
    };
    Case {
        outputs: vec![
            Output::exact(Data::F32(scaled)),
            Output::exact(Data::F32(sums)),
            Output::near(Data::F32(energies), tolerance),
        ],
        inputs: vec![
            Data::F32(points),
            Data::F32(points_apart),
            Data::F32(particles),
            Data::F32(particles_apart),
        ],
    }
}

/// The same elements as a structure of arrays: all first fields, then all second ones, and so on.
fn fields_apart(structures: &[f32], fields: usize) -> Vec<f32> {
    (0..fields).flat_map(|field| structures.iter().skip(field).step_by(fields).copied()).collect()
}

fn reference(points: &[f32], particles: &[f32]) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let scaled = points.chunks(POINT).map(|point| FACTOR * point[0]).collect();
    let sums = points.chunks(POINT).map(|point| point[0] + point[1]).collect();
    let energy = |particle: &[f32]| {
        let squares: f64 =
            particle[..PARTICLE - 1].iter().map(|value| f64::from(*value).powi(2)).sum();
        (0.5 * f64::from(particle[PARTICLE - 1]) * squares) as f32
    };
    (scaled, sums, particles.chunks(PARTICLE).map(energy).collect())
}

/// The bytes of a variant that reads one field and writes one result.
fn bytes(size: &Size) -> Bytes {
    fields(1, size)
}

fn both(size: &Size) -> Bytes {
    fields(2, size)
}

fn particle(size: &Size) -> Bytes {
    fields(PARTICLE, size)
}

/// So many fields in, one result out.
fn fields(count: usize, size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * count * n, written: 4 * n }
}

fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    Some((Resource::Copy, PATTERN.bytes_of(variant, size).total()))
}

/// Launches a kernel of this file from one input into one output.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32)>,
    input: usize,
    output: usize,
) -> Result<()> {
    let [n] = size.get().map(|n: usize| n as u32);
    let arguments = (arrays.input(input), arrays.output(output), n);
    // SAFETY: the grid covers n threads; the input holds every field of n elements, starts at a multiple of 256 bytes
    // and is another allocation than the output of n elements.
    unsafe {
        Ok(launcher.launch(
            kernel,
            n.div_ceil(THREADS_PER_BLOCK),
            THREADS_PER_BLOCK,
            0,
            arguments,
        )?)
    }
}
