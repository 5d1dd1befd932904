//! cust on a machine without a driver: the program starts, and every failure is a value with a clear text.
//!
//! The test is its own process, so that COALESCE_LIBCUDA can point to nothing whatever the machine has.

use cuda_driver::{Backend, DriverError};
use cust::error::CudaError;

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
}
