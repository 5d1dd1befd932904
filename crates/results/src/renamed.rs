//! Names that changed: files keep what they were written with, and are read with what it is called now.

/// A pattern, or `pattern/variant`, that has another name now. The pattern's part is its present name.
///
/// ```
/// use results::Renamed;
/// let renamed = [Renamed::new("speedup", "speed_up"), Renamed::new("speed_up/wide", "speed_up/vectorized")];
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renamed {
    from: &'static str,
    to: &'static str,
}

impl Renamed {
    /// Returns what was called `from` is called `to`.
    pub const fn new(from: &'static str, to: &'static str) -> Renamed {
        Renamed { from, to }
    }
}

/// The name of our variant whose algorithm a peer of this name has.
pub fn twin(peer: &str) -> Option<&str> {
    peer.strip_prefix("nvcc ")
}

pub(crate) fn rename_pattern(name: &mut String, renamed: &[Renamed]) {
    rename(name, "", renamed);
}

/// Gives a variant, or the twin of one, its present name; `pattern` is the pattern's present name.
pub(crate) fn rename_variant(name: &mut String, pattern: &str, renamed: &[Renamed]) {
    match twin(name).map(str::to_owned) {
        Some(mut of) => {
            rename(&mut of, pattern, renamed);
            *name = format!("nvcc {of}");
        }
        None => rename(name, pattern, renamed),
    }
}

/// The present name of a variant of a pattern, or of a pattern, whose `pattern` is empty.
fn rename(name: &mut String, pattern: &str, renamed: &[Renamed]) {
    let own = |path: &'static str| match path.rsplit_once('/') {
        Some((of, own)) => (of == pattern).then_some(own),
        None => pattern.is_empty().then_some(path),
    };
    let present = renamed.iter().find(|renamed| own(renamed.from) == Some(name.as_str()));
    if let Some(present) = present.and_then(|renamed| own(renamed.to)) {
        present.clone_into(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENAMED: [Renamed; 2] = [
        Renamed::new("utilisation", "utilization"),
        Renamed::new("utilization/quad", "utilization/wide"),
    ];

    fn renamed(name: &str, pattern: &str) -> String {
        let mut name = name.to_owned();
        match pattern {
            "" => rename_pattern(&mut name, &RENAMED),
            _ => rename_variant(&mut name, pattern, &RENAMED),
        }
        name
    }

    #[test]
    fn a_name_changes_in_its_own_pattern_only() {
        assert_eq!(renamed("utilisation", ""), "utilization");
        assert_eq!(renamed("quad", "utilization"), "wide");
        assert_eq!(renamed("nvcc quad", "utilization"), "nvcc wide");
        for (name, pattern) in
            [("quad", "coalescing"), ("quad", ""), ("pair", "utilization"), ("wide", "utilization")]
        {
            assert_eq!(renamed(name, pattern), name);
        }
    }
}
