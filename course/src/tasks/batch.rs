//! The rest of `batch`. The solved file and the task's text: `course/src/hosts/batch.rs`.

use super::prelude::*;

pub const TASK: Task = Task {
    id: "batch",
    lesson: "batching",
    kind: Kind::Host { pinned: true },
    solved: SOLVED,
    pattern: pattern(
        "batch",
        SOLVED,
        Sizes {
            dimensions: &[Dimension::extent("rows", "rows of 64 words", 1)],
            verify: &[&[1], &[2], &[33], &[100]],
            count: &[1024],
        },
        case,
        &[],
    ),
    before: &[Question {
        text: "1000 rows: how many copies does the file ask for as it stands, the one back included?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::Copies, &[1000]),
        misses: &[
            (1000.0, "Each row is one, and the result is brought back by one more."),
            (2.0, "That is the goal: as it stands each row is a call."),
        ],
        why: "One for each row and one back.",
    }],
    after: &[Question {
        text: "Your file, 1000 rows: how many bytes go over the bus in both directions together?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::BusBytes, &[1000]),
        misses: &[
            (384000.0, "That counts the other half of each row, too: nobody wants it."),
            (128000.0, "That is one direction."),
        ],
        why: "1000 rows of 128 bytes, there and back.",
    }],
    fails_as_shipped: Because::Bound(Count::Copies),
    bounds: &[
        Bound { count: Count::Copies, limits: |_| exactly(2.0), because: "one there, one back" },
        Bound {
            count: Count::BusBytes,
            limits: |size| exactly(256.0 * elements(size)),
            because: "128 B of each row in each direction",
        },
        Bound {
            count: Count::Launches,
            limits: |_| exactly(1.0),
            because: "one step for all rows",
        },
    ],
    hints: [
        "The bus is not what takes the time: count the calls.",
        "The driver copies rows of equal width that lie equally far apart in one call.",
        "`upload_rows` takes both arrays with the width and the distance of their rows, and the number of rows.",
    ],
};

const SOLVED: &str = include_str!("../hosts/batch.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows] = size.get();
    stepped_case(random.u32s(64 * rows), random, |source, factor| {
        let wanted = source.chunks(64).flat_map(|row| &row[..32]);
        wanted.map(|value| stepped(*value, factor, 1, 1)).collect()
    })
}
