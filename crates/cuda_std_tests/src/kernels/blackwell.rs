use super::THREADS;
use core::mem::MaybeUninit;
use cuda_std::launch_control::{self, Answer};
use cuda_std::mbarrier::{self, Barrier};
use cuda_std::mma::C;
use cuda_std::wide::{self, Wide};
use cuda_std::{address_space, kernel, scaled_mma, thread};

/// Copies 32 bytes for each thread.
#[inline(always)]
unsafe fn copy<T: Wide>(source: *const T, target: *mut T) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module, with buffers aligned to 32 bytes.
    unsafe { wide::store(target.add(tid), wide::load(source.add(tid))) };
}

#[kernel(min_compute_capability = 100)]
pub unsafe fn blackwell_wide_f32(source: *const [f32; 8], target: *mut [f32; 8]) {
    // SAFETY: the launch contract.
    unsafe { copy(source, target) };
}

#[kernel(min_compute_capability = 100)]
pub unsafe fn blackwell_wide_u64(source: *const [u64; 4], target: *mut [u64; 4]) {
    // SAFETY: the launch contract.
    unsafe { copy(source, target) };
}

/// Stores each piece's number plus 1 in a grid of so many blocks as there are pieces, whichever block does it.
#[kernel(min_compute_capability = 100)]
pub unsafe fn blackwell_cancel(target: *mut u32) {
    #[address_space(shared)]
    static mut ANSWER: MaybeUninit<Answer> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut BARRIER: MaybeUninit<Barrier> = MaybeUninit::uninit();
    let (answer, barrier) = ((&raw mut ANSWER).cast(), (&raw mut BARRIER).cast());
    let tid = thread::thread_idx_x();
    let (mut piece, mut parity) = (thread::block_idx_x(), 0);
    // SAFETY: one thread makes the barrier ready and asks; all wait for the answer, and read it before the next question.
    unsafe {
        if tid == 0 {
            mbarrier::init(barrier, 1);
        }
        thread::sync_threads();
        loop {
            if tid == 0 {
                launch_control::try_cancel(answer, barrier);
                mbarrier::arrive_expect(barrier, size_of::<Answer>() as u32);
            }
            *target.add((piece * THREADS + tid) as usize) = piece + 1;
            mbarrier::wait(barrier, parity);
            let next = launch_control::cancelled(answer);
            thread::sync_threads();
            let Some(block) = next else { break };
            (piece, parity) = (block.x, 1 - parity);
        }
    }
}

/// Products of [`blackwell_scaled`].
pub const PRODUCTS: usize = 6;

/// Multiplies by each function matrices of one element each, with the scales of each lane, and adds the row's number.
#[kernel(min_compute_capability = 120a)]
pub unsafe fn blackwell_scaled(
    elements: *const [[u32; 2]; PRODUCTS],
    scales: *const [[u32; 2]; PRODUCTS],
    target: *mut [C<f32, 4>; PRODUCTS],
) {
    let lane = thread::thread_idx_x() as usize;
    let c = C::from_fn(|row, _| row as f32);
    // SAFETY: the launch contract of the module, with one warp; all its lanes come to each product.
    unsafe {
        let (elements, scales) = (*elements, *scales.add(lane));
        macro_rules! product {
            ($number:literal, $function:ident) => {{
                let [a, b] = elements[$number];
                scaled_mma::$function([a; 4], [b; 2], c, scales[$number])
            }};
        }
        *target.add(lane) = [
            product!(0, m16n8k32_e4m3_e4m3),
            product!(1, m16n8k32_e4m3_e5m2),
            product!(2, m16n8k32_e5m2_e4m3),
            product!(3, m16n8k32_e5m2_e5m2),
            product!(4, m16n8k64_e2m1_mx),
            product!(5, m16n8k64_e2m1_nv),
        ];
    }
}
