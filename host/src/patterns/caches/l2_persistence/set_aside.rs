//! A part of L2 that is set aside, where the device can.

use crate::prelude::*;
use coalesce::pattern::Unavailable;
use cust_ext::device::{DeviceAttribute, attribute};
use cust_ext::l2::PersistingLimit;

/// Sets so many hundredths aside of what the device allows.
pub fn set_aside(gpu: &Gpu, table_bytes: usize, hundredths: usize) -> Result<PersistingLimit> {
    let bytes =
        |of| -> Result<usize> { Ok(usize::try_from(attribute(gpu.device(), of)?).unwrap_or(0)) };
    let most = bytes(DeviceAttribute::MaxPersistingL2CacheBytes)?;
    if most == 0 {
        let reason = "this device cannot set a part of L2 aside";
        return Err(Unavailable(reason.to_owned()).into());
    }
    let widest = bytes(DeviceAttribute::MaxAccessPolicyWindowBytes)?;
    if table_bytes > widest {
        return Err(Unavailable(format!(
            "the table has {table_bytes} bytes, and a window of this device at most {widest}"
        ))
        .into());
    }
    Ok(PersistingLimit::set(most * hundredths / 100)?)
}
