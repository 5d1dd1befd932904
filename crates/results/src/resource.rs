use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A limited resource of a device. Amounts are bytes unless said otherwise.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Device memory, as much read as written.
    Copy,
    /// Device memory, read.
    Read,
    /// Device memory, written.
    Write,
    /// The second-level cache, read.
    L2,
    /// Shared memory, read without conflicts.
    Shared,
    /// Single-precision arithmetic. The amount counts operations; a fused multiply and add is two.
    Fp32,
    /// Products of bf16 matrices by tensor cores, summed in f32. The amount counts operations, two for each product.
    TensorBf16,
    /// PCIe, from the host to the device (H2D).
    #[serde(alias = "upload")]
    HostToDevice,
    /// PCIe, from the device to the host (D2H).
    #[serde(alias = "download")]
    DeviceToHost,
    /// PCIe, as much H2D as D2H at the same time.
    #[serde(alias = "both_ways")]
    Bidirectional,
    /// Launches, one after another on a stream. The amount counts them.
    Launch,
}

/// FP32 lanes of a multiprocessor of a compute capability, times ten, where they are known.
/// Source: CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions".
pub fn fp32_lanes(capability: u32) -> Option<u32> {
    match capability {
        70..=75 | 80 => Some(64),
        86..=121 => Some(128),
        _ => None,
    }
}

/// Operations of bf16 per clock of a multiprocessor's tensor cores, where they are known: a product and a sum are two.
/// Source: NVIDIA's whitepapers of A100, H100 and B200, dense rates over multiprocessors and boost clock.
pub fn tensor_bf16_per_clock(capability: u32) -> Option<u32> {
    match capability {
        80 => Some(2048),
        90 => Some(4096),
        100 => Some(8192),
        _ => None,
    }
}

impl Resource {
    /// All of them.
    pub const ALL: [Resource; 11] = [
        Resource::Copy,
        Resource::Read,
        Resource::Write,
        Resource::L2,
        Resource::Shared,
        Resource::Fp32,
        Resource::TensorBf16,
        Resource::HostToDevice,
        Resource::DeviceToHost,
        Resource::Bidirectional,
        Resource::Launch,
    ];

    /// Returns what amounts of it are counted in.
    pub fn unit(self) -> &'static str {
        match self {
            Resource::Fp32 | Resource::TensorBf16 => "FLOP",
            Resource::Launch => "launches",
            _ => "B",
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Copy => "device copy",
            Resource::Read => "device read",
            Resource::Write => "device write",
            Resource::L2 => "L2 read",
            Resource::Shared => "shared read",
            Resource::Fp32 => "FP32",
            Resource::TensorBf16 => "tensor cores, bf16",
            Resource::HostToDevice => "H2D",
            Resource::DeviceToHost => "D2H",
            Resource::Bidirectional => "bidirectional",
            Resource::Launch => "launch",
        }
    }
}
