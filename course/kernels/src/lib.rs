//! The solved kernels of the course, a file for each task. What a learner is given is made from these files: the lines
//! between the marks `// learn:` are replaced (`course/src/format.rs`).

#![no_std]
#![cfg_attr(target_arch = "nvptx64", allow(unused_imports))]

pub mod barrier_in_branch;
pub mod bins_private;
pub mod constant_walk;
pub mod every_third;
pub mod grid_stride;
pub mod guard;
pub mod matmul_tile;
pub mod missing_barrier;
pub mod one_counter;
pub mod one_field;
pub mod pad_the_tile;
pub mod rows_to_lanes;
pub mod spilled;
pub mod swizzle_the_tile;
pub mod tree;
pub mod uninitialized_halo;
pub mod wide_loads;
