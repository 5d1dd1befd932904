//! Which device answers: a GPU, or the virtual one.

use super::{Checks, GpuError};
use std::collections::HashSet;
use std::str::FromStr;
use virtual_gpu::{Options, PROFILES, Profile, VirtualGpu};

/// The profile of the virtual device when none is named.
const DEFAULT_PROFILE: &str = "h200";

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

/// What a choice came to.
pub(super) struct Origin {
    pub(super) is_virtual: bool,
    pub(super) reason: String,
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
            ("virtual", Some(profile)) if PROFILES.iter().any(|(name, _)| *name == profile) => {
                Ok(Choice::Virtual(profile.to_owned()))
            }
            ("virtual", Some(file)) if file.ends_with(".json") => {
                profile(file).map(|_| Choice::Virtual(file.to_owned()))
            }
            ("virtual", Some(profile)) => {
                let known: Vec<_> = PROFILES.iter().map(|(name, _)| *name).collect();
                Err(format!(
                    "there is no profile `{profile}`: choose one of {}, or a file that ends in .json",
                    known.join(", ")
                ))
            }
            _ => Err(format!(
                "`{text}` is no device: write auto, gpu, gpu:N, virtual, virtual:PROFILE or virtual:FILE.json"
            )),
        }
    }
}

impl Choice {
    /// Selects who answers the driver's calls; returns the ordinal to open there.
    pub(super) fn select(&self, checks: Checks) -> Result<(u32, Origin), GpuError> {
        match self {
            Choice::Gpu(ordinal) => {
                let reason = format!("GPU {ordinal}, as asked");
                Ok((*ordinal, Origin { is_virtual: false, reason }))
            }
            Choice::Virtual(profile) => start(profile, checks, "as asked"),
            Choice::Auto => match cuda_driver::status() {
                Ok(_) => Ok((
                    0,
                    Origin { is_virtual: false, reason: "GPU 0, found by the driver".to_owned() },
                )),
                Err(error) => start(
                    DEFAULT_PROFILE,
                    checks,
                    &format!("because there is {}", short(&error.to_string())),
                ),
            },
        }
    }
}

/// A profile by its name or its file.
fn profile(name: &str) -> Result<Profile, String> {
    if !name.ends_with(".json") {
        return Profile::named(name).map_err(|error| error.to_string());
    }
    let text = std::fs::read_to_string(name)
        .map_err(|error| format!("cannot read the profile {name}: {error}"))?;
    Profile::from_json(&text).map_err(|error| format!("{name}: {error}"))
}

/// The first clause of a message.
fn short(message: &str) -> &str {
    message.split([':', '(', ';']).next().unwrap_or(message).trim()
}

fn start(name: &str, checks: Checks, why: &str) -> Result<(u32, Origin), GpuError> {
    let fail = |error: String| GpuError::NoDriver(error);
    let options = Options { checks, ..Options::default() };
    let known = profile(name).map_err(fail)?;
    let reason = format!(
        "virtual {}, {why}: results and counts are exact, times are predictions",
        known.name
    );
    let architecture = known.architecture();
    let gpu = VirtualGpu::start(known, options).map_err(|error| fail(error.to_string()))?;
    cuda_driver::select(cuda_driver::Backend::Table(gpu))
        .map_err(|error| fail(error.to_string()))?;
    virtual_gpu::assume_registers(registers_of_all(architecture));
    Ok((0, Origin { is_virtual: true, reason }))
}

/// Registers per thread that NVIDIA's assembler gave a kernel for compute capability 9.0, when the kernels were last
/// assembled for the repository.
pub fn registers(kernel: &str) -> Option<u32> {
    registers_of_all(90).find(|(name, _)| *name == kernel).map(|(_, registers)| registers)
}

/// What NVIDIA's assembler gave each kernel for the newest architecture that is not newer than asked: lines such as
/// `sm_90 transpose_wide: 34 registers, ...`.
fn registers_of_all(architecture: u32) -> impl Iterator<Item = (&'static str, u32)> {
    const ASSEMBLED: &str = include_str!("../../../kernels/snapshots/resources.txt");
    let lines = ASSEMBLED.lines().filter_map(|line| {
        let (target, rest) = line.strip_prefix("sm_")?.split_once(' ')?;
        let (kernel, rest) = rest.split_once(": ")?;
        let registers = rest.split(' ').next()?.parse().ok()?;
        Some((target.parse::<u32>().ok()?, kernel, registers))
    });
    let mut lines: Vec<_> = lines.filter(|(target, ..)| *target <= architecture).collect();
    lines.sort_by_key(|(target, ..)| *target);
    lines.reverse();
    let mut known = HashSet::new();
    lines.retain(|(_, kernel, _)| known.insert(*kernel));
    lines.into_iter().map(|(_, kernel, registers)| (kernel, registers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_those_of_the_architecture() {
        let of = |architecture| {
            registers_of_all(architecture).find(|(kernel, _)| *kernel == "transpose_wide")
        };
        assert_eq!(
            (of(70), of(80), of(90)),
            (None, Some(("transpose_wide", 40)), Some(("transpose_wide", 34)))
        );
    }

    #[test]
    fn devices_are_named_as_documented() {
        assert_eq!("auto".parse(), Ok(Choice::Auto));
        assert_eq!("gpu".parse(), Ok(Choice::Gpu(0)));
        assert_eq!("gpu:3".parse(), Ok(Choice::Gpu(3)));
        assert_eq!("virtual".parse(), Ok(Choice::Virtual("h200".to_owned())));
        assert_eq!("virtual:a100".parse(), Ok(Choice::Virtual("a100".to_owned())));
        let error = "virtual:/nonexistent/here.json".parse::<Choice>().unwrap_err();
        assert!(error.starts_with("cannot read the profile /nonexistent/here.json"), "{error}");
        for wrong in ["", "gpu:x", "virtual:z9", "auto:1", "cpu"] {
            assert!(wrong.parse::<Choice>().is_err(), "{wrong}");
        }
    }
}
