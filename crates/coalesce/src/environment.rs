//! The machine that a run was made on: what the driver does not say of it.

use crate::arrays::digest;
use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use results::Board;

pub use crate::os::host;

/// The board at a PCI address such as `0000:3b:00.0`, if NVIDIA's management library knows it.
pub fn board(pci_address: &str) -> Option<Board> {
    let library = Nvml::init().ok()?;
    let device = library.device_by_pci_bus_id(pci_address).ok()?;
    let watts = |milliwatts: u32| f64::from(milliwatts) / 1000.0;
    let reasons = device.current_throttle_reasons().unwrap_or(ThrottleReasons::empty());
    // An idle GPU is not held down.
    let reasons = reasons - ThrottleReasons::GPU_IDLE;
    Some(Board {
        id: device.uuid().ok().map(|uuid| digest(uuid.as_bytes())),
        driver: library.sys_driver_version().ok()?,
        max_clock_mhz: device.max_clock_info(Clock::SM).ok(),
        max_memory_clock_mhz: device.max_clock_info(Clock::Memory).ok(),
        power_limit_w: device.enforced_power_limit().ok().map(watts),
        power_w: device.power_usage().ok().map(watts),
        temperature_c: device.temperature(TemperatureSensor::Gpu).ok(),
        pcie_generation: device.current_pcie_link_gen().ok(),
        pcie_lanes: device.current_pcie_link_width().ok(),
        max_pcie_generation: device.max_pcie_link_gen().ok(),
        max_pcie_lanes: device.max_pcie_link_width().ok(),
        throttle_reasons: reasons.iter_names().map(|(name, _)| name.to_lowercase()).collect(),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_machine_has_a_processor_and_memory() {
        let host = super::host();
        assert!(host.logical_cores > 0 && host.memory_bytes > 0, "{host:?}");
        assert!(!host.cpu.is_empty() && !host.kernel.is_empty(), "{host:?}");
    }

    #[test]
    fn a_board_that_is_not_there_is_none() {
        assert_eq!(super::board("ffff:ff:1f.0"), None);
    }
}
