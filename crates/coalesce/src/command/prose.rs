//! The text of a doc for a terminal: paragraphs as wide as it is, tables that fit, and code as it stands.

use super::terminal::{show, table_of};
use ::report::screen::Screen;

/// A doc whose paragraphs and tables fit a terminal.
pub fn for_terminal(text: &str, screen: &Screen) -> String {
    let mut doc = Doc { screen, out: String::new(), paragraph: String::new(), rows: Vec::new() };
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence || is_code {
            doc.finish();
            doc.out += &format!("{line}\n");
            is_code ^= is_fence;
        } else if line.starts_with('|') {
            doc.finish_paragraph();
            doc.rows.push(cells(line));
        } else if line.trim().is_empty() {
            doc.finish();
            doc.out.push('\n');
        } else {
            doc.finish_table();
            if marker(line) > 0 || line.starts_with('#') || doc.paragraph.starts_with('#') {
                doc.finish_paragraph();
            }
            if doc.paragraph.is_empty() {
                line.clone_into(&mut doc.paragraph);
            } else {
                doc.paragraph += &format!(" {}", line.trim());
            }
        }
    }
    doc.finish();
    doc.out
}

/// A doc as far as it is read.
struct Doc<'a> {
    screen: &'a Screen,
    out: String,
    paragraph: String,
    rows: Vec<Vec<String>>,
}

impl Doc<'_> {
    fn finish(&mut self) {
        self.finish_paragraph();
        self.finish_table();
    }

    fn finish_paragraph(&mut self) {
        let text = std::mem::take(&mut self.paragraph);
        if text.is_empty() {
            return;
        }
        let indent = text.len() - text.trim_start().len();
        let marker = marker(&text);
        let begin = &text[..indent + marker];
        let next = " ".repeat(indent + marker);
        self.out += &self.screen.wrap_behind(begin, &next, &text[indent + marker..]);
        self.out.push('\n');
    }

    fn finish_table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let Some((header, rows)) = rows.split_first() else { return };
        let is_rule = |row: &Vec<String>| {
            row.iter().all(|cell| cell.contains('-') && cell.chars().all(|c| c == '-' || c == ':'))
        };
        let mut table = table_of(header);
        for row in rows.iter().filter(|row| !is_rule(row)) {
            table.add_row(row);
        }
        self.out += &show(&mut table);
        self.out.push('\n');
    }
}

/// The letters of what begins an item of a list, such as `- ` or `12. `; 0 where none begins.
fn marker(line: &str) -> usize {
    let line = line.trim_start();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match &line[digits..] {
        rest if digits > 0 && rest.starts_with(". ") => digits + 2,
        rest if digits == 0 && rest.starts_with("- ") => 2,
        _ => 0,
    }
}

/// The cells of a row of a table in Markdown.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|');
    let line = line.strip_suffix('|').unwrap_or(line).replace("\\|", "\u{1}");
    line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_items_are_wrapped_and_code_is_not() {
        let doc = "# Transpose: rows become columns\nEach block stages a tile in shared memory and\nwrites it back.\n\n\
                   1. `naive` reads rows and writes columns, so each store is 32 sectors.\n   It is slow.\n\
                   2. `tiled`\n\n```text\ncode   that is wider than the terminal is left as it stands\n```\n\n\
                   | variant | ms |\n|---|--:|\n| `tiled` | 1.2 |\n";
        let text = for_terminal(doc, &Screen { width: 40, is_ascii: true });
        assert!(text.starts_with("# Transpose: rows become columns\nEach block stages"), "{text}");
        assert!(text.contains("\n1. `naive` reads rows and writes\n   columns, so each"), "{text}");
        assert!(text.contains("It is slow.\n2. `tiled`\n\n```text\ncode   that is"), "{text}");
        assert!(text.contains("`tiled`") && !text.contains("--:"), "{text}");
        let (prose, _) = text.split_once("```").expect("code follows");
        assert!(prose.lines().all(|line| line.chars().count() <= 40), "{text}");
    }

    #[test]
    fn a_cell_may_have_a_bar() {
        assert_eq!(cells(r"| a \| b | |"), ["a | b", ""]);
    }
}
