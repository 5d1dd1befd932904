//! Memory whose addresses a program chooses: it reserves addresses, makes memory, and maps one to the other.
//!
//! Memory is a file without a name, mapped into reserved addresses of the process. So two addresses may have the same
//! memory, and memory that is mapped elsewhere keeps its content.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Says whether this is made for the operating system: files without a name, and addresses that are reserved.
pub(crate) const IS_SUPPORTED: bool = cfg!(target_os = "linux");
/// The number of which sizes and addresses are multiples.
pub(crate) const GRANULARITY: u64 = 2 << 20;

/// Memory without an address.
#[derive(Debug)]
pub(crate) struct Physical {
    file: File,
    pub(crate) bytes: u64,
    pub(crate) device: usize,
    /// `CU_MEM_HANDLE_TYPE_*` by which other processes may be given it.
    pub(crate) handle_types: u32,
}

impl Physical {
    /// Makes what stands for something without memory of its own, such as a pool.
    pub(crate) fn token(device: usize) -> Option<Physical> {
        Some(Physical { file: system::file(0, device)?, bytes: 0, device, handle_types: 0 })
    }

    /// Takes what a file descriptor stands for that `exported` gave here or in another process; nothing if it is another's.
    /// The descriptor stays the caller's, and what was taken has no kind of handle, as on an H200.
    pub(crate) fn import(descriptor: i32) -> Option<Physical> {
        let (file, device) = system::of_descriptor(descriptor)?;
        let bytes = file.metadata().ok()?.len();
        Some(Physical { file, bytes, device, handle_types: 0 })
    }

    /// Returns a number that no other file has.
    pub(crate) fn identity(&self) -> u64 {
        system::name(&self.file).identity
    }

    /// Returns a new file descriptor of the memory, which belongs to the caller.
    pub(crate) fn exported(&self) -> Option<i32> {
        system::duplicate(&self.file)
    }
}

#[derive(Debug)]
struct Mapping {
    memory: Arc<Physical>,
    bytes: u64,
    /// The device may use it.
    is_open: bool,
}

/// A file's number in the process that has it, which a later file may have, and its number among all files.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileName {
    pub(crate) number: u64,
    pub(crate) identity: u64,
}

/// Bytes in a file that other processes may open.
#[derive(Debug)]
pub(crate) struct SharedBytes {
    file: File,
    address: u64,
    bytes: u64,
}

impl SharedBytes {
    /// Makes a file of zeros; nothing where the system gives none.
    pub(crate) fn new(bytes: u64) -> Option<SharedBytes> {
        let file = system::file(bytes, 0)?;
        let address = system::reserve(bytes, GRANULARITY)?;
        let made = SharedBytes { file, address, bytes };
        // SAFETY: the range is reserved, and nobody uses it.
        unsafe { system::map(address, bytes, &made.file) }?;
        Some(made)
    }

    pub(crate) fn pointer(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.address as usize)
    }

    /// The number by which another process opens the file, and that which no other file has.
    pub(crate) fn name(&self) -> FileName {
        system::name(&self.file)
    }
}

impl Drop for SharedBytes {
    fn drop(&mut self) {
        // SAFETY: the range was reserved for it, and the allocation that had these bytes was freed.
        unsafe { system::free(self.address, self.bytes) };
    }
}

/// The addresses that a program reserved, and what it mapped there.
#[derive(Debug, Default)]
pub(crate) struct VirtualMemory {
    /// The bytes of each reservation by its first address.
    reserved: BTreeMap<u64, u64>,
    mapped: BTreeMap<u64, Mapping>,
    /// The ranges that the device was told it may use.
    pub(crate) open: Vec<Range<u64>>,
    memories: Vec<Weak<Physical>>,
}

impl VirtualMemory {
    /// Makes memory; nothing where the system has none.
    pub(crate) fn make(
        &mut self,
        bytes: u64,
        device: usize,
        handle_types: u32,
    ) -> Option<Arc<Physical>> {
        let file = system::file(bytes, device)?;
        let made = Arc::new(Physical { file, bytes, device, handle_types });
        self.memories.retain(|memory| memory.strong_count() > 0);
        self.memories.push(Arc::downgrade(&made));
        Some(made)
    }

    /// Bytes of a device's memory that were made and live.
    pub(crate) fn bytes_on(&self, device: usize) -> u64 {
        let live = self.memories.iter().filter_map(Weak::upgrade);
        live.filter(|memory| memory.device == device).map(|memory| memory.bytes).sum()
    }

    /// Reserves addresses; nothing where the system has none.
    pub(crate) fn reserve(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        let address = system::reserve(bytes, alignment.max(GRANULARITY))?;
        self.reserved.insert(address, bytes);
        Some(address)
    }

    /// Maps memory that a process has shared, at new addresses.
    pub(crate) fn open(
        &mut self,
        process: u32,
        name: FileName,
        (bytes, device): (u64, usize),
    ) -> Option<u64> {
        let file = system::open(process, name)?;
        (file.metadata().ok()?.len() == bytes).then_some(())?;
        let address = self.reserve(bytes, GRANULARITY)?;
        let memory = Physical { file, bytes, device, handle_types: 0 };
        let mapped = self.map(address, Arc::new(memory));
        if mapped.is_none() {
            self.free(address, bytes);
        }
        mapped.map(|()| address)
    }

    /// Gives reserved addresses back, if they are one reservation in which nothing is mapped.
    pub(crate) fn free(&mut self, address: u64, bytes: u64) -> Option<()> {
        let is_empty = self.mapped.range(address..address.checked_add(bytes)?).next().is_none();
        (self.reserved.get(&address) == Some(&bytes) && is_empty).then_some(())?;
        self.reserved.remove(&address);
        // SAFETY: the range is one that `reserve` gave, and nobody has a part of it any more.
        unsafe { system::free(address, bytes) };
        Some(())
    }

    fn reservation(&self, range: &Range<u64>) -> Option<u64> {
        let (first, bytes) = self.reserved.range(..=range.start).next_back()?;
        (range.end <= first + bytes).then_some(*first)
    }

    pub(crate) fn reserves(&self, address: u64) -> bool {
        self.reservation(&(address..address.saturating_add(1))).is_some()
    }

    /// Maps memory at reserved addresses where nothing is mapped.
    pub(crate) fn map(&mut self, address: u64, memory: Arc<Physical>) -> Option<()> {
        let bytes = memory.bytes;
        let range = address..address.checked_add(bytes)?;
        self.reservation(&range)?;
        let before = self.mapped.range(..range.end).next_back();
        let is_free = before.is_none_or(|(first, other)| first + other.bytes <= address);
        (is_free && address.is_multiple_of(GRANULARITY)).then_some(())?;
        // SAFETY: the range is reserved, and no region of the device lies there.
        unsafe { system::map(address, bytes, &memory.file) }?;
        self.mapped.insert(address, Mapping { memory, bytes, is_open: false });
        Some(())
    }

    /// The first addresses of the mappings that a range is made of.
    fn inside(&self, range: &Range<u64>) -> Option<Vec<u64>> {
        let mut next = range.start;
        let mut found = Vec::new();
        for (first, mapping) in self.mapped.range(range.clone()) {
            (*first == next).then_some(())?;
            next = first + mapping.bytes;
            found.push(*first);
        }
        (next == range.end && !found.is_empty()).then_some(found)
    }

    /// Says whether the device may use a range, which is one of whole mappings.
    pub(crate) fn set_open(&mut self, range: &Range<u64>, is_open: bool) -> Option<()> {
        for first in self.inside(range)? {
            self.mapped.get_mut(&first)?.is_open = is_open;
        }
        Some(())
    }

    /// Takes the mappings of a range away, after the device no longer uses it.
    pub(crate) fn unmap(&mut self, range: &Range<u64>) -> Option<()> {
        for first in self.inside(range)? {
            let mapping = self.mapped.remove(&first)?;
            // SAFETY: the range is reserved, and no region of the device lies there.
            unsafe { system::unmap(first, mapping.bytes) }?;
        }
        Some(())
    }

    /// The memory that is mapped at an address, and whether the device may use it.
    pub(crate) fn at(&self, address: u64) -> Option<(Arc<Physical>, bool)> {
        let (first, mapping) = self.mapped.range(..=address).next_back()?;
        let is_inside = address < first + mapping.bytes;
        is_inside.then(|| (mapping.memory.clone(), mapping.is_open))
    }

    /// The ranges that the device may use, neighbours joined within a reservation.
    pub(crate) fn ranges(&self) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (first, mapping) in self.mapped.iter().filter(|(_, mapping)| mapping.is_open) {
            let end = first + mapping.bytes;
            let last = ranges.last_mut().filter(|last| last.end == *first);
            match last.filter(|last| self.reservation(&(last.start..end)).is_some()) {
                Some(last) => last.end = end,
                None => ranges.push(*first..end),
            }
        }
        ranges
    }
}

/// Addresses and files of the operating system.
#[cfg(target_os = "linux")]
mod system {
    use super::FileName;
    use std::ffi::CString;
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
    use std::os::unix::fs::MetadataExt;
    use std::ptr::{null_mut, with_exposed_provenance_mut};

    const NOBODYS: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

    /// The begin of the links to our files; the number of their device follows.
    const NAME: &str = "/memfd:coalesce.";

    /// Makes a file of zeros, in whose name the device is.
    pub fn file(bytes: u64, device: usize) -> Option<File> {
        let name = CString::new(format!("coalesce.{device}")).ok()?;
        // SAFETY: the name is a text of C.
        let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        // SAFETY: a file that was just opened and belongs to nobody else.
        let file = (file >= 0).then(|| unsafe { File::from_raw_fd(file) })?;
        file.set_len(bytes).ok()?;
        Some(file)
    }

    pub fn name(file: &File) -> FileName {
        let identity = file.metadata().map_or(0, |about| about.ino());
        FileName { number: u64::from(file.as_raw_fd().unsigned_abs()), identity }
    }

    /// Opens a file of `file` that another process has.
    pub fn open(process: u32, name: FileName) -> Option<File> {
        let path = format!("/proc/{process}/fd/{}", name.number);
        device_of(&path)?;
        let file = File::options().read(true).write(true).open(path).ok()?;
        (file.metadata().ok()?.ino() == name.identity).then_some(file)
    }

    /// Returns the device of a file of `file`; nothing for others.
    fn device_of(path: &str) -> Option<usize> {
        let target = std::fs::read_link(path).ok()?;
        target.to_str()?.strip_prefix(NAME)?.split(' ').next()?.parse().ok()
    }

    pub fn duplicate(file: &File) -> Option<i32> {
        Some(file.try_clone().ok()?.into_raw_fd())
    }

    /// Opens the file of `file` that a descriptor names, and its device.
    pub fn of_descriptor(descriptor: i32) -> Option<(File, usize)> {
        let device = device_of(&format!("/proc/self/fd/{descriptor}"))?;
        // SAFETY: the call takes numbers.
        let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
        // SAFETY: a file that was just opened and belongs to nobody else.
        let file = (copy >= 0).then(|| unsafe { File::from_raw_fd(copy) })?;
        Some((file, device))
    }

    pub fn reserve(bytes: u64, alignment: u64) -> Option<u64> {
        let all = usize::try_from(bytes.checked_add(alignment)?).ok()?;
        // SAFETY: new addresses, which nobody uses.
        let start = unsafe { libc::mmap(null_mut(), all, libc::PROT_NONE, NOBODYS, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = start.expose_provenance() as u64;
        let address = start.next_multiple_of(alignment);
        let after = start + all as u64 - (address + bytes);
        // SAFETY: the two ends of what was just reserved, which nobody uses.
        unsafe {
            free(start, address - start);
            free(address + bytes, after);
        }
        Some(address)
    }

    /// # Safety
    /// - The range was reserved, and nobody uses it any more.
    pub unsafe fn free(address: u64, bytes: u64) {
        if bytes > 0 {
            // SAFETY: by the contract.
            unsafe { libc::munmap(with_exposed_provenance_mut(address as usize), bytes as usize) };
        }
    }

    /// # Safety
    /// - The range was reserved, and nobody uses it.
    pub unsafe fn map(address: u64, bytes: u64, file: &File) -> Option<()> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let how = libc::MAP_SHARED | libc::MAP_FIXED;
        let place = with_exposed_provenance_mut(address as usize);
        // SAFETY: by the contract.
        let mapped = unsafe { libc::mmap(place, bytes as usize, rights, how, file.as_raw_fd(), 0) };
        (mapped != libc::MAP_FAILED).then_some(())
    }

    /// # Safety
    /// - As for `map`.
    pub unsafe fn unmap(address: u64, bytes: u64) -> Option<()> {
        let place = with_exposed_provenance_mut(address as usize);
        let how = NOBODYS | libc::MAP_FIXED;
        // SAFETY: by the contract.
        let left = unsafe { libc::mmap(place, bytes as usize, libc::PROT_NONE, how, -1, 0) };
        (left != libc::MAP_FAILED).then_some(())
    }
}

/// Other systems have files and addresses of another kind: none are given.
#[cfg(not(target_os = "linux"))]
mod system {
    use super::FileName;
    use std::fs::File;

    pub fn file(_bytes: u64, _device: usize) -> Option<File> {
        None
    }

    pub fn duplicate(_file: &File) -> Option<i32> {
        None
    }

    pub fn of_descriptor(_descriptor: i32) -> Option<(File, usize)> {
        None
    }

    pub fn name(_file: &File) -> FileName {
        FileName::default()
    }

    pub fn open(_process: u32, _name: FileName) -> Option<File> {
        None
    }

    pub fn reserve(_bytes: u64, _alignment: u64) -> Option<u64> {
        None
    }

    pub unsafe fn free(_address: u64, _bytes: u64) {}

    pub unsafe fn map(_address: u64, _bytes: u64, _file: &File) -> Option<()> {
        None
    }

    pub unsafe fn unmap(_address: u64, _bytes: u64) -> Option<()> {
        None
    }
}
