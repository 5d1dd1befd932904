use alloc::boxed::Box;
use alloc::vec::Vec;
use cuda_std::{kernel, thread};

/// Each thread sums the squares below its element, by way of a vector that grows and a box.
#[kernel]
pub unsafe fn heap_sum_of_squares(source: *const u32, target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe {
        let mut squares = Vec::new();
        for number in 0..*source.add(tid) {
            squares.push(number * number);
        }
        let sum = Box::new(squares.iter().sum::<u32>());
        *target.add(tid) = *sum;
    }
}
