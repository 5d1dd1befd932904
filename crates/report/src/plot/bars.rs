use super::canvas::{
    Anchor, Canvas, Caption, Hover, Ink, Key, LINE, WIDTH, draw_legend, figure, legend_places,
    linear_ticks, svg, width_of,
};
use std::fmt::Write;

/// Above the first bar.
const TOP: f64 = 10.0;
/// From a bar to the next.
const ROW: f64 = LINE as f64 + 4.0;

/// Bars, one below the other.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The name.
    pub caption: Caption,
    /// Unit of the lengths.
    pub unit: &'static str,
    /// From top to bottom.
    pub bars: Vec<Bar>,
    /// Name of the bars in the legend.
    pub name: String,
    /// Names of the marks in the legend, in the order of [`Bar::marks`].
    pub marks: Vec<String>,
    /// Name of the limits in the legend.
    pub peak: String,
}

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Left of it.
    pub label: String,
    /// Its length, if there is one.
    pub value: Option<f64>,
    /// Beginning and end of the middle half of the samples.
    pub spread: Option<(f64, f64)>,
    /// True when it is not ours: it is hatched.
    pub is_peer: bool,
    /// The best it could be.
    pub peak: Option<f64>,
    /// Other sources' figures of it.
    pub marks: Vec<Option<f64>>,
    /// The mark that misses the value by more than a third: a prediction that is not to be relied on.
    pub missed: Option<usize>,
}

/// Draws bars.
pub fn bars(data: &Bars) -> String {
    let longest = data.bars.iter().map(|bar| width_of(&bar.label)).fold(0.0, f64::max);
    let left = (longest + 20.0).min(450.0);
    let right = f64::from(WIDTH) - 110.0;
    let values = data.bars.iter().flat_map(|bar| {
        let end = bar.spread.map(|(_, end)| end);
        bar.marks.iter().copied().chain([bar.value, end])
    });
    let best = values.flatten().fold(0.0, f64::max);
    // A limit far away would leave no room for the bars.
    let is_near = |peak: &f64| *peak <= 8.0 * best;
    let peaks = data.bars.iter().filter_map(|bar| bar.peak).filter(is_near);
    let has_limits = peaks.clone().next().is_some();
    let most = peaks.fold(best, f64::max).max(f64::MIN_POSITIVE) * 1.03;
    let x = |value: f64| left + (right - left) * value / most;
    let bottom = TOP + ROW * data.bars.len() as f64;
    let mut legend = vec![(Key::Bar, data.name.clone())];
    if data.bars.iter().any(|bar| bar.is_peer) {
        legend.push((Key::Peer, "peer, not ours".to_owned()));
    }
    let marks = data.marks.iter().enumerate();
    legend.extend(marks.map(|(index, name)| (Key::Mark(index), name.clone())));
    if data.bars.iter().any(|bar| bar.missed.is_some()) {
        legend.push((Key::Missed, "it misses by more than a third".to_owned()));
    }
    if data.bars.iter().any(is_spread_seen) {
        legend.push((Key::Spread, "middle half of the samples".to_owned()));
    }
    if has_limits {
        legend.push((Key::Peak, data.peak.clone()));
    }
    let (places, legend_height) = legend_places(&legend, WIDTH);
    let legend_top = bottom + 2.0 * f64::from(LINE) + 14.0;
    let description = bars_in_words(data);
    let hovers: Vec<Hover> = data
        .bars
        .iter()
        .enumerate()
        .map(|(index, bar)| {
            let top = TOP + ROW * index as f64;
            ((0.0, top), (f64::from(WIDTH), top + ROW), bar_in_words(data, bar))
        })
        .collect();
    svg(&data.caption, (WIDTH, legend_top + legend_height), &description, &hovers, |canvas| {
        for tick in linear_ticks(most, 4) {
            canvas.path(&[(x(tick), 4.0), (x(tick), bottom)], Ink::Faint, 2);
            canvas.text(&figure(tick), (x(tick), bottom + 22.0), Anchor::Middle);
        }
        canvas.text(data.unit, ((left + right) / 2.0, bottom + 62.0), Anchor::Middle);
        for (index, bar) in data.bars.iter().enumerate() {
            let top = TOP + ROW * index as f64;
            let peak = bar.peak.filter(is_near);
            draw_bar(canvas, bar, peak, top, left, x);
        }
        canvas.path(&[(left, 4.0), (left, bottom)], Ink::Text, 2);
        draw_legend(canvas, &legend, &places, legend_top);
    })
}

/// Draws a bar with its label, its figure, its limit and its marks.
fn draw_bar(
    canvas: &mut Canvas,
    bar: &Bar,
    peak: Option<f64>,
    top: f64,
    left: f64,
    x: impl Fn(f64) -> f64,
) {
    let middle = top + ROW / 2.0;
    canvas.text(&bar.label, (left - 14.0, middle), Anchor::End);
    let text = bar.value.map_or_else(|| "none".to_owned(), figure);
    canvas.text(&text, (f64::from(WIDTH) - 4.0, middle), Anchor::End);
    if let Some(value) = bar.value {
        let (from, to) = ((left, top + 8.0), (x(value).max(left + 3.0), top + ROW - 8.0));
        match bar.is_peer {
            true => canvas.hatched(from, to, Ink::Peer),
            false => canvas.rectangle(from, to, Ink::Series(0)),
        }
    }
    if let Some(peak) = peak {
        canvas.path(&[(x(peak), top), (x(peak), top + ROW)], Ink::Peak, 6);
    }
    if let Some((low, high)) = bar.spread.filter(|_| is_spread_seen(bar)) {
        canvas.spread((x(low), x(high)), middle);
    }
    for (index, mark) in bar.marks.iter().enumerate() {
        let Some(mark) = mark else { continue };
        match bar.missed {
            Some(missed) if missed == index => canvas.missed(index, (x(*mark), middle)),
            _ => canvas.mark(index, (x(*mark), middle)),
        }
    }
}

/// Returns whether a spread is wide enough to be drawn: 2 % of its bar.
fn is_spread_seen(bar: &Bar) -> bool {
    let width = bar.spread.zip(bar.value).map(|((low, high), value)| (high - low) / value);
    width.is_some_and(|part| part > 0.02)
}

fn bar_in_words(data: &Bars, bar: &Bar) -> String {
    let unit = data.unit;
    let mut text = match bar.value {
        Some(value) => format!("{}: {} {unit}", bar.label, figure(value)),
        None => format!("{}: none", bar.label),
    };
    for (index, (name, mark)) in data.marks.iter().zip(&bar.marks).enumerate() {
        if let Some(mark) = mark {
            let missed =
                if bar.missed == Some(index) { " (misses by more than a third)" } else { "" };
            let _ = write!(text, ", {name} {} {unit}{missed}", figure(*mark));
        }
    }
    if let Some(peak) = bar.peak {
        let _ = write!(text, ", measured peak {} {unit}", figure(peak));
    }
    text
}

fn bars_in_words(data: &Bars) -> String {
    data.bars.iter().map(|bar| bar_in_words(data, bar)).collect::<Vec<_>>().join("; ")
}
