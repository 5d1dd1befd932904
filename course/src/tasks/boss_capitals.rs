use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "coalescing",
    fails_as_shipped: FailureKind::Bound(LoadRequests),
    bounds: &[
        bound(
            LoadRequests,
            |n| between(n / 512.0, n / 128.0),
            "4 bytes for each lane, 128 for a warp",
        ),
        bound(StoreRequests, |n| between(n / 512.0, n / 128.0), "the same"),
        bound(LoadSectors, |n| exactly(n / 32.0), "each sector once"),
    ],
    hints: [
        "How many bytes does a lane load at once?",
        "Four neighbouring bytes per lane are one request of 128 bytes.",
        "`load` gives a `U8x4` of four neighbouring bytes, `map` changes each, `store` writes them; the last bytes of a text may be fewer than four.",
    ],
    ..task!(boss_capitals(u8) -> u8, LINE, case, |n| (blocks(n, 1024), 256))
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    each(random.u8s(n), u8::to_ascii_uppercase)
}
