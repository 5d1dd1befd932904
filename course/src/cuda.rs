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

/// Finds nvcc: the file that the variable names, or the one on `PATH`.
///
/// # Errors
/// There is none; the sentence says how to install it.
pub fn nvcc() -> Result<PathBuf> {
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
    let source = source.strip_prefix('\u{feff}').unwrap_or(source).replace("\r\n", "\n");
    // Compilers take some of them for the end of a line, and pass over others.
    let is_unseen =
        |letter: char| letter == '\u{feff}' || letter.is_control() && !"\t\n".contains(letter);
    if let Some(letter) = source.chars().find(|letter| is_unseen(*letter)) {
        bail!("the letter {}: a file has lines, tabs and what one sees", letter.escape_unicode());
    }
    let joined = source.replace("\\\n", "");
    // Compilers differ in whether the next line belongs to such a one.
    if let Some(line) = joined.lines().find(|line| line.trim_end().ends_with('\\')) {
        bail!("`{}`: blanks follow a backslash: end the line with it", line.trim());
    }
    let code = without_comments(&joined)?;
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
///
/// # Errors
/// A raw string, in which quotes and comments mean nothing.
fn without_comments(source: &str) -> Result<String> {
    let (mut out, mut rest) = (String::new(), source);
    while let Some(first) = rest.chars().next() {
        let is_comment = rest.starts_with("//") || rest.starts_with("/*");
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if is_comment => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            '"' | '\'' => quoted(rest, first),
            _ => word(rest).max(first.len_utf8()),
        };
        let text = &rest[..length];
        out.push_str(if is_comment { " " } else { text });
        rest = &rest[length..];
        if ["R", "LR", "uR", "UR", "u8R"].contains(&text) && rest.starts_with('"') {
            bail!("`{text}\"`: a raw string: a file of this task needs no text");
        }
    }
    Ok(out)
}

/// The length of a name, or of a number with the quotes between its digits.
fn word(text: &str) -> usize {
    let is_number = text.starts_with(|letter: char| letter.is_ascii_digit());
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, letter)| *letter);
        let is_separator = letter == '\'' && is_number && next.is_some_and(is_part);
        if !is_part(letter) && !is_separator {
            return at;
        }
    }
    text.len()
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
            // What seems to begin a comment is in a string.
            "R\"(\"/*)\";\n#include \"x\"\n// */",
            "u8R\"x(\"/*)x\";\n#include \"x\"\n// */",
            "1'0; c = '\"'; s = \"/*\";\n#include \"x\"\n// */ \"",
            "s = \"a\\ \n/*\";\n#include \"x\"\n// */",
            "\u{feff}#include \"x\"",
            "\0#include \"x\"",
            "int a;\r#include \"x\"",
            "// \\\t\n/*\n#include \"x\"\n*/",
        ] {
            assert!(refuse(line).is_err(), "{line}");
        }
        for line in [
            "#include <cuda_pipeline.h>",
            "// #include \"x\"",
            "\u{feff}#pragma unroll 4\r\n\t// ä",
            "/* \n#if 0 */",
            "n = 1'000'000; c = u8'\"'; R(1); // \n/* \n#if */",
        ] {
            assert!(refuse(line).is_ok(), "{line}");
        }
    }
}
