//! PTX as text: the entry of a task's kernel, its parameters and its shared memory.

use anyhow::{Context, Result, bail};

/// The sizes of the parameters of an entry, in bytes.
pub fn parameters(ptx: &str, entry: &str) -> Result<Vec<u64>> {
    let tree = ptx::parse(ptx)?;
    let function = tree.entry(entry).with_context(|| {
        let found: Vec<&str> = tree.entries().map(|entry| entry.name).collect();
        let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
        format!("there is no kernel `{entry}` (found: {found}): keep its name; in CUDA C++ declare it extern \"C\"")
    })?;
    Ok(function.parameters.iter().map(|parameter| parameter.bytes()).collect())
}

/// The sizes of the parameters that a Rust kernel declares.
///
/// # Errors
/// A sentence, when it is not there or a type is not known.
pub fn declared(source: &str, kernel: &str) -> Result<Vec<u64>> {
    let list = signature(source, kernel)?;
    let inside = list.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
    let (inside, _) = inside.context("a signature has parentheses")?;
    let parameters = inside.split(',').map(str::trim).filter(|one| !one.is_empty());
    parameters
        .map(|one| match one.split_once(':').map(|(_, kind)| kind.trim()) {
            Some(kind) if kind.starts_with('*') => Ok(8),
            Some("u64" | "i64" | "f64" | "usize") => Ok(8),
            Some("u32" | "i32" | "f32") => Ok(4),
            _ => bail!("the type of `{one}` is not one of those that tasks use"),
        })
        .collect()
}

/// The signature of a kernel, on one line: `rows(source: *const f32, n: u32)`.
pub fn signature(source: &str, kernel: &str) -> Result<String> {
    let start = source
        .find(&format!("fn {kernel}("))
        .with_context(|| format!("the file has no `fn {kernel}`: keep the signature"))?;
    let rest = &source[start + 3..];
    let end = rest.find('{').context("the kernel has no body")?;
    let text = rest[..end].split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(text.replace("( ", "(").replace(", )", ")"))
}

/// A text without the entries of other kernels: what remains is loaded faster, and finds nothing else by its name.
pub fn only(ptx: &str, entry: &str) -> String {
    let Ok(tree) = ptx::parse(ptx) else { return ptx.to_owned() };
    let others = tree.entries().filter(|other| other.name != entry);
    others.fold(ptx.to_owned(), |text, other| text.replacen(other.text, "", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n.shared .align 4 .b8 tile[4224];\n.visible .entry scale(\n\t.param .u64 .ptr .align 1 scale_param_0,\n\t.param .u32 scale_param_1,\n\t.param .align 4 .b8 scale_param_2[12]\n)\n{\n\tmov.b64 %r, tile;\n\tret;\n}\n.visible .entry other()\n{\n\tret;\n}\n\t.file\t1 \"x.rs\"\n";

    #[test]
    fn parameters_are_those_of_the_entry() {
        assert_eq!(parameters(PTX, "scale").unwrap(), [8, 4, 12]);
        assert!(parameters(PTX, "other").unwrap().is_empty());
        let error = parameters(PTX, "scal").unwrap_err().to_string();
        assert!(error.contains("no kernel `scal` (found: scale, other)"), "{error}");
        let own = only(PTX, "scale");
        assert!(own.contains("x.rs") && own.contains("%r, tile") && !own.contains("other"));
    }

    #[test]
    fn a_rust_signature_has_the_same_sizes() {
        let source = "#[kernel]\npub unsafe fn scale(\n    x: *const f32,\n    n: u32,\n) {\n}\n";
        assert_eq!(declared(source, "scale").unwrap(), [8, 4]);
        assert_eq!(signature(source, "scale").unwrap(), "scale(x: *const f32, n: u32)");
        assert!(declared(source, "other").unwrap_err().to_string().contains("keep the signature"));
    }
}
