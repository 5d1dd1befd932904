//! The names of the runtime's library: those of NVIDIA's two, all of them exported and nothing else, none fatal to call.

use libloading::Library;
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

/// The parts of a file for a 64-bit loader that name symbols and versions.
struct File(Vec<u8>);

/// `SHT_DYNSYM` and `SHT_GNU_verdef`.
const SYMBOLS: usize = 11;
const VERSIONS: usize = 0x6fff_fffd;

impl File {
    /// A number of this many bytes.
    fn number(&self, at: usize, bytes: usize) -> usize {
        self.0[at..at + bytes].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    /// Returns the offset of a section of a kind, its bytes, and the offset of the strings that it names.
    fn section(&self, kind: usize) -> Option<(usize, usize, usize)> {
        let header = |index| self.number(0x28, 8) + index * self.number(0x3a, 2);
        let found = (0..self.number(0x3c, 2)).find(|it| self.number(header(*it) + 4, 4) == kind)?;
        let strings = header(self.number(header(found) + 0x28, 4));
        let of = |header, offset| self.number(header + offset, 8);
        Some((of(header(found), 0x18), of(header(found), 0x20), of(strings, 0x18)))
    }

    fn text(&self, at: usize) -> String {
        let bytes = self.0[at..].iter().take_while(|byte| **byte != 0);
        bytes.map(|byte| char::from(*byte)).collect()
    }

    /// The functions and variables that the file defines for others.
    fn exports(&self) -> BTreeSet<String> {
        let (begin, bytes, strings) = self.section(SYMBOLS).expect("a library has symbols");
        let symbols = (begin..begin + bytes).step_by(24);
        let defined = symbols.filter(|at| self.number(at + 6, 2) != 0);
        defined.map(|at| self.text(strings + self.number(at, 4))).collect()
    }

    /// The versions that the file defines.
    fn versions(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let Some((mut at, _, strings)) = self.section(VERSIONS) else { return found };
        loop {
            found.insert(self.text(strings + self.number(at + self.number(at + 12, 4), 4)));
            match self.number(at + 16, 4) {
                0 => return found,
                next => at += next,
            }
        }
    }
}

fn library() -> File {
    File(
        fs::read(path("libvirtual_libcudart.so")).expect("cargo builds the library with its tests"),
    )
}

#[test]
fn the_exports_are_the_names_of_the_list() {
    let exports = library().exports();
    let exports: BTreeSet<&str> = exports.iter().map(String::as_str).collect();
    let listed = listed();
    assert!(listed.len() > 480, "{}", listed.len());
    assert_eq!(exports.difference(&listed).collect::<Vec<_>>(), Vec::<&&str>::new(), "too many");
    assert_eq!(listed.difference(&exports).collect::<Vec<_>>(), Vec::<&&str>::new(), "missing");
}

#[test]
fn the_versions_that_programs_ask_for_are_defined() {
    if cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
        let versions = library().versions();
        for version in ["libcudart.so.12", "libcudart.so.13"] {
            assert!(versions.contains(version), "{version}: {versions:?}");
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
const WITH_NOTHING: &[&str] = &[
    "cudaCtxResetPersistingL2Cache",
    "cudaDestroySurfaceObject",
    "cudaDestroyTextureObject",
    "cudaDeviceGetStreamPriorityRange",
    "cudaDeviceReset",
    "cudaDeviceSetCacheConfig",
    "cudaDeviceSetLimit",
    "cudaDeviceSetSharedMemConfig",
    "cudaDeviceSynchronize",
    "cudaFree",
    "cudaFreeArray",
    "cudaFreeAsync",
    "cudaFreeHost",
    "cudaFreeMipmappedArray",
    "cudaInitDevice",
    "cudaMemcpy",
    "cudaMemcpy2D",
    "cudaMemcpy2DArrayToArray",
    "cudaMemcpy2DAsync",
    "cudaMemcpy2DFromArray",
    "cudaMemcpy2DFromArrayAsync",
    "cudaMemcpy2DToArray",
    "cudaMemcpy2DToArrayAsync",
    "cudaMemcpyAsync",
    "cudaMemcpyPeer",
    "cudaMemcpyPeerAsync",
    "cudaMemset",
    "cudaMemset2D",
    "cudaMemset2DAsync",
    "cudaMemset3D",
    "cudaMemset3DAsync",
    "cudaMemsetAsync",
    "cudaProfilerStart",
    "cudaProfilerStop",
    "cudaSetDevice",
    "cudaSetDeviceFlags",
    "cudaSetDoubleForDevice",
    "cudaSetDoubleForHost",
    "cudaSetValidDevices",
    "cudaStreamAttachMemAsync",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaThreadExit",
    "cudaThreadSetCacheConfig",
    "cudaThreadSetLimit",
    "cudaThreadSynchronize",
];

#[test]
fn every_name_may_be_called_with_nothing() {
    // SAFETY: the initializers may run on any thread. The driver's library is found by its name once it is loaded.
    let (_driver, runtime) = unsafe {
        let open =
            |name| Library::new(path(name)).expect("cargo builds the library with its tests");
        (open("libvirtual_libcuda.so"), open("libvirtual_libcudart.so"))
    };
    // More arguments than any has, so that those on the stack are nothing, too.
    type Function = unsafe extern "C" fn(
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
    ) -> i32;
    let is_error = |name: &str| !name.starts_with("__") && !NO_ERRORS.contains(&name);
    for name in listed().into_iter().filter(|name| is_error(name)) {
        // SAFETY: nothing is what the runtime's functions have to bear.
        let code = unsafe {
            let function = runtime.get::<Function>(name.as_bytes());
            let function = function.unwrap_or_else(|_| panic!("{name} is exported"));
            function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        };
        let plain = name.trim_end_matches("_ptds").trim_end_matches("_ptsz");
        assert_eq!(code == 0, WITH_NOTHING.contains(&plain), "{name} answers {code}");
        assert_ne!(code, 999, "{name}: no code that says nothing");
    }
}
