/// Returns whether the wide versions of functions may be called: AVX2, FMA and bit operations.
#[inline]
pub(crate) fn has_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("lzcnt")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Calls the function compiled for the wide instructions of x86-64 where the CPU has them, else the other.
///
/// # Safety
/// - The first argument is true only where [`has_wide`] is.
macro_rules! widest {
    ($has_wide:expr, $wide:expr, $any:expr) => {{
        #[cfg(target_arch = "x86_64")]
        if $has_wide {
            // SAFETY: the CPU has the features, as the caller vouches.
            return unsafe { $wide };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = $has_wide;
        $any
    }};
}
pub(crate) use widest;
