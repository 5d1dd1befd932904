//! The executor: blocks to threads of the host, warps in lock-step, counts to a report.

mod issue;
mod memory;
mod observe;
mod tensor;
mod texture;

pub use issue::run::stop;
pub use issue::workers::Sharer;

use crate::error::Error;
use crate::heap::{self, Heap};
use crate::launch::{Launch, validate};
use crate::memory::Memory;
use crate::module::Module;
use crate::observer::Observer;
use crate::options::Options;
use crate::program::{Program, Special};
use crate::report::Report;

/// Runs a launch to its end.
///
/// The module's variables are placed in memory on its first launch.
///
/// # Errors
/// When the launch does not fit the kernel, or the kernel fails: an illegal address, a trap, a deadlock.
pub fn run(
    module: &Module,
    memory: &mut Memory,
    launch: &Launch,
    options: &Options,
) -> Result<Report, Error> {
    run_observed(module, memory, launch, options, &mut Report::default(), None)
}

/// As [`run`], on one thread when somebody observes it; of a launch that fails, `before_failure` becomes what it printed
/// until then and, where its blocks ran one after the other, the rest of its report.
///
/// # Errors
/// As for [`run`].
pub fn run_observed(
    module: &Module,
    memory: &mut Memory,
    launch: &Launch,
    options: &Options,
    before_failure: &mut Report,
    observer: Option<&mut dyn Observer>,
) -> Result<Report, Error> {
    let kernel = validate(module, launch, &options.limits)?;
    module.load(memory)?;
    let device = memory.selected();
    if kernel.program.as_ref().is_ok_and(|program| program.allocates)
        && !memory.heaps.contains_key(&device)
    {
        let address = memory.allocate_named(heap::BYTES, "device's heap")?;
        memory.heaps.insert(device, Heap::new(address));
    }
    if kernel.program.as_ref().is_ok_and(|program| !program.launchable.is_empty())
        && !memory.launch_buffers.contains_key(&device)
    {
        let address = memory.allocate_named(heap::BYTES, "arguments of kernels' launches")?;
        memory.launch_buffers.insert(device, Heap::new(address));
    }
    if kernel.program.as_ref().is_ok_and(|program| program.wants_error_texts)
        && !memory.error_texts.contains_key(&device)
    {
        let texts = issue::builtin::error_texts();
        let address = memory.allocate_named(texts.len() as u64, "texts of errors")?;
        memory.write(address, &texts)?;
        memory.error_texts.insert(device, address);
    }
    if !(launch.cooperative && kernel.program.as_ref().is_ok_and(has_workspace)) {
        return issue::workers::run(module, memory, launch, options, 0, before_failure, observer);
    }
    // As the driver of CUDA lays it out: its size, and a word through which the blocks wait for each other.
    let workspace = memory.allocate_named(WORKSPACE, "the workspace of a cooperative launch")?;
    memory.write(workspace, &WORKSPACE.to_le_bytes())?;
    let run = issue::workers::run;
    let report = run(module, memory, launch, options, workspace, before_failure, observer);
    memory.free(workspace)?;
    report
}

/// Bytes of the workspace of a cooperative launch.
const WORKSPACE: u64 = 8;

/// Returns whether a program asks for the workspace of its launch.
fn has_workspace(program: &Program) -> bool {
    let asks = |(_, special): &(_, Special)| matches!(special, Special::GridWorkspace { .. });
    program.specials.iter().any(asks)
}
