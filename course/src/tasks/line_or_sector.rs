use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "bus_utilization",
    kind: Kind::Question,
    before: &[
        about(
            0.02,
            "Bytes moved for one load?",
            |runs| Ok(32.0 * runs.count(SectorsPerLoad, &[65_536])?),
            &[
                (4096.0, "Only the sector of a line that is wanted moves."),
                (128.0, "That is what the lanes use."),
            ],
            "32 lanes x 32 B.",
        ),
        choice(
            "What moves for a lonely word?",
            &["a cache line", "a sector", "the word"],
            |runs| Ok(if runs.count(SectorsPerLoad, &[65_536])? < 33.0 { 2.0 } else { 1.0 }),
            &[
                (1.0, "A line has four sectors, and each of them moves for itself."),
                (3.0, "Nothing smaller than a sector moves."),
            ],
            "A sector of 32 bytes.",
        ),
    ],
    hints: SECTOR_HINTS,
    ..task!(line_or_sector(f32) -> f32, line(&[&[1], &[33], &[1021]], &[65_536]), case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    gathered(floats(size, random), |source, i| {
        source[(i as u32).wrapping_mul(2_654_435_761) as usize % source.len()]
    })
}
