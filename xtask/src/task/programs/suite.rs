use super::Mirror;
use super::sizes::{self, Sizes};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

pub struct Suite {
    /// The name of its file of rows.
    pub name: &'static str,
    pub title: &'static str,
    pub repository: &'static str,
    /// A path that a checkout of it has.
    pub marker: &'static str,
    pub programs: fn(&Mirror) -> Result<Vec<Program>>,
}

pub const SUITES: &[Suite] = &[
    Suite {
        name: "hecbench",
        title: "HeCBench",
        repository: "zjin-lcf/HeCBench",
        marker: "src/accuracy-cuda",
        programs: hecbench,
    },
    Suite {
        name: "polybench",
        title: "PolyBench-GPU",
        repository: "sgrauerg/polybenchGpu",
        marker: "CUDA/GEMM",
        programs: polybench,
    },
    Suite {
        name: "cuda-samples",
        title: "cuda-samples",
        repository: "NVIDIA/cuda-samples",
        marker: "Samples/0_Introduction",
        programs: samples,
    },
];

pub struct Program {
    pub name: String,
    /// Folder in which it is built and run.
    pub folder: PathBuf,
    pub how: How,
    /// Values that its constants always get.
    pub sizes: Sizes,
    /// The virtual device on which it runs; none for that of `coalesce run`.
    pub device: String,
}

pub enum How {
    Make,
    NoMakefile,
    Nvcc {
        arguments: Vec<String>,
        /// Kernels that it loads from files.
        kernels: Vec<KernelFile>,
    },
}

/// A file of kernels beside a program.
pub struct KernelFile {
    pub name: String,
    /// Files that nvcc writes: `-ptx` or `-fatbin`.
    pub flag: &'static str,
    pub source: String,
}

impl Program {
    /// Gives the program's sources these sizes; all others are those of the checkout.
    pub fn resize(&self, mirror: &Mirror, sizes: &Sizes) -> Result<()> {
        let inner = self.folder.strip_prefix(&mirror.folder).context("it lies in the mirror")?;
        let origin = mirror.checkout.join(inner);
        let mut is_new = false;
        for file in self.source_files() {
            let name = file.strip_prefix(&self.folder).context("it lies in the folder")?;
            let Ok(own) = std::fs::read_to_string(origin.join(name)) else { continue };
            let wanted = sizes::changed(&name.to_string_lossy(), &own, sizes);
            if std::fs::read_to_string(&file).is_ok_and(|text| text == wanted) {
                continue;
            }
            std::fs::remove_file(&file)
                .and_then(|()| std::fs::write(&file, wanted))
                .with_context(|| format!("cannot change {}", file.display()))?;
            is_new = true;
        }
        // Made of the old ones.
        for file in self.files().into_iter().filter(|_| is_new) {
            if file.extension().is_some_and(|it| it == "o" || it == "built") {
                let _ = std::fs::remove_file(file);
            }
        }
        Ok(())
    }

    /// The files of its folder and of those in it.
    fn files(&self) -> Vec<PathBuf> {
        let entries = walkdir::WalkDir::new(&self.folder).sort_by_file_name().into_iter().flatten();
        entries.filter(|it| !it.file_type().is_dir()).map(walkdir::DirEntry::into_path).collect()
    }

    /// Its sources and headers.
    fn source_files(&self) -> Vec<PathBuf> {
        let is_source =
            |path: &PathBuf| has_extension(path, &["cu", "cuh", "cpp", "c", "cc", "h", "hpp"]);
        self.files().into_iter().filter(is_source).collect()
    }

    pub fn sources(&self) -> String {
        let texts = self.source_files();
        texts.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    }
}

/// The files of a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|own| extensions.iter().any(|one| own == *one))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Every folder `src/NAME-cuda` is one.
fn hecbench(mirror: &Mirror) -> Result<Vec<Program>> {
    let folders = files(&mirror.folder.join("src"))?.into_iter();
    let programs = folders.filter_map(|folder| {
        let name = name_of(&folder).strip_suffix("-cuda")?.to_owned();
        let has_makefile = folder.join("Makefile").exists();
        let how = if has_makefile { How::Make } else { How::NoMakefile };
        Some(Program { name, folder, how, sizes: Sizes::new(), device: String::new() })
    });
    Ok(programs.collect())
}

/// By how much the smallest data set is too large.
const SMALLER_THAN_MINI: u64 = 8;

/// Every folder with a source is one; its sizes are an eighth of the smallest data set's.
fn polybench(mirror: &Mirror) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for folder in files(&mirror.folder.join("CUDA"))? {
        let own = files(&folder).unwrap_or_default();
        let Some(source) = own.into_iter().find(|path| has_extension(path, &["cu"])) else {
            continue;
        };
        // That of the mirror may have been changed already.
        let own = source.with_extension("cuh");
        let own = own.strip_prefix(&mirror.folder).context("it lies in the mirror")?;
        let header = std::fs::read_to_string(mirror.checkout.join(own)).unwrap_or_default();
        let arguments = vec![name_of(&source), "-O3".to_owned()];
        let mini =
            header.split("ifdef MINI_DATASET").nth(1).and_then(|it| it.split("endif").next());
        let sizes = sizes::divided(mini.unwrap_or_default(), SMALLER_THAN_MINI);
        let name = name_of(&folder);
        let how = How::Nvcc { arguments, kernels: Vec::new() };
        programs.push(Program { name, folder, how, sizes, device: String::new() });
    }
    Ok(programs)
}

/// Every folder with a `CMakeLists.txt` that makes a program is one.
fn samples(mirror: &Mirror) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for group in files(&mirror.folder.join("Samples"))?.into_iter().filter(|it| it.is_dir()) {
        for folder in files(&group)? {
            let Ok(text) = std::fs::read_to_string(folder.join("CMakeLists.txt")) else { continue };
            let Some(arguments) = cmake_arguments(&text) else { continue };
            let (name, kernels) = (name_of(&folder), cmake_kernels(&text));
            let how = How::Nvcc { arguments, kernels };
            programs.push(Program {
                name,
                folder,
                how,
                sizes: Sizes::new(),
                device: String::new(),
            });
        }
    }
    Ok(programs)
}

/// The arguments by which nvcc makes the first program of a `CMakeLists.txt`.
fn cmake_arguments(text: &str) -> Option<Vec<String>> {
    let call = text.split("add_executable(").nth(1)?.split(')').next()?;
    let mut arguments: Vec<String> =
        ["-std=c++17", "-O3", "--extended-lambda", "-I../../../Common"].map(str::to_owned).into();
    let sources = call.split_whitespace().skip(1);
    arguments.extend(sources.filter(|word| !word.ends_with(".h")).map(str::to_owned));
    if text.contains("CUDA::cuda_driver") {
        arguments.push("-lcuda".to_owned());
    }
    if text.contains("CUDA_SEPARABLE_COMPILATION ON") {
        arguments.extend(["-rdc=true", "-lcudadevrt"].map(str::to_owned));
    }
    if text.contains("OpenMP::") {
        arguments.extend(["-Xcompiler", "-fopenmp"].map(str::to_owned));
    }
    for (variable, libraries) in
        [("{OPENGL_LIBRARIES}", &["-lGL", "-lGLU"][..]), ("{GLUT_LIBRARIES}", &["-lglut"])]
    {
        if text.contains(variable) {
            arguments.extend(libraries.iter().copied().map(str::to_owned));
        }
    }
    for library in ["cublas", "cufft", "curand", "cusparse", "cusolver", "nvrtc", "nvjpeg"] {
        if text.contains(&format!("CUDA::{library}")) {
            arguments.push(format!("-l{library}"));
        }
    }
    Some(arguments)
}

/// The files of kernels that a `CMakeLists.txt` makes.
fn cmake_kernels(text: &str) -> Vec<KernelFile> {
    let value = |variable: &str| {
        let (_, rest) = text.split_once(&format!("set({variable} \""))?;
        Some(rest.split('"').next()?.rsplit('/').next()?.to_owned())
    };
    let Some(source) = value("CUDA_KERNEL_SOURCE") else { return Vec::new() };
    let kinds = [("CUDA_FATBIN_FILE", "-fatbin"), ("CUDA_PTX_FILE", "-ptx")];
    let files = kinds.into_iter().filter_map(|(variable, flag)| {
        Some(KernelFile { name: value(variable)?, flag, source: source.clone() })
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_names_its_file_of_kernels() {
        let text = "set(CUDA_PTX_FILE \"${DIR}/a_kernel64.ptx\")\nset(CUDA_KERNEL_SOURCE \"${DIR}/a.cu\")\n";
        let [kernels] = &cmake_kernels(text)[..] else { panic!("one file") };
        assert_eq!(
            [&*kernels.name, kernels.flag, &*kernels.source],
            ["a_kernel64.ptx", "-ptx", "a.cu"]
        );
        assert!(cmake_kernels("add_executable(a a.cu)").is_empty());
    }

    #[test]
    fn a_sample_is_compiled_of_the_sources_that_it_names() {
        let text = "add_executable(matrixMul matrixMul.cu\n other.cpp a.h)\n CUDA::cublas";
        let arguments = cmake_arguments(text).expect("it makes a program");
        assert_eq!(arguments[4..], ["matrixMul.cu", "other.cpp", "-lcublas"]);
        let text = "add_executable(box box.cu)\n ${OPENGL_LIBRARIES}\n ${GLUT_LIBRARIES}\n";
        let arguments = cmake_arguments(text).expect("it makes a program");
        assert_eq!(arguments[4..], ["box.cu", "-lGL", "-lGLU", "-lglut"]);
    }
}
