use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "batching",
    kind: Kind::Host { pinned: true },
    before: &[number(
        "1000 rows: how many copies does the file ask for as it stands, the one back included?",
        |runs| runs.count(Copies, &[1000]),
        &[
            (1000.0, "Each row is one, and the result is brought back by one more."),
            (2.0, "That is the goal: as it stands each row is a call."),
        ],
        "One for each row and one back.",
    )],
    after: &[number(
        "Your file, 1000 rows: how many bytes go over the bus in both directions together?",
        |runs| runs.count(BusBytes, &[1000]),
        &[
            (384000.0, "That counts the other half of each row, too: nobody wants it."),
            (128000.0, "That is one direction."),
        ],
        "1000 rows of 128 bytes, there and back.",
    )],
    fails_as_shipped: FailureKind::Bound(Copies),
    bounds: &[
        bound(Copies, |_| exactly(2.0), "one there, one back"),
        bound(BusBytes, |n| exactly(256.0 * n), "128 B of each row in each direction"),
        bound(Launches, |_| exactly(1.0), "one step for all rows"),
    ],
    hints: [
        "The bus is not what takes the time: count the calls.",
        "The driver copies rows of equal width that lie equally far apart in one call.",
        "`upload_rows` takes both arrays with the width and the distance of their rows, and the number of rows.",
    ],
    ..host_task!(batch, SIZES, case)
};

const SIZES: Sizes = Sizes {
    dimensions: &[Dimension::extent("rows", "rows of 64 words", 1)],
    verify: &[&[1], &[2], &[33], &[100]],
    count: &[1024],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows] = size.get();
    stepped_case(random.u32s(64 * rows), random, |source, factor| {
        let wanted = source.chunks(64).flat_map(|row| &row[..32]);
        wanted.map(|value| stepped(*value, factor, 1, 1)).collect()
    })
}
