use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::image::Image;
use crate::origin::start_machine;
use crate::virtual_device::VirtualDevice;
use std::ops::Deref;
use virtual_gpu::{Options, OwnMachine, Topology};

/// A description of a virtual device, by which each thread opens one like it: [`Gpu::twin`] gives it.
#[derive(Clone, Debug)]
pub struct Twin {
    pub(crate) machine: Topology,
    pub(crate) options: Options,
    pub(crate) images: &'static [Image],
    pub(crate) image: &'static Image,
}

/// A virtual device that the thread which opened it has for itself: no other thread sees its memory, launches or mistakes.
///
/// Until it is dropped, every call of the driver by this thread reaches it.
#[derive(Debug)]
pub struct OwnGpu {
    /// Dropped before its machine is.
    gpu: Gpu,
    _machine: OwnMachine,
}

impl Gpu {
    /// A description by which other threads open devices like this virtual one; a GPU has none, nor has a machine that
    /// loses devices as it runs.
    pub fn twin(&self) -> Option<Twin> {
        let VirtualDevice { machine, options, .. } = self.virtual_device()?;
        let is_lost = |device| machine.kernels_until_lost(device).is_some();
        if (0..machine.devices().len()).any(is_lost) {
            return None;
        }
        let (machine, options) = (machine.clone(), *options);
        Some(Twin { machine, options, images: self.images, image: self.image() })
    }
}

impl Twin {
    /// Opens a new device on this thread.
    ///
    /// # Errors
    /// As for [`Gpu::open`].
    pub fn open(&self) -> Result<OwnGpu, GpuError> {
        let own = OwnMachine::new();
        let origin = start_machine(self.machine.clone(), "as asked", self.options, self.images)?;
        let gpu = Gpu::on_device(origin, self.images, Some(self.image))?;
        Ok(OwnGpu { gpu, _machine: own })
    }
}

impl Deref for OwnGpu {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        &self.gpu
    }
}
