use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "coalescing",
    before: &[number(
        "How many sectors of 32 bytes does one load of a warp touch, as the kernel stands?",
        |runs| runs.count(SectorsPerLoad, &[128, 256]),
        &[
            (4.0, "4 is the goal: 32 neighbouring words. Here neighbours lie a whole row apart."),
            (1.0, "A sector has 8 words, and a warp wants 32."),
        ],
        "Every lane has a row of its own, so every lane touches a sector of its own.",
    )],
    after: &[number(
        "Your kernel on an image of 33 columns: sectors per load, rounded up to a whole number?",
        |runs| Ok(runs.count(SectorsPerLoad, &[64, 33])?.ceil()),
        &[(
            33.0,
            "The columns do not matter any more: pixels lie one behind the other through all rows.",
        )],
        "Pixels are taken one behind the other, so where a row ends makes no difference to a warp.",
    )],
    fails_as_shipped: FailureKind::Bound(SectorsPerLoad),
    bounds: &[
        COALESCED_LOADS,
        coalesced(SectorsPerStore, "the same"),
        EACH_RESULT_ONCE,
        bound(LoadSectors, |n| exactly(n / 8.0), "each pixel once: 4 B of a sector of 32 B"),
    ],
    hints: [
        "Write down the index `at` for lanes 0, 1 and 2 of the first warp.",
        "Neighbouring lanes have neighbouring values of `pixel`. So the column must be what changes with every step of it.",
        "Divide by the length of a row: the quotient is one of the two numbers, the remainder the other.",
    ],
    ..task!(
        rows_to_lanes(f32) -> f32, images(&[128, 256]), case,
        |rows, columns| (blocks(rows * columns, 256), 256), (columns, rows)
    )
};

fn case(size: &Size, random: &mut Random) -> Case {
    each(floats(size, random), |pixel| 2.0 * pixel)
}
