//! The Guide's kernel: table and stream doubled in place, with and without a window of the launch.

use super::set_aside::set_aside;
use crate::prelude::*;
use cust::context::CurrentContext;
use cust::event::{Event, EventFlags};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::Stream;
use cust_ext::l2::{AccessPolicyWindow, PersistingLimit, WindowPolicy};
use cust_ext::launch::Launch;
use cust_ext::stream::{non_blocking, wait_event};
use kernels::caches::l2_persistence::{THREADS_PER_BLOCK, l2_persistence_double};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Doubling {
    Plain,
    Window,
    Tuned,
}

/// The Guide's window for an A100, bytes.
const TUNED_WINDOW: usize = 20 << 20;

/// A stream and a table that are doubled in place. The set-aside ends last, when no kernel runs any more.
struct InPlace {
    stream: Stream,
    streaming: DeviceBuffer<u32>,
    table: DeviceBuffer<u32>,
    window: Option<AccessPolicyWindow>,
    begin: Event,
    end: Event,
    has_run: bool,
    _set_aside: Option<PersistingLimit>,
}

pub fn build(gpu: &Gpu, case: &Case, _: &Size, plan: Doubling) -> Result<Box<dyn HostWork>> {
    let words = |input: usize| bytemuck::cast_slice::<u8, u32>(case.inputs[input].bytes());
    let table_bytes = size_of_val(words(1));
    let (bytes, hit_ratio) = match plan {
        Doubling::Tuned => {
            (table_bytes.min(TUNED_WINDOW), (TUNED_WINDOW as f32 / table_bytes as f32).min(1.0))
        }
        Doubling::Plain | Doubling::Window => (table_bytes, 1.0),
    };
    let set_aside = if plan == Doubling::Plain { None } else { Some(set_aside(gpu, bytes, 100)?) };
    let table = DeviceBuffer::from_slice(words(1))?;
    let window = if plan == Doubling::Plain {
        None
    } else {
        let policy = WindowPolicy { hit_ratio, ..WindowPolicy::PERSIST };
        Some(AccessPolicyWindow::over(&table.index(..bytes / 4), policy)?)
    };
    let event = || Event::new(EventFlags::DISABLE_TIMING);
    let work = InPlace {
        stream: non_blocking(None)?,
        streaming: DeviceBuffer::from_slice(words(0))?,
        table,
        window,
        begin: event()?,
        end: event()?,
        has_run: false,
        _set_aside: set_aside,
    };
    CurrentContext::synchronize()?;
    Ok(Box::new(work))
}

impl HostWork for InPlace {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let function = gpu.module().get_function(l2_persistence_double.name())?;
        let (mut n, mut length) = (self.streaming.len() as u32, self.table.len() as u32);
        let mut streaming = self.streaming.as_device_ptr();
        let mut table = self.table.as_device_ptr();
        let arguments = [
            (&raw mut streaming).cast(),
            (&raw mut table).cast(),
            (&raw mut n).cast(),
            (&raw mut length).cast(),
        ];
        let grid = n.div_ceil(THREADS_PER_BLOCK);
        let launch = Launch { window: self.window, ..Launch::new(grid, THREADS_PER_BLOCK) };
        self.begin.record(gpu.stream())?;
        wait_event(&self.stream, &self.begin)?;
        // SAFETY: the kernel takes two pointers and two lengths; the grid covers n; both arrays have as many words as
        // their lengths say, are two allocations, and live in `self`, which waits for the device when dropped.
        unsafe { launch.run(&function, &self.stream, &arguments)? };
        self.end.record(&self.stream)?;
        self.has_run = true;
        Ok(wait_event(gpu.stream(), &self.end)?)
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let values = |words: &DeviceBuffer<u32>| -> Result<Data> {
            let mut all = vec![u32::from_ne_bytes([POISON; 4]); words.len()];
            // Before the first run they are the inputs, which are no output.
            if self.has_run {
                words.copy_to(&mut all)?;
            }
            Ok(Data::U32(all))
        };
        Ok(vec![values(&self.streaming)?, values(&self.table)?])
    }
}
