//! Questions: the answer is computed by executing kernels, never written down.

use crate::count::{Count, CountedRun};
use crate::mistake::{FailureKind, Found, code};
use anyhow::{Context, Result, bail};
use coalesce::pattern::Size;
use simt::Hazard;

/// The seed of the data with which questions are answered and a kernel is tried: everybody's are the same.
pub const SEED: u64 = 1;

/// A question with its answer as an expression over runs.
#[derive(Debug)]
pub struct Question {
    pub text: &'static str,
    pub answers: Answers,
    /// The right answer: a number, or the place of a choice, from 1.
    pub answer: fn(&Runs<'_>) -> Result<f64>,
    /// Wrong answers that people give, and what is true.
    pub misses: &'static [(f64, &'static str)],
    /// Why the right one is right.
    pub why: &'static str,
}

/// A question that is answered with a number.
pub const fn number(
    text: &'static str,
    answer: fn(&Runs<'_>) -> Result<f64>,
    misses: &'static [(f64, &'static str)],
    why: &'static str,
) -> Question {
    about(0.0, text, answer, misses, why)
}

/// A question that is answered with a number, which may differ by a share of it.
pub const fn about(
    share: f64,
    text: &'static str,
    answer: fn(&Runs<'_>) -> Result<f64>,
    misses: &'static [(f64, &'static str)],
    why: &'static str,
) -> Question {
    Question { text, answers: Answers::Number(share), answer, misses, why }
}

/// A question that is answered with one of `choices`.
pub const fn choice(
    text: &'static str,
    choices: &'static [&'static str],
    answer: fn(&Runs<'_>) -> Result<f64>,
    misses: &'static [(f64, &'static str)],
    why: &'static str,
) -> Question {
    Question { text, answers: Answers::Choice(choices), answer, misses, why }
}

#[derive(Clone, Copy, Debug)]
pub enum Answers {
    /// With a number, which may differ by this share.
    Number(f64),
    /// With the number of one of these, from 1.
    Choice(&'static [&'static str]),
    /// With the numbers of one line or two.
    Lines,
}

/// A kernel that can be executed at any size.
pub trait Execute {
    fn run(&self, size: &Size) -> Result<CountedRun>;

    /// The mistakes of a run at the largest size at which there are some, of those at which results are checked.
    fn findings(&self) -> Result<Vec<Found>>;
}

/// The kernel that a question is about, for it to run.
pub struct Runs<'a>(pub &'a dyn Execute);

impl Runs<'_> {
    /// Executes the kernel at a size.
    pub fn at(&self, size: &[usize]) -> Result<CountedRun> {
        self.0.run(&Size::new(size))
    }

    /// Returns how many words apart the first two lanes of the first load are.
    pub fn lane_distance(&self, size: &[usize]) -> Result<f64> {
        let run = self.at(size)?;
        let mut requests = run.counted.instructions.values().flat_map(|one| &one.requests);
        let distance = requests.find_map(|one| Some(one.lanes[1]?.abs_diff(one.lanes[0]?)));
        distance.map(|bytes| bytes as f64 / 4.0).context("the first warp loads nothing")
    }

    /// Distinct bytes that loads asked for, of those that moved, in percent.
    pub fn load_efficiency(&self, size: &[usize]) -> Result<f64> {
        let counters = self.at(size)?.counted.counters;
        counters.load_efficiency_percent().context("the kernel loads nothing")
    }

    pub fn threads(&self, size: &[usize]) -> Result<f64> {
        let run = self.at(size)?;
        Ok(run.launches.iter().map(|(grid, block)| product(grid) * product(block)).sum())
    }

    pub fn block_threads(&self, size: &[usize]) -> Result<f64> {
        let run = self.at(size)?;
        run.launches.first().map(|(_, block)| product(block)).context("nothing was launched")
    }

    pub fn tile_width(&self, size: &[usize]) -> Result<f64> {
        let run = self.at(size)?;
        run.launches.first().map(|(_, block)| f64::from(block[0])).context("nothing was launched")
    }

    /// The first mistake that a run shows.
    pub fn mistake(&self) -> Result<Found> {
        self.0.findings()?.into_iter().next().context("the run shows no mistake")
    }

    /// One of two answers: whether the kernel has a hazard.
    pub fn choice(&self, hazard: Hazard, yes: u8, no: u8) -> Result<f64> {
        let (found, hazard) = (self.0.findings()?, FailureKind::Hazard(hazard));
        Ok(f64::from(if found.iter().any(|one| one.because == hazard) { yes } else { no }))
    }

    pub fn count(&self, count: Count, size: &[usize]) -> Result<f64> {
        Ok(count.of(&self.at(size)?))
    }
}

fn product(extents: &[u32; 3]) -> f64 {
    extents.iter().map(|extent| f64::from(*extent)).product()
}

/// The answers that a file has: `// answer 1: 4`.
pub fn written(source: &str, number: usize) -> Option<&str> {
    let label = format!("// answer {number}:");
    let mut lines = source.lines().filter_map(|line| line.trim().strip_prefix(&label));
    lines.next().map(str::trim)
}

#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Right(String),
    /// It is not, and what is true where that is known.
    Wrong(String),
}

impl Question {
    pub fn show(&self) -> String {
        match self.answers {
            Answers::Number(_) | Answers::Lines => self.text.to_owned(),
            Answers::Choice(choices) => {
                let lines = choices.iter().enumerate();
                let lines = lines.map(|(index, choice)| format!("\n     {}  {choice}", index + 1));
                format!("{}{}", self.text, lines.collect::<String>())
            }
        }
    }

    pub fn parse(&self, text: &str) -> Result<f64> {
        if let Answers::Lines = self.answers {
            let lines = text.split([' ', ',']).filter(|one| !one.is_empty());
            let lines: Option<Vec<u32>> = lines.map(|one| one.parse().ok()).collect();
            let mut lines = lines.unwrap_or_default();
            lines.sort_unstable();
            lines.dedup();
            if lines.is_empty() || lines.len() > 2 || lines.iter().any(|line| *line >= 100_000) {
                bail!("`{}` is not one line or two: answer with their numbers", text.trim());
            }
            return Ok(code(&lines));
        }
        let number: Option<f64> = text.trim().parse().ok().filter(|one: &f64| one.is_finite());
        match (self.answers, number) {
            (Answers::Number(_) | Answers::Lines, Some(number)) => Ok(number),
            (Answers::Number(_) | Answers::Lines, None) => {
                bail!("`{}` is no number: answer with one", text.trim())
            }
            (Answers::Choice(choices), Some(number))
                if number.fract() == 0.0 && (1.0..=choices.len() as f64).contains(&number) =>
            {
                Ok(number)
            }
            (Answers::Choice(choices), _) => {
                bail!(
                    "`{}` is no choice: answer with a number from 1 to {}",
                    text.trim(),
                    choices.len()
                )
            }
        }
    }

    /// Returns what an answer comes to.
    pub fn reply(&self, runs: &Runs<'_>, given: f64) -> Result<Reply> {
        let right = (self.answer)(runs)?;
        if let Answers::Lines = self.answers
            && runs.0.findings()?.iter().any(|found| found.code() == given)
        {
            return Ok(Reply::Right(self.why.to_owned()));
        }
        let slack = match self.answers {
            Answers::Number(share) => share * right.abs() + 1e-9,
            Answers::Choice(_) | Answers::Lines => 1e-9,
        };
        if (given - right).abs() <= slack {
            return Ok(Reply::Right(self.why.to_owned()));
        }
        let miss = self.misses.iter().find(|(value, _)| (value - given).abs() < 1e-9);
        Ok(Reply::Wrong(miss.map_or_else(String::new, |(_, truth)| (*truth).to_owned())))
    }
}
