//! A barrier of the whole grid: a cooperative launch passes it, any other is refused; generic kernels have entries.

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

/// The trap of a panic is in `cuda_std`; what is named is the line that panicked.
#[test]
fn a_panic_names_the_line_of_its_author() {
    let module = simt::Module::parse(&ptx(90)).expect("it is PTX");
    let mut memory = simt::Memory::default();
    let words = memory.allocate(64).expect("there is room");
    let launch = simt::Launch::new("panic_bounds", [1, 1, 1], [1, 1, 1]);
    let launch = launch.u64(words).u64(4).u64(words).u32(4);
    let error = simt::run(&module, &mut memory, &launch, &simt::Options::default());
    let error = error.expect_err("four is past the end").to_string();
    assert!(error.contains("kernels/printing.rs:"), "{error}");
}

/// The message of an `assert!` is in the error that the host gets.
#[test]
fn a_panic_hands_its_message_to_the_host() {
    let module = simt::Module::parse(&ptx(90)).expect("it is PTX");
    let launch = simt::Launch::new("panic_message", [1, 1, 1], [33, 1, 1]).u32(32);
    let mut memory = simt::Memory::default();
    let error = simt::run(&module, &mut memory, &launch, &simt::Options::default());
    let error = error.expect_err("the last thread is one too many");
    assert!(!error.is_failed_assertion(), "it is a trap to a driver");
    let (text, message) = (error.to_string(), "a block has too many threads");
    assert!(text.ends_with(message) && text.contains("printing.rs:"), "{text}");
}

#[test]
fn floats_are_printed_as_on_the_host() {
    let module = simt::Module::parse(&ptx(90)).expect("it is PTX");
    for [a, b, c, d] in [[1.5, -0.0, 0.1005, 1e7], [f32::MIN_POSITIVE, 16_777_216.5, 2.5, -7.25]] {
        let mut memory = simt::Memory::default();
        let floats = memory.allocate(16).expect("there is room");
        let bytes: Vec<u8> =
            [a, b, c, d].iter().flat_map(|value: &f32| value.to_le_bytes()).collect();
        memory.write(floats, &bytes).expect("it is there");
        let launch = simt::Launch::new("print_floats", [1, 1, 1], [1, 1, 1]).u64(floats);
        let report = simt::run(&module, &mut memory, &launch, &simt::Options::default());
        let printed = report.expect("it runs").printed;
        let digits = 2;
        let line = format!("{a:e} {0:1$.digits$} {name} {{{}}}\n", b, 9, name = c);
        assert_eq!(printed, format!("{}|{:?}|{:.3}|{:>9.1}|", a, b, c, d) + &line);
    }
}

/// A line of text with a number is at most this long, and one with a float at most three times that: the exact digits of
/// a float need long division.
#[test]
fn printing_a_line_is_small() {
    let bytes = |prefix: &str| {
        let builder = cuda_builder::CudaBuilder::new(env!("CARGO_MANIFEST_DIR"))
            .only_kernels(prefix)
            .arch(cuda_builder::NvvmArch::Compute90)
            .target_dir(crate::codegen::target_dir());
        let path = builder.build().expect("the kernels compile");
        std::fs::metadata(path).expect("it was written").len()
    };
    let (line, float) = (bytes("print_line"), bytes("print_rust"));
    assert!(line < 60_000 && float < 160_000, "{line} and {float} bytes of PTX");
}
