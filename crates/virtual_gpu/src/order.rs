//! Finds work that overtakes earlier work on the same memory because nothing orders the two.
//!
//! Work runs late here, so that an operation which the program forgot to order is still pending when a later one on
//! another stream runs. What the later one touches is compared with what the pending ones touch. Kernels are taken to
//! touch every allocation that an argument points into. Two kernels are compared by what they did (`concurrent.rs`).

use crate::work::{CopySide, QueuedOperation, QueuedWork};
use simt::Memory;

/// Device or page-locked memory that an operation touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Access {
    start: u64,
    end: u64,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Reads,
    Writes,
    /// A kernel was given the address.
    Touches,
}

impl Access {
    fn conflicts(self, other: Access) -> bool {
        let overlap = self.start < other.end && other.start < self.end;
        overlap && (self.how == How::Writes || other.how == How::Writes)
    }
}

/// The call of earlier work, of what is `pending`, that conflicts with `work`, which runs now; and the first address that
/// both use.
pub(crate) fn overtaken<'pending>(
    memory: &Memory,
    mut pending: impl Iterator<Item = &'pending QueuedOperation>,
    work: &QueuedWork,
) -> Option<(&'static str, u64)> {
    let mine = accesses(memory, work);
    if mine.is_empty() {
        return None;
    }
    pending.find_map(|earlier| {
        let theirs = accesses(memory, &earlier.work);
        let conflict = mine.iter().find(|one| theirs.iter().any(|other| one.conflicts(*other)))?;
        Some((earlier.call, conflict.start))
    })
}

/// What an operation touches.
fn accesses(memory: &Memory, work: &QueuedWork) -> Vec<Access> {
    match work {
        QueuedWork::Copy(copy) => {
            let range = |side: CopySide, how| {
                let bytes = copy.height.saturating_sub(1) * side.pitch + copy.width;
                Access { start: side.address, end: side.address + bytes as u64, how }
            };
            let mut accesses = vec![range(copy.target, How::Writes)];
            if copy.staged.is_none() {
                accesses.push(range(copy.source, How::Reads));
            }
            accesses
        }
        QueuedWork::Fill(fill) => {
            let bytes = fill.height.saturating_sub(1) * fill.pitch + fill.width * fill.size;
            vec![Access { start: fill.address, end: fill.address + bytes as u64, how: How::Writes }]
        }
        QueuedWork::Kernel(kernel) => {
            let words =
                kernel.launch.arguments.iter().flat_map(|argument| argument.as_chunks::<8>().0);
            let found = words.filter_map(|word| memory.allocation(u64::from_le_bytes(*word)));
            found
                .map(|one| Access {
                    start: one.address,
                    end: one.address + one.bytes,
                    how: How::Touches,
                })
                .collect()
        }
        QueuedWork::Release(address) => {
            let found = memory.allocation(*address);
            let found = found.map(|one| Access {
                start: one.address,
                end: one.address + one.bytes,
                how: How::Writes,
            });
            found.into_iter().collect()
        }
        QueuedWork::Event
        | QueuedWork::Wait
        | QueuedWork::Join
        | QueuedWork::Host(_)
        | QueuedWork::Prefetch { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{Copy, Fill};

    #[test]
    fn work_on_the_same_memory_conflicts_when_one_writes_it() {
        let memory = Memory::new(1 << 20);
        let copy = |target, source| QueuedWork::Copy(Copy::linear(target, source, 16));
        let fill = |address| {
            QueuedWork::Fill(Fill { address, pitch: 16, value: 0, size: 1, width: 16, height: 1 })
        };
        let finds = |earlier: QueuedWork, now: QueuedWork| {
            let call = "cuMemsetD8Async";
            let earlier = QueuedOperation {
                work: earlier,
                dependencies: Vec::new(),
                device: 0,
                stream: 1,
                enqueued: 0.0,
                executed: 0,
                call,
                fingerprint: None,
                host_lines: Vec::new(),
            };
            let found = overtaken(&memory, [&earlier].into_iter(), &now);
            found.inspect(|(named, _)| assert_eq!(*named, call)).map(|(_, address)| address)
        };
        assert_eq!(finds(fill(1000), copy(2000, 1008)), Some(1008));
        assert_eq!(finds(fill(1000), copy(2000, 1016)), None, "one begins where the other ends");
        assert_eq!(finds(copy(2000, 1000), copy(3000, 1000)), None, "both read");
        assert_eq!(finds(copy(2000, 1000), fill(1000)), Some(1000));
        assert_eq!(finds(fill(1000), QueuedWork::Wait), None);
    }
}
