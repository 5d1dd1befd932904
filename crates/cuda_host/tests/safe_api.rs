//! The safe API (`crates/safe_kernels`): what tries to break it is right or refused, and what it is for computes what a CPU
//! does, with every check.
//!
//! With `COALESCE_SAFE_PTX`, a file that was built elsewhere, the kernels run on a GPU, which has no checks.

use approx::assert_relative_eq;
use cuda_builder::{CudaBuilder, NvvmArch, PanicStrategy};
use cuda_host::testing::{self, TestGpu};
use cuda_host::{Choice, Gpu, Image, Parts};
use cust::function::GridSize;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};
use safe_kernels::{attacks, uses};
use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A builder of the kernels, beside all other device code of the workspace.
fn builder() -> CudaBuilder {
    // The same path as the others give, or Cargo builds the libraries again.
    let target =
        Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder");
    CudaBuilder::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../safe_kernels"))
        .arch(NvvmArch::Compute90)
        .target_dir(target)
        .panic(PanicStrategy::Trap)
}

fn image(path: PathBuf) -> &'static [Image] {
    let text = std::fs::read_to_string(path).expect("the builder wrote it").leak();
    // SAFETY: `cuda_builder` has compiled it and written its records.
    vec![unsafe { Image::new(90, text, &[], "cuda_builder", "unknown") }].leak()
}

/// The kernels, built without the feature `double`.
static IMAGES: LazyLock<&'static [Image]> = LazyLock::new(|| {
    let built = || builder().build().expect("the kernels compile");
    image(of_a_gpu().map_or_else(built, PathBuf::from))
});

fn of_a_gpu() -> Option<OsString> {
    std::env::var_os("COALESCE_SAFE_PTX")
}

/// The checked virtual GPU, or a GPU.
fn gpu() -> Box<dyn Deref<Target = Gpu>> {
    if of_a_gpu().is_none() {
        return Box::new(checked_gpu());
    }
    struct Real(Gpu);
    impl Deref for Real {
        type Target = Gpu;
        fn deref(&self) -> &Gpu {
            &self.0
        }
    }
    Box::new(Real(Gpu::open(&Choice::Gpu(0), &IMAGES).expect("there is a GPU")))
}

/// The virtual GPU, for what only its checks see.
fn checked_gpu() -> TestGpu {
    testing::gpu(&IMAGES)
}

fn buffer<T: DeviceCopy>(values: &[T]) -> DeviceBuffer<T> {
    let buffer = DeviceBuffer::from_slice(values).expect("there is memory");
    cust::context::CurrentContext::synchronize().expect("the copy ends");
    buffer
}

fn values<T: DeviceCopy + Default>(buffer: &DeviceBuffer<T>) -> Vec<T> {
    let mut values: Vec<T> = (0..buffer.len()).map(|_| T::default()).collect();
    buffer.copy_to(&mut values).expect("the copy ends");
    values
}

fn numbers(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect()
}

#[test]
fn tiles_are_right_wherever_their_barriers_stand() {
    let gpu = gpu();
    let launcher = gpu.launcher();
    let mut out = buffer(&[u32::MAX; 64]);
    launcher.run(attacks::meets_elsewhere, 1, (&mut out,)).unwrap();
    let expected: Vec<u32> = (0..64).map(|i| if i < 32 { 63 - i } else { i - 32 }).collect();
    assert_eq!(values(&out), expected);

    launcher.run(attacks::swaps_tiles, 1, (&mut out,)).unwrap();
    let expected: Vec<u32> = (0..64).map(|i| if i < 32 { 100 + 63 - i } else { 63 - i }).collect();
    assert_eq!(values(&out), expected);

    launcher.run(attacks::chooses_tiles, 1, (&mut out,)).unwrap();
    assert_eq!(values(&out), (0..64).collect::<Vec<_>>());
}

#[test]
fn a_sum_is_over_the_threads_that_are_there() {
    let gpu = gpu();
    let launcher = gpu.launcher();
    let mut out = buffer(&[0_u32; 40]);
    launcher.run(attacks::sums_forty, 1, (&mut out,)).unwrap();
    assert_eq!(values(&out), [40; 40]);

    for threads in [1_u32, 31, 33, 40, 64] {
        let x: Vec<u32> = (1..=threads).collect();
        let mut out = buffer(&[0; 64]);
        launcher.run(attacks::sums_after_return, 1, (&buffer(&x), &mut out)).unwrap();
        let sum = threads * (threads + 1) / 2;
        let expected: Vec<u32> = (0..64).map(|i| if i < threads { sum } else { 0 }).collect();
        assert_eq!(values(&out), expected, "{threads}");
    }

    let x = numbers(64);
    let mut out = buffer(&[0; 64]);
    launcher.run(attacks::sums_in_branches, 1, (&buffer(&x), &mut out)).unwrap();
    let even = x.iter().filter(|x| x.is_multiple_of(2)).count() as u32;
    assert_eq!(values(&out), [even + 100 * (64 - even); 64]);
}

#[test]
fn nothing_is_no_null_reference() {
    let gpu = gpu();
    let launcher = gpu.launcher();
    let mut out = buffer(&[7_u32; 32]);
    launcher.run(attacks::sees_no_null, 1, (&buffer::<u32>(&[]), &mut out)).unwrap();
    assert_eq!(values(&out), [1; 32]);
    let mut nothing = DeviceBuffer::<[u32; 0]>::from_slice(&[[]; 32]).unwrap();
    let mut out = buffer(&[7_u32; 32]);
    launcher.run(attacks::sees_no_null_element, 1, (&mut nothing, &mut out)).unwrap();
    assert_eq!(values(&out), [1; 32]);
}

/// The tests' own build of the kernels has no feature `double`, and the device's other types.
#[test]
fn layouts_that_differ_are_refused_at_the_launch() {
    let gpu = gpu();
    let launcher = gpu.launcher();
    let [x, mut out] = [buffer(&[[1_u64]; 4]), buffer(&[[0_u64]; 4])];
    let error = launcher.run(attacks::differs_by_target, 4, (&x, &mut out)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("parameter 0 has 512 bytes, aligned to 8, on the device and 8"),
        "{text}"
    );
    // With equal features nothing differs.
    let [x, mut out] = [buffer(&[1.0_f32; 4]), buffer(&[0.0_f32; 4])];
    launcher.run(attacks::differs_by_feature, 4, (&x, &mut out)).unwrap();
    assert_eq!(values(&out), [2.0; 4]);
    let step = attacks::Step { first: 1, others: [1; 7] };
    let mut out = buffer(&[0_u32]);
    launcher.run(attacks::differs_by_value, 1, (step, &mut out)).unwrap();
    assert_eq!(values(&out), [8]);
}

/// As the host would see the kernels with a feature that the device build lacks.
#[test]
fn features_that_differ_are_refused_at_the_launch() {
    let path = builder().build_args(&["--features=double"]).build().expect("the kernels compile");
    let images = image(path);
    let gpu = testing::gpu(images);
    let launcher = gpu.launcher();
    let [x, mut out] = [buffer(&[1.0_f32; 4]), buffer(&[0.0_f32; 4])];
    let error = launcher.run(attacks::differs_by_feature, 4, (&x, &mut out)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("8 bytes, aligned to 8, on the device and 4"), "{text}");
    assert!(text.contains("give a feature of the kernels to the crate that launches"), "{text}");
    let step = attacks::Step { first: 1, others: [1; 7] };
    let mut out = buffer(&[0_u32]);
    let error = launcher.run(attacks::differs_by_value, 1, (step, &mut out)).unwrap_err();
    assert!(error.to_string().contains("parameter 0 has 8 bytes"), "{error}");
}

#[test]
fn the_atomics_of_core_mean_their_orderings() {
    let text = IMAGES[0].text();
    let entry = |name: &str| {
        let from = text.find(&format!(".entry {name}(")).expect("the kernel is there");
        text[from..].split("\n}").next().unwrap_or_default()
    };
    let sends = entry("sends_a_message");
    let [fence, swap] = ["fence.", "atom.global.exch"].map(|it| sends.find(it).expect(it));
    assert!(fence < swap, "the release is before the exchange");
    let adds = entry("adds_in_order");
    let [first, add, last] =
        [adds.find("fence."), adds.find("atom.global.add"), adds.rfind("fence.")];
    assert!(first < add && add < last, "{adds}");
    let gpu = gpu();
    let mut out = buffer(&[0_u32; 2]);
    gpu.launcher().run(attacks::sends_a_message, 2, (&mut out,)).unwrap();
    assert_eq!(values(&out), [42, 42]);
    gpu.launcher().run(attacks::adds_in_order, 2, (&mut out,)).unwrap();
}

#[test]
fn a_filtered_option_is_not_accused() {
    let gpu = gpu();
    let mut out = buffer(&[f32::NAN; 32]);
    gpu.launcher().run(attacks::filters, 1, (&buffer(&[3.0_f32; 20]), &mut out)).unwrap();
    let found = values(&out);
    assert_eq!(found[..20], [60.0; 20]);
    assert!(found[20..].iter().all(|it| it.is_nan()));
}

#[test]
fn a_cell_that_nobody_wrote_is_reported() {
    let gpu = checked_gpu();
    let mut out = buffer(&[0_u32; 32]);
    gpu.launcher().run(attacks::reads_the_unwritten, 1, (&buffer(&[1; 64]), &mut out)).unwrap();
    let hazards = gpu.drain_hazards();
    assert!(hazards.iter().any(|it| it.contains("UninitializedShared")), "{hazards:?}");
}

#[test]
fn a_blur_has_its_halo() {
    let gpu = gpu();
    let weights = [0.4_f32, 0.2, 0.1];
    gpu.launcher().write::<uses::WEIGHTS>(&weights).unwrap();
    let [bx, by] = uses::BLUR;
    for [width, height] in [[1_u32, 1], [32, 8], [33, 9], [70, 31]] {
        let image: Vec<f32> = numbers(width * height).iter().map(|x| (x % 256) as f32).collect();
        let mut out = buffer(&vec![f32::NAN; image.len()]);
        let grid = GridSize::xy(width.div_ceil(bx), height.div_ceil(by));
        let extent = [width, height];
        let arguments = ((&buffer(&image), extent), (&mut out, extent));
        gpu.launcher().run(uses::blurs, grid, arguments).unwrap();
        let found = values(&out);
        let at = |x: i64, y: i64| {
            let x = x.clamp(0, i64::from(width) - 1) as usize;
            image[y.clamp(0, i64::from(height) - 1) as usize * width as usize + x]
        };
        for (i, found) in found.iter().enumerate() {
            let (x, y) = ((i % width as usize) as i64, (i / width as usize) as i64);
            let mut sum = 0.0;
            for row in -2..=2_i64 {
                for column in -2..=2_i64 {
                    let weight = weights[row.unsigned_abs() as usize]
                        * weights[column.unsigned_abs() as usize];
                    sum += weight * at(x + column, y + row);
                }
            }
            assert_relative_eq!(*found, sum, max_relative = 1e-5);
        }
    }
}

#[test]
fn a_block_sorts() {
    let gpu = gpu();
    for n in [1_u32, 255, 256, 700] {
        let x: Vec<u64> = numbers(n).iter().map(|x| u64::from(*x) << 20 | 5).collect();
        let mut out = buffer(&vec![0_u64; x.len()]);
        let blocks = n.div_ceil(uses::THREADS);
        gpu.launcher().run(uses::sorts, blocks, (&buffer(&x), &mut out)).unwrap();
        let mut expected = x.clone();
        // What lies beyond the end counts as largest, so a last block is sorted, too.
        expected.chunks_mut(uses::THREADS as usize).for_each(<[u64]>::sort_unstable);
        assert_eq!(values(&out), expected, "{n}");
    }
}

#[test]
fn a_block_reduces_and_counts() {
    let gpu = gpu();
    let x: Vec<f32> = numbers(1000).iter().map(|x| *x as f32).collect();
    let mut largest = buffer(&[0.0_f32; 4]);
    let mut number = buffer(&[0_u32; 4]);
    let above = 1e7;
    let arguments = (&buffer(&x), above, &mut largest, &mut number);
    gpu.launcher().run(uses::reduces, 4, arguments).unwrap();
    let chunks: Vec<&[f32]> = x.chunks(uses::THREADS as usize).collect();
    let expected: Vec<f32> =
        chunks.iter().map(|it| it.iter().fold(f32::MIN, |a, b| a.max(*b))).collect();
    assert_eq!(values(&largest), expected);
    let expected: Vec<u32> =
        chunks.iter().map(|it| it.iter().filter(|x| **x > above).count() as u32).collect();
    assert_eq!(values(&number), expected);
}

#[test]
fn a_block_scans_whatever_its_size() {
    let gpu = gpu();
    for (kernel, threads) in
        [(uses::scans_256, 256), (uses::scans_1000, 1000), (uses::scans_33, 33_u32)]
    {
        let x = numbers(2 * threads + 5);
        let [mut up_to, mut before] = [buffer(&vec![0; x.len()]), buffer(&vec![0; x.len()])];
        gpu.launcher().run(kernel, 3, (&buffer(&x), &mut up_to, &mut before)).unwrap();
        let (mut expected, mut expected_before) = (Vec::new(), Vec::new());
        for block in x.chunks(threads as usize) {
            let mut sum = 0_u32;
            for x in block {
                expected_before.push(sum.wrapping_add(1000));
                sum = sum.wrapping_add(*x);
                expected.push(sum);
            }
        }
        assert_eq!(values(&up_to), expected, "{threads}");
        assert_eq!(values(&before), expected_before, "{threads}");
    }
}

#[test]
fn blocks_compact_into_one_array() {
    let gpu = gpu();
    let x = numbers(1000);
    let above = 10_000_000;
    let [mut end, mut out] = [buffer(&[0_u32]), buffer(&vec![0_u32; x.len()])];
    gpu.launcher().run(uses::compacts, 4, (&buffer(&x), above, &mut end, &mut out)).unwrap();
    let mut expected: Vec<u32> = x.iter().copied().filter(|x| *x > above).collect();
    let end = values(&end)[0] as usize;
    assert_eq!(end, expected.len());
    let mut found = values(&out);
    assert!(found.split_off(end).iter().all(|it| *it == 0));
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn atomics_are_parameters_and_parts_of_buffers() {
    let gpu = gpu();
    let keys = numbers(1000);
    let weights: Vec<f32> = keys.iter().map(|key| (key % 5) as f32).collect();
    // Bins and the number of lanes lie in one buffer.
    let mut both = buffer(&[0_u32; 11]);
    let mut sums = buffer(&[0.0_f32; 10]);
    let (bins, warps) = both.parts_at(10);
    let arguments = (&buffer(&keys), &buffer(&weights), bins, &mut sums, warps);
    gpu.launcher().run(uses::counts, 4, arguments).unwrap();
    let (mut expected, mut expected_sums) = (vec![0_u32; 11], vec![0.0_f32; 10]);
    for (key, weight) in keys.iter().zip(&weights) {
        expected[*key as usize % 10] += 1;
        expected_sums[*key as usize % 10] += weight;
    }
    expected[10] = 1000;
    assert_eq!(values(&both), expected);
    assert_eq!(values(&sums), expected_sums, "sums of small whole numbers are exact");
}

#[test]
fn lanes_share_with_those_beside_them() {
    let gpu = gpu();
    let x = numbers(60);
    let mut out = DeviceBuffer::from_slice(&vec![[0_u32; 4]; 60]).unwrap();
    gpu.synchronize().unwrap();
    gpu.launcher().run(uses::shares, 1, (&buffer(&x), &mut out)).unwrap();
    let mut found = vec![[0_u32; 4]; 60];
    out.copy_to(&mut found).unwrap();
    for (warp, chunk) in x.chunks(32).enumerate() {
        let chosen: Vec<u32> = chunk.iter().copied().filter(|x| x.is_multiple_of(3)).collect();
        let mut before = 0;
        for (lane, x) in chunk.iter().enumerate() {
            let is_chosen = x.is_multiple_of(3);
            let sum = chosen.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
            let expected = if is_chosen { [32, sum, chosen[0], before] } else { [32, 0, 0, 0] };
            assert_eq!(found[warp * 32 + lane], expected, "lane {lane} of warp {warp}");
            before += u32::from(is_chosen);
        }
    }
}

#[test]
fn a_thread_has_several_elements() {
    let gpu = gpu();
    for n in [1_u32, 63, 64, 255, 257, 1000] {
        let x = numbers(n);
        let mut out = buffer(&vec![0_u32; x.len()]);
        let blocks = n.div_ceil(4 * 64);
        gpu.launcher().run(uses::doubles, blocks, (&buffer(&x), &mut out)).unwrap();
        let expected: Vec<u32> = x.iter().map(|x| 2 * x).collect();
        assert_eq!(values(&out), expected, "{n}");
    }
}
