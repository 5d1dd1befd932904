use crate::execute::memory::pattern::{Pattern, WORDS};
use crate::execute::observe::observers::Observers;
use crate::execute::observe::record::Side;
use crate::registers::LANES;
use counters::RequestCounts;
use counters::{
    constant_words, copy_sectors, sectors_and_lines, shared_store_wavefronts, shared_store_words,
    shared_wavefronts, shared_words, updates_by,
};
use races::Request;
use races::lanes;

impl Observers<'_> {
    /// The pattern of an access.
    #[inline(always)]
    fn pattern(&mut self, request: Request<'_>) -> &mut Pattern {
        let pattern = &mut self.patterns[request.pc];
        if request.layout.is_none() {
            pattern.observe(request.mask, request.all, request.bytes);
        }
        pattern
    }

    /// Counts sectors and lines of a global (or constant) access.
    #[inline(always)]
    pub fn count_global(&mut self, request: Request<'_>, constant: bool) {
        let Request { pc, mask, all, .. } = request;
        if constant {
            let mut words = [0u64; LANES];
            let mut count = 0;
            for lane in lanes(mask) {
                words[count] = all[lane] >> 2;
                count += 1;
            }
            words[..count].sort_unstable();
            let wavefronts = words[..count].chunk_by(|a, b| a == b).count() as u32;
            let traffic = &mut self.tallies[pc].constant;
            traffic.wavefronts += wavefronts as u64;
            traffic.wavefronts_ideal += 1;
            traffic.add_request(request.mask, request.bytes);
            if self.watching {
                let counts = RequestCounts::of_wavefronts(wavefronts, 1);
                self.record(Side::Constant, request, counts, || constant_words(mask, all));
            }
            return;
        }
        let phase = request.first() as u32 & 127;
        let (sectors, lines, distinct) =
            self.pattern(request).counts(phase, || sectors_and_lines(mask, all));
        let bytes_distinct = distinct as u64 * request.bytes as u64;
        let traffic = &mut self.tallies[pc].global;
        traffic.bytes_distinct += bytes_distinct;
        traffic.sectors += sectors as u64;
        traffic.sectors_ideal += bytes_distinct.div_ceil(32);
        traffic.lines += lines as u64;
        traffic.add_request(request.mask, request.bytes);
        if self.watching {
            let counts = RequestCounts {
                bytes_distinct,
                sectors: sectors as u64,
                sectors_ideal: bytes_distinct.div_ceil(32),
                lines: lines as u64,
                ..RequestCounts::default()
            };
            self.record(Side::Global, request, counts, Vec::new);
        }
    }

    /// Counts the global side of an asynchronous copy of 16 bytes past L1.
    pub fn count_copy(&mut self, request: Request<'_>, target: &[u64; LANES]) {
        let Request { pc, mask, all, .. } = request;
        let (_, lines, distinct) = sectors_and_lines(mask, all);
        let bytes_distinct = u64::from(distinct) * u64::from(request.bytes);
        let counts = RequestCounts {
            bytes_distinct,
            sectors: u64::from(copy_sectors(mask, target, all)),
            sectors_ideal: bytes_distinct.div_ceil(32),
            lines: u64::from(lines),
            ..RequestCounts::default()
        };
        let traffic = &mut self.tallies[pc].global;
        *traffic += counts;
        traffic.add_request(request.mask, request.bytes);
        if self.watching {
            self.record(Side::Global, request, counts, Vec::new);
        }
    }

    /// Counts wavefronts of a shared access.
    #[inline(always)]
    pub fn count_shared(&mut self, request: Request<'_>, stores: bool) {
        let Request { pc, mask, all, bytes, .. } = request;
        // Words further on lie in other banks, but as many of them in each.
        let phase = request.first() as u32 & 3 | WORDS;
        let (count, ideal, _) = self.pattern(request).counts(phase, || {
            let of = if stores { shared_store_wavefronts } else { shared_wavefronts };
            let (count, ideal) = of(mask, all, bytes);
            (count, ideal, 0)
        });
        let traffic = &mut self.tallies[pc].shared;
        traffic.wavefronts += count as u64;
        traffic.wavefronts_ideal += ideal as u64;
        traffic.add_request(request.mask, request.bytes);
        if let Some(observer) = &mut self.observer {
            observer.shared(count);
        }
        if self.watching {
            let counts = RequestCounts::of_wavefronts(count, ideal);
            let words = if stores { shared_store_words } else { shared_words };
            self.record(Side::Shared, request, counts, || words(mask, all, bytes));
        }
    }

    /// Local memory is interleaved: word `w` of all lanes is one line.
    pub fn count_local(&mut self, request: Request<'_>) {
        let Request { pc, mask, all, bytes, .. } = request;
        let traffic = &mut self.tallies[pc].local;
        for word in 0..bytes.div_ceil(4) as u64 {
            let physical: [u64; LANES] = std::array::from_fn(|lane| {
                (all[lane] / 4 + word) * 128 + lane as u64 * 4 + all[lane] % 4
            });
            let (sectors, lines, _) = sectors_and_lines(mask, &physical);
            traffic.sectors += sectors as u64;
            traffic.lines += lines as u64;
        }
        traffic.sectors_ideal += (mask.count_ones() as u64 * bytes as u64).div_ceil(32);
        traffic.add_request(request.mask, request.bytes);
    }

    /// Sectors as for a load; lanes with equal addresses need further wavefronts.
    pub fn count_global_atomic(&mut self, request: Request<'_>, is_aggregated: bool) {
        let Request { pc, mask, all, bytes, .. } = request;
        let (sectors, lines, distinct) = sectors_and_lines(mask, all);
        let bytes_distinct = distinct as u64 * bytes as u64;
        let counts = RequestCounts {
            wavefronts: updates_by(7, mask, all) as u64,
            wavefronts_ideal: 1,
            sectors: sectors as u64,
            lines: lines as u64,
            bytes_distinct,
            sectors_ideal: bytes_distinct.div_ceil(32),
            sector_updates: if is_aggregated { 1 } else { updates_by(5, mask, all) as u64 },
            ..RequestCounts::default()
        };
        let traffic = &mut self.tallies[pc].global;
        *traffic += counts;
        traffic.add_request(request.mask, request.bytes);
        if self.watching {
            self.record(Side::Global, request, counts, Vec::new);
        }
    }
}
