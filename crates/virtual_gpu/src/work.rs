use crate::access::Access;
use gpu_model::Side;
use gpu_model::l2::AccessWindow;
use simt::{Launch, Module};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// One side of a copy: an address, and how far its rows are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopySide {
    pub(crate) address: u64,
    pub(crate) pitch: usize,
}

/// A copy of `height` rows of `width` bytes.
#[derive(Debug, Clone)]
pub(crate) struct Copy {
    pub(crate) target: CopySide,
    pub(crate) source: CopySide,
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// The content of pageable host memory when the copy was enqueued.
    pub(crate) staged: Option<Arc<[u8]>>,
}

impl Copy {
    /// A copy of contiguous bytes.
    pub(crate) fn linear(target: u64, source: u64, bytes: usize) -> Copy {
        let side = |address| CopySide { address, pitch: bytes };
        Copy { target: side(target), source: side(source), width: bytes, height: 1, staged: None }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.width as u64 * self.height as u64
    }
}

/// A fill of `height` rows of `width` values of `size` bytes each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) address: u64,
    pub(crate) pitch: usize,
    pub(crate) value: u32,
    pub(crate) size: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct KernelLaunch {
    pub(crate) function: usize,
    pub(crate) module: Arc<Module>,
    pub(crate) launch: Launch,
    /// The part of the device that the grid fills.
    pub(crate) share: f64,
    /// Blocks that fit on a multiprocessor at once.
    pub(crate) resident: u32,
    /// Shared memory that they have together, in bytes.
    pub(crate) shared_bytes: u32,
    pub(crate) device: usize,
    /// A graph launches it.
    pub(crate) in_graph: bool,
    /// The addresses whose accesses it says L2 how to treat.
    pub(crate) window: Option<AccessWindow>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct HostFunction {
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
    pub(crate) data: usize,
}

/// A choice by a word of device memory, which kernels set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The first graph runs if the word at this address is not 0, and the second, if there is one, if it is.
    If(u64),
    /// The graph runs as long as it is not 0.
    While(u64),
    /// The graph of this number runs.
    Switch(u64),
}

impl Condition {
    pub(crate) fn address(self) -> u64 {
        let (Condition::If(address) | Condition::While(address) | Condition::Switch(address)) =
            self;
        address
    }
}

/// The graphs within a node: a single one, or those of a choice.
#[derive(Debug, Clone)]
pub(crate) struct Subgraphs {
    /// Their handles.
    pub(crate) graphs: Vec<usize>,
    /// The graphs themselves, in order, where the graph around them is executable.
    pub(crate) ready: Vec<GraphState>,
    pub(crate) condition: Option<Condition>,
}

impl Subgraphs {
    /// Goes over the work of all nodes that may run.
    pub(crate) fn works(&self) -> impl Iterator<Item = &QueuedWork> {
        self.nodes().map(|node| &node.work)
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &GraphNode> {
        self.ready.iter().flat_map(|graph| &graph.nodes)
    }
}

/// Work that can be enqueued on a stream.
#[derive(Debug, Clone)]
pub(crate) enum QueuedWork {
    /// An event that is reached.
    Event,
    /// The stream waits for an event, which is the last of what the operation follows.
    Wait,
    /// The end of a graph, whose work may run in any order, or a node that does nothing.
    Join,
    Copy(Copy),
    Fill(Fill),
    Kernel(KernelLaunch),
    Host(HostFunction),
    /// The begin of a stream-ordered allocation, which has its address already. It takes no time: only the order matters.
    Allocation(u64),
    /// The begin of an allocation at addresses that a graph has for it.
    GraphAllocation(Range<u64>),
    /// The end of a stream-ordered allocation, or of a graph's.
    Release(u64),
    /// Managed memory moves to a side.
    Prefetch {
        range: Range<u64>,
        to: Side,
    },
    Subgraphs(Subgraphs),
    /// Conditions get the values with which a launch of their graph begins. It takes no time.
    Assign(Vec<(u64, u32)>),
    /// The contents of managed memory are no longer needed. It takes no time, since no page moves.
    Discard(Range<u64>),
    /// The memory that a copy of an array is about to use, whose place in the order this is. It takes no time.
    Touch(Vec<Access>),
}

/// Work with its place in the order.
#[derive(Debug)]
pub(crate) struct QueuedOperation {
    pub(crate) work: QueuedWork,
    pub(crate) dependencies: Vec<usize>,
    pub(crate) device: usize,
    pub(crate) stream: usize,
    /// The host's time when it was enqueued.
    pub(crate) enqueued: f64,
    /// Operations that had been executed when it was enqueued.
    pub(crate) executed: u64,
    pub(crate) call: &'static str,
    /// The launch of a graph that it is a node of, by the first node's operation.
    pub(crate) graph_launch: Option<usize>,
    pub(crate) host: HostState,
    /// The same of nodes of the graphs in it, by their handles.
    pub(crate) host_of_nodes: Arc<BTreeMap<usize, HostState>>,
}

/// The host memory that pending work uses: a change before the work runs is a mistake.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostState {
    /// A hash of what a copy uses.
    pub(crate) fingerprint: Option<u64>,
    /// A hash of the mapped memory of a kernel for each 64 bytes, by the address / 64.
    pub(crate) lines: Vec<(u64, u64)>,
}

/// Work in an order of its own, which a stream runs as one.
#[derive(Debug, Clone, Default)]
pub(crate) struct GraphState {
    pub(crate) nodes: Vec<GraphNode>,
    /// The graph that an executable one was made of.
    pub(crate) made_of: usize,
    /// The conditions that belong to it, each with the value with which a launch begins, if it has one.
    pub(crate) conditions: Vec<(u64, Option<u32>)>,
    /// A launch frees first what an earlier one left allocated.
    pub(crate) frees_on_launch: bool,
    /// The end of the last launch of an executable one, which the next follows on whatever stream.
    pub(crate) last_launch: Option<usize>,
    /// The last update of an executable one failed.
    pub(crate) is_outdated: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct GraphNode {
    /// Its handle. A node of an executable graph has that of the node which it was made of.
    pub(crate) handle: usize,
    /// The handle of the node that it was cloned from.
    pub(crate) original: Option<usize>,
    pub(crate) work: QueuedWork,
    /// The places of the nodes that it follows.
    pub(crate) follows: Vec<usize>,
    /// The addresses of a kernel's parameters, where the program has asked for them.
    pub(crate) shown: Vec<usize>,
}

impl GraphState {
    /// Adds a node, and gives its place.
    pub(crate) fn add(&mut self, handle: usize, work: QueuedWork, follows: Vec<usize>) -> usize {
        let node = GraphNode { handle, original: None, work, follows, shown: Vec::new() };
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    pub(crate) fn place(&self, handle: usize) -> Option<usize> {
        self.nodes.iter().position(|node| node.handle == handle)
    }

    /// Returns the graph with each node behind those that it follows; nothing where they follow each other in a circle.
    pub(crate) fn ordered(&self) -> Option<GraphState> {
        let mut places = vec![None; self.nodes.len()];
        let mut nodes: Vec<GraphNode> = Vec::with_capacity(self.nodes.len());
        while nodes.len() < self.nodes.len() {
            let before = nodes.len();
            for (place, node) in self.nodes.iter().enumerate() {
                let follows = node.follows.iter().map(|before| places[*before]).collect();
                let (None, Some(follows)) = (places[place], follows) else { continue };
                places[place] = Some(nodes.len());
                nodes.push(GraphNode { follows, ..node.clone() });
            }
            if nodes.len() == before {
                return None;
            }
        }
        Some(GraphState { nodes, conditions: self.conditions.clone(), ..*self })
    }

    /// Returns a node of an executable graph, or of a graph in it.
    pub(crate) fn node_mut(&mut self, handle: usize) -> Option<&mut GraphNode> {
        self.nodes.iter_mut().find_map(|node| {
            if node.handle == handle {
                return Some(node);
            }
            let QueuedWork::Subgraphs(inner) = &mut node.work else { return None };
            inner.ready.iter_mut().find_map(|graph| graph.node_mut(handle))
        })
    }

    /// Returns the work that gives its conditions their first values, if one has a value.
    pub(crate) fn assignment(&self) -> Option<QueuedWork> {
        let values = self.conditions.iter().filter_map(|(word, first)| Some((*word, (*first)?)));
        let values: Vec<(u64, u32)> = values.collect();
        (!values.is_empty()).then_some(QueuedWork::Assign(values))
    }

    /// Adds the conditions of an executable graph, or of a single other one.
    pub(crate) fn add_conditions(&self, all: &mut BTreeSet<u64>) {
        all.extend(self.conditions.iter().map(|(word, _)| *word));
        for node in &self.nodes {
            let QueuedWork::Subgraphs(inner) = &node.work else { continue };
            inner.ready.iter().for_each(|graph| graph.add_conditions(all));
        }
    }

    /// Returns whether a node chooses by a condition.
    pub(crate) fn has_conditions(&self) -> bool {
        let chooses =
            |work: &QueuedWork| matches!(work, QueuedWork::Subgraphs(it) if it.condition.is_some());
        self.nodes.iter().any(|node| chooses(&node.work))
    }

    /// Returns whether a graph that a condition chooses has a node which such a graph may not have (CUDA's programming
    /// guide, "Conditional graph nodes").
    pub(crate) fn chooses_what_no_choice_has(&self) -> bool {
        fn has(work: &QueuedWork, is_chosen: bool) -> bool {
            match work {
                QueuedWork::Subgraphs(inner) => {
                    let is_chosen = is_chosen || inner.condition.is_some();
                    inner.works().any(|work| has(work, is_chosen))
                }
                QueuedWork::Host(_) | QueuedWork::GraphAllocation(_) | QueuedWork::Release(_) => {
                    is_chosen
                }
                QueuedWork::Kernel(kernel) => {
                    let known = kernel.module.kernel(&kernel.launch.kernel);
                    is_chosen && known.is_ok_and(simt::Kernel::launches_kernels)
                }
                _ => false,
            }
        }
        self.nodes.iter().any(|node| has(&node.work, false))
    }

    /// Returns whether a kernel in it, or in a graph in it, may set a condition.
    pub(crate) fn sets_conditions(&self) -> bool {
        self.nodes.iter().any(|node| match &node.work {
            QueuedWork::Kernel(kernel) => {
                let known = kernel.module.kernel(&kernel.launch.kernel);
                known.is_ok_and(simt::Kernel::sets_conditions)
            }
            QueuedWork::Subgraphs(inner) => inner.ready.iter().any(GraphState::sets_conditions),
            _ => false,
        })
    }

    /// Returns the nodes that come before (or are) one of `tails`.
    pub(crate) fn ancestors(&self, tails: &[usize]) -> Vec<bool> {
        let mut found = vec![false; self.nodes.len()];
        let mut open = tails.to_vec();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut found[node], true) {
                open.extend(&self.nodes[node].follows);
            }
        }
        found
    }

    /// Returns whether a node allocates or frees memory.
    pub(crate) fn has_memory_nodes(&self) -> bool {
        let is_memory = |work: &QueuedWork| {
            matches!(work, QueuedWork::GraphAllocation(_) | QueuedWork::Release(_))
        };
        self.nodes.iter().any(|node| is_memory(&node.work))
    }
}
