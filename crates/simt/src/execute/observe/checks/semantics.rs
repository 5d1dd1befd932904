//! The meaning of a program's instructions for the order of memory, as `races` is told.

use crate::operation::{
    AtomicOperation, BarrierKind, MbarrierOperation, Operation, Scope, Semantics, Space,
};
use crate::program::{Instruction, Program};
use races::{AccessKind, Grid, LaunchModel, Synchronization};

/// The facts of a launch that the order of its accesses depends on; those of instructions only where they are checked.
pub(crate) fn model(program: &Program, grid: Grid, is_checked: bool) -> LaunchModel {
    let narrow = |instruction: &Instruction| scope_of(&instruction.operation) < Scope::Device;
    LaunchModel {
        grid,
        kinds: if is_checked { kinds(program) } else { Vec::new() },
        orders_some: is_checked && orders_some(program),
        narrow_scopes: program.instructions.iter().any(narrow),
        granule: granule(program, Space::Shared),
        shared_granule: granule(program, Space::Global),
        synchronization: synchronization(program),
    }
}

fn kind(operation: &Operation) -> AccessKind {
    match operation {
        Operation::Load(access) => AccessKind {
            semantics: access.semantics,
            observes: true,
            bytes: access.bytes as u8,
            ..AccessKind::default()
        },
        Operation::Store(access) => AccessKind {
            semantics: access.semantics,
            bytes: access.bytes as u8,
            ..AccessKind::default()
        },
        Operation::Atomic(atomic) => AccessKind {
            semantics: atomic.semantics,
            updates: true,
            overwrites: atomic.operation == AtomicOperation::Exchange && atomic.is_reduction,
            observes: atomic.observes,
            polls: false,
            bytes: atomic.t.bytes() as u8,
        },
        Operation::Mbarrier { operation, .. } => {
            let is_plain = matches!(
                **operation,
                MbarrierOperation::Initialize { .. } | MbarrierOperation::Invalidate
            );
            let strong = (!is_plain).then_some(Scope::Device);
            AccessKind {
                semantics: Semantics { strong, ..Semantics::default() },
                updates: !is_plain,
                bytes: 8,
                ..AccessKind::default()
            }
        }
        // Each reduction is relaxed, of device scope.
        Operation::BulkCopy(copy) if copy.reduce.is_some() => AccessKind {
            semantics: Semantics { strong: Some(Scope::Device), ..Semantics::default() },
            updates: true,
            bytes: copy.step() as u8,
            ..AccessKind::default()
        },
        Operation::AsyncStore(store) => AccessKind {
            semantics: Semantics {
                strong: store.reduce.map(|_| Scope::Cluster),
                ..Semantics::default()
            },
            updates: store.reduce.is_some(),
            bytes: store.bytes as u8,
            ..AccessKind::default()
        },
        _ => AccessKind { bytes: 4, ..AccessKind::default() },
    }
}

/// Returns how far a strong access or a fence reaches; the device for all others.
fn scope_of(operation: &Operation) -> Scope {
    let strong = match operation {
        Operation::Load(access) | Operation::Store(access) => access.semantics.strong,
        Operation::Atomic(atomic) => atomic.semantics.strong,
        Operation::Fence { semantics, proxy: false } => semantics.strong,
        _ => None,
    };
    strong.unwrap_or_default()
}

/// The kind of every instruction of a program.
fn kinds(program: &Program) -> Vec<AccessKind> {
    let mut kinds: Vec<AccessKind> =
        program.instructions.iter().map(|instruction| kind(&instruction.operation)).collect();
    for (pc, system) in optimistic_loads(program) {
        kinds[pc].semantics.strong = Some(Scope::Device);
        kinds[pc].semantics.system = system;
    }
    program.decisive.iter().for_each(|pc| kinds[*pc as usize].polls = true);
    kinds
}

/// Plain loads with which a compare-and-swap loop starts: `old = *p; do { atomicCAS(p, old, ..) }`.
///
/// By the letter of the model such a load races with the swaps of others. What it reads is only a
/// guess, which the swap confirms or replaces, so that no value of it can do harm, and it stands in
/// NVIDIA's own guide. It is a load from the address of a compare-and-swap, by the same register
/// and offset, whose expected value is not a constant. With each comes whether the swap is of the system's scope.
fn optimistic_loads(program: &Program) -> Vec<(usize, bool)> {
    let constants: std::collections::HashSet<_> =
        program.constants.iter().map(|(row, _)| *row).collect();
    let swaps: Vec<_> = program
        .instructions
        .iter()
        .filter_map(|instruction| match &instruction.operation {
            Operation::Atomic(atomic)
                if atomic.second.is_some() && !constants.contains(&atomic.source) =>
            {
                let place = (atomic.base, atomic.offset, atomic.t.bytes());
                Some((place, atomic.semantics.system))
            }
            _ => None,
        })
        .collect();
    let swap_of = |operation: &Operation| match operation {
        Operation::Load(access) if !access.strong && access.rows.len() == 1 => {
            let place = (access.base, access.offset, access.bytes);
            swaps.iter().find(|(swapped, _)| *swapped == place).map(|(_, system)| *system)
        }
        _ => None,
    };
    let instructions = program.instructions.iter().enumerate();
    let loads = instructions.filter_map(|(pc, one)| Some((pc, swap_of(&one.operation)?)));
    loads.collect()
}

/// Returns whether a program has means to order some threads of a block or a grid and not the others.
fn orders_some(program: &Program) -> bool {
    program.instructions.iter().any(|instruction| match &instruction.operation {
        Operation::Load(access) | Operation::Store(access) => {
            access.semantics.acquire || access.semantics.release
        }
        Operation::Atomic(atomic) => atomic.semantics.acquire || atomic.semantics.release,
        Operation::Fence { proxy, .. } => !proxy,
        Operation::Barrier { count, kind, .. } => count.is_some() || *kind == BarrierKind::Arrive,
        Operation::WarpBarrier { .. }
        | Operation::Mbarrier { .. }
        | Operation::BulkCopy(_)
        | Operation::TensorCopy(_)
        | Operation::AsyncStore(_)
        | Operation::ClusterBarrier { .. } => true,
        _ => false,
    })
}

/// Returns whether a program releases and acquires where other launches can see it: those on its device, and on others.
fn synchronization(program: &Program) -> [Synchronization; 2] {
    let all = program.instructions.iter().filter_map(|instruction| {
        let semantics: Semantics = match &instruction.operation {
            Operation::Load(access) | Operation::Store(access) => access.semantics,
            Operation::Atomic(atomic) => atomic.semantics,
            Operation::Fence { semantics, proxy: false } => *semantics,
            _ => return None,
        };
        (semantics.strong == Some(Scope::Device)).then_some(semantics)
    });
    let mut seen = [Synchronization::default(); 2];
    for one in all {
        for seen in &mut seen[..if one.system { 2 } else { 1 }] {
            seen.releases |= one.release;
            seen.acquires |= one.acquire;
        }
    }
    seen
}

/// Bytes per entry of a shadow: 4 unless the kernel makes smaller accesses, other than to one other space.
fn granule(program: &Program, other: Space) -> u32 {
    let bytes = program.instructions.iter().map(|instruction| match &instruction.operation {
        Operation::Load(access) | Operation::Store(access)
            if !matches!(access.space, Space::Local | Space::Parameter)
                && access.space != other =>
        {
            access.bytes
        }
        Operation::Atomic(atomic) if atomic.space != other => atomic.t.bytes(),
        Operation::Image(image) => image.surface_bytes().unwrap_or(4),
        _ => 4,
    });
    bytes.min().unwrap_or(4).clamp(1, 4)
}
