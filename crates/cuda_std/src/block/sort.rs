use super::{Block, Partials};
use core::mem::MaybeUninit;
use core::ops::Range;

/// Bits of a key that a pass sorts by.
const DIGIT_BITS: u32 = 4;
/// Words with counts: two digits share one, as halves.
const WORDS: usize = 1 << (DIGIT_BITS - 1);
/// Words that a thread scans. It is odd, so that the threads of a warp read different banks.
const SCANNED: usize = WORDS + 1;

/// A number by which [`Block::sort`] can sort: integers, and floats in the order of their bits.
///
/// Floats come in IEEE 754's total order: -0.0 before 0.0, a NaN with a sign first of all, one without a sign last.
pub trait Key: Copy {
    /// Returns bits in the order of the numbers.
    #[doc(hidden)]
    fn ordered_bits(self) -> u64;
}

macro_rules! keys {
    ($($kind:ident $bits:ident = $ordered:expr;)*) => {
        $(
            impl Key for $kind {
                #[inline(always)]
                fn ordered_bits(self) -> u64 {
                    let ordered: fn($kind) -> $bits = $ordered;
                    ordered(self) as u64
                }
            }
        )*
    };
}

keys! {
    u8 u8 = |key| key;
    u16 u16 = |key| key;
    u32 u32 = |key| key;
    u64 u64 = |key| key;
    i8 u8 = |key| key as u8 ^ 1 << 7;
    i16 u16 = |key| key as u16 ^ 1 << 15;
    i32 u32 = |key| key as u32 ^ 1 << 31;
    i64 u64 = |key| key as u64 ^ 1 << 63;
    f32 u32 = |key| key.to_bits() ^ (((key.to_bits() as i32) >> 31) as u32 | 1 << 31);
    f64 u64 = |key| key.to_bits() ^ (((key.to_bits() as i64) >> 63) as u64 | 1 << 63);
}

/// Counts of the digits of each thread's keys, and sums of the warps.
#[repr(C)]
#[derive(Clone, Copy)]
struct Ranking<const THREADS: usize> {
    counts: [[u32; THREADS]; SCANNED],
    partials: Partials<u32>,
}

/// Shared memory of a sort of keys `K`, or of keys with values `V`.
#[repr(C)]
pub union Sort<K: Copy, const THREADS: usize, const ITEMS: usize, V: Copy = K> {
    ranking: MaybeUninit<Ranking<THREADS>>,
    keys: MaybeUninit<[[K; THREADS]; ITEMS]>,
    values: MaybeUninit<[[V; THREADS]; ITEMS]>,
}

impl<const THREADS: usize> Block<THREADS> {
    /// Sorts the keys of all threads in blocked order, ascending and stable, by the bits of the range: `0..32` of an `f32`.
    ///
    /// Each pass of 4 bits has 6 barriers. Descending is ascending by the complement: of an integer, `!key`.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    /// - Lanes: the range is the same in all threads.
    #[inline(always)]
    pub unsafe fn sort<K: Key, const ITEMS: usize>(
        self,
        shared: *mut Sort<K, THREADS, ITEMS>,
        keys: &mut [K; ITEMS],
        bits: Range<u32>,
    ) {
        let mut from = bits.start;
        while from < bits.end {
            let width = DIGIT_BITS.min(bits.end - from);
            // SAFETY: the caller's contract; a barrier stands between the uses of the shared memory.
            unsafe {
                let ranks = self.ranks(shared.cast(), keys, from, width);
                self.sync();
                self.scatter(shared.cast(), keys, &ranks);
                from += DIGIT_BITS;
                if from < bits.end {
                    self.sync();
                }
            }
        }
    }

    /// [`Self::sort`] of keys, each of which takes its value along.
    ///
    /// # Safety
    /// - As for [`Self::sort`].
    #[inline(always)]
    pub unsafe fn sort_pairs<K: Key, V: Copy, const ITEMS: usize>(
        self,
        shared: *mut Sort<K, THREADS, ITEMS, V>,
        keys: &mut [K; ITEMS],
        values: &mut [V; ITEMS],
        bits: Range<u32>,
    ) {
        let mut from = bits.start;
        while from < bits.end {
            let width = DIGIT_BITS.min(bits.end - from);
            // SAFETY: the caller's contract; a barrier stands between the uses of the shared memory.
            unsafe {
                let ranks = self.ranks(shared.cast(), keys, from, width);
                self.sync();
                self.scatter::<K, ITEMS>(shared.cast(), keys, &ranks);
                self.sync();
                self.scatter::<V, ITEMS>(shared.cast(), values, &ranks);
                from += DIGIT_BITS;
                if from < bits.end {
                    self.sync();
                }
            }
        }
    }

    /// The places of the keys in the order of `width` bits, equal ones in the order they have.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    unsafe fn ranks<K: Key, const ITEMS: usize>(
        self,
        shared: *mut Ranking<THREADS>,
        keys: &[K; ITEMS],
        from: u32,
        width: u32,
    ) -> [u32; ITEMS] {
        const { assert!(THREADS * ITEMS < 1 << 16, "a block sorts fewer than 65,536 keys") };
        let rank = self.rank();
        let counts = shared.cast::<u32>();
        let mut ranks = [0; ITEMS];
        // SAFETY: the caller's contract. A thread counts in its own column, and scans words of its own between barriers.
        unsafe {
            for word in 0..SCANNED {
                counts.add(word * THREADS + rank).write(0);
            }
            // Half of a word, by digit: the low halves have the lower digits.
            let count = |key: K| -> *mut u16 {
                let digit = (key.ordered_bits() >> from) as u32 & ((1 << width) - 1);
                let (word, half) = (digit % WORDS as u32, digit / WORDS as u32);
                let halves = (word * THREADS as u32 + rank as u32) * 2 + half;
                counts.cast::<u16>().add(halves as usize)
            };
            for (key, rank) in keys.iter().zip(&mut ranks) {
                let count = count(*key);
                let before = count.read();
                count.write(before + 1);
                *rank = u32::from(before);
            }
            self.sync();
            let mut words = [0_u32; SCANNED];
            let mut sum = 0_u32;
            for (nth, word) in words.iter_mut().enumerate() {
                *word = counts.add(rank * SCANNED + nth).read();
                sum += *word;
            }
            let partials = &raw mut (*shared).partials;
            let (before, total) = self.scan_by_warps(partials, sum);
            // The counts of the low halves come before those of the high ones.
            let mut before = before + (total << 16);
            for (nth, word) in words.iter().enumerate() {
                counts.add(rank * SCANNED + nth).write(before);
                before += *word;
            }
            self.sync();
            for (key, rank) in keys.iter().zip(&mut ranks) {
                *rank += u32::from(count(*key).read());
            }
        }
        ranks
    }
}
