//! A device's heap: what `malloc` and `free` of kernels take from and give back to.
//!
//! Memory that is given back is not given out again before all is: two threads that have it one after the other without
//! any order between them but the allocator's would look like a race.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes of a heap: what CUDA's has unless the host asks for more.
pub(crate) const BYTES: u64 = 8 << 20;

/// The alignment of the results of CUDA's `malloc`.
const ALIGNMENT: u64 = 16;

/// A device's heap.
#[derive(Debug)]
pub(crate) struct Heap {
    address: u64,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes given out, from the start.
    next: u64,
    /// The blocks that were given out, by address: their bytes, and whether they were given back.
    blocks: BTreeMap<u64, (u64, bool)>,
    /// How many were not given back.
    live: usize,
}

impl Heap {
    /// A heap in [`BYTES`] of memory.
    pub fn new(address: u64) -> Heap {
        Heap { address, state: RwLock::default() }
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the heap has a region that begins here.
    pub fn is_at(&self, base: u64) -> bool {
        self.address == base
    }

    /// The address of so many bytes, or 0 when there is no room.
    pub fn allocate(&self, bytes: u64) -> u64 {
        let mut state = self.write();
        if state.live == 0 {
            *state = State::default();
        }
        let end = bytes.max(1).checked_next_multiple_of(ALIGNMENT);
        let Some(end) = end.and_then(|bytes| state.next.checked_add(bytes)) else { return 0 };
        if end > BYTES {
            return 0;
        }
        let address = self.address + state.next;
        state.next = end;
        state.live += 1;
        state.blocks.insert(address, (bytes, false));
        address
    }

    /// Gives an address back, or says why that cannot be.
    pub fn free(&self, address: u64) -> Result<(), &'static str> {
        if address == 0 {
            return Ok(());
        }
        let mut state = self.write();
        match state.blocks.get_mut(&address) {
            None => Err("which `malloc` did not give"),
            Some((_, true)) => Err("which was given back already"),
            Some((_, is_back)) => {
                *is_back = true;
                state.live -= 1;
                Ok(())
            }
        }
    }

    /// Returns what is wrong with an access, unless a block in use holds all of it.
    pub fn problem(&self, address: u64, bytes: u64) -> Option<String> {
        let state = self.read();
        let Some((start, (length, is_back))) = state.blocks.range(..=address).next_back() else {
            return Some("`malloc` of a kernel has not given it".into());
        };
        let offset = address - start;
        match offset.checked_add(bytes).is_some_and(|end| end <= *length) {
            true if *is_back => Some(format!(
                "it is byte {offset} of {length} bytes that a kernel's `malloc` gave and `free` got back"
            )),
            true => None,
            false => Some(format!(
                "it is byte {offset} of what a kernel's `malloc` gave, which has {length} bytes"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_gives_out_what_it_has_and_begins_anew_when_all_is_back() {
        let heap = Heap::new(0x1000);
        assert_eq!(
            [heap.allocate(1), heap.allocate(17), heap.allocate(8)],
            [0x1000, 0x1010, 0x1030]
        );
        assert_eq!(heap.allocate(BYTES), 0, "there is no room");
        assert_eq!(heap.free(0x1010), Ok(()));
        assert_eq!(heap.free(0x1010), Err("which was given back already"));
        assert_eq!(heap.free(0x1018), Err("which `malloc` did not give"));
        assert_eq!(
            heap.allocate(1),
            0x1040,
            "nothing is given out again while something is in use"
        );
        assert_eq!([0x1000, 0x1030, 0x1040, 0].map(|address| heap.free(address)), [Ok(()); 4]);
        assert_eq!(heap.allocate(BYTES), 0x1000);
    }

    #[test]
    fn only_blocks_in_use_are_accessed() {
        let heap = Heap::new(0x1000);
        assert!(heap.problem(0x1000, 4).is_some());
        let (first, second) = (heap.allocate(20), heap.allocate(8));
        assert_eq!([heap.problem(first + 16, 4), heap.problem(second, 8)], [None, None]);
        let past = heap.problem(first + 20, 4).unwrap();
        assert!(past.contains("byte 20") && past.contains("20 bytes"), "{past}");
        assert!(heap.problem(first + 16, 8).is_some() && heap.problem(first - 4, 4).is_some());
        heap.free(first).unwrap();
        let freed = heap.problem(first, 4).unwrap();
        assert!(freed.contains("`free` got back"), "{freed}");
        assert_eq!(heap.problem(second, 8), None);
    }
}
