/// A chapter: a text of Markdown.
#[derive(Clone, Copy, Debug)]
pub struct Chapter {
    /// `7`, `A` for an appendix, or nothing.
    pub number: &'static str,
    /// Names its text and its page.
    pub stem: &'static str,
    /// The Markdown; its first line is the title.
    pub text: &'static str,
}

macro_rules! chapters {
    ($($number:literal $stem:literal,)*) => {
        /// All chapters, in teaching order.
        pub const CHAPTERS: &[Chapter] = &[$(Chapter {
            number: $number,
            stem: $stem,
            text: include_str!(concat!("../text/", $stem, ".md")),
        },)*];
    };
}

chapters! {
    "0" "index",
    "" "ten_bets",
    "1" "how_to_read_a_count",
    "2" "lanes_and_sectors",
    "3" "stores_and_layouts",
    "4" "in_flight",
    "5" "banks",
    "6" "tiles",
    "7" "collectives",
    "8" "other_memories",
    "9" "bugs",
    "10" "transfers_and_streams",
    "11" "memory_as_a_resource",
    "12" "myths",
    "A" "counters",
    "B" "model",
    "C" "checklist",
}

/// A part of a chapter below its own heading.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    pub title: &'a str,
    pub text: &'a str,
}

impl Chapter {
    pub fn file(&self) -> String {
        format!("{}.html", self.stem)
    }

    pub fn title(&self) -> String {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned()
    }

    /// Returns what stands before the first section, and the sections.
    pub fn parts(&self) -> (&'static str, Vec<Section<'static>>) {
        let body = self.text.split_once('\n').map_or("", |(_, body)| body);
        let mut parts = body.split("\n## ");
        let introduction = parts.next().unwrap_or_default();
        let sections = parts.map(|part| {
            let (title, text) = part.split_once('\n').unwrap_or((part, ""));
            Section { title: title.trim(), text }
        });
        (introduction, sections.collect())
    }
}
