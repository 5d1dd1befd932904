//! Return codes as integers, and the rule that only codes cust_raw lists reach a Rust enum.

use std::cell::Cell;
use std::ffi::c_uint;
use std::fmt;

/// The result of a driver function: any 32-bit value, so that receiving it is never undefined behaviour.
///
/// In the binary interface it is the same as cust_raw's `CUresult`, and every function of [`crate::api`] returns only
/// codes that `CUresult` lists.
#[must_use = "a driver call that failed says so only here"]
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReturnCode(pub c_uint);

thread_local! {
    static LAST_UNLISTED: Cell<Option<ReturnCode>> = const { Cell::new(None) };
}

/// The last code on this thread that cust_raw does not list and that was therefore reported as `CUDA_ERROR_UNKNOWN`;
/// reading it clears it.
pub fn last_unlisted_code() -> Option<ReturnCode> {
    LAST_UNLISTED.take()
}

/// One row per code: value, name, sentence, and whether cust_raw 0.11.3 lists it.
struct CodeRow {
    code: c_uint,
    name: &'static std::ffi::CStr,
    text: &'static std::ffi::CStr,
    listed: bool,
}

impl ReturnCode {
    /// `CUDA_SUCCESS`.
    pub const SUCCESS: ReturnCode = ReturnCode(0);
    /// `CUDA_ERROR_INVALID_VALUE`.
    pub const INVALID_VALUE: ReturnCode = ReturnCode(1);
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    pub const OUT_OF_MEMORY: ReturnCode = ReturnCode(2);
    /// `CUDA_ERROR_NO_DEVICE`.
    pub const NO_DEVICE: ReturnCode = ReturnCode(100);
    /// `CUDA_ERROR_NOT_READY`: not a failure, the work is still under way.
    pub const NOT_READY: ReturnCode = ReturnCode(600);
    /// `CUDA_ERROR_NOT_SUPPORTED`.
    pub const NOT_SUPPORTED: ReturnCode = ReturnCode(801);
    /// `CUDA_ERROR_UNKNOWN`.
    pub const UNKNOWN: ReturnCode = ReturnCode(999);

    /// NVIDIA's name of the code, such as `CUDA_ERROR_OUT_OF_MEMORY`.
    pub fn name(self) -> Option<&'static str> {
        self.c_name().and_then(|name| name.to_str().ok())
    }

    /// Returns what the code means, in one sentence.
    pub fn description(self) -> Option<&'static str> {
        self.c_description().and_then(|text| text.to_str().ok())
    }

    pub(crate) fn c_name(self) -> Option<&'static std::ffi::CStr> {
        self.row().map(|row| row.name)
    }

    pub(crate) fn c_description(self) -> Option<&'static std::ffi::CStr> {
        self.row().map(|row| row.text)
    }

    /// The code itself when cust_raw lists it; otherwise `CUDA_ERROR_UNKNOWN`, with the code kept for
    /// [`last_unlisted_code`].
    pub(crate) fn listed(self) -> ReturnCode {
        if self == ReturnCode::SUCCESS || self.row().is_some_and(|row| row.listed) {
            return self;
        }
        LAST_UNLISTED.set(Some(self));
        ReturnCode::UNKNOWN
    }

    fn row(self) -> Option<&'static CodeRow> {
        ROWS.binary_search_by_key(&self.0, |row| row.code).ok().map(|index| &ROWS[index])
    }
}

impl fmt::Debug for ReturnCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

impl fmt::Display for ReturnCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(formatter, "{name} ({})", self.0),
            None => write!(formatter, "CUDA error {}", self.0),
        }
    }
}

macro_rules! codes {
    ($($code:literal $name:ident $listed:ident $text:literal)*) => {
        /// Sorted by code.
        const ROWS: &[CodeRow] = &[$(CodeRow {
            code: $code,
            name: c_string(concat!(stringify!($name), "\0")),
            text: c_string(concat!($text, "\0")),
            listed: codes!(@ $listed),
        }),*];

        #[cfg(test)]
        #[test]
        fn cust_raw_lists_what_is_marked_listed() {
            $(codes!(@test $listed $name $code);)*
        }
    };
    (@ listed) => { true };
    (@ newer) => { false };
    (@test listed $name:ident $code:literal) => {
        assert_eq!(cust_raw::cudaError_enum::$name as c_uint, $code);
    };
    (@test newer $name:ident $code:literal) => {};
}

const fn c_string(text: &'static str) -> &'static std::ffi::CStr {
    match std::ffi::CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the table's texts have no inner NUL"),
    }
}

#[rustfmt::skip]
codes! {
    0 CUDA_SUCCESS listed "no error"
    1 CUDA_ERROR_INVALID_VALUE listed "invalid argument"
    2 CUDA_ERROR_OUT_OF_MEMORY listed "out of memory"
    3 CUDA_ERROR_NOT_INITIALIZED listed "initialization error"
    4 CUDA_ERROR_DEINITIALIZED listed "driver shutting down"
    5 CUDA_ERROR_PROFILER_DISABLED listed "profiler disabled while using an external profiling tool"
    6 CUDA_ERROR_PROFILER_NOT_INITIALIZED listed "profiler is not initialized"
    7 CUDA_ERROR_PROFILER_ALREADY_STARTED listed "profiler already started"
    8 CUDA_ERROR_PROFILER_ALREADY_STOPPED listed "profiler already stopped"
    34 CUDA_ERROR_STUB_LIBRARY listed "the library is a stub of the toolkit, not a driver"
    46 CUDA_ERROR_DEVICE_UNAVAILABLE newer "the device is busy or unavailable"
    100 CUDA_ERROR_NO_DEVICE listed "no CUDA-capable device is detected"
    101 CUDA_ERROR_INVALID_DEVICE listed "invalid device ordinal"
    102 CUDA_ERROR_DEVICE_NOT_LICENSED listed "the device has no valid Grid licence"
    200 CUDA_ERROR_INVALID_IMAGE listed "the kernel image is invalid"
    201 CUDA_ERROR_INVALID_CONTEXT listed "invalid device context: none is current on this thread"
    202 CUDA_ERROR_CONTEXT_ALREADY_CURRENT listed "the context is already current"
    205 CUDA_ERROR_MAP_FAILED listed "mapping of a buffer object failed"
    206 CUDA_ERROR_UNMAP_FAILED listed "unmapping of a buffer object failed"
    207 CUDA_ERROR_ARRAY_IS_MAPPED listed "the array is mapped"
    208 CUDA_ERROR_ALREADY_MAPPED listed "the resource is already mapped"
    209 CUDA_ERROR_NO_BINARY_FOR_GPU listed "no kernel image is available for execution on the device"
    210 CUDA_ERROR_ALREADY_ACQUIRED listed "the resource is already acquired"
    211 CUDA_ERROR_NOT_MAPPED listed "the resource is not mapped"
    212 CUDA_ERROR_NOT_MAPPED_AS_ARRAY listed "the resource is not mapped as an array"
    213 CUDA_ERROR_NOT_MAPPED_AS_POINTER listed "the resource is not mapped as a pointer"
    214 CUDA_ERROR_ECC_UNCORRECTABLE listed "an uncorrectable ECC error was encountered"
    215 CUDA_ERROR_UNSUPPORTED_LIMIT listed "the limit is not supported on this device"
    216 CUDA_ERROR_CONTEXT_ALREADY_IN_USE listed "the device is used by another thread exclusively"
    217 CUDA_ERROR_PEER_ACCESS_UNSUPPORTED listed "peer access is not supported between these two devices"
    218 CUDA_ERROR_INVALID_PTX listed "a PTX JIT compilation failed"
    219 CUDA_ERROR_INVALID_GRAPHICS_CONTEXT listed "invalid OpenGL or DirectX context"
    220 CUDA_ERROR_NVLINK_UNCORRECTABLE listed "an uncorrectable NVLink error was encountered"
    221 CUDA_ERROR_JIT_COMPILER_NOT_FOUND listed "the PTX JIT compiler library was not found"
    222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION listed "the PTX is newer than the driver's compiler"
    223 CUDA_ERROR_JIT_COMPILATION_DISABLED listed "PTX JIT compilation is disabled"
    224 CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY listed "the execution affinity is not supported on this device"
    225 CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC newer "the kernel synchronizes on the device, which is not supported"
    226 CUDA_ERROR_CONTAINED newer "an error was contained and the process must be restarted"
    300 CUDA_ERROR_INVALID_SOURCE listed "the device kernel source is invalid"
    301 CUDA_ERROR_FILE_NOT_FOUND listed "file not found"
    302 CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND listed "a shared object symbol was not found"
    303 CUDA_ERROR_SHARED_OBJECT_INIT_FAILED listed "initialization of a shared object failed"
    304 CUDA_ERROR_OPERATING_SYSTEM listed "a call of the operating system failed"
    400 CUDA_ERROR_INVALID_HANDLE listed "invalid resource handle"
    401 CUDA_ERROR_ILLEGAL_STATE listed "the operation cannot be performed in the present state"
    500 CUDA_ERROR_NOT_FOUND listed "named symbol not found"
    600 CUDA_ERROR_NOT_READY listed "device not ready"
    700 CUDA_ERROR_ILLEGAL_ADDRESS listed "an illegal memory access was encountered"
    701 CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES listed "too many resources requested for launch"
    702 CUDA_ERROR_LAUNCH_TIMEOUT listed "the launch timed out and was terminated"
    703 CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING listed "the launch uses an incompatible texturing mode"
    704 CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED listed "peer access is already enabled"
    705 CUDA_ERROR_PEER_ACCESS_NOT_ENABLED listed "peer access has not been enabled"
    708 CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE listed "the primary context is active"
    709 CUDA_ERROR_CONTEXT_IS_DESTROYED listed "the context is destroyed"
    710 CUDA_ERROR_ASSERT listed "device-side assert triggered"
    711 CUDA_ERROR_TOO_MANY_PEERS listed "peer mapping resources exhausted"
    712 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED listed "part or all of the memory is already registered"
    713 CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED listed "the pointer is not registered host memory"
    714 CUDA_ERROR_HARDWARE_STACK_ERROR listed "hardware stack error"
    715 CUDA_ERROR_ILLEGAL_INSTRUCTION listed "an illegal instruction was encountered"
    716 CUDA_ERROR_MISALIGNED_ADDRESS listed "misaligned address"
    717 CUDA_ERROR_INVALID_ADDRESS_SPACE listed "an instruction used an address of the wrong memory space"
    718 CUDA_ERROR_INVALID_PC listed "invalid program counter"
    719 CUDA_ERROR_LAUNCH_FAILED listed "unspecified launch failure"
    720 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE listed "too many blocks in a cooperative launch"
    721 CUDA_ERROR_TENSOR_MEMORY_LEAK newer "a kernel did not free its tensor memory"
    800 CUDA_ERROR_NOT_PERMITTED listed "operation not permitted"
    801 CUDA_ERROR_NOT_SUPPORTED listed "operation not supported"
    802 CUDA_ERROR_SYSTEM_NOT_READY listed "system not yet initialized"
    803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH listed "the driver library does not match the kernel driver"
    804 CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE listed "forward compatibility is not supported on this device"
    805 CUDA_ERROR_MPS_CONNECTION_FAILED listed "the MPS client failed to connect"
    806 CUDA_ERROR_MPS_RPC_FAILURE listed "a remote call between MPS server and client failed"
    807 CUDA_ERROR_MPS_SERVER_NOT_READY listed "the MPS server is not ready"
    808 CUDA_ERROR_MPS_MAX_CLIENTS_REACHED listed "too many MPS clients"
    809 CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED listed "too many MPS connections"
    810 CUDA_ERROR_MPS_CLIENT_TERMINATED newer "the MPS client was terminated by the server"
    811 CUDA_ERROR_CDP_NOT_SUPPORTED newer "dynamic parallelism is not supported in this configuration"
    812 CUDA_ERROR_CDP_VERSION_MISMATCH newer "two versions of dynamic parallelism are mixed"
    900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED listed "operation not permitted when stream is capturing"
    901 CUDA_ERROR_STREAM_CAPTURE_INVALIDATED listed "the capture was invalidated by an earlier error"
    902 CUDA_ERROR_STREAM_CAPTURE_MERGE listed "the operation would merge two captures"
    903 CUDA_ERROR_STREAM_CAPTURE_UNMATCHED listed "the capture did not begin on this stream"
    904 CUDA_ERROR_STREAM_CAPTURE_UNJOINED listed "the capture has a fork that never joined the first stream"
    905 CUDA_ERROR_STREAM_CAPTURE_ISOLATION listed "a dependency would cross the boundary of the capture"
    906 CUDA_ERROR_STREAM_CAPTURE_IMPLICIT listed "the capture would depend on the legacy stream"
    907 CUDA_ERROR_CAPTURED_EVENT listed "operation not permitted on an event last recorded in a capturing stream"
    908 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD listed "the capture belongs to another thread"
    909 CUDA_ERROR_TIMEOUT listed "the wait timed out"
    910 CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE listed "the graph update was not performed"
    911 CUDA_ERROR_EXTERNAL_DEVICE listed "an external device reported an error"
    912 CUDA_ERROR_INVALID_CLUSTER_SIZE newer "the cluster size is not valid for this kernel or device"
    913 CUDA_ERROR_FUNCTION_NOT_LOADED newer "the function is not loaded"
    914 CUDA_ERROR_INVALID_RESOURCE_TYPE newer "the resource type is invalid for this operation"
    915 CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION newer "the resource configuration is invalid"
    916 CUDA_ERROR_KEY_ROTATION newer "a key rotation is under way"
    999 CUDA_ERROR_UNKNOWN listed "unknown error"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_so_that_the_search_finds_each() {
        assert!(ROWS.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert_eq!(ROWS.iter().filter(|row| row.listed).count(), 87);
    }

    #[test]
    fn an_unlisted_code_becomes_unknown_and_is_kept() {
        assert_eq!(ReturnCode(912).listed(), ReturnCode::UNKNOWN);
        assert_eq!(last_unlisted_code(), Some(ReturnCode(912)));
        assert_eq!(last_unlisted_code(), None);
        assert_eq!(ReturnCode(4_000_000_000).listed(), ReturnCode::UNKNOWN);
        assert_eq!(ReturnCode(700).listed(), ReturnCode(700));
        assert_eq!(last_unlisted_code(), Some(ReturnCode(4_000_000_000)));
    }

    #[test]
    fn a_code_prints_its_name_and_number() {
        assert_eq!(ReturnCode(2).to_string(), "CUDA_ERROR_OUT_OF_MEMORY (2)");
        assert_eq!(ReturnCode(12345).to_string(), "CUDA error 12345");
    }
}
