use crate::choice::Choice;
use crate::error::{GpuError, NoDriver};

impl Choice {
    /// The devices that are meant, each to be opened by itself: all GPUs of the machine, or the one.
    ///
    /// # Errors
    /// [`GpuError::NoDriver`], or the driver's own.
    pub fn each(&self) -> Result<Vec<Choice>, GpuError> {
        if *self != Choice::AllGpus {
            return Ok(vec![self.clone()]);
        }
        match device_count()? {
            0 => Err(GpuError::NoDevice { ordinal: 0, count: 0 }),
            count => Ok((0..count).map(Choice::Gpu).collect()),
        }
    }
}

/// The devices that the driver has which answers now.
///
/// # Errors
/// [`GpuError::NoDriver`].
pub fn device_count() -> Result<u32, GpuError> {
    let info = cuda_driver::status().map_err(NoDriver::from)?;
    Ok(u32::try_from(info.device_count).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_named_is_the_one() {
        assert_eq!(Choice::Gpu(1).each().expect("one device"), [Choice::Gpu(1)]);
    }

    #[cfg(feature = "virtual")]
    #[test]
    fn the_reason_of_a_device_that_cannot_be_is_a_value() {
        let opened = crate::Gpu::open(&Choice::Virtual("z9".to_owned()), &[]);
        let error = opened.expect_err("there is no such profile");
        let reason =
            GpuError::NoDriver(NoDriver::Choice(crate::ChoiceError::Profile(error.to_string())));
        assert_eq!(format!("{error:?}"), format!("{reason:?}"));
    }
}
