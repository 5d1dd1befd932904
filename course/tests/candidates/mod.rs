//! Wrong and other right kernels, as edits of solutions.

pub mod build;
mod mutants;

use course::count::Count;
use course::task::Because::{self, *};
use simt::Hazard as Kind;

/// The task, a name, what is replaced in its solution, by what, and why it fails.
pub const REJECTED: &[(&str, &str, &str, &str, Because)] = &[
    (
        "rows_to_lanes",
        "transposed",
        "(pixel / width, pixel % width)",
        "(pixel % width, pixel / width)",
        OutOfBounds,
    ),
    (
        "rows_to_lanes",
        "only_even",
        "let at = (row",
        "if row % 2 == 1 { return; }\n    let at = (row",
        Wrong,
    ),
    ("grid_stride", "one_short", "thread, n, threads)", "thread, n - 1, threads)", Wrong),
    (
        "grid_stride",
        "blocks",
        "thread::grid_dim_x() * thread::block_dim_x()",
        "thread::block_dim_x()",
        Bound(Count::LoadSectors),
    ),
    ("guard", "too_tight", "i < n", "i + 1 < n", Wrong),
    ("guard", "none", "i < n", "i < n + 200", OutOfBounds),
    ("every_third", "red", "3 * thread + 1", "3 * thread", Wrong),
    (
        "every_third",
        "no_barrier",
        "    thread::sync_threads();\n",
        "",
        Hazard(Kind::SharedRaceInWarp),
    ),
    ("one_field", "fifth", "3 * n + i", "4 * n + i", Wrong),
    ("wide_loads", "no_tail", "for i in first..n", "for i in first..first", Wrong),
    ("wide_loads", "no_guard", "first + 4 <= n", "first < n", OutOfBounds),
];

/// The task, a name, what is replaced in its solution, and by what.
pub const ACCEPTED: &[(&str, &str, &str, &str)] = &[
    (
        "rows_to_lanes",
        "by_subtraction",
        "(pixel / width, pixel % width)",
        "(pixel / width, pixel - pixel / width * width)",
    ),
    ("one_counter", "last_lane", "warp::lane_id() == 0", "warp::lane_id() == 31"),
];

/// Bounds that leave more than the solution needs, because another right answer needs it.
pub const LOOSE: &[(&str, Count)] = &[("constant_walk", Count::WavefrontsPerConstantLoad)];
