//! Additions to several neighbouring numbers by one request.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

#[cfg(target_arch = "nvptx64")]
use crate::capability::require;
use crate::gpu_only;
use crate::vector::{F32x2, F32x4};

/// Declares additions of vectors.
macro_rules! additions {
    ($($(#[$documentation:meta])* $name:ident $vector:ty: $instruction:literal $list:literal $($field:ident)*;)*) => { $(
        $(#[$documentation])*
        ///
        /// The whole vector is not atomic: another thread may see some of its numbers added and others not yet. Compute capability
        /// 9.0 and PTX 8.1. Beyond rust-cuda.
        ///
        /// # Safety
        /// - Lengths: `target` is in global memory and valid for reads and writes.
        /// - Alignment: it is aligned to the size of the vector.
        /// - Aliasing: while other threads access the numbers, all do by atomics of device or system scope.
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $name(target: *mut $vector, value: $vector) {
            require::<90>();
            // SAFETY: the caller's contract; the address of global memory is the generic one.
            unsafe {
                asm!(
                    concat!($instruction, " [{target}], {{", $list, "}};"),
                    target = in(reg64) target,
                    $($field = in(reg32) value.$field,)*
                    options(nostack, preserves_flags)
                );
            }
        }
    )* };
}

additions! {
    /// Adds to two neighbouring numbers, to each atomically for the device. PTX: `red.relaxed.gpu.global.add.v2.f32`.
    add_f32x2 F32x2: "red.relaxed.gpu.global.add.v2.f32" "{x}, {y}" x y;
    /// Adds to four neighbouring numbers, to each atomically for the device. PTX: `red.relaxed.gpu.global.add.v4.f32`.
    add_f32x4 F32x4: "red.relaxed.gpu.global.add.v4.f32" "{x}, {y}, {z}, {w}" x y z w;
}
