//! Faults that measurement must notice: planted slowness, wrong results, failed launches, another state of a cache.
//!
//! Here on the virtual device; on a GPU in `device.rs`.

use crate::executor::device;
use anyhow::Result;
use coalesce::Selection;
use coalesce::arrays::Arrays;
use coalesce::data::Data;
use coalesce::measure::{Plan, run};
use coalesce::pattern::{HostWork, Implementation, Pattern, Size, Variant};
use cuda_host::{Choice, Gpu, GpuError, Launcher};
use cust_ext::l2::PersistingLimit;
use host::CATALOGUE;
use host::patterns::ALL as PATTERNS;
use kernels::global::coalescing::{THREADS_PER_BLOCK, coalescing_vectorized_16};
use results::{Results, RowOutcome, Verdict, pairs};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// `coalescing` with other variants, at a size that runs for more than the launch takes.
fn planted(variants: Vec<Variant>) -> Selection {
    let pattern = PATTERNS.iter().find(|one| one.name == "coalescing").expect("it exists");
    let pattern =
        Pattern { variants: variants.leak(), bench_size: &[1 << 26], sweeps: &[], ..**pattern };
    Selection { pattern: Box::leak(Box::new(pattern)), variant: None }
}

fn variant(
    name: &'static str,
    launch: fn(&Launcher<'_>, &Arrays, &Size) -> Result<(), GpuError>,
) -> Variant {
    let pattern = PATTERNS.iter().find(|one| one.name == "coalescing").expect("it exists");
    Variant::kernel(name, launch).expecting(pattern.variants[0].expect)
}

/// Copies the first `n` words.
fn copy(launcher: &Launcher<'_>, arrays: &Arrays, n: u32) -> Result<(), GpuError> {
    let arguments = (arrays.input(0), arrays.output(0), n);
    // SAFETY: a thread per 16 bytes; both arrays hold at least n elements, at a multiple of 256 bytes.
    unsafe {
        let grid = n.div_ceil(4 * THREADS_PER_BLOCK);
        launcher.launch(coalescing_vectorized_16, grid, THREADS_PER_BLOCK, 0, arguments)
    }
}

fn length(size: &Size) -> u32 {
    let [n] = size.get();
    n as u32
}

fn measure(choice: &Choice, selection: Selection) -> Results {
    // The tests of a process share one virtual device.
    let _guard = matches!(choice, Choice::Virtual(_)).then(|| device().0);
    let gpu = Gpu::open(choice, CATALOGUE.images).expect("the device opens");
    let plan = Plan { modes: false, ..Plan::new(vec![selection]) };
    run(&gpu, &CATALOGUE, &plan, &AtomicBool::new(false), |_| {})
        .expect("the measured_peaks are measured")
}

/// Why a variant's row is no figure.
fn fault(results: &Results, variant: &str) -> String {
    let row = results.rows.iter().find(|row| row.variant == variant).expect("it has a row");
    match &row.outcome {
        RowOutcome::Wrong { reason } => reason.clone(),
        other => panic!("{variant}: {other:?}"),
    }
}

pub fn three_percent_are_noticed(choice: &Choice) {
    let good = || variant("copy", |launcher, arrays, size| copy(launcher, arrays, length(size)));
    let slow = || {
        variant("copy", |launcher, arrays, size| {
            copy(launcher, arrays, length(size))?;
            copy(launcher, arrays, length(size) / 100 * 3)
        })
    };
    let (before, same, after) = (
        measure(choice, planted(vec![good()])),
        measure(choice, planted(vec![good()])),
        measure(choice, planted(vec![slow()])),
    );
    let verdict = |first, second| {
        let (pairs, alone) = pairs(first, second);
        assert_eq!((pairs.len(), alone), (1, 0));
        (pairs[0].verdict(), pairs[0].ratio())
    };
    let (again, ratio) = verdict(&before, &same);
    assert_eq!(again, Verdict::Same, "the same kernel again: ratio {ratio}");
    let (slower, ratio) = verdict(&before, &after);
    assert_eq!(slower, Verdict::Slower, "3 % more work: ratio {ratio}");
    assert!(ratio < 1.15, "3 % more work is no more than that: ratio {ratio}");
    assert_eq!(verdict(&after, &before).0, Verdict::Faster);
}

pub fn what_is_wrong_is_no_figure(choice: &Choice) {
    let results = measure(
        choice,
        planted(vec![
            variant("good", |launcher, arrays, size| copy(launcher, arrays, length(size))),
            variant("last_word_missing", |launcher, arrays, size| {
                copy(launcher, arrays, length(size) - 1)
            }),
            variant("refused", |launcher, arrays, _| {
                let arguments = (arrays.input(0), arrays.output(0), 1_u32);
                // SAFETY: more shared memory than any device has; the launch is refused.
                unsafe {
                    let block = THREADS_PER_BLOCK;
                    launcher.launch(coalescing_vectorized_16, 1, block, 1 << 30, arguments)
                }
            }),
            variant("window_left_on", |launcher, arrays, size| {
                std::mem::forget(PersistingLimit::set(1 << 20)?);
                copy(launcher, arrays, length(size))
            }),
            variant("good_again", |launcher, arrays, size| copy(launcher, arrays, length(size))),
        ]),
    );
    for good in ["good", "good_again"] {
        let row = results.rows.iter().find(|row| row.variant == good).expect("it has a row");
        assert!(row.measured().is_some(), "{good}: {:?}", row.outcome);
    }
    let missing = fault(&results, "last_word_missing");
    assert!(missing.contains("1 element(s) differ"), "{missing}");
    let refused = fault(&results, "refused");
    assert!(refused.contains("coalescing_vectorized_16<<<"), "{refused}");
    let left = fault(&results, "window_left_on");
    assert!(left.contains("bytes of L2 set aside"), "{left}");
}

/// Output that is there whoever runs.
struct There(Data);

impl HostWork for There {
    fn run(&mut self, _: &Gpu) -> Result<()> {
        Ok(())
    }

    fn outputs(&mut self, _: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![self.0.clone()])
    }
}

#[test]
fn work_of_the_host_is_prepared_anew_in_each_round_and_checked_after_the_last() {
    static PREPARED: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];
    let host = |name, build| Variant {
        work: Implementation::Host { bytes: None, build },
        ..variant(name, |_, _, _| Ok(()))
    };
    let good = host("good", |_, case, _| {
        PREPARED[0].fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(There(case.outputs[0].reference.clone())))
    });
    let wrong_at_last = host("wrong_at_last", |_, case, _| {
        let is_last = PREPARED[1].fetch_add(1, Ordering::Relaxed) == 2;
        let mut data = case.outputs[0].reference.clone();
        data.bytes_mut()[0] ^= u8::from(is_last);
        Ok(Box::new(There(data)))
    });
    let Selection { pattern, variant } = planted(vec![good, wrong_at_last]);
    // It does nothing, which is faster than any limit.
    let pattern = Box::leak(Box::new(Pattern { minimum_time: |_, _| None, ..*pattern }));
    let results = measure(&Choice::Virtual("h200".to_owned()), Selection { pattern, variant });
    assert_eq!(PREPARED.each_ref().map(|count| count.load(Ordering::Relaxed)), [3, 3]);
    let good = results.rows[0].measured().expect("it is right");
    assert_eq!(good.time_ms.samples, 3, "one sample in each round");
    assert!(fault(&results, "wrong_at_last").starts_with("after timing, "));
}

#[test]
fn the_virtual_device_notices_what_is_planted() {
    let choice = Choice::Virtual("h200".to_owned());
    three_percent_are_noticed(&choice);
    what_is_wrong_is_no_figure(&choice);
}
