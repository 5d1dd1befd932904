//! A kernel's Rust beside its PTX, each line with the traffic that it causes.
//!
//! ```
//! let source = "fn one() -> u32 {\n    1\n}\n";
//! assert!(report::source::function(source, "one").is_some());
//! ```

use super::cost::{Cost, by_instruction, by_place, by_ptx_line, by_source_line};
use super::machine_code::{Instruction, MachineCode};
use super::markdown;
use super::plot::figure;
use super::runs::Runs;
use maud::{Markup, html};
use results::{CountedKernel, CountedPattern, CountedVariant, PtxLine};
use std::collections::BTreeMap;

struct Line<'a> {
    /// Number of the line; machine code has the line of the source that it comes from, if that is of this file.
    number: Option<u32>,
    text: &'a str,
    cost: Cost,
}

/// A function or another item of a source file.
#[derive(Default)]
struct Item<'a> {
    /// Its documentation before `# Safety`, as Markdown.
    doc: String,
    first: u32,
    lines: Vec<&'a str>,
}

/// The items of a source file. An item ends with a brace or a semicolon in the first column.
fn items(source: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut item = Item::default();
    for (number, line) in (1..).zip(source.lines()) {
        if item.lines.is_empty() {
            item.first = number;
            if let Some(doc) = line.strip_prefix("///") {
                item.doc += doc.strip_prefix(' ').unwrap_or(doc);
                item.doc.push('\n');
                continue;
            }
            if line.is_empty() || line.starts_with("//!") || line.starts_with("#![") {
                continue;
            }
        }
        item.lines.push(line);
        let is_code = !line.starts_with([' ', '/', '#']);
        if is_code && line.ends_with(['}', ';']) {
            let safety = item.doc.find("# Safety").unwrap_or(item.doc.len());
            item.doc.truncate(safety);
            items.push(std::mem::take(&mut item));
        }
    }
    items
}

/// The text of a function of a source file, with its attributes and without its documentation.
pub fn function(source: &str, name: &str) -> Option<String> {
    let signature = format!("fn {name}(");
    let mut items = items(source).into_iter();
    let item = items.find(|item| item.lines.iter().any(|line| line.contains(&signature)))?;
    Some(item.lines.join("\n"))
}

/// The kernel's function, then the other items of its file that cause traffic.
fn shown_items<'a>(source: &'a str, kernel: &str, costs: &BTreeMap<u32, Cost>) -> Vec<Item<'a>> {
    let signature = format!("fn {kernel}(");
    let is_kernel = |item: &Item<'_>| item.lines.iter().any(|line| line.contains(&signature));
    let has_cost = |item: &Item<'_>| {
        let last = item.first + item.lines.len() as u32;
        costs.range(item.first..last).any(|(_, cost)| cost.total() > 0)
    };
    let (own, others): (Vec<_>, Vec<_>) = items(source).into_iter().partition(is_kernel);
    own.into_iter().chain(others.into_iter().filter(has_cost)).collect()
}

/// The lines of a kernel and of what it calls.
pub fn kernel_source<'a>(source: &'a str, file: &str, kernel: &CountedKernel) -> Vec<&'a str> {
    let items = shown_items(source, &kernel.name, &by_source_line(kernel, file));
    items.into_iter().flat_map(|item| item.lines).collect()
}

/// Lines that are named as the hottest ones.
const HOT_LINES: usize = 5;

/// The lines of a variant's kernels that cost most, the costliest first: with file and number, text, and cost.
fn hot_lines<'a>(
    pattern: &'a CountedPattern,
    variant: &CountedVariant,
) -> (u64, Vec<(u32, &'a str, Cost)>) {
    let mut costs: BTreeMap<u32, Cost> = BTreeMap::new();
    let mut total = 0;
    for kernel in &variant.kernels {
        total += by_ptx_line(kernel).values().map(Cost::total).sum::<u64>();
        for (line, cost) in by_source_line(kernel, &pattern.file) {
            *costs.entry(line).or_default() += cost;
        }
    }
    let text = |line: u32| pattern.source.lines().nth(line as usize - 1).unwrap_or_default().trim();
    let lines = costs.into_iter().filter(|(_, cost)| cost.total() > 0);
    let mut lines: Vec<_> = lines.map(|(line, cost)| (line, text(line), cost)).collect();
    lines.sort_by_key(|(line, _, cost)| (std::cmp::Reverse(cost.total()), *line));
    lines.truncate(HOT_LINES);
    (total, lines)
}

/// The hottest lines as a table; nothing where the compiler names none.
pub fn hot(runs: &Runs, pattern: &CountedPattern, variant: &CountedVariant) -> Markup {
    let (total, lines) = hot_lines(pattern, variant);
    let name = pattern.file.rsplit('/').next().unwrap_or(&pattern.file);
    html! {
        @if !lines.is_empty() {
            div.scroll tabindex="0" {
                table.hot {
                    caption { "Hot lines of " (variant.name) ", by their share of all sectors and wavefronts" }
                    thead { tr {
                        th scope="col" { "rank" } th scope="col" { "line" } th scope="col" { "share" }
                        th scope="col" { "per request" } th scope="col" { "Rust" }
                    } }
                    tbody {
                        @for (rank, (line, text, cost)) in lines.iter().enumerate() {
                            @let share = 100.0 * cost.total() as f64 / total.max(1) as f64;
                            tr {
                                td.figure { (rank + 1) }
                                th scope="row" { (runs.source_link(&pattern.file, Some(*line), &format!("{name}:{line}"))) }
                                td.heat style=(format!("--heat:{share:.0}%")) { (format!("{share:.0} %")) }
                                td { (per_request(cost)) }
                                td { code { (text) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl<'a> Item<'a> {
    fn costed(&self, costs: &BTreeMap<u32, Cost>) -> Vec<Line<'a>> {
        let numbered = (self.first..).zip(&self.lines);
        let cost = |number| costs.get(&number).copied().unwrap_or_default();
        numbered
            .map(|(number, text)| Line { number: Some(number), text, cost: cost(number) })
            .collect()
    }
}

/// A listing as a table. `total` is what all lines cost together.
fn listing(caption: &str, name: &str, lines: &[Line<'_>], total: u64) -> Markup {
    html! {
        div.scroll.listing tabindex="0" {
            table {
                caption { (caption) }
                thead {
                    tr {
                        th scope="col" { "line" }
                        th scope="col" { "cost" }
                        th scope="col" { "share" }
                        th scope="col" { (name) }
                    }
                }
                tbody {
                    @for line in lines {
                        @let share = 100.0 * line.cost.total() as f64 / total.max(1) as f64;
                        tr {
                            td.number { @if let Some(number) = line.number { (number) } }
                            @if line.cost.total() > 0 {
                                td.heat style=(format!("--heat:{share:.0}%")) { (per_request(&line.cost)) }
                                td.heat style=(format!("--heat:{share:.0}%")) { (format!("{share:.0} %")) }
                            } @else {
                                td {} td {}
                            }
                            td.code { (line.text) }
                        }
                    }
                }
            }
        }
    }
}

/// Such as `4 s` or `16 s, 4 p`.
fn per_request(cost: &Cost) -> String {
    let sectors = cost.sectors_per_request().map(|sectors| format!("{} s", figure(sectors)));
    let passes = cost.wavefronts_per_request().map(|passes| format!("{} w", figure(passes)));
    [sectors, passes].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Rust and PTX of a variant's kernels, side by side where there is room, and their machine code if there is any.
pub fn sources(
    pattern: &CountedPattern,
    variant: &CountedVariant,
    machine_code: &MachineCode,
) -> Markup {
    html! {
        @for (index, kernel) in variant.kernels.iter().enumerate() {
            @let name = if index == 0 { "The kernel" } else { "Another kernel that it launches" };
            (sources_of(pattern, kernel, name, machine_code.of(&kernel.name)))
        }
    }
}

/// Rust and PTX of a kernel, and its machine code.
fn sources_of(
    pattern: &CountedPattern,
    kernel: &CountedKernel,
    name: &str,
    machine_code: &[Instruction],
) -> Markup {
    let file = &pattern.file;
    let by_source = by_source_line(kernel, file);
    let by_ptx = by_ptx_line(kernel);
    let total = by_ptx.values().map(Cost::total).sum();
    let items = shown_items(&pattern.source, &kernel.name, &by_source);
    let ptx = kernel.ptx.iter().map(|PtxLine(number, text)| {
        let cost = by_ptx.get(number).copied().unwrap_or_default();
        Line { number: Some(*number), text, cost }
    });
    let ptx: Vec<_> = ptx.collect();
    html! {
        div.beside {
            div {
                @for (index, item) in items.iter().enumerate() {
                    @let caption = match index { 0 => name, _ => "What it calls" };
                    (markdown::body(&item.doc))
                    (listing(&format!("{caption}, {file}"), "Rust", &item.costed(&by_source), total))
                }
            }
            div { (listing(&format!("Its PTX, {}", kernel.target), "PTX", &ptx, total)) }
        }
        @if !machine_code.is_empty() {
            details {
                summary { "Its machine code" }
                p {
                    "Line numbers refer to " code { (file) } ". The cost of a line is divided equally among its instructions that "
                    "access the same memory. NVIDIA's assembler may have merged or removed instructions that were counted in the PTX."
                }
                (machine_code_listing(kernel, file, machine_code))
            }
        }
    }
}

fn machine_code_listing(kernel: &CountedKernel, file: &str, code: &[Instruction]) -> Markup {
    let places = by_place(kernel);
    let costs = by_instruction(code, &places);
    let total = costs.iter().map(Cost::total).sum();
    let number = |one: &Instruction| {
        let (of, line) = one.place.as_ref()?;
        of.ends_with(file).then_some(*line)
    };
    let lines = code.iter().zip(&costs);
    let lines = lines.map(|(one, cost)| Line { number: number(one), text: &one.text, cost: *cost });
    listing("SASS", "SASS", &lines.collect::<Vec<_>>(), total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_documentation_and_their_line_numbers() {
        let source = "//! Doc.\n\nuse a::b;\n\n/// One.\n#[kernel]\npub fn one() {\n    two();\n}\n\nconst X: u32 = 3;\nfn two() {}\n";
        let found = items(source);
        let firsts: Vec<_> = found.iter().map(|item| (item.first, item.lines.len())).collect();
        assert_eq!(firsts, [(3, 1), (6, 4), (11, 1), (12, 1)]);
        let costs = BTreeMap::from([(12, Cost { requests: 1, sectors: 4, ..Cost::default() })]);
        let shown = shown_items(source, "one", &costs);
        let docs: Vec<_> = shown.iter().map(|item| (item.doc.as_str(), item.lines[0])).collect();
        assert_eq!(docs, [("One.\n", "#[kernel]"), ("", "fn two() {}")]);
        assert_eq!(shown[1].costed(&costs)[0].cost.sectors_per_request(), Some(4.0));
    }
}
