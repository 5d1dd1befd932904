use super::Rows;
use super::suite::SUITES;
use crate::workspace;
use anyhow::{Context, Result};
use cuda_builder::write_whole;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Characters of a reason.
const REASON: usize = 120;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub program: String,
    pub built: String,
    pub ran: String,
    pub verified: String,
    pub kernels: String,
    pub hazards: String,
    pub lacks: String,
    pub seconds: String,
    pub arguments: String,
    /// The likeness of what it prints to what it prints on a GPU.
    pub gpu: String,
    /// The likeness, on that GPU, of what it prints by our runtime to what it prints by NVIDIA's.
    pub runtime: String,
    /// The likeness of the device's memory, when it is freed, to that of the GPU.
    pub memory: String,
    /// A word for why nobody can ask it of us, if that is so.
    pub beyond: String,
}

const HEAD: &str =
    "program,built,ran,verified,kernels,hazards,lacks,seconds,arguments,gpu,runtime,memory,beyond";
/// The begins of the reasons for which a program is made smaller.
pub const TOO_LONG: &str = "runs longer than";
pub const TOO_LARGE: &str = "needs more than";
/// The verdicts on a program without a check of its own.
pub const NO_CHECK: &str = "no check";
const BY_GPU: &str = "by a GPU";
/// Reasons on the page.
const REASONS: usize = 10;

impl Row {
    /// A program that nvcc refuses.
    pub fn unbuilt(program: &str, why: &str) -> Row {
        let [program, built, lacks] = [program, "no", &shortened(why)].map(str::to_owned);
        Row { program, built, lacks, ..Row::default() }
    }

    /// It ran, and its own check, if it has one, does not fail.
    pub fn is_right(&self) -> bool {
        self.ran == "yes" && self.verified != "no"
    }

    /// It would run if it were smaller, as far as one sees.
    pub fn is_too_large(&self) -> bool {
        self.lacks.starts_with(TOO_LONG) || self.lacks.starts_with(TOO_LARGE)
    }

    /// It found its results right, or a GPU's are the same.
    pub fn is_verified(&self) -> bool {
        self.ran == "yes" && ["yes", BY_GPU].contains(&self.verified.as_str())
    }

    pub fn line(&self) -> String {
        let Row { program, built, ran, verified, kernels, hazards, lacks, .. } = self;
        let fields = [program, built, ran, verified, kernels, hazards, lacks];
        let rest = [&self.seconds, &self.arguments, &self.gpu, &self.runtime];
        let rest = rest.into_iter().chain([&self.memory, &self.beyond]);
        let fields: Vec<&String> = fields.into_iter().chain(rest).collect();
        let fields = fields.into_iter().map(|field| field.replace(',', ";"));
        fields.collect::<Vec<_>>().join(",")
    }

    /// Takes what was found on a GPU: it verifies a program without a check of its own, and one whose check fails there, too.
    pub fn compared(&mut self, gpu: &str, runtime: &str, memory: &str) {
        (self.gpu, self.runtime) = (gpu.to_owned(), runtime.to_owned());
        self.memory = memory.to_owned();
        let is_like = |word: &str| ["equal", "close"].contains(&word);
        // Memory speaks for a program that prints nothing, or each time something else.
        let is_silent = self.verified == NO_CHECK && gpu != "differs";
        if self.verified != "yes" && (is_like(gpu) || is_silent && is_like(memory)) {
            (self.ran, self.verified) = ("yes".to_owned(), BY_GPU.to_owned());
            self.lacks.clear();
        }
    }

    fn parse(line: &str) -> Option<Row> {
        let mut fields = line.split(',').map(str::to_owned);
        let mut next = || fields.next();
        Some(Row {
            program: next()?,
            built: next()?,
            ran: next()?,
            verified: next()?,
            kernels: next()?,
            hazards: next()?,
            lacks: next()?,
            seconds: next()?,
            arguments: next()?,
            gpu: next().unwrap_or_default(),
            runtime: next().unwrap_or_default(),
            memory: next().unwrap_or_default(),
            beyond: next().unwrap_or_default(),
        })
    }
}

fn folder() -> PathBuf {
    workspace::root().join("results/programs")
}

/// The text of a suite's file; empty where there is none.
fn text(suite: &str) -> Result<String> {
    let file = folder().join(suite).with_extension("csv");
    match std::fs::read_to_string(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        other => other.with_context(|| format!("cannot read {}", file.display())),
    }
}

pub fn read(suite: &str) -> Result<Rows> {
    let text = text(suite)?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("program,"));
    Ok(lines.filter_map(Row::parse).map(|row| (row.program.clone(), row)).collect())
}

/// Writes a suite's file: facts as comments, then the rows.
pub fn write(suite: &str, facts: &[(&str, String)], rows: &Rows) -> Result<()> {
    let mut text = String::new();
    for (fact, value) in facts {
        let _ = writeln!(text, "# {fact}: {value}");
    }
    let _ = writeln!(text, "{HEAD}");
    for row in rows.values() {
        let _ = writeln!(text, "{}", row.line());
    }
    std::fs::create_dir_all(folder())
        .with_context(|| format!("cannot create {}", folder().display()))?;
    Ok(write_whole(&folder().join(suite).with_extension("csv"), text.as_bytes())?)
}

/// Writes the page: counts per suite, and the commonest reasons.
pub fn write_page() -> Result<()> {
    let mut page = "# Public CUDA programs on the virtual device\n\n\
        Programs of the runtime API, compiled by nvcc with `-cudart shared` and run by\n\
        `coalesce run --check` at small sizes. `cargo xtask programs CHECKOUT` writes the rows, a file per\n\
        suite, and this page. [Bugs that the checks found in these programs](bugs.md) were read by hand.\n\n\
        \"Own check\" counts programs that find their results right; one without such a check, or with one\n\
        that fails on a GPU, too, is verified where it prints what it prints there (`--gpu`). \"Our runtime\" compares, on that GPU, our\n\
        `libcudart` with NVIDIA's: equal of those whose output NVIDIA's repeats.\n\n\
        | suite | programs | built | ran | own check | by a GPU | own check fails | nobody checked | with hazards | our runtime |\n\
        |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    let (mut reasons, mut facts): (BTreeMap<String, Vec<String>>, String) = Default::default();
    let mut shares = String::new();
    for suite in SUITES {
        let rows = read(suite.name)?;
        if rows.is_empty() {
            continue;
        }
        let count = |is: &dyn Fn(&Row) -> bool| rows.values().filter(|row| is(row)).count();
        let ran = |row: &Row, verified: &str| row.ran == "yes" && row.verified == verified;
        let _ = writeln!(
            page,
            "| [{}]({}.csv) | {} | {} | {} | {} | {} | {} | {} | {} | {} of {} |",
            suite.title,
            suite.name,
            rows.len(),
            count(&|row| row.built == "yes"),
            count(&|row| row.ran == "yes"),
            count(&|row| ran(row, "yes")),
            count(&|row| ran(row, BY_GPU)),
            count(&|row| ran(row, "no")),
            count(&|row| ran(row, NO_CHECK)),
            count(&|row| !row.hazards.is_empty()),
            count(&|row| ["equal", "close"].contains(&row.runtime.as_str())),
            count(&|row| ["equal", "close", "differs"].contains(&row.runtime.as_str())),
        );
        write_shares(&mut shares, suite, &rows);
        let text = text(suite.name)?;
        let own = text.lines().filter_map(|line| line.strip_prefix("# "));
        let _ = writeln!(facts, "- {}: {}", suite.title, own.collect::<Vec<_>>().join(", "));
        for row in rows.values().filter(|row| !row.lacks.is_empty()) {
            let reason = if row.built == "no" { "not built: " } else { "" };
            let reason = format!("{reason}{}", general(&row.lacks));
            reasons.entry(reason).or_default().push(row.program.clone());
        }
    }
    page.push_str(SHARES);
    page.push_str(&shares);
    let mut reasons: Vec<(String, Vec<String>)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(reason, programs)| (usize::MAX - programs.len(), reason.clone()));
    page.push_str("\nThe commonest reasons:\n\n| reason | programs | such as |\n|---|--:|---|\n");
    for (reason, programs) in reasons.iter().take(REASONS) {
        let some = programs.iter().take(5).map(|name| format!("`{name}`"));
        let some = some.collect::<Vec<_>>().join(", ");
        let reason = reason.replace('|', "\\|");
        let _ = writeln!(page, "| {reason} | {} | {some} |", programs.len());
    }
    let _ = write!(page, "\nOf these runs:\n\n{facts}");
    Ok(write_whole(&folder().join("README.md"), page.as_bytes())?)
}

/// The head of the table of shares.
const SHARES: &str = "\nVerified are those with \"own check\" or \"by a GPU\". A program that is not may be beyond what can be asked of\n\
    a virtual GPU: its inputs are kept elsewhere (input), it calls a closed library such as cuBLAS (library), it\n\
    asks for hardware that one GPU is not (devices), it needs PyTorch, or the checks stop at a bug of its own (bug).\n\n\
    | suite | built | verified | of the built | beyond | of the rest |\n|---|--:|--:|--:|---|--:|\n";

/// Writes how many of a suite's built programs are verified, of all and of those that can be asked of us.
fn write_shares(text: &mut String, suite: &super::suite::Suite, rows: &Rows) {
    let built: Vec<&Row> = rows.values().filter(|row| row.built == "yes").collect();
    let verified = built.iter().filter(|row| row.is_verified()).count();
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    for row in built.iter().filter(|row| !row.is_verified() && !row.beyond.is_empty()) {
        *words.entry(&row.beyond).or_default() += 1;
    }
    let share = |of: usize| format!("{} %", (100 * verified).checked_div(of).unwrap_or(0));
    let rest = share(built.len() - words.values().sum::<usize>());
    let words: Vec<String> = words.iter().map(|(word, count)| format!("{word} {count}")).collect();
    let _ = writeln!(
        text,
        "| {} | {} | {verified} | {} | {} | {rest} |",
        suite.title,
        built.len(),
        share(built.len()),
        words.join(", "),
    );
}

/// Returns the names of a suite's programs that the list of bugs has.
pub fn with_bugs(suite: &super::suite::Suite) -> Result<Vec<String>> {
    let file = folder().join("bugs.md");
    let text = std::fs::read_to_string(&file);
    let text = text.with_context(|| format!("cannot read {}", file.display()))?;
    let begin = format!("| {} `", suite.title);
    let rows = text.lines().filter_map(|line| line.strip_prefix(&begin)?.split('`').next());
    Ok(rows.map(str::to_owned).collect())
}

/// A reason without what differs from program to program.
fn general(reason: &str) -> &str {
    reason.split(": ").next().unwrap_or(reason)
}

/// A reason without what does not fit into a row, and without the folders of this machine.
pub fn shortened(reason: &str) -> String {
    let plain: String = reason.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let words: Vec<String> = plain.split_whitespace().map(without_folders).collect();
    words.join(" ").chars().take(REASON).collect()
}

/// A word that is the full path of a file, with its name alone.
fn without_folders(word: &str) -> String {
    let (mark, path) = word.split_at(word.find('/').unwrap_or(0));
    let is_full =
        path.starts_with('/') && !mark.contains(|it: char| it.is_alphanumeric() || it == '.');
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_full { format!("{mark}{name}") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let row = Row { lacks: "a, b".to_owned(), ..Row::unbuilt("x", "y") };
        let read = Row::parse(&row.line()).expect("a row");
        assert_eq!(read, Row { lacks: "a; b".to_owned(), ..row });
    }

    #[test]
    fn a_reason_names_no_folder_of_this_machine() {
        let shown =
            shortened("fault at PTX line 4 (/home/me/main.cu:12): no ../data/x,\nread/write");
        assert_eq!(shown, "fault at PTX line 4 (main.cu:12): no ../data/x, read/write");
    }
}
