//! Launches one kernel of a PTX file on the virtual device and makes a profile of it.

use super::argument::{Argument, Given, Shape, declared};
use crate::os;
use crate::wrong_argument::WrongArgument;
use anyhow::{Context as _, Result};
use cuda_driver::Backend;
use cust::context::Context;
use cust::device::Device;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust_ext::function::allow_dynamic_shared_bytes;
use profiling::{Collector, demangled};
use results::{ProgramProfile, plain, write_somewhere};
use simt::{Checks, Kernel, Trace};
use std::ffi::c_void;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use virtual_gpu::{Options, Topology, VirtualGpu};

/// Static and dynamic shared memory up to which a launch needs no permission, in bytes.
const SHARED_BYTES: u32 = 48 << 10;

/// The shape of a launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks.
    pub grid: Shape,
    /// Threads per block.
    pub block: Shape,
    /// Bytes of dynamic shared memory per block.
    pub shared_bytes: u32,
    /// In the order of the kernel's parameters, or by their names.
    pub arguments: Vec<Argument>,
    /// Blocks of a cluster.
    pub cluster: Option<Shape>,
    /// All blocks are there at once and may wait for each other.
    pub cooperative: bool,
    /// Arrays to write to files after the launch.
    pub saved: Vec<Saved>,
    /// Look for hazards.
    pub checks: Checks,
    /// Orders of warps and blocks in which hazards of a small launch are looked for.
    pub schedules: u32,
    /// Warp-instructions after which the kernel is taken to run forever, if it is not the usual number.
    pub limit: Option<u64>,
    /// Filled with what a warp does.
    pub trace: Option<Arc<Trace>>,
    /// Folders below which source files are read, besides the working folder.
    pub sources: Vec<PathBuf>,
}

/// An array of a launch, and the file that it is written to: `out=result.bin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The name of the argument or of the parameter.
    pub array: String,
    /// The file.
    pub file: PathBuf,
}

impl FromStr for Saved {
    type Err = String;

    fn from_str(text: &str) -> Result<Saved, String> {
        match text.split_once('=') {
            Some((array, file)) if !array.is_empty() && !file.is_empty() => {
                Ok(Saved { array: array.to_owned(), file: PathBuf::from(file) })
            }
            _ => Err(format!(
                "`{text}` names no array and file: write ARRAY=FILE, as out=result.bin"
            )),
        }
    }
}

/// Bytes of a PTX file that are read: ten times those of the largest that compilers are known to write.
const MAX_BYTES: u64 = 256 << 20;

fn wrong(message: String) -> anyhow::Error {
    WrongArgument(message).into()
}

/// Reads and parses a PTX file.
///
/// # Errors
/// One sentence: the file cannot be read, is something else than a file of PTX, or the place where it is no PTX.
pub fn read(path: &Path) -> Result<(String, simt::Module)> {
    let cannot = |error| wrong(format!("cannot read {}: {error}", path.display()));
    let facts = std::fs::metadata(path).map_err(cannot)?;
    let no_ptx = |reason: &str| {
        wrong(format!(
            "{} {reason}: name a file of PTX text, as `nvcc --ptx` and `cuobjdump --dump-ptx` write it",
            path.display()
        ))
    };
    if facts.is_dir() {
        return Err(no_ptx("is a folder"));
    }
    // Reading one may never end.
    if os::is_device(facts.file_type()) {
        return Err(no_ptx("is a device of the system"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(no_ptx(&format!("has more than {MAX_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| no_ptx("is no text"))?;
    let text = plain(&text).into_owned();
    if !text.lines().any(|line| line.trim_start().starts_with(".version")) {
        return Err(no_ptx("has no line with `.version`, so it is no PTX"));
    }
    let module = simt::Module::parse(&text)
        .map_err(|error| wrong(format!("{} cannot be used: {error}", path.display())))?;
    Ok((text, module))
}

/// The kernel that is meant: the one of this name, mangled or not, the only one whose name has it, or the only one.
///
/// # Errors
/// One sentence with the kernels that there are.
pub fn chosen_kernel<'a>(module: &'a simt::Module, name: Option<&str>) -> Result<&'a Kernel> {
    let kernels = module.kernels();
    let written = |kernel: &Kernel| demangled(&kernel.name).unwrap_or_else(|| kernel.name.clone());
    let all = || kernels.iter().map(written).collect::<Vec<_>>().join("`, `");
    let Some(name) = name else {
        return match kernels {
            [one] => Ok(one),
            [] => Err(wrong("the PTX has no kernel: it needs a function with `.entry`".to_owned())),
            _ => Err(wrong(format!(
                "the PTX has several kernels: write FILE.ptx:NAME with one of `{}`",
                all()
            ))),
        };
    };
    let exact = kernels.iter().find(|kernel| kernel.name == name || written(kernel) == name);
    let similar: Vec<&Kernel> =
        kernels.iter().filter(|kernel| written(kernel).contains(name)).collect();
    match (exact, &similar[..]) {
        (Some(one), _) => Ok(one),
        (None, [one]) => Ok(*one),
        _ => Err(wrong(format!("the PTX has no kernel `{name}`; it has `{}`", all()))),
    }
}

/// The parameters of a kernel with what each is given, in their order.
fn given(kernel: &Kernel, arguments: &[Argument]) -> Result<Vec<Given>> {
    let parameters = &kernel.parameters;
    if parameters.len() != arguments.len() {
        let list: Vec<String> =
            parameters.iter().map(|one| format!("{}: {}", one.name, declared(one))).collect();
        return Err(wrong(format!(
            "kernel `{}` has {} parameters ({}) and {} arguments are given: write one --arg for each, in their order",
            kernel.name,
            parameters.len(),
            list.join(", "),
            arguments.len()
        )));
    }
    let place = |name: &str| parameters.iter().position(|parameter| parameter.name == name);
    let by_name = arguments.iter().all(|one| place(one.name()).is_some());
    for (index, one) in arguments.iter().enumerate() {
        let (name, is_again) =
            (one.name(), arguments[..index].iter().any(|b| b.name() == one.name()));
        if by_name && is_again {
            return Err(wrong(format!("argument `{name}` is given twice: name each once")));
        }
        if let Some(place) = place(name).filter(|place| !by_name && *place != index) {
            return Err(wrong(format!(
                "argument `{name}` is number {} and the parameter of this name number {}: name all as the PTX does, or give them in its order",
                index + 1,
                place + 1
            )));
        }
    }
    let each = parameters.iter().enumerate().map(|(index, parameter)| {
        let named = arguments.iter().find(|one| by_name && one.name() == parameter.name);
        let argument = named.unwrap_or(&arguments[index]);
        argument.given(parameter).map_err(wrong)
    });
    each.collect()
}

/// The places of the arrays to save among the arguments, each with its file.
fn saved<'l>(
    kernel: &Kernel,
    launch: &'l Launch,
    given: &[Given],
) -> Result<Vec<(usize, &'l Path)>> {
    let each = launch.saved.iter().map(|Saved { array, file }| {
        let is_named = |place: &usize| {
            launch.arguments[*place].name() == array || kernel.parameters[*place].name == *array
        };
        let place = (0..given.len())
            .filter(is_named)
            .find(|place| matches!(given[*place], Given::Array(..)));
        let arrays = launch
            .arguments
            .iter()
            .zip(given)
            .filter(|(_, given)| matches!(given, Given::Array(..)));
        let names: Vec<&str> = arrays.map(|(argument, _)| argument.name()).collect();
        let place = place.ok_or_else(|| {
            wrong(format!(
                "there is no array `{array}` to save: name one of `{}`",
                names.join("`, `")
            ))
        })?;
        Ok((place, file.as_path()))
    });
    each.collect()
}

/// Launches a kernel of a PTX text once on a virtual machine and says what it did. A kernel that fails has a mistake in
/// its profile that says where.
///
/// # Errors
/// One sentence: arguments that do not fit, an instruction that cannot be executed, a launch that the device refuses.
pub fn explain(
    name: &str,
    text: &str,
    kernel: &Kernel,
    launch: &Launch,
    machine: Topology,
) -> Result<ProgramProfile> {
    if let Err(error) = kernel.supported() {
        return Err(wrong(format!("kernel `{}` cannot be executed: {error}", kernel.name)));
    }
    let given = given(kernel, &launch.arguments)?;
    let saved = saved(kernel, launch, &given)?;
    let options =
        Options { checks: launch.checks, schedules: launch.schedules, ..Options::default() };
    let gpu = VirtualGpu::start(machine, options)?;
    cuda_driver::select(Backend::Table(gpu))?;
    launch.limit.into_iter().for_each(virtual_gpu::limit);
    // What ran before, if anything did, is no business of this kernel's.
    virtual_gpu::launches();
    virtual_gpu::misuse();
    virtual_gpu::operations();
    cust::init(cust::CudaFlags::empty())?;
    let device = Device::get_device(0)?;
    let _context = Context::new(device)?;
    let mut collector =
        Collector::new(name.to_owned(), device.name()?, launch.checks.any(), String::new());
    collector.read_sources_below(&launch.sources);
    virtual_gpu::watch(Some(simt::Watched::default()));
    virtual_gpu::trace(launch.trace.clone());
    let outcome = run(text, kernel, launch, given, &saved);
    virtual_gpu::trace(None);
    virtual_gpu::watch(None);
    virtual_gpu::launches().into_iter().for_each(|record| collector.launch(record));
    let mut mistakes = virtual_gpu::misuse();
    // The driver is called from here, which is no place of the reader's.
    mistakes.retain(|mistake| mistake.kind != virtual_gpu::MisuseKind::FailedSince);
    mistakes.iter_mut().for_each(|mistake| mistake.location = None);
    virtual_gpu::forget_failure();
    let has_failed = mistakes.iter().any(|one| one.kind == virtual_gpu::MisuseKind::KernelFault);
    match outcome {
        // The driver's code says less than the mistake does.
        Err(error) if !has_failed => {
            let why = mistakes.into_iter().next().map(|mistake| mistake.message);
            return Err(why.map_or(error, anyhow::Error::msg));
        }
        _ => {}
    }
    collector.mistakes(mistakes);
    // The copies are ours, and so is their place on a timeline.
    virtual_gpu::operations();
    Ok(collector.profile())
}

/// Loads the module, makes the arrays, launches, waits.
fn run(
    text: &str,
    kernel: &Kernel,
    launch: &Launch,
    given: Vec<Given>,
    saved: &[(usize, &Path)],
) -> Result<()> {
    let module = Module::from_ptx(text, &[]).context("the device refuses the PTX")?;
    let function = module.get_function(&kernel.name)?;
    if launch.shared_bytes + kernel.static_shared_bytes() > SHARED_BYTES {
        allow_dynamic_shared_bytes(&function, launch.shared_bytes)
            .context("the device has less shared memory than the launch asks for")?;
    }
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut arrays: Vec<Option<DeviceBuffer<u8>>> = Vec::new();
    let mut values: Vec<Vec<u8>> = Vec::new();
    for one in given {
        let (value, array) = match one {
            Given::Bytes(bytes) => (bytes, None),
            Given::Array(bytes, content) => {
                let array = match content {
                    Some(content) => DeviceBuffer::from_slice(&content)?,
                    // SAFETY: what is in it is never read here unless it is saved, as bytes; that the kernel reads it is
                    // what is looked for.
                    None => unsafe { DeviceBuffer::uninitialized(bytes as usize)? },
                };
                (array.as_device_ptr().as_raw().to_le_bytes().to_vec(), Some(array))
            }
        };
        values.push(value);
        arrays.push(array);
    }
    let addresses: Vec<*mut c_void> =
        values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
    let [grid, block] = [launch.grid.0, launch.block.0].map(|[x, y, z]| (x, y, z));
    let mut shape = cust_ext::launch::Launch::new(grid, block);
    shape.dynamic_shared_bytes = launch.shared_bytes;
    shape.cooperative = launch.cooperative;
    shape.cluster = launch.cluster.map(|Shape(blocks)| blocks);
    // SAFETY: each argument has the size of its parameter, which `given` compared. An access outside of the arrays ends
    // the kernel on the virtual device, which alone runs it.
    unsafe { shape.run(&function, &stream, &addresses) }
        .with_context(|| format!("the device refuses the launch of `{}`", kernel.name))?;
    stream.synchronize()?;
    for (place, file) in saved {
        let Some(array) = &arrays[*place] else { continue };
        let mut bytes = vec![0; array.len()];
        array.copy_to(&mut bytes)?;
        write_somewhere(file, &bytes)?;
    }
    Ok(())
}
