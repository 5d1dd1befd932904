//! `cp.async.bulk.tensor`: a box of a tensor lands later, like other bulk copies (PTX ISA, "Tensors").

use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::asynchronous::landing;
use crate::execute::memory::pending::PendingBulk;
use crate::execute::memory::request::{addresses, shared_offset, space_of};
use crate::execute::observe::record::Side;
use crate::operation::{BulkDirection, Space, TensorCopy};
use crate::tensor_map::{Piece, PixelBox, TensorMap};
use counters::RequestCounts;
use races::Request;
use races::lanes;
use std::ops::Range;

/// A multiple of this is where a box begins in shared memory.
const ALIGNMENT: u64 = 128;

/// A store writes the chunk of 16 bytes in which the tensor ends as a whole: an H200 does.
fn whole_chunks(pieces: &mut Vec<Piece>) {
    pieces.retain(|piece| piece.global.is_some());
    for piece in pieces {
        piece.bytes = 16;
    }
}

impl Worker<'_> {
    pub fn tensor_copy(&mut self, issue: Issue<'_>, copy: &TensorCopy) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        let shared = addresses(warp, copy.shared.0, copy.shared.1).map(shared_offset);
        let mbarriers = copy.mbarrier.map(|(base, offset)| addresses(warp, base, offset));
        for lane in lanes(mask) {
            let place = || Box::new(self.run.place(block.index, warp.index, 1 << lane, pc));
            let wrong = |message: String| Error::IllegalInstruction { place: place(), message };
            let address = warp.registers.longs[copy.map as usize][lane];
            if matches!(space_of(address), Space::Shared | Space::Local) {
                return Err(wrong(format!(
                    "a tensor map is in global, constant or parameter memory, but {address:#x} is not: copy the map to \
                     global memory by tensormap.cp_fenceproxy"
                )));
            }
            let mut bytes = [0; 128];
            for (at, byte) in bytes.iter_mut().enumerate() {
                *byte = self.byte(block, warp, lane, address + at as u64).unwrap_or(0);
            }
            let Some(map) = TensorMap::from_bytes(&bytes) else {
                return Err(wrong(format!(
                    "there is no tensor map at {address:#x}: encode one by cuTensorMapEncodeTiled, or replace all fields \
                     of zeros by tensormap.replace, elemtype too"
                )));
            };
            if let Some(problem) = map.problem(true) {
                return Err(wrong(format!(
                    "the tensor map at {address:#x} is none that works: {problem}"
                )));
            }
            if map.pixel_box.is_some() != copy.offsets.is_some() {
                let (copies, makes) = match copy.offsets {
                    Some(_) => ("in im2col mode", "cuTensorMapEncodeTiled"),
                    None => ("tiles", "cuTensorMapEncodeIm2col"),
                };
                return Err(wrong(format!(
                    "the instruction copies {copies}, but the tensor map at {address:#x} is of {makes}"
                )));
            }
            if map.rank != copy.coordinates.len() {
                return Err(wrong(format!(
                    "{} coordinates, but the tensor map has {} dimensions",
                    copy.coordinates.len(),
                    map.rank
                )));
            }
            let (start, bytes) = (shared[lane], map.box_bytes());
            if start % ALIGNMENT != 0 {
                return Err(Error::MisalignedAddress {
                    place: place(),
                    address: start,
                    bytes: ALIGNMENT as u32,
                });
            }
            let coordinate = |row: &u32| warp.registers.words[*row as usize][lane].cast_signed();
            let coordinates: Vec<i32> = copy.coordinates.iter().map(coordinate).collect();
            let first = i64::from(coordinates[0]) * i64::from(map.width);
            if first.rem_euclid(16) != 0 {
                return Err(wrong(format!(
                    "a box begins at a multiple of 16 bytes along the first dimension, not at element {} of {} bytes",
                    coordinates[0], map.width
                )));
            }
            let stores = copy.direction == BulkDirection::SharedToGlobal;
            if let (true, Some(negative)) = (stores, coordinates.iter().find(|at| **at < 0)) {
                return Err(wrong(format!(
                    "a box that is stored begins within the tensor, not at coordinate {negative}"
                )));
            }
            // An H100 answers so to (-1, -1) with (-1, 0), and stores with all corners 0 (`tests/mma/im2col.cu`).
            let begins_before =
                |pixels: &PixelBox| pixels.lower[..map.rank - 2].iter().any(|lower| *lower < 0);
            if stores && map.pixel_box.as_ref().is_some_and(begins_before) {
                return Err(wrong(
                    "a map in im2col mode that is stored has no negative corner: pad by loads"
                        .into(),
                ));
            }
            let offset = |row: &u32| warp.registers.words[*row as usize][lane] & 0xffff;
            let offsets: Vec<u32> = copy.offsets.iter().flatten().map(offset).collect();
            let mut pieces = map.pieces(start as u32, &coordinates, &offsets);
            if stores {
                whole_chunks(&mut pieces);
            }
            let end = pieces.iter().map(|piece| piece.shared + piece.bytes).max();
            if end.is_some_and(|end| end as usize > self.run.shared_bytes as usize) {
                return Err(Error::IllegalAddress {
                    place: place(),
                    address: start,
                    bytes,
                    message: "the box of a tensor map runs past the end of shared memory".into(),
                });
            }
            for piece in &pieces {
                let Some(address) = piece.global else { continue };
                let memory = self.run.memory;
                let is_there = memory.find(address, u64::from(piece.bytes)).is_some();
                if is_there && memory.is_one_range(map.address, address) {
                    continue;
                }
                let message = if is_there {
                    format!(
                        "the tensor map begins in another allocation, at {:#x}: its sizes and strides reach beyond that one",
                        map.address
                    )
                } else {
                    memory.describe(address)
                };
                return Err(Error::IllegalAddress {
                    place: place(),
                    address,
                    bytes: piece.bytes,
                    message,
                });
            }
            self.observe_tensor(block, warp, (pc, lane), copy.direction, &pieces);
            let pending = PendingBulk {
                pc,
                warp: warp.index,
                lane,
                group: warp.bulk_group,
                direction: copy.direction,
                target: start,
                source: start,
                bytes,
                step: 8,
                mbarrier: mbarriers.map(|m| shared_offset(m[lane]) as u32),
                reduce: None,
                pieces: Some((pieces, if map.fills_nan { u8::MAX } else { 0 })),
                read: None,
                before: Vec::new(),
            };
            let landing = landing(warp, copy.multicast, lane);
            self.start_in_cluster(block, warp, pending, (landing, stores))?;
        }
        Ok(())
    }

    /// Counts and checks the global memory of a box.
    fn observe_tensor(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (pc, lane): (usize, usize),
        direction: BulkDirection,
        pieces: &[Piece],
    ) {
        let present: Vec<(u64, u32)> =
            pieces.iter().filter_map(|piece| Some((piece.global?, piece.bytes))).collect();
        if self.observers.counting {
            let units = |unit: u64| {
                let mut all: Vec<u64> = present
                    .iter()
                    .flat_map(|(at, bytes)| at / unit..=(at + u64::from(*bytes) - 1) / unit)
                    .collect();
                all.sort_unstable();
                all.dedup();
                all.len() as u64
            };
            let bytes: u64 = present.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
            let counts = RequestCounts {
                requests: 1,
                lanes: 1,
                bytes,
                bytes_distinct: bytes,
                sectors: units(32),
                sectors_ideal: bytes.div_ceil(32),
                lines: units(128),
                ..RequestCounts::default()
            };
            self.observers.tallies[pc].global += counts;
            if self.observers.watching {
                let mut all = [0; crate::registers::LANES];
                all[lane] = present.first().map_or(0, |(at, _)| *at);
                let request = Request::new(pc, 1 << lane, &all, bytes as u32);
                self.observers.record(Side::Global, request, counts, Vec::new);
            }
        }
        if let Some(observer) = &mut self.observers.observer {
            // A swizzle moves pieces of 16 bytes, which are neighbours in global memory all the same.
            for row in present.chunk_by(|a, b| a.0 + u64::from(a.1) == b.0) {
                let bytes = row.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
                observer.bulk(direction == BulkDirection::SharedToGlobal, row[0].0, bytes);
            }
        }
        for (start, bytes) in present {
            if self.observers.checking {
                self.check_piece(block, warp, (pc, lane), start, bytes, direction);
            }
        }
    }

    /// Lands the pieces of a box; what is beyond the tensor is `fill` in shared memory, and nothing in global.
    pub fn land_pieces(
        &mut self,
        block: &mut Block,
        copy: &PendingBulk,
        pieces: &[Piece],
        fill: u8,
    ) {
        let loads = copy.direction == BulkDirection::GlobalToShared;
        let mut before = &copy.before[..];
        for piece in pieces {
            let places = piece.shared as usize..(piece.shared + piece.bytes) as usize;
            let Some(global) = piece.global else {
                if loads {
                    block.shared[places].fill(fill);
                }
                continue;
            };
            if loads {
                self.read_piece(global, &mut block.shared[places.clone()]);
                if let Some((old, rest)) = before.split_at_checked(places.len()) {
                    let differs = old.iter().zip(&block.shared[places]).position(|(a, b)| a != b);
                    if let Some(at) = differs {
                        let address = global + at as u64;
                        self.report_source_changed(block, copy.warp, (copy.pc, copy.lane), address);
                    }
                    before = rest;
                }
                continue;
            }
            let first = places.start - copy.source as usize;
            let part = match &copy.read {
                Some(read) => &read[first..first + places.len()],
                None => &block.shared[places],
            };
            words(global, part.len(), |at, bytes, local| {
                self.device_update(at, |old| {
                    let mut word = old.to_le_bytes();
                    word[bytes.clone()].copy_from_slice(&part[local.clone()]);
                    u64::from_le_bytes(word)
                });
            });
        }
    }

    /// Reads global memory at any address.
    pub fn read_piece(&mut self, global: u64, to: &mut [u8]) {
        words(global, to.len(), |at, bytes, local| {
            let word = self.device_load(at, 8).to_le_bytes();
            to[local].copy_from_slice(&word[bytes]);
        });
    }
}

/// Calls `each(address, part of the word, place)` for the aligned words of which a range has a part.
fn words(start: u64, length: usize, mut each: impl FnMut(u64, Range<usize>, Range<usize>)) {
    let end = start + length as u64;
    let mut at = start & !7;
    while at < end {
        let (from, to) = (at.max(start), (at + 8).min(end));
        let place = (from - start) as usize..(to - start) as usize;
        each(at, (from - at) as usize..(to - at) as usize, place);
        at += 8;
    }
}
