//! The begin of a program on the virtual device, and kernels of one instruction.
#![allow(dead_code, reason = "each test uses some of it")]

pub mod graphs;

use cust::context::Context;
use virtual_gpu::{Options, Topology, VirtualGpu};

/// Calls a function of the driver that succeeds.
macro_rules! done {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the arguments are as NVIDIA's reference asks for them.
        assert_eq!(unsafe { $name($($argument),*) }, ReturnCode::SUCCESS, stringify!($name))
    };
}
#[allow(unused_imports, reason = "each test uses some of it")]
pub(crate) use done;

/// Starts a device as the one of this process and opens it.
pub fn open(machine: impl Into<Topology>, options: Options) -> Context {
    select(machine, options);
    cust_ext::device::open(0).unwrap().1
}

/// Starts a machine as the one of this process.
pub fn select(machine: impl Into<Topology>, options: Options) {
    let gpu = VirtualGpu::start(machine, options).unwrap();
    cuda_driver::select(cuda_driver::Backend::Table(gpu)).unwrap();
}

/// Kernels by their names and what each thread does to an array: `%rd1` is its address, `%rd3`, `%rd4` and `%rd5` are those
/// of the thread's word, of its 16 and of its 8 bytes, and `%r1` is 1.
pub fn ptx(kernels: &[(&str, &str)]) -> String {
    let mut text = ".version 7.8\n.target sm_70\n.address_size 64\n.global .u32 word;\n".to_owned();
    for (name, body) in kernels {
        text += &format!(
            ".visible .entry {name}(.param .u64 array)\n{{
    .reg .b32 %r<10>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [array];
    mov.u32 %r1, %tid.x; mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ntid.x;
    mad.lo.u32 %r1, %r8, %r9, %r1;
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    mad.wide.u32 %rd4, %r1, 16, %rd1;
    mad.wide.u32 %rd5, %r1, 8, %rd1;
    mov.u32 %r1, 1;
    {body}
    ret;\n}}\n"
        );
    }
    text
}
