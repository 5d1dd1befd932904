//! The version of the runtime that a program has loaded, which is in the name of the file.

use crate::define::{exports, out, put};
use cuda_driver::api;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// Returns whether the program was made for the runtime of CUDA 12, some of whose structures and functions CUDA 13 changed.
pub fn is_12() -> bool {
    static IS_12: OnceLock<bool> = OnceLock::new();
    *IS_12.get_or_init(|| {
        // SAFETY: the structure may be all zeros, and is written by the call; the name in it lives as long as the library.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            let found = libc::dladdr(is_12 as *const c_void, &raw mut info) != 0
                && !info.dli_fname.is_null();
            found && CStr::from_ptr(info.dli_fname).to_bytes().ends_with(b".so.12")
        }
    })
}

exports! {
    fn cudaRuntimeGetVersion(version: *mut c_int) {
        put(version, if is_12() { 12090 } else { 13000 })?;
        Ok(())
    }
    fn cudaDriverGetVersion(version: *mut c_int) {
        let version = out(version)?;
        *version = 0;
        // Where there is no driver, its version is 0, which is no error.
        let _ = cuda_driver::select(cuda_driver::Backend::Loaded).is_ok() && api::cuDriverGetVersion(version).0 == 0;
        Ok(())
    }
}
