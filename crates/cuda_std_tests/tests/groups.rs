//! A barrier of the whole grid: a cooperative launch passes it, any other is refused, and generic kernels have entries.

use crate::codegen::{SM_90, ptx};
use crate::launches::VIRTUAL;
use cuda_std_tests::kernels::groups;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust_ext::launch::Launch;
use std::sync::LazyLock;

const BLOCKS: u32 = 5;
const THREADS: u32 = 64;

#[test]
fn the_blocks_of_a_cooperative_launch_wait_for_each_other_and_others_are_refused() {
    LazyLock::force(&VIRTUAL);
    let (_, _context) = cust_ext::device::open(0).expect("the first device opens");
    let module = Module::from_ptx(ptx(90), &[]).expect("the PTX loads");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    let function = module.get_function(groups::grid_barrier.name()).expect("it is there");
    let all = BLOCKS * THREADS;
    let target = DeviceBuffer::from_slice(&vec![0_u32; 2 * all as usize]).expect("it fits");
    let mut address = target.as_device_ptr().as_raw();
    let arguments = [(&raw mut address).cast()];
    let plain = Launch::new(BLOCKS, THREADS);
    // SAFETY: the kernel takes one address, of two words for each thread.
    let refused = unsafe { plain.run(&function, &stream, &arguments) };
    assert!(refused.is_err(), "the blocks of this launch cannot wait for each other");
    let said: Vec<String> = virtual_gpu::misuse().iter().map(ToString::to_string).collect();
    let sentence = "kernel `grid_barrier` cannot be launched: it waits for the whole grid (`grid::sync`), and only the \
                    blocks of a cooperative launch can: launch it by `Launcher::launch_cooperative` or \
                    `cuLaunchCooperativeKernel`";
    assert!(said.iter().any(|text| text.contains(sentence)), "{said:#?}");

    let cooperative = Launch { cooperative: true, ..plain };
    // SAFETY: as above.
    unsafe { cooperative.run(&function, &stream, &arguments) }.expect("it is cooperative");
    stream.synchronize().expect("it runs");
    let mut words = vec![0_u32; 2 * all as usize];
    target.copy_to(&mut words).expect("it can be read");
    let expected: Vec<u32> = (0..all).map(|own| (own + 2 * THREADS) % all + 1).collect();
    assert_eq!(words[..all as usize], expected);
}

#[test]
fn each_instance_of_a_generic_kernel_is_an_entry() {
    for name in ["multiple_f32_2", "multiple_f64_3", "multiple_u32_2", "scaled_f32", "scaled_u64"] {
        assert!(SM_90.contains_key(name), "there is no entry `{name}`");
    }
    assert!(SM_90["multiple_f64_3"].contains("add.rn.f64"));
    assert!(!SM_90.contains_key("multiple") && !SM_90.contains_key("scaled"));
}
