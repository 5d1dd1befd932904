//! Streams, addresses, allocations and graphs on the virtual device: their claims, and how they use the driver.

use crate::executor::device;
use coalesce::measure::{Axes, Plan, run};
use coalesce::pattern::Size;
use coalesce::verify::{PreparedVariant, VerifyOutcome, case, verify};
use cuda_driver::{OperationKind, OperationRecord};
use cuda_host::Checks;
use cuda_host::Gpu;
use host::CATALOGUE;
use host::patterns::ALL as PATTERNS;
use results::RowOutcome as Measured;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use virtual_gpu::{Options, Order, Profile, VirtualGpu};

/// Each variant of each pattern whose work is the host's, at each size; `seen` gets its name after it was dropped.
fn verify_work_of_the_host(gpu: &Gpu, seed: u64, mut seen: impl FnMut(&str)) {
    for pattern in PATTERNS.iter().filter(|pattern| pattern.is_host_work()) {
        for size in pattern.verify_sizes {
            let size = Size::new(size);
            let case = case(pattern, &size, seed);
            let arrays = pattern.arrays(gpu, &case).expect("the arrays fit");
            for variant in pattern.variants {
                let name =
                    format!("{}/{} at {}", pattern.name, variant.name, pattern.show_size(&size));
                let outcome = verify(gpu, &case, &arrays, variant, &size).expect("it runs");
                assert!(!matches!(outcome, VerifyOutcome::Wrong(_)), "{name}: {outcome:?}");
                seen(&name);
            }
        }
    }
}

#[test]
fn work_of_the_host_makes_no_mistakes_and_leaves_nothing_behind() {
    let (_guard, gpu) = device();
    virtual_gpu::misuse();
    let before = virtual_gpu::leaks().len();
    verify_work_of_the_host(&gpu, 5, |name| {
        let mut mistakes = virtual_gpu::misuse();
        // `overlap/pageable` shows just this.
        mistakes.retain(|mistake| mistake.kind != virtual_gpu::MisuseKind::PageableAsyncCopy);
        assert!(mistakes.is_empty(), "{name}: {}", mistakes[0]);
        let leaks = virtual_gpu::leaks();
        assert_eq!(leaks.len(), before, "{name}: {:?}", leaks.last());
    });
}

/// Draws what CUDA leaves open: a variant that relies on an order that it does not make is wrong for some seed.
#[test]
fn work_of_the_host_is_right_in_every_order_that_cuda_allows() {
    let (_guard, gpu) = device();
    for seed in 0..3 {
        let profile = Profile::named("h200").expect("a known profile");
        let options =
            Options { order: Order::Seeded(seed), checks: Checks::all(), ..Options::default() };
        VirtualGpu::start(profile, options).expect("the same device runs on");
        verify_work_of_the_host(&gpu, seed, |_| {});
    }
}

/// Returns what is done to memory by streams: kernels without their names, which a driver need not tell.
fn is_work(kind: &OperationKind) -> Option<(&'static str, u64)> {
    match kind {
        OperationKind::HostToDevice(bytes) => Some(("upload", *bytes)),
        OperationKind::DeviceToHost(bytes) => Some(("download", *bytes)),
        OperationKind::DeviceCopy(bytes) => Some(("copy", *bytes)),
        OperationKind::Fill(bytes) => Some(("fill", *bytes)),
        OperationKind::Kernel(_) => Some(("kernel", 0)),
        _ => None,
    }
}

/// A recording by events, as on a GPU, beside what the virtual device says that it did.
#[test]
fn events_around_operations_enclose_what_the_device_did() {
    let (_guard, gpu) = device();
    let mut compared = 0;
    for name in ["overlap", "batching", "stream_semantics", "pinned_memory"] {
        let pattern = CATALOGUE.select(name).expect("a pattern of the registry").pattern;
        let size = Size::new(pattern.count_size);
        let case = case(pattern, &size, 1);
        let arrays = pattern.arrays(&gpu, &case).expect("the arrays fit");
        for variant in pattern.variants.iter().filter(|variant| variant.name != "pageable") {
            let name = format!("{name}/{}", variant.name);
            let mut ready =
                PreparedVariant::new(&gpu, &case, &arrays, variant, &size).expect("it builds");
            gpu.synchronize().expect("nothing failed");
            virtual_gpu::operations();
            cuda_driver::record_operations();
            ready.run().expect("it runs");
            ready.finish().expect("it ends");
            // The last event of a stream need not be one that the device's own stream waits for.
            // SAFETY: the call takes nothing, and a context is current.
            let ended = unsafe { cuda_driver::api::cuCtxSynchronize() };
            assert_eq!(ended, cuda_driver::ReturnCode::SUCCESS);
            let by_events = cuda_driver::recorded_operations().expect("every event was reached");
            let by_device = virtual_gpu::operations();
            let is_event = |one: &&OperationRecord| one.kind == OperationKind::Event;
            let Some(first) = by_device.iter().find(is_event) else {
                assert!(by_events.is_empty(), "{name}: {by_events:?}");
                continue;
            };
            let mut did: Vec<_> =
                by_device.iter().filter(|one| is_work(&one.kind).is_some()).collect();
            for seen in by_events.iter().filter(|one| is_work(&one.kind).is_some()) {
                let [start, end] = [seen.start_ns, seen.end_ns].map(|time| time + first.end_ns);
                // The driver's answers are 32-bit floats of milliseconds.
                let slack = 1.0 + 1e-6 * end;
                let is_inside = |one: &&OperationRecord| {
                    is_work(&one.kind) == is_work(&seen.kind)
                        && start - slack <= one.start_ns
                        && one.end_ns <= end + slack
                };
                let found = did.iter().position(is_inside);
                let found =
                    found.unwrap_or_else(|| panic!("{name}: nothing is inside {seen:?}: {did:?}"));
                did.remove(found);
                compared += 1;
            }
            assert!(did.is_empty(), "{name}: not recorded: {did:?}");
        }
    }
    assert!(compared > 100, "{compared}");
    cuda_driver::record_operations();
    assert_eq!(cuda_driver::recorded_operations(), Ok(Vec::new()), "nothing ran since");
}

/// The time of each variant at a size, in milliseconds.
fn times(gpu: &Gpu, pattern: &str, size: &[(&str, usize)]) -> BTreeMap<String, f64> {
    let selection = CATALOGUE.select(pattern).expect("a pattern of the registry");
    let size: Vec<_> = size.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let axes = size.iter().flat_map(|one| one.parse::<Axes>().expect("it names a dimension").0);
    let axes = axes.collect();
    let plan = Plan { sweeps: false, axes, rounds: 1, ..Plan::new(vec![selection]) };
    let results = run(gpu, &CATALOGUE, &plan, &AtomicBool::new(false), |_| {}).expect("it runs");
    let rows = results.rows.into_iter().map(|row| match row.outcome {
        Measured::Measured(measured) => (row.variant, measured.time_ms.median),
        other => panic!("{pattern}/{}: {other:?}", row.variant),
    });
    rows.collect()
}

/// Works whose order is open take the time of one and the calls of the others; the rest take the sum.
#[test]
fn works_overlap_where_nothing_orders_them() {
    let (_guard, gpu) = device();
    let at = |works| times(&gpu, "stream_semantics", &[("works", works), ("turns", 20_000)]);
    let (one, four) = (at(1), at(4));
    let single = one["one_stream"];
    for (variant, time) in &four {
        let promised = !matches!(variant.as_str(), "blocking" | "non_blocking");
        let expected = if promised { 4.0 * single } else { single };
        // Each further work is five calls of the driver, some microseconds, that the host may have to wait for.
        let calls = 3.0 * 0.01;
        assert!(
            *time > 0.85 * expected && *time < 1.05 * expected + calls,
            "{variant}: {time} ms, expected {expected} ms"
        );
    }
}

#[test]
fn a_pool_that_keeps_its_memory_is_eighty_times_faster() {
    let (_guard, gpu) = device();
    let time = times(&gpu, "allocation", &[]);
    assert!(time["each_step"] >= 80.0 * time["pool_in_order"], "{time:?}");
    // A pool that keeps nothing maps and unmaps, too, and slower; one that keeps all pays for the synchronization.
    assert!((1.3..1.45).contains(&(time["pool_released"] / time["each_step"])), "{time:?}");
    assert!(time["pool_retained"] < 0.1 * time["pool_released"], "{time:?}");
    assert!(time["arena"] < 0.2 * time["pool_in_order"], "{time:?}");
    // One block per run is one allocation, however many steps there are, but it is mapped and unmapped.
    let more = times(&gpu, "allocation", &[("steps", 512)]);
    let bytes = 4.0 * f64::from(1 << 20) * 256.0;
    let rate = Profile::named("h200").expect("a known profile").device_memory_bytes_per_second;
    let mapped_ms = 2.0 * bytes / rate * 1e3;
    let added = more["sub_allocated"] - time["sub_allocated"];
    assert!((added / mapped_ms - 1.0).abs() < 0.01, "{added}, {mapped_ms} ms");
    assert!((more["each_step"] / time["each_step"] - 2.0).abs() < 0.01, "{more:?}");
    // 64 KiB are a part of what is mapped already, 1 MiB are mapped.
    let [small, large] = [14, 18].map(|log| times(&gpu, "allocation", &[("n", 1 << log)]));
    assert!(small["each_step"] < 0.1 * time["each_step"], "{small:?}");
    assert!(large["each_step"] > 0.9 * time["each_step"], "{large:?}");
}

/// 2.5 us from launch to launch and 1.37 us per kernel of a graph, for kernels of 64 KiB.
#[test]
fn a_graph_launches_kernels_faster_than_calls_do() {
    let (_guard, gpu) = device();
    let (few, many) = (16, 80);
    let at = |kernels| times(&gpu, "graphs", &[("kernels", kernels)]);
    let (first, second) = (at(few), at(many));
    for (variant, expected_us) in [("one_by_one", 2.5), ("recorded_once", 1.37)] {
        let per_kernel_us = 1e3 * (second[variant] - first[variant]) / (many - few) as f64;
        assert!(
            (per_kernel_us / expected_us - 1.0).abs() < 0.1,
            "{variant}: {per_kernel_us} us per kernel"
        );
    }
    assert!(second["recorded_anew"] > second["one_by_one"], "{second:?}");
}

/// The kernel takes the time of the memory that its addresses are in.
#[test]
fn an_address_has_the_speed_of_its_memory() {
    let (_guard, gpu) = device();
    let n = 1 << 20;
    let time = times(&gpu, "unified_addressing", &[("n", n)]);
    // 4 MiB each way at once, at 51.4 GB/s in the slower direction; together they are slower. On an H200 it is 1.27 for
    // 16 MiB.
    let bus_ms = 4.0 * n as f64 / 51.4e9 * 1e3;
    // A vector may begin in the middle of a sector: then a warp touches five instead of four, in each of both halves; and
    // its pages are small, in which kernels reach four fifths of the bus's rate.
    for (variant, excess) in [("pinned", 1.0), ("mapped", 1.0), ("registered", 1.25 / 0.8)] {
        // `plain` is a question to the driver and no kernel: what the host takes is in all of them.
        let of_bus = (time[variant] - time["plain"]) / bus_ms;
        assert!(of_bus > 1.1 && of_bus < 1.35 * excess, "{variant}: {time:?}, {bus_ms} ms");
        assert!(time[variant] > 5.0 * time["device"], "{time:?}");
    }
    assert!(time["plain"] < time["device"], "{time:?}");
}
