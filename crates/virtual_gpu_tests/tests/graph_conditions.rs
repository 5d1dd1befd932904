//! Graphs in graphs: those that a node always runs, and those that it chooses by a condition which kernels set.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::{CUgraph, CUgraphNode, CUstream};
use cuda_driver::types::{GraphUpdate, HostNodeParameters};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use support::done;
use support::graphs::*;

#[test]
fn an_if_runs_one_of_its_graphs_and_what_follows_it_comes_later() {
    let device = Device::open();
    let [value, yes, no, after] = words([0; 4]);
    let graph = graph();
    let condition = condition(graph, 0, 0);
    let sets = device.launch(graph, &[], ("sets", value, condition));
    let (chooses, bodies) = choice(graph, &[sets], (condition, IF, 2));
    device.launch(bodies[0], &[], ("counts", yes, 0));
    let first = device.launch(bodies[1], &[], ("counts", no, 0));
    device.launch(bodies[1], &[first], ("counts", no, 0));
    device.launch(graph, &[chooses], ("counts", after, 0));
    let mut kind = 0;
    done!(cuGraphNodeGetType(chooses, &mut kind));
    assert_eq!(kind, 13);
    let executable = executable(graph);
    run(executable);
    assert_eq!([yes, no, after].map(read), [0, 2, 1]);
    done!(cuMemsetD32_v2(value, 5, 1));
    run(executable);
    assert_eq!([yes, no, after].map(read), [1, 2, 2]);
    assert_eq!(virtual_gpu::misuse().len(), 0, "{:?}", virtual_gpu::misuse());
    // The bodies go with their graph.
    done!(cuGraphDestroy(graph));
    // SAFETY: a handle is a number here.
    assert_ne!(unsafe { cuGraphDestroy(bodies[0]) }, ReturnCode::SUCCESS);
}

#[test]
fn a_while_begins_with_its_default_and_ends_when_a_kernel_says_so() {
    let device = Device::open();
    let [left, turns] = words([10, 0]);
    let graph = graph();
    let condition = condition(graph, 1, 1);
    let (_, bodies) = choice(graph, &[], (condition, WHILE, 1));
    let counts = device.launch(bodies[0], &[], ("counts", turns, 0));
    device.launch(bodies[0], &[counts], ("down", left, condition));
    let executable = executable(graph);
    run(executable);
    assert_eq!([left, turns].map(read), [0, 10]);
    done!(cuMemsetD32_v2(left, 3, 1));
    run(executable);
    assert_eq!([left, turns].map(read), [0, 13]);
}

#[test]
fn a_switch_runs_the_graph_of_a_number_and_none_beyond() {
    let device = Device::open();
    let [value, first, second, inner] = words([0; 4]);
    let graph = graph();
    let condition_of = condition(graph, 0, 0);
    let sets = device.launch(graph, &[], ("sets", value, condition_of));
    let (_, bodies) = choice(graph, &[sets], (condition_of, SWITCH, 2));
    device.launch(bodies[0], &[], ("counts", first, 0));
    device.launch(bodies[1], &[], ("counts", second, 0));
    // A choice within a choice.
    let nested = condition(bodies[1], 1, 0);
    let again = device.launch(bodies[1], &[], ("sets", value, nested));
    let (_, innermost) = choice(bodies[1], &[again], (nested, IF, 1));
    device.launch(innermost[0], &[], ("counts", inner, 0));
    let executable = executable(graph);
    for (chosen, expected) in [(0, [1, 0, 0]), (1, [1, 1, 1]), (2, [1, 1, 1])] {
        done!(cuMemsetD32_v2(value, chosen, 1));
        run(executable);
        assert_eq!([first, second, inner].map(read), expected, "{chosen}");
    }
}

#[test]
fn a_child_is_a_copy_of_its_graph() {
    let device = Device::open();
    let [counter, other] = words([0; 2]);
    let (parent, child) = (graph(), graph());
    let one = device.launch(child, &[], ("counts", counter, 0));
    device.launch(child, &[one], ("counts", counter, 0));
    let mut node: CUgraphNode = null_mut();
    done!(cuGraphAddChildGraphNode(&mut node, parent, null(), 0, child));
    device.launch(parent, &[node], ("counts", other, 0));
    // What the graph gets later is not in the node.
    device.launch(child, &[], ("counts", counter, 0));
    let mut inside = null_mut();
    done!(cuGraphChildGraphNodeGetGraph(node, &mut inside));
    let mut count = 0;
    done!(cuGraphGetNodes(inside, null_mut(), &mut count));
    assert_eq!(count, 2);
    let executable = executable(parent);
    run(executable);
    assert_eq!([counter, other].map(read), [2, 1]);
}

#[test]
fn a_capture_tells_its_graph_and_goes_into_another() {
    let device = Device::open();
    let [left, turns, after] = words([4, 0, 0]);
    let mut stream: CUstream = null_mut();
    done!(cuStreamCreate(&mut stream, 1));
    done!(cuStreamBeginCapture_v2(stream, 0));
    let (mut status, mut id, mut captured) = (0, 0, null_mut());
    let (mut tails, mut count) = (null(), 0);
    done!(cuStreamGetCaptureInfo_v2(
        stream,
        &mut status,
        &mut id,
        &mut captured,
        &mut tails,
        &mut count
    ));
    assert_eq!((status, count), (1, 0));
    let condition = condition(captured, 1, 1);
    let (mut chooses, bodies) = choice(captured, &[], (condition, WHILE, 1));
    done!(cuStreamUpdateCaptureDependencies(stream, &mut chooses, 1, 1));
    let capture = |name: &str, word: u64, condition: u64| {
        let mut arguments: [*mut c_void; 2] =
            [(&raw const word).cast_mut().cast(), (&raw const condition).cast_mut().cast()];
        let (function, arguments) = (device.kernel(name), arguments.as_mut_ptr());
        done!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, null_mut()));
    };
    capture("counts", after, 0);
    let mut ended = null_mut();
    done!(cuStreamEndCapture(stream, &mut ended));
    assert_eq!(ended, captured);
    done!(cuStreamBeginCaptureToGraph(stream, bodies[0], null(), null(), 0, 0));
    capture("counts", turns, 0);
    capture("down", left, condition);
    done!(cuStreamEndCapture(stream, null_mut()));
    run(executable(captured));
    assert_eq!([left, turns, after].map(read), [0, 4, 1]);
}

#[test]
fn what_no_graph_can_have_is_refused() {
    let device = Device::open();
    let [value] = words([0]);
    let graph = graph();
    let condition = condition(graph, 0, 0);
    let add = |handle, kind, size| {
        let (mut node, mut asked) = (null_mut(), parameters(handle, kind, size));
        // SAFETY: as NVIDIA's reference asks for, but for what the numbers mean.
        unsafe { cuGraphAddNode(&mut node, graph, null(), 0, &mut asked) }
    };
    for (handle, kind, size) in
        [(condition, WHILE, 2), (condition, IF, 3), (condition, 3, 1), (value, IF, 1)]
    {
        assert_eq!(add(handle, kind, size), ReturnCode::INVALID_VALUE, "{kind} {size}");
    }
    let (_, bodies) = choice(graph, &[], (condition, IF, 1));
    assert_eq!(add(condition, IF, 1), ReturnCode::INVALID_VALUE, "two nodes have one condition");
    assert_eq!(add_to(bodies[0], condition), ReturnCode::INVALID_VALUE, "nor one within the other");
    let (mut clone, mut node) = (null_mut(), null_mut());
    // SAFETY: as NVIDIA's reference asks for.
    assert_eq!(unsafe { cuGraphClone(&mut clone, graph) }, ReturnCode::NOT_SUPPORTED);
    let around = self::graph();
    // SAFETY: as NVIDIA's reference asks for.
    let code = unsafe { cuGraphAddChildGraphNode(&mut node, around, null(), 0, graph) };
    assert_eq!(code, ReturnCode::NOT_SUPPORTED);
    // A kernel with a number that is no handle.
    let wrong = self::graph();
    device.launch(wrong, &[], ("sets", value, value));
    done!(cuGraphLaunch(executable(wrong), null_mut()));
    // SAFETY: it takes nothing.
    assert_ne!(unsafe { cuCtxSynchronize() }, ReturnCode::SUCCESS);
    let launches = virtual_gpu::launches();
    let fault = launches.iter().find_map(|launch| launch.fault.clone()).expect("the kernel failed");
    assert!(fault.contains("no handle of a condition"), "{fault}");
}

/// Adds a choice by a condition to a graph.
fn add_to(graph: CUgraph, condition: u64) -> ReturnCode {
    let (mut node, mut asked) = (null_mut(), parameters(condition, IF, 1));
    // SAFETY: as NVIDIA's reference asks for, but for what the numbers mean.
    unsafe { cuGraphAddNode(&mut node, graph, null(), 0, &mut asked) }
}

// What an H100's driver (13.0) does with each of these.
#[test]
fn a_condition_is_for_one_node_of_its_graph_or_of_those_around_and_in_it() {
    let device = Device::open();
    let [word] = words([0]);
    let (one, other) = (graph(), graph());
    let [of_choice, of_inner, of_other] = [one, one, other].map(|it| condition(it, 1, 1));
    assert_eq!(add_to(one, of_other), ReturnCode::INVALID_VALUE, "of an unrelated graph");
    let (_, bodies) = choice(one, &[], (of_choice, IF, 1));
    // A node of the body has a condition of the graph around it, and the reverse.
    let (_, innermost) = choice(bodies[0], &[], (of_inner, IF, 1));
    device.launch(innermost[0], &[], ("counts", word, 0));
    assert_eq!(add_to(one, condition(innermost[0], 1, 1)), ReturnCode::SUCCESS);
    run(executable(one));
    assert_eq!(read(word), 1);
    // A condition that no node has.
    let mut made = null_mut();
    // SAFETY: as NVIDIA's reference asks for.
    let code = unsafe { cuGraphInstantiateWithFlags(&mut made, other, 0) };
    assert_eq!(code, ReturnCode::INVALID_VALUE);
    let message = virtual_gpu::misuse().pop().expect("it is told").message;
    assert!(message.contains("no node of the graph has the condition"), "{message}");
}

#[test]
fn conditions_end_with_the_last_graph_that_has_them() {
    let device = Device::open();
    let [word] = words([0]);
    let free = || {
        let (mut free, mut total) = (0, 0);
        done!(cuMemGetInfo_v2(&mut free, &mut total));
        free
    };
    let before = free();
    let (graph, later) = (graph(), graph());
    let of_graph = condition(graph, 1, 1);
    let (_, bodies) = choice(graph, &[], (of_graph, IF, 1));
    device.launch(bodies[0], &[], ("counts", word, 0));
    let made = executable(graph);
    done!(cuGraphDestroy(graph));
    run(made);
    assert_eq!(read(word), 1, "the executable graph has it still");
    done!(cuGraphExecDestroy(made));
    let after = free();
    assert!(after >= before, "{before} {after}");
    // Many come and go.
    for _ in 0..100 {
        done!(cuGraphDestroy({
            let graph = self::graph();
            condition(graph, 1, 1);
            graph
        }));
    }
    assert_eq!(free(), after);
    done!(cuGraphDestroy(later));
}

// What an H100's driver (13.0) does with each of these.
#[test]
fn an_executable_graph_gets_the_work_and_the_conditions_of_another() {
    let device = Device::open();
    let [zero, one, word] = words([0, 1, 0]);
    let usual = |kind, size, sets: Option<u64>, (first, flags)| {
        let graph = graph();
        let condition = condition(graph, first, flags);
        let set = sets.map(|value| device.launch(graph, &[], ("sets", value, condition)));
        let (_, bodies) = choice(graph, set.as_slice(), (condition, kind, size));
        for body in bodies {
            device.launch(body, &[], ("counts", word, 0));
        }
        graph
    };
    let update = |executable, graph| {
        let (error_node, error_from_node) = (null_mut(), null_mut());
        let mut result = GraphUpdate { result: 9, error_node, error_from_node };
        // SAFETY: as NVIDIA's reference asks for.
        let code = unsafe { cuGraphExecUpdate_v2(executable, graph, &mut result) };
        (code.0, result.result, !result.error_node.is_null())
    };
    let counts = |executable| {
        let before = read(word);
        run(executable);
        read(word) - before
    };
    let (sets, not) = (usual(IF, 1, Some(one), (0, 1)), usual(IF, 1, Some(zero), (0, 1)));
    let made = executable(sets);
    assert_eq!((counts(made), update(made, sets)), (1, (0, 0, false)));
    assert_eq!((update(made, not), counts(made)), ((0, 0, false), 0));
    assert_eq!((update(made, sets), counts(made)), ((0, 0, false), 1));
    for other in [usual(WHILE, 1, Some(zero), (0, 1)), usual(IF, 2, Some(zero), (0, 1))] {
        assert_eq!(update(made, other), (910, 6, true));
    }
    let is_told = || virtual_gpu::misuse().iter().any(|it| it.message.contains("last update"));
    assert!(!is_told(), "a failed update is an answer");
    assert_eq!(counts(made), 1, "it is as it was");
    assert!(is_told());
    assert_eq!((update(made, sets), counts(made)), ((0, 0, false), 1));
    assert!(!is_told());
    // A first value is replaced, and where there is none the condition is as it was left.
    let [no, yes, none] = [(0, 1), (1, 1), (1, 0)].map(|first| usual(IF, 1, None, first));
    let made = executable(no);
    assert_eq!(counts(made), 0);
    assert_eq!((update(made, yes), counts(made)), ((0, 0, false), 1));
    assert_eq!(update(made, none), (0, 0, false));
    assert_eq!((update(made, no), counts(made)), ((0, 0, false), 0));
    done!(cuGraphDestroy(no));
    assert_eq!(counts(made), 0);
}

#[test]
fn a_chosen_graph_has_no_host_function() {
    unsafe extern "C" fn never(_: *mut c_void) {
        std::process::abort();
    }
    let _device = Device::open();
    let graph = graph();
    let (_, inner) = choice(graph, &[], (condition(graph, 1, 1), IF, 1));
    let (mut node, asked) =
        (null_mut(), HostNodeParameters { function: Some(never), data: null_mut() });
    done!(cuGraphAddHostNode(&mut node, inner[0], null(), 0, &raw const asked));
    let mut executable = null_mut();
    // SAFETY: as NVIDIA's reference asks for.
    let code = unsafe { cuGraphInstantiateWithFlags(&mut executable, graph, 0) };
    assert_eq!(code, ReturnCode::INVALID_VALUE);
    let message = virtual_gpu::misuse().pop().expect("it is told").message;
    assert!(message.contains("no host function"), "{message}");
}

#[test]
fn a_copy_in_a_chosen_graph_that_nobody_awaits_is_not_done_at_the_end() {
    let _device = Device::open();
    let (graph, [source]) = (graph(), words([7]));
    let (_, inner) = choice(graph, &[], (condition(graph, 1, 1), IF, 1));
    let (mut node, target) = (null_mut(), [1u8; 4]);
    let copy = copy_of_a_word(source, target.as_ptr().addr() as u64, false);
    done!(cuGraphAddMemcpyNode(&mut node, inner[0], null(), 0, &raw const copy, null_mut()));
    done!(cuGraphLaunch(executable(graph), null_mut()));
    virtual_gpu::finish();
    assert_eq!(target, [1; 4], "the program's memory may be gone");
    let found = virtual_gpu::misuse();
    let told = found.iter().any(|one| one.message.contains("nobody has waited for this copy of 4"));
    assert!(told, "{found:?}");
}
