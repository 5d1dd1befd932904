//! Little's law as a plot: the bytes in flight of the occupancy pattern's curves, and the bandwidth that they reach.

use super::{read, reference};
use crate::kernels_source::root;
use crate::snapshots::blessing;
use coalesce::hierarchy;
use report::plot::{Axis, Caption, Curve, Curves, Scale, Stroke, alone, curves};
use results::{Resource, Results};

/// The plot, which the doc of the pattern and `docs/findings.md` name.
const PLOT: &str = "docs/littles_law.svg";

/// Our variants, and the bytes that each of their threads has in flight.
const VARIANTS: [(&str, f64); 6] = [
    ("words_1", 4.0),
    ("words_2", 8.0),
    ("words_4", 16.0),
    ("vectorized_16", 16.0),
    ("vectorized_32", 32.0),
    ("vectorized_64", 64.0),
];

/// The time of one access to device memory that waits for nothing else, nanoseconds.
fn latency_ns(results: &Results) -> f64 {
    let rows = hierarchy::rows(host::CATALOGUE.memory_spaces, Some(results));
    let device = rows.into_iter().find(|[name, ..]| name == "global memory");
    let [.., latency, _] = device.expect("the table has device memory");
    latency.parse().expect("it was measured")
}

fn plot(results: &Results) -> String {
    let device = &results.environment.device;
    let peak = results.measured_peaks.iter().find(|peak| peak.resource == Resource::Copy);
    let peak = peak.expect("a peak of copies was measured").bandwidth_gb_s();
    let latency = latency_ns(results);
    let mut lines: Vec<Curve> = Vec::new();
    for (series, (name, per_thread)) in VARIANTS.into_iter().enumerate() {
        let own = results.rows.iter().filter(|row| {
            row.pattern == "occupancy"
                && row.variant == name
                && row.sweep.as_deref() == Some("blocks")
        });
        let point = |row: &results::Row| {
            let in_flight = row.size["blocks"] * row.size["threads"] * per_thread;
            Some((in_flight / 1024.0, row.measured()?.bandwidth_gb_s))
        };
        let points: Vec<(f64, f64)> = own.filter_map(point).collect();
        assert!(points.len() > 3, "{name} has a curve over blocks");
        lines.push(Curve { name: name.to_owned(), series, stroke: Stroke::Solid, points });
    }
    let ends = lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let (least, most) = ends.fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    // Each byte that is read is written, too: a copy moves two for each one in flight.
    let slope = 2.0 * 1024.0 * f64::from(device.multiprocessors) / latency;
    let law = vec![(least, slope * least), (peak / slope, peak)];
    lines.push(Curve {
        name: "Little's law".to_owned(),
        series: 0,
        stroke: Stroke::Dotted,
        points: law,
    });
    let level = vec![(least, peak), (most, peak)];
    lines.push(Curve {
        name: "measured peak".to_owned(),
        series: 0,
        stroke: Stroke::Dashed,
        points: level,
    });
    let ticks = (-1..=7).map(|power| 2.0_f64.powi(power)).filter(|x| (least..=most).contains(x));
    alone(&curves(&Curves {
        caption: Caption {
            id: "littles-law".to_owned(),
            title: format!("Bytes in flight and the bandwidth of a copy, {}", device.name),
        },
        x: Axis {
            name: "KiB in flight per multiprocessor: threads x bytes of each".to_owned(),
            scale: Scale::Log2,
            ticks: ticks.map(|x| (x, x.to_string())).collect(),
        },
        y: Axis { name: "GB/s".to_owned(), scale: Scale::Log10, ticks: Vec::new() },
        lines,
        strokes: vec![
            (Stroke::Dotted, format!("2 x bytes in flight / {latency} ns")),
            (Stroke::Dashed, "measured peak of a copy".to_owned()),
        ],
    }))
}

#[test]
fn the_plot_of_littles_law_is_that_of_the_reference() {
    let plot = plot(&reference());
    if blessing() {
        std::fs::write(root().join(PLOT), plot).expect("a writable checkout");
    } else {
        assert!(read(PLOT) == plot, "{PLOT} is stale: run `cargo xtask bless`");
    }
}

/// No point is above the line or the level, and threads with more bytes each need fewer warps for the same bandwidth.
#[test]
fn bandwidth_follows_the_bytes_in_flight() {
    let results = reference();
    let slope = 2.0 * f64::from(results.environment.device.multiprocessors) / latency_ns(&results);
    let mut all: Vec<(f64, f64)> = Vec::new();
    for row in results.rows.iter().filter(|row| row.pattern == "occupancy" && row.sweep.is_some()) {
        let Some((_, per_thread)) = VARIANTS.iter().find(|(name, _)| *name == row.variant) else {
            continue;
        };
        let in_flight = row.size["blocks"] * row.size["threads"] * per_thread;
        let reached = row.measured().expect("it was measured").bandwidth_gb_s;
        assert!(
            reached < 1.02 * slope * in_flight,
            "{}: {reached} GB/s from {in_flight} B",
            row.variant
        );
        all.push((in_flight, reached));
    }
    // Whatever made the same bytes, threads or loads, they reach the same bandwidth, but for a quarter.
    for (bytes, reached) in &all {
        for (_, other) in all.iter().filter(|(same, _)| same == bytes) {
            assert!(reached / other < 1.25, "{bytes} B reach {reached} and {other} GB/s");
        }
    }
}
