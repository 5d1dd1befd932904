use super::launch::{Argument, Buffer, Expected, Launch, bytes, per_thread};
use crate::kernels::{THREADS, misc, pointers, printing, spaces, thread};

/// A launch of several blocks in three dimensions.
const GRID: [u32; 3] = [3, 2, 2];
/// Its blocks: 30 threads, not whole warps.
const BLOCK: [u32; 3] = [5, 3, 2];

/// One value for each thread of that launch, in the order of its index: a function of the block's and the thread's
/// index.
fn per_launch(value: impl Fn([u32; 3], [u32; 3]) -> u32) -> Vec<u32> {
    let mut values = Vec::new();
    for block_z in 0..GRID[2] {
        for block_y in 0..GRID[1] {
            for block_x in 0..GRID[0] {
                for z in 0..BLOCK[2] {
                    for y in 0..BLOCK[1] {
                        for x in 0..BLOCK[0] {
                            values.push(value([block_x, block_y, block_z], [x, y, z]));
                        }
                    }
                }
            }
        }
    }
    values
}

pub(super) fn launches() -> Vec<Launch> {
    let element = |tid: u32| tid * 7 + 3;
    let reversed = per_thread(|tid| element(THREADS - 1 - tid));
    let sparse = per_thread(|tid| u32::from(tid.is_multiple_of(3)) << 20);
    let count = sparse.iter().filter(|&&value| value != 0).count() as u32;
    let zeros = per_thread(|_| 0_u32);
    let ones = per_thread(|_| 1_u32);
    let at =
        |block: [u32; 3], thread: [u32; 3], axis: usize| block[axis] * BLOCK[axis] + thread[axis];
    let mut launches = vec![
        Launch::of(thread::thread_idx_x).writes(&per_thread(|tid| tid)),
        Launch::of(thread::thread_idx_y).writes(&zeros),
        Launch::of(thread::thread_idx_z).writes(&zeros),
        Launch::of(thread::block_idx_x).writes(&zeros),
        Launch::of(thread::block_idx_y).writes(&zeros),
        Launch::of(thread::block_idx_z).writes(&zeros),
        Launch::of(thread::block_dim_x).writes(&per_thread(|_| THREADS)),
        Launch::of(thread::block_dim_y).writes(&ones),
        Launch::of(thread::block_dim_z).writes(&ones),
        Launch::of(thread::grid_dim_x).writes(&ones),
        Launch::of(thread::grid_dim_y).writes(&ones),
        Launch::of(thread::grid_dim_z).writes(&ones),
        Launch::of(thread::warp_size).writes(&per_thread(|_| 32_u32)),
        Launch::of(thread::dynamic_smem_size).shared(1024).writes(&per_thread(|_| 1024_u32)),
        Launch::of(thread::index_of_launch)
            .grid(GRID, BLOCK)
            .writes(&(0..360).collect::<Vec<u32>>()),
        Launch::of(thread::index_1d)
            .grid(GRID, BLOCK)
            .writes(&per_launch(|block, thread| at(block, thread, 0))),
        Launch::of(thread::index_2d)
            .grid(GRID, BLOCK)
            .writes(&per_launch(|block, thread| at(block, thread, 1) << 16 | at(block, thread, 0))),
        Launch::of(thread::index_3d).grid(GRID, BLOCK).writes(&per_launch(|block, thread| {
            at(block, thread, 2) << 20 | at(block, thread, 1) << 10 | at(block, thread, 0)
        })),
        Launch::of(thread::index_vectors).grid(GRID, BLOCK).writes(&per_launch(|block, thread| {
            let dimensions: u32 = GRID.iter().chain(&BLOCK).sum();
            let indices: u32 = block.iter().chain(&thread).sum();
            dimensions << 16 | indices
        })),
        Launch::of(thread::first)
            .grid(GRID, BLOCK)
            .writes(&per_launch(|block, thread| u32::from(block == [0; 3] && thread == [0; 3]))),
        Launch::of(thread::sync_threads).changes(&per_thread(element), &reversed),
        Launch::of(thread::sync_threads_count).reads(&sparse).writes(&per_thread(|_| count)),
        Launch::of(thread::sync_threads_and).reads(&sparse).writes(&zeros),
        Launch::of(thread::sync_threads_and).reads(&ones).writes(&ones),
        Launch::of(thread::sync_threads_or).reads(&sparse).writes(&ones),
        Launch::of(thread::sync_threads_or).reads(&zeros).writes(&zeros),
        Launch::of(thread::named_barriers)
            .reads(&(0..32).map(element).collect::<Vec<u32>>())
            .writes(&(0..32).map(|tid| element(tid) + 1).collect::<Vec<u32>>())
            .writes(&(0..32).map(|tid| element(31 - tid) + 1).collect::<Vec<u32>>()),
        Launch::of(thread::nanosleep).writes(&ones),
        Launch::of(thread::launch_bounds).writes(&ones),
        Launch::of(misc::clock).writes(&per_thread(|_| 1_u64)),
        Launch::of(misc::clock32).writes(&ones),
        Launch::of(misc::globaltimer).writes(&ones),
        Launch::of(misc::multiprocessor).writes(&ones),
        Launch::of(misc::profiler_counter).writes(&ones),
        Launch::of(misc::profiler_counter_dynamic).writes(&ones).value(5_u32),
        Launch::of(spaces::constant_uniform).writes(&per_thread(|_| 1.0_f32)).value(17_u32),
        Launch::of(spaces::constant_fixed)
            .writes(&per_thread(|tid| spaces::SPACES_FIXED[tid as usize % 8])),
        Launch::of(spaces::global_static).writes(&[42_u32]),
        Launch::of(spaces::shared_array).reads(&per_thread(element)).writes(&reversed),
        Launch::of(spaces::shared_dynamic)
            .shared(THREADS * 16)
            .reads(&per_thread(|tid| [element(tid), tid, 1, 2]))
            .writes(&per_thread(|tid| {
                let tid = THREADS - 1 - tid;
                [element(tid), tid, 1, 2]
            })),
        parameters(),
        Launch::of(pointers::convert_addresses)
            .reads(&per_thread(element))
            .writes(&per_thread(|tid| element(tid) + 4 * tid)),
        Launch::of(pointers::convert_other_spaces)
            .reads(&per_thread(element))
            .writes(&per_thread(|tid| element(tid) + 5 + tid % 4 + tid)),
        Launch::of(printing::print_rust)
            .stack(4096)
            .reads(&per_thread(|tid| tid as f32 / 4.0))
            .value(2_u32),
        Launch::of(printing::print_c).reads(&per_thread(|tid| tid as f32 / 4.0)).value(2_u32),
        Launch::of(printing::print_long).stack(4096).value(7_u32),
    ];
    let stores = [1_u32, 2].map(|value| per_thread(|_| value)).concat();
    for fence in
        [thread::block_fence, thread::grid_fence, thread::device_fence, thread::system_fence]
    {
        launches.push(Launch::of(fence).writes(&stores));
    }
    launches
}

/// A launch with parameters of every form.
fn parameters() -> Launch {
    let source = per_thread(|tid| tid as f32);
    let (slope, offset, count) = (0.5_f32, -2.0_f64, 60_u16);
    let (factor, first) = (3.0_f32, 2_u32);
    let mut line = Vec::from(slope.to_le_bytes());
    line.extend([0; 4]);
    line.extend(offset.to_le_bytes());
    line.extend(count.to_le_bytes());
    line.extend([0; 6]);
    let mut expected: Vec<f32> = source
        .iter()
        .map(|value| value * slope * (factor + first as f32) + offset as f32)
        .collect();
    for untouched in &mut expected[usize::from(count)..] {
        *untouched = f32::from_le_bytes([0xcd; 4]);
    }
    let mut launch = Launch::of(spaces::parameters).reads_slice(&source);
    launch.arguments.push(Argument::Value(line));
    launch = launch.value(factor).writes_slice(&expected);
    launch
        .arguments
        .push(Argument::Pointer(Buffer { input: bytes(&[first]), expected: Expected::Unchanged }));
    launch
}
