//! The tasks, in teaching order. Each is two files with one stem: the solved kernel in `course/kernels/src`, and its
//! sizes, reference, questions, bounds and hints here.

mod any_order;
mod barrier_in_branch;
mod bins_private;
mod boss_capitals;
mod boss_complex;
mod boss_row_sums;
mod constant_walk;
mod copy_not_awaited;
mod doubles_turned;
mod every_third;
mod first_warp;
mod grid_stride;
mod guard;
mod half_and_half;
mod line_or_sector;
mod lockstep;
mod lost_update;
mod matmul_tile;
mod missing_barrier;
mod offset_load;
mod one_counter;
mod one_field;
mod pad_the_tile;
mod read_only_lie;
mod rows_to_lanes;
mod spilled;
mod stride_banks;
mod swizzle_the_tile;
mod tree;
mod two_writers;
mod uninitialized_halo;
mod useful_bytes;
mod wide_banks;
mod wide_loads;
mod window_sum;
mod wrong_mask;

use crate::task::Task;
use coalesce::pattern::Dimension;

/// What every task's file uses.
mod prelude {
    pub(super) use super::{IMAGE, N, ODD, PIXELS, blocks};
    pub use crate::count::Count;
    pub use crate::question::{Answers, Question};
    pub use crate::task::{Because, Bound, Kind, Sizes, Task, launched, pattern};
    pub use anyhow::Result;
    pub use coalesce::arrays::Arrays;
    pub use coalesce::data::{Data, Random, Tolerance};
    pub use coalesce::pattern::{Before, Case, Dimension, Output, Size};
    pub use cuda_host::Launcher;
    pub use simt::Hazard;
}

/// All tasks, in teaching order.
pub const TASKS: &[&Task] = &[
    &first_warp::TASK,
    &any_order::TASK,
    &rows_to_lanes::TASK,
    &grid_stride::TASK,
    &guard::TASK,
    &offset_load::TASK,
    &line_or_sector::TASK,
    &useful_bytes::TASK,
    &every_third::TASK,
    &one_field::TASK,
    &two_writers::TASK,
    &wide_loads::TASK,
    &missing_barrier::TASK,
    &barrier_in_branch::TASK,
    &uninitialized_halo::TASK,
    &copy_not_awaited::TASK,
    &stride_banks::TASK,
    &wide_banks::TASK,
    &pad_the_tile::TASK,
    &swizzle_the_tile::TASK,
    &doubles_turned::TASK,
    &window_sum::TASK,
    &matmul_tile::TASK,
    &tree::TASK,
    &lockstep::TASK,
    &wrong_mask::TASK,
    &lost_update::TASK,
    &one_counter::TASK,
    &bins_private::TASK,
    &constant_walk::TASK,
    &read_only_lie::TASK,
    &spilled::TASK,
    &half_and_half::TASK,
    &boss_row_sums::TASK,
    &boss_complex::TASK,
    &boss_capitals::TASK,
];

/// A number of elements.
const N: &[Dimension] = &[Dimension::extent("n", "elements", 1)];
/// Lengths that are no multiple of anything, and some that are: behind an array whose bytes are no multiple of 16, a read
/// by one element more finds bytes that somebody wrote.
const ODD: &[&[usize]] = &[&[1], &[31], &[32], &[33], &[257], &[1020], &[1021], &[4096], &[20_011]];
/// An image or a matrix.
const IMAGE: &[Dimension] =
    &[Dimension::extent("rows", "rows", 1), Dimension::extent("columns", "columns", 1)];
/// Images whose rows and columns are no multiple of anything, and one whose are.
const PIXELS: &[&[usize]] =
    &[&[1, 1], &[1, 33], &[31, 1], &[33, 31], &[36, 100], &[64, 64], &[61, 127], &[130, 97]];

/// The task of a name.
pub fn named(id: &str) -> Option<&'static Task> {
    TASKS.iter().copied().find(|task| task.id == id)
}

/// Blocks that cover `n` elements.
fn blocks(n: usize, per_block: usize) -> u32 {
    n.div_ceil(per_block) as u32
}
