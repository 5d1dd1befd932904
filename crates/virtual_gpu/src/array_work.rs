//! Making arrays, and copies between them and plain memory.

use crate::access::{Access, How};
use crate::arrays::{Array, ArrayRequest};
use crate::code::{CuResult, INVALID_HANDLE};
use crate::driver::Driver;
use crate::memories::ARRAY_LABEL;
use crate::objects::DEFAULT;
use crate::work::QueuedWork;
use cuda_driver::{OperationKind, ReturnCode};
use gpu_model::copy_time::{self, Direction};
use simt::Image;

impl Driver {
    /// Makes an array of so many levels, and gives one array for each.
    pub(crate) fn make_arrays(
        &mut self,
        request: ArrayRequest,
        levels: usize,
    ) -> CuResult<Vec<Array>> {
        self.context()?;
        // The driver takes any number, and makes as many levels as there can be.
        let longest = request.width.max(request.height).max(1);
        let levels = levels.clamp(1, longest.ilog2() as usize + 1);
        let mut image = request.image(&self.device().profile, levels)?;
        let sizes: Vec<u64> = (0..levels).map(|level| image.level_bytes(level)).collect();
        let device = &mut self.memory.device;
        let first = device
            .allocate_named(sizes.iter().sum(), ARRAY_LABEL)
            .map_err(|_| ReturnCode::OUT_OF_MEMORY)?;
        let mut address = first;
        let mut arrays = Vec::new();
        for (level, bytes) in sizes.into_iter().enumerate() {
            image.levels[level].address = address;
            let [width, height, depth] = image.extent(level);
            let own =
                Image { width, height, depth, levels: vec![image.levels[level]], ..image.clone() };
            let shrunk = |n: usize, now: u32| if n == 0 { 0 } else { now as usize };
            let request = ArrayRequest {
                width: width as usize,
                height: shrunk(request.height, height),
                depth: shrunk(request.depth, depth),
                ..request
            };
            arrays.push(Array { request, image: own, is_level: level > 0 || levels > 1 });
            address += bytes;
        }
        Ok(arrays)
    }

    /// Frees an array after everything that may use it; a level stays with its mipmapped array.
    pub(crate) fn free_array(&mut self, handle: usize) -> CuResult {
        self.context()?;
        self.run_all();
        if self.objects.arrays.get(handle)?.is_level {
            return Ok(());
        }
        let array = self.objects.arrays.remove(handle)?;
        let freed = self.memory.device.free(array.image.levels[0].address);
        freed.map_err(|_| ReturnCode::INVALID_VALUE)
    }

    /// Frees a mipmapped array and its levels.
    pub(crate) fn free_mipmaps(&mut self, handle: usize) -> CuResult {
        self.context()?;
        self.run_all();
        let levels = self.objects.mipmaps.remove(handle)?;
        let mut first = None;
        for level in levels {
            let array = self.objects.arrays.remove(level)?;
            first.get_or_insert(array.image.levels[0].address);
        }
        let freed = first.map(|address| self.memory.device.free(address));
        freed.map_or(Ok(()), |freed| freed.map_err(|_| ReturnCode::INVALID_VALUE))
    }
}

/// One side of a copy of a box.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BoxSide {
    /// The first byte of the box, bytes between its rows, and rows between its slices.
    Plain { address: u64, pitch: usize, rows: usize },
    /// An array, and the first byte, row and slice of the box.
    Array { handle: usize, byte: usize, y: usize, z: usize },
}

/// A copy of a box of bytes, of which at least one side is an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxCopy {
    pub(crate) target: BoxSide,
    pub(crate) source: BoxSide,
    /// Bytes, rows and slices.
    pub(crate) extent: [usize; 3],
}

impl Driver {
    /// Copies a box, after all work that was enqueued before. An asynchronous copy, which has a stream, is done at once, too,
    /// and the host has not waited for it.
    pub(crate) fn copy_box(&mut self, stream: Option<usize>, copy: &BoxCopy) -> CuResult {
        self.context()?;
        if copy.extent.contains(&0) {
            return Ok(());
        }
        for side in [copy.source, copy.target] {
            self.check_side(side, copy.extent)?;
        }
        let checks = self.options.checks.global_races;
        let touched = if checks { self.touched(copy) } else { Vec::new() };
        let id = self.submit(stream.unwrap_or(DEFAULT), QueuedWork::Touch(touched))?;
        if let (Some(id), None) = (id, stream) {
            self.wait(id)?;
        }
        self.execute_all();
        let mut row = vec![0; copy.extent[0]];
        for z in 0..copy.extent[2] {
            for y in 0..copy.extent[1] {
                self.read_row(copy.source, y, z, &mut row)?;
                self.write_row(copy.target, y, z, &row)?;
            }
        }
        self.note_box(copy);
        Ok(())
    }

    /// Returns the memory that a copy of a box uses on the device or page-locked; nothing of an array in very many pieces.
    fn touched(&self, copy: &BoxCopy) -> Vec<Access> {
        let [width, height, depth] = copy.extent;
        let mut all = Vec::new();
        for (side, how) in [(copy.source, How::Reads), (copy.target, How::Writes)] {
            match side {
                BoxSide::Plain { address, .. } if self.memory.is_host(address) => {}
                BoxSide::Plain { address, pitch, rows } => all.extend((0..depth).map(|z| {
                    let start = address + (z * rows * pitch) as u64;
                    Access::plane(start, (width, pitch, height), how)
                })),
                BoxSide::Array { handle, byte, y, z } => {
                    let Ok(array) = self.objects.arrays.get(handle) else { continue };
                    let image = &array.image;
                    let whole = [
                        image.row_bytes(0) as usize,
                        image.height.max(1) as usize,
                        image.depth.max(1) as usize,
                    ];
                    if copy.extent == whole {
                        let (start, bytes) = (image.levels[0].address, image.level_bytes(0));
                        all.push(Access::linear(start, bytes, how));
                    } else if width / PIECE * height * depth <= MOST_PIECES {
                        for (row, slice) in
                            (0..height).flat_map(|row| (0..depth).map(move |slice| (row, slice)))
                        {
                            let place = (byte, (y + row) as u32, (z + slice) as u32);
                            let _is_there = pieces(image, place, width, |at, range| {
                                all.push(Access::linear(at, range.len() as u64, how));
                                Ok(())
                            });
                        }
                    }
                }
            }
        }
        all
    }

    fn check_side(&mut self, side: BoxSide, [width, height, depth]: [usize; 3]) -> CuResult {
        match side {
            BoxSide::Array { handle, byte, y, z } => {
                let array =
                    self.objects.arrays.get(handle).map_err(|_| ReturnCode::INVALID_VALUE)?;
                let image = &array.image;
                let most =
                    [image.row_bytes(0) as usize, image.height as usize, image.depth as usize];
                let ends = [(byte, width), (y, height), (z, depth)];
                let fits = ends.iter().zip(most).all(|((first, count), most)| {
                    first.checked_add(*count).is_some_and(|end| end <= most)
                });
                if fits { Ok(()) } else { Err(ReturnCode::INVALID_VALUE) }
            }
            BoxSide::Plain { address, pitch, rows } => {
                if pitch < width || rows < height && depth > 1 {
                    return Err(ReturnCode::INVALID_VALUE);
                }
                let last = (depth - 1).checked_mul(rows).and_then(|y| y.checked_add(height - 1));
                let bytes = last
                    .and_then(|y| y.checked_mul(pitch))
                    .and_then(|bytes| bytes.checked_add(width));
                let Some(bytes) = bytes else { return Err(ReturnCode::INVALID_VALUE) };
                self.check_range(address, bytes)
            }
        }
    }

    fn read_row(&mut self, side: BoxSide, y: usize, z: usize, row: &mut [u8]) -> CuResult {
        match side {
            BoxSide::Plain { address, pitch, rows } => {
                let at = address + ((z * rows + y) * pitch) as u64;
                self.memory.read_anywhere(at, row)
            }
            BoxSide::Array { handle, byte, y: first, z: slice } => {
                let array = self.objects.arrays.get(handle)?;
                let place = (byte, (first + y) as u32, (slice + z) as u32);
                let device = &self.memory.device;
                pieces(&array.image, place, row.len(), |at, range| {
                    device.read(at, &mut row[range]).map_err(|_| INVALID_HANDLE)
                })
            }
        }
    }

    fn write_row(&mut self, side: BoxSide, y: usize, z: usize, row: &[u8]) -> CuResult {
        match side {
            BoxSide::Plain { address, pitch, rows } => {
                let at = address + ((z * rows + y) * pitch) as u64;
                self.memory.write_anywhere(at, row)
            }
            BoxSide::Array { handle, byte, y: first, z: slice } => {
                let array = self.objects.arrays.get(handle)?;
                let place = (byte, (first + y) as u32, (slice + z) as u32);
                let device = &mut self.memory.device;
                pieces(&array.image, place, row.len(), |at, range| {
                    device.write(at, &row[range]).map_err(|_| INVALID_HANDLE)
                })
            }
        }
    }

    /// Writes down what the copy took.
    fn note_box(&mut self, copy: &BoxCopy) {
        let bytes = copy.extent.iter().product::<usize>() as u64;
        let is_host = |driver: &Driver, side| match side {
            BoxSide::Plain { address, .. } => driver.memory.is_host(address),
            BoxSide::Array { .. } => false,
        };
        let (direction, kind) = if is_host(self, copy.source) {
            (Direction::HostToDevice(true), OperationKind::HostToDevice(bytes))
        } else if is_host(self, copy.target) {
            (Direction::DeviceToHost(true), OperationKind::DeviceToHost(bytes))
        } else {
            (Direction::Device, OperationKind::DeviceCopy(bytes))
        };
        let start = self.clock.now;
        let end =
            start + copy_time::copy_ns(&self.device().profile, direction, self.larger_bytes(bytes));
        self.clock.now = end;
        self.recorder.note(kind, None, start..end);
    }
}

/// Bytes of a row that lie together in an array of tiles.
const PIECE: usize = 16;
/// Pieces of a part of an array that are compared with what other work uses.
const MOST_PIECES: usize = 1024;

/// Calls `each` with the address and the range of every piece of a row that lies together in memory.
fn pieces(
    image: &Image,
    (byte, y, z): (usize, u32, u32),
    bytes: usize,
    mut each: impl FnMut(u64, std::ops::Range<usize>) -> CuResult,
) -> CuResult {
    let piece = if image.shape.is_flat() { usize::MAX } else { PIECE };
    let mut done = 0;
    while done < bytes {
        let at = byte + done;
        let end = bytes.min(done + piece - at % piece);
        each(image.address(0, at as u64, y, z), done..end)?;
        done = end;
    }
    Ok(())
}
