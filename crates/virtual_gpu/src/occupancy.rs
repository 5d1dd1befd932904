//! The occupancy calculator: how many blocks of a kernel fit on a multiprocessor at once.
//!
//! The rules are those of NVIDIA's occupancy calculator for compute capability 7.0 and newer: registers are given out
//! per warp in units of 256, shared memory per block in units of 128 bytes (1024 before 8.0: 256) plus what the driver
//! keeps.

use crate::profile::Profile;

const REGISTER_UNIT: u32 = 256;

/// What a block needs.
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
    // Each of the four partitions gives registers to whole warps only.
    let warps_by_registers = profile.registers_per_multiprocessor / 4 / per_warp * 4;
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
