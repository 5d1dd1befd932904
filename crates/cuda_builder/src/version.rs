//! The version of PTX that a module asks the driver for.
//!
//! LLVM writes the one it is told, that of the oldest supported driver, and knows nothing of inline assembly. An instruction
//! that came later raises the version of the modules that have it, and of no other.

use ptx::tree::{Instruction, Tree};

/// The version with vectors of atomic additions, and with stores that an mbarrier counts (PTX ISA, "red", "st.async").
const VECTORS_AND_ASYNCHRONOUS_STORES: (u32, u32) = (8, 1);

/// Returns the version that the module's newest instruction needs, if it is newer than the one that is written.
pub(crate) fn needed(tree: &Tree<'_>) -> Option<(u32, u32)> {
    let mut needed = tree.version;
    for function in &tree.functions {
        tree.instructions(function, |instruction, _| needed = needed.max(since(instruction)));
    }
    (needed > tree.version).then_some(needed)
}

/// Writes the version.
pub(crate) fn write(ptx: &mut String, (major, minor): (u32, u32)) {
    const DIRECTIVE: &str = "\n.version ";
    let Some(at) = ptx.find(DIRECTIVE).map(|at| at + DIRECTIVE.len()) else { return };
    let end = ptx[at..].find('\n').map_or(ptx.len(), |length| at + length);
    ptx.replace_range(at..end, &format!("{major}.{minor}"));
}

/// Returns the version with which an instruction came.
fn since(instruction: &Instruction<'_>) -> (u32, u32) {
    let has = |name| instruction.modifiers.contains(&name);
    let is_newer = match instruction.opcode {
        "st" => has("async"),
        "red" => has("async") || has("v2") || has("v4") || has("v8"),
        "atom" => has("v2") || has("v4") || has("v8"),
        _ => false,
    };
    if is_newer { VECTORS_AND_ASYNCHRONOUS_STORES } else { (0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_instructions_raise_the_version() {
        let module = |code: &str, version: &str| {
            format!("//\n.version {version}\n.target sm_90\n.entry k() {{\n{code}\nret;\n}}\n")
        };
        let read = |text: &str| needed(&ptx::parse(text).expect("it is PTX"));
        let vector = "red.relaxed.gpu.global.add.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};";
        let store =
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r2, [%r3];";
        for newer in [vector, store] {
            let mut text = module(newer, "8.0");
            assert_eq!(read(&text), Some((8, 1)), "{newer}");
            write(&mut text, (8, 1));
            assert_eq!(text, module(newer, "8.1"));
            assert_eq!(read(&module(newer, "8.6")), None, "a newer target's version stays");
        }
        assert_eq!(read(&module("st.global.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};", "8.0")), None);
        assert_eq!(read(&module("red.global.add.f32 [%rd1], %f1;", "8.0")), None);
    }
}
