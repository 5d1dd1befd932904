//! The memory that a driver knows, the device's and the host's, and copies between any two places.

use crate::code::CuResult;
use crate::graph_memory::GraphMemory;
use crate::managed::{DISCARDED, Managed};
use crate::misuse::{Misuse, MisuseKind};
use crate::shared::Shared;
use crate::virtual_memory::{FileName, SharedBytes, VirtualMemory};
use crate::work::{Copy, CopySide, QueuedWork};
use cuda_driver::ReturnCode;
use foldhash::fast::FixedState;
use gpu_model::copy_time::Direction;
use gpu_model::{PageMoves, Side};
use simt::{Location, Memory};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

/// `CU_MEMHOSTALLOC_WRITECOMBINED`.
pub(crate) const WRITE_COMBINED: u32 = 4;

/// Among the flags of managed memory: a static, which its module frees.
pub(crate) const OWNED_BY_MODULE: u32 = 1 << 31;

/// The memory of arrays is called this.
pub(crate) const ARRAY_LABEL: &str = "CUDA array";

#[derive(Debug)]
pub(crate) struct HostRegion {
    pub(crate) bytes: usize,
    pub(crate) kind: HostKind,
    pub(crate) flags: u32,
    /// The memory itself, when it is ours. Registered memory is the program's.
    pub(crate) _owned: Option<Vec<u128>>,
}

impl HostRegion {
    fn is_registered(&self) -> bool {
        self.kind == HostKind::Registered
    }
}

/// The way in which the driver came to know host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostKind {
    Pinned,
    Registered,
    Managed,
    /// Memory of the device at addresses that the program chose.
    Mapped,
}

/// The kind of memory at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// Device memory, or managed memory.
    Device,
    /// Page-locked host memory.
    Pinned,
    /// Nothing that the driver knows.
    Unknown,
}

#[derive(Debug)]
pub(crate) struct Memories {
    pub(crate) device: Memory,
    pub(crate) host: BTreeMap<u64, HostRegion>,
    /// Locations of the pages of managed memory.
    pub(crate) managed: Managed,
    /// Host memory that the program registers counts as memory of the device.
    pub(crate) registered_is_device: bool,
    /// Memory at addresses that the program chose.
    pub(crate) virtual_memory: VirtualMemory,
    /// Memory of other processes that is open, by its first address: what it is, and how often.
    pub(crate) opened: BTreeMap<u64, (Shared, u32)>,
    /// The files of allocations that other processes may open, by the first address.
    shared: BTreeMap<u64, SharedBytes>,
    /// Managed memory whose content was discarded, and of which some may still be undefined.
    discarded: Vec<Range<u64>>,
    /// Memory that graphs allocate.
    pub(crate) graphs: GraphMemory,
    /// The sentences of device memory that nothing but a reset of its device has freed.
    pub(crate) left: Vec<String>,
    /// Operations executed so far.
    pub(crate) executed: u64,
    /// After how many operations the device last wrote each page-locked range, by its first address.
    written: HashMap<u64, u64>,
    /// After how many operations a host function last ran: it may have written anything.
    host_function_ran: u64,
}

impl Memories {
    /// Of devices with so many bytes each.
    pub(crate) fn new(device_bytes: &[u64]) -> Memories {
        Memories {
            device: Memory::of_devices(device_bytes),
            host: BTreeMap::new(),
            managed: Managed::default(),
            registered_is_device: false,
            virtual_memory: VirtualMemory::default(),
            opened: BTreeMap::new(),
            shared: BTreeMap::new(),
            discarded: Vec::new(),
            graphs: GraphMemory::default(),
            left: Vec::new(),
            executed: 0,
            written: HashMap::new(),
            host_function_ran: 0,
        }
    }

    /// Host memory of this first address is no longer known.
    pub(crate) fn remove_host(&mut self, address: u64) {
        self.host.remove(&address);
        self.managed.remove(address);
        self.written.remove(&address);
    }

    /// Returns whether an address lies in host memory that the driver allocated without a cache.
    pub(crate) fn is_write_combined(&self, address: u64) -> bool {
        let region = self.host.range(..=address).next_back();
        region.is_some_and(|(start, region)| {
            address < start + region.bytes as u64 && region.flags & WRITE_COMBINED != 0
        })
    }

    /// The kind of memory at an address.
    pub(crate) fn place(&self, address: u64) -> MemoryKind {
        match self.device.allocation(address) {
            Some(allocation) if !allocation.is_mapped => MemoryKind::Device,
            Some(allocation) => {
                match self.host.get(&allocation.address).map(|region| region.kind) {
                    Some(HostKind::Managed | HostKind::Mapped) => MemoryKind::Device,
                    _ => MemoryKind::Pinned,
                }
            }
            None if self.graphs.find(address).is_some() => MemoryKind::Device,
            None => MemoryKind::Unknown,
        }
    }

    /// The device whose allocation an address lies in.
    pub(crate) fn device_of(&self, address: u64) -> Option<usize> {
        let found = self.device.allocation(address).filter(|found| !found.is_mapped);
        let found = found.and_then(|found| self.device.device_of(found.address));
        found.or_else(|| Some(self.graphs.find(address)?.1.device))
    }

    pub(crate) fn direction(&self, copy: &Copy) -> Direction {
        let (from, to) = (self.place(copy.source.address), self.place(copy.target.address));
        match (from, to) {
            (MemoryKind::Device, MemoryKind::Device) => {
                match (self.device_of(copy.source.address), self.device_of(copy.target.address)) {
                    (Some(from), Some(to)) if from != to => Direction::Peer { from, to },
                    _ => Direction::Device,
                }
            }
            (source, MemoryKind::Device) => Direction::HostToDevice(source == MemoryKind::Unknown),
            (MemoryKind::Device, target) => Direction::DeviceToHost(target == MemoryKind::Unknown),
            _ => Direction::Host,
        }
    }

    /// Copies; the error is the place that cannot be used and what is wrong with it.
    pub(crate) fn copy(&mut self, copy: &Copy) -> Result<(), (u64, String)> {
        for row in 0..copy.height {
            let at = |side: CopySide| side.address + (row * side.pitch) as u64;
            let (target, source) = (at(copy.target), at(copy.source));
            if let Err(message) = self.copy_row(copy, row, target, source) {
                let bad = if self.place(source) == MemoryKind::Unknown { source } else { target };
                return Err((bad, message));
            }
        }
        Ok(())
    }

    /// Reads from device memory, or from the program's own.
    pub(crate) fn read_anywhere(&self, address: u64, to: &mut [u8]) -> CuResult {
        if !self.is_host(address) {
            return self.device.read(address, to).map_err(|_| ReturnCode::INVALID_VALUE);
        }
        let from = std::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the driver API's contract: a host address given as a source is readable for the copy's size.
        to.copy_from_slice(unsafe { std::slice::from_raw_parts(from, to.len()) });
        Ok(())
    }

    /// Writes to device memory, or to the program's own.
    pub(crate) fn write_anywhere(&mut self, address: u64, from: &[u8]) -> CuResult {
        if !self.is_host(address) {
            return self.device.write(address, from).map_err(|_| ReturnCode::INVALID_VALUE);
        }
        let to = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: the driver API's contract: a host address given as a target is writable for the copy's size, and it is
        // not the memory that `from` lies in, which is ours.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        Ok(())
    }

    fn copy_row(
        &mut self,
        copy: &Copy,
        row: usize,
        target: u64,
        source: u64,
    ) -> Result<(), String> {
        let bytes = copy.width;
        if let Some(staged) = &copy.staged {
            let values = &staged[row * bytes..(row + 1) * bytes];
            return self.device.write(target, values).map_err(|error| error.to_string());
        }
        let pointer = |address: u64| std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        let done = match (self.is_host(source), self.is_host(target)) {
            (false, false) => self.device.copy(target, source, bytes),
            (true, false) => {
                // SAFETY: the driver API's contract: a host address given as a source is readable for the copy's size.
                let values = unsafe { std::slice::from_raw_parts(pointer(source), bytes) };
                self.device.write(target, values)
            }
            (false, true) => {
                // SAFETY: as above: a host address given as a target is writable for the copy's size.
                let values = unsafe { std::slice::from_raw_parts_mut(pointer(target), bytes) };
                self.device.read(source, values)
            }
            (true, true) => {
                // SAFETY: as above, for both; `copy` allows that they overlap.
                unsafe { std::ptr::copy(pointer(source), pointer(target), bytes) };
                Ok(())
            }
        };
        done.map_err(|error| error.to_string())
    }

    /// Ordinary host memory: not an allocation, and not in the range of device addresses, where an unknown address is a
    /// mistake rather than the program's own memory.
    pub(crate) fn is_host(&self, address: u64) -> bool {
        self.place(address) == MemoryKind::Unknown
            && self.device.device_of(address).is_none()
            && !self.virtual_memory.reserves(address)
    }

    /// A hash of the page-locked host memory that a copy uses.
    pub(crate) fn fingerprint(&self, work: &QueuedWork) -> Option<u64> {
        let QueuedWork::Copy(copy) = work else { return None };
        let mut hasher = FixedState::default().build_hasher();
        let mut any = false;
        for side in [copy.source, copy.target] {
            if self.place(side.address) != MemoryKind::Pinned {
                continue;
            }
            for row in 0..copy.height {
                let address = side.address + (row * side.pitch) as u64;
                let pointer = self.device.host_pointer(address, copy.width).ok()?;
                // SAFETY: the memory table gave the pointer for `width` bytes; the program does not write them now, as it
                // is inside the call that enqueues the copy, or has promised not to before the copy is done.
                hasher.write(unsafe { std::slice::from_raw_parts(pointer, copy.width) });
                any = true;
            }
        }
        any.then(|| hasher.finish())
    }

    /// A hash for each 64 bytes of page-locked host memory that a kernel was given, by the address / 64.
    pub(crate) fn host_lines(&self, work: &QueuedWork) -> Vec<(u64, u64)> {
        let QueuedWork::Kernel(kernel) = work else { return Vec::new() };
        let words = kernel.launch.arguments.iter().flat_map(|argument| argument.as_chunks::<8>().0);
        let given = words.filter_map(|word| self.device.allocation(u64::from_le_bytes(*word)));
        let mut ranges: Vec<(u64, u64)> = given
            .filter(|one| self.place(one.address) == MemoryKind::Pinned)
            .map(|one| (one.address, one.bytes))
            .collect();
        ranges.sort_unstable();
        ranges.dedup();
        ranges.into_iter().flat_map(|(address, bytes)| self.lines_of(address, bytes)).collect()
    }

    /// The hashes of one range.
    fn lines_of(&self, address: u64, bytes: u64) -> Vec<(u64, u64)> {
        let Ok(pointer) = self.device.host_pointer(address, bytes as usize) else {
            return Vec::new();
        };
        // SAFETY: the memory table gave the pointer for so many bytes; the program does not write them now, as it is
        // inside a call of the driver, or has promised not to before the kernel has ended.
        let all = unsafe { std::slice::from_raw_parts(pointer, bytes as usize) };
        let first = (address.next_multiple_of(64) - address).min(bytes) as usize;
        let (head, rest) = all.split_at(first);
        let lines = std::iter::once(head).filter(|head| !head.is_empty()).chain(rest.chunks(64));
        let hash = |line: &[u8]| {
            let mut hasher = FixedState::default().build_hasher();
            hasher.write(line);
            hasher.finish()
        };
        (address / 64..).zip(lines.map(hash)).collect()
    }

    /// Returns whether work uses functions or memory of the program's own.
    pub(crate) fn needs_program(&self, work: &QueuedWork) -> bool {
        let is_own = |address: u64| {
            let base = self.device.allocation(address).map_or(address, |found| found.address);
            self.is_host(address) || self.host.get(&base).is_some_and(HostRegion::is_registered)
        };
        match work {
            QueuedWork::Host(_) => true,
            QueuedWork::Copy(copy) => {
                copy.staged.is_none() && is_own(copy.source.address) || is_own(copy.target.address)
            }
            QueuedWork::Fill(fill) => is_own(fill.address),
            QueuedWork::Kernel(_) => self.host.values().any(HostRegion::is_registered),
            QueuedWork::Subgraphs(inner) => inner.works().any(|work| self.needs_program(work)),
            _ => false,
        }
    }

    /// Returns whether the program may see by means of its own that work has run: it calls a function of the program's, or
    /// may write memory that the host has, too.
    pub(crate) fn is_seen_outside(&self, work: &QueuedWork) -> bool {
        let is_shared =
            |address: u64| self.device.allocation(address).is_some_and(|found| found.is_mapped);
        match work {
            QueuedWork::Host(_) => true,
            QueuedWork::Copy(copy) => is_shared(copy.target.address),
            QueuedWork::Fill(fill) => is_shared(fill.address),
            QueuedWork::Kernel(kernel) => {
                let arguments = kernel.launch.arguments.iter();
                let mut words = arguments.flat_map(|argument| argument.as_chunks::<8>().0);
                words.any(|word| is_shared(u64::from_le_bytes(*word)))
                    || self.host.values().any(|region| region.flags & OWNED_BY_MODULE != 0)
            }
            QueuedWork::Subgraphs(inner) => inner.works().any(|work| self.is_seen_outside(work)),
            _ => false,
        }
    }

    /// Host memory that kernels reach over the link: what the driver allocated, which has large pages, and in small ones
    /// what the program allocated and managed memory that does not move.
    pub(crate) fn mapped_ranges(&mut self) -> [Vec<Range<u64>>; 2] {
        let device = &self.device;
        let managed = self.managed.mapped_ranges(|range, byte| is_all(device, range, byte));
        let of = |kind: HostKind| {
            let regions = self.host.iter().filter(move |(_, region)| region.kind == kind);
            regions.map(|(start, region)| *start..start + region.bytes as u64)
        };
        let registered = of(HostKind::Registered).filter(|_| !self.registered_is_device);
        [of(HostKind::Pinned).collect(), registered.chain(managed).collect()]
    }

    /// Device memory that managed memory may take.
    pub(crate) fn room_for_managed(&self) -> u64 {
        self.device.capacity_bytes() - self.device.used_bytes()
    }

    /// A kernel touched granules of managed memory.
    pub(crate) fn kernel_touches(
        &mut self,
        touched: &BTreeMap<u64, bool>,
        now_ns: f64,
    ) -> PageMoves {
        let room = self.room_for_managed();
        let device = &self.device;
        self.managed
            .kernel_touches(touched, (now_ns, room), |range, byte| is_all(device, range, byte))
    }

    /// Returns what of a range is managed memory moves to a side.
    pub(crate) fn move_to(&mut self, side: Side, range: Range<u64>) -> PageMoves {
        let room = self.room_for_managed();
        let device = &self.device;
        self.managed.move_to(side, range, room, |range, byte| is_all(device, range, byte))
    }

    /// Drops the contents of a range of managed memory: it is on neither side then, and what is read there before
    /// somebody writes it is no value of the program's.
    pub(crate) fn discard(&mut self, range: Range<u64>) {
        // The range was valid when it was enqueued; memory that was freed since has no contents to lose.
        let bytes = (range.end - range.start) as usize;
        if self.device.discard(range.start, DISCARDED, bytes).is_ok() {
            self.discarded.push(range.clone());
            self.managed.discard(range);
        }
    }

    /// Notes what the host has written of discarded memory.
    pub(crate) fn note_host_writes(&mut self) {
        let device = &mut self.device;
        self.discarded.retain(|range| {
            let bytes = (range.end - range.start) as usize;
            !device.note_host_writes(range.start, DISCARDED, bytes)
        });
    }

    /// Moves an allocation of the device into a file, unless it is in one; gives the file's name.
    pub(crate) fn share(&mut self, address: u64, bytes: u64) -> Option<FileName> {
        let place = self.device.host_pointer(address, 1).ok();
        let is_there = |shared: &SharedBytes| Some(shared.pointer()) == place;
        if !self.shared.get(&address).is_some_and(is_there) {
            let shared = SharedBytes::new(bytes)?;
            // SAFETY: the bytes are new, and go after the allocation, in `unshare`. Other processes use them by the rules
            // of the driver API, which forbid an access beside a running kernel's.
            unsafe { self.device.move_to(address, shared.pointer()) }.ok()?;
            self.shared.insert(address, shared);
        }
        Some(self.shared.get(&address)?.name())
    }

    /// An allocation was freed: its file goes, where it has one.
    pub(crate) fn unshare(&mut self, address: u64) {
        self.shared.remove(&address);
    }

    /// Returns whether an address that no allocation holds was once one's.
    pub(crate) fn kind_of(&self, address: u64) -> MisuseKind {
        if matches!(self.device.locate(address), Location::Freed { .. }) {
            MisuseKind::UseAfterFree
        } else {
            MisuseKind::OutOfBounds
        }
    }

    /// Returns what is still allocated, or was when its device was reset.
    pub(crate) fn leaks(&self) -> Vec<Misuse> {
        let device = self
            .device
            .allocations()
            .into_iter()
            .filter(|one| !one.is_mapped && one.label.is_empty());
        let device = device.map(|one| {
            format!("{} bytes of device memory at {:#x} were never freed", one.bytes, one.address)
        });
        let is_freed_by_others =
            |region: &HostRegion| region.is_registered() && self.registered_is_device;
        let host = self.host.iter().filter(|(_, region)| {
            region.flags & OWNED_BY_MODULE == 0 && !is_freed_by_others(region)
        });
        let host = host.map(|(address, region)| {
            format!(
                "{} bytes of {:?} host memory at {address:#x} were never freed",
                region.bytes, region.kind
            )
        });
        let arrays = self.device.allocations().into_iter().filter(|one| one.label == ARRAY_LABEL);
        let arrays =
            arrays.map(|one| format!("an array of {} bytes was never destroyed", one.bytes));
        let left = self.left.iter().cloned();
        let messages = left.chain(device).chain(host).chain(arrays);
        messages
            .map(|message| Misuse {
                kind: MisuseKind::Leak,
                fault: None,
                memory: None,
                call: "at exit",
                code: None,
                message,
                count: 1,
                location: None,
            })
            .collect()
    }

    /// Remembers which page-locked memory an operation that was executed may have written.
    pub(crate) fn note_writes(&mut self, work: &QueuedWork) {
        let addresses: Vec<u64> = match work {
            QueuedWork::Copy(copy) => vec![copy.target.address],
            QueuedWork::Fill(fill) => vec![fill.address],
            QueuedWork::Kernel(kernel) => {
                let words =
                    kernel.launch.arguments.iter().flat_map(|argument| argument.as_chunks::<8>().0);
                words.map(|word| u64::from_le_bytes(*word)).collect()
            }
            QueuedWork::Host(_) => {
                self.host_function_ran = self.executed;
                return;
            }
            QueuedWork::Event
            | QueuedWork::Wait
            | QueuedWork::Join
            | QueuedWork::Subgraphs(_)
            | QueuedWork::Assign(_)
            | QueuedWork::Allocation(_)
            | QueuedWork::GraphAllocation(_)
            | QueuedWork::Release(_)
            | QueuedWork::Discard(_)
            | QueuedWork::Touch(_)
            | QueuedWork::Prefetch { .. } => return,
        };
        for address in addresses {
            if let Some(allocation) =
                self.device.allocation(address).filter(|allocation| allocation.is_mapped)
            {
                self.written.insert(allocation.address, self.executed);
            }
        }
    }

    /// Returns whether the device may have written the page-locked range of `address` since `executed` operations had run.
    pub(crate) fn device_wrote_since(&self, address: u64, executed: u64) -> bool {
        let base = self.device.allocation(address).map_or(address, |allocation| allocation.address);
        self.host_function_ran > executed
            || self.written.get(&base).is_some_and(|last| *last > executed)
    }
}

/// Returns whether all of a range of host memory that the device knows holds one byte.
fn is_all(device: &Memory, range: Range<u64>, expected: u8) -> bool {
    device.holds_only(range.start, expected, (range.end - range.start) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_pinned(bytes: usize, flags: u32) -> (Memories, u64) {
        let mut memories = Memories::new(&[1 << 20]);
        let mut owned = vec![0u128; bytes.div_ceil(16)];
        let pointer = owned.as_mut_ptr().cast::<u8>();
        let address = pointer.expose_provenance() as u64;
        // SAFETY: the vector has so many bytes and lives in the region below as long as the map knows it.
        unsafe { memories.device.map(address, pointer, bytes as u64) }.expect("a free range");
        let region = HostRegion { bytes, kind: HostKind::Pinned, flags, _owned: Some(owned) };
        memories.host.insert(address, region);
        (memories, address)
    }

    #[test]
    fn an_address_is_what_the_driver_knows_of_it() {
        let (mut memories, pinned) = with_pinned(64, WRITE_COMBINED);
        let device = memories.device.allocate(64).expect("there is room");
        let own = [0u8; 64];
        let own = own.as_ptr().expose_provenance() as u64;
        let places = [device, pinned, own].map(|address| memories.place(address));
        assert_eq!(places, [MemoryKind::Device, MemoryKind::Pinned, MemoryKind::Unknown]);
        assert!(memories.is_host(own) && !memories.is_host(pinned));
        assert!(
            memories.is_write_combined(pinned + 63) && !memories.is_write_combined(pinned + 64)
        );
        let direction = |target, source| memories.direction(&Copy::linear(target, source, 64));
        assert_eq!(direction(device, own), Direction::HostToDevice(true));
        assert_eq!(direction(device, pinned), Direction::HostToDevice(false));
        assert_eq!(direction(pinned, device), Direction::DeviceToHost(false));
        assert_eq!(direction(own, pinned), Direction::Host);
        assert_eq!(memories.leaks().len(), 2);
    }

    #[test]
    fn what_the_driver_allocated_has_large_pages_and_what_the_program_did_has_small_ones() {
        let (mut memories, address) = with_pinned(64, 0);
        let all = address..address + 64;
        assert_eq!(memories.mapped_ranges(), [vec![all.clone()], vec![]]);
        memories.host.get_mut(&address).expect("it is there").kind = HostKind::Registered;
        assert_eq!(memories.mapped_ranges(), [vec![], vec![all]]);
    }

    #[test]
    fn a_copy_past_an_allocation_names_the_place() {
        let (mut memories, pinned) = with_pinned(64, 0);
        let device = memories.device.allocate(32).expect("there is room");
        assert_eq!(memories.copy(&Copy::linear(device, pinned, 32)), Ok(()));
        let (bad, message) = memories.copy(&Copy::linear(device, pinned, 64)).unwrap_err();
        assert_eq!(bad, device, "{message}");
    }

    #[test]
    fn what_the_device_wrote_is_known_until_the_memory_goes() {
        let (mut memories, pinned) = with_pinned(64, 0);
        let device = memories.device.allocate(64).expect("there is room");
        memories.executed = 5;
        memories.note_writes(&QueuedWork::Copy(Copy::linear(pinned, device, 64)));
        assert!(memories.device_wrote_since(pinned + 8, 4));
        assert!(!memories.device_wrote_since(pinned + 8, 5));
        memories.device.unmap(pinned).expect("it is mapped");
        memories.remove_host(pinned);
        assert!(memories.written.is_empty() && memories.host.is_empty());
    }
}
