//! Prelude of every task's file: types, and sizes that many share.

pub use crate::count::Count::{self, *};
pub use crate::host::stepped;
pub use crate::question::{about, choice, number};
pub use crate::task::{
    Bound, Choice, FailureKind, Kind, Sizes, Task, between, bound, exactly, pattern, up_to,
};
pub use coalesce::data::{Data, Element, Random, Tolerance};
pub use coalesce::pattern::{Before, Case, Dimension, Output, Size, Variant};
pub use simt::Hazard;

/// All that follows from the name of a kernel's file, its arrays and its sizes. The launch has a thread of blocks of 256 for
/// each element and hands on the arrays and the numbers of the size, unless the task says otherwise.
macro_rules! task {
    ($id:ident $inputs:tt -> $output:ty, $sizes:expr, $case:expr) => {
        task!($id $inputs -> $output, $sizes, $case, |n| (blocks(n, 256), 256))
    };
    ($id:ident $inputs:tt -> $output:ty, $sizes:expr, $case:expr, |$($number:ident),+| $shape:tt) => {
        task!($id $inputs -> $output, $sizes, $case, |$($number),+| $shape, ($($number),+))
    };
    (
        $id:ident($($first:ty $(, $second:ty)?)?) -> $output:ty, $sizes:expr, $case:expr,
        |$($number:ident),+| ($grid:expr, $block:expr), ($($argument:expr),+)
    ) => {
        Task::of(pattern(
            stringify!($id),
            include_str!(concat!("../../kernels/src/", stringify!($id), ".rs")),
            $sizes,
            $case,
            &[Variant::kernel("yours", |launcher, arrays, size| {
                let [$($number),+] = size.get();
                let arguments = (
                    $(arrays.input::<$first>(0), $(arrays.input::<$second>(1),)?)?
                    arrays.output::<$output>(0),
                    $($argument as u32),+
                );
                // SAFETY: the grid covers the size; the arrays are the case's, different ones, with its lengths.
                unsafe { launcher.launch(course_kernels::$id::$id, $grid, $block, 0, arguments) }
            })],
        ))
    };
}
pub(super) use task;

/// All that follows from the name of a host task's file and its sizes.
macro_rules! host_task {
    ($id:ident, $sizes:expr, $case:expr) => {
        Task::of(pattern(
            stringify!($id),
            include_str!(concat!("../hosts/", stringify!($id), ".rs")),
            $sizes,
            $case,
            &[],
        ))
    };
}
pub(super) use host_task;

/// First hints of a task that asks about sectors.
pub const SECTOR_HINTS: [&str; 3] = [
    "Write down the byte address of lanes 0, 1 and 31.",
    "A sector is 32 bytes and begins at a multiple of 32. Count how many different ones the lanes touch.",
    "`cargo xtask learn try` executes the kernel at any size and prints the first request of each line.",
];

/// Bounds that many tasks share; the number is that of the elements.
pub const EACH_NUMBER_ONCE: Bound =
    bound(LoadSectors, |n| exactly(n / 8.0), "each number once: 4 B of a sector of 32 B");
pub const EACH_RESULT_ONCE: Bound =
    bound(StoreSectors, |n| exactly(n / 8.0), "each result once: 4 B of a sector of 32 B");
pub const ONE_BARRIER: Bound = bound(Barriers, |n| exactly(n / 32.0), "one for each warp");
pub const COALESCED_LOADS: Bound =
    coalesced(SectorsPerLoad, "32 lanes x 4 B = 128 B = 4 sectors of 32 B");
pub const THERE_AND_BACK: Bound =
    bound(BusBytes, |n| exactly(8.0 * n), "4 B of each value in each direction");

/// The bound of requests of neighbouring words.
pub const fn coalesced(count: Count, because: &'static str) -> Bound {
    bound(count, |_| between(1.0, 4.0), because)
}

pub const fn none(count: Count, because: &'static str) -> Bound {
    bound(count, |_| up_to(0.0), because)
}

pub const N: &[Dimension] = &[Dimension::extent("n", "elements", 1)];
/// Lengths that are no multiple of anything, and some that are: behind an array whose bytes are no multiple of 16, a read
/// by one element more finds bytes that somebody wrote.
pub const ODD: &[&[usize]] =
    &[&[1], &[31], &[32], &[33], &[257], &[1020], &[1021], &[4096], &[20_011]];
pub const IMAGE: &[Dimension] =
    &[Dimension::extent("rows", "rows", 1), Dimension::extent("columns", "columns", 1)];
/// Images whose rows and columns are no multiple of anything, and one whose are.
pub const PIXELS: &[&[usize]] =
    &[&[1, 1], &[1, 33], &[31, 1], &[33, 31], &[36, 100], &[64, 64], &[61, 127], &[130, 97]];

/// Sizes of a task with a number of elements.
pub const LINE: Sizes = line(ODD, &[65_536]);

pub const fn line(verify: &'static [&'static [usize]], count: &'static [usize]) -> Sizes {
    Sizes { dimensions: N, verify, count }
}

/// Sizes of a task with an image.
pub const fn images(count: &'static [usize]) -> Sizes {
    Sizes { dimensions: IMAGE, verify: PIXELS, count }
}

/// Blocks that cover `n` elements.
pub fn blocks(n: usize, per_block: usize) -> u32 {
    n.div_ceil(per_block) as u32
}

/// Sizes of a host task: lengths that no part divides, and where its bounds hold.
pub const fn host_sizes(count: &'static [usize]) -> Sizes {
    line(&[&[1], &[31], &[257], &[1000], &[4096]], count)
}

/// A float for each element of a size.
pub fn floats(size: &Size, random: &mut Random) -> Vec<f32> {
    random.f32s(size.values().iter().product())
}

/// A word for each element of a size.
pub fn words(size: &Size, random: &mut Random) -> Vec<u32> {
    random.u32s(size.values().iter().product())
}

/// Floats of which a seventh are 0.
pub fn some_zeros(size: &Size, random: &mut Random) -> Vec<f32> {
    let mut source = floats(size, random);
    source.iter_mut().step_by(7).for_each(|one| *one = 0.0);
    source
}

/// The case of a kernel that makes `target` of `source`, to the bit.
pub fn exact<T: Element, U: Element>(source: Vec<T>, target: Vec<U>) -> Case {
    Case::exact(vec![U::wrap(target)], vec![T::wrap(source)])
}

/// The same of a kernel with two sources.
pub fn of_two<T: Element>(first: Vec<T>, second: Vec<T>, target: Vec<T>) -> Case {
    let inputs = vec![T::wrap(first), T::wrap(second)];
    Case::exact(vec![T::wrap(target)], inputs)
}

/// The case of a kernel that makes one value of each.
pub fn each<T: Element>(source: Vec<T>, value: impl Fn(&T) -> T) -> Case {
    let target = source.iter().map(value).collect();
    exact(source, target)
}

/// The case of a kernel whose element `i` comes from any elements.
pub fn gathered<T: Element>(source: Vec<T>, value: impl Fn(&[T], usize) -> T) -> Case {
    let target = (0..source.len()).map(|i| value(&source, i)).collect();
    exact(source, target)
}

/// The case of a kernel that makes one value of every `length` neighbours.
pub fn chunked<T: Element, U: Element>(
    source: Vec<T>,
    length: usize,
    value: impl Fn(&[T]) -> U,
) -> Case {
    let target = source.chunks(length).map(value).collect();
    exact(source, target)
}

/// The case of a kernel that transposes an image; `from` says which pixel comes to a row and a column of the image.
pub fn transposed<T: Element>(
    source: Vec<T>,
    size: &Size,
    from: impl Fn(usize, usize) -> (usize, usize),
) -> Case {
    let [rows, columns] = size.get();
    gathered(source, |source, i| {
        let (row, column) = from(i % rows, i / rows);
        source[row * columns + column]
    })
}

/// The case of a kernel that adds to counters, which begin at 0.
pub fn counted<T: Element>(source: Vec<T>, counters: Vec<u32>) -> Case {
    let counters = Output { before: Before::Zeros, ..Output::exact(Data::U32(counters)) };
    Case { inputs: vec![T::wrap(source)], outputs: vec![counters] }
}

/// The sum of words, which wraps.
pub fn sum(words: &[u32]) -> u32 {
    words.iter().fold(0, |sum, one| sum.wrapping_add(*one))
}

/// The case of a host task: the values, and what the device's kernel multiplies by, an odd number, so that no value is
/// lost. `value` makes a result of each with it.
pub fn stepped_case(
    source: Vec<u32>,
    random: &mut Random,
    value: impl Fn(&[u32], u32) -> Vec<u32>,
) -> Case {
    let factor = random.u32s(1)[0] | 1;
    let target = value(&source, factor);
    let inputs = vec![Data::U32(source), Data::U32(vec![factor])];
    Case::exact(vec![Data::U32(target)], inputs)
}

/// The case of a host task that makes one value of each.
pub fn each_stepped(size: &Size, random: &mut Random, value: impl Fn(u32, u32) -> u32) -> Case {
    let [n] = size.get();
    stepped_case(random.u32s(n), random, |source, factor| {
        source.iter().map(|one| value(*one, factor)).collect()
    })
}

/// The case of a host task that makes one step of each value.
pub fn one_step(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| stepped(value, factor, 1, 1))
}
