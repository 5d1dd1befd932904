//! The tasks, in teaching order. Each is two files with one stem: the solved kernel in `course/kernels/src`, and its
//! sizes, reference, questions, bounds and hints here.

mod any_order;
mod barrier_in_branch;
mod batch;
mod bins_private;
mod boss_capitals;
mod boss_classes;
mod boss_complex;
mod boss_matches;
mod boss_outer;
mod boss_row_sums;
mod boss_table;
mod constant_walk;
mod copy_not_awaited;
mod default_stream;
mod doubles_turned;
mod every_third;
mod first_warp;
mod graph;
mod grid_stride;
mod guard;
mod half_and_half;
mod line_or_sector;
mod lockstep;
mod lost_order;
mod lost_update;
mod matmul_tile;
mod missing_barrier;
mod offset_load;
mod one_counter;
mod one_field;
mod overlap;
mod own_element;
mod pad_the_tile;
mod pinned;
mod pool;
mod prelude;
mod read_only_lie;
mod reused_buffer;
mod rows_to_lanes;
mod small_grid;
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

/// All tasks, in teaching order.
pub const TASKS: &[&Task] = &[
    &own_element::TASK,
    &small_grid::TASK,
    &guard::TASK,
    &first_warp::TASK,
    &any_order::TASK,
    &rows_to_lanes::TASK,
    &grid_stride::TASK,
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
    &pinned::TASK,
    &batch::TASK,
    &overlap::TASK,
    &lost_order::TASK,
    &reused_buffer::TASK,
    &default_stream::TASK,
    &pool::TASK,
    &graph::TASK,
    &boss_row_sums::TASK,
    &boss_complex::TASK,
    &boss_capitals::TASK,
    &boss_outer::TASK,
    &boss_table::TASK,
    &boss_matches::TASK,
    &boss_classes::TASK,
];

pub fn named(id: &str) -> Option<&'static Task> {
    TASKS.iter().copied().find(|task| task.id() == id)
}
