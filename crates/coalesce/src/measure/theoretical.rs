use cuda_host::DeviceFacts;
use results::{Board, Resource, fp32_lanes, tensor_bf16_per_clock};

/// The peaks that no measurement can be above.
pub(super) struct TheoreticalPeaks {
    /// Device memory, bytes per second: both edges of its clock, over the whole bus.
    memory: f64,
    /// Bytes that may be in L2 at the beginning or at the end.
    l2_bytes: f64,
    /// Shared memory, bytes per second: 128 bytes per clock and multiprocessor.
    shared: f64,
    /// Operations per second of single precision, where the lanes are known; two per lane and clock.
    fp32: Option<f64>,
    /// Operations per second of tensor cores on bf16, where they are known.
    tensor_bf16: Option<f64>,
    /// The bus in one direction, bytes per second, where the link is known.
    bus: Option<f64>,
}

impl TheoreticalPeaks {
    pub(super) fn of(device: &DeviceFacts, board: Option<&Board>) -> TheoreticalPeaks {
        let bus = board.and_then(|board| {
            // 8, 16, 32, 64 GT/s per lane from generation 3 on, a bit per transfer.
            let generation = board.pcie_generation.filter(|generation| *generation >= 3)?;
            Some(f64::from(board.pcie_lanes?) * f64::from(1 << generation) * 1e9 / 8.0)
        });
        TheoreticalPeaks {
            memory: 2e3 * f64::from(device.memory_clock_khz) * f64::from(device.memory_bus_bits)
                / 8.0,
            l2_bytes: f64::from(device.l2_bytes),
            shared: 128e3 * f64::from(device.clock_khz) * f64::from(device.multiprocessors),
            fp32: fp32_lanes(device.capability).map(|lanes| {
                2e3 * f64::from(lanes)
                    * f64::from(device.multiprocessors)
                    * f64::from(device.clock_khz)
            }),
            tensor_bf16: tensor_bf16_per_clock(device.capability).map(|operations| {
                1e3 * f64::from(operations)
                    * f64::from(device.multiprocessors)
                    * f64::from(device.clock_khz)
            }),
            bus,
        }
    }

    /// Why an amount cannot have gone through in this time, if so.
    pub(super) fn why_impossible(
        &self,
        resource: Resource,
        amount: usize,
        time_ms: f64,
    ) -> Option<String> {
        let amount = amount as f64;
        let (amount, roof) = match resource {
            Resource::Copy | Resource::Read | Resource::Write => {
                (amount - self.l2_bytes, self.memory)
            }
            Resource::Shared => (amount, self.shared),
            Resource::Fp32 => (amount, self.fp32?),
            Resource::TensorBf16 => (amount, self.tensor_bf16?),
            Resource::HostToDevice | Resource::DeviceToHost => (amount, self.bus?),
            Resource::Bidirectional => (amount, 2.0 * self.bus?),
            Resource::L2 | Resource::Launch => return None,
        };
        let rate = amount / time_ms * 1e3;
        (rate > roof).then(|| {
            format!(
                "it cannot be: {:.0} G{unit}/s in {time_ms:.4} ms, where the peak of {} is {:.0} G{unit}/s",
                rate / 1e9,
                resource.name(),
                roof / 1e9,
                unit = resource.unit()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_above_the_peak_is_an_error() {
        let peaks = TheoreticalPeaks {
            memory: 4.9e12,
            l2_bytes: 6e7,
            shared: 3.3e13,
            fp32: Some(6.7e13),
            tensor_bf16: Some(1.07e15),
            bus: Some(6.4e10),
        };
        // 1 GiB in 0.2 ms is 5.4 TB/s, in 0.3 ms 3.6 TB/s.
        assert!(peaks.why_impossible(Resource::Read, 1 << 30, 0.2).is_some());
        assert_eq!(peaks.why_impossible(Resource::Read, 1 << 30, 0.3), None);
        // What fits into L2 may never have seen device memory.
        assert_eq!(peaks.why_impossible(Resource::Write, 1 << 25, 0.001), None);
        assert!(peaks.why_impossible(Resource::HostToDevice, 1 << 30, 10.0).is_some());
        // 2 x 4096^3 operations in 2 ms are 68.7 TFLOP/s.
        assert!(peaks.why_impossible(Resource::Fp32, 2 << 36, 2.0).is_some());
        assert_eq!(peaks.why_impossible(Resource::Fp32, 2 << 36, 2.1), None);
        assert_eq!(peaks.why_impossible(Resource::Bidirectional, 1 << 30, 10.0), None);
    }
}
