//! The report: everything is in it, with the file's figures, and it replaces nothing that is not a report.

mod views;

use crate::executor::counts;
use crate::kernels_source::root;
use host::patterns::ALL as PATTERNS;
use results::{Results, Row, RowOutcome};
use scraper::{ElementRef, Html, Selector};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Index;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Writes a report of files, with our counts.
fn write(files: &[PathBuf], machine_code: Option<&Path>, output: &Path) -> anyhow::Result<()> {
    let options = report::Options { machine_code, repository: None };
    report::write(files, host::CATALOGUE.renamed, Some(counts()), &options, output)
}

fn committed() -> PathBuf {
    root().join("results/nvidia-h200/reference.json")
}

fn results() -> Results {
    Results::load(&committed(), host::CATALOGUE.renamed)
        .expect("the committed results are readable")
}

/// The committed results, changed, as a file of a folder.
fn changed(folder: &Path, name: &str, change: impl FnOnce(&mut Results)) -> PathBuf {
    let mut results = results();
    change(&mut results);
    let path = folder.join(name);
    results.save(&path).expect("a writable folder");
    path
}

fn select<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).expect("a selector")).collect()
}

fn inside<'a>(element: ElementRef<'a>, selector: &str) -> Vec<ElementRef<'a>> {
    element.select(&Selector::parse(selector).expect("a selector")).collect()
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().trim().to_owned()
}

/// Pages of a report by file, which are parsed when a test looks at them.
struct Pages(BTreeMap<String, (String, OnceCell<Html>)>);

impl Pages {
    fn of(texts: BTreeMap<String, String>) -> Pages {
        Pages(texts.into_iter().map(|(name, text)| (name, (text, OnceCell::new()))).collect())
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &Html)> {
        self.0.keys().map(|name| (name.as_str(), &self[name.as_str()]))
    }
}

impl Index<&str> for Pages {
    type Output = Html;

    fn index(&self, name: &str) -> &Html {
        let (text, page) = &self.0[name];
        page.get_or_init(|| Html::parse_document(text))
    }
}

/// The pages of the report of the committed results.
fn committed_report() -> Pages {
    Pages::of(committed_texts().clone())
}

fn committed_texts() -> &'static BTreeMap<String, String> {
    static PAGES: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    PAGES.get_or_init(|| report_texts(&[committed()]))
}

/// The pages of a report, by file.
fn report(files: &[PathBuf]) -> Pages {
    Pages::of(report_texts(files))
}

fn report_texts(files: &[PathBuf]) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("report");
    write(files, None, &output).expect("a report");
    let names = |folder: &Path| -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names(folder.path()), BTreeSet::from(["report".to_owned()]), "nothing is left over");
    let read = |name: String| {
        let text = std::fs::read_to_string(output.join(&name)).expect("a page");
        (name, text)
    };
    names(&output).into_iter().map(read).collect()
}

/// The cells of a table's row under its headers.
fn cells<'a>(table: ElementRef<'a>, row: ElementRef<'a>) -> BTreeMap<String, ElementRef<'a>> {
    let headers = inside(table, "thead th").into_iter().map(text);
    headers.zip(inside(row, "td, th")).collect()
}

/// Returns whether a cell holds a figure in full, and shows it rounded.
fn assert_figure(cell: ElementRef<'_>, value: f64, what: &str) {
    let held: f64 = cell.attr("data-value").and_then(|held| held.parse().ok()).unwrap_or(f64::NAN);
    assert_eq!(held, value, "{what}");
    let shown = text(cell);
    let digits = shown.split(' ').next().unwrap_or_default();
    let shown: f64 = digits.parse().unwrap_or(f64::NAN);
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let half_digit = 0.500_001 * 10f64.powi(-(decimals as i32));
    assert!((shown - value).abs() <= half_digit, "{what}: {digits} is not {value}");
}

#[test]
fn every_pattern_and_every_row_is_in_it_with_the_files_figures() {
    let results = results();
    let pages = committed_report();
    for pattern in PATTERNS {
        assert!(pages.0.contains_key(&format!("{}.html", pattern.name)), "{}", pattern.name);
    }
    let summary = &pages["index.html"];
    let table = *select(summary, "table")
        .iter()
        .find(|table| !inside(**table, "tr[data-row]").is_empty())
        .expect("the table of all ladders");
    let rows: Vec<_> = inside(table, "tr[data-row]");
    let ladders: Vec<&Row> = results.ladders().collect();
    assert_eq!(rows.len(), ladders.len());
    for row in ladders {
        let name = row.name();
        let shown = rows.iter().find(|shown| shown.attr("data-row") == Some(&name));
        let cells = cells(table, *shown.unwrap_or_else(|| panic!("{name} is missing")));
        let RowOutcome::Measured(measured) = &row.outcome else { continue };
        // One baseline for all that moves as many bytes: the first of ours.
        let mut alike = results.ladders().filter(|one| one.pattern == row.pattern && !one.peer);
        let baseline =
            alike.find_map(|one| one.measured().filter(|one| one.bytes == measured.bytes));
        let baseline = baseline.map_or(measured, |baseline| baseline).time_ms.median;
        let figures = [
            ("time, ms", measured.time_ms.median),
            ("spread, %", measured.time_ms.noise_percent()),
            ("GB/s", measured.bandwidth_gb_s),
            ("speed-up", baseline / measured.time_ms.median),
        ];
        for (column, value) in figures {
            if column != "GB/s" || measured.bytes > 0 {
                assert_figure(cells[column], value, &format!("{name}, {column}"));
            }
        }
        if let Some(minimum_time) = measured.minimum_time {
            assert_figure(cells["% of peak"], minimum_time.percent, &name);
            assert_figure(cells["minimum time, ms"], minimum_time.time_ms, &name);
            assert_eq!(text(cells["bound by"]), minimum_time.resource.name(), "{name}");
        }
    }
    for peak in &results.measured_peaks {
        let table = select(summary, "#measured_peaks ~ .scroll table")[0];
        let row = inside(table, "tbody tr")
            .into_iter()
            .find(|row| inside(*row, "th").iter().any(|cell| text(*cell) == peak.resource.name()));
        let cells = cells(table, row.expect("the peak's row"));
        assert_figure(cells["fastest run, ms"], peak.time_ms.min, "peak");
        assert_eq!(text(cells["peak"]), peak.rate());
    }
    sweeps_are_complete(&results, &pages);
    peers_are_compared(&results, summary);
}

/// Each row of a sweep has its cell with its time.
fn sweeps_are_complete(results: &Results, pages: &Pages) {
    for row in results.rows.iter().filter(|row| row.sweep.is_some()) {
        let dimension = row.sweep.as_deref().expect("a row of a sweep");
        let page = &pages[format!("{}.html", row.pattern).as_str()];
        let caption = format!("{} over {dimension}", row.pattern);
        let table = *select(page, "table")
            .iter()
            .find(|table| inside(**table, "caption").iter().any(|found| text(*found) == caption))
            .unwrap_or_else(|| panic!("{caption}: no table"));
        let value = row.size[dimension].to_string();
        let shown = inside(table, "tbody tr")
            .into_iter()
            .find(|shown| inside(*shown, "th")[0].attr("data-value") == Some(&value));
        let cells = cells(table, shown.unwrap_or_else(|| panic!("{caption}: no {value}")));
        let cell = text(cells[&row.variant]);
        let time: f64 = cell.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0.0);
        let Some(expected) = row.measured().map(|measured| measured.time_ms.median) else {
            assert!(matches!(row.outcome, RowOutcome::NotRun { .. }), "{caption}: {cell}");
            continue;
        };
        assert!((time / expected - 1.0).abs() < 1e-3, "{caption}, {}: {cell}", row.variant);
    }
}

/// Each peer has a row with the ratio to its twin, or to our best.
fn peers_are_compared(results: &Results, summary: &Html) {
    let mut compared = 0;
    for pattern in PATTERNS {
        let rows: Vec<_> = results.ladders().filter(|row| row.pattern == pattern.name).collect();
        let time = |row: &Row| row.measured().expect("committed rows are measured").time_ms.median;
        let ours = || rows.iter().filter(|row| !row.peer);
        let shown = select(summary, &format!("tr[data-peer={}]", pattern.name));
        let peers: Vec<_> = rows.iter().filter(|row| row.peer).collect();
        assert_eq!(shown.len(), peers.len(), "{}", pattern.name);
        for (peer, row) in peers.into_iter().zip(shown) {
            let twin = ours().find(|row| peer.variant == format!("nvcc {}", row.variant));
            let best = ours().map(|row| time(row)).min_by(f64::total_cmp).expect("we have rows");
            let our_ms = twin.map_or(best, |twin| time(twin));
            let ratio = inside(row, "td").pop().expect("cells");
            assert_figure(ratio, time(peer) / our_ms, &peer.name());
            compared += 1;
        }
    }
    assert!(compared > 0, "the committed results have peers");
}

#[test]
fn pages_are_whole_and_ask_for_nothing() {
    let pages = committed_report();
    let ids = |page: &Html| -> BTreeSet<String> {
        let found: Vec<_> = select(page, "[id]")
            .iter()
            .filter_map(|element| element.attr("id"))
            .map(str::to_owned)
            .collect();
        let unique: BTreeSet<String> = found.iter().cloned().collect();
        assert_eq!(unique.len(), found.len(), "an id is there twice: {found:?}");
        unique
    };
    let known: BTreeMap<&str, BTreeSet<String>> =
        pages.iter().map(|(name, page)| (name, ids(page))).collect();
    for (name, page) in pages.iter() {
        for link in select(page, "a[href]") {
            let target = link.attr("href").unwrap_or_default();
            // A document that is cited: nobody asks for it until a reader follows the link.
            if target.starts_with("https://docs.nvidia.com/") {
                continue;
            }
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { name } else { file };
            let ids = known.get(file).unwrap_or_else(|| panic!("{name}: no page {target}"));
            assert!(place.is_empty() || ids.contains(place), "{name}: no place {target}");
        }
        for selector in ["link", "img", "iframe", "object", "embed", "script[src]", "base", "form"]
        {
            assert!(select(page, selector).is_empty(), "{name} has {selector}");
        }
        for part in ["@import", "url(", "src=\"", "XMLHttpRequest", "xlink:href"] {
            assert!(!page.html().contains(part), "{name} has {part}");
        }
        // A kernel that is shown may fetch texels.
        assert!(!select(page, "script").iter().any(|one| one.html().contains("fetch(")), "{name}");
        assert_eq!(select(page, "html")[0].attr("lang"), Some("en"), "{name}");
        assert_eq!(select(page, "h1").len(), 1, "{name}");
        let levels = select(page, "h1, h2, h3, h4, h5, h6").into_iter();
        let levels: Vec<u8> = levels.map(|heading| heading.value().name().as_bytes()[1]).collect();
        assert!(levels.windows(2).all(|two| two[1] <= two[0] + 1), "{name}: {levels:?}");
        for table in select(page, "table") {
            let in_prose = table.ancestors().filter_map(ElementRef::wrap);
            let in_prose = in_prose.into_iter().any(|around| around.attr("class") == Some("prose"));
            assert!(
                in_prose || inside(table, "caption").len() == 1,
                "{name}: a table has no caption"
            );
        }
        assert!(select(page, "th:not([scope])").is_empty(), "{name}: a header without scope");
    }
}

#[test]
fn every_plot_says_in_words_what_it_shows() {
    let pages = committed_report();
    let results = results();
    let mut plots = 0;
    for (name, page) in pages.iter() {
        for plot in select(page, "svg") {
            // A plot names its title and description; a picture has no ids, as it may be in a page more than once.
            let labels: Option<Vec<_>> =
                plot.attr("aria-labelledby").map(|labels| labels.split(' ').collect());
            let of = |selector| {
                inside(plot, selector).into_iter().find(|found| match &labels {
                    Some(labels) => found.attr("id").is_some_and(|id| labels.contains(&id)),
                    None => true,
                })
            };
            let (title, description) = (of("title"), of("desc"));
            assert!(title.is_some_and(|title| !text(title).is_empty()), "{name}: no title");
            let words = description.map(text).unwrap_or_default();
            assert!(words.contains(|c: char| c.is_ascii_digit()), "{name}: {words}");
            assert!(plot.attr("viewBox").is_some(), "{name}");
            plots += 1;
        }
    }
    // A ladder per pattern, the sweeps, the roofline.
    let sweeps: BTreeSet<_> = results
        .rows
        .iter()
        .map(|row| (&row.pattern, &row.sweep))
        .filter(|(_, sweep)| sweep.is_some())
        .collect();
    assert!(plots > PATTERNS.len() + sweeps.len(), "{plots} plots");
}

#[test]
fn lines_of_kernels_carry_their_traffic() {
    let pages = committed_report();
    let page = &pages["transpose.html"];
    let variant = select(page, "#variant-tiled")[0];
    let of = |code: &str| {
        let lines: Vec<Vec<String>> = inside(variant, ".listing tbody tr")
            .into_iter()
            .map(|row| inside(row, "td").into_iter().map(text).collect())
            .collect();
        lines.into_iter().find(|cells: &Vec<String>| cells[3].contains(code)).expect("the line")
    };
    // Rows go in without conflict, columns come out of one bank.
    assert_eq!(of("*source.add(flat_index(row + tile_row, column + x, columns));")[1], "4 s");
    assert_eq!(of("*tile.add(word(x, tile_column) as usize);")[1], "32 w");
    assert_eq!(of("ld.global")[1], "4 s");
    assert_eq!(of("ld.shared")[1], "32 w");
    for pattern in PATTERNS {
        for variant in pattern.variants {
            let place = select(
                &pages[format!("{}.html", pattern.name).as_str()],
                &format!("#variant-{}", variant.name),
            );
            assert_eq!(place.len(), 1, "{}/{}", pattern.name, variant.name);
            if pattern.kernel_name(variant).is_some() {
                let heat = inside(place[0], ".listing td.heat").len();
                let listings = inside(place[0], ".listing").len();
                assert!(heat > 0 && listings >= 2, "{}/{}: {heat}", pattern.name, variant.name);
            }
        }
    }
}

#[test]
fn files_beside_the_first_are_compared() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let predicted = changed(folder.path(), "predicted.json", |results| {
        results.environment.is_prediction = true;
        results.environment.device.name += " (virtual)";
        results.rows.retain(|row| !row.peer);
    });
    let pages = report(&[committed(), predicted]);
    let aside = |pages: &Pages| -> String {
        select(&pages["index.html"], "aside").into_iter().map(text).collect()
    };
    assert!(!aside(&pages).contains("GPU differs"), "{}", aside(&pages));
    let stride = pages["stride.html"].html();
    assert!(stride.contains("stroke-dasharray"), "a sweep has predicted lines");
    assert!(stride.contains(", predicted "), "a ladder has predicted marks");

    let other = changed(folder.path(), "other.json", |results| {
        results.environment.device.name = "NVIDIA Q1".to_owned();
        results.interrupted = true;
    });
    let pages = report(&[committed(), other]);
    let notes = aside(&pages);
    assert!(notes.contains("the GPU differs: NVIDIA H200 and NVIDIA Q1"), "{notes}");
    assert!(notes.contains("interrupted"), "{notes}");
}

#[test]
fn rows_that_were_not_measured_say_why() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = changed(folder.path(), "odd.json", |results| {
        results.rows[0].outcome = RowOutcome::Wrong { reason: "element 3 is <NaN>".to_owned() };
        results.rows[1].outcome = RowOutcome::NotRun { reason: "n must be even".to_owned() };
        results.rows[2].pattern = "of_tomorrow".to_owned();
    });
    let pages = report(&[file]);
    let summary = text(select(&pages["index.html"], "main")[0]);
    for part in ["wrong: element 3 is <NaN>", "not run: n must be even", "Wrong results: 1."] {
        assert!(summary.contains(part), "{part}");
    }
    assert!(pages.0.contains_key("of_tomorrow.html"));
}

#[test]
fn machine_code_has_the_traffic_of_its_lines() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let small = [changed(folder.path(), "small.json", |results| results.rows.truncate(3))];
    let source = std::fs::read_to_string(root().join("kernels/src/global/coalescing.rs"))
        .expect("it is there");
    let kernel = source.find("fn coalescing_scalar(").expect("the kernel");
    let copies = "*target.add(i as usize) = *source.add(i as usize)";
    let at = kernel + source[kernel..].find(copies).expect("its copy");
    let line = source[..at].lines().count();
    let code = folder.path().join("code.sass");
    let listing = format!(
        ".text.coalescing_scalar:\n\t//## File \"kernels/src/global/coalescing.rs\", line {line}\n\
         /*0000*/ LDG.E R3, desc[UR4][R2.64] ;\n/*0010*/ IADD3 R1, R2, R3, RZ ;\n/*0020*/ STG.E [R4], R3 ;\n"
    );
    std::fs::write(&code, listing).expect("a writable folder");
    let output = folder.path().join("report");
    write(&small, Some(&code), &output).expect("a report");
    let page = std::fs::read_to_string(output.join("coalescing.html")).expect("a page");
    let page = Html::parse_document(&page);
    let of = |variant: &str| {
        let tables = select(&page, &format!("#variant-{variant} details table"));
        let rows = tables.into_iter().flat_map(|table| inside(table, "tbody tr"));
        rows.map(|row| inside(row, "td").into_iter().map(text).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let row = |cost: &str, share: &str, code: &str| {
        [&line.to_string(), cost, share, code].map(str::to_owned).to_vec()
    };
    let expected = [
        row("4 s", "50 %", "LDG.E R3, desc[UR4][R2.64]"),
        row("", "", "IADD3 R1, R2, R3, RZ"),
        row("4 s", "50 %", "STG.E [R4], R3"),
    ];
    assert_eq!(of("scalar"), expected);
    assert!(of("vectorized_16").is_empty(), "{:?}", of("vectorized_16"));

    std::fs::write(&code, "no code\n").expect("a writable folder");
    let message = format!("{:#}", write(&small, Some(&code), &output).expect_err("no code"));
    assert!(message.contains("code.sass is not machine code as `nvdisasm"), "{message}");
}

/// Returns what a call that has to fail says, as `coalesce` prints it.
fn refusal(files: &[PathBuf], output: &Path) -> String {
    let message = format!("{:#}", write(files, None, output).expect_err("it cannot be written"));
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn bad_files_are_one_sentence_and_change_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("report");
    std::fs::create_dir(&output).expect("a writable folder");
    let write_file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a writable folder");
        path
    };
    let whole = std::fs::read_to_string(committed()).expect("the committed results");
    let corrupt = write_file("corrupt.json", "{\"schema\": 3, \"rows\": [}");
    let truncated = write_file("truncated.json", &whole[..whole.len() / 2]);
    let newer = write_file("newer.json", "{\"schema\": 99}");
    let missing = folder.path().join("missing.json");
    let disjoint = changed(folder.path(), "disjoint.json", |results| results.rows.truncate(1));
    let rest = changed(folder.path(), "rest.json", |results| drop(results.rows.remove(0)));
    let outside = changed(folder.path(), "outside.json", |results| {
        results.rows[0].pattern = "../outside".to_owned();
    });
    for (files, part) in [
        (vec![corrupt], "is not a result file"),
        (vec![truncated], "is not a result file"),
        (vec![newer], "has result schema 99"),
        (vec![missing], "cannot read"),
        (vec![disjoint, rest], "have no row in common"),
        (vec![outside.clone()], "is damaged: `../outside`"),
        (vec![committed(), outside], "is damaged: `../outside`"),
    ] {
        let message = refusal(&files, &output);
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(std::fs::read_dir(&output).expect("it is still there").count(), 0);
}

#[test]
fn what_is_not_a_report_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let small = [changed(folder.path(), "small.json", |results| results.rows.truncate(3))];
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").expect("a writable folder");
    assert!(refusal(&small, &file).contains("is not a folder"));
    assert!(refusal(&small, &file.join("below")).contains("cannot write"));
    assert!(refusal(&small, Path::new("/nonexistent/report")).contains("cannot write"));
    assert_eq!(std::fs::read_to_string(&file).expect("it is still there"), "mine");

    let output = folder.path().join("report");
    write(&small, None, &output).expect("a new folder");
    let first = std::fs::read_to_string(output.join("index.html")).expect("a page");
    write(&[committed()], None, &output).expect("a report over a report");
    let second = std::fs::read_to_string(output.join("index.html")).expect("a page");
    assert_ne!(first, second);

    for foreign in ["notes.txt", "page.html"] {
        std::fs::write(output.join(foreign), "mine").expect("a writable folder");
        let message = refusal(&small, &output);
        assert!(
            message.contains(&format!("holds {foreign}, which is no page of a report")),
            "{message}"
        );
        assert_eq!(std::fs::read_to_string(output.join(foreign)).expect("it is there"), "mine");
        let now = std::fs::read_to_string(output.join("index.html")).expect("a page");
        assert_eq!(now, second, "the old report stays");
        std::fs::remove_file(output.join(foreign)).expect("a writable folder");
    }
}
