use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "async_copy",
    kind: Kind::Bug,
    before: &[number(
        "How many warps does a block of 256 threads have?",
        |runs| Ok(runs.block_threads(&[65_536])? / 32.0),
        &[(256.0, "A warp has 32 threads.")],
        "256 / 32 = 8 warps, and nothing says which of them runs first.",
    )],
    fails_as_shipped: FailureKind::Hazard(Hazard::SharedRace),
    bounds: &[
        ONE_BARRIER,
        bound(
            LoadSectors,
            |n| exactly(n / 8.0),
            "each number once: what another thread loaded comes from the tile",
        ),
    ],
    hints: [
        "Thread 32 reads the word that thread 0 wrote. They are in two warps.",
        "All threads must have written before any thread reads.",
        "`thread::sync_threads()`, between the store to the tile and the loads from it, outside of every branch.",
    ],
    ..task!(missing_barrier(f32) -> f32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    gathered(floats(size, random), |source, i| {
        source[i] - if i % 256 < 32 { 0.0 } else { source[i - 32] }
    })
}
