use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "aos_soa",
    fails_as_shipped: FailureKind::Bound(LoadSectors),
    bounds: &[
        bound(LoadSectors, |n| exactly(n / 4.0), "each number once: 8 B of a sector of 32 B"),
        bound(StoreSectors, |n| exactly(n / 4.0), "the same"),
        bound(LoadRequests, |n| between(n / 64.0, n / 32.0), "one for each warp"),
    ],
    hints: [
        "How many requests does a warp make for its 32 numbers?",
        "Both parts of a number are one piece of 8 bytes.",
        "`load` gives an `F32x2`, whose parts are `x` and `y`; `store` writes one.",
    ],
    ..task!(boss_complex(f32) -> f32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(2 * n);
    let square = |number: &[f32]| {
        let (re, im) = (number[0], number[1]);
        [re * re - im * im, 2.0 * re * im]
    };
    let target = source.chunks(2).flat_map(square).collect();
    exact(source, target)
}
