use crate::error::Place;
use crate::execute::issue::run::location;
use crate::execute::issue::worker::Worker;
use crate::execute::observe::observers::Tally;
use crate::findings::{Finding, Hazard};
use crate::image::ImageOperation;
use crate::operation::{AtomicOperation, Operation, Space};
use crate::options::Options;
use crate::program::Program;
use crate::report::{DeviceWork, InstructionReport, Report};
use counters::Counters;
use races::{Footprint, VectorClock, footprint, footprint_beside};
use std::collections::HashSet;

/// Drops the findings of reads of what nobody wrote yet where the same instruction races with a write: the cause is one.
fn tell_one_cause(findings: &mut Vec<Finding>) {
    let site = |place: &Place| (place.ptx_line, place.instruction.clone());
    let races = findings.iter().filter(|finding| {
        let hazard = finding.hazard;
        matches!(
            hazard,
            Hazard::SharedRace
                | Hazard::SharedRaceInWarp
                | Hazard::GlobalRace
                | Hazard::GlobalRaceInWarp
        )
    });
    let sides = races.flat_map(|race| [Some(&race.place), race.other.as_ref()]).flatten();
    let racing: HashSet<_> = sides.map(site).collect();
    findings.retain(|finding| {
        !matches!(finding.hazard, Hazard::UninitializedShared | Hazard::UninitializedGlobal)
            || !racing.contains(&site(&finding.place))
    });
}

/// The launches of a kernel whose accesses beside them are looked up. Each looks at all that the kernel reached.
const MOST_FOLLOWED: usize = 1024;

/// Returns, for each work that threads have enqueued, what the kernel accesses beside it.
fn follow_enqueued(workers: &[Worker<'_>]) -> Vec<Option<Footprint>> {
    let clocks = workers.iter().flat_map(|worker| &worker.enqueued).map(|(_, before)| before);
    let beside = |(number, before): (usize, &Option<VectorClock>)| {
        let before = before.as_ref().filter(|_| number < MOST_FOLLOWED)?;
        let run = workers.first()?.run;
        let shadows = workers.iter().filter_map(|worker| worker.observers.global.as_deref());
        let base = |index| run.memory.region(index).base;
        Some(footprint_beside(&run.model, base, shadows, before))
    };
    clocks.enumerate().map(beside).collect()
}

/// Sums what the workers counted.
pub(crate) fn report(program: &Program, workers: Vec<Worker<'_>>, options: &Options) -> Report {
    let mut report = Report::default();
    let mut tallies = vec![Tally::default(); program.instructions.len()];
    let mut printed = Vec::new();
    let mut recorded = Vec::new();
    if let (true, Some(first)) = (options.footprint && options.checks.global_races, workers.first())
    {
        let shadows = workers.iter().filter_map(|worker| worker.observers.global.as_deref());
        let base = |index| first.run.memory.region(index).base;
        report.footprint = Some(footprint(&first.run.model, base, shadows));
    }
    let mut enqueued = follow_enqueued(&workers).into_iter();
    for mut worker in workers {
        if let Some(follower) = worker.observers.follower.take() {
            // Between launches a byte of which some bits were written counts as written.
            let memory = worker.run.memory;
            for address in follower.written_in_part() {
                if let Some(index) = memory.find(address, 1) {
                    let region = memory.region(index);
                    region.mark(address - region.base, 1);
                }
            }
            follower.settle(program, &mut worker.observers.findings);
        }
        recorded.extend(worker.observers.recorded);
        for (sum, tally) in tallies.iter_mut().zip(&worker.observers.tallies) {
            sum.add(tally);
        }
        report.blocks += worker.blocks;
        report.warps += worker.warps;
        report.findings.extend(worker.observers.findings);
        report.notes.extend(worker.observers.notes);
        printed.extend(worker.printed);
        report.print_bytes += worker.print_bytes;
        let made = worker.enqueued.into_iter().zip(&mut enqueued);
        report.enqueued.extend(made.map(|((work, _), beside)| DeviceWork { beside, ..work }));
    }
    recorded.sort_by_key(|(pc, _)| *pc);
    printed.sort_by_key(|(block, _)| *block);
    report.enqueued.sort_by_key(|work| work.by_block);
    report.printed = printed.into_iter().map(|(_, text)| text).collect();
    tell_one_cause(&mut report.findings);
    // Several workers may have found the same; the first block in order speaks for all.
    for found in [&mut report.findings, &mut report.notes] {
        found.sort_by(|a, b| {
            let key = |f: &Finding| {
                let [x, y, z] = f.place.block;
                (f.place.ptx_line, f.hazard, [z, y, x], f.place.warp)
            };
            key(a).cmp(&key(b))
        });
        found.dedup_by(|a, b| a.hazard == b.hazard && a.place.ptx_line == b.place.ptx_line);
        found.truncate(options.findings_max);
    }
    for (pc, tally) in tallies.iter().enumerate() {
        let detail = &program.details[pc];
        if tally.warps == 0 || detail.synthetic {
            continue;
        }
        let counters = counters(
            &program.instructions[pc].operation,
            &program.texts[detail.text as usize],
            tally,
        );
        report.counters += counters;
        let function = program.functions.partition_point(|(start, _)| *start <= pc as u32);
        report.instructions.push(InstructionReport {
            number: pc as u32,
            function: program
                .functions
                .get(function.saturating_sub(1))
                .map_or_else(String::new, |f| f.1.clone()),
            text: program.texts[detail.text as usize].clone(),
            ptx_line: detail.position.line,
            source: location(program, pc),
            is_approximate: detail.approximate,
            depends_on_timing: program.decisive.binary_search(&(pc as u32)).is_ok(),
            counters,
            requests: recorded[recorded.partition_point(|(at, _)| *at < pc)..]
                .iter()
                .take_while(|(at, _)| *at == pc)
                .map(|(_, request)| request.clone())
                .collect(),
        });
    }
    report.instructions.sort_by_key(|instruction| instruction.ptx_line);
    report
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.warps += other.warps;
        self.threads += other.threads;
        self.predicated_on += other.predicated_on;
        self.divergent += other.divergent;
        self.generic += other.generic;
        self.global += other.global;
        self.shared += other.shared;
        self.local += other.local;
        self.constant += other.constant;
    }
}

/// Sorts an instruction's raw counts into the public counters.
fn counters(operation: &Operation, text: &str, tally: &Tally) -> Counters {
    let mut counters = Counters {
        warp_instructions: tally.warps,
        thread_instructions: tally.threads,
        predicated_on_thread_instructions: tally.predicated_on,
        generic_requests: tally.generic,
        ..Counters::default()
    };
    match operation {
        Operation::Branch { .. } | Operation::BranchTable { .. } => {
            counters.branches = tally.warps;
            counters.divergent_branches = tally.divergent;
        }
        Operation::Barrier { .. } => counters.barriers = tally.warps,
        Operation::Load(access) => {
            counters.global_load = tally.global;
            counters.shared_load = tally.shared;
            counters.local_load = tally.local;
            counters.constant_load = tally.constant;
            if access.space == Space::Parameter {
                counters.parameter_loads = tally.warps;
            }
        }
        Operation::WmmaMove(fragment) if fragment.loads => {
            counters.global_load = tally.global;
            counters.shared_load = tally.shared;
        }
        Operation::Store(_) | Operation::WmmaMove(_) => {
            counters.global_store = tally.global;
            counters.shared_store = tally.shared;
            counters.local_store = tally.local;
        }
        Operation::Atomic(atomic) => {
            let result_used = !atomic.is_reduction
                || matches!(
                    atomic.operation,
                    AtomicOperation::Exchange | AtomicOperation::CompareSwap
                );
            if result_used {
                counters.global_atomic = tally.global;
            } else {
                counters.global_reduction = tally.global;
            }
            counters.shared_atomic = tally.shared;
        }
        Operation::AsyncCopy(_) => {
            counters.async_copy_global = tally.global;
            counters.async_copy_shared = tally.shared;
        }
        Operation::BulkCopy(_) | Operation::TensorCopy(_) => counters.bulk_copy = tally.global,
        Operation::Image(image) => match **image {
            ImageOperation::Store(_) => counters.surface_store = tally.global,
            _ => counters.texture_load = tally.global,
        },
        Operation::LoadMatrix { .. } => counters.shared_matrix_load = tally.shared,
        Operation::StoreMatrix { .. } => counters.shared_matrix_store = tally.shared,
        Operation::Shuffle { .. }
        | Operation::Vote { .. }
        | Operation::Match { .. }
        | Operation::Reduce { .. }
        | Operation::Elect { .. } => counters.warp_level_instructions = tally.warps,
        Operation::Compute { .. } => {
            // Moves and conversions count as integer instructions unless floats take part.
            let is_float = text.split('.').skip(1).any(|m| {
                matches!(m, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f32x2" | "f64" | "tf32")
            });
            if is_float && !text.starts_with("mov") {
                counters.float_instructions = tally.warps;
            } else {
                counters.integer_instructions = tally.warps;
            }
        }
        _ => {}
    }
    counters
}
