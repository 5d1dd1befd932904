use super::canvas::{
    Anchor, Caption, Hover, Ink, Key, LINE, MAX_SERIES, WIDE, draw_legend, figure, legend_places,
    svg,
};
use super::curves::{Frame, Scale, Span, ticks_width};
use std::fmt::Write;

/// A roofline: points below a slope, which is a bandwidth, and a level, which is a rate of arithmetic.
#[derive(Clone, Debug)]
pub struct Roofline {
    /// The name.
    pub caption: Caption,
    /// 10^9 bytes per second.
    pub bandwidth_gb_s: f64,
    /// 10^9 operations per second.
    pub rate_gflop_s: f64,
    /// The same of tensor cores, if some point is theirs.
    pub tensor_gflop_s: Option<f64>,
    /// In the order of their numbers.
    pub points: Vec<Point>,
}

/// A point of a roofline.
#[derive(Clone, Debug)]
pub struct Point {
    /// Such as `matmul/naive`.
    pub name: String,
    /// Group with a colour and a marker of its own, such as `matmul`.
    pub group: String,
    /// Operations per byte.
    pub intensity: f64,
    /// 10^9 operations per second.
    pub gflop_s: f64,
}

/// At least the width of a character and the height of a line.
const CHARACTER: (f64, f64) = (17.0, 34.0);
/// The most characters of a point's text.
const CHARACTERS: usize = 12;
/// Between a point and its text.
const GAP: f64 = 18.0;
/// Width of a point and the longest text.
const LONGEST_TEXT: f64 = GAP + CHARACTERS as f64 * CHARACTER.0;

/// Draws a roofline; the points carry their numbers in the order given, counted from 1.
pub fn roofline(data: &Roofline) -> String {
    let ridge = data.rate_gflop_s / data.bandwidth_gb_s;
    let highest = data.tensor_gflop_s.unwrap_or(0.0).max(data.rate_gflop_s);
    let least = |at: fn(&Point) -> f64, or: f64| data.points.iter().map(at).fold(or, f64::min);
    let most = |at: fn(&Point) -> f64, or: f64| data.points.iter().map(at).fold(or, f64::max);
    let (x_low, x_last) = (
        least(|point| point.intensity, ridge) / 2.0,
        most(|point| point.intensity, highest / data.bandwidth_gb_s),
    );
    let y_low = least(|point| point.gflop_s, data.rate_gflop_s / 10.0) / 2.0;
    let (bottom, top) = (600.0, 60.0);
    // Above the roof there is nothing but the peaks' texts.
    let lines = if data.tensor_gflop_s.is_some() { 3.0 } else { 2.0 };
    let room = (lines * f64::from(LINE) + CHARACTER.1) / (bottom - top);
    let y_high = with_room(y_low, most(|point| point.gflop_s, highest), room);
    let y = Span { scale: Scale::Log10, low: y_low, high: y_high, from: bottom, to: top };
    let y_ticks = y.ticks(5);
    let (left, right) = (ticks_width(&y_ticks) + 30.0, f64::from(WIDE) - 30.0);
    // Beside the last point there is room for its text.
    let room = LONGEST_TEXT / (right - left);
    let x_high = with_room(x_low, x_last, room);
    let x = Span { scale: Scale::Log10, low: x_low, high: x_high, from: left, to: right };
    let x_ticks = x.ticks(6);
    let frame = Frame { x, y };
    let hovers: Vec<Hover> = data
        .points
        .iter()
        .map(|Point { name, intensity, gflop_s, .. }| {
            let (x, y) = frame.place((*intensity, *gflop_s));
            let (intensity, rate) = (figure(*intensity), figure(*gflop_s));
            let text = format!("{name}: {intensity} FLOP/B, {rate} GFLOP/s");
            ((x - 16.0, y - 16.0), (x + 16.0, y + 16.0), text)
        })
        .collect();
    let mut description = format!(
        "GFLOP/s over FLOP per byte; peaks: {} GB/s and {} GFLOP/s, which meet at {} FLOP per byte.",
        figure(data.bandwidth_gb_s),
        figure(data.rate_gflop_s),
        figure(ridge)
    );
    if let Some(rate) = data.tensor_gflop_s {
        let _ = write!(description, " Tensor cores: {} GFLOP/s.", figure(rate));
    }
    for (_, _, text) in &hovers {
        let _ = write!(description, " {text}.");
    }
    let groups = groups(&data.points);
    let legend: Vec<(Key, String)> = groups
        .iter()
        .enumerate()
        .map(|(index, group)| (Key::Point(marker(index), colour(index)), (*group).to_owned()))
        .collect();
    let (places, legend_height) = legend_places(&legend, WIDE);
    let legend_top = bottom + 2.0 * f64::from(LINE) + 20.0;
    svg(&data.caption, (WIDE, legend_top + legend_height), &description, &hovers, |canvas| {
        canvas.text("GFLOP/s", (8.0, 24.0), Anchor::Start);
        frame.draw(canvas, &x_ticks, &y_ticks, "FLOP per byte of device memory");
        let start = (y_low / data.bandwidth_gb_s).max(x_low);
        let roof = [
            (start, start * data.bandwidth_gb_s),
            (ridge, data.rate_gflop_s),
            (x_high, data.rate_gflop_s),
        ];
        canvas.path(&roof.map(|point| frame.place(point)), Ink::Peak, 6);
        if let Some(rate) = data.tensor_gflop_s {
            let ridge_of_tensors = rate / data.bandwidth_gb_s;
            let above = [(ridge, data.rate_gflop_s), (ridge_of_tensors, rate), (x_high, rate)];
            canvas.path(&above.map(|point| frame.place(point)), Ink::Peak, 3);
            let level = format!("level of tensor cores: {} GFLOP/s", figure(rate));
            canvas.text(&level, (left + 14.0, top + 26.0 + 2.0 * f64::from(LINE)), Anchor::Start);
        }
        let slope = format!("slope: {} GB/s", figure(data.bandwidth_gb_s));
        let level = format!("level: {} GFLOP/s", figure(data.rate_gflop_s));
        canvas.text(&slope, (left + 14.0, top + 26.0), Anchor::Start);
        canvas.text(&level, (left + 14.0, top + 26.0 + f64::from(LINE)), Anchor::Start);
        for (x, y, numbers) in clusters(data, &frame) {
            canvas.text(&numbers, (x + GAP, y), Anchor::Start);
        }
        for point in &data.points {
            let index = groups.iter().position(|group| *group == point.group).unwrap_or(0);
            let place = frame.place((point.intensity, point.gflop_s));
            canvas.marker(marker(index), place, Ink::Series(colour(index) as u8));
        }
        draw_legend(canvas, &legend, &places, legend_top);
    })
}

/// The groups of points, in their order.
fn groups(points: &[Point]) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for point in points {
        if !groups.contains(&point.group.as_str()) {
            groups.push(&point.group);
        }
    }
    groups
}

fn colour(index: usize) -> usize {
    index % MAX_SERIES
}

/// The marker of the n-th group: groups of one colour have different ones.
fn marker(index: usize) -> usize {
    (index + index / MAX_SERIES) % MAX_SERIES
}

/// The upper end of a logarithmic axis with such a share of it free behind the last value.
fn with_room(low: f64, last: f64, share: f64) -> f64 {
    last * (last / low).powf(share / (1.0 - share))
}

/// The numbers of points, one text for all that lie too near to each other to have their own: such as `3, 5–8`.
fn clusters(data: &Roofline, frame: &Frame) -> Vec<(f64, f64, String)> {
    let mut clusters: Vec<(f64, f64, Vec<usize>)> = Vec::new();
    for (index, point) in data.points.iter().enumerate() {
        let (x, y) = frame.place((point.intensity, point.gflop_s));
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
    // A long text may reach the next one: then both become one, until none does.
    while let Some((one, other)) = overlap(&clusters) {
        let (x, _, numbers) = clusters.remove(other);
        let (right, _, all) = &mut clusters[one];
        *right = right.max(x);
        all.extend(numbers);
        all.sort_unstable();
    }
    clusters.into_iter().map(|(x, y, numbers)| (x, y, label(&numbers))).collect()
}

/// Two clusters, the later one second, whose texts would cover each other.
fn overlap(clusters: &[(f64, f64, Vec<usize>)]) -> Option<(usize, usize)> {
    let width = |numbers: &[usize]| CHARACTER.0 * label(numbers).chars().count() as f64;
    let pairs =
        (0..clusters.len()).flat_map(|one| (one + 1..clusters.len()).map(move |b| (one, b)));
    pairs.into_iter().find(|(one, other)| {
        let ((a, b, left), (x, y, right)) = (&clusters[*one], &clusters[*other]);
        (b - y).abs() < CHARACTER.1 && *a < x + width(right) && *x < a + width(left)
    })
}

/// The text of a cluster: the numbers, or how many there are.
fn label(numbers: &[usize]) -> String {
    let text = ranges(numbers);
    if text.chars().count() <= CHARACTERS { text } else { format!("{} variants", numbers.len()) }
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

    #[test]
    fn numbers_are_ranges() {
        assert_eq!(ranges(&[1, 3, 4, 5, 8]), "1, 3–5, 8");
    }

    #[test]
    fn the_last_points_text_lies_in_the_picture() {
        // Eleven points, too far apart to be one range, at the level of the tensor cores: `11 variants`.
        let points = (0..21).map(|n| Point {
            name: n.to_string(),
            group: (n % 14).to_string(),
            intensity: 1e3,
            gflop_s: if n % 2 == 0 { 7e5 } else { 1.0 },
        });
        let data = Roofline {
            caption: Caption { id: "test".to_owned(), title: "test".to_owned() },
            bandwidth_gb_s: 4e3,
            rate_gflop_s: 6e4,
            tensor_gflop_s: Some(8e5),
            points: points.collect(),
        };
        let picture = roofline(&data);
        let text = picture.split("<text ").find(|text| text.contains("11 variants")).unwrap();
        let x = text.split("x=\"").nth(1).unwrap().split('"').next().unwrap();
        let end = x.parse::<f64>().unwrap() + CHARACTER.0 * "11 variants".len() as f64;
        assert!(end <= f64::from(WIDE), "{end}");
    }

    #[test]
    fn groups_are_told_apart() {
        let mut seen: Vec<_> = (0..36).map(|index| (colour(index), marker(index))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 36);
    }

    #[test]
    fn texts_that_would_cover_each_other_are_found() {
        let text = |x: f64, y: f64, last| (x, y, (1..=last).step_by(2).collect::<Vec<usize>>());
        // `1, 3, 5, 7` is 10 characters, 170 wide.
        assert_eq!(overlap(&[text(0.0, 0.0, 7), text(160.0, 10.0, 1)]), Some((0, 1)));
        assert_eq!(overlap(&[text(0.0, 0.0, 7), text(180.0, 10.0, 1)]), None);
        assert_eq!(overlap(&[text(0.0, 0.0, 7), text(160.0, 40.0, 1)]), None);
        assert_eq!(label(&[1, 3, 5, 7, 9]), "5 variants");
    }
}
