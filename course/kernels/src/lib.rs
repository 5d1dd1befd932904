//! The solved kernels of the course, a file for each task. What a learner is given is made from these files: the lines
//! between the marks `// learn:` are replaced (`course/src/format.rs`).
#![allow(missing_docs, reason = "this crate is not published")]
#![no_std]
#![cfg_attr(target_arch = "nvptx64", allow(unused_imports))]

pub mod any_order;
pub mod barrier_in_branch;
pub mod bins_private;
pub mod boss_capitals;
pub mod boss_classes;
pub mod boss_complex;
pub mod boss_matches;
pub mod boss_outer;
pub mod boss_row_sums;
pub mod boss_table;
pub mod constant_walk;
pub mod copy_not_awaited;
pub mod doubles_turned;
pub mod every_third;
pub mod first_warp;
pub mod grid_stride;
pub mod guard;
pub mod half_and_half;
pub mod host_step;
pub mod line_or_sector;
pub mod lockstep;
pub mod lost_update;
pub mod matmul_tile;
pub mod missing_barrier;
pub mod offset_load;
pub mod one_counter;
pub mod one_field;
pub mod own_element;
pub mod pad_the_tile;
pub mod read_only_lie;
pub mod rows_to_lanes;
pub mod small_grid;
pub mod spilled;
pub mod stride_banks;
pub mod swizzle_the_tile;
pub mod tree;
pub mod two_writers;
pub mod uninitialized_halo;
pub mod useful_bytes;
pub mod wide_banks;
pub mod wide_loads;
pub mod window_sum;
pub mod wrong_mask;
