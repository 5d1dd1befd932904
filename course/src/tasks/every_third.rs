use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "stride",
    before: &[number(
        "How many sectors does one load of a warp touch, as the kernel stands?",
        |runs| runs.count(SectorsPerLoad, &[65_536]),
        &[
            (4.0, "That would be 32 neighbouring words. These are 3 words apart."),
            (32.0, "Lanes are 12 bytes apart, so a sector has the words of two or three of them."),
        ],
        "32 lanes x 12 B = 384 B, which is 12 sectors.",
    )],
    after: &[number(
        "Your kernel reads the tile with a distance of 3 words between lanes: how many wavefronts per shared load?",
        |runs| runs.count(WavefrontsPerSharedLoad, &[65_536]),
        &[(
            3.0,
            "3 lanes would have to share a bank. 3 x lane modulo 32 is different for all 32 lanes.",
        )],
        "The common factor of 3 and 32 is 1, so all 32 banks are used once.",
    )],
    fails_as_shipped: FailureKind::Bound(SectorsPerLoad),
    bounds: &[
        COALESCED_LOADS,
        bound(
            LoadSectors,
            |n| between(n * 3.0 / 8.0, n * 3.0 / 8.0),
            "three words for each pixel, each sector once",
        ),
        none(BankConflicts, "3 and 32 have no common factor, so 32 lanes want 32 banks"),
        bound(SharedRequests, |n| up_to(n / 8.0), "three stores and a load for each warp"),
        ONE_BARRIER,
        bound(SharedBytes, |_| up_to(3072.0), "768 words"),
    ],
    hints: [
        "The words that a block needs lie side by side: 768 of them.",
        "In step `part`, thread t of the block loads word `part * 256 + t` of the block's 768 into the same word of the tile.",
        "After a barrier, the green word of thread t is word 3 t + 1 of the tile.",
    ],
    choices: &[
        Choice {
            replaced: &[
                ("green", "red"),
                ("3 * thread + 1", "3 * thread"),
                ("3 * i + 1", "3 * i"),
                ("3 t + 1", "3 t"),
                ("wants word 1, lane 1 wants word 4", "wants word 0, lane 1 wants word 3"),
            ],
            case: |size, random| channel(0, size, random),
        },
        Choice {
            replaced: &[
                ("green", "blue"),
                ("3 * thread + 1", "3 * thread + 2"),
                ("3 * i + 1", "3 * i + 2"),
                ("3 t + 1", "3 t + 2"),
                ("wants word 1, lane 1 wants word 4", "wants word 2, lane 1 wants word 5"),
            ],
            case: |size, random| channel(2, size, random),
        },
    ],
    ..task!(every_third(f32) -> f32, LINE, |size, random| channel(1, size, random))
};

fn channel(number: usize, size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    chunked(random.f32s(3 * n), 3, |rgb| rgb[number])
}
