//! The order of copies and kernels: the one that streams, events and the host's waiting require. It is read
//! from what the virtual GPU recorded of the order; there are no times in it.

use course_host::{Record, Work};
use std::collections::HashMap;

/// The most work that is ordered; a file that asks for more has none that overlaps.
const MAX_WORK: usize = 4096;

/// The engine that copies to the device, that which computes, and that which copies back.
pub(super) const ENGINES: [&str; 3] = ["H2D    ", "kernels", "D2H    "];

/// Work, or a moment of the host's.
struct Node {
    /// Its engine and its assumed cost: the bytes of a copy, and for kernels together as much as for the copies there.
    work: Option<(usize, f64)>,
    /// Those before it that it has to follow at once; others follow from these.
    after: Vec<usize>,
}

/// The work of a run with its order.
pub(super) struct Ordered(Vec<Node>);

/// Busy times of the engines if each copies and computes as fast as the others and calls take no time.
#[derive(Default)]
pub(super) struct Plan {
    pub engines: [Vec<(f64, f64)>; 3],
    /// End of the last operation.
    pub end: f64,
}

impl Ordered {
    /// Reads the order from what was recorded.
    pub(super) fn of(records: &[Record]) -> Ordered {
        let copied = |record: &Record| match record {
            Record::Enqueued { work: Work::HostToDevice(bytes), .. } => *bytes as f64,
            _ => 0.0,
        };
        let is_kernel =
            |record: &&Record| matches!(record, Record::Enqueued { work: Work::Kernel, .. });
        let kernels = records.iter().filter(is_kernel).count();
        let kernel = records.iter().map(copied).sum::<f64>().max(1.0) / kernels.max(1) as f64;
        let (mut nodes, mut places) = (Vec::new(), HashMap::new());
        // The last moment at which the host had waited.
        let mut host = None;
        for record in records.iter().take(MAX_WORK) {
            let (id, work, after) = match record {
                Record::Enqueued { id, work, after } => (Some(*id), *work, after),
                Record::Waited(ids) => (None, Work::Other, ids),
            };
            let known = after.iter().filter_map(|id| places.get(id).copied());
            let after = known.chain(host).collect();
            let work = match work {
                Work::HostToDevice(bytes) => Some((0, bytes as f64)),
                Work::Kernel => Some((1, kernel)),
                Work::DeviceToHost(bytes) => Some((2, bytes as f64)),
                Work::Other => None,
            };
            match id {
                Some(id) => _ = places.insert(id, nodes.len()),
                None => host = Some(nodes.len()),
            }
            nodes.push(Node { work, after });
        }
        Ordered(nodes)
    }

    /// The most kernels that have to follow each other.
    pub(super) fn kernel_chain(&self) -> u64 {
        let mut chains: Vec<u64> = Vec::new();
        for node in &self.0 {
            let longest = node.after.iter().map(|index| chains[*index]).max().unwrap_or(0);
            chains.push(longest + u64::from(matches!(node.work, Some((1, _)))));
        }
        chains.into_iter().max().unwrap_or(0)
    }

    /// Plans the engines: each takes what the order allows first, and of two what was enqueued first.
    pub(super) fn plan(&self) -> Plan {
        let (mut plan, mut free) = (Plan::default(), [0.0_f64; 3]);
        // For each node, how many it waits for, and when the last of those that ended has ended.
        let mut waits: Vec<(usize, f64)> =
            self.0.iter().map(|node| (node.after.len(), 0.0)).collect();
        let mut behind: Vec<Vec<usize>> = vec![Vec::new(); self.0.len()];
        for (index, node) in self.0.iter().enumerate() {
            node.after.iter().for_each(|before| behind[*before].push(index));
        }
        let mut open: Vec<usize> = (0..self.0.len()).filter(|index| waits[*index].0 == 0).collect();
        let first = |open: &[usize], waits: &[(usize, f64)], free: &[f64; 3]| {
            let begins = open.iter().enumerate().map(|(place, index)| {
                let free = self.0[*index].work.map_or(0.0, |(engine, _)| free[engine]);
                (place, *index, waits[*index].1.max(free))
            });
            begins.min_by(|a, b| a.2.total_cmp(&b.2).then(a.1.cmp(&b.1)))
        };
        while let Some((place, index, begin)) = first(&open, &waits, &free) {
            open.swap_remove(place);
            let mut end = begin;
            if let Some((engine, cost)) = self.0[index].work {
                end += cost;
                free[engine] = end;
                plan.engines[engine].push((begin, end));
                plan.end = plan.end.max(end);
            }
            for later in &behind[index] {
                let (left, ready) = &mut waits[*later];
                (*left, *ready) = (*left - 1, ready.max(end));
                if *left == 0 {
                    open.push(*later);
                }
            }
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(id: usize, work: Work, after: &[usize]) -> Record {
        Record::Enqueued { id, work, after: after.to_vec() }
    }

    fn kernel(id: usize, after: &[usize]) -> Record {
        work(id, Work::Kernel, after)
    }

    #[test]
    fn kernels_follow_each_other_by_streams_events_and_waits() {
        let chain = |records: &[Record]| Ordered::of(records).kernel_chain();
        assert_eq!(chain(&[kernel(7, &[]), kernel(8, &[])]), 1);
        assert_eq!(chain(&[kernel(7, &[]), kernel(8, &[7])]), 2);
        // An event of the first stream, which the second waits for.
        let event = [work(8, Work::Other, &[7]), work(9, Work::Other, &[8])];
        assert_eq!(chain(&[&[kernel(7, &[])], &event[..], &[kernel(10, &[9])]].concat()), 2);
        assert_eq!(chain(&[&[kernel(7, &[])], &event[..], &[kernel(10, &[])]].concat()), 1);
        // The host waits for one, and not for the other.
        let waited = Record::Waited(vec![7]);
        assert_eq!(chain(&[kernel(7, &[]), waited.clone(), kernel(8, &[])]), 2);
        assert_eq!(chain(&[kernel(7, &[]), kernel(8, &[]), waited]), 1);
    }

    #[test]
    fn eight_pieces_on_streams_of_their_own_take_ten_steps() {
        let steps = |streams: usize| {
            let mut tails = vec![Vec::new(); streams];
            let mut records = Vec::new();
            for piece in 0..8 {
                for kind in [Work::HostToDevice(64), Work::Kernel, Work::DeviceToHost(64)] {
                    let tail = &mut tails[piece % streams];
                    records.push(work(records.len(), kind, tail));
                    *tail = vec![records.len() - 1];
                }
            }
            Ordered::of(&records).plan().end / 64.0
        };
        assert_eq!((steps(8), steps(3), steps(1)), (10.0, 10.0, 24.0));
        assert!(steps(2) > 12.0);
    }
}
