//! What every plot is drawn with: plotters' backend in the page's colours, texts, ticks and legends.
//!
//! Plotters draws into a string. Colours are stand-ins there, which become variables of the page's style, so that a
//! plot follows the page from light to dark. Lengths are units of a drawing that is [`WIDTH`] wide and takes the width of
//! the page.

use plotters::backend::DrawingBackend;
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoTextStyle, RGBColor, ShapeStyle};
use std::fmt::Write;

/// The width of every drawing.
pub const WIDTH: i32 = 880;
/// The height of letters.
pub const FONT: i32 = 28;
/// From a line of text to the next.
pub const LINE: i32 = 42;
/// Lines that a plot can tell apart, by colour and by marker.
pub const MAX_SERIES: usize = 6;

/// How dashed and dotted lines are drawn.
pub const DASHES: &str = "stroke-dasharray=\"16 12\"";
pub const DOTS: &str = "stroke-dasharray=\"4 8\"";

/// A colour of the page's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Text,
    Faint,
    Limit,
    Peer,
    Paper,
    Series(u8),
    Dashed(u8),
    Dotted(u8),
    DashedText,
    DottedText,
}

impl Ink {
    /// The colour that stands for it while plotters draws.
    pub fn stand_in(self) -> RGBColor {
        match self {
            Ink::Text => RGBColor(0, 0, 0),
            Ink::Faint => RGBColor(0, 0, 1),
            Ink::Limit => RGBColor(0, 0, 2),
            Ink::Peer => RGBColor(0, 0, 3),
            Ink::Paper => RGBColor(0, 0, 4),
            Ink::Series(index) => RGBColor(1, 0, index),
            Ink::Dashed(index) => RGBColor(2, 0, index),
            Ink::Dotted(index) => RGBColor(3, 0, index),
            Ink::DashedText => RGBColor(4, 0, 0),
            Ink::DottedText => RGBColor(4, 0, 1),
        }
    }

    /// What a stand-in is in the page: the rest of an attribute from its value on.
    pub fn in_page(stand_in: &str) -> String {
        let index = u8::from_str_radix(stand_in.get(4..6).unwrap_or(""), 16).unwrap_or(0);
        match stand_in.get(0..2) {
            Some("01") => format!("var(--series-{index})\""),
            Some("02") => format!("var(--series-{index})\" {DASHES}"),
            Some("03") => format!("var(--series-{index})\" {DOTS}"),
            Some("04") => format!("currentColor\" {}", if index == 0 { DASHES } else { DOTS }),
            _ => match index {
                1 => "var(--faint)\"".to_owned(),
                2 => "var(--limit)\"".to_owned(),
                3 => "var(--peer)\"".to_owned(),
                4 => "var(--paper)\"".to_owned(),
                _ => "currentColor\"".to_owned(),
            },
        }
    }
}

/// What a reader learns who cannot see the plot, and the plot's name in its page.
#[derive(Clone, Debug)]
pub struct Caption {
    /// Unique in the page.
    pub id: String,
    /// What is plotted.
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

/// Why drawing cannot fail.
pub const DRAWN: &str = "a string takes every drawing";

/// The drawing: plotters' backend, with our colours.
pub struct Canvas<'a>(SVGBackend<'a>);

impl Canvas<'_> {
    pub fn path(&mut self, points: &[(f64, f64)], ink: Ink, width: u32) {
        let style = ShapeStyle { color: ink.stand_in().into(), filled: false, stroke_width: width };
        self.0.draw_path(points.iter().map(|point| pixel(*point)), &style).expect(DRAWN);
    }

    pub fn area(&mut self, points: &[(f64, f64)], ink: Ink) {
        self.0
            .fill_polygon(points.iter().map(|point| pixel(*point)), &ink.stand_in())
            .expect(DRAWN);
    }

    pub fn rectangle(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64), ink: Ink) {
        self.area(&[(left, top), (right, top), (right, bottom), (left, bottom)], ink);
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

    pub fn text(&mut self, text: &str, at: (f64, f64), side: HPos) {
        let size = f64::from(FONT) * 1.24;
        let style = ("sans-serif", size)
            .into_text_style(&(WIDTH as u32, WIDTH as u32))
            .pos(Pos::new(side, VPos::Center));
        self.0.draw_text(text, &style, pixel(at)).expect(DRAWN);
    }

    /// The marker of a series.
    pub fn marker(&mut self, series: usize, (x, y): (f64, f64), ink: Ink) {
        let r = 10.0;
        match series % MAX_SERIES {
            0 => self.0.draw_circle(pixel((x, y)), 10, &ink.stand_in(), true).expect(DRAWN),
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
}

/// The colour of the n-th mark: not that of the bars.
pub fn mark_series(index: usize) -> u8 {
    (1 + index % (MAX_SERIES - 1)) as u8
}

pub fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
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

/// What shows its meaning under a pointer: where, how large, and what it says.
pub type Hover = ((f64, f64), (f64, f64), String);

/// Draws, and makes the result a part of a page: with its texts, and with colours of the page's style.
pub fn svg(
    caption: &Caption,
    height: f64,
    description: &str,
    hovers: &[Hover],
    draw: impl FnOnce(&mut Canvas<'_>),
) -> String {
    let mut drawn = String::new();
    let size = (WIDTH as u32, height.ceil() as u32);
    let mut canvas = Canvas(SVGBackend::with_string(&mut drawn, size));
    draw(&mut canvas);
    canvas.0.present().expect(DRAWN);
    drop(canvas);
    let body = drawn.split_once(">\n").map_or("", |(_, body)| body);
    let mut body = themed(body.trim_end().trim_end_matches("</svg>"));
    for ((left, top), (right, bottom), text) in hovers {
        let _ = writeln!(
            body,
            "<rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{:.0}\" height=\"{:.0}\" fill=\"transparent\"><title>{}</title></rect>",
            right - left,
            bottom - top,
            escaped(text)
        );
    }
    let Caption { id, title } = caption;
    format!(
        "<svg class=\"plot\" id=\"{id}\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\"><title id=\"{id}-title\">{}</title>\
         <desc id=\"{id}-desc\">{}</desc>\n{body}</svg>",
        escaped(title),
        escaped(description)
    )
}

/// A plot of a page as a file of its own, which brings its colours.
pub fn alone(plot: &str) -> String {
    let style =
        concat!(include_str!("../palette.css"), "svg{color:var(--ink);background:var(--paper)}\n");
    let namespace = "<svg xmlns=\"http://www.w3.org/2000/svg\" ";
    let (head, rest) = plot.replacen("<svg ", namespace, 1).split_once('>').map_or_else(
        || (String::new(), String::new()),
        |(head, rest)| (head.to_owned(), rest.to_owned()),
    );
    format!("{head}><style>{style}</style>{rest}\n")
}

/// Replaces stand-ins by the page's colours.
pub fn themed(drawn: &str) -> String {
    let mut parts = drawn.split("=\"#");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (stand_in, rest) = part.split_once('"').unwrap_or((part, ""));
        out += "=\"";
        out += &Ink::in_page(stand_in);
        out += rest;
    }
    out
}

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
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

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// With markers: this run.
    Solid,
    /// Dashed: predictions.
    Dashed,
    /// Dotted: other measurements.
    Dotted,
}

/// What stands before a name in a legend.
#[derive(Clone, Copy)]
pub enum Key {
    Bar,
    Peer,
    Limit,
    Mark(usize),
    Line(usize),
    Stroke(Stroke),
}

/// Where the entries of a legend stand, and its height: as many beside each other as fit.
pub fn legend_places(entries: &[(Key, String)]) -> (Vec<(f64, f64)>, f64) {
    let (mut x, mut y) = (10.0, 0.0);
    let mut places = Vec::new();
    for (_, name) in entries {
        let width = 90.0 + width_of(name);
        if x > 10.0 && x + width > f64::from(WIDTH) {
            (x, y) = (10.0, y + f64::from(LINE));
        }
        places.push((x, y));
        x += width + 20.0;
    }
    (places, y + f64::from(LINE) + 8.0)
}

pub fn draw_legend(
    canvas: &mut Canvas<'_>,
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
            Key::Limit => canvas.path(&[(x + 35.0, from.1), (x + 35.0, to.1)], Ink::Limit, 6),
            Key::Mark(index) => canvas.mark(index, (x + 35.0, middle)),
            Key::Line(series) => {
                let ink = Ink::Series(series as u8);
                canvas.path(&[(x, middle), (x + 70.0, middle)], ink, 5);
                canvas.marker(series, (x + 35.0, middle), ink);
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
        canvas.text(name, (x + 82.0, middle), HPos::Left);
    }
}
