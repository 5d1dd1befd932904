use super::progress::Progress;
use super::shared::{WorkArguments, WrongArgument, numbered, writable};
use super::terminal::{coloured, fit, hide_empty, in_lines, say, screen, show, table, width};
use super::{boards, interrupt};
use crate::catalogue::Catalogue;
use crate::measure::{Axis, Plan, predict, profile, resume, run as measure};
use crate::os;
use crate::pattern::Pattern;
use crate::peers;
use ::report::screen::Screen;
use ::report::{chart, first_screen, foreign, tabulate};
use ::results::{Results, Row, RowOutcome, check, is_file, unranked, write, write_somewhere};
use anyhow::Result;
use comfy_table::{Cell, Color};
use cuda_host::{Choice, Gpu, device_count};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// From one save of an unfinished run to the next, at most; a save that takes long is not made more often than its cost,
/// times this, allows.
const BETWEEN_SAVES: Duration = Duration::from_secs(60);
const SAVES_COST: u32 = 100;

/// Measure variants on the GPU, and check their results before and after. Without a GPU, predict the ladders' times.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM bench\n  PROGRAM bench PATTERN --json pattern.json\n  PROGRAM bench PATTERN --size 2^20..2^28 --csv sizes.csv\n  PROGRAM bench PATTERN --axis NAME=1..32\n  PROGRAM bench --check measured.json\n  PROGRAM bench --resume all.json      # begins it, or goes on where it ended\n  ncu --clock-control none PROGRAM bench PATTERN --profile"
)]
pub struct Arguments {
    #[command(flatten)]
    work: WorkArguments,
    /// Measure only variants whose `pattern/variant` contains this text.
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// List what would be measured, without measuring it.
    #[arg(long)]
    list: bool,
    /// Print every row, where a terminal gets a line for each pattern.
    #[arg(long)]
    all: bool,
    /// Take a first look: measure ladders only, with few samples.
    #[arg(long)]
    quick: bool,
    /// Run each variant of the ladders once, without checking or timing it, under a profiler.
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown", "check", "quick"])]
    profile: bool,
    /// Measure the ladders only, without the curves over offsets, strides and other dimensions.
    #[arg(long)]
    no_sweeps: bool,
    /// Predict the curves as well, where no GPU measures them.
    #[arg(long, conflicts_with_all = ["no_sweeps", "quick"])]
    sweeps: bool,
    /// Do not also predict the times after a measurement on a GPU.
    #[arg(long)]
    no_predictions: bool,
    /// Also measure the peers in this library, which nvcc builds from `peers/peers.cu`.
    #[arg(long, value_name = "LIBRARY")]
    peers: Option<PathBuf>,
    /// Compare this machine with a file that was measured on the same GPU model, and fail where it is slower.
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Write all figures to this JSON file; `results/schema.json` describes it. In a folder, the file is called by the
    /// board's id and the second in which the run began, so that it replaces none.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Go on with an unfinished run of the same board, program and arguments, and write to its file unless --json names
    /// another. Where the file is not there yet, the run begins.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "list"])]
    resume: Option<PathBuf>,
    /// Write all figures to this CSV file, for spreadsheets.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the table to this file as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    let mut plan = plan(catalogue, arguments)?;
    let outputs = arguments.outputs();
    for (index, path) in outputs.iter().enumerate() {
        let is_folder = Some(*path) == arguments.json.as_ref() && path.is_dir();
        writable(&if is_folder { path.join("board.json") } else { path.to_path_buf() })?;
        if outputs[..index].contains(path) && is_file(path) {
            let message = format!("{} is named twice: name a file for each form", path.display());
            return Err(WrongArgument(message).into());
        }
    }
    let load = |path: &Path| Results::load(path, catalogue.renamed);
    let reference = arguments.check.as_deref().map(load).transpose()?;
    let rows = plan.row_count().map_err(|error| WrongArgument(error.to_string()))?;
    if rows == 0 {
        let filter = &arguments.filter;
        return Err(
            WrongArgument(format!("no variant contains `{filter}`: `list` names them")).into()
        );
    }
    if arguments.list {
        return list(&plan);
    }
    let stop = if arguments.profile {
        Arc::default()
    } else {
        interrupt::listen("what is under way is finished first", || {})?
    };
    os::outlive_lost_readers();
    let mut devices = arguments.work.device.choice()?.each()?;
    let mut board = None;
    if devices.len() > 1 {
        board = boards::this_one();
        let Some(board) = board else { return boards::all(devices.len(), &stop) };
        devices.drain(..board.min(devices.len() - 1));
    }
    let run = Run { arguments, board };
    let gpu = Gpu::open(&devices[0], catalogue.images)?;
    let Some(mut results) = run.measure(catalogue, &mut plan, &gpu, &reference, &stop)? else {
        return Ok(ExitCode::SUCCESS);
    };
    // From here on the virtual device answers instead of the GPU.
    if gpu.virtual_device().is_none() && !arguments.no_predictions && !results.interrupted {
        match predict(&mut results, catalogue, &plan.on(&gpu)) {
            Ok(()) => run.save(&results)?,
            Err(error) => eprintln!("warning: {error:#}"),
        }
    }
    match arguments.first_screen() {
        Some(screen) => {
            let claim =
                |name: &str| catalogue.pattern(name).map_or_else(String::new, Pattern::claim);
            print!("{}", first_screen::bench(&results, &claim, &screen));
            println!("{}", screen.wrap(&what_next(catalogue.name, arguments, &results)));
        }
        None => print(&results, arguments.work.axes().iter().any(Axis::is_curve)),
    }
    for path in &outputs {
        println!(
            "{}",
            in_lines(format_args!("written to {}", run.place(path, &results).display()))
        );
    }
    let behaves = reference.as_ref().is_none_or(|reference| print_check(reference, &results));
    let is_wrong = |row: &Row| matches!(row.outcome, RowOutcome::Wrong { .. });
    Ok(if results.interrupted {
        ExitCode::from(interrupt::INTERRUPTED)
    } else if results.rows.iter().any(is_wrong) || !behaves {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

impl Arguments {
    fn json(&self) -> Option<&PathBuf> {
        self.json.as_ref().or(self.resume.as_ref())
    }

    /// The terminal that gets a line for each pattern: where no pattern is named, and nobody asked for all rows.
    fn first_screen(&self) -> Option<Screen> {
        let is_whole = self.work.is_everything() && self.filter.is_empty() && !self.all;
        screen().filter(|_| is_whole)
    }

    fn outputs(&self) -> Vec<&PathBuf> {
        [self.json(), self.csv.as_ref(), self.markdown.as_ref()].into_iter().flatten().collect()
    }
}

struct Run<'a> {
    arguments: &'a Arguments,
    /// Its number, when there are several.
    board: Option<usize>,
}

impl Run<'_> {
    /// Measures or predicts; nothing under a profiler, which measures itself.
    fn measure(
        &self,
        catalogue: &Catalogue,
        plan: &mut Plan,
        gpu: &Gpu,
        reference: &Option<Results>,
        stop: &AtomicBool,
    ) -> Result<Option<Results>> {
        let arguments = self.arguments;
        let is_virtual = gpu.virtual_device().is_some();
        if is_virtual {
            say(
                "Times are predictions of a model, from smaller sizes that were executed. Traffic is counted, and exact. \
                 Registers with ~ are estimates, for kernels that NVIDIA's assembler has not seen.",
            );
        }
        say(format_args!("device: {}", gpu.origin()));
        if let Some(library) = &arguments.peers {
            if is_virtual {
                let message = "--peers needs a GPU: leave it out, or add --device gpu";
                return Err(WrongArgument(message.to_owned()).into());
            }
            // SAFETY: whoever names a library by --peers says that it is one of peers, built from `peers/peers.cu`.
            plan.peers = unsafe { peers::load(library, catalogue) }?;
        }
        if let Some(reference) = reference {
            let (theirs, ours) = (&reference.environment.device.name, gpu.facts()?.name);
            if *theirs != ours || reference.environment.is_prediction != is_virtual {
                return Err(WrongArgument(format!(
                    "the reference is of {theirs}, this is {ours}: give a file that was measured on the same GPU"
                ))
                .into());
            }
        }
        if arguments.profile {
            profile(gpu, plan, |launch| println!("ran {launch}"))?;
            return Ok(None);
        }
        let plan = plan.clone().on(gpu);
        let bar = Progress::logged(plan.row_count()?);
        let mut saves = Saves { last: Instant::now(), cost: Duration::ZERO };
        let on_point = |results: &Results| {
            bar.row(&results.rows.last().map(Row::name).unwrap_or_default());
            bar.done(results.rows.len());
            saves.now_and_then(|| self.save_unfinished(results));
        };
        let results = match self.earlier(catalogue)? {
            Some(earlier) => resume(gpu, catalogue, &plan, stop, earlier, on_point)?,
            None => measure(gpu, catalogue, &plan, stop, on_point)?,
        };
        drop(bar);
        // What was measured is kept whatever becomes of the predictions.
        self.save(&results)?;
        Ok(Some(results))
    }

    /// The unfinished run that this one goes on with.
    fn earlier(&self, catalogue: &Catalogue) -> Result<Option<Results>> {
        let Some(named) = &self.arguments.resume else { return Ok(None) };
        let path = numbered(named, self.board);
        if path.is_dir() {
            let message = format!("{} is a folder: --resume goes on with a file", path.display());
            return Err(WrongArgument(message).into());
        }
        if !path.exists() {
            say(format_args!("{} is not there yet: the run begins", path.display()));
            return Ok(None);
        }
        let earlier = Results::load(&path, catalogue.renamed)?;
        let rows = earlier.rows.len();
        say(format_args!("going on behind the {rows} rows of {}", path.display()));
        Ok(Some(earlier))
    }

    /// Writes the files that were asked for, each whatever becomes of the others.
    fn save(&self, results: &Results) -> Result<()> {
        let mut saved = Ok(());
        for (path, text) in self.texts(results)? {
            if let Err(error) = write_somewhere(&path, text.as_bytes()) {
                saved = match saved {
                    Ok(()) => Err(error.into()),
                    Err(first) => Err(anyhow::anyhow!("{first:#}; {error:#}")),
                };
            }
        }
        saved
    }

    /// Writes what there is of a run, for the case that nothing comes after it. A pipe waits for the end.
    fn save_unfinished(&self, results: &Results) -> Result<()> {
        let files = self.texts(results)?.into_iter().filter(|(path, _)| is_file(path));
        for (path, text) in files {
            write(&path, text.as_bytes())?;
        }
        Ok(())
    }

    /// The files that were asked for, and their texts.
    fn texts(&self, results: &Results) -> Result<Vec<(PathBuf, String)>> {
        let Arguments { csv, markdown, .. } = self.arguments;
        let mut texts = Vec::new();
        if let Some(path) = self.arguments.json() {
            texts.push((self.place(path, results), results.text()?));
        }
        if let Some(path) = csv {
            texts.push((self.place(path, results), tabulate::csv(results)?));
        }
        if let Some(path) = markdown {
            texts.push((self.place(path, results), tabulate::markdown(results)));
        }
        Ok(texts)
    }

    /// Returns the path of a file that the arguments name.
    fn place(&self, named: &Path, results: &Results) -> PathBuf {
        if !named.is_dir() {
            return numbered(named, self.board);
        }
        let environment = &results.environment;
        let id = environment.board.as_ref().and_then(|board| board.id.clone());
        // A board without an id, such as a virtual one, is called by its model.
        let model =
            || environment.device.name.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "-");
        let name = format!("{}-{}.json", id.unwrap_or_else(model), environment.started_unix_s);
        numbered(&named.join(name), self.board)
    }
}

/// Time of the last save of an unfinished run, and its duration.
struct Saves {
    last: Instant,
    cost: Duration,
}

impl Saves {
    /// Saves if it is time for it. What goes wrong is said, and the run goes on: there may be room at its end.
    fn now_and_then(&mut self, save: impl FnOnce() -> Result<()>) {
        if self.last.elapsed() < BETWEEN_SAVES.min(SAVES_COST * self.cost) {
            return;
        }
        let begin = Instant::now();
        if let Err(error) = save() {
            let _ = writeln!(std::io::stderr(), "warning: {error:#}");
        }
        (self.last, self.cost) = (Instant::now(), begin.elapsed());
    }
}

fn plan(catalogue: &Catalogue, arguments: &Arguments) -> Result<Plan> {
    let mut plan = Plan::new(arguments.work.selections(catalogue)?);
    if arguments.quick {
        plan = plan.quick();
    }
    plan.axes = arguments.work.axes();
    let has_gpu = match arguments.work.device.choice()? {
        Choice::Virtual(_) => false,
        Choice::Auto => device_count().is_ok(),
        Choice::Gpu(_) | Choice::AllGpus => true,
    };
    plan.sweeps &= arguments.sweeps || (has_gpu && !arguments.no_sweeps);
    plan.filter.clone_from(&arguments.filter);
    plan.seed = arguments.work.seed;
    plan.jobs = arguments.work.jobs();
    Ok(plan)
}

fn list(plan: &Plan) -> Result<ExitCode> {
    for selection in &plan.selections {
        for point in plan.points(selection)? {
            let size = selection.pattern.show_size(&point.size);
            for variant in &point.variants {
                println!("{}/{} at {size}", selection.pattern.name, variant.name);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what shows more than the first screen does.
fn what_next(program: &str, arguments: &Arguments, results: &Results) -> String {
    let pattern = results.rows.last().map_or("PATTERN", |row| row.pattern.as_str());
    let (rows, pages) = match arguments.json() {
        Some(file) => (format!("results {}", file.display()), format!("report {}", file.display())),
        None => {
            ("bench --all".to_owned(), "bench --json all.json, then report all.json".to_owned())
        }
    };
    format!("All rows: {program} {rows}; one pattern: bench {pattern}; pages: {pages}.")
}

/// Prints the ladders as a table and, where the command line asked for curves, draws them.
fn print(results: &Results, draws: bool) {
    let mut ladder = table(tabulate::COLUMNS);
    let unranked = unranked(results);
    let mut previous = "";
    for row in results.ladders() {
        let mut cells = tabulate::cells(row, !unranked.contains(row.pattern.as_str()));
        if row.pattern == previous {
            cells[0].clear();
        }
        previous = &row.pattern;
        let is_above_peak = tabulate::is_above_peak(row);
        if is_above_peak {
            cells[tabulate::OF_PEAK].push_str(" !");
        }
        let color = match &row.outcome {
            RowOutcome::Wrong { .. } => Some((tabulate::OUTCOME, Color::Red)),
            RowOutcome::Measured(_) if is_above_peak => Some((tabulate::OF_PEAK, Color::Yellow)),
            RowOutcome::Measured(_) | RowOutcome::NotRun { .. } => None,
        };
        ladder.add_row(cells.into_iter().enumerate().map(|(index, text)| match color {
            Some((column, color)) if column == index => coloured(text, color),
            _ => Cell::new(text),
        }));
    }
    hide_empty(&mut ladder);
    let hidden = fit(&mut ladder, tabulate::COLUMNS, &tabulate::LESS_NEEDED, false);
    println!("{}", show(&mut ladder));
    let tell = |sentence: &dyn std::fmt::Display| println!("{}", in_lines(sentence));
    if !hidden.is_empty() {
        let hidden = hidden.join(", ");
        tell(&format_args!("no room here for {hidden}: a wider terminal and --markdown have it"));
    }
    let swept = results.rows.iter().filter(|row| row.sweep.is_some()).count();
    if draws {
        chart::draw(results, width()).iter().for_each(|chart| println!("\n{chart}"));
    }
    if results.environment.is_prediction {
        tell(&foreign::kinds());
    }
    if swept > 0 {
        tell(&format_args!(
            "{swept} more rows belong to curves; --json, --csv and the report have them"
        ));
    }
    for row in &results.rows {
        if let RowOutcome::Wrong { reason } = &row.outcome {
            tell(&format_args!("WRONG {} at {}: {reason}", row.name(), row.show_size()));
        }
    }
    tabulate::above_peak(results).iter().for_each(|sentence| tell(sentence));
    tabulate::not_predicted(results).iter().for_each(|sentence| tell(sentence));
    tell(&tabulate::circumstances(results));
}

/// Returns whether the machine behaves like the reference.
fn print_check(reference: &Results, results: &Results) -> bool {
    let checked = check(reference, results);
    let mut rows = table(["variant", "reference", "here", "ratio", "allowed", "verdict"]);
    for one in &checked {
        let ms = |time: f64| format!("{time:.4} ms");
        let verdict = if one.behaves() { "ok" } else { "SLOW" };
        rows.add_row([
            one.name.clone(),
            ms(one.reference_ms),
            ms(one.here_ms),
            format!("{:.3}", one.ratio()),
            format!("{:.2}", one.allowed),
            verdict.to_owned(),
        ]);
    }
    println!("{}", show(&mut rows));
    let slow = checked.iter().filter(|one| !one.behaves()).count();
    let count = checked.len();
    println!("{} of {count} ladder rows are as fast as the reference allows", count - slow);
    slow == 0 && count > 0
}
