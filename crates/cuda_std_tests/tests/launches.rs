//! Every launch of the table computes what it should, on the virtual device and on a GPU.

use crate::codegen;
use cuda_driver::Backend;
use cuda_std_tests::launches::{Argument, Buffer, Expected, Launch, all, unmeasured};
use cust::context::{CurrentContext, ResourceLimit};
use cust::function::{BlockSize, GridSize};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::LazyLock;
use virtual_gpu::{Options, Profile, VirtualGpu};

/// Results of a GPU: the digest of every buffer, by launch. Written by the test that needs a GPU.
const MEASURED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h100/functions.json");

/// Digests of buffers by launch: its place in the table and its kernel.
type Digests = BTreeMap<String, Vec<String>>;

/// Chooses the virtual device for all tests of this process.
pub static VIRTUAL: LazyLock<()> = LazyLock::new(|| {
    let profile = Profile::named("h200").expect("a profile of the crate");
    let gpu = VirtualGpu::start(profile, Options::default()).expect("the virtual device starts");
    cuda_driver::select(Backend::Table(gpu)).expect("no driver was chosen before");
});

fn run(module: &Module, stream: &Stream, launch: &Launch) -> Result<Vec<String>, String> {
    let driver = |error: cust::error::CudaError| error.to_string();
    if launch.stack_bytes > 0 {
        CurrentContext::set_resource_limit(ResourceLimit::StackSize, launch.stack_bytes as usize)
            .map_err(driver)?;
    }
    let mut values: Vec<Vec<u8>> = Vec::new();
    let mut buffers: Vec<(&Buffer, DeviceBuffer<u8>)> = Vec::new();
    for argument in &launch.arguments {
        match argument {
            Argument::Value(bytes) => values.push(bytes.clone()),
            Argument::Pointer(buffer) | Argument::Slice(buffer, _) => {
                let device = DeviceBuffer::from_slice(&buffer.input).map_err(driver)?;
                values.push(device.as_device_ptr().as_raw().to_ne_bytes().to_vec());
                buffers.push((buffer, device));
            }
        }
        if let Argument::Slice(_, len) = argument {
            values.push(len.to_ne_bytes().to_vec());
        }
    }
    let arguments: Vec<*mut c_void> =
        values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
    let [x, y, z] = launch.grid;
    let [width, height, depth] = launch.block;
    let function = module.get_function(launch.kernel).map_err(driver)?;
    let (grid, block) = (GridSize::xyz(x, y, z), BlockSize::xyz(width, height, depth));
    // SAFETY: the table has each kernel's arguments; the values and the buffers live until the stream is synchronized.
    unsafe { stream.launch(&function, grid, block, launch.shared_bytes, &arguments) }
        .map_err(driver)?;
    stream.synchronize().map_err(driver)?;
    let mut digests = Vec::new();
    for (index, (buffer, device)) in buffers.iter().enumerate() {
        let mut bytes = vec![0; buffer.input.len()];
        device.copy_to(&mut bytes).map_err(driver)?;
        buffer.check(&bytes).map_err(|error| format!("buffer {index}: {error}"))?;
        if !matches!(buffer.expected, Expected::Anything) {
            let digest = Sha256::digest(&bytes);
            digests.push(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect());
        }
    }
    Ok(digests)
}

/// Runs launches with the PTX of compute capability 9.0: the digests of each, or what is wrong.
fn run_each(launches: &[Launch]) -> BTreeMap<String, Result<Vec<String>, String>> {
    let (_, _context) = cust_ext::device::open(0).expect("the first device opens");
    let ptx = codegen::ptx(90);
    let module = Module::from_ptx(&ptx, &[]).expect("the PTX loads");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    let one = |(index, launch): (usize, &Launch)| {
        (format!("{index:03} {}", launch.kernel), run(&module, &stream, launch))
    };
    launches.iter().enumerate().map(one).collect()
}

/// The digests of launches that must all be right.
fn run_all(launches: &[Launch]) -> Digests {
    let mut wrong = Vec::new();
    let mut digests = Digests::new();
    for (name, outcome) in run_each(launches) {
        match outcome {
            Ok(buffers) => _ = digests.insert(name, buffers),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    digests
}

/// Kernels of approximate instructions, which the executor computes to within their documented error
/// and not to the bit.
const NEAR: &[&str] = &["approx_rsqrt_f64", "approx_tanh"];

fn kernel(name: &str) -> &str {
    name.split_once(' ').map_or("", |(_, kernel)| kernel)
}

#[test]
fn on_the_virtual_device_and_as_a_gpu_did() {
    LazyLock::force(&VIRTUAL);
    let ours = run_all(&all());
    let text = std::fs::read_to_string(MEASURED).expect("the measurement is committed");
    let theirs: Digests = serde_json::from_str(&text).expect("a map of digests");
    let names = |digests: &Digests| digests.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs), "the table changed: measure again");
    let is_near = |name: &str| NEAR.contains(&kernel(name));
    let differing: Vec<_> =
        ours.keys().filter(|name| ours[*name] != theirs[*name] && !is_near(name)).collect();
    assert!(differing.is_empty(), "other bits than on the GPU: {differing:#?}");
}

#[test]
fn what_no_gpu_has_computed_yet_is_as_the_host_computes_it() {
    LazyLock::force(&VIRTUAL);
    assert_eq!(run_all(&unmeasured()).len(), unmeasured().len());
}

/// Prints a line for each launch, and writes the digests to the file that `COALESCE_FUNCTIONS_JSON` names:
/// `cargo test --release -p cuda_std_tests --test it -- on_a_gpu --ignored --nocapture`.
#[test]
#[ignore = "needs a GPU"]
fn on_a_gpu() {
    cuda_driver::select(Backend::Native).expect("a driver");
    let (known, new) = (run_each(&all()), run_each(&unmeasured()));
    let mut wrong = 0;
    for (list, outcomes) in [("all", &known), ("unmeasured", &new)] {
        for (name, outcome) in outcomes {
            wrong += usize::from(outcome.is_err());
            println!("{list} {name}: {}", outcome.as_ref().err().map_or("right", |error| error));
        }
    }
    println!("{} launches, {wrong} of them wrong", known.len() + new.len());
    assert_eq!(wrong, 0, "the lines above say which launches are wrong, and where");
    let digests: Digests =
        known.into_iter().filter_map(|(name, one)| Some((name, one.ok()?))).collect();
    if let Some(path) = std::env::var_os("COALESCE_FUNCTIONS_JSON") {
        let text = serde_json::to_string_pretty(&digests).expect("a map of strings");
        std::fs::write(path, text + "\n").expect("the file can be written");
    }
}
