//! Counts of the virtual device while kernels ran.

use cuda_host::VirtualDevice;
use profiling::instruction;
use results::{Counters, InstructionCounts};
use simt::Finding;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The counts of one or more launches.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// The sums over all launches.
    pub counters: Counters,
    /// The same by kernel.
    pub kernels: BTreeMap<String, Counters>,
    /// Each instruction that ran, its counts summed over the launches, by kernel and line of the PTX.
    pub instructions: BTreeMap<(String, u32), InstructionCounts>,
    /// The opcodes of those whose results are within a documented error of the hardware's.
    pub approximate: BTreeMap<(String, u32), String>,
    /// Single-precision additions and multiplications, lane by lane; a fused one is two.
    pub flops_f32: u64,
    /// Hazards, when the device was opened with checks.
    pub findings: Vec<Finding>,
    /// Findings of the checks that are no mistakes.
    pub notes: Vec<Finding>,
    /// Model: the kernels' time, milliseconds.
    pub model_ms: f64,
}

impl Counted {
    /// Returns what ran on the virtual device since the last call.
    pub fn take(device: &VirtualDevice) -> Counted {
        let mut counted = Counted::default();
        for launch in device.drain_launches() {
            let counters = launch.report.counters;
            counted.counters += counters;
            *counted.kernels.entry(launch.kernel).or_default() += counters;
            for report in launch.report.instructions {
                counted.flops_f32 += report.flops_f32();
                if report.is_approximate {
                    let key = (report.function.clone(), report.ptx_line);
                    counted.approximate.insert(key, report.text.clone());
                }
                match counted.instructions.entry((report.function.clone(), report.ptx_line)) {
                    Entry::Vacant(entry) => {
                        entry.insert(instruction(report));
                    }
                    Entry::Occupied(mut entry) => {
                        let sum = entry.get_mut();
                        sum.counters += report.counters;
                        if sum.requests.is_empty() {
                            sum.requests = report.requests;
                        }
                    }
                }
            }
            counted.findings.extend(launch.report.findings);
            counted.notes.extend(launch.report.notes);
            counted.model_ms += launch.model_ns / 1e6;
        }
        counted
    }

    /// The instructions of a kernel that asked something of memory, in the order of the PTX.
    pub fn of_memory(&self, kernel: &str) -> Vec<InstructionCounts> {
        let of_kernel = self.instructions.iter().filter(|((function, _), _)| function == kernel);
        let asks = |counters: &Counters| {
            let plain = Counters {
                warp_instructions: counters.warp_instructions,
                thread_instructions: counters.thread_instructions,
                predicated_on_thread_instructions: counters.predicated_on_thread_instructions,
                branches: counters.branches,
                divergent_branches: counters.divergent_branches,
                barriers: counters.barriers,
                parameter_loads: counters.parameter_loads,
                generic_requests: counters.generic_requests,
                integer_instructions: counters.integer_instructions,
                float_instructions: counters.float_instructions,
                warp_level_instructions: counters.warp_level_instructions,
                ..Counters::default()
            };
            *counters != plain
        };
        let of_memory = of_kernel.filter(|(_, one)| asks(&one.counters));
        of_memory.map(|(_, one)| one.clone()).collect()
    }
}
