//! The virtual architectures PTX can be built for.

/// A virtual architecture (`compute_NN`): the oldest GPU generation a PTX module runs on.
///
/// The driver compiles PTX for its own GPU at load time, so a module built for
/// `Compute70` also runs on every later generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NvvmArch {
    /// Volta (V100).
    Compute70,
    /// Turing (T4, RTX 20).
    Compute75,
    /// Ampere, data centre (A100). `cp.async` starts here.
    Compute80,
    /// Ampere, consumer (RTX 30).
    Compute86,
    /// Ada (RTX 40, L4, L40).
    Compute89,
    /// Hopper (H100, H200). Clusters, mbarrier transactions and bulk copies start here.
    Compute90,
    /// Hopper and nothing else: with the instructions that no other generation has, such as `wgmma`.
    Compute90a,
    /// Blackwell, data centre (B200).
    Compute100,
    /// Blackwell, consumer (RTX 50).
    Compute120,
}

impl NvvmArch {
    /// Every architecture, oldest first.
    pub const ALL: &[NvvmArch] = &[
        NvvmArch::Compute70,
        NvvmArch::Compute75,
        NvvmArch::Compute80,
        NvvmArch::Compute86,
        NvvmArch::Compute89,
        NvvmArch::Compute90,
        NvvmArch::Compute90a,
        NvvmArch::Compute100,
        NvvmArch::Compute120,
    ];

    /// The compute capability as one number: 70 for 7.0, 120 for 12.0.
    pub const fn capability_value(self) -> u32 {
        match self {
            NvvmArch::Compute70 => 70,
            NvvmArch::Compute75 => 75,
            NvvmArch::Compute80 => 80,
            NvvmArch::Compute86 => 86,
            NvvmArch::Compute89 => 89,
            NvvmArch::Compute90 | NvvmArch::Compute90a => 90,
            NvvmArch::Compute100 => 100,
            NvvmArch::Compute120 => 120,
        }
    }

    /// The architecture of a capability number such as 90, if this builder knows it.
    pub fn from_capability(value: u32) -> Option<NvvmArch> {
        Self::ALL.iter().copied().find(|arch| arch.capability_value() == value)
    }

    /// The architecture of a name such as `90` or `90a`, if this builder knows it.
    pub fn from_name(name: &str) -> Option<NvvmArch> {
        Self::ALL.iter().copied().find(|arch| arch.processor().strip_prefix("sm_") == Some(name))
    }

    /// The major part of the compute capability: 9 for 9.0.
    pub const fn major_version(self) -> u32 {
        self.capability_value() / 10
    }

    /// The minor part of the compute capability: 0 for 9.0.
    pub const fn minor_version(self) -> u32 {
        self.capability_value() % 10
    }

    /// Whether PTX for it runs on this generation alone.
    pub const fn is_specific(self) -> bool {
        matches!(self, NvvmArch::Compute90a)
    }

    /// What its name has behind the number.
    const fn suffix(self) -> &'static str {
        if self.is_specific() { "a" } else { "" }
    }

    /// The name device code tests with `#[cfg(target_feature = "compute_90")]`.
    pub fn target_feature(self) -> String {
        format!("compute_{}{}", self.capability_value(), self.suffix())
    }

    /// [`Self::target_feature`] of this architecture and of every older one.
    pub fn all_target_features(self) -> Vec<String> {
        let has = |arch: &&NvvmArch| **arch == self || **arch < self && !arch.is_specific();
        Self::ALL.iter().filter(has).map(|arch| arch.target_feature()).collect()
    }

    /// The PTX version to write, as LLVM's feature name. 8.0 is that of CUDA 12.0, the oldest driver
    /// we support; it has the cache hints that older versions lack. Blackwell needs a newer one.
    pub fn ptx_version(self) -> &'static str {
        match self {
            NvvmArch::Compute100 => "+ptx86",
            NvvmArch::Compute120 => "+ptx87",
            _ => "+ptx80",
        }
    }

    /// LLVM's processor name: `sm_90`, or `sm_90a`.
    pub fn processor(self) -> String {
        format!("sm_{}{}", self.capability_value(), self.suffix())
    }
}
