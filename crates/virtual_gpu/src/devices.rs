//! The devices of a machine: which of them a call means, and who reaches whom.
//!
//! A call means the device of the context that is current on its thread, or else of the stream or event that it names. Work that runs later means that of its stream.

use crate::code::CuResult;
use crate::device_state::DeviceState;
use crate::driver::Driver;
use crate::objects::{ContextState, Objects};
use crate::thread;
use std::ops::Range;

impl Driver {
    /// The number of the device that is meant.
    pub(crate) fn current(&self) -> usize {
        self.objects.device
    }

    pub(crate) fn device(&self) -> &DeviceState {
        &self.devices[self.objects.device]
    }

    pub(crate) fn device_mut(&mut self) -> &mut DeviceState {
        &mut self.devices[self.objects.device]
    }

    /// From here on this device is meant; gives the one that was.
    pub(crate) fn select(&mut self, device: usize) -> usize {
        self.memory.device.select(device);
        std::mem::replace(&mut self.objects.device, device)
    }

    /// From here on the device of the context is meant that is current on this thread; without one, the first.
    pub(crate) fn select_current(&mut self) {
        let context = thread::current_context().and_then(|it| self.objects.contexts.get(it).ok());
        let device = context.map_or(0, |context: &ContextState| context.device);
        self.select(device);
    }

    /// Checks that a context is current, or that the stream was created and brings its own: then its device is meant.
    /// A GPU's driver does the same (`tests/no_context.rs`).
    pub(crate) fn context_with_stream(&mut self, stream: usize) -> CuResult {
        if Objects::is_default(stream) {
            return self.context().map(|_| ());
        }
        let device = self.objects.stream(stream).map(|stream| stream.device);
        self.context_with(device)
    }

    /// Checks the same of an event.
    pub(crate) fn context_with_event(&mut self, event: usize) -> CuResult {
        let device = self.objects.events.get(event).map(|event| event.device);
        self.context_with(device)
    }

    /// Checks the same of memory.
    pub(crate) fn context_with_memory(&mut self, address: u64) -> CuResult {
        let device = self.memory.device_of(address).unwrap_or(0);
        self.context_with(Ok(device))
    }

    fn context_with(&mut self, device: CuResult<usize>) -> CuResult {
        if !self.initialized || thread::current_context().is_some() {
            return self.context().map(|_| ());
        }
        self.select(device?);
        self.device().fault.map_or(Ok(()), Err)
    }

    /// Returns whether kernels of one device may access what another has allocated: a context of the first has asked for it.
    pub(crate) fn has_access(&self, device: usize, peer: usize) -> bool {
        device == peer
            || self
                .objects
                .peers
                .iter()
                .any(|pair| self.objects.devices_of(*pair) == Some((device, peer)))
    }

    /// Takes out of reach what kernels of the device that is meant may not access: other devices' memory without peer
    /// access, what came from pools that give it none, which is asked for by pool, and what was lost with its device.
    pub(crate) fn hide_inaccessible(&mut self) {
        if self.devices.len() == 1 {
            return;
        }
        let device = self.current();
        let open: Vec<bool> =
            (0..self.devices.len()).map(|other| self.has_access(device, other)).collect();
        let lost: Vec<bool> = self.devices.iter().map(|device| device.lost).collect();
        let objects = &self.objects;
        let owner = |address: u64| {
            (0..open.len()).find(|other| simt::Memory::addresses(*other).contains(&address))
        };
        let is_hidden = |address: u64| {
            let other = owner(address).filter(|other| *other != device);
            other.is_some_and(|other| match objects.pool_that_holds(address) {
                Some(pool) => lost[other] || !pool.open_to.contains(&device),
                None => lost[other] || !open[other],
            })
        };
        self.memory.device.hide(is_hidden);
    }

    /// The other devices, in the order of their numbers, and their addresses.
    pub(crate) fn peers(&self) -> Vec<(usize, Range<u64>)> {
        let others = (0..self.devices.len()).filter(|other| *other != self.current());
        others.map(|other| (other, simt::Memory::addresses(other))).collect()
    }
}
