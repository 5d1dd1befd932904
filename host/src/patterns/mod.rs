//! The registry: every pattern, in teaching order.

mod caches;
mod collectives;
mod execution;
mod global;
mod memory_management;
mod shared;
mod streams;
mod transfer;

use crate::pattern::{Pattern, Variant};

/// Every pattern. Tests, bench, report and docs iterate this list.
pub const PATTERNS: &[&Pattern] = &[
    &global::coalescing::PATTERN,
    &global::misalignment::PATTERN,
    &global::stride::PATTERN,
    &global::bus_utilisation::PATTERN,
    &global::store_segments::PATTERN,
    &global::aos_soa::PATTERN,
    &shared::bank_conflicts::PATTERN,
    &shared::transpose::PATTERN,
    &shared::matmul_ab::PATTERN,
    &shared::async_copy::PATTERN,
    &caches::constant_memory::PATTERN,
    &collectives::reduction::PATTERN,
    &collectives::scan::PATTERN,
    &collectives::histogram::PATTERN,
    &caches::l2_persistence::PATTERN,
    &transfer::pinned_memory::PATTERN,
    &transfer::batching::PATTERN,
    &streams::overlap::PATTERN,
    &transfer::zero_copy::PATTERN,
    &streams::stream_semantics::PATTERN,
    &memory_management::unified_addressing::PATTERN,
    &memory_management::allocation::PATTERN,
    &streams::graphs::PATTERN,
];

/// The pattern that a kernel belongs to: the one with the longest name that the kernel's begins with.
pub fn of_kernel(kernel: &str) -> Option<&'static Pattern> {
    let owns = |name: &str| kernel.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
    let owners = PATTERNS.iter().filter(|pattern| owns(pattern.name));
    owners.max_by_key(|pattern| pattern.name.len()).copied()
}

/// A name that is not in the registry.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownName {
    /// No such pattern.
    #[error("there is no pattern `{name}`{}; `coalesce list` shows them all", hint(nearest))]
    Pattern {
        /// What was asked for.
        name: String,
        /// The most similar name, if one is similar.
        nearest: Option<&'static str>,
    },
    /// The pattern has no such variant.
    #[error("`{pattern}` has no variant `{name}`{}; `coalesce list` shows them all", hint(nearest))]
    Variant {
        /// The pattern.
        pattern: &'static str,
        /// What was asked for.
        name: String,
        /// The most similar name, if one is similar.
        nearest: Option<&'static str>,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

/// What a selection such as `transpose` or `transpose/padded` names.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    /// The pattern.
    pub pattern: &'static Pattern,
    /// One variant of it, or all.
    pub variant: Option<&'static Variant>,
}

impl Selection {
    /// The whole registry.
    pub fn all() -> Vec<Selection> {
        PATTERNS.iter().map(|pattern| Selection { pattern, variant: None }).collect()
    }

    /// Resolves `PATTERN` or `PATTERN/VARIANT`.
    ///
    /// # Errors
    /// [`UnknownName`], with the nearest name there is.
    pub fn parse(text: &str) -> Result<Selection, UnknownName> {
        let (name, variant_name) = match text.split_once('/') {
            Some((name, variant)) => (name, Some(variant)),
            None => (text, None),
        };
        let Some(pattern) = PATTERNS.iter().find(|pattern| pattern.name == name) else {
            let names = PATTERNS.iter().map(|pattern| pattern.name);
            return Err(UnknownName::Pattern {
                name: name.to_owned(),
                nearest: nearest(name, names),
            });
        };
        let Some(variant_name) = variant_name else {
            return Ok(Selection { pattern, variant: None });
        };
        let Some(variant) = pattern.variants.iter().find(|variant| variant.name == variant_name)
        else {
            let names = pattern.variants.iter().map(|variant| variant.name);
            return Err(UnknownName::Variant {
                pattern: pattern.name,
                name: variant_name.to_owned(),
                nearest: nearest(variant_name, names),
            });
        };
        Ok(Selection { pattern, variant: Some(variant) })
    }

    /// The selected variants.
    pub fn variants(&self) -> impl Iterator<Item = &'static Variant> {
        let chosen = self.variant;
        self.pattern
            .variants
            .iter()
            .filter(move |variant| chosen.is_none_or(|one| one.name == variant.name))
    }
}

/// The candidate most similar to `name`, when it is similar enough to be meant.
fn nearest(name: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Size;

    #[test]
    fn a_misspelt_name_gets_the_nearest_one() {
        let error = Selection::parse("transpse").expect_err("no such pattern");
        assert_eq!(
            error.to_string(),
            "there is no pattern `transpse`, did you mean `transpose`?; `coalesce list` shows them all"
        );
        let error = Selection::parse("transpose/paded").expect_err("no such variant");
        assert!(error.to_string().contains("did you mean `padded`?"), "{error}");
        let error = Selection::parse("xyzzy").expect_err("no such pattern");
        assert!(!error.to_string().contains("did you mean"), "{error}");
    }

    /// The largest sizes that are accepted may have more tiles in one direction than a grid has blocks there.
    #[test]
    fn a_variant_says_that_its_grid_would_be_too_high() {
        for (name, size) in [
            ("matmul_ab/simple", [1 << 27, 16]),
            ("matmul_ab/registers", [1 << 27, 16]),
            ("transpose/tiled", [1 << 22, 4]),
            ("transpose/column_read", [4, 1 << 22]),
            ("transpose/wide", [1 << 23, 4]),
            ("transpose/ordered", [4, 1 << 23]),
        ] {
            let variant = Selection::parse(name).expect("a variant").variant.expect("one");
            let [rows, columns] = size;
            assert!((variant.precondition)(&Size::new(&[rows, columns])).is_err(), "{name}");
            assert_eq!((variant.precondition)(&Size::new(&[1024, 1024])), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_kernel_belongs_to_the_pattern_of_its_name() {
        let name = |kernel| of_kernel(kernel).map(|pattern| pattern.name);
        assert_eq!(name("matmul_ab_simple"), Some("matmul_ab"));
        assert_eq!(name("stride_copy"), Some("stride"));
        assert_eq!(name("strides_copy"), None);
        assert_eq!(name("measurement_read"), None);
    }

    #[test]
    fn a_selection_names_a_pattern_or_one_variant() {
        let all = Selection::parse("transpose").expect("a pattern");
        assert_eq!(all.variants().count(), all.pattern.variants.len());
        let one = Selection::parse("transpose/padded").expect("a variant");
        assert_eq!(one.variants().map(|variant| variant.name).collect::<Vec<_>>(), ["padded"]);
    }
}
