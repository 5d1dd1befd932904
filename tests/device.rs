//! Every pattern, variant and size on a GPU.

use coalesce::pattern::Size;
use coalesce::verify::{VerifyOutcome, case, verify};
use cuda_host::Choice;
use cuda_host::Gpu;
use host::CATALOGUE;
use host::patterns::ALL as PATTERNS;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
