//! Times of kernels that each keep one part of a multiprocessor busy: on a GPU they are the truth about the model's rules,
//! on the virtual device what those rules say.

use crate::instruments::Instruments;
use crate::measure::{Caches, Sampler, Step, StopRule};
use anyhow::Result;
use cuda_host::{Gpu, WorkScale};
use cust::memory::DeviceBuffer;
use measurement_kernels::probes::*;
use measurement_kernels::{measurement_nothing, measurement_read};
use std::fmt::Write;
use std::time::Duration;

struct Probe {
    name: &'static str,
    grid: u32,
    block: u32,
    n: u32,
}

/// Number of samples that a probe takes.
const RULE: StopRule = StopRule {
    min_samples: 15,
    min_long_samples: 7,
    noise_percent: 1.0,
    time_limit: Duration::from_millis(60),
};

/// The launches of all probes, on so many multiprocessors.
fn all(multiprocessors: u32) -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut add = |name, grid, block, n| probes.push(Probe { name, grid, block, n });
    let full = 8 * multiprocessors;
    for warps in [1, 2, 4, 8, 16, 32] {
        add(measurement_nothing.name(), 32768, 32 * warps, 0);
    }
    for blocks in [1, multiprocessors, full] {
        add(measurement_nothing.name(), blocks, 32, 0);
    }
    for block in [32, 64, 128, 256, 512, 1024] {
        add(probe_word_each.name(), (1 << 22) / block, block, 1 << 22);
    }
    for blocks in [multiprocessors, 2 * multiprocessors, full] {
        add(probe_launched_step.name(), blocks, 256, 1 << 22);
        add(measurement_read.name(), blocks, 256, 1 << 20);
    }
    add(probe_launched_step.name(), COMPILED_STEP / 256, 256, 1 << 22);
    add(probe_compiled_step.name(), COMPILED_STEP / 256, 256, 1 << 22);
    for name in [probe_branches.name(), probe_diverging.name()] {
        add(name, 1, 32, 256);
        add(name, multiprocessors, 256, 64);
        add(name, full, 256, 32);
    }
    for name in [
        probe_uniform_words.name(),
        probe_uniform_pairs.name(),
        probe_uniform_quads.name(),
        probe_gather.name(),
        probe_integers.name(),
        probe_products.name(),
        probe_long_integers.name(),
        probe_long_products.name(),
        probe_doubles.name(),
        probe_float_chain.name(),
        probe_double_chain.name(),
        probe_quotients.name(),
        probe_double_quotients.name(),
        probe_integer_quotients.name(),
        probe_long_quotients.name(),
        probe_roots.name(),
        probe_double_roots.name(),
        probe_barriers.name(),
    ] {
        add(name, multiprocessors, 32, 32);
        add(name, full, 256, 32);
    }
    for name in [probe_count.name(), probe_tickets.name()] {
        add(name, full, 256, 1);
        add(name, full, 256, 4);
    }
    for name in [probe_add.name(), probe_add_long.name(), probe_swap.name()] {
        for counters in [1, 64, 1 << 12, 1 << 20, 1 << 22] {
            add(name, full, 256, counters);
        }
    }
    for name in
        [probe_shared_counts.name(), probe_shared_sums.name(), probe_shared_double_sums.name()]
    {
        for (blocks, block, numbers) in [
            (multiprocessors, 32, 1),
            (multiprocessors, 32, 32),
            (full, 256, 1),
            (full, 256, 32),
            (full, 256, 256),
        ] {
            add(name, blocks, block, numbers);
        }
    }
    for lines in [1, 8, 1024] {
        add(probe_count_lanes.name(), full, 256, lines);
    }
    for words in [32, 256] {
        add(probe_scattered_table.name(), full, 256, words);
    }
    for blocks in [multiprocessors / 16, multiprocessors, full] {
        add(probe_lone_stores.name(), blocks.max(1), 256, 16);
    }
    for words in [256, 512, 1024, TABLE_WORDS] {
        add(probe_table.name(), full, 256, words);
    }
    add(probe_table.name(), multiprocessors, 32, TABLE_WORDS);
    probes
}

/// Times all probes and returns a table of them, one line each: cold, and right behind a launch of itself.
///
/// # Errors
/// The driver's.
pub fn table(gpu: &Gpu) -> Result<String> {
    if let Some(device) = gpu.virtual_device() {
        device.scale_work(WorkScale::default());
    }
    let instruments = Instruments::load(gpu)?;
    let sampler = Sampler::new(&instruments)?;
    let words: Vec<u32> = (0..PROBE_WORDS).map(|word| word.wrapping_mul(0x915f_77f5)).collect();
    let (source, target) = (DeviceBuffer::from_slice(&words)?, DeviceBuffer::from_slice(&words)?);
    let mut table = "kernel,grid,block,n,cold_us,hot_us\n".to_owned();
    for Probe { name, grid, block, n } in all(gpu.multiprocessors()?) {
        let function = instruments.module().get_function(name)?;
        let (stream, source) = (gpu.stream(), source.as_device_ptr());
        let target = target.as_device_ptr();
        let mut launch = |step: Step| -> Result<()> {
            if matches!(step, Step::Prepare) {
                return Ok(());
            }
            // SAFETY: all probes have these parameters but `measurement_nothing`, which has none, and
            // `measurement_read`, whose `n` vectors both arrays hold; they are aligned and outlive the sampler's wait.
            unsafe {
                if name == measurement_nothing.name() {
                    cust::launch!(function<<<grid, block, 0, stream>>>())?;
                } else {
                    cust::launch!(function<<<grid, block, 0, stream>>>(source, target, n))?;
                }
            }
            Ok(())
        };
        let mut median = |caches| -> Result<f64> {
            let series = sampler.series(caches, &RULE, &mut launch)?;
            Ok(series.spread().map_or(f64::NAN, |spread| 1e3 * spread.median))
        };
        let (cold, hot) = (median(Caches::Cold)?, median(Caches::Hot)?);
        writeln!(table, "{name},{grid},{block},{n},{cold:.3},{hot:.3}")?;
    }
    gpu.synchronize()?;
    Ok(table)
}
