//! The errors of functions of an `f32`: over a sample on the virtual device, over all inputs on a GPU.

use super::codegen;
use super::launches::VIRTUAL;
use cuda_driver::Backend;
use cuda_std_tests::kernels::accuracy::FUNCTIONS;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt::Write;
use std::sync::LazyLock;

/// Table of the errors found over all inputs.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/math.md");

/// A function's largest error in units of the last place, and the bits of the input that has it.
type Worst = (u32, u32);

/// The largest error of each function, over `count` inputs whose bits are `step` apart.
fn worst(ptx: &str, blocks: u32, step: u32, count: u64) -> BTreeMap<&'static str, Worst> {
    let module = Module::from_ptx(ptx, &[]).expect("the PTX loads");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    let of = |&(name, kernel, _): &(&'static str, &str, &str)| {
        let function = module.get_function(kernel).expect("a kernel for each function");
        let found = DeviceBuffer::from_slice(&[0_u64]).expect("there is room");
        stream.synchronize().expect("it arrives");
        let (mut step, mut count, mut address) = (step, count, found.as_device_ptr().as_raw());
        let arguments: [*mut c_void; 3] =
            [(&raw mut step).cast(), (&raw mut count).cast(), (&raw mut address).cast()];
        // SAFETY: the kernel takes these three, and both live until the stream is synchronized.
        unsafe { stream.launch(&function, blocks, 256, 0, &arguments) }.expect("it starts");
        stream.synchronize().expect("it ends");
        let mut result = [0_u64];
        found.copy_to(&mut result).expect("it is there");
        (name, ((result[0] >> 32) as u32, result[0] as u32))
    };
    FUNCTIONS.iter().map(of).collect()
}

#[test]
fn errors_of_a_sample_are_at_most_those_over_all_inputs() {
    LazyLock::force(&VIRTUAL);
    let (_, _context) = cust_ext::device::open(0).expect("the first device opens");
    let text = std::fs::read_to_string(TABLE).expect("the measurement is committed");
    // Odd, so that all bits of the inputs vary.
    let (step, count) = (16_777_213, 256);
    for (name, (error, input)) in worst(&codegen::ptx(90), 1, step, count) {
        let row = format!("| `{name}` | ");
        let row = text.lines().find_map(|line| line.strip_prefix(&row));
        let cell = row.and_then(|row| row.split(' ').next()).expect("each function has a row");
        let most: u32 = cell.parse().expect("a number of units");
        assert!(error <= most, "{name} of {}: {error}, and not {most}", f32::from_bits(input));
    }
}

/// Writes the table to the file that `COALESCE_MATH_TABLE` names; `COALESCE_MATH_TWIN` names the PTX of `peers/accuracy.cu`.
#[test]
#[ignore = "needs a GPU and nvcc"]
fn errors_over_all_inputs_on_a_gpu() {
    cuda_driver::select(Backend::Native).expect("a driver");
    let (device, _context) = cust_ext::device::open(0).expect("the first device opens");
    let twin = std::env::var("COALESCE_MATH_TWIN").expect("COALESCE_MATH_TWIN names a file of PTX");
    let twin = std::fs::read_to_string(twin).expect("it can be read");
    let ours = worst(&codegen::ptx(90), 1056, 1, 1 << 32);
    let theirs = worst(&twin, 1056, 1, 1 << 32);
    let mut table = format!(
        "# Errors of functions of an `f32`\n\n\
         The largest difference from the correctly rounded result over all 2^32 inputs, in units of the last place, on {}: \
         of `cuda_std::intrinsics`, of CUDA's function compiled by nvcc, and what CUDA's documentation states. The correctly \
         rounded result is that of the function of `f64`; an `f32` that goes by way of that one is compared with itself, and has \
         0. Written by the test `errors_over_all_inputs_on_a_gpu` of \
         `cuda_std_tests`.\n\n\
         | function | ours | at | CUDA's | at | stated |\n|---|--:|--:|--:|--:|---|\n",
        device.name().expect("it has a name"),
    );
    for &(name, _, stated) in FUNCTIONS {
        let ((ours, at), (theirs, there)) = (ours[name], theirs[name]);
        let (at, there) = (f32::from_bits(at), f32::from_bits(there));
        let _ = writeln!(table, "| `{name}` | {ours} | {at:e} | {theirs} | {there:e} | {stated} |");
    }
    println!("{table}");
    if let Some(path) = std::env::var_os("COALESCE_MATH_TABLE") {
        std::fs::write(path, table).expect("the file can be written");
    }
}
