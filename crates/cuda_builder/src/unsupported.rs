//! Operations that LLVM cannot turn into PTX: its crash, told as the operation and the line of Rust that asks for it.

use crate::error::CudaBuilderError;

/// The words of `llc` before the kernel that it could not lower.
const FUNCTION: &str = "on function '@";
const REASON: &str = "LLVM ERROR: ";

/// The error behind what `llc` printed of the module `ir`; none when it did not end within a function.
pub(crate) fn error(printed: &str, ir: &str) -> Option<CudaBuilderError> {
    let function = printed.split_once(FUNCTION)?.1.split('\'').next()?;
    let reason = printed.split_once(REASON).and_then(|(_, rest)| rest.lines().next());
    let body = ir.split("\ndefine ").find(|body| {
        let head = body.lines().next().unwrap_or_default();
        head.contains(&format!("@{function}(")) || head.contains(&format!("@\"{function}\"("))
    })?;
    let body = body.split("\n}").next().unwrap_or(body);
    let found = body.lines().find_map(|line| Some((operation(line)?, place(line, ir))));
    let (operation, place) = found.unwrap_or_default();
    Some(CudaBuilderError::NotLowered {
        function: function.to_owned(),
        place: place.map(|place| format!(" at {place}")).unwrap_or_default(),
        operation: if operation.is_empty() {
            reason.unwrap_or("LLVM gives no reason").to_owned()
        } else {
            operation
        },
    })
}

/// The instruction's operation in words if it is one that LLVM has no PTX for.
fn operation(line: &str) -> Option<String> {
    let (_, instruction) = line.split_once(" = ")?;
    let words: Vec<&str> = instruction.split([' ', ',']).collect();
    let (first, to) = (*words.first()?, words.iter().position(|word| *word == "to"));
    let is_conversion = ["fptoui", "fptosi", "uitofp", "sitofp"].contains(&first);
    let is_saturating = instruction.contains("@llvm.fptoui.sat.i128")
        || instruction.contains("@llvm.fptosi.sat.i128");
    if is_saturating
        || (is_conversion
            && (words.contains(&"i128") || to.is_some_and(|to| words.get(to + 1) == Some(&"i128"))))
    {
        return Some("PTX has no conversion between floats and integers of 128 bits; convert by way of 64 bits".to_owned());
    }
    ["fp128", "x86_fp80", "ppc_fp128"]
        .iter()
        .any(|kind| words.contains(kind))
        .then(|| "PTX has no floats of more than 64 bits; use f64".to_owned())
}

/// Returns the place of an instruction, as `path:line`.
fn place(line: &str, ir: &str) -> Option<String> {
    let location = metadata(ir, line.split_once("!dbg ")?.1)?;
    let number = field(location, "line: ")?;
    let mut scope = metadata(ir, field(location, "scope: ")?)?;
    loop {
        if let Some(file) = field(scope, "file: ") {
            let name = metadata(ir, file)?.split_once("filename: \"")?.1;
            return Some(format!("{}:{number}", name.split('"').next()?));
        }
        scope = metadata(ir, field(scope, "scope: ")?)?;
    }
}

/// A line of metadata by its name, such as `!12`.
fn metadata<'a>(ir: &'a str, name: &str) -> Option<&'a str> {
    let digits = name.trim_start_matches('!').split(|c: char| !c.is_ascii_digit()).next()?;
    ir.split_once(&format!("\n!{digits} = "))?.1.lines().next()
}

/// A field of a line of metadata.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_once(name)?.1.split([',', ')']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "LLVM ERROR: unsupported library call operation\nStack dump:\n\
        2.\tRunning pass 'NVPTX DAG->DAG Pattern Instruction Selection' on function '@wide'\n";
    const IR: &str = "; a module\n\ndefine ptx_kernel void @other() {\n  %1 = fptoui float %x to i64, !dbg !3\n}\n\n\
        define ptx_kernel void @wide(ptr %a) {\n  %2 = load float, ptr %a, !dbg !3\n  \
        %3 = tail call i128 @llvm.fptoui.sat.i128.f32(float %2), !dbg !3\n}\n\n\
        !1 = !DIFile(filename: \"kernels/src/lib.rs\", directory: \"/x\")\n\
        !2 = distinct !DISubprogram(name: \"wide\", scope: !9, file: !1, line: 5)\n\
        !3 = !DILocation(line: 7, column: 3, scope: !2)\n";

    #[test]
    fn a_crash_becomes_a_sentence_with_kernel_and_line() {
        let text = error(PRINTED, IR).expect("it names a function").to_string();
        assert!(text.contains("`wide` at kernels/src/lib.rs:7"), "{text}");
        assert!(text.contains("no conversion between floats and integers of 128 bits"), "{text}");
        assert!(!text.contains('\n'), "{text}");
    }

    #[test]
    fn an_unknown_cause_is_told_in_llvm_s_words() {
        let text =
            error(PRINTED, &IR.replace("i128", "i64")).expect("it names a function").to_string();
        assert!(text.contains("`wide`") && text.contains("unsupported library call"), "{text}");
        assert!(error("LLVM ERROR: no such file", IR).is_none());
    }
}
