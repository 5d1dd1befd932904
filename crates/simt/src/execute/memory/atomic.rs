use crate::compute::half;
use crate::compute::half::{Bf16, F16};
use crate::error::Error;
use crate::execute::issue::warp::{Warp, read_row, write_row};
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::bytes::{read_bytes, write_bytes};
use crate::execute::memory::request::{addresses, by_space};
use crate::execute::observe::record::Side;
use crate::observer::{AccessKind, AtomicKind};
use crate::operation::{Atomic, AtomicOperation, Register, Space};
use crate::registers::LANES;
use crate::windows::CLUSTER_SHIFT;
use counters::RequestCounts;
use counters::{atomic_words, counting_wavefronts, same_word_wavefronts};
use ptx::Type;
use races::Request;
use races::lanes;
use std::cell::Cell;

/// The new value of an atomic; `second` is what compare-and-swap stores.
pub(crate) fn apply(
    operation: AtomicOperation,
    t: Type,
    flush: bool,
    old: u64,
    source: u64,
    second: u64,
) -> u64 {
    use AtomicOperation as Op;
    match operation {
        Op::Exchange => source,
        Op::CompareSwap => {
            if old == source {
                second
            } else {
                old
            }
        }
        Op::And => old & source,
        Op::Or => old | source,
        Op::Xor => old ^ source,
        Op::Increment => {
            let (old, bound) = (old as u32, source as u32);
            (if old >= bound { 0 } else { old + 1 }) as u64
        }
        Op::Decrement => {
            let (old, bound) = (old as u32, source as u32);
            (if old == 0 || old > bound { bound } else { old - 1 }) as u64
        }
        Op::Add => add(t, flush, old, source),
        Op::Minimum | Op::Maximum => extreme(operation == Op::Maximum, t, old, source),
    }
}

fn add(t: Type, flush: bool, old: u64, source: u64) -> u64 {
    match t {
        Type::F32 => {
            let enter = |v: u64| {
                let value = f32::from_bits(v as u32);
                if flush { crate::compute::special::flush(value) } else { value }
            };
            let sum = crate::compute::special::canonical(enter(old) + enter(source));
            (if flush { crate::compute::special::flush(sum) } else { sum }).to_bits() as u64
        }
        Type::F64 => (f64::from_bits(old) + f64::from_bits(source)).to_bits(),
        Type::F16 => half::add(F16(old as u16), F16(source as u16), 0).0 as u64,
        Type::Bf16 => half::add(Bf16(old as u16), Bf16(source as u16), 0).0 as u64,
        Type::F16x2 => {
            let low = half::add(F16(old as u16), F16(source as u16), 0).0 as u64;
            let high = half::add(F16((old >> 16) as u16), F16((source >> 16) as u16), 0).0 as u64;
            low | high << 16
        }
        Type::Bf16x2 => {
            let low = half::add(Bf16(old as u16), Bf16(source as u16), 0).0 as u64;
            let high = half::add(Bf16((old >> 16) as u16), Bf16((source >> 16) as u16), 0).0 as u64;
            low | high << 16
        }
        _ => old.wrapping_add(source),
    }
}

fn extreme(largest: bool, t: Type, old: u64, source: u64) -> u64 {
    let source_wins = match t {
        Type::S32 => (source as i32 > old as i32) == largest,
        Type::S64 => (source as i64 > old as i64) == largest,
        Type::U32 | Type::B32 => (source as u32 > old as u32) == largest,
        _ => (source > old) == largest,
    };
    if source_wins { source } else { old }
}

/// A register row as numbers.
#[inline(always)]
fn values(warp: &Warp, row: Register) -> [u64; LANES] {
    match row {
        Register::Word(row) => warp.registers.words[row as usize].map(u64::from),
        row => std::array::from_fn(|lane| read_row(warp, row, lane)),
    }
}

impl Worker<'_> {
    pub fn atomic(&mut self, issue: Issue<'_>, atomic: &Atomic) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        let mut all = addresses(warp, atomic.base, atomic.offset);
        if atomic.space != Space::Generic {
            return self.atomic_in(Issue { block, warp, pc, mask }, atomic, (atomic.space, &all));
        }
        self.observers.tallies[pc].generic += 1;
        for (space, lanes) in by_space(mask, &mut all) {
            if lanes != 0 {
                self.atomic_in(Issue { block, warp, pc, mask: lanes }, atomic, (space, &all))?;
            }
        }
        Ok(())
    }

    fn atomic_in(
        &mut self,
        issue: Issue<'_>,
        atomic: &Atomic,
        (space, all): (Space, &[u64; LANES]),
    ) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        let elements = 1 + atomic.more_sources.len() as u32;
        let bytes = atomic.t.bytes();
        let request = Request::new(pc, mask, all, bytes * elements);
        if space == Space::Shared && self.reaches_blocks(request) {
            if let Some(observer) = &mut self.observers.observer {
                let own = [0, 1 + u64::from(block.rank)];
                let others =
                    lanes(mask).filter(|lane| !own.contains(&(all[*lane] >> CLUSTER_SHIFT)));
                observer.cluster_atomics(others.count() as u64);
            }
            return self.in_blocks(block, warp, request, |worker, block, warp, request| {
                let mask = request.mask;
                worker.atomic_in(Issue { block, warp, pc, mask }, atomic, (space, request.all))
            });
        }
        let source_of = |element: usize| match element {
            0 => atomic.source,
            n => atomic.more_sources[n - 1],
        };
        // Vectors are rare: their further elements may allocate.
        let mut olds = [0u64; LANES];
        let mut more_olds = vec![[0u64; LANES]; elements as usize - 1];
        let field = if bytes == 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
        let changes = Cell::new(0);
        match space {
            Space::Shared => {
                self.shared_bounds(block, warp, request)?;
                if self.observers.counting {
                    let (wavefronts, ideal) = if atomic.counts_by_one {
                        counting_wavefronts(mask, all)
                    } else {
                        same_word_wavefronts(mask, all)
                    };
                    let traffic = &mut self.observers.tallies[pc].shared;
                    traffic.wavefronts += wavefronts as u64;
                    traffic.wavefronts_ideal += ideal as u64;
                    traffic.add_request(request.mask, request.bytes);
                    if self.observers.watching {
                        let counts = RequestCounts::of_wavefronts(wavefronts, ideal);
                        let wavefronts = || atomic_words(mask, all, atomic.counts_by_one);
                        self.observers.record(Side::Shared, request, counts, wavefronts);
                    }
                }
                if !atomic.is_reduction {
                    self.polls(warp, request, bytes, true);
                }
                if self.observers.checking {
                    self.check_shared_write(block, warp, request, None);
                }
                let sources = values(warp, atomic.source);
                let is_sum = atomic.operation == AtomicOperation::Add && !atomic.t.is_float();
                if is_sum && elements == 1 && bytes == 4 {
                    for lane in lanes(mask) {
                        let at = all[lane] as usize;
                        olds[lane] = read_bytes(&block.shared, at, 4);
                        let new = olds[lane].wrapping_add(sources[lane]);
                        changes.set(changes.get() + u64::from(new != olds[lane]));
                        write_bytes(&mut block.shared, at, 4, new);
                    }
                } else {
                    for lane in lanes(mask) {
                        for element in 0..elements as usize {
                            let at = all[lane] as usize + element * bytes as usize;
                            let old = read_bytes(&block.shared, at, bytes);
                            let value = read_row(warp, source_of(element), lane) & field;
                            let second = atomic.second.map_or(0, |row| read_row(warp, row, lane));
                            let (of, t, second) = (atomic.operation, atomic.t, second & field);
                            let new = apply(of, t, false, old, value, second);
                            changes.set(changes.get() + u64::from(new != old));
                            write_bytes(&mut block.shared, at, bytes, new);
                            match element {
                                0 => olds[lane] = old,
                                n => more_olds[n - 1][lane] = old,
                            }
                        }
                    }
                }
            }
            Space::Global | Space::Generic => {
                let window = self.window(block, warp, request, true)?;
                if !atomic.is_reduction {
                    self.polls(warp, request, bytes, false);
                }
                if self.observers.counting {
                    let aggregated = &self.run.program.aggregated;
                    let is_aggregated = aggregated.binary_search(&(pc as u32)).is_ok();
                    self.observers.count_global_atomic(request, is_aggregated);
                }
                if self.observers.checking {
                    self.check_global_atomic(block, warp, request);
                }
                for lane in lanes(mask) {
                    for element in 0..elements as usize {
                        let value = read_row(warp, source_of(element), lane) & field;
                        let second = atomic.second.map_or(0, |row| read_row(warp, row, lane));
                        let shift = element as u64 * bytes as u64;
                        // SAFETY: `window` checked bounds and alignment of all active lanes.
                        let old = unsafe {
                            window.update(lane, shift, bytes, |old| {
                                let second = second & field;
                                let new =
                                    apply(atomic.operation, atomic.t, true, old, value, second);
                                changes.set(changes.get() + u64::from(new != old));
                                new
                            })
                        };
                        match element {
                            0 => olds[lane] = old,
                            n => more_olds[n - 1][lane] = old,
                        }
                    }
                }
                if self.observers.counting && self.observers.observer.is_some() {
                    let (program, number) = (&self.run.program, pc as u32);
                    let kind = AtomicKind {
                        is_float: atomic.t.is_float(),
                        is_retried: atomic.operation == AtomicOperation::CompareSwap
                            && program.decisive.binary_search(&number).is_ok(),
                        is_aggregated: program.aggregated.binary_search(&number).is_ok(),
                        is_swap: atomic.operation == AtomicOperation::CompareSwap,
                        is_ticket: atomic.operation == AtomicOperation::Add
                            && !atomic.is_reduction
                            && !atomic.t.is_float(),
                        changed: changes.get(),
                    };
                    self.observers.tell(AccessKind::Atomic(kind), request);
                }
            }
            _ => {
                return Err(Error::IllegalAddress {
                    place: Box::new(self.run.place(block.index, warp.index, mask, pc)),
                    address: all[mask.trailing_zeros() as usize],
                    bytes: request.bytes,
                    message: "atomics reach global and shared memory only".into(),
                });
            }
        }
        // The proof of a hang looks at those that drop what they replace by their addresses.
        if !atomic.is_reduction {
            self.changes += changes.get();
        }
        if let Some(row) = atomic.destination {
            write_row(warp, row, mask, |lane| olds[lane]);
        }
        for (row, old) in atomic.more_destinations.iter().zip(&more_olds) {
            write_row(warp, *row, mask, |lane| old[lane]);
        }
        Ok(())
    }
}
