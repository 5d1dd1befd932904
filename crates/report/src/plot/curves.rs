//! Lines over a dimension, and the frame of plots with two axes.

use super::canvas::{
    Anchor, Canvas, Caption, Hover, Ink, Key, LINE, Stroke, WIDTH, amount, draw_legend, figure,
    legend_places, linear_ticks, log10_ticks, svg, width_of,
};
use std::fmt::Write;

/// Division of an axis.
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
    /// Axis to the right.
    pub x: Axis,
    /// Axis upwards.
    pub y: Axis,
    /// The lines; at most [`MAX_SERIES`](super::MAX_SERIES) of different series.
    pub lines: Vec<Curve>,
    /// Meanings of the lines that are not solid.
    pub strokes: Vec<(Stroke, String)>,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Name of the quantity, with its unit.
    pub name: String,
    /// Division of the axis.
    pub scale: Scale,
    /// The values that get a tick; none: chosen here.
    pub ticks: Vec<(f64, String)>,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name; that of a solid line is in the legend.
    pub name: String,
    /// Its colour and marker, below [`MAX_SERIES`](super::MAX_SERIES).
    pub series: usize,
    /// Style of the line.
    pub stroke: Stroke,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Draws lines.
pub fn curves(data: &Curves) -> String {
    let (frame, x_ticks, y_ticks) = frame(data);
    let solid = data.lines.iter().filter(|line| line.stroke == Stroke::Solid);
    let mut legend: Vec<_> =
        solid.map(|line| (Key::Line(line.series), line.name.clone())).collect();
    let is_there = |stroke: Stroke| data.lines.iter().any(|line| line.stroke == stroke);
    let strokes = data.strokes.iter().filter(|(stroke, _)| is_there(*stroke));
    legend.extend(strokes.map(|(stroke, name)| (Key::Stroke(*stroke), name.clone())));
    let (places, legend_height) = legend_places(&legend, WIDTH);
    let legend_top = frame.y.from + 2.0 * f64::from(LINE) + 20.0;
    let in_words = |line: &Curve, (x, y): (f64, f64)| {
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
    svg(
        &data.caption,
        (WIDTH, legend_top + legend_height),
        &curves_in_words(data),
        &hovers,
        |canvas| {
            canvas.text(&data.y.name, (8.0, 24.0), Anchor::Start);
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
        },
    )
}

/// An axis' ticks: values and their texts.
type Ticks = Vec<(f64, String)>;

/// The frame that holds all lines, and the ticks of its axes.
fn frame(data: &Curves) -> (Frame, Ticks, Ticks) {
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
    (Frame { x, y }, x_ticks, y_ticks)
}

fn curves_in_words(data: &Curves) -> String {
    let mut text = format!("{} over {}.", data.y.name, data.x.name);
    for line in &data.lines {
        let points = line.points.iter().map(|(x, y)| format!("{} at {}", figure(*y), amount(*x)));
        let _ = write!(text, " {}: {}.", line.name, points.collect::<Vec<_>>().join(", "));
    }
    text
}

/// The frame of a plot with two axes: from data to places.
pub struct Frame {
    pub x: Span,
    pub y: Span,
}

/// An axis on the drawing: values from `low` to `high` lie from `from` to `to`.
pub struct Span {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
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

    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let values = match self.scale {
            Scale::Linear => linear_ticks(self.high, most),
            Scale::Log2 | Scale::Log10 => log10_ticks(self.low, self.high),
        };
        values.into_iter().map(|value| (value, figure(value))).collect()
    }
}

impl Frame {
    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.place(x), self.y.place(y))
    }

    /// Draws grid, ticks and names.
    pub fn draw(&self, canvas: &mut Canvas, x: &[(f64, String)], y: &[(f64, String)], name: &str) {
        let (left, right, bottom, top) = (self.x.from, self.x.to, self.y.from, self.y.to);
        for (value, text) in y {
            let at = self.y.place(*value);
            canvas.path(&[(left, at), (right, at)], Ink::Faint, 2);
            canvas.text(text, (left - 12.0, at), Anchor::End);
        }
        let mut last_end = f64::NEG_INFINITY;
        for (value, text) in x {
            let at = self.x.place(*value);
            canvas.path(&[(at, bottom), (at, top)], Ink::Faint, 2);
            // A label that would touch the one before is left out.
            let half = width_of(text) / 2.0;
            if at - half > last_end + 10.0 {
                canvas.text(text, (at, bottom + 24.0), Anchor::Middle);
                last_end = at + half;
            }
        }
        canvas.path(&[(left, top), (left, bottom), (right, bottom)], Ink::Text, 2);
        canvas.text(name, ((left + right) / 2.0, bottom + 66.0), Anchor::Middle);
    }
}

/// The width of the widest tick.
pub fn ticks_width(ticks: &[(f64, String)]) -> f64 {
    ticks.iter().map(|(_, text)| width_of(text)).fold(0.0, f64::max)
}
