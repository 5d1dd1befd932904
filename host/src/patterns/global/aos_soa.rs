use crate::cases::copy::{self, LENGTHS};
use crate::prelude::*;
use kernels::global::aos_soa::{self as device, FACTOR, THREADS_PER_BLOCK};

/// Fields of a point: x, y.
const POINT: usize = 2;
/// Fields of a particle: place x, y, z; speed x, y, z; mass.
const PARTICLE: usize = 7;

pub const PATTERN: Pattern = Pattern {
    name: "aos_soa",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/aos_soa.rs"),
    dimensions: &[Dimension::extent("n", "points, and particles", 1)],
    verify_sizes: LENGTHS,
    bench_size: &[1 << 24],
    count_size: &[1 << 14],
    sweeps: &[],
    case,
    bytes,
    minimum_time,
    variants: &[
        variant!(device::aos_soa_one_field_aos, copy::launch_between, THREADS_PER_BLOCK, 0, 0)
            .expecting(|_| {
                loads(8.0, "32 lanes x 8 B apart / 32 B = 8 sectors, half of each used")
            }),
        variant!(device::aos_soa_one_field_soa, copy::launch_between, THREADS_PER_BLOCK, 1, 0)
            .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors, all used")),
        variant!(device::aos_soa_both_aos, copy::launch_between, THREADS_PER_BLOCK, 0, 1)
            .writing(&[1])
            .moving(both)
            .expecting(|_| {
                loads(8.0, "32 lanes x 8 B apart / 32 B = 8 sectors, for x and again for y")
            }),
        variant!(device::aos_soa_both_vectorized, copy::launch_between, THREADS_PER_BLOCK, 0, 1)
            .writing(&[1])
            .moving(both)
            .expecting(|_| loads(8.0, "32 lanes x 8 B / 32 B = 8 sectors, once")),
        variant!(device::aos_soa_both_soa, copy::launch_between, THREADS_PER_BLOCK, 1, 1)
            .writing(&[1])
            .moving(both)
            .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors, for x and for y")),
        variant!(device::aos_soa_particle_aos, copy::launch_between, THREADS_PER_BLOCK, 2, 2)
            .writing(&[2])
            .moving(particle)
            .expecting(|_| loads(28.0, "32 lanes x 28 B apart / 32 B = 28 sectors, seven times")),
        variant!(device::aos_soa_particle_soa, copy::launch_between, THREADS_PER_BLOCK, 3, 2)
            .writing(&[2])
            .moving(particle)
            .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors, seven times")),
    ],
};

/// Loads of so many sectors, and coalesced stores.
fn loads(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation::sectors(sectors, 4.0, arithmetic)
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
