//! Graphs of small kernels, built node by node.

use super::{done, open};
use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::{
    CUDA_MEMCPY3D, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmemorytype, CUmodule,
};
use cuda_driver::types::{
    ConditionalNodeParameters, KernelNodeParameters, NodeParameters, NodeParametersOfKind,
};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use virtual_gpu::{Options, OwnMachine, Profile};

/// `CU_GRAPH_COND_TYPE_*`.
pub const IF: u32 = 0;
pub const WHILE: u32 = 1;
pub const SWITCH: u32 = 2;

/// Kernels of one thread: `sets` makes a word the condition, `counts` adds 1 to a word, `writes` makes it 7, and `down` takes 1 from a word
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
.visible .entry writes(.param .u64 word, .param .u64 condition)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
    st.global.u32 [%rd1], 7;
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

pub struct Device {
    _own: OwnMachine,
    _context: cust::context::Context,
    module: CUmodule,
}

impl Device {
    pub fn open() -> Device {
        Device::with(Options::default())
    }

    pub fn with(options: Options) -> Device {
        let own = OwnMachine::new();
        let context = open(Profile::named("h200").unwrap(), options);
        let mut module = null_mut();
        done!(cuModuleLoadData(&mut module, PTX.as_ptr().cast()));
        Device { _own: own, _context: context, module }
    }

    pub fn kernel(&self, name: &str) -> CUfunction {
        let (name, mut function) = (format!("{name}\0"), null_mut());
        done!(cuModuleGetFunction(&mut function, self.module, name.as_ptr().cast()));
        function
    }

    /// Adds a launch of a kernel to a graph.
    pub fn launch(
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

pub fn graph() -> CUgraph {
    let mut graph = null_mut();
    done!(cuGraphCreate(&mut graph, 0));
    graph
}

pub fn condition(graph: CUgraph, first: u32, flags: u32) -> u64 {
    let mut condition = 0;
    done!(cuGraphConditionalHandleCreate(&mut condition, graph, null_mut(), first, flags));
    condition
}

pub fn parameters(handle: u64, kind: u32, size: u32) -> NodeParameters {
    let mut of = NodeParametersOfKind { room: [0; 29] };
    of.conditional =
        ConditionalNodeParameters { handle, kind, size, graphs: null(), context: null_mut() };
    NodeParameters { kind: 13, reserved: [0; 3], of, reserved_2: 0 }
}

/// Adds a node that chooses, and gives its graphs.
pub fn choice(
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

pub fn executable(graph: CUgraph) -> CUgraphExec {
    let mut executable = null_mut();
    done!(cuGraphInstantiateWithFlags(&mut executable, graph, 0));
    executable
}

/// Words of device memory with these values.
pub fn words<const N: usize>(values: [u32; N]) -> [u64; N] {
    values.map(|value| {
        let mut address = 0;
        done!(cuMemAlloc_v2(&mut address, 4));
        done!(cuMemsetD32_v2(address, value, 1));
        address
    })
}

pub fn read(address: u64) -> u32 {
    let mut word = 0u32;
    done!(cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4));
    word
}

pub fn run(executable: CUgraphExec) {
    done!(cuGraphLaunch(executable, null_mut()));
    done!(cuCtxSynchronize());
}

/// A copy of four bytes of the device's memory to the host's, or from there.
pub fn copy_of_a_word(device: u64, host: u64, to_device: bool) -> CUDA_MEMCPY3D {
    let host = std::ptr::with_exposed_provenance_mut::<c_void>(host as usize);
    let mut copy = std::mem::MaybeUninit::<CUDA_MEMCPY3D>::zeroed();
    // SAFETY: zeros are a value of each field, and the rest is written here.
    unsafe {
        let at = copy.as_mut_ptr();
        let (one, other) = (CUmemorytype::CU_MEMORYTYPE_DEVICE, CUmemorytype::CU_MEMORYTYPE_HOST);
        if to_device {
            ((*at).srcMemoryType, (*at).dstMemoryType) = (other, one);
        } else {
            ((*at).srcMemoryType, (*at).dstMemoryType) = (one, other);
        }
        ((*at).srcDevice, (*at).dstDevice) = (device, device);
        ((*at).srcHost, (*at).dstHost) = (host, host);
        ((*at).WidthInBytes, (*at).Height, (*at).Depth) = (4, 1, 1);
        copy.assume_init()
    }
}
