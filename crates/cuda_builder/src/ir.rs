//! Rewrites textual LLVM IR: what rustc cannot say about a GPU is added here.
//!
//! - Statics in section `.shared`, `.constant`, `.global` or `.managed` move to their address space.
//!   Managed ones are global, with an annotation. Every use becomes an `addrspacecast` to a generic pointer; LLVM's address-space inference then turns the
//!   loads and stores back into `ld.shared`, `ld.const`, ...
//! - `__dynamic_shared_memory` becomes the array whose size the launch gives, 16-byte aligned.
//! - `__coalesce_shared_address` gets its body: the cast from a generic pointer to one of shared memory.
//! - `__coalesce_convergent` gets its body: no instruction, but one that LLVM must not copy, so that it copies no block of
//!   instructions that has it.
//! - `__coalesce_attributes_<kernel>` constants (written by `#[kernel]`) become
//!   function attributes and disappear.
//! - An atomic read-modify-write with an ordering becomes a relaxed one between fences, because LLVM writes `atom` without
//!   the ordering.
//! - A remainder of floats becomes a call of `cuda_std`'s, because LLVM takes it from a rounded quotient.
//! - `target-cpu` attributes go: `core` was compiled once for every architecture, and LLVM does not
//!   inline between functions whose attributes differ.
//! - Line tables keep only the `.loc` directives: no DWARF sections reach the PTX.

use crate::error::CudaBuilderError;
use std::collections::HashMap;
use std::fmt::Write;

/// The name that device code gives dynamic shared memory.
const DYNAMIC_SHARED: &str = "__dynamic_shared_memory";
/// The function that device code calls for the address of a generic pointer within shared memory.
const SHARED_ADDRESS: &str = "@__coalesce_shared_address(";
const SHARED_ADDRESS_BODY: &str =
    "define internal i32 @__coalesce_shared_address(ptr %pointer) alwaysinline {
  %shared = addrspacecast ptr %pointer to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  ret i32 %address
}";
/// The function that device code calls before inline assembly that all lanes of a warp must execute together. A
/// function without a body is convergent to rustc and LLVM, inline assembly of rustc's is not.
const CONVERGENT: &str = "@__coalesce_convergent(";
const CONVERGENT_BODY: &str =
    "define internal void @__coalesce_convergent() alwaysinline convergent {
  call void asm sideeffect \"\", \"\"() convergent
  ret void
}";
/// The functions of `cuda_std` with the exact remainder of Rust's `%`, for `float` and `double`.
const REMAINDERS: [(&str, &str); 2] =
    [("float", "@__coalesce_remainder_f32("), ("double", "@__coalesce_remainder_f64(")];
/// The prefix of the constants that carry kernel attributes.
pub(crate) const ATTRIBUTES: &str = "__coalesce_attributes_";
/// The function attribute of a kernel whose local memory is meant. LLVM hands on attributes that it does not know.
pub(crate) const LOCAL_MEMORY: &str = "\"coalesce-local-memory\"";
/// The function attribute of a kernel whose registers spill to shared memory.
pub(crate) const SHARED_SPILLS: &str = "\"coalesce-shared-spills\"";
/// The first word of such a constant.
const ATTRIBUTES_FORMAT: u32 = 3;

/// An LLVM address space with its number on NVPTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AddressSpace {
    Global = 1,
    Shared = 3,
    Constant = 4,
}

/// A line that defines or declares a global variable: `@name = rest`.
pub(crate) struct Definition<'a> {
    pub(crate) name: &'a str,
    pub(crate) rest: &'a str,
}

/// Rewrites a whole module as described above.
pub(crate) fn rewrite(module: &str) -> Result<String, CudaBuilderError> {
    let mut spaces = HashMap::new();
    let mut attributes = HashMap::new();
    for definition in module.lines().filter_map(definition) {
        let plain = unquoted(definition.name);
        if let Some(kernel) = plain.strip_prefix(ATTRIBUTES) {
            if let Some(text) = function_attributes(definition.rest) {
                attributes.insert(kernel.to_owned(), text);
            }
        } else if let Some(space) = address_space(&definition)? {
            spaces.insert(definition.name, space);
        }
    }

    let managed: Vec<&str> = module
        .lines()
        .filter_map(definition)
        .filter(|definition| section(definition.rest) == Some(".managed"))
        .map(|definition| definition.name)
        .collect();
    let mut out = String::with_capacity(module.len() + module.len() / 8);
    for line in module.lines() {
        if let Some(definition) = definition(line) {
            if unquoted(definition.name).starts_with(ATTRIBUTES) {
                continue;
            }
            if let Some(line) = used_list(line) {
                let _ = writeln!(out, "{}", cast_uses(&line, &spaces));
                continue;
            }
            if let Some(space) = spaces.get(definition.name) {
                let body = redefine(&definition, *space)?;
                let _ = writeln!(out, "{} = {}", definition.name, cast_uses(&body, &spaces));
                continue;
            }
        }
        if line.starts_with("declare ") && line.contains(SHARED_ADDRESS) {
            let _ = writeln!(out, "{SHARED_ADDRESS_BODY}");
        } else if line.starts_with("declare ") && line.contains(CONVERGENT) {
            let _ = writeln!(out, "{CONVERGENT_BODY}");
        } else if line.starts_with("attributes #") {
            let _ = writeln!(out, "{}", without_target_attributes(line));
        } else if line.starts_with("define ") {
            let line = with_kernel_attributes(line, &attributes);
            // Nobody outside calls it.
            let is_own = REMAINDERS.iter().any(|(_, name)| line.contains(name));
            let line = if is_own { line.replacen("define ", "define internal ", 1) } else { line };
            let _ = writeln!(out, "{line}");
        } else if line.contains("emissionKind: LineTablesOnly") {
            let line =
                line.replace("emissionKind: LineTablesOnly", "emissionKind: DebugDirectivesOnly");
            let _ = writeln!(out, "{line}");
        } else if let Some(exact) = exact_remainder(line) {
            let _ = writeln!(out, "{exact}");
        } else if let Some(ordered) = ordered_atomic(line) {
            let _ = writeln!(out, "{}", cast_uses(&ordered, &spaces));
        } else {
            let _ = writeln!(out, "{}", cast_uses(line, &spaces));
        }
    }
    annotate_managed(&mut out, &managed);
    Ok(out)
}

/// An atomic read-modify-write with an ordering as fences around a relaxed one; `None` for any other line.
///
/// These are the release and acquire patterns of the PTX ISA, "Memory Consistency Model".
fn ordered_atomic(line: &str) -> Option<String> {
    let (before, rest) = line.split_once(", align ")?;
    let operation = before.split_once(" = ")?.1.split(' ').next()?;
    let mut words: Vec<&str> = before.split(' ').collect();
    // A compare-and-swap has two orderings, the second for when it fails.
    let orderings = match operation {
        "atomicrmw" => 1,
        "cmpxchg" => 2,
        _ => return None,
    };
    let at = words.len().checked_sub(orderings)?;
    let ordering = words[at];
    let [first, last] = match ordering {
        "monotonic" if words.last() != Some(&"acquire") => return None,
        "monotonic" => [None, None],
        "acquire" => [None, Some("acquire")],
        "release" => [Some("release"), None],
        "acq_rel" => [Some("release"), Some("acquire")],
        "seq_cst" => [Some("seq_cst"), Some("acquire")],
        _ => return None,
    };
    // What reads only when it fails may still have to acquire.
    let last = last.or((words.last() == Some(&"acquire")).then_some("acquire"));
    words[at..].fill("monotonic");
    let fence = |ordering: Option<&str>| ordering.map(|it| format!("  fence {it}\n"));
    let [first, last] = [first, last].map(|it| fence(it).unwrap_or_default());
    Some(format!("{first}{}, align {rest}\n{last}", words.join(" ")).trim_end().to_owned())
}

/// Tells LLVM which variables are managed memory, as clang does for `__managed__`.
/// A line with `frem`, as a call.
fn exact_remainder(line: &str) -> Option<String> {
    let (result, rest) = line.split_once(" = frem ")?;
    // Flags of LLVM's fast mathematics may stand before the type.
    let (kind, name, operands) = REMAINDERS.iter().find_map(|(kind, name)| {
        let (flags, operands) = rest.split_once(&format!("{kind} "))?;
        flags
            .split_whitespace()
            .all(|flag| flag.chars().all(char::is_alphabetic))
            .then_some((kind, name, operands))
    })?;
    let (left, right) = operands.split_once(", ")?;
    let (right, rest) = right.split_at(right.find(',').unwrap_or(right.len()));
    Some(format!("{result} = call {kind} {name}{kind} {left}, {kind} {right}){rest}"))
}

fn annotate_managed(module: &mut String, names: &[&str]) {
    let number = |line: &str| line.strip_prefix('!')?.split_once(" = ")?.0.parse::<usize>().ok();
    let free = module.lines().filter_map(number).max().map_or(0, |last| last + 1);
    for (node, name) in (free..).zip(names) {
        let space = AddressSpace::Global as u32;
        let _ = writeln!(
            module,
            "!nvvm.annotations = !{{!{node}}}\n\
             !{node} = !{{ptr addrspace({space}) {name}, !\"managed\", i32 1}}"
        );
    }
}

/// The kernels of a rewritten module that have a function attribute of ours.
pub(crate) fn with_attribute<'a>(module: &'a str, attribute: &str) -> Vec<&'a str> {
    let definitions = module.lines().filter(|line| line.starts_with("define "));
    let having = definitions.filter(|line| line.contains(attribute));
    having
        .filter_map(|line| {
            let at = line.find('@')?;
            let end = identifier_end(&line[at..])?;
            Some(unquoted(&line[at..at + end]))
        })
        .collect()
}

/// Leaves out the kernels whose name does not begin with `prefix`; `None` when no kernel is left.
///
/// What only they used goes when the rest is optimized. The module is one that was optimized as a whole, so what remains
/// of a kernel does not depend on its neighbours.
pub(crate) fn only_kernels(module: &str, prefix: &str) -> Option<String> {
    let mut out = String::with_capacity(module.len() / 4);
    let (mut is_left_out, mut any) = (false, false);
    for line in module.lines() {
        if line.starts_with("define ") && line.contains(" ptx_kernel ") {
            let name = line.find('@').and_then(|at| {
                let end = identifier_end(&line[at..])?;
                Some(unquoted(&line[at..at + end]))
            });
            is_left_out = !name.is_some_and(|name| name.starts_with(prefix));
            any |= !is_left_out;
        }
        if !is_left_out {
            let _ = writeln!(out, "{line}");
        }
        is_left_out &= line != "}";
    }
    any.then_some(out)
}

/// Drops the lists that kept statics alive, so that the unused ones can go before lowering.
pub(crate) fn without_used_lists(module: &str) -> String {
    module
        .lines()
        .filter(|line| {
            !line.starts_with("@llvm.used = ") && !line.starts_with("@llvm.compiler.used = ")
        })
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// A list of statics to keep, without the attribute constants; `None` for any other line.
fn used_list(line: &str) -> Option<String> {
    let (name, rest) = line.split_once(" = appending global [")?;
    if name != "@llvm.used" && name != "@llvm.compiler.used" {
        return None;
    }
    let (_, rest) = rest.split_once("] [")?;
    let (entries, tail) = rest.rsplit_once(']')?;
    let kept: Vec<&str> =
        entries.split(", ").filter(|entry| !entry.contains(&format!("@{ATTRIBUTES}"))).collect();
    if kept.is_empty() {
        return Some(String::new());
    }
    Some(format!("{name} = appending global [{} x ptr] [{}]{tail}", kept.len(), kept.join(", ")))
}

/// Splits `@name = rest`, quoted names included; anything else is `None`.
pub(crate) fn definition(line: &str) -> Option<Definition<'_>> {
    let end = identifier_end(line)?;
    let rest = line[end..].strip_prefix(" = ")?;
    Some(Definition { name: &line[..end], rest })
}

/// The length of the global identifier that `text` starts with, `@` included.
pub(crate) fn identifier_end(text: &str) -> Option<usize> {
    let name = text.strip_prefix('@')?;
    if let Some(quoted) = name.strip_prefix('"') {
        return Some(quoted.find('"')? + 3);
    }
    let length = name
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')))
        .unwrap_or(name.len());
    (length > 0).then_some(length + 1)
}

/// `@"a"` and `@a` without sigil and quotes.
pub(crate) fn unquoted(name: &str) -> &str {
    name.trim_start_matches('@').trim_matches('"')
}

/// The text of `section "..."` in a definition.
fn section(rest: &str) -> Option<&str> {
    let start = rest.rfind(", section \"")? + ", section \"".len();
    rest[start..].split('"').next()
}

/// Returns the address space that a static asks for.
fn address_space(definition: &Definition<'_>) -> Result<Option<AddressSpace>, CudaBuilderError> {
    if unquoted(definition.name) == DYNAMIC_SHARED {
        return Ok(Some(AddressSpace::Shared));
    }
    match section(definition.rest) {
        Some(".shared") => Ok(Some(AddressSpace::Shared)),
        Some(".constant") => Ok(Some(AddressSpace::Constant)),
        Some(".global" | ".managed") => Ok(Some(AddressSpace::Global)),
        Some(other) if other.starts_with('.') => Err(CudaBuilderError::UnknownAddressSpace {
            name: unquoted(definition.name).to_owned(),
            section: other.trim_start_matches('.').to_owned(),
        }),
        _ => Ok(None),
    }
}

/// The definition's right-hand side in its address space.
fn redefine(definition: &Definition<'_>, space: AddressSpace) -> Result<String, CudaBuilderError> {
    let number = space as u32;
    if unquoted(definition.name) == DYNAMIC_SHARED {
        return Ok(format!("external addrspace({number}) global [0 x i8], align 16"));
    }
    let mut rest = definition.rest.to_owned();
    if let Some(name) = section(definition.rest) {
        rest = rest.replacen(&format!(", section \"{name}\""), "", 1);
    }
    let (linkage, kind, body) = split_kind(&rest);
    let body = if space == AddressSpace::Shared {
        let (value_type, tail) = split_type(body);
        let initial = tail.trim_start().split(|c: char| c == ',' || c.is_whitespace()).next();
        if !matches!(initial, Some("undef" | "poison")) {
            return Err(CudaBuilderError::SharedInitialized {
                name: unquoted(definition.name).to_owned(),
            });
        }
        let after = tail.rfind(", align ").map_or("", |at| &tail[at..]);
        format!("{value_type} undef{after}")
    } else {
        body.to_owned()
    };
    // The host may write constant memory between launches, so its value is never known here; a
    // Rust `static` without `mut` stays a true constant.
    let external = if space == AddressSpace::Constant && kind == "global" {
        "externally_initialized "
    } else {
        ""
    };
    Ok(format!("{linkage}addrspace({number}) {external}{kind} {body}"))
}

/// Splits `internal unnamed_addr global [4 x i8] undef` at the keyword `global` or `constant`.
fn split_kind(rest: &str) -> (&str, &str, &str) {
    let mut start = 0;
    for word in rest.split(' ') {
        if word == "global" || word == "constant" {
            let end = start + word.len();
            return (&rest[..start], word, rest[end..].trim_start());
        }
        start += word.len() + 1;
    }
    (rest, "global", "")
}

/// Splits `[4 x i8] undef, align 4` after the type, which may nest brackets and braces.
fn split_type(body: &str) -> (&str, &str) {
    let mut depth = 0_i32;
    for (at, c) in body.char_indices() {
        match c {
            '[' | '{' | '<' | '(' => depth += 1,
            ']' | '}' | '>' | ')' => depth -= 1,
            ' ' if depth == 0 => return (&body[..at], &body[at..]),
            _ => {}
        }
    }
    (body, "")
}

/// Replaces each use of a moved static by a cast to a generic pointer.
fn cast_uses(line: &str, spaces: &HashMap<&str, AddressSpace>) -> String {
    if spaces.is_empty() || !line.contains('@') {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len() + 64);
    let mut rest = line;
    while let Some(at) = rest.find('@') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(end) = identifier_end(rest) else {
            out.push('@');
            rest = &rest[1..];
            continue;
        };
        let name = &rest[..end];
        match spaces.get(name) {
            Some(space) => {
                let _ =
                    write!(out, "addrspacecast (ptr addrspace({}) {name} to ptr)", *space as u32);
            }
            None => out.push_str(name),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Removes `"target-cpu"` and `"target-features"` from an attribute group.
fn without_target_attributes(line: &str) -> String {
    let mut line = line.to_owned();
    for key in ["\"target-cpu\"=\"", "\"target-features\"=\""] {
        while let Some(start) = line.find(key) {
            let value = start + key.len();
            let end = line[value..].find('"').map_or(line.len(), |length| value + length + 1);
            line.replace_range(start..end, "");
        }
    }
    line
}

/// Adds the kernel's attributes to the `define` line of a kernel that has some.
fn with_kernel_attributes(line: &str, attributes: &HashMap<String, String>) -> String {
    let found = line.find('@').and_then(|at| {
        let end = identifier_end(&line[at..])?;
        attributes.get(unquoted(&line[at..at + end]))
    });
    let Some(text) = found else { return line.to_owned() };
    // Function attributes stand after the parameter list and before metadata and the body.
    let Some(parameters) = line.rfind(')') else { return line.to_owned() };
    let tail = &line[parameters..];
    let at = parameters + tail.find(" !dbg").or_else(|| tail.find(" {")).unwrap_or(tail.len());
    format!("{} {text}{}", &line[..at], &line[at..])
}

/// Decodes a `__coalesce_attributes_` constant into LLVM function attributes.
fn function_attributes(rest: &str) -> Option<String> {
    let words = constant_words(rest)?;
    // Behind the directives is the signature: whether the kernel is safe, its block, and what `kernels` reads.
    let [format, threads, blocks, x, y, z, memory, _, bx, by, bz, ..] = *words.as_slice() else {
        return None;
    };
    if format != ATTRIBUTES_FORMAT {
        return None;
    }
    let mut text = Vec::new();
    if threads > 0 {
        text.push(format!("\"nvvm.maxntid\"=\"{threads}\""));
    }
    if blocks > 0 {
        text.push(format!("\"nvvm.minctasm\"=\"{blocks}\""));
    }
    if x > 0 {
        text.push(format!("\"nvvm.cluster_dim\"=\"{x},{},{}\"", y.max(1), z.max(1)));
    }
    if bx > 0 {
        text.push(format!("\"nvvm.reqntid\"=\"{bx},{by},{bz}\""));
    }
    for (bit, attribute) in [LOCAL_MEMORY, SHARED_SPILLS].into_iter().enumerate() {
        if memory >> bit & 1 == 1 {
            text.push(attribute.to_owned());
        }
    }
    Some(text.join(" "))
}

/// The little-endian 32-bit words of a constant written as `c"..."`.
pub(crate) fn constant_words(rest: &str) -> Option<Vec<u32>> {
    let start = rest.find("c\"")? + 2;
    let text = rest[start..].split('"').next()?.as_bytes();
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\\' {
            let hex = std::str::from_utf8(text.get(at + 1..at + 3)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            at += 3;
        } else {
            bytes.push(text[at]);
            at += 1;
        }
    }
    Some(
        bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remainder_is_a_call() {
        let exact = |line: &str| exact_remainder(line);
        assert_eq!(
            exact("  %a = frem float %x, 2.000000e+00, !dbg !7").as_deref(),
            Some(
                "  %a = call float @__coalesce_remainder_f32(float %x, float 2.000000e+00), !dbg !7"
            )
        );
        assert_eq!(
            exact("  %a = frem nnan nsz double %x, %y").as_deref(),
            Some("  %a = call double @__coalesce_remainder_f64(double %x, double %y)")
        );
        assert_eq!(exact("  %a = frem <2 x float> %x, %y"), None);
        assert_eq!(exact("  %a = fadd float %x, %y"), None);
    }

    #[test]
    fn a_shared_static_and_all_its_uses_move() {
        let module = "@X = internal unnamed_addr global [64 x i8] undef, section \".shared\", align 16\n\
            @llvm.compiler.used = appending global [1 x ptr] [ptr @X], section \"llvm.metadata\"\n\
            define void @f() {\n  store float 0.0, ptr @X, align 4\n  call void @g(ptr noundef nonnull @X, ptr @Xa)\n}\n";
        let out = rewrite(module).expect("a well-formed module");
        assert!(
            out.contains(
                "@X = internal unnamed_addr addrspace(3) global [64 x i8] undef, align 16\n"
            ),
            "{out}"
        );
        assert!(
            out.contains(
                "store float 0.0, ptr addrspacecast (ptr addrspace(3) @X to ptr), align 4"
            ),
            "{out}"
        );
        assert!(
            out.contains("nonnull addrspacecast (ptr addrspace(3) @X to ptr), ptr @Xa)"),
            "{out}"
        );
        assert!(
            out.contains(
                "[ptr addrspacecast (ptr addrspace(3) @X to ptr)], section \"llvm.metadata\""
            ),
            "{out}"
        );
    }

    #[test]
    fn an_ordering_of_an_atomic_is_fences_around_it() {
        let of = |line: &str| ordered_atomic(line).unwrap_or_default();
        assert_eq!(
            of("  %0 = atomicrmw xchg ptr @FLAG, i32 1 release, align 4, !dbg !7"),
            "  fence release\n  %0 = atomicrmw xchg ptr @FLAG, i32 1 monotonic, align 4, !dbg !7"
        );
        assert_eq!(
            of("  %0 = atomicrmw add ptr %a, i64 1 syncscope(\"x\") seq_cst, align 8"),
            "  fence seq_cst\n  %0 = atomicrmw add ptr %a, i64 1 syncscope(\"x\") monotonic, align 8\n  fence acquire"
        );
        assert_eq!(
            of("  %0 = cmpxchg weak ptr %a, i32 0, i32 1 acq_rel monotonic, align 4"),
            "  fence release\n  %0 = cmpxchg weak ptr %a, i32 0, i32 1 monotonic monotonic, align 4\n  fence acquire"
        );
        assert_eq!(
            of("  %0 = cmpxchg ptr %a, i32 0, i32 1 monotonic acquire, align 4"),
            "  %0 = cmpxchg ptr %a, i32 0, i32 1 monotonic monotonic, align 4\n  fence acquire"
        );
        for other in [
            "  %0 = atomicrmw add ptr %a, i32 1 monotonic, align 4",
            "  %0 = load i32, ptr %a, align 4",
        ] {
            assert_eq!(ordered_atomic(other), None, "{other}");
        }
    }

    #[test]
    fn quoted_names_move_too() {
        let module = "@\"a b\" = internal global [4 x i8] undef, section \".shared\", align 4\n  load i32, ptr @\"a b\"\n";
        let out = rewrite(module).expect("a well-formed module");
        assert!(
            out.contains("@\"a b\" = internal addrspace(3) global [4 x i8] undef, align 4"),
            "{out}"
        );
        assert!(
            out.contains("load i32, ptr addrspacecast (ptr addrspace(3) @\"a b\" to ptr)"),
            "{out}"
        );
    }

    #[test]
    fn dynamic_shared_memory_is_sixteen_byte_aligned() {
        let out =
            rewrite("@__dynamic_shared_memory = external local_unnamed_addr global [0 x i8]\n")
                .expect("a well-formed module");
        assert_eq!(
            out,
            "@__dynamic_shared_memory = external addrspace(3) global [0 x i8], align 16\n"
        );
    }

    #[test]
    fn constant_memory_the_host_may_write_is_externally_initialized() {
        let out = rewrite("@C = global [4 x i8] zeroinitializer, section \".constant\", align 4\n@D = constant [4 x i8] c\"abcd\", section \".constant\", align 4\n")
            .expect("a well-formed module");
        assert!(
            out.contains(
                "@C = addrspace(4) externally_initialized global [4 x i8] zeroinitializer, align 4"
            ),
            "{out}"
        );
        assert!(out.contains("@D = addrspace(4) constant [4 x i8] c\"abcd\", align 4"), "{out}");
    }

    #[test]
    fn managed_memory_is_global_memory_with_an_annotation() {
        let out = rewrite(
            "@M = global [4 x i8] zeroinitializer, section \".managed\", align 4\n!7 = !{}\n",
        );
        assert_eq!(
            out.expect("a well-formed module"),
            "@M = addrspace(1) global [4 x i8] zeroinitializer, align 4\n!7 = !{}\n\
             !nvvm.annotations = !{!8}\n!8 = !{ptr addrspace(1) @M, !\"managed\", i32 1}\n"
        );
    }

    #[test]
    fn initialized_shared_memory_is_refused_by_name() {
        let error = rewrite(
            "@S = internal global [4 x i8] zeroinitializer, section \".shared\", align 4\n",
        )
        .expect_err("shared memory has no initial value");
        assert!(
            matches!(error, CudaBuilderError::SharedInitialized { ref name } if name == "S"),
            "{error}"
        );
    }

    #[test]
    fn an_unknown_section_is_refused_by_name() {
        let error = rewrite("@S = internal global [4 x i8] undef, section \".texture\", align 4\n")
            .expect_err("no such space");
        assert!(
            matches!(error, CudaBuilderError::UnknownAddressSpace { ref section, .. } if section == "texture"),
            "{error}"
        );
    }

    #[test]
    fn kernels_that_are_not_asked_for_are_left_out_whole() {
        let module = "define ptx_kernel void @a_one(ptr %p) {\n  ret void\n}\n\
            define internal void @helper() {\n  ret void\n}\n\
            define dso_local ptx_kernel void @b_one(ptr %p) {\n  call void @a_one()\n}\n!0 = !{}\n";
        let out = only_kernels(module, "a_").expect("one kernel is left");
        assert_eq!(
            out,
            "define ptx_kernel void @a_one(ptr %p) {\n  ret void\n}\n\
             define internal void @helper() {\n  ret void\n}\n!0 = !{}\n"
        );
        assert_eq!(only_kernels(module, ""), Some(module.to_owned()));
        assert_eq!(only_kernels(module, "helper"), None);
    }

    #[test]
    fn kernel_attributes_become_function_attributes() {
        let module = "@__coalesce_attributes_f = constant [44 x i8] c\"\\03\\00\\00\\00\\00\\01\\00\\00\\02\\00\\00\\00\\02\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\20\\00\\00\\00\\08\\00\\00\\00\\01\\00\\00\\00\", align 4\n\
            define ptx_kernel void @f(ptr noundef %a) unnamed_addr #0 !dbg !5 {\n";
        let out = rewrite(module).expect("a well-formed module");
        assert_eq!(
            out,
            "define ptx_kernel void @f(ptr noundef %a) unnamed_addr #0 \"nvvm.maxntid\"=\"256\" \"nvvm.minctasm\"=\"2\" \"nvvm.cluster_dim\"=\"2,1,1\" \"nvvm.reqntid\"=\"32,8,1\" !dbg !5 {\n"
        );
    }

    #[test]
    fn attribute_constants_leave_the_lists_of_statics_to_keep() {
        let module = "@X = internal global [4 x i8] undef, section \".shared\", align 4\n\
            @llvm.used = appending global [2 x ptr] [ptr @X, ptr @__coalesce_attributes_f], section \"llvm.metadata\"\n";
        let out = rewrite(module).expect("a well-formed module");
        assert!(
            out.contains("@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(3) @X to ptr)], section"),
            "{out}"
        );
        let alone = "@llvm.used = appending global [1 x ptr] [ptr @__coalesce_attributes_f], section \"llvm.metadata\"\n";
        assert_eq!(rewrite(alone).expect("a well-formed module"), "\n");
    }

    #[test]
    fn the_address_within_shared_memory_is_a_cast() {
        let out = rewrite(
            "declare noundef i32 @__coalesce_shared_address(ptr noundef) unnamed_addr #3\n",
        )
        .expect("a well-formed module");
        assert_eq!(out, format!("{SHARED_ADDRESS_BODY}\n"));
    }

    #[test]
    fn a_convergent_call_becomes_no_instruction() {
        let out = rewrite("declare void @__coalesce_convergent() unnamed_addr #3\n");
        assert_eq!(out.expect("a well-formed module"), format!("{CONVERGENT_BODY}\n"));
    }

    #[test]
    fn a_kernel_may_mean_its_local_memory() {
        let module = "@__coalesce_attributes_f = constant [44 x i8] c\"\\03\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\01\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\", align 4\n\
            define ptx_kernel void @f(ptr %a) unnamed_addr {\n}\ndefine ptx_kernel void @g() {\n}\n";
        let out = rewrite(module).expect("a well-formed module");
        assert_eq!(with_attribute(&out, LOCAL_MEMORY), ["f"]);
    }

    #[test]
    fn target_attributes_are_dropped_so_that_core_can_be_inlined() {
        let out = rewrite("attributes #0 = { nounwind \"target-cpu\"=\"sm_70\" \"target-features\"=\"+ptx60\" }\n").expect("a well-formed module");
        assert_eq!(out, "attributes #0 = { nounwind   }\n");
    }
}
