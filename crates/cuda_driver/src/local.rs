//! Answers of this crate's own when no backend can: the text of an error is needed most when there is no driver.

use crate::code::ReturnCode;
use std::ffi::{CStr, c_char, c_uint};

/// `cuGetErrorString` without a driver.
///
/// # Safety
/// - `text` is null or valid for a write.
pub(crate) unsafe fn error_string(error: c_uint, text: *mut *const c_char) -> ReturnCode {
    // SAFETY: the caller's contract is the same.
    unsafe { answer(ReturnCode(error).c_description(), text) }
}

/// `cuGetErrorName` without a driver.
///
/// # Safety
/// - `name` is null or valid for a write.
pub(crate) unsafe fn error_name(error: c_uint, name: *mut *const c_char) -> ReturnCode {
    // SAFETY: the caller's contract is the same.
    unsafe { answer(ReturnCode(error).c_name(), name) }
}

/// # Safety
/// - `target` is null or valid for a write.
unsafe fn answer(text: Option<&'static CStr>, target: *mut *const c_char) -> ReturnCode {
    if target.is_null() {
        return ReturnCode::INVALID_VALUE;
    }
    // SAFETY: `target` is not null, so by the contract it may be written.
    unsafe { target.write(text.map_or(std::ptr::null(), CStr::as_ptr)) };
    if text.is_some() { ReturnCode::SUCCESS } else { ReturnCode::INVALID_VALUE }
}
