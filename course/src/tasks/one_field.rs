use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "aos_soa",
    before: &[number(
        "How many sectors does one load of a warp touch, as the kernel stands?",
        |runs| runs.count(SectorsPerLoad, &[65_536]),
        &[
            (
                32.0,
                "Lanes are 28 bytes apart, a little less than a sector: some sectors have the words of two lanes.",
            ),
            (7.0, "A particle has 7 words. 32 of them are 896 bytes."),
        ],
        "32 particles are 896 B = 28 sectors, and each of them has a wanted word.",
    )],
    fails_as_shipped: FailureKind::Bound(SectorsPerLoad),
    bounds: &[
        coalesced(SectorsPerLoad, "32 neighbouring words are 4 sectors"),
        bound(
            LoadSectors,
            |n| exactly(n / 8.0),
            "one word of each particle, and no byte that is not wanted",
        ),
    ],
    hints: [
        "In `together`, the fourth fields of two neighbouring particles are 28 bytes apart.",
        "In `apart`, all fourth fields lie side by side.",
        "The fourth field has the number 3: three whole fields of n words lie before it.",
    ],
    choices: &[
        Choice {
            replaced: &[
                ("fourth", "second"),
                ("3 * n", "1 * n"),
                ("7 * i + 3", "7 * i + 1"),
                ("field 3 of `apart` begins at 3 n", "field 1 of `apart` begins at 1 n"),
                (
                    "number 3: three whole fields of n words lie",
                    "number 1: one whole field of n words lies",
                ),
            ],
            case: |size, random| field(1, size, random),
        },
        Choice {
            replaced: &[
                ("fourth", "third"),
                ("3 * n", "2 * n"),
                ("7 * i + 3", "7 * i + 2"),
                ("field 3 of `apart` begins at 3 n", "field 2 of `apart` begins at 2 n"),
                (
                    "number 3: three whole fields of n words lie",
                    "number 2: two whole fields of n words lie",
                ),
            ],
            case: |size, random| field(2, size, random),
        },
        Choice {
            replaced: &[
                ("fourth", "fifth"),
                ("3 * n", "4 * n"),
                ("7 * i + 3", "7 * i + 4"),
                ("field 3 of `apart` begins at 3 n", "field 4 of `apart` begins at 4 n"),
                (
                    "number 3: three whole fields of n words lie",
                    "number 4: four whole fields of n words lie",
                ),
            ],
            case: |size, random| field(4, size, random),
        },
        Choice {
            replaced: &[
                ("fourth", "sixth"),
                ("3 * n", "5 * n"),
                ("7 * i + 3", "7 * i + 5"),
                ("field 3 of `apart` begins at 3 n", "field 5 of `apart` begins at 5 n"),
                (
                    "number 3: three whole fields of n words lie",
                    "number 5: five whole fields of n words lie",
                ),
            ],
            case: |size, random| field(5, size, random),
        },
    ],
    ..task!(one_field(f32, f32) -> f32, LINE, |size, random| field(3, size, random))
};

fn field(number: usize, size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let apart = random.f32s(7 * n);
    let together = (0..7 * n).map(|word| apart[word % 7 * n + word / 7]).collect();
    let wanted = &apart[number * n..][..n];
    let target = wanted.iter().map(|value| value * value).collect();
    of_two(together, apart, target)
}
