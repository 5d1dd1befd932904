use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "bank_conflicts",
    kind: Kind::Question,
    before: &[
        number(
            "Wavefronts at stride 1?",
            |runs| runs.count(WavefrontsPerSharedLoad, &[1024, 1]),
            &[(32.0, "Neighbouring words are in different banks.")],
            "32 words in 32 banks.",
        ),
        number(
            "Wavefronts at stride 2?",
            |runs| runs.count(WavefrontsPerSharedLoad, &[1024, 2]),
            &[
                (
                    16.0,
                    "16 lanes want the even banks' first words, and 16 their second words: each bank gives two words.",
                ),
                (1.0, "Only the 16 even banks are used."),
            ],
            "Lanes l and l + 16 share a bank.",
        ),
        number(
            "Wavefronts at stride 3?",
            |runs| runs.count(WavefrontsPerSharedLoad, &[1024, 3]),
            &[(3.0, "3 and 32 have no common factor, so no bank is wanted twice.")],
            "All 32 banks, in another order.",
        ),
        number(
            "Wavefronts at stride 32?",
            |runs| runs.count(WavefrontsPerSharedLoad, &[1024, 32]),
            &[(1.0, "All words lie in bank 0.")],
            "All lanes want bank 0.",
        ),
        number(
            "Wavefronts at stride 33?",
            |runs| runs.count(WavefrontsPerSharedLoad, &[1024, 33]),
            &[
                (33.0, "33 l modulo 32 is l."),
                (32.0, "The extra word moves each lane one bank on."),
            ],
            "One more than 32: each lane has the next bank.",
        ),
    ],
    hints: [
        "Write down the banks of lanes 0, 1, 2 and 16.",
        "How many lanes share a bank is the largest common factor of the stride and 32.",
        "`cargo xtask learn try stride_banks --set stride=4` shows the banks that the lanes want.",
    ],
    ..task!(stride_banks() -> u32, SIZES, case, |n, stride| (blocks(n, 32), 32))
};

const SIZES: Sizes = Sizes {
    dimensions: &[
        Dimension::extent("n", "elements", 1),
        Dimension::amount("stride", "words from one lane to the next", 1),
    ],
    verify: &[&[1, 1], &[33, 2], &[100, 33]],
    count: &[1024, 1],
};

fn case(size: &Size, _: &mut Random) -> Case {
    let [n, stride] = size.get();
    let target = (0..n).map(|i| (i % 32 * stride) as u32).collect();
    Case::exact(vec![Data::U32(target)], Vec::new())
}
