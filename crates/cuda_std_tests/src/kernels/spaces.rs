use core::mem::MaybeUninit;
use cuda_std::{address_space, kernel, shared, thread};

use super::THREADS;

/// A table that the host may replace.
#[address_space(constant)]
pub static mut SPACES_TABLE: [f32; 64] = [1.0; 64];

/// A table that is the same for ever.
#[address_space(constant)]
pub static SPACES_FIXED: [u32; 8] = [2, 3, 5, 7, 11, 13, 17, 19];

/// A counter that the host finds by its name.
#[address_space(global)]
pub static mut SPACES_COUNTER: u32 = 41;

/// Reads constant memory at the same place in all threads: one broadcast.
#[kernel]
pub unsafe fn constant_uniform(target: *mut f32, row: u32) {
    let tid = thread::thread_idx_x() as usize;
    let table = (&raw const SPACES_TABLE).cast::<f32>();
    // SAFETY: the launch contract of the module; `row` is below 64.
    unsafe { *target.add(tid) = *table.add(row as usize) };
}

/// Reads a fixed table at a different place in each thread.
#[kernel]
pub unsafe fn constant_fixed(target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(tid) = SPACES_FIXED[tid % 8] };
}

/// One thread reads and writes the global counter.
#[kernel]
pub unsafe fn global_static(target: *mut u32) {
    let tid = thread::thread_idx_x();
    if tid == 0 {
        let counter = &raw mut SPACES_COUNTER;
        // SAFETY: the launch contract of the module; one thread of one block is here.
        unsafe {
            *counter += 1;
            *target = *counter;
        }
    }
}

/// Reverses through an array of `MaybeUninit` elements.
#[kernel]
pub unsafe fn shared_array(source: *const u32, target: *mut u32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<u32>; THREADS as usize] =
        [const { MaybeUninit::uninit() }; THREADS as usize];
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; each element is written before the barrier and read
    // after it.
    unsafe {
        TILE[tid].write(*source.add(tid));
        thread::sync_threads();
        *target.add(tid) = TILE[THREADS as usize - 1 - tid].assume_init();
    }
}

/// Reverses through dynamic shared memory, of 16-byte elements in 64 x 16 bytes.
#[kernel]
pub unsafe fn shared_dynamic(source: *const [u32; 4], target: *mut [u32; 4]) {
    let tile = shared::dynamic_shared_mem::<[u32; 4]>();
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; each element is written before the barrier and read
    // after it.
    unsafe {
        *tile.add(tid) = *source.add(tid);
        thread::sync_threads();
        *target.add(tid) = *tile.add(THREADS as usize - 1 - tid);
    }
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub slope: f32,
    /// Intercept of the line.
    pub offset: f64,
    /// Number of elements.
    pub count: u16,
}

/// Takes parameters of every form.
#[kernel]
pub unsafe fn parameters<'a>(
    source: &'a [f32],
    Line { slope, offset, count }: Line,
    mut factor: f32,
    target: &'a mut [f32],
    first: &'a u32,
) {
    let tid = thread::thread_idx_x() as usize;
    factor += *first as f32;
    if tid < source.len() && tid < usize::from(count) && tid < target.len() {
        target[tid] = source[tid] * slope * factor + offset as f32;
    }
}
