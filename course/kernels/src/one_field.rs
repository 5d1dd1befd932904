//! # One field: seven numbers per particle, of which one is wanted
//!
//! A particle has seven fields of 4 bytes. The host keeps the particles twice: `together` has the
//! seven fields of a particle side by side, `apart` has all first fields, then all second fields, and
//! so on. The kernel squares the fourth field of every particle.
//!
//! It reads `together`. Which of the two layouts lets a load of 32 lanes touch the fewest sectors?

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per particle.
/// - Both layouts hold `7 * n` words, `target` holds `n`.
#[kernel]
pub unsafe fn one_field(together: *const f32, apart: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i >= n {
        return;
    }
    // learn: your code
    // SAFETY: field 3 of `apart` begins at 3 n, and i < n.
    let value = unsafe { *apart.add((3 * n + i) as usize) };
    let _ = together;
    // learn: instead
    //| // TODO: how far apart do the addresses of neighbouring lanes lie?
    //| let value = unsafe { *together.add((7 * i + 3) as usize) };
    //| let _ = apart;
    // learn: end
    // SAFETY: i < n.
    unsafe { *target.add(i as usize) = value * value };
}
