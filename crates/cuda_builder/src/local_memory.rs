//! Local memory that nobody asked for: a warning for each kernel that has some.
//!
//! An array goes there when an index is only known at run time, and nothing in the source shows it. A kernel that means
//! it says `#[kernel(uses_local_memory)]`; a comment at the end of the PTX lists those. What is printed passes through
//! local memory, too, so a kernel that prints is not told of.

use crate::facts::declared_bytes;
use ptx::tree::{Function, Tree};
use std::collections::BTreeMap;

/// The begin of the comment.
const MEANT: &str = "// local memory is meant: ";

/// Notes at the end of `ptx` which kernels mean their local memory.
pub(crate) fn mark(ptx: &mut String, kernels: &[&str]) {
    if !kernels.is_empty() {
        *ptx += &format!("{MEANT}{}\n", kernels.join(" "));
    }
}

/// Warns, by the kernel's name, of local memory that a kernel of `ptx` does not mean. `tree` is that text's.
pub(crate) fn warnings(ptx: &str, tree: &Tree<'_>) -> BTreeMap<String, String> {
    let meant: Vec<&str> = ptx
        .lines()
        .filter_map(|line| line.strip_prefix(MEANT))
        .flat_map(str::split_whitespace)
        .collect();
    let unmeant = tree.entries().filter(|entry| !meant.contains(&entry.name));
    unmeant.filter_map(|entry| Some((entry.name.to_owned(), sentence(tree, entry)?))).collect()
}

/// A sentence of a kernel that has local memory and does not print.
fn sentence<'a>(tree: &Tree<'a>, entry: &Function<'a>) -> Option<String> {
    let bytes = declared_bytes(entry, "local");
    if bytes == 0 {
        return None;
    }
    // The last place of all, that of the first access, and whether it prints.
    let (mut last, mut access, mut prints) = (None, None, false);
    tree.instructions(entry, |instruction, at| {
        last = at.or(last);
        if ["ld", "st"].contains(&instruction.opcode) && instruction.modifiers.contains(&"local") {
            access = access.or(at);
        }
        for operand in &instruction.operands {
            operand.names(&mut |name| prints |= name == "vprintf");
        }
    });
    let at = access.or(last).map(|(file, line)| format!(" at {file}:{line}")).unwrap_or_default();
    let kernel = entry.name;
    (!prints).then(|| {
        format!(
            "kernel `{kernel}` has {bytes} bytes of local memory per thread{at}: an array with an index that is only known at \
             run time, which is slow; unroll the loop, or put the array into shared memory, or write \
             `#[kernel(uses_local_memory)]` if it is meant"
        )
    })
}

/// Prints the sentences: for cargo in a build script, for people elsewhere.
#[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
pub(crate) fn warn(warnings: impl IntoIterator<Item = impl std::fmt::Display>) {
    let is_build_script = std::env::var_os("OUT_DIR").is_some();
    for warning in warnings {
        if is_build_script {
            println!("cargo::warning={warning}");
        } else {
            eprintln!("warning: {warning}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".visible .entry picks(\n\t.param .u64 picks_param_0\n)\n{\n\
        \t.local .align 4 .b8 \t__local_depot0[128];\n\
        \t.loc\t1 9 0                          // kernels/src/a.rs:9:0\n\
        \tld.param.b64 \t%rd1, [picks_param_0];\n\
        \t.loc\t3 7 2                          // core/ptr.rs:7:2 @[ kernels/src/a.rs:12:5 ]\n\
        \tst.local.b32 \t[%rd2], %r1;\n\
        \t.loc\t3 0 2                          // core/ptr.rs:0:2 @[ kernels/src/a.rs:0:5 ]\n\
        \tld.local.b32 \t%r2, [%rd3];\n\tret;\n}\n\
        .visible .entry plain()\n{\n\tret;\n}\n.file 1 \"kernels/src/a.rs\"\n";

    fn found(text: &str) -> BTreeMap<String, String> {
        warnings(text, &ptx::parse(text).expect("it is PTX"))
    }

    #[test]
    fn local_memory_is_told_with_kernel_and_line() {
        let warnings = found(PTX);
        assert_eq!(warnings.keys().collect::<Vec<_>>(), ["picks"]);
        let text = &warnings["picks"];
        let start =
            "kernel `picks` has 128 bytes of local memory per thread at kernels/src/a.rs:12: ";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("`#[kernel(uses_local_memory)]`"), "{text}");
    }

    #[test]
    fn what_is_meant_is_not_told() {
        let mut ptx = PTX.to_owned();
        mark(&mut ptx, &["picks"]);
        assert!(found(&ptx).is_empty());
        let prints =
            PTX.replacen("\tret;", "\tcall.uni (retval0), vprintf, (param0, param1);\n\tret;", 1);
        assert!(found(&prints).is_empty());
        let mut other = PTX.to_owned();
        mark(&mut other, &["plain"]);
        assert_eq!(found(&other).len(), 1);
    }
}
