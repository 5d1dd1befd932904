#[cfg(feature = "virtual")]
use std::path::Path;
use std::str::FromStr;
#[cfg(feature = "virtual")]
use virtual_gpu::{PROFILES, ProfileError, Topology};

/// The profile of the virtual device when none is named.
pub(crate) const DEFAULT_PROFILE: &str = "h200";

/// The environment variable that names the device where nothing else does.
pub const DEVICE_VARIABLE: &str = "COALESCE_DEVICE";

/// A device's name: `auto`, `gpu`, `gpu:1`, `gpu:all`, `virtual`, `virtual:a100`, `virtual:h100x2`,
/// `virtual:here.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first GPU when there is a driver with one, else the virtual device.
    Auto,
    /// A GPU, by the driver's number.
    Gpu(u32),
    /// Every GPU of the machine, one after the other: see [`Choice::each`](crate::Choice::each). To open it opens the first.
    AllGpus,
    /// The virtual device with a profile: the name of one that comes with it, or the path of a file that ends in
    /// `.json`. A name with a number of devices, such as `h100x2`, or a file with a topology, is a machine of several, of
    /// which the first is opened; it knows the others as its peers.
    Virtual(String),
}

/// Why a text names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// The variable [`DEVICE_VARIABLE`] names none.
    #[error("{DEVICE_VARIABLE} is wrong: {0}")]
    Variable(Box<ChoiceError>),
    /// The text behind `gpu:` is no number.
    #[error("`{0}` is not the number of a GPU, such as 0")]
    Number(String),
    /// It is written in no way that is known.
    #[error(
        "`{0}` is no device: write auto, gpu, gpu:N, gpu:all, virtual, virtual:PROFILE, virtual:PROFILExN or virtual:FILE.json"
    )]
    Unknown(String),
    /// No profile has this name.
    #[error(
        "there is no profile `{name}`: choose one of {known}, or a file that ends in .json; x and a number behind a name mean as many devices"
    )]
    NoProfile {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A profile that cannot be used; the text says why.
    #[error("{0}")]
    Profile(String),
}

impl Choice {
    /// The device that the variable [`DEVICE_VARIABLE`] names, or [`Choice::Auto`].
    ///
    /// # Errors
    /// [`ChoiceError::Variable`] when the variable names none.
    pub fn from_environment() -> Result<Choice, ChoiceError> {
        match std::env::var_os(DEVICE_VARIABLE) {
            None => Ok(Choice::Auto),
            Some(text) => {
                let choice = text.to_string_lossy().parse();
                choice.map_err(|error| ChoiceError::Variable(Box::new(error)))
            }
        }
    }
}

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Choice, ChoiceError> {
        let (kind, detail) = match text.split_once(':') {
            Some((kind, detail)) => (kind, Some(detail)),
            None => (text, None),
        };
        match (kind, detail) {
            ("auto", None) => Ok(Choice::Auto),
            ("gpu", None) => Ok(Choice::Gpu(0)),
            ("gpu", Some("all")) => Ok(Choice::AllGpus),
            ("gpu", Some(number)) => {
                number.parse().map(Choice::Gpu).map_err(|_| ChoiceError::Number(number.to_owned()))
            }
            ("virtual", None) => Ok(Choice::Virtual(DEFAULT_PROFILE.to_owned())),
            ("virtual", Some(profile)) => {
                check_profile(profile).map(|()| Choice::Virtual(profile.to_owned()))
            }
            ("", None) => Ok(Choice::Auto),
            _ => Err(ChoiceError::Unknown(text.to_owned())),
        }
    }
}

/// Returns whether there is such a profile; without a virtual device that is found when it is opened.
fn check_profile(profile: &str) -> Result<(), ChoiceError> {
    #[cfg(feature = "virtual")]
    {
        let known: Vec<_> = PROFILES.iter().map(|(name, _)| *name).collect();
        let (name, count) = profile.rsplit_once('x').unwrap_or((profile, ""));
        let several = known.contains(&name) && count.parse::<u32>().is_ok();
        if !profile.ends_with(".json") && !known.contains(&profile) && !several {
            return Err(ChoiceError::NoProfile {
                name: profile.to_owned(),
                known: known.join(", "),
            });
        }
        topology(profile).map_err(ChoiceError::Profile)?;
    }
    let _ = profile;
    Ok(())
}

/// A machine by the name of its profile and the number of its devices, or by the path of a file that ends in `.json`.
#[cfg(feature = "virtual")]
pub(crate) fn topology(name: &str) -> Result<Topology, String> {
    if !name.ends_with(".json") {
        return Topology::named(name).map_err(|error| error.to_string());
    }
    Topology::load(Path::new(name)).map_err(|error| match error {
        ProfileError::Malformed(why) => format!("cannot read the profile {name}: {why}"),
        ProfileError::Topology(why) => format!("cannot use the topology {name}: {why}"),
        error => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_as_documented() {
        assert_eq!("auto".parse(), Ok(Choice::Auto));
        assert_eq!("gpu".parse(), Ok(Choice::Gpu(0)));
        assert_eq!("gpu:3".parse(), Ok(Choice::Gpu(3)));
        assert_eq!("gpu:all".parse(), Ok(Choice::AllGpus));
        assert_eq!("virtual:h100x2".parse(), Ok(Choice::Virtual("h100x2".to_owned())));
        assert_eq!("virtual".parse(), Ok(Choice::Virtual("h200".to_owned())));
        assert_eq!("virtual:a100".parse(), Ok(Choice::Virtual("a100".to_owned())));
        assert_eq!("".parse(), Ok(Choice::Auto), "a variable that is set to nothing");
        let error = "virtual:/nonexistent/here.json".parse::<Choice>().unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("cannot read the profile /nonexistent/here.json"), "{error}");
        for wrong in [
            "gpu:x",
            "virtual:z9",
            "virtual:h100x",
            "virtual:h100x99",
            "virtual:z9x2",
            "auto:1",
            "cpu",
        ] {
            assert!(wrong.parse::<Choice>().is_err(), "{wrong}");
        }
    }
}
