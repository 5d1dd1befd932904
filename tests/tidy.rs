//! The rules of the house that a machine can check, each with the fix in its message.

use crate::kernels_source::{files, root};
use coalesce::pattern::{Expectation, Pattern, Size};
use host::CATALOGUE;
use host::patterns::ALL as PATTERNS;
use results::Results;
use std::collections::BTreeSet;

/// The folders that hold our sources.
pub const SOURCES: [&str; 7] = ["kernels", "host", "course", "book", "xtask", "tests", "crates"];

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The patterns of a folder, as `GROUP/PATTERN`: files in folders that are no module's own. What lies in a folder of a
/// pattern's name is a part of it.
fn patterns_in(folder: &str) -> BTreeSet<String> {
    let folder = root().join(folder);
    let below = |path: &std::path::Path| {
        let path = path.strip_prefix(&folder).expect("files lie in their folder");
        path.with_extension("").to_string_lossy().into_owned()
    };
    let all = files(&folder.to_string_lossy(), "rs").into_iter().map(|(path, _)| below(&path));
    all.filter(|path| path.matches('/').count() == 1 && !path.ends_with("/mod")).collect()
}

#[test]
fn a_pattern_is_two_files_with_one_stem_and_a_registry_entry() {
    let place = |pattern: &&Pattern| format!("{}/{}", pattern.group, pattern.name);
    let registry: BTreeSet<String> = PATTERNS.iter().map(place).collect();
    let with_kernels: BTreeSet<String> =
        PATTERNS.iter().filter(|pattern| !pattern.is_host_work()).map(place).collect();
    let devices = patterns_in("kernels/src");
    assert!(with_kernels.is_subset(&devices), "kernels/src lacks patterns: {with_kernels:?}");
    assert!(devices.is_subset(&registry), "kernels/src has files of no pattern: {devices:?}");
    assert_eq!(
        patterns_in("host/src/patterns"),
        registry,
        "host/src/patterns/*/*.rs and PATTERNS (name and group) differ"
    );
    let names: BTreeSet<&str> = PATTERNS.iter().map(|pattern| pattern.name).collect();
    assert_eq!(names.len(), PATTERNS.len(), "two patterns have one name");
}

/// A group is the same folder in both crates, and no name that a pattern may have: `cargo xtask new` takes both.
#[test]
fn groups_are_the_same_in_both_crates() {
    let groups = |path: &str, prefix: &str| -> BTreeSet<String> {
        let text = read(path);
        let of = |line: &str| Some(line.strip_prefix(prefix)?.strip_suffix(';')?.to_owned());
        text.lines().filter_map(of).filter(|name| name != "measurement").collect()
    };
    let of_kernels = groups("kernels/src/lib.rs", "pub mod ");
    assert_eq!(of_kernels, groups("host/src/patterns/mod.rs", "mod "));
    let used = PATTERNS.iter().map(|pattern| pattern.group);
    assert!(used.clone().all(|group| of_kernels.contains(group)));
    assert!(PATTERNS.iter().all(|pattern| !of_kernels.contains(pattern.name)));
}

#[test]
fn every_variant_has_its_kernel_and_every_kernel_its_variant() {
    // Kernels that only the image for one generation alone has.
    let is_specific = |kernel: &str| {
        let mut having = CATALOGUE.images.iter().filter(|image| image.facts(kernel).is_some());
        having.clone().count() > 0 && having.all(cuda_host::Image::is_specific)
    };
    for image in CATALOGUE.images {
        let entries: BTreeSet<&str> = image
            .kernels
            .iter()
            .map(|facts| facts.kernel)
            .filter(|name| !name.starts_with("measurement_"))
            // Work of the host may launch any kernel of its file.
            .filter(|name| !CATALOGUE.owner_of(name).is_some_and(Pattern::is_host_work))
            .collect();
        let expected: BTreeSet<String> = PATTERNS
            .iter()
            .flat_map(|pattern| pattern.variants.iter().map(move |variant| (pattern, variant)))
            .filter(|(_, variant)| variant.min_compute_capability <= image.capability)
            .flat_map(|(pattern, variant)| pattern.kernel_names(variant))
            .filter(|kernel| image.is_specific() || !is_specific(kernel))
            .collect();
        let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
        assert_eq!(entries, expected, "sm_{}: PTX entries and variants differ", image.capability);
    }
}

/// A task of the course exercises the idea of a pattern, and is two files and an entry of the list.
#[test]
fn a_task_of_the_course_names_a_pattern_and_is_in_the_list() {
    let list = read("course/src/tasks/mod.rs");
    let mut tasks = 0;
    for (path, text) in files("course/src/tasks", "rs") {
        let stem = path.file_stem().expect("files have names").to_string_lossy().into_owned();
        let lesson = text.split("lesson: \"").nth(1).and_then(|rest| rest.split('"').next());
        let Some(lesson) = lesson else { continue };
        tasks += 1;
        let pattern = CATALOGUE.pattern(lesson);
        assert!(pattern.is_some(), "{}: there is no pattern `{lesson}`", path.display());
        assert!(list.contains(&format!("&{stem}::TASK")), "{stem} is not in TASKS");
        let file =
            ["course/kernels/src", "course/src/hosts"].map(|room| format!("{room}/{stem}.rs"));
        assert!(file.iter().any(|file| root().join(file).is_file()), "{stem} has no solved file");
    }
    assert!(tasks >= 36, "the course has {tasks} tasks");
}

/// The peers of a pattern are in its file of `peers/`, which `peers.cu` includes and lists.
#[test]
fn peers_are_a_file_per_pattern() {
    let peers = read("peers/peers.cu");
    let named = |start: &str, end: char| -> BTreeSet<String> {
        let of = |line: &str| Some(line.trim().strip_prefix(start)?.split_once(end)?.0.to_owned());
        peers.lines().filter_map(of).collect()
    };
    let included: BTreeSet<String> =
        named("#include \"", '"').iter().map(|file| file.replace(".cuh", "")).collect();
    let stem = |(path, _): (std::path::PathBuf, _)| {
        path.file_stem().expect("files have names").to_string_lossy().into_owned()
    };
    let there: BTreeSet<String> = files("peers", "cuh").into_iter().map(stem).collect();
    assert_eq!(included, there, "peers/peers.cu must include each peers/PATTERN.cuh, and no other");
    assert_eq!(
        named("{\"", '"'),
        there,
        "the rows of PEERS in peers/peers.cu and peers/*.cuh differ"
    );
    let unknown: Vec<&String> =
        there.iter().filter(|name| CATALOGUE.pattern(name).is_none()).collect();
    assert!(unknown.is_empty(), "peers/ has files of no pattern: {unknown:?}");
}

#[test]
fn every_doc_has_the_template_and_lists_the_variants_in_order() {
    for pattern in PATTERNS {
        let doc = pattern.doc();
        for part in [
            "# ",
            "\nShows: ",
            "\nExpected: ",
            "\nPreconditions: ",
            "\nSource: ",
            "| variant | change",
        ] {
            assert!(doc.contains(part), "{}: its doc has no `{}`", pattern.name, part.trim());
        }
        let doc = without_measured(&doc);
        let listed: Vec<&str> =
            doc.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let names: Vec<&str> = pattern.variants.iter().map(|variant| variant.name).collect();
        assert_eq!(listed, names, "{}: the table of its doc and the variants differ", pattern.name);
    }
}

/// A doc without its table of measured figures, which `tests/docs.rs` compares.
fn without_measured(doc: &str) -> String {
    let mut doc = doc.to_owned();
    if let Some(at) = report::glossary::block(&doc, "measured") {
        doc.replace_range(at, "");
    }
    report::glossary::plain(&doc)
}

/// The cells of the table in a pattern's doc, a row for its header and one for each variant.
fn table_of(pattern: &Pattern) -> Vec<Vec<String>> {
    let doc = without_measured(&pattern.doc());
    let is_row = |line: &&str| line.starts_with("| variant |") || line.starts_with("| `");
    let cells = |line: &str| {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    doc.lines().filter(is_row).map(cells).collect()
}

#[test]
fn the_table_of_a_doc_says_what_changed_and_which_devices_have_it() {
    for pattern in PATTERNS {
        for (variant, row) in pattern.variants.iter().zip(table_of(pattern).iter().skip(1)) {
            let mut change = pattern.summary(variant);
            let name = format!("{}/{}", pattern.name, variant.name);
            assert!(!change.is_empty(), "{name}: say in the doc's table what changed");
            if variant.min_compute_capability > 70 {
                change += &format!(" (sm_{})", variant.min_compute_capability);
            }
            assert_eq!(row[1], change, "{name}: the doc's table and the kernel's attribute differ");
        }
    }
}

/// Returns whether a cell of a doc's table says what is expected: the number, rounded as the cell is, or `none`. A
/// cell that is a formula, or says `4 or 5`, is right where the expectation depends on the size: `tests/executor.rs` has the formulas.
fn says(cell: &str, expected: &[Option<f64>]) -> bool {
    match (cell.parse::<f64>(), expected) {
        (Ok(number), [first @ Some(_), ..]) => {
            let decimals = cell.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            let is_near =
                |value: f64| (value - number).abs() <= 0.5 * 0.1_f64.powi(decimals as i32);
            first.is_some_and(is_near)
        }
        (Ok(_), _) => false,
        (Err(_), [first, others @ ..]) if cell != "none" => others.iter().any(|one| one != first),
        (Err(_), all) => all.iter().all(Option::is_none),
    }
}

#[test]
fn the_table_of_a_doc_has_the_traffic_that_the_variants_promise() {
    type Promise = fn(&Expectation) -> Option<f64>;
    let columns: [(&str, &[Promise]); 8] = [
        ("sectors per load", &[|expected| expected.load_sectors]),
        ("sectors per store", &[|expected| expected.store_sectors]),
        (
            "shared wavefronts, load / store",
            &[
                |expected| expected.shared_load_wavefronts,
                |expected| expected.shared_store_wavefronts,
            ],
        ),
        ("shared atomic wavefronts", &[|expected| expected.shared_atomic_wavefronts]),
        ("constant wavefronts", &[|expected| expected.constant_wavefronts]),
        ("sectors per local load", &[|expected| expected.local_load_sectors]),
        ("sectors per local store", &[|expected| expected.local_store_sectors]),
        ("active lanes per instruction", &[|expected| expected.lanes_per_instruction]),
    ];
    let (mut compared, mut wrong) = (0, Vec::new());
    for pattern in PATTERNS {
        let table = table_of(pattern);
        let sizes = std::iter::once(pattern.count_size).chain(pattern.verify_sizes.iter().copied());
        let sizes: Vec<Size> = sizes.map(Size::new).collect();
        for (column, promises) in columns {
            let Some(at) = table[0].iter().position(|header| header == column) else { continue };
            for (variant, row) in pattern.variants.iter().zip(&table[1..]) {
                let runs = |size: &&Size| (variant.precondition)(size).is_ok();
                let expected: Vec<_> =
                    sizes.iter().filter(runs).map(|size| (variant.expect)(size)).collect();
                let cell = &row[at];
                // One `none` stands for all of a cell.
                let parts: Vec<&str> = match cell.split(" / ").collect::<Vec<_>>() {
                    parts if parts.len() == promises.len() => parts,
                    _ => vec![cell; promises.len()],
                };
                for (part, promise) in parts.into_iter().zip(promises) {
                    let values: Vec<Option<f64>> = expected.iter().map(promise).collect();
                    if !says(part, &values) {
                        wrong.push(format!(
                            "{}/{}: {column} = {cell} in the doc's table, {:?} in `expect`",
                            pattern.name, variant.name, values[0]
                        ));
                    }
                    compared += 1;
                }
            }
        }
        let is_told = |column: &str| table[0].iter().any(|header| header == column);
        assert!(
            pattern.is_host_work() || is_told("sectors per load") || is_told("sectors per store"),
            "{}: its doc's table has neither `sectors per load` nor `sectors per store`",
            pattern.name
        );
    }
    assert!(wrong.is_empty(), "correct what is wrong:\n{}", wrong.join("\n"));
    assert!(compared > 150, "only {compared} cells were compared");
}

#[test]
fn every_kernel_states_its_launch_contract() {
    for pattern in PATTERNS {
        let source = pattern.doc_source;
        for name in pattern.variants.iter().flat_map(|variant| pattern.kernel_names(variant)) {
            let at = source.find(&format!("fn {name}("));
            let at = at.unwrap_or_else(|| panic!("no source of {name}"));
            let doc = &source[source[..at].rfind("\n\n").unwrap_or(0)..at];
            assert!(doc.contains("# Safety\n"), "{name}: its doc states no launch contract");
        }
    }
}

#[test]
fn nothing_is_left_for_later() {
    // In halves, so that this file has none of them.
    let marks =
        [("TO", "DO"), ("FIX", "ME"), ("XX", "X")].map(|(start, end)| [start, end].concat());
    for folder in SOURCES {
        for (path, text) in files(folder, "rs") {
            // What the course leaves to a learner is meant.
            let own = text.lines().filter(|line| !line.trim_start().starts_with("//|"));
            let text = own.collect::<Vec<_>>().join("\n");
            for mark in &marks {
                assert!(
                    !text.contains(mark.as_str()),
                    "{} has a {mark}: do it or file it",
                    path.display()
                );
            }
            for name in ["todo", "unimplemented"] {
                let call = format!("{name}!(");
                let used = text
                    .lines()
                    .any(|line| !line.trim_start().starts_with("//") && line.contains(&call));
                assert!(!used, "{} has a {call}..): do it or return an error", path.display());
            }
        }
    }
}

#[test]
fn references_know_no_device() {
    for pattern in PATTERNS {
        let text = read(&pattern.host_file());
        let start = text
            .find("fn reference")
            .unwrap_or_else(|| panic!("{}: no fn reference", pattern.name));
        let end = text[start..].find("\n}").map_or(text.len(), |length| start + length);
        assert!(
            !text[start..end].contains("device::"),
            "{}: the reference calls device code",
            pattern.name
        );
    }
}

#[test]
fn documents_have_the_tables_of_the_committed_measurement() {
    let path = "results/nvidia-h200/reference.json";
    let results =
        Results::load(&root().join(path), host::CATALOGUE.renamed).expect("it is committed");
    for document in ["README.md", "results/nvidia-h200/README.md"] {
        let text = read(document);
        let filled = report::tabulate::splice(&text, path, &results).expect("sound markers");
        let filled = filled.unwrap_or_else(|| panic!("{document} has no markers for {path}"));
        assert!(
            filled == text,
            "{document} is stale: `coalesce results {path} --splice {document}`"
        );
    }
}

#[test]
fn the_plots_are_those_of_the_committed_measurement() {
    let path = "results/nvidia-h200/reference.json";
    let plots =
        report::plots(&root().join(path), host::CATALOGUE.renamed).expect("it is committed");
    let stale = format!("is stale: `coalesce results {path} --plots docs/plots`");
    for (name, text) in &plots {
        assert!(read(&format!("docs/plots/{name}")) == *text, "docs/plots/{name} {stale}");
    }
    let files = std::fs::read_dir(root().join("docs/plots")).expect("the folder of the plots");
    assert_eq!(files.count(), plots.len(), "docs/plots {stale}");
}

#[test]
fn the_schema_of_result_files_is_published() {
    assert!(
        read("results/schema.json") == results::json_schema(),
        "results/schema.json is stale: `coalesce results --schema > results/schema.json`"
    );
}

/// A document that is four documents is read by nobody.
#[test]
fn documents_that_everybody_reads_are_short() {
    for (name, most) in [("README.md", 8 << 10), ("ARCHITECTURE.md", 14 << 10)] {
        let bytes = read(name).len();
        assert!(
            bytes <= most,
            "{name} has {bytes} bytes, {most} are allowed: move a part to its own page"
        );
    }
    let changelog = read("CHANGELOG.md");
    for version in changelog.split("\n## ").skip(1) {
        let lines = version.lines().count();
        let name = version.lines().next().unwrap_or_default();
        assert!(lines <= 60, "CHANGELOG.md: {name} has {lines} lines, 60 are allowed");
    }
}

/// The commands that a Dockerfile, a container for editors or a CI workflow runs, each with its file.
fn container_commands(files: &[(&str, String)]) -> Vec<(String, String)> {
    let command = |line: &str| {
        let line = line.trim();
        let run = line.strip_prefix("RUN ").or_else(|| line.strip_prefix("- run: "));
        let created = line
            .strip_prefix("\"postCreateCommand\": \"")
            .map(|rest| rest.trim_end_matches([',', '"']));
        // What an image lacks is installed before.
        run.or(created).filter(|run| !run.starts_with("apt-get ")).map(str::to_owned)
    };
    let of = |(file, text): &(&str, String)| {
        let commands = text.lines().filter_map(command);
        commands.map(|command| ((*file).to_owned(), command)).collect::<Vec<_>>()
    };
    files.iter().flat_map(of).collect()
}

/// Those that no newcomer is told of and CI does not run.
fn unknown_commands(commands: &[(String, String)], known: &str) -> Vec<String> {
    let told: Vec<&str> = known
        .lines()
        .map(|line| line.split("  #").next().unwrap_or_default().trim())
        .chain([".ci/run"])
        .collect();
    let unknown = commands.iter().filter(|(_, command)| !told.contains(&command.as_str()));
    unknown.map(|(file, command)| format!("{file} runs `{command}`")).collect()
}

#[test]
fn containers_run_what_the_readme_and_ci_run() {
    let files = [
        "Dockerfile",
        ".devcontainer/devcontainer.json",
        ".github/workflows/ci.yml",
        ".github/workflows/dist.yml",
    ];
    let commands = container_commands(&files.map(|file| (file, read(file))));
    assert_eq!(commands.len(), files.len(), "{commands:?}");
    let known = read("README.md") + &read("docs/guide/install.md") + &read(".ci/run");
    let unknown = unknown_commands(&commands, &known);
    assert!(
        unknown.is_empty(),
        "neither README.md, install.md nor .ci/run has these commands: {unknown:#?}"
    );
    let planted = [("Dockerfile".to_owned(), "cargo build".to_owned())];
    assert_eq!(unknown_commands(&planted, &known), ["Dockerfile runs `cargo build`"]);
}

/// The most bytes of a file that is kept: the largest is a result file of two megabytes.
const LARGEST: u64 = 4 << 20;

/// Paths of files that are larger.
fn too_large(sizes: &[(String, u64)]) -> Vec<&str> {
    sizes.iter().filter(|(_, bytes)| *bytes > LARGEST).map(|(path, _)| path.as_str()).collect()
}

#[test]
fn nothing_large_is_kept() {
    let git = std::process::Command::new("git").arg("ls-files").current_dir(root()).output();
    let listed = git.expect("git lists what is kept").stdout;
    let paths = String::from_utf8(listed).expect("paths are text");
    let size = |path: &str| Some((path.to_owned(), root().join(path).metadata().ok()?.len()));
    let sizes: Vec<_> = paths.lines().filter_map(size).collect();
    assert!(sizes.len() > 500 || !root().join(".git").exists(), "only {} files", sizes.len());
    assert_eq!(too_large(&sizes), [""; 0], "somebody's download, not a source");
    assert_eq!(too_large(&[("a.whl".to_owned(), LARGEST + 1), ("b".to_owned(), 1)]), ["a.whl"]);
}
