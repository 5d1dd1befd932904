use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "bank_conflicts",
    kind: Kind::Question,
    before: &[
        number(
            "Wavefronts per load?",
            |runs| runs.count(WavefrontsPerSharedLoad, &[1024]),
            &[(1.0, "One wavefront brings 128 bytes, and the lanes want 512.")],
            "512 B / 128 B.",
        ),
        number(
            "Bank conflicts?",
            |runs| runs.count(BankConflicts, &[1024]),
            &[
                (3.0, "Four wavefronts are the least for 512 bytes: nothing is wasted."),
                (4.0, "Four wavefronts are the least for 512 bytes: nothing is wasted."),
            ],
            "512 bytes need 4 wavefronts in any order.",
        ),
    ],
    hints: [
        "How many bytes do 32 lanes want together?",
        "A wavefront brings at most 32 x 4 = 128 bytes.",
        "A conflict is a wavefront more than the bytes make necessary.",
    ],
    ..task!(
        wide_banks() -> f32, line(&[&[1], &[33], &[100]], &[1024]), case, |n| (blocks(n, 32), 32)
    )
};

fn case(size: &Size, _: &mut Random) -> Case {
    let [n] = size.get();
    let target = (0..n).map(|i| 4.0 * (31 - i % 32) as f32).collect();
    Case::exact(vec![Data::F32(target)], Vec::new())
}
