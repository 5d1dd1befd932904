use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An allocation, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First address.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// A name for messages, empty when none was given.
    pub label: String,
    /// Mapped host memory rather than an allocation of its own.
    pub is_mapped: bool,
}

/// Alignment of every allocation: `cuMemAlloc` promises 256, and textures of linear memory need 512.
pub(crate) const ALIGNMENT: u64 = 512;
/// Alignment of an allocation that fills a page of so many bytes, as the driver of a GPU aligns it: programs that divide such
/// memory into pieces, as Taichi does, count on it.
pub(crate) const PAGE: u64 = 2 << 20;
/// Zeroed bytes that the operating system only commits when they are touched.
pub(crate) struct Zeroed {
    start: *mut u8,
    layout: Layout,
    aligned: *mut u8,
}

impl Zeroed {
    pub fn new(bytes: u64) -> Option<Zeroed> {
        // `alloc_zeroed` commits lazily only for small alignments, hence the manual alignment.
        // Whole words: the executor's atomics may be wider than the kernel's accesses.
        let size =
            usize::try_from(bytes.checked_next_multiple_of(8)?.checked_add(ALIGNMENT)?).ok()?;
        let layout = Layout::from_size_align(size, 8).ok()?;
        // SAFETY: the layout's size is at least ALIGNMENT, so it is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return None;
        }
        let skip = (start as u64).next_multiple_of(ALIGNMENT) - start as u64;
        // SAFETY: `skip` < ALIGNMENT, and the layout has ALIGNMENT bytes more than asked for.
        let aligned = unsafe { start.add(skip as usize) };
        Some(Zeroed { start, layout, aligned })
    }

    pub fn pointer(&self) -> *mut u8 {
        self.aligned
    }
}

impl Drop for Zeroed {
    fn drop(&mut self) {
        // SAFETY: `start` came from `alloc_zeroed` with this layout and is freed only here.
        unsafe { dealloc(self.start, self.layout) };
    }
}

/// One range of device addresses and the bytes behind it.
pub(crate) struct Region {
    pub base: u64,
    pub bytes: u64,
    pub pointer: *mut u8,
    pub owner: Option<Zeroed>,
    pub label: String,
    /// Constant memory: kernels do not write it.
    pub is_constant: bool,
    /// One bit per byte, in 64-bit words: has it been written?
    pub initialized: Option<Zeroed>,
}

/// The earlier content of a range of a region.
pub(crate) struct Saved {
    offset: usize,
    bytes: Vec<u8>,
    pub initialized: Vec<u64>,
}

// SAFETY: the pointer is either owned, or its owner promised in `Memory::map` that it may be used
// from any thread. Running kernels access the bytes only through the launch's `AtomicGranularity`.
unsafe impl Send for Region {}
// SAFETY: as above; access during a launch is atomic and of one size, all other access either has
// `&mut Memory` or reads while no launch runs.
unsafe impl Sync for Region {}

impl Region {
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        address >= self.base
            && address - self.base <= self.bytes
            && bytes <= self.bytes - (address - self.base)
    }

    /// Host memory that somebody else owns.
    pub fn is_mapped(&self) -> bool {
        self.owner.is_none() && !self.is_gap()
    }

    /// Returns it as its owner sees it.
    pub fn outline(&self) -> Allocation {
        Allocation {
            address: self.base,
            bytes: self.bytes,
            label: self.label.clone(),
            is_mapped: self.is_mapped(),
        }
    }

    /// Returns what is left where a region was freed.
    pub fn gap(base: u64) -> Region {
        let (pointer, owner) = (std::ptr::null_mut(), None);
        Region {
            base,
            bytes: 0,
            pointer,
            owner,
            label: String::new(),
            is_constant: false,
            initialized: None,
        }
    }

    /// Returns whether there is no region.
    pub fn is_gap(&self) -> bool {
        self.pointer.is_null()
    }

    /// The word of initialized bits of the 64 bytes that hold an offset.
    #[inline(always)]
    fn initialized_word(&self, offset: u64) -> Option<&AtomicU64> {
        let words = self.initialized.as_ref()?.pointer().cast::<u64>();
        let word = words.wrapping_add((offset / 64) as usize);
        // SAFETY: the map has a word for every 64 bytes begun by the region, in which callers
        // keep; it lives as long as `self`, and all access to it is atomic.
        Some(unsafe { AtomicU64::from_ptr(word) })
    }

    /// The words of initialized bits of a range, each with the bits that stand for it.
    #[inline(always)]
    fn initialized_bits(&self, offset: u64, bytes: u64) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let end = offset + bytes;
        let mut at = offset;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let next = ((at / 64 + 1) * 64).min(end);
            let bits = (u64::MAX >> (64 - (next - at))) << (at % 64);
            let word = self.initialized_word(at)?;
            at = next;
            Some((word, bits))
        })
    }

    /// Returns whether a range was written, as far as that is tracked.
    #[inline(always)]
    pub fn is_initialized(&self, offset: u64, bytes: u64) -> bool {
        self.initialized_bits(offset, bytes).all(|(word, bits)| word.load(Relaxed) & bits == bits)
    }

    /// Marks a range as written.
    #[inline(always)]
    pub fn mark(&self, offset: u64, bytes: u64) {
        for (word, bits) in self.initialized_bits(offset, bytes) {
            if word.load(Relaxed) & bits != bits {
                word.fetch_or(bits, Relaxed);
            }
        }
    }

    /// Marks a byte as never written.
    pub fn unmark(&self, offset: u64) {
        self.unmark_all(offset, 1);
    }

    /// Marks a range as never written.
    pub fn unmark_all(&self, offset: u64, bytes: u64) {
        for (word, bits) in self.initialized_bits(offset, bytes) {
            word.fetch_and(!bits, Relaxed);
        }
    }

    /// Makes the content of a range undefined, in memory of which it was not tracked, too.
    pub fn discard(&mut self, offset: u64, bytes: u64) {
        if self.initialized.is_none() {
            self.initialized = Zeroed::new(self.bytes.div_ceil(64) * 8);
            self.mark(0, self.bytes);
        }
        self.unmark_all(offset, bytes);
    }

    /// Marks of a range what does not hold `value`, which stood where nobody had written, 64 bytes at a time.
    pub fn mark_changed(&self, offset: u64, bytes: u64, value: u8) {
        let mut at = offset;
        while at < offset + bytes {
            let next = ((at / 64 + 1) * 64).min(offset + bytes);
            if !self.is_initialized(at, next - at) && !self.holds_only(at, next - at, value) {
                self.mark(at, next - at);
            }
            at = next;
        }
    }

    /// Returns whether all bytes of a range are the same.
    pub fn holds_only(&self, offset: u64, bytes: u64, value: u8) -> bool {
        let start = self.pointer.wrapping_add(offset as usize);
        // SAFETY: callers keep in the region, whose bytes are valid; no launch runs while they ask, and the owner of
        // mapped memory does not write what the device uses.
        unsafe { std::slice::from_raw_parts(start, bytes as usize) }.iter().all(|it| *it == value)
    }

    /// The bytes of a range that were not written, as far as that is tracked.
    pub fn unwritten(&self, offset: u64, bytes: u64) -> u64 {
        let parts = self.initialized_bits(offset, bytes);
        parts.map(|(word, bits)| u64::from((!word.load(Relaxed) & bits).count_ones())).sum()
    }

    /// Marks of a range what was written of another.
    pub fn mark_as(&self, offset: u64, from: &Region, from_offset: u64, bytes: u64) {
        if from.is_initialized(from_offset, bytes) {
            return self.mark(offset, bytes);
        }
        for byte in 0..bytes {
            if from.is_initialized(from_offset + byte, 1) {
                self.mark(offset + byte, 1);
            } else {
                self.unmark(offset + byte);
            }
        }
    }

    /// Saves the bytes between two addresses.
    ///
    /// # Safety
    /// - Both lie in the region, the first is not above the second, and nobody writes between them meanwhile.
    pub unsafe fn save(&self, start: u64, end: u64) -> Saved {
        let offset = (start - self.base) as usize;
        // SAFETY: by the contract the range lies in the region, whose bytes are initialized, and is not written meanwhile.
        let held =
            unsafe { std::slice::from_raw_parts(self.pointer.add(offset), (end - start) as usize) };
        let bytes = held.to_vec();
        let words = (offset / 64..(offset + bytes.len()).div_ceil(64)).map(|word| {
            self.initialized_word(word as u64 * 64).map_or(0, |word| word.load(Relaxed))
        });
        Saved { offset, initialized: words.collect(), bytes }
    }

    /// Writes saved bytes back.
    ///
    /// # Safety
    /// - They were saved from this region, and nobody else accesses them meanwhile.
    pub unsafe fn restore(&self, saved: &Saved) {
        // SAFETY: by the contract the range was saved from this region, so it lies in it.
        let target = unsafe { self.pointer.add(saved.offset) };
        // SAFETY: `target` is valid for as many bytes as were saved from there, and nobody else accesses them.
        unsafe { target.copy_from(saved.bytes.as_ptr(), saved.bytes.len()) };
        for (index, bits) in saved.initialized.iter().enumerate() {
            if let Some(word) = self.initialized_word((saved.offset / 64 + index) as u64 * 64) {
                word.store(*bits, Relaxed);
            }
        }
    }
}
