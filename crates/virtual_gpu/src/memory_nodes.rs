//! Nodes of graphs that allocate and free: how they are made, captured and launched.

use crate::code::CuResult;
use crate::driver::Driver;
use crate::graph_memory::{Block, GraphRange};
use crate::work::{GraphState, QueuedWork};
use cuda_driver::ReturnCode;
use std::collections::{BTreeMap, BTreeSet};

const INVALID: ReturnCode = ReturnCode::INVALID_VALUE;
/// Bytes of which a device gives a graph a whole multiple for all that it allocates: an H100's
/// (`results/nvidia-h100/graph-memory.txt`).
const GRANULARITY: u64 = 32 << 20;

/// Returns the nodes of a graph that allocate, or free, what begins at an address.
fn places(graph: &GraphState, address: u64) -> (Vec<usize>, Vec<usize>) {
    let of = |is_it: &dyn Fn(&QueuedWork) -> bool| -> Vec<usize> {
        let nodes = graph.nodes.iter().enumerate();
        nodes.filter(|(_, node)| is_it(&node.work)).map(|(place, _)| place).collect()
    };
    let allocates = |work: &QueuedWork| matches!(work, QueuedWork::GraphAllocation(range) if range.start == address);
    let frees = |work: &QueuedWork| matches!(work, QueuedWork::Release(freed) if *freed == address);
    (of(&allocates), of(&frees))
}

impl Driver {
    /// Gives a new node of a graph its addresses: those of an allocation as large that the graph freed before it, or others.
    pub(crate) fn graph_allocation(
        &mut self,
        graph: &GraphState,
        follows: &[usize],
        (device, bytes): (usize, usize),
    ) -> CuResult<QueuedWork> {
        let bytes = bytes as u64;
        if bytes == 0 {
            return Err(self.refuse(INVALID, "0 bytes are asked for"));
        }
        let before = graph.ancestors(follows);
        let is_free = |address: u64| {
            let (allocated, freed) = places(graph, address);
            let all_before = allocated.iter().chain(&freed).all(|place| before[*place]);
            !allocated.is_empty() && allocated.len() == freed.len() && all_before
        };
        let ranges = self.memory.graphs.ranges.iter();
        let mut as_large = ranges.filter(|(_, it)| (it.bytes, it.device) == (bytes, device));
        let again = as_large.find(|(address, _)| is_free(**address)).map(|(address, _)| *address);
        let address = match again {
            Some(address) => address,
            None => {
                let selected = self.select(device);
                let reserved = self.memory.device.reserve(bytes);
                self.select(selected);
                let full = |error: simt::Error| (ReturnCode::OUT_OF_MEMORY, error.to_string());
                reserved.map_err(full).map_err(|(code, why)| self.refuse(code, why))?
            }
        };
        self.memory.graphs.ranges.entry(address).or_insert(GraphRange {
            bytes,
            device,
            is_live: false,
        });
        Ok(QueuedWork::GraphAllocation(address..address + bytes))
    }

    /// Finds a node that frees what no graph allocates, or what its own has freed already.
    pub(crate) fn graph_release(
        &mut self,
        graph: &GraphState,
        address: u64,
    ) -> CuResult<QueuedWork> {
        if !self.memory.graphs.ranges.contains_key(&address) {
            let why = format!(
                "no node of a graph allocates {address:#x}: a graph frees the addresses that such nodes give"
            );
            return Err(self.refuse(INVALID, why));
        }
        let (allocated, freed) = places(graph, address);
        if freed.len() >= allocated.len().max(1) {
            return Err(self.refuse(INVALID, format!("the graph frees {address:#x} already")));
        }
        Ok(QueuedWork::Release(address))
    }

    /// Captures an allocation in the order of a stream, which becomes a node.
    pub(crate) fn capture_allocation(
        &mut self,
        stream: usize,
        device: usize,
        bytes: usize,
    ) -> CuResult<u64> {
        let (graph, tails) = self.captured(stream)?;
        let work = self.graph_allocation(&graph, &tails, (device, bytes))?;
        let QueuedWork::GraphAllocation(range) = &work else { return Err(INVALID) };
        let address = range.start;
        self.submit(stream, work)?;
        Ok(address)
    }

    /// Captures the end of an allocation.
    pub(crate) fn capture_release(&mut self, stream: usize, address: u64) -> CuResult {
        let (graph, _) = self.captured(stream)?;
        let work = self.graph_release(&graph, address)?;
        self.submit(stream, work).map(|_| ())
    }

    /// Returns the graph that a stream is captured into so far, and the nodes that the next one follows.
    fn captured(&mut self, stream: usize) -> CuResult<(GraphState, Vec<usize>)> {
        let capture = self.objects.stream(stream)?.capture.clone().ok_or(INVALID)?;
        let graph = self.objects.captures.get(capture.capture)?.graph;
        Ok((self.objects.graphs.get(graph)?.clone(), capture.tails))
    }

    /// Finds, before a launch, memory that the graph would allocate twice, or free without having it.
    pub(crate) fn begin_graph(&mut self, stream: usize, graph: &GraphState) -> CuResult {
        if !graph.has_memory_nodes() {
            return Ok(());
        }
        let mut live: BTreeMap<u64, bool> = BTreeMap::new();
        let mut left = Vec::new();
        for node in &graph.nodes {
            match &node.work {
                QueuedWork::GraphAllocation(range) => {
                    let address = range.start;
                    let is_first = live.insert(address, true).is_none();
                    if is_first && self.memory.graphs.is_live(address) {
                        left.push(address);
                    }
                }
                QueuedWork::Release(address) => {
                    let is_live = self.memory.graphs.is_live(*address);
                    if !live.insert(*address, false).unwrap_or(is_live) {
                        let why = format!(
                            "the graph frees {address:#x}, which is not allocated: launch the graph that allocates it first"
                        );
                        return Err(self.refuse(INVALID, why));
                    }
                }
                _ => {}
            }
        }
        for address in left {
            if !graph.frees_on_launch {
                let why = format!(
                    "{address:#x}, which the graph allocates, is still allocated by an earlier launch: free it first, or \
                     instantiate the graph with CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH"
                );
                return Err(self.refuse(INVALID, why));
            }
            let freed = self.submit(stream, QueuedWork::Release(address))?;
            self.memory.graphs.end(address, freed);
        }
        Ok(())
    }

    /// Notes, after a launch, which memory it allocated and freed, and what the devices keep for it.
    pub(crate) fn end_graph(&mut self, stream: usize, graph: &GraphState) -> CuResult {
        if !graph.has_memory_nodes() {
            return Ok(());
        }
        let key = self.objects.key(stream);
        let last = (key, self.objects.stream(stream)?.tail);
        let mut allocated = BTreeSet::new();
        for node in &graph.nodes {
            match &node.work {
                QueuedWork::GraphAllocation(range) => {
                    if let Some(known) = self.memory.graphs.ranges.get_mut(&range.start) {
                        known.is_live = true;
                        allocated.insert(range.start);
                    }
                }
                QueuedWork::Release(address) => self.memory.graphs.end(*address, last.1),
                _ => {}
            }
        }
        let mut needed: BTreeMap<usize, (u64, BTreeSet<u64>)> = BTreeMap::new();
        for address in allocated {
            let Some(range) = self.memory.graphs.ranges.get(&address) else { continue };
            let (bytes, holders) = needed.entry(range.device).or_default();
            *bytes += range.bytes;
            if range.is_live {
                holders.insert(address);
            }
        }
        for (device, (bytes, holders)) in needed {
            let place = self.block(device, bytes.next_multiple_of(GRANULARITY), key);
            let block = &mut self.memory.graphs.blocks[place];
            (block.holders, block.last) = (holders, last);
        }
        Ok(())
    }

    /// Finds memory for a launch: what work before it has done with, or more of the device's.
    fn block(&mut self, device: usize, bytes: u64, stream: usize) -> usize {
        let is_free = |block: &Block| {
            let is_past = block.last.0 == stream || self.has_ended(block.last.1);
            (block.device, block.bytes) == (device, bytes) && block.holders.is_empty() && is_past
        };
        if let Some(place) = self.memory.graphs.blocks.iter().position(is_free) {
            return place;
        }
        let graphs = &mut self.memory.graphs;
        graphs.blocks.push(Block { device, bytes, holders: BTreeSet::new(), last: (stream, None) });
        let kept = graphs.kept(device);
        let high = graphs.high.entry(device).or_default();
        *high = kept.max(*high);
        graphs.blocks.len() - 1
    }

    /// Returns whether an operation has ended by the host's clock.
    fn has_ended(&self, operation: Option<usize>) -> bool {
        let is_pending = |id: usize| {
            self.scheduler.knows(id)
                && self.scheduler.end(id).is_none_or(|end| end > self.clock.now)
        };
        !operation.is_some_and(is_pending)
    }

    /// Gives a device back what it keeps for graphs and no launch uses.
    pub(crate) fn trim_graph_memory(&mut self, device: usize) {
        let mut blocks = std::mem::take(&mut self.memory.graphs.blocks);
        blocks.retain(|block| {
            block.device != device || !block.holders.is_empty() || !self.has_ended(block.last.1)
        });
        self.memory.graphs.blocks = blocks;
    }
}
