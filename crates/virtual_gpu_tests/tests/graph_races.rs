//! The order within graphs that a condition chooses, and of what sets and reads the condition.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::{CUgraph, CUgraphNode, CUstream};
use simt::Checks;
use std::ptr::{null, null_mut};
use support::done;
use support::graphs::*;
use virtual_gpu::Options;

fn checked() -> Device {
    Device::with(Options { checks: Checks::all(), ..Options::default() })
}

/// Launches, waits, and gives what was found since it was asked last.
fn found(graph: CUgraph) -> Vec<String> {
    done!(cuGraphLaunch(executable(graph), null_mut()));
    messages()
}

fn messages() -> Vec<String> {
    // SAFETY: it takes nothing.
    let _is_told = unsafe { cuCtxSynchronize() };
    virtual_gpu::misuse().into_iter().map(|one| one.message).collect()
}

/// A graph whose node chooses a body at once; gives both.
fn with_body(kind: u32) -> (CUgraph, CUgraph, u64) {
    let graph = graph();
    let condition = condition(graph, 1, 1);
    let (_, bodies) = choice(graph, &[], (condition, kind, 1));
    (graph, bodies[0], condition)
}

fn child(graph: CUgraph, after: &[CUgraphNode], inner: CUgraph) -> CUgraphNode {
    let mut node = null_mut();
    done!(cuGraphAddChildGraphNode(&mut node, graph, after.as_ptr(), after.len(), inner));
    node
}

/// The node, where there is an edge from it.
fn after(edge: bool, node: CUgraphNode) -> Vec<CUgraphNode> {
    if edge { vec![node] } else { Vec::new() }
}

fn is_missing_edge(all: &[String]) -> bool {
    all.len() == 1 && all[0].contains("no edge of the graph orders the two")
}

#[test]
fn a_missing_edge_in_a_chosen_graph_is_found() {
    for (edge, kind) in [(false, IF), (true, IF), (false, SWITCH), (true, SWITCH)] {
        let device = checked();
        let [word] = words([0]);
        let (graph, body, condition) = with_body(kind);
        if kind == SWITCH {
            let [zero] = words([0]);
            let sets = device.launch(graph, &[], ("sets", zero, condition));
            let mut nodes = [null_mut(); 4];
            let mut count = nodes.len();
            done!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
            done!(cuGraphAddDependencies(graph, &sets, &nodes[0], 1));
        }
        let first = device.launch(body, &[], ("counts", word, 0));
        device.launch(body, &after(edge, first), ("counts", word, 0));
        let all = found(graph);
        assert_eq!(read(word), 2);
        assert!(if edge { all.is_empty() } else { is_missing_edge(&all) }, "{kind} {all:?}");
    }
}

#[test]
fn graphs_within_a_chosen_graph_are_ordered_by_its_edges() {
    // A child and a choice within the body, each beside a kernel that uses the same word, or before it.
    for (edge, chooses) in [(false, false), (true, false), (false, true), (true, true)] {
        let device = checked();
        let [word] = words([0]);
        let (graph, body, _) = with_body(IF);
        let inner = if chooses {
            let condition = condition(body, 1, 1);
            let (node, bodies) = choice(body, &[], (condition, IF, 1));
            device.launch(bodies[0], &[], ("counts", word, 0));
            node
        } else {
            let inner = self::graph();
            device.launch(inner, &[], ("counts", word, 0));
            child(body, &[], inner)
        };
        device.launch(body, &after(edge, inner), ("counts", word, 0));
        let all = found(graph);
        assert!(if edge { all.is_empty() } else { is_missing_edge(&all) }, "{chooses} {all:?}");
    }
}

#[test]
fn turns_of_a_while_are_ordered_and_its_nodes_are_not() {
    for edge in [false, true] {
        let device = checked();
        let [left, word] = words([4, 0]);
        let (graph, body, condition) = with_body(WHILE);
        let first = device.launch(body, &[], ("counts", word, 0));
        let second = device.launch(body, &after(edge, first), ("counts", word, 0));
        device.launch(body, &[first, second], ("down", left, condition));
        let all = found(graph);
        assert_eq!(read(word), 8);
        let is_right = if edge {
            all.is_empty()
        } else {
            all.iter().all(|one| one.contains("no edge")) && !all.is_empty()
        };
        assert!(is_right, "{edge} {all:?}");
    }
}

#[test]
fn what_follows_the_graph_comes_after_its_parts_and_another_stream_does_not() {
    for same_stream in [true, false] {
        let device = checked();
        let [word, copy] = words([3, 0]);
        let streams = [(); 2].map(|()| {
            let mut stream: CUstream = null_mut();
            done!(cuStreamCreate(&mut stream, 1));
            stream
        });
        let (graph, body, _) = with_body(IF);
        device.launch(body, &[], ("counts", word, 0));
        done!(cuCtxSynchronize());
        done!(cuGraphLaunch(executable(graph), streams[0]));
        let stream = streams[usize::from(!same_stream)];
        done!(cuMemcpyDtoDAsync_v2(copy, word, 4, stream));
        let all = messages();
        if same_stream {
            assert_eq!((all.len(), read(copy)), (0, 4), "{all:?}");
        } else {
            assert!(all.len() == 1 && all[0].contains("nothing orders the two streams"), "{all:?}");
        }
    }
}

#[test]
fn a_condition_that_two_kernels_set_without_an_edge_is_found() {
    for edge in [false, true] {
        let device = checked();
        let [one, other, word] = words([1, 0, 0]);
        let graph = graph();
        let condition = condition(graph, 0, 0);
        let first = device.launch(graph, &[], ("sets", one, condition));
        let after = after(edge, first);
        let second = device.launch(graph, &after, ("sets", other, condition));
        let (_, bodies) = choice(graph, &[first, second], (condition, IF, 1));
        device.launch(bodies[0], &[], ("counts", word, 0));
        let all = found(graph);
        assert!(if edge { all.is_empty() } else { is_missing_edge(&all) }, "{edge} {all:?}");
    }
}

#[test]
fn a_condition_that_is_set_beside_the_node_that_reads_it_is_found() {
    for edge in [false, true] {
        let device = checked();
        let [one, word] = words([1, 0]);
        let graph = graph();
        let condition = condition(graph, 0, 1);
        let sets = device.launch(graph, &[], ("sets", one, condition));
        let after = after(edge, sets);
        let (_, bodies) = choice(graph, &after, (condition, IF, 1));
        device.launch(bodies[0], &[], ("counts", word, 0));
        let all = found(graph);
        assert!(if edge { all.is_empty() } else { is_missing_edge(&all) }, "{edge} {all:?}");
        let told = all.iter().all(|one| one.contains("condition of a graph"));
        assert!(told, "{all:?}");
    }
}

#[test]
fn a_while_node_without_end_is_told_within_the_limit() {
    for sets in [false, true] {
        let fuel = 20_000_000;
        let device = Device::with(Options { fuel, ..Options::default() });
        let [one, word] = words([1, 0]);
        let (graph, body, condition) = with_body(WHILE);
        let counts = device.launch(body, &[], ("counts", word, 0));
        if sets {
            device.launch(body, &[counts], ("sets", one, condition));
        }
        let started = std::time::Instant::now();
        let all = found(graph);
        let why = if sets { "its condition is still 1" } else { "no kernel of the body" };
        assert!(all.iter().any(|one| one.contains(why)), "{all:?}");
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
        // SAFETY: it takes nothing.
        assert_eq!(unsafe { cuCtxSynchronize() }, ReturnCode(702));
    }
}

#[test]
fn a_page_locked_source_that_the_host_changes_is_found_in_a_chosen_graph() {
    for changes in [false, true] {
        let device = Device::open();
        let [target, word] = words([0; 2]);
        let mut source = null_mut();
        done!(cuMemAllocHost_v2(&mut source, 4));
        let source = source.cast::<u32>();
        // SAFETY: the memory was allocated, and nothing uses it.
        unsafe { source.write(5) };
        let (graph, body, _) = with_body(IF);
        let mut node = null_mut();
        let copy = copy_of_a_word(target, source.expose_provenance() as u64, true);
        done!(cuGraphAddMemcpyNode(&mut node, body, null(), 0, &raw const copy, null_mut()));
        device.launch(body, &[node], ("counts", word, 0));
        done!(cuGraphLaunch(executable(graph), null_mut()));
        if changes {
            // SAFETY: as above, but for the copy, which is the mistake.
            unsafe { source.write(6) };
        }
        let all = messages();
        let told = all.iter().any(|one| one.contains("the host changed memory while a copy of 4"));
        assert_eq!(told, changes, "{all:?}");
        // Between two launches it may.
        // SAFETY: the memory was allocated, and nothing uses it.
        unsafe { source.write(7) };
        done!(cuGraphLaunch(executable(graph), null_mut()));
        assert_eq!(messages(), [""; 0]);
        assert_eq!(read(target), 7);
    }
}
