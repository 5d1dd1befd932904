//! Kernels' names as their authors wrote them.

/// A mangled name of Rust or C++ as it was written; nothing for a name that is not mangled.
pub fn demangled(name: &str) -> Option<String> {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return Some(format!("{rust:#}"));
    }
    // A name that is not mangled can read as that of a type: `f` as `float`.
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let written = symbol.demangle().ok().filter(|written| written != name)?;
    // Numba tells versions of a function apart by long tags.
    let mut parts = written.split("[abi:");
    let first = parts.next().unwrap_or_default().to_owned();
    Some(parts.fold(first, |all, part| all + part.split_once(']').map_or("", |(_, rest)| rest)))
}

/// A message with the mangled names in its quotes written out.
pub(crate) fn written_out(message: &str) -> String {
    let parts = message.split('`').map(|part| demangled(part).unwrap_or_else(|| part.to_owned()));
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::{demangled, written_out};

    #[test]
    fn shared_arrays_have_their_names_in_messages() {
        let written = written_out("byte 4 from the start of `_ZZ5plainPiE1s`, by `st.shared.u32`");
        assert_eq!(written, "byte 4 from the start of `plain(int*)::s`, by `st.shared.u32`");
    }

    #[test]
    fn names_of_cpp_and_rust_are_written_out_and_plain_ones_stay() {
        let cpp = demangled("_Z5scalePfPKfi");
        assert_eq!(cpp.as_deref(), Some("scale(float*, float const*, int)"));
        let numba = demangled("_ZN3one5saxpyB2v1B4cw51Ef");
        assert_eq!(numba.as_deref(), Some("one::saxpy(float)"));
        let rust = demangled("_ZN7kernels5scale17h0123456789abcdefE");
        assert_eq!(rust.as_deref(), Some("kernels::scale"));
        for plain in ["transpose_naive", "f", "d", "x", "l", "_f", "St6vector"] {
            assert_eq!(demangled(plain), None);
        }
    }
}
