//! A catalogue: patterns and the PTX of their kernels, as a value. Whoever has one has every instrument for it.

use crate::hierarchy::MemorySpace;
use crate::pattern::{Pattern, Variant};
use ::results::{AdviceKind, Renamed};
use cuda_host::Image;

/// Patterns in teaching order, and the kernels that they launch.
///
/// ```no_run
/// # const ALL: &[&coalesce::pattern::Pattern] = &[];
/// # const IMAGES: &[cuda_host::Image] = &[];
/// fn main() -> std::process::ExitCode {
///     coalesce::main(&coalesce::Catalogue::new("my-kernels", ALL, IMAGES))
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    /// The name of the program, as its messages say it.
    pub name: &'static str,
    /// Every pattern. All commands iterate this list.
    pub patterns: &'static [&'static Pattern],
    /// The PTX that `cuda_builder::Images` wrote, oldest architecture first.
    pub images: &'static [Image],
    /// Names that changed after result files were written that are still read.
    pub renamed: &'static [Renamed],
    /// The memory spaces that `list --hierarchy` shows.
    pub memory_spaces: &'static [MemorySpace],
    /// The known errors of the model's predictions of these patterns, as [`results::Accuracy`] reads it; empty
    /// where nobody compared them with a measurement.
    pub accuracy: &'static str,
    /// Claims that the figures of these patterns refute, in Markdown; the report shows them.
    pub myths: &'static str,
    /// Variant in which the cure of an advice was measured, such as `transpose/padded`.
    pub teaches: &'static [(AdviceKind, &'static str)],
    /// Task of a course that practises the cure of an advice, such as `pad_the_tile`.
    pub exercises: &'static [(AdviceKind, &'static str)],
}

/// A name that is not in the catalogue.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownName {
    /// No such pattern.
    #[error("there is no pattern `{name}`{}; `list` shows them all", hint(nearest))]
    Pattern {
        /// The name that was asked for.
        name: String,
        /// The most similar name, if one is similar.
        nearest: Option<&'static str>,
    },
    /// The pattern has no such variant.
    #[error(
        "`{pattern}` has no variant `{name}`{}; `list {pattern}` shows them all",
        hint(nearest)
    )]
    Variant {
        /// The pattern.
        pattern: &'static str,
        /// The name that was asked for.
        name: String,
        /// The most similar name, if one is similar.
        nearest: Option<&'static str>,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

/// A selection: what a text such as `transpose` or `transpose/padded` names.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    /// The pattern.
    pub pattern: &'static Pattern,
    /// One variant of it, or all.
    pub variant: Option<&'static Variant>,
}

impl Catalogue {
    /// The catalogue of a program of this name. No pattern of it ever had another name, and it shows no
    /// memory spaces.
    pub const fn new(
        name: &'static str,
        patterns: &'static [&'static Pattern],
        images: &'static [Image],
    ) -> Catalogue {
        Catalogue {
            name,
            patterns,
            images,
            renamed: &[],
            memory_spaces: &[],
            accuracy: "",
            myths: "",
            teaches: &[],
            exercises: &[],
        }
    }

    /// Everything.
    pub fn all(&self) -> Vec<Selection> {
        self.patterns.iter().map(|pattern| Selection { pattern, variant: None }).collect()
    }

    /// A pattern by its name.
    pub fn pattern(&self, name: &str) -> Option<&'static Pattern> {
        self.patterns.iter().copied().find(|pattern| pattern.name == name)
    }

    /// The variant in which the cure of such an advice was measured, with the exercise where there is one.
    pub fn taught(&self, advice: AdviceKind) -> Option<String> {
        let named = |list: &[(AdviceKind, &'static str)]| {
            list.iter().find(|(kind, _)| *kind == advice).map(|(_, name)| *name)
        };
        let variant = named(self.teaches)?;
        Some(match named(self.exercises) {
            Some(task) => format!("{variant}. Exercise of the course: {task}"),
            None => variant.to_owned(),
        })
    }

    /// The pattern that a kernel belongs to: the one with the longest name that the kernel's begins with.
    pub fn owner_of(&self, kernel: &str) -> Option<&'static Pattern> {
        let owns = |name: &str| kernel.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
        let owners = self.patterns.iter().filter(|pattern| owns(pattern.name));
        owners.max_by_key(|pattern| pattern.name.len()).copied()
    }

    /// Resolves `PATTERN` or `PATTERN/VARIANT`.
    ///
    /// # Errors
    /// [`UnknownName`], with the nearest name there is.
    pub fn select(&self, text: &str) -> Result<Selection, UnknownName> {
        let (name, variant_name) = match text.split_once('/') {
            Some((name, variant)) => (name, Some(variant)),
            None => (text, None),
        };
        let Some(pattern) = self.pattern(name) else {
            let names = self.patterns.iter().map(|pattern| pattern.name);
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
}

impl Selection {
    /// The selected variants.
    pub fn variants(&self) -> impl Iterator<Item = &'static Variant> + use<> {
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
