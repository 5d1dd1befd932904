//! Lines of the shadow that an access reaches, and the lanes that reach each.

use crate::event::Event;
use crate::lines::{FULL, LINE};
use crate::request::Request;
use counters::LANES;

/// Lanes that reach one line side by side, at one distance or at one address.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineAccess {
    /// The number of lines after that of the first active lane.
    pub line: i32,
    /// Lanes that all read the same granules; none when each granule has a lane of its own.
    pub many: u32,
    /// The event, but for its epoch and instruction.
    pub form: u16,
    /// The granules of the line.
    pub granules: u8,
}

/// The parts of an instruction's last accesses, one for each place in a line that an access can
/// begin at. They are those of the next one, too, when its pattern and its place are the same.
#[derive(Clone, Debug, Default)]
pub struct ShadowFootprint([Option<Box<Cached>>; LINE]);

#[derive(Clone, Debug, Default)]
struct Cached {
    generation: u32,
    phase: u32,
    count: u8,
    list: [LineAccess; LANES],
}

impl ShadowFootprint {
    /// The parts of an access whose elements are at most a line each, to memory of which the shadow
    /// begins at `start`.
    #[inline(always)]
    pub fn of(
        &mut self,
        request: &Request<'_>,
        (start, shift): (u64, u32),
        (reads, is_shared): (bool, bool),
    ) -> &[LineAccess] {
        let first = request.first().wrapping_sub(start);
        let place = first as u32 & (((LINE as u32) << shift) - 1);
        let phase = place | u32::from(is_shared) << 16;
        let generation = request.layout.map_or(0, |layout| layout.generation);
        let found = self.0[(first >> shift) as usize % LINE].get_or_insert_default();
        if generation == 0 || generation != found.generation || phase != found.phase {
            found.find(request, (start, shift), reads);
            (found.generation, found.phase) = (generation, phase);
        }
        &found.list[..usize::from(found.count)]
    }
}

impl Cached {
    fn find(&mut self, request: &Request<'_>, (start, shift): (u64, u32), reads: bool) {
        let granules = (request.bytes >> shift).max(1);
        let element = FULL >> (LINE as u32 - granules);
        let place = |lane: usize| ((request.all[lane].wrapping_sub(start)) >> shift) as usize;
        let line_of_first = place(request.mask.trailing_zeros() as usize & 31) / LINE;
        let mut rest = request.mask;
        let mut count = 0;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let at = place(lane);
            let (number, first) = (at / LINE, at % LINE);
            let (mut mask, mut shape, mut many) = (element << first, LINE.trailing_zeros(), 0);
            // Lanes that follow in the same line at one distance, or at the same address.
            let mut last = lane;
            let follows = |next: usize, distance: u64| {
                request.mask >> next & 1 != 0
                    && request.all[next].wrapping_sub(request.all[next - 1]) == distance
            };
            if reads && lane + 1 < LANES && follows(lane + 1, 0) {
                while last + 1 < LANES && follows(last + 1, 0) {
                    last += 1;
                }
                many = (u32::MAX >> (LANES - 1 - (last - lane))) << lane;
                rest &= !many;
            } else if lane + 1 < LANES && rest >> (lane + 1) & 1 != 0 {
                let distance = request.all[lane + 1].wrapping_sub(request.all[lane]);
                let step = (distance >> shift) as usize;
                if step.is_power_of_two() && step >= granules as usize && first + step < LINE {
                    shape = step.trailing_zeros();
                    let end = LANES.min(lane + (LINE - 1 - first) / step + 1);
                    while last + 1 < end && follows(last + 1, distance) {
                        last += 1;
                        mask |= mask << step;
                        rest &= !(1 << last);
                    }
                }
            }
            let lane = lane.wrapping_sub(first >> shape) & 31;
            let mut event = Event::row(0, 0, lane, shape);
            if many != 0 {
                event = event.of_many();
            }
            let line = number.wrapping_sub(line_of_first) as i32;
            self.list[count] = LineAccess { line, many, form: event.0 as u16, granules: mask };
            count += 1;
        }
        self.count = count as u8;
    }
}
