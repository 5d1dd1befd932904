//! Facts about a program's use of CUDA, read from its file before it starts.

use crate::os;
use object::elf::{DT_NEEDED, Dyn64};
use object::read::elf::{Dyn, ElfFile64};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The major versions of the runtime API that ours has.
const MAJORS: [&str; 2] = ["12", "13"];
/// A name in the runtime's table of its functions, which stays in a stripped program. A program that calls the runtime
/// needs a name of this form, too, and then it needs `libcudart`.
const STATIC_RUNTIME: &[u8] = b"cudaLaunchKernel_ptsz\0";
/// The function that a program calls for each of its kernels.
const KERNEL_REGISTRATION: &[u8] = b"__cudaRegisterFunction";
/// Libraries of NVIDIA's with machine code of their own, by the begins of their files' names.
const LIBRARIES: [(&str, &str); 10] = [
    ("libcublas", "cuBLAS"),
    ("libcudnn", "cuDNN"),
    ("libcufft", "cuFFT"),
    ("libcurand", "cuRAND"),
    ("libcusparse", "cuSPARSE"),
    ("libcusolver", "cuSOLVER"),
    ("libnccl", "NCCL"),
    ("libnpp", "NPP"),
    ("libnvjpeg", "nvJPEG"),
    ("libcutensor", "cuTENSOR"),
];

/// The facts of a program's file; all empty for what is no ELF file of 64 bits, such as a script.
#[derive(Debug, Default)]
pub struct CudaProgram {
    /// The shared libraries that it is linked to.
    needed: Vec<String>,
    has_static_runtime: bool,
    /// It has kernels that it launches by the runtime, and none of its fat binaries has PTX.
    is_machine_code_only: bool,
}

impl CudaProgram {
    /// Reads the file that the system would start by this name.
    pub fn named(program: &OsStr) -> CudaProgram {
        let file = place(program).and_then(|path| File::open(path).ok());
        file.and_then(|file| read(&ReadCache::new(file))).unwrap_or_default()
    }

    /// Returns whether our runtime would be the program's.
    pub fn takes_our_runtime(&self) -> bool {
        self.runtime().is_some_and(|major| MAJORS.contains(&major))
    }

    /// The major version of the runtime that the program is linked to.
    fn runtime(&self) -> Option<&str> {
        let version =
            self.needed.iter().find_map(|library| library.strip_prefix("libcudart.so."))?;
        version.split('.').next()
    }

    /// Says why the program cannot run with our libraries, if it cannot.
    pub fn refusal(&self, name: &str, is_gpu: bool) -> Option<String> {
        if self.has_static_runtime {
            return Some(format!(
                "`{name}` carries NVIDIA's own CUDA runtime, which only starts on NVIDIA's driver, as it finds out by undocumented means: link the program with `-cudart shared` (nvcc) or CUDA_RUNTIME_LIBRARY Shared (CMake), and ours takes the runtime's place"
            ));
        }
        if let Some(major) = self.runtime().filter(|major| !MAJORS.contains(major)) {
            return Some(format!(
                "`{name}` is linked to the runtime of CUDA {major} (libcudart.so.{major}), and ours is that of CUDA 12 and 13: compile the program with one of these"
            ));
        }
        (self.is_machine_code_only && !is_gpu).then(|| {
            format!(
                "the kernels of `{name}` are machine code without PTX, and the virtual device executes PTX: compile with `-arch=sm_90` alone, which keeps both, or add `-gencode arch=compute_90,code=compute_90`"
            )
        })
    }

    /// Names the libraries of NVIDIA's that the program is linked to.
    pub fn note(&self, name: &str) -> Option<String> {
        let is_needed = |begin: &str| self.needed.iter().any(|library| library.starts_with(begin));
        let found: Vec<&str> =
            LIBRARIES.iter().filter(|(begin, _)| is_needed(begin)).map(|(_, name)| *name).collect();
        (!found.is_empty()).then(|| {
            format!(
                "`{name}` is linked to {}: the kernels there are machine code by NVIDIA, which the virtual device does not execute, so calls of it fail",
                found.join(", ")
            )
        })
    }
}

/// The file of a program, as the system finds it.
fn place(program: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return Some(PathBuf::from(program));
    }
    let is_program = |path: &PathBuf| path.metadata().is_ok_and(|facts| os::is_program(&facts));
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(is_program)
}

fn read<'data, R: ReadRef<'data>>(data: R) -> Option<CudaProgram> {
    let file = ElfFile64::<Endianness, R>::parse(data).ok()?;
    let needed = needed(&file, data).unwrap_or_default();
    let section = |name| file.section_by_name(name)?.data().ok();
    let Some(fat) = section(".nv_fatbin") else {
        return Some(CudaProgram { needed, ..CudaProgram::default() });
    };
    let has_runtime = needed.iter().any(|library| library.starts_with("libcudart.so"));
    let has_static_runtime = !has_runtime
        && section(".rodata").is_some_and(|text| {
            text.windows(STATIC_RUNTIME.len()).any(|part| part == STATIC_RUNTIME)
        });
    // A program without kernels has a fat binary, too, which the device linker makes.
    let registers = |name: &[u8]| name == KERNEL_REGISTRATION;
    let has_kernels = file.dynamic_symbols().any(|it| it.name_bytes().is_ok_and(registers));
    // Objects that the device linker joined keep their PTX in the second.
    let has_ptx = [Some(fat), section("__nv_relfatbin")]
        .into_iter()
        .flatten()
        .any(virtual_gpu::fat_binaries_have_ptx);
    Some(CudaProgram { needed, has_static_runtime, is_machine_code_only: has_kernels && !has_ptx })
}

/// The shared libraries that a file is linked to.
fn needed<'data, R: ReadRef<'data>>(
    file: &ElfFile64<'data, Endianness, R>,
    data: R,
) -> Option<Vec<String>> {
    let (endian, sections) = (file.endian(), file.elf_section_table());
    let (entries, link) = sections.dynamic(endian, data).ok()??;
    let strings = sections.strings(endian, data, link).ok()?;
    let is_needed = |entry: &&Dyn64<Endianness>| entry.tag32(endian) == Some(DT_NEEDED);
    let names = entries.iter().filter(is_needed);
    let names = names.filter_map(|entry| strings.get(entry.val32(endian)?).ok());
    Some(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}
