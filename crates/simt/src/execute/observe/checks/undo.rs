//! The content of device memory before a launch wrote to it that may run again.

use crate::memory::Memory;
use crate::region::Saved;
use races::CHUNK;
use std::sync::OnceLock;

/// The content of the chunks of device memory before a launch first wrote to them.
pub(crate) struct Undo {
    pub regions: Vec<OnceLock<Vec<OnceLock<Saved>>>>,
}

impl Undo {
    pub fn new(memory: &Memory) -> Undo {
        Undo { regions: (0..memory.region_count()).map(|_| OnceLock::new()).collect() }
    }

    /// Saves a chunk, unless it has been saved.
    ///
    /// # Safety
    /// - Every worker calls this before it first writes to the chunk.
    pub unsafe fn save(&self, memory: &Memory, region_index: usize, number: usize) {
        let region = memory.region(region_index);
        let chunks = self.regions[region_index]
            .get_or_init(|| (0..region.bytes / CHUNK + 2).map(|_| OnceLock::new()).collect());
        chunks[number].get_or_init(|| {
            let start = (region.base / CHUNK + number as u64) * CHUNK;
            let (start, end) =
                (start.max(region.base), (start + CHUNK).min(region.base + region.bytes));
            // SAFETY: both ends are clamped to the region. No worker has written to the chunk yet: each first calls
            // this function (the contract), which for all but one of them waits here until it has been saved.
            unsafe { region.save(start, end) }
        });
    }

    /// Returns whether memory was written that the host has, too.
    pub fn has_mapped(&self, memory: &Memory) -> bool {
        let regions = self.regions.iter().enumerate();
        regions
            .filter(|(_, chunks)| chunks.get().is_some())
            .any(|(index, _)| memory.region(index).is_mapped())
    }

    /// Gives all chunks back what they held.
    ///
    /// # Safety
    /// - The chunks were saved from this memory, and no worker is running.
    pub unsafe fn restore(&self, memory: &Memory) {
        for (index, chunks) in self.regions.iter().enumerate() {
            for saved in chunks.get().into_iter().flatten().filter_map(OnceLock::get) {
                // SAFETY: by the contract it was saved from this region, and nobody else accesses memory.
                unsafe { memory.region(index).restore(saved) };
            }
        }
    }
}
