//! Code that would break the promises of `cuda_std::safe`.

use cuda_std::prelude::*;
use cuda_std::safe::{Block, Constant, PerThread, Plane, Tile};
use cuda_std::texture::{Line, Texture};
use cuda_std::{address_space, cluster};

/// A lifetime that outlives the launch.
#[kernel(block = 32)]
pub fn keeps_a_slice(x: &'static [u32]) {}

#[kernel(block = 32)]
pub fn keeps_elements(x: PerThread<'static, u32>) {}

fn keep<T: 'static>(_: T) {}

#[kernel(block(32, 1))]
pub fn keeps_a_plane(plane: Plane<u32>) {
    keep(plane);
}

type Mine = PerThread<'static, u32>;

#[kernel(block = 32)]
pub fn keeps_by_alias(mine: Mine) {}

type Slice<'a> = &'a [u32];

#[kernel(block = 32)]
pub fn takes_an_alias(x: Slice<'_>) {}

/// Barriers of whole warps.
#[kernel(block = 32)]
pub fn waits(x: &[u32]) {
    thread::sync_threads();
}

#[kernel(block = 32)]
pub fn counts(x: &[u32]) {
    let _ = thread::sync_threads_count(1);
}

#[kernel(block = 32, cluster(2))]
pub fn waits_for_the_cluster(x: &[u32]) {
    cluster::sync();
}

#[kernel(block = 32)]
pub fn has_two_blocks(a: Block, b: Block) {}

/// A handle is not any bytes.
#[kernel(block = 32)]
pub fn makes_a_texture(tile: Tile<Texture<Line, f32>, 32>, block: Block) {
    let block = block.sync();
    let _ = tile.read(&block)[(0, 0)];
}

#[kernel(block(8, 8, 4))]
pub fn shares_cells(mut tile: Tile<u32, 8, 8>, block: Block) {
    if let Some(cell) = tile.mine(&block) {
        *cell = 1;
    }
}

/// The host cannot write a static that is never changed.
#[address_space(global)]
pub static TABLE: [&'static u32; 2] = [&5, &6];

fn symbol<S: cuda_std::kernel::Symbol>() {}

fn writes() {
    symbol::<TABLE>();
}

/// Nor references in one that is.
#[address_space(global)]
pub static REFERENCES: Constant<[&'static u32; 2]> = Constant::new([&5, &6]);

fn main() {}
