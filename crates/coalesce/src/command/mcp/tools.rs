//! The tools, and what they are given.

use super::child::{self, Limits};
use ::results::{ProgramProfile, write};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// The names of the tools.
pub const NAMES: [&str; 4] = ["compile", "check", "explain", "compare"];
/// The version of the format of what `compile`, `check` and `compare` return.
const TOOLS_SCHEMA: u32 = 1;
/// Warp-instructions after which a kernel is taken to run forever: some seconds, so that the same kernel always ends alike.
const LIMIT: u64 = 100_000_000;
/// The name of a PTX text that came without a file.
const FILE: &str = "kernel.ptx";
/// Options that a compiler is given: none of them names a file.
const OPTIONS: [&str; 6] = ["-D", "-O", "-std=", "--fmad=", "--use_fast_math", "-ffast-math"];

/// The result of a tool, for a person and for a program.
#[derive(Debug)]
pub struct Done {
    pub text: String,
    pub value: Value,
}

/// The reason why a tool gave no result.
#[derive(Debug)]
pub enum CallError {
    /// There is no tool of this name.
    Unknown,
    /// The sentence to show.
    Failed(String),
}

#[derive(Debug)]
pub struct Tools {
    program: PathBuf,
    limits: Limits,
}

/// A launch of a kernel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchArguments {
    /// The text of the PTX, or else `file`.
    ptx: Option<String>,
    file: Option<String>,
    kernel: Option<String>,
    grid: Shape,
    block: Shape,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    shared: u32,
    device: Option<String>,
    limit: Option<u64>,
}

/// Extents as a number or as text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Shape {
    Number(u32),
    Text(String),
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::Number(extent) => write!(f, "{extent}"),
            Shape::Text(text) => f.write_str(text),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareArguments {
    before: LaunchArguments,
    after: LaunchArguments,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompileArguments {
    source: String,
    #[serde(default = "default_target")]
    target: String,
    #[serde(default)]
    options: Vec<String>,
}

fn default_target() -> String {
    "sm_80".to_owned()
}

impl Tools {
    /// Tools whose work has these limits.
    ///
    /// # Errors
    /// When this program cannot be found, which does the work.
    pub fn new(limits: Limits) -> Result<Tools> {
        let program = std::env::current_exe().context("cannot find where this program is")?;
        Ok(Tools { program, limits })
    }

    /// Describes the tools as the protocol lists them.
    pub fn described() -> Value {
        let launch = launch_schema();
        json!([
            {
                "name": "compile",
                "description": "Compile a CUDA C++ source to PTX with line tables, where nvcc or clang++ is installed.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "source": { "type": "string", "description": "The text of a .cu file." },
                        "target": { "type": "string", "pattern": "^sm_[0-9]+[af]?$", "default": "sm_80" },
                        "options": { "type": "array", "items": { "type": "string" }, "description": format!("Options that begin with one of {}.", OPTIONS.join(", ")) },
                    },
                    "required": ["source"],
                    "additionalProperties": false,
                },
            },
            {
                "name": "check",
                "description": "Execute a kernel once with every check: races, uninitialized reads, accesses out of bounds, divergent barriers. Returns the findings with their lines.",
                "inputSchema": launch,
            },
            {
                "name": "explain",
                "description": "Execute a kernel once and count its memory traffic: sectors, bank conflicts and wavefronts for each line, a predicted time, and advice.",
                "inputSchema": launch,
            },
            {
                "name": "compare",
                "description": "Execute two kernels and list the counters in which they differ.",
                "inputSchema": {
                    "type": "object",
                    "properties": { "before": launch, "after": launch },
                    "required": ["before", "after"],
                    "additionalProperties": false,
                },
            },
        ])
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// A tool that is not there, or one sentence why it gave no result.
    pub fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<Done, CallError> {
        let arguments = Value::Object(arguments);
        let done = match name {
            "compile" => parsed(arguments).and_then(|arguments| self.compile(&arguments)),
            "check" => parsed(arguments).and_then(|arguments| self.check(&arguments)),
            "explain" => parsed(arguments).and_then(|arguments| self.explain(&arguments)),
            "compare" => parsed(arguments).and_then(|arguments| self.compare(&arguments)),
            _ => return Err(CallError::Unknown),
        };
        done.map_err(|error| CallError::Failed(format!("error: {error:#}")))
    }

    fn check(&self, launch: &LaunchArguments) -> Result<Done> {
        let (profile, text) = self.profile(launch, true)?;
        let kernel = profile.kernels.first();
        let hazards = kernel.map(|kernel| &kernel.hazards[..]).unwrap_or_default();
        let faults = kernel.map(|kernel| &kernel.faults[..]).unwrap_or_default();
        let found = profile.findings(::results::FailOn::Any);
        let value = json!({
            "schema": TOOLS_SCHEMA,
            "kernel": kernel.map(|kernel| kernel.shown_name()),
            "device": profile.device,
            "found": found,
            "hazards": hazards,
            "faults": faults,
            "misuse": profile.misuse,
            "fidelity": profile.fidelity(),
        });
        Ok(Done { text, value })
    }

    fn explain(&self, launch: &LaunchArguments) -> Result<Done> {
        let (mut profile, text) = self.profile(launch, false)?;
        // Each lane's address is for pictures.
        for instruction in profile.kernels.iter_mut().flat_map(|kernel| &mut kernel.instructions) {
            instruction.counts.requests.clear();
        }
        Ok(Done { text, value: serde_json::to_value(profile)? })
    }

    fn compare(&self, arguments: &CompareArguments) -> Result<Done> {
        let counters = |launch: &LaunchArguments, which: &str| {
            let (profile, _) = self.profile(launch, false).with_context(|| which.to_owned())?;
            let kernel = profile.kernels.into_iter().next();
            let kernel = kernel.with_context(|| format!("{which}: no kernel ran"))?;
            let mut flat = BTreeMap::new();
            flatten("", &serde_json::to_value(kernel.counters)?, &mut flat);
            Ok::<_, anyhow::Error>((kernel.name, kernel.predicted_us, flat))
        };
        let before = counters(&arguments.before, "before")?;
        let after = counters(&arguments.after, "after")?;
        let names = before.2.keys().chain(after.2.keys());
        let names: std::collections::BTreeSet<&String> = names.collect();
        let mut text = format!("`{}` before, `{}` after\n", before.0, after.0);
        let mut differences = Vec::new();
        for name in names {
            let of = |flat: &BTreeMap<String, u64>| flat.get(name).copied().unwrap_or_default();
            let (from, to) = (of(&before.2), of(&after.2));
            if from != to {
                text += &format!("{name}: {from} to {to}\n");
                differences.push(json!({ "counter": name, "before": from, "after": to }));
            }
        }
        if differences.is_empty() {
            text += "all counters are equal\n";
        }
        let value = json!({
            "schema": TOOLS_SCHEMA,
            "before": { "kernel": before.0, "predicted_us": before.1 },
            "after": { "kernel": after.0, "predicted_us": after.1 },
            "differences": differences,
        });
        Ok(Done { text, value })
    }

    /// Launches a kernel in a process of its own; gives its profile and the report.
    fn profile(&self, launch: &LaunchArguments, checks: bool) -> Result<(ProgramProfile, String)> {
        let work = folder()?;
        let json = work.path().join("profile.json");
        let mut command = Command::new(&self.program);
        let file = match (&launch.ptx, &launch.file) {
            (Some(text), None) => {
                let inside = work.path().join("work");
                std::fs::create_dir(&inside).context("cannot make a temporary folder")?;
                write(&inside.join(FILE), text.as_bytes())?;
                command.current_dir(inside);
                FILE.to_owned()
            }
            (None, Some(file)) => {
                ensure!(file.ends_with(".ptx"), "`file` is a path that ends in .ptx");
                // So that no name is taken for an option.
                if file.starts_with('-') { format!("./{file}") } else { file.clone() }
            }
            _ => bail!("give either `ptx`, a text, or `file`, a path"),
        };
        let selection = match &launch.kernel {
            Some(kernel) => format!("{file}:{kernel}"),
            None => file,
        };
        let limit = launch.limit.unwrap_or(LIMIT);
        let device = launch.device.as_deref().unwrap_or("virtual");
        ensure!(
            device.starts_with("virtual"),
            "`device` is a virtual one, such as virtual:a100: a GPU counts nothing"
        );
        command.env_remove("COALESCE_DEVICE").arg("explain").arg(selection);
        command.arg(format!("--grid={}", launch.grid)).arg(format!("--block={}", launch.block));
        command.arg(format!("--shared={}", launch.shared)).arg(format!("--limit={limit}"));
        command.arg(format!("--device={device}"));
        command.args(launch.args.iter().map(|argument| format!("--arg={argument}")));
        command.arg(if checks { "--check=all" } else { "--check=none" });
        command.arg("--json").arg(&json);
        let ended = child::run(&mut command, self.limits, work.path())?;
        if !json.is_file() {
            let said = ended.errors.trim().trim_start_matches("error: ");
            if said.is_empty() || ended.status.code().is_none() {
                bail!(
                    "the work ended without a result ({}): it may need more than {} MiB, the limit of --memory",
                    ended.status,
                    self.limits.memory_bytes >> 20
                );
            }
            bail!("{said}");
        }
        Ok((ProgramProfile::load(&json)?, ended.output))
    }

    fn compile(&self, arguments: &CompileArguments) -> Result<Done> {
        let target = arguments.target.strip_prefix("sm_").unwrap_or_default();
        let is_target = target.len() <= 4
            && target.starts_with(|letter: char| letter.is_ascii_digit())
            && target.chars().all(|letter| letter.is_ascii_alphanumeric());
        ensure!(is_target, "`target` is an architecture, such as sm_80");
        let is_option = |option: &&String| OPTIONS.iter().any(|start| option.starts_with(start));
        if let Some(other) = arguments.options.iter().find(|option| !is_option(option)) {
            bail!("the option `{other}` is not taken: options begin with {}", OPTIONS.join(", "));
        }
        let work = folder()?;
        let (source, ptx) = ("kernel.cu", work.path().join(FILE));
        write(&work.path().join(source), arguments.source.as_bytes())?;
        let nvcc = ["--ptx", "-lineinfo"].map(str::to_owned).to_vec();
        let nvcc = [nvcc, vec![format!("-arch={}", arguments.target)]].concat();
        let clang = ["--cuda-device-only", "-S", "-nocudalib", "-gline-tables-only"];
        let clang = clang.map(str::to_owned).to_vec();
        let clang = [clang, vec![format!("--cuda-gpu-arch={}", arguments.target)]].concat();
        for (compiler, own) in [("nvcc", nvcc), ("clang++", clang)] {
            let mut command = Command::new(compiler);
            command.current_dir(work.path()).args(own).args(&arguments.options);
            command.arg("-o").arg(FILE).arg(source);
            let ended = match child::run(&mut command, self.limits, work.path()) {
                Err(error) if is_absent(&error) => continue,
                ended => ended?,
            };
            ensure!(ended.status.success(), "{compiler}: {}", ended.errors.trim());
            let text = ::results::read_text(&ptx).context("the compiler wrote no PTX")?;
            let kernels: Vec<String> =
                ::ptx::parse(&text)?.entries().map(|entry| entry.name.to_owned()).collect();
            let value = json!({
                "schema": TOOLS_SCHEMA, "compiler": compiler, "kernels": kernels, "ptx": text,
            });
            return Ok(Done { text, value });
        }
        bail!(
            "there is no compiler of CUDA here: install nvcc or clang++, or give the PTX to `check` and `explain`"
        )
    }
}

/// Returns whether a program could not be started because it is not there.
fn is_absent(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::NotFound)
}

fn folder() -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix("coalesce-mcp-")
        .tempdir()
        .context("cannot make a temporary folder: set TMPDIR to a folder that takes files")
}

fn parsed<T: for<'a> Deserialize<'a>>(arguments: Value) -> Result<T> {
    serde_json::from_value(arguments)
        .map_err(|error| anyhow::anyhow!("the arguments do not fit the tool: {error}"))
}

/// The numbers below a value, by their paths.
fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, u64>) {
    match value {
        Value::Object(parts) => {
            for (name, part) in parts {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(&path, part, into);
            }
        }
        value => into.extend(value.as_u64().map(|number| (path.to_owned(), number))),
    }
}

fn launch_schema() -> Value {
    let shape = |what: &str| {
        json!({
            "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string" }],
            "description": format!("{what}: 1024, \"32x8\" or \"32x8x2\"."),
        })
    };
    json!({
        "type": "object",
        "properties": {
            "ptx": { "type": "string", "description": "The text of the PTX." },
            "file": { "type": "string", "description": "Instead of the text, the path of a .ptx file." },
            "kernel": { "type": "string", "description": "The kernel, where there are several." },
            "grid": shape("Blocks"),
            "block": shape("Threads per block"),
            "args": {
                "type": "array", "items": { "type": "string" },
                "description": "An argument for each parameter: `in:f32*1Mi=random` for an array of zeros, iota, random, unset or one number; `n:u32=1048576` for a number.",
            },
            "shared": { "type": "integer", "minimum": 0, "description": "Bytes of dynamic shared memory per block." },
            "device": { "type": "string", "description": "The virtual device, such as virtual:a100." },
            "limit": { "type": "integer", "minimum": 1, "description": "Warp-instructions after which the kernel is taken to run forever." },
        },
        "required": ["grid", "block"],
        "additionalProperties": false,
    })
}
