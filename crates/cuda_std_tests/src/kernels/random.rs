use cuda_std::random::{Philox, normal_f32};
use cuda_std::{kernel, thread};

/// Stores eight words, two uniform floats and two doubles, of each thread's subsequence.
#[kernel]
pub unsafe fn random_words(target: *mut u32, seed: u64, offset: u64) {
    let tid = thread::thread_idx_x() as usize;
    let mut random = Philox::new(seed, tid as u64, offset);
    // SAFETY: the launch contract of the module, with 14 words for each thread.
    unsafe {
        let target = target.add(14 * tid);
        for at in 0..8 {
            *target.add(at) = random.next_u32();
        }
        for at in 8..10 {
            *target.add(at) = random.next_f32().to_bits();
        }
        for nth in 0..2 {
            let bits = random.next_f64().to_bits();
            *target.add(10 + 2 * nth) = bits as u32;
            *target.add(11 + 2 * nth) = (bits >> 32) as u32;
        }
    }
}

/// Stores what becomes of two words for each thread.
#[kernel]
pub unsafe fn random_normals(words: *const u32, target: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module, with two for each thread.
    unsafe {
        let normals = normal_f32([*words.add(2 * tid), *words.add(2 * tid + 1)]);
        *target.add(2 * tid) = normals[0];
        *target.add(2 * tid + 1) = normals[1];
    }
}
