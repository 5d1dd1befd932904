//! The axioms of the PTX memory model, word by word and without regard to time, on histories of a few steps: nothing is
//! accused that does not race by them, and nearly all that races is found.
//!
//! The words are those of the PTX ISA, "Memory Consistency Model": morally strong, observation order, release and acquire
//! patterns, synchronizes-with, causality order, data race. `fence.sc` and volatile accesses are left out, which the check
//! treats more mildly on purpose.

use super::{
    ACQUIRE, Act, Atomic, BOTH, Barrier, DATA, FAR, FLAG, Fence, LANE, Load, ME, PEER, RELAXED,
    RELEASE, Store, Store8, Sync, Thread, WARP, WEAK, races, within,
};
use races::{Grid, Scope, Semantics};

const GRID: Grid = Grid { blocks: [4, 1, 1], cluster: [2, 1, 1] };

/// An event: its thread, the word that it reaches, and whether it reads and writes; barriers and fences reach none.
#[derive(Clone, Copy)]
struct Event {
    thread: Thread,
    word: Option<u64>,
    reads: bool,
    writes: bool,
    semantics: Semantics,
}

fn event(act: &Act) -> Event {
    let event =
        |thread, word, reads, writes, semantics| Event { thread, word, reads, writes, semantics };
    match *act {
        Load(thread, word, semantics) => event(thread, Some(word), true, false, semantics),
        Store(thread, word, semantics) | Store8(thread, word, semantics) => {
            event(thread, Some(word), false, true, semantics)
        }
        Atomic(thread, word, semantics) => event(thread, Some(word), true, true, semantics),
        Fence(thread, semantics) => event(thread, None, false, false, semantics),
        Barrier(block) => event((block, 0, 0), None, false, false, WEAK),
        Sync(thread) => event(thread, None, false, false, WEAK),
    }
}

/// Sets of events are bits of a number.
struct Execution<'h> {
    history: &'h [Act],
    events: Vec<Event>,
    /// By event: the writes that it observes.
    observed: Vec<u64>,
    /// By event: those before it in base causality order.
    before: Vec<u64>,
}

fn members(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |at| set >> at & 1 != 0)
}

impl Execution<'_> {
    fn scopes_include(&self, a: usize, b: usize) -> bool {
        let [a, b] = [a, b].map(|at| &self.events[at]);
        let (Some(of_a), Some(of_b)) = (a.semantics.strong, b.semantics.strong) else {
            return false;
        };
        GRID.includes(of_a, a.thread.0, b.thread.0) && GRID.includes(of_b, b.thread.0, a.thread.0)
    }

    fn is_morally_strong(&self, a: usize, b: usize) -> bool {
        self.events[a].word == self.events[b].word && self.scopes_include(a, b)
    }

    /// Returns whether one event comes before another by the order of a thread or of a barrier.
    fn is_in_program_order(&self, a: usize, b: usize) -> bool {
        let takes_part = |barrier: usize, thread: Thread| match self.history[barrier] {
            Barrier(block) => block == thread.0,
            Sync((block, warp, _)) => (block, warp) == (thread.0, thread.1),
            _ => false,
        };
        let is_barrier = |at: usize| matches!(self.history[at], Barrier(_) | Sync(_));
        let [of_a, of_b] = [a, b].map(|at| self.events[at].thread);
        match (is_barrier(a), is_barrier(b)) {
            (false, false) => of_a == of_b,
            (true, false) => takes_part(a, of_b),
            (false, true) => takes_part(b, of_a),
            (true, true) => of_a.0 == of_b.0,
        }
    }

    /// The releases whose pattern ends with a write.
    fn releases_to(&self, write: usize) -> impl Iterator<Item = usize> + '_ {
        let of = &self.events[write];
        let earlier = (0..write).filter(move |at| {
            let one = &self.events[*at];
            let is_own =
                one.thread == of.thread && !matches!(self.history[*at], Barrier(_) | Sync(_));
            let is_fence = matches!(self.history[*at], Fence(..));
            is_own && (is_fence || one.writes && one.semantics.release && one.word == of.word)
        });
        earlier.chain(of.semantics.release.then_some(write))
    }

    /// The reads whose acquire pattern ends with an event.
    fn acquired_by(&self, at: usize) -> Vec<usize> {
        let of = &self.events[at];
        let is_fence = matches!(self.history[at], Fence(..));
        let acquires = of.reads && of.semantics.acquire;
        let mut reads: Vec<usize> = (0..at)
            .filter(|one| {
                let read = &self.events[*one];
                let is_strong =
                    read.reads && read.semantics.strong.is_some() && read.thread == of.thread;
                is_strong && (is_fence || acquires && read.word == of.word)
            })
            .collect();
        reads.extend(acquires.then_some(at));
        reads
    }

    fn of(history: &[Act]) -> Execution<'_> {
        let events: Vec<Event> = history.iter().map(event).collect();
        let none = vec![0; events.len()];
        let mut it = Execution { history, events, observed: none.clone(), before: none };
        for at in 0..it.events.len() {
            if it.events[at].reads {
                let word = it.events[at].word;
                let from = (0..at)
                    .rev()
                    .find(|one| it.events[*one].writes && it.events[*one].word == word);
                if let Some(from) = from.filter(|from| it.is_morally_strong(*from, at)) {
                    it.observed[at] = 1 << from;
                    // It goes on through what reads and writes as one.
                    if it.events[from].reads {
                        it.observed[at] |= it.observed[from];
                    }
                }
            }
            let mut before = 0;
            for one in (0..at).filter(|one| it.is_in_program_order(*one, at)) {
                before |= it.before[one] | 1 << one;
            }
            for read in it.acquired_by(at) {
                for write in members(it.observed[read]) {
                    for release in it.releases_to(write).filter(|one| it.scopes_include(*one, at)) {
                        before |= it.before[release] | 1 << release;
                    }
                }
            }
            it.before[at] = before;
        }
        it
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        let observes = |at: usize| self.observed[at] >> a & 1 != 0;
        self.before[b] >> a & 1 != 0 || members(self.before[b]).any(observes)
    }

    /// The first event that races with one before it.
    fn first_race(&self) -> Option<usize> {
        let is_race = |a: usize, b: usize| {
            let [of_a, of_b] = [a, b].map(|at| &self.events[at]);
            of_a.word.is_some()
                && of_a.word == of_b.word
                && of_a.thread != of_b.thread
                && (of_a.writes || of_b.writes)
                && !self.is_morally_strong(a, b)
                && !self.is_before(a, b)
        };
        (0..self.events.len()).find(|b| (0..*b).any(|a| is_race(a, *b)))
    }
}

/// Histories with a race by the axioms, and those of which one is found; and those whose finding is no race.
#[derive(Default)]
struct Tally {
    races: u64,
    found: u64,
    all: u64,
    wrong: Vec<String>,
}

/// Compares a history's first race by the axioms with the first that is found. It may come late: of strong accesses to a word
/// the shadow has the last ones only.
fn compare(history: &[Act], tally: &mut Tally) {
    let expected = Execution::of(history).first_race();
    let found = races(history).into_iter().map(|(_, at, _)| at).min();
    tally.all += 1;
    tally.races += u64::from(expected.is_some());
    tally.found += u64::from(found.is_some());
    let is_accused = found.is_some_and(|found| expected.is_none_or(|expected| found < expected));
    if is_accused && tally.wrong.len() < 10 {
        let acts = history.iter().map(|act| format!("\n    {act:?}")).collect::<String>();
        tally.wrong.push(format!("by the axioms {expected:?}, found {found:?}:{acts}"));
    }
}

impl Tally {
    /// Fails if a history was accused that does not race, or more than one race in so many was missed.
    #[track_caller]
    fn check(&self, one_in: u64) {
        let Tally { races, found, wrong, .. } = self;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!((races - found) * one_in <= *races, "{found} of {races} are found");
    }
}

/// The acts of some threads on two words.
fn alphabet(threads: &[Thread], scopes: &[Scope]) -> Vec<Act> {
    let mut acts = Vec::new();
    for thread in threads {
        for word in [DATA, FLAG] {
            acts.extend([Load(*thread, word, WEAK), Store(*thread, word, WEAK)]);
            for scope in scopes {
                let of = |semantics| within(*scope, semantics);
                acts.extend([RELAXED, ACQUIRE].map(|it| Load(*thread, word, of(it))));
                acts.extend([RELAXED, RELEASE].map(|it| Store(*thread, word, of(it))));
                acts.extend([RELAXED, BOTH].map(|it| Atomic(*thread, word, of(it))));
            }
        }
        acts.extend(scopes.iter().map(|scope| Fence(*thread, within(*scope, BOTH))));
    }
    acts
}

/// Draws histories of up to eight steps.
fn drawn(scopes: &[Scope], compare: &mut dyn FnMut(&[Act])) {
    let mut acts = alphabet(&[ME, LANE, WARP, PEER, FAR], scopes);
    acts.extend([Barrier(0), Sync(ME)].into_iter().cycle().take(8));
    let mut state = 1_u64;
    for _ in 0..100_000 {
        let mut draw = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        // Few acts, so that they meet more often.
        let some: Vec<Act> = (0..6).map(|_| acts[draw(acts.len())]).collect();
        let history: Vec<Act> = (0..3 + draw(6)).map(|_| some[draw(6)]).collect();
        compare(&history);
    }
}

#[test]
fn what_is_accused_races_by_the_axioms() {
    for scopes in [&[Scope::Device][..], &[Scope::Block, Scope::Cluster, Scope::Device]] {
        let mut tally = Tally::default();
        drawn(scopes, &mut |history| compare(history, &mut tally));
        tally.check(50);
    }
}

/// Every history of up to four steps by two or three threads, as litmus tests are.
#[test]
#[ignore = "half a minute: cargo xtask prove litmus"]
#[expect(clippy::print_stdout, reason = "the figure of the proof")]
fn all_short_histories_race_by_the_axioms() {
    let mut tally = Tally::default();
    for threads in [&[ME, PEER][..], &[ME, WARP], &[ME, LANE], &[ME, PEER, FAR]] {
        let acts = alphabet(threads, &[Scope::Device]);
        for length in 2..=4 {
            for number in 0..acts.len().pow(length) {
                let digits = (0..length).map(|at| acts[number / acts.len().pow(at) % acts.len()]);
                compare(&digits.collect::<Vec<Act>>(), &mut tally);
            }
        }
    }
    tally.check(50);
    let Tally { races, found, all, .. } = tally;
    println!(
        "of {all} histories none is accused that does not race by the axioms; of {races} that race {found} are found"
    );
}
