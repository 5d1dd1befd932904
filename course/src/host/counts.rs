//! Counts of a host program's calls and copies, from what the virtual GPU recorded.

use super::numbers::HostCounts;
use super::order::{ENGINES, Ordered, Plan};
use course_host::HostRun;

const COLUMNS: usize = 56;

impl HostCounts {
    pub fn of(seen: &HostRun) -> HostCounts {
        let mut counts = HostCounts {
            copies: seen.copies.len() as u64,
            bus_bytes: seen.copies.iter().sum(),
            pageable_copies: seen.pageable_copies,
            ..HostCounts::default()
        };
        seen.calls.iter().for_each(|call| counts.note(call));
        let ordered = Ordered::of(&seen.order);
        counts.kernel_chain = ordered.kernel_chain();
        let Plan { engines, end } = ordered.plan();
        if end > 0.0 {
            let busy = |spans: &[(f64, f64)]| spans.iter().map(|span| span.1 - span.0).sum::<f64>();
            let busiest = engines.iter().map(|spans| busy(spans)).fold(0.0, f64::max);
            counts.idle_percent = 100.0 * (1.0 - busiest / end);
            let lines = ENGINES.iter().zip(&engines);
            counts.timeline =
                lines.map(|(name, spans)| format!("{name} {}", drawn(spans, end))).collect();
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

fn drawn(spans: &[(f64, f64)], end: f64) -> String {
    let column = |time: f64| time / end * COLUMNS as f64;
    let is_busy = |place: usize| {
        let middle = place as f64 + 0.5;
        spans.iter().any(|span| column(span.0) <= middle && middle < column(span.1))
    };
    (0..COLUMNS).map(|place| if is_busy(place) { '#' } else { '.' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use course_host::{Record, Work};

    #[test]
    fn calls_and_bytes_are_counted_and_steps_are_drawn() {
        let work = |id, work, after| Record::Enqueued { id, work, after };
        let seen = HostRun {
            copies: vec![8],
            calls: vec!["cuMemAlloc_v2".to_owned()],
            order: vec![
                work(0, Work::HostToDevice(8), vec![]),
                work(1, Work::Kernel, vec![0]),
                work(2, Work::Kernel, vec![1]),
            ],
            ..HostRun::default()
        };
        let counts = HostCounts::of(&seen);
        assert_eq!((counts.copies, counts.bus_bytes, counts.allocations), (1, 8, 1));
        assert_eq!((counts.kernel_chain, counts.idle_percent), (2, 50.0));
        let half = "#".repeat(COLUMNS / 2);
        assert!(counts.timeline[0].starts_with(&format!("H2D     {half}.")), "{counts:?}");
    }
}
