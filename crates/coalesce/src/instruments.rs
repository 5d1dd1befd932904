//! The instruments' own kernels on a device.
//!
//! ```no_run
//! let gpu = cuda_host::Gpu::auto(&[])?;
//! let instruments = coalesce::instruments::Instruments::load(&gpu)?;
//! instruments.module().get_function("measurement_read").expect("a kernel of the instruments");
//! # Ok::<(), cuda_host::GpuError>(())
//! ```

use anyhow::Result;
use cuda_host::{Gpu, GpuError, Image, Kernels, Launcher};
use cust::module::Module;

/// The PTX of `crates/measurement_kernels`.
pub static IMAGES: &[Image] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// A device with the instruments' kernels loaded on it.
pub struct Instruments<'a> {
    gpu: &'a Gpu,
    kernels: Kernels,
}

impl<'a> Instruments<'a> {
    /// Loads the kernels.
    pub fn load(gpu: &'a Gpu) -> Result<Instruments<'a>, GpuError> {
        Ok(Instruments { gpu, kernels: gpu.load(IMAGES)? })
    }

    /// The device.
    pub fn gpu(&self) -> &'a Gpu {
        self.gpu
    }

    /// The kernels, by name.
    pub fn module(&self) -> &Module {
        &self.kernels
    }

    /// A launcher of the instruments' kernels on the device's stream.
    pub fn launcher(&self) -> Launcher<'_> {
        self.gpu.launcher_of(&self.kernels)
    }
}
