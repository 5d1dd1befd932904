//! What a task is: data, so that the grader, the proofs and the terminal can iterate all of them.

use crate::count::Count;
use crate::diagnosis;
pub use crate::mistake::Because;
use crate::question::Question;
use coalesce::arrays::Arrays;
use coalesce::data::Random;
use coalesce::pattern::{Bytes, Case, Dimension, Pattern, Size, Variant};
use cuda_host::Launcher;

/// One exercise.
#[derive(Debug)]
pub struct Task {
    /// Names its files and its kernel, and never changes.
    pub id: &'static str,
    /// The pattern of the catalogue, or the topic, whose idea it exercises.
    pub lesson: &'static str,
    /// What the learner does.
    pub kind: Kind,
    /// The solved file, with its regions.
    pub solved: &'static str,
    /// Sizes, inputs, reference, and the one launch.
    pub pattern: Pattern,
    /// Asked before the first run.
    pub before: &'static [Question],
    /// Asked about the learner's own kernel, once it passes.
    pub after: &'static [Question],
    /// Why what the learner is given fails.
    pub fails_as_shipped: Because,
    /// What the kernel may ask of memory.
    pub bounds: &'static [Bound],
    /// Where to look, the idea, nearly the line.
    pub hints: [&'static str; 3],
}

/// What the learner does.
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
        /// Whether source and target are pinned.
        pinned: bool,
    },
}

impl Kind {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Bug => "bug",
            Kind::Question => "question",
            Kind::Host { .. } => "host",
        }
    }
}

/// The most that a kernel may ask for, at the count size.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// What is counted.
    pub count: Count,
    /// The most that passes.
    pub at_most: f64,
    /// The arithmetic behind the number.
    pub because: &'static str,
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

/// The sizes of a task.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// What the numbers of a size are.
    pub dimensions: &'static [Dimension],
    /// Where results are checked.
    pub verify: &'static [&'static [usize]],
    /// Where bounds hold.
    pub count: &'static [usize],
}

/// The launch of a task's kernel, as a variant.
pub const fn launched(launch: fn(&Launcher<'_>, &Arrays, &Size) -> anyhow::Result<()>) -> Variant {
    Variant::kernel("yours", "your kernel", launch)
}

impl Task {
    /// The one variant.
    pub fn variant(&'static self) -> &'static Variant {
        &self.pattern.variants[0]
    }

    /// The heading of the task's text.
    pub fn title(&self) -> &'static str {
        let first = self.solved.lines().next().unwrap_or_default();
        first.trim_start_matches("//!").trim().trim_start_matches('#').trim()
    }

    /// What is asked before the first run: of a file with a mistake, which it is and where.
    pub fn questions_before(&self) -> Vec<&'static Question> {
        let diagnosis = diagnosis::questions(self.fails_as_shipped);
        diagnosis.iter().copied().chain(self.before).collect()
    }

    /// The size at which bounds hold.
    pub fn count_size(&self) -> Size {
        Size::new(self.pattern.count_size)
    }
}
