//! Random numbers: the published vectors of Philox4x32-10, cuRAND's words and floats, and the distribution of normals.

use crate::blocks::{MODULE, Run, numbers_of};
use crate::codegen::SM_90;
use cuda_std::random::{Philox, normal_f32, normal_f64, philox, uniform_f32, uniform_f64};

#[test]
fn philox_is_as_published() {
    // Random123's known answers of Philox4x32-10: counter, key, result.
    let vectors = [
        ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];
    for (counter, key, expected) in vectors {
        assert_eq!(philox(counter, key), expected);
    }
}

/// Numbers that cuRAND of CUDA 13.0 makes of a seed, a subsequence and an offset: six words of `curand`, two `curand_uniform`, the
/// first half of a `curand_uniform2_double` from the start, and a `curand_normal2` from the start. Its PTX was executed.
const CURAND: [([u64; 3], [u32; 12]); 3] = [
    (
        [0; 3],
        [
            0x6627_e8d5,
            0xe169_c58d,
            0xbc57_ac4c,
            0x9b00_dbd8,
            0xf8e4_cca4,
            0x5cb2_00db, //
            0x3f31_a575,
            0x3d17_eff6,
            0xd787_e8d6,
            0x3fec_2d38,
            0xbf6c_b6ad,
            0x3f7d_bb30,
        ],
    ),
    (
        [0x0123_4567_89ab_cdef, 7, 5],
        [
            0x1ee1_7293,
            0x3ec6_e16d,
            0xc594_9040,
            0x69dc_405d,
            0x6f5e_7b6a,
            0xa027_a73f, //
            0x3e58_9663,
            0x3e53_dc7c,
            0xcd05_ca4e,
            0x3fcf_6370,
            0x4003_921c,
            0x3d7c_dbd8,
        ],
    ),
    (
        [u64::MAX, u64::MAX, u64::MAX - 6],
        [
            0x5660_8dbd,
            0x5e30_e80c,
            0x7873_9368,
            0x8c5f_4338,
            0x4a57_523d,
            0x7e30_0cb1, //
            0x3e82_3f9e,
            0x3f46_c2f6,
            0xafc1_1b7b,
            0x3fd7_8c3a,
            0x3f8b_3562,
            0xbf7e_bb00,
        ],
    ),
];

#[test]
fn words_and_uniform_floats_are_those_of_curand() {
    for ([seed, subsequence, offset], expected) in CURAND {
        let start = Philox::new(seed, subsequence, offset);
        let mut random = start;
        let mut found: Vec<u32> = (0..6).map(|_| random.next_u32()).collect();
        found.extend([random.next_f32().to_bits(), random.next_f32().to_bits()]);
        random = start;
        let double = random.next_f64().to_bits();
        found.extend([double as u32, (double >> 32) as u32]);
        assert_eq!(found, expected[..10]);
        // Another logarithm and sine than cuRAND's: near, not equal.
        random = start;
        for (normal, expected) in random.next_normals().into_iter().zip(&expected[10..]) {
            let expected = f32::from_bits(*expected);
            assert!((normal - expected).abs() <= 4e-7 * expected.abs(), "{normal} {expected}");
        }
    }
}

/// The highest words of a subsequence of cuRAND's 2^66.
#[test]
fn a_sequence_goes_on_from_any_offset() {
    let mut whole = Philox::new(9, 3, 0);
    let words: Vec<u32> = (0..40).map(|_| whole.next_u32()).collect();
    for offset in 0..30 {
        let mut part = Philox::new(9, 3, offset);
        let part: Vec<u32> = (0..10).map(|_| part.next_u32()).collect();
        assert_eq!(part, words[offset as usize..][..10]);
    }
    // Behind the last counter of its low half comes the next one of the high half.
    let mut last = Philox::new(9, 3, u64::MAX);
    last.next_u32();
    assert_eq!(last.next_u32(), philox([0, 0x4000_0000, 3, 0], [9, 0])[0]);
}

#[test]
fn the_ends_of_the_intervals_are_as_stated() {
    assert_eq!(uniform_f32(0), 2.0_f32.powi(-33));
    assert_eq!(uniform_f32(u32::MAX), 1.0);
    assert_eq!(uniform_f64([0, 0]), 2.0_f64.powi(-54));
    assert_eq!(uniform_f64([(1 << 21) - 1, u32::MAX]), 1.0);
    for angle in [0, 1 << 30, u32::MAX] {
        let most = normal_f32([0, angle]).map(f32::abs);
        assert!(most.iter().all(|normal| *normal < 6.77), "{most:?}");
        let most = normal_f64([0, 0, angle, angle]).map(f64::abs);
        assert!(most.iter().all(|normal| *normal < 8.66), "{most:?}");
    }
}

#[test]
fn normals_have_the_moments_and_tails_of_their_distribution() {
    const COUNT: usize = 1 << 18;
    let mut random = Philox::new(1, 2, 0);
    let normals: Vec<f64> =
        (0..COUNT / 2).flat_map(|_| random.next_normals()).map(f64::from).collect();
    let mean = |power: i32| normals.iter().map(|x| x.powi(power)).sum::<f64>() / COUNT as f64;
    // Five deviations of each mean.
    let bound = |variance: f64| 5.0 * (variance / COUNT as f64).sqrt();
    for (power, expected, variance) in
        [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
    {
        assert!((mean(power) - expected).abs() < bound(variance), "{power}: {}", mean(power));
    }
    let beyond_two = normals.iter().filter(|x| x.abs() > 2.0).count() as f64 / COUNT as f64;
    assert!((beyond_two - 0.045_500).abs() < bound(0.0434), "{beyond_two}");
}

#[test]
fn a_kernel_makes_the_numbers_of_the_host() {
    const THREADS: usize = 64;
    let (seed, offset) = (0x0123_4567_89ab_cdef, 3);
    let launch = simt::Launch::new("random_words", [1, 1, 1], [THREADS as u32, 1, 1]);
    let mut memory = simt::Memory::default();
    let target = memory.allocate(14 * 4 * THREADS as u64).expect("there is memory");
    let launch = launch.address(target).u64(seed).u64(offset);
    simt::run(&MODULE, &mut memory, &launch, &simt::Options::default()).expect("it runs");
    let mut bytes = vec![0; 14 * 4 * THREADS];
    memory.read(target, &mut bytes).expect("it is allocated");
    let expected: Vec<u32> = (0..THREADS as u64)
        .flat_map(|thread| {
            let mut random = Philox::new(seed, thread, offset);
            let mut words: Vec<u32> = (0..8).map(|_| random.next_u32()).collect();
            words.extend([random.next_f32().to_bits(), random.next_f32().to_bits()]);
            for _ in 0..2 {
                let bits = random.next_f64().to_bits();
                words.extend([bits as u32, (bits >> 32) as u32]);
            }
            words
        })
        .collect();
    assert_eq!(numbers_of::<u32>(&bytes), expected);

    let mut random = Philox::new(5, 5, 0);
    let words: Vec<u32> = (0..2 * THREADS).map(|_| random.next_u32()).collect();
    let normals =
        Run { kernel: "random_normals", blocks: 1, threads: THREADS, shared_bytes: 0, words: &[] };
    let (found, _) = normals.of::<u32, f32>(&words, 2 * THREADS);
    for (pair, found) in words.chunks(2).zip(found.chunks(2)) {
        let uniform = [uniform_f32(pair[0]), uniform_f32(pair[1])].map(f64::from);
        let radius = (-2.0 * uniform[0].ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * uniform[1]).sin_cos();
        for (found, expected) in found.iter().zip([radius * sine, radius * cosine]) {
            assert!((f64::from(*found) - expected).abs() < 2e-6, "{found} {expected}");
        }
    }
}

/// State is in registers.
#[test]
fn random_numbers_need_no_local_memory() {
    assert!(!SM_90["random_words"].contains(".local"));
}
