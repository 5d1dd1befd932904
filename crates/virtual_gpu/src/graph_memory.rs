//! Memory that graphs allocate: a node has its addresses when it is made, and their bytes from a launch until they are freed.

use std::collections::{BTreeMap, BTreeSet};

/// Addresses that nodes of graphs allocate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphRange {
    pub(crate) bytes: u64,
    pub(crate) device: usize,
    /// A launch has allocated it, and nothing has freed it since.
    pub(crate) is_live: bool,
}

/// Memory that a device keeps for launches of graphs.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) device: usize,
    pub(crate) bytes: u64,
    /// The addresses that have it beyond the launch which allocated them.
    pub(crate) holders: BTreeSet<u64>,
    /// The stream of its last launch, and that launch's last operation.
    pub(crate) last: (usize, Option<usize>),
}

#[derive(Debug, Default)]
pub(crate) struct GraphMemory {
    /// By first address.
    pub(crate) ranges: BTreeMap<u64, GraphRange>,
    pub(crate) blocks: Vec<Block>,
    /// The most that each device ever kept.
    pub(crate) high: BTreeMap<usize, u64>,
}

impl GraphMemory {
    /// Returns the range that an address lies in, with its first address.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, &GraphRange)> {
        let (start, range) = self.ranges.range(..=address).next_back()?;
        (address - start < range.bytes).then_some((*start, range))
    }

    /// Returns whether a range holds so many bytes.
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> bool {
        self.find(address).is_some_and(|(start, range)| bytes <= start + range.bytes - address)
    }

    /// Returns whether a launch has allocated what begins here.
    pub(crate) fn is_live(&self, address: u64) -> bool {
        self.ranges.get(&address).is_some_and(|range| range.is_live)
    }

    /// Notes that an allocation was freed outside of graphs: by an operation, or at once.
    pub(crate) fn end(&mut self, address: u64, operation: Option<usize>) {
        let Some(range) = self.ranges.get_mut(&address) else { return };
        range.is_live = false;
        for block in &mut self.blocks {
            if block.holders.remove(&address) {
                block.last.1 = operation;
            }
        }
    }

    /// Forgets all memory of a device.
    pub(crate) fn forget(&mut self, device: usize) {
        self.ranges.retain(|_, range| range.device != device);
        self.blocks.retain(|block| block.device != device);
        self.high.remove(&device);
    }

    /// Returns the bytes that a device keeps for graphs.
    pub(crate) fn kept(&self, device: usize) -> u64 {
        let own = self.blocks.iter().filter(|block| block.device == device);
        own.map(|block| block.bytes).sum()
    }

    /// Returns the most that a device ever kept.
    pub(crate) fn high(&self, device: usize) -> u64 {
        self.high.get(&device).copied().unwrap_or(0)
    }

    /// Counts the most that a device kept from here on.
    pub(crate) fn reset_high(&mut self, device: usize) {
        self.high.insert(device, self.kept(device));
    }
}
