//! The content of L2 from one launch to the next.
//!
//! A launch finds it as an [`L2`], and leaves it as its estimate says. A program may set a part of L2 aside. It holds what windows chose of the memory that was read, until it is reset, as long as all of
//! it fits; when more is asked of it than it holds, nothing is left, for the pieces evict each other in turn.
//!
//! The rest holds what the last kernels, fills and copies within the device have read and written, by the same rule: when
//! all of that no longer fits, only the last one's is left, and nothing if that alone does not fit. Copies to the device
//! over the bus displace nothing: they stay where L2 is still empty, as in a program that has just begun. Other copies over
//! the bus leave nothing. An H100 does so (`results/nvidia-h100/l2-left.csv`). Addresses are never given out twice, so what
//! was freed needs no care.
//!
//! Accesses outside of windows, and those that a window calls normal or streaming, share the rest of L2 alike.
//!
//! ```
//! use gpu_model::l2::L2Size;
//!
//! // A quarter of an H100's 50 MiB is set aside for windows.
//! let size = L2Size { bytes: 50 << 20, set_aside_bytes: (50 << 20) / 4 };
//! assert!(size.set_aside_bytes < size.bytes);
//! ```

use crate::estimate::{DramAtoms, L2, Window, dram_atom_bytes};
use std::ops::Range;
use std::sync::Arc;

/// The part of L2 that holds different memory: of an H100's 50 MiB, 28 that were read are all found again, of 30 two are
/// not, and of 48 none (`results/nvidia-h100/l2-left.csv`). Its two halves each keep what their multiprocessors ask for.
const ROOM: f64 = 28.0 / 50.0;

/// The part of L2 that copies over the bus fill: of an H100's 50 MiB, 23 of two uploads of 16 (`l2-left.csv`).
const COPIED: f64 = 23.0 / 50.0;

/// An access policy window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccessWindow {
    /// The first address, and the one behind the last.
    pub range: (u64, u64),
    /// Part of the accesses that is kept.
    pub ratio: f32,
}

/// The size of L2 in bytes, and how much of it is set aside.
#[derive(Debug, Clone, Copy)]
pub struct L2Size {
    /// All of it.
    pub bytes: u64,
    /// The part of it that is set aside.
    pub set_aside_bytes: u64,
}

impl L2Size {
    fn rest_bytes(self) -> u64 {
        self.bytes.saturating_sub(self.set_aside_bytes)
    }

    /// Returns how many bytes of different memory the rest holds, of work that stands for so many times as many.
    fn room_bytes(self, larger: f64) -> u64 {
        (self.rest_bytes() as f64 * ROOM / larger) as u64
    }
}

/// The content of L2.
#[derive(Debug, Default)]
pub struct L2Contents {
    /// In the part that is set aside.
    there: Arc<DramAtoms>,
    /// In the rest.
    left: Arc<DramAtoms>,
    /// The bytes of these.
    left_bytes: u64,
    /// Those of them that a copy over the bus left and no kernel has used since.
    copied: Arc<DramAtoms>,
    /// It has been full once, so that no copy over the bus finds room.
    is_full: bool,
}

impl L2Contents {
    /// L2 as a kernel with this window finds it, in work that stands for so many times as many bytes.
    pub fn found_by(&self, window: Option<AccessWindow>, size: L2Size, larger: f64) -> L2 {
        let set_aside_bytes = size.set_aside_bytes;
        let window = window.filter(|_| set_aside_bytes > 0);
        let room_bytes = size.room_bytes(larger);
        let has_room = self.left_bytes <= room_bytes;
        L2 {
            bytes: size.rest_bytes(),
            window: window.map(|AccessWindow { range: (start, end), ratio }| Window {
                range: start..end,
                ratio,
                set_aside_bytes,
            }),
            left: if has_room { Arc::clone(&self.left) } else { Arc::default() },
            left_bytes: if has_room { self.left_bytes } else { 0 },
            copied: if has_room { Arc::clone(&self.copied) } else { Arc::default() },
            room_bytes,
            there: Arc::clone(&self.there),
        }
    }

    /// Adds what a kernel read to what is kept, if it all fits into what is set aside.
    pub fn keep(&mut self, read: &DramAtoms, set_aside_bytes: u64) {
        let mut all = DramAtoms::clone(&self.there);
        for (page, pieces) in read {
            *all.entry(*page).or_default() |= pieces;
        }
        let fits = dram_atom_bytes(&all) <= set_aside_bytes + set_aside_bytes / 64;
        self.there = Arc::new(if fits { all } else { DramAtoms::new() });
    }

    /// Keeps nothing any more.
    pub fn reset(&mut self) {
        self.there = Arc::default();
    }

    /// The last work has used these pieces, if there was room for all of them; it stands for so many times as many bytes.
    pub fn leave(&mut self, last: Option<DramAtoms>, size: L2Size, larger: f64) {
        let room_bytes = size.room_bytes(larger);
        let last = last.map(|last| (dram_atom_bytes(&last), last));
        let Some((bytes, last)) = last.filter(|(bytes, _)| *bytes <= room_bytes) else {
            return self.empty();
        };
        self.add(&last);
        if !self.copied.is_empty() {
            let copied = Arc::make_mut(&mut self.copied);
            copied.retain(|page, pieces| {
                *pieces &= !last.get(page).copied().unwrap_or(0);
                *pieces != 0
            });
        }
        if self.left_bytes > room_bytes {
            self.empty();
            (self.left, self.left_bytes) = (Arc::new(last), bytes);
        }
    }

    fn add(&mut self, pieces: &DramAtoms) {
        let all = Arc::make_mut(&mut self.left);
        for (page, pieces) in pieces {
            let held = all.entry(*page).or_default();
            self.left_bytes += 64 * u64::from((pieces & !*held).count_ones());
            *held |= pieces;
        }
    }

    /// A copy over the bus writes these addresses: they stay as far as L2 has never been filled, by this copy either.
    pub fn copy_in(&mut self, range: Range<u64>, size: L2Size, larger: f64) {
        if (range.end - range.start) as f64 * larger > size.rest_bytes() as f64 {
            return self.empty();
        }
        let room_bytes = (size.rest_bytes() as f64 * COPIED / larger) as u64;
        let free_bytes = if self.is_full { 0 } else { room_bytes.saturating_sub(self.left_bytes) };
        let pieces = pieces(range.start..range.end.min(range.start + (free_bytes & !63)));
        self.add(&pieces);
        let copied = Arc::make_mut(&mut self.copied);
        pieces.into_iter().for_each(|(page, pieces)| *copied.entry(page).or_default() |= pieces);
    }

    /// As [`L2Contents::leave`], for a copy or fill that uses these addresses.
    pub fn pass(&mut self, range: Range<u64>, size: L2Size, larger: f64) {
        let fits = range.end - range.start <= size.room_bytes(larger);
        self.leave(fits.then(|| pieces(range)), size, larger);
    }

    /// Other memory fills the rest.
    pub fn empty(&mut self) {
        (self.left, self.left_bytes, self.copied) = Default::default();
        self.is_full = true;
    }
}

/// Returns the pieces that have these addresses.
fn pieces(range: Range<u64>) -> DramAtoms {
    if range.is_empty() {
        return DramAtoms::new();
    }
    let page = |page: u64| {
        let (from, to) = ((page << 12).max(range.start), ((page + 1) << 12).min(range.end));
        (page, (from >> 6..to.div_ceil(64)).fold(0, |bits, piece| bits | 1 << (piece & 63)))
    };
    (range.start >> 12..range.end.div_ceil(1 << 12)).map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: u64, set_aside_bytes: u64) -> L2Size {
        L2Size { bytes, set_aside_bytes }
    }

    #[test]
    fn what_fits_is_kept_and_what_does_not_leaves_nothing() {
        let mut kept = L2Contents::default();
        let read = |pieces: u32| -> DramAtoms { [(0, !0 >> (64 - pieces))].into_iter().collect() };
        let held = |kept: &L2Contents| kept.found_by(None, size(1 << 20, 640), 1.0).there.len();
        kept.keep(&read(10), 640);
        assert_eq!(held(&kept), 1);
        kept.keep(&read(12), 640);
        assert_eq!(held(&kept), 0, "twelve pieces of 64 bytes do not fit into 640");
        kept.keep(&read(4), 640);
        kept.reset();
        assert_eq!(held(&kept), 0);
    }

    #[test]
    fn the_rest_has_what_was_used_last_as_far_as_there_is_room() {
        let mut contents = L2Contents::default();
        // Room for 672 bytes: 28 of each 50 bytes that are not set aside.
        let l2 = size(1300, 100);
        let left = |contents: &L2Contents, larger| {
            dram_atom_bytes(&contents.found_by(None, l2, larger).left)
        };
        contents.pass(4000..4200, l2, 1.0);
        assert_eq!(left(&contents, 1.0), 256, "from the middle of a piece, over the end of a page");
        contents.leave(Some([(9, 0b111)].into_iter().collect()), l2, 1.0);
        assert_eq!(left(&contents, 1.5), 448);
        assert_eq!(left(&contents, 1.51), 0, "work that is so much larger finds nothing");
        contents.pass(0..320, l2, 1.0);
        assert_eq!(left(&contents, 1.0), 320, "together they do not fit");
        contents.leave(None, l2, 1.0);
        assert_eq!(left(&contents, 1.0), 0);
    }

    #[test]
    fn what_is_copied_in_stays_where_l2_is_still_empty() {
        let mut contents = L2Contents::default();
        // Room for 2300 bytes of copies: 23 of each 50.
        let l2 = size(5000, 0);
        let held = |contents: &L2Contents| {
            let L2 { left, left_bytes, copied, .. } = contents.found_by(None, l2, 1.0);
            assert_eq!(dram_atom_bytes(&left), left_bytes);
            (left_bytes, dram_atom_bytes(&copied))
        };
        contents.copy_in(4096..5120, l2, 1.0);
        assert_eq!(held(&contents), (1024, 1024));
        contents.copy_in(8192..12_288, l2, 1.0);
        assert_eq!(held(&contents), (2240, 2240), "as much as fits");
        contents.leave(Some([(1, 0b111)].into_iter().collect()), l2, 1.0);
        assert_eq!(held(&contents), (2240, 2048), "a kernel has used three pieces");
        contents.pass(20_480..24_576, l2, 1.0);
        contents.copy_in(4096..5120, l2, 1.0);
        assert_eq!(held(&contents), (0, 0), "it has been full");
        let mut contents = L2Contents::default();
        contents.copy_in(4096..9160, l2, 1.0);
        assert_eq!(held(&contents), (0, 0), "its end took the place of its begin");
    }

    #[test]
    fn work_that_leaves_little_costs_as_little_however_much_is_there() {
        let seconds = |count: u64| {
            let mut contents = L2Contents::default();
            let begin = std::time::Instant::now();
            for page in 0..count {
                contents.pass(page << 12..(page << 12) + 64, size(50 << 20, 0), 1.0);
            }
            assert_eq!(contents.left_bytes, 64 * count);
            assert_eq!(contents.left_bytes, dram_atom_bytes(&contents.left));
            begin.elapsed().as_secs_f64()
        };
        // By the square it would be 256 times as long.
        let (few, many) = (seconds(1000), seconds(16_000));
        assert!(many < 80.0 * few.max(1e-4), "{few} s, {many} s");
    }

    #[test]
    fn without_a_part_that_is_set_aside_a_window_keeps_nothing() {
        let kept = L2Contents::default();
        let window = Some(AccessWindow { range: (0, 64), ratio: 1.0 });
        assert!(kept.found_by(window, size(1000, 0), 1.0).window.is_none());
        let found = kept.found_by(window, size(1000, 300), 1.0);
        assert!(found.window.is_some());
        assert_eq!(found.bytes, 700);
    }
}
