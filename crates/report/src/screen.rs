//! Text for a terminal: words wrapped and cut, and columns that are dropped where there is no room for them.
//!
//! ```
//! let screen = report::screen::Screen { width: 12, is_ascii: true };
//! assert_eq!(screen.wrap("one two three four"), "one two\nthree four");
//! assert_eq!(screen.bar(0.5, 4), "##..");
//! ```

/// The terminal that a text is for.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// The columns of a line.
    pub width: usize,
    /// True where bars and dots must be ASCII.
    pub is_ascii: bool,
}

/// The columns between two cells.
const GAP: usize = 2;
/// A column that takes what others leave has at least so many letters, or none.
const LEAST_REST: usize = 16;

/// A column of a [`Screen::columns`] table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name above it.
    pub name: &'static str,
    /// True for figures, which are to the right.
    pub is_figure: bool,
    /// Priority for being dropped: the column with the highest number first, one with 0 never.
    pub dropped: u8,
    /// True for the one column that is cut to what the others leave.
    pub takes_rest: bool,
}

impl Screen {
    /// A pipe: a line takes as much as it needs, and readers look for the letters that were always there.
    pub const PIPE: Screen = Screen { width: usize::MAX, is_ascii: false };

    /// A text as lines of whole words; the lines behind the first begin as far in as that.
    ///
    /// A word that is longer than a line has a line of its own.
    pub fn wrap(&self, text: &str) -> String {
        let indent = text.len() - text.trim_start().len();
        self.wrap_behind(&text[..indent], &" ".repeat(indent), &text[indent..])
    }

    /// A text behind the start of its first line, with another start of its other lines.
    pub fn wrap_behind(&self, start: &str, next: &str, text: &str) -> String {
        let (mut out, mut line, mut is_empty) = (String::new(), start.to_owned(), true);
        for word in text.split_whitespace() {
            if !is_empty && length(&line) + 1 + length(word) > self.width {
                out += &line;
                out.push('\n');
                next.clone_into(&mut line);
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line += word;
            is_empty = false;
        }
        out + &line
    }

    /// The first words of a text, as many as fit.
    pub fn cut(&self, text: &str, width: usize) -> String {
        if length(text) <= width {
            return text.to_owned();
        }
        let dots = if self.is_ascii { ".." } else { "…" };
        let room = width.saturating_sub(length(dots));
        let mut out = String::new();
        for word in text.split(' ') {
            let space = usize::from(!out.is_empty());
            if length(&out) + space + length(word) > room {
                break;
            }
            if space > 0 {
                out.push(' ');
            }
            out += word;
        }
        let words = out.trim_end_matches([',', ';', ':', '.']);
        if words.is_empty() { String::new() } else { format!("{words}{dots}") }
    }

    /// A bar of so many columns, of which a part is filled.
    pub fn bar(&self, part: f64, width: usize) -> String {
        let filled = ((part * width as f64).round() as usize).min(width);
        let (full, empty) = if self.is_ascii { ("#", ".") } else { ("█", "░") };
        full.repeat(filled) + &empty.repeat(width - filled)
    }

    /// An arrow between two figures.
    pub fn arrow(&self) -> &'static str {
        if self.is_ascii { "->" } else { "→" }
    }

    /// Text whose letters every terminal has.
    pub fn plain(&self, text: &str) -> String {
        if self.is_ascii { text.replace('µ', "u").replace('→', "->") } else { text.to_owned() }
    }

    /// Rows as lines below a header. What is too wide for the screen loses columns, the least needed one first; empty
    /// columns are left out.
    pub fn columns(&self, columns: &[Column], rows: &[Vec<String>]) -> String {
        let widest = |index: usize| rows.iter().map(|row| length(&row[index])).max().unwrap_or(0);
        let is_used = |index: &usize| widest(*index) > 0;
        let mut shown: Vec<usize> = (0..columns.len()).filter(is_used).collect();
        let natural = |index: usize| widest(index).max(length(columns[index].name));
        let needed = |shown: &[usize]| -> usize {
            let widths = shown.iter().map(|index| match columns[*index].takes_rest {
                true => natural(*index).min(LEAST_REST),
                false => natural(*index),
            });
            widths.sum::<usize>() + GAP * shown.len().saturating_sub(1)
        };
        while needed(&shown) > self.width {
            let least = shown.iter().copied().max_by_key(|index| columns[*index].dropped);
            let Some(least) = least.filter(|index| columns[*index].dropped > 0) else { break };
            shown.retain(|index| *index != least);
        }
        let rest = |index: usize| {
            let others =
                shown.iter().filter(|other| **other != index).map(|one| natural(*one) + GAP);
            self.width.saturating_sub(others.sum()).min(natural(index))
        };
        let width = |index: usize| {
            if columns[index].takes_rest { rest(index) } else { natural(index) }
        };
        let widths: Vec<(usize, usize)> =
            shown.iter().map(|index| (*index, width(*index))).collect();
        let names: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
        let mut out = String::new();
        for row in std::iter::once(&names).chain(rows) {
            let cells = widths.iter().map(|(index, width)| {
                let cell = match columns[*index].takes_rest {
                    true => self.cut(&row[*index], *width),
                    false => row[*index].clone(),
                };
                if columns[*index].is_figure {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            });
            let cells: Vec<String> = cells.collect();
            out += cells.join(&" ".repeat(GAP)).trim_end();
            out.push('\n');
        }
        out
    }
}

/// The columns that a text takes.
fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "each block stages a tile in shared memory and writes it back transposed";

    fn screen(width: usize) -> Screen {
        Screen { width, is_ascii: false }
    }

    #[test]
    fn lines_are_of_whole_words_at_every_width() {
        for width in 12..100 {
            let wrapped = screen(width).wrap(&format!("  {TEXT}"));
            assert!(wrapped.lines().all(|line| length(line) <= width), "{width}: {wrapped}");
            assert!(wrapped.lines().all(|line| line.starts_with("  ")), "{wrapped}");
            let words: Vec<&str> = wrapped.split_whitespace().collect();
            assert_eq!(words.join(" "), TEXT);
            let cut = screen(width).cut(TEXT, width);
            assert!(length(&cut) <= width, "{cut}");
            assert!(TEXT.split(' ').any(|word| cut.trim_end_matches('…').ends_with(word)), "{cut}");
        }
        assert_eq!(screen(4).wrap("a transposed b"), "a\ntransposed\nb");
        assert_eq!(screen(80).cut("transposed", 3), "");
    }

    #[test]
    fn a_bar_is_as_wide_as_it_is_asked_to_be() {
        assert_eq!(screen(80).bar(0.5, 4), "██░░");
        assert_eq!(screen(80).bar(1.3, 4), "████");
        assert_eq!(Screen { width: 80, is_ascii: true }.bar(0.24, 4), "#...");
    }

    #[test]
    fn columns_are_dropped_in_their_order_and_the_rest_is_cut() {
        let column =
            |name, dropped, takes_rest| Column { name, is_figure: false, dropped, takes_rest };
        let columns =
            [column("name", 0, false), column("claim", 2, true), column("time", 1, false)];
        let rows = [vec!["transpose".to_owned(), TEXT.to_owned(), "0.516 ms".to_owned()]];
        let at = |width: usize| screen(width).columns(&columns, &rows);
        assert!(at(120).contains(TEXT));
        assert_eq!(at(40).lines().nth(1), Some("transpose  each block stages…   0.516 ms"));
        assert_eq!(at(36).lines().nth(1), Some("transpose  0.516 ms"));
        assert_eq!(at(10).lines().nth(1), Some("transpose"));
    }
}
