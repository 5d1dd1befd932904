//! `cargo xtask foreign`: what the model of time says of kernels of others, beside what a GPU took.
//!
//! `results/foreign` has predictions, committed before the measurement, and measured times, one file per device. The
//! programs are split by a hash of their names: by one half the model may be mended, the other only judges it.

use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::write_whole;
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print the kernels that have judged, as the present model has them, the worst first.
    #[arg(long)]
    worst: bool,
}

const ABOUT: &str = "# Kernels of others: predicted and measured\n\n\
    Programs of [HeCBench](https://github.com/zjin-lcf/HeCBench), in the fourth judgement also all of\n\
    [PolyBench-GPU](https://github.com/sgrauerg/polybenchGpu) that ran, and in the fifth those of\n\
    [cuda-samples](https://github.com/NVIDIA/cuda-samples), as [programs](../programs/README.md) lists them with their\n\
    arguments. The sixth has programs of [Rodinia](https://github.com/yuhc/gpu-rodinia),\n\
    [SHOC](https://github.com/vetter/shoc), [Altis](https://github.com/utcs-scea/altis),\n\
    [llm.c](https://github.com/karpathy/llm.c) (`dev/cuda`, a run for each of its kernels) and\n\
    [gpu-benches](https://github.com/RRZE-HPC/gpu-benches), those that CUDA 13 compiles and that ran in time, with sizes of\n\
    their own made smaller; HeCBench has ports of some of the first two, which judged before. The seventh has those of\n\
    [BabelStream](https://github.com/UoB-HPC/BabelStream), [LeetCUDA](https://github.com/xlite-dev/LeetCUDA),\n\
    [code samples of NVIDIA's blog](https://github.com/NVIDIA-developer-blog/code-samples),\n\
    [a training series](https://github.com/olcf/cuda-training-series), programs of Pannotia and ISPASS 2009 in\n\
    [gpu-app-collection](https://github.com/accel-sim/gpu-app-collection), and repositories that teach, by books or alone\n\
    ([1](https://github.com/brucefan1983/CUDA-Programming), [2](https://github.com/CoffeeBeforeArch/cuda_programming),\n\
    [3](https://github.com/PacktPublishing/Learn-CUDA-Programming), [4](https://github.com/Liu-xiandong/How_to_optimize_in_GPU),\n\
    [5](https://github.com/BBuf/how-to-optim-algorithm-in-cuda),\n\
    [6](https://github.com/CodedK/CUDA-by-Example-source-code-for-the-book-s-examples-),\n\
    [7](https://github.com/deeperlearning/professional-cuda-c-programming),\n\
    [8](https://github.com/R100001/Programming-Massively-Parallel-Processors)) that ran within 10 s without arguments of\n\
    their own; files of one kernel or two, for the most part. The eighth has those of others that teach\n\
    ([1](https://github.com/1y33/100Days), [2](https://github.com/a-hamdi/GPU),\n\
    [3](https://github.com/gpu-mode/lectures), [4](https://github.com/AyakaGEMM/Hands-on-GEMM),\n\
    [5](https://github.com/ifromeast/cuda_learning), [6](https://github.com/Infatoshi/cuda-course),\n\
    [7](https://github.com/PaddleJitLab/CUDATutorial), [8](https://github.com/RussWong/CUDATutorial),\n\
    [9](https://github.com/siboehm/SGEMM_CUDA), [10](https://github.com/Tongkaio/CUDA_Kernel_Samples)), of a file each, that\n\
    ran within 15 s without arguments. A time is that of all launches of a kernel in one run of its program: predicted by `coalesce run --json` before\n\
    the measurement, and measured by `ncu` (`gpu__time_duration.sum`, clocks and caches left alone). Kernels whose launches\n\
    differ in number are left out. A later judgement has programs that were not measured before: the first of others, of\n\
    those that had compiled and ran in time, by the FNV-1a hash of `coalesce-2:PROGRAM`, then of `coalesce-3:PROGRAM`,\n\
    `coalesce-4:PROGRAM` and `coalesce-5:PROGRAM`, the seventh and eighth time of `coalesce-7:PROGRAM` and `coalesce-8:PROGRAM`; where those of HeCBench have arguments, these are their own divided by four\n\
    if the virtual GPU ran that within 12 s, and within 8, 10 and 8 s the third, fourth and fifth time. Neighbours are\n\
    kernels of one program, one after the other by time per launch, which a tenth separates. An even FNV-1a hash of\n\
    `coalesce:PROGRAM` put a program of the first judgement into a half for work. What has judged once is for work from then\n\
    on: the model was mended by it.\n\
    `cargo xtask foreign` writes this page of the files beside it.\n";

/// A kernel of a program, with its times in microseconds.
struct Kernel {
    program: String,
    name: String,
    launches: u64,
    bound: String,
    predicted: f64,
    measured: f64,
}

impl Kernel {
    /// Returns the distance from what was measured, as a part of that.
    fn error(&self) -> f64 {
        (self.predicted / self.measured - 1.0).abs()
    }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let corpus = Corpus::read()?;
    if arguments.worst {
        let mut work = corpus.again;
        work.sort_by(|a, b| b.error().total_cmp(&a.error()));
        for Kernel { program, name, launches, bound, predicted, measured } in &work {
            let ratio = predicted / measured;
            println!(
                "{ratio:8.2} {predicted:10.2} {measured:10.2} {launches:6} {bound:24} {program} {name}"
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    for (file, text) in corpus.outputs()? {
        write_whole(&workspace::root().join(file), text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The kernels that were predicted and measured: in halves, and those that judged later.
struct Corpus {
    /// The facts in the heads of the files.
    facts: Vec<(&'static str, String)>,
    work: Vec<Kernel>,
    judged: Vec<Kernel>,
    /// Those that judged second.
    second: Vec<Kernel>,
    /// Those that judged third.
    third: Vec<Kernel>,
    /// Those that judged fourth.
    fourth: Vec<Kernel>,
    /// Those that judged fifth.
    fifth: Vec<Kernel>,
    /// Those that judged sixth.
    sixth: Vec<Kernel>,
    /// Those that judged seventh.
    seventh: Vec<Kernel>,
    /// Kernels that have judged, as the present model has them.
    again: Vec<Kernel>,
    /// Those that judged last.
    latest: Vec<Kernel>,
}

/// The marks around the README's sentence.
const BEGIN: &str = "<!-- BEGIN foreign: cargo xtask foreign -->";
const END: &str = "<!-- END foreign -->";
/// The kernels of a kind that its own figures need; others have those of all.
const KIND_MIN: usize = 8;

impl Corpus {
    fn read() -> Result<Corpus> {
        let folder = workspace::root().join("results/foreign");
        let read = |name: &str| rows(&folder.join(name));
        let predictions = read("predicted-h100.csv")?;
        let measured = read("measured-h100.csv")?;
        let again = read("work-h100.csv")?;
        let second = [read("second-predicted-h100.csv")?, read("second-measured-h100.csv")?];
        let third = [read("third-predicted-h100.csv")?, read("third-measured-h100.csv")?];
        let fourth = [read("fourth-predicted-h100.csv")?, read("fourth-measured-h100.csv")?];
        let fifth = [read("fifth-predicted-h100.csv")?, read("fifth-measured-h100.csv")?];
        let sixth = [read("sixth-predicted-h100.csv")?, read("sixth-measured-h100.csv")?];
        let seventh = [read("seventh-predicted-h100.csv")?, read("seventh-measured-h100.csv")?];
        let eighth = [read("eighth-predicted-h100.csv")?, read("eighth-measured-h100.csv")?];
        let files = [
            ("Predictions", &predictions),
            ("Measurement", &measured),
            ("Second predictions", &second[0]),
            ("Second measurement", &second[1]),
            ("Third predictions", &third[0]),
            ("Third measurement", &third[1]),
            ("Fourth predictions", &fourth[0]),
            ("Fourth measurement", &fourth[1]),
            ("Fifth predictions", &fifth[0]),
            ("Fifth measurement", &fifth[1]),
            ("Sixth predictions", &sixth[0]),
            ("Sixth measurement", &sixth[1]),
            ("Seventh predictions", &seventh[0]),
            ("Seventh measurement", &seventh[1]),
            ("Eighth predictions", &eighth[0]),
            ("Eighth measurement", &eighth[1]),
            ("What has judged, predicted again", &again),
        ];
        let facts =
            files.iter().flat_map(|(what, rows)| rows.facts.iter().map(|it| (*what, it.clone())));
        let (work, judged) = halves(joined(&predictions, &measured)?);
        let spent = [&measured, &second[1], &third[1], &fourth[1], &fifth[1], &sixth[1]];
        let spent = spent.map(|measured| joined(&again, measured)).into_iter();
        Ok(Corpus {
            facts: facts.collect(),
            work,
            judged,
            second: joined(&second[0], &second[1])?,
            third: joined(&third[0], &third[1])?,
            fourth: joined(&fourth[0], &fourth[1])?,
            fifth: joined(&fifth[0], &fifth[1])?,
            again: spent.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect(),
            sixth: joined(&sixth[0], &sixth[1])?,
            seventh: joined(&seventh[0], &seventh[1])?,
            latest: joined(&eighth[0], &eighth[1])?,
        })
    }

    /// Returns the files that are made of the rows, by their places in the checkout.
    ///
    /// # Errors
    /// The README cannot be read, or has no place for its sentence.
    fn outputs(&self) -> Result<[(&'static str, String); 4]> {
        let file = workspace::root().join("README.md");
        let readme = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let [before, after] = [BEGIN, END].map(|mark| readme.split_once(mark));
        let (Some((before, _)), Some((_, after))) = (before, after) else {
            bail!(
                "README.md has no `{BEGIN}` or no `{END}`: put both around its sentence on kernels of others"
            );
        };
        Ok([
            ("README.md", format!("{before}{BEGIN}{}{END}{after}", self.sentence())),
            ("results/foreign/README.md", self.page()),
            ("results/foreign/correlation.svg", plot(&self.again, &self.latest)),
            ("crates/report/src/profile/accuracy.txt", self.accuracy()),
        ])
    }

    /// Returns the sentence of the README.
    fn sentence(&self) -> String {
        let kernels: Vec<&Kernel> = self.latest.iter().collect();
        let errors = sorted(kernels.iter().map(|kernel| kernel.error()));
        let percent = |part| 100.0 * at(&errors, part);
        format!(
            "{} kernels of others are {:.0} % off in the median, {:.0} in the mean, a tenth beyond {:.0}, with {} neighbours in order",
            kernels.len(),
            percent(0.5),
            100.0 * errors.iter().sum::<f64>() / errors.len() as f64,
            percent(0.9),
            order(&kernels)
        )
    }

    fn page(&self) -> String {
        let mut text = ABOUT.to_owned();
        for (what, fact) in &self.facts {
            let _ = write!(text, "\n{what}: {fact}.\n");
        }
        let _ = write!(text, "\n| kernels that .. {COLUMNS}");
        for (name, kernels) in [
            ("were for work, when they were measured", &self.work),
            ("judged then", &self.judged),
            ("judged second", &self.second),
            ("judged third", &self.third),
            ("judged fourth", &self.fourth),
            ("judged fifth", &self.fifth),
            ("judged sixth", &self.sixth),
            ("judged seventh", &self.seventh),
            ("have judged, by the present model", &self.again),
            ("judged the present model", &self.latest),
        ] {
            text += &summary(name, kernels);
        }
        let _ = write!(
            text,
            "\n## By what bounds the prediction, latest judgement\n\n| bound {COLUMNS}"
        );
        for (kind, kernels) in self.kinds() {
            text += &summary(kind, &kernels);
        }
        text + "\n![Predicted over measured](correlation.svg)\n"
    }

    /// Returns the kernels that judged the present model, by what bounds their prediction.
    fn kinds(&self) -> BTreeMap<&str, Vec<&Kernel>> {
        let mut kinds: BTreeMap<&str, Vec<&Kernel>> = BTreeMap::new();
        for kernel in &self.latest {
            kinds.entry(&kernel.bound).or_default().push(kernel);
        }
        kinds
    }

    /// Returns what a profile says of its predictions: of all kernels that judge the present model and of each kind their
    /// number, the percentages within which half and nine of ten of them are, and between which parts of the prediction eight of
    /// ten were measured.
    fn accuracy(&self) -> String {
        let mut text = String::new();
        let all = self.latest.iter().collect();
        let kinds = self.kinds().into_iter().filter(|(_, kernels)| kernels.len() >= KIND_MIN);
        for (kind, kernels) in [("", all)].into_iter().chain(kinds) {
            let errors = sorted(kernels.iter().map(|kernel| kernel.error()));
            let ratios = sorted(kernels.iter().map(|kernel| kernel.measured / kernel.predicted));
            let percent = |part| 100.0 * at(&errors, part);
            let (half, most) = (percent(0.5), percent(0.9));
            // Where all were measured on one side of the prediction, it is itself the other end.
            let (low, high) = (at(&ratios, 0.1).min(1.0), at(&ratios, 0.9).max(1.0));
            let _ =
                writeln!(text, "{},{half:.0},{most:.0},{low:.2},{high:.2},{kind}", errors.len());
        }
        text
    }
}

/// The columns of a table behind its first, and the line below its head.
const COLUMNS: &str = "| kernels | programs | median error | mean absolute error | 90th percentile | worst | neighbours in order | predicted over measured, median |\n\
    |---|--:|--:|--:|--:|--:|--:|--:|--:|\n";

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the value below which this part of all is.
fn at(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

/// A file of rows, and what its head says.
struct Rows {
    facts: Vec<String>,
    rows: Vec<Vec<String>>,
}

fn rows(file: &Path) -> Result<Rows> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let (heads, lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('#'));
    let facts = heads.iter().map(|line| line.trim_start_matches(['#', ' ']).to_owned()).collect();
    let rows =
        lines.iter().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect();
    Ok(Rows { facts, rows })
}

/// Returns the kernels that both files have with as many launches.
fn joined(predictions: &Rows, measured: &Rows) -> Result<Vec<Kernel>> {
    let key = |row: &[String]| (row[0].clone(), row[1].clone(), row[2].clone());
    let mut times = BTreeMap::new();
    for row in &measured.rows {
        let [_, _, _, time, ..] = row.as_slice() else {
            bail!("a row of measurements is cut: {row:?}")
        };
        times.insert(key(row), time.parse::<f64>().context("a measured time is no number")?);
    }
    let mut kernels = Vec::new();
    for row in &predictions.rows {
        let [program, name, launches, predicted, bound, ..] = row.as_slice() else {
            bail!("a row of predictions is cut: {row:?}")
        };
        let Some(measured) = times.get(&key(row)).filter(|time| **time > 0.0) else { continue };
        kernels.push(Kernel {
            program: program.clone(),
            name: name.clone(),
            launches: launches.parse().context("a number of launches is none")?,
            bound: bound.clone(),
            predicted: predicted.parse().context("a predicted time is no number")?,
            measured: *measured,
        });
    }
    Ok(kernels)
}

/// Splits by program: the half for work, and the one that judges.
fn halves(kernels: Vec<Kernel>) -> (Vec<Kernel>, Vec<Kernel>) {
    kernels.into_iter().partition(|kernel| is_for_work(&kernel.program))
}

fn is_for_work(program: &str) -> bool {
    let hash =
        format!("coalesce:{program}").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    // The lowest bit of such a hash is the parity of the letters'.
    (hash >> 32) & 1 == 0
}

/// Returns a line of a table.
fn summary<K: Borrow<Kernel>>(name: &str, kernels: &[K]) -> String {
    let kernels: Vec<&Kernel> = kernels.iter().map(Borrow::borrow).collect();
    let errors = sorted(kernels.iter().map(|kernel| kernel.error()));
    let ratios = sorted(kernels.iter().map(|kernel| kernel.predicted / kernel.measured));
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let programs: BTreeSet<&str> = kernels.iter().map(|kernel| kernel.program.as_str()).collect();
    format!(
        "| {name} | {} | {} | {:.0} % | {:.0} % | {:.0} % | {:.0} % | {} | {:.2} |\n",
        kernels.len(),
        programs.len(),
        100.0 * at(&errors, 0.5),
        100.0 * mean,
        100.0 * at(&errors, 0.9),
        100.0 * at(&errors, 1.0),
        order(&kernels),
        at(&ratios, 0.5),
    )
}

/// Returns how many neighbours are predicted in the order in which they were measured: kernels of one program, sorted by
/// measured time per launch. Times that a tenth does not separate are noise.
fn order(kernels: &[&Kernel]) -> String {
    let mut programs: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for kernel in kernels {
        let launches = kernel.launches as f64;
        let times = (kernel.measured / launches, kernel.predicted / launches);
        programs.entry(&kernel.program).or_default().push(times);
    }
    let (mut right, mut all) = (0_u32, 0_u32);
    for times in programs.values_mut() {
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        for pair in times.windows(2).filter(|pair| pair[1].0 > 1.1 * pair[0].0) {
            all += 1;
            right += u32::from(pair[1].1 > pair[0].1);
        }
    }
    if all == 0 {
        "-".to_owned()
    } else {
        format!("{:.0} % of {all}", 100.0 * f64::from(right) / f64::from(all))
    }
}

/// Draws predicted over measured time per launch, both in microseconds, by powers of ten.
fn plot(work: &[Kernel], judged: &[Kernel]) -> String {
    let (low, high, side) = (0.0_f64, 5.0_f64, 480.0);
    let place = |time: f64| (time.max(1.0).log10().clamp(low, high) - low) / (high - low) * side;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 560 540\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"560\" height=\"540\" fill=\"#fff\"/>\n<g transform=\"translate(60 10)\">\n\
         <path d=\"M0 0V{side}H{side}\" fill=\"none\" stroke=\"#444\"/><path d=\"M0 {side}L{side} 0\" stroke=\"#999\"/>\n"
    );
    for power in 0..=5 {
        let at = place(10_f64.powi(power));
        let _ = writeln!(
            svg,
            "<text x=\"{at:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{text}</text><text x=\"-6\" y=\"{:.0}\" text-anchor=\"end\">{text}</text>",
            side + 16.0,
            side - at + 4.0,
            text = 10_u32.pow(power as u32),
        );
    }
    for (kernels, color) in [(work, "#9bb3c9"), (judged, "#c2410c")] {
        for kernel in kernels {
            let per_launch = |time: f64| place(time / kernel.launches as f64);
            let (x, y) = (per_launch(kernel.measured), side - per_launch(kernel.predicted));
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"{color}\"/>");
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">measured, µs per launch</text>\n\
         <text transform=\"translate(-46 {:.0}) rotate(-90)\" text-anchor=\"middle\">predicted, µs per launch</text>\n\
         <text x=\"10\" y=\"14\" fill=\"#6b87a3\">for work</text><text x=\"10\" y=\"30\" fill=\"#c2410c\">judged</text>\n</g></svg>",
        side / 2.0,
        side + 36.0,
        side / 2.0,
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_the_rows_is_written() {
        for (file, text) in Corpus::read().unwrap().outputs().unwrap() {
            let written = std::fs::read_to_string(workspace::root().join(file)).unwrap();
            assert!(written == text, "{file} is stale: run cargo xtask foreign");
        }
    }
}
