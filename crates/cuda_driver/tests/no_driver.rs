//! cust on a machine without a driver: the program starts, and every failure is a value with a clear text.
//!
//! The test is its own process, so that COALESCE_LIBCUDA can point to nothing whatever the machine has.

use cuda_driver::{Backend, DriverError, SymbolSource};
use cust::error::CudaError;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

#[test]
fn a_program_without_a_driver_gets_clear_errors() {
    // SAFETY: this is the process's only test, so no other thread reads the environment.
    unsafe { std::env::set_var("COALESCE_LIBCUDA", "/nowhere/libcuda.so.1") };

    let status = cuda_driver::status().unwrap_err();
    assert_eq!(
        status.to_string(),
        "COALESCE_LIBCUDA is `/nowhere/libcuda.so.1`, which is no usable CUDA driver, there is no such file: set it to \
         a libcuda.so.1 or the folder that holds one, or unset it to use the machine's driver"
    );
    assert!(matches!(status, DriverError::ChosenLibraryUnusable { .. }));
    assert_eq!(cuda_driver::select(Backend::Native).unwrap_err(), status);

    let error = cust::quick_init().unwrap_err();
    assert_eq!(error, CudaError::NoDevice);
    assert_eq!(error.to_string(), "\"no CUDA-capable device is detected\"");
    let calls = cuda_driver::unavailable_calls();
    assert_eq!(calls[0].to_string(), "the machine's driver has no function cuInit");

    // The machine's driver has answered by now, as well as it can; a stand-in may still take over.
    cuda_driver::select(Backend::Table(&StandIn)).unwrap();
    assert!(cuda_driver::status().unwrap().is_virtual);
    cust::quick_init().unwrap_err();
    assert_eq!(cuda_driver::select(Backend::Native).unwrap_err(), status);
}

/// A driver that can count its devices.
struct StandIn;

unsafe extern "C" fn init(_flags: u32) -> u32 {
    0
}

unsafe extern "C" fn count(number: *mut i32) -> u32 {
    // SAFETY: the driver API lets the caller pass a pointer to one int.
    unsafe { number.write(1) };
    0
}

// SAFETY: both functions have the signature of the driver function under whose name they are returned.
unsafe impl SymbolSource for StandIn {
    fn name(&self) -> String {
        "a stand-in".to_owned()
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        match name.to_str().ok()? {
            "cuInit" => NonNull::new(init as *mut c_void),
            "cuDeviceGetCount" => NonNull::new(count as *mut c_void),
            _ => None,
        }
    }
}
