use crate::findings::Finding;
use counters::Counters;
use counters::{RequestRecord, SourceLocation};
use races::Footprint;

/// The report of one instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionReport {
    /// Its number in the kernel, see [`Kernel::instruction_facts`](crate::Kernel::instruction_facts).
    pub number: u32,
    /// The function that it belongs to.
    pub function: String,
    /// The opcode with modifiers.
    pub text: String,
    /// Its line in the PTX.
    pub ptx_line: u32,
    /// Its place in the source, from `.loc`.
    pub source: Option<SourceLocation>,
    /// Its result is only approximately that of hardware.
    pub is_approximate: bool,
    /// It reads what other threads write, and that decides whether a loop around it goes on: a retry of a
    /// compare-and-swap, a poll of a flag. How often that loop runs depends on timing, on a GPU more than here.
    pub depends_on_timing: bool,
    /// The counts.
    pub counters: Counters,
    /// The first request of the watched warp, one of each kind; of local memory and matrices none.
    pub requests: Vec<RequestRecord>,
}

impl InstructionReport {
    /// Single-precision additions and multiplications that it did, lane by lane; a fused one is two.
    pub fn flops_f32(&self) -> u64 {
        let mut parts = self.text.split('.');
        let opcode = parts.next().unwrap_or_default();
        let width = parts.map(|part| match part {
            "f32" => 1,
            "f32x2" => 2,
            _ => 0,
        });
        let per_operation = match opcode {
            "fma" | "mad" => 2,
            "add" | "sub" | "mul" => 1,
            _ => 0,
        };
        let per_lane = per_operation * width.max().unwrap_or(0);
        per_lane * self.counters.predicated_on_thread_instructions
    }
}

/// The report of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The sum over all instructions.
    pub counters: Counters,
    /// Per instruction, in the order of the PTX; instructions that never ran are left out.
    pub instructions: Vec<InstructionReport>,
    /// Hazards.
    pub findings: Vec<Finding>,
    /// Facts that are no error, but worth knowing: the same value stored by several threads.
    pub notes: Vec<Finding>,
    /// The output of the kernel's `printf`.
    pub printed: String,
    /// The least bytes that its calls of `printf` take in the buffer from which the host prints: formats' addresses,
    /// arguments and strings.
    pub print_bytes: u64,
    /// The work that its threads enqueued, block by block: whoever ran it runs that next.
    pub enqueued: Vec<DeviceWork>,
    /// Blocks that ran.
    pub blocks: u64,
    /// Warps that ran.
    pub warps: u64,
    /// The bytes that it read and wrote, when they were asked for.
    pub footprint: Option<Footprint>,
}

/// Work that a thread of a kernel enqueued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceWork {
    /// The block that did, by linear index.
    pub by_block: u64,
    /// The handle of the stream: 0 is the block's own.
    pub stream: u64,
    /// The code of the runtime that the thread got: what is not 0 does not run.
    pub code: u64,
    /// The work itself.
    pub kind: DeviceWorkKind,
    /// The kernel's accesses that nothing puts before this work, under the check for races.
    pub beside: Option<Footprint>,
}

/// The kinds of work that kernels can enqueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceWorkKind {
    /// A launch.
    Kernel(KernelLaunch),
    /// A copy of bytes.
    Copy {
        /// Their target's address.
        target: u64,
        /// Their source's address.
        source: u64,
        /// Their number.
        bytes: u64,
    },
    /// Bytes that all get one value.
    Fill {
        /// The first of them.
        target: u64,
        /// The value.
        value: u8,
        /// Their number.
        bytes: u64,
    },
}

/// A launch that a thread of a kernel made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelLaunch {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared_bytes: u32,
    /// The parameters as they lie in the buffer.
    pub parameters: Vec<u8>,
}

impl Report {
    /// Returns whether a finding of the same kind at the same line is here.
    pub(crate) fn has_like(&self, finding: &Finding) -> bool {
        self.findings.iter().any(|one| is_like(one, finding))
    }

    /// Adds findings and notes of another run of the launch, unless they are known at their place.
    pub(crate) fn add_findings(&mut self, other: Report) {
        for (known, more) in [(&mut self.findings, other.findings), (&mut self.notes, other.notes)]
        {
            for finding in more {
                if !known.iter().any(|one| is_like(one, &finding)) {
                    known.push(finding);
                }
            }
        }
    }

    /// The instructions because of which the counts depend on timing; without any, a GPU counts the same.
    pub fn depends_on_timing(&self) -> impl Iterator<Item = &InstructionReport> {
        self.instructions.iter().filter(|instruction| instruction.depends_on_timing)
    }
}

/// Returns whether two findings are of one kind and at one line.
fn is_like(one: &Finding, other: &Finding) -> bool {
    (one.hazard, one.place.ptx_line) == (other.hazard, other.place.ptx_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fused_multiply_and_add_is_two_operations() {
        let flops = |text: &str| {
            let counters =
                Counters { predicated_on_thread_instructions: 31, ..Counters::default() };
            let (function, source) = (String::new(), None);
            let text = text.to_owned();
            InstructionReport {
                number: 0,
                function,
                text,
                ptx_line: 1,
                source,
                is_approximate: false,
                depends_on_timing: false,
                counters,
                requests: Vec::new(),
            }
            .flops_f32()
        };
        let counted = ["fma.rn.f32", "add.rn.f32", "mul.f32", "add.f32x2"].map(flops);
        assert_eq!(counted, [62, 31, 31, 62]);
        let counted = ["add.s32", "fma.rn.f64", "cvt.rn.f32.u32", "ld.global.f32"].map(flops);
        assert_eq!(counted, [0; 4]);
    }
}
