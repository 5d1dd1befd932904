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
    ..task!(one_field(f32, f32) -> f32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let apart = random.f32s(7 * n);
    let together = (0..7 * n).map(|word| apart[word % 7 * n + word / 7]).collect();
    let target = apart[3 * n..4 * n].iter().map(|value| value * value).collect();
    of_two(together, apart, target)
}
