//! Data races of GPU threads, by happens-before under the PTX memory model.
//!
//! The crate knows no PTX, no registers, no decoder and no driver. An access comes as plain data: the warp's clocks
//! ([`ThreadClocks`]), the instruction's [`AccessKind`], and the addresses of its lanes ([`Request`]). The two shadows compare
//! it with the accesses before ([`SharedShadow`], [`GlobalShadow`]) and return each [`Race`]. What orders threads is told
//! to the clocks: barriers, fences, releases and acquires.
//! The executor keeps what needs its registers or its memory: undefined bytes, stores of equal values, the array that an
//! address was formed from, and the words of a message.
//!
//! # Races
//!
//! A race is what the PTX ISA calls a data race ("Memory Consistency Model", "Conflict and
//! Data-races"): two overlapping accesses by different threads, at least one of them a write, that
//! are not related in *causality order* and not *morally strong*. The check follows one execution
//! and decides by the order that synchronization gives, never by which access came first. Several
//! schedules only decide what is read, and with that which way a program takes.
//!
//! **Strong** are accesses with `.relaxed`, `.acquire`, `.release`, `.acq_rel` and `.volatile`
//! (which is relaxed at system scope), all atomics, and fences; every other access is weak. Two
//! strong accesses are *morally strong* when the scope of each includes the other's thread and they
//! reach the same bytes ("Morally Strong Operations"). So two strong accesses of different sizes, or
//! of `.cta` scope in different blocks, are a race; two volatile ones are none.
//!
//! **What orders** ("Synchronizes-with", "Causality Order"):
//! - Program order of one thread. A thread is a lane: lanes of one warp are *not* ordered by running
//!   in lockstep.
//! - A release pattern before an acquire pattern that read its value: `st.release`, `atom.release`,
//!   `red.release` or `.acq_rel`; or a fence, and later a strong write by the same thread. On the
//!   other side `ld.acquire` or `atom.acquire`; or a strong read, and later a fence by the same
//!   thread (`red` reads nothing). The write and the read must be morally strong, and so must the
//!   release and the acquire. What is handed on is what came before the fence, if there is one.
//! - Observation: an atomic goes on with the release sequence of what it read; a plain strong store
//!   by another thread ends it. Who has read a strong write by a strong read comes after that write.
//! - `fence.sc` and `membar` in Fence-SC order, as far as that order is forced: F1 comes before F2
//!   when a strong write after F1 was read by a strong read before F2, also when barriers lie
//!   between the fences and these. This makes "all threads fence, barrier, one thread takes the
//!   ticket" right, which `fence.acq_rel` is not enough for.
//! - `bar.sync`, `bar.red` and `bar.arrive` with those who wait at the same barrier; `bar.warp.sync`
//!   among the lanes that it names; `barrier.cluster.arrive`, unless relaxed, with
//!   `barrier.cluster.wait`; arrivals at an mbarrier and copies that complete there with those who
//!   see the phase complete; `wait_group` with the copies of its thread.
//! - The beginning and the end of a kernel with everything in its stream: nothing that is remembered
//!   here survives a launch.
//!
//! **What does not order**: volatile and relaxed accesses of other data; a fence without a write that
//! somebody reads; shuffles, votes, matches and reductions of a warp; a barrier of other lanes, warps
//! or blocks; atomics without a release and an acquire; time.
//!
//! **The warp-synchronous reduction** without `__syncwarp` is a race. Written with `volatile` it is
//! none, by the definition above: its accesses are morally strong. Its result is still not promised,
//! because nothing orders a lane's load after the other lane's store.
//!
//! **Where the check is milder than the letter**:
//! - Plain stores of equal values by several threads are no race to the executor, which compares them ([`Race::both_store`]).
//! - The plain load with which a compare-and-swap loop starts counts as strong, because the executor says so in its
//!   [`AccessKind`].
//! - Who sees a bulk copy of another block complete also comes after what the thread that asked for it came after.
//! - A volatile load of what came before a `membar` or `fence.sc`, whose thread's ticket was read, is
//!   no race although the reader does not fence: NVIDIA's guide has its last block read so.
//!
//! **Where it may miss a race**: a strong read that a strong write follows is forgotten, as is all but the latest of strong
//! writes that others may observe in part, by scopes; of lanes that read a word together, the first stands for all; of
//! reads that are not ordered among themselves, the first, the last and 64 more of a line are
//! remembered, as long as a quarter of a million suffices for all lines (`readers.rs`).
//!
//! # Cost
//!
//! A clock for every thread would not do for millions of threads. What a thread comes after is one
//! time of its block, one of its warp, and, only where threads have told each other more, a tree by
//! block, warp and lane (`vector_clock.rs`, `thread_clocks.rs`). An access is remembered as the number of an epoch,
//! which is a warp at a time, with instruction and lane: 8 bytes. The shadow of memory has one cell
//! for a whole sector as long as it is accessed in rows (`lines.rs`). Which lines an access reaches is
//! found once per pattern of an instruction's addresses (`shadow_footprint.rs`). Only words that strong writes
//! hand something on through have more (`words.rs`).
//!
//! # Sources
//!
//! - L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM 1978: happens-before.
//! - C. Flanagan and S. N. Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI 2009: an access is
//!   remembered by its epoch, and a vector clock is only compared where one epoch does not tell.
//! - D. Lustig, S. Sahasrabuddhe and O. Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model", ASPLOS
//!   2019, and the PTX ISA, "Memory Consistency Model".
//!
//! # Example
//!
//! Two blocks write one word, and nothing orders them:
//!
//! ```
//! use races::{
//!     AccessKind, GlobalAccess, GlobalShadow, Grid, LaunchModel, Region, Request, ShadowFootprint,
//!     Synchronization, ThreadClocks,
//! };
//!
//! const WORD: u64 = 0x1000;
//! let model = LaunchModel {
//!     grid: Grid { blocks: [2, 1, 1], cluster: [1, 1, 1] },
//!     kinds: vec![AccessKind { bytes: 4, ..AccessKind::default() }], // The store, at pc 0.
//!     orders_some: false,
//!     narrow_scopes: false,
//!     granule: 4,
//!     shared_granule: 4,
//!     synchronization: [Synchronization::default(); 2],
//! };
//! let mut shadow = GlobalShadow::new(1, false);
//! let mut store = |block| {
//!     let mut clocks = ThreadClocks::default();
//!     clocks.start(block, 0);
//!     let addresses = [WORD; 32];
//!     let request = Request::new(0, 1, &addresses, 4); // Lane 0 alone.
//!     let mut access = GlobalAccess::new(request, true, false);
//!     let region = Region { index: 0, base: WORD, bytes: 4096 };
//!     shadow.access(&model, &mut clocks, &mut access, region, &mut ShadowFootprint::default());
//!     access.races.len()
//! };
//! assert_eq!((store(0), store(1)), (0, 1));
//! ```

mod barrier;
mod check;
mod event;
mod footprint;
mod global;
mod lines;
mod missing;
mod model;
mod phases;
mod reach;
mod readers;
mod request;
mod shadow_footprint;
mod shared;
mod thread_clocks;
mod vector_clock;
mod words;

pub use barrier::BarrierWarp;
pub use check::Race;
pub use event::{Epoch, Event};
pub use footprint::{Footprint, Synchronization};
pub use global::{
    CHUNK, GlobalAccess, GlobalShadow, Region, disturb_each_other, footprint, footprint_beside,
};
pub use missing::MissingOrder;
pub use model::{AccessKind, Grid, LaunchModel, Scope, Semantics};
pub use phases::{Arriver, BarrierName, Waiter};
pub use request::{Lanes, Layout, Request, Shape, is_ascending, lanes};
pub use shadow_footprint::ShadowFootprint;
pub use shared::{Queue, SharedShadow, Shown};
pub use thread_clocks::{Arrival, ThreadClocks, Visit};
pub use vector_clock::{VectorClock, WARPS};
