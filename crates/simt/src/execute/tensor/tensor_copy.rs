//! `cp.async.bulk.tensor`: a box of a tensor lands later, like other bulk copies.

use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::pending::PendingBulk;
use crate::execute::memory::request::{addresses, shared_offset, space_of};
use crate::execute::observe::record::Side;
use crate::operation::{BulkDirection, Space, TensorCopy};
use crate::tensor_map::{Piece, TensorMap};
use counters::RequestCounts;
use races::Request;
use races::lanes;

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
            let mut pieces = map.pieces(start as u32, &coordinates);
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
                if let Some(address) = piece.global
                    && self.run.memory.find(address, u64::from(piece.bytes)).is_none()
                {
                    return Err(Error::IllegalAddress {
                        place: place(),
                        address,
                        bytes: piece.bytes,
                        message: self.run.memory.describe(address),
                    });
                }
            }
            self.observe_tensor(block, warp, (pc, lane), copy.direction, &pieces);
            let pending = PendingBulk {
                direction: copy.direction,
                target: start,
                source: start,
                bytes,
                step: 8,
                mbarrier: mbarriers.map(|m| shared_offset(m[lane]) as u32),
                reduce: None,
                pieces: Some((pieces, if map.fills_nan { u8::MAX } else { 0 })),
            };
            if self.observers.checking {
                self.check_bulk_issue(block, warp, (pc, lane), &pending);
            }
            block.bulk.push(pending);
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
        direction: BulkDirection,
        pieces: &[Piece],
        fill: u8,
    ) {
        for piece in pieces {
            let places = piece.shared as usize..(piece.shared + piece.bytes) as usize;
            let Some(global) = piece.global else {
                if direction == BulkDirection::GlobalToShared {
                    block.shared[places].fill(fill);
                }
                continue;
            };
            // Aligned words, of which the piece has a part.
            let mut at = global & !7;
            while at < global + u64::from(piece.bytes) {
                let from = at.max(global);
                let to = (at + 8).min(global + u64::from(piece.bytes));
                let local = places.start + (from - global) as usize;
                let bytes = (from - at) as usize..(to - at) as usize;
                let shared = local..local + bytes.len();
                if direction == BulkDirection::GlobalToShared {
                    let word = self.device_load(at, 8).to_le_bytes();
                    block.shared[shared].copy_from_slice(&word[bytes]);
                } else {
                    let part = &block.shared[shared];
                    self.device_update(at, |old| {
                        let mut word = old.to_le_bytes();
                        word[bytes.clone()].copy_from_slice(part);
                        u64::from_le_bytes(word)
                    });
                }
                at += 8;
            }
        }
    }
}
