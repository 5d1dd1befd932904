//! Widgets about what bounds a kernel: occupancy, and the roofline.

use super::parts::{Control, Widget, letter};
use crate::sources::Sources;
use anyhow::{Context, Result};
use maud::{PreEscaped, html};
use report::plot::{Caption, Point, Roofline, figure, roofline as plot};
use results::Resource;
use virtual_gpu::{BlockNeeds, Profile, blocks_per_multiprocessor};

/// The device whose limits are shown.
const DEVICE: &str = "h200";
const STEP_THREADS: u32 = 64;
const STEP_REGISTERS: u32 = 16;
const STEP_SHARED_KIB: u32 = 16;
const MAX_SHARED_KIB: u32 = 224;

/// Blocks and warps on a multiprocessor: registers, shared memory, threads.
pub fn occupancy() -> Result<Widget> {
    let profile = Profile::named(DEVICE).context("the profile of the book's device")?;
    let blocks = |threads, registers, kib: u32| {
        blocks_per_multiprocessor(
            &profile,
            BlockNeeds { threads, registers, shared_bytes: kib << 10 },
        )
    };
    let mut states = String::new();
    for threads in (STEP_THREADS..=1024).step_by(STEP_THREADS as usize) {
        for registers in (STEP_REGISTERS..=256).step_by(STEP_REGISTERS as usize) {
            for kib in (0..=MAX_SHARED_KIB).step_by(STEP_SHARED_KIB as usize) {
                states.push(letter(u64::from(blocks(threads, registers.min(255), kib)))?);
            }
        }
    }
    let warps = profile.threads_per_multiprocessor / profile.warp_size;
    let shown = [[256, 32, 0], [256, 128, 0], [256, 32, 96]];
    Ok(Widget {
        name: "occupancy",
        title: "How many warps fit?",
        about: "Blocks share a multiprocessor's registers, shared memory and warps. The scarcest of them decides.",
        controls: vec![
            Control::Range("threads", "threads per block", [STEP_THREADS, 1024, STEP_THREADS, 256]),
            Control::Range(
                "registers",
                "registers per thread",
                [STEP_REGISTERS, 256, STEP_REGISTERS, 32],
            ),
            Control::Range(
                "shared",
                "shared memory per block, KiB",
                [0, MAX_SHARED_KIB, STEP_SHARED_KIB, 0],
            ),
        ],
        data: vec![
            ("blocks", states),
            ("warps", warps.to_string()),
            ("device", profile.name.clone()),
        ],
        states: html! {
            table {
                thead { tr { th scope="col" { "threads" } th scope="col" { "registers" } th scope="col" { "shared memory, KiB" } th scope="col" { "blocks" } th scope="col" { "warps of " (warps) } } }
                tbody {
                    @for [threads, registers, kib] in shown {
                        @let fit = blocks(threads, registers, kib);
                        tr { td.figure { (threads) } td.figure { (registers) } td.figure { (kib) } td.figure { (fit) } td.figure { (fit * threads / 32) } }
                    }
                }
            }
        },
    })
}

/// Plots the variants of the matrix product below the roofline.
pub fn roofline(sources: &Sources) -> Result<Widget> {
    let results = &sources.results;
    let memory = [Resource::Copy, Resource::Read, Resource::Write];
    let peaks = memory.into_iter().filter_map(|resource| results.peak(resource));
    let peaks = peaks.map(|peak| (peak.bandwidth_gb_s(), peak.resource.name()));
    let fastest = peaks.max_by(|a, b| a.0.total_cmp(&b.0));
    let (bandwidth, of) = fastest.context("nobody measured the bandwidth of device memory")?;
    let rate = results
        .peak(Resource::Fp32)
        .context("nobody measured the rate of arithmetic")?
        .bandwidth_gb_s();
    let mut points = Vec::new();
    for name in [
        "matmul/naive",
        "matmul/coalesced",
        "matmul/tiled",
        "matmul/register_2d",
        "matmul/vectorized",
        "matmul/warp_tiled",
        "transpose/padded",
        "stencil/line_vectorized",
        "stencil/volume_rolling",
    ] {
        let (_, variant) = sources.variant(name)?;
        let measured =
            sources.row(name)?.measured().with_context(|| format!("`{name}` was not measured"))?;
        let flops = match measured.minimum_time {
            Some(least) if least.resource == Resource::Fp32 => least.amount as f64,
            _ => variant.flops_f32 as f64 * measured.bytes as f64 / variant.bytes as f64,
        };
        if flops > 0.0 {
            points.push(Point {
                name: name.to_owned(),
                group: name.split('/').next().unwrap_or_default().to_owned(),
                intensity: flops / measured.bytes as f64,
                gflop_s: flops / measured.time_ms.median / 1e6,
            });
        }
    }
    let words = |one: &Point| format!("{} {} {}", one.name, one.intensity, one.gflop_s);
    let data: Vec<String> = points.iter().map(words).collect();
    let names = points.iter().map(|point| point.name.clone()).collect();
    let caption = Caption { id: "book-roofline".to_owned(), title: "The roofline".to_owned() };
    let svg = plot(&Roofline {
        caption,
        bandwidth_gb_s: bandwidth,
        rate_gflop_s: rate,
        tensor_gflop_s: None,
        points,
    });
    Ok(Widget {
        name: "roofline",
        title: "Where is my kernel?",
        about: "Arithmetic per second, over arithmetic per byte. Below the slope memory is the bound, below the level arithmetic is.",
        controls: vec![Control::Choice("variant", "kernel", names)],
        data: vec![
            ("points", data.join(",")),
            ("bandwidth", bandwidth.to_string()),
            ("rate", rate.to_string()),
            ("words", format!("{} GB/s, {of}|{} GFLOP/s", figure(bandwidth), figure(rate))),
        ],
        states: html! { figure { (PreEscaped(svg)) } },
    })
}
