//! The message of a race: both accesses, the order that is missing, and what would give it.

use crate::execute::issue::block::Block;
use crate::execute::issue::run::Run;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::Worker;
use crate::findings::{Finding, Hazard, Remedy};
use crate::operation::{Operation, Register};
use crate::program::Program;
use crate::spin_loops::loops;
use races::{MissingOrder, Race, WARPS};

impl Worker<'_> {
    /// Records a race, or that several threads store the same.
    #[cold]
    pub fn report_race(
        &mut self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        race: Race,
        same_value: bool,
        is_shared: bool,
    ) {
        let Race { before, epoch, lane, address, .. } = race;
        let in_warp = epoch.block == warp.order.block && epoch.warp == warp.order.warp;
        let hazard = match (same_value, is_shared, in_warp) {
            _ if race.is_volatile => Hazard::UnorderedVolatile,
            (true, ..) => Hazard::SameValue,
            (_, true, true) => Hazard::SharedRaceInWarp,
            (_, true, false) => Hazard::SharedRace,
            (_, false, true) => Hazard::GlobalRaceInWarp,
            (_, false, false) => Hazard::GlobalRace,
        };
        if race.is_volatile && !self.run.options.checks.volatile {
            return;
        }
        let (index, order) = (block.index, &warp.order);
        let w = warp.index;
        if !hazard.is_note() {
            self.run.note_racing_loads([pc, before.pc()]);
        }
        let explain = |run: &Run<'_>| {
            let (space, location) = if is_shared {
                ("shared address ", run.locate_shared(address))
            } else {
                ("", run.memory.locate(address))
            };
            let (missing, fix) = if race.is_volatile {
                let missing = "one is volatile, which orders nothing, so the value that is read is not promised";
                (missing.into(), shared_word(run, pc, before.pc()).map(|(_, fix)| fix))
            } else if same_value {
                ("both store the same value, so the result is the same in every order".into(), None)
            } else {
                let missing = order.missing_order(&run.model, pc, &race);
                let barriers = block.met.filter(|_| missing == MissingOrder::BlockBarrier);
                let (mut missing, fix) = described(run, missing, pc, before.pc());
                if let Some(met) = barriers {
                    let [a, b] = met.map(|pc| run.program.details[pc as usize].position.line);
                    missing = format!(
                        "the barrier between them was none: warps met there at two instructions, at PTX lines {a} and {b}"
                    );
                }
                (missing, Some(fix))
            };
            let message =
                format!("conflicting accesses to {space}{address:#x}; {location}; {missing}");
            let other_warp = if epoch.warp < WARPS { epoch.warp.into() } else { w };
            let other_block = run.model.grid.block_index(u64::from(epoch.block));
            Finding {
                hazard,
                place: run.place(index, w, 1 << lane, pc),
                other: Some(run.place(other_block, other_warp, 1 << before.lane(), before.pc())),
                address: Some(address),
                location: Some(location),
                fix,
                message,
            }
        };
        if self.observers.follower.is_some() && !hazard.is_note() {
            let (site, run) = ((warp.order.block, w, pc, lane), self.run);
            let kept = self.keep_race(site, (epoch, before), address, (hazard, || explain(run)));
            if let Some(finding) = kept {
                self.observers.find(hazard, pc, |_| finding);
            }
            return;
        }
        self.observers.find(hazard, pc, explain);
    }
}

/// The order that is missing, in words, and what would give it.
fn described(run: &Run<'_>, missing: MissingOrder, pc: usize, other: usize) -> (String, Remedy) {
    let text = |pc: usize| {
        let detail = &run.program.details[pc];
        let text = &run.program.texts[detail.text as usize];
        format!("`{text}` at PTX line {}", detail.position.line)
    };
    let plain = |missing: &str, remedy| (missing.to_owned(), remedy);
    let is_among_threads = matches!(
        missing,
        MissingOrder::WarpBarrier
            | MissingOrder::BlockBarrier
            | MissingOrder::ClusterBarrier
            | MissingOrder::Blocks
    );
    if let Some((why, remedy)) = shared_word(run, pc, other).filter(|_| is_among_threads) {
        let is_of_blocks = matches!(missing, MissingOrder::ClusterBarrier | MissingOrder::Blocks);
        let is_block = is_of_blocks && remedy == Remedy::OneStore;
        return plain(why, if is_block { Remedy::OneBlock } else { remedy });
    }
    match missing {
        MissingOrder::CopyWait => {
            plain("this thread has not waited for the bulk copy", Remedy::CopyWait)
        }
        MissingOrder::OneSize { bytes, other } => (
            format!("both are strong, but one reaches {other} bytes and the other {bytes}"),
            Remedy::OneSize,
        ),
        MissingOrder::Scope { pc, is, needs } => (
            format!("the {} scope of {} does not reach the other thread", is.name(), text(pc)),
            Remedy::Scope(needs),
        ),
        MissingOrder::Acquire { read, needs } => (
            format!(
                "{} read the word that was released after the other access, but does not acquire",
                text(read)
            ),
            Remedy::Acquire(needs),
        ),
        MissingOrder::Release { read, write, needs } => (
            format!(
                "{} read what {} wrote, which releases nothing that came before it",
                text(read),
                text(write)
            ),
            Remedy::Release(needs),
        ),
        MissingOrder::Inclusion { read, write, needs } => (
            format!(
                "{} read what {} wrote, but the release there covers only what its own thread comes after, and the other access is of \
                 another thread",
                text(read),
                text(write)
            ),
            Remedy::Barriers(needs),
        ),
        MissingOrder::WarpBarrier => plain(
            "only a warp barrier orders the lanes of a warp, and none lies between the two accesses",
            Remedy::WarpBarrier,
        ),
        MissingOrder::BlockBarrier if [pc, other].into_iter().any(|pc| is_copy(run, pc)) => {
            plain("no barrier lies between them", Remedy::CopyBarrier)
        }
        MissingOrder::BlockBarrier => plain("no barrier lies between them", Remedy::BlockBarrier),
        MissingOrder::ClusterBarrier => plain(
            "no barrier of the cluster lies between them, and one of a block does not reach the other block",
            Remedy::ClusterBarrier,
        ),
        MissingOrder::Blocks => match plain_beside_atomic(run, pc, other) {
            Some(is_store) => plain(
                "one of them is not atomic, and nothing orders the two blocks",
                if is_store { Remedy::EarlierStore } else { Remedy::BothAtomic },
            ),
            None => plain(
                "nothing orders the two blocks, for no barrier reaches from one to the other",
                Remedy::OwnBytes,
            ),
        },
    }
}

/// Returns why no barrier is the cure where many threads change one word or store to it, and the cure.
fn shared_word(run: &Run<'_>, pc: usize, other: usize) -> Option<(&'static str, Remedy)> {
    let operation = |pc: usize| &run.program.instructions[pc].operation;
    let is_update = match (operation(pc), operation(other)) {
        (Operation::Load(_), Operation::Store(_)) => updates(run.program, pc, other),
        (Operation::Store(_), Operation::Load(_)) => updates(run.program, other, pc),
        (Operation::Store(_), Operation::Store(_)) if pc == other => {
            (0..pc).rev().take(UPDATE_MAX).any(|load| updates(run.program, load, pc))
        }
        _ => false,
    };
    if is_update {
        return Some((
            "each thread loads this word, changes it and stores it back, and may overwrite what another has just stored",
            Remedy::OneAtomic,
        ));
    }
    let is_store = pc == other && matches!(operation(pc), Operation::Store(_));
    (is_store && !is_repeated(run.program, pc)).then_some((
        "several threads store different values there by this one instruction, and whichever is last decides",
        Remedy::OneStore,
    ))
}

/// Returns whether a thread may execute an instruction again: it is in a loop, or in a function that may be called twice.
fn is_repeated(program: &Program, pc: usize) -> bool {
    let function = program.functions.iter().rev().find(|(start, _)| *start as usize <= pc);
    loops(program).iter().any(|(from, to)| (*from..=*to).contains(&pc))
        || function.is_some_and(|(_, name)| *name != program.name)
}

/// Instructions from a load to the store of what was made of its value, at most.
const UPDATE_MAX: usize = 64;

/// Returns whether a store puts back what was made of the value of a load of the same word before it.
fn updates(program: &Program, load: usize, store: usize) -> bool {
    let operation = |pc: usize| &program.instructions[pc].operation;
    let (Operation::Load(from), Operation::Store(to)) = (operation(load), operation(store)) else {
        return false;
    };
    if (from.base, from.offset, from.bytes) != (to.base, to.offset, to.bytes)
        || load >= store
        || store - load > UPDATE_MAX
    {
        return false;
    }
    let mut made: Vec<Register> = program.details[load].writes.clone();
    for pc in load + 1..store {
        let detail = &program.details[pc];
        let takes = detail.reads.iter().any(|row| made.contains(row));
        if from.base.register().is_some_and(|base| detail.writes.contains(&base)) {
            return false;
        }
        if takes {
            made.extend(&detail.writes);
        } else {
            made.retain(|row| !detail.writes.contains(row));
        }
    }
    to.rows.iter().flatten().any(|row| made.contains(row))
}

/// Returns whether an instruction is an asynchronous copy that its threads wait for.
fn is_copy(run: &Run<'_>, pc: usize) -> bool {
    matches!(run.program.instructions[pc].operation, Operation::AsyncCopy(_))
}

/// Returns whether the one of two accesses that is not atomic stores, if the other is atomic.
fn plain_beside_atomic(run: &Run<'_>, pc: usize, other: usize) -> Option<bool> {
    let operation = |pc: usize| &run.program.instructions[pc].operation;
    let plain = match (operation(pc), operation(other)) {
        (Operation::Atomic(_), Operation::Atomic(_)) => return None,
        (Operation::Atomic(_), plain) | (plain, Operation::Atomic(_)) => plain,
        _ => return None,
    };
    Some(matches!(plain, Operation::Store(_)))
}
