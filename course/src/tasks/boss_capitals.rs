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
    choices: &[Choice {
        replaced: &[
            ("in capitals", "in small letters"),
            ("into capitals", "into small letters"),
            ("to_ascii_uppercase", "to_ascii_lowercase"),
            ("'a'", "'A'"),
            ("'z'", "'Z'"),
            ("letter - 32", "letter + 32"),
            ("capital(", "small("),
        ],
        case: |size, random| changed(u8::to_ascii_lowercase, size, random),
    }],
    ..task!(
        boss_capitals(u8) -> u8,
        LINE,
        |size, random| changed(u8::to_ascii_uppercase, size, random),
        |n| (blocks(n, 1024), 256)
    )
};

fn changed(change: fn(&u8) -> u8, size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    each(random.u8s(n), change)
}
