//! The names of the runtime's library: those of NVIDIA's two, all of them exported and nothing else, none fatal to call.

use libloading::Library;
use object::read::elf::{ElfFile64, VersionIndex};
use object::{Endianness, Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// The functions of `libcudart.so.12` of CUDA 12.9 and of `libcudart.so.13` of CUDA 13.
const LIST: &str = include_str!("names.txt");

fn listed() -> BTreeSet<&'static str> {
    LIST.lines().collect()
}

/// A library that cargo built beside this test.
fn path(name: &str) -> PathBuf {
    std::env::current_exe().expect("a test knows where it is").with_file_name(name)
}

/// Calls `read` with the runtime's library.
fn library<T>(read: impl FnOnce(&ElfFile64<'_>) -> T) -> T {
    let path = path("libvirtual_libcudart.so");
    let bytes = fs::read(path).expect("cargo builds the library with its tests");
    read(&ElfFile64::parse(&*bytes).expect("it is a library"))
}

#[test]
fn the_exports_are_the_names_of_the_list() {
    let exports: BTreeSet<String> = library(|file| {
        let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        defined.map(|symbol| symbol.name().expect("it has a name").to_owned()).collect()
    });
    let exports: BTreeSet<&str> = exports.iter().map(String::as_str).collect();
    let listed = listed();
    assert!(listed.len() > 480, "{}", listed.len());
    assert_eq!(exports.difference(&listed).collect::<Vec<_>>(), Vec::<&&str>::new(), "too many");
    assert_eq!(listed.difference(&exports).collect::<Vec<_>>(), Vec::<&&str>::new(), "missing");
}

#[test]
fn the_versions_that_programs_ask_for_are_defined() {
    if cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
        let versions = library(|file| {
            let (endian, data) = (Endianness::default(), file.data());
            let table = file.elf_section_table().versions(endian, data).expect("it is readable");
            let table = table.expect("the library defines versions");
            let defined = (0..).map_while(|at| table.version(VersionIndex(at)).ok()).flatten();
            defined
                .map(|version| String::from_utf8_lossy(version.name()).into_owned())
                .collect::<Vec<_>>()
        });
        for version in ["libcudart.so.12", "libcudart.so.13"] {
            assert!(versions.iter().any(|it| it == version), "{version}: {versions:?}");
        }
    }
}

/// The functions that give something else than an error's code.
const NO_ERRORS: [&str; 5] = [
    "cudaCreateChannelDesc",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaPeekAtLastError",
];

/// The functions that have something to do when all that they are given is 0 and null.
const WITH_NOTHING: &str = "
    cudaCtxResetPersistingL2Cache cudaDestroySurfaceObject cudaDestroyTextureObject
    cudaDeviceGetStreamPriorityRange cudaDeviceGraphMemTrim cudaDeviceReset cudaDeviceSetCacheConfig cudaDeviceSetLimit
    cudaDeviceSetSharedMemConfig cudaDeviceSynchronize cudaFree cudaFreeArray cudaFreeAsync cudaFreeHost
    cudaFreeMipmappedArray cudaInitDevice cudaMemcpy cudaMemcpy2D cudaMemcpy2DArrayToArray cudaMemcpy2DAsync
    cudaMemcpy2DFromArray cudaMemcpy2DFromArrayAsync cudaMemcpy2DToArray cudaMemcpy2DToArrayAsync
    cudaMemcpyAsync cudaMemcpyPeer cudaMemcpyPeerAsync cudaMemset cudaMemset2D cudaMemset2DAsync cudaMemset3D
    cudaMemset3DAsync cudaMemsetAsync cudaProfilerStart cudaProfilerStop cudaSetDevice cudaSetDeviceFlags
    cudaSetDoubleForDevice cudaSetDoubleForHost cudaSetValidDevices cudaStreamAttachMemAsync cudaStreamQuery
    cudaStreamSynchronize cudaThreadExit cudaThreadSetCacheConfig cudaThreadSetLimit cudaThreadSynchronize
";

#[test]
fn every_name_may_be_called_with_nothing() {
    // SAFETY: the initializers may run on any thread. The driver's library is found by its name once it is loaded.
    let (_driver, runtime) = unsafe {
        let open =
            |name| Library::new(path(name)).expect("cargo builds the library with its tests");
        (open("libvirtual_libcuda.so"), open("libvirtual_libcudart.so"))
    };
    // More arguments than any has, so that those on the stack are nothing, too.
    type N = usize;
    type Function =
        unsafe extern "C" fn(N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N) -> i32;
    let is_error = |name: &str| !name.starts_with("__") && !NO_ERRORS.contains(&name);
    for name in listed().into_iter().filter(|name| is_error(name)) {
        // SAFETY: nothing is what the runtime's functions have to bear.
        let code = unsafe {
            let function = runtime.get::<Function>(name.as_bytes());
            let function = function.unwrap_or_else(|_| panic!("{name} is exported"));
            function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        };
        let plain = name.trim_end_matches("_ptds").trim_end_matches("_ptsz");
        assert_eq!(
            code == 0,
            WITH_NOTHING.split_whitespace().any(|it| it == plain),
            "{name} answers {code}"
        );
        assert_ne!(code, 999, "{name}: no code that says nothing");
    }
}
