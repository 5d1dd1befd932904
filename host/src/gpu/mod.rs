//! The device, as patterns see it: arrays, typed launches, events. Only this module knows cust.

mod arrays;
mod ceilings;
mod choice;
mod counted;
mod error;
mod launch;
mod streams;
mod timing;

pub use arrays::{Arrays, View, ViewMut, digest};
pub use ceilings::Saturation;
pub use choice::{Choice, registers};
pub use counted::{Counted, Larger, OperationKind, OperationRecord, RequestKind, misuse};
pub use error::GpuError;
pub use launch::{Argument, Arguments, Launcher};
pub use streams::Streams;
pub use timing::{Clock, Flush, Gate, Stopwatch};

use crate::ptx::Image;
use cust::context::Context;
use cust::device::{Device, DeviceAttribute};
use cust::memory::{LockedBuffer, mem_get_info};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust_ext::device::Attribute;
use cust_ext::graph::{CaptureMode, ExecutableGraph, capture};
pub use simt::Checks;
use std::cell::RefCell;

/// A device with the kernels loaded on it and one stream.
///
/// The fields are dropped in this order: what lives on the context before the context.
pub struct Gpu {
    /// Page-locked memory through which arrays travel.
    stage: RefCell<LockedBuffer<u8>>,
    stream: Stream,
    module: Module,
    device: Device,
    image: &'static Image,
    capability: u32,
    driver_version: String,
    origin: choice::Origin,
    _context: Context,
}

/// What the device is, for a result's environment.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct DeviceFacts {
    /// The name the driver gives.
    pub name: String,
    /// The compute capability times ten.
    pub capability: u32,
    /// The CUDA version the driver supports.
    pub driver_version: String,
    /// Multiprocessors.
    pub multiprocessors: i32,
    /// The highest multiprocessor clock, kHz.
    pub clock_khz: i32,
    /// The memory clock, kHz.
    pub memory_clock_khz: i32,
    /// The memory bus, bits.
    pub memory_bus_bits: i32,
    /// The L2 cache, bytes.
    pub l2_bytes: i32,
    /// Device memory, bytes.
    pub memory_bytes: usize,
    /// Whether memory errors are corrected.
    pub ecc: bool,
}

impl Gpu {
    /// Opens the chosen device and loads the newest kernels it can run.
    ///
    /// # Errors
    /// [`GpuError::NoDriver`], [`GpuError::NoDevice`], [`GpuError::TooOld`], or the driver's own.
    pub fn open(choice: &Choice, checks: Checks) -> Result<Gpu, GpuError> {
        let (ordinal, origin) = choice.select(checks)?;
        let driver =
            cuda_driver::status().map_err(|error| GpuError::NoDriver(error.to_string()))?;
        cust::init(cust::CudaFlags::empty())
            .map_err(|error| GpuError::driver("initialising the driver", error))?;
        let count =
            Device::num_devices().map_err(|error| GpuError::driver("counting devices", error))?;
        if ordinal >= count {
            return Err(GpuError::NoDevice { ordinal, count });
        }
        let device = Device::get_device(ordinal)
            .map_err(|error| GpuError::driver("opening the device", error))?;
        let attribute = |attribute| {
            device
                .get_attribute(attribute)
                .map_err(|error| GpuError::driver("asking for an attribute", error))
        };
        let major = attribute(DeviceAttribute::ComputeCapabilityMajor)?;
        let minor = attribute(DeviceAttribute::ComputeCapabilityMinor)?;
        let capability = u32::try_from(major * 10 + minor).unwrap_or(0);
        let Some(image) = Image::for_capability(capability) else {
            let oldest = crate::ptx::IMAGES.first().map_or(0, |image| image.capability);
            let name = device.name().unwrap_or_else(|_| "the device".to_owned());
            return Err(GpuError::TooOld { name, capability, oldest });
        };
        let context =
            Context::new(device).map_err(|error| GpuError::driver("creating a context", error))?;
        let module = Module::from_ptx(image.text, &[])
            .map_err(|error| GpuError::driver("loading the kernels", error))?;
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None)
            .map_err(|error| GpuError::driver("creating a stream", error))?;
        // SAFETY: every piece of it is written before it is read.
        let stage = unsafe { LockedBuffer::uninitialized(arrays::STAGE) }
            .map_err(|error| GpuError::driver("allocating page-locked memory", error))?;
        Ok(Gpu {
            stage: RefCell::new(stage),
            stream,
            module,
            device,
            image,
            capability,
            driver_version: driver.version.to_string(),
            origin,
            _context: context,
        })
    }

    /// Whether this is the virtual device: results are exact, times are predictions.
    pub fn is_virtual(&self) -> bool {
        self.origin.is_virtual
    }

    /// One line that says which device was taken and why.
    pub fn origin(&self) -> &str {
        &self.origin.reason
    }

    /// The compute capability times ten.
    pub fn capability(&self) -> u32 {
        self.capability
    }

    /// Multiprocessors.
    pub fn multiprocessors(&self) -> anyhow::Result<u32> {
        self.attribute(Attribute::MultiprocessorCount)
    }

    /// The most dynamic shared memory that a block may ask for, bytes.
    pub fn shared_bytes_per_block(&self) -> anyhow::Result<u32> {
        self.attribute(Attribute::MaxSharedMemoryPerBlockOptIn)
    }

    fn attribute(&self, attribute: Attribute) -> anyhow::Result<u32> {
        Ok(u32::try_from(cust_ext::device::attribute(&self.device, attribute)?)?)
    }

    /// The kernels that were loaded.
    pub fn image(&self) -> &'static Image {
        self.image
    }

    /// Free and total device memory, bytes.
    pub fn memory(&self) -> Result<(usize, usize), GpuError> {
        mem_get_info().map_err(|error| GpuError::driver("asking for free memory", error))
    }

    /// What the device is.
    pub fn facts(&self) -> Result<DeviceFacts, GpuError> {
        let attribute = |attribute| {
            self.device
                .get_attribute(attribute)
                .map_err(|error| GpuError::driver("asking for an attribute", error))
        };
        Ok(DeviceFacts {
            name: self
                .device
                .name()
                .map_err(|error| GpuError::driver("asking for the name", error))?,
            capability: self.capability,
            driver_version: self.driver_version.clone(),
            multiprocessors: attribute(DeviceAttribute::MultiprocessorCount)?,
            clock_khz: attribute(DeviceAttribute::ClockRate)?,
            memory_clock_khz: attribute(DeviceAttribute::MemoryClockRate)?,
            memory_bus_bits: attribute(DeviceAttribute::GlobalMemoryBusWidth)?,
            l2_bytes: attribute(DeviceAttribute::L2CacheSize)?,
            memory_bytes: self
                .device
                .total_memory()
                .map_err(|error| GpuError::driver("asking for memory", error))?,
            ecc: attribute(DeviceAttribute::EccEnabled)? != 0,
        })
    }

    /// The address on the PCI bus, such as `0000:3b:00.0`.
    ///
    /// # Errors
    /// The driver's.
    pub fn pci_address(&self) -> anyhow::Result<String> {
        Ok(cust_ext::device::pci_address(&self.device)?)
    }

    /// The stream between whose events work is measured.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernels, by name.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Waits for everything enqueued; a fault of a kernel surfaces here.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        self.stream.synchronize().map_err(|error| GpuError::driver("waiting for the device", error))
    }

    /// Leaves L2 as it is by default: nothing set aside, no window on the stream, no line that persists. Returns the
    /// bytes that were set aside until now.
    ///
    /// # Errors
    /// The driver's.
    pub fn restore_l2(&self) -> anyhow::Result<usize> {
        Ok(cust_ext::l2::restore_default(&self.stream)?)
    }

    /// Records what `body` enqueues on the stream instead of running it.
    ///
    /// # Errors
    /// The driver's, also when `body` does what no graph can hold.
    pub fn record(&self, body: impl FnOnce()) -> cust_ext::Result<ExecutableGraph> {
        let record = |_: &Stream| {
            body();
            Ok(())
        };
        capture(&self.stream, CaptureMode::Relaxed, record)?.instantiate()
    }

    /// A launcher on this device's stream.
    pub fn launcher(&self) -> Launcher<'_> {
        Launcher::new(self)
    }
}
