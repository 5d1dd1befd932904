//! What a kernel's PTX consists of, counted: the instructions its documentation promises.

use std::collections::BTreeMap;

/// The instructions of one kernel, as written in the PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelFacts {
    /// The entry's name.
    pub kernel: String,
    /// How often each memory, barrier, warp and multiply-add instruction occurs, by its opcode with
    /// all modifiers, such as `ld.global.v4.b32`.
    pub instructions: BTreeMap<String, usize>,
    /// Bytes of static shared memory declared inside the kernel.
    pub shared_bytes: usize,
    /// Bytes of local memory declared inside the kernel.
    pub local_bytes: usize,
    /// The parameters' types, in order.
    pub parameters: Vec<String>,
}

/// The opcodes worth counting: what moves data or orders it.
const COUNTED: [&str; 17] = [
    "ld", "st", "atom", "red", "cp", "bar", "barrier", "membar", "fence", "shfl", "vote", "match",
    "redux", "fma", "mbarrier", "prefetch", "ldu",
];

/// Counts the instructions of every kernel in `ptx`, in the order of the file.
pub fn of(ptx: &str) -> Vec<KernelFacts> {
    let mut kernels = Vec::new();
    let mut current: Option<KernelFacts> = None;
    for line in ptx.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some(rest) = line.strip_prefix(".visible .entry ") {
            let kernel = rest.trim_end_matches(['(', ')']).to_owned();
            current = Some(KernelFacts { kernel, ..KernelFacts::default() });
        }
        let Some(facts) = &mut current else { continue };
        if line == "}" {
            kernels.extend(current.take());
        } else if let Some(parameter) = line.strip_prefix(".param ") {
            facts.parameters.push(parameter.split(' ').next().unwrap_or_default().to_owned());
        } else if line.starts_with(".shared ") {
            facts.shared_bytes += declared_bytes(line);
        } else if line.starts_with(".local ") {
            facts.local_bytes += declared_bytes(line);
        } else if let Some(opcode) = opcode(line) {
            *facts.instructions.entry(opcode).or_default() += 1;
        }
    }
    kernels
}

/// The statics in constant memory that `ptx` declares, each with its bytes.
pub(crate) fn constants(ptx: &str) -> Vec<(String, usize)> {
    let declarations = ptx.lines().filter_map(|line| {
        let (linkage, rest) = line.split_once(".const ")?;
        // `.visible .const .align 4 .b8 table[64] = {..};`, without `[64]` for a scalar.
        linkage.split_whitespace().all(|word| word.starts_with('.')).then_some(rest)
    });
    declarations
        .filter_map(|rest| {
            let mut words = rest.split_whitespace().skip_while(|word| !is_type(word));
            let bits: usize = words.next()?[2..].parse().ok()?;
            let name = words.next()?.trim_end_matches(';');
            let (name, count) = match name.split_once('[') {
                Some((name, count)) => (name, count.trim_end_matches(']').parse().ok()?),
                None => (name, 1),
            };
            Some((name.to_owned(), bits / 8 * count))
        })
        .collect()
}

/// Whether a word is a type such as `.b8` or `.f64`.
fn is_type(word: &str) -> bool {
    let kind = word.strip_prefix(['.']).and_then(|name| name.strip_prefix(['b', 'u', 's', 'f']));
    kind.is_some_and(|bits| bits.parse::<usize>().is_ok())
}

/// The opcode of an instruction line, if it is one worth counting.
fn opcode(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let word = if first.starts_with('@') { words.next()? } else { first };
    let opcode = word.trim_end_matches(';');
    let stem = opcode.split('.').next()?;
    (COUNTED.contains(&stem) && !opcode.starts_with("ld.param")).then(|| opcode.to_owned())
}

/// The size of `.shared .align 4 .b8 name[4224];`.
fn declared_bytes(line: &str) -> usize {
    line.rsplit('[')
        .next()
        .and_then(|rest| rest.split(']').next())
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_their_names_and_bytes() {
        let ptx = ".version 8.0\n.visible .const .align 4 .b8 table[3968];\n\
            .visible .const .align 8 .f64 factor = 0d3FF0000000000000;\n\
            .const .align 8 .u64 places[2] = {table, 5};\n.visible .global .align 4 .b8 other[8];\n\
            \tld.const.b32 \t%r1, [table];\n";
        let found = constants(ptx);
        let found: Vec<_> = found.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
        assert_eq!(found, [("table", 3968), ("factor", 8), ("places", 16)]);
    }

    #[test]
    fn instructions_are_counted_per_kernel() {
        let ptx = ".visible .entry f(\n\t.param .u64 .ptr .align 1 f_param_0,\n\t.param .u32 f_param_1\n)\n{\n\
            \t.shared .align 4 .b8 tile[4224];\n\tld.param.b64 \t%rd1, [f_param_0];\n\
            \t@%p1 ld.global.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1]; // a comment with st.global\n\
            \tbar.sync \t0;\n\tst.shared.b32 \t[%rd2], %r1;\n\tst.shared.b32 \t[%rd2+4], %r1;\n\tret;\n}\n\
            .visible .entry g()\n{\n\tret;\n}\n";
        let facts = of(ptx);
        assert_eq!(facts.len(), 2);
        assert_eq!(facts[0].kernel, "f");
        assert_eq!(facts[0].parameters, [".u64", ".u32"]);
        assert_eq!(facts[0].shared_bytes, 4224);
        let counted: Vec<_> =
            facts[0].instructions.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(counted, [("bar.sync", 1), ("ld.global.v4.b32", 1), ("st.shared.b32", 2)]);
        assert_eq!(facts[1], KernelFacts { kernel: "g".into(), ..KernelFacts::default() });
    }
}
