//! Device memory under running workers: what makes their accesses sound.
//!
//! Workers run blocks that may race, as blocks do on a GPU. In Rust a race is defined only between
//! atomic accesses of one size to one place. So all workers of a launch use atomics of one size, the
//! launch's [`AtomicGranularity`]: a smaller access is a part of one granularity, a larger one is several. The size
//! follows from the kernel's instructions, so that kernels whose accesses all have one size, and
//! launches on one worker, touch memory as directly as the kernel does.

use crate::memory::Memory;
use crate::operation::{AsyncCopy, Operation, Space};
use crate::program::Program;
use crate::region::Region;
use crate::registers::LANES;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The size of a launch's atomics, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtomicGranularity(u32);

impl AtomicGranularity {
    /// Every access has its own size: only one worker may run.
    pub const EACH: AtomicGranularity = AtomicGranularity(0);

    /// The size for a program whose blocks run side by side.
    pub fn of(program: &Program) -> AtomicGranularity {
        AtomicGranularity::for_sizes(program.instructions.iter().filter_map(|i| size(&i.operation)))
    }

    /// Each size comes with whether the access must not be cut: atomics, and ordered accesses that hand values on.
    fn for_sizes(sizes: impl Iterator<Item = (u32, bool)>) -> AtomicGranularity {
        let (mut largest, mut smallest, mut whole) = (0, u32::MAX, 0);
        for (bytes, is_whole) in sizes {
            largest = largest.max(bytes);
            smallest = smallest.min(bytes);
            whole = whole.max(if is_whole { bytes } else { 0 });
        }
        // Stores below the granularity are expensive, and most are of four bytes.
        if largest <= smallest {
            AtomicGranularity(largest.max(1))
        } else {
            AtomicGranularity(whole.max(largest.min(4)))
        }
    }

    /// Returns whether all grains that hold a byte of a region belong to it.
    pub fn divides(self, memory: &Memory) -> bool {
        let granularity = self.0.max(1) as u64;
        (0..memory.region_count()).map(|index| memory.region(index)).all(|region| {
            !region.is_mapped()
                || region.base.is_multiple_of(granularity)
                    && region.bytes.is_multiple_of(granularity)
        })
    }

    /// Returns whether an access of this size is one atomic.
    #[inline(always)]
    pub fn is_one(self, bytes: u32) -> bool {
        self.0 == bytes || self.0 == 0
    }

    /// Reads 1, 2, 4 or 8 bytes.
    ///
    /// # Safety
    /// - `at` is aligned to `bytes`, and every granularity that holds one of the bytes is valid.
    /// - All threads that touch these grains at the same time do it through this granularity; with
    ///   [`AtomicGranularity::EACH`] there is no other.
    #[inline(always)]
    pub unsafe fn load(self, at: *mut u8, bytes: u32) -> u64 {
        if self.is_one(bytes) {
            // SAFETY: valid and aligned, by the contract.
            return unsafe { load(at, bytes) };
        }
        if bytes > self.0 {
            // SAFETY: the same contract.
            return unsafe { self.load_parts(at, bytes) };
        }
        let (granularity, shift) = self.around(at);
        // SAFETY: the granularity that holds the access is valid by the contract, and aligned.
        let value = unsafe { load(granularity, self.0) };
        value >> shift & field(bytes)
    }

    #[inline(never)]
    unsafe fn load_parts(self, at: *mut u8, bytes: u32) -> u64 {
        let parts = (0..bytes / self.0).rev();
        parts.fold(0, |value, part| {
            // SAFETY: `bytes` is a multiple of the granularity, so every part is one whole granularity of the access.
            let part = unsafe { load(at.add((part * self.0) as usize), self.0) };
            value << (8 * self.0) | part
        })
    }

    /// Writes the low 1, 2, 4 or 8 bytes of a value.
    ///
    /// # Safety
    /// - As for [`AtomicGranularity::load`].
    #[inline(always)]
    pub unsafe fn store(self, at: *mut u8, bytes: u32, value: u64) {
        if self.is_one(bytes) {
            // SAFETY: valid and aligned, by the contract.
            return unsafe { store(at, bytes, value) };
        }
        // SAFETY: the same contract.
        unsafe { self.store_parts(at, bytes, value) };
    }

    #[inline(never)]
    unsafe fn store_parts(self, at: *mut u8, bytes: u32, value: u64) {
        if bytes < self.0 {
            // SAFETY: the same contract.
            unsafe { self.update(at, bytes, |_| value) };
            return;
        }
        for part in 0..bytes / self.0 {
            // SAFETY: as in `load_parts`.
            let at = unsafe { at.add((part * self.0) as usize) };
            // SAFETY: as above.
            unsafe { store(at, self.0, value >> (8 * self.0 * part)) };
        }
    }

    /// One read-modify-write of 1, 2, 4 or 8 bytes, at most a granularity; gives what was there.
    ///
    /// # Safety
    /// - As for [`AtomicGranularity::load`].
    pub unsafe fn update(self, at: *mut u8, bytes: u32, f: impl Fn(u64) -> u64) -> u64 {
        if self.is_one(bytes) {
            // SAFETY: valid and aligned, by the contract.
            return unsafe { update(at, bytes, f) };
        }
        let (granularity, shift) = self.around(at);
        let field = field(bytes) << shift;
        let replace = |old: u64| old & !field | f((old & field) >> shift) << shift & field;
        // SAFETY: the granularity that holds the access is valid by the contract, and aligned.
        let old = unsafe { update(granularity, self.0, replace) };
        (old & field) >> shift
    }

    /// The granularity that holds an access smaller than it, and the bits before the access.
    fn around(self, at: *mut u8) -> (*mut u8, u32) {
        // A granularity is a power of two.
        let past = at.addr() & (self.0 as usize).wrapping_sub(1);
        (at.wrapping_sub(past), 8 * past as u32)
    }
}

/// All bits of so many bytes.
fn field(bytes: u32) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}

/// # Safety
/// - `at` is valid and aligned for `bytes` bytes, which others touch only by atomics of this size.
#[inline(always)]
unsafe fn load(at: *mut u8, bytes: u32) -> u64 {
    // SAFETY: the contract is that of `from_ptr`.
    unsafe {
        match bytes {
            1 => AtomicU8::from_ptr(at).load(Relaxed) as u64,
            2 => AtomicU16::from_ptr(at.cast()).load(Relaxed) as u64,
            4 => AtomicU32::from_ptr(at.cast()).load(Relaxed) as u64,
            _ => AtomicU64::from_ptr(at.cast()).load(Relaxed),
        }
    }
}

/// # Safety
/// - As for [`load`].
#[inline(always)]
unsafe fn store(at: *mut u8, bytes: u32, value: u64) {
    // SAFETY: the contract is that of `from_ptr`.
    unsafe {
        match bytes {
            1 => AtomicU8::from_ptr(at).store(value as u8, Relaxed),
            2 => AtomicU16::from_ptr(at.cast()).store(value as u16, Relaxed),
            4 => AtomicU32::from_ptr(at.cast()).store(value as u32, Relaxed),
            _ => AtomicU64::from_ptr(at.cast()).store(value, Relaxed),
        }
    }
}

/// # Safety
/// - As for [`load`].
#[inline(always)]
unsafe fn update(at: *mut u8, bytes: u32, f: impl Fn(u64) -> u64) -> u64 {
    macro_rules! update {
        ($atomic:ty, $word:ty) => {
            <$atomic>::from_ptr(at.cast())
                .fetch_update(Relaxed, Relaxed, |old| Some(f(old as u64) as $word))
                .unwrap_or_else(|old| old) as u64
        };
    }
    // SAFETY: the contract is that of `from_ptr`.
    unsafe {
        match bytes {
            1 => update!(AtomicU8, u8),
            2 => update!(AtomicU16, u16),
            4 => update!(AtomicU32, u32),
            _ => update!(AtomicU64, u64),
        }
    }
}

/// The size in which an operation touches device memory, with whether it must not be cut.
fn size(operation: &Operation) -> Option<(u32, bool)> {
    let is_device = |space| !matches!(space, Space::Shared | Space::Local | Space::Parameter);
    match operation {
        Operation::Load(access) | Operation::Store(access) if is_device(access.space) => {
            Some((access.bytes, access.strong))
        }
        Operation::Atomic(atomic) if is_device(atomic.space) => Some((atomic.t.bytes(), true)),
        Operation::Image(image) => image.surface_bytes().map(|bytes| (bytes, false)),
        Operation::AsyncCopy(_) => Some((AsyncCopy::STEP, false)),
        Operation::BulkCopy(copy) => Some((copy.step(), copy.reduce.is_some())),
        Operation::TensorCopy(_) => Some((8, false)),
        Operation::WmmaMove(fragment) => {
            let parts = fragment.moves.iter().map(|part| part.access.bytes);
            parts.min().map(|bytes| (bytes, false))
        }
        _ => None,
    }
}

/// Host pointers to what the active lanes of one access address.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub pointers: [*mut u8; LANES],
    pub granularity: AtomicGranularity,
}

impl Window {
    /// All lanes' addresses as pointers into one region; only those of active lanes are meaningful.
    #[inline(always)]
    pub fn new(region: &Region, all: &[u64; LANES], granularity: AtomicGranularity) -> Window {
        let pointers = std::array::from_fn(|lane| {
            region.pointer.wrapping_add((all[lane].wrapping_sub(region.base)) as usize)
        });
        Window { pointers, granularity }
    }

    /// Reads `bytes` (1, 2, 4 or 8) at `shift` bytes past a lane's address.
    ///
    /// # Safety
    /// - The lane is active in the mask that the window was made for, and `shift + bytes` is at most the access's
    ///   size, of which `bytes` and `shift` are fractions.
    #[inline(always)]
    pub unsafe fn read(&self, lane: usize, shift: u64, bytes: u32) -> u64 {
        // SAFETY: `Worker::window` checked that the whole access of an active lane lies in a
        // region and is aligned; regions agree with their addresses modulo 16. The grains of a
        // region are valid (`Zeroed` rounds up, and `threads` keeps to one worker where mapped
        // memory ends within a granularity), and all workers of a launch have the same granularity.
        unsafe { self.granularity.load(self.at(lane, shift), bytes) }
    }

    /// Writes the low `bytes` bytes of a value.
    ///
    /// # Safety
    /// - As for [`Window::read`].
    #[inline(always)]
    pub unsafe fn write(&self, lane: usize, shift: u64, bytes: u32, value: u64) {
        // SAFETY: as in `read`.
        unsafe { self.granularity.store(self.at(lane, shift), bytes, value) };
    }

    /// [`Window::read`] of what is one atomic.
    ///
    /// # Safety
    /// - As for [`Window::read`].
    /// - The granularity has this size, by [`AtomicGranularity::is_one`].
    #[inline(always)]
    pub unsafe fn read_one(&self, lane: usize, shift: u64, bytes: u32) -> u64 {
        // SAFETY: as in `read`, where the access is a granularity.
        unsafe { load(self.at(lane, shift), bytes) }
    }

    /// [`Window::write`] of what is one atomic.
    ///
    /// # Safety
    /// - As for [`Window::read_one`].
    #[inline(always)]
    pub unsafe fn write_one(&self, lane: usize, shift: u64, bytes: u32, value: u64) {
        // SAFETY: as in `read_one`.
        unsafe { store(self.at(lane, shift), bytes, value) };
    }

    #[inline(always)]
    fn at(&self, lane: usize, shift: u64) -> *mut u8 {
        self.pointers[lane].wrapping_add(shift as usize)
    }

    /// One read-modify-write, atomic against all other workers; gives what was there.
    ///
    /// # Safety
    /// - As for [`Window::read`].
    pub unsafe fn update(
        &self,
        lane: usize,
        shift: u64,
        bytes: u32,
        f: impl Fn(u64) -> u64,
    ) -> u64 {
        // SAFETY: as in `read`; no atomic of the program is larger than the granularity.
        unsafe { self.granularity.update(self.at(lane, shift), bytes, f) }
    }
}

#[cfg(test)]
mod tests {
    use super::AtomicGranularity;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn granularity(sizes: &[(u32, bool)]) -> u32 {
        AtomicGranularity::for_sizes(sizes.iter().copied()).0
    }

    #[test]
    fn a_kernel_with_one_size_uses_it() {
        for bytes in [1, 2, 4, 8] {
            assert_eq!(granularity(&[(bytes, false), (bytes, true)]), bytes);
        }
        assert_eq!(granularity(&[]), 1);
    }

    #[test]
    fn no_atomic_is_cut() {
        assert_eq!(granularity(&[(4, false), (8, false)]), 4);
        assert_eq!(granularity(&[(1, false), (2, false)]), 2);
        assert_eq!(granularity(&[(1, false), (4, true), (8, false)]), 4);
        assert_eq!(granularity(&[(4, true), (8, true)]), 8);
        assert_eq!(granularity(&[(2, true), (8, false)]), 4);
    }

    #[test]
    fn every_size_through_every_grain() {
        for granularity in [0, 1, 2, 4, 8].map(AtomicGranularity) {
            let mut words = [0u64; 4];
            let start: *mut u8 = words.as_mut_ptr().cast();
            for bytes in [1u32, 2, 4, 8] {
                for at in (0..32).step_by(bytes as usize) {
                    let value = 0x1122_3344_5566_7788 * u64::from(bytes) + at;
                    let field = u64::MAX >> (64 - 8 * bytes);
                    // SAFETY: the bytes lie in `words`, aligned, and no other thread knows them.
                    unsafe {
                        let pointer = start.add(at as usize);
                        let before: [u8; 32] = start.cast::<[u8; 32]>().read();
                        granularity.store(pointer, bytes, value);
                        assert_eq!(granularity.load(pointer, bytes), value & field);
                        if granularity.0 == 0 || bytes <= granularity.0 {
                            let old = granularity.update(pointer, bytes, |old| old.wrapping_add(5));
                            assert_eq!(old, value & field);
                            let sum = value.wrapping_add(5) & field;
                            assert_eq!(granularity.load(pointer, bytes), sum);
                        }
                        let after: [u8; 32] = start.cast::<[u8; 32]>().read();
                        let own = at as usize..at as usize + bytes as usize;
                        assert_eq!(before[..own.start], after[..own.start]);
                        assert_eq!(before[own.end..], after[own.end..]);
                    }
                }
            }
        }
    }

    /// Neighbours of one granularity that several threads write at once keep what they wrote.
    #[test]
    fn parts_of_a_grain_do_not_disturb_each_other() {
        struct Shared(*mut u8);
        // SAFETY: the threads below touch the memory through one granularity only.
        unsafe impl Sync for Shared {}
        impl Shared {
            fn at(&self, byte: usize) -> *mut u8 {
                self.0.wrapping_add(byte)
            }
        }
        let mut words = [0u64; 2];
        let shared = Shared(words.as_mut_ptr().cast());
        let failed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for (at, bytes) in [(0, 1), (1, 1), (2, 2), (4, 4), (8, 8)] {
                let (shared, failed) = (&shared, &failed);
                scope.spawn(move || {
                    for round in 0..20_000u64 {
                        let value = round & 0x7f;
                        // SAFETY: within the 16 bytes of `words`, aligned, and every thread uses
                        // this granularity.
                        let found = unsafe {
                            AtomicGranularity(4).store(shared.at(at), bytes, value);
                            AtomicGranularity(4).load(shared.at(at), bytes)
                        };
                        if found != value {
                            failed.store(true, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert!(!failed.into_inner());
    }
}
