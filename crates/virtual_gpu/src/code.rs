//! Return codes of the driver API, as far as several files answer with them.

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

/// The driver's code for what stopped a kernel.
pub(crate) fn of_kernel_error(error: &simt::Error) -> ReturnCode {
    ReturnCode(match error {
        simt::Error::IllegalAddress { .. } => 700,
        simt::Error::MisalignedAddress { .. } => 716,
        simt::Error::Trap { message, .. } if !message.is_empty() => 710,
        simt::Error::Trap { .. } => 719,
        simt::Error::Deadlock { .. } | simt::Error::OutOfFuel { .. } => 702,
        simt::Error::IllegalInstruction { .. } => 715,
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
