use super::launch::{Launch, per_thread};
use crate::kernels::{THREADS, async_copies, clusters, memory, vectors};
use bytemuck::Pod;
use cuda_std::kernel::Kernel;
use cuda_std::vector::{
    F32x2, F32x4, F64x2, I32x2, I32x4, I64x2, U8x4, U8x8, U8x16, U16x4, U16x8, U32x2, U32x4, U64x2,
};

/// An element whose bytes all differ from those of its neighbours.
fn element<T: Pod>(tid: u32) -> T {
    let mut value = T::zeroed();
    for (index, byte) in bytemuck::bytes_of_mut(&mut value).iter_mut().enumerate() {
        *byte = (tid * 31 + index as u32 * 7 + 1) as u8;
    }
    value
}

/// A launch of a kernel that copies elements of type `T`.
fn copy<T: Pod, F>(kernel: Kernel<F>) -> Launch {
    let source = per_thread(element::<T>);
    Launch::of(kernel).reads(&source).writes(&source)
}

/// A launch of a kernel that reverses elements of type `T`.
fn reverse<T: Pod, F>(kernel: Kernel<F>) -> Launch {
    let source = per_thread(element::<T>);
    Launch::of(kernel).reads(&source).writes(&per_thread(|tid| element::<T>(THREADS - 1 - tid)))
}

/// A launch of a kernel that copies the first elements of type `T` and fills with zeros.
fn fill<T: Pod, F>(kernel: Kernel<F>) -> Launch {
    const COUNT: u32 = 41;
    let source = per_thread(element::<T>);
    let expected = per_thread(|tid| if tid < COUNT { element::<T>(tid) } else { T::zeroed() });
    Launch::of(kernel).reads(&source).writes(&expected).value(COUNT)
}

pub(super) fn launches() -> Vec<Launch> {
    let vector = |tid: u32| F32x4::new(tid as f32, 1.0, 0.5 * tid as f32, -1.0);
    let floats = per_thread(vector);
    let word = |tid: u32| tid * 3 + 1;
    vec![
        copy::<f32, _>(memory::ca_wb_f32),
        copy::<f32, _>(memory::cg_cg_f32),
        copy::<f32, _>(memory::cs_cs_f32),
        copy::<f32, _>(memory::lu_wt_f32),
        copy::<f32, _>(memory::cv_wt_f32),
        copy::<f32, _>(memory::nc_wb_f32),
        copy::<f32, _>(memory::nc_no_allocate_f32),
        copy::<f32, _>(memory::no_allocate_f32),
        copy::<f32, _>(memory::evict_first_f32),
        copy::<f32, _>(memory::evict_last_f32),
        copy::<f32, _>(memory::evict_unchanged_f32),
        copy::<f32, _>(memory::prefetch_64_f32),
        copy::<f32, _>(memory::prefetch_128_f32),
        copy::<f32, _>(memory::prefetch_256_f32),
        copy::<F32x4, _>(memory::cs_cs_f32x4),
        copy::<F32x4, _>(memory::cg_cg_f32x4),
        copy::<U32x4, _>(memory::nc_wt_u32x4),
        copy::<F32x4, _>(memory::nc_no_allocate_f32x4),
        copy::<F32x4, _>(memory::evict_last_f32x4),
        copy::<u8, _>(memory::cs_cs_u8),
        copy::<i16, _>(memory::cs_cs_i16),
        copy::<u16, _>(memory::cs_cs_f16),
        copy::<u16, _>(memory::cs_cs_bf16),
        copy::<i32, _>(memory::cs_cs_i32),
        copy::<U8x4, _>(memory::cs_cs_u8x4),
        copy::<u64, _>(memory::cs_cs_u64),
        copy::<f64, _>(memory::cs_cs_f64),
        copy::<F32x2, _>(memory::cs_cs_f32x2),
        copy::<F64x2, _>(memory::cs_cs_f64x2),
        copy::<U8x16, _>(memory::cs_cs_u8x16),
        copy::<f32, _>(memory::policy_evict_first),
        copy::<F32x4, _>(memory::policy_evict_last),
        copy::<u64, _>(memory::policy_evict_normal),
        copy::<F32x2, _>(memory::policy_evict_unchanged),
        copy::<f32, _>(memory::prefetch_l1),
        copy::<f32, _>(memory::prefetch_l2),
        copy::<f32, _>(memory::prefetch_l2_evict_last),
        copy::<f32, _>(memory::l2_evict_normal),
        copy::<f32, _>(memory::discard_l2),
        Launch::of(memory::load_around_barrier)
            .changes(&per_thread(word), &per_thread(|tid| word(tid ^ 1) + 100))
            .writes(&per_thread(|tid| word(tid ^ 1) << 16 | (word(tid) + 100))),
        copy::<F32x2, _>(vectors::copy_f32x2),
        copy::<F32x4, _>(vectors::copy_f32x4),
        copy::<F64x2, _>(vectors::copy_f64x2),
        copy::<U32x2, _>(vectors::copy_u32x2),
        copy::<U32x4, _>(vectors::copy_u32x4),
        copy::<I32x2, _>(vectors::copy_i32x2),
        copy::<I32x4, _>(vectors::copy_i32x4),
        copy::<U64x2, _>(vectors::copy_u64x2),
        copy::<I64x2, _>(vectors::copy_i64x2),
        copy::<U16x4, _>(vectors::copy_u16x4),
        copy::<U16x8, _>(vectors::copy_u16x8),
        copy::<U8x4, _>(vectors::copy_u8x4),
        copy::<U8x8, _>(vectors::copy_u8x8),
        copy::<U8x16, _>(vectors::copy_u8x16),
        copy::<F32x4, _>(vectors::load_store_functions),
        reverse::<F32x4, _>(vectors::shared_vectors),
        Launch::of(vectors::copy_slices).reads_slice(&floats).writes_slice(&floats),
        Launch::of(vectors::swap_vectors)
            .changes(&floats, &per_thread(element::<F32x4>))
            .changes(&per_thread(element::<F32x4>), &floats),
        Launch::of(vectors::vector_fields).reads(&floats).writes(&per_thread(|tid| {
            let [x, y, _, w] = vector(tid).to_array();
            F32x4::new(x + w, y, 2.0, w)
        })),
        Launch::of(vectors::vector_arithmetic)
            .reads(&floats)
            .writes(&per_thread(|tid| vector(tid).map(|x| ((x + 1.0) * x - 2.0) * 3.0))),
        reverse::<f32, _>(async_copies::async_copy_4),
        reverse::<F32x2, _>(async_copies::async_copy_8),
        reverse::<F32x4, _>(async_copies::async_copy_16),
        reverse::<F32x4, _>(async_copies::async_copy_16_bypass),
        fill::<f32, _>(async_copies::async_fill_4),
        fill::<F32x2, _>(async_copies::async_fill_8),
        fill::<F32x4, _>(async_copies::async_fill_16),
        fill::<F32x4, _>(async_copies::async_fill_16_bypass),
        pipeline(),
        reverse::<u32, _>(async_copies::bulk_copies),
        Launch::of(async_copies::mbarrier_phases)
            .reads(&per_thread(word))
            .writes(&per_thread(|_| 7_u32))
            .writes(&per_thread(|tid| word(tid ^ 32) + 1)),
        cluster_exchange(),
        cluster_registers(),
    ]
}

/// Small whole numbers, whose sums are exact.
fn pipeline() -> Launch {
    let source: Vec<f32> = (0..4 * THREADS).map(|index| (index * 5 % 97) as f32).collect();
    let expected = per_thread(|tid| {
        (0..4).map(|tile| source[(tile * THREADS + (tid + 1) % THREADS) as usize]).sum::<f32>()
    });
    Launch::of(async_copies::async_pipeline).reads(&source).writes(&expected)
}

/// Four blocks, which are two clusters of two.
fn cluster_exchange() -> Launch {
    let element = |index: u32| index * 11 + 5;
    let source: Vec<u32> = (0..4 * THREADS).map(element).collect();
    let expected: Vec<u32> = (0..4 * THREADS)
        .map(|index| element(((index / THREADS) ^ 1) * THREADS + index % THREADS))
        .collect();
    Launch::of(clusters::cluster_exchange)
        .grid([4, 1, 1], [THREADS, 1, 1])
        .reads(&source)
        .writes(&expected)
}

/// Four blocks, each of which gets the sum of its partner's elements.
pub(super) fn cluster_add() -> Launch {
    let element = |index: u32| index * 11 + 5;
    let source: Vec<u32> = (0..4 * THREADS).map(element).collect();
    let sum = |block: u32| (0..THREADS).map(|tid| element((block ^ 1) * THREADS + tid)).sum();
    let sums: Vec<u32> = (0..4).map(sum).collect();
    Launch::of(clusters::cluster_add).grid([4, 1, 1], [THREADS, 1, 1]).reads(&source).writes(&sums)
}

/// Four blocks, to whose targets their elements are added.
pub(super) fn cluster_asynchronous() -> Launch {
    let source: Vec<u32> = (0..4 * THREADS).map(|index| index * 11 + 5).collect();
    let launch = Launch::of(clusters::cluster_asynchronous).grid([4, 1, 1], [THREADS, 1, 1]);
    launch.reads(&source).changes(&vec![0_u32; source.len()], &source)
}

fn cluster_registers() -> Launch {
    let expected: Vec<u32> = (0..4 * THREADS)
        .map(|index| {
            let block = index / THREADS;
            let (rank, cluster) = (block % 2, block / 2);
            // A cluster of 2 x 1 x 1 blocks, in a grid of 2 x 1 x 1 clusters.
            let sums = rank + 10 * 4 + 1000 * cluster + 100_000 * 4;
            sums * 100 + rank * 10 + 2
        })
        .collect();
    Launch::of(clusters::cluster_registers).grid([4, 1, 1], [THREADS, 1, 1]).writes(&expected)
}

/// Operators that were added later.
pub(super) fn more_operators() -> Vec<Launch> {
    vec![
        copy::<f32, _>(memory::nc_evict_first_f32),
        copy::<f32, _>(memory::nc_evict_last_f32),
        copy::<f32, _>(memory::prefetch_l2_evict_normal),
    ]
}
