//! Refuses, at compile time, instructions that the target does not have.

/// The argument of [`require`] for compute capability 9.0 and no newer one.
pub(crate) const ONLY_90: u32 = 9000;
/// The same for compute capability 12.0.
pub(crate) const ONLY_120: u32 = 12000;

/// Fails the build where the caller is compiled for the device with an older compute capability
/// than `NEEDED`, such as 80 for 8.0, or 0 for any. Compiles to nothing.
///
/// The check happens when the caller is instantiated, so only code that uses an instruction needs
/// the capability. Without it the error would come from the driver, when the module is loaded.
#[inline(always)]
pub(crate) fn require<const NEEDED: u32>() {
    const {
        if cfg!(target_arch = "nvptx64") {
            match NEEDED {
                0 => {}
                75 => assert!(
                    cfg!(target_feature = "compute_75"),
                    "this instruction needs compute capability 7.5: add `min_compute_capability = 75` to the kernel"
                ),
                80 => assert!(
                    cfg!(target_feature = "compute_80"),
                    "this instruction needs compute capability 8.0: add `min_compute_capability = 80` to the kernel"
                ),
                90 => assert!(
                    cfg!(target_feature = "compute_90"),
                    "this instruction needs compute capability 9.0: add `min_compute_capability = 90` to the kernel"
                ),
                100 => assert!(
                    cfg!(target_feature = "compute_100"),
                    "this instruction needs compute capability 10.0: add `min_compute_capability = 100` to the kernel"
                ),
                ONLY_90 => assert!(
                    cfg!(target_feature = "compute_90a"),
                    "this instruction exists on compute capability 9.0 alone: add `min_compute_capability = 90a` to the kernel"
                ),
                ONLY_120 => assert!(
                    cfg!(target_feature = "compute_120a"),
                    "this instruction exists on compute capability 12.0 alone: add `min_compute_capability = 120a` to the kernel"
                ),
                _ => panic!("a compute capability that this check does not know"),
            }
        }
    }
}
