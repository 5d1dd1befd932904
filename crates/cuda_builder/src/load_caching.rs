//! Caches that plain loads use, for a whole module, as by `-dlcm` of NVIDIA's assembler.

/// Caches of plain loads of global and generic memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadCaching {
    /// As the driver's compiler has it, which depends on the device.
    #[default]
    Default,
    /// In L1 and L2: `.ca`, as `-dlcm=ca`.
    AllLevels,
    /// In L2 only: `.cg`, as `-dlcm=cg`.
    L2Only,
}

impl LoadCaching {
    fn operator(self) -> Option<&'static str> {
        match self {
            LoadCaching::Default => None,
            LoadCaching::AllLevels => Some(".ca"),
            LoadCaching::L2Only => Some(".cg"),
        }
    }
}

/// Gives each plain load of global or generic memory the cache operator. A load that says something of its own is left
/// as it is: a cache operator, an eviction priority, volatile, relaxed or acquire, or the read-only path.
pub(crate) fn mark(ptx: &mut String, caching: LoadCaching) {
    let Some(operator) = caching.operator() else { return };
    let mut out = String::with_capacity(ptx.len() + ptx.len() / 64);
    for line in ptx.split_inclusive('\n') {
        match plain_load(line) {
            Some(at) => {
                let (before, after) = line.split_at(at);
                out.extend([before, operator, after]);
            }
            None => out.push_str(line),
        }
    }
    *ptx = out;
}

/// Returns the operator's offset in a line that is such a load: behind `ld` or `ld.global`.
fn plain_load(line: &str) -> Option<usize> {
    let start = line.find(|c: char| !c.is_whitespace())?;
    // A guard comes first.
    let start = if line[start..].starts_with('@') {
        let gap = start + line[start..].find(char::is_whitespace)?;
        gap + line[gap..].find(|c: char| !c.is_whitespace())?
    } else {
        start
    };
    let opcode = line[start..].split_whitespace().next()?;
    let parts = opcode.strip_prefix("ld.")?;
    let (space, rest) = match parts.strip_prefix("global.") {
        Some(rest) => (".global", rest),
        None => ("", parts),
    };
    let rest = ["v2.", "v4.", "v8."].iter().find_map(|v| rest.strip_prefix(v)).unwrap_or(rest);
    let width = rest.strip_prefix(['b', 'u', 's', 'f'])?;
    (width.parse::<u32>().is_ok()).then_some(start + "ld".len() + space.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(line: &str, caching: LoadCaching) -> String {
        let mut text = line.to_owned();
        mark(&mut text, caching);
        text
    }

    #[test]
    fn plain_loads_of_global_and_generic_memory_get_the_operator() {
        for (before, after) in [
            ("\tld.global.b32 \t%r1, [%rd2];\n", "\tld.global.cg.b32 \t%r1, [%rd2];\n"),
            (
                "\tld.global.v4.b32 \t{%r1, %r2}, [%rd2];\n",
                "\tld.global.cg.v4.b32 \t{%r1, %r2}, [%rd2];\n",
            ),
            ("@%p1 ld.u64 %rd1, [%rd2];", "@%p1 ld.cg.u64 %rd1, [%rd2];"),
            ("  ld.f32 %f1, [%rd2];", "  ld.cg.f32 %f1, [%rd2];"),
        ] {
            assert_eq!(marked(before, LoadCaching::L2Only), after);
            assert_eq!(marked(before, LoadCaching::AllLevels), after.replace(".cg", ".ca"));
            assert_eq!(marked(before, LoadCaching::Default), before);
        }
    }

    #[test]
    fn loads_that_say_something_of_their_own_are_left() {
        for line in [
            "ld.global.nc.b32 %r1, [%rd2];",
            "ld.global.cs.b32 %r1, [%rd2];",
            "ld.global.L1::no_allocate.b32 %r1, [%rd2];",
            "ld.volatile.global.b32 %r1, [%rd2];",
            "ld.relaxed.gpu.global.b32 %r1, [%rd2];",
            "ld.param.b64 %rd1, [f_param_0];",
            "ld.shared.b32 %r1, [%r2];",
            "ld.const.v2.b32 {%r1, %r2}, [table];",
            "ld.local.b32 %r1, [%rd2];",
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];",
            "st.global.b32 [%rd2], %r1;",
            "// ld.global.b32",
        ] {
            assert_eq!(marked(line, LoadCaching::L2Only), line);
        }
    }
}
