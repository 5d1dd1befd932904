use crate::advice::{advice, triton};
use crate::names::{demangled, written_out};
use crate::sources::{SourceLine, Sources};
use results::{
    CodePlace, InstructionCounts, Interval, Mistake, Origin, ProfiledFault, ProfiledHazard,
    ProfiledInstruction, ProfiledKernel, ProgramProfile, SourceLocation, Timeline,
};
use simt::{Finding, Place};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use virtual_gpu::{LaunchRecord, Misuse, MisuseKind, OperationKind, OperationRecord};

/// Operations that a timeline has at most; of more the last are kept.
const MAX_OPERATIONS: usize = 1 << 15;

/// Profile of all launches so far.
#[derive(Clone, Debug)]
pub struct Collector {
    profile: ProgramProfile,
    /// Only kernels whose name has this are kept.
    filter: String,
    /// Index of each kernel in the profile, by its name and the digest of its module: Triton has a module per
    /// specialization and variant, all with kernels of one name.
    kernels: HashMap<(String, u64), usize>,
    /// Index of each instruction in its kernel, by the kernel's index and the line of the PTX.
    instructions: HashMap<(usize, u32, String), usize>,
    operations: Vec<OperationRecord>,
    sources: Sources,
}

impl Collector {
    /// Of a program on a device; only kernels whose name has `filter` are kept, all if it is empty.
    pub fn new(program: String, device: String, checked: bool, filter: String) -> Collector {
        Collector {
            profile: ProgramProfile::new(program, device, checked),
            filter,
            kernels: HashMap::new(),
            instructions: HashMap::new(),
            operations: Vec::new(),
            sources: Sources::below(&[]),
        }
    }

    /// Source files are read below these folders, too, and not only below the working folder.
    pub fn read_sources_below(&mut self, folders: &[PathBuf]) {
        self.sources = Sources::below(folders);
    }

    /// A kernel ran.
    pub fn launch(&mut self, record: LaunchRecord) {
        let Some(place) = self.kernel(&record) else { return };
        let kernel = &mut self.profile.kernels[place];
        kernel.launches += 1;
        kernel.warps += record.report.warps;
        kernel.predicted_us += record.profiled_ns / 1e3;
        kernel.counters += record.report.counters;
        for (name, busy_ns) in record.parts.named() {
            match kernel.busy_us.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += busy_ns / 1e3,
                None if busy_ns > 0.0 => kernel.busy_us.push((name.to_owned(), busy_ns / 1e3)),
                None => {}
            }
        }
        kernel.busy_us.sort_by(|one, other| other.1.total_cmp(&one.1));
        for finding in record.report.findings.iter().chain(&record.report.notes) {
            add(&mut kernel.hazards, profiled(finding, &mut self.sources));
        }
        let failed = record.fault_place.map(|place| code_place(&place, &mut self.sources));
        let fault = record.fault.map(|message| ProfiledFault { message, place: failed });
        kernel.faults.extend(fault);
        for report in record.report.instructions {
            let key = (place, report.ptx_line, report.text.clone());
            if let Some(known) = self.instructions.get(&key) {
                let counts = &mut kernel.instructions[*known].counts;
                counts.counters += report.counters;
                if counts.requests.is_empty() {
                    counts.requests = report.requests;
                }
                continue;
            }
            let code = report.source.as_ref().map_or_else(String::new, |source| {
                let (file, line) = source.outermost();
                self.sources.line(file, line).code
            });
            self.instructions.insert(key, kernel.instructions.len());
            let (text, is_approximate) = (report.text.clone(), report.is_approximate);
            let counts = instruction(report);
            kernel.instructions.push(ProfiledInstruction { text, code, is_approximate, counts });
        }
    }

    /// The place of a launch's kernel among those of the profile, unless it is not asked for.
    fn kernel(&mut self, record: &LaunchRecord) -> Option<usize> {
        let key = (record.kernel.clone(), record.module.digest());
        if let Some(place) = self.kernels.get(&key) {
            return Some(*place);
        }
        let mut written = demangled(&record.kernel).unwrap_or_default();
        if !record.kernel.contains(&self.filter) && !written.contains(&self.filter) {
            return None;
        }
        let kernel = record.module.kernel(&record.kernel).ok()?;
        let number = 1 + self.kernels.keys().filter(|(name, _)| *name == record.kernel).count();
        self.kernels.insert(key, self.profile.kernels.len());
        let mut name = record.kernel.clone();
        if number > 1 {
            name += &format!(".{number}");
            if !written.is_empty() {
                written += &format!(".{number}");
            }
        }
        self.profile.kernels.push(ProfiledKernel {
            name,
            demangled: written,
            target: record.module.target.clone(),
            is_triton: triton::wrote(&record.module),
            grid: record.grid,
            block: record.block,
            ptx_instructions: kernel.listing().len() as u64,
            shared_bytes: kernel.static_shared_bytes() + record.dynamic_shared_bytes,
            local_bytes: kernel.local_bytes(),
            occupancy_percent: 100.0 * record.occupancy,
            ..ProfiledKernel::default()
        });
        Some(self.profile.kernels.len() - 1)
    }

    /// Mistakes were found. Hazards and faults of kernels are known from their launches.
    pub fn mistakes(&mut self, found: Vec<Misuse>) {
        let faults = self.profile.kernels.iter().flat_map(|kernel| &kernel.faults);
        let faults: HashSet<&str> = faults.map(|fault| fault.message.as_str()).collect();
        let is_known = |one: &Misuse| {
            one.kind == MisuseKind::KernelHazard
                || one.fault.is_some() && faults.contains(one.message.as_str())
        };
        let found: Vec<Misuse> = found.into_iter().filter(|one| !is_known(one)).collect();
        for new in found.into_iter().map(mistake) {
            let same = |one: &&mut Mistake| one.kind == new.kind && one.message == new.message;
            match self.profile.misuse.iter_mut().find(same) {
                Some(known) => known.count += new.count,
                None => self.profile.misuse.push(new),
            }
        }
    }

    /// The program has ended, and this is what it never freed. That is no mistake in an interpreter, which leaves objects
    /// to the end of its process.
    pub fn leaks(&mut self, leaks: Vec<Misuse>, is_interpreter: bool) {
        self.profile.leaks = leaks.into_iter().map(mistake).collect();
        if is_interpreter && let [first, others @ ..] = &mut self.profile.leaks[..] {
            first.count += others.iter().map(|leak| leak.count).sum::<u64>();
            first.is_advice = true;
            first.message += ", as interpreters leave objects to the end of their process";
            self.profile.leaks.truncate(1);
        }
    }

    /// Device and host did this.
    pub fn operations(&mut self, done: Vec<OperationRecord>) {
        self.operations.extend(done);
        let beyond = self.operations.len().saturating_sub(MAX_OPERATIONS);
        self.operations.drain(..beyond);
    }

    /// Returns what is known so far, with advice.
    pub fn profile(&self) -> ProgramProfile {
        let timeline = timeline(&self.profile.device, &self.operations);
        let mut profile = ProgramProfile { timeline, ..self.profile.clone() };
        for kernel in &mut profile.kernels {
            kernel.instructions.sort_by_key(|one| one.counts.ptx_line);
        }
        profile.advice = advice(&profile);
        profile
    }
}

/// Adds a hazard; an unrolled loop's copies of one line have one.
fn add(hazards: &mut Vec<ProfiledHazard>, new: ProfiledHazard) {
    let is_line = |one: &ProfiledHazard| match &new.source {
        Some(_) => one.source == new.source,
        None => one.ptx_line == new.ptx_line,
    };
    match hazards.iter_mut().find(|one| one.kind == new.kind && is_line(one)) {
        Some(known) => known.launches += u64::from(known.ptx_line == new.ptx_line),
        None => hazards.push(new),
    }
}

/// Keeps of a finding what files have.
pub fn profiled(finding: &Finding, sources: &mut Sources) -> ProfiledHazard {
    ProfiledHazard {
        kind: finding.hazard,
        ptx_line: finding.place.ptx_line,
        source: finding.place.source.clone(),
        message: written_out(&finding.to_string()),
        launches: 1,
        place: code_place(&finding.place, sources),
        other: finding.other.as_ref().map(|place| code_place(place, sources)),
    }
}

/// Keeps of a place what files have, with the text of its line.
fn code_place(place: &Place, sources: &mut Sources) -> CodePlace {
    let seen = place.source.as_deref().and_then(SourceLocation::outermost_of);
    // Code of no line of a file has the line 0.
    let (file, line) = seen.filter(|(_, line)| *line > 0).unwrap_or_default();
    let SourceLine { column, code } = sources.line(file, line);
    CodePlace {
        kernel: demangled(&place.kernel).unwrap_or_else(|| place.kernel.clone()),
        ptx_line: place.ptx_line,
        instruction: place.instruction.clone(),
        file: file.to_owned(),
        line,
        column,
        code,
    }
}

/// Keeps of a mistake what files have.
pub fn mistake(found: Misuse) -> Mistake {
    let (kind, message, is_advice) = (found.kind, found.to_string(), found.kind.is_advice());
    Mistake { kind, message, location: found.location, count: found.count, is_advice }
}

/// Keeps of an instruction's report what files have.
pub fn instruction(report: simt::InstructionReport) -> InstructionCounts {
    InstructionCounts {
        ptx_line: report.ptx_line,
        source: report.source,
        depends_on_timing: report.depends_on_timing,
        counters: report.counters,
        requests: report.requests,
    }
}

/// Returns what ran when, from the first operation on.
fn timeline(device: &str, operations: &[OperationRecord]) -> Timeline {
    let first = operations.iter().map(|one| one.start_ns).fold(f64::INFINITY, f64::min);
    let last = operations.iter().map(|one| one.end_ns).fold(first, f64::max);
    let mut streams: Vec<usize> = Vec::new();
    let mut intervals: Vec<Interval> = Vec::new();
    for one in operations.iter().filter(|one| one.kind != OperationKind::Event) {
        let stream = one.stream.map(|handle| {
            streams.iter().position(|known| *known == handle).unwrap_or_else(|| {
                streams.push(handle);
                streams.len() - 1
            })
        });
        let [start_us, end_us] = [one.start_ns, one.end_ns].map(|time| (time - first) / 1e3);
        intervals.push(Interval { kind: one.kind.clone(), stream, start_us, end_us });
    }
    intervals.sort_by(|one, other| one.start_us.total_cmp(&other.start_us));
    let length_us = if intervals.is_empty() { 0.0 } else { (last - first) / 1e3 };
    Timeline { device: device.to_owned(), origin: Origin::Model, length_us, intervals }
}
