//! Warnings of kernels that come up against what a block or a thread may have: shared memory and registers.

use crate::arch::NvvmArch;
use crate::facts::declared_bytes;
use crate::kernels::calls;
use crate::ptxas::{self, Resources};
use ptx::tree::{Function, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Static shared memory that a block may have; more must be dynamic.
const MAX_STATIC_SHARED_BYTES: usize = 48 << 10;

/// Returns what NVIDIA's assembler gives each kernel of a file, where it is installed and knows the architecture.
pub(crate) fn resources(ptx: &Path, arch: NvvmArch) -> Vec<Resources> {
    let target = ptx.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    ptxas::find_tool("ptxas", target.unwrap_or(Path::new(".")))
        .and_then(|tool| ptxas::assemble(&tool, ptx, arch.processor(), None).ok())
        .unwrap_or_default()
}

/// Makes a sentence for each kernel with more static shared memory than there is, or with registers that spill, by the
/// kernel's name, and one on those that can panic.
pub(crate) fn warnings(tree: &Tree<'_>, resources: &[Resources]) -> BTreeMap<String, String> {
    let mut warnings = BTreeMap::new();
    for entry in tree.entries() {
        let (mut named, mut at) = (BTreeSet::new(), None);
        tree.instructions(entry, |instruction, place| {
            at = at.or(place);
            for operand in &instruction.operands {
                operand.names(&mut |name| _ = named.insert(name));
            }
        });
        let with_others = tree.variables.iter().filter(|variable| variable.space == "shared");
        let with_others = with_others.filter(|variable| named.contains(variable.name));
        let bytes = declared_bytes(entry, "shared")
            + with_others.map(|variable| variable.bytes() as usize).sum::<usize>();
        let kernel = entry.name;
        let at = at.map(|(file, line)| format!(" at {file}:{line}")).unwrap_or_default();
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
            let is_bounded = [".maxntid", ".minnctapersm"].iter().any(|it| entry.text.contains(it));
            let cause = if is_bounded { "its launch bounds leave it" } else { "a thread has" };
            let sentence = format!(
                "kernel `{kernel}`{at} stores and loads {spills} bytes of registers to local memory, because {cause} too \
                 few: let a thread do less at once, or bound its launches to fewer threads or blocks"
            );
            warnings.insert(kernel.to_owned(), sentence);
        }
    }
    // One for all kernels.
    warnings.extend(panics(tree).map(|sentence| (String::new(), sentence)));
    warnings
}

/// Warns of kernels whose panics print, which costs each thread a stack and registers, also without a panic.
fn panics(tree: &Tree<'_>) -> Option<String> {
    const PRINTS: [&str; 2] = ["9panicking", "rust_begin_unwind"];
    let is_of_panics = |name: &str| PRINTS.iter().any(|part| name.contains(part));
    let panics = |entry: &&Function<'_>| calls(tree, entry).into_iter().any(is_of_panics);
    let names: Vec<&str> = tree.entries().filter(panics).map(|entry| entry.name).collect();
    let frames = tree.functions.iter().filter(|it| !it.is_entry && is_of_panics(it.name));
    let bytes: usize = frames.map(|function| declared_bytes(function, "local")).sum();
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

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".shared .align 16 .b8 both[40000];\n.extern .shared .align 16 .b8 dynamic[];\n\
        .visible .entry large()\n{\n\t.shared .align 4 .b8 own[9153];\n\
        \t.loc\t1 9 0                          // kernels/src/a.rs:9:0\n\
        \tmov.b64 %rd1, both;\n\tret;\n}\n\
        .visible .entry fits()\n.maxntid 1024\n{\n\t.shared .align 4 .b8 own[9152];\n\
        \t.loc\t1 20 0                          // kernels/src/a.rs:20:0\n\
        \tmov.b64 %rd1, both_of_us;\n\tret;\n}\n.file 1 \"kernels/src/a.rs\"\n";

    fn of(text: &str, resources: &[Resources]) -> BTreeMap<String, String> {
        warnings(&ptx::parse(text).expect("it is PTX"), resources)
    }

    #[test]
    fn too_much_shared_memory_is_told_with_kernel_and_line() {
        let found = of(PTX, &[]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["large"]);
        let start = "kernel `large` at kernels/src/a.rs:9 has 49153 bytes of static shared memory, and a block may have 49152";
        assert!(found["large"].starts_with(start), "{}", found["large"]);
        assert!(of(&PTX.replace("9153", "9152"), &[]).is_empty(), "all that there is");
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
        let panics = |text: &str| panics(&ptx::parse(text).expect("it is PTX"));
        let said = panics(&two).expect("two can panic");
        assert!(said.starts_with("kernel `a` and 1 more can panic, and a panic prints"), "{said}");
        assert!(said.contains("takes 224 bytes of stack"), "{said}");
        assert_eq!(panics(&[panic, &entry("b", "call.uni vprintf, (p);")].concat()), None);
        assert_eq!(panics(&entry("a", call)), None, "a panic that only traps has no frame");
    }

    #[test]
    fn registers_that_spill_are_told_with_kernel_and_line() {
        let spilled = |spill_store_bytes| Resources {
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
        let found = of(&small, &[spilled(12)]);
        let start = "kernel `fits` at kernels/src/a.rs:20 stores and loads 24 bytes of registers to local memory, because \
                     its launch bounds leave it too few";
        assert!(found["fits"].starts_with(start), "{}", found["fits"]);
        assert!(of(&small, &[spilled(0)]).is_empty());
    }
}
