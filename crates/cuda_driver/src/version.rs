use std::fmt;

/// A version of CUDA, as the driver reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CudaVersion {
    /// The 12 of 12.4.
    pub major: u32,
    /// The 4 of 12.4.
    pub minor: u32,
}

impl CudaVersion {
    /// Version `major`.`minor`.
    pub const fn new(major: u32, minor: u32) -> CudaVersion {
        CudaVersion { major, minor }
    }

    /// From `cuDriverGetVersion`'s number: 12040 is 12.4.
    pub const fn from_number(number: u32) -> CudaVersion {
        CudaVersion { major: number / 1000, minor: number % 1000 / 10 }
    }

    /// The newest version of PTX that a driver of this version assembles (PTX ISA, "Release Notes").
    pub const fn ptx(self) -> (u32, u32) {
        match (self.major, self.minor) {
            (..=11, _) => (7, 0),
            (12, 0..=5) => (8, self.minor),
            (12, minor) => (8, minor - 1),
            (major, minor) => (major - 4, minor),
        }
    }
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_and_compare() {
        assert_eq!(CudaVersion::from_number(12040), CudaVersion::new(12, 4));
        assert_eq!(CudaVersion::from_number(13000).to_string(), "13.0");
        let known = [(12, 0), (12, 1), (12, 5), (12, 6), (12, 8), (12, 9), (13, 0)];
        let ptx = known.map(|(major, minor)| CudaVersion::new(major, minor).ptx());
        assert_eq!(ptx, [(8, 0), (8, 1), (8, 5), (8, 5), (8, 7), (8, 8), (9, 0)]);
        assert!(CudaVersion::from_number(11080) < CudaVersion::new(12, 0));
    }
}
