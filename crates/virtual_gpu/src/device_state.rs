//! What one device of a machine has of its own.

use crate::l2::PersistingL2;
use crate::limits::Limits;
use crate::profile::Profile;
use cuda_driver::ReturnCode;

/// What one device has of its own, besides its memory and its engines.
#[derive(Debug)]
pub(crate) struct DeviceState {
    pub(crate) profile: Profile,
    pub(crate) limits: Limits,
    /// What the part of L2 that is set aside holds.
    pub(crate) l2: PersistingL2,
    /// What every later call of its contexts returns.
    pub(crate) fault: Option<ReturnCode>,
}

impl DeviceState {
    pub(crate) fn new(profile: Profile) -> DeviceState {
        let (limits, l2) = (Limits::default(), PersistingL2::default());
        DeviceState { profile, limits, l2, fault: None }
    }
}
