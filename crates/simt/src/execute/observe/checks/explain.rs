//! The message of a race: both accesses, the order that is missing, and what would give it.

use crate::execute::issue::block::Block;
use crate::execute::issue::run::Run;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::Worker;
use crate::findings::{Finding, Hazard, Remedy};
use crate::operation::Operation;
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
                ("one is volatile, which orders nothing, so the value that is read is not promised".into(), None)
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
    let is_atomic =
        |pc: usize| matches!(run.program.instructions[pc].operation, Operation::Atomic(_));
    let plain = |missing: &str, remedy| (missing.to_owned(), remedy);
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
                "{} read what {} wrote, but the release there does not include the other access",
                text(read),
                text(write)
            ),
            Remedy::Barriers(needs),
        ),
        MissingOrder::WarpBarrier => plain(
            "only a warp barrier orders the lanes of a warp, and none lies between the two accesses",
            if is_update(run, pc, other) { Remedy::OneAtomic } else { Remedy::WarpBarrier },
        ),
        MissingOrder::BlockBarrier => plain("no barrier lies between them", Remedy::BlockBarrier),
        MissingOrder::Blocks if is_atomic(pc) || is_atomic(other) => plain(
            "one of them is not atomic, and nothing orders the two blocks",
            Remedy::BothAtomic,
        ),
        MissingOrder::Blocks => plain("nothing orders the two blocks", Remedy::OwnBytes),
    }
}

/// Returns whether one access loads from where the other stores to, by one register: many threads update one word there.
fn is_update(run: &Run<'_>, pc: usize, other: usize) -> bool {
    let operation = |pc: usize| &run.program.instructions[pc].operation;
    match (operation(pc), operation(other)) {
        (Operation::Load(load), Operation::Store(store))
        | (Operation::Store(store), Operation::Load(load)) => {
            load.base == store.base && load.offset == store.offset
        }
        _ => false,
    }
}
