//! What a host program asked of the driver and of the bus, counted from what the virtual GPU recorded.

use cuda_host::{OperationKind, OperationRecord};
use serde::{Deserialize, Serialize};

/// Columns of a timeline.
const COLUMNS: usize = 56;

/// What one run of a host task did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostCounts {
    /// Copies between host and device.
    pub copies: u64,
    /// Bytes that they moved.
    pub bus_bytes: u64,
    /// Calls that pin memory of the host.
    pub pins: u64,
    /// Calls that allocate device memory, other than from a pool.
    pub allocations: u64,
    /// Calls that launch a kernel or a graph, those that are recorded into a graph included.
    pub launches: u64,
    /// Graphs that were instantiated.
    pub instantiations: u64,
    /// Calls in which the host waits for the device.
    pub waits: u64,
    /// Asynchronous copies of pageable memory.
    pub pageable_copies: u64,
    /// Times at which kernels ran, separated by times at which none did.
    pub kernel_groups: u64,
    /// The share of the time from the first operation to the last in which the busiest engine did nothing, percent.
    pub idle_percent: f64,
    /// When each engine was busy, drawn.
    pub timeline: Vec<String>,
}

impl HostCounts {
    /// Counts what was recorded; the time from `0` on is that of the run.
    pub fn of(operations: &[OperationRecord], pageable_copies: u64) -> HostCounts {
        let mut counts = HostCounts { pageable_copies, ..HostCounts::default() };
        let (mut uploads, mut downloads, mut kernels) = (Vec::new(), Vec::new(), Vec::new());
        for one in operations {
            let span = (one.start_ns, one.end_ns);
            match &one.kind {
                OperationKind::Upload { bytes } | OperationKind::Download { bytes } => {
                    counts.copies += 1;
                    counts.bus_bytes += bytes;
                    let is_upload = matches!(one.kind, OperationKind::Upload { .. });
                    if is_upload { uploads.push(span) } else { downloads.push(span) }
                }
                OperationKind::Kernel { .. } => kernels.push(span),
                OperationKind::Call { name } => counts.note(name),
                _ => {}
            }
        }
        let engines = [merged(uploads), merged(kernels), merged(downloads)];
        counts.kernel_groups = engines[1].len() as u64;
        let all = || engines.iter().flatten();
        let begin = all().map(|span| span.0).fold(f64::INFINITY, f64::min);
        let end = all().map(|span| span.1).fold(0.0, f64::max);
        if end > begin {
            let busy = |spans: &[(f64, f64)]| spans.iter().map(|span| span.1 - span.0).sum::<f64>();
            let busiest = engines.iter().map(|spans| busy(spans)).fold(0.0, f64::max);
            counts.idle_percent = 100.0 * (1.0 - busiest / (end - begin));
            let names = ["H2D    ", "kernels", "D2H    "];
            let lines = names.iter().zip(&engines);
            counts.timeline =
                lines.map(|(name, spans)| format!("{name} {}", drawn(spans, begin, end))).collect();
        }
        counts
    }

    fn note(&mut self, call: &str) {
        let count = match call.trim_end_matches("_v2").trim_end_matches("_ptsz") {
            "cuMemHostAlloc" | "cuMemAllocHost" | "cuMemHostRegister" => &mut self.pins,
            "cuMemAlloc" | "cuMemAllocPitch" | "cuMemAllocManaged" => &mut self.allocations,
            "cuLaunchKernel"
            | "cuLaunchKernelEx"
            | "cuLaunchCooperativeKernel"
            | "cuGraphLaunch" => &mut self.launches,
            "cuGraphInstantiate"
            | "cuGraphInstantiateWithFlags"
            | "cuGraphInstantiateWithParams" => &mut self.instantiations,
            "cuStreamSynchronize" | "cuCtxSynchronize" | "cuEventSynchronize" => &mut self.waits,
            _ => return,
        };
        *count += 1;
    }
}

/// The union of spans: those that overlap are one.
fn merged(mut spans: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut union: Vec<(f64, f64)> = Vec::new();
    for (begin, end) in spans {
        match union.last_mut() {
            Some(last) if begin < last.1 => last.1 = last.1.max(end),
            _ => union.push((begin, end)),
        }
    }
    union
}

fn drawn(spans: &[(f64, f64)], begin: f64, end: f64) -> String {
    let column = |time: f64| (time - begin) / (end - begin) * COLUMNS as f64;
    let is_busy = |place: usize| {
        let (from, to) = (place as f64, place as f64 + 1.0);
        spans.iter().any(|span| column(span.0) < to && column(span.1) > from)
    };
    (0..COLUMNS).map(|place| if is_busy(place) { '#' } else { '.' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(kind: OperationKind, start_ns: f64, end_ns: f64) -> OperationRecord {
        OperationRecord { kind, stream: Some(3), start_ns, end_ns }
    }

    #[test]
    fn what_overlaps_is_counted_once() {
        let kernel = || OperationKind::Kernel { name: "step".to_owned() };
        let operations = [
            operation(OperationKind::Upload { bytes: 8 }, 0.0, 50.0),
            operation(kernel(), 50.0, 70.0),
            operation(kernel(), 60.0, 80.0),
            operation(kernel(), 90.0, 100.0),
            operation(OperationKind::Call { name: "cuMemAlloc_v2" }, 0.0, 1.0),
        ];
        let counts = HostCounts::of(&operations, 0);
        assert_eq!((counts.copies, counts.bus_bytes, counts.allocations), (1, 8, 1));
        assert_eq!((counts.kernel_groups, counts.idle_percent), (2, 50.0));
        assert!(counts.timeline[0].starts_with("H2D     ####"), "{:?}", counts.timeline);
    }
}
