//! What the patterns of the host claim of time, on the virtual device's clock.

use crate::executor::device;
use coalesce::gpu::{Arrays, Checks, Choice, Gpu, Larger, Stopwatch};
use coalesce::pattern::Size;
use coalesce::patterns::Selection;
use coalesce::verify::{Outcome, Ready, case};
use std::sync::MutexGuard;
use virtual_gpu::MisuseKind;

/// The device without checks inside kernels, which these tests are not about.
fn fast_device() -> (MutexGuard<'static, ()>, Gpu) {
    let (guard, _) = device();
    let choice = Choice::Virtual("h200".to_owned());
    let gpu = Gpu::open(&choice, Checks::none()).expect("the virtual device starts everywhere");
    gpu.take_kernels_as_larger(Larger::default());
    virtual_gpu::misuse();
    (guard, gpu)
}

/// The milliseconds that a correct variant takes.
fn time(gpu: &Gpu, name: &str, size: &[usize]) -> f64 {
    let selection = Selection::parse(name).expect("a variant of the registry");
    let size = Size::new(size);
    let case = case(selection.pattern, &size, 5);
    let arrays = Arrays::of(gpu, selection.pattern, &case).expect("the arrays fit");
    let variant = selection.variant.expect("a variant was named");
    let mut ready = Ready::new(gpu, &case, &arrays, variant, &size).expect("it is built");
    let stopwatch = Stopwatch::new().expect("events");
    stopwatch.start(gpu).expect("an event");
    ready.run().expect("it runs");
    stopwatch.stop(gpu).expect("an event");
    let time = stopwatch.elapsed_ms().expect("the events were reached");
    assert_eq!(ready.check().expect("outputs"), Outcome::Correct, "{name}");
    time
}

/// Whether two numbers differ by at most `percent` of the second.
fn near(one: f64, other: f64, percent: f64) -> bool {
    (one - other).abs() <= other * percent / 100.0
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
    for direction in ["upload", "download"] {
        let pageable = rate(&format!("{direction}_pageable"));
        let pinned = rate(&format!("{direction}_pinned"));
        assert!(pinned > 2.0 * pageable, "{direction}: {pinned} and {pageable} GB/s");
        for kind in ["registered", "write_combined", "portable"] {
            let other = rate(&format!("{direction}_{kind}"));
            assert!(near(other, pinned, 1.0), "{direction}_{kind}: {other} GB/s");
        }
    }
}

/// Both directions at once; what locking costs; what the host pays for reading write-combined memory.
#[test]
fn pinned_memory_has_a_gain_and_a_price() {
    let (_guard, gpu) = fast_device();
    let time = |name: &str, n: usize| time(&gpu, &format!("pinned_memory/{name}"), &[n]);
    let n = 1 << 22;
    let one_way = time("upload_pinned", n);
    assert!(time("both_ways", n) < 1.2 * one_way);
    for n in [1 << 10, 1 << 16, n] {
        let with_allocation = time("allocate_pinned", n) + time("upload_pinned", n);
        assert!(with_allocation > time("upload_pageable", n), "one copy of {n} words");
    }
    assert!(time("register", n) < time("allocate_pinned", n));
    for kind in ["pageable", "registered", "portable"] {
        assert!(near(time(&format!("read_{kind}"), n), time("read_pinned", n), 1.0), "{kind}");
    }
    assert!(time("read_write_combined", n) > 10.0 * time("read_pinned", n));
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

/// max + (sum - max) / n with two engines and with three; the order of enqueueing does not matter.
#[test]
fn pieces_overlap_as_the_formula_says() {
    let (_guard, gpu) = fast_device();
    let time_of = |name: &str, n: usize, pieces: usize| {
        time(&gpu, &format!("overlap/{name}"), &[n, 8, pieces])
    };
    let parts_of = |n: usize| ["upload", "kernel", "download"].map(|part| time_of(part, n, 1));
    let formula = |parts: &[f64], n: usize| {
        let (sum, max) = (parts.iter().sum::<f64>(), parts.iter().copied().fold(0.0, f64::max));
        max + (sum - max) / n as f64
    };
    let time = |name: &str, pieces: usize| time_of(name, 1 << 20, pieces);
    let whole = formula(&parts_of(1 << 20), 1);
    assert!(near(time("serial", 1), whole, 15.0));
    assert!(near(time("one_stream", 4), whole, 20.0));
    assert!(near(time("pageable", 1), time("pageable", 4), 15.0));
    assert!(time("pageable", 4) > 1.5 * whole);
    let (large, pieces) = (1 << 22, [4, 8]);
    let parts = parts_of(large);
    for (name, parts) in
        [("two_engines", &parts[..2]), ("depth_first", &parts[..]), ("breadth_first", &parts[..])]
    {
        let times = pieces.map(|n| (n, time_of(name, large, n)));
        println!("{name}: {times:?}, parts {parts:?}");
        let best = times.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are times");
        let expected = formula(parts, best.0);
        assert!(near(best.1, expected, 10.0), "{name}: {best:?}, the formula says {expected}");
    }
    let (after, beside) = (time("host_after", 4), time("host_beside", 4));
    let device = time("depth_first", 4);
    assert!(beside < after && near(beside, device, 10.0), "{after}, {beside}, {device}");
}

/// What the model takes a stand on: host memory is read and written anew in each pass.
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
    // The eight warps of a block use each of its sectors whole, and L1 keeps them; stores have no such help.
    assert!(near(time("strided_read", 1), time("mapped_read", 1), 15.0));
    assert!(time("strided_write", 1) > 7.0 * time("mapped_write", 1));
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
        let pattern = Selection::parse(name).expect("a pattern of the registry").pattern;
        let size = pattern.verify_sizes.last().expect("a pattern has sizes");
        for variant in pattern.variants {
            time(&gpu, &format!("{name}/{}", variant.name), size);
            let mut found = virtual_gpu::misuse();
            if (name, variant.name) == ("overlap", "pageable") {
                assert!(!found.is_empty());
                found.retain(|misuse| misuse.kind != MisuseKind::PageableAsyncCopy);
            }
            assert!(found.is_empty(), "{name}/{}: {}", variant.name, found[0]);
        }
    }
}
