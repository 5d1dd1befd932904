//! The table defines every driver function that cust can reference, proven against cust's own sources.

use cuda_driver::api::Symbol;
use std::collections::BTreeSet;

/// The functions that `source` declares as `pub fn cu...`.
fn declared(source: &str) -> BTreeSet<String> {
    let after = source.split("pub fn cu").skip(1);
    after
        .map(|rest| {
            format!(
                "cu{}",
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
            )
        })
        .collect()
}

/// The names starting with `cu` that `source` mentions anywhere.
fn mentioned(source: &str) -> BTreeSet<String> {
    let words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("cu")).map(str::to_owned).collect()
}

fn missing(needed: &BTreeSet<String>, table: &BTreeSet<String>) -> Vec<String> {
    needed.difference(table).cloned().collect()
}

fn table() -> BTreeSet<String> {
    Symbol::ALL
        .iter()
        .map(|symbol| symbol.c_name().to_str().expect("names are ASCII").to_owned())
        .collect()
}

/// The target triple that the compiler builds for when it is not told.
fn host_platform() -> String {
    let output = std::process::Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let version = String::from_utf8(output.stdout).expect("rustc prints UTF-8");
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its host").to_owned()
}

/// The Rust sources of a dependency, concatenated, from where cargo says that they lie.
///
/// Limited to the packages of this platform, the only ones that cargo has fetched.
fn sources_of(package: &str) -> String {
    let platform = format!("--filter-platform={}", host_platform());
    let metadata = cargo_metadata::MetadataCommand::new()
        .other_options([platform])
        .exec()
        .expect("cargo describes this workspace");
    let package = metadata.packages.iter().find(|found| found.name.as_str() == package);
    let manifest = &package.expect("a dependency of this workspace").manifest_path;
    let folder = manifest.parent().expect("a manifest lies in a folder").join("src");
    let files = walkdir::WalkDir::new(folder).into_iter().map(|entry| entry.expect("an entry"));
    files
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"))
        .map(|entry| std::fs::read_to_string(entry.path()).expect("a source file"))
        .collect()
}

#[test]
fn every_function_that_cust_references_is_in_the_table() {
    let raw = declared(&sources_of("cust_raw"));
    assert_eq!(raw.len(), 353, "functions declared by cust_raw");
    assert_eq!(missing(&raw, &table()), [] as [&str; 0]);

    let used: BTreeSet<String> =
        mentioned(&sources_of("cust")).intersection(&raw).cloned().collect();
    assert!(used.len() >= 66, "cust mentions only {} driver functions", used.len());
    assert_eq!(missing(&used, &table()), [] as [&str; 0]);
}

#[test]
fn a_function_that_is_left_out_is_found() {
    let mut table = table();
    table.remove("cuMemAlloc_v2");
    assert_eq!(missing(&declared(&sources_of("cust_raw")), &table), ["cuMemAlloc_v2"]);
}

#[test]
fn every_entry_of_the_table_is_linked_into_this_binary() {
    // Taking every symbol's address by its C name would not link if the crate did not export it.
    let addresses =
        [cust::sys::cuInit as *const () as usize, cust::sys::cuLaunchKernel as *const () as usize];
    let ours = [
        cuda_driver::api::cuInit as *const () as usize,
        cuda_driver::api::cuLaunchKernel as *const () as usize,
    ];
    assert_eq!(addresses, ours);
}
