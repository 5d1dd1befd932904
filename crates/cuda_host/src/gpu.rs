use crate::choice::{Choice, DEFAULT_PROFILE};
use crate::error::{GpuError, NoDriver};
use crate::image::Image;
use crate::kernels::Kernels;
use crate::origin::Origin;
#[cfg(feature = "virtual")]
use crate::origin::{is_checked, options, start};
#[cfg(feature = "virtual")]
use crate::virtual_device::VirtualDevice;
use cuda_driver::{DriverError, OperationRecord};
use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::memory::mem_get_info;
use cust::module::Module;
use cust::stream::Stream;
use cust_ext::device::DeviceAttribute;
use cust_ext::device::in_context;
use cust_ext::graph::{CaptureMode, ExecutableGraph, capture};
use cust_ext::stream::non_blocking;
#[cfg(feature = "virtual")]
use simt::Checks;
use std::cell::{Cell, OnceCell};
use std::mem::ManuallyDrop;
#[cfg(feature = "virtual")]
use virtual_gpu::Options;

/// A device with kernels loaded on it and one stream, which does not wait for the legacy default stream.
///
/// Dropping it waits for the device. The context is never released: memory, modules and graphs may outlive this.
pub struct Gpu {
    /// The machine's other devices, once somebody asked for them.
    peers: OnceCell<Vec<Gpu>>,
    stream: Stream,
    /// Stay loaded if a graph has some.
    kernels: ManuallyDrop<Kernels>,
    /// True once [`Gpu::record`] made a graph.
    recorded: Cell<bool>,
    device: Device,
    image: &'static Image,
    pub(crate) images: &'static [Image],
    capability: u32,
    driver_version: String,
    origin: Origin,
    context: ManuallyDrop<Context>,
}

/// Facts of a device, as the driver gives them.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFacts {
    /// The name.
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
    /// True when memory errors are corrected.
    pub ecc: bool,
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Gpu").field(&self.origin.reason).finish()
    }
}

impl Gpu {
    /// Opens the device that the variable `COALESCE_DEVICE` names; without it the first GPU, or the virtual one where there
    /// is none. [`Gpu::origin`] says which it became.
    ///
    /// # Errors
    /// As for [`Gpu::open`].
    pub fn auto(images: &'static [Image]) -> Result<Gpu, GpuError> {
        let choice = Choice::from_environment();
        Gpu::open(&choice.map_err(NoDriver::from)?, images)
    }

    /// Opens the chosen device and loads the newest kernels among `images` that it can run, or those of the file that
    /// `COALESCE_PTX` names.
    ///
    /// # Errors
    /// [`GpuError::NoDriver`], [`GpuError::NoDevice`], [`GpuError::TooOld`], [`GpuError::NoImages`], or the driver's own.
    pub fn open(choice: &Choice, images: &'static [Image]) -> Result<Gpu, GpuError> {
        #[cfg(feature = "virtual")]
        return if is_checked() {
            let choice = Choice::Virtual(DEFAULT_PROFILE.to_owned());
            Gpu::open_checked(&choice, images, Checks::all())
        } else {
            Gpu::open_checked(choice, images, Checks::none())
        };
        #[cfg(not(feature = "virtual"))]
        Gpu::open_with(choice, images, |_, _| Err(GpuError::NoVirtualDevice))
    }

    /// As [`Gpu::open`]; the virtual device also looks for hazards, which a GPU cannot.
    ///
    /// # Errors
    /// As for [`Gpu::open`].
    #[cfg(feature = "virtual")]
    pub fn open_checked(
        choice: &Choice,
        images: &'static [Image],
        checks: Checks,
    ) -> Result<Gpu, GpuError> {
        Gpu::open_with(choice, images, |profile, why| {
            start(profile, why, options(checks, true), images)
        })
    }

    /// As [`Gpu::open_checked`]; the virtual device leaves out the model of time, which makes it faster: for who
    /// asks for results and counts only.
    ///
    /// # Errors
    /// As for [`Gpu::open`].
    #[cfg(feature = "virtual")]
    pub fn open_untimed(
        choice: &Choice,
        images: &'static [Image],
        checks: Checks,
    ) -> Result<Gpu, GpuError> {
        Gpu::open_with(choice, images, |profile, why| {
            start(profile, why, options(checks, false), images)
        })
    }

    /// Opens a virtual device, by the name of a profile, that runs as `options` say: with limits, checks and an order of
    /// its own. The kernels are these, whatever `COALESCE_PTX` names.
    ///
    /// # Errors
    /// As for [`Gpu::open`].
    #[cfg(feature = "virtual")]
    pub fn open_virtual(
        profile: &str,
        images: &'static [Image],
        options: Options,
    ) -> Result<Gpu, GpuError> {
        Gpu::on_device(start(profile, "as asked", options, images)?, images, None)
    }

    fn open_with(
        choice: &Choice,
        images: &'static [Image],
        start: impl Fn(&str, &str) -> Result<Origin, GpuError>,
    ) -> Result<Gpu, GpuError> {
        let fresh = Image::from_environment()?;
        let origin = match choice {
            Choice::Gpu(ordinal) => Origin::gpu(*ordinal, "as asked"),
            Choice::AllGpus => Origin::gpu(0, "the first of all"),
            Choice::Virtual(profile) => start(profile, "as asked")?,
            Choice::Auto => match cuda_driver::status() {
                Ok(_) => Origin::gpu(0, "found by the driver"),
                // What the user asked for is not replaced by something else.
                Err(error @ DriverError::ChosenLibraryUnusable { .. }) => {
                    return Err(NoDriver::from(error).into());
                }
                Err(error) => {
                    let why = format!("because there is {}", first_clause(&error.to_string()));
                    start(DEFAULT_PROFILE, &why)?
                }
            },
        };
        Gpu::on_device(origin, images, fresh)
    }

    /// Opens a device whose driver was chosen.
    pub(crate) fn on_device(
        origin: Origin,
        images: &'static [Image],
        fresh: Option<&'static Image>,
    ) -> Result<Gpu, GpuError> {
        let driver = cuda_driver::status().map_err(NoDriver::from)?;
        cust::init(cust::CudaFlags::empty())
            .map_err(|error| GpuError::driver("initializing the driver", error))?;
        let count =
            Device::num_devices().map_err(|error| GpuError::driver("counting devices", error))?;
        let ordinal = origin.ordinal;
        if ordinal >= count {
            return Err(GpuError::NoDevice { ordinal, count });
        }
        let device = Device::get_device(ordinal)
            .map_err(|error| GpuError::driver("opening the device", error))?;
        let attribute = |attribute| cust_ext::device::attribute(&device, attribute);
        let major = attribute(DeviceAttribute::ComputeCapabilityMajor)?;
        let minor = attribute(DeviceAttribute::ComputeCapabilityMinor)?;
        let capability = u32::try_from(major * 10 + minor).unwrap_or(0);
        let image = match (fresh, images.first()) {
            (Some(fresh), _) => fresh,
            (None, None) => return Err(GpuError::NoImages),
            (None, Some(oldest)) => Image::for_driver(images, capability, driver.version.ptx())
                .ok_or_else(|| {
                    let name = device.name().unwrap_or_else(|_| "the device".to_owned());
                    GpuError::TooOld { name, capability, oldest: oldest.capability }
                })?,
        };
        let context =
            Context::new(device).map_err(|error| GpuError::driver("creating a context", error))?;
        let context = ManuallyDrop::new(context);
        let kernels = Kernels::load(image.text())?;
        // Not cust's own, which drops the flag.
        let stream = non_blocking(None)
            .map_err(|cause| GpuError::Extension { doing: "creating a stream", cause })?;
        Ok(Gpu {
            peers: OnceCell::new(),
            stream,
            kernels: ManuallyDrop::new(kernels),
            recorded: Cell::new(false),
            device,
            image,
            images,
            capability,
            driver_version: driver.version.to_string(),
            origin,
            context,
        })
    }

    /// The machine's other devices, the next one first, each with the same kernels and a stream of its own. They are
    /// opened when somebody asks for them first; the current context stays this device's.
    ///
    /// # Errors
    /// As for [`Gpu::open`].
    pub fn peers(&self) -> Result<&[Gpu], GpuError> {
        if let Some(peers) = self.peers.get() {
            return Ok(peers);
        }
        let count =
            Device::num_devices().map_err(|error| GpuError::driver("counting devices", error))?;
        let open = |step| {
            let ordinal = (self.origin.ordinal + step) % count;
            let origin = Origin {
                ordinal,
                reason: format!("a peer of device {}", self.origin.ordinal),
                #[cfg(feature = "virtual")]
                virtual_device: self.virtual_device().map(VirtualDevice::clone_handle),
            };
            Gpu::on_device(origin, self.images, Image::from_environment()?)
        };
        let peers = (1..count).map(open).collect::<Result<Vec<_>, _>>();
        // Opening a device makes it current.
        self.make_current()?;
        let peers = peers?;
        Ok(self.peers.get_or_init(|| peers))
    }

    /// Makes this device the one that calls of this thread mean. A thread that did not open the device needs it before
    /// its first call, and before it drops a buffer.
    ///
    /// # Errors
    /// When the driver does not make its context current.
    pub fn make_current(&self) -> Result<(), GpuError> {
        CurrentContext::set_current(&*self.context)
            .map_err(|error| GpuError::driver("changing the device", error))
    }

    /// The context in which everything of this device lives.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The virtual device, if this is it: results are exact, times are predictions, and it can be asked more.
    #[cfg(feature = "virtual")]
    pub fn virtual_device(&self) -> Option<&VirtualDevice> {
        self.origin.virtual_device.as_ref()
    }

    /// Returns whether this is a virtual device.
    pub(crate) fn is_virtual(&self) -> bool {
        #[cfg(feature = "virtual")]
        return self.virtual_device().is_some();
        #[cfg(not(feature = "virtual"))]
        false
    }

    /// Returns whether launches are recorded and not executed, so that they access no memory.
    pub(crate) fn is_dry_run(&self) -> bool {
        #[cfg(feature = "virtual")]
        return self.virtual_device().is_some_and(VirtualDevice::is_dry_run);
        #[cfg(not(feature = "virtual"))]
        false
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
    ///
    /// # Errors
    /// When the driver does not tell it.
    pub fn multiprocessors(&self) -> Result<u32, GpuError> {
        self.attribute(DeviceAttribute::MultiprocessorCount)
    }

    /// The most dynamic shared memory that a block may ask for, bytes.
    ///
    /// # Errors
    /// When the driver does not tell it.
    pub fn shared_bytes_per_block(&self) -> Result<u32, GpuError> {
        self.attribute(DeviceAttribute::MaxSharedMemoryPerBlockOptIn)
    }

    pub(crate) fn attribute(&self, attribute: DeviceAttribute) -> Result<u32, GpuError> {
        // No count and no size is negative.
        Ok(cust_ext::device::attribute(&self.device, attribute)?.cast_unsigned())
    }

    /// The kernels that were loaded.
    pub fn image(&self) -> &'static Image {
        self.image
    }

    /// Loads more kernels: the newest among these that the device can run.
    ///
    /// # Errors
    /// [`GpuError::TooOld`], or the driver's own.
    pub fn load(&self, images: &'static [Image]) -> Result<Kernels, GpuError> {
        let oldest = images.first().ok_or(GpuError::NoImages)?.capability;
        let newest = cuda_driver::status().map_err(NoDriver::from)?.version.ptx();
        let image = Image::for_driver(images, self.capability, newest).ok_or_else(|| {
            let name = self.device.name().unwrap_or_else(|_| "the device".to_owned());
            GpuError::TooOld { name, capability: self.capability, oldest }
        })?;
        #[cfg(feature = "virtual")]
        if let Some(device) = self.virtual_device() {
            device.assume_registers(image.kernels);
        }
        Kernels::load(image.text())
    }

    /// Free and total device memory, bytes.
    ///
    /// # Errors
    /// When the driver does not tell them.
    pub fn memory(&self) -> Result<(usize, usize), GpuError> {
        mem_get_info().map_err(|error| GpuError::driver("asking for free memory", error))
    }

    /// Returns what the device is.
    ///
    /// # Errors
    /// When the driver does not tell one of them.
    pub fn facts(&self) -> Result<DeviceFacts, GpuError> {
        let attribute = |attribute| cust_ext::device::attribute(&self.device, attribute);
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
    /// When the driver does not tell it.
    pub fn pci_address(&self) -> Result<String, GpuError> {
        Ok(cust_ext::device::pci_address(&self.device)?)
    }

    /// The stream that launches go to.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernels, by name.
    pub fn module(&self) -> &Module {
        &self.kernels
    }

    /// The kernels, with what the device build recorded of them.
    pub(crate) fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// Waits for everything enqueued on any stream of the device; a fault of a kernel surfaces here.
    ///
    /// # Errors
    /// When a kernel failed, or a copy.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        CurrentContext::synchronize()
            .map_err(|error| GpuError::driver("waiting for the device", error))
    }

    /// Waits for the device on whatever thread, and leaves its failures to who asks for them.
    pub(crate) fn wait(&self) {
        let _ = in_context(&self.context, CurrentContext::synchronize);
    }

    /// From here on what streams do is recorded, for [`Gpu::drain_operations`]: by the virtual device, or by events
    /// around each operation, which take time themselves.
    pub fn watch_operations(&self) {
        #[cfg(feature = "virtual")]
        if let Some(device) = self.virtual_device() {
            device.drain_operations();
            return;
        }
        cuda_driver::record_operations();
    }

    /// Returns what was done since [`Gpu::watch_operations`], and when. The virtual device tells of the host, too.
    ///
    /// # Errors
    /// When the device cannot wait for its work or tell the times.
    pub fn drain_operations(&self) -> Result<Vec<OperationRecord>, GpuError> {
        #[cfg(feature = "virtual")]
        if let Some(device) = self.virtual_device() {
            return Ok(device.drain_operations());
        }
        self.synchronize()?;
        cuda_driver::recorded_operations().map_err(GpuError::Unrecorded)
    }

    /// The old name of [`Self::drain_operations`].
    ///
    /// # Errors
    /// As for the new one.
    #[deprecated(since = "0.2.0", note = "it is `drain_operations`")]
    pub fn take_operations(&self) -> Result<Vec<OperationRecord>, GpuError> {
        self.drain_operations()
    }

    /// Leaves L2 as it is by default: nothing set aside, no window on the stream, no line that persists. Returns the
    /// bytes that were set aside until now.
    ///
    /// # Errors
    /// When the driver refuses one of the three.
    pub fn restore_l2(&self) -> Result<usize, GpuError> {
        Ok(cust_ext::l2::restore_default(&self.stream)?)
    }

    /// Records what `body` enqueues on the stream instead of running it.
    ///
    /// # Errors
    /// The driver's, also when `body` does what no graph can hold.
    pub fn record(&self, body: impl FnOnce()) -> cust_ext::Result<ExecutableGraph> {
        self.recorded.set(true);
        let record = |_: &Stream| {
            body();
            Ok(())
        };
        capture(&self.stream, CaptureMode::Relaxed, record)?.instantiate()
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.wait();
        let _ = in_context(&self.context, || {
            if !self.recorded.get() {
                // SAFETY: the kernels are not used again: nothing runs, no graph has its kernels, and functions borrow it.
                unsafe { ManuallyDrop::drop(&mut self.kernels) };
            }
        });
    }
}

fn first_clause(message: &str) -> &str {
    message.split([':', '(', ';']).next().unwrap_or(message).trim()
}
