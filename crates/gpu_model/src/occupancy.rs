//! The occupancy calculator: how many blocks of a kernel fit on a multiprocessor at once.
//!
//! The smallest of four limits, each in whole blocks:
//!
//! * the multiprocessor's limit of blocks;
//! * its warps, divided by the block's, whose last warp counts whole;
//! * registers. A warp takes 32 times the kernel's registers per thread, rounded up to a unit of 256. The file is split
//!   between four partitions, and a warp lies in one of them: what remains of a partition's quarter is lost. A block's
//!   warps may be spread over the partitions unevenly, so a block need not be a multiple of four warps;
//! * shared memory. A block takes what it asks for plus what the driver keeps, rounded up to a unit of 128 bytes (256
//!   before compute capability 8.0).
//!
//! For compute capability 9.0 the tests hold this to what the driver answered on an H200 (`fixtures/occupancy.cu`). The
//! units of other devices are those of NVIDIA's occupancy calculator.

use crate::profile::Profile;

const REGISTER_UNIT: u32 = 256;
/// Parts of a multiprocessor, each with its own schedulers and registers.
const PARTITIONS: u32 = 4;

/// The resources that a block needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockNeeds {
    /// Threads.
    pub threads: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Static and dynamic shared memory.
    pub shared_bytes: u32,
}

/// Blocks that are resident on one multiprocessor at once; 0 when not even one fits.
pub fn blocks_per_multiprocessor(profile: &Profile, needs: BlockNeeds) -> u32 {
    if needs.threads == 0 || needs.threads > profile.max_threads_per_block {
        return 0;
    }
    let warps = needs.threads.div_ceil(profile.warp_size);
    let by_warps = profile.threads_per_multiprocessor / profile.warp_size / warps;
    let per_warp = (needs.registers.max(1) * profile.warp_size).next_multiple_of(REGISTER_UNIT);
    let warps_by_registers =
        profile.registers_per_multiprocessor / PARTITIONS / per_warp * PARTITIONS;
    let by_registers = warps_by_registers / warps;
    let unit = if profile.compute_capability[0] >= 8 { 128 } else { 256 };
    let shared =
        (needs.shared_bytes + profile.reserved_shared_bytes_per_block).next_multiple_of(unit);
    let by_shared = profile.shared_bytes_per_multiprocessor.checked_div(shared).unwrap_or(u32::MAX);
    profile.blocks_per_multiprocessor.min(by_warps).min(by_registers).min(by_shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(profile: &str, threads: u32, registers: u32, shared_bytes: u32) -> u32 {
        let profile = Profile::named(profile).unwrap();
        blocks_per_multiprocessor(&profile, BlockNeeds { threads, registers, shared_bytes })
    }

    #[test]
    fn every_answer_of_an_h200s_driver_is_ours() {
        let rows = include_str!("../fixtures/h200-occupancy.csv").lines().skip(1);
        let mut compared = 0;
        for row in rows {
            let fields: Vec<u32> = row.split(',').map(|field| field.parse().unwrap()).collect();
            let [registers, threads, shared_bytes, expected] = fields[..] else { panic!("{row}") };
            compared += 1;
            assert_eq!(blocks("h200", threads, registers, shared_bytes), expected, "{row}");
        }
        assert_eq!(compared, 10_000);
    }

    #[test]
    fn each_limit_binds_in_turn() {
        assert_eq!(blocks("h200", 256, 32, 0), 8, "threads: 2048 / 256");
        assert_eq!(blocks("h200", 32, 16, 0), 32, "blocks");
        assert_eq!(blocks("h200", 256, 128, 0), 2, "registers: 65536 / (128 * 256)");
        assert_eq!(blocks("h200", 256, 32, 100 << 10), 2, "shared: 228 KiB / 101 KiB");
        assert_eq!(
            blocks("h200", 1024, 32, 227 << 10),
            1,
            "all the shared memory that one block may have"
        );
        assert_eq!(blocks("h200", 1024, 96, 0), 0, "not even one block has the registers");
        assert_eq!(blocks("t4", 1024, 32, 0), 1);
        assert_eq!(blocks("rtx4090", 512, 32, 0), 3, "1536 / 512");
        assert_eq!(blocks("h200", 0, 32, 0), 0);
    }
}
