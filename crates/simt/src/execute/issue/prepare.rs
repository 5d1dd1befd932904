//! From a validated launch to what its workers share.

use crate::error::Error;
use crate::execute::issue::run::Run;
use crate::execute::memory::device::AtomicGranularity;
use crate::execute::observe::checks::product_state::ProductRegisters;
use crate::execute::observe::checks::provenance::arrays;
use crate::execute::observe::checks::semantics::model;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::module::{Kernel, Module};
use crate::operation::{Operation, Register};
use crate::options::Options;
use crate::program::{Constant, Instruction, Program};
use crate::progress::Progress;
use crate::uninitialized::UninitializedReads;
use races::Grid;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Lays out the parameters and resolves the constants.
pub(crate) fn prepare<'r>(
    module: &Module,
    program: &'r Program,
    kernel: &'r Kernel,
    memory: &'r Memory,
    launch: &'r Launch,
    options: &'r Options,
    progress: &'r Progress,
) -> Result<Run<'r>, Error> {
    let mut parameters = vec![0u8; kernel.parameter_bytes() as usize];
    for (parameter, argument) in kernel.parameters.iter().zip(&launch.arguments) {
        let at = parameter.offset as usize;
        parameters[at..at + argument.len()].copy_from_slice(argument);
    }
    let symbols = memory.module_symbols(module.id());
    let mut word_constants = Vec::new();
    let mut long_constants = Vec::new();
    for (row, constant) in &program.constants {
        let value = match constant {
            Constant::Value(value) => *value,
            Constant::Shared { start, offset } => i64::from(*start).wrapping_add(*offset) as u64,
            Constant::Symbol { name, offset } => {
                let Some((address, _)) = symbols.and_then(|s| s.get(name)) else {
                    let message = format!("variable `{name}` is declared but not defined");
                    return Err(Error::Memory { message });
                };
                address.wrapping_add(*offset as u64)
            }
            Constant::DynamicShared { offset } => *offset as u64,
        };
        match row {
            Register::Word(index) => word_constants.push((*index, value as u32)),
            Register::Long(index) => long_constants.push((*index, value)),
            Register::Predicate(_) => {}
        }
    }
    let shared_static = program.shared_static.next_multiple_of(program.shared_alignment);
    let dynamic = launch.dynamic_shared_bytes;
    let shared_bytes = if dynamic > 0 { shared_static + dynamic } else { program.shared_static };
    static CERTAIN: UninitializedReads = UninitializedReads::none();
    let doubt = if options.checks.uninitialized {
        kernel.doubt.get_or_init(|| UninitializedReads::new(program))
    } else {
        &CERTAIN
    };
    let cluster = launch.cluster_of(kernel);
    let by_proxy = |instruction: &Instruction| {
        let operation = &instruction.operation;
        matches!(operation, Operation::BulkCopy(_) | Operation::TensorCopy(_) | Operation::Wgmma(_))
    };
    let orders_copies = options.checks.async_copies;
    let products = if orders_copies { ProductRegisters::of(program, doubt) } else { None };
    let mut run = Run {
        kernel,
        program,
        memory,
        launch,
        options,
        model: model(program, Grid { blocks: launch.grid, cluster }, options.checks.any()),
        is_explicit_cluster: launch.cluster.or(kernel.required_cluster).is_some(),
        sample: None,
        parameters,
        word_constants,
        long_constants,
        shared_bytes,
        workspace: 0,
        arrays: if options.checks.any() { arrays(program) } else { Vec::new() },
        reads_by_proxy: orders_copies && program.instructions.iter().any(by_proxy),
        products,
        granularity: AtomicGranularity::EACH,
        warps_per_block: launch.threads().div_ceil(32) as u32,
        fuel: AtomicU64::new(options.fuel),
        progress,
        doubt,
        undo: None,
        parallel: false,
        racing: None,
        doubtful: AtomicBool::new(false),
        racing_loads: Mutex::default(),
        next: AtomicU64::new(0),
        failed: Mutex::new(None),
        failed_at: AtomicU64::new(u64::MAX),
        printed: Mutex::default(),
        disturbed: AtomicBool::new(false),
    };
    if let Some(blocks) = &options.sample {
        let last = launch.blocks() - 1;
        let mut clusters: Vec<u64> =
            blocks.iter().map(|block| run.model.grid.cluster_of((*block).min(last))).collect();
        if cluster != [1; 3] {
            clusters.sort_unstable();
            clusters.dedup();
        }
        run.sample = Some(clusters);
    }
    Ok(run)
}
