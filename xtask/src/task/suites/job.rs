use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Launches on memory of their own, run once per schedule.
#[derive(Clone, Default, Serialize)]
pub struct Job {
    pub name: String,
    pub ptx: PathBuf,
    pub buffers: Vec<Buffer>,
    pub launches: Vec<Launch>,
    pub schedules: Vec<Schedule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// Count accesses.
    pub counters: bool,
    /// Run without checks, to know what they cost.
    pub unchecked: bool,
    /// Count the bytes that two threads touched, one of them writing, whatever orders them.
    pub conflicts: bool,
    /// Lay the buffers into one allocation with room between them, so that an access outside of one goes on, as it mostly does
    /// on a GPU.
    pub is_one_allocation: bool,
}

#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum Schedule {
    Named(&'static str),
    Seed(u64),
}

/// The schedules that every code runs by.
pub const SCHEDULES: [Schedule; 3] =
    [Schedule::Named("forward"), Schedule::Named("reverse"), Schedule::Seed(1)];

#[derive(Clone, Default, Serialize)]
pub struct Buffer {
    pub bytes: u64,
    /// The parameter that it is for, where the host's text decides what it holds.
    #[serde(skip)]
    pub name: Option<String>,
    /// Its first bytes; uninitialized where nothing fills them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<u8>,
    /// The bytes that are filled, if not all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled: Option<u64>,
}

impl Buffer {
    pub fn filled(bytes: u64, fill: u8) -> Buffer {
        Buffer { bytes, fill: Some(fill), ..Buffer::default() }
    }
}

#[derive(Clone, Default, Serialize)]
pub struct Launch {
    /// A part of the kernel's name that no other kernel of the PTX has.
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub arguments: Vec<Argument>,
}

impl Launch {
    /// A launch in one dimension.
    pub fn of(kernel: &str, blocks: u32, threads: u32, arguments: &[Argument]) -> Launch {
        Launch {
            kernel: kernel.to_owned(),
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared: 0,
            arguments: arguments.to_vec(),
        }
    }
}

#[derive(Clone, Serialize)]
#[serde(untagged)]
pub enum Argument {
    Buffer {
        buffer: usize,
    },
    /// The first word that a buffer has at that time, as a host would copy it.
    WordOf {
        word_of: usize,
    },
    Parts {
        parts: Vec<Part>,
    },
    Integer(i64),
    Float(f64),
}

/// A part of a structure.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum Part {
    Buffer { buffer: usize },
    Word(i32),
}

impl Argument {
    /// The address of a buffer.
    pub fn of(buffer: usize) -> Argument {
        Argument::Buffer { buffer }
    }
}

#[derive(Deserialize)]
pub struct Outcome {
    #[serde(default)]
    pub runs: Vec<Run>,
    /// Why nothing ran.
    pub refused: Option<String>,
}

#[derive(Deserialize)]
pub struct Run {
    pub seconds: f64,
    pub found: BTreeMap<String, u64>,
    pub notes: BTreeMap<String, u64>,
    pub first: Option<String>,
    pub error: Option<Fault>,
    pub conflicts: Option<Touched>,
    pub counts: Vec<Counts>,
}

/// The accesses of a launch.
#[derive(Clone, Copy, Deserialize)]
pub struct Counts {
    pub warps: u64,
    pub load_requests: u64,
    pub load_wavefronts: u64,
    pub store_requests: u64,
    pub store_wavefronts: u64,
    pub sectors: u64,
}

#[derive(Deserialize)]
pub struct Fault {
    pub kind: String,
    pub text: String,
}

/// Costs of a warp, by the words of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Wavefronts of shared memory beyond one per request.
    Conflicts,
    /// Wavefronts of shared memory per request, of loads or of stores.
    Loads,
    Stores,
    /// Sectors of global memory.
    Sectors,
}

/// The bytes of global memory that were touched, those that two threads touched, one of them writing, and those in no buffer.
#[derive(Clone, Copy, Deserialize)]
pub struct Touched {
    pub touched: u64,
    pub conflicting: u64,
    pub outside: u64,
}
