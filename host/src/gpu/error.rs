//! What can go wrong on the device, each as one sentence with its cause and its fix.

use cust::error::CudaError;

/// Why the device did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// There is no usable driver; the text says what is missing and what to do.
    #[error("{0}")]
    NoDriver(String),
    /// The driver has no such device.
    #[error(
        "there is no GPU {ordinal}: the driver has {count} device(s); choose another with --device gpu:N"
    )]
    NoDevice {
        /// The device asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// The device is older than the oldest kernels.
    #[error(
        "{name} has compute capability {}.{}, and the oldest kernels in this binary need {}.{}: use a newer GPU",
        capability / 10, capability % 10, oldest / 10, oldest % 10
    )]
    TooOld {
        /// The device's name.
        name: String,
        /// Its compute capability times ten.
        capability: u32,
        /// That of the oldest image.
        oldest: u32,
    },
    /// The arrays do not fit.
    #[error("this size needs {needed} of device memory and {free} are free: choose a smaller --size", needed = bytes(*needed), free = bytes(*free))]
    OutOfMemory {
        /// The bytes that all arrays take.
        needed: usize,
        /// The bytes that are free.
        free: usize,
    },
    /// A kernel stopped with an error; the context is unusable afterwards.
    #[error(
        "{launch} failed on the device: {cause}; find the access with `compute-sanitizer` or on the virtual GPU"
    )]
    Fault {
        /// The kernel and its launch configuration.
        launch: String,
        /// The driver's reason.
        cause: CudaError,
    },
    /// A launch was refused before it ran.
    #[error("{launch} was refused: {cause}")]
    Refused {
        /// The kernel and its launch configuration.
        launch: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The events around what streams did say nothing.
    #[error("reading what the streams did failed: {0}; run without other programs on the GPU")]
    Unrecorded(cuda_driver::ReturnCode),
    /// Any other error of the driver.
    #[error("{doing} failed: {cause}")]
    Driver {
        /// What was being done.
        doing: &'static str,
        /// The driver's reason.
        cause: CudaError,
    },
}

impl GpuError {
    pub(crate) fn driver(doing: &'static str, cause: CudaError) -> GpuError {
        GpuError::Driver { doing, cause }
    }
}

/// A number of bytes with a binary unit.
pub(crate) fn bytes(count: usize) -> String {
    indicatif::BinaryBytes(count as u64).to_string()
}
