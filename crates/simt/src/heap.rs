//! A device's heap: what `malloc` and `free` of kernels take from and give back to.
//!
//! Memory that is given back is not given out again before all is: two threads that have it one after the other without
//! any order between them but the allocator's would look like a race.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Bytes of a heap: what CUDA's has unless the host asks for more.
pub(crate) const BYTES: u64 = 8 << 20;

/// The alignment of the results of CUDA's `malloc`.
const ALIGNMENT: u64 = 16;

/// A device's heap.
#[derive(Debug)]
pub(crate) struct Heap {
    address: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes given out, from the start.
    next: u64,
    /// Addresses that were given out and not given back.
    live: BTreeSet<u64>,
}

impl Heap {
    /// A heap in [`BYTES`] of memory.
    pub fn new(address: u64) -> Heap {
        Heap { address, state: Mutex::default() }
    }

    /// The address of so many bytes, or 0 when there is no room.
    pub fn allocate(&self, bytes: u64) -> u64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.live.is_empty() {
            state.next = 0;
        }
        let end = bytes.max(1).checked_next_multiple_of(ALIGNMENT);
        let Some(end) = end.and_then(|bytes| state.next.checked_add(bytes)) else { return 0 };
        if end > BYTES {
            return 0;
        }
        let address = self.address + state.next;
        state.next = end;
        state.live.insert(address);
        address
    }

    /// Gives an address back; false when it was not given out.
    pub fn free(&self, address: u64) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        address == 0 || state.live.remove(&address)
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
        assert!(heap.free(0x1010) && !heap.free(0x1010), "given back twice");
        assert_eq!(
            heap.allocate(1),
            0x1040,
            "nothing is given out again while something is in use"
        );
        assert!(heap.free(0x1000) && heap.free(0x1030) && heap.free(0x1040) && heap.free(0));
        assert_eq!(heap.allocate(BYTES), 0x1000);
    }
}
