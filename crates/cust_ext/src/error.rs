use cuda_driver::{DriverError, ReturnCode};
use cust::error::CudaError;

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;

/// A failed call, as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A driver function returned an error.
    #[error("{call} failed, {code}: {reason}")]
    Call {
        /// The driver function, or cust for a call that cust made.
        call: &'static str,
        /// Its answer; the driver's own code even where cust's enum does not list it.
        code: ReturnCode,
        /// The code's meaning and, where known, the cure.
        reason: String,
    },
    /// An argument that the driver would not accept, found before calling it.
    #[error("{0}")]
    Argument(String),
    /// There is no usable driver.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl Error {
    /// The driver's return code, when a driver call failed.
    pub fn code(&self) -> Option<ReturnCode> {
        match self {
            Error::Call { code, .. } => Some(*code),
            Error::Argument(_) | Error::Driver(_) => None,
        }
    }

    fn from_code(call: &'static str, code: ReturnCode) -> Error {
        let unlisted =
            if code == ReturnCode::UNKNOWN { cuda_driver::last_unlisted_code() } else { None };
        let code = unlisted.unwrap_or(code);
        Error::Call { call, code, reason: reason(call, code) }
    }
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Error {
        match error {
            CudaError::InvalidMemoryAllocation => Error::Argument(
                "the size of the allocation is zero or does not fit into memory".to_owned(),
            ),
            other => Error::from_code("a call of cust", code_of(other)),
        }
    }
}

#[cfg(feature = "cust")]
fn code_of(error: CudaError) -> ReturnCode {
    ReturnCode(error as u32)
}

#[cfg(not(feature = "cust"))]
fn code_of(error: CudaError) -> ReturnCode {
    error.code()
}

fn reason(call: &'static str, code: ReturnCode) -> String {
    if matches!(code, ReturnCode::NOT_SUPPORTED | ReturnCode::NO_DEVICE) {
        let calls = cuda_driver::unavailable_calls();
        if let Some(unavailable) = calls.iter().find(|unavailable| unavailable.symbol == call) {
            return unavailable.to_string();
        }
    }
    let text = code.description().unwrap_or("a code that this version does not know").to_owned();
    match advice(code) {
        Some(advice) => format!("{text}; {advice}"),
        None => text,
    }
}

fn advice(code: ReturnCode) -> Option<&'static str> {
    Some(match code.0 {
        201 => "make the device current on this thread first, for example by `Gpu::make_current`",
        700 | 714..=719 => "an earlier kernel failed and the context is lost, start a new process",
        701 => "use fewer threads per block, or less shared memory",
        720 => "launch at most as many blocks as fit on the device at once",
        712 => "unregister the memory first",
        900 | 906 => "do this outside the capture",
        912 => "use a smaller cluster",
        999 => {
            "if `nvidia-smi` no longer lists a GPU, it has disappeared: go on without it, in a new process"
        }
        _ => return None,
    })
}

pub(crate) fn argument<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::Argument(message.into()))
}

/// Turns a return code into a result that names the call.
pub(crate) fn check(call: &'static str, code: ReturnCode) -> Result<()> {
    if code == ReturnCode::SUCCESS { Ok(()) } else { Err(Error::from_code(call, code)) }
}

/// `call!(cuX(arguments))` calls the driver function and names it in the error.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        $crate::error::check(stringify!($name), cuda_driver::api::$name($($argument),*))
    };
}
pub(crate) use call;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_call_the_code_and_the_fix() {
        assert_eq!(check("cuMemAlloc_v2", ReturnCode::SUCCESS), Ok(()));
        let error = check("cuLaunchCooperativeKernel", ReturnCode(720)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cuLaunchCooperativeKernel failed, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE (720): too many blocks in a \
             cooperative launch; launch at most as many blocks as fit on the device at once"
        );
        assert_eq!(error.code(), Some(ReturnCode(720)));
    }

    #[test]
    fn a_cluster_that_does_not_fit_is_told_with_its_cure() {
        assert_eq!(
            check("cuLaunchKernelEx", ReturnCode(912)).unwrap_err().to_string(),
            "cuLaunchKernelEx failed, CUDA_ERROR_INVALID_CLUSTER_SIZE (912): the cluster size is not valid for this kernel or \
             device; use a smaller cluster"
        );
    }

    #[test]
    fn an_error_of_cust_keeps_its_code() {
        assert_eq!(Error::from(CudaError::OutOfMemory).code(), Some(ReturnCode::OUT_OF_MEMORY));
        assert_eq!(Error::from(CudaError::InvalidMemoryAllocation).code(), None);
    }
}
