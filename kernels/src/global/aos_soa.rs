//! # Structures: an array of structures loads its unused fields too
//!
//! Shows: a structure of arrays moves only the fields that are used; where all fields are used,
//! both layouts move the same bytes.
//!
//! The surprise: the rule "a structure of arrays is always faster" fails in two cases here. When
//! both fields of a point are used, `both_aos` (57.57 us) is not slower than `both_soa` (60.35 us).
//! And for a particle of seven fields, where the counter shows seven times the [sectors][sector],
//! `particle_aos` (122.6 us) and `particle_soa` (122.7 us) take the same time.
//!
//! An array of structures (AoS) stores the fields of one element next to each other. A structure of
//! arrays (SoA) stores all values of one field next to each other. The 32 [lanes][lane] of a [warp]
//! read the same field of 32 neighbouring elements, in one [request]. Memory moves in sectors of 32
//! bytes:
//!
//! ```text
//! point {x, y}, a warp reads x           | = sector, x y = fields
//!   AoS  lane i -> a[2i]      |xyxyxyxy|xyxyxyxy| ... |xyxyxyxy|     8 sectors,  50 % used
//!   SoA  lane i -> x[i]       |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|  4 sectors, 100 % used
//! particle of 7 fields of 4 bytes, a warp reads field f
//!   AoS  lane i -> a[7i + f]  32 x 28 B / 32 B = 28 sectors, and again for each of the 7 fields
//!   SoA  lane i -> f[i]       32 x  4 B / 32 B =  4 sectors for each field
//! ```
//!
//! The variants do three tasks: scale one field, add both fields, compute the energy of a particle.
//! Compare times within a task only.
//!
//! 1. `one_field_aos`. The counter shows 8 sectors per load; the y in them are not used. Per
//!    element 8 bytes are read and 4 written.
//! 2. `one_field_soa`. The idea: keep each field in an array of its own. It costs a different
//!    layout of the data, which the whole program has to share. The counter shows 4 sectors, so the
//!    load is [coalesced]: 4 bytes are read and 4 written, 8 instead of 12. What remains: one word
//!    per lane, too few [bytes in flight].
//! 3. `both_aos`. Now y is used as well. The counter still shows 8 sectors, for two loads, but
//!    device memory delivers each sector once: the second load finds it in the [L1 cache].
//! 4. `both_vectorized` loads x and y with one 8-byte load, a [vectorized access]. It costs an
//!    alignment of 8 bytes. It has 8 sectors in one request instead of two.
//! 5. `both_soa` has 4 sectors for each of its two loads: 8 for the same 64 words. There is nothing
//!    left to save, because every byte of both layouts is used.
//! 6. `particle_aos` and `particle_soa`. Seven words are not a size that one load can fetch, so
//!    there are seven loads. In AoS each of them touches all 28 sectors, 7 x 28 = 196, against
//!    7 x 4 = 28 in SoA. But 6 of 7 visits to a sector end in L1. Device memory moves the same
//!    bytes, and it is the limit.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `one_field_aos` | x of each point is used, from an array of structures | 8 | 4 | device memory, half of what it reads unused |
//! | `one_field_soa` | each field is in an array of its own | 4 | 4 | bytes in flight |
//! | `both_aos` | x and y are used, from an array of structures again | 8 | 4 | bytes in flight |
//! | `both_vectorized` | x and y with one 8-byte load | 8 | 4 | bytes in flight |
//! | `both_soa` | each field is in an array of its own | 4 | 4 | bytes in flight |
//! | `particle_aos` | seven fields are used, from an array of structures | 28 | 4 | device memory |
//! | `particle_soa` | each field is in an array of its own | 4 | 4 | device memory |
//!
//! Expected: `one_field_soa` (50.59 us) gains over `one_field_aos` (57.41 us), but less than 8 of
//! 12 bytes suggest, because it waits for its few bytes in flight. `both_aos` (57.57 us),
//! `both_vectorized` (57.47 us) and `both_soa` (60.35 us) are close together. The second has half
//! the requests of the first and the same time, so requests are not the limit. `particle_aos`
//! (122.6 us) equals `particle_soa` (122.7 us).
//!
//! The layouts in CUDA C++:
//!
//! ```cuda
//! struct Point { float x, y; };                      // array of structures
//! target[i] = points[i].x + points[i].y;             // two loads of 4 bytes
//! float2 p = ((const float2 *)points)[i];            // one load of 8 bytes; Rust: .cast::<F32x2>()
//! target[i] = fields[i] + fields[n + i];             // structure of arrays: all x first, then all y
//! ```
//!
//! Common misconception: "a structure of arrays is always faster". It saves bytes only where fields
//! are not used. Where all fields are used, both layouts move the same bytes from device memory.
//!
//! Questions:
//! - Why does `particle_aos` touch 28 sectors per load? Neighbouring lanes are 28 bytes apart, so
//!   the 32 lanes of a load span 32 x 28 B = 896 B, which are 28 sectors, and a lane lands in each
//!   of them.
//! - When do those 28 sectors matter? When L1 cannot hold them until the next field is read: with
//!   much larger structures, or when much else happens between the loads.
//! - Which layout to choose? SoA, if some kernels use only some of the fields. AoS with one
//!   vectorized load, if all kernels use all fields and the structure has 8 or 16 bytes.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `one_field_aos` | 57.41 | 2338 | 55 | 1.00 |
//! | `one_field_soa` | 50.59 | 2653 | 62 | 1.13 |
//! | `both_aos` | 57.57 | 3497 | 82 | 1.00 |
//! | `both_vectorized` | 57.47 | 3503 | 82 | 1.00 |
//! | `both_soa` | 60.35 | 3336 | 78 | 0.95 |
//! | `particle_aos` | 122.6 | 4378 | 102 | 0.47 |
//! | `particle_soa` | 122.7 | 4376 | 102 | 0.47 |
//! | *nvcc particle_aos* | 122.7 | 4376 | 102 | 0.47 |
//! | *nvcc particle_soa* | 122.5 | 4383 | 102 | 0.47 |
//! <!-- /measured -->
//!
//! Preconditions: buffers aligned to 8 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; CUDA C++ Programming
//! Guide, "Device Memory Accesses".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::prelude::*;
use cuda_std::vector::F32x2;

pub const THREADS_PER_BLOCK: u32 = 256;
/// The factor by which the variants of one field multiply: a power of two, so that nothing is rounded.
pub const FACTOR: f32 = 4.0;
/// Fields of a point: x, y.
const POINT: usize = 2;
/// Fields of a particle: position x, y, z; velocity x, y, z; mass.
const PARTICLE: usize = 7;

/// The energy of a particle on a spring: mass / 2 * (velocity^2 + position^2).
#[inline(always)]
fn energy([x, y, z, u, v, w, mass]: [f32; PARTICLE]) -> f32 {
    mass * 0.5 * (x * x + y * y + z * z + u * u + v * v + w * w)
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `points` valid for `2 * n` f32, `target` for `n`, not overlapping.
#[kernel]
pub unsafe fn aos_soa_one_field_aos(points: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `points` holds 2 n elements, `target` n (launch contract).
        unsafe { *target.add(i) = FACTOR * *points.add(POINT * i) };
    }
}

/// # Safety
/// - As for [`aos_soa_one_field_aos`].
#[kernel]
pub unsafe fn aos_soa_one_field_soa(fields: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `fields` holds 2 n elements, `target` n (launch contract).
        unsafe { *target.add(i) = FACTOR * *fields.add(i) };
    }
}

/// # Safety
/// - As for [`aos_soa_one_field_aos`].
#[kernel]
pub unsafe fn aos_soa_both_aos(points: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `points` holds 2 n elements, `target` n (launch contract).
        unsafe { *target.add(i) = *points.add(POINT * i) + *points.add(POINT * i + 1) };
    }
}

/// # Safety
/// - As for [`aos_soa_one_field_aos`], and `points` 8-byte aligned.
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

/// # Safety
/// - As for [`aos_soa_one_field_aos`].
#[kernel]
pub unsafe fn aos_soa_both_soa(fields: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let (i, n) = (i as usize, n as usize);
        // SAFETY: i < n; `fields` holds 2 n elements, `target` n (launch contract).
        unsafe { *target.add(i) = *fields.add(i) + *fields.add(n + i) };
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `particles` valid for `7 * n` f32, `target` for `n`, not overlapping.
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

/// # Safety
/// - As for [`aos_soa_particle_aos`].
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
