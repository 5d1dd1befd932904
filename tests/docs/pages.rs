//! Pages that are made of the sources: of the patterns' docs, and of the command lines. `cargo xtask docs` writes them.

use super::read;
use crate::house::published;
use crate::kernels_source::root;
use crate::snapshots::blessing;
use cargo_metadata::{DependencyKind, Package};
use host::patterns::ALL as PATTERNS;
use std::fmt::Write;

/// The groups of the catalogue, in its order, and what they are about.
fn patterns() -> String {
    let mut page = "# The patterns\n\nEach is a ladder of kernels from naive to fastest. The claim is what its doc shows, in order of teaching; the doc \
                    is in the kernels' file.\nWritten by `cargo xtask docs`.\n\n| pattern | claim |\n|---|---|\n"
        .to_owned();
    for pattern in PATTERNS {
        let (name, file) = (pattern.name, pattern.source_file());
        let _ = writeln!(page, "| [`{name}`](../{file}) | {} |", pattern.claim());
    }
    page
}

/// A program's commands: what each does, and its options by their long names.
fn table(page: &mut String, program: &str, description: &mut clap::Command) {
    let _ = writeln!(page, "\n## {program}\n\n| command | does | options |\n|---|---|---|");
    for command in description.get_subcommands().filter(|command| !command.is_hide_set()) {
        let named = |argument: &&clap::Arg| !argument.is_hide_set();
        let positional = command.get_positionals().filter(named).map(|argument| {
            let name = argument.get_id().as_str().to_uppercase();
            if argument.is_required_set() { name } else { format!("[{name}]") }
        });
        let parts =
            [program.to_owned(), command.get_name().to_owned()].into_iter().chain(positional);
        let options = command.get_arguments().filter(named).filter_map(clap::Arg::get_long);
        let options: Vec<String> = options.map(|option| format!("`--{option}`")).collect();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(
            page,
            "| `{}` | {} | {} |",
            parts.collect::<Vec<_>>().join(" "),
            about.replace('|', "\\|"),
            options.join(", ")
        );
    }
}

fn commands() -> String {
    let mut page = "# The commands\n\n`--help` behind each says more, with examples; [exit codes](exit_codes.md) have their table.\n`--device \
                    auto|gpu[:N]|virtual[:PROFILE]|virtual:FILE.json` (or `COALESCE_DEVICE`) chooses the device: `auto` takes the GPU when \
                    there is a driver with one, else the virtual device, and says so.\nWritten by `cargo xtask docs`.\n"
        .to_owned();
    table(&mut page, "coalesce", &mut coalesce::description(host::CATALOGUE.name));
    table(&mut page, "cargo xtask", &mut xtask::description());
    page
}

pub(super) fn is_written(path: &str, page: &str) {
    if blessing() {
        std::fs::write(root().join(path), page).expect("a writable checkout");
    } else {
        assert!(read(path) == page, "{path} is stale: run `cargo xtask docs`");
    }
}

#[test]
fn the_page_of_patterns_is_that_of_their_docs() {
    is_written("docs/patterns.md", &patterns());
}

/// The published packages, each behind those that it names, by the alphabet where that leaves a choice.
fn publication() -> Vec<String> {
    let mut left = published();
    let mut done: Vec<String> = Vec::new();
    while !left.is_empty() {
        let is_ready = |package: &Package| {
            let named = package
                .dependencies
                .iter()
                .filter(|one| one.path.is_some() && one.kind != DependencyKind::Development);
            named.into_iter().all(|one| done.contains(&one.name))
        };
        left.sort_by(|one, other| one.name.cmp(&other.name));
        let next = left.iter().position(is_ready).expect("no package waits for itself");
        done.push(left.remove(next).name.to_string());
    }
    done
}

#[test]
fn the_order_of_publication_is_that_of_the_manifests() {
    let (begin, end) = ("<!-- BEGIN order -->\n", "<!-- END order -->");
    let page = read("RELEASING.md");
    let (head, rest) = page.split_once(begin).expect("the order has a begin");
    let (_, tail) = rest.split_once(end).expect("the order has an end");
    let lines = publication().into_iter().enumerate();
    let lines: String = lines.map(|(index, name)| format!("{}. `{name}`\n", index + 1)).collect();
    is_written("RELEASING.md", &format!("{head}{begin}{lines}{end}{tail}"));
}

#[test]
fn schemas_are_those_of_the_types() {
    for (name, schema) in results::schemas() {
        is_written(&format!("docs/schemas/{name}.json"), &schema);
    }
    is_written("docs/schemas/doctor.json", &xtask::doctor_schema());
}

#[test]
fn the_page_of_commands_is_that_of_their_descriptions() {
    is_written("docs/commands.md", &commands());
}
