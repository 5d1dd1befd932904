//! Findings as SARIF 2.1.0, which editors and the code scanning of forges read.
//!
//! A file is a function of the findings and of the working folder's place in its repository: no time, no host and no
//! address of memory decides the order or a fingerprint.

use crate::error::Result;
use crate::listing::{LaunchOutcome, VerifyReport};
use crate::profile::{CodePlace, Mistake, ProfiledHazard, ProgramProfile};
use crate::write::write_somewhere;
use counters::{Hazard, MisuseKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The rule of a launch whose output differs from its reference.
const WRONG_RESULT: &str = "WrongResult";
/// The name by which a file says that a path begins at the repository's root.
const ROOT: &str = "%SRCROOT%";
/// The name of the fingerprints; another number says that they are made otherwise.
const FINGERPRINT: &str = "coalesceFinding/v1";

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SarifLevel {
    /// Something is wrong.
    Error,
    /// Something should be otherwise.
    Warning,
    /// Something is worth knowing.
    Note,
}

/// A kind of finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    short_description: Text,
    help: Text,
    default_configuration: Configuration,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Configuration {
    level: SarifLevel,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Text {
    text: String,
}

/// A finding before it has its number and its fingerprint.
#[derive(Clone, Debug)]
struct Found {
    rule: String,
    level: SarifLevel,
    message: String,
    place: Physical,
    /// The kernel, or the variant of a pattern.
    name: String,
    other: Option<Physical>,
    count: u64,
}

impl Found {
    /// The order of findings in the file, and which of them are one.
    fn key(&self) -> impl Ord + '_ {
        (&self.place, &self.rule, &self.name, &self.other)
    }
}

/// A place in a file of the repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Physical {
    uri: String,
    is_below_root: bool,
    line: u32,
    column: u32,
    code: String,
    instruction: String,
    ptx_line: u32,
}

/// The repository that the working folder is in.
#[derive(Clone, Debug)]
struct Tree {
    working: PathBuf,
    root: PathBuf,
}

impl Tree {
    fn around(working: PathBuf) -> Tree {
        let root = working.ancestors().find(|folder| folder.join(".git").exists());
        let root = root.unwrap_or(&working).to_owned();
        Tree { working, root }
    }

    /// The address of a file that a compiler or a person named, and whether it is relative to the root.
    fn uri(&self, file: &str) -> (String, bool) {
        let named = normal(&self.working.join(file));
        // A compiler that worked elsewhere in the repository names files from there.
        let from_root = normal(&self.root.join(file));
        let path = if !named.exists() && from_root.exists() { from_root } else { named };
        match path.strip_prefix(&self.root) {
            Ok(below) => (encoded(&below.to_string_lossy()), true),
            Err(_) => (format!("file://{}", encoded(&path.to_string_lossy())), false),
        }
    }

    /// The line of a file in which a function of the first of these names begins, else the first line.
    fn line_of(&self, file: &str, names: [&str; 2]) -> u32 {
        let path = self.working.join(file);
        let text = crate::read::read_text(&path).unwrap_or_default();
        let begins = |name: &str| {
            let start = format!("fn {name}");
            text.lines().position(|line| {
                let rest = line.split_once(&start).map(|(_, rest)| rest);
                rest.is_some_and(|rest| rest.starts_with(['(', '<']))
            })
        };
        names.into_iter().find_map(begins).map_or(1, |index| 1 + index as u32)
    }
}

/// A path without `.` and `..`, whether it is there or not.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
        path
    })
}

/// A path as a part of an address.
fn encoded(path: &str) -> String {
    let letter = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' => {
            char::from(byte).to_string()
        }
        b'\\' if cfg!(windows) => "/".to_owned(),
        byte => format!("%{byte:02X}"),
    };
    path.bytes().map(letter).collect()
}

/// Findings of a command, on their way to a file.
#[derive(Clone, Debug)]
pub struct Sarif {
    command: String,
    tree: Tree,
    /// The file of findings that have no place in a source.
    subject: String,
    /// The file that lines of PTX are of, and its text.
    ptx: Option<(String, String)>,
    rules: Vec<Rule>,
    found: Vec<Found>,
    is_whole: bool,
}

impl Sarif {
    /// Findings of a command that runs in a folder; what has no place in a source is said of the file `subject`.
    pub fn new(command: &str, working: PathBuf, subject: &str) -> Sarif {
        Sarif {
            command: command.to_owned(),
            tree: Tree::around(working),
            subject: subject.to_owned(),
            ptx: None,
            rules: rules(),
            found: Vec::new(),
            is_whole: true,
        }
    }

    /// Lines of PTX are those of this file.
    pub fn set_ptx(&mut self, file: &str, text: &str) {
        self.ptx = Some((file.to_owned(), text.to_owned()));
    }

    /// The command ended before its end, so findings may be missing.
    pub fn set_interrupted(&mut self) {
        self.is_whole = false;
    }

    /// Adds a kind of finding that is none of ours.
    pub fn add_rule(&mut self, id: &str, description: &str, help: &str, level: SarifLevel) {
        self.rules.push(rule(id, description, help, level));
    }

    /// Adds a finding at a line of a file.
    pub fn add(&mut self, rule: &str, name: &str, message: &str, file: &str, line: u32) {
        let place = self.physical(&CodePlace {
            file: file.to_owned(),
            line: line.max(1),
            ..CodePlace::default()
        });
        let level = self.level(rule);
        self.push(rule, level, message, name, place, None, 1);
    }

    /// Adds what was found in a program's kernels and in its use of the driver.
    pub fn add_profile(&mut self, profile: &ProgramProfile) {
        for kernel in &profile.kernels {
            for hazard in &kernel.hazards {
                self.add_hazard(kernel.shown_name(), hazard);
            }
            for fault in &kernel.faults {
                let place = self.physical(&fault.place.clone().unwrap_or_default());
                let rule = MisuseKind::KernelFault.to_string();
                let name = kernel.shown_name();
                self.push(&rule, SarifLevel::Error, &fault.message, name, place, None, 1);
            }
        }
        for mistake in profile.misuse.iter().chain(&profile.leaks) {
            let subject = self.subject.clone();
            self.add_mistake("", mistake, &subject);
        }
    }

    /// Adds what a verification found.
    pub fn add_verification(&mut self, report: &VerifyReport) {
        for device in &report.devices {
            for launch in &device.launches {
                let name = launch.launch.split(" at ").next().unwrap_or_default();
                for hazard in &launch.hazards {
                    self.add_hazard(name, hazard);
                }
                if launch.outcome == LaunchOutcome::Wrong {
                    let kernel = name.replace('/', "_");
                    let variant = name.rsplit('/').next().unwrap_or(name);
                    let line = self.tree.line_of(&launch.file, [&kernel, variant]);
                    let reason = launch.reason.as_deref().unwrap_or_default();
                    let message = format!("{}: {reason}", launch.launch);
                    self.add(WRONG_RESULT, name, &message, &launch.file, line);
                }
            }
            for misuse in &device.misuses {
                self.add_mistake(&misuse.pattern, &misuse.mistake, &misuse.file);
            }
        }
    }

    fn add_hazard(&mut self, name: &str, hazard: &ProfiledHazard) {
        let place = self.physical(&hazard.place);
        let other = hazard.other.as_ref().map(|other| self.physical(other));
        let level = level_of(hazard.kind);
        let kind = hazard.kind.to_string();
        self.push(&kind, level, &hazard.message, name, place, other, hazard.launches);
    }

    fn add_mistake(&mut self, name: &str, mistake: &Mistake, subject: &str) {
        let called = mistake.location.as_deref().and_then(|place| place.rsplit_once(':'));
        let called = called.and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let (file, line) = called.unwrap_or((subject, 1));
        let file = file.to_owned();
        let place = self.physical(&CodePlace { file, line, ..CodePlace::default() });
        let level = if mistake.is_advice {
            SarifLevel::Note
        } else if mistake.kind == MisuseKind::Leak {
            SarifLevel::Warning
        } else {
            SarifLevel::Error
        };
        let kind = mistake.kind.to_string();
        self.push(&kind, level, &mistake.message, name, place, None, mistake.count);
    }

    fn level(&self, id: &str) -> SarifLevel {
        let rule = self.rules.iter().find(|rule| rule.id == id);
        rule.map_or(SarifLevel::Error, |rule| rule.default_configuration.level)
    }

    /// A place as files have it: in a source, else in the PTX file, else in the subject.
    fn physical(&self, place: &CodePlace) -> Physical {
        let (mut line, mut column, mut code) = (place.line, place.column, place.code.clone());
        let file = match &self.ptx {
            _ if !place.file.is_empty() => place.file.as_str(),
            Some((file, text)) if place.ptx_line > 0 => {
                line = place.ptx_line;
                let written = text.lines().nth(line as usize - 1).unwrap_or_default();
                column = 1 + (written.len() - written.trim_start().len()) as u32;
                written.trim().clone_into(&mut code);
                file
            }
            _ => &self.subject,
        };
        let (uri, is_below_root) = self.tree.uri(file);
        Physical {
            uri,
            is_below_root,
            line: line.max(1),
            column,
            code,
            instruction: place.instruction.clone(),
            ptx_line: place.ptx_line,
        }
    }

    /// Adds a finding; one that is there already happened once more.
    #[expect(clippy::too_many_arguments, reason = "these are the parts of a finding")]
    fn push(
        &mut self,
        rule: &str,
        level: SarifLevel,
        message: &str,
        name: &str,
        place: Physical,
        other: Option<Physical>,
        count: u64,
    ) {
        let (rule, message, name) = (rule.to_owned(), message.to_owned(), name.to_owned());
        let new = Found { rule, level, message, place, name, other, count };
        match self.found.iter_mut().find(|known| known.key() == new.key()) {
            Some(known) => known.count += new.count,
            None => self.found.push(new),
        }
    }

    /// Returns the number of findings that are errors.
    pub fn errors(&self) -> usize {
        self.found.iter().filter(|found| found.level == SarifLevel::Error).count()
    }

    /// Returns the file's text.
    pub fn text(&self) -> String {
        let mut found: Vec<&Found> = self.found.iter().collect();
        found.sort_by(|one, other| one.key().cmp(&other.key()));
        let mut alike = BTreeMap::new();
        let results = found.iter().map(|found| self.result(found, &mut alike)).collect();
        let root = Text { text: "The root of the repository.".to_owned() };
        let log = Log {
            schema: "https://json.schemastore.org/sarif-2.1.0.json",
            version: "2.1.0",
            runs: [Run {
                tool: Tool {
                    driver: Driver {
                        name: "Coalesce",
                        semantic_version: env!("CARGO_PKG_VERSION"),
                        rules: &self.rules,
                    },
                },
                automation_details: AutomationDetails { id: format!("coalesce/{}/", self.command) },
                invocations: [Invocation { execution_successful: self.is_whole }],
                original_uri_base_ids: BTreeMap::from([(ROOT, Base { description: root })]),
                column_kind: "utf16CodeUnits",
                results,
            }],
        };
        serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When the folder or the disk does not take it.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_somewhere(path, self.text().as_bytes())
    }

    fn result<'a>(
        &'a self,
        found: &'a Found,
        alike: &mut BTreeMap<String, u32>,
    ) -> SarifResult<'a> {
        // Lines and columns move, and with the other access of a race so does the message.
        let code = |place: &Physical| {
            let code = if place.code.is_empty() { &place.instruction } else { &place.code };
            format!("{}|{}", place.uri, code.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let other = found.other.as_ref().map(code).unwrap_or_default();
        let base = format!("{}|{}|{}|{other}", found.rule, found.name, code(&found.place));
        let ordinal = alike.entry(base.clone()).or_default();
        let fingerprint = format!("{:016x}", fnv(&format!("{base}|{ordinal}")));
        *ordinal += 1;
        let names = (!found.name.is_empty())
            .then(|| LogicalLocation { fully_qualified_name: &found.name, kind: "function" });
        let location = |place, id, message: Option<&str>, names| Location {
            id,
            message: message.map(|text| Text { text: text.to_owned() }),
            physical_location: physical_location(place),
            logical_locations: names,
            properties: (place.ptx_line > 0)
                .then(|| Properties { ptx_line: place.ptx_line, instruction: &place.instruction }),
        };
        let others = found.other.iter();
        SarifResult {
            rule_id: &found.rule,
            rule_index: self.rules.iter().position(|rule| rule.id == found.rule),
            level: found.level,
            message: Text { text: found.message.clone() },
            locations: [location(&found.place, None, None, names.into_iter().collect())],
            related_locations: others
                .map(|place| location(place, Some(1), Some("the other access"), Vec::new()))
                .collect(),
            partial_fingerprints: BTreeMap::from([(FINGERPRINT, fingerprint)]),
            occurrence_count: found.count.max(1),
        }
    }
}

fn level_of(kind: Hazard) -> SarifLevel {
    if kind.is_note() { SarifLevel::Note } else { SarifLevel::Error }
}

/// A hash that no version of a library changes: Fowler, Noll and Vo's 1a of 64 bits.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Every kind of finding, described by the docs of its type.
fn rules() -> Vec<Rule> {
    let hazards = described::<Hazard>().into_iter().map(|(kind, description)| {
        let level = level_of(kind);
        let help = format!("{description} To fix it: {}.", kind.remedy());
        rule(&kind.to_string(), &description, &help, level)
    });
    let misuses = described::<MisuseKind>().into_iter().map(|(kind, description)| {
        let level = if kind.is_advice() {
            SarifLevel::Note
        } else if kind == MisuseKind::Leak {
            SarifLevel::Warning
        } else {
            SarifLevel::Error
        };
        let help = format!("{description} The message names the call and what would fix it.");
        rule(&kind.to_string(), &description, &help, level)
    });
    let description = "An output of a launch differs from its CPU reference.";
    let help = "An output of a launch differs from its CPU reference. The message names the first element \
                that differs; `coalesce explain` shows what the kernel does, and `--check` looks for hazards.";
    let wrong = rule(WRONG_RESULT, description, help, SarifLevel::Error);
    hazards.chain(misuses).chain([wrong]).collect()
}

fn rule(id: &str, description: &str, help: &str, level: SarifLevel) -> Rule {
    let text = |text: &str| Text { text: text.to_owned() };
    Rule {
        id: id.to_owned(),
        short_description: text(description),
        help: text(help),
        default_configuration: Configuration { level },
    }
}

/// The kinds of a type with the sentences that document them.
fn described<T: schemars::JsonSchema + for<'a> Deserialize<'a>>() -> Vec<(T, String)> {
    let schema = schemars::schema_for!(T).to_value();
    let kinds = schema["oneOf"].as_array().cloned().unwrap_or_default();
    let kind = |one: serde_json::Value| {
        let description = one["description"].as_str().unwrap_or_default();
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        Some((serde_json::from_value(one["const"].clone()).ok()?, description))
    };
    kinds.into_iter().filter_map(kind).collect()
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    automation_details: AutomationDetails,
    invocations: [Invocation; 1],
    original_uri_base_ids: BTreeMap<&'static str, Base>,
    column_kind: &'static str,
    results: Vec<SarifResult<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'a> {
    name: &'static str,
    semantic_version: &'static str,
    rules: &'a [Rule],
}

#[derive(Serialize)]
struct AutomationDetails {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
}

#[derive(Serialize)]
struct Base {
    description: Text,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'a> {
    rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: SarifLevel,
    message: Text,
    locations: [Location<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location<'a>>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    occurrence_count: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
    physical_location: PhysicalLocation<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Properties<'a> {
    ptx_line: u32,
    instruction: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    fully_qualified_name: &'a str,
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation<'a> {
    artifact_location: ArtifactLocation<'a>,
    region: Region<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region<'a> {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<Snippet<'a>>,
}

#[derive(Serialize)]
struct Snippet<'a> {
    text: &'a str,
}

fn physical_location(place: &Physical) -> PhysicalLocation<'_> {
    let has_code = place.column > 0 && !place.code.is_empty();
    let length = place.code.encode_utf16().count() as u32;
    PhysicalLocation {
        artifact_location: ArtifactLocation {
            uri: &place.uri,
            uri_base_id: place.is_below_root.then_some(ROOT),
        },
        region: Region {
            start_line: place.line,
            start_column: (place.column > 0).then_some(place.column),
            end_column: has_code.then_some(place.column + length),
            snippet: has_code.then_some(Snippet { text: &place.code }),
        },
    }
}
