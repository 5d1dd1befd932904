//! Answers of [`crate::status`]: the driver in use, or one clear sentence with the cause and the fix.

use crate::code::ReturnCode;
use crate::names::{LIBRARY_VARIABLE, SONAME};
use crate::version::CudaVersion;
use std::fmt;
use std::path::PathBuf;

/// The driver that answers the calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverInfo {
    /// The backend, for people: the library's path or the virtual GPU's name.
    pub backend: String,
    /// True when a virtual GPU answers instead of the machine's driver.
    pub is_virtual: bool,
    /// The newest CUDA version that the driver supports.
    pub version: CudaVersion,
    /// The number of its devices; never zero.
    pub device_count: usize,
}

impl fmt::Display for DriverInfo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let devices = if self.device_count == 1 { "device" } else { "devices" };
        write!(
            formatter,
            "{}, CUDA {}, {} {devices}",
            self.backend, self.version, self.device_count
        )
    }
}

/// Why there is no usable driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// No file among the usual places could be opened.
    #[error(
        "no CUDA driver on this machine (looked for {}): install NVIDIA's driver, or set {} to the path of its {}",
        list(searched),
        LIBRARY_VARIABLE,
        SONAME
    )]
    LibraryMissing {
        /// Paths at which the library was looked for, in order, with the loader's words where a file was there.
        searched: Vec<Searched>,
    },
    /// The file that the user chose is no usable driver. This is the user's mistake, not a machine without a driver.
    #[error(
        "{LIBRARY_VARIABLE} is `{}`, which is no usable CUDA driver, {problem}: set it to a {SONAME} or the folder that \
         holds one, or unset it to use the machine's driver",
        value.display()
    )]
    ChosenLibraryUnusable {
        /// The value of [`LIBRARY_VARIABLE`].
        value: PathBuf,
        /// The fault.
        problem: String,
    },
    /// The driver cannot load the PTX that this workspace builds.
    #[error(
        "the CUDA driver {} supports CUDA {found} but CUDA {needed} or newer is needed: update NVIDIA's driver",
        library.display()
    )]
    DriverTooOld {
        /// The library that was opened.
        library: PathBuf,
        /// The version it supports.
        found: CudaVersion,
        /// The oldest version that will do.
        needed: CudaVersion,
    },
    /// The library lacks a function that every program needs.
    #[error("{} is not a usable CUDA driver, it has no function {symbol}: reinstall NVIDIA's driver", library.display())]
    SymbolMissing {
        /// The library that was opened.
        library: PathBuf,
        /// The function's name in the binary.
        symbol: String,
    },
    /// The driver is there and finds no device.
    #[error(
        "the CUDA driver {backend} finds no device: check that `nvidia-smi` lists a GPU and that CUDA_VISIBLE_DEVICES \
         does not hide it"
    )]
    NoDevice {
        /// The backend that was asked.
        backend: String,
    },
    /// The driver refused to start.
    #[error("the CUDA driver {backend} does not start, {code}: {}", advice(*code))]
    Initialization {
        /// The backend that was asked.
        backend: String,
        /// The result of `cuInit`.
        code: ReturnCode,
    },
    /// A backend is already in use.
    #[error(
        "{current} already answers the driver's calls, {requested} has to be selected before the first of them"
    )]
    AlreadySelected {
        /// The backend in use.
        current: String,
        /// The backend that was asked for.
        requested: String,
    },
}

/// One place that was searched for the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// The name or path given to the loader.
    pub path: PathBuf,
    /// The loader's words, when the file exists and could not be opened.
    pub problem: Option<String>,
}

fn list(searched: &[Searched]) -> String {
    let places = searched.iter().map(|place| match &place.problem {
        Some(problem) => format!("{} ({problem})", place.path.display()),
        None => place.path.display().to_string(),
    });
    places.collect::<Vec<_>>().join(", ")
}

fn advice(code: ReturnCode) -> &'static str {
    match code.0 {
        3 | 802 => {
            "the system is still starting (on NVSwitch machines: start nvidia-fabricmanager), try again"
        }
        34 => "this is a stub of the CUDA toolkit, remove its folder from LD_LIBRARY_PATH",
        46 => "another process holds the device exclusively, end it or change the compute mode",
        803 => {
            "the library and the kernel module have different versions, reboot or reload the module"
        }
        804 => {
            "the library is NVIDIA's forward-compatibility package, which this GPU does not support; remove it"
        }
        999 => "reload the kernel module nvidia_uvm, or in a container pass the GPU's device files",
        _ => "run `nvidia-smi` to see whether the driver itself works",
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_one_sentence_with_cause_and_fix() {
        let missing = DriverError::LibraryMissing {
            searched: vec![
                Searched { path: "libcuda.so.1".into(), problem: None },
                Searched {
                    path: "/opt/libcuda.so.1".into(),
                    problem: Some("wrong ELF class".into()),
                },
            ],
        };
        assert_eq!(
            missing.to_string(),
            "no CUDA driver on this machine (looked for libcuda.so.1, /opt/libcuda.so.1 (wrong ELF class)): \
             install NVIDIA's driver, or set COALESCE_LIBCUDA to the path of its libcuda.so.1"
        );
        let old = DriverError::DriverTooOld {
            library: "libcuda.so.1".into(),
            found: CudaVersion::new(11, 4),
            needed: CudaVersion::new(12, 0),
        };
        assert_eq!(
            old.to_string(),
            "the CUDA driver libcuda.so.1 supports CUDA 11.4 but CUDA 12.0 or newer is needed: update NVIDIA's driver"
        );
        let symbol =
            DriverError::SymbolMissing { library: "libcuda.so.1".into(), symbol: "cuInit".into() };
        assert_eq!(
            symbol.to_string(),
            "libcuda.so.1 is not a usable CUDA driver, it has no function cuInit: reinstall NVIDIA's driver"
        );
    }
}
