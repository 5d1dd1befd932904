//! Samples: one run after another, each between two events, with what else could differ held fast.

use crate::instruments::Instruments;
use crate::timing::{Clock, Flush, Gate, Stopwatch};
use anyhow::Result;
use cuda_host::Gpu;
use results::Spread;
use std::time::{Duration, Instant};

/// A step that a sample asks of the work it times.
#[derive(Clone, Copy)]
pub enum Step {
    /// Not timed.
    Prepare,
    /// Timed.
    Run,
}

/// The contents of the caches when a sample begins, and whether the host may be seen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Caches {
    /// Clean lines of other data; all is enqueued before any of it begins.
    Cold,
    /// The state that the run before left; all is enqueued before any of it begins.
    Hot,
    /// The state that the run before left; what the host does is part of the work and timed with it: the device has
    /// nothing to do and has said so.
    WithHost,
}

/// The tools of a run.
pub struct Sampler<'a> {
    gpu: &'a Gpu,
    stopwatch: Stopwatch,
    /// Shut on a GPU only; but its memory is page-locked, and what else is small and page-locked shares pages with it.
    gate: Gate<'a>,
    /// `None` on the virtual device, which can be told to empty its caches, has no noise and one clock.
    tools: Option<Tools<'a>>,
    /// Below this clock, MHz, a sample says more about the power supply than about the kernel.
    least_mhz: f64,
}

struct Tools<'a> {
    flush: Flush<'a>,
    clock: Clock<'a>,
}

/// The samples of one piece of work.
#[derive(Debug, Default)]
pub struct Series {
    times_ms: Vec<f64>,
    clocks_mhz: Vec<f64>,
    warm_ups: usize,
    /// Samples that were thrown away because the device was throttled.
    pub throttled: usize,
    spent: Duration,
}

/// Rule that decides when a series has enough samples.
#[derive(Clone, Copy, Debug)]
pub struct StopRule {
    /// The fewest samples.
    pub min_samples: usize,
    /// The fewest samples of work that takes very long.
    pub min_long_samples: usize,
    /// It stops when its noise is below this, in percent of its median.
    pub noise_percent: f64,
    /// It stops at the latest after this time, and after four times it even with no more than `min_long_samples`.
    pub time_limit: Duration,
}

const WARM_UPS: usize = 2;
/// The rest of the device when it was throttled.
const REST: Duration = Duration::from_millis(20);

impl StopRule {
    /// The rule for one of several parts of a series.
    pub fn part(&self, of: u32) -> StopRule {
        StopRule {
            min_samples: self.min_samples.div_ceil(of as usize),
            min_long_samples: self.min_long_samples.div_ceil(of as usize),
            time_limit: self.time_limit / of,
            ..*self
        }
    }
}

impl Series {
    /// Adds the samples of another.
    pub fn append(&mut self, other: Series) {
        self.times_ms.extend(other.times_ms);
        self.clocks_mhz.extend(other.clocks_mhz);
        self.throttled += other.throttled;
    }

    /// The distribution of its times, if there are any.
    pub fn spread(&self) -> Option<Spread> {
        (!self.times_ms.is_empty()).then(|| Spread::of(&self.times_ms))
    }

    /// The distribution of the clocks after its samples.
    pub fn clocks(&self) -> Option<Spread> {
        (!self.clocks_mhz.is_empty()).then(|| Spread::of(&self.clocks_mhz))
    }

    /// Returns whether the rule is satisfied.
    pub fn is_enough(&self, rule: &StopRule) -> bool {
        let samples = self.times_ms.len();
        if samples >= rule.min_samples {
            let quiet = Spread::of(&self.times_ms).noise_percent() < rule.noise_percent;
            quiet || self.spent > rule.time_limit
        } else {
            // A throttled device may never give a sample that counts.
            self.spent > 4 * rule.time_limit
                && (samples >= rule.min_long_samples || self.throttled > samples)
        }
    }
}

impl<'a> Sampler<'a> {
    /// The tools for a device.
    pub fn new(instruments: &'a Instruments<'a>) -> Result<Sampler<'a>> {
        let gpu = instruments.gpu();
        let tools = match gpu.virtual_device() {
            Some(_) => None,
            None => {
                let (flush, clock) = (Flush::new(instruments)?, Clock::new(instruments)?);
                Some(Tools { flush, clock })
            }
        };
        let least_mhz = 0.75 * f64::from(gpu.facts()?.clock_khz) / 1e3;
        Ok(Sampler {
            gpu,
            stopwatch: Stopwatch::new()?,
            gate: Gate::new(instruments)?,
            tools,
            least_mhz,
        })
    }

    /// Adds one sample, unless it is a warm-up or the device was throttled.
    pub fn sample(
        &self,
        series: &mut Series,
        caches: Caches,
        mut work: impl FnMut(Step) -> Result<()>,
    ) -> Result<()> {
        let begin = Instant::now();
        work(Step::Prepare)?;
        let Some(Tools { flush, clock }) = &self.tools else {
            if caches == Caches::Cold
                && let Some(device) = self.gpu.virtual_device()
            {
                self.gpu.synchronize()?;
                device.empty_l2();
            }
            self.enqueue_between_events(caches, &mut work)?;
            series.times_ms.push(self.stopwatch.elapsed_ms()?);
            return Ok(());
        };
        if caches == Caches::WithHost {
            self.gpu.synchronize()?;
        } else {
            self.gate.shut()?;
        }
        let enqueued = (|| {
            if caches == Caches::Cold {
                flush.enqueue()?;
            }
            self.enqueue_between_events(caches, &mut work)?;
            clock.enqueue()
        })();
        self.gate.open();
        enqueued?;
        let time_ms = self.stopwatch.elapsed_ms()?;
        let mhz = clock.mhz()?;
        series.spent += begin.elapsed();
        if series.warm_ups < WARM_UPS {
            series.warm_ups += 1;
        } else if mhz < self.least_mhz {
            series.throttled += 1;
            std::thread::sleep(REST);
        } else {
            series.times_ms.push(time_ms);
            series.clocks_mhz.push(mhz);
        }
        Ok(())
    }

    fn enqueue_between_events(
        &self,
        caches: Caches,
        work: &mut impl FnMut(Step) -> Result<()>,
    ) -> Result<()> {
        self.stopwatch.start(self.gpu)?;
        if caches == Caches::WithHost {
            // Otherwise it is chance whether the device reaches the event before the host has enqueued what follows.
            self.stopwatch.wait_for_start()?;
        }
        work(Step::Run)?;
        Ok(self.stopwatch.stop(self.gpu)?)
    }

    /// Samples one piece of work until the rule is satisfied; one sample on the virtual device says it all.
    pub fn series(
        &self,
        caches: Caches,
        rule: &StopRule,
        mut work: impl FnMut(Step) -> Result<()>,
    ) -> Result<Series> {
        let mut series = Series::default();
        while !self.is_enough(&series, rule) {
            self.sample(&mut series, caches, &mut work)?;
        }
        Ok(series)
    }

    /// Returns whether a series of this device is long enough.
    pub fn is_enough(&self, series: &Series, rule: &StopRule) -> bool {
        if self.tools.is_none() { !series.times_ms.is_empty() } else { series.is_enough(rule) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: StopRule = StopRule {
        min_samples: 8,
        min_long_samples: 5,
        noise_percent: 0.5,
        time_limit: Duration::from_millis(100),
    };

    fn series(times_ms: &[f64], spent_ms: u64) -> Series {
        Series {
            times_ms: times_ms.to_vec(),
            spent: Duration::from_millis(spent_ms),
            ..Series::default()
        }
    }

    #[test]
    fn a_series_stops_when_it_is_quiet_or_out_of_time() {
        let (quiet, noisy) = ([1.0; 8], [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
        assert!(series(&quiet, 1).is_enough(&RULE));
        assert!(!series(&quiet[..7], 1).is_enough(&RULE));
        assert!(!series(&noisy, 99).is_enough(&RULE));
        assert!(series(&noisy, 101).is_enough(&RULE));
        // Work that takes very long has fewer samples, but not one or two.
        assert!(!series(&quiet[..4], 500).is_enough(&RULE));
        assert!(series(&quiet[..5], 500).is_enough(&RULE));
        // A device that is throttled all the time does not hold up the run for ever.
        assert!(Series { throttled: 9, ..series(&[], 500) }.is_enough(&RULE));
    }

    #[test]
    fn parts_of_a_series_have_their_share_and_add_up() {
        let part = RULE.part(3);
        assert_eq!((part.min_samples, part.min_long_samples), (3, 2));
        assert_eq!(part.time_limit, RULE.time_limit / 3);
        let mut whole = series(&[1.0, 2.0], 60);
        whole.append(Series { throttled: 1, ..series(&[3.0], 50) });
        let spread = whole.spread().expect("three samples");
        assert_eq!((spread.samples, spread.min, spread.max), (3, 1.0, 3.0));
        assert_eq!(whole.throttled, 1);
    }
}
