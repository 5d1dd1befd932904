use super::launch::{Launch, per_thread};
use crate::kernels::{THREADS, atomics};
use bytemuck::Pod;
use cuda_std::kernel::Kernel;

/// A launch in which all threads apply an operation to one number; the order does not matter.
fn update<F, T: Pod>(
    kernel: Kernel<F>,
    start: T,
    element: impl Fn(u32) -> T,
    operation: impl Fn(T, T) -> T,
) -> Launch {
    let source = per_thread(element);
    let result = source.iter().fold(start, |number, &value| operation(number, value));
    Launch::of(kernel).reads(&source).changes(&[start], &[result])
}

/// A launch in which one thread copies a number.
fn copy<F, T: Pod>(kernel: Kernel<F>, value: T) -> Launch {
    Launch::of(kernel).reads(&[value]).writes(&[value])
}

pub(super) fn launches() -> Vec<Launch> {
    // Whole numbers, whose sums are exact.
    let f32s = |tid: u32| tid as f32 - 20.0;
    let f64s = |tid: u32| f64::from(tid) * 1e9 - 7.0;
    let u32s = |tid: u32| tid * 0x0101_0101;
    let i32s = |tid: u32| (tid * 29 % 64) as i32 - 30;
    let u64s = |tid: u32| u64::from(tid) << 35 | 1;
    let i64s = |tid: u32| (i64::from(tid * 29 % 64) - 30) << 33;
    let bits = |tid: u32| !(1_u32 << (tid % 32));
    let last = THREADS - 1;
    let add_u32 = u32::wrapping_add;
    let counts = |values: &[u32]| -> Vec<u32> {
        (0..16)
            .map(|bin| 100 + values.iter().filter(|&&value| value == bin).count() as u32)
            .collect()
    };
    let binned = per_thread(|tid| tid * tid % 16);
    let parity = per_thread(|tid| tid % 3);
    let even = parity.iter().filter(|&&value| value % 2 == 0).count() as u32;
    let mut launches = vec![
        update(atomics::device_add_f32, 1.0, f32s, |a, b| a + b),
        update(atomics::block_add_f32, 1.0, f32s, |a, b| a + b),
        update(atomics::system_add_f32, 1.0, f32s, |a, b| a + b),
        update(atomics::device_add_f64, 1.0, f64s, |a, b| a + b),
        update(atomics::block_add_f64, 1.0, f64s, |a, b| a + b),
        update(atomics::system_add_f64, 1.0, f64s, |a, b| a + b),
        update(atomics::device_add_i32, 5, i32s, i32::wrapping_add),
        update(atomics::block_add_i32, 5, i32s, i32::wrapping_add),
        update(atomics::system_add_i32, 5, i32s, i32::wrapping_add),
        update(atomics::device_add_u64, 5, u64s, u64::wrapping_add),
        update(atomics::block_add_u64, 5, u64s, u64::wrapping_add),
        update(atomics::system_add_u64, 5, u64s, u64::wrapping_add),
        update(atomics::device_add_i64, 5, i64s, i64::wrapping_add),
        update(atomics::block_add_i64, 5, i64s, i64::wrapping_add),
        update(atomics::system_add_i64, 5, i64s, i64::wrapping_add),
        update(atomics::sub_u32, 5, u32s, u32::wrapping_sub),
        update(atomics::sub_i64, 5, i64s, i64::wrapping_sub),
        update(atomics::sub_f32, 5.0, f32s, |a, b| a - b),
        update(atomics::sub_f64, 5.0, f64s, |a, b| a - b),
        update(atomics::and_u32, 0xffff_00f0, |tid| bits(tid.min(11)), |a, b| a & b),
        update(atomics::and_u64, u64::MAX, |tid| !(1_u64 << tid.min(40)), |a, b| a & b),
        update(atomics::or_i32, 0, |tid| 1 << (tid % 9), |a, b| a | b),
        update(atomics::xor_u32, 7, u32s, |a, b| a ^ b),
        update(atomics::xor_i64, 7, i64s, |a, b| a ^ b),
        update(atomics::min_u32, u32::MAX, |tid| i32s(tid) as u32, Ord::min),
        update(atomics::min_i32, i32::MAX, i32s, Ord::min),
        update(atomics::min_u64, u64::MAX, |tid| i64s(tid) as u64, Ord::min),
        update(atomics::min_i64, i64::MAX, i64s, Ord::min),
        update(atomics::max_u32, 0, |tid| i32s(tid) as u32, Ord::max),
        update(atomics::max_i32, i32::MIN, i32s, Ord::max),
        update(atomics::max_u64, 0, |tid| i64s(tid) as u64, Ord::max),
        update(atomics::max_i64, i64::MIN, i64s, Ord::max),
        // All threads store the same value, because the last one is not known.
        update(atomics::swap_u32, 1, |_| 12, |_, new| new),
        update(atomics::swap_f64, 1.0, |_| 12.5, |_, new| new),
        // The bits of a float: clearing the sign makes it positive.
        update(
            atomics::and_f32,
            -2.5,
            |_| f32::from_bits(0x7fff_ffff),
            |a, b| f32::from_bits(a.to_bits() & b.to_bits()),
        ),
        update(
            atomics::or_f64,
            2.5,
            |_| -0.0,
            |a: f64, b: f64| f64::from_bits(a.to_bits() | b.to_bits()),
        ),
        copy(atomics::device_relaxed, 1.25_f32),
        copy(atomics::device_acquire_release, 1_u64 << 40 | 3),
        copy(atomics::device_seq_cst, 77_u32),
        copy(atomics::block_acquire_release, 1.25_f64),
        copy(atomics::block_seq_cst, -77_i32),
        copy(atomics::system_acquire_release, -1.25_f32),
        copy(atomics::system_seq_cst, -77_i64),
        Launch::of(atomics::compare_exchange).changes(&[1_u32], &[1 + 3 * THREADS]),
        Launch::of(atomics::compare_exchange_f64)
            .changes(&[1.0_f64], &[2.0_f64.powi(THREADS as i32)]),
        Launch::of(atomics::shared_histogram)
            .reads(&binned)
            .changes(&[100_u32; 16], &counts(&binned)),
        Launch::of(atomics::unknown_space)
            .reads(&parity)
            .changes(&[10_u32, 0], &[10 + even, THREADS - even]),
        Launch::of(atomics::core_atomics)
            .changes(&[0_u32], &[THREADS])
            .changes(&[0_u32, 0], &[5, 0]),
        plain_functions(),
    ];
    for kernel in [
        atomics::device_add_u32,
        atomics::block_add_u32,
        atomics::system_add_u32,
        atomics::add_acquire,
        atomics::add_release,
        atomics::add_acq_rel,
        atomics::add_seq_cst,
        atomics::block_add_acq_rel,
        atomics::block_add_seq_cst,
        atomics::system_add_acq_rel,
        atomics::system_add_seq_cst,
    ] {
        launches.push(update(kernel, last, u32s, add_u32));
    }
    let stores = [1_u32, 2].map(|value| per_thread(|_| value)).concat();
    for kernel in [
        atomics::fence_block_acq_rel,
        atomics::fence_block_seq_cst,
        atomics::fence_device_release,
        atomics::fence_device_seq_cst,
        atomics::fence_system_acquire,
        atomics::fence_system_seq_cst,
        atomics::fence_relaxed,
    ] {
        launches.push(Launch::of(kernel).writes(&stores));
    }
    launches
}

/// The counter reaches the number of threads, the maximum of -9 and -5 is -5, 1.0 becomes 2.0, and 8 bytes become 9.
fn plain_functions() -> Launch {
    let words = |first: u64, second: i64, third: f32| -> Vec<u8> {
        [&first.to_le_bytes()[..], &second.to_le_bytes(), &third.to_le_bytes(), &[0; 4]].concat()
    };
    Launch::of(atomics::plain_functions)
        .changes(&[0_u32], &[THREADS])
        .changes(&words(0, -9, 1.0), &words(9, -5, 2.0))
}

/// The operations of a row of cells, in the kernel's order.
type Row<T> = [fn(T, T) -> T; atomics::ROW_OF_CELLS];

/// Three rows of cells, one for each scope, before and after all elements were applied to each cell.
fn rows<T: Pod>(start: T, elements: &[T], row: Row<T>) -> (Vec<T>, Vec<T>) {
    let cell = |operation: fn(T, T) -> T| elements.iter().fold(start, |a, &b| operation(a, b));
    (vec![start; 3 * row.len()], [row.map(cell); 3].concat())
}

/// Every cell of the table of operations, types and scopes.
pub(super) fn table() -> Launch {
    let elements = per_thread(|tid| tid * 29 % 64);
    let signed: Vec<i32> = elements.iter().map(|&value| value as i32 - 30).collect();
    let long: Vec<u64> = elements.iter().map(|&value| u64::from(value) << 33).collect();
    let signed_long: Vec<i64> = signed.iter().map(|&value| i64::from(value) << 33).collect();
    let float: Vec<f32> = elements.iter().map(|&value| value as f32).collect();
    let double: Vec<f64> = elements.iter().map(|&value| f64::from(value) * 1e9).collect();
    /// The operations that all integers have.
    macro_rules! integers {
        ($inc:expr, $dec:expr) => {
            [
                |a, b| a + b,
                |a, b| a - b,
                |_, _| 7,
                |a, b| a & b,
                |a, b| a | b,
                |a, b| a ^ b,
                |a, b| a + b,
                |a, b| a.min(b),
                |a, b| a.max(b),
                $inc,
                $dec,
            ]
        };
    }
    /// Those of floats; what has bits is done with their bits.
    macro_rules! floats {
        ($of_bits:expr) => {
            [
                |a, b| a + b,
                |a, b| a - b,
                |_, _| 7.0,
                |a, b| $of_bits(a.to_bits() & b.to_bits()),
                |a, b| $of_bits(a.to_bits() | b.to_bits()),
                |a, b| $of_bits(a.to_bits() ^ b.to_bits()),
                |a, b| a + b,
                |a, _| a,
                |a, _| a,
                |a, _| a,
                |a, _| a,
            ]
        };
    }
    let counters: Row<u32> =
        integers!(|a, _| if a >= 10 { 0 } else { a + 1 }, |a, _| if a == 0 || a > 10 {
            10
        } else {
            a - 1
        });
    let u32s = rows(100_000, &elements, counters);
    let i32s = rows(100, &signed, integers!(|a, _| a, |a, _| a));
    let u64s = rows(1 << 50, &long, integers!(|a, _| a, |a, _| a));
    let i64s = rows(100, &signed_long, integers!(|a, _| a, |a, _| a));
    let f32s = rows(100.0, &float, floats!(f32::from_bits));
    let f64s = rows(100.0, &double, floats!(f64::from_bits));
    Launch::of(atomics::table)
        .reads(&elements)
        .changes(&u32s.0, &u32s.1)
        .changes(&i32s.0, &i32s.1)
        .changes(&u64s.0, &u64s.1)
        .changes(&i64s.0, &i64s.1)
        .changes(&f32s.0, &f32s.1)
        .changes(&f64s.0, &f64s.1)
}

/// A block whose vectors are added to four vectors and to eight pairs.
pub(super) fn add_vectors() -> Launch {
    let element = |tid: u32| [tid, 2 * tid, 7, tid % 3].map(|value| value as f32);
    let source = per_thread(element);
    let sum = |tids: &dyn Fn(u32) -> bool, part: usize| -> f32 {
        (0..THREADS).filter(|tid| tids(*tid)).map(|tid| element(tid)[part]).sum()
    };
    let fours = (0..4).flat_map(|at| [0, 1, 2, 3].map(|part| sum(&|tid| tid % 4 == at, part)));
    let pairs = (0..8).flat_map(|at| [0, 3].map(|part| sum(&|tid| tid % 8 == at, part)));
    let (fours, pairs) = (fours.collect::<Vec<_>>(), pairs.collect::<Vec<_>>());
    Launch::of(atomics::add_vectors)
        .reads(&source)
        .changes(&[0.0_f32; 16], &fours)
        .changes(&[0.0_f32; 16], &pairs)
}
