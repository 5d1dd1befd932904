//! Counts of a kernel's PTX: the instructions its documentation promises.

use ptx::tree::{Function, Instruction, Tree};
use std::collections::BTreeMap;

/// The instructions of one kernel, as written in the PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelFacts {
    /// The entry's name.
    pub kernel: String,
    /// Counts of memory, barrier, warp and multiply-add instructions, by opcode with modifiers, such as
    /// `ld.global.v4.b32`.
    pub instructions: BTreeMap<String, usize>,
    /// Bytes of static shared memory declared inside the kernel.
    pub shared_bytes: usize,
    /// Bytes of local memory declared inside the kernel.
    pub local_bytes: usize,
}

/// The opcodes worth counting: what moves data or orders it.
const COUNTED: [&str; 17] = [
    "ld", "st", "atom", "red", "cp", "bar", "barrier", "membar", "fence", "shfl", "vote", "match",
    "redux", "fma", "mbarrier", "prefetch", "ldu",
];

/// Counts the instructions of every kernel, in the order of the text.
pub fn kernel_facts(tree: &Tree<'_>) -> Vec<KernelFacts> {
    tree.entries().map(|entry| facts(tree, entry)).collect()
}

fn facts<'a>(tree: &Tree<'a>, entry: &Function<'a>) -> KernelFacts {
    let mut instructions = BTreeMap::new();
    tree.instructions(entry, |instruction: &Instruction<'_>, _| {
        let reads_parameter =
            instruction.opcode == "ld" && instruction.modifiers.contains(&"param");
        if COUNTED.contains(&instruction.opcode) && !reads_parameter {
            *instructions.entry(instruction.text()).or_default() += 1;
        }
    });
    KernelFacts {
        kernel: entry.name.to_owned(),
        instructions,
        shared_bytes: declared_bytes(entry, "shared"),
        local_bytes: declared_bytes(entry, "local"),
    }
}

/// The bytes that a function declares in a state space.
pub(crate) fn declared_bytes(function: &Function<'_>, space: &str) -> usize {
    function.variables(space).iter().map(|(_, bytes)| *bytes as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_counted_per_kernel() {
        let ptx = ".visible .entry f(\n\t.param .u64 .ptr .align 1 f_param_0,\n\t.param .u32 f_param_1\n)\n{\n\
            \t.shared .align 4 .b8 tile[4224];\n\tld.param.b64 \t%rd1, [f_param_0];\n\
            \t@%p1 ld.global.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1]; // a comment with st.global\n\
            \tbar.sync \t0;\n\tst.shared.b32 \t[%rd2], %r1;\n\tst.shared.b32 \t[%rd2+4], %r1;\n\tret;\n}\n\
            .visible .entry g()\n{\n\tret;\n}\n";
        let facts = kernel_facts(&ptx::parse(ptx).expect("it is PTX"));
        assert_eq!(facts.len(), 2);
        assert_eq!(facts[0].kernel, "f");
        assert_eq!(facts[0].shared_bytes, 4224);
        let counted: Vec<_> =
            facts[0].instructions.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(counted, [("bar.sync", 1), ("ld.global.v4.b32", 1), ("st.shared.b32", 2)]);
        assert_eq!(facts[1], KernelFacts { kernel: "g".into(), ..KernelFacts::default() });
    }
}
