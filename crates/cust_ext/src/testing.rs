//! The device that tests run on: the machine's GPU, or a virtual one where there is none.

use cuda_driver::Backend;
use cust::context::Context;
use cust::device::Device;
use std::sync::Once;

static CHOSEN: Once = Once::new();

/// Opens the device on this thread.
pub(crate) fn device() -> (Device, Context) {
    CHOSEN.call_once(|| {
        if cuda_driver::status().is_err() {
            let profile =
                virtual_gpu::Profile::named("h200").expect("the profile comes with the crate");
            let gpu = virtual_gpu::VirtualGpu::start(profile, virtual_gpu::Options::default())
                .expect("it is the first of this process");
            cuda_driver::select(Backend::Table(gpu)).expect("nothing was selected before");
        }
    });
    crate::device::open(0).expect("a device, real or virtual")
}
