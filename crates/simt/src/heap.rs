//! A device's heap: what `malloc` and `free` of kernels take from and give back to.
//!
//! Memory that is given back is not given out again before all is, so that an access to it is found to be too late.

use crate::error::NOT_OF_HEAP;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes of a heap: what CUDA's has unless the host asks for more.
pub(crate) const BYTES: u64 = 8 << 20;

/// The alignment of what is given out: twice that of CUDA's `malloc`, so that no two of them share a line of the shadow.
const ALIGNMENT: u64 = 32;

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
    /// The number of those that were not given back.
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

    /// Gives an address back and returns its bytes, all of its lines of the shadow; or says why that cannot be.
    pub fn free(&self, address: u64) -> Result<u64, String> {
        let mut state = self.write();
        match state.blocks.get_mut(&address) {
            None => Err(match state.blocks.range(..address).next_back() {
                Some((start, (bytes, _))) if address - start < *bytes => {
                    format!("which is byte {} of what `malloc` gave", address - start)
                }
                _ => NOT_OF_HEAP.into(),
            }),
            Some((_, true)) => Err("which was given back already".into()),
            Some((bytes, is_back)) => {
                *is_back = true;
                let bytes = (*bytes).max(1).next_multiple_of(ALIGNMENT);
                state.live -= 1;
                Ok(bytes)
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
            [0x1000, 0x1020, 0x1040]
        );
        assert_eq!(heap.allocate(BYTES), 0, "there is no room");
        assert_eq!(heap.free(0x1020), Ok(32));
        assert_eq!(heap.free(0x1020), Err("which was given back already".into()));
        assert_eq!(heap.free(0x1028), Err("which is byte 8 of what `malloc` gave".into()));
        assert_eq!(heap.free(0x1058), Err("which `malloc` of a kernel did not give".into()));
        assert_eq!(
            heap.allocate(1),
            0x1060,
            "nothing is given out again while something is in use"
        );
        [0x1000, 0x1040, 0x1060].iter().for_each(|address| assert_eq!(heap.free(*address), Ok(32)));
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
        assert!([first + 17, first - 4].iter().all(|at| heap.problem(*at, 4).is_some()));
        heap.free(first).unwrap();
        let freed = heap.problem(first, 4).unwrap();
        assert!(freed.contains("`free` got back"), "{freed}");
        assert_eq!(heap.problem(second, 8), None);
    }
}
