use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "cache_operators",
    kind: Kind::Bug,
    fails_as_shipped: FailureKind::Hazard(Hazard::ReadOnlyWritten),
    bounds: &[bound(
        StoreSectors,
        |n| exactly(n / 8.0),
        "each number once: what is known need not be stored twice",
    )],
    hints: [
        "Which arrays does the kernel write?",
        "The read-only path is for memory that no thread of the launch writes.",
        "A plain load makes no promise.",
    ],
    ..task!(read_only_lie() -> u32, LINE, case)
};

fn case(size: &Size, _: &mut Random) -> Case {
    let [n] = size.get();
    let data = (0..n as u32).map(|i| 3 * i + 1).collect();
    let data = Output { before: Before::Zeros, ..Output::exact(Data::U32(data)) };
    Case { inputs: Vec::new(), outputs: vec![data] }
}
