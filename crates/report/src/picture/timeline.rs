//! Timelines: a row per engine and per stream over an axis of microseconds.

use super::page::{
    CHARACTERS, LABELS, Page, WIDTH, box_at, bytes_in_words, group, line, rounded, text_at,
};
use results::{Engine, Interval, OperationKind, Origin, Timeline};
use std::collections::BTreeMap;
use std::ops::Range;
use svg::node::element::Element;

/// The height of a box, and from one row to the next.
const BOX: f64 = 11.0;
const PITCH: f64 = 14.0;
/// The width of a letter in a box.
const LETTER: f64 = 4.3;
/// Boxes narrower than this are drawn together with their like.
const NARROW: f64 = 1.5;
/// Intervals of an engine from which on there is a second picture of the first ones, and how many it has of the
/// device's, and of the host's, whose names are long.
const CROWD: usize = 60;
const DETAIL: usize = 10;
const HOST_DETAIL: usize = 5;
/// Ticks of the axis at most.
const MAX_TICKS: f64 = 6.0;

/// Draws a timeline; `name` is that of the variant.
pub fn draw(name: &str, timeline: &Timeline) -> String {
    draw_on(name, timeline, timeline.length_us)
}

/// The longest time for an axis that several timelines share: of those that are no more than so many times as long as
/// the one before in length, so that the shortest can still be seen.
pub fn shared_axis(timelines: &[&Timeline]) -> f64 {
    let mut lengths: Vec<f64> = timelines.iter().map(|timeline| timeline.length_us).collect();
    lengths.sort_by(f64::total_cmp);
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0.0);
    let is_near = |length: &f64| *length <= MAX_STRETCH * median;
    lengths.into_iter().filter(is_near).fold(0.0, f64::max)
}

/// Longest timeline on the axis of the others, in median lengths.
const MAX_STRETCH: f64 = 5.0;

/// Draws a timeline on an axis of so many microseconds, or a longer one if it needs that.
pub fn draw_on(name: &str, timeline: &Timeline, axis_us: f64) -> String {
    let mut page = Page::new(format!("{name}: what ran when"));
    let origin = match timeline.origin {
        Origin::Model => "Times of the model",
        Origin::Measured => "Measured, by events around each operation, which take time themselves",
    };
    page.caption(&format!("{origin}; {}.", timeline.device));
    let all: Vec<&Interval> = timeline.intervals.iter().collect();
    let axis = Scale::new(0.0..axis_us.max(timeline.length_us));
    draw_panel(&mut page, &axis, &all, "whole", timeline.origin);
    page.caption(&figures(timeline));
    if let Some(window) = crowd(timeline) {
        page.y += 4.0;
        page.caption(&format!("From {} to {} µs:", number(window.start), number(window.end)));
        let inside = |one: &&Interval| one.start_us < window.end && one.end_us > window.start;
        let some: Vec<&Interval> = timeline.intervals.iter().filter(inside).collect();
        draw_panel(&mut page, &Scale::new(window), &some, "detail", timeline.origin);
    }
    page.paragraph("caption", &legend(timeline), CHARACTERS);
    page.finish()
}

/// Returns the time of a row's first operations if it has more than can be told apart.
fn crowd(timeline: &Timeline) -> Option<Range<f64>> {
    let engines = [Engine::Host, Engine::HostToDevice, Engine::Kernel, Engine::DeviceToHost];
    let rows = engines.map(|engine| {
        let of_engine = timeline.intervals.iter().filter(|one| one.kind.engine() == Some(engine));
        of_engine.collect::<Vec<_>>()
    });
    // The device's rows say more than the host's, which waits at the end.
    let crowded = rows.into_iter().rev().find(|row| row.len() > CROWD)?;
    let is_host = crowded[0].kind.engine() == Some(Engine::Host);
    let count = if is_host { HOST_DETAIL } else { DETAIL };
    Some(crowded[0].start_us..crowded[count - 1].end_us)
}

/// Rows of engines, rows of streams, and the axis. Events tell nothing of the host.
fn draw_panel(
    page: &mut Page,
    scale: &Scale,
    intervals: &[&Interval],
    class: &str,
    origin: Origin,
) {
    let top = page.y + 15.0;
    page.y = top;
    let streams = intervals.iter().filter_map(|one| one.stream).max();
    let mut body = Vec::new();
    let is_told = |engine: &(Engine, &str)| engine.0 != Engine::Host || origin == Origin::Model;
    for (engine, label) in [
        (Engine::Host, "host"),
        (Engine::HostToDevice, "H2D"),
        (Engine::Kernel, "kernel"),
        (Engine::DeviceToHost, "D2H"),
    ]
    .into_iter()
    .filter(is_told)
    {
        let of_engine: Vec<&Interval> =
            intervals.iter().copied().filter(|one| one.kind.engine() == Some(engine)).collect();
        draw_rows(page, scale, label, &of_engine, TimelineRow::Engine, &mut body);
    }
    body.push(line("rule", [2.0, page.y], [WIDTH - 2.0, page.y]));
    page.y += 3.0;
    for stream in 0..streams.map_or(0, |last| last + 1) {
        let of_stream: Vec<&Interval> =
            intervals.iter().copied().filter(|one| one.stream == Some(stream)).collect();
        let label = format!("stream {stream}");
        draw_rows(page, scale, &label, &of_stream, TimelineRow::Stream, &mut body);
    }
    for tick in scale.ticks() {
        let x = scale.x(tick);
        page.put(line("axis", [x, top - 3.0], [x, page.y]));
        page.put(text_at("mark", x, top - 5.0, &number(tick)));
    }
    page.put(text_at("label", LABELS - 4.0, top - 5.0, "µs"));
    page.put(group(class, body));
    page.y += 2.0;
}

/// Microseconds to units.
struct Scale {
    from_us: f64,
    length_us: f64,
    step_us: f64,
}

impl Scale {
    fn new(window: Range<f64>) -> Scale {
        let length_us = window.end - window.start;
        let length_us = if length_us > 0.0 { length_us } else { 1.0 };
        let power = 10f64.powf((length_us / MAX_TICKS).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let fits = step.into_iter().find(|step| length_us / step <= MAX_TICKS);
        Scale { from_us: window.start, length_us, step_us: fits.unwrap_or(10.0 * power) }
    }

    /// The place of a time, or the nearest there is.
    fn x(&self, time_us: f64) -> f64 {
        let part = ((time_us - self.from_us) / self.length_us).clamp(0.0, 1.0);
        // Some room to the right for the last tick's number.
        LABELS + part * (WIDTH - LABELS - 12.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let first = (self.from_us / self.step_us).ceil() as usize;
        let last = ((self.from_us + self.length_us) / self.step_us) as usize;
        (first..=last).map(|tick| tick as f64 * self.step_us)
    }
}

/// Kind of a row, which decides the text of its boxes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimelineRow {
    Engine,
    Stream,
}

/// A box: one interval, or several that are too narrow to be told apart.
struct Drawn<'a> {
    first: &'a Interval,
    from: f64,
    to: f64,
    count: usize,
}

/// The intervals of an engine or a stream, in as many rows as overlap.
fn draw_rows(
    page: &mut Page,
    scale: &Scale,
    label: &str,
    intervals: &[&Interval],
    row: TimelineRow,
    body: &mut Vec<Element>,
) {
    let mut rows: Vec<Vec<&Interval>> = vec![Vec::new()];
    for interval in intervals {
        // The events' times are those of 32-bit floats of milliseconds at best.
        let is_free = |row: &&mut Vec<&Interval>| {
            row.last().is_none_or(|last| last.end_us <= interval.start_us + 1e-6)
        };
        match rows.iter_mut().find(is_free) {
            Some(row) => row.push(interval),
            None => rows.push(vec![interval]),
        }
    }
    body.push(text_at("label", LABELS - 4.0, page.y + 8.5, label));
    for intervals in rows {
        let mut boxes: Vec<Element> = Vec::new();
        for drawn in joined(scale, &intervals) {
            draw_box(page.y, &drawn, row, &mut boxes);
        }
        body.push(group("row", boxes).set("data-row", label).into());
        page.y += PITCH;
    }
}

fn joined<'a>(scale: &Scale, intervals: &[&'a Interval]) -> Vec<Drawn<'a>> {
    let mut boxes: Vec<Drawn<'a>> = Vec::new();
    for interval in intervals {
        let (from, to) = (scale.x(interval.start_us), scale.x(interval.end_us));
        if let Some(last) = boxes.last_mut()
            && class_of(&last.first.kind) == class_of(&interval.kind)
            && from - last.to < NARROW / 4.0
            && to - from < NARROW
            && (last.count > 1 || last.to - last.from < NARROW)
        {
            last.to = to;
            last.count += 1;
        } else {
            boxes.push(Drawn { first: interval, from, to, count: 1 });
        }
    }
    boxes
}

fn draw_box(y: f64, drawn: &Drawn<'_>, row: TimelineRow, boxes: &mut Vec<Element>) {
    let width = drawn.to - drawn.from;
    // A little light between neighbours.
    let place = [drawn.from, y, if width > 2.0 { width - 0.5 } else { width.max(0.4) }, BOX];
    let class = format!("box {}", class_of(&drawn.first.kind));
    boxes.push(box_at(&class, place).set("data-count", drawn.count).into());
    let room = (width / LETTER) as usize;
    let text = match drawn.count {
        1 => texts(drawn.first, row).into_iter().find(|text| text.chars().count() < room),
        more => Some(format!("{more} x")).filter(|text| text.chars().count() < room),
    };
    if let Some(text) = text {
        let class = if matches!(drawn.first.kind, OperationKind::Call(_) | OperationKind::Wait) {
            "mark"
        } else {
            "inside"
        };
        boxes.push(text_at(class, drawn.from + width / 2.0, y + 8.2, &text));
    }
}

/// Returns what a box may say, longest first. In the row of an engine it always says of which stream it is.
fn texts(interval: &Interval, row: TimelineRow) -> Vec<String> {
    let what = match &interval.kind {
        OperationKind::HostToDevice(bytes)
        | OperationKind::DeviceToHost(bytes)
        | OperationKind::DeviceCopy(bytes)
        | OperationKind::Fill(bytes)
        | OperationKind::HostCopy(bytes) => bytes_in_words(*bytes),
        OperationKind::Kernel(name) => name.clone(),
        OperationKind::Graph => "graph".to_owned(),
        OperationKind::HostFunction => "host function".to_owned(),
        OperationKind::Wait | OperationKind::Event => "waits".to_owned(),
        OperationKind::Call(name) => call_in_words(name).to_owned(),
        OperationKind::HostRead(bytes) => format!("reads {}", bytes_in_words(*bytes)),
    };
    match (row, interval.stream) {
        (TimelineRow::Engine, Some(stream)) => {
            vec![format!("{stream}: {what}"), stream.to_string()]
        }
        _ => vec![what],
    }
}

/// A driver function without its version.
fn call_in_words(name: &str) -> &str {
    name.split("_v").next().unwrap_or(name)
}

fn class_of(kind: &OperationKind) -> &'static str {
    match kind {
        OperationKind::HostToDevice(_) => "upload",
        OperationKind::DeviceToHost(_) => "download",
        OperationKind::Kernel(_) | OperationKind::Graph => "kernel",
        OperationKind::DeviceCopy(_) | OperationKind::Fill(_) => "device",
        OperationKind::HostFunction | OperationKind::HostRead(_) | OperationKind::HostCopy(_) => {
            "host"
        }
        OperationKind::Call(_) => "call",
        OperationKind::Wait | OperationKind::Event => "wait",
    }
}

/// Returns how long each engine of the device was busy, and where the host was longest.
fn figures(timeline: &Timeline) -> String {
    let mut parts =
        vec![format!("{} µs between the first and the last event", number(timeline.length_us))];
    for (engine, name) in
        [(Engine::HostToDevice, "H2D"), (Engine::Kernel, "kernels"), (Engine::DeviceToHost, "D2H")]
    {
        let of_engine = timeline.intervals.iter().filter(|one| one.kind.engine() == Some(engine));
        let times: Vec<(f64, f64)> = of_engine.map(|one| (one.start_us, one.end_us)).collect();
        if times.is_empty() {
            continue;
        }
        let busy = covered(&times);
        let percent = 100.0 * busy / timeline.length_us.max(1e-9);
        let share = if percent < 1.0 { "below 1".to_owned() } else { percent.round().to_string() };
        parts.push(format!("{name} busy {} µs ({share} %)", number(busy)));
    }
    let mut calls: BTreeMap<&str, f64> = BTreeMap::new();
    for one in &timeline.intervals {
        if let OperationKind::Call(name) = &one.kind {
            *calls.entry(call_in_words(name)).or_default() += one.end_us - one.start_us;
        }
    }
    let longest = calls.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
    if let Some((name, time_us)) = longest {
        parts.push(format!("the host spent most time in {name}: {} µs", number(time_us)));
    }
    format!("{}.", parts.join(", "))
}

/// The length of the union of intervals that are sorted by their start.
fn covered(times: &[(f64, f64)]) -> f64 {
    let mut until = f64::NEG_INFINITY;
    times.iter().fold(0.0, |sum, (start, end)| {
        let new = (end - start.max(until)).max(0.0);
        until = until.max(*end);
        sum + new
    })
}

/// Returns what the colours mean, of those that are there.
fn legend(timeline: &Timeline) -> String {
    let has = |class: &str| timeline.intervals.iter().any(|one| class_of(&one.kind) == class);
    let meanings = [
        ("upload", "blue: H2D copies"),
        ("kernel", "green: kernels and graphs"),
        ("download", "orange: D2H copies"),
        ("device", "turquoise: fills and copies inside the device"),
        ("host", "violet: the host's own work"),
        ("call", "grey: the host is inside a call of the driver"),
        ("wait", "dashed: a stream waits for another"),
    ];
    let there: Vec<&str> =
        meanings.iter().filter(|(class, _)| has(class)).map(|(_, meaning)| *meaning).collect();
    let colours = if there.is_empty() { "Nothing ran".to_owned() } else { there.join("; ") };
    format!("Colours: {colours}. Numbers in the rows of engines are streams.")
}

/// A time in as many digits as matter.
fn number(time_us: f64) -> String {
    let digits = if time_us >= 100.0 { 1.0 } else { 100.0 };
    let value = (time_us * digits).round() / digits;
    rounded(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(kind: OperationKind, stream: usize, start_us: f64, end_us: f64) -> Interval {
        Interval { kind, stream: Some(stream), start_us, end_us }
    }

    #[test]
    fn one_axis_holds_all_but_the_far_longer_ones() {
        let of = |length_us| Timeline {
            device: "GPU".to_owned(),
            origin: Origin::Model,
            length_us,
            intervals: vec![interval(OperationKind::HostToDevice(4), 0, 0.0, length_us)],
        };
        let all = [of(10.0), of(20.0), of(40.0), of(9000.0)];
        assert_eq!(shared_axis(&all.iter().collect::<Vec<_>>()), 40.0);
        let widths = all.each_ref().map(|one| {
            let picture = draw_on("a/b", one, 40.0);
            let place = picture.split("class=\"box upload\"").nth(1).expect("a box");
            let width = place.split("width=\"").nth(1).and_then(|rest| rest.split('"').next());
            width.and_then(|width| width.parse::<f64>().ok()).expect("a width")
        });
        approx::assert_abs_diff_eq!(widths[1] / widths[0], 2.0, epsilon = 0.05);
        approx::assert_abs_diff_eq!(widths[3], widths[2], epsilon = 0.1);
    }

    #[test]
    fn ticks_are_round_and_few() {
        for (length, step) in [(443.0, 100.0), (1.0, 0.2), (12.0, 2.0), (60.0, 10.0), (7.0, 2.0)] {
            let scale = Scale::new(0.0..length);
            approx::assert_abs_diff_eq!(scale.step_us / step, 1.0, epsilon = 1e-9);
            assert!(scale.ticks().count() <= 7);
        }
        assert_eq!(Scale::new(903.0..918.0).ticks().collect::<Vec<_>>(), [905.0, 910.0, 915.0]);
    }

    #[test]
    fn what_overlaps_has_rows_of_its_own_and_measured_times_say_so() {
        let kernel =
            |start| interval(OperationKind::Kernel("k".to_owned()), 0, start, start + 10.0);
        let timeline = Timeline {
            device: "GPU".to_owned(),
            origin: Origin::Measured,
            length_us: 30.0,
            intervals: vec![kernel(0.0), kernel(5.0), kernel(10.0)],
        };
        let text = draw("a/b", &timeline);
        assert_eq!(text.matches("data-row=\"kernel\"").count(), 2, "{text}");
        assert_eq!(text.matches("data-row=\"stream 0\"").count(), 2, "{text}");
        assert!(text.contains("Measured, by events"), "{text}");
        assert!(!text.contains("data-row=\"host\""), "{text}");
        assert!(text.contains("kernels busy 20 µs (67 %)"), "{text}");
        assert!(!text.contains("class=\"detail\""), "{text}");
    }

    #[test]
    fn the_row_of_an_engine_says_of_which_stream_a_box_is() {
        let download = interval(OperationKind::DeviceToHost(8 << 20), 3, 0.0, 1.0);
        assert_eq!(texts(&download, TimelineRow::Engine), ["3: 8 MiB", "3"]);
        assert_eq!(texts(&download, TimelineRow::Stream), ["8 MiB"]);
        let of_none = Interval { stream: None, ..download };
        assert_eq!(texts(&of_none, TimelineRow::Engine), ["8 MiB"]);
    }

    #[test]
    fn a_crowd_is_shown_enlarged() {
        let kernel = |i| interval(OperationKind::Kernel("k".to_owned()), 0, 900.0 + i, 900.75 + i);
        let timeline = Timeline {
            device: "GPU".to_owned(),
            origin: Origin::Model,
            length_us: 1000.0,
            intervals: (0..100).map(|i| kernel(f64::from(i))).collect(),
        };
        assert_eq!(crowd(&timeline), Some(900.0..909.75));
        assert!(draw("a/b", &timeline).contains("From 900 to 910 µs"));
    }

    #[test]
    fn narrow_boxes_are_drawn_together_and_counted() {
        let intervals: Vec<Interval> = (0..1000)
            .map(|i| interval(OperationKind::HostToDevice(4), 0, f64::from(i), f64::from(i) + 0.9))
            .collect();
        let references: Vec<&Interval> = intervals.iter().collect();
        let boxes = joined(&Scale::new(0.0..1000.0), &references);
        assert_eq!(boxes.iter().map(|one| one.count).sum::<usize>(), 1000);
        assert!(boxes.len() < 100, "{}", boxes.len());
    }

    #[test]
    fn nothing_ran_is_a_picture_too() {
        let timeline = Timeline {
            device: "GPU".to_owned(),
            origin: Origin::Model,
            length_us: 0.0,
            intervals: Vec::new(),
        };
        assert!(draw("a/b", &timeline).contains("0 µs between the first and the last event"));
    }
}
