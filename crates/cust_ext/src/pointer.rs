//! Facts of a pointer: on which device or host, in which allocation.
//!
//! ```no_run
//! # fn f(buffer: &cust::memory::DeviceBuffer<f32>) -> cust_ext::Result<()> {
//! let info = cust_ext::pointer::info(buffer.as_device_ptr().as_raw())?;
//! assert!(info.is_some(), "it is memory of the driver's");
//! # Ok(())
//! # }
//! ```

use crate::error::{Result, call};
use std::ffi::{c_int, c_uint, c_void};

const MEMORY_TYPE: c_uint = 2;
const DEVICE_POINTER: c_uint = 3;
const HOST_POINTER: c_uint = 4;
const IS_MANAGED: c_uint = 8;
const DEVICE_ORDINAL: c_uint = 9;
const RANGE_START: c_uint = 11;
const RANGE_SIZE: c_uint = 12;

/// Kind of memory behind a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// Page-locked or registered host memory.
    Host,
    /// Device memory.
    Device,
    /// A CUDA array.
    Array,
    /// Managed memory.
    Managed,
    /// A kind that is newer than this list, by the driver's number.
    Other(u32),
}

/// The driver's knowledge of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointerInfo {
    /// Kind of the memory.
    pub kind: MemoryKind,
    /// The device that the allocation belongs to.
    pub device_ordinal: i32,
    /// The address to use on the device, where the device can access the memory.
    pub device_address: Option<u64>,
    /// The address to use on the host, where the host can access the memory.
    pub host_address: Option<u64>,
    /// The allocation's first address.
    pub range_start: u64,
    /// The allocation's size.
    pub range_bytes: usize,
}

/// Returns what the driver knows of `address`, or nothing when it is not the driver's (an ordinary host pointer).
///
/// # Errors
/// When the driver fails for another reason than not knowing the address.
pub fn info(address: u64) -> Result<Option<PointerInfo>> {
    let (mut kind, mut ordinal, mut managed): (c_uint, c_int, c_uint) = (0, 0, 0);
    let (mut device_address, mut host_address): (u64, u64) = (0, 0);
    let (mut range_start, mut range_bytes): (u64, usize) = (0, 0);
    let mut attributes = [
        MEMORY_TYPE,
        DEVICE_ORDINAL,
        IS_MANAGED,
        DEVICE_POINTER,
        HOST_POINTER,
        RANGE_START,
        RANGE_SIZE,
    ];
    let mut values: [*mut c_void; 7] = [
        (&raw mut kind).cast(),
        (&raw mut ordinal).cast(),
        (&raw mut managed).cast(),
        (&raw mut device_address).cast(),
        (&raw mut host_address).cast(),
        (&raw mut range_start).cast(),
        (&raw mut range_bytes).cast(),
    ];
    // SAFETY: as many attributes as values, each value a local that is at least as large as the driver writes for its
    // attribute (a bool for `managed`). The address is only looked up; for an unknown one the driver writes zeros.
    unsafe {
        call!(cuPointerGetAttributes(7, attributes.as_mut_ptr(), values.as_mut_ptr(), address))?
    };
    if kind == 0 {
        return Ok(None);
    }
    let kind = if managed & 0xff != 0 { MemoryKind::Managed } else { memory_kind(kind) };
    Ok(Some(PointerInfo {
        kind,
        device_ordinal: ordinal,
        device_address: Some(device_address).filter(|address| *address != 0),
        host_address: Some(host_address).filter(|address| *address != 0),
        range_start,
        range_bytes,
    }))
}

/// `CU_MEMORYTYPE_*`.
fn memory_kind(number: c_uint) -> MemoryKind {
    match number {
        1 => MemoryKind::Host,
        2 => MemoryKind::Device,
        3 => MemoryKind::Array,
        4 => MemoryKind::Managed,
        other => MemoryKind::Other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_memory::{HostBuffer, HostFlags};
    use cust::memory::DeviceBuffer;

    #[test]
    fn an_unknown_kind_is_kept_as_a_number() {
        assert_eq!(memory_kind(2), MemoryKind::Device);
        assert_eq!(memory_kind(9), MemoryKind::Other(9));
    }

    #[test]
    fn pointers_are_told_apart() {
        let _context = crate::testing::device();
        let device = DeviceBuffer::<u32>::zeroed(1024).unwrap();
        let found = info(device.as_device_ptr().as_raw() + 8).unwrap().unwrap();
        assert_eq!((found.kind, found.range_bytes), (MemoryKind::Device, 4096));
        assert_eq!(found.range_start, device.as_device_ptr().as_raw());
        let host = HostBuffer::<u32>::zeroed(1024, HostFlags::MAPPED).unwrap();
        let found = info(host.as_ptr().addr() as u64).unwrap().unwrap();
        assert_eq!(found.kind, MemoryKind::Host);
        let ordinary = [0u32; 16];
        assert_eq!(info(ordinary.as_ptr().addr() as u64).unwrap(), None);
    }
}
