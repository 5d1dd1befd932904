//! The virtual GPU as a library that programs load as `libcuda.so.1`.
//!
//! The exported functions are those of `cuda_driver`'s table, defined there and nowhere else, and the other names of
//! NVIDIA's header, which say that the function is missing. This crate starts the virtual GPU and selects it, before any
//! of them can be called. `crates/virtual_gpu/README.md` says how to use it.
//!
//! If the environment asks for it (`settings`), the program is profiled, and the profile written at its end
//! (`profile`).

mod exported;
mod first_versions;
mod management;
mod pending;
mod profile;
mod settings;

use cuda_driver::{Backend, ReturnCode, SymbolSource};
use settings::Settings;
use std::error::Error;
use std::ffi::{CStr, c_char, c_uint, c_void};
use std::path::Path;
use std::ptr::NonNull;
use virtual_gpu::{Options, Topology, VirtualGpu};

/// The environment variable that chooses the device: `virtual:PROFILE`.
const VARIABLE: &str = "COALESCE_DEVICE";
const DEFAULT_PROFILE: &str = "h200";

/// The loader calls what this section lists when it has loaded the library.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// The loader calls what this section lists when the program ends.
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = profile::end;

/// Tells `cuda_driver`, which looks for it, that this library is no driver of a GPU: measurements of it would pass for some.
#[unsafe(no_mangle)]
pub extern "C" fn coalesce_virtual_gpu() {}

/// Takes note that a program called a function that its CUDA runtime does not have.
///
/// # Safety
/// - The name ends with a zero, and lives as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coalesce_refused(name: *const c_char) {
    // SAFETY: the caller's contract.
    if let Ok(name) = unsafe { CStr::from_ptr::<'static>(name) }.to_str() {
        let _ = virtual_gpu::refuse(name);
    }
}

/// Takes note that a function of the program's CUDA runtime failed by itself, and why.
///
/// # Safety
/// - The strings end with zeros, and the name lives as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coalesce_failed(name: *const c_char, code: c_uint, why: *const c_char) {
    // SAFETY: the caller's contract.
    let (name, why) = unsafe { (CStr::from_ptr::<'static>(name), CStr::from_ptr(why)) };
    if let Ok(name) = name.to_str() {
        virtual_gpu::fails_above(name, ReturnCode(code), why.to_string_lossy().into_owned());
    }
}

extern "C" fn start() {
    let gpu: &'static dyn SymbolSource = match device() {
        Ok(gpu) => gpu,
        Err(error) => {
            eprintln!("the virtual GPU cannot start: {error}");
            &NoDevice
        }
    };
    if let Err(error) = cuda_driver::select(Backend::Table(gpu)) {
        eprintln!("the virtual GPU cannot be selected: {error}");
    }
}

fn device() -> Result<&'static VirtualGpu, Box<dyn Error>> {
    let chosen = std::env::var(VARIABLE).unwrap_or_default();
    let machine = match chosen.split_once(':').unwrap_or((&chosen, DEFAULT_PROFILE)) {
        ("" | "auto" | "virtual", file) if file.ends_with(".json") => {
            Topology::load(Path::new(file))?
        }
        ("" | "auto" | "virtual", machine) => Topology::named(machine)?,
        _ => {
            return Err(
                format!("{VARIABLE} is `{chosen}`: write virtual, virtual:PROFILE, virtual:PROFILExN or virtual:FILE.json").into()
            );
        }
    };
    virtual_gpu::also_find(exported::find);
    let settings = Settings::from_environment()?;
    let profiles = settings.profiles();
    let options = Options {
        announce: !profiles,
        checks: settings.checks,
        schedules: settings.schedules,
        ..Options::default()
    };
    let gpu = VirtualGpu::start(machine, options)?;
    settings.limit.into_iter().for_each(virtual_gpu::limit);
    if settings.registered_is_device {
        virtual_gpu::take_registered_for_device();
    }
    if profiles {
        profile::start(settings, gpu.name());
    } else {
        // Nobody asks for them.
        virtual_gpu::observe(drop);
    }
    Ok(gpu)
}

/// Answers when there is no device to start: programs find no GPU.
struct NoDevice;

// SAFETY: the one address is that of a function with the signature that the driver API gives the name.
unsafe impl SymbolSource for NoDevice {
    fn name(&self) -> String {
        "no virtual GPU".to_owned()
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        extern "C" fn init(_flags: c_uint) -> ReturnCode {
            ReturnCode::NO_DEVICE
        }
        if name == c"cuInit" { NonNull::new(init as *mut c_void) } else { None }
    }
}
