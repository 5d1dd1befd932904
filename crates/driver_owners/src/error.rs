//! The driver's errors.
//!
//! ```no_run
//! # fn f() -> driver_owners::error::CudaResult<()> {
//! use driver_owners::error::CudaError;
//! let error = CudaError::OutOfMemory;
//! assert_eq!(error.code().0, 2);
//! # Ok(())
//! # }
//! ```

use cuda_driver::ReturnCode;
use std::ffi::CStr;
use std::fmt::{Debug, Display, Formatter};

/// The result of everything here.
pub type CudaResult<T> = Result<T, CudaError>;

/// A code that a call of the driver returned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CudaError(ReturnCode);

/// The codes that callers ask for, under cust's names.
#[allow(non_upper_case_globals, reason = "cust has them as an enum's variants")]
impl CudaError {
    /// An argument is wrong.
    pub const InvalidValue: CudaError = CudaError(ReturnCode(1));
    /// The device has not as much memory.
    pub const OutOfMemory: CudaError = CudaError(ReturnCode(2));
    /// [`crate::init`] was not called.
    pub const NotInitialized: CudaError = CudaError(ReturnCode(3));
    /// There is no such device.
    pub const InvalidDevice: CudaError = CudaError(ReturnCode(101));
    /// No device is current on this thread.
    pub const InvalidContext: CudaError = CudaError(ReturnCode(201));
    /// There is no such kernel or static.
    pub const NotFound: CudaError = CudaError(ReturnCode(500));
    /// The work is not done yet.
    pub const NotReady: CudaError = CudaError(ReturnCode(600));
    /// A kernel accessed memory that is not there.
    pub const IllegalAddress: CudaError = CudaError(ReturnCode(700));
    /// An allocation of more bytes than an address has, found before the driver was called.
    pub const InvalidMemoryAllocation: CudaError = CudaError(ReturnCode(100_100));

    /// The driver's code.
    pub fn code(self) -> ReturnCode {
        self.0
    }
}

impl Debug for CudaError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        Debug::fmt(&self.0, formatter)
    }
}

impl Display for CudaError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        if *self == CudaError::InvalidMemoryAllocation {
            return formatter.write_str("Invalid memory allocation");
        }
        let mut text = std::ptr::null();
        // SAFETY: a local to write to.
        let found = unsafe { cuda_driver::api::cuGetErrorString(self.0.0, &mut text) };
        if found != ReturnCode::SUCCESS || text.is_null() {
            return write!(formatter, "error {} of the driver", self.0.0);
        }
        // SAFETY: the driver gave a text that ends with a NUL and lives as long as the process.
        let text = unsafe { CStr::from_ptr(text) };
        // In quotation marks, as cust has it.
        write!(formatter, "{text:?}")
    }
}

impl std::error::Error for CudaError {}

pub(crate) fn result(code: ReturnCode) -> CudaResult<()> {
    if code == ReturnCode::SUCCESS { Ok(()) } else { Err(CudaError(code)) }
}
