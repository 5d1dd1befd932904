//! A ladder as a small strip of columns, to be read at a glance among many others.

use super::canvas::{Canvas, Caption, Ink, svg};

/// A ladder: a column per variant, in order.
#[derive(Clone, Debug)]
pub struct Strip {
    /// The name.
    pub caption: Caption,
    /// Unit of the heights, such as `% of peak`.
    pub unit: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// The variant.
    pub name: String,
    /// Its height, percent; none: not measured.
    pub percent: Option<f64>,
}

/// Width and height of the drawing, and the height of 100 %.
const SIZE: (i32, f64) = (400, 110.0);
const FULL: f64 = 96.0;

/// Draws a ladder.
pub fn strip(data: &Strip) -> String {
    let pitch = (f64::from(SIZE.0) / data.columns.len().max(1) as f64).min(60.0);
    let bottom = SIZE.1 - 2.0;
    let best = data.columns.iter().filter_map(|column| column.percent).fold(0.0, f64::max);
    let in_words = |column: &Column| match column.percent {
        Some(percent) => format!("{}: {percent:.0} {}", column.name, data.unit),
        None => format!("{}: 0 samples", column.name),
    };
    let hovers = data.columns.iter().enumerate().map(|(index, column)| {
        let left = pitch * index as f64;
        ((left, 0.0), (left + pitch, SIZE.1), in_words(column))
    });
    let hovers: Vec<_> = hovers.collect();
    let description = data.columns.iter().map(in_words).collect::<Vec<_>>().join("; ");
    svg(&data.caption, SIZE, &description, &hovers, |canvas: &mut Canvas| {
        canvas.path(&[(0.0, bottom - FULL), (f64::from(SIZE.0), bottom - FULL)], Ink::Peak, 2);
        for (index, column) in data.columns.iter().enumerate() {
            let Some(percent) = column.percent else { continue };
            let height = (FULL * percent.min(105.0) / 100.0).max(2.0);
            let left = pitch * index as f64;
            let ink = if percent == best { Ink::Series(2) } else { Ink::Series(0) };
            let gap = (pitch * 0.2).min(6.0);
            canvas.rectangle((left + gap, bottom - height), (left + pitch - gap, bottom), ink);
        }
        canvas.path(&[(0.0, bottom), (f64::from(SIZE.0), bottom)], Ink::Text, 2);
    })
}
