//! Finds and opens the machine's driver library. Nothing else in the workspace opens it.

use crate::backend::SymbolSource;
use crate::code::ReturnCode;
use crate::error::{DriverError, Searched};
use crate::names::{LIBRARY_VARIABLE, SONAME, VIRTUAL_MARK};
use crate::symbol::Symbol;
use crate::version::CudaVersion;
use libloading::Library;
use std::ffi::{CStr, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// The oldest CUDA version whose driver loads our PTX.
pub const MINIMUM_VERSION: CudaVersion = CudaVersion::new(12, 0);

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
    match std::env::var_os(LIBRARY_VARIABLE).filter(|chosen| !chosen.is_empty()) {
        Some(chosen) => open_chosen(chosen.into()),
        None => open_first(usual_places()),
    }
}

/// Opens what the loader finds under the driver's name, whatever it is; what [`open`] finds where it finds nothing.
pub(crate) fn open_loaded() -> Result<NativeLibrary, DriverError> {
    open_one(Path::new(SONAME)).or_else(|_| open())
}

/// Opens what the user chose, and nothing else.
fn open_chosen(value: PathBuf) -> Result<NativeLibrary, DriverError> {
    let path = if value.is_dir() { value.join(SONAME) } else { value.clone() };
    let problem = match open_one(&path).map(check) {
        Ok(Ok(library)) => return Ok(library),
        Ok(Err(Unusable::Virtual)) => VIRTUAL.to_owned(),
        Ok(Err(Unusable::Lacks(symbol))) => format!("it has no function {symbol}"),
        Ok(Err(Unusable::TooOld(found))) => {
            format!("it supports CUDA {found} and CUDA {MINIMUM_VERSION} or newer is needed")
        }
        // A plain name is for the loader to find: whether there is such a file only it can tell.
        Err(_) if path.components().count() > 1 && !path.exists() => {
            "there is no such file".to_owned()
        }
        Err(reason) => reason,
    };
    Err(DriverError::ChosenLibraryUnusable { value, problem })
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
                Err(Unusable::Virtual) => {
                    searched.push(Searched { path, problem: Some(VIRTUAL.to_owned()) });
                }
                Err(Unusable::Lacks(symbol)) => {
                    unusable =
                        unusable.or(Some(DriverError::SymbolMissing { library: path, symbol }));
                }
                Err(Unusable::TooOld(found)) => {
                    let error =
                        DriverError::DriverTooOld { library: path, found, needed: MINIMUM_VERSION };
                    unusable = unusable.or(Some(error));
                }
            },
            Err(reason) => {
                let exists = path.components().count() > 1 && path.exists();
                searched.push(Searched { path, problem: exists.then_some(reason) });
            }
        }
    }
    Err(unusable.unwrap_or(DriverError::LibraryMissing { searched }))
}

/// The places to look when nothing was chosen, in order.
///
/// The plain name comes first: the loader's cache and LD_LIBRARY_PATH know best, also on Jetson, whose driver lies in a
/// `tegra` or `nvidia` folder. Only on WSL does the Windows driver's folder precede it, because a Linux driver
/// installed there by mistake shadows it and finds no device. On Windows the system's folder is where drivers are.
fn usual_places() -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![PathBuf::from(SONAME)];
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

/// Opens one library, or gives the loader's words.
fn open_one(path: &Path) -> Result<NativeLibrary, String> {
    // SAFETY: opening a library runs its initializers. The names are those of NVIDIA's driver, or what the user chose,
    // and a driver's initializers may run in any process and on any thread.
    let opened = unsafe { Library::new(path.as_os_str()) };
    // libloading's own text is only that opening failed; what it wraps says why.
    let library = opened.map_err(|error| match std::error::Error::source(&error) {
        Some(reason) => reason.to_string(),
        None => error.to_string(),
    })?;
    Ok(NativeLibrary { library, path: path.to_owned() })
}

/// The sentence about the virtual GPU's library, which the loader finds where a folder of ours is on its path.
const VIRTUAL: &str = "it is Coalesce's virtual GPU, for programs that are profiled";

/// Why a library that could be opened is not used.
enum Unusable {
    /// It answers for no GPU.
    Virtual,
    /// It has no such function, and so is not a driver.
    Lacks(String),
    /// It is a driver for this version of CUDA.
    TooOld(CudaVersion),
}

/// Hands the library back if it has the essential functions and is new enough.
fn check(library: NativeLibrary) -> Result<NativeLibrary, Unusable> {
    if library.symbol(VIRTUAL_MARK).is_some() {
        return Err(Unusable::Virtual);
    }
    let missing = ESSENTIAL.iter().find(|symbol| library.symbol(symbol.c_name()).is_none());
    if let Some(missing) = missing {
        return Err(Unusable::Lacks(missing.c_name().to_string_lossy().into_owned()));
    }
    let found = version(&library);
    if found < MINIMUM_VERSION { Err(Unusable::TooOld(found)) } else { Ok(library) }
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn problem(value: &Path) -> String {
        match open_chosen(value.to_owned()) {
            Err(DriverError::ChosenLibraryUnusable { value: named, problem }) => {
                assert_eq!(named, value);
                problem
            }
            Err(error) => panic!("{error}"),
            Ok(library) => panic!("{library:?} is a driver"),
        }
    }

    #[test]
    fn what_the_variable_names_is_used_or_the_reason_is_said() {
        assert_eq!(problem(Path::new("/nowhere/libcuda.so.1")), "there is no such file");
        assert_eq!(problem(Path::new("libc.so.6")), "it has no function cuInit");
        let broken = tempfile();
        assert!(problem(&broken).contains("not-a-library"), "the loader's own words");
        std::fs::remove_file(&broken).unwrap();

        let folder = std::env::temp_dir().join(format!("chosen-drivers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert_eq!(problem(&folder), "there is no such file");
        let old = driver(&folder, 11040);
        assert_eq!(problem(&old), "it supports CUDA 11.4 and CUDA 12.0 or newer is needed");
        std::fs::rename(driver(&folder, 12040), folder.join(SONAME)).unwrap();
        let opened = open_chosen(folder.clone()).unwrap();
        assert_eq!(opened.name(), folder.join(SONAME).display().to_string());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_loaders_own_places_and_those_of_distributions_are_searched() {
        let usual = usual_places();
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
        let problem = searched[1].problem.as_deref().expect("the file is there");
        assert!(problem.contains(&broken.display().to_string()), "the loader's words: {problem}");
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

    #[test]
    fn the_virtual_gpu_is_no_driver() {
        let folder = std::env::temp_dir().join(format!("virtual-drivers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mark = VIRTUAL_MARK.to_str().unwrap();
        let marked = format!("#[unsafe(no_mangle)] pub extern \"C\" fn {mark}() {{}}\n");
        let ours = marked_driver(&folder, 13000, &marked);
        assert!(problem(&ours).contains("virtual GPU"));
        let real = driver(&folder, 12040);
        let opened = open_first(vec![ours.clone(), real.clone()]).unwrap();
        assert_eq!(opened.name(), real.display().to_string());
        let error = open_first(vec![ours]).unwrap_err();
        assert!(error.to_string().contains("virtual GPU"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Compiles a library with the essential functions that reports the version.
    fn driver(folder: &Path, version: u32) -> PathBuf {
        marked_driver(folder, version, "")
    }

    /// [`driver`] with more functions.
    fn marked_driver(folder: &Path, version: u32, more: &str) -> PathBuf {
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
        std::fs::write(&source, text + more).unwrap();
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
