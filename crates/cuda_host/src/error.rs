use crate::choice::ChoiceError;
use cuda_driver::DriverError;
use cust::error::CudaError;
use std::path::PathBuf;

/// The result of what a device does.
pub type Result<T, E = GpuError> = std::result::Result<T, E>;

/// Why the device did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no usable driver.
    #[error(transparent)]
    NoDriver(#[from] NoDriver),
    /// The driver has no such device.
    #[error(
        "there is no GPU {ordinal}: the driver has {count} device(s); choose another with gpu:N"
    )]
    NoDevice {
        /// The device asked for.
        ordinal: u32,
        /// The number of devices.
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
    /// The program carries no kernels.
    #[error(
        "this program was built for development or without a compiler for kernels, and carries no kernels: name a file with their PTX by COALESCE_PTX, or build it with --release and without COALESCE_WITHOUT_KERNELS"
    )]
    NoImages,
    /// A file of PTX cannot be used.
    #[error("cannot run the PTX in {} (from COALESCE_PTX): {cause}", path.display())]
    Ptx {
        /// The file.
        path: PathBuf,
        /// The fault.
        cause: String,
    },
    /// The virtual device was not compiled in.
    #[error(
        "this program was built without the virtual device: build it with the feature `virtual` of cuda_host"
    )]
    NoVirtualDevice,
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
        /// The fault.
        cause: String,
    },
    /// The events around what streams did say nothing.
    #[error("reading what the streams did failed: {0}; run without other programs on the GPU")]
    Unrecorded(cuda_driver::ReturnCode),
    /// The device has too little memory.
    #[error("allocating {length} values of {bytes} bytes on the device failed")]
    NoRoom {
        /// The number of values that were to be stored.
        length: usize,
        /// The bytes of each.
        bytes: usize,
        /// The driver's reason.
        source: CudaError,
    },
    /// A static of the kernels cannot be written.
    #[error("writing the static `{name}` of the kernels failed")]
    Static {
        /// Its name.
        name: &'static str,
        /// The reason.
        source: cust_ext::Error,
    },
    /// A call of cust_ext's, which names itself.
    #[error(transparent)]
    Call(#[from] cust_ext::Error),
    /// A call of cust's.
    #[error(transparent)]
    Cust(#[from] CudaError),
    /// An error of what cust lacks.
    #[error("{doing} failed: {cause}")]
    Extension {
        /// The action that failed.
        doing: &'static str,
        /// The reason.
        cause: cust_ext::Error,
    },
    /// Any other error of the driver.
    #[error("{doing} failed: {cause}")]
    Driver {
        /// The action that failed.
        doing: &'static str,
        /// The driver's reason.
        cause: CudaError,
    },
}

/// The reason why no driver answers: what is missing and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoDriver {
    /// The machine's driver cannot be used, or another one answers already.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The choice of a device names none.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// Another virtual device is running.
    #[cfg(feature = "virtual")]
    #[error(transparent)]
    Start(#[from] virtual_gpu::StartError),
}

impl GpuError {
    /// An error of the driver, with what was being done.
    pub fn driver(doing: &'static str, cause: CudaError) -> GpuError {
        GpuError::Driver { doing, cause }
    }
}
