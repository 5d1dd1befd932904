//! `cargo xtask upstream CHECKOUT --api`: what of upstream's public API is here.
//!
//! Of each public item of upstream's sources a function is made that uses it as upstream's signature says. The compiler
//! then says which do not compile with ours. Those that do become a test; of the others [`MISSING`] says why.

use super::files::{commit, ours, read, write};
use crate::workspace;
use anyhow::{Context, Result, bail};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use syn::{FnArg, ImplItem, Item, ItemImpl, ReturnType, Signature, TraitItem, UseTree, Visibility};

/// The file with the reason for each item that is missing.
const MISSING: &str = "results/rust-cuda-missing.toml";
const TEST: &str = "crates/cuda_std_tests/tests/upstream_api.rs";
const TABLE: &str = "results/rust-cuda-api.md";
/// The documents that have its sentence.
const DOCUMENTS: [&str; 2] = ["README.md", "docs/guide/from_rust_cuda.md"];
/// The mark of the sentence, behind its first number.
const BEGINNING: &str = " public items of rust-cuda's `cuda_std` and `cuda_builder`";

/// A public item of upstream's, and the line of code that uses it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    /// Its path, such as `cuda_std::thread::index`.
    path: String,
    code: String,
}

/// Compares the APIs and writes the test and the table.
pub fn run(checkout: &Path) -> Result<()> {
    let work = workspace::target_dir().join("upstream/api");
    let mut uses = Uses::default();
    uses.items("cuda_std", &syn::parse_file(&expanded(checkout, &work)?)?.items)?;
    for library in ["cuda_builder", "nvvm"] {
        let file =
            syn::parse_file(&read(&checkout.join("crates").join(library).join("src/lib.rs"))?)?;
        // rust-cuda's builder hands on what it uses of libNVVM.
        uses.items("cuda_builder", &file.items)?;
    }
    let Uses { found, .. } = uses;
    let missing = found_missing(&work, &found)?;
    let reasons: Reasons = toml::from_str(&read(&workspace::root().join(MISSING))?)
        .with_context(|| format!("{MISSING} is malformed"))?;
    let all = found.iter().map(|item| item.path.as_str()).collect();
    let missing_rows = explained(&reasons.missing, &missing, &all)?;
    let newer = newer_cust(checkout)?;
    let newer: BTreeSet<&str> = newer.iter().map(String::as_str).collect();
    let newer_rows = explained(&reasons.newer_cust, &newer, &newer)?;

    let present = found.iter().filter(|item| !missing.contains(item.path.as_str()));
    let test = format!(
        "//! Each public item of rust-cuda's `cuda_std` and `cuda_builder` that is here, used as its signature there says.\n\
         //! Written by `cargo xtask upstream CHECKOUT --api`.\n{PRELUDE}{}",
        present.map(|item| format!("{}\n", item.code)).collect::<String>()
    );
    write(&workspace::root().join(TEST), &test)?;
    let (all, here) = (found.len(), found.len() - missing.len());
    let commit = commit(checkout);
    let beyond = beyond(checkout)?;
    let sentence = format!(
        "Of {all}{BEGINNING} at commit {commit}, {here} are here with their signatures, which a test uses \
         (`{TEST}`); `{TABLE}` says why each other one is not."
    );
    for document in DOCUMENTS {
        let path = workspace::root().join(document);
        let text = read(&path)?;
        let lines =
            text.lines().map(|line| if line.contains(BEGINNING) { &sentence } else { line });
        write(&path, &(lines.collect::<Vec<_>>().join("\n") + "\n"))?;
    }
    let table = format!(
        "# rust-cuda's API and ours\n\n{sentence}\n\nMade by `cargo xtask upstream CHECKOUT --api`.\n\n\
         | missing | items | why |\n|---|--:|---|\n{missing_rows}\n\
         ## Modules of `cuda_std` that rust-cuda lacks\n\n{beyond}\n\
         ## cust\n\n\
         cust is used as published. What its repository has beyond that, by name:\n\n\
         | newer | items | here |\n|---|--:|---|\n{newer_rows}"
    );
    write(&workspace::root().join(TABLE), &table)?;
    println!("{here} of {all} items are here");
    Ok(())
}

/// A list of the modules of our `cuda_std` that upstream's lacks, each with the first sentence of its documentation.
fn beyond(checkout: &Path) -> Result<String> {
    let modules = |library: &Path| -> Result<BTreeSet<String>> {
        let file = syn::parse_file(&read(&library.join("src/lib.rs"))?)?;
        let public = file.items.into_iter().filter_map(|item| match item {
            Item::Mod(item) if matches!(item.vis, Visibility::Public(_)) => {
                Some(item.ident.to_string())
            }
            _ => None,
        });
        Ok(public.collect())
    };
    let own = workspace::root().join("crates/cuda_std");
    let (ours, theirs) = (modules(&own)?, modules(&checkout.join("crates/cuda_std"))?);
    let mut list = String::new();
    for module in ours.difference(&theirs) {
        let places = [format!("src/{module}.rs"), format!("src/{module}/mod.rs")];
        let Some(file) = places.iter().map(|path| own.join(path)).find(|path| path.exists()) else {
            continue;
        };
        let text = read(&file)?;
        let doc = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
        let doc = doc.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        let sentence = doc.split_once(". ").map_or(doc.as_str(), |(first, _)| first);
        list += &format!("- `{module}`: {}.\n", sentence.trim_end_matches('.'));
    }
    Ok(list)
}

/// Why items are missing, by the beginning of their paths.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasons {
    missing: BTreeMap<String, String>,
    newer_cust: BTreeMap<String, String>,
}

/// The rows of a table of items with their reasons.
///
/// # Errors
/// An item has no reason, or a reason has no item or one that is here.
fn explained(
    reasons: &BTreeMap<String, String>,
    missing: &BTreeSet<&str>,
    all: &BTreeSet<&str>,
) -> Result<String> {
    let without: Vec<&&str> =
        missing.iter().filter(|path| !reasons.keys().any(|key| path.starts_with(key))).collect();
    if !without.is_empty() {
        bail!("{MISSING} has no reason for {without:?}");
    }
    let mut rows = String::new();
    for (key, why) in reasons {
        let of_key: Vec<&&str> = all.iter().filter(|path| path.starts_with(key)).collect();
        let here: Vec<&&&str> = of_key.iter().filter(|path| !missing.contains(**path)).collect();
        if of_key.is_empty() || !here.is_empty() {
            bail!("{MISSING} has a reason for {key}, which is not upstream's or is here: {here:?}");
        }
        rows += &format!("| `{key}` | {} | {why} |\n", of_key.len());
    }
    Ok(rows)
}

/// The public functions of cust's repository that the published cust lacks, as `file: Type::name`.
fn newer_cust(checkout: &Path) -> Result<BTreeSet<String>> {
    let output = workspace::cargo("metadata --format-version 1").output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut cust = packages.filter(|package| package["name"] == "cust");
    let manifest = cust.next().and_then(|package| package["manifest_path"].as_str());
    let published = Path::new(manifest.context("the workspace uses cust")?);
    let published = functions_of(&published.with_file_name("src"))?;
    let newest = functions_of(&checkout.join("crates/cust/src"))?;
    Ok(newest.difference(&published).cloned().collect())
}

/// The public functions and methods of a crate's sources.
fn functions_of(folder: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in walkdir::WalkDir::new(folder) {
        let path = entry?.into_path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let file = path.strip_prefix(folder)?.with_extension("").display().to_string();
        for item in syn::parse_file(&read(&path)?)?.items {
            match item {
                Item::Fn(item) if matches!(item.vis, Visibility::Public(_)) => {
                    found.insert(format!("{file}: {}", item.sig.ident));
                }
                Item::Impl(item) if item.trait_.is_none() => {
                    let kind = item.self_ty.to_token_stream().to_string().replace(' ', "");
                    let kind = kind.split('<').next().unwrap_or_default().to_owned();
                    let methods = item.items.iter().filter_map(|item| match item {
                        ImplItem::Fn(item) if matches!(item.vis, Visibility::Public(_)) => {
                            Some(format!("{file}: {kind}::{}", item.sig.ident))
                        }
                        _ => None,
                    });
                    found.extend(methods);
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

/// The names in the items' signatures.
const PRELUDE: &str = "\
#![allow(unused_unsafe, unused_imports, dead_code, unreachable_code, deprecated, clippy::all, clippy::pedantic)]
#![allow(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc, clippy::allow_attributes_without_reason)]
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use cuda_builder::*;
use cuda_std::glam::{self, UVec2, UVec3};
use cuda_std::{atomic::*, float::*, mem::*, ptr::*, warp::*, *};
use std::path::{Path, PathBuf};
";

/// The source of upstream's `cuda_std` with its macros expanded, type-checked in a folder of its own.
fn expanded(checkout: &Path, work: &Path) -> Result<String> {
    let folder = work.join("theirs");
    for library in ["cuda_std", "cuda_std_macros"] {
        let from = checkout.join("crates").join(library);
        for entry in walkdir::WalkDir::new(&from) {
            let entry = entry?;
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "rs" || extension == "toml") {
                write(&folder.join(library).join(path.strip_prefix(&from)?), &read(path)?)?;
            }
        }
    }
    let members = "[workspace]\nresolver = \"3\"\nmembers = [\"cuda_std\", \"cuda_std_macros\"]\n";
    write(&folder.join("Cargo.toml"), members)?;
    let cargo = |arguments: &[&str]| {
        let output = Command::new("cargo")
            .args(arguments)
            .current_dir(&folder)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_DIR", work.join("target"))
            .output()
            .context("cannot start cargo")?;
        if !output.status.success() {
            bail!("cargo {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // The version of upstream's lock file: later ones name the GPU's compiler.
    cargo(&["update", "--quiet", "--package", "glam", "--precise", "0.30.9"])?;
    let line = ["rustc", "--quiet", "--package", "cuda_std", "--profile", "check", "--"];
    cargo(&[&line[..], &["-Zunpretty=expanded"]].concat())
}

/// The paths of those that do not compile with our libraries.
fn found_missing<'a>(work: &Path, found: &'a [Use]) -> Result<BTreeSet<&'a str>> {
    let folder = work.join("ours");
    let dependencies: String = ["cuda_std", "cuda_builder"]
        .map(|library| format!("{library} = {}\n", ours(library, "")))
        .concat();
    write(
        &folder.join("Cargo.toml"),
        &format!(
            "[package]\nname = \"api\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}\n[workspace]\n"
        ),
    )?;
    let mut missing = BTreeSet::new();
    let lines_before = PRELUDE.lines().count();
    // The compiler stops at names that it does not find before it looks at types.
    loop {
        let code = |item: &Use| {
            if missing.contains(item.path.as_str()) { "" } else { item.code.as_str() }.to_owned()
        };
        let code: Vec<String> = found.iter().map(code).collect();
        write(&folder.join("src/lib.rs"), &format!("{PRELUDE}{}\n", code.join("\n")))?;
        let output = Command::new("cargo")
            .args(["check", "--quiet", "--message-format", "json"])
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", work.join("target"))
            .output()
            .context("cannot start cargo")?;
        if output.status.success() {
            return Ok(missing);
        }
        let before = missing.len();
        for message in String::from_utf8_lossy(&output.stdout).lines() {
            let message: serde_json::Value = serde_json::from_str(message)?;
            let message = &message["message"];
            let spans = message["spans"].as_array().into_iter().flatten();
            for span in spans.filter(|_| message["level"] == "error") {
                let line = span["line_start"].as_u64().unwrap_or_default() as usize;
                let item = line.checked_sub(lines_before + 1).and_then(|line| found.get(line));
                if let Some(item) = item.filter(|_| span["is_primary"] == true) {
                    missing.insert(item.path.as_str());
                    println!("{}: {}", item.path, message["message"].as_str().unwrap_or_default());
                }
            }
        }
        if missing.len() == before {
            bail!("the comparison does not compile: {}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

/// The public items found so far.
#[derive(Default)]
struct Uses {
    found: Vec<Use>,
    named: BTreeSet<String>,
}

impl Uses {
    fn items(&mut self, module: &str, items: &[Item]) -> Result<()> {
        let is_public = |visibility: &Visibility| matches!(visibility, Visibility::Public(_));
        for item in items {
            match item {
                Item::Mod(item) if is_public(&item.vis) => {
                    if let Some((_, items)) = &item.content {
                        self.items(&format!("{module}::{}", item.ident), items)?;
                    }
                }
                // Its public items are re-exported, or cannot be named.
                Item::Mod(item) => {
                    if let Some((_, items)) = &item.content {
                        let impls = items
                            .iter()
                            .filter(|item| matches!(item, Item::Impl(_) | Item::Trait(_)));
                        self.items(module, &impls.cloned().collect::<Vec<_>>())?;
                    }
                }
                Item::Fn(item) if is_public(&item.vis) => {
                    self.function(module, &item.sig, None);
                }
                Item::ForeignMod(item) => {
                    for item in &item.items {
                        if let syn::ForeignItem::Fn(item) = item
                            && is_public(&item.vis)
                        {
                            self.function(module, &item.sig, None);
                        }
                    }
                }
                Item::Enum(item) if is_public(&item.vis) => {
                    for variant in &item.variants {
                        let path = format!("{module}::{}::{}", item.ident, variant.ident);
                        let pattern = match variant.fields {
                            syn::Fields::Unit => "",
                            syn::Fields::Unnamed(_) => "(..)",
                            syn::Fields::Named(_) => "{..}",
                        };
                        let code =
                            format!("x: {module}::{}| matches!(x, {path}{pattern})", item.ident);
                        self.add(path, format!("|{code};"));
                    }
                }
                Item::Struct(item) if is_public(&item.vis) => {
                    let path = format!("{module}::{}", item.ident);
                    for field in item.fields.iter().filter(|field| is_public(&field.vis)) {
                        if let Some(name) = &field.ident {
                            self.add(format!("{path}.{name}"), format!("|x: {path}| x.{name};"));
                        }
                    }
                    self.add(path.clone(), format!("|x: {path}| x;"));
                }
                Item::Trait(item) if is_public(&item.vis) => self.of_trait(module, item),
                Item::Impl(item) if item.trait_.is_none() => self.of_impl(module, item),
                Item::Use(item) if is_public(&item.vis) => self.names(module, &item.tree),
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds an item, once; the code is that of a closure.
    fn add(&mut self, path: String, code: String) {
        if self.named.insert(path.clone()) {
            let number = self.found.len();
            self.found.push(Use { path, code: format!("fn _u{number}() {{ let _ = {code} }}") });
        }
    }

    /// Adds a function; of a method with the type or trait that has it.
    fn function(&mut self, module: &str, signature: &Signature, owner: Option<&str>) {
        let name = &signature.ident;
        let path = match owner {
            Some(owner) => format!("{owner}::{name}"),
            None => format!("{module}::{name}"),
        };
        if !self.named.insert(path.clone()) {
            return;
        }
        let own = owner.unwrap_or("Self");
        let mut parameters = Vec::new();
        for (index, input) in signature.inputs.iter().enumerate() {
            let kind = match input {
                FnArg::Receiver(receiver) => match &receiver.kind {
                    syn::ReceiverKind::Reference(_, _, Some(_)) => "&mut Self".to_owned(),
                    syn::ReceiverKind::Reference(..) => "&Self".to_owned(),
                    _ => "Self".to_owned(),
                },
                FnArg::Typed(argument) => argument.ty.to_token_stream().to_string(),
            };
            parameters.push(format!("a{index}: {kind}"));
        }
        let result = match &signature.output {
            ReturnType::Default => "()".to_owned(),
            ReturnType::Type(_, kind) => kind.to_token_stream().to_string(),
        };
        let of_self = |text: &str| {
            text.replace(
                "Self",
                if owner.is_some_and(|it| it.starts_with('<')) { "O" } else { own },
            )
        };
        let mut generics: Vec<String> = signature
            .generics
            .params
            .iter()
            .map(|param| param.to_token_stream().to_string())
            .collect();
        if let Some(kind) = owner.and_then(|owner| owner.strip_prefix("<O as ")) {
            generics.push(format!("O: {}", kind.trim_end_matches('>')));
        }
        let bounds = signature.generics.where_clause.to_token_stream().to_string();
        let arguments: Vec<String> =
            (0..parameters.len()).map(|index| format!("a{index}")).collect();
        let number = self.found.len();
        let code = format!(
            "fn _u{number}<{}>({}) -> {} {} {{ unsafe {{ {path}({}) }} }}",
            generics.join(", "),
            of_self(&parameters.join(", ")),
            of_self(&result),
            bounds,
            arguments.join(", "),
        );
        let path = path.replace("<O as ", "").replace('>', "");
        self.found.push(Use { path, code });
    }

    fn of_trait(&mut self, module: &str, item: &syn::ItemTrait) {
        let generics = item.generics.params.len();
        // The one that is re-exported from a private module is named by its crate.
        let owner = format!("<O as {module}::{}>", item.ident);
        for function in &item.items {
            if let (TraitItem::Fn(function), 0) = (function, generics) {
                self.function(module, &function.sig, Some(&owner));
            }
        }
    }

    fn of_impl(&mut self, module: &str, item: &ItemImpl) {
        let owner = format!("{module}::{}", item.self_ty.to_token_stream());
        for function in &item.items {
            if let ImplItem::Fn(function) = function
                && matches!(function.vis, Visibility::Public(_))
                && item.generics.params.is_empty()
            {
                self.function(module, &function.sig, Some(&owner));
            }
        }
    }

    /// Adds the names that a `pub use` makes.
    fn names(&mut self, module: &str, tree: &UseTree) {
        let name = match tree {
            UseTree::Path(path) => return self.names(module, &path.tree),
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.names(module, tree));
            }
            UseTree::Name(name) => &name.ident,
            UseTree::Rename(name) => &name.rename,
            // What they stand for is in the files that are read.
            _ => return,
        };
        let path = format!("{module}::{name}");
        if self.named.insert(path.clone()) {
            let number = self.found.len();
            self.found
                .push(Use { code: format!("mod _u{number} {{ pub use {path} as _x; }}"), path });
        }
    }
}
