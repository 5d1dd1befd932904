//! Accesses of the host to memory, told to the virtual device, which no call of the driver shows.

use crate::gpu::Gpu;

impl Gpu {
    /// Says that the host has just read this memory from front to back: the virtual device's clock, which sees driver
    /// calls only, moves on by the time that it takes. A GPU's events see the host's real time.
    pub fn host_has_read<T>(&self, memory: &[T]) {
        #[cfg(feature = "virtual")]
        if let Some(device) = self.virtual_device() {
            device.host_reads(memory);
        }
        let _ = memory;
    }

    /// Says that the host has just read a few words of each page of this memory: if it is managed, the virtual device,
    /// which sees driver calls only, takes its pages to the host. A GPU's driver saw the page faults.
    pub fn host_has_touched<T>(&self, memory: &[T]) {
        #[cfg(feature = "virtual")]
        if let Some(device) = self.virtual_device() {
            device.host_touches(memory);
        }
        let _ = memory;
    }

    /// Says that the host has just written this memory: if it is managed, the virtual device, which sees driver calls
    /// only, takes its pages to be on the host from here on. A GPU knows.
    pub fn host_has_written<T>(&self, memory: &[T]) {
        #[cfg(feature = "virtual")]
        if let Some(device) = self.virtual_device() {
            device.host_writes(memory);
        }
        let _ = memory;
    }
}
