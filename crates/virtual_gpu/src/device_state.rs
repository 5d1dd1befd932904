use crate::code::LOST;
use crate::limits::Limits;
use cuda_driver::ReturnCode;
use gpu_model::Profile;
use gpu_model::l2::{L2Contents, L2Size};

/// The state of one device, besides its memory and its engines.
#[derive(Debug)]
pub(crate) struct DeviceState {
    pub(crate) profile: Profile,
    pub(crate) limits: Limits,
    /// The content of its L2.
    pub(crate) l2: L2Contents,
    /// The code that every later call of its contexts returns.
    pub(crate) fault: Option<ReturnCode>,
    /// After how many more of its kernels it disappears.
    pub(crate) kernels_until_lost: Option<u64>,
    /// It has disappeared; no reset brings it back.
    pub(crate) lost: bool,
}

impl DeviceState {
    /// Returns whether as much of L2 is set aside as the device allows, and it suffers from that.
    pub(crate) fn sets_all_aside(&self) -> bool {
        self.profile.compute_capability[0] >= 9
            && self.limits.persisting_l2_bytes as u64 >= self.profile.persisting_l2_bytes
    }

    /// Returns how large its L2 is, and how much of it is set aside.
    pub(crate) fn l2_size(&self) -> L2Size {
        let set_aside_bytes = self.limits.persisting_l2_bytes as u64;
        L2Size { bytes: self.profile.l2_bytes, set_aside_bytes }
    }

    pub(crate) fn new(profile: Profile) -> DeviceState {
        let (limits, l2) = (Limits::default(), L2Contents::default());
        let (fault, kernels_until_lost, lost) = (None, None, false);
        DeviceState { profile, limits, l2, fault, kernels_until_lost, lost }
    }

    /// Returns what a reset does: a fault is forgotten, unless the device is gone.
    pub(crate) fn reset(&mut self) {
        self.fault = self.lost.then_some(LOST);
    }

    /// A kernel is about to run; says whether the device has disappeared instead.
    pub(crate) fn disappears(&mut self) -> bool {
        match &mut self.kernels_until_lost {
            Some(0) => self.lost = true,
            Some(left) => *left -= 1,
            None => {}
        }
        self.lost
    }
}
