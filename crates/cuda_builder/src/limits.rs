//! Warnings of kernels that come up against what a block or a thread may have: shared memory and registers.

use crate::arch::NvvmArch;
use crate::kernels::{entries, functions};
use crate::local_memory::place;
use crate::ptxas::{self, Resources};
use std::collections::BTreeMap;
use std::path::Path;

/// Static shared memory that a block may have; more must be dynamic.
const MAX_STATIC_SHARED_BYTES: usize = 48 << 10;

/// What NVIDIA's assembler gives each kernel of a file, where it is installed and knows the architecture.
pub(crate) fn resources(ptx: &Path, arch: NvvmArch) -> Vec<Resources> {
    let target = ptx.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    ptxas::find_tool("ptxas", target.unwrap_or(Path::new(".")))
        .and_then(|tool| ptxas::assemble(&tool, ptx, arch.processor(), None).ok())
        .unwrap_or_default()
}

/// A sentence for each kernel of `ptx` with more static shared memory than there is, or with registers that spill, by the
/// kernel's name, and one on those that can panic.
pub(crate) fn warnings(ptx: &str, resources: &[Resources]) -> BTreeMap<String, String> {
    let mut warnings = BTreeMap::new();
    for (kernel, text) in entries(ptx) {
        let own = text.lines().filter_map(|line| declared(line.trim()));
        let bytes: usize =
            own.map(|(_, bytes)| bytes).sum::<usize>() + shared_with_others(ptx, text);
        let at = text.lines().find_map(|line| place(line.split_once("//")?.1));
        let at = at.map(|place| format!(" at {place}")).unwrap_or_default();
        if bytes > MAX_STATIC_SHARED_BYTES {
            let sentence = format!(
                "kernel `{kernel}`{at} has {bytes} bytes of static shared memory, and a block may have \
                 {MAX_STATIC_SHARED_BYTES}: no GPU loads it; use dynamic shared memory (`shared::dynamic_shared_mem`), \
                 whose size the launch says"
            );
            warnings.insert(kernel.to_owned(), sentence);
        }
        let spills = resources.iter().find(|resources| resources.kernel == kernel);
        let spills = spills.map_or(0, |found| found.spill_store_bytes + found.spill_load_bytes);
        if spills > 0 {
            let bounds = text.contains(".maxntid") || text.contains(".minnctapersm");
            let cause = if bounds { "its launch bounds leave it" } else { "a thread has" };
            let sentence = format!(
                "kernel `{kernel}`{at} stores and loads {spills} bytes of registers to local memory, because {cause} too \
                 few: let a thread do less at once, or bound its launches to fewer threads or blocks"
            );
            warnings.insert(kernel.to_owned(), sentence);
        }
    }
    // One for all kernels.
    warnings.extend(panics(ptx).map(|sentence| (String::new(), sentence)));
    warnings
}

/// A sentence on the kernels of `ptx` whose panics print, which costs each thread a stack and registers, also while nothing
/// panics.
fn panics(ptx: &str) -> Option<String> {
    const PRINTS: [&str; 2] = ["9panicking", "rust_begin_unwind"];
    let is_of_panics = |name: &str| PRINTS.iter().any(|part| name.contains(part));
    let calls = |text: &str| text.lines().any(|line| line.contains("call") && is_of_panics(line));
    let names: Vec<&str> = entries(ptx).filter(|it| calls(it.1)).map(|(name, _)| name).collect();
    let frames = functions(ptx).filter(|(name, _)| is_of_panics(name));
    let bytes: usize = frames.flat_map(|(_, text)| text.lines().filter_map(frame)).sum();
    if bytes == 0 {
        // They only trap.
        return None;
    }
    let (first, others) = names.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    Some(format!(
        "kernel `{first}`{others} can panic, and a panic prints its place: this takes {bytes} bytes of stack and registers \
         of every thread, also while nothing panics; `panic(PanicStrategy::Trap)` in the build script takes neither, and \
         `get` in place of an index or `checked_div` of a division cannot panic"
    ))
}

/// The bytes of a frame in local memory: `.local .align 8 .b8 __local_depot3[176];`.
fn frame(line: &str) -> Option<usize> {
    let (_, count) = line.trim().strip_prefix(".local ")?.rsplit_once('[')?;
    count.split(']').next()?.parse().ok()
}

/// The bytes of the module's shared variables that a kernel names.
fn shared_with_others(ptx: &str, kernel: &str) -> usize {
    let module = ptx.lines().filter(|line| !line.starts_with(['\t', ' ']));
    let variables = module.filter_map(declared);
    let names = |name: &str| {
        let mut rest = kernel.split(name).skip(1);
        rest.any(|after| {
            !after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
        })
    };
    variables.filter(|(name, _)| names(name)).map(|(_, bytes)| bytes).sum()
}

/// The name and the bytes of a declaration such as `.shared .align 4 .b8 tile[1024];`.
fn declared(line: &str) -> Option<(&str, usize)> {
    let (linkage, rest) = line.split_once(".shared ")?;
    if !linkage.split_whitespace().all(|word| word.starts_with('.')) {
        return None;
    }
    let (before, count) = rest.split_once('[')?;
    let name = before.split_whitespace().last()?;
    Some((name, count.split(']').next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".shared .align 16 .b8 both[40000];\n.extern .shared .align 16 .b8 dynamic[];\n\
        .visible .entry large()\n{\n\t.shared .align 4 .b8 own[9153];\n\
        \t.loc\t1 9 0                          // kernels/src/a.rs:9:0\n\
        \tmov.b64 %rd1, both;\n\tret;\n}\n\
        .visible .entry fits()\n.maxntid 1024\n{\n\t.shared .align 4 .b8 own[9152];\n\
        \t.loc\t1 20 0                          // kernels/src/a.rs:20:0\n\
        \tmov.b64 %rd1, both_of_us;\n\tret;\n}\n";

    #[test]
    fn too_much_shared_memory_is_told_with_kernel_and_line() {
        let found = warnings(PTX, &[]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["large"]);
        let start = "kernel `large` at kernels/src/a.rs:9 has 49153 bytes of static shared memory, and a block may have 49152";
        assert!(found["large"].starts_with(start), "{}", found["large"]);
        assert!(warnings(&PTX.replace("9153", "9152"), &[]).is_empty(), "all that there is");
    }

    #[test]
    fn panics_that_print_are_told_once() {
        let panic = ".func _RNvC_4core9panicking18panic_bounds_check\n(\n)\n{\n\
            \t.local .align 8 .b8 __local_depot0[48];\n\tcall.uni _R7___rustc17rust_begin_unwind, (param0);\n}\n\
            .func _R7___rustc17rust_begin_unwind(\n)\n{\n\t.local .align 8 .b8 __local_depot1[176];\n}\n";
        let entry = |name: &str, code: &str| {
            format!(".visible .entry {name}()\n{{\n\t{code}\n\tret;\n}}\n")
        };
        let call = "call.uni _RNvC_4core9panicking18panic_bounds_check, (param0);";
        let two = [panic, &entry("a", call), &entry("b", "ret;"), &entry("c", call)].concat();
        let said = panics(&two).expect("two can panic");
        assert!(said.starts_with("kernel `a` and 1 more can panic, and a panic prints"), "{said}");
        assert!(said.contains("takes 224 bytes of stack"), "{said}");
        assert_eq!(panics(&[panic, &entry("b", "call.uni vprintf, (p);")].concat()), None);
        assert_eq!(panics(&entry("a", call)), None, "a panic that only traps has no frame");
    }

    #[test]
    fn registers_that_spill_are_told_with_kernel_and_line() {
        let of = |spill_store_bytes| Resources {
            kernel: "fits".to_owned(),
            registers: 64,
            shared_bytes: 0,
            local_bytes: 24,
            spill_store_bytes,
            spill_load_bytes: spill_store_bytes,
            constant_bytes: 0,
            barriers: 0,
        };
        let small = PTX.replace("9153", "1");
        let found = warnings(&small, &[of(12)]);
        let start = "kernel `fits` at kernels/src/a.rs:20 stores and loads 24 bytes of registers to local memory, because \
                     its launch bounds leave it too few";
        assert!(found["fits"].starts_with(start), "{}", found["fits"]);
        assert!(warnings(&small, &[of(0)]).is_empty());
    }
}
