//! Finds work that overtakes earlier work on the same memory because nothing orders the two.
//!
//! Work runs late here, so that an operation which the program forgot to order is still pending when a later one on
//! another stream runs. What the later one touches is compared with what the pending ones touch. Kernels are taken to
//! touch every allocation that an argument points into; two kernels are not compared, because both may only read.

use crate::machine::Machine;
use crate::misuse::MisuseKind;
use crate::work::{Operation, Side, Slot, Work};

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

impl Machine {
    /// Reports earlier work that is still pending and conflicts with `operation`, which is number `id` and runs now.
    pub(crate) fn notice_overtaking(&mut self, id: usize, operation: &Operation) {
        if self.first_pending >= id {
            return;
        }
        let mine = self.accesses(&operation.work);
        let earlier = self.slots[self.first_pending..id].iter().filter_map(|slot| match slot {
            Slot::Pending(earlier) => Some(earlier),
            Slot::Done(..) => None,
        });
        let overtaken = earlier.into_iter().find_map(|earlier| {
            let theirs = self.accesses(&earlier.work);
            let conflict =
                mine.iter().find(|one| theirs.iter().any(|other| one.conflicts(*other)))?;
            Some((earlier.call, conflict.start))
        });
        if let Some((earlier, address)) = overtaken {
            let message = format!(
                "this may run before an earlier {earlier} that uses the same memory at {address:#x}, because nothing \
                 orders the two streams; wait for an event, or synchronise between them"
            );
            self.report(MisuseKind::MissingOrder, message);
        }
    }

    fn accesses(&self, work: &Work) -> Vec<Access> {
        match work {
            Work::Copy(copy) => {
                let range = |side: Side, how| {
                    let bytes = copy.height.saturating_sub(1) * side.pitch + copy.width;
                    Access { start: side.address, end: side.address + bytes as u64, how }
                };
                let mut accesses = vec![range(copy.target, How::Writes)];
                if copy.staged.is_none() {
                    accesses.push(range(copy.source, How::Reads));
                }
                accesses
            }
            Work::Fill(fill) => {
                let bytes = fill.height.saturating_sub(1) * fill.pitch + fill.width * fill.size;
                vec![Access {
                    start: fill.address,
                    end: fill.address + bytes as u64,
                    how: How::Writes,
                }]
            }
            Work::Kernel(kernel) => {
                let words =
                    kernel.launch.arguments.iter().flat_map(|argument| argument.as_chunks::<8>().0);
                let found =
                    words.filter_map(|word| self.memory.allocation(u64::from_le_bytes(*word)));
                found
                    .map(|one| Access {
                        start: one.address,
                        end: one.address + one.bytes,
                        how: How::Touches,
                    })
                    .collect()
            }
            Work::Release(address) => {
                let found = self.memory.allocation(*address);
                let found = found.map(|one| Access {
                    start: one.address,
                    end: one.address + one.bytes,
                    how: How::Writes,
                });
                found.into_iter().collect()
            }
            Work::Marker | Work::Host(_) | Work::Prefetch(..) => Vec::new(),
        }
    }
}
