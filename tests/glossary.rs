//! The glossary's examples: the code that it shows is what was compiled, and its tables are what the executor counted.

use crate::kernels_source::{builder, root};
use crate::snapshots::blessing;
use counters::{COUNTERS, Counters, METRICS, Trust};
use cuda_builder::{NvvmArch, PanicStrategy};
use report::glossary::{TEXT, terms};
use simt::{Checks, Launch, Memory, Module, Options, run};
use std::collections::BTreeMap;

/// The kernels, in one block of so many threads.
const LAUNCHES: [(&str, u32); 16] = [
    ("column", 32),
    ("column_padded", 32),
    ("constant_scattered", 32),
    ("constant_uniform", 32),
    ("copy", 32),
    ("copy_coarsened", 32),
    ("copy_even", 32),
    ("copy_shifted", 32),
    ("copy_strided", 32),
    ("copy_vectorized", 32),
    ("count_private", 32),
    ("count_shared", 32),
    ("pick", 32),
    ("reverse", 64),
    ("reverse_asynchronous", 64),
    ("sum", 32),
];

/// Elements of the source; the target has as many.
const ELEMENTS: u32 = 512;

/// A column of a table: its name there, and the figure.
type Column = (&'static str, fn(&Counters) -> u64);

/// Columns of a table, in the words of the glossary.
const COLUMNS: &[Column] = &[
    ("load requests", |c| c.global_load.requests),
    ("lanes per load", |c| c.global_load.lanes / c.global_load.requests.max(1)),
    ("bytes loaded", |c| c.global_load.bytes),
    ("sectors loaded", |c| c.global_load.sectors),
    ("store requests", |c| c.global_store.requests),
    ("sectors stored", |c| c.global_store.sectors),
    ("shared requests", |c| c.shared_load.requests + c.shared_store.requests),
    ("wavefronts", |c| c.shared_load.wavefronts + c.shared_store.wavefronts),
    ("bank conflicts", |c| c.shared_load.bank_conflicts() + c.shared_store.bank_conflicts()),
    ("barriers", |c| c.barriers),
    ("divergent branches", |c| c.divergent_branches),
    ("warp-level instructions", |c| c.warp_level_instructions),
    ("atomic requests", |c| c.global_atomic.requests + c.global_reduction.requests),
    ("sector updates", |c| c.global_atomic.sector_updates + c.global_reduction.sector_updates),
    ("local stores", |c| c.local_store.requests),
    ("local loads", |c| c.local_load.requests),
    ("constant requests", |c| c.constant_load.requests),
    ("constant wavefronts", |c| c.constant_load.wavefronts),
    ("asynchronous copy requests", |c| c.async_copy_global.requests),
];

/// Returns what the executor counts of each kernel; every hazard check is on.
fn counted() -> BTreeMap<&'static str, Counters> {
    let path = builder("crates/glossary_kernels", NvvmArch::Compute90)
        .panic(PanicStrategy::Trap)
        .build()
        .expect("the glossary's kernels compile");
    let text = std::fs::read_to_string(path).expect("the builder wrote it");
    let module = Module::parse(&text).expect("our own PTX parses");
    let count = |(name, threads): (&'static str, u32)| {
        let mut memory = Memory::new(1 << 20);
        let [source, target] = [(); 2].map(|()| {
            let address = memory.allocate(4 * u64::from(ELEMENTS)).expect("a small allocation");
            memory.fill(address, 0, 4 * ELEMENTS as usize).expect("the allocation exists");
            address
        });
        let launch = Launch::new(name, [1; 3], [threads, 1, 1]).address(source).address(target);
        let options = Options { checks: Checks::all(), ..Options::default() };
        let report = run(&module, &mut memory, &launch, &options)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(report.findings.is_empty(), "{name}: {}", report.findings[0]);
        (name, report.counters)
    };
    LAUNCHES.into_iter().map(count).collect()
}

/// A glossary whose generated parts are those of these sources and counts: what lies between `<!-- KIND ARGUMENTS -->`
/// and `<!-- /KIND -->`, where the kind is `kernel`, `counts`, `counters` or `index`.
fn filled(glossary: &str, source: &str, counts: &BTreeMap<&str, Counters>) -> String {
    let (mut out, mut lines) = (String::new(), glossary.lines());
    while let Some(line) = lines.next() {
        out += line;
        out += "\n";
        let Some(inner) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"))
        else {
            continue;
        };
        let (kind, arguments) = inner.split_once(' ').unwrap_or((inner, ""));
        out += &match kind {
            "kernel" => format!("```rust,ignore\n{}```\n", kernel(source, arguments)),
            "counts" => table(arguments, counts),
            "counters" => counters(),
            "index" => index(glossary),
            _ => continue,
        };
        let end = format!("<!-- /{kind} -->");
        assert!(lines.any(|line| line == end), "docs/glossary.md: `{line}` has no `{end}`");
        out += &end;
        out += "\n";
    }
    out
}

/// The text of a kernel, without its documentation.
fn kernel(source: &str, name: &str) -> String {
    let start = source
        .find(&format!("pub unsafe fn {name}("))
        .unwrap_or_else(|| panic!("crates/glossary_kernels has no `{name}`"));
    let start = source[..start].rfind("#[kernel").expect("a kernel has its attribute");
    let end = start + source[start..].find("\n}\n").expect("a function ends") + "\n}\n".len();
    source[start..end].to_owned()
}

/// The table of `NAME, NAME: COLUMN, COLUMN`.
fn table(arguments: &str, counts: &BTreeMap<&str, Counters>) -> String {
    let (names, columns) = arguments.split_once(": ").expect("`counts KERNELS: COLUMNS`");
    let columns: Vec<&Column> = columns
        .split(", ")
        .map(|name| COLUMNS.iter().find(|(known, _)| *known == name))
        .map(|column| column.unwrap_or_else(|| panic!("no such column in `{arguments}`")))
        .collect();
    let header: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut rows =
        vec![[&["kernel"], &header[..]].concat().into_iter().map(str::to_owned).collect()];
    for name in names.split(", ") {
        let counted = counts.get(name).unwrap_or_else(|| panic!("`{name}` was not launched"));
        let figures = columns.iter().map(|(_, figure)| figure(counted).to_string());
        rows.push([format!("`{name}`")].into_iter().chain(figures).collect());
    }
    aligned(&rows)
}

/// A Markdown table that can be read as text; the first row is the header, and figures are on the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let is_figure = |column: usize| rows[1..].iter().all(|row| row[column].parse::<u64>().is_ok());
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| match is_figure(column) {
            true => format!(" {cell:>0$} |", width(column)),
            false => format!(" {cell:<0$} |", width(column)),
        });
        format!("|{}\n", cells.collect::<String>())
    };
    let rule = (0..rows[0].len()).map(|column| match is_figure(column) {
        true => format!("{}:|", "-".repeat(width(column) + 1)),
        false => format!("{}|", "-".repeat(width(column) + 2)),
    });
    let rule = format!("|{}\n", rule.collect::<String>());
    [line(&rows[0]), rule].into_iter().chain(rows[1..].iter().map(line)).collect()
}

/// Our counters beside Nsight Compute's metrics.
fn counters() -> String {
    let mut rows = vec![["counter", "Nsight Compute", "agreement"].map(str::to_owned).to_vec()];
    for (name, metrics, trust) in COUNTERS {
        let trust = match trust {
            Trust::Exact => "equal",
            Trust::ExactAtPtxLevel => "equal for the PTX",
            Trust::Model => "a model",
        };
        rows.push(vec![format!("`{name}`"), (*metrics).to_owned(), trust.to_owned()]);
    }
    aligned(&rows)
}

/// All terms from A to Z, and where their links lead.
fn index(glossary: &str) -> String {
    let mut names: Vec<&str> = terms(glossary).iter().map(|term| term.name).collect();
    names.sort_by_key(|name| name.to_lowercase());
    let mut lines = vec![String::new()];
    for (place, name) in names.iter().enumerate() {
        let comma = if place + 1 < names.len() { "," } else { "" };
        let last = lines.last_mut().expect("there is a line");
        let space = if last.is_empty() { "" } else { " " };
        if last.len() + name.len() > 110 {
            lines.push(format!("[{name}]{comma}"));
        } else {
            *last += &format!("{space}[{name}]{comma}");
        }
    }
    let anchors = names.iter().map(|name| format!("[{name}]: #{}", report::glossary::anchor(name)));
    lines
        .into_iter()
        .chain([String::new()])
        .chain(anchors)
        .flat_map(|line| [line, "\n".into()])
        .collect()
}

#[test]
fn the_glossary_shows_what_was_compiled_and_counted() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("it is committed");
    let (glossary, source) = (read("docs/glossary.md"), read("crates/glossary_kernels/src/lib.rs"));
    let counts = counted();
    let wanted = filled(&glossary, &source, &counts);
    if blessing() {
        std::fs::write(root().join("docs/glossary.md"), wanted).expect("a writable checkout");
        return;
    }
    let difference = glossary.lines().zip(wanted.lines()).find(|(before, now)| before != now);
    assert!(
        glossary == wanted,
        "docs/glossary.md is stale, {difference:?}: run `cargo xtask bless`"
    );
    let kernels = source.matches("#[kernel").count();
    assert_eq!(kernels, LAUNCHES.len(), "each example kernel is launched");
    for (name, _) in LAUNCHES {
        assert!(
            glossary.contains(&format!("`{name}` ")),
            "docs/glossary.md has no table with {name}"
        );
    }
    // Changed code and changed counts are found.
    for fault in
        [source.replace("*source.add(i)", "*source.add(i + 0)"), source.replace("8 * i", "9 * i")]
    {
        assert_ne!(filled(&glossary, &fault, &counts), glossary);
    }
    for name in LAUNCHES.map(|(name, _)| name) {
        let faulty = BTreeMap::from([(name, Counters::default())]);
        let counts = counts.clone().into_iter().chain(faulty).collect();
        assert_ne!(filled(&glossary, &source, &counts), glossary, "{name}");
    }
}

#[test]
fn every_metric_that_the_glossary_names_is_one_of_nsight_compute() {
    let mut named = 0;
    for word in TEXT.split('`').skip(1).step_by(2) {
        let is_metric =
            ["l1tex__", "lts__", "smsp__", "memory_l"].iter().any(|start| word.starts_with(start));
        if is_metric {
            let known = METRICS.iter().any(|metric| metric.names.contains(&word));
            assert!(known, "docs/glossary.md: crates/simt/src/metrics.rs has no `{word}`");
            named += 1;
        }
    }
    assert!(named > 5, "docs/glossary.md: only {named} metrics were read");
}
