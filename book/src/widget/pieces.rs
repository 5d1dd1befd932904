//! The widget of a job in pieces: how many, on how many streams, and how long each kernel takes.

use super::parts::{Control, Widget, pair};
use anyhow::{Context, Result};
use gpu_model::Profile;
use gpu_model::copy_time::{Direction, bus_rate, copy_ns};
use gpu_model::timeline::Timeline;
use maud::html;
use std::ops::Range;

/// The device whose engines work.
const DEVICE: &str = "h200";
const MAX_PIECES: u32 = 12;
const MAX_STREAMS: u32 = 3;
/// The time of all kernels, in parts of a hundred of that of the copies to the device.
const MAX_KERNELS: u32 = 200;
const STEP_KERNELS: u32 = 50;
/// Bytes in each direction.
const MEBIBYTES: [u64; 3] = [64, 16, 1];

/// A copy to the device, a kernel on what it brought, and a copy back, each with its start and its end.
type Piece = [Range<f64>; 3];

struct Job {
    bytes: u64,
    pieces: u32,
    streams: u32,
    kernels: u32,
}

impl Job {
    /// Books the pieces one after the other, as a host enqueues them: each whole, on the stream whose turn it is.
    fn run(&self, profile: &Profile) -> Vec<Piece> {
        const UP: Direction = Direction::HostToDevice(false);
        const DOWN: Direction = Direction::DeviceToHost(false);
        let mut timeline = Timeline::new(1);
        let bytes = self.bytes / u64::from(self.pieces);
        let kernels = f64::from(self.kernels) / 100.0 * copy_ns(profile, UP, self.bytes);
        let kernel = (kernels / f64::from(self.pieces)).max(profile.kernel_minimum_ns);
        let mut host = 0.0;
        let mut ends = vec![f64::NEG_INFINITY; self.streams as usize];
        let mut pieces = Vec::new();
        for piece in 0..self.pieces {
            let end = &mut ends[(piece % self.streams) as usize];
            // What follows on a stream waits until its engine knows that the one before has ended.
            let ready = |end: f64, enqueued: f64| enqueued.max(end + profile.engine_switch_ns);
            let copy = |timeline: &mut Timeline, direction, ready| {
                let bus = bus_rate(profile, direction) / profile.both_ways_bytes_per_second;
                let duration = copy_ns(profile, direction, bytes);
                timeline.copy(0, direction == UP, ready, duration, bus)
            };
            host += profile.copy_call_ns;
            let up = copy(&mut timeline, UP, ready(*end, host + profile.copy_latency_ns));
            host += profile.launch_call_ns;
            let launched = ready(up.end, host + profile.launch_latency_ns);
            let work = timeline.compute(0, launched, kernel, 1.0);
            host += profile.copy_call_ns;
            let down = copy(&mut timeline, DOWN, ready(work.end, host + profile.copy_latency_ns));
            *end = down.end;
            pieces.push([up, work, down]);
        }
        pieces
    }
}

/// Returns the end of the last piece.
fn length(pieces: &[Piece]) -> f64 {
    pieces.iter().flatten().map(|interval| interval.end).fold(0.0, f64::max)
}

/// Draws a job in pieces, on streams, over the model's engines.
pub fn pieces() -> Result<Widget> {
    let profile = Profile::named(DEVICE).context("the profile of the book's device")?;
    let (mut states, mut lengths) = (String::new(), Vec::new());
    for mebibytes in MEBIBYTES {
        for kernels in (0..=MAX_KERNELS).step_by(STEP_KERNELS as usize) {
            for streams in 1..=MAX_STREAMS {
                for pieces in 1..=MAX_PIECES {
                    let job =
                        Job { bytes: mebibytes << 20, pieces, streams, kernels }.run(&profile);
                    let length = length(&job);
                    for interval in job.iter().flatten() {
                        for time in [interval.start, interval.end] {
                            states.extend(pair(time / length)?);
                        }
                    }
                    lengths.push(format!("{:.1}", length / 1e3));
                }
            }
        }
    }
    let shown = [(1, 1), (4, 1), (4, 2), (4, 3), (12, 3)];
    Ok(Widget {
        name: "pieces",
        title: "How many pieces, on how many streams?",
        about: "A job copies to the device, computes and copies back. In pieces on several streams, its three parts can run at the same time.",
        controls: vec![
            Control::Range("pieces", "pieces", [1, MAX_PIECES, 1, 4]),
            Control::Range("streams", "streams", [1, MAX_STREAMS, 1, 2]),
            Control::Range(
                "kernels",
                "kernels, % of the copies to the device",
                [0, MAX_KERNELS, STEP_KERNELS, 100],
            ),
            Control::Choice(
                "bytes",
                "each way",
                MEBIBYTES.iter().map(|mebibytes| format!("{mebibytes} MiB")).collect(),
            ),
        ],
        data: vec![
            ("times", states),
            ("lengths", lengths.join(",")),
            ("device", profile.name.clone()),
        ],
        states: html! {
            table {
                thead { tr { th scope="col" { "pieces" } th scope="col" { "streams" } th scope="col" { "µs by the model, " (MEBIBYTES[0]) " MiB each way" } } }
                tbody {
                    @for (pieces, streams) in shown {
                        @let job = Job { bytes: MEBIBYTES[0] << 20, pieces, streams, kernels: 100 };
                        tr { td.figure { (pieces) } td.figure { (streams) } td.figure { (format!("{:.0}", length(&job.run(&profile)) / 1e3)) } }
                    }
                }
            }
        },
    })
}
