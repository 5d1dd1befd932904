//! Functions that the driver provides to kernels: printf, assertions, the device heap.

use crate::error::{Error, PANICKED};
use crate::execute::issue::block::Block;
use crate::execute::issue::run::Run;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::request::space_of;
use crate::findings::{Finding, Hazard, Remedy};
use crate::memory::Memory;
use crate::operation::{Builtin, Space};
use crate::printf;
use crate::registers::LANES;
use crate::report::KernelLaunch;
use crate::windows::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW};

/// Longest string that is read from the device.
const STRING_MAX: usize = 4096;
/// Longest output that a block may print.
const PRINTED_MAX: usize = 1 << 20;

/// `cudaErrorInvalidValue` and `cudaErrorMemoryAllocation`.
const INVALID_VALUE: u64 = 1;
const OUT_OF_MEMORY: u64 = 2;
/// Below are the handles of streams that every kernel has.
const FIRST_STREAM: u64 = 16;

impl Run<'_> {
    /// A byte of device memory, if it is allocated.
    pub fn device_byte(&self, address: u64) -> Option<u8> {
        let region = self.memory.region(self.memory.find(address, 1)?);
        let pointer = region.pointer.wrapping_add((address - region.base) as usize);
        // SAFETY: the byte lies in the region, whose grains are valid, and all workers use the
        // launch's granularity.
        Some(unsafe { self.granularity.load(pointer, 1) } as u8)
    }
}

impl Worker<'_> {
    pub fn builtin(
        &mut self,
        issue: Issue<'_>,
        which: Builtin,
        parameters: &[u32],
        result: Option<u32>,
    ) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        if let Some(observer) = &mut self.observers.observer {
            observer.amount(u64::from(mask.count_ones()));
        }
        for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
            let argument = |warp: &Warp, index: usize| warp.read_local(lane, parameters[index], 8);
            let value = match which {
                Builtin::Print => {
                    let (format, arguments) = (argument(warp, 0), argument(warp, 1));
                    self.print(block, warp, (pc, lane), format, arguments) as u64
                }
                Builtin::AssertFail => {
                    let message = self.string(block, warp, lane, argument(warp, 0));
                    let file = self.string(block, warp, lane, argument(warp, 1));
                    let [message, file] =
                        [message, file].map(|text| String::from_utf8_lossy(&text).into_owned());
                    let line = warp.read_local(lane, parameters[2], 4);
                    let place = self.run.place(block.index, warp.index, 1 << lane, pc);
                    return Err(Error::Trap {
                        place: Box::new(place),
                        message: format!("{message} ({file}:{line})"),
                    });
                }
                Builtin::Allocate => {
                    let heap = self.run.memory.heaps.get(&self.run.memory.selected());
                    heap.map_or(0, |heap| heap.allocate(argument(warp, 0)))
                }
                Builtin::AllocateAt => {
                    let heap = self.run.memory.heaps.get(&self.run.memory.selected());
                    let address = heap.map_or(0, |heap| heap.allocate(argument(warp, 1)));
                    let written =
                        self.write_address(block, warp, lane, (argument(warp, 0), address));
                    if written && address != 0 { 0 } else { OUT_OF_MEMORY }
                }
                Builtin::CreateStream => {
                    self.streams += 1;
                    let stream = FIRST_STREAM + self.streams;
                    let written =
                        self.write_address(block, warp, lane, (argument(warp, 0), stream));
                    if written { 0 } else { INVALID_VALUE }
                }
                Builtin::DestroyStream | Builtin::LastError => 0,
                Builtin::Free | Builtin::FreeAt => {
                    let address = argument(warp, 0);
                    if address != 0 {
                        self.free(block, warp, (pc, lane), address)?;
                    }
                    0
                }
                Builtin::ParameterBuffer => {
                    let three = |warp: &Warp, index: usize| {
                        [0, 4, 8].map(|at| warp.read_local(lane, parameters[index] + at, 4) as u32)
                    };
                    let shared = warp.read_local(lane, parameters[3], 4) as u32;
                    let shape = (three(warp, 1), three(warp, 2), shared);
                    self.parameter_buffer(argument(warp, 0), block.linear, shape)
                }
                Builtin::LaunchKernel => {
                    let (buffer, stream) = (argument(warp, 0), argument(warp, 1));
                    self.launch_kernel(block, warp, (pc, lane), (buffer, stream))
                }
                Builtin::SetCondition => {
                    let (handle, value) =
                        (argument(warp, 0), warp.read_local(lane, parameters[1], 4));
                    let found = self.run.memory.find(handle, 4);
                    let is_condition = |index: &usize| {
                        let region = self.run.memory.region(*index);
                        region.base == handle && region.label == Memory::CONDITION
                    };
                    let Some(index) = found.filter(is_condition) else {
                        let place = self.run.place(block.index, warp.index, 1 << lane, pc);
                        let message = format!(
                            "`cudaGraphSetConditional` of {handle:#x}, which is no handle of a condition; to fix it: pass \
                             what cudaGraphConditionalHandleCreate gave"
                        );
                        return Err(Error::IllegalInstruction { place: Box::new(place), message });
                    };
                    if self.observers.checking {
                        self.check_condition(block, warp, (pc, lane), (handle, value as u32));
                    }
                    let region = self.run.memory.region(index);
                    let pointer = region.pointer.wrapping_add((handle - region.base) as usize);
                    // SAFETY: the four bytes lie in the region, whose grains are valid, and all workers use the launch's
                    // granularity.
                    unsafe { self.run.granularity.store(pointer, 4, value) };
                    0
                }
            };
            if let Some(result) = result {
                let is_address = matches!(which, Builtin::Allocate | Builtin::ParameterBuffer);
                let bytes = if is_address { 8 } else { 4 };
                warp.write_local(lane, result, bytes, value);
                warp.mark_local(lane, result as u64, bytes);
            }
        }
        Ok(())
    }

    /// Writes an address or a handle where a lane wants it; false where there is no memory.
    fn write_address(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        lane: usize,
        (target, value): (u64, u64),
    ) -> bool {
        match space_of(target) {
            Space::Local => {
                let offset = target - LOCAL_WINDOW;
                if offset + 8 > u64::from(warp.local_bytes) {
                    return false;
                }
                warp.write_local(lane, offset as u32, 8, value);
                warp.mark_local(lane, offset, 8);
            }
            Space::Shared => {
                let start = (target - SHARED_WINDOW) as usize;
                let Some(place) = block.shared.get_mut(start..start + 8) else { return false };
                place.copy_from_slice(&value.to_le_bytes());
            }
            _ => {
                let Some(index) = self.run.memory.find(target, 8) else { return false };
                let region = self.run.memory.region(index);
                for (at, byte) in (target - region.base..).zip(value.to_le_bytes()) {
                    let pointer = region.pointer.wrapping_add(at as usize);
                    // SAFETY: the byte lies in the region, whose grains are valid, and all workers use the launch's
                    // granularity.
                    unsafe { self.run.granularity.store(pointer, 1, u64::from(byte)) };
                }
                region.mark(target - region.base, 8);
            }
        }
        true
    }

    /// Gives memory for the arguments of a launch, or null where there is no such kernel or no room.
    fn parameter_buffer(
        &mut self,
        kernel: u64,
        by_block: u64,
        (grid, block, dynamic_shared_bytes): ([u32; 3], [u32; 3], u32),
    ) -> u64 {
        let Some((kernel, bytes)) = self.run.program.launchable.get(&kernel) else { return 0 };
        let heap = self.run.memory.heaps.get(&self.run.memory.selected());
        let address = heap.map_or(0, |heap| heap.allocate(u64::from(*bytes)));
        if address != 0 {
            let (kernel, parameters) = (kernel.clone(), vec![0; *bytes as usize]);
            let launch = KernelLaunch {
                kernel,
                grid,
                block,
                dynamic_shared_bytes,
                parameters,
                by_block,
                stream: 0,
            };
            self.buffers.insert(address, launch);
        }
        address
    }

    /// Makes a launch with the arguments in a buffer; gives a code of the runtime.
    fn launch_kernel(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        place: (usize, usize),
        (buffer, stream): (u64, u64),
    ) -> u64 {
        let Some(mut launch) = self.buffers.remove(&buffer) else { return INVALID_VALUE };
        for (byte, address) in launch.parameters.iter_mut().zip(buffer..) {
            *byte = self.run.device_byte(address).unwrap_or(0);
        }
        launch.stream = stream;
        self.launches.push(launch);
        if let Some(heap) = self.run.memory.heaps.get(&self.run.memory.selected()) {
            // It was given out before, so it can be given back.
            if let (Ok(bytes), true) = (heap.free(buffer), self.observers.checking) {
                self.check_freed(block, warp, place, (buffer, bytes));
            }
        }
        0
    }

    /// The text of a panic in Rust, which prints it in a line of its own and traps then; empty for any other trap.
    pub fn panic_message(&self, block: &Block) -> String {
        let printed = self.printed.last().filter(|(of, _)| *of == block.linear);
        let line = printed.and_then(|(_, text)| text.lines().next_back()).unwrap_or_default();
        let text = line.find(PANICKED).map(|at| line[at..].trim_end().to_owned());
        text.unwrap_or_default()
    }

    /// Gives memory back to the device's heap.
    fn free(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (pc, lane): (usize, usize),
        address: u64,
    ) -> Result<(), Error> {
        let memory = self.run.memory;
        let Some(heap) = memory.heaps.get(&memory.selected()) else { return Ok(()) };
        match heap.free(address) {
            Ok(bytes) => {
                if self.observers.checking {
                    self.check_freed(block, warp, (pc, lane), (address, bytes));
                }
                Ok(())
            }
            Err(reason) => {
                let place = self.run.place(block.index, warp.index, 1 << lane, pc);
                let message = format!(
                    "`free` of {address:#x}, {reason}; {}; to fix it: free what `malloc` of a kernel returned, and only once",
                    memory.describe(address)
                );
                Err(Error::IllegalInstruction { place: Box::new(place), message })
            }
        }
    }

    /// Prints, and gives what CUDA's `printf` returns: the number of arguments, or -1 without a
    /// format.
    fn print(
        &mut self,
        block: &Block,
        warp: &Warp,
        (pc, lane): (usize, usize),
        format: u64,
        arguments: u64,
    ) -> i64 {
        if format == 0 {
            return -1;
        }
        let format = self.string(block, warp, lane, format);
        let mut arguments = ArgumentList {
            worker: self,
            block,
            warp,
            lane,
            start: arguments,
            offset: 0,
            count: 0,
            missing: None,
        };
        let text = printf::format(&format, &mut arguments);
        let (text, count) = (String::from_utf8_lossy(&text).into_owned(), arguments.count);
        if let (Some(missing), true) = (arguments.missing, self.run.options.checks.uninitialized) {
            let (index, w) = (block.index, warp.index);
            self.observers.find(Hazard::UninitializedLocal, pc, |run| {
                let message = format!(
                    "the format asks for an argument number {missing}, which was not passed"
                );
                let place = run.place(index, w, 1 << lane, pc);
                let fix = Some(Remedy::PrintArguments);
                Finding { fix, ..Finding::new(Hazard::UninitializedLocal, place, message) }
            });
        }
        match self.printed.last_mut() {
            Some((of, printed)) if *of == block.linear => {
                if printed.len() < PRINTED_MAX {
                    printed.push_str(&text);
                }
            }
            _ => self.printed.push((block.linear, text)),
        }
        count
    }

    /// A byte at a generic address, as far as there is one.
    pub fn byte(&self, block: &Block, warp: &Warp, lane: usize, address: u64) -> Option<u8> {
        match space_of(address) {
            Space::Shared => block.shared.get((address - SHARED_WINDOW) as usize).copied(),
            Space::Local => {
                let offset = (address - LOCAL_WINDOW) as u32;
                (offset < warp.local_bytes).then(|| warp.read_local(lane, offset, 1) as u8)
            }
            Space::Parameter => {
                self.run.parameters.get((address - PARAMETER_WINDOW) as usize).copied()
            }
            _ => self.run.device_byte(address),
        }
    }

    fn string(&self, block: &Block, warp: &Warp, lane: usize, address: u64) -> Vec<u8> {
        (0..STRING_MAX as u64)
            .map_while(|i| self.byte(block, warp, lane, address.wrapping_add(i)))
            .take_while(|byte| *byte != 0)
            .collect()
    }
}

/// The arguments of a `printf`, which lie as in a struct.
struct ArgumentList<'a, 'run> {
    worker: &'a Worker<'run>,
    block: &'a Block,
    warp: &'a Warp,
    lane: usize,
    start: u64,
    offset: u64,
    count: i64,
    /// The first that nobody wrote, from 1, where that is known.
    missing: Option<i64>,
}

impl ArgumentList<'_, '_> {
    /// Returns whether somebody wrote a byte of the list, as far as one knows.
    fn is_passed(&self, at: u64) -> bool {
        let address = self.start.wrapping_add(at);
        if space_of(address) != Space::Local || self.warp.local_written.is_empty() {
            return self.worker.byte(self.block, self.warp, self.lane, address).is_some();
        }
        let [start, offset] = [self.start, address].map(|it| (it - LOCAL_WINDOW) as u32);
        let word = self.warp.local_written.get((offset / 4) as usize * LANES + self.lane);
        // Behind the list lies what has nothing to do with it.
        let list = self.worker.run.program.local_variables.iter();
        let list = list.rev().find(|(begin, _)| *begin <= start);
        list.is_none_or(|(begin, bytes)| offset < begin + bytes)
            && word.is_some_and(|bits| bits >> (offset % 4) & 1 != 0)
    }
}

impl printf::Arguments for ArgumentList<'_, '_> {
    fn next(&mut self, bytes: u64) -> u64 {
        let first = self.offset.next_multiple_of(bytes);
        self.offset = first + bytes;
        self.count += 1;
        if !(first..first + bytes).all(|at| self.is_passed(at)) {
            self.missing.get_or_insert(self.count);
        }
        (first..first + bytes).rev().fold(0, |value, at| {
            let address = self.start.wrapping_add(at);
            let byte = self.worker.byte(self.block, self.warp, self.lane, address);
            value << 8 | u64::from(byte.unwrap_or(0))
        })
    }

    fn string(&mut self, address: u64) -> Vec<u8> {
        self.worker.string(self.block, self.warp, self.lane, address)
    }
}
