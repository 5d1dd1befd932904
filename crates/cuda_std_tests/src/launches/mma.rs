use super::launch::{Launch, per_thread};
use crate::kernels::mma;
use bytemuck::Pod;
use cuda_std::kernel::Kernel;
use cuda_std::{bf16, f16};

/// Two tiles of a matrix, of small whole numbers, so that every sum is exact in every type.
fn tiles(elements: usize, step: i32, range: i32, least: i32) -> Vec<i32> {
    (0..2 * elements as i32).map(|i| i * step % range + least).collect()
}

/// A launch of a product of two tiles of M x N x K. A and B are signed or not.
fn product<F, TA: Pod, TB: Pod, TC: Pod>(
    kernel: Kernel<F>,
    (m, n, k): (usize, usize, usize),
    (a, of_a): ([i32; 2], impl Fn(i32) -> TA),
    (b, of_b): ([i32; 2], impl Fn(i32) -> TB),
    of_c: impl Fn(i32) -> TC,
) -> Launch {
    let (a, b) = (tiles(m * k, 7, a[0], a[1]), tiles(k * n, 5, b[0], b[1]));
    let c = tiles(m * n, 3, 41, -20);
    let d: Vec<TC> = (0..2 * m * n)
        .map(|i| {
            let (tile, row, column) = (i / (m * n), i / n % m, i % n);
            let products =
                (0..k).map(|k_| a[(tile * m + row) * k + k_] * b[(tile * k + k_) * n + column]);
            of_c(c[i] + products.sum::<i32>())
        })
        .collect();
    let a: Vec<TA> = a.into_iter().map(of_a).collect();
    let b: Vec<TB> = b.into_iter().map(of_b).collect();
    let c: Vec<TC> = c.into_iter().map(of_c).collect();
    Launch::of(kernel).reads(&a).reads(&b).reads(&c).writes(&d)
}

fn half(value: i32) -> u16 {
    f16::from_f32(value as f32).to_bits()
}

fn brain(value: i32) -> u16 {
    bf16::from_f32(value as f32).to_bits()
}

fn single(value: i32) -> f32 {
    value as f32
}

/// Two warps' matrices of halves, 4 each, and what each lane of each warp gets of them.
fn matrices(transposed: bool) -> (Vec<u32>, impl Fn(usize, u32) -> u32) {
    let halves: Vec<u16> = (0..512).map(|i| (i * 37 + 5) as u16).collect();
    let words =
        halves.chunks(2).map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16).collect();
    let register = move |matrix: usize, tid: u32| {
        let lane = tid as usize % 32;
        let element = |row: usize, column: usize| {
            let (row, column) = if transposed { (column, row) } else { (row, column) };
            u32::from(halves[tid as usize / 32 * 256 + matrix * 64 + row * 8 + column])
        };
        element(lane / 4, lane % 4 * 2) | element(lane / 4, lane % 4 * 2 + 1) << 16
    };
    (words, register)
}

fn load<F>(kernel: Kernel<F>, count: usize, transposed: bool) -> Launch {
    let (words, register) = matrices(transposed);
    let expected: Vec<u32> =
        (0..count).flat_map(|matrix| per_thread(|tid| register(matrix, tid))).collect();
    Launch::of(kernel).reads(&words).writes(&expected)
}

fn store<F>(kernel: Kernel<F>, count: usize, transposed: bool) -> Launch {
    let (words, register) = matrices(transposed);
    let source: Vec<u32> =
        (0..count).flat_map(|matrix| per_thread(|tid| register(matrix, tid))).collect();
    // The matrices that were not stored stay zero.
    let is_stored = |word: usize| word % 128 / 32 < count;
    let expected: Vec<u32> =
        words.iter().enumerate().map(|(i, word)| if is_stored(i) { *word } else { 0 }).collect();
    Launch::of(kernel).reads(&source).writes(&expected)
}

fn from_shared() -> Launch {
    let (a, b) = (tiles(256, 7, 23, -11), tiles(128, 5, 11, -5));
    let expected: Vec<f32> = (0..256)
        .map(|i| {
            let (tile, row, column) = (i / 128, i / 8 % 16, i % 8);
            let products =
                (0..16).map(|k| a[tile * 256 + row * 16 + k] * b[tile * 128 + k * 8 + column]);
            products.sum::<i32>() as f32
        })
        .collect();
    let [a, b] = [a, b].map(|matrix| matrix.into_iter().map(half).collect::<Vec<u16>>());
    Launch::of(mma::product_from_shared).reads(&a).reads(&b).writes(&expected)
}

fn of_one_lane() -> Launch {
    let (a, b) = (tiles(256, 7, 23, -11), tiles(128, 5, 11, -5));
    let expected = (0..16).map(|k| a[k] * b[k * 8]).sum::<i32>() as f32;
    let [a, b] = [a, b].map(|matrix| matrix.into_iter().map(half).collect::<Vec<u16>>());
    Launch::of(mma::product_of_one_lane).reads(&a).reads(&b).writes(&[expected])
}

/// Elements of A, B and C that are the lane's own, or 0 from the fifth lane on.
fn between_branches() -> Launch {
    let source: Vec<f64> = per_thread(|tid| f64::from(tid % 32 + tid / 32 + 1));
    let expected = per_thread(|tid| {
        let (first, lane) = (tid / 32 * 32, tid % 32);
        let held = |lane: u32| if lane < 5 { source[(first + lane) as usize] } else { 0.0 };
        // The lane's first element of D is in row `lane / 4`, column `2 (lane % 4)`. A has that row in 4 lanes, B that
        // column.
        let (row, column) = (lane / 4, lane % 4 * 2);
        let products = (0..4).map(|k| held(row * 4 + k) * held(column * 4 + k));
        if lane < 5 { held(lane) + products.sum::<f64>() } else { 0.0 }
    });
    let zeros = vec![0_f64; source.len()];
    Launch::of(mma::product_between_branches).reads(&source).changes(&zeros, &expected)
}

pub(super) fn launches() -> Vec<Launch> {
    let (k8, k16, k32) = ((16, 8, 8), (16, 8, 16), (16, 8, 32));
    let (a, b) = ([23, -11], [11, -5]);
    let (positive_a, positive_b) = ([23, 0], [11, 240]);
    let (i8_, u8_) = (|value: i32| value as i8, |value: i32| value as u8);
    // Of 13 bits that are dropped: below, above and at the middle between two numbers.
    let between = |tid: u32| {
        let bits = 0x3f80_0000 + tid * 0x0123_4000 + [0xfff, 0x1001, 0x1000][tid as usize % 3];
        f32::from_bits(bits | (tid % 2) << 31)
    };
    vec![
        product(mma::m16n8k8_f32_f16, k8, (a, half), (b, half), single),
        product(mma::m16n8k16_f32_f16, k16, (a, half), (b, half), single),
        product(mma::m16n8k8_f16_f16, k8, (a, half), (b, half), half),
        product(mma::m16n8k16_f16_f16, k16, (a, half), (b, half), half),
        product(mma::m16n8k8_f32_bf16, k8, (a, brain), (b, brain), single),
        product(mma::m16n8k16_f32_bf16, k16, (a, brain), (b, brain), single),
        product(mma::m16n8k4_f32_tf32, (16, 8, 4), (a, single), (b, single), single),
        product(mma::m16n8k8_f32_tf32, k8, (a, single), (b, single), single),
        product(mma::m16n8k16_i32_i8_i8, k16, (a, i8_), (b, i8_), |value| value),
        product(mma::m16n8k16_i32_i8_u8, k16, (a, i8_), (positive_b, u8_), |value| value),
        product(mma::m16n8k16_i32_u8_i8, k16, (positive_a, u8_), (b, i8_), |value| value),
        product(mma::m16n8k16_i32_u8_u8, k16, (positive_a, u8_), (positive_b, u8_), |value| value),
        product(mma::m16n8k32_i32_i8_i8, k32, (a, i8_), (b, i8_), |value| value),
        product(mma::m16n8k32_i32_i8_u8, k32, (a, i8_), (positive_b, u8_), |value| value),
        product(mma::m16n8k32_i32_u8_i8, k32, (positive_a, u8_), (b, i8_), |value| value),
        product(mma::m16n8k32_i32_u8_u8, k32, (positive_a, u8_), (positive_b, u8_), |value| value),
        product(mma::m8n8k4_f64, (8, 8, 4), (a, f64::from), (b, f64::from), f64::from),
        of_one_lane(),
        Launch::of(mma::nearest_tf32)
            .reads(&per_thread(between))
            .writes(&per_thread(|tid| f32::from_bits((between(tid).to_bits() + 0x1000) & !0x1fff))),
        load(mma::ldmatrix_x1, 1, false),
        load(mma::ldmatrix_x2, 2, false),
        load(mma::ldmatrix_x4, 4, false),
        load(mma::ldmatrix_x1_trans, 1, true),
        load(mma::ldmatrix_x2_trans, 2, true),
        load(mma::ldmatrix_x4_trans, 4, true),
        store(mma::stmatrix_x1, 1, false),
        store(mma::stmatrix_x2, 2, false),
        store(mma::stmatrix_x4, 4, false),
        store(mma::stmatrix_x1_trans, 1, true),
        store(mma::stmatrix_x2_trans, 2, true),
        store(mma::stmatrix_x4_trans, 4, true),
        from_shared(),
        between_branches(),
    ]
}
