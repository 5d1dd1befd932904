//! The message of a race: both accesses, the order that is missing, and what would give it.

use super::check::Race;
use super::event::{Epoch, Event};
use super::sync::includes;
use super::thread_clocks::ThreadClocks;
use super::vector_clock::WARPS;
use crate::execute::issue::block::Block;
use crate::execute::issue::run::Run;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::Worker;
use crate::findings::{Finding, Hazard};
use crate::operation::{Operation, Scope};

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
            (true, ..) => Hazard::SameValue,
            (_, true, true) => Hazard::SharedRaceInWarp,
            (_, true, false) => Hazard::SharedRace,
            (_, false, true) => Hazard::GlobalRaceInWarp,
            (_, false, false) => Hazard::GlobalRace,
        };
        let (index, order) = (block.index, &warp.order);
        let w = warp.index;
        self.observers.find(hazard, pc, |run| {
            let where_ = if is_shared {
                format!("shared address {address:#x}; {}", run.describe_shared(address))
            } else {
                format!("{address:#x}; {}", run.memory.describe(address))
            };
            let (missing, fix) = if same_value {
                ("both store the same value, so the result is the same in every order".into(), None)
            } else {
                let (missing, fix) = missing_edge(run, order, pc, lane, (before, epoch));
                (missing, Some(fix))
            };
            let message = format!("conflicting accesses to {where_}; {missing}");
            let other_warp = if epoch.warp < WARPS { epoch.warp.into() } else { w };
            let other_block = run.block_index(u64::from(epoch.block));
            Finding {
                hazard,
                place: run.place(index, w, 1 << lane, pc),
                other: Some(run.place(other_block, other_warp, 1 << before.lane(), before.pc())),
                address: Some(address),
                fix,
                message,
            }
        });
    }
}

/// The order between two accesses that is not there, and what would make it.
fn missing_edge(
    run: &Run<'_>,
    order: &ThreadClocks,
    pc: usize,
    lane: usize,
    (before, epoch): (Event, Epoch),
) -> (String, String) {
    let text = |pc: usize| {
        let detail = &run.program.details[pc];
        let text = &run.program.texts[detail.text as usize];
        format!("`{text}` at PTX line {}", detail.position.line)
    };
    let plain = |missing: &str, fix: &str| (missing.to_owned(), fix.to_owned());
    if epoch.warp >= WARPS {
        return plain(
            "this thread has not waited for the bulk copy",
            "wait at its mbarrier or for its group, and put a barrier between the thread that waits and those that do not",
        );
    }
    let wider = wider(run, order.block, epoch.block);
    let too_narrow = |scope: Scope, pc: usize| {
        let scope = scope_name(scope);
        (
            format!("the {scope} scope of {} does not reach the other thread", text(pc)),
            format!("use {wider} there"),
        )
    };
    let (mine, theirs) = (run.kinds[pc], run.kinds[before.pc()]);
    let reaches = |scope, from, to| includes(run, scope, from, to);
    if let (Some(a), Some(b)) = (mine.semantics.strong, theirs.semantics.strong) {
        if mine.bytes != theirs.bytes {
            let sizes = format!("one reaches {} bytes and the other {}", theirs.bytes, mine.bytes);
            return (format!("both are strong, but {sizes}"), "use one size for both".into());
        }
        return if reaches(a, order.block, epoch.block) {
            too_narrow(b, before.pc())
        } else {
            too_narrow(a, pc)
        };
    }
    if order.would_acquire(epoch, before, lane)
        && let Some(observed) = order.observed
    {
        let read = text(observed.read);
        return (
            format!(
                "{read} read the word that was released after the other access, but does not acquire"
            ),
            format!("make it an .acquire of {wider} scope, or put such a fence after it"),
        );
    }
    let same_block = epoch.block == order.block;
    if same_block && epoch.warp == order.warp {
        return plain(
            "only a warp barrier orders the lanes of a warp, and none lies between the two accesses",
            if is_update(run, pc, before.pc()) {
                "make the load, the change and the store one atomic operation: no barrier keeps an update from being lost"
            } else {
                "put bar.warp.sync (__syncwarp) between the two accesses, or a barrier of the block if other warps use these bytes, too"
            },
        );
    }
    if let Some(observed) = order.observed
        && observed.block == epoch.block
    {
        let (read, write) = (run.kinds[observed.read], run.kinds[observed.write]);
        if let Some(scope) = write.semantics.strong
            && !reaches(scope, epoch.block, order.block)
        {
            return too_narrow(scope, observed.write);
        }
        if let Some(scope) = read.semantics.strong
            && !reaches(scope, order.block, epoch.block)
        {
            return too_narrow(scope, observed.read);
        }
        let (read, wrote) = (text(observed.read), text(observed.write));
        if write.semantics.strong.is_some() && !write.semantics.release {
            return (
                format!(
                    "{read} read what {wrote} wrote, which releases nothing that came before it"
                ),
                format!(
                    "make the write a .release of {wider} scope, or put such a fence before it"
                ),
            );
        }
        return (
            format!(
                "{read} read what {wrote} wrote, but the release there does not include the other access"
            ),
            format!(
                "let a barrier come before the release and after the acquire, both of {wider} scope"
            ),
        );
    }
    if same_block {
        return plain(
            "no barrier lies between them",
            "put bar.sync (__syncthreads) between the two accesses",
        );
    }
    let is_atomic =
        |pc: usize| matches!(run.program.instructions[pc].operation, Operation::Atomic(_));
    if is_atomic(pc) || is_atomic(before.pc()) {
        return plain(
            "one of them is not atomic, and nothing orders the two blocks",
            "make both atomic, or hand on by a release that the other acquires",
        );
    }
    plain(
        "nothing orders the two blocks",
        "let each block own its bytes, use atomics, split the work into two launches, or hand on by a release (st.release, \
         or a fence before a strong store) that the other acquires",
    )
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

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Block => ".cta",
        Scope::Cluster => ".cluster",
        Scope::Device => ".gpu",
    }
}

/// The narrowest scope that includes threads of both blocks.
fn wider(run: &Run<'_>, a: u32, b: u32) -> &'static str {
    let scopes = [Scope::Block, Scope::Cluster, Scope::Device];
    let fits = scopes.into_iter().find(|scope| includes(run, *scope, a, b));
    scope_name(fits.unwrap_or(Scope::Device))
}
