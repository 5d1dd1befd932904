//! Launches of the kernels of `halves`: the host computes the same by the `half` crate, and fused operations exactly.

use super::launch::{Launch, per_thread};
use crate::kernels::{THREADS, halves};
use bytemuck::NoUninit;
use cuda_std::float::{Bf16x2, F16x2};
use cuda_std::kernel::Kernel;
use cuda_std::{GpuHalf, bf16, f16};

/// Numbers of all magnitudes, with zeros and infinities, but no NaN: which one comes out may differ.
fn numbers(seed: u32) -> Vec<u16> {
    per_thread(|tid| match (tid + seed) % 16 {
        0 => 0x0000,
        1 => 0x8000,
        2 => 0x0001,
        3 => 0x83ff,
        4 if seed == 1 => 0x7c00,
        _ => {
            let bits = (tid * 0x9e37 + seed * 0x3c6d) as u16;
            // Around one, where sums cancel.
            0x3400 | (bits & 0x8fff)
        }
    })
}

/// A launch on two buffers of 16-bit floats, or of pairs of them.
fn two<F, T: Copy, R: NoUninit>(
    kernel: Kernel<F>,
    of_bits: impl Fn(u16, u16) -> T,
    result: impl Fn(T, T) -> R,
) -> Launch {
    let (left, right) = (numbers(1), numbers(2));
    let size = size_of::<T>();
    let element = |bits: &[u16], at: usize| of_bits(bits[at], bits[(at + 7) % bits.len()]);
    let bytes = |bits: &[u16]| -> Vec<u8> {
        (0..bits.len())
            .flat_map(|at| {
                let pair = u32::from(bits[at]) | u32::from(bits[(at + 7) % bits.len()]) << 16;
                pair.to_le_bytes().into_iter().take(size)
            })
            .collect()
    };
    let expected: Vec<R> =
        (0..left.len()).map(|at| result(element(&left, at), element(&right, at))).collect();
    Launch::of(kernel).reads(&bytes(&left)).reads(&bytes(&right)).writes(&expected)
}

/// A launch that adds integers, exact in both formats in any order, to four numbers, and subtracts them from the fourth
/// of five.
fn sums<F>(kernel: Kernel<F>, integers: &[f32], bits: impl Fn(f32) -> u16) -> Launch {
    let source: Vec<u16> = integers.iter().map(|&x| bits(x)).collect();
    let sum: f32 = integers.iter().sum();
    let results = [sum, sum, sum, -sum, sum].map(bits);
    Launch::of(kernel).reads(&source).changes(&[0_u16; 5], &results)
}

pub(super) fn launches() -> Vec<Launch> {
    let half = |bits: u16, _: u16| f16::from_bits(bits);
    let brain = |bits: u16, _: u16| bf16::from_bits(bits);
    let halves2 = |x: u16, y: u16| F16x2::new(f16::from_bits(x), f16::from_bits(y));
    let brains2 = |x: u16, y: u16| Bf16x2::new(bf16::from_bits(x), bf16::from_bits(y));
    let integers = per_thread(|tid| (tid % 5) as f32 - 1.0);
    let half_of = |&x: &f32| F16x2::new(f16::from_f32(x), f16::from_f32(0.5));
    let pairs: Vec<F16x2> = integers.iter().map(half_of).collect();
    let one = bf16::ONE;
    let brain_pairs = vec![Bf16x2::new(one, -one); THREADS as usize];
    let (mut sum, mut difference) = (F16x2::default(), F16x2::default());
    for &pair in &pairs {
        (sum, difference) = (sum + pair, difference - pair);
    }
    let (mut brain_sum, mut brain_difference) = (Bf16x2::default(), Bf16x2::default());
    for &pair in &brain_pairs {
        (brain_sum, brain_difference) = (brain_sum + pair, brain_difference - pair);
    }
    vec![
        two(halves::f16_add, half, |a, b| (a + b).to_bits()),
        two(halves::f16_sub, half, |a, b| (a - b).to_bits()),
        two(halves::f16_mul, half, |a, b| (a * b).to_bits()),
        two(halves::f16_div, half, |a, b| (a / f16::from_bits(b.to_bits() | 1)).to_bits()),
        two(halves::f16_neg, half, |a, b| if b > f16::ZERO { -a } else { a.abs() }.to_bits()),
        two(halves::f16_mul_add, half, |a, b| a.mul_add(b, f16::ONE).to_bits()),
        two(halves::f16_less, half, |a, b| u32::from(a < b)),
        two(halves::f16_max, half, |a, b| a.max(b).to_bits()),
        two(halves::f16_in_f32, half, |a, b| (f16::from_f32(a.to_f32() + 0.1) + b).to_bits()),
        two(halves::bf16_add, brain, |a, b| (a + b).to_bits()),
        two(halves::bf16_sub, brain, |a, b| (a - b).to_bits()),
        two(halves::bf16_mul, brain, |a, b| (a * b).to_bits()),
        two(halves::bf16_mul_add, brain, |a, b| a.mul_add(b, bf16::ONE).to_bits()),
        two(halves::bf16_less, brain, |a, b| u32::from(a < b)),
        two(halves::bf16_in_software, brain, |a, b| (a + b).mul_add(a, b).to_bits()),
        two(halves::f16x2_add, halves2, |a, b| a + b),
        two(halves::f16x2_sub, halves2, |a, b| a - b),
        two(halves::f16x2_mul, halves2, |a, b| -(a * b)),
        two(halves::f16x2_mul_add, halves2, |a, b| a.mul_add(b, F16x2::splat(f16::ONE))),
        two(halves::bf16x2_add, brains2, |a, b| a + b),
        two(halves::bf16x2_sub, brains2, |a, b| a - b),
        two(halves::bf16x2_mul, brains2, |a, b| a * b),
        two(halves::bf16x2_mul_add, brains2, |a, b| a.mul_add(b, Bf16x2::splat(bf16::ONE))),
        Launch::of(halves::atomic_f16x2)
            .reads(&pairs)
            .changes(&[F16x2::default(); 4], &[sum, sum, sum, difference]),
        Launch::of(halves::atomic_bf16x2)
            .reads(&brain_pairs)
            .changes(&[Bf16x2::default(); 4], &[brain_sum, brain_sum, brain_sum, brain_difference]),
        sums(halves::atomic_f16, &integers, |sum| f16::from_f32(sum).to_bits()),
        sums(halves::atomic_bf16, &integers, |sum| bf16::from_f32(sum).to_bits()),
    ]
}
