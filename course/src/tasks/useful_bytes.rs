use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "bus_utilization",
    kind: Kind::Question,
    before: &[
        number(
            "Sectors loaded for 1024 elements?",
            |runs| runs.count(LoadSectors, &[1024]),
            &[(128.0, "That would be 1024 neighbouring words.")],
            "Each element has a sector of its own.",
        ),
        number(
            "Percent of the loaded bytes that are used?",
            |runs| runs.load_efficiency(&[1024]),
            &[(100.0, "Of each 32 bytes, 4 are used."), (25.0, "A sector has 8 words.")],
            "4 of 32 bytes.",
        ),
    ],
    hints: SECTOR_HINTS,
    ..task!(useful_bytes(f32) -> f32, line(&[&[1], &[33], &[1021]], &[1024]), case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    chunked(random.f32s(8 * n), 8, |words| words[0])
}
