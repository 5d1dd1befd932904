use cuda_std::{kernel, mem, thread};

/// Stores the value of a function for each thread.
macro_rules! stores_u32 {
    ($($name:ident: $value:expr;)*) => {
        $(
            #[kernel]
            pub unsafe fn $name(target: *mut u32) {
                let value: u32 = $value;
                // SAFETY: the launch contract of the module.
                unsafe { *target.add(thread::thread_idx_x() as usize) = value };
            }
        )*
    };
}

stores_u32! {
    thread_idx_x: thread::thread_idx_x();
    thread_idx_y: thread::thread_idx_y();
    thread_idx_z: thread::thread_idx_z();
    block_idx_x: thread::block_idx_x();
    block_idx_y: thread::block_idx_y();
    block_idx_z: thread::block_idx_z();
    block_dim_x: thread::block_dim_x();
    block_dim_y: thread::block_dim_y();
    block_dim_z: thread::block_dim_z();
    grid_dim_x: thread::grid_dim_x();
    grid_dim_y: thread::grid_dim_y();
    grid_dim_z: thread::grid_dim_z();
    warp_size: thread::warp_size();
    dynamic_smem_size: mem::dynamic_smem_size();
    total_smem_size: mem::total_smem_size();
}

/// Stores at each thread's index in the launch the index; any grid and block.
#[kernel]
pub unsafe fn index_of_launch(target: *mut u32) {
    let index = thread::index();
    // SAFETY: the target has as many elements as the launch has threads.
    unsafe { *target.add(index as usize) = index };
}

/// Stores at each thread's index in the launch its index in one dimension; any grid and block.
#[kernel]
pub unsafe fn index_1d(target: *mut u32) {
    // SAFETY: the target has as many elements as the launch has threads.
    unsafe { *target.add(thread::index() as usize) = thread::index_1d() };
}

/// Stores at each thread's index in the launch its two indices, packed; any grid and block.
#[kernel]
pub unsafe fn index_2d(target: *mut u32) {
    let index = thread::index_2d();
    // SAFETY: the target has as many elements as the launch has threads.
    unsafe { *target.add(thread::index() as usize) = index.y << 16 | index.x };
}

/// Stores at each thread's index in the launch its three indices, packed; any grid and block.
#[kernel]
pub unsafe fn index_3d(target: *mut u32) {
    let index = thread::index_3d();
    let packed = index.z << 20 | index.y << 10 | index.x;
    // SAFETY: the target has as many elements as the launch has threads.
    unsafe { *target.add(thread::index() as usize) = packed };
}

/// Stores at each thread's index in the launch the sums of the vectors of indices and dimensions.
#[kernel]
pub unsafe fn index_vectors(target: *mut u32) {
    let indices = (thread::thread_idx() + thread::block_idx()).element_sum();
    let dimensions = (thread::block_dim() + thread::grid_dim()).element_sum();
    // SAFETY: the target has as many elements as the launch has threads.
    unsafe { *target.add(thread::index() as usize) = dimensions << 16 | indices };
}

/// Stores at each thread's index in the launch whether it is the first; any grid and block.
#[kernel]
pub unsafe fn first(target: *mut u32) {
    // SAFETY: the target has as many elements as the launch has threads.
    unsafe { *target.add(thread::index() as usize) = u32::from(thread::first()) };
}

/// Reverses the block's elements in place: every load is before the barrier, every store after it.
#[kernel]
pub unsafe fn sync_threads(data: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    let last = thread::block_dim_x() as usize - 1;
    // SAFETY: the launch contract of the module.
    unsafe {
        let value = *data.add(last - tid);
        thread::sync_threads();
        *data.add(tid) = value;
    }
}

/// Stores the number of threads of the block whose element is not zero.
#[kernel]
pub unsafe fn sync_threads_count(source: *const u32, target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(tid) = thread::sync_threads_count(*source.add(tid)) };
}

/// Stores whether the elements of all threads of the block are not zero.
#[kernel]
pub unsafe fn sync_threads_and(source: *const u32, target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(tid) = thread::sync_threads_and(*source.add(tid)) };
}

/// Stores whether the element of any thread of the block is not zero.
#[kernel]
pub unsafe fn sync_threads_or(source: *const u32, target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(tid) = thread::sync_threads_or(*source.add(tid)) };
}

/// Warp 0 produces, warp 1 consumes: each element passes from one to the other at barrier 1, at
/// which warp 0 only arrives.
#[kernel]
pub unsafe fn named_barriers(source: *const u32, exchange: *mut u32, target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; 64 threads, whole warps, meet at barrier 1.
    unsafe {
        if tid < 32 {
            *exchange.add(tid) = *source.add(tid) + 1;
            thread::block_fence();
            thread::named_barrier_arrive(1, 64);
        } else {
            thread::named_barrier(1, 64);
            *target.add(tid - 32) = *exchange.add(63 - tid);
        }
    }
}

/// Declares a kernel with a fence between two stores.
macro_rules! fences {
    ($($name:ident;)*) => {
        $(
            #[kernel]
            pub unsafe fn $name(target: *mut u32) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module; the target has twice the elements.
                unsafe {
                    *target.add(tid) = 1;
                    thread::$name();
                    *target.add(tid + thread::block_dim_x() as usize) = 2;
                }
            }
        )*
    };
}

fences! {
    block_fence;
    grid_fence;
    device_fence;
    system_fence;
}

#[kernel]
pub unsafe fn nanosleep(target: *mut u32) {
    thread::nanosleep(100);
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(thread::thread_idx_x() as usize) = 1 };
}

/// Has launch bounds, by a constant expression.
#[kernel(launch_bounds(super::THREADS * 2, 3))]
pub unsafe fn launch_bounds(target: *mut u32) {
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(thread::thread_idx_x() as usize) = 1 };
}
