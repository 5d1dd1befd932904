use cuda_driver::ReturnCode;

/// The outcome of a driver function: a return code is the error.
pub(crate) type CuResult<T = ()> = Result<T, ReturnCode>;

pub(crate) const NOT_INITIALIZED: ReturnCode = ReturnCode(3);
pub(crate) const INVALID_DEVICE: ReturnCode = ReturnCode(101);
pub(crate) const INVALID_CONTEXT: ReturnCode = ReturnCode(201);
pub(crate) const INVALID_HANDLE: ReturnCode = ReturnCode(400);
pub(crate) const NOT_FOUND: ReturnCode = ReturnCode(500);
pub(crate) const NOT_PERMITTED: ReturnCode = ReturnCode(800);
pub(crate) const CAPTURE_UNSUPPORTED: ReturnCode = ReturnCode(900);
pub(crate) const CAPTURE_IMPLICIT: ReturnCode = ReturnCode(906);
/// `CUDA_ERROR_UNKNOWN`: what programs see when a GPU falls off the bus. NVIDIA documents no code of its own for that.
pub(crate) const LOST: ReturnCode = ReturnCode(999);

/// Returns what a code says of a call that gave no other reason.
pub(crate) fn meaning(code: ReturnCode) -> &'static str {
    match code {
        ReturnCode::INVALID_VALUE => "an argument has a value that the call does not take",
        NOT_INITIALIZED => "the driver was not initialized; call cuInit first",
        INVALID_DEVICE => "the device is none of this machine, or cannot do what is asked",
        INVALID_CONTEXT => "the context is none, or was destroyed",
        INVALID_HANDLE => {
            "a handle names no living object of its kind: it was never made, or was destroyed"
        }
        NOT_FOUND => "nothing has this name",
        NOT_PERMITTED => "the call is not permitted here",
        CAPTURE_UNSUPPORTED => "a stream that is being captured cannot do this",
        CAPTURE_IMPLICIT => {
            "the legacy default stream would wait for a stream that is being captured"
        }
        other => other.description().unwrap_or("the driver refuses it"),
    }
}

/// Returns whether an error of a call is an answer that programs ask for, and no failure.
pub(crate) fn is_answer(call: &str, code: ReturnCode) -> bool {
    const ALREADY_ENABLED: ReturnCode = ReturnCode(704);
    match call {
        "cuGetProcAddress" | "cuGetProcAddress_v2" | "cuGetErrorName" | "cuGetErrorString" => true,
        "cuPointerGetAttribute" | "cuPointerGetAttributes" | "cuMemHostGetFlags" => true,
        "cuMemGetAddressRange_v2" | "cuDeviceGetAttribute" | "cuGetExportTable" => true,
        "cuDeviceGetP2PAttribute" | "cuGraphExecUpdate" | "cuGraphExecUpdate_v2" => true,
        "cuCtxGetDevice" => code == INVALID_CONTEXT || code == NOT_INITIALIZED,
        "cuCtxEnablePeerAccess" => code == ALREADY_ENABLED,
        _ => code == ReturnCode::NOT_READY,
    }
}

/// The driver's code for what stopped a kernel.
pub(crate) fn of_kernel_error(error: &simt::Error) -> ReturnCode {
    ReturnCode(match error {
        simt::Error::IllegalAddress { .. } => 700,
        simt::Error::MisalignedAddress { .. } => 716,
        simt::Error::Trap { .. } if error.is_failed_assertion() => 710,
        simt::Error::Trap { .. } => 719,
        simt::Error::Deadlock { .. } | simt::Error::OutOfFuel { .. } => 702,
        // As an H200 answers for a second `free`, and for one of memory of `cudaMalloc`.
        simt::Error::IllegalInstruction { .. } => match error.frees_of_heap() {
            None => 715,
            Some(true) => 719,
            Some(false) => 700,
        },
        simt::Error::OutOfMemory { .. } => 2,
        simt::Error::Unsupported { .. } => 801,
        _ => 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_lacks_memory_has_nvidias_code() {
        let missing = simt::Error::OutOfMemory { requested: 1, free: 0 };
        assert_eq!(of_kernel_error(&missing), ReturnCode::OUT_OF_MEMORY);
    }
}
