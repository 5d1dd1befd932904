//! Which device answers: a GPU, or the virtual one.

use std::str::FromStr;

/// The profile of the virtual device when none is named.
pub(crate) const DEFAULT_PROFILE: &str = "h200";

/// The environment variable that names the device where nothing else does.
pub const DEVICE_VARIABLE: &str = "COALESCE_DEVICE";

/// A device as the user names it: `auto`, `gpu`, `gpu:1`, `virtual`, `virtual:a100`, `virtual:here.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first GPU when there is a driver with one, else the virtual device.
    Auto,
    /// A GPU, by the driver's number.
    Gpu(u32),
    /// The virtual device with a profile: the name of one that comes with it, or the path of a file that ends in
    /// `.json`.
    Virtual(String),
}

impl Choice {
    /// The device that the variable [`DEVICE_VARIABLE`] names, or [`Choice::Auto`].
    ///
    /// # Errors
    /// A sentence when the variable names none.
    pub fn from_environment() -> Result<Choice, String> {
        match std::env::var_os(DEVICE_VARIABLE) {
            None => Ok(Choice::Auto),
            Some(text) => {
                let choice = text.to_string_lossy().parse();
                choice.map_err(|error| format!("{DEVICE_VARIABLE} is wrong: {error}"))
            }
        }
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        let (kind, detail) = match text.split_once(':') {
            Some((kind, detail)) => (kind, Some(detail)),
            None => (text, None),
        };
        match (kind, detail) {
            ("auto", None) => Ok(Choice::Auto),
            ("gpu", None) => Ok(Choice::Gpu(0)),
            ("gpu", Some(number)) => number
                .parse()
                .map(Choice::Gpu)
                .map_err(|_| format!("`{number}` is not the number of a GPU, such as 0")),
            ("virtual", None) => Ok(Choice::Virtual(DEFAULT_PROFILE.to_owned())),
            ("virtual", Some(profile)) => {
                check_profile(profile).map(|()| Choice::Virtual(profile.to_owned()))
            }
            ("", None) => Ok(Choice::Auto),
            _ => Err(format!(
                "`{text}` is no device: write auto, gpu, gpu:N, virtual, virtual:PROFILE or virtual:FILE.json"
            )),
        }
    }
}

/// Whether there is such a profile; without a virtual device that is found when it is opened.
fn check_profile(profile: &str) -> Result<(), String> {
    #[cfg(feature = "virtual")]
    {
        use crate::virtual_device;
        let mut known = virtual_device::profiles();
        if !profile.ends_with(".json") && !known.any(|name| name == profile) {
            let known: Vec<_> = virtual_device::profiles().collect();
            return Err(format!(
                "there is no profile `{profile}`: choose one of {}, or a file that ends in .json",
                known.join(", ")
            ));
        }
        virtual_device::profile(profile)?;
    }
    let _ = profile;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_as_documented() {
        assert_eq!("auto".parse(), Ok(Choice::Auto));
        assert_eq!("gpu".parse(), Ok(Choice::Gpu(0)));
        assert_eq!("gpu:3".parse(), Ok(Choice::Gpu(3)));
        assert_eq!("virtual".parse(), Ok(Choice::Virtual("h200".to_owned())));
        assert_eq!("virtual:a100".parse(), Ok(Choice::Virtual("a100".to_owned())));
        assert_eq!("".parse(), Ok(Choice::Auto), "a variable that is set to nothing");
        let error = "virtual:/nonexistent/here.json".parse::<Choice>().unwrap_err();
        assert!(error.starts_with("cannot read the profile /nonexistent/here.json"), "{error}");
        for wrong in ["gpu:x", "virtual:z9", "auto:1", "cpu"] {
            assert!(wrong.parse::<Choice>().is_err(), "{wrong}");
        }
    }
}
