//! Docs of patterns, the glossary and the README: their numbers are those of the data, their words those of the
//! glossary, and a claim has one version.

mod checks;
mod engine;
mod littles_law;
mod myths;
mod pages;
mod ratios;
mod screens;

use crate::kernels_source::root;
use crate::snapshots::blessing;
use host::patterns::ALL as PATTERNS;
use report::glossary::{TEXT as GLOSSARY, doc_of, linked};
use report::measured;
use results::Results;
use std::path::Path;

/// The measurement whose numbers docs have.
const REFERENCE: &str = "results/nvidia-h200/reference.json";

/// The documents that have measured times beside the patterns' docs.
const FILLED: [&str; 5] = [
    "docs/glossary.md",
    "docs/myths.md",
    "docs/published_figures.md",
    "docs/six_optimizations.md",
    "docs/style.md",
];

/// The document whose times are of many runs; what follows from those of the reference has its arithmetic behind it.
const FINDINGS: &str = "docs/findings.md";

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn reference() -> Results {
    Results::load(&root().join(REFERENCE), host::CATALOGUE.renamed).expect("it is committed")
}

/// The text of a source file with another doc on top.
fn with_doc(source: &str, doc: &str) -> String {
    let rest = source.lines().skip_while(|line| line.starts_with("//!"));
    let doc = doc.lines().map(|line| format!("//! {line}").trim_end().to_owned());
    doc.chain(rest.map(str::to_owned)).flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// Returns what is wrong in a doc, for a person who has just written it.
fn faults_of(doc: &str, words: &[(&str, &str)]) -> Vec<String> {
    let mut faults = checks::dead_links(doc, GLOSSARY);
    faults.extend(checks::unlinked_terms(doc, GLOSSARY));
    faults.extend(checks::private_words(doc, words));
    faults.extend(
        measured::typed(doc)
            .into_iter()
            .map(|line| format!("a number nobody fills in, see docs/style.md: {line}")),
    );
    let ratios = ratios::typed(doc).into_iter();
    faults
        .extend(ratios.map(|words| format!("a ratio nobody fills in, see docs/style.md: {words}")));
    faults
}

#[test]
fn measured_numbers_are_those_of_the_reference() {
    let results = reference();
    let mut wrong = Vec::new();
    let mut compare = |path: &str, before: &str, after: String| {
        if before != after {
            if blessing() {
                std::fs::write(root().join(path), after).expect("a writable checkout");
                return;
            }
            let mut lines = before.lines().zip(after.lines());
            let difference = lines.find(|(before, after)| before != after);
            wrong.push(format!("{path} is stale, {difference:?}: run `cargo xtask bless`"));
        }
    };
    for pattern in PATTERNS {
        let path = pattern.source_file();
        let source = read(&path);
        let variants: Vec<&str> = pattern.variants.iter().map(|variant| variant.name).collect();
        let filled = measured::fill(&doc_of(&source), pattern.name, &variants, &results)
            .unwrap_or_else(|error| panic!("{path}: {error:#}"));
        compare(&path, &source, with_doc(&source, &filled));
    }
    for path in FILLED {
        let text = read(path);
        let filled = measured::fill(&text, "", &[], &results);
        let filled = filled.unwrap_or_else(|error| panic!("{path}: {error:#}"));
        compare(path, &text, filled);
    }
    let findings = read(FINDINGS);
    let computed = measured::compute(&findings, "", &results);
    compare(FINDINGS, &findings, computed.unwrap_or_else(|error| panic!("{FINDINGS}: {error:#}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_stale_number_is_found() {
    let results = reference();
    let fill = |doc: &str| measured::fill(doc, "transpose", &["tiled"], &results);
    let doc = "The tile: `tiled`\n(? ms), `coalescing/scalar` (? us), `cuBLAS geam` (? ms).\n<!-- measured -->\n<!-- /measured -->\n";
    let filled = fill(doc).expect("all of it was measured");
    let row = results.ladders().find(|row| row.name() == "transpose/tiled").expect("measured");
    let time = row.measured().expect("measured").time_ms.median;
    assert!(filled.starts_with(&format!("The tile: `tiled`\n({time:.3} ms), `coal")), "{filled}");
    assert!(filled.contains("\n| `tiled` | 1.") && filled.contains("\n| *cuBLAS geam* | 0."));
    assert!(!filled.contains('?'), "{filled}");
    assert_eq!(fill(&filled).expect("still"), filled, "what is filled is not stale");
    let digit = filled.find("(1.").expect("more than a millisecond") + 1;
    for stale in [filled.replacen("| 1.", "| 2.", 1), {
        let mut stale = filled.clone();
        stale.replace_range(digit..=digit, "7");
        stale
    }] {
        assert_ne!(stale, filled);
        assert_eq!(fill(&stale).expect("the same names"), filled);
    }
    let error = fill("`tield` (1.2 ms)").expect_err("no such variant");
    assert_eq!(error.to_string(), "`tield` was not measured: write no time after its name");
    assert_eq!(with_doc("//! a\n//!\n//! b\n\ncode\n", "c\n\nd\n"), "//! c\n//!\n//! d\n\ncode\n");
}

#[test]
fn docs_use_the_words_of_the_glossary() {
    let style = read("docs/style.md");
    let words = checks::words(&style);
    assert!(words.len() > 30, "docs/style.md: only {} words were read", words.len());
    let mut wrong = Vec::new();
    for pattern in PATTERNS {
        let faults = faults_of(&pattern.doc(), &words);
        let path = pattern.source_file();
        wrong.extend(faults.into_iter().map(|fault| format!("{path}: {fault}")));
    }
    let mut of_glossary = checks::dead_links(GLOSSARY, GLOSSARY);
    of_glossary.extend(checks::private_words(GLOSSARY, &words));
    of_glossary.extend(checks::forward_links(GLOSSARY));
    wrong.extend(of_glossary.into_iter().map(|fault| format!("docs/glossary.md: {fault}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_doc_of_a_new_pattern_begins_without_faults() {
    let words = read("docs/style.md");
    let template = read("xtask/src/task/new/device.rs.template");
    let doc = linked(&doc_of(&template));
    assert_eq!(faults_of(&doc, &checks::words(&words)), Vec::<String>::new());
}

#[test]
fn the_core_terms_are_terms() {
    let core = report::glossary::core(GLOSSARY);
    assert!(core.len() > 10, "docs/glossary.md: only {core:?} are core terms");
    for name in core {
        let found = report::glossary::find(GLOSSARY, &name);
        assert!(found.is_some(), "docs/glossary.md: `{name}` has no heading");
    }
}

/// The report and `list` take the claim from the doc; what people write elsewhere is compared.
#[test]
fn a_claim_has_one_version() {
    let claims: Vec<(&str, String)> =
        PATTERNS.iter().map(|pattern| (pattern.name, pattern.claim())).collect();
    let folder = std::fs::read_dir(root().join("docs")).expect("the folder of documents");
    let mut paths: Vec<_> = folder.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.extend(["README.md", "ARCHITECTURE.md"].map(|name| root().join(name)));
    let text = |path: &Path| std::fs::read_to_string(path).expect("a document is text");
    for path in paths {
        let wrong = checks::other_claims(&text(&path), &claims);
        assert!(wrong.is_empty(), "{}: {}", path.display(), wrong.join("\n"));
    }
    for pattern in PATTERNS {
        let told = doc_of(&read(&pattern.source_file())).matches("\nShows: ").count();
        assert_eq!(told, 1, "{}: its doc says once what it shows", pattern.name);
    }
}

/// The table of memory spaces in the doc of their pattern is that of `list --hierarchy`.
#[test]
fn the_memory_spaces_of_a_doc_are_those_of_the_catalogue() {
    let results = reference();
    let table = coalesce::hierarchy::markdown(host::CATALOGUE.memory_spaces, Some(&results));
    let mut found = 0;
    for pattern in PATTERNS {
        let path = pattern.source_file();
        let source = read(&path);
        let mut doc = doc_of(&source);
        let Some(at) = report::glossary::block(&doc, "hierarchy") else { continue };
        doc.replace_range(at, &table);
        let after = with_doc(&source, &doc);
        if blessing() {
            std::fs::write(root().join(&path), after).expect("a writable checkout");
        } else {
            assert!(source == after, "{path}: its table is stale: run `cargo xtask bless`");
        }
        found += 1;
    }
    assert_eq!(found, 1, "one doc has the memory spaces");
}

/// Returns what each row of the checklist's table names in its last cell, by the optimization of its first.
fn shown_by(page: &str) -> Vec<(&str, Vec<&str>)> {
    let table = report::glossary::block(page, "six").map(|at| &page[at]).unwrap_or_default();
    let rows = table.lines().skip(2).map(|row| row.trim_matches(['|', ' ']).split(" | "));
    rows.map(|row| {
        let cells: Vec<&str> = row.collect();
        let last = cells.last().copied().unwrap_or_default();
        (cells[0], last.split(", ").map(|name| name.trim_matches('`')).collect())
    })
    .collect()
}

/// Patterns of the table of memory systems that are written elsewhere and not yet here. To be emptied when they are.
const EXPECTED_SOON: [&str; 0] = [];

/// The patterns that the table of memory systems names.
fn of_systems(page: &str) -> Vec<&str> {
    let table = report::glossary::block(page, "systems").map(|at| &page[at]).unwrap_or_default();
    let shown = table.lines().skip(2).filter_map(|row| row.trim_matches('|').split('|').nth(1));
    shown.flat_map(|cell| cell.split(',').map(|name| name.trim().trim_matches('`'))).collect()
}

#[test]
fn every_memory_system_is_shown_by_a_pattern_that_exists() {
    let page = read("docs/memory_systems.md");
    let missing = |page: &str| -> Vec<String> {
        let names = of_systems(page).into_iter();
        let absent = names.filter(|name| host::CATALOGUE.pattern(name).is_none());
        absent.filter(|name| !EXPECTED_SOON.contains(name)).map(str::to_owned).collect()
    };
    let named = of_systems(&page);
    assert!(named.len() >= 38, "{named:?}");
    assert!(EXPECTED_SOON.iter().all(|name| named.contains(name)));
    assert_eq!(missing(&page), Vec::<String>::new());
    assert_eq!(missing(&page.replace("`stencil`", "`stencils`")), ["stencils"], "a fault is found");
}

#[test]
fn the_six_optimizations_are_shown_by_patterns_that_exist() {
    let page = read("docs/six_optimizations.md");
    let rows = shown_by(&page);
    let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    let six = ["occupancy", "coalescing", "divergence", "tiling", "privatization", "coarsening"];
    assert_eq!(names, six);
    for (optimization, patterns) in rows {
        assert!(!patterns.is_empty(), "{optimization}: nothing shows it");
        for name in &patterns {
            let found = host::CATALOGUE.select(name);
            assert!(found.is_ok(), "docs/six_optimizations.md, {optimization}: {found:?}");
        }
        // A pattern that has the name of an optimization shows it.
        if host::CATALOGUE.pattern(optimization).is_some() {
            assert_eq!(
                patterns[0], optimization,
                "{optimization} is shown by its own pattern first"
            );
        }
    }
    let fault = page.replace("`matmul_ab`", "`matmul_xy`");
    let named: Vec<&str> = shown_by(&fault).into_iter().flat_map(|(_, names)| names).collect();
    assert!(named.iter().any(|name| host::CATALOGUE.select(name).is_err()), "a fault is found");
}

/// The sentence that `cargo xtask upstream CHECKOUT --api` writes.
#[test]
fn documents_say_of_rust_cudas_api_what_the_comparison_found() {
    let table = read("results/rust-cuda-api.md");
    let is_it = |line: &&str| line.contains(" public items of rust-cuda's `cuda_std`");
    let sentence = table.lines().find(is_it).expect("the table begins with it");
    for document in ["README.md", "docs/guide/from_rust_cuda.md"] {
        let text = read(document);
        assert_eq!(text.lines().filter(is_it).collect::<Vec<_>>(), [sentence], "{document}");
    }
}
