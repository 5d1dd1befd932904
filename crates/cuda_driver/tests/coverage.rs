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

/// The sources that a dependency was compiled from, as the compiler's dependency file beside this binary lists them.
fn sources_of(package: &str) -> String {
    let binary = std::env::current_exe().expect("this binary has a path");
    let folder = binary.parent().expect("a file lies in a folder");
    let entries = std::fs::read_dir(folder).expect("the folder of this binary");
    let mut files = entries.map(|entry| entry.expect("an entry").path());
    let prefix = format!("{package}-");
    let list = files
        .find(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with(&prefix) && name.ends_with(".d")
        })
        .expect("the dependency was compiled into the folder of this binary");
    let list = std::fs::read_to_string(list).expect("the dependency file");
    let sources = list.lines().filter_map(|line| line.strip_suffix(".rs:"));
    sources
        .map(|path| std::fs::read_to_string(format!("{path}.rs")).expect("a source file"))
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
