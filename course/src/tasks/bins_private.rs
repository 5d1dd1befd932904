use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "histogram",
    before: &[number(
        "65536 bytes: how many atomics reach global memory, as the kernel stands?",
        |runs| runs.count(GlobalAtomics, &[65_536]),
        &[
            (256.0, "That is the number of counters."),
            (4096.0, "That is the goal: 16 blocks x 256 counters."),
        ],
        "One for every byte.",
    )],
    after: &[number(
        "Your kernel with ten times the text: how many atomics reach global memory?",
        |runs| runs.count(GlobalAtomics, &[655_360]),
        &[(40960.0, "What a block adds at the end does not depend on how long the text was.")],
        "16 blocks x 256 counters, however long the text is.",
    )],
    fails_as_shipped: FailureKind::Bound(GlobalAtomics),
    bounds: &[
        bound(
            GlobalAtomics,
            |_| between(1.0, 4096.0),
            "16 blocks x 256 counters, however long the text is",
        ),
        bound(LoadSectors, |n| exactly(n / 32.0), "each byte once"),
        bound(SharedBytes, |_| up_to(1024.0), "256 counters of 4 B"),
        bound(Barriers, |_| between(128.0, 256.0), "two for each of the 128 warps of 16 blocks"),
    ],
    hints: [
        "The counters of a block fit into 1024 bytes of shared memory.",
        "Set the block's counters to 0, wait, count there, wait, add them to the global ones.",
        "`BlockAtomicU32::from_ptr(own.add(byte))` is the counter of a byte; at the end thread t adds counter t.",
    ],
    ..task!(bins_private(u8) -> u32, LINE, case, |n| (16, 256))
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let text = random.u8s(n);
    let mut bins = vec![0; 256];
    for byte in &text {
        bins[*byte as usize] += 1;
    }
    counted(text, bins)
}
