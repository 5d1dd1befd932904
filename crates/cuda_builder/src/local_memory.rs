//! Local memory that nobody asked for: a warning for each kernel that has some.
//!
//! An array goes there when an index is only known at run time, and nothing in the source shows it. A kernel that means
//! it says `#[kernel(uses_local_memory)]`; a comment at the end of the PTX lists those. What is printed passes through
//! local memory, too, so a kernel that prints is not told of.

use std::collections::BTreeMap;

/// What the comment begins with.
const MEANT: &str = "// local memory is meant: ";

/// Notes at the end of `ptx` which kernels mean their local memory.
pub(crate) fn mark(ptx: &mut String, kernels: &[&str]) {
    if !kernels.is_empty() {
        *ptx += &format!("{MEANT}{}\n", kernels.join(" "));
    }
}

/// The local memory of one kernel.
#[derive(Default)]
struct Found<'a> {
    kernel: &'a str,
    bytes: usize,
    /// Whether it prints.
    prints: bool,
    /// The place of the kernel that the instruction at hand is from, as `path:line`.
    place: Option<&'a str>,
    /// The place of the first instruction that accesses local memory.
    access: Option<&'a str>,
}

/// A sentence for each kernel of `ptx` that has local memory and does not mean it, by the kernel's name.
pub(crate) fn warnings(ptx: &str) -> BTreeMap<String, String> {
    let meant: Vec<&str> = ptx
        .lines()
        .filter_map(|line| line.strip_prefix(MEANT))
        .flat_map(str::split_whitespace)
        .collect();
    let mut warnings = BTreeMap::new();
    let mut found = Found::default();
    for line in ptx.lines() {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let code = code.trim();
        if let Some(rest) = code.strip_prefix(".visible .entry ") {
            found = Found { kernel: rest.trim_end_matches(['(', ')']), ..Found::default() };
        } else if code.starts_with(".local ") {
            let size = code.rsplit('[').next().and_then(|rest| rest.split(']').next());
            found.bytes += size.and_then(|size| size.parse::<usize>().ok()).unwrap_or(0);
        } else if code.starts_with(".loc") {
            found.place = place(comment).or(found.place);
        } else if code.contains("ld.local") || code.contains("st.local") {
            found.access = found.access.or(found.place);
        } else if code.contains("vprintf") {
            found.prints = true;
        } else if code == "}" {
            let is_meant = found.prints || meant.contains(&found.kernel);
            if found.bytes > 0 && !found.kernel.is_empty() && !is_meant {
                warnings.insert(found.kernel.to_owned(), sentence(&found));
            }
            found = Found::default();
        }
    }
    warnings
}

/// Where in the kernel itself an instruction is from, through all inlining: the last place of
/// `core.rs:7:1 @[ helper.rs:3:5 @[ kernel.rs:20:9 ] ]`, without its column.
pub(crate) fn place(comment: &str) -> Option<&str> {
    let last = comment.trim().rsplit("@[").next()?.trim_matches([' ', ']']);
    let (place, _column) = last.rsplit_once(':')?;
    // Line 0 belongs to no line of the source.
    (!place.ends_with(":0")).then_some(place)
}

fn sentence(found: &Found<'_>) -> String {
    let Found { kernel, bytes, place, access, .. } = found;
    let at = access.or(*place).map(|place| format!(" at {place}")).unwrap_or_default();
    format!(
        "kernel `{kernel}` has {bytes} bytes of local memory per thread{at}: an array with an index that is only known at \
         run time, which is slow; unroll the loop, or put the array into shared memory, or write \
         `#[kernel(uses_local_memory)]` if it is meant"
    )
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
        .visible .entry plain()\n{\n\tret;\n}\n";

    #[test]
    fn local_memory_is_told_with_kernel_and_line() {
        let warnings = warnings(PTX);
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
        assert!(warnings(&ptx).is_empty());
        let prints =
            PTX.replacen("\tret;", "\tcall.uni (retval0), vprintf, (param0, param1);\n\tret;", 1);
        assert!(warnings(&prints).is_empty());
        let mut other = PTX.to_owned();
        mark(&mut other, &["plain"]);
        assert_eq!(warnings(&other).len(), 1);
    }
}
