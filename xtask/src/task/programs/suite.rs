//! The suites, and how the programs of each are found.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

pub struct Suite {
    /// The name of its file of rows.
    pub name: &'static str,
    pub title: &'static str,
    pub repository: &'static str,
    /// A path that a checkout of it has.
    pub marker: &'static str,
    pub programs: fn(&Path) -> Result<Vec<Program>>,
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

/// A program of a suite.
pub struct Program {
    pub name: String,
    /// Where it is built and run.
    pub folder: PathBuf,
    pub how: How,
}

/// How a program is built.
pub enum How {
    Make,
    NoMakefile,
    /// By nvcc with these arguments.
    Nvcc(Vec<String>),
}

impl Program {
    /// The text of its sources.
    pub fn sources(&self) -> String {
        let files = files(&self.folder).unwrap_or_default();
        let sources = files.iter().filter(|path| has_extension(path, &["cu", "cpp", "c", "cc"]));
        sources.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
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
fn hecbench(checkout: &Path) -> Result<Vec<Program>> {
    let folders = files(&checkout.join("src"))?.into_iter();
    let programs = folders.filter_map(|folder| {
        let name = name_of(&folder).strip_suffix("-cuda")?.to_owned();
        let has_makefile = folder.join("Makefile").exists();
        let how = if has_makefile { How::Make } else { How::NoMakefile };
        Some(Program { name, folder, how })
    });
    Ok(programs.collect())
}

/// The names of sizes, and by how much their smallest data set is too large.
const SMALLER_THAN_MINI: u64 = 8;

/// Every folder with a source is one; its sizes are an eighth of the smallest data set's.
fn polybench(checkout: &Path) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for folder in files(&checkout.join("CUDA"))? {
        let Some(source) = files(&folder)
            .unwrap_or_default()
            .into_iter()
            .find(|path| has_extension(path, &["cu"]))
        else {
            continue;
        };
        let header = std::fs::read_to_string(source.with_extension("cuh")).unwrap_or_default();
        let mut arguments = vec![name_of(&source), "-O3".to_owned()];
        arguments.extend(["-I../../common".to_owned(), "../../common/polybench.c".to_owned()]);
        arguments.extend(sizes(&header));
        programs.push(Program { name: name_of(&folder), folder, how: How::Nvcc(arguments) });
    }
    Ok(programs)
}

/// The definitions that replace those of a header's smallest data set.
fn sizes(header: &str) -> Vec<String> {
    let mini = header.split("ifdef MINI_DATASET").nth(1).and_then(|it| it.split("endif").next());
    let defined = mini.unwrap_or_default().lines().filter_map(|line| {
        let mut words = line.trim_start().trim_start_matches('#').split_whitespace();
        let name = words.next().filter(|word| *word == "define").and_then(|_| words.next())?;
        let size: u64 = words.next()?.parse().ok()?;
        Some((name, (size / SMALLER_THAN_MINI).max(1)))
    });
    let mut defined: Vec<(&str, u64)> = defined.collect();
    // Its presence turns the data sets off.
    if !defined.is_empty() && defined.iter().all(|(name, _)| *name != "N") {
        defined.push(("N", 1));
    }
    defined.into_iter().map(|(name, size)| format!("-D{name}={size}")).collect()
}

/// Every folder with a `CMakeLists.txt` that makes a program is one.
fn samples(checkout: &Path) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for group in files(&checkout.join("Samples"))?.into_iter().filter(|it| it.is_dir()) {
        for folder in files(&group)? {
            let Ok(text) = std::fs::read_to_string(folder.join("CMakeLists.txt")) else { continue };
            let Some(arguments) = cmake_arguments(&text) else { continue };
            programs.push(Program { name: name_of(&folder), folder, how: How::Nvcc(arguments) });
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
    for library in ["cublas", "cufft", "curand", "cusparse", "cusolver", "nvrtc", "nvjpeg"] {
        if text.contains(&format!("CUDA::{library}")) {
            arguments.push(format!("-l{library}"));
        }
    }
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_an_eighth_of_the_smallest_data_set() {
        let header =
            "# ifdef MINI_DATASET\n#define NI 512\n#  define STEPS 2\n# endif\n#define NJ 9\n";
        assert_eq!(sizes(header), ["-DNI=64", "-DSTEPS=1", "-DN=1"]);
    }

    #[test]
    fn a_sample_is_compiled_of_the_sources_that_it_names() {
        let text = "add_executable(matrixMul matrixMul.cu\n other.cpp a.h)\n CUDA::cublas";
        let arguments = cmake_arguments(text).expect("it makes a program");
        assert_eq!(arguments[4..], ["matrixMul.cu", "other.cpp", "-lcublas"]);
    }
}
