//! The arguments of driver functions, and what they write back.

use crate::code::CuResult;
use cuda_driver::ReturnCode;
use cuda_driver::raw::CUaccessPolicyWindow_st;
use gpu_model::l2::AccessWindow;
use std::ffi::c_uint;

/// Writes a result.
///
/// # Safety
/// `target` is null or valid for a write.
pub(super) unsafe fn out<T>(target: *mut T, value: T) -> CuResult {
    if target.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // SAFETY: not null, so valid by the contract.
    unsafe { target.write(value) };
    Ok(())
}

/// Writes a result that the caller may not want.
///
/// # Safety
/// `target` is null or valid for a write.
pub(super) unsafe fn out_optional<T>(target: *mut T, value: T) {
    if !target.is_null() {
        // SAFETY: not null, so valid by the contract.
        unsafe { target.write(value) };
    }
}

/// Reads a NUL-terminated name.
///
/// # Safety
/// `name` is null or a NUL-terminated text.
pub(super) unsafe fn text(name: *const std::ffi::c_char) -> CuResult<String> {
    if name.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // SAFETY: not null, so a NUL-terminated text by the contract.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    name.to_str().map(str::to_owned).map_err(|_| ReturnCode::INVALID_VALUE)
}

/// A handle of the driver's from a number of ours.
pub(super) fn handle<T>(number: usize) -> *mut T {
    std::ptr::without_provenance_mut(number)
}

/// Returns the access policy window that the driver was given.
///
/// # Safety
/// - `window` is valid for reads; its two properties may hold any number.
pub(super) unsafe fn access_window(window: *const CUaccessPolicyWindow_st) -> AccessWindow {
    /// `CU_ACCESS_PROPERTY_PERSISTING`.
    const PERSISTING: c_uint = 2;
    // SAFETY: by the contract; a property is read as the integer that it is in C.
    let (start, bytes, ratio, hit) = unsafe {
        (
            (*window).base_ptr.addr() as u64,
            (*window).num_bytes as u64,
            (*window).hitRatio,
            (&raw const (*window).hitProp).cast::<c_uint>().read(),
        )
    };
    let ratio = if hit == PERSISTING { ratio } else { 0.0 };
    AccessWindow { range: (start, start.saturating_add(bytes)), ratio }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_missing_is_an_error_only_where_a_result_is_owed() {
        let null = std::ptr::null_mut::<u32>();
        // SAFETY: each pointer is null or a local.
        unsafe {
            assert_eq!(out(null, 1), Err(ReturnCode::INVALID_VALUE));
            out_optional(null, 1);
            let mut place = 0;
            assert_eq!(out(&mut place, 1), Ok(()));
            assert_eq!(place, 1);
            assert_eq!(text(std::ptr::null()), Err(ReturnCode::INVALID_VALUE));
            assert_eq!(text(c"cuInit".as_ptr()), Ok("cuInit".to_owned()));
        }
        assert_eq!(handle::<u8>(64).addr(), 64);
    }
}
