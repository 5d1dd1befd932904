//! Memory that graphs allocate and free.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::{CUgraph, CUgraphExec, CUgraphNode, CUstream};
use cuda_driver::types::{MemoryLocation, MemoryNodeParameters, MemsetNodeParameters};
use std::ptr::{null, null_mut};
use virtual_gpu::{MisuseKind, Options, OwnMachine, Profile};

/// Calls a function of the driver that succeeds.
macro_rules! done {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the arguments are as NVIDIA's reference asks for them.
        assert_eq!(unsafe { $name($($argument),*) }, ReturnCode::SUCCESS, stringify!($name))
    };
}

/// Calls a function of the driver that refuses.
macro_rules! refused {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the arguments are as NVIDIA's reference asks for them, but for what they mean.
        let code = unsafe { $name($($argument),*) };
        let found = virtual_gpu::misuse();
        (code, found.last().map(|one| one.message.clone()).unwrap_or_default())
    }};
}

/// Bytes of each allocation.
const BYTES: usize = 2 << 20;
/// Bytes that a device keeps for a launch of a few of them: on an H100, too.
const KEPT: u64 = 32 << 20;

fn open() -> (OwnMachine, cust::context::Context) {
    let own = OwnMachine::new();
    (own, support::open(Profile::named("h200").unwrap(), Options::default()))
}

fn graph() -> CUgraph {
    let mut graph = null_mut();
    done!(cuGraphCreate(&mut graph, 0));
    graph
}

fn stream() -> CUstream {
    let mut stream = null_mut();
    done!(cuStreamCreate(&mut stream, 1));
    stream
}

fn asked(bytes: usize) -> MemoryNodeParameters {
    MemoryNodeParameters {
        kind: 1,
        handle_types: 0,
        location: MemoryLocation { kind: 1, id: 0 },
        pool: [0; 9],
        access: null(),
        access_count: 0,
        bytes,
        address: 0,
    }
}

/// Adds a node that allocates, and gives its address.
fn allocation(graph: CUgraph, after: &[CUgraphNode]) -> (CUgraphNode, u64) {
    let (mut node, mut asked) = (null_mut(), asked(BYTES));
    let parameters = (&raw mut asked).cast();
    done!(cuGraphAddMemAllocNode(&mut node, graph, after.as_ptr(), after.len(), parameters));
    (node, asked.address)
}

fn release(graph: CUgraph, after: &[CUgraphNode], address: u64) -> CUgraphNode {
    let mut node = null_mut();
    done!(cuGraphAddMemFreeNode(&mut node, graph, after.as_ptr(), after.len(), address));
    node
}

/// Adds a node that fills an allocation with a word.
fn fill(graph: CUgraph, after: &[CUgraphNode], target: u64, value: u32) -> CUgraphNode {
    let mut node = null_mut();
    let filled = MemsetNodeParameters {
        target,
        pitch: 0,
        value,
        element_bytes: 4,
        width: BYTES / 4,
        height: 1,
    };
    let filled = &raw const filled;
    done!(cuGraphAddMemsetNode(&mut node, graph, after.as_ptr(), after.len(), filled, null_mut()));
    node
}

fn executable(graph: CUgraph, flags: u64) -> CUgraphExec {
    let mut executable = null_mut();
    done!(cuGraphInstantiateWithFlags(&mut executable, graph, flags));
    executable
}

/// Bytes that the device keeps for graphs.
fn kept() -> u64 {
    let mut bytes = u64::MAX;
    done!(cuDeviceGetGraphMemAttribute(0, 0, (&raw mut bytes).cast()));
    bytes
}

fn word(address: u64) -> u32 {
    let mut word = 0u32;
    done!(cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4));
    word
}

#[test]
fn a_graph_allocates_uses_and_frees_at_every_launch() {
    let _device = open();
    let graph = graph();
    let (first, address) = allocation(graph, &[]);
    let filled = fill(graph, &[first], address, 7);
    let freed = release(graph, &[filled], address);
    let (third, other) = allocation(graph, &[first]);
    assert_ne!(other, address, "the free does not come before this one");
    let (second, again) = allocation(graph, &[freed]);
    assert_eq!(again, address, "what was freed before it is used again");
    let freed = release(graph, &[second], again);
    release(graph, &[third], other);
    let (mut kind, mut found) = (0, asked(0));
    done!(cuGraphNodeGetType(second, &mut kind));
    done!(cuGraphMemAllocNodeGetParams(second, (&raw mut found).cast()));
    assert_eq!((kind, found.address, found.bytes), (10, address, BYTES));
    done!(cuGraphMemFreeNodeGetParams(freed, &mut found.address));
    assert_eq!(found.address, address);
    let executable = executable(graph, 0);
    assert_eq!(kept(), 0, "nothing was launched");
    for _ in 0..3 {
        done!(cuGraphLaunch(executable, null_mut()));
    }
    done!(cuCtxSynchronize());
    assert_eq!(kept(), KEPT, "later launches use the memory of earlier ones");
    done!(cuDeviceGraphMemTrim(0));
    assert_eq!(kept(), 0);
    assert_eq!(virtual_gpu::misuse(), []);
    // What a graph frees is gone.
    let (code, message) = refused!(cuMemFree_v2(address));
    assert_eq!(code, ReturnCode::INVALID_VALUE);
    assert!(message.contains("free each allocation once"), "{message}");
}

#[test]
fn memory_that_a_graph_leaves_is_used_and_freed_outside() {
    let _device = open();
    let graph = graph();
    let (first, address) = allocation(graph, &[]);
    fill(graph, &[first], address, 9);
    let executable = executable(graph, 0);
    done!(cuGraphLaunch(executable, null_mut()));
    assert_eq!(word(address), 9);
    let (code, message) = refused!(cuGraphLaunch(executable, null_mut()));
    assert_eq!(code, ReturnCode::INVALID_VALUE);
    assert!(message.contains("AUTO_FREE_ON_LAUNCH"), "{message}");
    done!(cuDeviceGraphMemTrim(0));
    assert_eq!(kept(), KEPT, "it is in use");
    done!(cuMemFree_v2(address));
    done!(cuGraphLaunch(executable, null_mut()));
    done!(cuMemFreeAsync(address, null_mut()));
    done!(cuGraphLaunch(executable, null_mut()));

    // Another graph may free it, once.
    let freeing = self::graph();
    release(freeing, &[], address);
    let freeing = self::executable(freeing, 0);
    done!(cuGraphLaunch(freeing, null_mut()));
    let (code, message) = refused!(cuGraphLaunch(freeing, null_mut()));
    assert_eq!(code, ReturnCode::INVALID_VALUE);
    assert!(message.contains("is not allocated"), "{message}");
    done!(cuCtxSynchronize());
    done!(cuDeviceGraphMemTrim(0));
    assert_eq!(kept(), 0);

    let mut again = null_mut();
    let (code, message) = refused!(cuGraphInstantiateWithFlags(&mut again, graph, 1));
    assert_eq!(code, ReturnCode::NOT_SUPPORTED);
    assert!(message.contains("one executable graph at a time"), "{message}");
    done!(cuGraphExecDestroy(executable));
    let frees_on_launch = self::executable(graph, 1);
    for _ in 0..2 {
        done!(cuGraphLaunch(frees_on_launch, null_mut()));
    }
    assert_eq!(word(address), 9);
    let unwanted = virtual_gpu::misuse();
    assert!(unwanted.iter().all(|one| one.kind == MisuseKind::CallFailed), "{unwanted:?}");
}

#[test]
fn launches_that_may_run_together_need_memory_each() {
    let _device = open();
    let of_one = |_| {
        let graph = graph();
        let (first, address) = allocation(graph, &[]);
        let filled = fill(graph, &[first], address, 1);
        release(graph, &[filled], address);
        executable(graph, 0)
    };
    let executables: [CUgraphExec; 3] = std::array::from_fn(of_one);
    let streams = [stream(), stream()];
    done!(cuGraphLaunch(executables[0], streams[0]));
    done!(cuGraphLaunch(executables[1], streams[0]));
    assert_eq!(kept(), KEPT, "one stream runs one after the other");
    done!(cuGraphLaunch(executables[2], streams[1]));
    assert_eq!(kept(), 2 * KEPT);
    done!(cuCtxSynchronize());
    done!(cuGraphLaunch(executables[0], streams[1]));
    let mut high = 0u64;
    done!(cuDeviceGetGraphMemAttribute(0, 1, (&raw mut high).cast()));
    assert_eq!(high, 2 * KEPT);
    done!(cuCtxSynchronize());
    done!(cuDeviceGraphMemTrim(0));
    high = 0;
    done!(cuDeviceSetGraphMemAttribute(0, 1, (&raw mut high).cast()));
    done!(cuDeviceGetGraphMemAttribute(0, 1, (&raw mut high).cast()));
    assert_eq!(high, 0);
    for attribute in [0, 2, 4] {
        let (code, _) =
            refused!(cuDeviceSetGraphMemAttribute(0, attribute, (&raw mut high).cast()));
        assert_eq!(code, ReturnCode::INVALID_VALUE, "{attribute}");
    }
}

#[test]
fn allocations_that_a_stream_captures_become_nodes() {
    let _device = open();
    let stream = stream();
    let (mut address, mut graph) = (0, null_mut());
    done!(cuStreamBeginCapture_v2(stream, 0));
    done!(cuMemAllocAsync(&mut address, BYTES, stream));
    done!(cuMemsetD32Async(address, 5, BYTES / 4, stream));
    done!(cuMemFreeAsync(address, stream));
    // SAFETY: the address is a number here.
    assert_eq!(unsafe { cuMemFreeAsync(address, stream) }, ReturnCode::INVALID_VALUE, "twice");
    done!(cuStreamEndCapture(stream, &mut graph));
    let executable = executable(graph, 0);
    for _ in 0..2 {
        done!(cuGraphLaunch(executable, stream));
    }
    done!(cuStreamSynchronize(stream));
    assert_eq!(kept(), KEPT);
}

#[test]
fn nodes_that_make_no_sense_are_refused() {
    let _device = open();
    let (graph, mut node) = (graph(), null_mut());
    let mut plain = 0;
    done!(cuMemAlloc_v2(&mut plain, BYTES));
    for address in [0, 12345, plain] {
        let (code, message) = refused!(cuGraphAddMemFreeNode(&mut node, graph, null(), 0, address));
        assert_eq!(code, ReturnCode::INVALID_VALUE);
        assert!(message.contains("no node of a graph allocates"), "{message}");
    }
    let (first, address) = allocation(graph, &[]);
    let (code, _) = refused!(cuGraphAddMemFreeNode(&mut node, graph, null(), 0, address + 512));
    assert_eq!(code, ReturnCode::INVALID_VALUE, "inside the allocation");
    let freed = release(graph, &[first], address);
    let (code, message) = refused!(cuGraphAddMemFreeNode(&mut node, graph, &freed, 1, address));
    assert_eq!(code, ReturnCode::INVALID_VALUE);
    assert!(message.contains("already"), "{message}");
    let other = self::graph();
    let (code, _) = refused!(cuGraphAddMemFreeNode(&mut node, other, &freed, 1, address));
    assert_eq!(code, ReturnCode::INVALID_VALUE, "a node of another graph");
    // A location of `CUmemAccessDesc`, its device, and its flags.
    let elsewhere = [1, 55, 3];
    let wrong = [
        asked(0),
        MemoryNodeParameters { kind: 0, ..asked(BYTES) },
        MemoryNodeParameters { handle_types: 1, ..asked(BYTES) },
        MemoryNodeParameters { location: MemoryLocation { kind: 2, id: 0 }, ..asked(BYTES) },
        MemoryNodeParameters { location: MemoryLocation { kind: 1, id: 9 }, ..asked(BYTES) },
        asked(1 << 60),
        MemoryNodeParameters { access_count: 1, ..asked(BYTES) },
        MemoryNodeParameters {
            access_count: 1,
            access: (&raw const elsewhere).cast(),
            ..asked(BYTES)
        },
    ];
    for mut wrong in wrong {
        let (code, _) =
            refused!(cuGraphAddMemAllocNode(&mut node, graph, null(), 0, (&raw mut wrong).cast()));
        assert_ne!(code, ReturnCode::SUCCESS, "{wrong:?}");
    }
    let (mut clone, mut count) = (null_mut(), 0);
    let (code, message) = refused!(cuGraphClone(&mut clone, graph));
    assert_eq!(code, ReturnCode::NOT_SUPPORTED);
    assert!(message.contains("cannot be cloned"), "{message}");
    assert_eq!(refused!(cuGraphDestroyNode(freed)).0, ReturnCode::NOT_SUPPORTED);
    let removed = refused!(cuGraphRemoveDependencies(graph, &first, &freed, 1));
    assert_eq!(removed.0, ReturnCode::NOT_SUPPORTED);
    done!(cuGraphGetNodes(graph, null_mut(), &mut count));
    assert_eq!(count, 2, "what is refused adds and removes nothing");
}

#[test]
fn addresses_without_memory_yet_are_told_as_such() {
    let _device = open();
    let (_, address) = allocation(graph(), &[]);
    let (code, message) = refused!(cuMemFree_v2(address));
    assert_eq!(code, ReturnCode::INVALID_VALUE);
    assert!(message.contains("until the graph that allocates them is launched"), "{message}");
}

#[test]
fn nodes_that_no_edge_orders_are_told_as_nodes() {
    let _device = open();
    let graph = graph();
    let (allocated, address) = allocation(graph, &[]);
    fill(graph, &[allocated], address, 1);
    release(graph, &[allocated], address);
    done!(cuGraphLaunch(executable(graph, 0), stream()));
    done!(cuCtxSynchronize());
    let found = virtual_gpu::misuse();
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.kind, MisuseKind::MissingOrder);
    for part in ["node of the same graph", "no edge of the graph", "add a dependency"] {
        assert!(found.message.contains(part), "{}", found.message);
    }
}

/// NVIDIA's reference of `cuGraphLaunch`: it follows earlier launches of the same executable graph on any stream.
#[test]
fn an_executable_graph_follows_its_own_launches_and_no_others() {
    let _device = open();
    let mut target = 0;
    done!(cuMemAlloc_v2(&mut target, BYTES));
    let graph = graph();
    fill(graph, &[], target, 7);
    let (one, other, streams) = (executable(graph, 0), executable(graph, 0), [stream(), stream()]);
    let found = |executables: [CUgraphExec; 2]| {
        for (executable, stream) in executables.into_iter().zip(streams) {
            done!(cuGraphLaunch(executable, stream));
        }
        done!(cuCtxSynchronize());
        virtual_gpu::misuse().iter().any(|one| one.kind == MisuseKind::MissingOrder)
    };
    assert!(!found([one, one]), "the second launch follows the first");
    assert!(found([one, other]), "nothing orders two executable graphs");
}

#[test]
fn counts_that_no_array_has_are_refused() {
    let _device = open();
    let graph = graph();
    let (mut node, many) = (null_mut(), 1 << 60);
    let after = [node];
    let (code, _) = refused!(cuGraphAddEmptyNode(&mut node, graph, after.as_ptr(), many));
    assert_eq!(code, ReturnCode::INVALID_VALUE);
    let (mut address, mut bytes) = (64, 64);
    let (code, _) = refused!(cuMemDiscardBatchAsync(&mut address, &mut bytes, many, 0, stream()));
    assert_eq!(code, ReturnCode::INVALID_VALUE);
}
