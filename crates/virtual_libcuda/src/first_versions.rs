//! Names without a version that NVIDIA's library exports, too: programs that open it and ask for names use some of them.
//!
//! Only those whose first version takes what the later one takes, and one that programs look for and do not call: the
//! first versions of most functions take addresses of 32 bits, and no program of today's means those.

use cuda_driver::types::CUipcMemHandle;
use cuda_driver::{ReturnCode, api};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// Hands the names to the macro `$reader`, behind what that is given besides.
#[rustfmt::skip]
macro_rules! first_versions_table {
    ($reader:ident $($besides:tt)*) => { $reader! { $($besides)* first
        cuCtxCreate = cuCtxCreate_v2(context: *mut *mut c_void, flags: c_uint, device: c_int);
        cuCtxDestroy = cuCtxDestroy_v2(context: *mut c_void);
        cuCtxPushCurrent = cuCtxPushCurrent_v2(context: *mut c_void);
        cuCtxPopCurrent = cuCtxPopCurrent_v2(context: *mut *mut c_void);
        cuStreamDestroy = cuStreamDestroy_v2(stream: *mut c_void);
        cuEventDestroy = cuEventDestroy_v2(event: *mut c_void);
        cuDevicePrimaryCtxRelease = cuDevicePrimaryCtxRelease_v2(device: c_int);
        cuDevicePrimaryCtxReset = cuDevicePrimaryCtxReset_v2(device: c_int);
        cuDevicePrimaryCtxSetFlags = cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: c_uint);
        cuMemHostRegister = cuMemHostRegister_v2(memory: *mut c_void, bytes: usize, flags: c_uint);
        cuMemcpyDtoDAsync = cuMemcpyDtoDAsync_v2(target: c_uint, source: c_uint, bytes: c_uint, stream: *mut c_void);
        cuGraphicsResourceSetMapFlags = cuGraphicsResourceSetMapFlags_v2(resource: *mut c_void, flags: c_uint);
        cuGraphInstantiate = cuGraphInstantiate_v2(executable: *mut *mut c_void, graph: *mut c_void, node: *mut *mut c_void, log: *mut c_char, bytes: usize);
        cuIpcOpenMemHandle = cuIpcOpenMemHandle_v2(address: *mut u64, handle: CUipcMemHandle, flags: c_uint);
        cuLinkCreate = cuLinkCreate_v2(count: c_uint, options: *mut c_uint, values: *mut *mut c_void, state: *mut *mut c_void);
        cuLinkAddData = cuLinkAddData_v2(state: *mut c_void, kind: c_uint, data: *mut c_void, bytes: usize, name: *const c_char, count: c_uint, options: *mut c_uint, values: *mut *mut c_void);
        cuLinkAddFile = cuLinkAddFile_v2(state: *mut c_void, kind: c_uint, path: *const c_char, count: c_uint, options: *mut c_uint, values: *mut *mut c_void);
    } };
}
pub(crate) use first_versions_table;

/// Defines a name that calls the function of a later version.
macro_rules! first_versions {
    (first $($name:ident = $later:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[doc = concat!("`", stringify!($later), "` by its first name.")]
        ///
        /// # Safety
        /// - As for the later version.
        #[allow(non_snake_case, clippy::too_many_arguments)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> ReturnCode {
            // SAFETY: both take the same, and the caller keeps the later one's contract. A handle is a pointer.
            unsafe { api::$later($($argument.cast_handle()),*) }
        }
    )*};
}

/// An argument as the later version names its type.
trait Argument<T> {
    fn cast_handle(self) -> T;
}

impl<T, U> Argument<*mut U> for *mut T {
    fn cast_handle(self) -> *mut U {
        self.cast()
    }
}

impl<T> Argument<*const T> for *const T {
    fn cast_handle(self) -> *const T {
        self
    }
}

macro_rules! same {
    ($($type:ty)*) => {$(
        impl Argument<$type> for $type {
            fn cast_handle(self) -> $type {
                self
            }
        }
    )*};
}

same!(c_uint c_int usize CUipcMemHandle);

/// An address or a number of bytes of 32 bits, as the first versions have them.
macro_rules! widened {
    ($($type:ty)*) => {$(
        impl Argument<$type> for c_uint {
            fn cast_handle(self) -> $type {
                self as $type
            }
        }
    )*};
}

widened!(u64 usize);

first_versions_table!(first_versions);
