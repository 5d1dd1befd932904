//! A stand-in for the driver: unknown return codes and enums, missing functions, and one backend selected once.

use cuda_driver::{
    Backend, CudaVersion, DriverError, ReturnCode, SymbolSource, last_unlisted_code,
};
use cust::context::CurrentContext;
use cust::error::CudaError;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::NonNull;

struct StandIn(&'static str);

unsafe extern "C" fn init(_flags: c_uint) -> c_uint {
    0
}

unsafe extern "C" fn version(number: *mut c_int) -> c_uint {
    // SAFETY: the driver API lets the caller pass a pointer to one int.
    unsafe { number.write(12_010) };
    0
}

unsafe extern "C" fn count(number: *mut c_int) -> c_uint {
    // SAFETY: as above.
    unsafe { number.write(1) };
    0
}

unsafe extern "C" fn code_of_the_future() -> c_uint {
    912
}

unsafe extern "C" fn config_of_the_future(config: *mut c_uint) -> c_uint {
    // SAFETY: as above.
    unsafe { config.write(77) };
    0
}

// SAFETY: each function has the signature of the driver function under whose name it is returned.
unsafe impl SymbolSource for StandIn {
    fn name(&self) -> String {
        self.0.to_owned()
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let address = match name.to_str().ok()? {
            "cuInit" => init as *mut c_void,
            "cuDriverGetVersion" => version as *mut c_void,
            "cuDeviceGetCount" => count as *mut c_void,
            "cuCtxSynchronize" => code_of_the_future as *mut c_void,
            "cuCtxGetCacheConfig" => config_of_the_future as *mut c_void,
            _ => return None,
        };
        NonNull::new(address)
    }
}

#[test]
fn the_table_protects_cust_from_what_it_does_not_know() {
    cuda_driver::select(Backend::Table(&StandIn("a stand-in"))).unwrap();
    let info = cuda_driver::status().unwrap();
    assert_eq!(
        (info.version, info.device_count, info.is_virtual),
        (CudaVersion::new(12, 1), 1, true)
    );
    assert_eq!(info.to_string(), "a stand-in, CUDA 12.1, 1 device");

    assert_eq!(CurrentContext::synchronize().unwrap_err(), CudaError::UnknownError);
    assert_eq!(last_unlisted_code(), Some(ReturnCode(912)));
    assert_eq!(CurrentContext::get_cache_config().unwrap_err(), CudaError::UnknownError);

    let mut free = 0;
    // SAFETY: valid pointers to two locals.
    let code = unsafe { cuda_driver::api::cuMemGetInfo_v2(&mut free, &mut 0) };
    assert_eq!(code, ReturnCode::NOT_SUPPORTED);
    // SAFETY: the stand-in does not have the function, so nothing is dereferenced.
    let code = unsafe { cuda_driver::api::cuStreamGetDevice(std::ptr::null_mut(), &mut 0) };
    assert_eq!(code, ReturnCode::NOT_SUPPORTED);
    let calls: Vec<String> =
        cuda_driver::unavailable_calls().iter().map(ToString::to_string).collect();
    assert_eq!(calls[0], "a stand-in has no function cuMemGetInfo_v2");
    assert_eq!(
        calls[1],
        "cuStreamGetDevice needs a driver for CUDA 12.8 and a stand-in supports CUDA 12.1: update NVIDIA's driver"
    );

    cuda_driver::select(Backend::Table(&StandIn("a stand-in"))).unwrap();
    let error = cuda_driver::select(Backend::Table(&StandIn("another"))).unwrap_err();
    assert_eq!(
        error,
        DriverError::AlreadySelected {
            current: "a stand-in".to_owned(),
            requested: "another".to_owned()
        }
    );
}
