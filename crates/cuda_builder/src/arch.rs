//! The virtual architectures PTX can be built for.

use std::fmt::{Display, Formatter};

/// Declares [`NvvmArch`]: of each architecture the name behind `compute_`, and the PTX version to write, which is empty
/// where no PTX can be written.
macro_rules! architectures {
    ($($(#[$documentation:meta])* $arch:ident = $name:literal, $ptx:literal;)*) => {
        /// A virtual architecture (`compute_NN`): the oldest GPU generation a PTX module runs on.
        ///
        /// The driver compiles PTX for its own GPU at load time, so a module built for `Compute70` also runs on every later
        /// generation. A name with `f` has the instructions of a family and runs on its later members, one with `a` runs on
        /// one generation alone (PTX ISA, ".target").
        ///
        /// Those below 7.0 are there because rust-cuda has them: a build for them is refused.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum NvvmArch {
            $($(#[$documentation])* $arch,)*
        }

        impl NvvmArch {
            /// Every architecture, oldest first.
            pub const ALL: &[NvvmArch] = &[$(NvvmArch::$arch),*];

            /// The name device code tests with `#[cfg(target_feature = "compute_90")]`.
            pub const fn target_feature(&self) -> &'static str {
                match self { $(NvvmArch::$arch => concat!("compute_", $name)),* }
            }

            /// LLVM's processor name: `sm_90`, or `sm_90a`.
            pub const fn processor(&self) -> &'static str {
                match self { $(NvvmArch::$arch => concat!("sm_", $name)),* }
            }

            /// The PTX version to write, as LLVM's feature name: the oldest that knows the target, and at least 8.0. That is
            /// CUDA 12.0's, the oldest driver we support; it has the cache hints that older versions lack.
            ///
            /// None where no PTX can be written.
            pub fn ptx_version(&self) -> Option<&'static str> {
                let version = match self { $(NvvmArch::$arch => concat!("+ptx", $ptx)),* };
                (version != "+ptx").then_some(version)
            }
        }
    };
}

architectures! {
    /// Maxwell (GTX 750).
    Compute50 = "50", "";
    /// Maxwell (GTX 900, M60).
    Compute52 = "52", "";
    /// Maxwell (Jetson TX1).
    Compute53 = "53", "";
    /// Pascal, data centre (P100).
    Compute60 = "60", "";
    /// Pascal (GTX 10, P4).
    Compute61 = "61", "";
    /// Pascal (Jetson TX2).
    Compute62 = "62", "";
    /// Volta (V100).
    #[default]
    Compute70 = "70", "80";
    /// Volta (Jetson Xavier).
    Compute72 = "72", "80";
    /// A number that no GPU has.
    Compute73 = "73", "";
    /// Turing (T4, RTX 20).
    Compute75 = "75", "80";
    /// Ampere, data centre (A100). `cp.async` starts here.
    Compute80 = "80", "80";
    /// Ampere, consumer (RTX 30).
    Compute86 = "86", "80";
    /// Ampere (Jetson Orin).
    Compute87 = "87", "80";
    /// Ampere, of a later system on a chip.
    Compute88 = "88", "90";
    /// Ada (RTX 40, L4, L40).
    Compute89 = "89", "80";
    /// Hopper (H100, H200). Clusters, mbarrier transactions and bulk copies start here.
    Compute90 = "90", "80";
    /// Hopper and nothing else: with the instructions that no other generation has, such as `wgmma`.
    Compute90a = "90a", "80";
    /// Blackwell, data centre (B200).
    Compute100 = "100", "86";
    /// The family of 10.0, which 10.3 belongs to.
    Compute100f = "100f", "88";
    /// 10.0 and nothing else.
    Compute100a = "100a", "86";
    /// Blackwell (Jetson Thor), under its number up to CUDA 12.
    Compute101 = "101", "86";
    /// The family of 10.1.
    Compute101f = "101f", "88";
    /// 10.1 and nothing else.
    Compute101a = "101a", "86";
    /// Blackwell, data centre (B300).
    Compute103 = "103", "88";
    /// The family of 10.3.
    Compute103f = "103f", "88";
    /// 10.3 and nothing else.
    Compute103a = "103a", "88";
    /// Blackwell (Jetson Thor), under its number from CUDA 13 on.
    Compute110 = "110", "90";
    /// The family of 11.0.
    Compute110f = "110f", "90";
    /// 11.0 and nothing else.
    Compute110a = "110a", "90";
    /// Blackwell, consumer (RTX 50).
    Compute120 = "120", "87";
    /// The family of 12.0, which 12.1 belongs to.
    Compute120f = "120f", "88";
    /// 12.0 and nothing else.
    Compute120a = "120a", "87";
    /// Blackwell (DGX Spark, GB10).
    Compute121 = "121", "88";
    /// The family of 12.1.
    Compute121f = "121f", "88";
    /// 12.1 and nothing else.
    Compute121a = "121a", "88";
}

impl NvvmArch {
    /// The compute capability as one number: 70 for 7.0, 120 for 12.0.
    pub const fn capability_value(&self) -> u32 {
        let name = self.processor().as_bytes();
        let mut value = 0;
        let mut at = "sm_".len();
        while at < name.len() && name[at].is_ascii_digit() {
            value = value * 10 + (name[at] - b'0') as u32;
            at += 1;
        }
        value
    }

    /// The architecture of a capability number such as 90, if this builder knows it.
    pub fn from_capability(value: u32) -> Option<NvvmArch> {
        Self::ALL.iter().copied().find(|arch| arch.capability_value() == value)
    }

    /// The architecture of a name such as `90` or `90a`, if this builder knows it.
    pub fn from_name(name: &str) -> Option<NvvmArch> {
        Self::ALL.iter().copied().find(|arch| arch.processor().strip_prefix("sm_") == Some(name))
    }

    /// The architectures that PTX can be written for, for messages.
    pub fn buildable() -> String {
        let all = Self::ALL.iter().filter(|arch| arch.ptx_version().is_some());
        let names = all.filter_map(|arch| arch.processor().strip_prefix("sm_"));
        names.collect::<Vec<_>>().join(", ")
    }

    /// The major part of the compute capability: 9 for 9.0.
    pub const fn major_version(&self) -> u32 {
        self.capability_value() / 10
    }

    /// The minor part of the compute capability: 0 for 9.0.
    pub const fn minor_version(&self) -> u32 {
        self.capability_value() % 10
    }

    /// True when it is neither that of a family nor of one generation.
    pub fn is_base_variant(&self) -> bool {
        !self.is_family_variant() && !self.is_architecture_variant()
    }

    /// True when it has the instructions of a family.
    pub fn is_family_variant(&self) -> bool {
        self.processor().ends_with('f')
    }

    /// True when PTX for it runs on this generation alone.
    pub fn is_architecture_variant(&self) -> bool {
        self.processor().ends_with('a')
    }

    /// The architecture of the same capability without `f` and `a`.
    pub fn base_architecture(&self) -> Self {
        // Every capability is in the list without a letter, and first.
        Self::from_capability(self.capability_value()).unwrap_or(*self)
    }

    /// The architectures of the same capability.
    pub fn get_variants(&self) -> Vec<Self> {
        Self::variants_for_capability(self.capability_value())
    }

    /// The architectures of a capability such as 90.
    pub fn variants_for_capability(capability: u32) -> Vec<Self> {
        let has = |arch: &NvvmArch| arch.capability_value() == capability;
        Self::ALL.iter().copied().filter(has).collect()
    }

    /// The architectures whose [`Self::target_feature`] device code for this one has: older ones, those of its family that
    /// are not newer, and itself.
    pub fn all_target_features(&self) -> Vec<Self> {
        let has = |other: &NvvmArch| {
            let is_older = other.capability_value() <= self.capability_value();
            *other == *self
                || is_older && other.is_base_variant()
                || is_older
                    && other.is_family_variant()
                    && !self.is_base_variant()
                    && ptx::family(other.capability_value()) == ptx::family(self.capability_value())
        };
        Self::ALL.iter().copied().filter(has).collect()
    }
}

impl Display for NvvmArch {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.target_feature())
    }
}

impl std::str::FromStr for NvvmArch {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = |arch: &&NvvmArch| arch.target_feature() == name;
        Self::ALL.iter().find(known).copied().ok_or("unknown compile target")
    }
}

#[cfg(test)]
mod tests {
    use super::NvvmArch::{self, *};

    #[test]
    fn features_are_those_of_older_ones_and_of_the_family() {
        let has = |arch: NvvmArch, other: NvvmArch| arch.all_target_features().contains(&other);
        assert!(
            has(Compute90, Compute80) && has(Compute90a, Compute90) && has(Compute90a, Compute90a)
        );
        assert!(
            !has(Compute90, Compute90a)
                && !has(Compute100a, Compute90a)
                && !has(Compute80, Compute86)
        );
        // 10.1 has 10.0's number before it and is of another family.
        assert!(has(Compute103f, Compute100f) && !has(Compute101f, Compute100f));
        assert!(has(Compute121a, Compute120f) && has(Compute121a, Compute121f));
        assert!(!has(Compute121, Compute120f) && !has(Compute121a, Compute120a));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for arch in NvvmArch::ALL {
            assert_eq!(arch.to_string().parse(), Ok(*arch));
            assert_eq!(arch.base_architecture().capability_value(), arch.capability_value());
            assert!(arch.base_architecture().is_base_variant());
            assert_eq!(
                arch.ptx_version().is_some(),
                arch.capability_value() >= 70 && *arch != Compute73
            );
        }
        assert_eq!("compute_1".parse::<NvvmArch>(), Err("unknown compile target"));
        assert_eq!(Compute100f.get_variants(), [Compute100, Compute100f, Compute100a]);
        assert_eq!((Compute121a.major_version(), Compute121a.minor_version()), (12, 1));
    }
}
