//! Copies between device memory, host memory that the driver knows, and ordinary host memory.

use crate::machine::{HostKind, Machine};
use crate::misuse::MisuseKind;
use crate::model::{self, Direction};
use crate::work::{Copy, Operation, Side, Work};
use std::hash::Hasher;

/// What an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Device memory, or managed memory.
    Device,
    /// Page-locked host memory.
    Pinned,
    /// Nothing that the driver knows.
    Unknown,
}

impl Machine {
    /// What an address is.
    pub(crate) fn place(&self, address: u64) -> Place {
        match self.memory.allocation(address) {
            Some(allocation) if !allocation.is_mapped => Place::Device,
            Some(allocation) => {
                match self.host.get(&allocation.address).map(|region| region.kind) {
                    Some(HostKind::Managed) => Place::Device,
                    _ => Place::Pinned,
                }
            }
            None => Place::Unknown,
        }
    }

    /// Which way a copy goes.
    pub(crate) fn direction(&self, copy: &Copy) -> Direction {
        let (from, to) = (self.place(copy.source.address), self.place(copy.target.address));
        match (from, to) {
            (Place::Device, Place::Device) => Direction::Device,
            (source, Place::Device) => Direction::Upload(source == Place::Unknown),
            (Place::Device, target) => Direction::Download(target == Place::Unknown),
            _ => Direction::Host,
        }
    }

    /// Copies, and says for how long it takes when nothing else uses the bus.
    pub(crate) fn copy(&mut self, copy: &Copy) -> Option<f64> {
        let direction = self.direction(copy);
        for row in 0..copy.height {
            let at = |side: Side| side.address + (row * side.pitch) as u64;
            if let Err(message) = self.copy_row(copy, row, at(copy.target), at(copy.source)) {
                let bad = if self.place(at(copy.source)) == Place::Unknown {
                    at(copy.source)
                } else {
                    at(copy.target)
                };
                let kind = self.kind_of(bad);
                self.report(kind, format!("a copy of {message}"));
                self.fault.get_or_insert(cuda_driver::ReturnCode::INVALID_VALUE);
                return None;
            }
        }
        // What the host has staged has crossed the bus when the call returned, but for the last piece.
        let bytes = if copy.staged.is_some() { 0 } else { self.larger_bytes(copy.bytes()) };
        Some(model::copy_ns(&self.profile, direction, bytes))
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
            return self.memory.write(target, values).map_err(|error| error.to_string());
        }
        let pointer = |address: u64| std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        let done = match (self.is_host(source), self.is_host(target)) {
            (false, false) => self.memory.copy(target, source, bytes),
            (true, false) => {
                // SAFETY: the driver API's contract: a host address given as a source is readable for the copy's size.
                let values = unsafe { std::slice::from_raw_parts(pointer(source), bytes) };
                self.memory.write(target, values)
            }
            (false, true) => {
                // SAFETY: as above: a host address given as a target is writable for the copy's size.
                let values = unsafe { std::slice::from_raw_parts_mut(pointer(target), bytes) };
                self.memory.read(source, values)
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
        const DEVICE_ADDRESSES: std::ops::Range<u64> = 0x0400_0000_0000..0x0800_0000_0000;
        self.place(address) == Place::Unknown && !DEVICE_ADDRESSES.contains(&address)
    }

    /// A hash of the page-locked host memory that a copy uses.
    pub(crate) fn fingerprint(&self, work: &Work) -> Option<u64> {
        let Work::Copy(copy) = work else { return None };
        let mut hasher = std::hash::DefaultHasher::new();
        let mut any = false;
        for side in [copy.source, copy.target] {
            if self.place(side.address) != Place::Pinned {
                continue;
            }
            for row in 0..copy.height {
                let address = side.address + (row * side.pitch) as u64;
                let pointer = self.memory.host_pointer(address, copy.width).ok()?;
                // SAFETY: the memory table gave the pointer for `width` bytes; the program does not write them now, as it
                // is inside the call that enqueues the copy, or has promised not to before the copy is done.
                hasher.write(unsafe { std::slice::from_raw_parts(pointer, copy.width) });
                any = true;
            }
        }
        any.then(|| hasher.finish())
    }

    /// Reports a copy whose host memory is not what it was when the copy was enqueued, unless the device's own work
    /// since then may have written it.
    pub(crate) fn notice_changes(&mut self, operation: &Operation) {
        let Work::Copy(copy) = &operation.work else { return };
        let (Some(before), Some(now)) = (operation.fingerprint, self.fingerprint(&operation.work))
        else {
            return;
        };
        let sides = [copy.source, copy.target];
        let device_wrote =
            sides.iter().any(|side| self.device_wrote_since(side.address, operation.executed));
        if before != now && !device_wrote {
            let bytes = copy.bytes();
            self.report(
                MisuseKind::HostMemoryChanged,
                format!(
                    "the host changed memory while a copy of {bytes} bytes that uses it was pending; synchronise the \
                     stream before touching the buffer"
                ),
            );
        }
    }
}
