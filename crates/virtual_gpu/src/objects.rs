use crate::arrays::Array;
use crate::code::CuResult;
use crate::handles::Handles;
use crate::thread;
use crate::virtual_memory::Physical;
use crate::work::{Condition, GraphState, QueuedWork};
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC};
use gpu_model::l2::AccessWindow;
use simt::Module;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;
use std::sync::Arc;

/// The default stream that a call means which names none.
pub(crate) const DEFAULT: usize = 0;
/// The legacy default stream's key on the first device, and its handle.
pub(crate) const LEGACY: usize = 1;
/// The handle of a thread's default stream, and the key of the first thread's on the first device.
const PER_THREAD: usize = 2;
/// The distance between the keys of two devices' default streams; so many threads but two have one of their own. Other
/// streams have larger handles.
const DEVICE_KEYS: usize = 1 << 10;

#[derive(Debug, Default)]
pub(crate) struct ContextState {
    pub(crate) device: usize,
}

/// A device's primary context, and how often it was retained.
#[derive(Debug, Default, Clone)]
pub(crate) struct PrimaryContext {
    pub(crate) context: Option<(usize, usize)>,
    pub(crate) flags: u32,
}

/// A module that was loaded on a device.
#[derive(Debug, Clone)]
pub(crate) struct LoadedModule {
    pub(crate) module: Arc<Module>,
    pub(crate) device: usize,
}

#[derive(Debug, Default)]
pub(crate) struct StreamState {
    pub(crate) device: usize,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    pub(crate) tail: Option<usize>,
    pub(crate) capture: Option<StreamCapture>,
    /// The window that its kernels give L2.
    pub(crate) window: Option<AccessWindow>,
}

/// A stream that is being captured: into which graph, and after which of its nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamCapture {
    pub(crate) capture: usize,
    pub(crate) tails: Vec<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct EventState {
    pub(crate) device: usize,
    pub(crate) flags: u32,
    pub(crate) recorded: Option<usize>,
    pub(crate) captured: Option<StreamCapture>,
}

#[derive(Debug)]
pub(crate) struct FunctionState {
    pub(crate) module: usize,
    pub(crate) name: String,
    pub(crate) max_dynamic_shared_bytes: u32,
    pub(crate) carveout: i32,
    /// Clusters of more than [`PORTABLE_CLUSTER`] blocks are allowed.
    pub(crate) large_clusters: bool,
    /// The name as the program may keep it.
    pub(crate) c_name: CString,
    /// The settings of CUDA 3's functions for the next launch.
    pub(crate) next: NextLaunch,
}

impl FunctionState {
    /// A function as it is found in its module.
    pub(crate) fn new(module: usize, name: String, max_dynamic_shared_bytes: u32) -> FunctionState {
        let c_name = CString::new(name.as_str()).unwrap_or_default();
        FunctionState {
            module,
            name,
            max_dynamic_shared_bytes,
            carveout: -1,
            large_clusters: false,
            c_name,
            next: NextLaunch::default(),
        }
    }
}

/// A launch whose shape and parameters are said one after the other (`cuFuncSetBlockShape`, `cuParamSetv`).
#[derive(Debug, Default, Clone)]
pub(crate) struct NextLaunch {
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) parameters: Vec<u8>,
}

/// The texts that a program gives the linker.
#[derive(Debug, Default)]
pub(crate) struct LinkState {
    pub(crate) texts: Vec<String>,
    /// The result, which the program may read until it destroys the state: PTX with its NUL.
    pub(crate) linked: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct PoolState {
    pub(crate) device: usize,
    /// Its memory is the host's, page-locked.
    pub(crate) is_host: bool,
    /// The other devices whose kernels may use its memory.
    pub(crate) open_to: BTreeSet<usize>,
    /// `CU_MEM_HANDLE_TYPE_*` by which other processes may be given it.
    pub(crate) handle_types: u32,
    /// Names it among processes that share it.
    pub(crate) token: Option<Arc<Physical>>,
    /// Another process made it, and it gives no memory here.
    pub(crate) is_imported: bool,
    pub(crate) threshold: u64,
    pub(crate) used: u64,
    pub(crate) used_max: u64,
    pub(crate) reserved: u64,
    pub(crate) reserved_max: u64,
}

/// A capture under way.
#[derive(Debug, Default)]
pub(crate) struct CaptureState {
    pub(crate) origin: usize,
    /// The handle of the graph that it adds to.
    pub(crate) graph: usize,
    /// The graph was made for it.
    pub(crate) is_new: bool,
    /// The nodes that were last told as those which the next one follows.
    pub(crate) shown: Vec<usize>,
    pub(crate) invalid: bool,
}

impl StreamState {
    /// Returns whether the stream neither waits for the legacy default stream nor is waited for by it.
    fn is_non_blocking(&self) -> bool {
        self.flags & 1 != 0
    }
}

/// Every object that a program made and did not destroy.
#[derive(Debug)]
pub(crate) struct Objects {
    /// The device that is meant: its default streams and its default pool.
    pub(crate) device: usize,
    pub(crate) contexts: Handles<ContextState>,
    /// By device.
    pub(crate) primary: Vec<PrimaryContext>,
    /// Contexts that may access the memory of another context's device.
    pub(crate) peers: BTreeSet<(usize, usize)>,
    pub(crate) streams: Handles<StreamState>,
    default_streams: BTreeMap<usize, StreamState>,
    /// The device and the last operation of destroyed streams that the legacy default stream waits for.
    pub(crate) ended: Vec<(usize, usize)>,
    pub(crate) events: Handles<EventState>,
    pub(crate) modules: Handles<LoadedModule>,
    pub(crate) functions: Handles<FunctionState>,
    pub(crate) links: Handles<LinkState>,
    pub(crate) pools: Handles<PoolState>,
    /// By device.
    pub(crate) default_pools: Vec<usize>,
    /// The pool of each allocation that has one, by the allocation's address.
    pub(crate) pool_of: HashMap<u64, usize>,
    /// Memory that programs map themselves.
    pub(crate) memories: Handles<Arc<Physical>>,
    pub(crate) captures: Handles<CaptureState>,
    pub(crate) graphs: Handles<GraphState>,
    pub(crate) executables: Handles<GraphState>,
    /// The words of all conditions of graphs.
    pub(crate) conditions: BTreeSet<u64>,
    /// Nodes that were made.
    nodes: usize,
    pub(crate) arrays: Handles<Array>,
    /// The levels of each mipmapped array, finest first.
    pub(crate) mipmaps: Handles<Vec<usize>>,
    pub(crate) textures: HashMap<u64, TextureState>,
}

/// The description that a texture or surface object was made of.
pub(crate) struct TextureState {
    pub(crate) resource: CUDA_RESOURCE_DESC,
    pub(crate) texture: Option<CUDA_TEXTURE_DESC>,
}

impl TextureState {
    pub(crate) fn new(
        resource: CUDA_RESOURCE_DESC,
        texture: Option<CUDA_TEXTURE_DESC>,
    ) -> TextureState {
        TextureState { resource, texture }
    }
}

// SAFETY: the pointers in a resource are handles of arrays, which are numbers here and never followed.
unsafe impl Send for TextureState {}

impl std::fmt::Debug for TextureState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The resource is a union.
        f.debug_struct("TextureState").field("texture", &self.texture).finish_non_exhaustive()
    }
}

impl Objects {
    /// Those of a machine of so many devices, of which the first is meant.
    pub(crate) fn new(devices: usize) -> Objects {
        let mut pools = Handles::new(7);
        let default_pools = (0..devices)
            .map(|device| pools.add(PoolState { device, ..PoolState::default() }))
            .collect();
        Objects {
            device: 0,
            contexts: Handles::new(1),
            primary: vec![PrimaryContext::default(); devices],
            peers: BTreeSet::new(),
            streams: Handles::new(2),
            default_streams: BTreeMap::new(),
            ended: Vec::new(),
            events: Handles::new(3),
            modules: Handles::new(4),
            functions: Handles::new(5),
            links: Handles::new(6),
            pools,
            default_pools,
            pool_of: HashMap::new(),
            memories: Handles::new(14),
            captures: Handles::new(8),
            graphs: Handles::new(9),
            executables: Handles::new(10),
            conditions: BTreeSet::new(),
            nodes: 0,
            arrays: Handles::new(11),
            mipmaps: Handles::new(12),
            textures: HashMap::new(),
        }
    }

    /// The key under which a stream handle of the driver's is found: each device has default streams of its own.
    pub(crate) fn key(&self, stream: usize) -> usize {
        match stream {
            DEFAULT if thread::has_own_default() => self.key(PER_THREAD),
            DEFAULT | LEGACY => self.legacy(),
            PER_THREAD => {
                let own = thread::number() % (DEVICE_KEYS - PER_THREAD);
                DEVICE_KEYS * self.device + PER_THREAD + own
            }
            other => other,
        }
    }

    /// The key of the legacy default stream of the device that is meant.
    pub(crate) fn legacy(&self) -> usize {
        DEVICE_KEYS * self.device + LEGACY
    }

    /// Returns whether a key is that of a legacy default stream.
    pub(crate) fn is_legacy(key: usize) -> bool {
        key % DEVICE_KEYS == LEGACY
    }

    /// A handle for a new node of a graph.
    pub(crate) fn new_node(&mut self) -> usize {
        self.nodes += 1;
        13 << 40 | self.nodes << 4
    }

    /// The graph of a node, and its place there.
    pub(crate) fn node(&mut self, handle: usize) -> CuResult<(&mut GraphState, usize)> {
        let mut found =
            self.graphs.values_mut().filter_map(|graph| Some((graph.place(handle)?, graph)));
        found.next().map(|(place, graph)| (graph, place)).ok_or(ReturnCode::INVALID_VALUE)
    }

    /// Takes a graph away, with the graphs in it.
    pub(crate) fn remove_graph(&mut self, handle: usize) -> CuResult {
        let removed = self.graphs.remove(handle)?;
        for node in removed.nodes {
            self.remove_subgraphs(&node.work)?;
        }
        Ok(())
    }

    /// Returns whether a graph is one that a conditional node chooses.
    pub(crate) fn is_chosen(&self, graph: usize) -> bool {
        let chooses = |work: &QueuedWork| matches!(work, QueuedWork::Subgraphs(it) if it.condition.is_some() && it.graphs.contains(&graph));
        self.graphs.iter().any(|(_, state)| state.nodes.iter().any(|node| chooses(&node.work)))
    }

    /// Takes the graphs of a node away.
    pub(crate) fn remove_subgraphs(&mut self, work: &QueuedWork) -> CuResult {
        let QueuedWork::Subgraphs(inner) = work else { return Ok(()) };
        inner.graphs.iter().try_for_each(|graph| self.remove_graph(*graph))
    }

    /// Returns the graph that is around a graph and all others, and all that are in it.
    fn family(&self, graph: usize) -> CuResult<Vec<usize>> {
        let inner = |state: &GraphState| -> Vec<usize> {
            let of = |work: &QueuedWork| match work {
                QueuedWork::Subgraphs(inner) => inner.graphs.clone(),
                _ => Vec::new(),
            };
            state.nodes.iter().flat_map(|node| of(&node.work)).collect()
        };
        let mut first = graph;
        while let Some((around, _)) =
            self.graphs.iter().find(|(_, state)| inner(state).contains(&first))
        {
            first = around;
        }
        let mut all = vec![first];
        let mut at = 0;
        while at < all.len() {
            all.extend(inner(self.graphs.get(all[at])?));
            at += 1;
        }
        Ok(all)
    }

    /// Returns the conditions of a graph, the graphs around it and all in them, and those of them that a node has: an H100's
    /// driver lets any node of these have any of the conditions, and no two the same.
    pub(crate) fn conditions_around(&self, graph: usize) -> CuResult<(Vec<u64>, Vec<u64>)> {
        let (mut all, mut used) = (Vec::new(), Vec::new());
        for graph in self.family(graph)? {
            let graph = self.graphs.get(graph)?;
            all.extend(graph.conditions.iter().map(|(word, _)| *word));
            used.extend(graph.nodes.iter().filter_map(|node| match &node.work {
                QueuedWork::Subgraphs(inner) => inner.condition.map(Condition::address),
                _ => None,
            }));
        }
        Ok((all, used))
    }

    /// Returns a condition of a graph, or of those in it, that no node has: then the graph cannot be launched.
    pub(crate) fn condition_without_node(&self, graph: usize) -> CuResult<Option<u64>> {
        let (all, used) = self.conditions_around(graph)?;
        Ok(all.into_iter().find(|word| !used.contains(word)))
    }

    /// Takes the conditions out that belong to no graph any more.
    pub(crate) fn conditions_without_graph(&mut self) -> Vec<u64> {
        if self.conditions.is_empty() {
            return Vec::new();
        }
        let mut known = BTreeSet::new();
        let graphs = self.graphs.values().chain(self.executables.values());
        graphs.for_each(|graph| graph.add_conditions(&mut known));
        let gone = self.conditions.difference(&known).copied().collect();
        self.conditions.retain(|word| known.contains(word));
        gone
    }

    /// Copies a graph, with the graphs in it, whose nodes know which they were copied from.
    pub(crate) fn clone_graph(&mut self, handle: usize) -> CuResult<usize> {
        let mut cloned = self.graphs.get(handle)?.clone();
        cloned.conditions.clear();
        for node in &mut cloned.nodes {
            (node.original, node.handle) = (Some(node.handle), self.new_node());
            node.shown = Vec::new();
            if let QueuedWork::Subgraphs(inner) = &mut node.work {
                for graph in &mut inner.graphs {
                    *graph = self.clone_graph(*graph)?;
                }
            }
        }
        Ok(self.graphs.add(cloned))
    }

    /// Returns a graph with its nodes in order and the graphs within them; nothing where nodes follow each other in a
    /// circle.
    pub(crate) fn ready(&self, handle: usize) -> CuResult<Option<GraphState>> {
        let Some(mut graph) = self.graphs.get(handle)?.ordered() else { return Ok(None) };
        for node in &mut graph.nodes {
            let QueuedWork::Subgraphs(inner) = &mut node.work else { continue };
            let ready = inner.graphs.iter().map(|graph| self.ready(*graph));
            let Some(ready) = ready.collect::<CuResult<Option<Vec<_>>>>()? else { return Ok(None) };
            inner.ready = ready;
        }
        Ok(Some(graph))
    }

    /// Takes a stream away. The legacy default stream still waits for its work.
    pub(crate) fn remove_stream(&mut self, stream: usize) -> CuResult<Option<usize>> {
        let state = self.streams.remove(stream)?;
        let is_awaited = !state.is_non_blocking();
        self.ended.extend(state.tail.filter(|_| is_awaited).map(|tail| (state.device, tail)));
        Ok(state.tail)
    }

    /// Returns whether a handle names a default stream of whatever context is current.
    pub(crate) fn is_default(stream: usize) -> bool {
        stream <= PER_THREAD
    }

    /// The stream, creating default streams when they are first used.
    pub(crate) fn stream(&mut self, stream: usize) -> CuResult<&mut StreamState> {
        let (key, device) = (self.key(stream), self.device);
        if Self::is_default(stream) {
            let default = || StreamState { device, ..StreamState::default() };
            return Ok(self.default_streams.entry(key).or_insert_with(default));
        }
        self.streams.get_mut(key)
    }

    /// The devices of two contexts, if both live.
    pub(crate) fn devices_of(&self, (one, other): (usize, usize)) -> Option<(usize, usize)> {
        let device = |context| self.contexts.get(context).ok().map(|context| context.device);
        Some((device(one)?, device(other)?))
    }

    /// A context goes, and its access to others' memory with it.
    pub(crate) fn remove_context(&mut self, context: usize) -> CuResult<ContextState> {
        let removed = self.contexts.remove(context)?;
        self.peers.retain(|(one, other)| *one != context && *other != context);
        Ok(removed)
    }

    /// The operations that new work on the stream follows.
    pub(crate) fn dependencies(&mut self, stream: usize) -> CuResult<Vec<usize>> {
        let key = self.key(stream);
        let own = self.stream(stream)?;
        let (is_non_blocking, tail, device) = (own.is_non_blocking(), own.tail, own.device);
        let of_device = DEVICE_KEYS * device;
        let mut dependencies: Vec<usize> = tail.into_iter().collect();
        let tail_of = |key: usize| self.default_streams.get(&key).and_then(|other| other.tail);
        if key == of_device + LEGACY {
            let others = self.streams.values();
            let others = others.filter(|it| it.device == device && !it.is_non_blocking());
            dependencies.extend(others.filter_map(|other| other.tail));
            let ended = self.ended.iter().filter(|(of, _)| *of == device);
            dependencies.extend(ended.map(|(_, tail)| *tail));
            let of_threads = of_device + PER_THREAD..of_device + DEVICE_KEYS;
            let of_threads = self.default_streams.range(of_threads);
            dependencies.extend(of_threads.filter_map(|(_, other)| other.tail));
        } else if !is_non_blocking {
            dependencies.extend(tail_of(of_device + LEGACY));
        }
        Ok(dependencies)
    }

    /// Returns whether work on the legacy default stream would have to follow a stream that is being captured.
    pub(crate) fn legacy_follows_a_capture(&self) -> bool {
        let mut others = self.streams.values().filter(|other| other.device == self.device);
        others.any(|other| !other.is_non_blocking() && other.capture.is_some())
    }

    pub(crate) fn tails(&self) -> impl Iterator<Item = usize> {
        self.streams.values().chain(self.default_streams.values()).filter_map(|stream| stream.tail)
    }

    /// The last operation of each stream of a device.
    pub(crate) fn tails_on(&self, device: usize) -> impl Iterator<Item = usize> {
        let streams = self.streams.values().chain(self.default_streams.values());
        streams.filter(move |stream| stream.device == device).filter_map(|stream| stream.tail)
    }

    /// The operations whose end may still be asked for.
    pub(crate) fn referenced(&self) -> BTreeSet<usize> {
        let events = self.events.values().filter_map(|event| event.recorded);
        let ended = self.ended.iter().map(|(_, tail)| *tail);
        self.tails().chain(events).chain(ended).collect()
    }

    /// The pool of an allocation, if it has one.
    pub(crate) fn pool_that_holds(&self, address: u64) -> Option<&PoolState> {
        self.pools.get(*self.pool_of.get(&address)?).ok()
    }

    /// The pool of an allocation has its bytes again.
    pub(crate) fn give_back(&mut self, address: u64, bytes: u64) -> CuResult {
        if let Some(pool) = self.pool_of.remove(&address) {
            let pool = self.pools.get_mut(pool)?;
            pool.used -= bytes.min(pool.used);
        }
        Ok(())
    }

    /// Each pool gives back to the device what it keeps above its threshold; says how many pools did.
    pub(crate) fn settle_pools(&mut self) -> usize {
        let mut settled = 0;
        for pool in self.pools.values_mut() {
            let kept = pool.used.max(pool.reserved.min(pool.threshold));
            settled += usize::from(kept < pool.reserved);
            pool.reserved = pool.reserved.min(kept);
        }
        settled
    }

    /// A module goes, and its functions with it.
    pub(crate) fn remove_module(&mut self, module: usize) -> CuResult<LoadedModule> {
        let removed = self.modules.remove(module)?;
        self.functions.retain(|function| function.module != module);
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legacy_stream_and_blocking_streams_follow_each_other() {
        let mut objects = Objects::new(1);
        let stream = |flags, tail| StreamState { flags, tail: Some(tail), ..Default::default() };
        let blocking = objects.streams.add(stream(0, 10));
        let non_blocking = objects.streams.add(stream(1, 11));
        objects.stream(0).unwrap().tail = Some(12);
        objects.stream(PER_THREAD).unwrap().tail = Some(13);
        assert_eq!(objects.dependencies(LEGACY).unwrap(), [12, 10, 13]);
        assert_eq!(objects.dependencies(blocking).unwrap(), [10, 12]);
        assert_eq!(objects.dependencies(non_blocking).unwrap(), [11]);
        assert_eq!(objects.dependencies(PER_THREAD).unwrap(), [13, 12]);
        assert!(objects.dependencies(99).is_err());
        let event = EventState { recorded: Some(7), ..Default::default() };
        objects.events.add(event);
        assert_eq!(objects.referenced().into_iter().collect::<Vec<_>>(), [7, 10, 11, 12, 13]);
    }

    #[test]
    fn pools_keep_their_threshold() {
        let mut objects = Objects::new(1);
        let pool = objects.default_pools[0];
        *objects.pools.get_mut(pool).unwrap() =
            PoolState { threshold: 100, used: 40, reserved: 300, ..PoolState::default() };
        assert_eq!(objects.settle_pools(), 1);
        assert_eq!(objects.pools.get(pool).unwrap().reserved, 100);
        assert_eq!(objects.settle_pools(), 0);
        objects.pool_of.insert(64, pool);
        objects.give_back(64, 30).unwrap();
        objects.give_back(64, 30).unwrap();
        assert_eq!(objects.pools.get(pool).unwrap().used, 10, "it was given back once");
    }

    #[test]
    fn a_module_takes_its_functions_with_it() {
        let mut objects = Objects::new(1);
        let text = ".version 7.8\n.target sm_70\n.address_size 64\n";
        let module = Arc::new(Module::parse(text).unwrap());
        let module = objects.modules.add(LoadedModule { module, device: 0 });
        let function = |module| FunctionState::new(module, "f".to_owned(), 0);
        let gone = objects.functions.add(function(module));
        let other = objects.functions.add(function(module + 16));
        objects.remove_module(module).unwrap();
        assert!(objects.functions.get(gone).is_err());
        assert!(objects.functions.get(other).is_ok());
    }
}
