use super::words::{COLUMNS, Taught, cells, facts, kinds, lines, mistakes, sentences, time};
use crate::foreign;
use crate::screen::{Column, Screen};
use results::{Engine, ProfiledKernel, ProgramProfile};
use std::fmt::Write as _;

/// The whole profile: kernels, findings, timeline, advice.
pub fn text(profile: &ProgramProfile, taught: &Taught<'_>, screen: &Screen) -> String {
    let mut text = screen.wrap(&format!("{} on {}", profile.program, profile.device)) + "\n";
    if profile.kernels.is_empty() {
        text += "\nNo kernel was recorded.\n";
    }
    for kernel in &profile.kernels {
        of_kernel(&mut text, kernel, screen);
    }
    for (head, mistakes) in mistakes(profile) {
        if !mistakes.is_empty() {
            let _ = writeln!(text, "\n{head}:");
            for mistake in mistakes {
                sentence(&mut text, screen, &mistake.sentence());
            }
        }
    }
    text += &timeline(profile, screen);
    if !profile.advice.is_empty() {
        text += "\nAdvice, the largest predicted gain first:\n";
    }
    for (index, advice) in profile.advice.iter().enumerate() {
        let mut start = format!("{:>3}. ", index + 1);
        for sentence in sentences(profile, advice, taught) {
            let _ = writeln!(text, "{}", screen.wrap_behind(&start, "     ", &sentence));
            "     ".clone_into(&mut start);
        }
    }
    if profile.checked {
        let hazards = profile.hazards();
        let found = if hazards == 0 { "none".to_owned() } else { hazards.to_string() };
        let has_failed = profile.kernels.iter().any(|kernel| !kernel.faults.is_empty());
        let until = if has_failed { ", until a kernel failed" } else { "" };
        let _ = writeln!(text, "\nChecked for hazards: {found}{until}.");
    }
    let _ = writeln!(text, "\n{}", screen.wrap(&profile.fidelity().to_string()));
    screen.plain(&text)
}

/// A sentence as an item of a list.
fn sentence(text: &mut String, screen: &Screen, sentence: &str) {
    let _ = writeln!(text, "{}", screen.wrap_behind("  ", "    ", sentence));
}

fn of_kernel(text: &mut String, kernel: &ProfiledKernel, screen: &Screen) {
    let _ = writeln!(text, "\nKernel `{}`", kernel.shown_name());
    for fact in facts(kernel) {
        sentence(text, screen, &fact);
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (kind, counts) in kinds(&kernel.counters) {
        let cells = cells(&counts);
        rows.push([kind.to_owned()].into_iter().chain(cells).collect());
    }
    let of_memory = !rows.is_empty();
    table(text, &[&["in all"], &COLUMNS[..]].concat(), &rows, screen);
    let mut rows = Vec::new();
    for line in lines(kernel) {
        let mut row = vec![line.place, line.instruction];
        row.extend(cells(&line.counts));
        row.push(line.code.to_owned());
        rows.push(row);
    }
    if of_memory {
        table(text, &[&["line", "instruction"], &COLUMNS[..], &["source"]].concat(), &rows, screen);
    }
    for hazard in &kernel.hazards {
        let times = if hazard.launches > 1 {
            format!(" (in {} launches)", hazard.launches)
        } else {
            String::new()
        };
        let head = if hazard.kind.is_note() { "NOTE" } else { "HAZARD" };
        sentence(text, screen, &format!("{head} {}{times}", hazard.message));
    }
    for fault in &kernel.faults {
        sentence(text, screen, &format!("FAULT {}", fault.message));
    }
}

/// A table whose columns are as wide as they need; columns of nothing are left out. Text is to the left, numbers are to
/// the right. A narrow terminal goes without the source first, then without sums.
fn table(text: &mut String, header: &[&'static str], rows: &[Vec<String>], screen: &Screen) {
    if rows.is_empty() {
        return;
    }
    let is_number = |index: usize| {
        rows.iter().all(|row| row[index].chars().next().is_none_or(|first| first.is_ascii_digit()))
    };
    let dropped = [
        "efficiency",
        "bank conflicts",
        "sectors/request",
        "wavefronts",
        "sectors",
        "requests",
        "source",
    ];
    let column = |(index, name): (usize, &&'static str)| Column {
        name,
        is_figure: is_number(index),
        dropped: dropped.iter().position(|one| one == name).map_or(0, |place| place as u8 + 1),
        takes_rest: false,
    };
    let columns: Vec<Column> = header.iter().enumerate().map(column).collect();
    let narrower = Screen { width: screen.width.saturating_sub(2), ..*screen };
    text.push('\n');
    for line in narrower.columns(&columns, rows).lines() {
        let _ = writeln!(text, "  {line}");
    }
}

/// Returns how long each engine was busy.
fn timeline(profile: &ProgramProfile, screen: &Screen) -> String {
    let timeline = &profile.timeline;
    if timeline.intervals.is_empty() {
        return String::new();
    }
    let engines = [
        (Engine::HostToDevice, "copies to the device"),
        (Engine::Kernel, "kernels and fills"),
        (Engine::DeviceToHost, "copies to the host"),
        (Engine::Host, "the host in calls of the driver"),
    ];
    let busy = engines.iter().filter_map(|(engine, name)| {
        let of_engine = timeline.intervals.iter().filter(|one| one.kind.engine() == Some(*engine));
        let lengths: Vec<f64> = of_engine.map(|one| one.end_us - one.start_us).collect();
        let sum: f64 = lengths.iter().sum();
        (!lengths.is_empty()).then(|| format!("{name} {} ({})", time(sum), lengths.len()))
    });
    let busy: Vec<String> = busy.collect();
    let length = time(timeline.length_us);
    let busy = busy.join("; ");
    let told = format!("Predicted timeline of {length}: {busy}; in brackets how many.");
    format!("\n{}\n{}\n", screen.wrap(&told), screen.wrap(&foreign::accuracy()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::{Mistake, MisuseKind};

    /// Notes stand under a head of their own, which says that they are no errors.
    #[test]
    fn notes_stand_apart_from_mistakes() {
        let mut profile = ProgramProfile::new("./program".to_owned(), "NVIDIA X".to_owned(), true);
        for kind in [MisuseKind::PartlyUnwritten, MisuseKind::CallFailed] {
            let message = "cuMemcpyDtoH".to_owned();
            profile.misuse.push(Mistake {
                kind,
                message,
                location: None,
                count: 1,
                is_advice: kind.is_advice(),
            });
        }
        let shown = text(&profile, &|_| None, &Screen::PIPE);
        let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("{part}: {shown}"));
        let notes = at("Notes on the use of the driver, which are no errors:");
        assert!(at("Mistakes in the use of the driver:") < at("CallFailed"), "{shown}");
        assert!(at("CallFailed") < notes && notes < at("PartlyUnwritten"), "{shown}");
    }
}
