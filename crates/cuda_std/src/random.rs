//! Random numbers: Philox4x32-10, which makes any part of its sequence from a counter. Beyond rust-cuda.
//!
//! Each thread takes a subsequence of its own, so that a launch of any shape is reproducible. Seed, subsequence and offset
//! mean what they mean to cuRAND's `curand_init` for `curandStatePhilox4_32_10_t`, and the words, uniform `f32` and uniform
//! `f64` are bit for bit those of cuRAND. It is no generator for secrets.
//!
//! | | interval |
//! |---|---|
//! | [`uniform_f32`] | above 0.0, up to and with 1.0; multiples of 2^-32, rounded |
//! | [`uniform_f64`] | above 0.0, up to and with 1.0; multiples of 2^-53, plus 2^-54 |
//! | [`normal_f32`], [`normal_f64`] | mean 0, deviation 1, by Box and Muller: at most 6.7 and 8.7 from 0 |
//!
//! Sources: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3"; cuRAND's documentation.
//!
//! ```
//! use cuda_std::random::Philox;
//! let mut random = Philox::new(42, 7, 0); // the subsequence of thread 7
//! let x = random.next_f32();
//! assert!(x > 0.0 && x <= 1.0);
//! ```

use crate::GpuFloat;

/// Multipliers and increments of the key, of the paper.
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: u32 = 10;

/// Four random words of a counter and a key.
#[inline(always)]
#[must_use]
pub const fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = counter;
    let [mut low, mut high] = key;
    let mut round = 0;
    while round < ROUNDS {
        let first = MULTIPLIERS[0] as u64 * a as u64;
        let second = MULTIPLIERS[1] as u64 * c as u64;
        (a, c) = ((second >> 32) as u32 ^ b ^ low, (first >> 32) as u32 ^ d ^ high);
        (b, d) = (second as u32, first as u32);
        (low, high) = (low.wrapping_add(WEYL[0]), high.wrapping_add(WEYL[1]));
        round += 1;
    }
    [a, b, c, d]
}

/// A sequence of random numbers, 24 to 48 bytes of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Philox {
    key: [u32; 2],
    counter: u128,
    /// Words of the counter that are left, the next one first.
    words: [u32; 4],
    /// Words of the counter that were given out, below 4.
    used: u32,
}

impl Philox {
    /// The subsequence of a seed, each of 2^66 words, from the word number `offset` on.
    #[inline(always)]
    #[must_use]
    pub const fn new(seed: u64, subsequence: u64, offset: u64) -> Self {
        let counter = (subsequence as u128) << 64 | (offset / 4) as u128;
        let key = [seed as u32, (seed >> 32) as u32];
        let mut random = Philox { key, counter, words: philox(split(counter), key), used: 0 };
        // No loop, which would put the words into local memory.
        if offset & 1 == 1 {
            random.advance();
        }
        if offset & 2 == 2 {
            random.advance();
            random.advance();
        }
        random
    }

    /// The next word. cuRAND's `curand`.
    #[inline(always)]
    pub const fn next_u32(&mut self) -> u32 {
        let word = self.words[0];
        self.advance();
        if self.used == 4 {
            self.counter = self.counter.wrapping_add(1);
            self.words = philox(split(self.counter), self.key);
            self.used = 0;
        }
        word
    }

    /// Moves the next word to the front. An index instead would put the words into local memory.
    #[inline(always)]
    const fn advance(&mut self) {
        self.words = [self.words[1], self.words[2], self.words[3], 0];
        self.used += 1;
    }

    /// The next two words, the lower one first.
    #[inline(always)]
    pub const fn next_u64(&mut self) -> u64 {
        let low = self.next_u32();
        (self.next_u32() as u64) << 32 | low as u64
    }

    /// The next number of [`uniform_f32`]. cuRAND's `curand_uniform`.
    #[inline(always)]
    pub fn next_f32(&mut self) -> f32 {
        uniform_f32(self.next_u32())
    }

    /// The next number of [`uniform_f64`], of two words. cuRAND's `curand_uniform2_double`, one by one.
    #[inline(always)]
    pub fn next_f64(&mut self) -> f64 {
        let low = self.next_u32();
        uniform_f64([low, self.next_u32()])
    }

    /// The next two numbers of [`normal_f32`].
    #[inline(always)]
    pub fn next_normals(&mut self) -> [f32; 2] {
        let first = self.next_u32();
        normal_f32([first, self.next_u32()])
    }
}

/// The words of a counter, the lowest first.
#[inline(always)]
const fn split(counter: u128) -> [u32; 4] {
    [counter as u32, (counter >> 32) as u32, (counter >> 64) as u32, (counter >> 96) as u32]
}

/// A number above 0 and at most 1.
#[inline(always)]
#[must_use]
pub fn uniform_f32(word: u32) -> f32 {
    const UNIT: f32 = 1.0 / 4_294_967_296.0;
    GpuFloat::mul_add(word as f32, UNIT, UNIT / 2.0)
}

/// A number above 0 and at most 1, of 53 bits.
#[inline(always)]
#[must_use]
pub fn uniform_f64([low, high]: [u32; 2]) -> f64 {
    const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0;
    let bits = u64::from(low) ^ u64::from(high) << 21;
    GpuFloat::mul_add(bits as f64, UNIT, UNIT / 2.0)
}

/// Two independent numbers of the normal distribution, by Box and Muller: the sine's and the cosine's.
#[inline(always)]
#[must_use]
pub fn normal_f32([radius, angle]: [u32; 2]) -> [f32; 2] {
    const TURN: f32 = core::f32::consts::TAU / 4_294_967_296.0;
    let radius = GpuFloat::sqrt(-2.0 * GpuFloat::ln(uniform_f32(radius)));
    let (sine, cosine) = GpuFloat::sin_cos(GpuFloat::mul_add(angle as f32, TURN, TURN / 2.0));
    [radius * sine, radius * cosine]
}

/// Two independent numbers of the normal distribution as [`normal_f32`], of four words.
#[inline(always)]
#[must_use]
pub fn normal_f64([a, b, c, d]: [u32; 4]) -> [f64; 2] {
    let radius = GpuFloat::sqrt(-2.0 * GpuFloat::ln(uniform_f64([a, b])));
    let angle = core::f64::consts::TAU * uniform_f64([c, d]);
    let (sine, cosine) = GpuFloat::sin_cos(angle);
    [radius * sine, radius * cosine]
}
