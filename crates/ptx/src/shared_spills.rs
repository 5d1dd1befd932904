//! Kernels whose registers spill to shared memory: a wish to the assembler, which only newer ones understand.
//!
//! PTX written for an old driver cannot have the directive. So the text notes the kernels in a comment, and who hands it to
//! a driver that is new enough writes the directive. An older driver assembles the text as it is, and spills to local memory.
//!
//! ```
//! use ptx::shared_spills;
//! let mut text = "//\n.version 8.0\n.target sm_90\n.visible .entry k()\n{\n\tret;\n}\n".to_owned();
//! shared_spills::mark(&mut text, &["k"]);
//! let directed = shared_spills::directed(&text, (9, 0)).expect("the driver knows the directive");
//! assert!(directed.contains(".version 9.0") && directed.contains(".pragma \"enable_smem_spilling\";"));
//! assert!(shared_spills::directed(&text, (8, 5)).is_none());
//! ```
//!
//! Source: PTX ISA, "Pragma Strings: enable_smem_spilling".

/// The beginning of the comment.
const MARK: &str = "// spills to shared memory: ";
/// The version of PTX that has the directive.
const VERSION: (u32, u32) = (9, 0);

/// Notes at the end of `text` which kernels spill to shared memory.
pub fn mark(text: &mut String, kernels: &[&str]) {
    if !kernels.is_empty() {
        *text += &format!("{MARK}{}\n", kernels.join(" "));
    }
}

/// Returns the kernels that a text notes.
pub fn marked(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(MARK));
    lines.flat_map(str::split_whitespace)
}

/// Returns the text with the directive in the kernels that it notes, if it notes some and a reader of PTX up to `newest`
/// knows the directive.
pub fn directed(text: &str, newest: (u32, u32)) -> Option<String> {
    if newest < VERSION || marked(text).next().is_none() {
        return None;
    }
    let mut directed = text.to_owned();
    for kernel in marked(text) {
        let body = directed.find(&format!(".entry {kernel}(")).and_then(|entry| {
            directed[entry..].find("\n{\n").map(|length| entry + length + "\n{".len())
        });
        if let Some(body) = body {
            // On the line of the brace: what is said of lines of the text holds for both.
            directed.insert_str(body, " .pragma \"enable_smem_spilling\";");
        }
    }
    let directive = "\n.version ";
    let start = directed.find(directive)? + directive.len();
    let end = start + directed[start..].find('\n')?;
    let (major, minor) = directed[start..end].trim().split_once('.')?;
    let written = (major.parse().ok()?, minor.parse().ok()?);
    let (major, minor) = VERSION.max(written);
    directed.replace_range(start..end, &format!("{major}.{minor}"));
    Some(directed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_kernels_that_are_noted_have_the_directive() {
        let entry =
            |name: &str| format!(".visible .entry {name}(\n\t.param .u64 p\n)\n{{\n\tret;\n}}\n");
        let plain = format!("//\n.version 8.1\n.target sm_90\n{}{}", entry("one"), entry("other"));
        assert!(directed(&plain, (9, 0)).is_none(), "nothing is noted");
        let mut text = plain.clone();
        mark(&mut text, &["other"]);
        let found = directed(&text, (9, 1)).expect("it is noted");
        let (before, after) = found.split_once(".pragma").expect("the directive is there");
        assert!(before.ends_with(")\n{ ") && before.contains(".entry other("), "{found}");
        assert!(!after.contains(".pragma") && found.contains(".version 9.0\n"), "{found}");
        assert_eq!(found.lines().count(), text.lines().count(), "lines keep their numbers");
        crate::parse(&found).expect("it is PTX");
    }
}
