//! Devices.
//!
//! ```no_run
//! # fn f() -> driver_owners::error::CudaResult<()> {
//! use driver_owners::device::{Device, DeviceAttribute};
//! let device = Device::get_device(0)?;
//! let multiprocessors = device.get_attribute(DeviceAttribute::MultiprocessorCount)?;
//! # Ok(())
//! # }
//! ```

use crate::error::{CudaResult, result};
use cuda_driver::api;
use cuda_driver::raw::CUdevice;
pub use cuda_driver::types::DeviceAttribute;
use std::ffi::CStr;

/// A device of the driver's.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    pub(crate) device: CUdevice,
}

impl Device {
    /// Returns how many there are.
    ///
    /// # Errors
    /// When the driver is not initialized.
    pub fn num_devices() -> CudaResult<u32> {
        let mut count = 0;
        // SAFETY: a local to write to.
        result(unsafe { api::cuDeviceGetCount(&mut count) })?;
        Ok(count.cast_unsigned())
    }

    /// The device of this number.
    ///
    /// # Errors
    /// There is none.
    pub fn get_device(ordinal: u32) -> CudaResult<Device> {
        let mut device = 0;
        // SAFETY: a local to write to.
        result(unsafe { api::cuDeviceGet(&mut device, ordinal.cast_signed()) })?;
        Ok(Device { device })
    }

    /// Its memory, bytes.
    ///
    /// # Errors
    /// When the driver does not know the device.
    pub fn total_memory(self) -> CudaResult<usize> {
        let mut bytes = 0;
        // SAFETY: a local to write to.
        result(unsafe { api::cuDeviceTotalMem_v2(&mut bytes, self.device) })?;
        Ok(bytes)
    }

    /// Its name.
    ///
    /// # Errors
    /// When the driver does not know the device.
    pub fn name(self) -> CudaResult<String> {
        let mut name = [0; 128];
        // SAFETY: the buffer has the given length.
        result(unsafe { api::cuDeviceGetName(name.as_mut_ptr(), 128, self.device) })?;
        // SAFETY: the driver ends the text with a NUL within the length.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// An attribute's value.
    ///
    /// # Errors
    /// When the driver does not know the attribute.
    pub fn get_attribute(self, attribute: DeviceAttribute) -> CudaResult<i32> {
        let mut value = 0;
        // SAFETY: a local to write to.
        result(unsafe { api::cuDeviceGetAttribute(&mut value, attribute as u32, self.device) })?;
        Ok(value)
    }

    /// The driver's number of it.
    pub fn as_raw(&self) -> CUdevice {
        self.device
    }
}
