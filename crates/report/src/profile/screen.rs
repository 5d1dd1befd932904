//! A profile for a terminal at the end of a run: findings, kernels by time, and the advice that saves most.

use super::words::{Taught, number, sentences, time};
use crate::screen::{Column, Screen};
use results::{ProfiledKernel, ProgramProfile};

/// So many findings, kernels and pieces of advice are shown; of more, their number is said.
const MAX_FINDINGS: usize = 3;
const MAX_KERNELS: usize = 6;
const MAX_ADVICE: usize = 3;
/// So many letters of a finding, its cure or an advice are shown.
const MAX_LETTERS: usize = 200;
/// The words of a finding before its cure.
const CURE: &str = "; to fix it: ";

/// The columns of the table of kernels.
const COLUMNS: [Column; 6] = [
    Column { name: "kernel", is_figure: false, dropped: 0, takes_rest: true },
    Column { name: "launches", is_figure: true, dropped: 3, takes_rest: false },
    Column { name: "predicted", is_figure: true, dropped: 0, takes_rest: false },
    Column { name: "of all", is_figure: true, dropped: 2, takes_rest: false },
    Column { name: "bound by", is_figure: false, dropped: 1, takes_rest: false },
    Column { name: "bytes used", is_figure: true, dropped: 4, takes_rest: false },
];

/// The part of a profile that fits a screen: what was found, the longest kernels, and the advice that gains most.
pub fn screen(profile: &ProgramProfile, taught: &Taught<'_>, screen: &Screen) -> String {
    let head =
        format!("{} on {}: counted exactly, times predicted", profile.program, profile.device);
    let parts = [
        screen.wrap(&head) + "\n",
        findings(profile, screen),
        kernels(profile, screen),
        advice(profile, taught, screen),
        screen.wrap(&profile.fidelity().to_string()) + "\n",
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    screen.plain(&parts.join("\n"))
}

/// Hazards of kernels, mistakes of the host and memory that was never freed.
fn findings(profile: &ProgramProfile, screen: &Screen) -> String {
    let hazards = profile.kernels.iter().flat_map(|kernel| {
        let name = kernel.shown_name();
        let hazards = kernel.hazards.iter().filter(|hazard| !hazard.kind.is_note());
        let hazards = hazards.map(move |one| format!("HAZARD in `{name}`: {}", one.message));
        hazards.chain(
            kernel.faults.iter().map(move |fault| format!("FAULT in `{name}`: {}", fault.message)),
        )
    });
    let notes = profile.kernels.iter().flat_map(|kernel| {
        let name = kernel.shown_name();
        let notes = kernel.hazards.iter().filter(|hazard| hazard.kind.is_note());
        notes.map(move |note| format!("NOTE on `{name}`: {}", note.message))
    });
    let told = profile.misuse.iter().filter(|mistake| !mistake.is_advice);
    let mistakes = told.map(|mistake| format!("MISTAKE {}", mistake.sentence()));
    let (noted, leaks): (Vec<_>, Vec<_>) = profile.leaks.iter().partition(|leak| leak.is_advice);
    let leaks = leaks.iter().map(|leak| format!("LEAK {}: {}", leak.kind, leak.message));
    let noted = noted.iter().map(|leak| format!("NOTE {}", leak.sentence()));
    let all: Vec<String> = hazards.chain(mistakes).chain(leaks).chain(notes).chain(noted).collect();
    let mut out = String::new();
    for finding in all.iter().take(MAX_FINDINGS) {
        let (seen, cure) = finding.split_once(CURE).unwrap_or((finding, ""));
        let cure = if cure.is_empty() { String::new() } else { format!("{CURE}{cure}") };
        let [seen, cure] = [seen, &cure].map(|text| screen.cut(text, MAX_LETTERS));
        out += &screen.wrap_behind("", "  ", &format!("{seen}{cure}"));
        out.push('\n');
    }
    out += &more(all.len(), MAX_FINDINGS, "finding");
    if all.is_empty() {
        out += if profile.checked {
            "Found: nothing.\n"
        } else {
            "Hazards were not looked for: --check does.\n"
        };
    }
    out
}

fn kernels(profile: &ProgramProfile, screen: &Screen) -> String {
    if profile.kernels.is_empty() {
        return "No kernel was recorded.\n".to_owned();
    }
    let mut kernels: Vec<&ProfiledKernel> = profile.kernels.iter().collect();
    kernels.sort_by(|a, b| b.predicted_us.total_cmp(&a.predicted_us));
    let sum: f64 = kernels.iter().map(|kernel| kernel.predicted_us).sum();
    let row = |kernel: &&ProfiledKernel| {
        let used = kernel.counters.efficiency_percent();
        vec![
            kernel.shown_name().to_owned(),
            number(kernel.launches as f64),
            time(kernel.predicted_us),
            if sum > 0.0 {
                format!("{:.0} %", 100.0 * kernel.predicted_us / sum)
            } else {
                String::new()
            },
            kernel.busy_us.first().map_or_else(String::new, |(part, _)| part.clone()),
            used.map_or_else(String::new, |percent| format!("{percent:.0} %")),
        ]
    };
    let mut rows: Vec<Vec<String>> = kernels.iter().take(MAX_KERNELS).map(row).collect();
    for row in &mut rows {
        // A name without a space, as of a template, is cut where the screen ends.
        let longest = screen.width / 2;
        if row[0].chars().count() > longest && !row[0].contains(' ') {
            row[0] = row[0].chars().take(longest).collect();
        }
    }
    screen.columns(&COLUMNS, &rows) + &more(kernels.len(), MAX_KERNELS, "kernel")
}

fn advice(profile: &ProgramProfile, taught: &Taught<'_>, screen: &Screen) -> String {
    if profile.advice.is_empty() {
        return String::new();
    }
    let mut all: Vec<_> = profile.advice.iter().collect();
    all.sort_by(|a, b| b.gain_us.total_cmp(&a.gain_us));
    let mut out = "Advice, the largest predicted gain first:\n".to_owned();
    for (index, one) in all.iter().take(MAX_ADVICE).enumerate() {
        let text = sentences(profile, one, taught);
        let text: Vec<&str> =
            text.iter().map(String::as_str).filter(|sentence| !is_detail(sentence)).collect();
        let text = text.join(" ");
        out += &screen.wrap_behind(
            &format!("{}. ", index + 1),
            "   ",
            &screen.cut(&text, 2 * MAX_LETTERS),
        );
        out.push('\n');
    }
    out + &more(all.len(), MAX_ADVICE, "other")
}

/// Returns whether a sentence of an advice is left to the whole text.
fn is_detail(sentence: &str) -> bool {
    ["Seen at:", "Promised:"].iter().any(|start| sentence.starts_with(start))
}

/// Returns how many things are not shown.
fn more(count: usize, shown: usize, noun: &str) -> String {
    match count.saturating_sub(shown) {
        0 => String::new(),
        1 => format!("and 1 {noun} more: --all\n"),
        hidden => format!("and {hidden} {noun}s more: --all\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::{Mistake, ProfiledHazard};

    fn profile() -> ProgramProfile {
        let mut profile = ProgramProfile::new("./program".to_owned(), "NVIDIA X".to_owned(), true);
        for index in 0..20_u32 {
            profile.kernels.push(ProfiledKernel {
                name: format!("kernel_{index}"),
                launches: 3,
                predicted_us: f64::from(index),
                busy_us: vec![("device memory".to_owned(), 1.0)],
                ..ProfiledKernel::default()
            });
        }
        profile.kernels[4].hazards.push(ProfiledHazard {
            kind: results::Hazard::SharedRace,
            ptx_line: 4,
            source: None,
            message: "two lanes write one word of shared memory without a barrier between them "
                .repeat(9),
            launches: 1,
            place: results::CodePlace::default(),
            other: None,
        });
        let leak = Mistake {
            kind: results::MisuseKind::Leak,
            message: "never freed".to_owned(),
            location: None,
            count: 1,
            is_advice: false,
        };
        profile.leaks = vec![leak; 30];
        profile
    }

    #[test]
    fn a_screen_has_findings_first_then_the_longest_kernels() {
        for width in [40, 80, 120] {
            let text = screen(&profile(), &|_| None, &Screen { width, is_ascii: true });
            assert!(text.lines().count() <= 40, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
            assert!(at("HAZARD in") < at("LEAK") && at("LEAK") < at("kernel_19"), "{text}");
            assert!(at("kernel_19") < at("kernel_18") && !text.contains("kernel_5 "), "{text}");
            assert!(
                text.contains("and 28 findings more") && text.contains("and 14 kernels more"),
                "{text}"
            );
            assert!(text.is_ascii(), "{text}");
        }
    }
}
