//! Functions of compute capability 10.0 and 12.0: their PTX, and what the executor makes of it. No GPU has confirmed them.

use crate::codegen::{contain, entries, lack, target_dir};
use cuda_builder::{CudaBuilder, NvvmArch};
use cuda_driver::Backend;
use cust::device::DeviceAttribute;
use cust::memory::{DeviceBuffer, DevicePointer, GpuBuffer};
use cust::prelude::{Stream, StreamFlags};
use simt::{Checks, Launch, Memory, Module, Options};
use std::sync::LazyLock;

static PTX: LazyLock<String> = LazyLock::new(|| {
    let builder = CudaBuilder::new(env!("CARGO_MANIFEST_DIR")).only_kernels("blackwell_");
    let builder = builder.arch(NvvmArch::Compute120a).target_dir(target_dir());
    let path = builder.build().unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(path).expect("the builder has just written it")
});

/// Runs a kernel on arrays of words, the last of which it writes, and returns that one.
type Run = fn(&str, [u32; 2], &[&[u32]]) -> Vec<u32>;

fn on_the_executor(kernel: &str, [blocks, threads]: [u32; 2], arrays: &[&[u32]]) -> Vec<u32> {
    let module = Module::parse(&PTX).expect("it is PTX");
    let mut memory = Memory::default();
    let mut launch = Launch::new(kernel, [blocks, 1, 1], [threads, 1, 1]);
    let mut last = 0;
    for words in arrays {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        last = memory.allocate(bytes.len() as u64).expect("there is memory");
        memory.write(last, &bytes).expect("it is allocated");
        launch = launch.address(last);
    }
    let options = Options { checks: Checks::all(), ..Options::default() };
    let report = simt::run(&module, &mut memory, &launch, &options).expect("it runs");
    assert!(report.findings.is_empty(), "{kernel}: {:#?}", report.findings);
    let mut output = vec![0; 4 * arrays.last().expect("there is one").len()];
    memory.read(last, &mut output).expect("it is allocated");
    output.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn on_a_gpu(kernel: &str, [blocks, threads]: [u32; 2], arrays: &[&[u32]]) -> Vec<u32> {
    let module = cust::module::Module::from_ptx(PTX.as_str(), &[]).expect("the driver takes it");
    let function = module.get_function(kernel).expect("it has the kernel");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    let buffers: Vec<DeviceBuffer<u32>> =
        arrays.iter().map(|words| DeviceBuffer::from_slice(words).expect("it fits")).collect();
    let mut pointers: Vec<DevicePointer<u32>> =
        buffers.iter().map(DeviceBuffer::as_device_ptr).collect();
    let arguments: Vec<_> = pointers.iter_mut().map(|pointer| (&raw mut *pointer).cast()).collect();
    // SAFETY: each kernel takes a pointer to each array, which the buffers own until the stream was waited for; these are
    // the blocks and threads of its contract.
    unsafe { stream.launch(&function, blocks, threads, 0, &arguments) }.expect("it starts");
    stream.synchronize().expect("it ends");
    buffers.last().expect("there is one").as_host_vec().expect("it is copied")
}

/// Confirms on a GPU what these tests say:
/// `cargo test --release -p cuda_std_tests --test it -- blackwell::confirmed --ignored --nocapture`.
#[test]
#[ignore = "needs a GPU of compute capability 12.0"]
fn confirmed() {
    cuda_driver::select(Backend::Native).expect("a driver");
    let (device, _context) = cust_ext::device::open(0).expect("a GPU");
    let [major, minor] =
        [DeviceAttribute::ComputeCapabilityMajor, DeviceAttribute::ComputeCapabilityMinor]
            .map(|number| device.get_attribute(number).expect("it is known"));
    let name = device.name().expect("it has a name");
    assert_eq!((major, minor), (12, 0), "{name} has another compute capability: nothing was run");
    copies_words(on_a_gpu);
    does_all_work(on_a_gpu);
    has_every_scale(on_a_gpu);
    println!("{name}: accesses of 32 bytes, launch control and products with scales are confirmed");
}

fn copies_words(run: Run) {
    let input: Vec<u32> = (1..=64 * 8).collect();
    for kernel in ["blackwell_wide_u64", "blackwell_wide_f32"] {
        assert_eq!(run(kernel, [1, 64], &[&input, &[!0; 64 * 8]]), input, "{kernel}");
    }
}

/// Whichever block does it.
fn does_all_work(run: Run) {
    let expected: Vec<u32> = (0..3 * 64).map(|at| at / 64 + 1).collect();
    assert_eq!(run("blackwell_cancel", [3, 64], &[&[!0; 3 * 64]]), expected);
}

#[test]
fn accesses_of_32_bytes_are_one_instruction() {
    contain(&entries(&PTX), "blackwell_wide_{f32 u64}: ld.global.v8.b32 | st.global.v8.b32");
    lack(&entries(&PTX), &["blackwell_wide_f32", "blackwell_wide_u64"], &[".local"]);
    copies_words(on_the_executor);
}

/// All blocks have started, so each does its own work.
#[test]
fn a_block_asks_for_the_work_of_others() {
    contain(
        &entries(&PTX),
        "blackwell_cancel: clusterlaunchcontrol.try_cancel | query_cancel.is_canceled | get_first_ctaid",
    );
    does_all_work(on_the_executor);
}

/// A product: the elements of A and of B, how many of them have one scale, and how a scale of 2^n is written.
struct Product {
    elements: [u32; 2],
    /// The product of an element of A and one of B.
    factor: f32,
    blocks: usize,
    block: usize,
    scale: fn(u32) -> u32,
}

#[test]
fn products_have_the_scale_of_each_row_column_and_block() {
    contain(
        &entries(&PTX),
        "blackwell_scaled: kind::mxf8f6f4.block_scale.scale_vec::1X | kind::mxf4.block_scale.scale_vec::2X | \
         kind::mxf4nvf4.block_scale.scale_vec::4X",
    );
    has_every_scale(on_the_executor);
}

fn has_every_scale(run: Run) {
    // The exponent 127 is 1; so is 7 << 3 where three bits of fraction follow.
    let [exponent, float]: [fn(u32) -> u32; 2] = [|n| 127 + n, |n| (7 + n) << 3];
    let bytes = |byte: u32| byte * 0x0101_0101;
    let product = |elements: [u32; 2], factor, blocks, block, scale| Product {
        elements: elements.map(bytes),
        factor,
        blocks,
        block,
        scale,
    };
    // 1.5 and 2 of e4m3 and of e5m2; of e2m1 two elements of a byte.
    let products = [
        product([0x3c, 0x40], 3.0, 1, 32, exponent),
        product([0x3c, 0x40], 3.0, 1, 32, exponent),
        product([0x3e, 0x40], 3.0, 1, 32, exponent),
        product([0x3e, 0x40], 3.0, 1, 32, exponent),
        product([0x33, 0x44], 3.0, 2, 32, exponent),
        product([0x33, 0x44], 3.0, 4, 16, float),
    ];
    let of_row = |row: usize, block: usize| (row % 3 + block) as u32;
    let of_column = |column: usize, block: usize| (column % 2 + block / 2) as u32;
    let mut scales = Vec::new();
    for lane in 0..32 {
        let (group, place) = (lane / 4, lane % 4);
        for product in &products {
            let word = |of: &dyn Fn(usize) -> u32| {
                (0..product.blocks).fold(0, |word, at| word | (product.scale)(of(at)) << (8 * at))
            };
            let unread = if product.blocks == 1 { 0xffff_ff00 } else { 0 };
            let unread = if product.blocks == 2 { 0xffff_0000 } else { unread };
            // Other lanes have no scale, and neither have bytes that no block has.
            let a = word(&|block| of_row(group + 8 * (place % 2), block)) | unread;
            let b = word(&|block| of_column(group, block)) | unread;
            scales.extend([if place < 2 { a } else { !0 }, if place == 0 { b } else { !0 }]);
        }
    }
    let elements: Vec<u32> = products.iter().flat_map(|product| product.elements).collect();
    let found = run("blackwell_scaled", [1, 32], &[&elements, &scales, &[!0; 32 * 4 * 6]]);
    for (at, bits) in found.into_iter().enumerate() {
        let (lane, number, i) = (at / 24, at / 4 % 6, at % 4);
        let (row, column) = (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
        let Product { factor, blocks, block, .. } = products[number];
        let sums = (0..blocks).map(|at| {
            let power = of_row(row, at) + of_column(column, at);
            block as f32 * factor * 2.0_f32.powi(power as i32)
        });
        let expected = sums.sum::<f32>() + row as f32;
        assert_eq!(f32::from_bits(bits), expected, "product {number}, row {row}, column {column}");
    }
}
