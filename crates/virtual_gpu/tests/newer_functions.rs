//! Functions of the driver that cust has no word for, called by their names.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::{CUfunction, CUmodule};
use cuda_driver::types::{LaunchAttribute, LaunchAttributeValue, LaunchConfig};
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use virtual_gpu::{Options, OwnMachine, Profile};

/// Calls a function of the driver that succeeds.
macro_rules! done {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the arguments are as NVIDIA's reference asks for them.
        assert_eq!(unsafe { $name($($argument),*) }, ReturnCode::SUCCESS, stringify!($name))
    };
}

/// A device of this thread's own, opened.
fn open() -> (OwnMachine, cust::context::Context) {
    let own = OwnMachine::new();
    (own, support::open(Profile::named("h200").unwrap(), Options::default()))
}

/// The kernels of `support::ptx` as the driver has them, each by a name.
fn load(kernels: &[(&str, &str)]) -> impl Fn(&str) -> CUfunction + use<> {
    let text = support::ptx(kernels) + "\0";
    let mut module: CUmodule = null_mut();
    done!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    move |name| {
        let name = format!("{name}\0");
        let mut function = null_mut();
        done!(cuModuleGetFunction(&mut function, module, name.as_ptr().cast()));
        function
    }
}

/// So many words of device memory, all of them 0.
fn words(count: usize) -> u64 {
    let mut address = 0;
    done!(cuMemAlloc_v2(&mut address, 4 * count));
    done!(cuMemsetD32_v2(address, 0, count));
    address
}

/// Reads words of device memory after everything that was enqueued.
fn read(address: u64, count: usize) -> Vec<u32> {
    let mut found = vec![u32::MAX; count];
    done!(cuCtxSynchronize());
    done!(cuMemcpyDtoH_v2(found.as_mut_ptr().cast(), address, 4 * count));
    found
}

/// Adds 1 to the thread's word.
const ADD: (&str, &str) =
    ("add", "ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2;");

#[test]
fn attributes_that_are_hints_change_nothing() {
    let _device = open();
    let function = load(&[ADD])("add");
    let mut array = words(4);
    let mut launch = |ids: &[c_uint]| {
        let value = LaunchAttributeValue { pad: [0; 64] };
        let attribute = |id: &c_uint| LaunchAttribute { id: *id, pad: [0; 4], value };
        let mut attributes: Vec<_> = ids.iter().map(attribute).collect();
        let config = LaunchConfig {
            grid_dim_x: 1,
            grid_dim_y: 1,
            grid_dim_z: 1,
            block_dim_x: 4,
            block_dim_y: 1,
            block_dim_z: 1,
            shared_mem_bytes: 0,
            stream: null_mut(),
            attributes: attributes.as_mut_ptr(),
            num_attributes: ids.len() as c_uint,
        };
        let mut arguments: [*mut c_void; 1] = [(&raw mut array).cast()];
        // SAFETY: the kernel has one parameter, and the array as many words as there are threads.
        unsafe { cuLaunchKernelEx(&config, function, arguments.as_mut_ptr(), null_mut()) }
    };
    for id in [3, 5, 9, 10, 14, 16] {
        assert_eq!(launch(&[id]), ReturnCode::SUCCESS, "attribute {id}");
    }
    assert_eq!(launch(&[0, 3, 5, 6, 8, 9, 10, 14]), ReturnCode::SUCCESS);
    // Another size of clusters, an event.
    for id in [11, 12] {
        assert_eq!(launch(&[3, id]), ReturnCode::NOT_SUPPORTED, "attribute {id}");
    }
    assert_eq!(read(array, 4), [7; 4]);
}
