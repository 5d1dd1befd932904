use crate::catalogue::{Catalogue, Selection, UnknownName};
use crate::measure::{Axes, Axis};
use crate::side_by_side::processors;
pub use crate::wrong_argument::WrongArgument;
use ::results::Sarif;
use anyhow::{Context, Result};
use clap::Args;
use cuda_host::Choice;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// The selected patterns and sizes, and the device.
#[derive(Debug, Args)]
pub struct WorkArguments {
    /// Patterns or variants, as `list` names them; all of them if none is named.
    #[arg(value_name = "PATTERN[/VARIANT]")]
    selections: Vec<String>,
    /// Set a dimension of the size, such as `n=2^20`. The first dimension needs no name; a dimension that is a choice takes
    /// the name of the choice. For `bench`, several values make a curve: `offset=0..32`, `2^20..2^28`, `n=1000,2000`.
    // A value may start with a hyphen, so that our message explains what is wrong with it, not clap's.
    #[arg(long, visible_alias = "axis", value_name = "NAME=VALUES", allow_hyphen_values = true)]
    size: Vec<Axes>,
    /// The seed of the random inputs.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The rows that are executed side by side on the virtual device. The default is one for each processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    pub device: Device,
}

/// The choice of a device.
#[derive(Debug, Args)]
pub struct Device {
    /// The device: auto, gpu, gpu:N, gpu:all, virtual, virtual:PROFILE, virtual:PROFILExN, or virtual:FILE.json. The default is the environment
    /// variable COALESCE_DEVICE, then auto: a GPU if there is one, else the virtual device.
    #[arg(long = "device", value_name = "DEVICE")]
    named: Option<Choice>,
}

impl Device {
    /// The device that the command line or the variable names.
    pub fn choice(&self) -> Result<Choice, WrongArgument> {
        match &self.named {
            Some(choice) => Ok(choice.clone()),
            // Not read by clap, whose message would name `--device`, which nobody wrote.
            None => Choice::from_environment().map_err(|error| WrongArgument(error.to_string())),
        }
    }
}

impl WorkArguments {
    /// The selected patterns and variants.
    pub fn selections(&self, catalogue: &Catalogue) -> Result<Vec<Selection>, UnknownName> {
        if self.selections.is_empty() {
            return Ok(catalogue.all());
        }
        self.selections.iter().map(|text| catalogue.select(text)).collect()
    }

    /// The rows that run side by side on the virtual device.
    pub fn jobs(&self) -> NonZero<usize> {
        self.jobs.and_then(|jobs| NonZero::new(jobs.into())).unwrap_or_else(processors)
    }

    /// Returns whether no pattern is named.
    pub fn is_everything(&self) -> bool {
        self.selections.is_empty()
    }

    /// The values of `--size`.
    pub fn axes(&self) -> Vec<Axis> {
        self.size.iter().flat_map(|axes| axes.0.clone()).collect()
    }
}

/// Fails now, before minutes of work, if the file cannot be written.
pub fn writable(path: &Path) -> Result<(), WrongArgument> {
    ::results::check_writable(path).map_err(|error| WrongArgument(error.sentence()))
}

/// Makes the findings of a command for a SARIF file; what has no place in a source is said of the file `subject`.
pub fn sarif(command: &str, subject: &str) -> Result<Sarif> {
    let working = std::env::current_dir().context("the working folder is gone")?;
    Ok(Sarif::new(command, working, subject))
}

/// Returns the path of a file that the arguments name: each of several devices has its own, such as
/// `figures.gpu1.json`.
pub fn numbered(named: &Path, device: Option<usize>) -> PathBuf {
    let Some(device) = device else { return named.to_owned() };
    named.with_extension(match named.extension() {
        Some(extension) => format!("gpu{device}.{}", extension.to_string_lossy()),
        None => format!("gpu{device}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_several_devices_has_its_file() {
        let named = |name: &str, device| numbered(Path::new(name), device).display().to_string();
        assert_eq!(named("a/all.json", None), "a/all.json");
        assert_eq!(named("a/all.json", Some(1)), "a/all.gpu1.json");
        assert_eq!(named("all", Some(0)), "all.gpu0");
    }
}
