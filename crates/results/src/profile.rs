//! Profiles of a program's kernels, whoever wrote them: the value that `explain FILE.ptx` and `run` print, write as
//! JSON and show as pages.

use crate::advice::Advice;
use crate::counts::{InstructionCounts, place};
use crate::error::{FileKind, Result};
use crate::read::read_json;
use crate::timeline::Timeline;
use crate::write;
use counters::{Counters, Hazard, MisuseKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the format of profiles.
pub const PROFILE_SCHEMA: u32 = 2;

/// A profile of one program's kernels on the virtual device.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ProgramProfile {
    /// [`PROFILE_SCHEMA`].
    pub schema: u32,
    /// The program's command, or the name of the PTX file.
    pub program: String,
    /// The device's name.
    pub device: String,
    /// True when hazards inside kernels were looked for.
    pub checked: bool,
    /// In the order of their first launches.
    pub kernels: Vec<ProfiledKernel>,
    /// Mistakes in how the program uses the driver.
    pub misuse: Vec<Mistake>,
    /// Memory that the program never freed.
    pub leaks: Vec<Mistake>,
    /// Timeline, truncated to its latest operations.
    pub timeline: Timeline,
    /// Advice, the largest gain first.
    pub advice: Vec<Advice>,
}

/// A kernel, and what its launches did together.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ProfiledKernel {
    /// Its name in the PTX; those of the second and third module that have a kernel of this name end in `.2` and `.3`.
    pub name: String,
    /// The name as its author wrote it, where it was mangled.
    pub demangled: String,
    /// The target of its PTX, such as `sm_90`.
    pub target: String,
    /// Its module was made by Triton, whose author turns other screws.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_triton: bool,
    /// The number of launches.
    pub launches: u64,
    /// The blocks of its first launch.
    pub grid: [u32; 3],
    /// The threads per block of its first launch.
    pub block: [u32; 3],
    /// Instructions in its PTX.
    pub ptx_instructions: u64,
    /// Static and dynamic shared memory per block, of its first launch, in bytes.
    pub shared_bytes: u32,
    /// Local memory per thread that the PTX declares, in bytes.
    pub local_bytes: u32,
    /// Warps that fit on a multiprocessor at once, over those that it could hold, in percent.
    pub occupancy_percent: f64,
    /// Warps that all launches had.
    pub warps: u64,
    /// Model: the time of all launches, in microseconds.
    pub predicted_us: f64,
    /// Model: how long each part of the device was busy, in microseconds, the busiest first.
    pub busy_us: Vec<(String, f64)>,
    /// The sums over all launches.
    pub counters: Counters,
    /// Each instruction that ran, in the order of the PTX.
    pub instructions: Vec<ProfiledInstruction>,
    /// Hazards that were found in it, and notes.
    pub hazards: Vec<ProfiledHazard>,
    /// Faults that ended launches of it before their end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<ProfiledFault>,
}

/// An instruction, and what all launches counted of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ProfiledInstruction {
    /// The opcode with its modifiers.
    pub text: String,
    /// The source line's text, where the file is there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// Its results are within a documented error of the hardware's, and not always equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_approximate: bool,
    /// The counts and their place.
    pub counts: InstructionCounts,
}

/// A place in a kernel's code, for tools that open it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct CodePlace {
    /// The kernel, as its author wrote its name.
    pub kernel: String,
    /// The line of the PTX.
    pub ptx_line: u32,
    /// The opcode with its modifiers.
    pub instruction: String,
    /// The source file as the compiler names it; empty where only the PTX is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The line that the kernel's author sees: the call site of inlined code.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
    /// The column, from 1, at which the line's code begins, where the file is there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub column: u32,
    /// The line's code, where the file is there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A fault that ended a launch before its end.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ProfiledFault {
    /// The event, its cause and its cure, as a sentence.
    pub message: String,
    /// The instruction that failed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<CodePlace>,
}

/// A hazard of a kernel.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ProfiledHazard {
    /// Its kind.
    pub kind: Hazard,
    /// The line of the PTX.
    pub ptx_line: u32,
    /// The source line, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The event, its cause and its cure, as a sentence.
    pub message: String,
    /// Launches in which it was found.
    pub launches: u64,
    /// The access at which it was found.
    #[serde(default)]
    pub place: CodePlace,
    /// The other access of a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<CodePlace>,
}

/// Something that the program did wrong.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    /// Its kind.
    pub kind: MisuseKind,
    /// The call, what happened and what would fix it, as a sentence.
    pub message: String,
    /// The file and line of the program's call, where debug information tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The number of times that it happened.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub count: u64,
    /// It costs time, or differs between devices, and is no error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_advice: bool,
}

fn once() -> u64 {
    1
}

fn is_once(count: &u64) -> bool {
    *count == 1
}

impl Mistake {
    /// Returns it as a sentence, with how often it happened.
    pub fn sentence(&self) -> String {
        let times = if self.count > 1 { format!(" ({} times)", self.count) } else { String::new() };
        format!("{}: {}{times}", self.kind, self.message)
    }
}

/// Findings that make a profiled program fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// Hazards in kernels, and kernels that failed.
    Hazards,
    /// Mistakes in the use of the driver, kernels that failed among them.
    Misuse,
    /// Memory that was never freed.
    Leaks,
    /// Any of these.
    Any,
    /// Nothing.
    None,
}

/// A text that names no [`FailOn`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is none of hazards, misuse, leaks, any and none")]
pub struct ParseFailOnError(pub String);

impl std::str::FromStr for FailOn {
    type Err = ParseFailOnError;

    fn from_str(text: &str) -> Result<FailOn, ParseFailOnError> {
        Ok(match text {
            "hazards" => FailOn::Hazards,
            "misuse" => FailOn::Misuse,
            "leaks" => FailOn::Leaks,
            "any" => FailOn::Any,
            "none" => FailOn::None,
            _ => return Err(ParseFailOnError(text.to_owned())),
        })
    }
}

impl ProgramProfile {
    /// A program of which nothing is known yet.
    pub fn new(program: String, device: String, checked: bool) -> ProgramProfile {
        let timeline = Timeline {
            device: device.clone(),
            origin: crate::timeline::Origin::Model,
            length_us: 0.0,
            intervals: Vec::new(),
        };
        ProgramProfile {
            schema: PROFILE_SCHEMA,
            program,
            device,
            checked,
            kernels: Vec::new(),
            misuse: Vec::new(),
            leaks: Vec::new(),
            timeline,
            advice: Vec::new(),
        }
    }

    /// Adds what another process of the same program did.
    pub fn join(mut self, other: ProgramProfile) -> ProgramProfile {
        self.checked |= other.checked;
        self.kernels.extend(other.kernels);
        self.misuse.extend(other.misuse);
        self.leaks.extend(other.leaks);
        self.advice.extend(other.advice);
        // Each process has a clock of its own: the timeline of the longest is kept.
        if other.timeline.length_us > self.timeline.length_us {
            self.timeline = other.timeline;
        }
        self
    }

    /// Returns the number of hazards, without notes.
    pub fn hazards(&self) -> usize {
        let all = self.kernels.iter().flat_map(|kernel| &kernel.hazards);
        all.filter(|hazard| !hazard.kind.is_note()).count()
    }

    /// Findings that `fail_on` names.
    pub fn findings(&self, fail_on: FailOn) -> usize {
        let hazards = self.hazards();
        let wrong = || self.misuse.iter().filter(|mistake| !mistake.is_advice);
        let leaks = self.leaks.iter().filter(|leak| !leak.is_advice).count();
        let faults: usize = self.kernels.iter().map(|kernel| kernel.faults.len()).sum();
        let refused = wrong().filter(|mistake| mistake.kind == MisuseKind::KernelFault).count();
        match fail_on {
            FailOn::Hazards => hazards + faults + refused,
            FailOn::Misuse => wrong().count() + faults,
            FailOn::Leaks => leaks,
            FailOn::Any => hazards + faults + wrong().count() + leaks,
            FailOn::None => 0,
        }
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// A file that is none, or one of another version.
    pub fn load(path: &Path) -> Result<ProgramProfile> {
        read_json(path, FileKind::Profile, [PROFILE_SCHEMA; 2])
    }

    /// Writes the profile, whole or not at all.
    ///
    /// # Errors
    /// When the folder or the disk does not take it.
    pub fn save(&self, path: &Path) -> Result<()> {
        write::write(path, &serde_json::to_vec(self)?)
    }
}

impl ProfiledKernel {
    /// The kernel's name for a person: as its author wrote it.
    pub fn shown_name(&self) -> &str {
        if self.demangled.is_empty() { &self.name } else { &self.demangled }
    }
}

impl ProfiledInstruction {
    /// Returns the place it comes from: the line of the source, or that of the PTX.
    pub fn place(&self) -> String {
        place(self.counts.source.as_ref(), self.counts.ptx_line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file from before the kinds were types has them by the same names.
    #[test]
    fn kinds_of_hazards_and_mistakes_have_the_names_of_earlier_files() {
        let profile = r#"{
            "kind": "GlobalRaceInWarp", "ptx_line": 4, "message": "GlobalRaceInWarp: at 0x10", "launches": 2
        }"#;
        let hazard: ProfiledHazard = serde_json::from_str(profile).unwrap();
        assert_eq!(hazard.kind, Hazard::GlobalRaceInWarp);
        assert_eq!(hazard.kind.to_string(), "GlobalRaceInWarp");
        let profile = r#"{"kind": "PageableAsyncCopy", "message": "cuMemcpy", "is_advice": true}"#;
        let mistake: Mistake = serde_json::from_str(profile).unwrap();
        assert_eq!(mistake.kind, MisuseKind::PageableAsyncCopy);
        assert!(serde_json::to_string(&mistake).unwrap().contains("\"PageableAsyncCopy\""));
    }

    /// A name in files is a promise: none goes, and none changes.
    #[test]
    fn names_of_kinds_in_files_stay() {
        let names = |schema: schemars::Schema| -> String {
            let all = schema.as_value()["oneOf"].as_array().expect("it is an enum").iter();
            all.map(|one| one["const"].as_str().expect("a name")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            names(schemars::schema_for!(Hazard)),
            "UninitializedRegister UninitializedShared UninitializedLocal \
             UninitializedGlobal SharedRace SharedRaceInWarp GlobalRace GlobalRaceInWarp \
             SameValue UnorderedVolatile SkippedBarrier BarrierCounts SharedOverrun \
             ConflictingStore DivergentBarrier MemberMask InactiveSource AsyncCopyNotAwaited \
             ReadOnlyWritten OtherOrder UnorderedProduct MissingProxyFence"
        );
        assert_eq!(
            names(schemars::schema_for!(MisuseKind)),
            "DoubleFree UseAfterFree OutOfBounds PageableAsyncCopy MissingOrder \
             HostMemoryChanged HostMemoryFreed Context Unsupported CallFailed FailedSince \
             UnwrittenMemory PartlyUnwritten KernelFault DeviceLost KernelHazard Contraction \
             Leak"
        );
    }
}
