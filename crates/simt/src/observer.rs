//! Observers of a launch: what others, such as a model of time, may see while it runs.
//!
//! An observed launch runs on one thread, its blocks in one order, so that an observer sees the same on every machine.

use crate::folds::folds;
use crate::operation::{
    Builtin, BulkDirection, Clock, MbarrierOperation, Operation, Register, Space,
};
use crate::pipes::{Pipes, pipes};
use crate::program::{BlockPlace, Detail, Program};
use crate::registers::{ALWAYS, LANES};
use crate::spin_loops::{loops, timed};
use crate::uninitialized::number;
use crate::unroll::chosen_by_predicates;
use std::collections::BTreeSet;

/// The addresses of an access of a warp to global or constant memory.
#[derive(Clone, Copy, Debug)]
pub struct WarpAccess<'a> {
    /// The lanes that take part, one bit each.
    pub mask: u32,
    /// The address of each lane.
    pub addresses: &'a [u64; LANES],
    /// The bytes that each lane reaches.
    pub bytes: u32,
}

/// The kind of an access of a warp to memory outside of its multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A load of global memory; `past_l1` where L1 may not keep it.
    Load {
        /// L1 may not keep it.
        past_l1: bool,
    },
    /// A texture fetch.
    Fetch,
    /// The global side of an asynchronous copy, past L1.
    AsyncCopy,
    /// A load of constant memory; a parameter with an index is one.
    Constant,
    /// A store to global memory or a surface.
    Store,
    /// An atomic on global memory.
    Atomic(AtomicKind),
}

/// Facts of an atomic for a model of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicKind {
    /// It adds floats, or the like.
    pub is_float: bool,
    /// A compare-and-swap that a loop repeats until it succeeds.
    pub is_retried: bool,
    /// The lanes of a warp change one word, which the assembler makes one change of.
    pub is_aggregated: bool,
    /// A compare-and-swap, repeated or not.
    pub is_swap: bool,
    /// An addition whose result is read, as of a number that says what to work on next.
    pub is_ticket: bool,
    /// Numbers that it changed: a compare-and-swap may fail, or store what is there.
    pub changed: u64,
}

/// A listener to a launch. Warps are named by the number that [`Observer::start_warp`] gave them.
pub trait Observer: Send {
    /// A block starts.
    fn start_block(&mut self);
    /// A warp starts; returns a number for it, which may be one whose warp has ended.
    fn start_warp(&mut self) -> usize;
    /// A warp has ended with its block.
    fn end_warp(&mut self, warp: usize);
    /// A warp accesses memory, by the instruction that it issues next.
    fn access(&mut self, kind: AccessKind, access: WarpAccess<'_>);
    /// A bulk copy reads or writes `bytes` of global memory from `start` on.
    fn bulk(&mut self, writes: bool, start: u64, bytes: u64);
    /// A warp accesses shared memory in so many wavefronts.
    fn shared(&mut self, wavefronts: u32);
    /// So many lanes have atomics on the shared memory of other blocks.
    fn cluster_atomics(&mut self, lanes: u64);
    /// Lanes are reduced in so many groups, one after the other.
    fn reduction(&mut self, groups: u64);
    /// The instruction that a warp issues next reads this from a clock, sleeps for so many nanoseconds, or calls a function
    /// of the driver for so many lanes.
    fn amount(&mut self, _amount: u64) {}
    /// The loop around the clock that a warp reads next goes on until it says this.
    fn deadline(&mut self, _clock: u64) {}
    /// A warp has executed the instruction of this number.
    fn issue(&mut self, warp: usize, instruction: usize);
}

/// The class of an instruction: what decides when its result is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionClass {
    /// A load from a state space.
    Load {
        /// Of which memory.
        memory: MemorySpace,
        /// It is ordered with what others do.
        is_strong: bool,
        /// Nobody writes what it reads while the kernel runs.
        is_read_only: bool,
    },
    /// A store to a state space.
    Store {
        /// To which memory.
        memory: MemorySpace,
    },
    /// An atomic.
    Atomic {
        /// It is on shared memory.
        is_shared: bool,
    },
    /// An exchange between lanes, or a product of matrices.
    Exchange {
        /// ptxas moves it among its neighbours.
        is_moved: bool,
    },
    /// A texture or surface access.
    Image,
    /// An asynchronous copy of a few bytes per lane.
    AsyncCopy,
    /// A bulk or tensor copy that completes at an mbarrier.
    BulkCopy,
    /// A bulk or tensor copy in a group of its thread, which leaves shared memory.
    BulkStore,
    /// A wait for asynchronous copies.
    AsyncWait,
    /// A test of an mbarrier's phase, which a copy completes.
    BulkWait,
    /// A wait for a thread's groups of bulk copies.
    BulkStoreWait {
        /// Only for the reads of their sources.
        reads: bool,
    },
    /// A barrier of the block.
    Barrier,
    /// A branch that is one in the machine, too.
    Branch,
    /// A read of a clock; of the one in nanoseconds, that all multiprocessors share, or its own one in cycles.
    Clock {
        /// In nanoseconds.
        nanoseconds: bool,
    },
    /// A sleep of some time.
    Sleep,
    /// A call of a function of the driver.
    Driver(Builtin),
    /// A computation, a branch that becomes predicates, or nothing.
    Plain,
    /// Any other instruction.
    Other,
}

/// The memory that a load or store names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum MemorySpace {
    Global,
    Shared,
    Local,
    Constant,
    Parameter,
    Generic,
}

/// The facts of an instruction that do not change while a kernel runs.
#[derive(Clone, Debug)]
pub struct InstructionFacts {
    /// The class, which decides when its result is there.
    pub class: InstructionClass,
    /// The registers that it reads, its guard among them, by number.
    pub reads: Vec<u32>,
    /// The registers that it writes, by number.
    pub writes: Vec<u32>,
    /// Its result is only approximately that of hardware: a special function.
    pub is_approximate: bool,
    /// The pipes of a scheduler that it keeps busy.
    pub pipes: Pipes,
    /// The first and the last instruction of the loop around it that goes on until another thread has written what it reads.
    pub polled_loop: Option<(u32, u32)>,
    /// It is in a loop that goes on until a clock says so.
    pub is_timed: bool,
    /// The first instruction of the loop around it, if it is a compare-and-swap that a thread may give up: a maximum.
    pub abandoned_loop: Option<u32>,
    /// It is the first of a basic block, or of a loop that ptxas unrolls.
    pub is_first: bool,
    /// The number of the unrolled loop that it is in, from 1; 0 outside of such loops.
    pub unrolled: u32,
}

/// Returns the facts of each instruction of a program.
pub(crate) fn facts(program: &Program) -> Vec<InstructionFacts> {
    let numbers = |registers: &[Register]| -> Vec<u32> {
        registers.iter().map(|register| number(program, *register) as u32).collect()
    };
    let chosen = chosen_by_predicates(program);
    let products = products(program);
    let folds = folds(program);
    let timed = timed(program);
    let loops = if program.polling.is_empty() { Vec::new() } else { loops(program) };
    let polled_loop = |pc: usize| {
        program.polling.binary_search(&(pc as u32)).ok()?;
        let around = loops.iter().find(|(start, end)| (*start..=*end).contains(&pc));
        around.map(|(start, end)| (*start as u32, *end as u32))
    };
    // nvcc takes the first try out of a loop that sleeps between tries.
    let first_tries: Vec<(usize, (u32, u32))> = program
        .polling
        .iter()
        .filter_map(|pc| {
            let (start, end) = polled_loop(*pc as usize)?;
            let first = first_try(program, *pc as usize, start as usize)?;
            Some((first, (first as u32, end)))
        })
        .collect();
    let polled_loop = |pc: usize| {
        let first = first_tries.iter().find(|(first, _)| *first == pc);
        polled_loop(pc).or(first.map(|(_, turn)| *turn))
    };
    let instructions = program.instructions.iter().zip(&program.details).zip(&program.places);
    instructions
        .enumerate()
        .map(|(pc, ((instruction, detail), place))| {
            let BlockPlace { is_first, unrolled } = *place;
            let text = &program.texts[detail.text as usize];
            let mut reads = numbers(&detail.reads);
            if instruction.guard != ALWAYS {
                reads.extend(numbers(&[Register::Predicate(instruction.guard)]));
            }
            InstructionFacts {
                class: match class(&instruction.operation) {
                    InstructionClass::Branch if chosen.contains(&pc) => InstructionClass::Plain,
                    class => class,
                },
                reads,
                writes: numbers(&detail.writes),
                is_approximate: detail.approximate,
                pipes: pipes(text, adds_product(program, &products, detail), folds[pc]),
                polled_loop: polled_loop(pc),
                is_timed: timed.iter().any(|(start, end)| (*start..=*end).contains(&pc)),
                abandoned_loop: program.abandoned.get(&(pc as u32)).copied(),
                is_first,
                unrolled,
            }
        })
        .collect()
}

/// Returns the access right before a loop that tries first what one in the loop tries again.
fn first_try(program: &Program, again: usize, start: usize) -> Option<usize> {
    let operation = |pc: usize| &program.instructions[pc].operation;
    let is_computed = |pc: &usize| {
        matches!(class(operation(*pc)), InstructionClass::Plain | InstructionClass::Branch)
    };
    let first = (0..start).rev().find(|pc| !is_computed(pc))?;
    let is_same = match (operation(first), operation(again)) {
        (Operation::Atomic(first), Operation::Atomic(again)) => {
            first.operation == again.operation
                && (first.space, first.base.register(), first.offset)
                    == (again.space, again.base.register(), again.offset)
        }
        (Operation::Load(first), Operation::Load(again)) => {
            first.strong
                && (first.space, first.base.register(), first.offset)
                    == (again.space, again.base.register(), again.offset)
        }
        _ => false,
    };
    is_same.then_some(first)
}

fn memory(space: Space) -> MemorySpace {
    match space {
        Space::Global => MemorySpace::Global,
        Space::Shared => MemorySpace::Shared,
        Space::Local => MemorySpace::Local,
        Space::Constant => MemorySpace::Constant,
        Space::Parameter => MemorySpace::Parameter,
        Space::Generic => MemorySpace::Generic,
    }
}

fn class(operation: &Operation) -> InstructionClass {
    match operation {
        Operation::Load(access) => InstructionClass::Load {
            memory: memory(access.space),
            is_strong: access.strong,
            is_read_only: access.read_only,
        },
        Operation::Store(access) => InstructionClass::Store { memory: memory(access.space) },
        Operation::Atomic(atomic) => {
            InstructionClass::Atomic { is_shared: atomic.space == Space::Shared }
        }
        Operation::Shuffle { .. }
        | Operation::Vote { .. }
        | Operation::LoadMatrix { .. }
        | Operation::Mma(_)
        | Operation::BlockScaled(_) => InstructionClass::Exchange { is_moved: true },
        Operation::Match { .. }
        | Operation::Reduce { .. }
        | Operation::Wgmma(_)
        | Operation::Wmma(_) => InstructionClass::Exchange { is_moved: false },
        Operation::Image(_) => InstructionClass::Image,
        Operation::AsyncCopy(_) => InstructionClass::AsyncCopy,
        Operation::BulkCopy(copy) if copy.direction == BulkDirection::SharedToGlobal => {
            InstructionClass::BulkStore
        }
        Operation::TensorCopy(copy) if copy.direction == BulkDirection::SharedToGlobal => {
            InstructionClass::BulkStore
        }
        Operation::BulkCopy(_) | Operation::TensorCopy(_) => InstructionClass::BulkCopy,
        Operation::AsyncWait { .. } => InstructionClass::AsyncWait,
        Operation::Mbarrier { operation, .. }
            if matches!(**operation, MbarrierOperation::Test { .. }) =>
        {
            InstructionClass::BulkWait
        }
        Operation::Mbarrier { .. } => InstructionClass::Exchange { is_moved: false },
        Operation::BulkWait { reads, .. } => InstructionClass::BulkStoreWait { reads: *reads },
        Operation::Barrier { .. } => InstructionClass::Barrier,
        Operation::Branch { .. } | Operation::BranchTable { .. } => InstructionClass::Branch,
        Operation::Compute { .. }
        | Operation::WgmmaFence
        | Operation::WgmmaCommit
        | Operation::WgmmaWait { .. }
        | Operation::Nothing => InstructionClass::Plain,
        Operation::Sleep { .. } => InstructionClass::Sleep,
        Operation::ReadClock { clock, .. } => {
            InstructionClass::Clock { nanoseconds: *clock == Clock::GlobalTime }
        }
        Operation::Builtin { which, .. } => InstructionClass::Driver(*which),
        _ => InstructionClass::Other,
    }
}

/// The rows that hold products of integers with all their bits.
fn products(program: &Program) -> BTreeSet<Register> {
    let is_product = |detail: &&Detail| program.texts[detail.text as usize].contains(".wide");
    program.details.iter().filter(is_product).flat_map(|detail| detail.writes.clone()).collect()
}

/// Returns whether an instruction adds such a product to something of 64 bits, as to an address.
fn adds_product(program: &Program, products: &BTreeSet<Register>, detail: &Detail) -> bool {
    let text = &program.texts[detail.text as usize];
    text.starts_with("add") && detail.reads.iter().any(|row| products.contains(row))
}
