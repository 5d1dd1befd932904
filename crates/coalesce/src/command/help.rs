//! The first page of the help: what there is, in three groups, on one screen.

use crate::catalogue::Catalogue;

/// The program in a sentence, for users of a catalogue.
pub const ABOUT: &str =
    "Learn how a GPU's memory works, from kernels that show it, and measure your own.";

/// The commands in the order in which one needs them: what each does, in a line.
const GROUPS: [(&str, &[(&str, &str)]); 3] = [
    (
        "Learn",
        &[
            ("list", "the patterns, a line each"),
            ("explain", "the lesson of a pattern; a term (--glossary); any PTX file"),
            ("new", "a project of your own, with tests that need no GPU"),
        ],
    ),
    (
        "Look",
        &[
            ("run", "any CUDA program on the virtual GPU: counts, hazards, advice"),
            ("count", "the memory requests of all kernels, exactly"),
            ("report", "result files as pages for a browser"),
            ("compare", "two result files, or the boards of a fleet"),
            ("results", "a result file as a Markdown table"),
            ("mcp", "checks and counts as tools of a coding assistant"),
        ],
    ),
    (
        "Measure",
        &[
            ("bench", "times on a GPU; without one, predictions"),
            ("verify", "every output, compared with its CPU reference"),
            ("calibrate", "this GPU, as a profile for the virtual one"),
            ("completions", "what a shell completes at a press of Tab"),
        ],
    ),
];

/// The help of the program.
pub fn text(catalogue: &Catalogue) -> String {
    let name = catalogue.name;
    let first = catalogue.patterns.first().map_or("PATTERN", |pattern| pattern.name);
    let mut text = format!("{ABOUT}\nRun `{name} explain {first}` first.\n");
    for (group, commands) in GROUPS {
        text += &format!("\n{group}\n");
        for (command, does) in commands {
            text += &format!("  {command:12} {does}\n");
        }
    }
    text + &format!(
        "\n`{name} COMMAND --help` has options and examples; --version is this version.\n\
         Exit codes: 0 success, 1 failed, 2 wrong usage, 3 no GPU, 4 hazards found.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_help_is_a_screen_with_every_command() {
        let catalogue = Catalogue::new("coalesce", &[], &[]);
        let text = text(&catalogue);
        assert!(text.lines().count() <= 24, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let described = crate::description("coalesce");
        let shown = described.get_subcommands().filter(|command| !command.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(clap::Command::get_name).collect();
        let told = GROUPS.iter().flat_map(|(_, commands)| commands.iter().map(|(name, _)| *name));
        assert_eq!(told.collect::<BTreeSet<&str>>(), shown);
    }
}
