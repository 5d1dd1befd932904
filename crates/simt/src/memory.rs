//! Device memory: allocations and mapped host ranges in one 64-bit address space.
//!
//! Addresses of allocations are handed out in a fixed order from a fixed start, so that the same
//! program sees the same addresses in every run. A gap follows every allocation, so that running
//! past its end never reaches the next one.
//!
//! Several devices share the address space: each has a range of addresses of its own, from which it
//! allocates, and as many bytes as it says.

use crate::error::Error;
use crate::heap::Heap;
use crate::location::Location;
use crate::region::{ALIGNMENT, Allocation, PAGE, Region, Zeroed};
use crate::texture::Texture;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::ops::Range;

/// First address of the first device's allocations.
const FIRST_ADDRESS: u64 = 0x0400_0000_0000;
const DEVICE_ADDRESSES: u64 = 0x0400_0000_0000;
/// Devices that have addresses below those at which programs lie on the systems that this runs on.
const MAX_DEVICES: usize = 16;
/// Freed ranges that are remembered to name a use after free.
const FREED_MAX: usize = 1024;

/// The first address behind an allocation and its gap.
fn past(address: u64, bytes: u64) -> u64 {
    (address + bytes + ALIGNMENT).next_multiple_of(ALIGNMENT)
}

struct Bank {
    next: u64,
    capacity: u64,
    used: u64,
}

/// The memory of one device or several, and the host memory that is mapped into their address space.
pub struct Memory {
    /// By address. A region that is freed leaves a gap, so that freeing many of very many takes no longer than each.
    regions: Vec<Region>,
    gaps: usize,
    /// The regions that are taken out while a launch runs that may not access them.
    hidden: Vec<Region>,
    banks: Vec<Bank>,
    /// The device that allocations are made on.
    selected: usize,
    freed: VecDeque<(u64, u64)>,
    /// Bytes of addresses set aside, by the first.
    reserved: BTreeMap<u64, u64>,
    modules: HashMap<u64, HashMap<String, (u64, u64)>>,
    textures: HashMap<u64, Texture>,
    /// By device: what its kernels allocate from, once one did.
    pub(crate) heaps: HashMap<usize, Heap>,
    /// By device: where kernels put the arguments of their launches, once one could.
    pub(crate) launch_buffers: HashMap<usize, Heap>,
    /// By device: where the texts of errors are, once a kernel may ask for one.
    pub(crate) error_texts: HashMap<usize, u64>,
    /// By device: its attributes, each at its number, as kernels may ask for them.
    pub(crate) attributes: HashMap<usize, Vec<Option<i32>>>,
    last_texture: u64,
    track: bool,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.allocations()).finish()
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new(1 << 40)
    }
}

impl Memory {
    /// The label of the words that a kernel may set by `cudaGraphSetConditional`.
    pub const CONDITION: &str = "condition of a graph";

    /// Memory of a device with so many bytes.
    pub fn new(capacity: u64) -> Memory {
        Memory::of_devices(&[capacity])
    }

    /// Memory of several devices, at most 16, each with so many bytes. The first is selected.
    ///
    /// # Panics
    /// When there is none, or more than 16.
    pub fn of_devices(capacities: &[u64]) -> Memory {
        assert!((1..=MAX_DEVICES).contains(&capacities.len()), "1 to {MAX_DEVICES} devices");
        let bank = |(device, capacity): (usize, &u64)| Bank {
            next: FIRST_ADDRESS + device as u64 * DEVICE_ADDRESSES,
            capacity: *capacity,
            used: 0,
        };
        Memory {
            regions: Vec::new(),
            hidden: Vec::new(),
            banks: capacities.iter().enumerate().map(bank).collect(),
            selected: 0,
            freed: VecDeque::new(),
            reserved: BTreeMap::new(),
            gaps: 0,
            modules: HashMap::new(),
            textures: HashMap::new(),
            heaps: HashMap::new(),
            launch_buffers: HashMap::new(),
            error_texts: HashMap::new(),
            attributes: HashMap::new(),
            last_texture: 0,
            track: false,
        }
    }

    /// Sets the attributes of a device that kernels may ask for, each at the number that CUDA gives it.
    pub fn set_attributes(&mut self, device: usize, attributes: Vec<Option<i32>>) {
        self.attributes.insert(device, attributes);
    }

    pub(crate) fn device_count(&self) -> usize {
        self.banks.len()
    }

    /// Remembers from now on which bytes of new allocations were ever written, so that launches
    /// with `Checks::uninitialized` can find reads of bytes that nobody wrote.
    pub fn track_initialization(&mut self) {
        self.track = true;
    }

    /// The device that allocations are made on.
    pub(crate) fn selected(&self) -> usize {
        self.selected
    }

    /// From here on allocations are made on this device.
    ///
    /// # Panics
    /// When there is no such device.
    pub fn select(&mut self, device: usize) {
        assert!(device < self.banks.len(), "there are {} devices", self.banks.len());
        self.selected = device;
    }

    /// The addresses of a device.
    pub fn addresses(device: usize) -> Range<u64> {
        let first = FIRST_ADDRESS + device as u64 * DEVICE_ADDRESSES;
        first..first + DEVICE_ADDRESSES
    }

    /// The device whose addresses hold this one, if one does; what the host maps may lie there, too.
    pub fn device_of(&self, address: u64) -> Option<usize> {
        let device = (address.checked_sub(FIRST_ADDRESS)? / DEVICE_ADDRESSES) as usize;
        (device < self.banks.len()).then_some(device)
    }

    /// Takes the allocations of which this is true out of reach, until [`Memory::show`]: a launch that accesses one of
    /// them fails as if it were not there.
    pub fn hide(&mut self, is_hidden: impl Fn(u64) -> bool) {
        let hides = |region: &mut Region| region.owner.is_some() && is_hidden(region.base);
        self.hidden.extend(self.regions.extract_if(.., hides));
    }

    /// Everything is within reach again.
    pub fn show(&mut self) {
        for region in std::mem::take(&mut self.hidden) {
            self.insert(region);
        }
    }

    /// Bytes allocated at the moment, on the selected device.
    pub fn used_bytes(&self) -> u64 {
        self.banks[self.selected].used
    }

    /// Bytes that the selected device has.
    pub fn capacity_bytes(&self) -> u64 {
        self.banks[self.selected].capacity
    }

    /// Allocates; the address is a multiple of 512, of 2 MiB for as many bytes and more, the content is zero.
    ///
    /// # Errors
    /// When the device has not so much memory.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, Error> {
        self.allocate_named(bytes, "")
    }

    /// Allocates with a name that messages will use.
    ///
    /// # Errors
    /// When the device has not so much memory.
    pub fn allocate_named(&mut self, bytes: u64, label: &str) -> Result<u64, Error> {
        let bank = &self.banks[self.selected];
        let free = bank.capacity - bank.used;
        if bytes > free {
            return Err(Error::OutOfMemory { requested: bytes, free });
        }
        let address = self.next_address(bytes);
        self.place(address, bytes, label)?;
        self.banks[self.selected].next = past(address, bytes);
        Ok(address)
    }

    /// The address at which the selected device allocates so many bytes next.
    fn next_address(&self, bytes: u64) -> u64 {
        let alignment = if bytes < PAGE { ALIGNMENT } else { PAGE };
        self.banks[self.selected].next.next_multiple_of(alignment)
    }

    /// Reserves addresses of the selected device for [`Memory::allocate_at`]; no other allocation is given them.
    ///
    /// # Errors
    /// When the device has not so much memory.
    pub fn reserve(&mut self, bytes: u64) -> Result<u64, Error> {
        let bank = &self.banks[self.selected];
        if bytes > bank.capacity {
            return Err(Error::OutOfMemory { requested: bytes, free: bank.capacity });
        }
        let address = self.next_address(bytes);
        self.banks[self.selected].next = past(address, bytes);
        self.reserved.insert(address, bytes);
        Ok(address)
    }

    /// Allocates at addresses that were reserved; the content is zero.
    ///
    /// # Errors
    /// When the device has not so much memory, or the addresses hold an allocation.
    pub fn allocate_at(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        if let Some(found) = self.allocation(address) {
            let message = format!("{address:#x} is allocated already, with {} bytes", found.bytes);
            return Err(Error::Memory { message });
        }
        self.place(address, bytes, "")
    }

    /// Allocates at free addresses of a device.
    fn place(&mut self, address: u64, bytes: u64, label: &str) -> Result<(), Error> {
        let bank = &mut self.banks[((address - FIRST_ADDRESS) / DEVICE_ADDRESSES) as usize];
        let free = bank.capacity - bank.used;
        let owner = if bytes > free { None } else { Zeroed::new(bytes) };
        let Some(owner) = owner else {
            return Err(Error::OutOfMemory { requested: bytes, free });
        };
        let initialized = if self.track { Zeroed::new(bytes.div_ceil(64) * 8) } else { None };
        bank.used += bytes;
        // Mapped ranges and reserved ones may lie anywhere.
        self.insert(Region {
            base: address,
            bytes,
            pointer: owner.pointer(),
            owner: Some(owner),
            label: label.into(),
            is_constant: false,
            initialized,
        });
        Ok(())
    }

    /// Makes the allocation at an address constant memory, which kernels do not write.
    pub(crate) fn make_constant(&mut self, address: u64) {
        let at = self.regions.partition_point(|region| region.base < address);
        if let Some(region) = self.regions.get_mut(at) {
            region.is_constant = region.base == address;
        }
    }

    fn insert(&mut self, region: Region) {
        let place = |memory: &Memory| memory.regions.partition_point(|r| r.base < region.base);
        let mut at = place(self);
        // A search would find a gap that begins within the region, not the region.
        if self.regions.get(at).is_some_and(|next| next.base < region.base + region.bytes) {
            self.close_gaps();
            at = place(self);
        }
        self.regions.insert(at, region);
    }

    /// Takes a region out.
    fn remove(&mut self, at: usize) -> Region {
        let gap = Region::gap(self.regions[at].base);
        let region = std::mem::replace(&mut self.regions[at], gap);
        self.gaps += 1;
        if 2 * self.gaps > self.regions.len() {
            self.close_gaps();
        }
        region
    }

    fn close_gaps(&mut self) {
        self.regions.retain(|region| !region.is_gap());
        self.gaps = 0;
    }

    /// Frees an allocation by its first address.
    ///
    /// # Errors
    /// When no allocation begins there.
    pub fn free(&mut self, address: u64) -> Result<(), Error> {
        match self.regions.binary_search_by_key(&address, |r| r.base) {
            Ok(at) if self.regions[at].owner.is_some() => {
                let region = self.remove(at);
                if let Some(device) = self.device_of(region.base) {
                    self.banks[device].used -= region.bytes;
                }
                self.freed.push_back((region.base, region.bytes));
                if self.freed.len() > FREED_MAX {
                    self.freed.pop_front();
                }
                Ok(())
            }
            _ => Err(Error::Memory { message: self.describe(address) }),
        }
    }

    /// Maps host memory into the device's address space, at any address that is free.
    ///
    /// # Errors
    /// When something lies there already, or the two addresses differ modulo 16.
    ///
    /// # Safety
    /// - `pointer` is valid for reads and writes of `bytes` bytes until [`Memory::unmap`].
    /// - While a launch runs, other threads do not touch these bytes.
    /// - `pointer` and `address` agree modulo 16.
    pub unsafe fn map(&mut self, address: u64, pointer: *mut u8, bytes: u64) -> Result<(), Error> {
        let end = address.saturating_add(bytes);
        let before_end = self.regions.partition_point(|r| r.base < end);
        // Regions do not overlap, so the last that begins before the end is the one that ends last.
        let last = self.regions[..before_end].iter().rev().find(|r| !r.is_gap());
        let overlap = last.filter(|r| address < r.base + r.bytes);
        if let Some(region) = overlap {
            let message = format!(
                "range {address:#x}..+{bytes} overlaps the allocation at {:#x}",
                region.base
            );
            return Err(Error::Memory { message });
        }
        if address % 16 != pointer as u64 % 16 {
            let message = format!("{address:#x} and the host pointer differ in alignment");
            return Err(Error::Memory { message });
        }
        self.insert(Region {
            base: address,
            bytes,
            pointer,
            owner: None,
            label: "mapped host memory".into(),
            is_constant: false,
            initialized: None,
        });
        Ok(())
    }

    /// Removes a mapping by its first address.
    ///
    /// # Errors
    /// When no mapping begins there.
    pub fn unmap(&mut self, address: u64) -> Result<(), Error> {
        match self.regions.binary_search_by_key(&address, |r| r.base) {
            Ok(at) if self.regions[at].is_mapped() => {
                self.remove(at);
                Ok(())
            }
            _ => Err(Error::Memory { message: self.describe(address) }),
        }
    }

    /// The index of the region that holds the whole range.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<usize> {
        let after = self.regions.partition_point(|r| r.base <= address);
        let index = after.checked_sub(1)?;
        self.regions[index].contains(address, bytes).then_some(index)
    }

    /// Returns whether all bytes between two addresses are allocated.
    pub(crate) fn is_one_range(&self, first: u64, last: u64) -> bool {
        let (mut at, last) = (first.min(last), first.max(last));
        while let Some(region) = self.find(at, 1).map(|index| &self.regions[index]) {
            at = region.base + region.bytes;
            if at > last {
                return true;
            }
        }
        false
    }

    pub(crate) fn region(&self, index: usize) -> &Region {
        &self.regions[index]
    }

    #[inline(always)]
    pub(crate) fn region_or_none(&self, index: usize) -> Option<&Region> {
        self.regions.get(index)
    }

    pub(crate) fn region_count(&self) -> usize {
        self.regions.len()
    }

    /// The allocation that an address lies in.
    pub fn allocation(&self, address: u64) -> Option<Allocation> {
        self.find(address, 1).map(|index| self.regions[index].outline())
    }

    /// All allocations and mappings, by address.
    pub fn allocations(&self) -> Vec<Allocation> {
        let indices = 0..self.regions.len();
        let indices = indices.filter(|index| !self.regions[*index].is_gap());
        indices.map(|index| self.regions[index].outline()).collect()
    }

    fn range(&self, address: u64, bytes: usize) -> Result<(&Region, usize), Error> {
        match self.find(address, bytes as u64) {
            Some(index) => {
                let region = &self.regions[index];
                Ok((region, (address - region.base) as usize))
            }
            None => Err(Error::Memory {
                message: format!("{bytes} bytes at {address:#x}: {}", self.describe(address)),
            }),
        }
    }

    /// Copies device memory to the host.
    ///
    /// # Errors
    /// When the range is not in one allocation.
    pub fn read(&self, address: u64, target: &mut [u8]) -> Result<(), Error> {
        if target.is_empty() {
            return Ok(());
        }
        let (region, offset) = self.range(address, target.len())?;
        // SAFETY: the region holds the whole range, which is valid by its construction; no kernel
        // runs, for that would need `&mut self`; the host slice is not device memory.
        unsafe {
            region.pointer.add(offset).copy_to(target.as_mut_ptr(), target.len());
        }
        Ok(())
    }

    /// Copies host memory to the device.
    ///
    /// # Errors
    /// When the range is not in one allocation.
    pub fn write(&mut self, address: u64, source: &[u8]) -> Result<(), Error> {
        if source.is_empty() {
            return Ok(());
        }
        let (region, offset) = self.range(address, source.len())?;
        // SAFETY: as in `read`; `&mut self` excludes every other access to owned regions, and
        // `map`'s contract excludes races on mapped ones.
        unsafe { region.pointer.add(offset).copy_from(source.as_ptr(), source.len()) };
        region.mark(offset as u64, source.len() as u64);
        Ok(())
    }

    /// Sets bytes to one value.
    ///
    /// # Errors
    /// When the range is not in one allocation.
    pub fn fill(&mut self, address: u64, value: u8, bytes: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        let (region, offset) = self.range(address, bytes)?;
        // SAFETY: as in `write`.
        unsafe { region.pointer.add(offset).write_bytes(value, bytes) };
        region.mark(offset as u64, bytes as u64);
        Ok(())
    }

    /// Moves the bytes of an allocation to a place that others may have, too. From here on nobody knows which were written.
    ///
    /// # Errors
    /// When no allocation of a device begins there.
    ///
    /// # Safety
    /// - `pointer` is valid for reads and writes of the allocation's bytes, rounded up to 8, until it is freed, and is
    ///   aligned as a page is.
    /// - While a launch runs, nobody else touches these bytes.
    pub unsafe fn move_to(&mut self, address: u64, pointer: *mut u8) -> Result<(), Error> {
        let found = self.regions.binary_search_by_key(&address, |region| region.base);
        let Some(region) =
            found.ok().map(|at| &mut self.regions[at]).filter(|it| it.owner.is_some())
        else {
            return Err(Error::Memory { message: self.describe(address).to_string() });
        };
        // SAFETY: the region's bytes are valid, and by the contract so are those of the other place.
        unsafe { pointer.copy_from(region.pointer, region.bytes as usize) };
        (region.pointer, region.initialized) = (pointer, None);
        Ok(())
    }

    /// Sets bytes to one value, which is no content: a read of them is one of bytes that nobody wrote, until somebody does.
    ///
    /// # Errors
    /// When the range is not in one allocation.
    pub fn discard(&mut self, address: u64, value: u8, bytes: usize) -> Result<(), Error> {
        self.fill(address, value, bytes)?;
        if let (true, Some(index)) = (self.track, self.find(address, bytes as u64)) {
            let region = &mut self.regions[index];
            region.discard(address - region.base, bytes as u64);
        }
        Ok(())
    }

    /// Notes what the host has written, past this memory, of a range that was discarded and held `value` then: pieces of 64
    /// bytes that hold something else. Returns whether nothing of the range is undefined any more.
    pub fn note_host_writes(&mut self, address: u64, value: u8, bytes: usize) -> bool {
        let Ok((region, offset)) = self.range(address, bytes) else { return true };
        region.mark_changed(offset as u64, bytes as u64, value);
        region.is_initialized(offset as u64, bytes as u64)
    }

    /// Returns whether all bytes of a range of an allocation are the same.
    pub fn holds_only(&self, address: u64, value: u8, bytes: usize) -> bool {
        let found = self.range(address, bytes).ok();
        found.is_some_and(|(region, offset)| region.holds_only(offset as u64, bytes as u64, value))
    }

    /// Copies between device addresses; the ranges may overlap.
    ///
    /// # Errors
    /// When one of the ranges is not in one allocation.
    pub fn copy(&mut self, target: u64, source: u64, bytes: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        let (from, from_offset) = self.range(source, bytes)?;
        let (to, to_offset) = self.range(target, bytes)?;
        // SAFETY: both ranges are valid and `copy_from` allows overlap; otherwise as in `write`.
        unsafe { to.pointer.add(to_offset).copy_from(from.pointer.add(from_offset), bytes) };
        to.mark_as(to_offset as u64, from, from_offset as u64, bytes as u64);
        Ok(())
    }

    /// The bytes of a range of an allocation that nobody has written, as far as that is tracked.
    pub fn unwritten_bytes(&self, address: u64, bytes: usize) -> u64 {
        let found = self.range(address, bytes).ok();
        found.map_or(0, |(region, offset)| region.unwritten(offset as u64, bytes as u64))
    }

    /// The host's view of a device range, for callers that fill memory in bulk.
    ///
    /// The pointer is valid for `bytes` bytes until the allocation is freed.
    ///
    /// # Errors
    /// When the range is not in one allocation.
    pub fn host_pointer(&self, address: u64, bytes: usize) -> Result<*mut u8, Error> {
        let (region, offset) = self.range(address, bytes)?;
        region.mark(offset as u64, bytes as u64);
        // SAFETY: `offset` lies within the region.
        Ok(unsafe { region.pointer.add(offset) })
    }

    /// Describes the place of an address relative to the allocations: text for messages.
    pub fn describe(&self, address: u64) -> String {
        self.locate(address).to_string()
    }

    /// Returns where an address lies relative to the allocations.
    pub fn locate(&self, address: u64) -> Location {
        if let Some((base, bytes)) =
            self.freed.iter().rev().find(|(b, n)| address >= *b && address < b + n)
        {
            return Location::Freed { bytes: *bytes, base: *base };
        }
        if let Some(region) = self.hidden.iter().find(|region| region.contains(address, 1)) {
            return Location::OtherDevice {
                allocation: region.outline(),
                offset: address - region.base,
                device: self.device_of(region.base).unwrap_or(0),
            };
        }
        if let Some(allocation) = self.allocation(address) {
            return Location::Allocation { offset: address - allocation.address, allocation };
        }
        if let Some((&base, &bytes)) = self.reserved.range(..=address).next_back()
            && address < base + bytes
        {
            return Location::Reserved { bytes, base };
        }
        let after = self.regions.partition_point(|r| r.base <= address);
        let (below, above) = self.regions.split_at(after);
        let below = below.iter().rev().find(|region| !region.is_gap());
        let below = below.map(|region| (region, address - (region.base + region.bytes)));
        let above = above.iter().find(|region| !region.is_gap());
        let above = above.map(|region| (region, region.base - address));
        match (below, above) {
            (Some((region, distance)), above)
                if above.is_none_or(|(_, other)| distance <= other) =>
            {
                Location::Past { allocation: region.outline(), distance }
            }
            (_, Some((region, distance))) => {
                Location::Before { allocation: region.outline(), distance }
            }
            _ => Location::Nothing,
        }
    }

    /// Makes a texture or surface known to kernels, and gives its handle. Its texels lie in this memory.
    pub fn create_texture(&mut self, texture: Texture) -> u64 {
        self.last_texture += 1;
        self.textures.insert(self.last_texture, texture);
        self.last_texture
    }

    /// Forgets a texture or surface; gives what it was.
    pub fn destroy_texture(&mut self, handle: u64) -> Option<Texture> {
        self.textures.remove(&handle)
    }

    /// Returns what a handle stands for.
    pub fn texture(&self, handle: u64) -> Option<&Texture> {
        self.textures.get(&handle)
    }

    /// Returns whether there was a texture or surface with this handle.
    pub(crate) fn was_texture(&self, handle: u64) -> bool {
        (1..=self.last_texture).contains(&handle)
    }

    pub(crate) fn module_symbols(&self, module: u64) -> Option<&HashMap<String, (u64, u64)>> {
        self.modules.get(&module)
    }

    pub(crate) fn set_module_symbols(&mut self, module: u64, symbols: HashMap<String, (u64, u64)>) {
        self.modules.insert(module, symbols);
    }

    pub(crate) fn remove_module(&mut self, module: u64) {
        if let Some(symbols) = self.modules.remove(&module) {
            for (address, _) in symbols.values() {
                // A symbol's allocation exists as long as the module is loaded; mapped memory is the caller's.
                let _ = self.free(*address);
            }
        }
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
