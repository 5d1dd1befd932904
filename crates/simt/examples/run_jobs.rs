//! Runs kernels of PTX files with every check: `cargo run --release -p coalesce-simt --example run_jobs -- JOBS.json`
//!
//! Jobs are independent of each other and run on all processors. A job has buffers and the launches that use them, one
//! after the other, and runs once per schedule on memory of its own. A line of JSON for each job says what was found.
//! `cargo xtask suites` makes its tables of it.

#![expect(clippy::print_stdout, reason = "what it prints is its purpose")]

use serde_json::{Value, json};
use simt::{
    AccessKind, Checks, Error, Finding, Launch, Memory, Module, Observer, Options, Report,
    Schedule, Sharer, WarpAccess, run_observed,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error as StdError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Bytes between buffers that share an allocation, and behind the last.
const ROOM: u64 = 4 << 20;

/// Warp-instructions of a launch, unless a job says another number.
const FUEL: u64 = 20_000_000;

type Failure = Box<dyn StdError + Send + Sync>;

fn main() -> Result<(), Failure> {
    let file = std::env::args().nth(1).ok_or("name a file of jobs")?;
    let jobs: Vec<Value> = serde_json::from_slice(&std::fs::read(&file)?)?;
    let (next, modules) = (AtomicUsize::new(0), Mutex::new(HashMap::new()));
    let lines: Mutex<BTreeMap<usize, String>> = Mutex::default();
    let work = || {
        let _part = Sharer::new();
        while let Some((index, job)) = Some(next.fetch_add(1, Ordering::Relaxed))
            .and_then(|index| Some((index, jobs.get(index)?)))
        {
            let line = match execute(job, &modules) {
                Ok(runs) => json!({ "name": job["name"], "runs": runs }),
                Err(error) => {
                    let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
                    json!({ "name": job["name"], "refused": text })
                }
            };
            let line = line.to_string();
            lines.lock().unwrap_or_else(PoisonError::into_inner).insert(index, line);
        }
    };
    let threads = std::thread::available_parallelism()?.get();
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    for line in lines.into_inner()?.values() {
        println!("{line}");
    }
    Ok(())
}

type Modules = Mutex<HashMap<String, Result<Arc<Module>, Error>>>;

/// Runs a job by each of its schedules.
fn execute(job: &Value, modules: &Modules) -> Result<Value, Failure> {
    let file = job["ptx"].as_str().ok_or("a job needs the name of its PTX")?;
    let known = modules.lock().unwrap_or_else(PoisonError::into_inner).get(file).cloned();
    let module = match known {
        Some(module) => module?,
        None => {
            let module = Module::parse(&std::fs::read_to_string(file)?).map(Arc::new);
            let mut modules = modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.insert(file.to_owned(), module.clone());
            module?
        }
    };
    let runs = list(&job["schedules"]).map(|schedule| run(job, &module, schedule));
    Ok(Value::Array(runs.collect::<Result<_, _>>()?))
}

/// Runs the launches of a job on new memory.
fn run(job: &Value, module: &Module, schedule: &Value) -> Result<Value, Failure> {
    let mut memory = Memory::default();
    memory.track_initialization();
    let addresses = allocate(job, &mut memory)?;
    let is_unchecked = job["unchecked"] == true;
    let options = Options {
        checks: if is_unchecked { Checks::none() } else { Checks::all() },
        // An observer is told of what is counted.
        counters: job["counters"] == true || job["conflicts"] == true,
        fuel: job["fuel"].as_u64().unwrap_or(FUEL),
        schedule: match schedule.as_str() {
            Some("forward") => Schedule::Forward,
            Some("reverse") => Schedule::Reverse,
            _ => Schedule::Seeded(schedule.as_u64().ok_or("a schedule is a name or a seed")?),
        },
        ..Options::default()
    };
    let (mut found, mut notes) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
    let (mut first, mut error, mut counted) = (None, None, Vec::new());
    let mut touched = (job["conflicts"] == true).then(Touched::default);
    let start = Instant::now();
    for one in list(&job["launches"]) {
        let launch = launch(one, module, &memory, &addresses)?;
        let observer = touched.as_mut().map(|touched| touched as &mut dyn Observer);
        let mut before_failure = Report::default();
        let outcome =
            run_observed(module, &mut memory, &launch, &options, &mut before_failure, observer);
        let (report, fault) = match outcome {
            Ok(report) => (report, None),
            // What no lane did is a reason not to run.
            Err(fault) if fault.place().is_none() => return Err(fault.into()),
            Err(fault) => (before_failure, Some(fault)),
        };
        let kind = |finding: &Finding| finding.hazard.to_string();
        report.findings.iter().for_each(|one| *found.entry(kind(one)).or_default() += 1);
        report.notes.iter().for_each(|one| *notes.entry(kind(one)).or_default() += 1);
        first = first.or_else(|| report.findings.first().map(ToString::to_string));
        if job["counters"] == true {
            counted.push(counts(&report));
        }
        if let Some(fault) = fault {
            let kind = format!("{fault:?}");
            let kind = kind.split([' ', '{', '(']).next().unwrap_or_default().to_owned();
            error = Some(json!({ "kind": kind, "text": fault.to_string() }));
            break;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(json!({
        "schedule": schedule, "seconds": seconds, "found": found, "notes": notes, "first": first, "error": error,
        "counts": counted, "conflicts": touched.map(|touched| touched.outcome(job, &addresses)),
    }))
}

fn counts(report: &Report) -> Value {
    let all = &report.counters;
    let (load, store) = (&all.shared_load, &all.shared_store);
    json!({
        "warps": report.warps,
        "load_requests": load.requests, "load_wavefronts": load.wavefronts,
        "store_requests": store.requests, "store_wavefronts": store.wavefronts,
        "sectors": all.global_load.sectors + all.global_store.sectors,
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn number(value: &Value, what: &str) -> Result<u64, Failure> {
    value.as_u64().ok_or_else(|| format!("{what} is no number: {value}").into())
}

/// Makes the buffers of a job: with an allocation for each, or all in one with room between them.
fn allocate(job: &Value, memory: &mut Memory) -> Result<Vec<u64>, Failure> {
    let buffers: Vec<&Value> = list(&job["buffers"]).collect();
    let sizes = buffers.iter().map(|one| number(&one["bytes"], "the size of a buffer"));
    let sizes: Vec<u64> = sizes.collect::<Result<_, _>>()?;
    let addresses: Vec<u64> = if job["is_one_allocation"] == true {
        let mut end = 0;
        let offsets = sizes.iter().map(|bytes| {
            let start = end;
            end = (end + bytes + ROOM).next_multiple_of(512);
            start
        });
        let offsets: Vec<u64> = offsets.collect();
        let base = memory.allocate(end)?;
        memory.fill(base, 0, usize::try_from(end)?)?;
        offsets.iter().map(|offset| base + offset).collect()
    } else {
        let each = sizes.iter().enumerate();
        each.map(|(index, bytes)| memory.allocate_named(*bytes, &format!("buffer {index}")))
            .collect::<Result<_, _>>()?
    };
    for ((buffer, address), bytes) in buffers.iter().zip(&addresses).zip(&sizes) {
        if let Some(file) = buffer["file"].as_str() {
            memory.write(*address, &std::fs::read(file)?)?;
        } else if let Some(byte) = buffer["fill"].as_u64() {
            let filled = buffer["filled"].as_u64().unwrap_or(*bytes);
            memory.fill(*address, u8::try_from(byte)?, usize::try_from(filled)?)?;
        }
    }
    Ok(addresses)
}

/// Makes a launch: an argument is the address of a buffer, a word that is read from one, a structure of such parts, or a
/// number in as many bytes as the parameter has.
fn launch(
    one: &Value,
    module: &Module,
    memory: &Memory,
    addresses: &[u64],
) -> Result<Launch, Failure> {
    let name = one["kernel"].as_str().ok_or("a launch needs a kernel")?;
    let mut named = module.kernels().iter().filter(|kernel| kernel.name.contains(name));
    let (Some(kernel), None) = (named.next(), named.next()) else {
        return Err(format!("no kernel or several have `{name}` in their name").into());
    };
    let shape = |value: &Value| -> Result<[u32; 3], Failure> {
        let mut shape = [1; 3];
        for (extent, given) in shape.iter_mut().zip(list(value)) {
            *extent = u32::try_from(number(given, "an extent")?)?;
        }
        Ok(shape)
    };
    let mut launch = Launch::new(&kernel.name, shape(&one["grid"])?, shape(&one["block"])?);
    launch.dynamic_shared_bytes = u32::try_from(one["shared"].as_u64().unwrap_or(0))?;
    launch.cooperative = one["cooperative"] == true;
    let address = |buffer: &Value| -> Result<u64, Failure> {
        let buffer = usize::try_from(number(buffer, "a buffer")?)?;
        Ok(*addresses.get(buffer).ok_or("no such buffer")?)
    };
    for (argument, parameter) in list(&one["arguments"]).zip(&kernel.parameters) {
        let mut bytes = Vec::new();
        if !argument["buffer"].is_null() {
            bytes.extend(address(&argument["buffer"])?.to_le_bytes());
        } else if !argument["word_of"].is_null() {
            let mut word = [0; 4];
            memory.read(address(&argument["word_of"])?, &mut word)?;
            bytes.extend(word);
        } else if let Some(value) = argument.as_i64() {
            bytes.extend(value.to_le_bytes());
        } else if let Some(value) = argument.as_f64() {
            match parameter.bytes {
                4 => bytes.extend((value as f32).to_le_bytes()),
                _ => bytes.extend(value.to_le_bytes()),
            }
        }
        for part in list(&argument["parts"]) {
            match part.as_i64() {
                Some(word) => bytes.extend(i32::try_from(word)?.to_le_bytes()),
                None => bytes.extend(address(&part["buffer"])?.to_le_bytes()),
            }
        }
        bytes.resize(parameter.bytes as usize, 0);
        launch = launch.argument(&bytes);
    }
    Ok(launch)
}

/// The bytes of global memory that a launch touched, by whom: an answer to "could anything have raced here" that orders
/// nothing and knows no memory model.
#[derive(Default)]
struct Touched {
    /// By address: the threads that loaded, stored and did atomics, as far as two of each.
    bytes: HashMap<u64, [[u64; 2]; 3]>,
    /// The accesses of the instruction that is issued next.
    pending: Vec<(usize, u64, u32, u32)>,
    /// By number of a warp: the number that no other warp has.
    warps: Vec<u64>,
    free: Vec<usize>,
    started: u64,
}

impl Touched {
    /// The bytes that two threads touched, one of them by a plain access and one of them writing, and those of no buffer.
    fn outcome(&self, job: &Value, addresses: &[u64]) -> Value {
        let conflicting = |[loads, stores, atomics]: &[[u64; 2]; 3]| {
            let all = |kinds: &[&[u64; 2]]| -> HashSet<u64> {
                kinds.iter().flat_map(|kind| kind.iter()).copied().filter(|it| *it > 0).collect()
            };
            let writes = all(&[stores, atomics]);
            let plain = all(&[loads, stores]);
            writes.iter().any(|write| {
                let others = if stores.contains(write) {
                    all(&[loads, stores, atomics])
                } else {
                    plain.clone()
                };
                others.iter().any(|other| other != write)
            })
        };
        let is_inside = |byte: u64| {
            let mut buffers = list(&job["buffers"]).zip(addresses);
            buffers.any(|(buffer, start)| {
                byte >= *start && byte - start < buffer["bytes"].as_u64().unwrap_or(0)
            })
        };
        json!({
            "touched": self.bytes.len(),
            "conflicting": self.bytes.values().filter(|one| conflicting(one)).count(),
            "outside": self.bytes.keys().filter(|byte| !is_inside(**byte)).count(),
        })
    }
}

impl Observer for Touched {
    fn start_block(&mut self) {}

    fn start_warp(&mut self) -> usize {
        self.started += 1;
        let number = self.free.pop().unwrap_or(self.warps.len());
        if number == self.warps.len() {
            self.warps.push(0);
        }
        self.warps[number] = self.started;
        number
    }

    fn end_warp(&mut self, warp: usize) {
        self.free.push(warp);
    }

    fn access(&mut self, kind: AccessKind, access: WarpAccess<'_>) {
        let kind = match kind {
            AccessKind::Store => 1,
            AccessKind::Atomic { .. } => 2,
            AccessKind::Constant => return,
            _ => 0,
        };
        for (lane, address) in access.addresses.iter().enumerate() {
            if access.mask >> lane & 1 == 1 {
                self.pending.push((kind, *address, access.bytes, lane as u32));
            }
        }
    }

    fn bulk(&mut self, _: bool, _: u64, _: u64) {}

    fn shared(&mut self, _: u32) {}

    fn cluster_atomics(&mut self, _: u64) {}

    fn reduction(&mut self, _: u64) {}

    fn issue(&mut self, warp: usize, _: usize) {
        for (kind, address, bytes, lane) in self.pending.drain(..) {
            let thread = self.warps[warp] * 32 + u64::from(lane);
            for byte in address..address + u64::from(bytes) {
                let known = &mut self.bytes.entry(byte).or_default()[kind];
                if let Some(place) = known.iter_mut().find(|it| **it == thread || **it == 0) {
                    *place = thread;
                }
            }
        }
    }
}
