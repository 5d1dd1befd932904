//! Canvas of every plot: shapes with the classes of the page's style, texts, ticks and legends.
//!
//! A shape has a class for its colour and one for its stroke, so that a plot follows its page from light to dark.
//! Lengths are units of a drawing that is [`WIDTH`] wide and takes the width of the page.

use svg::Node;
use svg::node::element::{Circle, Description, Element, Polygon, Polyline, Rectangle, Text, Title};

/// The width of a drawing.
pub const WIDTH: i32 = 880;
/// The width of a drawing that takes a whole page.
pub const WIDE: i32 = 1400;
/// The height of letters.
pub const FONT: i32 = 28;
/// From a line of text to the next.
pub const LINE: i32 = 42;
/// Lines that a plot can tell apart, by colour and by marker.
pub const MAX_SERIES: usize = 6;

/// A colour of the page's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Text,
    Faint,
    Peak,
    Peer,
    Paper,
    Series(u8),
    Dashed(u8),
    Dotted(u8),
    DashedText,
    DottedText,
}

impl Ink {
    /// The classes of what is drawn with it.
    fn class(self) -> String {
        let series = |index: u8| format!("s{}", usize::from(index) % MAX_SERIES);
        match self {
            Ink::Text => "ink".to_owned(),
            Ink::Faint => "faint".to_owned(),
            Ink::Peak => "peak".to_owned(),
            Ink::Peer => "peer".to_owned(),
            Ink::Paper => "paper".to_owned(),
            Ink::Series(index) => series(index),
            Ink::Dashed(index) => series(index) + " dashed",
            Ink::Dotted(index) => series(index) + " dotted",
            Ink::DashedText => "ink dashed".to_owned(),
            Ink::DottedText => "ink dotted".to_owned(),
        }
    }
}

/// At which side of its place a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// Description for a reader who cannot see the plot, and the plot's name in its page.
#[derive(Clone, Debug)]
pub struct Caption {
    /// Unique in the page.
    pub id: String,
    /// Subject of the plot.
    pub title: String,
}

/// A figure with four digits that count, without needless zeros.
pub fn figure(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let before_point = value.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(4 - before_point).unwrap_or(0).min(9);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A power of two from 2^13 on as such, anything else as a figure.
pub fn amount(value: f64) -> String {
    let exponent = value.log2();
    if value > 4096.0 && exponent.fract() == 0.0 {
        let digits = format!("{exponent}");
        let raised = digits.chars().map(|digit| match digit.to_digit(10) {
            Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
            None => digit,
        });
        format!("2{}", raised.collect::<String>())
    } else {
        figure(value)
    }
}

/// The drawing.
#[derive(Default)]
pub struct Canvas(Vec<Element>);

impl Canvas {
    pub fn path(&mut self, points: &[(f64, f64)], ink: Ink, width: u32) {
        let class = format!("line {} w{width}", ink.class());
        self.0.push(Polyline::new().set("class", class).set("points", places(points)).into());
    }

    pub fn area(&mut self, points: &[(f64, f64)], ink: Ink) {
        let class = format!("area {}", ink.class());
        self.0.push(Polygon::new().set("class", class).set("points", places(points)).into());
    }

    pub fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) {
        let class = format!("area {}", ink.class());
        self.0.push(rectangle(from, to).set("class", class).into());
    }

    /// A box of diagonals: what is not ours.
    pub fn hatched(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64), ink: Ink) {
        let height = bottom - top;
        let mut x = left - height;
        while x < right {
            // From the lower left to the upper right, cut off at both sides.
            let (from, to) = (x.max(left), (x + height).min(right));
            if from < to {
                self.path(&[(from, bottom - (from - x)), (to, bottom - (to - x))], ink, 3);
            }
            x += 12.0;
        }
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.path(&corners, ink, 3);
    }

    pub fn text(&mut self, text: &str, at: (f64, f64), anchor: Anchor) {
        let (x, y) = pixel(at);
        let element = Text::new(text).set("x", x).set("y", y);
        self.0.push(match anchor {
            Anchor::Start => element.into(),
            Anchor::Middle => element.set("class", "middle").into(),
            Anchor::End => element.set("class", "end").into(),
        });
    }

    /// The marker of a series.
    pub fn marker(&mut self, series: usize, (x, y): (f64, f64), ink: Ink) {
        let r = 10.0;
        match series % MAX_SERIES {
            0 => {
                let (x, y) = pixel((x, y));
                let circle = Circle::new().set("cx", x).set("cy", y).set("r", r);
                self.0.push(circle.set("class", format!("area {}", ink.class())).into());
            }
            1 => self.rectangle((x - r, y - r), (x + r, y + r), ink),
            2 => self.area(&[(x, y - r), (x + r, y + r), (x - r, y + r)], ink),
            3 => self.area(&[(x, y - 13.0), (x + 13.0, y), (x, y + 13.0), (x - 13.0, y)], ink),
            4 => {
                self.path(&[(x - r, y - r), (x + r, y + r)], ink, 5);
                self.path(&[(x - r, y + r), (x + r, y - r)], ink, 5);
            }
            _ => self.area(&[(x - r, y - r), (x + r, y - r), (x, y + r)], ink),
        }
    }

    /// The mark of another run on a bar.
    pub fn mark(&mut self, index: usize, (x, y): (f64, f64)) {
        let r = 13.0;
        let diamond = [(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
        let square = [(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)];
        let outline = if index.is_multiple_of(2) { diamond } else { square };
        self.area(&outline, Ink::Paper);
        self.path(&[&outline[..], &outline[..1]].concat(), Ink::Series(mark_series(index)), 5);
    }

    /// A mark that is far from the bar's end: filled, with an exclamation mark.
    pub fn missed(&mut self, index: usize, (x, y): (f64, f64)) {
        self.mark(index, (x, y));
        self.path(&[(x, y - 7.0), (x, y + 2.0)], Ink::Peak, 5);
        self.path(&[(x, y + 5.0), (x, y + 9.0)], Ink::Peak, 5);
    }

    /// Draws the range of samples: a line with ends across a bar.
    pub fn spread(&mut self, (from, to): (f64, f64), y: f64) {
        self.path(&[(from, y), (to, y)], Ink::Text, 3);
        for x in [from, to] {
            self.path(&[(x, y - 8.0), (x, y + 8.0)], Ink::Text, 3);
        }
    }
}

/// The colour of the n-th mark: not that of the bars.
pub fn mark_series(index: usize) -> u8 {
    (1 + index % (MAX_SERIES - 1)) as u8
}

pub fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

fn places(points: &[(f64, f64)]) -> String {
    let places = points.iter().map(|point| {
        let (x, y) = pixel(*point);
        format!("{x},{y}")
    });
    places.collect::<Vec<_>>().join(" ")
}

fn rectangle(from: (f64, f64), to: (f64, f64)) -> Rectangle {
    let ((left, top), (right, bottom)) = (pixel(from), pixel(to));
    let rectangle = Rectangle::new().set("x", left).set("y", top);
    rectangle.set("width", right - left).set("height", bottom - top)
}

/// The width of a text, about: the letters of a wide font, DejaVu Sans.
pub fn width_of(text: &str) -> f64 {
    let parts_of_height = text.chars().map(|letter| match letter {
        'm' | 'w' | 'M' | 'W' => 0.95,
        'A'..='Z' => 0.72,
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | ' ' | '.' | ',' | ':' => 0.4,
        _ => 0.62,
    });
    parts_of_height.sum::<f64>() * f64::from(FONT)
}

/// Area that shows its meaning under a pointer: place, size, text.
pub type Hover = ((f64, f64), (f64, f64), String);

/// Draws, and makes the result a part of a page.
pub fn svg(
    caption: &Caption,
    (width, height): (i32, f64),
    description: &str,
    hovers: &[Hover],
    draw: impl FnOnce(&mut Canvas),
) -> String {
    let Caption { id, title } = caption;
    let (title_id, description_id) = (format!("{id}-title"), format!("{id}-desc"));
    let mut plot = Element::new("svg");
    plot.assign("class", "plot");
    plot.assign("id", id.as_str());
    plot.assign("viewBox", format!("0 0 {width} {height:.0}"));
    plot.assign("role", "img");
    plot.assign("aria-labelledby", format!("{title_id} {description_id}"));
    plot.append(Title::new(title).set("id", title_id));
    let description = Description::new().add(svg::node::Text::new(description));
    plot.append(description.set("id", description_id));
    let mut canvas = Canvas::default();
    draw(&mut canvas);
    for element in canvas.0 {
        plot.append(element);
    }
    for (from, to, text) in hovers {
        plot.append(rectangle(*from, *to).set("class", "hover").add(Title::new(text)));
    }
    plot.to_string()
}

/// A plot of a page as a file of its own, which brings its colours.
pub fn alone(plot: &str) -> String {
    let style = concat!(
        include_str!("../palette.css"),
        include_str!("../plot.css"),
        "svg{color:var(--ink);background:var(--paper)}\n"
    );
    let namespace = "<svg xmlns=\"http://www.w3.org/2000/svg\" ";
    let (head, rest) = plot.replacen("<svg ", namespace, 1).split_once('>').map_or_else(
        || (String::new(), String::new()),
        |(head, rest)| (head.to_owned(), rest.to_owned()),
    );
    format!("{head}><style>{style}</style>{rest}\n")
}

/// Round values from 0 to at most `max`.
pub fn linear_ticks(max: f64, most: usize) -> Vec<f64> {
    let rough = max / most as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|part| part * power).into_iter().find(|s| *s >= rough);
    let step = step.unwrap_or(max);
    (0..=most).map(|index| index as f64 * step).take_while(|value| *value <= max * 1.0001).collect()
}

/// Powers of ten in a range, with their halves and fifths when there are few.
pub fn log10_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let parts: &[f64] = if high < 200.0 * low { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let step = decades.clone().count() / 8 + 1;
    decades
        .step_by(step)
        .flat_map(|decade| parts.iter().map(move |part| part * 10f64.powi(decade)))
        .filter(|value| (low * 0.999..=high * 1.001).contains(value))
        .collect()
}

/// Style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// With markers: this run.
    Solid,
    /// Dashed: predictions.
    Dashed,
    /// Dotted: other measurements.
    Dotted,
}

/// Symbol before a name in a legend.
#[derive(Clone, Copy)]
pub enum Key {
    Bar,
    Peer,
    Peak,
    Spread,
    Missed,
    Mark(usize),
    Line(usize),
    /// A marker of a series in the colour of another.
    Point(usize, usize),
    Stroke(Stroke),
}

/// Returns the places of a legend's entries, and its height: as many beside each other as fit.
pub fn legend_places(entries: &[(Key, String)], room: i32) -> (Vec<(f64, f64)>, f64) {
    let (mut x, mut y) = (10.0, 0.0);
    let mut places = Vec::new();
    for (_, name) in entries {
        let width = 90.0 + width_of(name);
        if x > 10.0 && x + width > f64::from(room) {
            (x, y) = (10.0, y + f64::from(LINE));
        }
        places.push((x, y));
        x += width + 20.0;
    }
    (places, y + f64::from(LINE) + 8.0)
}

pub fn draw_legend(
    canvas: &mut Canvas,
    entries: &[(Key, String)],
    places: &[(f64, f64)],
    top: f64,
) {
    for ((key, name), (x, y)) in entries.iter().zip(places) {
        let (x, middle) = (*x, top + y + f64::from(LINE) / 2.0);
        let (from, to) = ((x + 10.0, middle - 13.0), (x + 60.0, middle + 13.0));
        match *key {
            Key::Bar => canvas.rectangle(from, to, Ink::Series(0)),
            Key::Peer => canvas.hatched(from, to, Ink::Peer),
            Key::Peak => canvas.path(&[(x + 35.0, from.1), (x + 35.0, to.1)], Ink::Peak, 6),
            Key::Spread => canvas.spread((x + 10.0, x + 60.0), middle),
            Key::Missed => canvas.missed(0, (x + 35.0, middle)),
            Key::Mark(index) => canvas.mark(index, (x + 35.0, middle)),
            Key::Line(series) => {
                let ink = Ink::Series(series as u8);
                canvas.path(&[(x, middle), (x + 70.0, middle)], ink, 5);
                canvas.marker(series, (x + 35.0, middle), ink);
            }
            Key::Point(series, colour) => {
                canvas.marker(series, (x + 35.0, middle), Ink::Series(colour as u8));
            }
            Key::Stroke(stroke) => {
                let ink = match stroke {
                    Stroke::Solid => Ink::Text,
                    Stroke::Dashed => Ink::DashedText,
                    Stroke::Dotted => Ink::DottedText,
                };
                canvas.path(&[(x, middle), (x + 70.0, middle)], ink, 5);
            }
        }
        canvas.text(name, (x + 82.0, middle), Anchor::Start);
    }
}
