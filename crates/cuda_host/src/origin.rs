#[cfg(feature = "virtual")]
use crate::choice::{ChoiceError, topology};
#[cfg(feature = "virtual")]
use crate::error::{GpuError, NoDriver};
#[cfg(feature = "virtual")]
use crate::image::Image;
#[cfg(feature = "virtual")]
use crate::virtual_device::VirtualDevice;
#[cfg(feature = "virtual")]
use simt::Checks;
#[cfg(feature = "virtual")]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "virtual")]
use virtual_gpu::{Options, OwnMachine, Topology};

/// True while a program is tested: then every device that is opened is the virtual one with all checks.
#[cfg(feature = "virtual")]
static CHECKED: AtomicBool = AtomicBool::new(false);

pub(crate) struct Origin {
    pub(crate) ordinal: u32,
    pub(crate) reason: String,
    #[cfg(feature = "virtual")]
    pub(crate) virtual_device: Option<VirtualDevice>,
}

impl Origin {
    pub(crate) fn gpu(ordinal: u32, why: &str) -> Origin {
        Origin {
            ordinal,
            reason: format!("GPU {ordinal}, {why}"),
            #[cfg(feature = "virtual")]
            virtual_device: None,
        }
    }
}

/// Says whether a program is tested from here on.
#[cfg(feature = "virtual")]
pub(crate) fn check_programs(are_checked: bool) {
    CHECKED.store(are_checked, Ordering::Relaxed);
}

/// Returns whether a program is tested, which has the process's device.
#[cfg(feature = "virtual")]
pub(crate) fn is_checked() -> bool {
    CHECKED.load(Ordering::Relaxed) && !OwnMachine::is_current()
}

/// Starts the virtual device of this name, and says why.
#[cfg(feature = "virtual")]
pub(crate) fn start(
    name: &str,
    why: &str,
    options: Options,
    images: &'static [Image],
) -> Result<Origin, GpuError> {
    let machine = topology(name).map_err(|why| NoDriver::from(ChoiceError::Profile(why)))?;
    start_machine(machine, why, options, images)
}

/// As [`start`], with the machine itself.
#[cfg(feature = "virtual")]
pub(crate) fn start_machine(
    machine: Topology,
    why: &str,
    options: Options,
    images: &'static [Image],
) -> Result<Origin, GpuError> {
    let reason = format!(
        "virtual {}, {why}: results and counts are exact, times are predictions",
        machine.name()
    );
    let image = Image::for_capability(images, machine.devices()[0].architecture());
    let device = VirtualDevice::start(machine, options)?;
    device.assume_registers(image.map_or(&[], |image| image.kernels));
    Ok(Origin { ordinal: 0, reason, virtual_device: Some(device) })
}

/// Returns how a virtual device runs with these checks, and with or without the model of time.
#[cfg(feature = "virtual")]
pub(crate) fn options(checks: Checks, times: bool) -> Options {
    // Without times and hazards, mistakes with host memory are left out, too: they take a second look at all of it.
    let watch_host_memory = times || checks != Checks::none();
    Options { checks, times, watch_host_memory, ..Options::default() }
}
