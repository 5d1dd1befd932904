//! Tasks as data, so that the grader, the proofs and the terminal can iterate all of them.

use crate::count::{Count, number};
use crate::diagnosis;
pub use crate::mistake::FailureKind;
use crate::question::Question;
use coalesce::data::Random;
use coalesce::pattern::{Bytes, Case, Dimension, Pattern, Size, Variant};
use std::cmp::Ordering;

#[derive(Debug)]
pub struct Task {
    /// The pattern of the catalogue, or the topic, whose idea it exercises.
    pub lesson: &'static str,
    pub kind: Kind,
    /// The kernel's name where it is not the task's.
    pub kernel: &'static str,
    /// Name, solved file, sizes, inputs, reference, and the one launch.
    pub pattern: Pattern,
    /// Questions before the first run.
    pub before: &'static [Question],
    /// Questions about the learner's own kernel, once it passes.
    pub after: &'static [Question],
    /// Why what the learner is given fails.
    pub fails_as_shipped: FailureKind,
    pub bounds: &'static [Bound],
    /// Three hints: a place to look at, the idea, nearly the line.
    pub hints: [&'static str; 3],
    /// Further forms, with the same bounds: which of all a student gets, the name decides.
    pub choices: &'static [Choice],
    /// Parts of the texts and of the solved file, and what stands there in this form.
    pub replaced: Replaced,
}

/// Parts of a text, and what stands in their places.
pub type Replaced = &'static [(&'static str, &'static str)];

/// Another form of a task, whose file fails in the first form.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub replaced: Replaced,
    pub case: fn(&Size, &mut Random) -> Case,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Changes a correct kernel, so that it asks less of memory.
    Kernel,
    /// Finds a mistake and repairs it.
    Bug,
    /// Reads kernels and answers.
    Question,
    /// Changes what the host asks of the driver; with memory of the host that is pinned or pageable.
    Host {
        /// True when source and target are pinned.
        pinned: bool,
    },
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Bug => "bug",
            Kind::Question => "question",
            Kind::Host { .. } => "host",
        }
    }
}

/// Limit of a count, at any size at which the file is counted.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub count: Count,
    /// The least and the most that pass, from the number of elements.
    pub limits: LimitsOf,
    /// The arithmetic behind the numbers.
    pub because: &'static str,
}

/// Limits from the number of elements.
#[derive(Clone, Copy, Debug)]
pub enum LimitsOf {
    Function(fn(f64) -> Limits),
    /// The same for any number.
    Any(Limits),
    /// Those of one element.
    Element(Limits),
}

impl LimitsOf {
    pub fn at(self, elements: f64) -> Limits {
        match self {
            LimitsOf::Function(limits) => limits(elements),
            LimitsOf::Any(limits) => limits,
            LimitsOf::Element(Limits { at_least, at_most }) => {
                between(elements * at_least, elements * at_most)
            }
        }
    }
}

/// The least and the most of a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Least count of any kernel that does the work.
    pub at_least: f64,
    pub at_most: f64,
}

impl Limits {
    /// Returns how a count lies to the limits: below, within or above.
    pub fn order(self, value: f64) -> Ordering {
        if value < self.at_least * (1.0 - 1e-9) {
            Ordering::Less
        } else if value > self.at_most * (1.0 + 1e-9) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }

    pub fn show(self) -> String {
        let most = number(self.at_most);
        if self.at_least == self.at_most || self.at_least == 0.0 {
            return format!("at most {most}");
        }
        format!("{} to {most}", number(self.at_least))
    }
}

pub const fn bound(count: Count, limits: fn(f64) -> Limits, because: &'static str) -> Bound {
    Bound { count, limits: LimitsOf::Function(limits), because }
}

/// Limits with work that has to be done.
pub const fn between(at_least: f64, at_most: f64) -> Limits {
    Limits { at_least, at_most }
}

/// Limits of work that can be done in one way only.
pub const fn exactly(value: f64) -> Limits {
    between(value, value)
}

/// Limits of what nobody needs.
pub const fn up_to(at_most: f64) -> Limits {
    between(0.0, at_most)
}

/// The pattern of a task: one variant, which launches the kernel of the task's name.
pub const fn pattern(
    id: &'static str,
    solved: &'static str,
    sizes: Sizes,
    case: fn(&Size, &mut Random) -> Case,
    variants: &'static [Variant],
) -> Pattern {
    Pattern {
        name: id,
        group: "course",
        doc_source: solved,
        dimensions: sizes.dimensions,
        verify_sizes: sizes.verify,
        bench_size: sizes.count,
        count_size: sizes.count,
        sweeps: &[],
        case,
        bytes: |_| Bytes { read: 0, written: 0 },
        minimum_time: |_, _| None,
        variants,
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Names of the numbers of a size.
    pub dimensions: &'static [Dimension],
    pub verify: &'static [&'static [usize]],
    /// Size at which bounds hold, beside a larger one that each run draws.
    pub count: &'static [usize],
}

impl Task {
    /// A kernel to be improved, to which a task adds what differs.
    pub(crate) const fn of(pattern: Pattern) -> Task {
        Task {
            lesson: "",
            kind: Kind::Kernel,
            kernel: "",
            pattern,
            before: &[],
            after: &[],
            fails_as_shipped: FailureKind::Unanswered,
            bounds: &[],
            hints: [""; 3],
            choices: &[],
            replaced: &[],
        }
    }

    /// Writes a text of the first form as this form has it.
    pub fn replace(&self, text: &str) -> String {
        self.replaced.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    /// Names its files, and never changes.
    pub fn id(&self) -> &'static str {
        self.pattern.name
    }

    /// Returns the name of its kernel.
    pub fn kernel(&self) -> &'static str {
        if self.kernel.is_empty() { self.id() } else { self.kernel }
    }

    /// The solved file, with its regions.
    pub fn solved(&self) -> &'static str {
        self.pattern.doc_source
    }

    pub fn variant(&'static self) -> &'static Variant {
        &self.pattern.variants[0]
    }

    /// The heading of the task's text.
    pub fn title(&self) -> &'static str {
        let first = self.solved().lines().next().unwrap_or_default();
        first.trim_start_matches("//!").trim().trim_start_matches('#').trim()
    }

    /// Returns what is asked before the first run: of a file with a mistake, which it is and where.
    pub fn questions_before(&self) -> Vec<&'static Question> {
        let diagnosis = diagnosis::questions(self.fails_as_shipped);
        diagnosis.iter().copied().chain(self.before).collect()
    }

    /// The size of which a verdict shows the counts.
    pub fn count_size(&self) -> Size {
        Size::new(self.pattern.count_size)
    }

    /// A further size at which results are compared, which fits no block: no larger than the largest of those of every
    /// run. No file knows it, because the seed is new in each run.
    pub fn odd_size(&self, seed: u64) -> Size {
        let mut state = seed;
        let numbers = self.pattern.dimensions.iter().enumerate().map(|(index, dimension)| {
            let numbers = || self.pattern.verify_sizes.iter().map(|size| size[index]);
            let most = numbers().max().unwrap_or(1);
            if !dimension.is_extent() {
                return most;
            }
            let unit = numbers().fold(0, greatest_common_factor);
            unit * (drawn(&mut state, most / unit) | 1)
        });
        Size::new(&numbers.collect::<Vec<_>>())
    }

    /// A second size at which bounds hold, larger by up to a half: whole blocks more of each of its numbers. No file
    /// knows it, because the seed is new in each run.
    pub fn drawn_size(&self, seed: u64) -> Size {
        let sizes = self.pattern.count_size.iter().zip(self.pattern.dimensions);
        let mut state = seed;
        let numbers: Vec<usize> = sizes
            .map(|(number, dimension)| {
                if !dimension.is_extent() {
                    return *number;
                }
                let unit = (number / 4).min(1024);
                number + unit * (1 + drawn(&mut state, number / unit / 2))
            })
            .collect();
        Size::new(&numbers)
    }
}

/// Draws a number below another.
fn drawn(state: &mut u64, below: usize) -> usize {
    // A step of Knuth's generator, whose upper bits are the good ones.
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*state >> 33) as usize % below
}

fn greatest_common_factor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_factor(b, a % b) }
}
