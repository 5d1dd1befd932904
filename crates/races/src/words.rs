//! Words through which threads hand on their clocks: what a release leaves, and a strong read finds, at an address.

use crate::model::{LaunchModel, Scope};
use crate::request::{Request, lanes};
use crate::thread_clocks::ThreadClocks;
use crate::vector_clock::{Thread, VectorClock};
use std::collections::HashMap;

/// The last strong write of a word, and what it and the updates before it handed on.
///
/// A plain store begins a new release sequence; an update (`atom`, `red`) goes on with that of what
/// it read. A reader acquires every release whose scope includes it, if its own scope includes the
/// writer, so releases are kept by scope.
#[derive(Debug, Default)]
struct Released {
    block: u32,
    warp: u8,
    lane: u8,
    scope: Scope,
    /// The clocks that blocks released at block scope or further.
    blocks: Vec<(u32, VectorClock)>,
    /// The clocks that the blocks of a cluster released at its scope or further.
    clusters: Vec<(u64, VectorClock)>,
    device: VectorClock,
    /// The clock of sequentially consistent fences before the writes.
    sequential: VectorClock,
    /// These two are not the same.
    sequential_differs: bool,
}

fn add<K: PartialEq>(list: &mut Vec<(K, VectorClock)>, key: K, known: &VectorClock) {
    match list.iter_mut().find(|(k, _)| *k == key) {
        Some((_, before)) => before.join(known),
        None => list.push((key, known.clone())),
    }
}

/// The words of one address space.
#[derive(Debug, Default)]
pub struct Words(HashMap<u64, Released>);

/// A strong access of one lane to one element.
#[derive(Clone, Copy)]
pub struct Strong {
    pub address: u64,
    pub lane: usize,
    pub live: u32,
    pub scope: Scope,
    pub acquire: bool,
    pub release: bool,
    /// It may use what it reads; a `red` may not.
    pub reads: bool,
    pub writes: bool,
    /// Reads and writes as one.
    pub updates: bool,
}

impl Words {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a strong write to an address handed something on.
    pub fn holds(&self, address: u64) -> bool {
        self.0.contains_key(&address)
    }

    /// Returns whether what a block acquires from a word, by a scope, puts a thread's time before it.
    pub fn orders(
        &self,
        model: &LaunchModel,
        block: u32,
        (address, scope): (u64, Scope),
        (thread, time): (Thread, u32),
    ) -> bool {
        let Some(released) = self.0.get(&address) else { return false };
        let seen = model.grid.includes(scope, block, released.block)
            && model.grid.includes(released.scope, released.block, block);
        let of_block = || released.blocks.iter().filter(|(of, _)| *of == block).map(|(_, it)| it);
        let cluster = || model.grid.cluster_of(u64::from(block));
        let of_cluster =
            released.clusters.iter().filter(|(of, _)| scope >= Scope::Cluster && *of == cluster());
        let of_device = (scope == Scope::Device).then_some(&released.device);
        seen && of_block()
            .chain(of_cluster.map(|(_, it)| it))
            .chain(of_device)
            .any(|clock| clock.covers(thread, time))
    }

    /// A weak write ends what strong writes of the word handed on.
    pub fn forget(&mut self, address: u64) {
        self.0.remove(&address);
    }

    /// Forgets all words of a range.
    pub fn forget_range(&mut self, start: u64, bytes: u64) {
        self.0.retain(|address, _| !(start..start + bytes).contains(address));
    }

    /// Returns what a strong access hands on and learns.
    pub fn access(&mut self, model: &LaunchModel, order: &mut ThreadClocks, access: Strong) {
        let Strong { address, lane, live, scope, .. } = access;
        let me = order.block;
        let hands_on = access.writes && (access.release || order.has_fenced());
        let Some(released) = self.0.get_mut(&address) else {
            if hands_on {
                self.write(model, order, access, None);
            }
            return;
        };
        let seen = model.grid.includes(scope, me, released.block)
            && model.grid.includes(released.scope, released.block, me);
        if access.reads && seen {
            let mut by_scope =
                [VectorClock::default(), VectorClock::default(), VectorClock::default()];
            if let Some((_, known)) = released.blocks.iter().find(|(block, _)| *block == me) {
                by_scope[0] = known.clone();
            }
            if scope >= Scope::Cluster && !released.clusters.is_empty() {
                let cluster = model.grid.cluster_of(me as u64);
                let found = released.clusters.iter().find(|(c, _)| *c == cluster);
                by_scope[1] = found.map(|(_, known)| known.clone()).unwrap_or_default();
            }
            if scope == Scope::Device {
                by_scope[2] = released.device.clone();
            }
            for (scope, known) in
                [Scope::Block, Scope::Cluster, Scope::Device].iter().zip(&by_scope)
            {
                if known.is_empty() {
                    continue;
                }
                if access.acquire {
                    order.learn(1 << lane, live, known);
                } else {
                    order.learn_later(1 << lane, live, *scope, known);
                }
            }
            if scope == Scope::Device && !released.sequential.is_empty() {
                order.learn_at_sequential(1 << lane, live, &released.sequential);
            }
        }
        if !access.writes {
            return;
        }
        // A store after a release by the same thread belongs to the release.
        let same = released.block == me
            && released.warp == order.warp
            && usize::from(released.lane) == lane;
        let goes_on = if access.updates { seen } else { same };
        let before = self.0.remove(&address);
        if goes_on || hands_on {
            self.write(model, order, access, before.filter(|_| goes_on));
        }
    }

    fn write(
        &mut self,
        model: &LaunchModel,
        order: &ThreadClocks,
        access: Strong,
        before: Option<Released>,
    ) {
        let Strong { lane, scope, .. } = access;
        let mut released = before.unwrap_or_default();
        released.block = order.block;
        released.warp = order.warp;
        released.lane = lane as u8;
        released.scope = scope;
        let before = [released.device.clone(), released.sequential.clone()];
        let mut hand_on = |scope: Scope, parts: &[VectorClock]| {
            for known in parts.iter().filter(|known| !known.is_empty()) {
                // A later reader may use a narrower scope than the writer did.
                if scope < Scope::Device || model.narrow_scopes {
                    add(&mut released.blocks, order.block, known);
                    if scope >= Scope::Cluster {
                        let cluster = model.grid.cluster_of(u64::from(order.block));
                        add(&mut released.clusters, cluster, known);
                    }
                }
                if scope == Scope::Device {
                    released.device.join(known);
                }
            }
        };
        if access.release {
            hand_on(scope, &order.parts_released_by(lane));
        } else {
            for (fence, parts) in order.fenced_by(lane) {
                hand_on(fence.min(scope), &parts);
            }
        }
        let is_sequential = !access.release
            && scope == Scope::Device
            && !released.sequential_differs
            && order.hands_on_sequential_only(lane);
        if is_sequential {
            released.sequential = released.device.clone();
        } else {
            if scope == Scope::Device {
                released.sequential.join(&order.sequential_of(lane));
            }
            let [device, sequential] = before;
            released.sequential_differs |=
                !device.is_same(&released.device) || !sequential.is_same(&released.sequential);
        }
        self.0.insert(access.address, released);
    }
}

/// Returns what strong accesses hand on and learn, lane after lane.
pub(crate) fn strong(
    model: &LaunchModel,
    order: &mut ThreadClocks,
    words: &mut Words,
    live: u32,
    request: &Request<'_>,
    writes: bool,
) {
    let kind = model.kinds[request.pc];
    let Some(scope) = kind.semantics.strong else { return };
    let semantics = kind.semantics;
    let hands_on = writes && (semantics.release || order.has_fenced());
    if !hands_on && words.is_empty() {
        return;
    }
    let elements = (request.bytes / u32::from(kind.bytes.max(1))).max(1);
    for lane in lanes(request.mask) {
        for element in 0..elements {
            let access = Strong {
                address: request.all[lane] + u64::from(element * u32::from(kind.bytes)),
                lane,
                live,
                scope,
                acquire: semantics.acquire,
                release: semantics.release,
                reads: !writes || kind.observes,
                writes,
                updates: kind.updates,
            };
            words.access(model, order, access);
        }
    }
    if request.mask == live {
        order.compact(live);
    }
    if semantics.release {
        order.tick();
    }
}
