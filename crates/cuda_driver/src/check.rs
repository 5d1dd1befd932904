//! Looks at enums that a driver writes before cust reads them as Rust enums.
//!
//! A driver newer than cust_raw may write a value that its enum does not list. Each function replaces such a value by
//! one that is listed and answers false; the call then returns `CUDA_ERROR_UNKNOWN`.

use crate::raw::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC,
};
use std::ffi::c_uint;
use std::ptr::addr_of_mut;

pub(crate) const CACHE_CONFIG: &[c_uint] = &[0, 1, 2, 3];
pub(crate) const SHARED_CONFIG: &[c_uint] = &[0, 1, 2];
pub(crate) const CAPTURE_STATUS: &[c_uint] = &[0, 1, 2];
pub(crate) const CAPTURE_MODE: &[c_uint] = &[0, 1, 2];
// Only raw calls make nodes of the kinds 12 and 13, which cust does not know.
pub(crate) const GRAPH_NODE: &[c_uint] = &[5, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13];
pub(crate) const GRAPH_UPDATE: &[c_uint] = &[1, 0, 2, 3, 4, 5, 6, 7];
pub(crate) const ADDRESS_MODE: &[c_uint] = &[0, 1, 2, 3];
pub(crate) const FILTER_MODE: &[c_uint] = &[0, 1];
pub(crate) const ARRAY_FORMAT: &[c_uint] = &[1, 2, 3, 8, 9, 10, 16, 32, 176];
pub(crate) const ACCESS: &[c_uint] = &[0, 1, 3];
const RESOURCE: &[c_uint] = &[0, 1, 2, 3];

/// Returns whether the enum behind `target` is one of `listed`; otherwise the first of them is put there.
///
/// # Safety
/// - `target` is null or valid for reads and writes.
pub(crate) unsafe fn value(target: *mut c_uint, listed: &[c_uint]) -> bool {
    if target.is_null() {
        return true;
    }
    // SAFETY: not null, so by the contract readable and writable.
    unsafe {
        let known = listed.contains(&target.read());
        if !known {
            target.write(listed[0]);
        }
        known
    }
}

/// The format of a 1-D or 2-D array.
///
/// # Safety
/// - `descriptor` is null or valid for reads and writes.
pub(crate) unsafe fn array(descriptor: *mut CUDA_ARRAY_DESCRIPTOR) -> bool {
    // SAFETY: a field of a valid structure; the place is only named, never read as an enum.
    descriptor.is_null()
        || unsafe { value(addr_of_mut!((*descriptor).Format).cast(), ARRAY_FORMAT) }
}

/// The format of a 3-D array.
///
/// # Safety
/// - `descriptor` is null or valid for reads and writes.
pub(crate) unsafe fn array_3d(descriptor: *mut CUDA_ARRAY3D_DESCRIPTOR) -> bool {
    // SAFETY: a field of a valid structure; the place is only named, never read as an enum.
    descriptor.is_null()
        || unsafe { value(addr_of_mut!((*descriptor).Format).cast(), ARRAY_FORMAT) }
}

/// The kind of a texture's or surface's resource and, for plain memory, its format.
///
/// # Safety
/// - `descriptor` is null or valid for reads and writes.
pub(crate) unsafe fn resource(descriptor: *mut CUDA_RESOURCE_DESC) -> bool {
    if descriptor.is_null() {
        return true;
    }
    // SAFETY: fields of a valid structure, accessed as the integers they are in C; the kind says which part of the
    // union the driver wrote.
    unsafe {
        let kind: *mut c_uint = addr_of_mut!((*descriptor).resType).cast();
        if !value(kind, RESOURCE) {
            return false;
        }
        match kind.read() {
            2 => value(addr_of_mut!((*descriptor).res.linear.format).cast(), ARRAY_FORMAT),
            3 => value(addr_of_mut!((*descriptor).res.pitch2D.format).cast(), ARRAY_FORMAT),
            _ => true,
        }
    }
}

/// The address and filter modes of a texture.
///
/// # Safety
/// - `descriptor` is null or valid for reads and writes.
pub(crate) unsafe fn texture(descriptor: *mut CUDA_TEXTURE_DESC) -> bool {
    if descriptor.is_null() {
        return true;
    }
    // SAFETY: fields of a valid structure, accessed as the integers they are in C; the three address modes are adjacent.
    unsafe {
        let modes: *mut c_uint = addr_of_mut!((*descriptor).addressMode).cast();
        let addresses =
            (0..3).fold(true, |known, index| value(modes.add(index), ADDRESS_MODE) & known);
        let filter = value(addr_of_mut!((*descriptor).filterMode).cast(), FILTER_MODE);
        let mipmap = value(addr_of_mut!((*descriptor).mipmapFilterMode).cast(), FILTER_MODE);
        addresses & filter & mipmap
    }
}

/// The format of a resource view: 0 to 34 are contiguous.
///
/// # Safety
/// - `descriptor` is null or valid for reads and writes.
pub(crate) unsafe fn view(descriptor: *mut CUDA_RESOURCE_VIEW_DESC) -> bool {
    if descriptor.is_null() {
        return true;
    }
    // SAFETY: a field of a valid structure; the place is accessed as the integer it is in C.
    unsafe {
        let format: *mut c_uint = addr_of_mut!((*descriptor).format).cast();
        let known = format.read() <= 34;
        if !known {
            format.write(0);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unlisted_value_is_replaced_and_reported() {
        let mut config = 7;
        // SAFETY: a local variable.
        assert!(!unsafe { value(&mut config, CACHE_CONFIG) });
        assert_eq!(config, 0);
        config = 3;
        // SAFETY: a local variable.
        assert!(unsafe { value(&mut config, CACHE_CONFIG) });
        assert_eq!(config, 3);
    }

    #[test]
    fn a_new_array_format_never_reaches_the_enum() {
        let mut descriptor = std::mem::MaybeUninit::<CUDA_ARRAY_DESCRIPTOR>::zeroed();
        // SAFETY: the place is inside the local; it is written and read as an integer.
        unsafe {
            let format: *mut c_uint = addr_of_mut!((*descriptor.as_mut_ptr()).Format).cast();
            format.write(0xc0);
            assert!(!array(descriptor.as_mut_ptr()));
            assert_eq!(format.read(), 1);
        }
    }
}
