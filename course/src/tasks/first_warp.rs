use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "coalescing",
    kind: Kind::Question,
    before: &[
        number(
            "Sectors at stride 1?",
            |runs| runs.count(SectorsPerLoad, &[1024, 1]),
            &[
                (32.0, "8 words share a sector."),
                (1.0, "A sector has 8 words, and there are 32 lanes."),
            ],
            "32 x 4 B = 128 B = 4 sectors.",
        ),
        number(
            "Sectors at stride 2?",
            |runs| runs.count(SectorsPerLoad, &[1024, 2]),
            &[
                (4.0, "The lanes span 256 bytes now."),
                (16.0, "A sector still has the words of 4 lanes."),
            ],
            "32 x 8 B = 256 B = 8 sectors.",
        ),
        number(
            "Sectors at stride 8?",
            |runs| runs.count(SectorsPerLoad, &[1024, 8]),
            &[(8.0, "8 words are 32 bytes: the next lane is in the next sector.")],
            "Every lane has a sector of its own.",
        ),
        number(
            "Sectors at stride 16?",
            |runs| runs.count(SectorsPerLoad, &[1024, 16]),
            &[(64.0, "A lane touches one sector, however far apart they are.")],
            "Every lane has a sector of its own, and there are 32 lanes.",
        ),
    ],
    hints: SECTOR_HINTS,
    ..task!(first_warp(f32) -> f32, SIZES, case, |n, stride| (blocks(n, 256), 256))
};

const SIZES: Sizes = Sizes {
    dimensions: &[
        Dimension::extent("n", "elements", 1),
        Dimension::amount("stride", "words from one lane to the next", 1),
    ],
    verify: &[&[1, 1], &[33, 2], &[1021, 3]],
    count: &[1024, 1],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, stride] = size.get();
    let source = random.f32s(n * stride);
    let target = (0..n).map(|i| source[i * stride]).collect();
    exact(source, target)
}
