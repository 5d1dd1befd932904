use crate::prelude::*;
use kernels::execution::divergence::{
    self as device, MAX_PATHS, REGROUPED_BLOCK, STEPS, THREADS_PER_BLOCK,
};
use rayon::prelude::*;

/// Kinds of elements in a curve.
const PATHS: &[usize] = &[1, 2, 4, 8, 16, 32];

pub const PATTERN: Pattern = Pattern {
    name: "divergence",
    group: "execution",
    doc_source: include_str!("../../../../kernels/src/execution/divergence.rs"),
    dimensions: &[
        Dimension::extent("n", "elements", 1),
        Dimension::amount("paths", "kinds of elements, each with a path of its own", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[31, 2],
        &[33, 32],
        &[255, 3],
        &[256, 8],
        &[1023, 5],
        &[1024, 32],
        &[1025, 31],
        &[3001, 7],
    ],
    bench_size: &[1 << 24, 8],
    count_size: &[1 << 11, 8],
    sweeps: &[Sweep { dimension: 1, values: PATHS, variants: &[0, 1, 2, 3, 4] }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        variant!(device::divergence_branched, launch, Order::Mixed)
            .only_when(a_warp_has_the_paths)
            .expecting(|size| Expectation {
                lanes_per_instruction: Some(lanes_of_branched(size)),
                ..traffic("a path with 32 / p lanes, p times; the tests of the kinds with all 32")
            }),
        variant!(device::divergence_predicated, launch, Order::Mixed)
            .only_when(a_warp_has_the_paths)
            .expecting(|_| traffic("no branch: 32 lanes in all p paths")),
        variant!(device::divergence_regrouped => regrouped)
            .only_when(a_warp_has_the_paths)
            .expecting(|size| Expectation {
                shared_load_wavefronts: Some(1.0),
                shared_store_wavefronts: Some(1.0),
                shared_atomic_wavefronts: Some(f64::from(MAX_PATHS) / size.get::<2>()[1] as f64),
                ..traffic("32 / p lanes of a warp count in one word; then each warp has one path")
            }),
        variant!(device::divergence_rearranged, launch, Order::ByKind)
            .only_when(a_warp_has_the_paths)
            .writing(&[1])
            .expecting(|_| traffic("all 32 lanes of a warp have one kind and take one path")),
        variant!(device::divergence_branchless, launch, Order::Mixed)
            .only_when(a_warp_has_the_paths)
            .expecting(|_| traffic("one path for all 32 lanes")),
    ],
};

/// The order in which the elements are in the inputs, and the results in the outputs.
#[derive(Clone, Copy)]
enum Order {
    /// Neighbours have different kinds: inputs 0 and 1, output 0.
    Mixed,
    /// All elements of kind 0 first, then those of kind 1, and so on: inputs 2 and 3, output 1.
    ByKind,
}

fn a_warp_has_the_paths(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, paths] = size.get();
    let is_possible = paths <= MAX_PATHS as usize;
    if is_possible { Ok(()) } else { Err("a warp has 32 lanes: paths is 1 to 32") }
}

/// Active lanes per instruction where p kinds of neighbours diverge, p a divisor of 32. Of the PTX instructions of a
/// warp, those of the p paths run with 32 / p lanes, a jump around each with the others, and all others with 32.
fn lanes_of_branched(size: &Size) -> f64 {
    let paths = size.get::<2>()[1] as f64;
    let lanes = 32.0 / paths;
    let in_path = f64::from(STEPS) + 5.0;
    let around = if paths > 1.0 { 1.0 } else { 0.0 };
    let by_all = 31.0 + 5.0 * paths;
    let executed = paths * (in_path + around) + by_all;
    (paths * (in_path * lanes + around * (32.0 - lanes)) + by_all * 32.0) / executed
}

/// Coalesced loads and stores, and all lanes active.
fn traffic(arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(4.0),
        store_sectors: Some(4.0),
        lanes_per_instruction: Some(32.0),
        arithmetic,
        ..Expectation::default()
    }
}

/// Inputs: values and kinds in a mixed order, then both by kind. Outputs: the results in either order.
fn case(size: &Size, random: &mut Random) -> Case {
    let [n, paths] = size.get();
    let values = random.u32s(n);
    let kinds: Vec<u32> = (0..n).map(|i| (i % paths) as u32).collect();
    let by_kind = |all: &[u32]| -> Vec<u32> {
        (0..paths).flat_map(|kind| all.iter().skip(kind).step_by(paths).copied()).collect()
    };
    let (values_by_kind, kinds_by_kind) = (by_kind(&values), by_kind(&kinds));
    let results = reference(&values, &kinds);
    Case::exact(
        vec![Data::U32(results.clone()), Data::U32(by_kind(&results))],
        vec![
            Data::U32(values),
            Data::U32(kinds),
            Data::U32(values_by_kind),
            Data::U32(kinds_by_kind),
        ],
    )
}

fn reference(values: &[u32], kinds: &[u32]) -> Vec<u32> {
    let result = |(value, kind): (&u32, &u32)| {
        let step = |value: u32, _| value.wrapping_mul(8 * kind + 5).wrapping_add(kind + 1);
        (0..STEPS).fold(*value, step)
    };
    values.par_iter().zip(kinds).map(result).collect()
}

fn bytes(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 8 * n, written: 4 * n }
}

type PathsKernel = Kernel<fn(*const u32, *const u32, *mut u32, u32, u32)>;

/// Launches a kernel of this file, whose blocks have `THREADS_PER_BLOCK` threads.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: PathsKernel,
    order: Order,
) -> Result<(), GpuError> {
    launch_blocks(launcher, arrays, size, kernel, order, THREADS_PER_BLOCK)
}

fn regrouped(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let kernel = device::divergence_regrouped;
    launch_blocks(launcher, arrays, size, kernel, Order::Mixed, REGROUPED_BLOCK)
}

fn launch_blocks(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: PathsKernel,
    order: Order,
    threads: u32,
) -> Result<(), GpuError> {
    let [n, paths] = size.get().map(|value: usize| value as u32);
    let (input, output) = match order {
        Order::Mixed => (0, 0),
        Order::ByKind => (2, 1),
    };
    let arguments = (arrays.input(input), arrays.input(input + 1), arrays.output(output), paths, n);
    // SAFETY: the grid covers n threads in blocks of the kernel's size; the arrays hold n elements and are different
    // allocations; kinds are below `paths`, which the precondition checked.
    unsafe { launcher.launch(kernel, n.div_ceil(threads), threads, 0, arguments) }
}
