//! Finds and opens the machine's driver library. Nothing else in the workspace opens it.

use crate::api::Symbol;
use crate::backend::SymbolSource;
use crate::code::ReturnCode;
use crate::error::{CudaVersion, DriverError, Searched};
use libloading::Library;
use std::ffi::{CStr, OsString, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// The environment variable that names the driver library (a file, or the folder that holds it). When it is set, no
/// other place is searched.
pub const LIBRARY_VARIABLE: &str = "COALESCE_LIBCUDA";

/// The oldest CUDA version whose driver loads our PTX.
pub const MINIMUM_VERSION: CudaVersion = CudaVersion::new(12, 0);

/// The name under which every driver installs itself.
pub(crate) const SONAME: &str = "libcuda.so.1";

/// Functions without which no program of ours can run; a library that lacks one is not a driver.
const ESSENTIAL: &[Symbol] = &[
    Symbol::cuInit,
    Symbol::cuDriverGetVersion,
    Symbol::cuDeviceGetCount,
    Symbol::cuDeviceGet,
    Symbol::cuDeviceGetAttribute,
    Symbol::cuDevicePrimaryCtxRetain,
    Symbol::cuDevicePrimaryCtxRelease_v2,
    Symbol::cuCtxSetCurrent,
    Symbol::cuCtxSynchronize,
    Symbol::cuModuleLoadDataEx,
    Symbol::cuModuleGetFunction,
    Symbol::cuMemAlloc_v2,
    Symbol::cuMemFree_v2,
    Symbol::cuMemcpyHtoD_v2,
    Symbol::cuMemcpyDtoH_v2,
    Symbol::cuStreamCreateWithPriority,
    Symbol::cuStreamSynchronize,
    Symbol::cuLaunchKernel,
];

/// The machine's driver.
#[derive(Debug)]
pub(crate) struct NativeLibrary {
    library: Library,
    path: PathBuf,
}

// SAFETY: an address comes from the driver library's own symbol table, where the names of `Symbol` have the binary
// interface of NVIDIA's driver API, and the library is never closed once it is in use.
unsafe impl SymbolSource for NativeLibrary {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn is_virtual(&self) -> bool {
        false
    }

    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the symbol is only looked up; `*mut c_void` fits any symbol's address.
        let symbol = unsafe { self.library.get::<*mut c_void>(name.to_bytes_with_nul()) };
        symbol.ok().and_then(|symbol| NonNull::new(*symbol))
    }
}

/// Opens the first usable driver library of the search order.
pub(crate) fn open() -> Result<NativeLibrary, DriverError> {
    open_first(candidates(std::env::var_os(LIBRARY_VARIABLE)))
}

/// Takes the first candidate that is a driver and new enough. A container can hold an old driver's library and, further
/// down the list, the forward-compatibility package's newer one, so an old driver does not end the search.
fn open_first(candidates: Vec<PathBuf>) -> Result<NativeLibrary, DriverError> {
    let mut searched = Vec::new();
    let mut unusable = None;
    for path in candidates {
        match open_one(&path) {
            Ok(library) => match check(library) {
                Ok(library) => return Ok(library),
                Err(error) => unusable = unusable.or(Some(error)),
            },
            Err(error) => {
                let exists = path.components().count() > 1 && path.exists();
                searched.push(Searched { path, problem: exists.then(|| error.to_string()) });
            }
        }
    }
    Err(unusable.unwrap_or(DriverError::LibraryMissing { searched }))
}

/// The places to look, in order.
///
/// The plain name comes first: the loader's cache and LD_LIBRARY_PATH know best, also on Jetson, whose driver lies in a
/// `tegra` or `nvidia` folder. Only on WSL does the Windows driver's folder precede it, because a Linux driver
/// installed there by mistake shadows it and finds no device.
fn candidates(chosen: Option<OsString>) -> Vec<PathBuf> {
    if let Some(chosen) = chosen.filter(|chosen| !chosen.is_empty()) {
        let chosen = PathBuf::from(chosen);
        return vec![if chosen.is_dir() { chosen.join(SONAME) } else { chosen }];
    }
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu/nvidia",
        "/usr/lib/aarch64-linux-gnu/tegra",
        "/usr/lib64",
        "/usr/lib/wsl/lib",
        "/run/opengl-driver/lib",
        "/usr/local/nvidia/lib64",
        "/usr/local/cuda/compat",
    ];
    let foreign = if cfg!(target_arch = "x86_64") { "aarch64" } else { "x86_64" };
    let folders = folders.into_iter().filter(|folder| !folder.contains(foreign));
    let mut paths = vec![PathBuf::from(SONAME)];
    paths.extend(folders.map(|folder| Path::new(folder).join(SONAME)));
    if Path::new("/dev/dxg").exists() {
        let windows = Path::new("/usr/lib/wsl/lib").join(SONAME);
        paths.retain(|path| *path != windows);
        paths.insert(0, windows);
    }
    paths
}

fn open_one(path: &Path) -> Result<NativeLibrary, libloading::Error> {
    // SAFETY: opening a library runs its initialisers. The names are those of NVIDIA's driver, or what the user chose,
    // and a driver's initialisers may run in any process and on any thread.
    let library = unsafe { Library::new(path.as_os_str()) }?;
    Ok(NativeLibrary { library, path: path.to_owned() })
}

/// Hands the library back if it has the essential functions and is new enough.
fn check(library: NativeLibrary) -> Result<NativeLibrary, DriverError> {
    if let Some(missing) = ESSENTIAL.iter().find(|symbol| library.symbol(symbol.c_name()).is_none())
    {
        let symbol = missing.c_name().to_string_lossy().into_owned();
        return Err(DriverError::SymbolMissing { library: library.path, symbol });
    }
    let found = version(&library);
    if found < MINIMUM_VERSION {
        return Err(DriverError::DriverTooOld {
            library: library.path,
            found,
            needed: MINIMUM_VERSION,
        });
    }
    Ok(library)
}

/// The version that a source reports; 0.0 when it does not.
pub(crate) fn version(source: &dyn SymbolSource) -> CudaVersion {
    let Some(function) = source.symbol(Symbol::cuDriverGetVersion.c_name()) else {
        return CudaVersion::new(0, 0);
    };
    let mut number: c_int = 0;
    // SAFETY: the source gave the address for this name, whose signature in the driver API is this one; it may be
    // called before cuInit and writes one int.
    let code = unsafe {
        let function: unsafe extern "C" fn(*mut c_int) -> ReturnCode =
            std::mem::transmute(function.as_ptr());
        function(&mut number)
    };
    let number = if code == ReturnCode::SUCCESS { u32::try_from(number).unwrap_or(0) } else { 0 };
    CudaVersion::from_number(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_overrides_every_other_place() {
        assert_eq!(candidates(Some("/opt/driver.so".into())), [PathBuf::from("/opt/driver.so")]);
        let folder = std::env::temp_dir();
        assert_eq!(candidates(Some(folder.clone().into())), [folder.join(SONAME)]);
        let usual = candidates(None);
        assert_eq!(usual, candidates(Some("".into())));
        assert!(usual.contains(&PathBuf::from(SONAME)));
        assert!(usual.contains(&Path::new("/usr/lib/wsl/lib").join(SONAME)));
    }

    #[test]
    fn a_missing_library_lists_where_it_looked_and_a_broken_one_says_why() {
        let broken = tempfile();
        let error = open_first(vec!["/nowhere/libcuda.so.1".into(), broken.clone()]).unwrap_err();
        std::fs::remove_file(&broken).unwrap();
        let DriverError::LibraryMissing { searched } = error else { panic!("{error}") };
        assert_eq!(searched[0], Searched { path: "/nowhere/libcuda.so.1".into(), problem: None });
        assert!(searched[1].problem.is_some());
    }

    #[test]
    fn a_library_that_is_no_driver_names_the_missing_function() {
        let error = open_first(vec!["libc.so.6".into()]).unwrap_err();
        let expected =
            DriverError::SymbolMissing { library: "libc.so.6".into(), symbol: "cuInit".into() };
        assert_eq!(error, expected);
    }

    #[test]
    fn a_driver_that_is_too_old_is_passed_over_for_a_newer_one() {
        let folder = std::env::temp_dir().join(format!("stand-in-drivers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (old, new) = (driver(&folder, 11040), driver(&folder, 12040));
        let error = open_first(vec![old.clone()]).unwrap_err();
        let found = CudaVersion::new(11, 4);
        assert_eq!(
            error,
            DriverError::DriverTooOld { library: old.clone(), found, needed: MINIMUM_VERSION }
        );
        let opened = open_first(vec!["/nowhere.so".into(), old, new.clone()]).unwrap();
        assert_eq!(
            (opened.name(), version(&opened)),
            (new.display().to_string(), CudaVersion::new(12, 4))
        );
        assert!(opened.symbol(c"cuInit").is_some());
        assert!(opened.symbol(c"cuMemAdvise").is_none());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Compiles a library with the essential functions that reports the version.
    fn driver(folder: &Path, version: u32) -> PathBuf {
        let (source, library) =
            (folder.join(format!("{version}.rs")), folder.join(format!("{version}.so")));
        let mut text = String::from(
            "#![no_std]\n#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n",
        );
        for symbol in ESSENTIAL {
            let body = if *symbol == Symbol::cuDriverGetVersion {
                format!("(target: *mut i32) -> u32 {{ unsafe {{ target.write({version}) }}; 0 }}")
            } else {
                "() -> u32 { 0 }".to_owned()
            };
            let name = symbol.c_name().to_str().unwrap();
            text += &format!("#[unsafe(no_mangle)] extern \"C\" fn {name}{body}\n");
        }
        std::fs::write(&source, text).unwrap();
        let compiled =
            std::process::Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
                .args([
                    "--edition=2024",
                    "--crate-type=cdylib",
                    "-Cpanic=abort",
                    "-Awarnings",
                    "-o",
                ])
                .args([&library, &source])
                .status();
        assert!(compiled.is_ok_and(|status| status.success()), "rustc compiles the stand-in");
        library
    }

    fn tempfile() -> PathBuf {
        let path = std::env::temp_dir().join(format!("not-a-library-{}.so", std::process::id()));
        std::fs::write(&path, "not an ELF file").unwrap();
        path
    }
}
