use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "coalescing",
    before: &[number(
        "How many sectors will one 16-byte load of a warp touch?",
        |runs| Ok(4.0 * runs.count(SectorsPerLoad, &[65_536])?),
        &[
            (4.0, "It brings four times the bytes of a 4-byte load."),
            (32.0, "Two lanes share a sector: 2 x 16 B = 32 B."),
        ],
        "32 lanes x 16 B = 512 B = 16 sectors. All of them are used, so that is no waste.",
    )],
    fails_as_shipped: FailureKind::Bound(LoadRequests),
    bounds: &[
        bound(LoadRequests, |n| exactly(n / 128.0), "4 words for each lane, 128 for a warp"),
        bound(StoreRequests, |n| exactly(n / 128.0), "the same"),
        bound(LoadSectors, |n| exactly(n / 8.0), "each number once, and not a byte more"),
    ],
    hints: [
        "Four neighbouring elements of one thread, instead of four elements far apart.",
        "Thread t takes elements 4 t to 4 t + 3: `load(source.add(..))` gives an `F32x4`, `map` changes its elements, `store` writes it.",
        "If 4 t + 4 is more than n, the thread takes its elements one by one, as long as they are below n.",
    ],
    ..task!(wide_loads(f32) -> f32, LINE, case, |n| (blocks(n, 1024), 256))
};

fn case(size: &Size, random: &mut Random) -> Case {
    each(floats(size, random), |one| one + 1.0)
}
