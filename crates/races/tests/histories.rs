//! Small histories, and the races in them: what orders two accesses, and what does not.

#[path = "histories/axioms.rs"]
mod axioms;

use Act::{Atomic, Barrier, Fence, Load, Store, Store8, Sync};
use races::{
    AccessKind, BarrierWarp, GlobalAccess, GlobalShadow, Grid, LaunchModel, MissingOrder, Region,
    Request, Scope, Semantics, ShadowFootprint, SharedShadow, Synchronization, ThreadClocks,
};

/// A thread by block, warp and lane: every block has two warps of two lanes.
type Thread = (u32, usize, usize);

const ME: Thread = (0, 0, 0);
const LANE: Thread = (0, 0, 1);
const WARP: Thread = (0, 1, 0);
const PEER: Thread = (1, 0, 0);
const FAR: Thread = (2, 0, 0);

const DATA: u64 = 4096;
const FLAG: u64 = 8192;
const OTHER: u64 = 12288;

#[derive(Clone, Copy, Debug)]
enum Act {
    Load(Thread, u64, Semantics),
    Store(Thread, u64, Semantics),
    /// A store of 8 bytes; all others have 4.
    Store8(Thread, u64, Semantics),
    Atomic(Thread, u64, Semantics),
    Fence(Thread, Semantics),
    /// All warps of a block meet.
    Barrier(u32),
    /// The lanes of a thread's warp meet.
    Sync(Thread),
}

const WEAK: Semantics = Semantics {
    strong: None,
    acquire: false,
    release: false,
    sequential: false,
    volatile: false,
    system: false,
};
const VOLATILE: Semantics = Semantics { volatile: true, system: true, ..RELAXED };
const RELAXED: Semantics = Semantics { strong: Some(Scope::Device), ..WEAK };
const ACQUIRE: Semantics = Semantics { acquire: true, ..RELAXED };
const RELEASE: Semantics = Semantics { release: true, ..RELAXED };
const BOTH: Semantics = Semantics { acquire: true, ..RELEASE };
const SC: Semantics = Semantics { sequential: true, ..BOTH };

const fn within(scope: Scope, semantics: Semantics) -> Semantics {
    Semantics { strong: Some(scope), ..semantics }
}

#[derive(Default)]
struct Warp(ThreadClocks);

impl BarrierWarp for Warp {
    fn clocks(&mut self) -> &mut ThreadClocks {
        &mut self.0
    }

    fn live(&self) -> u32 {
        0b11
    }

    fn lanes(&self) -> u32 {
        0b11
    }

    fn waiting(&self, _barrier: u32) -> u32 {
        0b11
    }
}

/// A race: the steps of the two accesses, and the order that is missing.
type Found = (usize, usize, MissingOrder);

fn bytes(act: &Act) -> u32 {
    if matches!(act, Store8(..)) { 8 } else { 4 }
}

/// Four blocks, two in each cluster. Every step is an instruction of its own.
fn races(history: &[Act]) -> Vec<Found> {
    let kinds = history.iter().map(|act| {
        let (semantics, updates, observes) = match *act {
            Load(_, _, semantics) => (semantics, false, true),
            Atomic(_, _, semantics) => (semantics, true, true),
            Store(_, _, semantics) | Store8(_, _, semantics) | Fence(_, semantics) => {
                (semantics, false, false)
            }
            Barrier(_) | Sync(_) => (WEAK, false, false),
        };
        AccessKind {
            semantics,
            updates,
            observes,
            bytes: bytes(act) as u8,
            ..AccessKind::default()
        }
    });
    let model = LaunchModel {
        grid: Grid { blocks: [4, 1, 1], cluster: [2, 1, 1] },
        kinds: kinds.collect(),
        orders_some: true,
        narrow_scopes: true,
        granule: 4,
        shared_granule: 4,
        synchronization: [Synchronization::default(); 2],
    };
    let mut shadow = GlobalShadow::new(1, false);
    let mut blocks: Vec<(SharedShadow, [Warp; 2])> = (0..4)
        .map(|block| {
            let mut warps = [Warp::default(), Warp::default()];
            for (number, warp) in warps.iter_mut().enumerate() {
                warp.0.start(block, number as u8);
            }
            (SharedShadow::new(&model, 64), warps)
        })
        .collect();
    let mut found = Vec::new();
    for (pc, act) in history.iter().enumerate() {
        match *act {
            Load((block, warp, lane), address, _)
            | Store((block, warp, lane), address, _)
            | Store8((block, warp, lane), address, _)
            | Atomic((block, warp, lane), address, _) => {
                let clocks = blocks[block as usize].1[warp].clocks();
                let mut all = [0; 32];
                all[lane] = address;
                let writes = !matches!(act, Load(..));
                let request = Request::new(pc, 1 << lane, &all, bytes(act));
                let mut access = GlobalAccess::new(request, writes, false);
                let region = Region { index: 0, base: DATA, bytes: 1 << 16 };
                let mut parts = ShadowFootprint::default();
                shadow.access(&model, clocks, &mut access, region, &mut parts);
                // Volatile accesses that nothing orders are no race.
                let races = access.races.iter().filter(|race| !race.is_volatile);
                let missing = races
                    .map(|race| (race.before.pc(), pc, clocks.missing_order(&model, pc, race)));
                found.extend(missing);
                if model.kinds[pc].is_strong() {
                    shadow.synchronize(&model, clocks, 0b11, request, writes);
                }
            }
            Fence((block, warp, lane), semantics) => {
                let clocks = blocks[block as usize].1[warp].clocks();
                let scope = semantics.strong.expect("a fence has a scope");
                clocks.acquire_fence(1 << lane, 0b11, scope, semantics.sequential);
                clocks.release_fence(1 << lane, 0b11, scope, semantics.sequential);
            }
            Barrier(block) => {
                let (shadow, warps) = &mut blocks[block as usize];
                shadow.join_block(0, warps);
            }
            Sync((block, warp, _)) => {
                blocks[block as usize].1[warp].clocks().meet(0b11, 0b11, 0b11);
            }
        }
    }
    found
}

/// The races of histories in which one thread writes data and another reads it.
#[track_caller]
fn expect(name: &str, history: &[Act], expected: &[Found]) {
    assert_eq!(races(history), expected, "{name}: {history:?}");
}

#[test]
fn only_other_threads_that_nothing_orders_race() {
    let after = |thread: Thread| [Store(ME, DATA, WEAK), Load(thread, DATA, WEAK)];
    for (name, thread, missing) in [
        ("the same thread", ME, None),
        ("another lane", LANE, Some(MissingOrder::WarpBarrier)),
        ("another warp", WARP, Some(MissingOrder::BlockBarrier)),
        ("another block of the cluster", PEER, Some(MissingOrder::ClusterBarrier)),
        ("another block", FAR, Some(MissingOrder::Blocks)),
    ] {
        let expected: Vec<Found> = missing.map(|missing| (0, 1, missing)).into_iter().collect();
        expect(name, &after(thread), &expected);
    }
    expect("reads", &[Load(ME, DATA, WEAK), Load(PEER, DATA, WEAK)], &[]);
    expect("other words", &[Store(ME, DATA, WEAK), Store(PEER, DATA + 4, WEAK)], &[]);
    let read_first = [Load(ME, DATA, WEAK), Store(PEER, DATA, WEAK)];
    expect("a write after a read", &read_first, &[(0, 1, MissingOrder::ClusterBarrier)]);
}

#[test]
fn barriers_order_those_who_meet() {
    let between = |act: Act, thread: Thread| [Store(ME, DATA, WEAK), act, Load(thread, DATA, WEAK)];
    for (name, act, thread, missing) in [
        ("bar.sync, another warp", Barrier(0), WARP, None),
        ("bar.sync, another lane", Barrier(0), LANE, None),
        ("bar.sync of another block", Barrier(1), WARP, Some(MissingOrder::BlockBarrier)),
        ("bar.sync, another block", Barrier(0), FAR, Some(MissingOrder::Blocks)),
        (
            "bar.sync, another block of the cluster",
            Barrier(0),
            PEER,
            Some(MissingOrder::ClusterBarrier),
        ),
        ("bar.warp.sync, another lane", Sync(ME), LANE, None),
        ("bar.warp.sync, another warp", Sync(ME), WARP, Some(MissingOrder::BlockBarrier)),
        ("bar.warp.sync of another warp", Sync(WARP), LANE, Some(MissingOrder::WarpBarrier)),
    ] {
        let expected: Vec<Found> = missing.map(|missing| (0, 2, missing)).into_iter().collect();
        expect(name, &between(act, thread), &expected);
    }
}

/// Message passing: data, flag; flag, data.
#[test]
fn a_release_and_an_acquire_pass_a_message() {
    let passes = |write: Semantics, read: Semantics, to: Thread| {
        [Store(ME, DATA, WEAK), Store(ME, FLAG, write), Load(to, FLAG, read), Load(to, DATA, WEAK)]
    };
    let (cta, cluster) = (Scope::Block, Scope::Cluster);
    let needs = Scope::Cluster;
    for (name, write, read, to, missing) in [
        ("release, acquire", RELEASE, ACQUIRE, PEER, None),
        (
            "no release",
            RELAXED,
            ACQUIRE,
            PEER,
            Some(MissingOrder::Release { read: 2, write: 1, needs }),
        ),
        ("no acquire", RELEASE, RELAXED, PEER, Some(MissingOrder::Acquire { read: 2, needs })),
        (
            "volatile",
            VOLATILE,
            VOLATILE,
            PEER,
            Some(MissingOrder::Release { read: 2, write: 1, needs }),
        ),
        (".cluster inside it", within(cluster, RELEASE), within(cluster, ACQUIRE), PEER, None),
        (".cta inside a block", within(cta, RELEASE), within(cta, ACQUIRE), WARP, None),
    ] {
        let expected: Vec<Found> = missing.map(|missing| (0, 3, missing)).into_iter().collect();
        expect(name, &passes(write, read, to), &expected);
    }
    // A scope that leaves the other out makes the flag itself a race.
    for (name, scope, to, needs) in
        [(".cta", cta, PEER, Scope::Cluster), (".cluster", cluster, FAR, Scope::Device)]
    {
        let found = races(&passes(within(scope, RELEASE), ACQUIRE, to));
        let flag = (1, 2, MissingOrder::Scope { pc: 1, is: scope, needs });
        assert_eq!(found.first(), Some(&flag), "{name}");
        assert_eq!(found.get(1).map(|race| (race.0, race.1)), Some((0, 3)), "{name}");
    }
}

/// The order that is told to be missing is that of the flag, not what the flag is not: a plain word, or the racing one.
#[test]
fn a_release_is_told_to_lack_only_where_something_is_handed_on() {
    let (needs, read) = (Scope::Cluster, Load(PEER, DATA, WEAK));
    // Who releases comes before or after nothing of the thread that wrote.
    let fence = [
        Store(WARP, DATA, WEAK),
        Fence(ME, BOTH),
        Store(ME, FLAG, RELAXED),
        Load(PEER, FLAG, ACQUIRE),
        read,
    ];
    let missing = MissingOrder::Inclusion { read: 3, write: 2, needs };
    expect("the fence of another thread", &fence, &[(0, 4, missing)]);
    // A ticket that a third block took in between.
    let ticket = [
        Store(WARP, DATA, WEAK),
        Fence(ME, BOTH),
        Atomic(ME, FLAG, RELAXED),
        Fence(FAR, BOTH),
        Atomic(FAR, FLAG, RELAXED),
        Atomic(PEER, FLAG, ACQUIRE),
        read,
    ];
    let missing = MissingOrder::Inclusion { read: 5, write: 4, needs };
    expect("the ticket of another block", &ticket, &[(0, 6, missing)]);
    let plain = [Store(ME, DATA, WEAK), Store(ME, FLAG, WEAK), Load(PEER, FLAG, ACQUIRE), read];
    let missing = MissingOrder::ClusterBarrier;
    expect("a plain flag", &plain, &[(1, 2, missing), (0, 3, missing)]);
    let counter = [Load(ME, FLAG, WEAK), Atomic(WARP, FLAG, RELAXED), Atomic(PEER, FLAG, RELAXED)];
    let found = races(&counter);
    let missing = [(0, 1, MissingOrder::BlockBarrier), (0, 2, MissingOrder::ClusterBarrier)];
    assert_eq!(found, missing, "a counter that is read plainly");
}

#[test]
fn fences_release_and_acquire_for_strong_accesses() {
    let with = |first: &[Act], second: &[Act]| {
        let mut history = vec![Store(ME, DATA, WEAK)];
        history.extend(first);
        history.push(Store(ME, FLAG, RELAXED));
        history.push(Load(PEER, FLAG, RELAXED));
        history.extend(second);
        history.push(Load(PEER, DATA, WEAK));
        races(&history).len()
    };
    let fence = |thread: Thread, semantics| [Fence(thread, semantics)];
    assert_eq!(with(&fence(ME, BOTH), &fence(PEER, BOTH)), 0);
    assert_eq!(with(&fence(ME, SC), &fence(PEER, SC)), 0);
    assert_eq!(with(&[], &fence(PEER, BOTH)), 1, "nothing is released");
    assert_eq!(with(&fence(ME, BOTH), &[]), 1, "nothing is acquired");
    assert_eq!(with(&fence(ME, within(Scope::Block, BOTH)), &fence(PEER, BOTH)), 1);
    assert_eq!(with(&fence(ME, BOTH), &fence(PEER, within(Scope::Block, BOTH))), 1);
    assert_eq!(with(&fence(WARP, BOTH), &fence(PEER, BOTH)), 1, "a fence of another thread");
}

/// "All threads fence, barrier, one thread takes the ticket": what `fence.acq_rel` is not enough for.
#[test]
fn fences_of_sc_have_one_order() {
    let ticket = |first: Semantics, semantics: Semantics| {
        races(&[
            Store(WARP, DATA, WEAK),
            Fence(WARP, first),
            Fence(ME, semantics),
            Barrier(0),
            Atomic(ME, FLAG, RELAXED),
            Atomic(PEER, FLAG, RELAXED),
            Fence(PEER, semantics),
            Load(PEER, DATA, WEAK),
        ])
        .len()
    };
    assert_eq!(ticket(SC, SC), 0);
    assert_eq!(ticket(SC, BOTH), 1);
    assert_eq!(ticket(BOTH, SC), 1);
    assert_eq!(ticket(BOTH, BOTH), 1);
}

#[test]
fn strong_accesses_of_the_same_bytes_do_not_race_as_far_as_scopes_reach() {
    let strong = |first: Semantics, second: Semantics, to: Thread| {
        races(&[Store(ME, DATA, first), Store(to, DATA, second)]).len()
    };
    let (cta, cluster) = (within(Scope::Block, RELAXED), within(Scope::Cluster, RELAXED));
    assert_eq!(strong(RELAXED, RELAXED, FAR), 0);
    assert_eq!(strong(VOLATILE, VOLATILE, FAR), 0);
    assert_eq!(strong(VOLATILE, RELAXED, FAR), 0);
    assert_eq!(strong(RELAXED, WEAK, FAR), 1);
    assert_eq!(strong(WEAK, VOLATILE, FAR), 1);
    assert_eq!(strong(cta, cta, WARP), 0);
    assert_eq!(strong(cta, RELAXED, PEER), 1);
    assert_eq!(strong(RELAXED, cta, PEER), 1);
    assert_eq!(strong(cluster, cluster, PEER), 0);
    assert_eq!(strong(cluster, cluster, FAR), 1);
    let sizes = [Store(ME, DATA, RELAXED), Store8(FAR, DATA, RELAXED)];
    expect("sizes", &sizes, &[(0, 1, MissingOrder::OneSize { bytes: 8, other: 4 })]);
}

#[test]
fn an_atomic_goes_on_with_a_release_sequence_and_a_store_ends_it() {
    let through = |middle: Act| {
        races(&[
            Store(ME, DATA, WEAK),
            Store(ME, FLAG, RELEASE),
            middle,
            Load(FAR, FLAG, ACQUIRE),
            Load(FAR, DATA, WEAK),
        ])
        .len()
    };
    assert_eq!(through(Atomic(PEER, FLAG, RELAXED)), 0);
    assert_eq!(through(Store(ME, FLAG, RELAXED)), 0, "by the thread that released");
    assert_eq!(through(Store(PEER, FLAG, RELAXED)), 1);
}

/// A thread hands on what it acquired, and a reader between the first and the last is remembered.
#[test]
fn order_is_transitive_and_every_reader_counts() {
    let chain = [
        Store(ME, DATA, WEAK),
        Store(ME, FLAG, RELEASE),
        Load(PEER, FLAG, ACQUIRE),
        Store(PEER, OTHER, RELEASE),
        Load(FAR, OTHER, ACQUIRE),
        Store(FAR, DATA, WEAK),
    ];
    expect("a chain", &chain, &[]);
    let readers = [
        Load(ME, DATA, WEAK),
        Load(WARP, DATA, WEAK),
        Load(PEER, DATA, WEAK),
        Store(PEER, FLAG, RELEASE),
        Store(ME, OTHER, RELEASE),
        Load(FAR, FLAG, ACQUIRE),
        Load(FAR, OTHER, ACQUIRE),
        Store(FAR, DATA, WEAK),
    ];
    let found: Vec<_> = races(&readers).iter().map(|race| (race.0, race.1)).collect();
    assert_eq!(found, [(1, 7)], "the reader in the middle");
}
