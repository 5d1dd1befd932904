//! # Structures: an array of structures loads its unused fields too
//!
//! Shows: a structure of arrays moves only the fields that are used; whole structures can be loaded at once.
//!
//! The lanes of a warp read the same field of neighbouring elements. As an array of structures (AoS)
//! those words lie a structure apart, as a structure of arrays (SoA) they are neighbours:
//!
//! ```text
//! {x, y}, one warp reading x          | = 32-byte sector
//!   AoS  lane i -> a[2i]      |x.x.x.x.|x.x.x.x.| ... |x.x.x.x.|     8 sectors,  50 % used
//!   SoA  lane i -> x[i]       |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|  4 sectors, 100 % used
//! 7 fields of 4 bytes, one warp reading one of them
//!   AoS  lane i -> a[7i + f]  32 x 28 B / 32 B = 28 sectors per field, and so seven times over
//!   SoA  lane i -> f[i]       4 sectors per field
//! ```
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `one_field_aos` | x of each point, from an array of points | 8 | 4 | device memory, half of what it reads unused |
//! | `one_field_soa` | the fields lie in arrays of their own | 4 | 4 | bytes in flight |
//! | `both_aos` | both fields are used, again from an array of structures | 8 | 4 | requests: each sector is asked for twice |
//! | `both_vectorized` | both fields with one 8-byte load | 8 | 4 | bytes in flight |
//! | `both_soa` | the fields lie in arrays of their own | 4 | 4 | bytes in flight |
//! | `particle_aos` | seven fields, in structures | 28 | 4 | device memory |
//! | `particle_soa` | seven fields, in arrays of their own | 4 | 4 | device memory |
//!
//! Three tasks: one field is scaled, both are added, the energy of a particle is computed. Compare
//! times within a task; the stated bytes are those of each task, its fields and its result.
//!
//! Expected: where one field of two is used, SoA moves 8 bytes per element instead of 12. Where all
//! are used device memory moves the same bytes either way, and the gap is in requests and in sectors
//! through L1: `both_vectorized` is as good as `both_soa`. Seven words are no power of two, so no single
//! load fetches a particle; L1 keeps its lines from load to load, and SoA saves passes, not time.
//!
//! Preconditions: buffers aligned to 8 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; CUDA C++ Programming
//! Guide, "Device Memory Accesses".

use cuda_std::prelude::*;
use cuda_std::vector::F32x2;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// What the variants of one field multiply it with: a power of two, so that nothing is rounded.
pub const FACTOR: f32 = 4.0;
/// Fields of a point: x, y.
const POINT: usize = 2;
/// Fields of a particle: place x, y, z; speed x, y, z; mass.
const PARTICLE: usize = 7;

/// The energy of a particle of unit spring constant per mass: mass / 2 * (speed^2 + place^2).
#[inline(always)]
fn energy([x, y, z, u, v, w, mass]: [f32; PARTICLE]) -> f32 {
    mass * 0.5 * (x * x + y * y + z * z + u * u + v * v + w * w)
}

/// Naive: x of each point, from an array of points.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `points` valid for `2 * n` f32,
/// `target` for `n`, not overlapping.
#[kernel]
pub unsafe fn aos_soa_one_field_aos(points: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `points` holds 2 n elements, `target` n (launch contract).
        unsafe { *target.add(i) = FACTOR * *points.add(POINT * i) };
    }
}

/// Change from `one_field_aos`: all x come first, then all y; the y are not touched.
///
/// # Safety
/// Launch contract: as for [`aos_soa_one_field_aos`].
#[kernel]
pub unsafe fn aos_soa_one_field_soa(fields: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `fields` holds 2 n elements, `target` n (launch contract).
        unsafe { *target.add(i) = FACTOR * *fields.add(i) };
    }
}

/// Change from `one_field_soa`: x and y of each point, from an array of points, with a load each.
///
/// # Safety
/// Launch contract: as for [`aos_soa_one_field_aos`].
#[kernel]
pub unsafe fn aos_soa_both_aos(points: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `points` holds 2 n elements, `target` n (launch contract).
        unsafe { *target.add(i) = *points.add(POINT * i) + *points.add(POINT * i + 1) };
    }
}

/// Change from `both_aos`: x and y with one 8-byte load.
///
/// # Safety
/// Launch contract: as for [`aos_soa_one_field_aos`], and `points` 8-byte aligned.
#[kernel]
pub unsafe fn aos_soa_both_vectorized(points: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `points` holds n aligned pairs, `target` n elements (launch contract).
        unsafe {
            let point = *points.add(POINT * i).cast::<F32x2>();
            *target.add(i) = point.x + point.y;
        }
    }
}

/// Change from `both_vectorized`: all x come first, then all y, a load each.
///
/// # Safety
/// Launch contract: as for [`aos_soa_one_field_aos`].
#[kernel]
pub unsafe fn aos_soa_both_soa(fields: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let (i, n) = (i as usize, n as usize);
        // SAFETY: i < n; `fields` holds 2 n elements, `target` n (launch contract).
        unsafe { *target.add(i) = *fields.add(i) + *fields.add(n + i) };
    }
}

/// Change from `both_soa`: seven fields, from an array of particles.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `particles` valid for `7 * n`
/// f32, `target` for `n`, not overlapping.
#[kernel]
pub unsafe fn aos_soa_particle_aos(particles: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `particles` holds 7 n elements, `target` n (launch contract).
        unsafe {
            let particle: [f32; PARTICLE] =
                core::array::from_fn(|field| *particles.add(PARTICLE * i + field));
            *target.add(i) = energy(particle);
        }
    }
}

/// Change from `particle_aos`: each field lies in an array of its own, one behind the other.
///
/// # Safety
/// Launch contract: as for [`aos_soa_particle_aos`].
#[kernel]
pub unsafe fn aos_soa_particle_soa(fields: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let (i, n) = (i as usize, n as usize);
        // SAFETY: i < n; `fields` holds 7 n elements, `target` n (launch contract).
        unsafe {
            let particle: [f32; PARTICLE] =
                core::array::from_fn(|field| *fields.add(n * field + i));
            *target.add(i) = energy(particle);
        }
    }
}
