use cuda_std::warp::Tile;
use cuda_std::{grid, kernel, thread};

/// Stores for each thread what its tile of `N` lanes found together, eight words.
#[kernel(N = [2, 4, 8, 16, 32])]
pub unsafe fn tiles<const N: u32>(source: *const u32, target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    let tile = Tile::<N>::new();
    // SAFETY: the launch contract of the module: whole warps; the target has eight words for each thread.
    unsafe {
        let value = *source.add(tid);
        tile.sync();
        let found = [
            tile.rank() | tile.index() << 8,
            tile.ballot(value.is_multiple_of(3)),
            tile.reduce(value, |a, b| a + b),
            tile.shuffle(value, 1),
            tile.shuffle_up(value, 1).unwrap_or(1000),
            tile.shuffle_down(value, 1).unwrap_or(1000),
            tile.shuffle_xor(value, 1),
            u32::from(tile.any(value == 7)) | u32::from(tile.all(value < 40)) << 1,
        ];
        for (at, word) in found.into_iter().enumerate() {
            *target.add(8 * tid + at) = word;
        }
    }
}

/// Tiles in different branches do not wait for each other.
#[kernel]
pub unsafe fn diverged_tiles(source: *const u32, target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    let tile = Tile::<4>::new();
    // SAFETY: the launch contract of the module; all lanes of a tile take the same branch.
    unsafe {
        let value = *source.add(tid);
        *target.add(tid) = if tile.index().is_multiple_of(2) {
            tile.reduce(value, |a, b| a + b)
        } else {
            tile.reduce(value, u32::max)
        };
    }
}

/// Each thread stores its index, waits for the grid, and adds up what the next block stored, twice.
#[kernel]
pub unsafe fn grid_barrier(target: *mut u32) {
    let (threads, blocks) = (thread::block_dim_x(), thread::grid_dim_x());
    let own = thread::index_1d();
    let next = (own + threads) % (threads * blocks);
    // SAFETY: the target has two words for each thread of the grid; barriers separate storing and reading.
    unsafe {
        let second = target.add((threads * blocks) as usize);
        *target.add(own as usize) = own;
        grid::sync();
        *second.add(own as usize) = *target.add(next as usize) + 1;
        grid::sync();
        *target.add(own as usize) = *second.add(next as usize);
    }
}
