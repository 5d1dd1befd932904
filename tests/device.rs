use coalesce::pattern::Size;
use coalesce::verify::{VerifyOutcome, case, verify};
use cuda_host::Choice;
use cuda_host::Gpu;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use host::CATALOGUE;
use host::patterns::ALL as PATTERNS;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// One test at a time: they measure, and there is one GPU.
fn alone() -> MutexGuard<'static, ()> {
    static GPU: Mutex<()> = Mutex::new(());
    GPU.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
#[ignore = "needs a GPU"]
fn every_variant_is_correct_at_every_size() {
    let _alone = alone();
    let gpu = Gpu::open(&Choice::Gpu(0), CATALOGUE.images).expect("a GPU");
    let (mut correct, mut not_run) = (0, 0);
    for pattern in PATTERNS {
        for size in pattern.verify_sizes {
            let size = Size::new(size);
            let case = case(pattern, &size, 11);
            let arrays = pattern.arrays(&gpu, &case).expect("the arrays fit");
            for variant in pattern.variants {
                match verify(&gpu, &case, &arrays, variant, &size).expect("the launch succeeds") {
                    VerifyOutcome::Correct => correct += 1,
                    VerifyOutcome::NotRun(_) => not_run += 1,
                    VerifyOutcome::Wrong(fault) => {
                        panic!(
                            "{}/{} at {}: {fault}",
                            pattern.name,
                            variant.name,
                            pattern.show_size(&size)
                        )
                    }
                }
            }
        }
    }
    println!("{correct} correct, {not_run} not run");
    assert!(correct > 0);
}

#[test]
#[ignore = "needs a GPU"]
fn measurement_notices_what_is_planted() {
    let _alone = alone();
    crate::measurement::three_percent_are_noticed(&Choice::Gpu(0));
    crate::measurement::what_is_wrong_is_no_figure(&Choice::Gpu(0));
}

#[test]
#[ignore = "needs a GPU"]
fn occupancy_is_that_of_the_driver() {
    let _alone = alone();
    crate::occupancy::occupancy_is_that_of_the_driver(&Choice::Gpu(0));
}

/// Pinned pages are taken from everybody else. How much that costs the host, within a bound that harms no machine: it
/// takes fresh pages from the system and writes them, while more and more memory is pinned.
#[test]
#[ignore = "needs a GPU"]
fn a_quarter_of_a_gibibyte_of_pinned_memory_does_not_slow_the_host() {
    const MIB: usize = 1 << 20;
    let _alone = alone();
    let _gpu = Gpu::open(&Choice::Gpu(0), CATALOGUE.images).expect("a GPU");
    let fresh_pages_ms = || {
        let begin = Instant::now();
        std::hint::black_box(vec![1_u8; 64 * MIB]);
        begin.elapsed().as_secs_f64() * 1e3
    };
    let fastest = || (0..20).map(|_| fresh_pages_ms()).fold(f64::INFINITY, f64::min);
    let alone_ms = fastest();
    println!("64 MiB of fresh pages written: {alone_ms:.2} ms with nothing pinned");
    let mut held = Vec::new();
    for pinned in [64, 128, 192, 256] {
        let begin = Instant::now();
        held.push(HostBuffer::<u8>::zeroed(64 * MIB, HostFlags::PINNED).expect("it is pinned"));
        let pinning_ms = begin.elapsed().as_secs_f64() * 1e3;
        let beside_ms = fastest();
        println!("{beside_ms:.2} ms beside {pinned} MiB pinned, the last 64 in {pinning_ms:.1} ms");
        assert!(beside_ms < 1.5 * alone_ms, "{beside_ms} ms for {alone_ms} ms");
    }
}
