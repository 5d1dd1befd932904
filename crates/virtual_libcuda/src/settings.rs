//! Settings of a profile: the variables that `coalesce run` sets, and that anybody may set.

use results::{FailOn, check_writable};
use simt::Checks;
use std::path::PathBuf;

/// Settings of the environment.
#[derive(Debug)]
pub struct Settings {
    /// `COALESCE_CHECK`: hazards to look for.
    pub checks: Checks,
    /// `COALESCE_SCHEDULES`: orders of warps and blocks in which they are looked for.
    pub schedules: u32,
    /// `COALESCE_REPORT`: the folder of the pages.
    pub report: Option<PathBuf>,
    /// `COALESCE_JSON`: the file of the profile.
    pub json: Option<PathBuf>,
    /// `COALESCE_TRACE`: the file of the timeline.
    pub trace: Option<PathBuf>,
    /// `COALESCE_KERNEL`: a part of the names of the kernels that are meant.
    pub kernel: String,
    /// `COALESCE_LIMIT`: warp-instructions after which a kernel is taken to run forever.
    pub limit: Option<u64>,
    /// `COALESCE_REGISTERED=device`: host memory that the program registers counts as memory of the device.
    pub registered_is_device: bool,
    /// `COALESCE_FAIL_ON`: what makes the program fail.
    pub fail_on: FailOn,
    /// `COALESCE_SOURCES`: folders below which source files are read, besides the working folder.
    pub sources: Vec<PathBuf>,
    /// `COALESCE_COLLECT`: the folder in which `coalesce run` looks for the profile of each process; it shows them.
    pub collect: Option<PathBuf>,
}

/// The value of a variable, if it is set and not empty.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    Some(value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}

impl Settings {
    /// Returns what the variables say.
    ///
    /// # Errors
    /// One sentence: a value that a variable does not take, or an output that cannot be written.
    pub fn from_environment() -> Result<Settings, String> {
        let path = |name| variable(name).map(PathBuf::from);
        let checks = match variable("COALESCE_CHECK").as_deref() {
            None | Some("none") => Checks::none(),
            Some("all") => Checks::all(),
            Some("no-volatile") => Checks { volatile: false, ..Checks::all() },
            Some(other) => {
                return Err(format!("COALESCE_CHECK is `{other}`: write all, no-volatile or none"));
            }
        };
        let schedules = variable("COALESCE_SCHEDULES").map_or(Ok(1), |value| {
            let number = value.parse().ok().filter(|number| (1..=1000).contains(number));
            number.ok_or_else(|| format!("COALESCE_SCHEDULES is `{value}`: write 1 to 1000"))
        })?;
        let fail_on = variable("COALESCE_FAIL_ON").map_or(Ok(FailOn::None), |value| {
            value.parse().map_err(|error: results::ParseFailOnError| {
                format!("COALESCE_FAIL_ON is wrong: {error}")
            })
        })?;
        let limit = variable("COALESCE_LIMIT").map(|value| {
            value.parse().map_err(|_| {
                format!("COALESCE_LIMIT is `{value}`: write a number of warp-instructions")
            })
        });
        let settings = Settings {
            checks,
            schedules,
            limit: limit.transpose()?,
            registered_is_device: variable("COALESCE_REGISTERED").is_some_and(|it| it == "device"),
            report: path("COALESCE_REPORT"),
            json: path("COALESCE_JSON"),
            trace: path("COALESCE_TRACE"),
            kernel: variable("COALESCE_KERNEL").unwrap_or_default(),
            fail_on,
            sources: std::env::var_os("COALESCE_SOURCES")
                .map(|folders| std::env::split_paths(&folders).collect())
                .unwrap_or_default(),
            collect: path("COALESCE_COLLECT"),
        };
        let sentence =
            |name: &str, error: &dyn std::fmt::Display| format!("{name} is wrong: {error:#}");
        if let Some(folder) = &settings.report {
            report::check_folder(folder).map_err(|error| sentence("COALESCE_REPORT", &error))?;
        }
        for (name, file) in [("COALESCE_JSON", &settings.json), ("COALESCE_TRACE", &settings.trace)]
        {
            if let Some(file) = file {
                check_writable(file).map_err(|error| sentence(name, &error.sentence()))?;
            }
        }
        Ok(settings)
    }

    /// Returns whether anything asks for a profile.
    pub fn profiles(&self) -> bool {
        let asked = [&self.report, &self.json, &self.trace, &self.collect];
        self.checks.any()
            || self.fail_on != FailOn::None
            || !self.kernel.is_empty()
            || asked.iter().any(|path| path.is_some())
    }
}
