//! A profile for a terminal.

use super::words::{COLUMNS, Taught, cells, facts, kinds, lines, sentences, time};
use results::{Engine, ProfiledKernel, ProgramProfile};
use std::fmt::Write as _;

/// The whole profile: kernels, findings, timeline, advice.
pub fn text(profile: &ProgramProfile, taught: &Taught<'_>) -> String {
    let mut text = format!("{} on {}\n", profile.program, profile.device);
    if profile.kernels.is_empty() {
        text += "\nNo kernel ran.\n";
    }
    for kernel in &profile.kernels {
        of_kernel(&mut text, kernel);
    }
    for (head, mistakes) in
        [("Mistakes in the use of the driver", &profile.misuse), ("Never freed", &profile.leaks)]
    {
        if !mistakes.is_empty() {
            let _ = writeln!(text, "\n{head}:");
            for mistake in mistakes {
                let _ = writeln!(text, "  {}: {}", mistake.kind, mistake.message);
            }
        }
    }
    text += &timeline(profile);
    if !profile.advice.is_empty() {
        text += "\nAdvice, the largest predicted gain first:\n";
    }
    for (index, advice) in profile.advice.iter().enumerate() {
        let sentences = sentences(profile, advice, taught);
        let _ = writeln!(text, "{:>3}. {}", index + 1, sentences.join("\n     "));
    }
    if profile.checked {
        let hazards: usize = profile.kernels.iter().map(|kernel| kernel.hazards.len()).sum();
        let _ = writeln!(
            text,
            "\n{}",
            match hazards {
                0 => "Checked for hazards: none.".to_owned(),
                1 => "Checked for hazards: 1.".to_owned(),
                _ => format!("Checked for hazards: {hazards}."),
            }
        );
    }
    text
}

fn of_kernel(text: &mut String, kernel: &ProfiledKernel) {
    let _ = writeln!(text, "\nKernel `{}`", kernel.shown_name());
    for fact in facts(kernel) {
        let _ = writeln!(text, "  {fact}");
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (kind, counts) in kinds(&kernel.counters) {
        let cells = cells(&counts);
        rows.push([kind.to_owned()].into_iter().chain(cells).collect());
    }
    let of_memory = !rows.is_empty();
    table(text, &[&["in all"], &COLUMNS[..]].concat(), rows);
    let mut rows = Vec::new();
    for line in lines(kernel) {
        let mut row = vec![line.place, line.instruction];
        row.extend(cells(&line.counts));
        row.push(line.code.to_owned());
        rows.push(row);
    }
    if of_memory {
        table(text, &[&["line", "instruction"], &COLUMNS[..], &["source"]].concat(), rows);
    }
    for hazard in &kernel.hazards {
        let times = if hazard.launches > 1 {
            format!(" (in {} launches)", hazard.launches)
        } else {
            String::new()
        };
        let _ = writeln!(text, "  HAZARD {}{times}", hazard.message);
    }
}

/// A table whose columns are as wide as they need; columns of nothing are left out. Text is to the left, numbers are to
/// the right.
fn table(text: &mut String, header: &[&str], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let length = |cell: &str| cell.chars().count();
    let used: Vec<usize> = (0..header.len())
        .filter(|column| rows.iter().any(|row| !row[*column].is_empty()))
        .collect();
    let is_number = |column: usize| {
        rows.iter().all(|row| row[column].chars().next().is_none_or(|first| first.is_ascii_digit()))
    };
    let width = |column: usize| {
        rows.iter().map(|row| length(&row[column])).max().unwrap_or(0).max(length(header[column]))
    };
    let columns: Vec<(usize, usize, bool)> =
        used.into_iter().map(|column| (column, width(column), is_number(column))).collect();
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    text.push('\n');
    for row in std::iter::once(&header).chain(&rows) {
        let cells: Vec<String> = columns
            .iter()
            .map(|(column, width, is_number)| {
                let cell = &row[*column];
                if *is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            })
            .collect();
        let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
    }
}

/// Returns how long each engine was busy.
fn timeline(profile: &ProgramProfile) -> String {
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
    format!(
        "\nPredicted timeline of {}: {}; in brackets how many.\n",
        time(timeline.length_us),
        busy.join("; ")
    )
}
