use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "coalescing",
    kind: Kind::Question,
    before: &[
        number(
            "Sectors per load?",
            |runs| runs.count(SectorsPerLoad, &[1024]),
            &[(32.0, "The lanes want the same 128 bytes as in order.")],
            "The lanes touch the same 4 sectors, in another order.",
        ),
        choice(
            "Does it cost more than in order?",
            &["yes", "no"],
            |runs| Ok(if runs.count(SectorsPerLoad, &[1024])? > 4.0 { 1.0 } else { 2.0 }),
            &[(1.0, "What is counted is how many sectors a request touches, not in which order.")],
            "The request touches 4 sectors in any order.",
        ),
    ],
    hints: SECTOR_HINTS,
    ..task!(any_order(f32) -> f32, line(&[&[1], &[33], &[1021]], &[1024]), case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    gathered(floats(size, random), |source, i| {
        source[if (i ^ 31) < source.len() { i ^ 31 } else { i }]
    })
}
