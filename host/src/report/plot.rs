//! Plots: data in, SVG out.
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
const WIDTH: i32 = 880;
/// The height of letters.
const FONT: i32 = 28;
/// From a line of text to the next.
const LINE: i32 = 42;
/// Lines that a plot can tell apart, by colour and by marker.
pub const SERIES_MAX: usize = 6;

/// How dashed and dotted lines are drawn.
const DASHES: &str = "stroke-dasharray=\"16 12\"";
const DOTS: &str = "stroke-dasharray=\"4 8\"";

/// A colour of the page's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ink {
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
    fn stand_in(self) -> RGBColor {
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
    fn in_page(stand_in: &str) -> String {
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

/// Bars, one below the other.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The name.
    pub caption: Caption,
    /// What the lengths are.
    pub unit: &'static str,
    /// From top to bottom.
    pub bars: Vec<Bar>,
    /// What the bars are called in the legend.
    pub name: String,
    /// What the marks are called in the legend, in the order of [`Bar::marks`].
    pub marks: Vec<String>,
    /// What the limits are called in the legend.
    pub limit: String,
}

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Left of it.
    pub label: String,
    /// Its length, if there is one.
    pub value: Option<f64>,
    /// Whether it is not ours: it is hatched.
    pub is_peer: bool,
    /// The best it could be.
    pub limit: Option<f64>,
    /// What others say of it.
    pub marks: Vec<Option<f64>>,
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// By powers of two.
    Log2,
    /// By powers of ten.
    Log10,
}

/// Lines over a dimension.
#[derive(Clone, Debug)]
pub struct Curves {
    /// The name.
    pub caption: Caption,
    /// What runs to the right.
    pub x: Axis,
    /// What runs upwards.
    pub y: Axis,
    /// The lines; at most [`SERIES_MAX`] of different series.
    pub lines: Vec<Line>,
    /// What the lines are that are not solid.
    pub strokes: Vec<(Stroke, String)>,
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

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it is, with its unit.
    pub name: String,
    /// How it is divided.
    pub scale: Scale,
    /// The values that get a tick; none: chosen here.
    pub ticks: Vec<(f64, String)>,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name; that of a solid line is in the legend.
    pub name: String,
    /// Its colour and marker, below [`SERIES_MAX`].
    pub series: usize,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A roofline: points below a slope, which is a bandwidth, and a level, which is a rate of arithmetic.
#[derive(Clone, Debug)]
pub struct Roofline {
    /// The name.
    pub caption: Caption,
    /// 10^9 bytes per second.
    pub bandwidth_gb_s: f64,
    /// 10^9 operations per second.
    pub rate_gflop_s: f64,
    /// Name, operations per byte, 10^9 operations per second.
    pub points: Vec<(String, f64, f64)>,
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
const DRAWN: &str = "a string takes every drawing";

/// The drawing: plotters' backend, with our colours.
struct Canvas<'a>(SVGBackend<'a>);

impl Canvas<'_> {
    fn path(&mut self, points: &[(f64, f64)], ink: Ink, width: u32) {
        let style = ShapeStyle { color: ink.stand_in().into(), filled: false, stroke_width: width };
        self.0.draw_path(points.iter().map(|point| pixel(*point)), &style).expect(DRAWN);
    }

    fn area(&mut self, points: &[(f64, f64)], ink: Ink) {
        self.0
            .fill_polygon(points.iter().map(|point| pixel(*point)), &ink.stand_in())
            .expect(DRAWN);
    }

    fn rectangle(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64), ink: Ink) {
        self.area(&[(left, top), (right, top), (right, bottom), (left, bottom)], ink);
    }

    /// A box of diagonals: what is not ours.
    fn hatched(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64), ink: Ink) {
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

    fn text(&mut self, text: &str, at: (f64, f64), side: HPos) {
        let size = f64::from(FONT) * 1.24;
        let style = ("sans-serif", size)
            .into_text_style(&(WIDTH as u32, WIDTH as u32))
            .pos(Pos::new(side, VPos::Center));
        self.0.draw_text(text, &style, pixel(at)).expect(DRAWN);
    }

    /// The marker of a series.
    fn marker(&mut self, series: usize, (x, y): (f64, f64), ink: Ink) {
        let r = 10.0;
        match series % SERIES_MAX {
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
    fn mark(&mut self, index: usize, (x, y): (f64, f64)) {
        let r = 13.0;
        let diamond = [(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
        let square = [(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)];
        let outline = if index.is_multiple_of(2) { diamond } else { square };
        self.area(&outline, Ink::Paper);
        self.path(&[&outline[..], &outline[..1]].concat(), Ink::Series(mark_series(index)), 5);
    }
}

/// The colour of the n-th mark: not that of the bars.
fn mark_series(index: usize) -> u8 {
    (1 + index % (SERIES_MAX - 1)) as u8
}

fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

/// The width of a text, about: the letters of a wide font, DejaVu Sans.
fn width_of(text: &str) -> f64 {
    let parts_of_height = text.chars().map(|letter| match letter {
        'm' | 'w' | 'M' | 'W' => 0.95,
        'A'..='Z' => 0.72,
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | ' ' | '.' | ',' | ':' => 0.4,
        _ => 0.62,
    });
    parts_of_height.sum::<f64>() * f64::from(FONT)
}

/// What shows its meaning under a pointer: where, how large, and what it says.
type Hover = ((f64, f64), (f64, f64), String);

/// Draws, and makes the result a part of a page: with its texts, and with colours of the page's style.
fn svg(
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

/// Replaces stand-ins by the page's colours.
fn themed(drawn: &str) -> String {
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

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Round values from 0 to at most `max`.
fn linear_ticks(max: f64, most: usize) -> Vec<f64> {
    let rough = max / most as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|part| part * power).into_iter().find(|s| *s >= rough);
    let step = step.unwrap_or(max);
    (0..=most).map(|index| index as f64 * step).take_while(|value| *value <= max * 1.0001).collect()
}

/// Powers of ten in a range, with their halves and fifths when there are few.
fn log10_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let parts: &[f64] = if high < 200.0 * low { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let step = decades.clone().count() / 8 + 1;
    decades
        .step_by(step)
        .flat_map(|decade| parts.iter().map(move |part| part * 10f64.powi(decade)))
        .filter(|value| (low * 0.999..=high * 1.001).contains(value))
        .collect()
}

/// Draws bars.
pub fn bars(data: &Bars) -> String {
    let longest = data.bars.iter().map(|bar| width_of(&bar.label)).fold(0.0, f64::max);
    let left = (longest + 20.0).min(450.0);
    let right = f64::from(WIDTH) - 110.0;
    let values = data.bars.iter().flat_map(|bar| bar.marks.iter().copied().chain([bar.value]));
    let best = values.flatten().fold(0.0, f64::max);
    // A limit far away would leave no room for the bars.
    let is_near = |limit: &f64| *limit <= 8.0 * best;
    let limits = data.bars.iter().filter_map(|bar| bar.limit).filter(is_near);
    let has_limits = limits.clone().next().is_some();
    let most = limits.fold(best, f64::max).max(f64::MIN_POSITIVE) * 1.03;
    let x = |value: f64| left + (right - left) * value / most;
    let row = f64::from(LINE) + 4.0;
    let bottom = 10.0 + row * data.bars.len() as f64;
    let mut legend = vec![(Key::Bar, data.name.clone())];
    if data.bars.iter().any(|bar| bar.is_peer) {
        legend.push((Key::Peer, "peer, not ours".to_owned()));
    }
    let marks = data.marks.iter().enumerate();
    legend.extend(marks.map(|(index, name)| (Key::Mark(index), name.clone())));
    if has_limits {
        legend.push((Key::Limit, data.limit.clone()));
    }
    let (places, legend_height) = legend_places(&legend);
    let legend_top = bottom + 2.0 * f64::from(LINE) + 14.0;
    let description = bars_in_words(data);
    let hovers: Vec<Hover> = data
        .bars
        .iter()
        .enumerate()
        .map(|(index, bar)| {
            let top = 10.0 + row * index as f64;
            ((0.0, top), (f64::from(WIDTH), top + row), bar_in_words(data, bar))
        })
        .collect();
    svg(&data.caption, legend_top + legend_height, &description, &hovers, |canvas| {
        for tick in linear_ticks(most, 4) {
            canvas.path(&[(x(tick), 4.0), (x(tick), bottom)], Ink::Faint, 2);
            canvas.text(&figure(tick), (x(tick), bottom + 22.0), HPos::Center);
        }
        canvas.text(data.unit, ((left + right) / 2.0, bottom + 62.0), HPos::Center);
        for (index, bar) in data.bars.iter().enumerate() {
            let top = 10.0 + row * index as f64;
            let middle = top + row / 2.0;
            canvas.text(&bar.label, (left - 14.0, middle), HPos::Right);
            let text = bar.value.map_or_else(|| "none".to_owned(), figure);
            canvas.text(&text, (f64::from(WIDTH) - 4.0, middle), HPos::Right);
            if let Some(value) = bar.value {
                let (from, to) = ((left, top + 8.0), (x(value).max(left + 3.0), top + row - 8.0));
                match bar.is_peer {
                    true => canvas.hatched(from, to, Ink::Peer),
                    false => canvas.rectangle(from, to, Ink::Series(0)),
                }
            }
            if let Some(limit) = bar.limit.filter(is_near) {
                canvas.path(&[(x(limit), top), (x(limit), top + row)], Ink::Limit, 6);
            }
            for (index, mark) in bar.marks.iter().enumerate() {
                if let Some(mark) = mark {
                    canvas.mark(index, (x(*mark), middle));
                }
            }
        }
        canvas.path(&[(left, 4.0), (left, bottom)], Ink::Text, 2);
        draw_legend(canvas, &legend, &places, legend_top);
    })
}

fn bar_in_words(data: &Bars, bar: &Bar) -> String {
    let unit = data.unit;
    let mut text = match bar.value {
        Some(value) => format!("{}: {} {unit}", bar.label, figure(value)),
        None => format!("{}: none", bar.label),
    };
    for (name, mark) in data.marks.iter().zip(&bar.marks) {
        if let Some(mark) = mark {
            let _ = write!(text, ", {name} {} {unit}", figure(*mark));
        }
    }
    if let Some(limit) = bar.limit {
        let _ = write!(text, ", limit {} {unit}", figure(limit));
    }
    text
}

fn bars_in_words(data: &Bars) -> String {
    data.bars.iter().map(|bar| bar_in_words(data, bar)).collect::<Vec<_>>().join("; ")
}

/// What stands before a name in a legend.
#[derive(Clone, Copy)]
enum Key {
    Bar,
    Peer,
    Limit,
    Mark(usize),
    Line(usize),
    Stroke(Stroke),
}

/// Where the entries of a legend stand, and its height: as many beside each other as fit.
fn legend_places(entries: &[(Key, String)]) -> (Vec<(f64, f64)>, f64) {
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

fn draw_legend(
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

/// The frame of a plot with two axes: from data to places.
struct Frame {
    x: Span,
    y: Span,
}

/// An axis on the drawing: values from `low` to `high` lie from `from` to `to`.
struct Span {
    scale: Scale,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Span {
    fn place(&self, value: f64) -> f64 {
        let [value, low, high] = [value, self.low, self.high].map(|value| match self.scale {
            Scale::Linear => value,
            Scale::Log2 | Scale::Log10 => value.max(f64::MIN_POSITIVE).ln(),
        });
        let part = if high > low { (value - low) / (high - low) } else { 0.5 };
        self.from + (self.to - self.from) * part
    }

    fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let values = match self.scale {
            Scale::Linear => linear_ticks(self.high, most),
            Scale::Log2 | Scale::Log10 => log10_ticks(self.low, self.high),
        };
        values.into_iter().map(|value| (value, figure(value))).collect()
    }
}

impl Frame {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.place(x), self.y.place(y))
    }

    /// Draws grid, ticks and names.
    fn draw(&self, canvas: &mut Canvas<'_>, x: &[(f64, String)], y: &[(f64, String)], name: &str) {
        let (left, right, bottom, top) = (self.x.from, self.x.to, self.y.from, self.y.to);
        for (value, text) in y {
            let at = self.y.place(*value);
            canvas.path(&[(left, at), (right, at)], Ink::Faint, 2);
            canvas.text(text, (left - 12.0, at), HPos::Right);
        }
        let mut last_end = f64::NEG_INFINITY;
        for (value, text) in x {
            let at = self.x.place(*value);
            canvas.path(&[(at, bottom), (at, top)], Ink::Faint, 2);
            // A label that would touch the one before is left out.
            let half = width_of(text) / 2.0;
            if at - half > last_end + 10.0 {
                canvas.text(text, (at, bottom + 24.0), HPos::Center);
                last_end = at + half;
            }
        }
        canvas.path(&[(left, top), (left, bottom), (right, bottom)], Ink::Text, 2);
        canvas.text(name, ((left + right) / 2.0, bottom + 66.0), HPos::Center);
    }
}

/// The width of the widest tick.
fn ticks_width(ticks: &[(f64, String)]) -> f64 {
    ticks.iter().map(|(_, text)| width_of(text)).fold(0.0, f64::max)
}

/// Draws lines.
pub fn curves(data: &Curves) -> String {
    let points = || data.lines.iter().flat_map(|line| line.points.iter().copied());
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN_POSITIVE, f64::max);
    let top_value = most(&mut points().map(|point| point.1));
    let (y_low, y_high) = match data.y.scale {
        Scale::Linear => (0.0, top_value * 1.05),
        _ => (least(&mut points().map(|point| point.1)) / 1.3, top_value * 1.3),
    };
    let (bottom, top) = (470.0, 60.0);
    let y = Span { scale: data.y.scale, low: y_low, high: y_high, from: bottom, to: top };
    let y_ticks = y.ticks(5);
    let (x_low, x_high) =
        (least(&mut points().map(|point| point.0)), most(&mut points().map(|point| point.0)));
    let x_low = if data.x.scale == Scale::Linear { x_low.min(0.0) } else { x_low };
    let left = ticks_width(&y_ticks) + 30.0;
    // The last tick's text is centred on the end of the axis.
    let x_end = data.x.ticks.last().map_or(60.0, |(_, text)| width_of(text));
    let right = f64::from(WIDTH) - 24.0 - x_end / 2.0;
    let x = Span { scale: data.x.scale, low: x_low, high: x_high, from: left, to: right };
    let x_ticks = if data.x.ticks.is_empty() { x.ticks(6) } else { data.x.ticks.clone() };
    let frame = Frame { x, y };

    let solid = data.lines.iter().filter(|line| line.stroke == Stroke::Solid);
    let mut legend: Vec<_> =
        solid.map(|line| (Key::Line(line.series), line.name.clone())).collect();
    let is_there = |stroke: Stroke| data.lines.iter().any(|line| line.stroke == stroke);
    let strokes = data.strokes.iter().filter(|(stroke, _)| is_there(*stroke));
    legend.extend(strokes.map(|(stroke, name)| (Key::Stroke(*stroke), name.clone())));
    let (places, legend_height) = legend_places(&legend);
    let legend_top = bottom + 2.0 * f64::from(LINE) + 20.0;
    let in_words = |line: &Line, (x, y): (f64, f64)| {
        format!("{} at {}: {} {}", line.name, amount(x), figure(y), data.y.name)
    };
    let hovers: Vec<Hover> = data
        .lines
        .iter()
        .flat_map(|line| line.points.iter().map(move |point| (line, *point)))
        .map(|(line, point)| {
            let (x, y) = frame.place(point);
            ((x - 16.0, y - 16.0), (x + 16.0, y + 16.0), in_words(line, point))
        })
        .collect();
    svg(&data.caption, legend_top + legend_height, &curves_in_words(data), &hovers, |canvas| {
        canvas.text(&data.y.name, (8.0, 24.0), HPos::Left);
        frame.draw(canvas, &x_ticks, &y_ticks, &data.x.name);
        for line in &data.lines {
            let points: Vec<_> = line.points.iter().map(|point| frame.place(*point)).collect();
            let ink = match line.stroke {
                Stroke::Solid => Ink::Series,
                Stroke::Dashed => Ink::Dashed,
                Stroke::Dotted => Ink::Dotted,
            };
            canvas.path(&points, ink(line.series as u8), 5);
            if line.stroke == Stroke::Solid {
                // Of very many points only some get a marker.
                for point in points.into_iter().step_by(line.points.len().div_ceil(24)) {
                    canvas.marker(line.series, point, Ink::Series(line.series as u8));
                }
            }
        }
        draw_legend(canvas, &legend, &places, legend_top);
    })
}

fn curves_in_words(data: &Curves) -> String {
    let mut text = format!("{} over {}.", data.y.name, data.x.name);
    for line in &data.lines {
        let points = line.points.iter().map(|(x, y)| format!("{} at {}", figure(*y), amount(*x)));
        let _ = write!(text, " {}: {}.", line.name, points.collect::<Vec<_>>().join(", "));
    }
    text
}

/// Draws a roofline; the points carry their numbers in the order given, counted from 1.
pub fn roofline(data: &Roofline) -> String {
    let ridge = data.rate_gflop_s / data.bandwidth_gb_s;
    let least =
        |at: fn(&(String, f64, f64)) -> f64, or: f64| data.points.iter().map(at).fold(or, f64::min);
    let most =
        |at: fn(&(String, f64, f64)) -> f64, or: f64| data.points.iter().map(at).fold(or, f64::max);
    let (x_low, x_high) = (least(|point| point.1, ridge) / 2.0, most(|point| point.1, ridge) * 4.0);
    let (y_low, y_high) = (
        least(|point| point.2, data.rate_gflop_s / 10.0) / 2.0,
        most(|point| point.2, data.rate_gflop_s) * 2.0,
    );
    let (bottom, top) = (600.0, 60.0);
    let y = Span { scale: Scale::Log10, low: y_low, high: y_high, from: bottom, to: top };
    let y_ticks = y.ticks(5);
    let (left, right) = (ticks_width(&y_ticks) + 30.0, f64::from(WIDTH) - 30.0);
    let x = Span { scale: Scale::Log10, low: x_low, high: x_high, from: left, to: right };
    let x_ticks = x.ticks(6);
    let frame = Frame { x, y };
    let hovers: Vec<Hover> = data
        .points
        .iter()
        .map(|(name, intensity, rate)| {
            let (x, y) = frame.place((*intensity, *rate));
            let text = format!("{name}: {} FLOP/B, {} GFLOP/s", figure(*intensity), figure(*rate));
            ((x - 16.0, y - 16.0), (x + 16.0, y + 16.0), text)
        })
        .collect();
    let mut description = format!(
        "GFLOP/s over FLOP per byte; roofs: {} GB/s and {} GFLOP/s, which meet at {} FLOP per byte.",
        figure(data.bandwidth_gb_s),
        figure(data.rate_gflop_s),
        figure(ridge)
    );
    for (_, _, text) in &hovers {
        let _ = write!(description, " {text}.");
    }
    svg(&data.caption, bottom + 100.0, &description, &hovers, |canvas| {
        canvas.text("GFLOP/s", (8.0, 24.0), HPos::Left);
        frame.draw(canvas, &x_ticks, &y_ticks, "FLOP per byte of device memory");
        let start = (y_low / data.bandwidth_gb_s).max(x_low);
        let roof = [
            (start, start * data.bandwidth_gb_s),
            (ridge, data.rate_gflop_s),
            (x_high, data.rate_gflop_s),
        ];
        canvas.path(&roof.map(|point| frame.place(point)), Ink::Limit, 6);
        // Above the roof there is nothing.
        let slope = format!("slope: {} GB/s", figure(data.bandwidth_gb_s));
        let level = format!("level: {} GFLOP/s", figure(data.rate_gflop_s));
        canvas.text(&slope, (left + 14.0, top + 26.0), HPos::Left);
        canvas.text(&level, (left + 14.0, top + 26.0 + f64::from(LINE)), HPos::Left);
        for (x, y, numbers) in clusters(data, &frame) {
            canvas.text(&numbers, (x + 18.0, y), HPos::Left);
        }
        for (_, intensity, rate) in &data.points {
            canvas.marker(0, frame.place((*intensity, *rate)), Ink::Series(0));
        }
    })
}

/// The numbers of points, one text for all that lie too near to each other to have their own: such as `3, 5–8`.
fn clusters(data: &Roofline, frame: &Frame) -> Vec<(f64, f64, String)> {
    let mut clusters: Vec<(f64, f64, Vec<usize>)> = Vec::new();
    for (index, (_, intensity, rate)) in data.points.iter().enumerate() {
        let (x, y) = frame.place((*intensity, *rate));
        let near =
            clusters.iter_mut().find(|(a, b, _)| (a - x).abs() < 60.0 && (b - y).abs() < 34.0);
        match near {
            Some((right, _, numbers)) => {
                *right = right.max(x);
                numbers.push(index + 1);
            }
            None => clusters.push((x, y, vec![index + 1])),
        }
    }
    clusters.into_iter().map(|(x, y, numbers)| (x, y, ranges(&numbers))).collect()
}

/// Ascending numbers in words: `1, 3–5`.
fn ranges(numbers: &[usize]) -> String {
    let parts = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        _ => format!("{}–{}", run[0], run[run.len() - 1]),
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caption() -> Caption {
        Caption { id: "p".to_owned(), title: "a <b>".to_owned() }
    }

    #[test]
    fn figures_have_four_digits_that_count() {
        let shown = [0.0, 0.001_234_56, 0.5, 1.0, 12.345_6, 999.96, 4261.4, 1e6].map(figure);
        assert_eq!(shown, ["0", "0.001235", "0.5", "1", "12.35", "1000", "4261", "1000000"]);
        assert_eq!([64.0, 8192.0, 1_048_576.0, 5000.0].map(amount), ["64", "2¹³", "2²⁰", "5000"]);
    }

    #[test]
    fn numbers_are_ranges() {
        assert_eq!(ranges(&[1, 3, 4, 5, 8]), "1, 3–5, 8");
    }

    #[test]
    fn ticks_cover_the_axis_with_round_values() {
        assert_eq!(linear_ticks(4400.0, 4), [0.0, 2000.0, 4000.0]);
        assert_eq!(log10_ticks(0.3, 30.0), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
    }

    #[test]
    fn a_plot_has_its_texts_its_figures_and_no_fixed_colour() {
        let bar = |label: &str, value, is_peer| Bar {
            label: label.to_owned(),
            value,
            is_peer,
            limit: Some(4000.0),
            marks: vec![Some(3000.0)],
        };
        let svg = bars(&Bars {
            caption: caption(),
            unit: "GB/s",
            bars: vec![
                bar("x", Some(2500.0), false),
                bar("y", None, false),
                bar("z", Some(9.0), true),
            ],
            name: "measured".to_owned(),
            marks: vec!["predicted".to_owned()],
            limit: "device copy".to_owned(),
        });
        assert!(svg.contains("<title id=\"p-title\">a &lt;b&gt;</title>"), "{svg}");
        assert!(
            svg.contains("x: 2500 GB/s, predicted 3000 GB/s, limit 4000 GB/s; y: none"),
            "{svg}"
        );
        assert!(!svg.contains("\"#"), "{svg}");
        assert!(svg.contains("var(--series-0)") && svg.contains("currentColor"), "{svg}");
        assert_eq!(svg.matches("<svg").count(), 1);
        assert_eq!(svg.matches("</svg>").count(), 1);
    }

    #[test]
    fn lines_lie_inside_the_drawing() {
        let line = |series, stroke| Line {
            name: format!("line {series}"),
            series,
            stroke,
            points: vec![(1.0, 1e-3), (1024.0, 40.0), (1_048_576.0, 4000.0)],
        };
        for scale in [Scale::Linear, Scale::Log10] {
            let svg = curves(&Curves {
                caption: caption(),
                x: Axis { name: "n".to_owned(), scale: Scale::Log2, ticks: Vec::new() },
                y: Axis { name: "GB/s".to_owned(), scale, ticks: Vec::new() },
                lines: (0..SERIES_MAX)
                    .flat_map(|n| {
                        [line(n, Stroke::Solid), line(n, Stroke::Dashed), line(n, Stroke::Dotted)]
                    })
                    .collect(),
                strokes: vec![(Stroke::Dashed, "predicted".to_owned())],
            });
            assert!(
                svg.contains("stroke-dasharray")
                    && svg.contains("line 5: 0.001 at 1, 40 at 1024, 4000 at 2²⁰"),
                "{svg}"
            );
            let outside = svg.split("points=\"").skip(1).any(|rest| {
                let points = rest.split('"').next().unwrap_or_default();
                points.split([',', ' ']).any(|number| number.starts_with('-'))
            });
            assert!(!outside, "{svg}");
        }
    }
}
