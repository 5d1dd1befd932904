//! The roofline: what does arithmetic, below the bandwidth of device memory and the rate of FP32.

use super::page::{self, fixed, headers, number};
use super::plot::{Caption, Point, Roofline, roofline};
use super::runs::Runs;
use maud::{Markup, html};
use results::{DeviceFacts, Resource, fp32_lanes};

/// A variant with arithmetic.
struct RooflinePoint {
    pattern: String,
    name: String,
    /// Operations per byte that must move.
    intensity: f64,
    gflop_s: f64,
    /// True when the arithmetic is that of tensor cores.
    is_tensor: bool,
}

/// The most operations per second, 10^9, at the highest clock; a fused multiply and add is two.
fn rate_gflop_s(device: &DeviceFacts) -> Option<f64> {
    let per_clock =
        2.0 * f64::from(fp32_lanes(device.capability)?) * f64::from(device.multiprocessors);
    Some(per_clock * f64::from(device.clock_khz) / 1e6)
}

/// The variants of the ladders whose kernels have single-precision arithmetic, or that of tensor cores.
fn points(runs: &Runs) -> Vec<RooflinePoint> {
    let mut points = Vec::new();
    for row in runs.main.results.ladders().filter(|row| !row.peer) {
        let Some((counted, measured)) = runs.counted(row).zip(row.measured()) else { continue };
        let least = measured.minimum_time.as_ref();
        let is_tensor = least.is_some_and(|least| least.resource == Resource::TensorBf16);
        if (counted.flops_f32 == 0 && !is_tensor) || counted.bytes == 0 || measured.bytes == 0 {
            continue;
        }
        // The executed size may be smaller: arithmetic grows with the bytes, unless the row says how much it is.
        let grown = counted.flops_f32 as f64 * measured.bytes as f64 / counted.bytes as f64;
        let flops = match least {
            Some(least) if least.resource == Resource::Fp32 || is_tensor => least.amount as f64,
            _ => grown,
        };
        points.push(RooflinePoint {
            pattern: row.pattern.clone(),
            name: row.name(),
            intensity: flops / measured.bytes as f64,
            gflop_s: flops / measured.time_ms.median / 1e6,
            is_tensor,
        });
    }
    points
}

/// The section of the summary.
pub fn section(runs: &Runs) -> Markup {
    let results = &runs.main.results;
    let memory = [Resource::Copy, Resource::Read, Resource::Write];
    let peaks = memory.into_iter().filter_map(|resource| results.peak(resource));
    let peak = peaks.max_by(|a, b| a.bandwidth_gb_s().total_cmp(&b.bandwidth_gb_s()));
    let rate = rate_gflop_s(&results.environment.device);
    let points = points(runs);
    let tensor = results.peak(Resource::TensorBf16).map(|peak| peak.bandwidth_gb_s());
    let tensor = tensor.filter(|_| points.iter().any(|point| point.is_tensor));
    html! {
        h2 id="roofline" { "Roofline" }
        @if let (Some(peak), Some(rate), false) = (peak, rate, points.is_empty()) {
            p {
                "The slope is the highest measured peak of device memory in this run (" (peak.resource.name()) "). The level is "
                "the theoretical FP32 peak: multiprocessors x lanes x 2 x the highest clock. Memory bounds a point that "
                "is just below the slope. "
                @if tensor.is_some() {
                    "Products of tensor cores have a level of their own: their measured peak."
                }
            }
            (page::wide_plot(&roofline(&Roofline {
                caption: Caption { id: "plot-roofline".to_owned(), title: "Roofline of device memory and FP32".to_owned() },
                bandwidth_gb_s: peak.bandwidth_gb_s(),
                rate_gflop_s: rate,
                tensor_gflop_s: tensor,
                points: points.iter().map(|point| Point {
                    name: point.name.clone(),
                    group: point.pattern.clone(),
                    intensity: point.intensity,
                    gflop_s: point.gflop_s,
                }).collect(),
            }), "The numbers are those of the table; a point under the pointer shows its name."))
            (page::table(
                "Variants with arithmetic",
                &headers(&["number", "variant", "FLOP per byte", "GFLOP/s", "% of peak"]),
                &html! {
                    @for (index, point) in points.iter().enumerate() {
                        @let level = tensor.filter(|_| point.is_tensor).unwrap_or(rate);
                        @let resource = (point.intensity * peak.bandwidth_gb_s()).min(level);
                        tr {
                            td.figure data-value=(index + 1) { (index + 1) }
                            th scope="row" { a href=(format!("{}.html", point.pattern)) { (point.name) } }
                            (number(Some(point.intensity)))
                            (number(Some(point.gflop_s)))
                            (fixed(Some(100.0 * point.gflop_s / resource), 1, ""))
                        }
                    }
                },
            ))
        } @else {
            p { "This run has no peak of device memory, or no variant with arithmetic: there is nothing to draw." }
        }
        p {
            "Operations are counted by executing the kernels at their count sizes: single-precision additions and "
            "multiplications of the lanes that did them, a fused one as two; the count is scaled to the measured size "
            "by the bytes of the problem. Operations of tensor cores are those of the problem. Left out are variants "
            "without such operations, atomics (memory does their arithmetic), double precision, work of the host, and peers, whose operations are not counted. Bytes are "
            "those that any implementation must move."
        }
    }
}
