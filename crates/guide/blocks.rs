//! The blocks of code on README, the guide's pages and the doc of `cuda_host`, as Rust that is compiled and run.
//!
//! A block of kernels becomes a module of `guide_kernels`; the same block on two pages is one. A block of the host's is a
//! program with a `main`, or tests, or the statements of a function. All other blocks are in a language that is listed.

#![allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
#![allow(dead_code, reason = "each of two build scripts uses a part")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Languages behind the fence of a block that is not run: commands, settings, and printed text.
const NOT_RUN: [&str; 6] = ["", "cuda", "sh", "text", "toml", "yaml"];

/// Names that a block of statements may use.
const PRELUDE: &str =
    "use anyhow::Result;\nuse cuda_host::Gpu;\nuse my_app::IMAGES;\nuse my_app_kernels::*;\n";

struct Block {
    /// Such as `first_project_31`, by its page and line.
    name: String,
    text: String,
}

fn root() -> PathBuf {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says it");
    Path::new(&folder).ancestors().nth(2).expect("it is crates/NAME").to_owned()
}

/// The files with blocks, which cargo is told to watch.
fn pages() -> Vec<PathBuf> {
    let guide = root().join("docs/guide");
    let entries = std::fs::read_dir(&guide).expect("the guide is there");
    let mut pages: Vec<PathBuf> =
        entries.map(|entry| entry.expect("it can be listed").path()).collect();
    pages.sort();
    pages.extend([root().join("README.md"), root().join("crates/cuda_host/src/lib.rs")]);
    println!("cargo::rerun-if-changed={}", guide.display());
    for page in &pages {
        println!("cargo::rerun-if-changed={}", page.display());
    }
    pages
}

/// The blocks of Rust on all pages.
///
/// # Panics
/// When a block is neither Rust nor of a language that is listed.
fn blocks() -> Vec<Block> {
    pages().iter().flat_map(|page| blocks_of(page)).collect()
}

fn blocks_of(page: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(page).expect("a page is text");
    let is_source = page.extension().is_some_and(|extension| extension == "rs");
    let stem = page.file_stem().expect("it has a name").to_string_lossy().to_lowercase();
    let stem = if is_source { "cuda_host".to_owned() } else { stem };
    let mut blocks = Vec::new();
    let mut open: Option<Option<Block>> = None;
    for (index, line) in text.lines().enumerate() {
        // The doc of a crate is what stands behind `//!`.
        let line = match is_source.then(|| line.strip_prefix("//!")) {
            Some(None) => continue,
            Some(Some(line)) => line.strip_prefix(' ').unwrap_or(line),
            None => line,
        };
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take().flatten()),
            (None, Some(info)) => {
                let is_rust = info == "rust" || is_source && info == "no_run";
                assert!(
                    is_rust || NOT_RUN.contains(&info),
                    "{}:{}: a block of `{info}`: write Rust that runs, or list the language in crates/guide/blocks.rs",
                    page.display(),
                    index + 1
                );
                let name = format!("{stem}_{}", index + 1);
                open = Some(is_rust.then(|| Block { name, text: String::new() }));
            }
            // What rustdoc hides are stand-ins for what is real here.
            (Some(Some(block)), None) if !(is_source && line.starts_with('#')) => {
                block.text += line;
                block.text.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

impl Block {
    /// Returns whether it is of the kernels' crate.
    fn is_of_device(&self) -> bool {
        ["#[kernel", "derive(Clone, Copy, Argument)", "nvptx64"]
            .iter()
            .any(|word| self.text.contains(word))
    }
}

/// The kernels, each block a module.
pub fn kernels() -> String {
    let mut seen = BTreeSet::new();
    let mut source = String::new();
    for Block { name, text } in blocks().into_iter().filter(Block::is_of_device) {
        if seen.insert(text.clone()) {
            let doc = "/// A block of a page.";
            let _ = write!(source, "pub use {name}::*;\n{doc}\npub mod {name} {{\n{text}}}\n");
        }
    }
    source
}

/// Returns what the host does, each block a test.
pub fn programs() -> String {
    let mut source = String::new();
    for Block { name, text } in blocks().into_iter().filter(|block| !block.is_of_device()) {
        let body = if text.contains("#[test]") {
            text
        } else {
            let program = if text.contains("fn main()") {
                text
            } else {
                format!("{PRELUDE}fn main() -> Result<()> {{\n{text}Ok(())\n}}\n")
            };
            format!(
                "{program}#[test]\nfn runs() -> anyhow::Result<()> {{\n    cuda_host::testing::checked(main)?;\n    Ok(())\n}}\n"
            )
        };
        let allowed = "#[allow(unused_imports, clippy::print_stdout)]";
        let _ = write!(source, "{allowed}\nmod {name} {{\n{body}}}\n");
    }
    source
}

/// Writes a file into cargo's folder for it.
pub fn write(name: &str, text: &str) {
    let folder = std::env::var("OUT_DIR").expect("cargo says it");
    std::fs::write(Path::new(&folder).join(name), text).expect("cargo's folder can be written");
    println!("cargo::rerun-if-changed={}", root().join("crates/guide/blocks.rs").display());
}
