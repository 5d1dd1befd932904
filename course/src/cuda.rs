//! Files in CUDA C++: nvcc compiles them to PTX, after those that read files of others were refused.

use crate::compile::{COMPILER_LIMITS, Compiled, Places, read, said};
use crate::submission::Submission;
use crate::task::Task;
use anyhow::{Context, Result, bail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names nvcc where it is not on `PATH`.
const NVCC: &str = "COALESCE_NVCC";
/// Headers that a file may include: those of kernels, and none of its owner's.
const HEADERS: [&str; 8] = [
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
    "cuda/atomic",
    "cuda/barrier",
    "cuda_fp16.h",
    "cuda_pipeline.h",
    "cuda_runtime.h",
    "cstdint",
];

/// Compiles a file of CUDA C++.
///
/// # Errors
/// There is no nvcc, or the file cannot be read or includes others; what nvcc refuses is [`Compiled::Refused`].
pub fn compile(places: &Places, task: &Task, folder: &str, file: &Path) -> Result<Compiled> {
    let source = read(file)?;
    refuse(&source).with_context(|| format!("{} is refused", file.display()))?;
    let folder = places.target.join("learn").join(format!("{folder}_cuda"));
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}: is the disk full?", folder.display()))?;
    let ptx = tempfile::NamedTempFile::new_in(&folder)
        .with_context(|| format!("cannot write into {}", folder.display()))?;
    let mut nvcc = Command::new(nvcc()?);
    // Results are compared with a reference that rounds each product, so products and sums stay apart.
    nvcc.args(["-ptx", "-lineinfo", "-arch=sm_80", "-std=c++17", "-fmad=false", "-o"]);
    let (status, _) = said(nvcc.arg(ptx.path()).arg(file), COMPILER_LIMITS)?;
    if !status.success() {
        return Ok(Compiled::Refused);
    }
    let ptx = std::fs::read_to_string(ptx.path()).context("nvcc wrote no PTX")?;
    if !ptx.contains(&format!(".entry {}(", task.id())) {
        bail!(
            "{} has no kernel `{}`: keep `extern \"C\" __global__ void {}(..)`",
            file.display(),
            task.id(),
            task.id()
        );
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Compiled::Ptx(Submission { ptx, source, file: name }))
}

fn nvcc() -> Result<PathBuf> {
    if let Some(path) = env::var_os(NVCC).map(PathBuf::from) {
        if !path.is_file() {
            bail!("{NVCC} names {}, which is no file: name nvcc itself", path.display());
        }
        return Ok(path);
    }
    let paths = env::var_os("PATH").unwrap_or_default();
    let mut found = env::split_paths(&paths).map(|folder| folder.join("nvcc"));
    found.find(|file| file.is_file()).with_context(|| {
        format!(
            "there is no nvcc: `pip install nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl`, and name its file in {NVCC}"
        )
    })
}

/// Refuses directives with which a file would read others.
pub(crate) fn refuse(source: &str) -> Result<()> {
    let code = without_comments(&source.replace("\\\r\n", "").replace("\\\n", ""));
    for line in code.lines().map(str::trim_start) {
        let digraphs = line.starts_with("%:") || line.starts_with("??=");
        let Some(directive) = line.strip_prefix('#').map(str::trim) else {
            if digraphs {
                bail!("`{line}`: write `#`");
            }
            continue;
        };
        let is_header = directive.strip_prefix("include").is_some_and(|rest| {
            let name = rest.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
            name.is_some_and(|name| HEADERS.contains(&name))
        });
        let is_harmless = ["define ", "pragma unroll"].iter().any(|it| directive.starts_with(it));
        if !is_header && !is_harmless {
            bail!(
                "`{line}`: a file stands by itself and includes `<..>` of {} only",
                HEADERS.join(", ")
            );
        }
    }
    Ok(())
}

/// C++ with a space for each comment; strings and characters stay as they are.
fn without_comments(source: &str) -> String {
    let (mut out, mut rest) = (String::new(), source);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            '"' | '\'' => quoted(rest, first),
            _ => {
                out.push(first);
                first.len_utf8()
            }
        };
        if matches!(first, '"' | '\'') {
            out.push_str(&rest[..length]);
        } else if length > first.len_utf8() || rest.starts_with("//") {
            out.push(' ');
        }
        rest = &rest[length..];
    }
    out
}

/// The length of a string or character with its quotes; it ends with its line at the latest.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == '\n' {
            return at;
        }
        if letter == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::refuse;

    #[test]
    fn files_of_others_are_refused() {
        for line in [
            "#include \"/etc/passwd\"",
            "  # /* */ include <../../course/cuda/guard.cu>",
            "/* a */ #include \"x\"",
            "#inc\\\nlude \"x\"",
            "%:include \"x\"",
            "#define X \"a\"\n#include X",
            "#embed \"x\"",
            "const char *text = \"// \";\n#include_next <cuda_fp16.h>",
            "'\"'; // \"\n#import \"x\"",
        ] {
            assert!(refuse(line).is_err(), "{line}");
        }
        for line in
            ["#include <cuda_pipeline.h>", "// #include \"x\"", "#pragma unroll 4", "/* \n#if 0 */"]
        {
            assert!(refuse(line).is_ok(), "{line}");
        }
    }
}
