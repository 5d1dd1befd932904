use super::launch::{Launch, per_thread};
use crate::kernels::{generic, groups, heap};
use cuda_std::kernel::Kernel;

/// Returns what the tiles of a warp find: the host knows all lanes.
fn tiles<F>(kernel: Kernel<F>, lanes: u32) -> Launch {
    let source = per_thread(|tid| tid * 29 % 64);
    let of_thread = |tid: u32| -> [u32; 8] {
        let (rank, index) = (tid % lanes, tid % 32 / lanes);
        let first = (tid - rank) as usize;
        let tile = &source[first..first + lanes as usize];
        let value = |rank: u32| tile.get(rank as usize).copied().unwrap_or(1000);
        let threes = tile.iter().enumerate().filter(|(_, value)| **value % 3 == 0);
        [
            rank | index << 8,
            threes.map(|(rank, _)| 1 << rank).sum(),
            tile.iter().sum(),
            value(1),
            if rank == 0 { 1000 } else { value(rank - 1) },
            value(rank + 1),
            value(rank ^ 1),
            u32::from(tile.contains(&7)) | u32::from(tile.iter().all(|value| *value < 40)) << 1,
        ]
    };
    Launch::of(kernel).reads(&source).writes(&per_thread(of_thread).concat())
}

pub(super) fn launches() -> Vec<Launch> {
    let numbers = per_thread(|tid| tid * 29 % 64);
    let floats: Vec<f32> = numbers.iter().map(|&value| value as f32).collect();
    let doubles: Vec<f64> = numbers.iter().map(|&value| f64::from(value)).collect();
    let diverged: Vec<u32> = numbers
        .chunks(4)
        .enumerate()
        .flat_map(|(tile, values)| {
            let sum = values.iter().sum();
            let most = values.iter().copied().max().unwrap_or(0);
            [if tile % 2 == 0 { sum } else { most }; 4]
        })
        .collect();
    let tripled: Vec<u32> = numbers.iter().map(|&value| 3 * value).collect();
    let tripled_floats: Vec<f32> = floats.iter().map(|&value| 3.0 * value).collect();
    let four_doubles: Vec<f64> = doubles.iter().map(|&value| 4.0 * value).collect();
    let elements = per_thread(|tid| tid % 12);
    let squares: Vec<u32> =
        elements.iter().map(|&end| (0..end).map(|number| number * number).sum()).collect();
    vec![
        Launch::of(heap::heap_sum_of_squares).reads(&elements).writes(&squares),
        tiles(groups::tiles_2, 2),
        tiles(groups::tiles_4, 4),
        tiles(groups::tiles_8, 8),
        tiles(groups::tiles_16, 16),
        tiles(groups::tiles_32, 32),
        Launch::of(groups::diverged_tiles).reads(&numbers).writes(&diverged),
        Launch::of(generic::multiple_f32_2).reads(&floats).writes(&tripled_floats),
        Launch::of(generic::multiple_f64_3).reads(&doubles).writes(&four_doubles),
        Launch::of(generic::multiple_u32_2).reads(&numbers).writes(&tripled),
        Launch::of(generic::scaled_f32.unchecked())
            .value(3.0_f32)
            .reads_slice(&floats)
            .writes_slice(&tripled_floats),
    ]
}
