//! The memory that copies, fills, allocations and frees use.

use crate::access::{Access, How};
use crate::memories::Memories;
use crate::work::{CopySide, KernelLaunch, QueuedWork, Subgraphs};

/// The allocations that a kernel was given: it may use these.
pub(crate) fn given(memory: &Memories, kernel: &KernelLaunch) -> Vec<Access> {
    let words = kernel.launch.arguments.iter().flat_map(|argument| argument.as_chunks::<8>().0);
    let found = words.filter_map(|word| memory.device.allocation(u64::from_le_bytes(*word)));
    found.map(|one| Access::linear(one.address, one.bytes, How::Writes)).collect()
}

/// The same of work that is a kernel, or has kernels in it.
pub(crate) fn given_to(memory: &Memories, work: &QueuedWork) -> Vec<Access> {
    match work {
        QueuedWork::Kernel(kernel) => given(memory, kernel),
        QueuedWork::Subgraphs(inner) => {
            inner.works().flat_map(|work| given_to(memory, work)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns what an operation accesses, but for a kernel, whose accesses show while it runs. Pageable memory of the host is
/// only used while a call waits.
pub(crate) fn accesses(memory: &Memories, work: &QueuedWork) -> Vec<Access> {
    match work {
        QueuedWork::Copy(copy) => {
            let (width, height) = (copy.width as u64, copy.height as u64);
            let side = |side: CopySide, how| {
                let (start, pitch) = (side.address, side.pitch as u64);
                (!memory.is_host(start)).then_some(Access { start, width, pitch, height, how })
            };
            let sides = [side(copy.target, How::Writes), side(copy.source, How::Reads)];
            sides.into_iter().flatten().collect()
        }
        QueuedWork::Fill(fill) => vec![Access {
            start: fill.address,
            width: (fill.width * fill.size) as u64,
            pitch: fill.pitch as u64,
            height: fill.height as u64,
            how: How::Writes,
        }],
        QueuedWork::GraphAllocation(range) => {
            vec![Access::linear(range.start, range.end - range.start, How::Writes)]
        }
        QueuedWork::Allocation(address) | QueuedWork::Release(address) => {
            let found = memory.device.allocation(*address);
            let found = found.map(|one| Access::linear(one.address, one.bytes, How::Writes));
            found.into_iter().collect()
        }
        QueuedWork::Touch(accesses) => accesses.clone(),
        QueuedWork::Discard(range) => {
            vec![Access::linear(range.start, range.end - range.start, How::Writes)]
        }
        QueuedWork::Subgraphs(Subgraphs { condition, .. }) => {
            let word = condition.map(|it| Access::linear(it.address(), 4, How::Reads));
            word.into_iter().collect()
        }
        QueuedWork::Assign(values) => {
            values.iter().map(|(word, _)| Access::linear(*word, 4, How::Writes)).collect()
        }
        QueuedWork::Kernel(_)
        | QueuedWork::Event
        | QueuedWork::Wait
        | QueuedWork::Join
        | QueuedWork::Host(_)
        | QueuedWork::Prefetch { .. } => Vec::new(),
    }
}

/// Returns what an operation accesses, with all that the graphs in it may, again but for kernels.
pub(crate) fn possible_accesses(memory: &Memories, work: &QueuedWork) -> Vec<Access> {
    let mut all = accesses(memory, work);
    if let QueuedWork::Subgraphs(inner) = work {
        all.extend(inner.works().flat_map(|work| possible_accesses(memory, work)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::conflict;
    use crate::work::{Copy, Fill};

    #[test]
    fn work_on_the_same_memory_conflicts_when_one_writes_it() {
        let memory = Memories::new(&[1 << 20]);
        let first = simt::Memory::addresses(0).start;
        let copy =
            |target, source| QueuedWork::Copy(Copy::linear(first + target, first + source, 16));
        let wide = |address, width, height| {
            let address = first + address;
            QueuedWork::Fill(Fill { address, pitch: 16, value: 0, size: 1, width, height })
        };
        let rows = |address, height| wide(address, 4, height);
        let fill = |address| wide(address, 16, 1);
        let finds = |earlier: QueuedWork, now: QueuedWork| {
            let found = conflict(&accesses(&memory, &now), &accesses(&memory, &earlier));
            found.map(|address| address - first)
        };
        assert_eq!(finds(fill(1000), copy(2000, 1008)), Some(1008));
        assert_eq!(finds(fill(1000), copy(2000, 1016)), None, "one begins where the other ends");
        assert_eq!(finds(fill(1016), copy(2000, 1000)), None, "one ends where the other begins");
        assert_eq!(finds(copy(2000, 1000), copy(3000, 1000)), None, "both read");
        assert_eq!(finds(copy(2000, 1000), fill(1000)), Some(1000));
        assert_eq!(finds(fill(1000), QueuedWork::Wait), None);
        assert_eq!(finds(rows(1000, 8), rows(1004, 8)), None, "columns of one array");
        assert_eq!(finds(rows(1000, 8), rows(1034, 8)), Some(1034), "two bytes of each row");
        assert_eq!(finds(rows(1000, 8), rows(1000 + 8 * 16, 1)), None, "the row behind the last");
        assert_eq!(finds(rows(1000, 0), rows(1000, 8)), None, "no rows");
    }
}
