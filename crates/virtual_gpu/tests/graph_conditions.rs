//! Graphs in graphs: those that a node always runs, and those that it chooses by a condition which kernels set.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::{
    CUDA_MEMCPY3D, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmemorytype, CUmodule, CUstream,
};
use cuda_driver::types::{
    ConditionalNodeParameters, HostNodeParameters, KernelNodeParameters, NodeParameters,
    NodeParametersOfKind,
};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use virtual_gpu::{Options, OwnMachine, Profile};

/// Calls a function of the driver that succeeds.
macro_rules! done {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the arguments are as NVIDIA's reference asks for them.
        assert_eq!(unsafe { $name($($argument),*) }, ReturnCode::SUCCESS, stringify!($name))
    };
}

/// `CU_GRAPH_COND_TYPE_*`.
const IF: u32 = 0;
const WHILE: u32 = 1;
const SWITCH: u32 = 2;

/// Kernels of one thread: `sets` makes a word the condition, `counts` adds 1 to a word, and `down` takes 1 from a word
/// and makes what is left the condition. nvcc calls `cudaGraphSetConditional` so.
const PTX: &str = "
.version 8.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry sets(.param .u64 word, .param .u64 condition)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [word];
    ld.param.u64 %rd2, [condition];
    ld.global.u32 %r1, [%rd1];
    { .param .b64 param0; st.param.b64 [param0], %rd2; .param .b32 param1; st.param.b32 [param1], %r1;
      call.uni cudaGraphSetConditional, (param0, param1); }
    ret;
}
.visible .entry counts(.param .u64 word, .param .u64 condition)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry down(.param .u64 word, .param .u64 condition)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [word];
    ld.param.u64 %rd2, [condition];
    ld.global.u32 %r1, [%rd1];
    sub.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    { .param .b64 param0; st.param.b64 [param0], %rd2; .param .b32 param1; st.param.b32 [param1], %r1;
      call.uni cudaGraphSetConditional, (param0, param1); }
    ret;
}
\0";

struct Device {
    _own: OwnMachine,
    _context: cust::context::Context,
    module: CUmodule,
}

impl Device {
    fn open() -> Device {
        let own = OwnMachine::new();
        let context = support::open(Profile::named("h200").unwrap(), Options::default());
        let mut module = null_mut();
        done!(cuModuleLoadData(&mut module, PTX.as_ptr().cast()));
        Device { _own: own, _context: context, module }
    }

    fn kernel(&self, name: &str) -> CUfunction {
        let (name, mut function) = (format!("{name}\0"), null_mut());
        done!(cuModuleGetFunction(&mut function, self.module, name.as_ptr().cast()));
        function
    }

    /// Adds a launch of a kernel to a graph.
    fn launch(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        (name, word, condition): (&str, u64, u64),
    ) -> CUgraphNode {
        let mut arguments: [*mut c_void; 2] =
            [(&raw const word).cast_mut().cast(), (&raw const condition).cast_mut().cast()];
        let asked = KernelNodeParameters {
            function: self.kernel(name),
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            parameters: arguments.as_mut_ptr(),
            extra: null_mut(),
        };
        let mut node = null_mut();
        done!(cuGraphAddKernelNode(
            &mut node,
            graph,
            after.as_ptr(),
            after.len(),
            &raw const asked
        ));
        node
    }
}

fn graph() -> CUgraph {
    let mut graph = null_mut();
    done!(cuGraphCreate(&mut graph, 0));
    graph
}

fn condition(graph: CUgraph, first: u32, flags: u32) -> u64 {
    let mut condition = 0;
    done!(cuGraphConditionalHandleCreate(&mut condition, graph, null_mut(), first, flags));
    condition
}

fn parameters(handle: u64, kind: u32, size: u32) -> NodeParameters {
    let mut of = NodeParametersOfKind { room: [0; 29] };
    of.conditional =
        ConditionalNodeParameters { handle, kind, size, graphs: null(), context: null_mut() };
    NodeParameters { kind: 13, reserved: [0; 3], of, reserved_2: 0 }
}

/// Adds a node that chooses, and gives its graphs.
fn choice(
    graph: CUgraph,
    after: &[CUgraphNode],
    (handle, kind, size): (u64, u32, u32),
) -> (CUgraphNode, Vec<CUgraph>) {
    let (mut node, mut asked) = (null_mut(), parameters(handle, kind, size));
    done!(cuGraphAddNode(&mut node, graph, after.as_ptr(), after.len(), &mut asked));
    // SAFETY: the node has given so many graphs.
    let graphs = unsafe { std::slice::from_raw_parts(asked.of.conditional.graphs, size as usize) };
    (node, graphs.to_vec())
}

fn executable(graph: CUgraph) -> CUgraphExec {
    let mut executable = null_mut();
    done!(cuGraphInstantiateWithFlags(&mut executable, graph, 0));
    executable
}

/// Words of device memory with these values.
fn words<const N: usize>(values: [u32; N]) -> [u64; N] {
    values.map(|value| {
        let mut address = 0;
        done!(cuMemAlloc_v2(&mut address, 4));
        done!(cuMemsetD32_v2(address, value, 1));
        address
    })
}

fn read(address: u64) -> u32 {
    let mut word = 0u32;
    done!(cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4));
    word
}

fn run(executable: CUgraphExec) {
    done!(cuGraphLaunch(executable, null_mut()));
    done!(cuCtxSynchronize());
}

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
    choice(graph, &[], (condition, IF, 1));
    assert_eq!(add(condition, IF, 1), ReturnCode::INVALID_VALUE, "two nodes have one condition");
    let mut clone = null_mut();
    // SAFETY: as NVIDIA's reference asks for.
    assert_eq!(unsafe { cuGraphClone(&mut clone, graph) }, ReturnCode::NOT_SUPPORTED);
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
    let mut copy = std::mem::MaybeUninit::<CUDA_MEMCPY3D>::zeroed();
    // SAFETY: zeros are a value of each field, and the rest is written here.
    let copy = unsafe {
        let at = copy.as_mut_ptr();
        (*at).srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        (*at).srcDevice = source;
        (*at).dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        (*at).dstHost = target.as_ptr().cast_mut().cast();
        ((*at).WidthInBytes, (*at).Height, (*at).Depth) = (4, 1, 1);
        copy.assume_init()
    };
    done!(cuGraphAddMemcpyNode(&mut node, inner[0], null(), 0, &raw const copy, null_mut()));
    done!(cuGraphLaunch(executable(graph), null_mut()));
    virtual_gpu::finish();
    assert_eq!(target, [1; 4], "the program's memory may be gone");
    let found = virtual_gpu::misuse();
    let told = found.iter().any(|one| one.message.contains("nobody has waited for this copy of 4"));
    assert!(told, "{found:?}");
}
