//! What every task's file uses: types, and sizes that many share.

pub use crate::count::Count;
pub use crate::host::stepped;
pub use crate::question::{Answers, Question};
pub use crate::task::{
    Because, Bound, Kind, Sizes, Task, between, elements, exactly, launched, pattern, up_to,
};
pub use anyhow::Result;
pub use coalesce::arrays::Arrays;
pub use coalesce::data::{Data, Random, Tolerance};
pub use coalesce::pattern::{Before, Case, Dimension, Output, Size};
pub use cuda_host::Launcher;
pub use simt::Hazard;

/// A number of elements.
pub const N: &[Dimension] = &[Dimension::extent("n", "elements", 1)];
/// Lengths that are no multiple of anything, and some that are: behind an array whose bytes are no multiple of 16, a read
/// by one element more finds bytes that somebody wrote.
pub const ODD: &[&[usize]] =
    &[&[1], &[31], &[32], &[33], &[257], &[1020], &[1021], &[4096], &[20_011]];
/// An image or a matrix.
pub const IMAGE: &[Dimension] =
    &[Dimension::extent("rows", "rows", 1), Dimension::extent("columns", "columns", 1)];
/// Images whose rows and columns are no multiple of anything, and one whose are.
pub const PIXELS: &[&[usize]] =
    &[&[1, 1], &[1, 33], &[31, 1], &[33, 31], &[36, 100], &[64, 64], &[61, 127], &[130, 97]];

/// Blocks that cover `n` elements.
pub fn blocks(n: usize, per_block: usize) -> u32 {
    n.div_ceil(per_block) as u32
}

/// Sizes of a host task: lengths that no part divides, and where its bounds hold.
pub const fn host_sizes(count: &'static [usize]) -> Sizes {
    Sizes { dimensions: N, verify: &[&[1], &[31], &[257], &[1000], &[4096]], count }
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
    Case { inputs, outputs: vec![Output::exact(Data::U32(target))] }
}

/// The case of a host task that makes one value of each.
pub fn each_stepped(size: &Size, random: &mut Random, value: impl Fn(u32, u32) -> u32) -> Case {
    let [n] = size.get();
    stepped_case(random.u32s(n), random, |source, factor| {
        source.iter().map(|one| value(*one, factor)).collect()
    })
}
