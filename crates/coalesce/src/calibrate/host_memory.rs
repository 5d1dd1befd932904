//! What the host's memory costs: taking and locking it, reading it, and pages that move.

use super::{Figures, SAMPLES, Tools, WARM_UP};
use anyhow::Result;
use cust::memory::{DeviceBuffer, UnifiedBuffer};
use cust_ext::device::{Attribute, attribute};
use cust_ext::host_memory::{HostBuffer, HostFlags, RegisteredBuffer};
use cust_ext::managed::{MemoryLocation, prefetch};
use results::Spread;

impl Tools<'_> {
    /// What it costs the host to take, lock and read memory.
    pub(super) fn memory(&self, figures: &mut Figures) -> Result<()> {
        let gpu = self.gpu;
        let (small, large) = (1 << 20, self.words(1 << 26, 1 << 22));
        // A cost of two sizes is one that is the same for all and one per byte.
        let line = |costs: [f64; 2]| {
            let per_byte = (costs[1] - costs[0]) / (4 * (large - small)) as f64;
            (costs[0] - 4.0 * small as f64 * per_byte, 1e9 / per_byte)
        };
        let sizes = [small, large];
        let pair = |costs: [Result<f64>; 2]| -> Result<[f64; 2]> {
            let [small, large] = costs;
            Ok([small?, large?])
        };
        let device = pair(sizes.map(|words| {
            // The driver keeps some for the next, so that a few and twice as many differ by chance.
            let repeats = self.words((32 * small / words).max(4), 4);
            let ns = self.time(|| {
                (0..repeats).try_for_each(|_| {
                    // SAFETY: nobody reads it.
                    drop(unsafe { DeviceBuffer::<u32>::uninitialized(words) }?);
                    Ok(())
                })
            })?;
            Ok(ns / repeats as f64)
        }))?;
        let lock = |words: usize, repeats: usize, flags: HostFlags| {
            self.cost(repeats, || {
                // SAFETY: nobody reads it.
                Ok(unsafe { HostBuffer::<u32>::uninitialized(words, flags) }?.free()?)
            })
        };
        let (_, lock_rate) = line(pair(sizes.map(|words| lock(words, 2, HostFlags::PINNED)))?);
        // What locking takes for every size is lost in the noise of large ones.
        let [page, write_combined_page] = pair(
            [HostFlags::PINNED, HostFlags::WRITE_COMBINED].map(|flags| lock(1 << 10, 16, flags)),
        )?;
        let registered = pair(sizes.map(|words| {
            let mut memory = vec![1_u32; words];
            self.cost(2, || {
                memory = RegisteredBuffer::new(std::mem::take(&mut memory), false)?.into_inner()?;
                Ok(())
            })
        }))?;
        let reads = [HostFlags::PINNED, HostFlags::WRITE_COMBINED].map(|flags| {
            // As the rows of `pinned_memory` have: what is larger than the caches may be written past them.
            let words = self.words(1 << 24, 1 << 20);
            let source = HostBuffer::<u32>::zeroed(words, flags)?;
            let mut target = vec![0_u32; words];
            // Without a call there is nothing fixed to take off, and two sizes would differ by the host's noise.
            let ns = self.time(|| {
                target.copy_from_slice(&source);
                gpu.host_has_read(&source);
                Ok(())
            });
            ns.map(|ns| 4.0 * words as f64 / ns * 1e9)
        });
        let [read, write_combined] = reads;
        let calls = |figure: &str| -> f64 {
            figures.iter().find(|(name, _)| *name == figure).map_or(0.0, |(_, value)| *value)
        };
        let api_call = calls("api_call_ns");
        let (device_pair, device_rate) = line(device);
        let (register_latency, register_rate) = line(registered);
        figures.extend([
            ("device_memory_call_ns", device_pair / 2.0),
            ("device_memory_bytes_per_second", 2.0 * device_rate),
            ("page_lock_latency_ns", (page - 2.0 * api_call).max(0.0)),
            ("page_lock_bytes_per_second", lock_rate),
            ("write_combined_lock_ns", (write_combined_page - page).max(0.0)),
            ("page_register_latency_ns", (register_latency - 2.0 * api_call).max(0.0)),
            ("page_register_bytes_per_second", register_rate),
            ("host_read_bytes_per_second", read?),
            ("write_combined_read_bytes_per_second", write_combined?),
        ]);
        Ok(())
    }

    /// How fast pages of managed memory move, and come into being where the host writes them first.
    pub(super) fn pages(&self, figures: &mut Figures) -> Result<()> {
        let gpu = self.gpu;
        if attribute(gpu.device(), Attribute::ConcurrentManagedAccess)? == 0 {
            return Ok(());
        }
        let words = self.words(1 << 24, 1 << 22);
        let (warm_up, samples) = if self.is_model { (1, 1) } else { (WARM_UP, SAMPLES) };
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..warm_up + samples {
            // SAFETY: the host writes it before anybody reads.
            let mut memory = unsafe { UnifiedBuffer::<u32>::uninitialized(words) }?;
            let mut timed = |of: usize, work: &mut dyn FnMut() -> Result<()>| -> Result<()> {
                gpu.synchronize()?;
                self.stopwatch.start(gpu)?;
                work()?;
                self.stopwatch.stop(gpu)?;
                times[of].push(1e6 * self.stopwatch.elapsed_ms()?);
                Ok(())
            };
            timed(0, &mut || {
                memory.as_mut_slice().fill(1);
                gpu.host_has_written(memory.as_slice());
                Ok(())
            })?;
            for (of, to) in [(1, MemoryLocation::Device(gpu.device())), (2, MemoryLocation::Host)] {
                timed(of, &mut || Ok(prefetch(&memory, 0..words, to, gpu.stream())?))?;
            }
            gpu.synchronize()?;
        }
        let rate =
            |times: &Vec<f64>| 4.0 * words as f64 / Spread::of(&times[warm_up..]).median * 1e9;
        let [first, to_device, to_host] = &times;
        figures.extend([
            ("pages_first_on_host_bytes_per_second", rate(first)),
            ("pages_to_device_bytes_per_second", rate(to_device)),
            ("pages_to_host_bytes_per_second", rate(to_host)),
        ]);
        Ok(())
    }
}
