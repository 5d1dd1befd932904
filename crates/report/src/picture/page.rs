use svg::Document;
use svg::node::element::{Description, Element, Group, Rectangle, Style, Text, Title};

/// The width of every picture.
pub const WIDTH: f64 = 360.0;
/// The width of the labels to the left.
pub const LABELS: f64 = 58.0;
/// Characters of a line of plain text or code, of a heading, and of the title.
pub const CHARACTERS: usize = 66;
pub const HEAD_CHARACTERS: usize = 57;
pub const TITLE_CHARACTERS: usize = 51;

/// A picture that grows downwards.
pub struct Page {
    pub name: String,
    pub body: Vec<Element>,
    /// Height at which the next thing begins.
    pub y: f64,
    pub described: Vec<String>,
    /// True when rows that look alike are drawn once.
    pub is_folded: bool,
    /// Of a moving picture, the rows that each of its steps stands for; `None` for one that stands still.
    pub steps: Option<Vec<usize>>,
}

/// A row of a picture, or how many like the one before are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folded {
    Row(usize),
    Alike(usize),
}

/// Of five and more rows in a line that look alike, the first two and the last one.
pub fn folded<T: PartialEq>(looks: &[T], is_folded: bool) -> Vec<Folded> {
    let mut rows = Vec::new();
    let mut next = 0;
    for run in looks.chunk_by(|one, other| one == other) {
        if is_folded && run.len() >= 5 {
            rows.extend([Folded::Row(next), Folded::Row(next + 1), Folded::Alike(run.len() - 3)]);
            rows.push(Folded::Row(next + run.len() - 1));
        } else {
            rows.extend((next..next + run.len()).map(Folded::Row));
        }
        next += run.len();
    }
    rows
}

impl Page {
    /// An empty page with its heading.
    pub fn new(name: String) -> Page {
        let (body, described) = (Vec::new(), Vec::new());
        let mut page = Page { name, body, y: 4.0, described, is_folded: false, steps: None };
        page.paragraph("title", &page.name.clone(), TITLE_CHARACTERS);
        page
    }

    /// Appends an element.
    pub fn put(&mut self, element: impl Into<Element>) {
        self.body.push(element.into());
    }

    /// A text in as many lines as it needs.
    pub fn paragraph(&mut self, class: &str, text: &str, characters: usize) {
        for line in wrapped(text, characters) {
            self.y += 11.0;
            self.put(text_at(class, 2.0, self.y, &line));
        }
        self.y += 3.0;
    }

    /// Says how many rows are left out.
    pub fn alike(&mut self, count: usize) {
        let text = match count {
            1 => "1 more row like these".to_owned(),
            _ => format!("{count} more rows like these"),
        };
        self.y += 8.0;
        let text = self.step(count, vec![text_at("fold", WIDTH / 2.0, self.y, &text)]);
        self.body.extend(text);
        self.y += 5.0;
    }

    /// Makes elements appear together, for as long as so many rows take in a moving picture.
    pub fn step(&mut self, rows: usize, elements: Vec<Element>) -> Vec<Element> {
        let Some(steps) = &mut self.steps else { return elements };
        steps.push(rows);
        vec![group(&format!("step s{}", steps.len()), elements).into()]
    }

    /// A paragraph that is part of the text alternative, too.
    pub fn caption(&mut self, text: &str) {
        self.described.push(text.to_owned());
        self.paragraph("caption", text, CHARACTERS);
    }

    /// The whole picture.
    pub fn finish(self) -> String {
        let height = rounded(self.y + 3.0);
        let mut document = Document::new()
            .set("viewBox", (0, 0, WIDTH, height))
            .set("class", "coalesce")
            .set("role", "img")
            .add(Title::new(self.name))
            .add(Description::new().add(svg::node::Text::new(self.described.join(" "))))
            .add(Style::new(style()));
        if let Some(steps) = &self.steps {
            document = document.add(Style::new(motion(steps)));
        }
        for element in self.body {
            document = document.add(element);
        }
        format!("{document}\n")
    }
}

/// The seconds of a moving picture from its begin to its next, and the rows for which it shows everything.
const SECONDS: u32 = 10;
const REST: usize = 12;

/// Shows one step after the other, where the reader does not ask for less motion.
fn motion(steps: &[usize]) -> String {
    let all = (steps.iter().sum::<usize>() + REST) as f64;
    let mut style = format!(
        "@media(prefers-reduced-motion:no-preference){{\n\
         svg.coalesce .step{{animation:{SECONDS}s step-end infinite}}\n"
    );
    let mut before = 0;
    for (step, rows) in (1..).zip(steps) {
        before += rows;
        let begin = rounded(100.0 * before as f64 / all);
        style += &format!("svg.coalesce .s{step}{{animation-name:step-{step}}}\n");
        style += &format!("@keyframes step-{step}{{0%{{opacity:0}}{begin}%{{opacity:1}}}}\n");
    }
    style + "}\n"
}

/// The classes of both pictures; each begins with that of the picture, so that a page that holds it keeps its own.
pub fn style() -> String {
    let mut style = String::from(
        "svg.coalesce:root{color:#1c1c1c;background:#fff}
@media(prefers-color-scheme:dark){svg.coalesce:root{color:#e6e6e6;background:#16181c}}
svg.coalesce text{font-family:sans-serif;font-size:9px;fill:currentColor}
svg.coalesce .title{font-size:11px;font-weight:bold}
svg.coalesce .head{font-size:10px;font-weight:bold}
svg.coalesce .code{font-family:monospace;font-size:8.8px}
svg.coalesce .caption{font-size:10px}
svg.coalesce .label{font-size:8px;text-anchor:end}
svg.coalesce .mark{font-size:8px;text-anchor:middle}
svg.coalesce .fold{font-size:8px;text-anchor:middle;font-style:italic}
svg.coalesce .inside{font-size:7.5px;text-anchor:middle;fill:#111}
svg.coalesce .axis{stroke:currentColor;stroke-width:.5;opacity:.35}
svg.coalesce .rule{stroke:currentColor;stroke-width:.5;opacity:.6}
svg.coalesce .gap{stroke:currentColor;stroke-width:1;stroke-dasharray:1 3;opacity:.6}
svg.coalesce .idle{fill:none;stroke:currentColor;stroke-width:.5;opacity:.25}
svg.coalesce .sector{fill:none;stroke:currentColor;stroke-width:1.1}
svg.coalesce .full{fill:none;stroke:#e0561f;stroke-width:1.5}
svg.coalesce .upload{fill:#74a9f0}
svg.coalesce .kernel{fill:#77c277}
svg.coalesce .download{fill:#f0a95c}
svg.coalesce .device{fill:#54bdb5}
svg.coalesce .host{fill:#b9a2e3}
svg.coalesce .call{fill:currentColor;opacity:.3}
svg.coalesce .wait{fill:none;stroke:currentColor;stroke-width:.7;stroke-dasharray:2 1.5;opacity:.6}
",
    );
    for lane in 0..32 {
        style += &format!("svg.coalesce .l{lane}{{fill:{}}}\n", lane_colour(lane));
    }
    style
}

/// From blue over green and yellow to magenta; light enough for dark letters, dark enough for a light ground.
pub fn lane_colour(lane: usize) -> String {
    // Four stops, eight lanes from one to the next and to a fifth.
    const STOPS: [[f64; 3]; 5] = [
        [86.0, 137.0, 232.0],
        [60.0, 178.0, 186.0],
        [112.0, 186.0, 84.0],
        [226.0, 164.0, 60.0],
        [222.0, 96.0, 150.0],
    ];
    let place = lane as f64 / 31.0 * (STOPS.len() - 1) as f64;
    let stop = (place as usize).min(STOPS.len() - 2);
    let part = place - stop as f64;
    let mix = |channel: usize| {
        let (from, to) = (STOPS[stop][channel], STOPS[stop + 1][channel]);
        (from + (to - from) * part).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// To hundredths, which no eye can tell from more.
pub fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

pub fn text_at(class: &str, x: f64, y: f64, text: &str) -> Element {
    let element = Text::new(text).set("class", class).set("x", rounded(x)).set("y", rounded(y));
    element.into()
}

pub fn box_at(class: &str, [x, y, width, height]: [f64; 4]) -> Rectangle {
    Rectangle::new()
        .set("class", class)
        .set("x", rounded(x))
        .set("y", rounded(y))
        .set("width", rounded(width))
        .set("height", rounded(height))
}

pub fn group(class: &str, elements: Vec<Element>) -> Group {
    elements.into_iter().fold(Group::new().set("class", class), Group::add)
}

pub fn line(class: &str, from: [f64; 2], to: [f64; 2]) -> Element {
    let line = svg::node::element::Line::new()
        .set("class", class)
        .set("x1", rounded(from[0]))
        .set("y1", rounded(from[1]))
        .set("x2", rounded(to[0]))
        .set("y2", rounded(to[1]));
    line.into()
}

/// Lines of at most so many characters, broken between words; a longer word is cut.
pub fn wrapped(text: &str, characters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let pieces: Vec<char> = word.chars().collect();
        for piece in pieces.chunks(characters) {
            let piece: String = piece.iter().collect();
            let last = lines.last_mut().expect("there is a line from the start");
            let needed = last.chars().count() + 1 + piece.chars().count();
            if last.is_empty() {
                *last = piece;
            } else if needed <= characters {
                *last += " ";
                *last += &piece;
            } else {
                lines.push(piece);
            }
        }
    }
    lines
}

/// A number of bytes in the largest unit that divides it.
pub fn bytes_in_words(bytes: u64) -> String {
    match bytes {
        0 => "0 B".to_owned(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

/// A count and its noun: `1 lane`, `2 lanes`.
pub fn counted(count: u64, noun: &str) -> String {
    match (count, noun) {
        (1, _) => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_look_alike_are_folded() {
        use Folded::{Alike, Row};
        let looks = [1, 2, 2, 2, 2, 2, 2, 3];
        assert_eq!(folded(&looks, true), [Row(0), Row(1), Row(2), Alike(3), Row(6), Row(7)]);
        assert_eq!(folded(&looks, false).len(), looks.len());
        assert_eq!(folded(&[1, 1, 1, 1], true).len(), 4);
    }

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
