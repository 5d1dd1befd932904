//! Functions that the driver provides to kernels: printf, assertions, the device heap.

use crate::error::{Error, FREE_OF, PANICKED};
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
use crate::report::{DeviceWork, DeviceWorkKind, KernelLaunch};
use crate::windows::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW};

/// Longest string that is read from the device.
const STRING_MAX: usize = 4096;
/// Longest output that a block may print.
const PRINTED_MAX: usize = 1 << 20;

/// `cudaErrorInvalidValue`, `cudaErrorMemoryAllocation`, `cudaErrorInvalidConfiguration` and `cudaErrorInvalidDevice`.
const INVALID_VALUE: u64 = 1;
const OUT_OF_MEMORY: u64 = 2;
const INVALID_CONFIGURATION: u64 = 9;
const INVALID_DEVICE: u64 = 101;
/// The last handle of the streams that every kernel has, and what is added to those that threads make.
const LAST_OF_ALL: u64 = 4;
const MADE_STREAMS: u64 = 1 << 56;

/// Bytes of the text of an error, and the number of codes that have one.
const TEXT_BYTES: u64 = 16;
const TEXTS: u64 = 1000;

/// Returns the texts that kernels get for the codes of errors, one after the other.
pub(crate) fn error_texts() -> Vec<u8> {
    let text = |code| if code == 0 { "no error".to_owned() } else { format!("CUDA error {code}") };
    let padded = |text: String| {
        let mut bytes = text.into_bytes();
        bytes.resize(TEXT_BYTES as usize, 0);
        bytes
    };
    (0..TEXTS).map(text).flat_map(padded).collect()
}

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
                    self.print(block, warp, (pc, lane), format, arguments)? as u64
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
                        self.write_value(block, warp, lane, (argument(warp, 0), address), 8);
                    if !written {
                        INVALID_VALUE
                    } else if address == 0 {
                        OUT_OF_MEMORY
                    } else {
                        0
                    }
                }
                Builtin::CreateStream => {
                    // A block runs in one worker, so no other stream has this handle.
                    self.streams += 1;
                    let stream = MADE_STREAMS + (block.linear << 24) + self.streams;
                    let written =
                        self.write_value(block, warp, lane, (argument(warp, 0), stream), 8);
                    if written { 0 } else { INVALID_VALUE }
                }
                Builtin::DestroyStream => 0,
                Builtin::LastError => {
                    self.last_errors.remove(&(block.linear, warp.index, lane)).unwrap_or(0)
                }
                Builtin::PeekError => {
                    let last = self.last_errors.get(&(block.linear, warp.index, lane));
                    last.copied().unwrap_or(0)
                }
                Builtin::EnqueueCopy => {
                    let [target, source, bytes] = [0, 1, 2].map(|index| argument(warp, index));
                    let kind = DeviceWorkKind::Copy { target, source, bytes };
                    let stream = argument(warp, 4);
                    self.enqueue(block, (warp, lane), (stream, 0), kind);
                    0
                }
                Builtin::EnqueueFill => {
                    let value = warp.read_local(lane, parameters[1], 1) as u8;
                    let (target, bytes) = (argument(warp, 0), argument(warp, 2));
                    let kind = DeviceWorkKind::Fill { target, value, bytes };
                    let stream = argument(warp, 3);
                    self.enqueue(block, (warp, lane), (stream, 0), kind);
                    0
                }
                Builtin::CurrentDevice => {
                    let device = self.run.memory.selected() as u64;
                    let written =
                        self.write_value(block, warp, lane, (argument(warp, 0), device), 4);
                    if written { 0 } else { INVALID_VALUE }
                }
                Builtin::DeviceCount => {
                    let count = self.run.memory.device_count() as u64;
                    let written =
                        self.write_value(block, warp, lane, (argument(warp, 0), count), 4);
                    if written { 0 } else { INVALID_VALUE }
                }
                Builtin::DeviceAttribute => {
                    let word = |index: usize| warp.read_local(lane, parameters[index], 4);
                    let (attribute, device) = (word(1) as usize, word(2) as usize);
                    let memory = self.run.memory;
                    match memory.attributes.get(&device).map(|all| all.get(attribute).copied()) {
                        None => INVALID_DEVICE,
                        Some(None | Some(None)) => INVALID_VALUE,
                        Some(Some(Some(value))) => {
                            let value = u64::from(value.cast_unsigned());
                            let target = (argument(warp, 0), value);
                            let written = self.write_value(block, warp, lane, target, 4);
                            if written { 0 } else { INVALID_VALUE }
                        }
                    }
                }
                Builtin::ErrorText => {
                    let code = warp.read_local(lane, parameters[0], 4).min(TEXTS - 1);
                    let texts = self.run.memory.error_texts.get(&self.run.memory.selected());
                    texts.map_or(0, |texts| texts + code * TEXT_BYTES)
                }
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
                    self.parameter_buffer(argument(warp, 0), shape)
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
            let may_fail = matches!(
                which,
                Builtin::LaunchKernel
                    | Builtin::AllocateAt
                    | Builtin::CreateStream
                    | Builtin::CurrentDevice
                    | Builtin::DeviceCount
                    | Builtin::DeviceAttribute
            );
            if may_fail && value != 0 {
                self.last_errors.insert((block.linear, warp.index, lane), value);
            }
            if let Some(result) = result {
                let is_address = matches!(
                    which,
                    Builtin::Allocate | Builtin::ParameterBuffer | Builtin::ErrorText
                );
                let bytes = if is_address { 8 } else { 4 };
                warp.write_local(lane, result, bytes, value);
                warp.mark_local(lane, result as u64, bytes);
            }
        }
        Ok(())
    }

    /// Writes a number of a few bytes where a lane wants it; false where there is no memory.
    fn write_value(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        lane: usize,
        (target, value): (u64, u64),
        bytes: usize,
    ) -> bool {
        let value_bytes = &value.to_le_bytes()[..bytes];
        match space_of(target) {
            Space::Local => {
                let offset = target - LOCAL_WINDOW;
                if offset + bytes as u64 > u64::from(warp.local_bytes) {
                    return false;
                }
                warp.write_local(lane, offset as u32, bytes as u32, value);
                warp.mark_local(lane, offset, bytes as u32);
            }
            Space::Shared => {
                let start = (target - SHARED_WINDOW) as usize;
                let Some(place) = block.shared.get_mut(start..start + bytes) else { return false };
                place.copy_from_slice(value_bytes);
            }
            _ => {
                let Some(index) = self.run.memory.find(target, bytes as u64) else { return false };
                let region = self.run.memory.region(index);
                for (at, byte) in (target - region.base..).zip(value_bytes) {
                    let pointer = region.pointer.wrapping_add(at as usize);
                    // SAFETY: the byte lies in the region, whose grains are valid, and all workers use the launch's
                    // granularity.
                    unsafe { self.run.granularity.store(pointer, 1, u64::from(*byte)) };
                }
                region.mark(target - region.base, bytes as u64);
            }
        }
        true
    }

    /// Gives memory for the arguments of a launch, or null where there is no such kernel or no room.
    fn parameter_buffer(
        &mut self,
        kernel: u64,
        (grid, block, dynamic_shared_bytes): ([u32; 3], [u32; 3], u32),
    ) -> u64 {
        let Some((kernel, bytes)) = self.run.program.launchable.get(&kernel) else { return 0 };
        let buffers = self.run.memory.launch_buffers.get(&self.run.memory.selected());
        let address = buffers.map_or(0, |buffers| buffers.allocate(u64::from(*bytes)));
        if address != 0 {
            let (kernel, parameters) = (kernel.clone(), vec![0; *bytes as usize]);
            let launch = KernelLaunch { kernel, grid, block, dynamic_shared_bytes, parameters };
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
        // What an H100 says of a stream that is none, and of a launch that cannot be: the kernel goes on.
        let limits = &self.run.options.limits;
        let sides = |extents: [u32; 3], most: [u32; 3]| {
            extents.iter().zip(most).all(|(extent, most)| (1..=most).contains(extent))
        };
        let threads = launch.block.iter().map(|extent| u64::from(*extent)).product::<u64>();
        let can_be = sides(launch.grid, limits.grid)
            && sides(launch.block, limits.block)
            && threads <= u64::from(limits.threads_per_block)
            && launch.dynamic_shared_bytes <= limits.shared_bytes_per_block;
        let code = if stream > LAST_OF_ALL && stream < MADE_STREAMS {
            INVALID_VALUE
        } else if can_be {
            0
        } else {
            INVALID_CONFIGURATION
        };
        let kind = DeviceWorkKind::Kernel(launch);
        self.enqueue(block, (warp, place.1), (stream, code), kind);
        if let Some(buffers) = self.run.memory.launch_buffers.get(&self.run.memory.selected()) {
            // It was given out before, so it can be given back.
            if let (Ok(bytes), true) = (buffers.free(buffer), self.observers.checking) {
                self.check_freed(block, warp, place, (buffer, bytes));
            }
        }
        code
    }

    /// Keeps work that a lane has enqueued, and what comes before it.
    fn enqueue(
        &mut self,
        block: &Block,
        (warp, lane): (&mut Warp, usize),
        (stream, code): (u64, u64),
        kind: DeviceWorkKind,
    ) {
        let before = self.observers.global.is_some().then(|| {
            let before = warp.order.released_by(lane);
            warp.order.tick();
            before
        });
        let work = DeviceWork { by_block: block.linear, stream, code, kind, beside: None };
        self.enqueued.push((work, before));
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
                    "{FREE_OF}{address:#x}, {reason}; {}; to fix it: free what `malloc` of a kernel returned, and only once",
                    memory.describe(address)
                );
                Err(Error::IllegalInstruction { place: Box::new(place), message })
            }
        }
    }

    /// Prints, and gives what CUDA's `printf` returns: the number of arguments, or -1 without a
    /// format.
    ///
    /// # Errors
    /// When the format asks for a string that lies in no memory.
    fn print(
        &mut self,
        block: &Block,
        warp: &Warp,
        (pc, lane): (usize, usize),
        format: u64,
        arguments: u64,
    ) -> Result<i64, Error> {
        if format == 0 {
            return Ok(-1);
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
            strings: 0,
            wild: None,
        };
        let text = printf::format(&format, &mut arguments);
        if let Some(address) = arguments.wild {
            let message = format!(
                "printf reads a string for %s there; {}; to fix it: pass the address of a string in memory of the device",
                self.run.memory.describe(address)
            );
            let place = Box::new(self.run.place(block.index, warp.index, 1 << lane, pc));
            return Err(Error::IllegalAddress { place, address, bytes: 1, message });
        }
        let print_bytes = size_of::<u64>() as u64 + arguments.offset + arguments.strings;
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
        self.print_bytes += print_bytes;
        match self.printed.last_mut() {
            Some((of, printed)) if *of == block.linear => {
                if printed.len() < PRINTED_MAX {
                    printed.push_str(&text);
                }
            }
            _ => self.printed.push((block.linear, text)),
        }
        Ok(count)
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
    /// The address of a string that lies in no memory.
    wild: Option<u64>,
    /// The bytes of its strings.
    strings: u64,
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
        if self.worker.byte(self.block, self.warp, self.lane, address).is_none() {
            self.wild.get_or_insert(address);
        }
        let text = self.worker.string(self.block, self.warp, self.lane, address);
        self.strings += text.len() as u64 + 1;
        text
    }
}
