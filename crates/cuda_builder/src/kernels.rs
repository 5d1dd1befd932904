//! The kernels of a module: their names in PTX, and what a launch compares with the host's tokens.
//!
//! `#[kernel]` names an entry `crate$name$line`, so that two crates may have kernels of one name. Here the entry gets its plain
//! name; where several have one, that of the crate itself keeps it, and the others become `crate_name`. The record of each
//! kernel goes to the end of the PTX as a comment, so that it is wherever the PTX is.

use crate::error::CudaBuilderError;
use crate::ir::{self, ATTRIBUTES};
use ptx::tree::{Function, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The beginning of a record in PTX. `cuda_host` reads it.
const RECORD: &str = "// kernel: ";
/// The words of a kernel's constant that become directives; its signature is behind them.
const DIRECTIVE_WORDS: usize = 7;
/// The word of a signature that says whether the kernel is a safe function.
const IS_SAFE: usize = 0;

/// A kernel as `#[kernel]` recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The entry's name in PTX.
    pub(crate) name: String,
    /// The name with its crate's before it.
    path: String,
    /// The signature that the host's token must have.
    signature: Vec<u32>,
}

impl Record {
    /// Returns whether the kernel is a safe function.
    fn is_safe(&self) -> bool {
        self.signature.get(IS_SAFE) == Some(&1)
    }
}

/// The module with plain names for its entries, and the records of its kernels. `own` is the crate that is built.
///
/// # Errors
/// Two kernels of one crate have one name.
pub(crate) fn name(module: &str, own: &str) -> Result<(String, Vec<Record>), CudaBuilderError> {
    let mut signatures = BTreeMap::new();
    for definition in module.lines().filter_map(ir::definition) {
        if let Some(path) = ir::unquoted(definition.name).strip_prefix(ATTRIBUTES)
            && let Some(words) = ir::constant_words(definition.rest)
            && let Some(signature) = words.get(DIRECTIVE_WORDS..)
        {
            signatures.insert(path.to_owned(), signature.to_vec());
        }
    }
    // The lines of each kernel in each crate that has one of its name.
    let mut users: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for path in signatures.keys() {
        let [krate, name, line] = parts(path);
        users.entry(name).or_default().entry(krate).or_default().push(line);
    }
    for (name, crates) in &users {
        if let Some((krate, lines)) = crates.iter().find(|(_, lines)| lines.len() > 1) {
            return Err(CudaBuilderError::DuplicateKernel {
                name: (*name).to_owned(),
                krate: (*krate).to_owned(),
                lines: lines.join(" and "),
            });
        }
    }
    let named = |path: &str| {
        let [krate, name, _] = parts(path);
        let is_shared = users.get(name).is_some_and(|crates| crates.len() > 1);
        if is_shared && krate != own { format!("{krate}_{name}") } else { name.to_owned() }
    };
    let mut out = String::with_capacity(module.len());
    let mut rest = module;
    while let Some(at) = rest.find('@') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = ir::identifier_end(rest).unwrap_or(1);
        let identifier = &rest[..end];
        let symbol = ir::unquoted(identifier);
        let (prefix, path) = match symbol.strip_prefix(ATTRIBUTES) {
            Some(path) => (ATTRIBUTES, path),
            None => ("", symbol),
        };
        if signatures.contains_key(path) {
            let _ = write!(out, "@{prefix}{}", named(path));
        } else {
            out.push_str(identifier);
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    let records = signatures.iter().map(|(path, signature)| Record {
        name: named(path),
        path: path.clone(),
        signature: signature.clone(),
    });
    let records = records.collect();
    Ok((out, records))
}

/// The crate, the name and the line of a kernel's path.
fn parts(path: &str) -> [&str; 3] {
    let (krate, rest) = path.split_once('$').unwrap_or(("", path));
    let (name, line) = rest.rsplit_once('$').unwrap_or((rest, ""));
    [krate, name, line]
}

/// Appends to `ptx` the records of its kernels.
pub(crate) fn note(ptx: &mut String, entries: &BTreeSet<String>, records: &[Record]) {
    for Record { name, path, signature } in records.iter().filter(|it| entries.contains(&it.name)) {
        let words: Vec<String> = signature.iter().map(u32::to_string).collect();
        let _ = writeln!(ptx, "{RECORD}{name} {path} {}", words.join(" "));
    }
}

/// Refuses a safe kernel that reaches a barrier for whole warps: the compiler cannot check that they come together there.
pub(crate) fn check_barriers(tree: &Tree<'_>, records: &[Record]) -> Result<(), CudaBuilderError> {
    let is_safe = |name: &str| records.iter().any(|it| it.name == name && it.is_safe());
    for entry in tree.entries().filter(|entry| is_safe(entry.name)) {
        let mut reached = BTreeSet::from([entry.name]);
        let mut functions = vec![entry];
        while let Some(function) = functions.pop() {
            if let Some((barrier, at)) = aligned_barrier(tree, function) {
                return Err(CudaBuilderError::AlignedBarrier {
                    kernel: entry.name.to_owned(),
                    barrier,
                    place: at.map(|(file, line)| format!("{file}:{line}")),
                });
            }
            for name in calls(tree, function) {
                let called = tree.functions.iter().find(|it| it.name == name && it.body.is_some());
                functions.extend(called.filter(|_| reached.insert(name)));
            }
        }
    }
    Ok(())
}

/// The names in a function's calls: what it calls, and the arguments.
pub(crate) fn calls<'a>(tree: &Tree<'a>, function: &Function<'a>) -> Vec<&'a str> {
    let mut called = Vec::new();
    tree.instructions(function, |instruction, _| {
        for operand in instruction.operands.iter().filter(|_| instruction.opcode == "call") {
            operand.names(&mut |name| called.push(name));
        }
    });
    called
}

/// The first barrier of a function that only whole warps may come to, and its place in the source.
fn aligned_barrier<'a>(
    tree: &Tree<'a>,
    function: &Function<'a>,
) -> Option<(String, Option<(&'a str, u32)>)> {
    let mut found = None;
    tree.instructions(function, |instruction, at| {
        let has = |name| instruction.modifiers.contains(&name);
        let is_aligned = match instruction.opcode {
            "bar" => !has("warp"),
            "barrier" => has("aligned"),
            _ => false,
        };
        if is_aligned && found.is_none() {
            found = Some((instruction.text(), at));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record's definition and the kernel it is of.
    fn kernel(path: &str, words: &[u32]) -> String {
        let mut text = String::new();
        for byte in words.iter().flat_map(|word| word.to_le_bytes()) {
            let _ = write!(text, "\\{byte:02X}");
        }
        format!(
            "@__coalesce_attributes_{path} = constant [{} x i8] c\"{text}\", align 4\n\
             define ptx_kernel void @{path}(ptr %a) {{\n  ret void\n}}\n",
            words.len() * 4
        )
    }

    #[test]
    fn a_name_is_plain_unless_two_crates_have_it() {
        let words = [3, 0, 0, 0, 0, 0, 0, 1, 256, 1, 1, 0, 0, 4, 4];
        let module = [kernel("mine$scale$3", &words), kernel("theirs$scale$3", &words)].concat()
            + &kernel("theirs$other$9", &words);
        let (named, records) = name(&module, "mine").expect("no name is there twice");
        for expected in ["@scale(", "@theirs_scale(", "@other(", "@__coalesce_attributes_scale ="] {
            assert!(named.contains(expected), "{expected}: {named}");
        }
        assert!(!named.contains('$'), "{named}");
        let found: Vec<_> = records.iter().map(|it| (it.name.as_str(), it.path.as_str())).collect();
        assert_eq!(
            found,
            [
                ("scale", "mine$scale$3"),
                ("other", "theirs$other$9"),
                ("theirs_scale", "theirs$scale$3")
            ]
        );
        assert!(records.iter().all(|it| it.signature == words[7..] && it.is_safe()));

        let mut ptx = ".visible .entry scale(\n)\n{\n\tret;\n}\n".to_owned();
        note(&mut ptx, &BTreeSet::from(["scale".to_owned()]), &records);
        let noted: Vec<&str> = ptx.lines().filter(|line| line.starts_with(RECORD)).collect();
        assert_eq!(noted, ["// kernel: scale mine$scale$3 1 256 1 1 0 0 4 4"]);
    }

    #[test]
    fn two_kernels_of_a_crate_have_two_names() {
        let words = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let module = kernel("mine$scale$3", &words) + &kernel("mine$scale$12", &words);
        let error = name(&module, "mine").expect_err("the name is there twice").to_string();
        assert!(
            error.contains("two kernels of `mine` are called `scale`, at lines 12 and 3"),
            "{error}"
        );
    }

    #[test]
    fn a_safe_kernel_reaches_no_barrier_of_whole_warps() {
        let words = [3, 0, 0, 0, 0, 0, 0, 1, 32, 1, 1, 0];
        let (_, mut records) = name(&kernel("a$k$5", &words), "a").expect("there is one kernel");
        let function = ".file 1 \"kernels/src/a.rs\"\n.func (.param .b32 func_retval0) helper(\n)\n{\n\
            \t.loc\t1 9 0 // kernels/src/a.rs:9:0\n\tbar.sync \t0;\n\tret;\n}\n";
        let entry =
            |code: &str| format!("{function}.visible .entry k()\n{{\n\t{code}\n\tret;\n}}\n");
        let check_barriers = |text: &str, records: &[Record]| {
            check_barriers(&ptx::parse(text).expect("it is PTX"), records)
        };
        for fine in ["barrier.sync 1;", "bar.warp.sync -1;", "call.uni other, ();"] {
            assert!(check_barriers(&entry(fine), &records).is_ok(), "{fine}");
        }
        for wrong in [
            "bar.sync \t0;",
            "@%p1 bar.red.popc.u32 %r1, 0, %p1;",
            "barrier.sync.aligned 1;",
            "barrier.cluster.arrive.aligned;",
            "call.uni (retval0), helper, ();",
        ] {
            let error = check_barriers(&entry(wrong), &records).expect_err(wrong).to_string();
            assert!(error.contains("`k`") && error.contains("safe::Block"), "{error}");
        }
        let called = check_barriers(&entry("call.uni (retval0), helper, ();"), &records);
        assert!(called.expect_err("it calls").to_string().contains("kernels/src/a.rs:9"));
        records[0].signature[IS_SAFE] = 0;
        assert!(check_barriers(&entry("bar.sync \t0;"), &records).is_ok(), "an unsafe kernel may");
    }
}
