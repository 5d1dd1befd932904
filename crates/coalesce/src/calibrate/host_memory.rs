//! The cost of the host's memory: taking and locking it, reading it, and pages that move.

use super::{Figures, SAMPLES, Tools, WARM_UP};
use anyhow::Result;
use cust::memory::{DeviceBuffer, UnifiedBuffer};
use cust_ext::device::{DeviceAttribute, attribute};
use cust_ext::host_memory::{HostBuffer, HostFlags, RegisteredBuffer};
use cust_ext::managed::{MemoryLocation, prefetch};
use results::Spread;
use std::hint::black_box;

const PAGE_WORDS: usize = 1 << 10;

impl Tools<'_> {
    /// Returns what it costs the host to take, lock and read memory.
    pub(super) fn memory(&self, figures: &mut Figures) -> Result<()> {
        let gpu = self.gpu;
        // A cost of two sizes is one that is the same for all and one per byte.
        let line = |sizes: [usize; 2], costs: [Result<f64>; 2]| -> Result<(f64, f64)> {
            let ([small, large], [of_small, of_large]) = (sizes, costs);
            let (of_small, of_large) = (of_small?, of_large?);
            let per_byte = (of_large - of_small) / (4 * (large - small)) as f64;
            Ok((of_small - 4.0 * small as f64 * per_byte, 1e9 / per_byte))
        };
        // The driver keeps some memory for the next, so that a few allocations and twice as many differ by chance.
        let sizes = [1 << 20, self.words(1 << 26, 1 << 22)];
        let taken = |words: usize| {
            self.each(if self.is_model || words > sizes[0] { 4 } else { 32 }, || {
                // SAFETY: nobody reads it.
                drop(unsafe { DeviceBuffer::<u32>::uninitialized(words) }?);
                Ok(())
            })
        };
        let (device_pair, device_rate) = line(sizes, sizes.map(taken))?;
        let lock = |words: usize, repeats: usize, flags: HostFlags| {
            self.each(repeats, || {
                // SAFETY: nobody reads it.
                Ok(unsafe { HostBuffer::<u32>::uninitialized(words, flags) }?.free()?)
            })
        };
        // The first 2 MiB take as long as a page.
        let page = lock(1 << 10, 16, HostFlags::PINNED)?;
        let sizes = [1 << 19, self.words(1 << 24, 1 << 22)];
        let (_, lock_rate) = line(sizes, sizes.map(|words| lock(words, 1, HostFlags::PINNED)))?;
        let write_combined_page = lock(1 << 10, 16, HostFlags::WRITE_COMBINED)?;
        let sizes = [1 << 10, sizes[1]];
        let (register_latency, register_rate) = line(
            sizes,
            sizes.map(|words| {
                let mut memory = vec![1_u32; words];
                self.each(if words > sizes[0] { 1 } else { 16 }, || {
                    let locked = RegisteredBuffer::new(std::mem::take(&mut memory), false)?;
                    memory = locked.into_inner()?;
                    Ok(())
                })
            }),
        )?;
        let reads = [HostFlags::PINNED, HostFlags::WRITE_COMBINED].map(|flags| {
            let words = self.words(1 << 24, 1 << 23);
            let source = HostBuffer::<u32>::zeroed(words, flags)?;
            let mut target = vec![0_u32; words];
            self.whole_rate(|words| {
                target[..words].copy_from_slice(&source[..words]);
                gpu.host_has_read(&source[..words]);
                Ok(())
            })
        });
        let [read, write_combined] = reads;
        let calls = |figure: &str| -> f64 {
            figures.iter().find(|(name, _)| *name == figure).map_or(0.0, |(_, value)| *value)
        };
        let api_call = calls("api_call_ns");
        figures.extend([
            ("device_memory_call_ns", device_pair / 2.0),
            ("device_memory_bytes_per_second", 2.0 * device_rate),
            ("page_lock_latency_ns", (page - 2.0 * api_call).max(0.0)),
            ("page_lock_bytes_per_second", lock_rate),
            ("write_combined_lock_ns", (write_combined_page - page).max(0.0)),
            ("page_register_latency_ns", (register_latency - 2.0 * api_call).max(0.0)),
            ("page_register_bytes_per_second", register_rate),
            ("host_read_bytes_per_second", 4.0 * read?),
            ("write_combined_read_bytes_per_second", 4.0 * write_combined?),
        ]);
        Ok(())
    }

    /// Returns how fast pages of managed memory move, and come into being where the host writes them first.
    pub(super) fn pages(&self, figures: &mut Figures) -> Result<()> {
        let gpu = self.gpu;
        if attribute(gpu.device(), DeviceAttribute::ConcurrentManagedAccess)? == 0 {
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
            let to = MemoryLocation::Device(gpu.device());
            timed(1, &mut || Ok(prefetch(&memory, 0..words, to, gpu.stream())?))?;
            // Back by the host's own accesses, as most programs do it.
            timed(2, &mut || {
                // `black_box` of a reference would read nothing.
                memory.as_slice().iter().step_by(PAGE_WORDS).for_each(|word| {
                    black_box(*word);
                });
                gpu.host_has_touched(memory.as_slice());
                Ok(())
            })?;
            gpu.synchronize()?;
        }
        let rate = |times: &Vec<f64>, faults_ns: f64| {
            // Where a fault takes much less than in the profile, half of the time is taken to move bytes.
            let time_ns = Spread::of(&times[warm_up..]).median;
            4e9 * words as f64 / (time_ns - faults_ns.min(time_ns / 2.0))
        };
        // The host's accesses fault once per 2 MiB.
        let faults_ns = (4 * words).div_ceil(1 << 21) as f64 * self.page_fault_ns;
        let [first, to_device, to_host] = &times;
        figures.extend([
            ("pages_first_on_host_bytes_per_second", rate(first, 0.0)),
            ("pages_to_device_bytes_per_second", rate(to_device, 0.0)),
            ("pages_to_host_bytes_per_second", rate(to_host, faults_ns)),
        ]);
        Ok(())
    }
}
