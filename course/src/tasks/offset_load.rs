use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "misalignment",
    kind: Kind::Question,
    before: &[
        number(
            "Sectors at offset 0?",
            |runs| runs.count(SectorsPerLoad, &[1024, 0]),
            &[(5.0, "128 bytes from a multiple of 32 are exactly 4 sectors.")],
            "128 B from a multiple of 32.",
        ),
        number(
            "Sectors at offset 1?",
            |runs| runs.count(SectorsPerLoad, &[1024, 1]),
            &[
                (8.0, "Only one more sector is touched: the one with the last word."),
                (4.0, "The last word lies in the next sector."),
            ],
            "The last lane's word lies in a fifth sector. That is a quarter more, and not twice as much.",
        ),
        number(
            "Sectors at offset 8?",
            |runs| runs.count(SectorsPerLoad, &[1024, 8]),
            &[(5.0, "8 words are 32 bytes: the load begins with a sector again.")],
            "8 words are a whole sector.",
        ),
    ],
    hints: SECTOR_HINTS,
    ..task!(offset_load(f32) -> f32, SIZES, case, |n, offset| (blocks(n, 256), 256))
};

const SIZES: Sizes = Sizes {
    dimensions: &[
        Dimension::extent("n", "elements", 1),
        Dimension::amount("offset", "words by which the source is shifted", 0),
    ],
    verify: &[&[1, 0], &[33, 1], &[1021, 3]],
    count: &[1024, 0],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, offset] = size.get();
    let source = random.f32s(n + offset);
    let target = source[offset..].to_vec();
    exact(source, target)
}
