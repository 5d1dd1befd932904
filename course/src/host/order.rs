//! Which copies and kernels have to follow each other: those of one stream, those that an event or the host's waiting
//! orders. How long something takes decides nothing.

use cuda_host::{OperationKind, OperationRecord};

/// The most operations that are ordered; a file that asks for more has none that overlap.
const MAX_OPERATIONS: usize = 2048;
/// Where times are taken for equal, nanoseconds.
const EQUAL: f64 = 1e-3;

/// The engine that copies to the device, that which computes, and that which copies back.
pub(super) const ENGINES: [&str; 3] = ["H2D    ", "kernels", "D2H    "];

/// One copy or kernel.
struct Operation {
    engine: usize,
    stream: usize,
    /// When it ran on the virtual GPU, which keeps to the order.
    span: (f64, f64),
    /// When the host asked for it.
    called: f64,
    /// What it is taken to cost: the bytes of a copy, and for kernels together as much as for the copies there.
    cost: f64,
}

/// The copies and kernels of a run with their order.
pub(super) struct Ordered {
    operations: Vec<Operation>,
    /// For each, those before it that it has to follow.
    before: Vec<Vec<usize>>,
}

/// When the engines are at work if each copies and computes as fast as the others and calls take no time.
#[derive(Default)]
pub(super) struct Plan {
    /// The spans of each engine.
    pub engines: [Vec<(f64, f64)>; 3],
    /// When the last of them ends.
    pub end: f64,
}

impl Ordered {
    /// Reads the order from what was recorded.
    pub(super) fn of(records: &[OperationRecord]) -> Ordered {
        let mut operations: Vec<Operation> = records.iter().filter_map(operation).collect();
        operations.truncate(MAX_OPERATIONS);
        operations.sort_by(|a, b| a.span.0.total_cmp(&b.span.0));
        for engine in 0..ENGINES.len() {
            let calls = records.iter().filter_map(|one| call(one, engine));
            let calls: Vec<f64> = calls.collect();
            let mut asked: Vec<_> =
                operations.iter_mut().filter(|one| one.engine == engine).collect();
            // A graph is one call and many kernels: these begin when they are asked for.
            if calls.len() == asked.len() {
                asked.iter_mut().zip(calls).for_each(|(one, call)| one.called = call);
            }
        }
        let sum = |engine| -> f64 {
            operations.iter().filter(|one| one.engine == engine).map(|one| one.cost).sum()
        };
        let kernels = operations.iter().filter(|one| one.engine == 1).count();
        let cost = sum(0).max(1.0) / kernels.max(1) as f64;
        operations.iter_mut().filter(|one| one.engine == 1).for_each(|one| one.cost = cost);
        let waits: Vec<(Option<usize>, f64)> = records.iter().filter_map(wait).collect();
        let before = operations.iter().enumerate().map(|(index, one)| {
            let all = operations[..index].iter().enumerate();
            all.filter(|(_, earlier)| has_to_follow(earlier, one, &waits))
                .map(|(at, _)| at)
                .collect()
        });
        let before = before.collect();
        Ordered { operations, before }
    }

    /// The most kernels that have to follow each other.
    pub(super) fn kernel_chain(&self) -> u64 {
        let mut chains: Vec<u64> = Vec::new();
        for (one, before) in self.operations.iter().zip(&self.before) {
            let longest = before.iter().map(|index| chains[*index]).max().unwrap_or(0);
            chains.push(longest + u64::from(one.engine == 1));
        }
        chains.into_iter().max().unwrap_or(0)
    }

    /// Plans the engines: each takes what the order allows first.
    pub(super) fn plan(&self) -> Plan {
        let (mut plan, mut free) = (Plan::default(), [0.0_f64; 3]);
        // For each operation, how many it waits for, and when the last of those that ended has ended.
        let mut waits: Vec<(usize, f64)> =
            self.before.iter().map(|before| (before.len(), 0.0)).collect();
        let mut behind: Vec<Vec<usize>> = vec![Vec::new(); self.operations.len()];
        for (index, before) in self.before.iter().enumerate() {
            before.iter().for_each(|before| behind[*before].push(index));
        }
        let mut open: Vec<usize> = (0..self.operations.len()).collect();
        let begin = |open: &[usize], waits: &[(usize, f64)], free: &[f64; 3]| {
            let begins = open.iter().enumerate().filter(|(_, index)| waits[**index].0 == 0);
            let begins = begins.map(|(place, index)| {
                (place, waits[*index].1.max(free[self.operations[*index].engine]))
            });
            begins.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        while let Some((place, begin)) = begin(&open, &waits, &free) {
            let index = open.remove(place);
            let Operation { engine, cost, .. } = self.operations[index];
            let end = begin + cost;
            free[engine] = end;
            plan.engines[engine].push((begin, end));
            plan.end = plan.end.max(end);
            for later in &behind[index] {
                let (left, ready) = &mut waits[*later];
                (*left, *ready) = (*left - 1, ready.max(end));
            }
        }
        plan
    }
}

fn operation(record: &OperationRecord) -> Option<Operation> {
    let (engine, cost) = match &record.kind {
        OperationKind::Upload { bytes } => (0, *bytes as f64),
        OperationKind::Kernel { .. } | OperationKind::Graph => (1, 0.0),
        OperationKind::Download { bytes } => (2, *bytes as f64),
        _ => return None,
    };
    let span = (record.start_ns, record.end_ns);
    let stream = record.stream.unwrap_or(0);
    Some(Operation { engine, stream, span, called: record.start_ns, cost })
}

/// When the host asked an engine for work, if that is what it did. Whatever runs first was asked for first, as far as a
/// wait in between can tell.
fn call(record: &OperationRecord, engine: usize) -> Option<f64> {
    let OperationKind::Call { name } = &record.kind else { return None };
    let names = [&["cuMemcpyHtoD"][..], &["cuLaunchKernel", "cuGraphLaunch"], &["cuMemcpyDtoH"]];
    names[engine].iter().any(|one| name.starts_with(one)).then_some(record.start_ns)
}

/// When a stream, or the host, has waited.
fn wait(record: &OperationRecord) -> Option<(Option<usize>, f64)> {
    match &record.kind {
        OperationKind::Wait => Some((record.stream, record.end_ns)),
        OperationKind::Call { name } => {
            let is_wait = name.contains("Synchronize")
                || name.contains("Memcpy") && !name.contains("Async")
                || ["cuMemFree", "cuMemFree_v2"].contains(name);
            is_wait.then_some((None, record.end_ns))
        }
        _ => None,
    }
}

/// Whether something orders the later of two operations behind the earlier.
fn has_to_follow(earlier: &Operation, later: &Operation, waits: &[(Option<usize>, f64)]) -> bool {
    // The legacy default stream is 0 or 1: others wait for it, and it for them.
    let is_one_stream = earlier.stream == later.stream || earlier.stream.min(later.stream) < 2;
    let is_between = |(stream, time): &(Option<usize>, f64)| {
        // A stream that waits holds up what it does next, the host what it asks for next.
        let until = match stream {
            Some(stream) if *stream == later.stream => later.span.0,
            Some(_) => return false,
            None => later.called,
        };
        earlier.span.1 <= time + EQUAL && *time <= until + EQUAL
    };
    earlier.span.1 <= later.span.0 + EQUAL && (is_one_stream || waits.iter().any(is_between))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: OperationKind, stream: usize, start_ns: f64, end_ns: f64) -> OperationRecord {
        OperationRecord { kind, stream: Some(stream), start_ns, end_ns }
    }

    fn kernel(stream: usize, start: f64) -> OperationRecord {
        record(OperationKind::Kernel { name: "step".to_owned() }, stream, start, start + 10.0)
    }

    #[test]
    fn kernels_follow_each_other_by_streams_events_and_waits() {
        let chain = |records: &[OperationRecord]| Ordered::of(records).kernel_chain();
        assert_eq!(chain(&[kernel(3, 0.0), kernel(4, 0.0)]), 1);
        // One after the other, and nothing says so.
        assert_eq!(chain(&[kernel(3, 0.0), kernel(4, 10.0)]), 1);
        assert_eq!(chain(&[kernel(3, 0.0), kernel(3, 10.0)]), 2);
        assert_eq!(chain(&[kernel(3, 0.0), kernel(0, 10.0), kernel(4, 20.0)]), 3);
        let event = record(OperationKind::Wait, 4, 10.0, 10.0);
        assert_eq!(chain(&[kernel(3, 0.0), event.clone(), kernel(4, 10.0)]), 2);
        assert_eq!(chain(&[kernel(3, 0.0), event, kernel(5, 10.0)]), 1);
        let kind = OperationKind::Call { name: "cuStreamSynchronize" };
        let host = OperationRecord { stream: None, ..record(kind, 0, 5.0, 12.0) };
        assert_eq!(chain(&[kernel(3, 0.0), host.clone(), kernel(4, 13.0)]), 2);
        // Both were asked for before the host waited, and the second only began later.
        let asked = |start: f64| {
            let kind = OperationKind::Call { name: "cuLaunchKernel" };
            OperationRecord { stream: None, ..record(kind, 0, start, start + 1.0) }
        };
        let records = [asked(0.0), asked(2.0), kernel(3, 0.0), host, kernel(4, 13.0)];
        assert_eq!(chain(&records), 1);
    }

    #[test]
    fn eight_pieces_on_streams_of_their_own_take_ten_steps() {
        let pieces = |streams: usize| -> Vec<OperationRecord> {
            let piece = |index: usize| {
                let (stream, at) = (3 + index % streams, 30.0 * index as f64);
                let kinds = [
                    OperationKind::Upload { bytes: 64 },
                    OperationKind::Kernel { name: "step".to_owned() },
                    OperationKind::Download { bytes: 64 },
                ];
                let kinds = kinds.into_iter().zip([at, at + 10.0, at + 20.0]);
                kinds.map(move |(kind, at)| record(kind, stream, at, at + 10.0)).collect::<Vec<_>>()
            };
            (0..8).flat_map(piece).collect()
        };
        let steps = |streams| Ordered::of(&pieces(streams)).plan().end / 64.0;
        assert_eq!((steps(8), steps(3), steps(1)), (10.0, 10.0, 24.0));
        // The last but one copy back ran behind the last, and need not.
        let mut late = pieces(3);
        (late[20].start_ns, late[20].end_ns) = (400.0, 410.0);
        assert_eq!(Ordered::of(&late).plan().end / 64.0, 10.0);
        assert!(steps(2) > 12.0);
    }
}
