//! What is said about a race: both accesses, the order that is missing, and what would give it.

use super::check::Race;
use super::event::{Epoch, Event};
use super::known::WARPS;
use super::sync::includes;
use crate::execute::block::Block;
use crate::execute::machine::Machine;
use crate::execute::run::Run;
use crate::execute::warp::Warp;
use crate::findings::{Finding, Hazard};
use crate::operation::{Operation, Scope};

impl Machine<'_> {
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
            let missing = if same_value {
                "both store the same value, so the result is the same in every order".to_owned()
            } else {
                missing_edge(run, order, pc, lane, (before, epoch))
            };
            let message = format!("conflicting accesses to {where_}; {missing}");
            let other_warp = if epoch.warp < WARPS { epoch.warp.into() } else { w };
            let other_block = run.block_index(u64::from(epoch.block));
            Finding {
                hazard,
                place: run.place(index, w, 1 << lane, pc),
                other: Some(run.place(other_block, other_warp, 1 << before.lane(), before.pc())),
                address: Some(address),
                message,
            }
        });
    }
}

/// The order between two accesses that is not there, and what would make it, in one sentence.
fn missing_edge(
    run: &Run<'_>,
    order: &super::order::Order,
    pc: usize,
    lane: usize,
    (before, epoch): (Event, Epoch),
) -> String {
    let text = |pc: usize| {
        let detail = &run.program.details[pc];
        format!(
            "`{}` at PTX line {}",
            run.program.texts[detail.text as usize], detail.position.line
        )
    };
    if epoch.warp >= WARPS {
        return "nothing waits for the bulk copy: wait at its mbarrier or for its group, and let the \
                threads that do not wait themselves follow by a barrier"
            .into();
    }
    let (mine, theirs) = (run.kinds[pc], run.kinds[before.pc()]);
    if let (Some(a), Some(b)) = (mine.semantics.strong, theirs.semantics.strong) {
        if mine.bytes != theirs.bytes {
            return format!(
                "both are strong, but one reaches {} bytes and the other {}: use one size for both",
                theirs.bytes, mine.bytes
            );
        }
        let narrow = if includes(run, a, order.block, epoch.block) { before.pc() } else { pc };
        let scope = if includes(run, b, epoch.block, order.block) { a } else { b };
        return format!(
            "both are strong, but the {} scope of {} does not reach the other thread: use {}",
            scope_name(scope),
            text(narrow),
            wider(run, order.block, epoch.block)
        );
    }
    let same_block = epoch.block == order.block;
    if order.would_acquire(epoch, before, lane)
        && let Some(observed) = order.observed
    {
        return format!(
            "{} read the word that was released after the other access, but does not acquire: make it an .acquire of a \
             scope that includes both threads, or put such a fence after it",
            text(observed.read)
        );
    }
    if same_block && epoch.warp == order.warp {
        return "the lanes of a warp are ordered only by a warp barrier: put bar.warp.sync (__syncwarp) between the \
                two accesses"
            .into();
    }
    if let Some(observed) = order.observed
        && observed.block == epoch.block
    {
        let (read, write) = (run.kinds[observed.read], run.kinds[observed.write]);
        let strong = (read.semantics.strong, write.semantics.strong);
        let reaches = |scope: Option<Scope>, from, to| {
            scope.is_some_and(|scope| includes(run, scope, from, to))
        };
        if let (_, Some(scope)) = strong
            && !reaches(strong.1, epoch.block, order.block)
        {
            return format!(
                "the {} scope of {} does not reach the reader's block: use {}",
                scope_name(scope),
                text(observed.write),
                wider(run, order.block, epoch.block)
            );
        }
        if strong.1.is_some() && !write.semantics.release {
            return format!(
                "{} read what {} wrote, which releases nothing that came before it: make the write a .release of a \
                 scope that includes both threads, or put such a fence before it",
                text(observed.read),
                text(observed.write)
            );
        }
        return format!(
            "{} read what {} wrote, but the release there does not include the other access, or one of them has too \
             narrow a scope: let a barrier come before the release and use {}",
            text(observed.read),
            text(observed.write),
            wider(run, order.block, epoch.block)
        );
    }
    if same_block {
        return "no barrier lies between them: put bar.sync (__syncthreads) between the two accesses".into();
    }
    let atomics = [pc, before.pc()]
        .iter()
        .any(|pc| matches!(run.program.instructions[*pc].operation, Operation::Atomic(_)));
    if atomics {
        "one of them is not atomic, and nothing orders the two blocks: make both atomic, or hand on by a release that \
         the other acquires"
            .into()
    } else {
        "nothing orders the two blocks: let each block own its bytes, use atomics, split the work into two launches, \
         or hand on by a release (st.release, or a fence before a strong store) that the other acquires"
            .into()
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
