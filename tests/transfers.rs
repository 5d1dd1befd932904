//! Claims of the host's patterns about time, on the virtual device's clock.

use crate::executor::device;
use coalesce::pattern::Size;
use coalesce::timing::Stopwatch;
use coalesce::verify::{PreparedVariant, VerifyOutcome, case};
use cuda_host::Choice;
use cuda_host::Gpu;
use cuda_host::WorkScale;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use host::CATALOGUE;
use host::patterns::Arena;
use results::Results;
use std::path::Path;
use virtual_gpu::{MisuseKind, OwnMachine, Profile};

const MIB: f64 = (1 << 20) as f64;

/// The device without checks inside kernels, which these tests are not about.
fn fast_device() -> (OwnMachine, Gpu) {
    let machine = OwnMachine::new();
    let choice = Choice::Virtual("h200".to_owned());
    let gpu = Gpu::open(&choice, CATALOGUE.images).expect("the virtual device starts everywhere");
    let device = gpu.virtual_device().expect("the device is virtual");
    device.scale_work(WorkScale::default());
    (machine, gpu)
}

/// The milliseconds that a correct variant takes on the device.
fn time(gpu: &Gpu, name: &str, size: &[usize]) -> f64 {
    between_events(gpu, name, size, |_| ())
}

/// The same with what the host takes to begin, as it is measured.
fn time_with_host(gpu: &Gpu, name: &str, size: &[usize]) -> f64 {
    between_events(gpu, name, size, |stopwatch| {
        stopwatch.wait_for_start().expect("the event is reached");
    })
}

fn between_events(gpu: &Gpu, name: &str, size: &[usize], begin: fn(&Stopwatch)) -> f64 {
    let selection = CATALOGUE.select(name).expect("a variant of the registry");
    let size = Size::new(size);
    let case = case(selection.pattern, &size, 5);
    let arrays = selection.pattern.arrays(gpu, &case).expect("the arrays fit");
    let variant = selection.variant.expect("a variant was named");
    let mut ready = PreparedVariant::new(gpu, &case, &arrays, variant, &size).expect("it is built");
    let stopwatch = Stopwatch::new().expect("events");
    stopwatch.start(gpu).expect("an event");
    begin(&stopwatch);
    ready.run().expect("it runs");
    stopwatch.stop(gpu).expect("an event");
    let time = stopwatch.elapsed_ms().expect("the events were reached");
    assert_eq!(ready.check().expect("outputs"), VerifyOutcome::Correct, "{name}");
    time
}

/// Returns whether two numbers differ by at most `percent` of the second.
fn near(one: f64, other: f64, percent: f64) -> bool {
    (one - other).abs() <= other * percent / 100.0
}

fn profile() -> Profile {
    Profile::named("h200").expect("a known profile")
}

/// The driver locks 2 MiB for small allocations, and they share them while one lives.
#[test]
fn small_page_locked_allocations_share_pages() {
    let (_guard, gpu) = fast_device();
    let profile = profile();
    let time = |name: &str, n: usize| 1e6 * time(&gpu, &format!("pinned_memory/{name}"), &[n]);
    let lone = profile.page_lock_latency_ns;
    let kept = HostBuffer::<u32>::zeroed(1, HostFlags::PINNED).expect("host memory");
    let call = time("allocate_pinned", 1 << 10);
    assert!(call < 0.05 * lone, "{call} and {lone} ns");
    assert!(near(time("allocate_portable", 1 << 18), call, 1.0), "1 MiB is small");
    for (name, n, expected) in [
        ("allocate_pinned", (1 << 18) + 1, lone),
        ("allocate_pinned", 1 << 20, lone + 2.0 * MIB / profile.page_lock_bytes_per_second * 1e9),
        ("allocate_write_combined", 1 << 10, lone + profile.write_combined_lock_ns),
        ("register", 1 << 10, profile.page_register_latency_ns),
    ] {
        let taken = time(name, n);
        assert!(near(taken - call, expected, 3.0), "{name} of {n}: {taken}, not {expected} ns");
    }
    drop(kept);
    assert!(near(time("allocate_pinned", 1 << 10) - call, lone, 1.0), "none lives");
}

/// T = a + V/b, with b the rate of the kind, whatever the size.
#[test]
fn copies_take_a_fixed_time_and_one_per_byte() {
    let (_guard, gpu) = fast_device();
    let rate = |name: &str| {
        let [small, medium, large] =
            [1 << 14, 1 << 18, 1 << 22].map(|n| time(&gpu, &format!("pinned_memory/{name}"), &[n]));
        let slope = |from: usize, to: usize, ms: f64| 4.0 * (to - from) as f64 / ms / 1e6;
        let (first, second) =
            (slope(1 << 14, 1 << 18, medium - small), slope(1 << 18, 1 << 22, large - medium));
        assert!(near(first, second, 1.0), "{name}: {first} and {second} GB/s");
        let fixed_us = 1e3 * small - 4.0 * f64::from(1 << 14) / second / 1e3;
        assert!((1.0..20.0).contains(&fixed_us), "{name}: {fixed_us} us");
        second
    };
    for direction in ["h2d", "d2h"] {
        let pageable = rate(&format!("{direction}_pageable"));
        let pinned = rate(&format!("{direction}_pinned"));
        assert!(pinned > 2.0 * pageable, "{direction}: {pinned} and {pageable} GB/s");
        for kind in ["registered", "write_combined", "portable"] {
            let other = rate(&format!("{direction}_{kind}"));
            assert!(near(other, pinned, 1.0), "{direction}_{kind}: {other} GB/s");
        }
    }
}

/// Both directions at once; the cost of locking; the host's cost of reading write-combined memory on the profile's
/// machine.
#[test]
fn pinned_memory_has_a_gain_and_a_price() {
    let (_guard, gpu) = fast_device();
    let time = |name: &str, n: usize| time(&gpu, &format!("pinned_memory/{name}"), &[n]);
    let n = 1 << 22;
    let one_way = time("h2d_pinned", n);
    assert!(time("bidirectional", n) < 1.2 * one_way);
    for n in [1 << 10, 1 << 16, n] {
        let with_allocation = time("allocate_pinned", n) + time("h2d_pinned", n);
        assert!(with_allocation > time("h2d_pageable", n), "one copy of {n} words");
    }
    assert!(time("register", n) < time("allocate_pinned", n));
    for kind in ["pageable", "registered", "portable"] {
        assert!(near(time(&format!("read_{kind}"), n), time("read_pinned", n), 1.0), "{kind}");
    }
    let rate = profile().write_combined_read_bytes_per_second;
    assert!(near(time("read_write_combined", n), 4.0 * n as f64 / rate * 1e3, 2.0));
}

/// (n a + V/b) / (a + V/b + pack), with a and b from one copy and from many.
#[test]
fn batching_gains_what_the_formula_says() {
    let (_guard, gpu) = fast_device();
    let width = 256;
    let time =
        |name: &str, copies: usize| time(&gpu, &format!("batching/{name}"), &[copies, width]);
    let (few, many) = (time("one_by_one", 256), time("one_by_one", 1024));
    assert!(near(many, 4.0 * few, 5.0), "{many} and four times {few}");
    let bytes = (4 * 1024 * width) as f64;
    let on_the_bus = bytes / 55.5e9 * 1e3;
    let each = (many - on_the_bus) / 1024.0;
    let (two_d, packed) = (time("two_d", 1024), time("packed", 1024));
    let pack = packed - two_d;
    let alone = two_d - on_the_bus;
    let gain = (1024.0 * each + on_the_bus) / (alone + on_the_bus + pack);
    assert!(near(many / packed, gain, 10.0), "{} and {gain}", many / packed);
    assert!(pack > 0.0 && two_d < packed && many > 10.0 * packed);
    assert!(time("mapped", 1024) < packed);
    // Nothing is gained by packing one row.
    assert!(time("packed", 1) > time("one_by_one", 1));
}

/// max + (sum - max) / n with two engines and with three, where the bus carries both directions no faster than it can;
/// the order of enqueueing does not matter. The size is that of the benchmark, as `coalesce bench` predicts it.
#[test]
fn pieces_overlap_as_the_formula_says() {
    let (_guard, gpu) = fast_device();
    let pattern = CATALOGUE.select("overlap").expect("a pattern of the registry").pattern;
    let ([executed, steps, _], [asked, ..]) = (pattern.count_size, pattern.bench_size) else {
        panic!("a size is n, steps and pieces");
    };
    let larger = *asked as f64 / *executed as f64;
    let device = gpu.virtual_device().expect("the device is virtual");
    device.scale_work(WorkScale::all(larger));
    let time = |name: &str, pieces: usize| {
        time(&gpu, &format!("overlap/{name}"), &[*executed, *steps, pieces])
    };
    let parts = ["h2d", "kernel", "d2h"].map(|part| time(part, 1));
    let both = time("bidirectional", 1);
    assert!(both > 1.05 * parts[0].max(parts[2]), "{both}, {parts:?}");
    let formula = |parts: &[f64], both: f64, n: usize| {
        let (sum, max) = (parts.iter().sum::<f64>(), parts.iter().copied().fold(0.0, f64::max));
        max.max(both) + (sum - max) / n as f64
    };
    let whole: f64 = parts.iter().sum();
    assert!(near(time("serial", 1), whole, 5.0));
    assert!(near(time("one_stream", 4), whole, 10.0));
    assert!(near(time("pageable", 1), time("pageable", 4), 15.0));
    assert!(time("pageable", 4) > 1.5 * whole);
    for (name, parts, both) in [
        ("two_engines", &parts[..2], 0.0),
        ("depth_first", &parts[..], both),
        ("breadth_first", &parts[..], both),
    ] {
        let times = [4, 8, 16].map(|n| (n, time(name, n)));
        println!("{name}: {times:?}, parts {parts:?}, both ways {both}");
        let best = times.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are times");
        let expected = formula(parts, both, best.0);
        assert!(near(best.1, expected, 10.0), "{name}: {best:?}, the formula says {expected}");
    }
    let (after, beside) = (time("host_after", 4), time("host_beside", 4));
    let device = time("depth_first", 4);
    assert!(beside < after && near(beside, device, 10.0), "{after}, {beside}, {device}");
    let device = gpu.virtual_device().expect("the device is virtual");
    device.scale_work(WorkScale::default());
}

/// Compares with what an H200 took for copies both ways at once, and for all of `overlap` but pageable copies, whose
/// rate changed from run to run.
#[test]
fn overlap_takes_as_long_as_on_the_hardware() {
    let (_guard, gpu) = fast_device();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/nvidia-h200/reference.json");
    let measured =
        Results::load(&path, host::CATALOGUE.renamed).expect("the measurement is committed");
    let pattern = CATALOGUE.select("overlap").expect("a pattern of the registry").pattern;
    let (mut compared, mut pieces, mut worst) = (0, 0, 0.0f64);
    for row in &measured.rows {
        let Some(figures) = row.measured() else { continue };
        let n = row.size.get("n").map_or(0, |n| *n as usize);
        let executed = match (row.pattern.as_str(), row.variant.as_str()) {
            // Smaller ones are mostly the host's noise.
            ("pinned_memory", "bidirectional") if n >= 1 << 22 => vec![1 << 22],
            ("overlap", name) if n == pattern.bench_size[0] && name != "pageable" => {
                pieces += 1;
                vec![pattern.count_size[0], row.size["steps"] as usize, row.size["pieces"] as usize]
            }
            _ => continue,
        };
        let larger = n as f64 / executed[0] as f64;
        let device = gpu.virtual_device().expect("the device is virtual");
        device.scale_work(WorkScale::all(larger));
        let predicted =
            time_with_host(&gpu, &format!("{}/{}", row.pattern, row.variant), &executed);
        let name = format!("{}/{} {:?}", row.pattern, row.variant, row.size);
        let time_ms = figures.time_ms.median;
        assert!(near(predicted, time_ms, 15.0), "{name}: {predicted}, {time_ms}");
        worst = worst.max((predicted / time_ms - 1.0).abs());
        compared += 1;
    }
    let device = gpu.virtual_device().expect("the device is virtual");
    device.scale_work(WorkScale::default());
    println!("{compared} rows, {pieces} of overlap, are off by at most {:.1} %", 100.0 * worst);
    assert!(compared > 0, "nothing was compared");
}

/// Holds what the model takes a stand on: host memory is read and written anew in each pass.
#[test]
fn zero_copy_pays_per_pass() {
    let (_guard, gpu) = fast_device();
    let n = 1 << 20;
    let time = |name: &str, passes: usize| time(&gpu, &format!("zero_copy/{name}"), &[n, passes]);
    let over_the_bus = (4 * n) as f64 / 51.4e9 * 1e3;
    assert!(near(time("mapped_read", 1), over_the_bus, 15.0));
    assert!(time("mapped", 1) < 0.75 * time("staged", 1));
    let write = time("mapped_write", 1);
    assert!(near(write, over_the_bus, 15.0), "{write} and {over_the_bus}");
    // The eight warps of a block use each of its sectors whole, and L1 keeps them, but each is a request to the link;
    // so is each word that is stored.
    let requests_ms = |count: usize| count as f64 / profile().zero_copy_lines_per_second * 1e3;
    assert!(near(time("strided_read", 1), requests_ms(n / 8), 5.0));
    assert!(near(time("strided_write", 1), requests_ms(n), 5.0));
    for passes in [2, 4] {
        let expected = passes as f64 * over_the_bus;
        assert!(near(time("mapped_reread", passes), expected, 15.0), "{passes} reads");
        assert!(near(time("mapped_rewrite", passes), expected, 15.0), "{passes} writes");
        assert!(time("cached_reread", passes) < 0.75 * expected);
        assert!(time("staged_reread", passes) < 0.75 * expected);
    }
    assert!(near(time("staged_rewrite", 1), time("staged_rewrite", 4), 15.0));
}

/// Only the variant that shows it copies asynchronously from pageable memory; nothing else is amiss.
#[test]
fn nothing_is_misused_but_on_purpose() {
    let (_guard, gpu) = fast_device();
    for name in ["pinned_memory", "batching", "overlap", "zero_copy"] {
        let pattern = CATALOGUE.select(name).expect("a pattern of the registry").pattern;
        let size = pattern.verify_sizes.last().expect("a pattern has sizes");
        for variant in pattern.variants {
            time(&gpu, &format!("{name}/{}", variant.name), size);
            let mut found = virtual_gpu::misuse();
            // What `Gpu` copies in order it waits for, so it is not meant to overlap with anything.
            found.retain(|misuse| !misuse.to_string().contains("cuda_host/src/ordered.rs"));
            if (name, variant.name) == ("overlap", "pageable") {
                assert!(!found.is_empty());
                found.retain(|misuse| misuse.kind != MisuseKind::PageableAsyncCopy);
            }
            assert!(found.is_empty(), "{name}/{}: {}", variant.name, found[0]);
        }
    }
}

#[test]
fn an_arena_gives_aligned_parts_and_the_same_ones_after_a_reset() {
    let (_guard, _gpu) = device();
    let mut arena = Arena::new(256).expect("the block fits");
    // What each step is given: the first element's address, and the length.
    let mut take = |length| {
        let part = arena.take(length);
        (part.as_device_ptr().as_raw(), part.len())
    };
    let [(first, _), second, third] = [take(1), take(64), take(65)];
    assert_eq!([second, third], [(first + 4 * 64, 64), (first + 4 * 128, 65)]);
    arena.reset();
    assert_eq!(arena.take(256).as_device_ptr().as_raw(), first);
}
