//! The lines that the lanes of an access reach, one after the other.

use crate::check::Check;
use crate::event::Event;
use crate::lines::{Cells, FULL, LINE, ShadowLine};
use crate::request::{Request, lanes};
use crate::shadow_footprint::ShadowFootprint;
use counters::LANES;

impl Check<'_> {
    /// A row that all lanes of the warp access side by side, from the beginning of a line on, without its first lines.
    #[inline]
    pub fn rows(
        &mut self,
        request: &Request<'_>,
        lines: &mut [ShadowLine],
        cells: &mut Cells,
        start: u64,
        from: usize,
    ) {
        let shape = (request.bytes >> self.shift).trailing_zeros();
        let first = ((request.all[0] - start) >> self.shift) as usize / LINE;
        let count = LANES * (request.bytes >> self.shift) as usize / LINE;
        for (index, line) in lines[first..first + count].iter_mut().enumerate().skip(from) {
            let lane = (index * LINE) >> shape;
            let now = Event::row(self.epoch, self.pc, lane, shape);
            self.line(line, cells, (FULL, now, 0), request.all[lane]);
        }
    }

    /// An access of lanes anywhere in lines that stand for memory from `start` on, without as many of its parts as `from` says.
    pub fn scattered(
        &mut self,
        request: &Request<'_>,
        lines: &mut [ShadowLine],
        cells: &mut Cells,
        start: u64,
        (parts, from): (&mut ShadowFootprint, usize),
    ) {
        let line = (LINE as u32) << self.shift;
        if request.bytes > line {
            // An element of several lines goes line by line.
            for at in (0..request.bytes).step_by(line as usize) {
                let all = request.all.map(|address| address.wrapping_add(u64::from(at)));
                let bytes = line.min(request.bytes - at);
                let slice = Request::new(request.pc, request.mask, &all, bytes);
                self.scattered(&slice, lines, cells, start, (parts, from));
            }
            return;
        }
        // Lanes of one store that reach one place do not race with themselves here.
        if self.writes && !self.kind.updates && !request.is_ascending() {
            return self.overlapping(request, lines, cells, start);
        }
        if self.kind.updates && self.writes && request.bytes == 1 << self.shift {
            return self.updates(request, lines, cells, start);
        }
        let first = (request.first().wrapping_sub(start) >> self.shift) as usize / LINE;
        let place = (start, self.shift);
        for part in &parts.of(request, place, (!self.writes, self.is_shared))[from..] {
            let number = first.wrapping_add_signed(part.line as isize);
            let Some(line) = lines.get_mut(number) else { continue };
            let now = Event::formed(self.epoch, self.pc, part.form);
            let address = start + (((number * LINE) as u64) << self.shift);
            self.line(line, cells, (part.granules, now, part.many), address);
        }
    }

    /// Atomics of a granule each, which mostly come after others of the same instruction.
    fn updates(
        &mut self,
        request: &Request<'_>,
        lines: &mut [ShadowLine],
        cells: &mut Cells,
        start: u64,
    ) {
        for lane in lanes(request.mask) {
            let at = (request.all[lane].wrapping_sub(start) >> self.shift) as usize;
            let (number, granule) = (at / LINE, at % LINE);
            let Some(line) = lines.get_mut(number) else { continue };
            let bit = 1 << granule;
            let now = Event::point(self.epoch, self.pc, lane);
            let is_marked = !self.is_shared || (line.written & bit != 0 && line.pending & bit == 0);
            if line.is_split && line.latest >= self.oldest_live_epoch && is_marked {
                let cell = &mut cells.of(line)[granule];
                if self.is_same_update(cell.write, request.all[lane]) && cell.is_plain() {
                    cell.write = now;
                    line.latest = self.epoch;
                    continue;
                }
            }
            let address = start + (((number * LINE) as u64) << self.shift);
            self.line(line, cells, (bit, now, 0), address);
        }
    }

    /// A store of lanes that may reach the same place: all are compared before any is remembered.
    fn overlapping(
        &mut self,
        request: &Request<'_>,
        lines: &mut [ShadowLine],
        cells: &mut Cells,
        start: u64,
    ) {
        let granules = (request.bytes >> self.shift).max(1) as usize;
        for remember in [false, true] {
            for lane in lanes(request.mask) {
                let address = request.all[lane];
                let at = ((address - start) >> self.shift) as usize;
                let Some(line) = lines.get_mut(at / LINE) else { continue };
                line.latest = self.epoch;
                let now = Event::point(self.epoch, self.pc, lane);
                let first = at % LINE;
                let mask = FULL >> (LINE - granules.min(LINE)) << first;
                let number = start + (((at / LINE * LINE) as u64) << self.shift);
                if self.is_shared {
                    self.mark(line, (mask, now), number);
                }
                if !remember && !self.readers.is_empty() {
                    self.compare_readers((mask, now), number);
                }
                let split = &mut cells.of(line)[first..LINE.min(first + granules)];
                for (index, cell) in split.iter_mut().enumerate() {
                    let before = cell.write;
                    if !remember {
                        self.compare(cell, lane, address + ((index as u64) << self.shift));
                    } else if now.is_beside(before) {
                        cell.write = now.of_many();
                    } else {
                        self.write(cell, now);
                    }
                }
            }
        }
    }
}
