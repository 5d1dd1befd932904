//! L2 of the estimate: what it holds, and what it asks memory for.
//!
//! L2 is one cache of the device. It loses an atom of memory when as many bytes were asked of it since as it holds, C:
//!
//! ```text
//! bytes from memory = 64 x (distinct atoms + atoms asked for again after more than C bytes)
//! ```
//!
//! A launch may stand for one of g times as many bytes. An atom that is asked for again after a large part of all that is
//! asked for, as by random access or in a second pass, is then asked for after g times as many bytes; one that is asked
//! for again soon stays near.
//!
//! A window of addresses may have a part S of L2 to itself. A part r of the window's atoms, chosen by a
//! hash of their addresses, is kept there; it ages by what the window asks for, and everything else by
//! the rest. With w bytes in the window and all of them used in turn, again and again, r w bytes are
//! chosen, and of these
//!
//! ```text
//! r w <= S   none comes from memory again, in this launch or the next
//! r w >  S   all come from memory each time: the window evicts itself
//! ```
//!
//! so that r = S / w keeps S bytes, whatever w is. Stores age what is not chosen, and nothing else.
//!
//! What launches before have left in the rest is there when it is asked for the first time, as long as what memory was
//! asked for since fits beside it.

use crate::caches::{ByAddress, Reached};
use crate::estimate::{DramAtoms, L2};
use std::collections::BTreeMap;

/// The size of a DRAM atom, as a power of two: 64 bytes.
const DRAM_ATOM_SHIFT: u32 = 6;
const DRAM_ATOM_SECTORS: u32 = 2;
/// Pages of 4 KiB that memory has open at once, for the part of it that what is executed reaches: an estimate. A warp's 32
/// lanes may walk down as many rows of an array, and the next block's down as many others.
const OPEN_PAGES: usize = 64;
/// A line that so many blocks lacked is read by all.
const MANY_BLOCKS: u32 = 8;
/// A distance is large if it is at least such a part of all bytes that are asked of L2.
const LARGE_PART: u64 = 64;

/// 4 KiB of memory that were read.
#[derive(Debug)]
struct Page4K {
    /// A bit per atom.
    atoms: u64,
    /// Time of each atom's last request, on a clock that counts sectors requested before.
    asked: [u32; 64],
    /// The last block that asked for each line, without its upper bits, and in the lowest byte how often that was another
    /// than the time before.
    blocks: [u32; 32],
    /// Cycle at which each atom's last fetch arrives, since the start of the blocks of `wave`.
    arrives: [u32; 64],
    wave: u32,
}

impl Default for Page4K {
    fn default() -> Page4K {
        Page4K { atoms: 0, asked: [0; 64], blocks: [0; 32], arrives: [0; 64], wave: 0 }
    }
}

/// The answer of L2 when it is asked for a sector.
pub struct L2Answer {
    pub reached: Reached,
    /// Many blocks have asked for its line.
    pub by_many: bool,
}

/// L2, and what was asked of it.
#[derive(Debug)]
pub struct SecondCache {
    l2: L2,
    /// The factor between the bytes the launch stands for and those it touches.
    scale: f64,
    /// The pages that were read.
    read: ByAddress<Box<Page4K>>,
    /// DRAM atoms that were there before they were asked for the first time.
    before: u64,
    /// The requests to the part of L2 for everything, and to the window's, in sectors of 32 bytes.
    asked: [u32; 2],
    /// The atom that was asked for last.
    last: Option<u64>,
    /// The pages of memory that are open, the one used last at the end.
    open: Vec<u64>,
    /// DRAM atoms that memory was asked for, and those of them that had to open their page.
    fetched: u64,
    opened: u64,
    /// DRAM atoms that were read before and had left L2.
    refetched: u64,
    /// Those that were read before and had not, by the logarithm of the sectors asked for since.
    found: [u64; 32],
}

impl SecondCache {
    pub fn new(l2: L2, scale: f64) -> SecondCache {
        SecondCache {
            l2,
            scale,
            read: ByAddress::default(),
            before: 0,
            asked: [0; 2],
            last: None,
            open: Vec::new(),
            fetched: 0,
            opened: 0,
            refetched: 0,
            found: [0; 32],
        }
    }

    /// A block asks for a sector; L2 asks memory for its atom when it does not have it.
    pub fn ask(&mut self, sector: u64, block: u32) -> L2Answer {
        let atom = sector >> (DRAM_ATOM_SHIFT - 5);
        let in_window = self.l2.window.as_ref().filter(|window| window.keeps(atom));
        let (class, bytes) = match in_window {
            Some(window) => (1, window.room()),
            None => (0, self.l2.bytes),
        };
        let now = self.asked[class];
        // An atom takes its room in L2, whether one or both of its sectors are asked for.
        if self.last.replace(atom) != Some(atom) {
            self.asked[class] = now.wrapping_add(DRAM_ATOM_SECTORS);
        }
        let empty = || Box::new(Page4K::default());
        let page = self.read.entry(atom >> 6).or_insert_with(empty);
        let seen = &mut page.blocks[(sector >> 2 & 31) as usize];
        if *seen >> 8 != block & 0xff_ffff {
            *seen = block << 8 | ((*seen & 0xff) + 1).min(0xff);
        }
        let by_many = *seen & 0xff >= MANY_BLOCKS;
        let (bit, asked) = (1u64 << (atom & 63), &mut page.asked[(atom & 63) as usize]);
        let since = now.wrapping_sub(*asked);
        *asked = now;
        let was_read = page.atoms & bit != 0;
        page.atoms |= bit;
        let is_there = if was_read { 32 * u64::from(since) <= bytes } else { self.was_left(atom) };
        self.refetched += u64::from(was_read && !is_there);
        self.before += u64::from(!was_read && is_there);
        if !is_there {
            self.fetch(atom >> 6);
        }
        if was_read && is_there && class == 0 {
            self.found[since.checked_ilog2().unwrap_or(0) as usize] += 1;
        }
        let reached = match is_there {
            false => Reached::Memory,
            true if !was_read && has(&self.l2.copied, atom) => Reached::FarL2,
            true => Reached::L2,
        };
        L2Answer { reached, by_many }
    }

    /// Returns whether L2 has a sector, of which it is not asked.
    pub fn holds(&self, sector: u64) -> bool {
        let atom = sector >> (DRAM_ATOM_SHIFT - 5);
        let was_read =
            self.read.get(&(atom >> 6)).is_some_and(|page| page.atoms >> (atom & 63) & 1 != 0);
        was_read || self.was_left(atom)
    }

    /// Returns whether L2 has had an atom since an earlier launch.
    fn was_left(&self, atom: u64) -> bool {
        // Hits evict nothing; misses evict data of earlier launches once both no longer fit.
        let has_room = bytes_of_atoms(self.fetched) + self.l2.left_bytes <= self.l2.room_bytes;
        has(&self.l2.there, atom) || has_room && has(&self.l2.left, atom)
    }

    /// Returns the arrival of a sector that some block of this wave has requested of memory; 0 if none has.
    pub fn arrival(&self, sector: u64, wave: u32) -> u32 {
        let atom = sector >> (DRAM_ATOM_SHIFT - 5);
        let page = self.read.get(&(atom >> 6)).filter(|page| page.wave == wave);
        page.map_or(0, |page| page.arrives[(atom & 63) as usize])
    }

    /// A sector that memory was asked for arrives, in this wave of blocks.
    pub fn arrives(&mut self, sector: u64, wave: u32, at: u32) {
        let atom = sector >> (DRAM_ATOM_SHIFT - 5);
        let Some(page) = self.read.get_mut(&(atom >> 6)) else { return };
        if page.wave != wave {
            (page.wave, page.arrives) = (wave, [0; 64]);
        }
        page.arrives[(atom & 63) as usize] = at;
    }

    /// Memory hands out an atom of a page.
    fn fetch(&mut self, page: u64) {
        self.fetched += 1;
        if let Some(place) = self.open.iter().rposition(|open| *open == page) {
            self.open.remove(place);
        } else {
            self.opened += 1;
            if self.open.len() == OPEN_PAGES {
                self.open.remove(0);
            }
        }
        self.open.push(page);
    }

    /// Returns the part of memory's atoms that had to open their page.
    pub fn row_miss_ratio(&self) -> f64 {
        self.opened as f64 / self.fetched.max(1) as f64
    }

    /// A sector is stored.
    pub fn store(&mut self, sector: u64) {
        let atom = sector >> (DRAM_ATOM_SHIFT - 5);
        if self.l2.window.as_ref().is_none_or(|window| !window.keeps(atom)) {
            self.asked[0] = self.asked[0].wrapping_add(1);
        }
    }

    /// DRAM atoms that memory is asked for the first time, unless L2 has them from an earlier launch.
    pub fn first(&self) -> u64 {
        let read: u64 = self.read.values().map(|page| u64::from(page.atoms.count_ones())).sum();
        read - self.before
    }

    /// DRAM atoms that memory is asked for again, in a launch as large as the one that this stands for.
    pub fn refetched(&self) -> u64 {
        let all = u64::from(self.asked[0]);
        let leaves = |(logarithm, _): &(usize, &u64)| {
            // The middle of those with this logarithm.
            let since = 3 << logarithm >> 1;
            let is_large = since >= all / LARGE_PART;
            is_large && 32.0 * self.scale * since as f64 > self.l2.bytes as f64
        };
        let later: u64 = self.found.iter().enumerate().filter(leaves).map(|(_, found)| found).sum();
        self.refetched + later
    }

    /// DramAtoms of the window that were read and are kept.
    pub fn persisting_lines(&self) -> DramAtoms {
        let Some(window) = &self.l2.window else { return BTreeMap::new() };
        let pages = self.read.iter().map(|(page, read)| (*page, read.atoms));
        let kept = pages.map(|(page, atoms)| (page, atoms & window.kept(page)));
        kept.filter(|(_, atoms)| *atoms != 0).collect()
    }

    /// Returns what was read, and what was changed at these addresses, if there is room for all of it.
    pub fn residual_lines(&self, changed: impl Iterator<Item = u64>) -> Option<DramAtoms> {
        let most = self.l2.room_bytes >> DRAM_ATOM_SHIFT;
        let pages = self.read.iter().map(|(page, read)| (*page, read.atoms));
        let mut left: ByAddress<u64> = pages.collect();
        let mut count: u64 = left.values().map(|bits| u64::from(bits.count_ones())).sum();
        for atom in changed.map(|address| address >> DRAM_ATOM_SHIFT) {
            if count > most {
                return None;
            }
            let (bits, bit) = (left.entry(atom >> 6).or_default(), 1 << (atom & 63));
            count += u64::from(*bits & bit == 0);
            *bits |= bit;
        }
        (count <= most).then(|| left.into_iter().collect())
    }

    /// The first addresses of the 4 KiB pages that were read.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.read.keys().map(|page| page << 12)
    }
}

/// Returns whether an atom is one of these.
fn has(atoms: &DramAtoms, atom: u64) -> bool {
    atoms.get(&(atom >> 6)).is_some_and(|bits| bits >> (atom & 63) & 1 != 0)
}

/// Bytes of so many atoms.
pub fn bytes_of_atoms(atoms: u64) -> u64 {
    atoms << DRAM_ATOM_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_granules_fill_a_cache_as_sectors_side_by_side_do() {
        let again = |sectors: &dyn Fn(u64) -> u64| {
            let mut cache = SecondCache::new(L2 { bytes: 64 * 1024, ..L2::default() }, 1.0);
            for turn in (0..2048).chain(0..2048) {
                cache.ask(sectors(turn), 1);
            }
            cache.refetched()
        };
        assert_eq!(again(&|turn| turn % 1024), 0, "512 atoms of two sectors fit");
        assert_eq!(again(&|turn| 2 * turn), 2048, "2048 atoms, of each a sector, do not");
    }

    #[test]
    fn granules_in_turn_share_an_open_page_and_scattered_ones_open_their_own() {
        let alone = |atoms: &mut dyn Iterator<Item = u64>| {
            let mut cache = SecondCache::new(L2::default(), 1.0);
            for atom in atoms {
                cache.ask(2 * atom, 1);
            }
            cache.row_miss_ratio()
        };
        assert_eq!(alone(&mut (0..4096)), 1.0 / 64.0, "a page has 64 atoms");
        assert_eq!(alone(&mut (0..4096).map(|turn| 64 * turn)), 1.0, "each is in another page");
        let rows = |rows: u64| (0..64 * rows).map(move |turn| 64 * (turn % rows) + turn / rows);
        assert_eq!(alone(&mut rows(64)), 1.0 / 64.0, "64 rows in turn stay open");
        assert_eq!(alone(&mut rows(65)), 1.0, "65 do not");
    }

    #[test]
    fn what_many_blocks_ask_for_is_everybodys() {
        let mut cache = SecondCache::new(L2::default(), 1.0);
        let asked: Vec<bool> = (1..10).map(|block| cache.ask(5, block).by_many).collect();
        assert_eq!(asked.iter().position(|by_many| *by_many), Some(7), "{asked:?}");
        assert!(!cache.ask(9, 10).by_many, "another line");
    }

    #[test]
    fn what_is_asked_for_again_after_all_else_leaves_a_cache_that_grows_too_small() {
        let twice = |sectors: u64, scale: f64| {
            let l2 = L2 { bytes: 32 * 4096, ..L2::default() };
            let mut cache = SecondCache::new(l2, scale);
            for sector in (0..sectors).chain(0..sectors) {
                cache.ask(2 * sector, 1);
            }
            (cache.first(), cache.refetched())
        };
        assert_eq!(twice(1024, 1.0), (1024, 0), "all of it fits");
        assert_eq!(twice(1024, 16.0), (1024, 1024), "16 times as much does not");
        assert_eq!(twice(8192, 1.0), (8192, 8192), "nor does this");
    }

    #[test]
    fn what_is_asked_for_again_at_once_stays_near() {
        let l2 = L2 { bytes: 32 * 4096, ..L2::default() };
        let mut cache = SecondCache::new(l2, 1e6);
        for sector in 0..4096 {
            cache.ask(2 * sector, 1);
            cache.ask(2 * sector, 1);
        }
        assert_eq!(cache.refetched(), 0);
    }
}
