//! Loads and stores in every state space.

use super::Machine;
use super::block::Block;
use super::device::Window;
use super::record::Side;
use super::shadow::lanes;
use super::step::space_of;
use super::traffic::{constant_passes, sectors_and_lines, shared_passes, wavefronts};
use super::warp::{Warp, read_local, write_local};
use crate::counters::Traffic;
use crate::error::Error;
use crate::findings::{Finding, Hazard};
use crate::program::{Access, Base, LOCAL_WINDOW, PARAMETER_WINDOW, Row, SHARED_WINDOW, Space};
use crate::registers::LANES;

/// One access of a warp: the instruction, the lanes that take part, their addresses, and the bytes
/// that each of them reaches.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub pc: usize,
    pub mask: u32,
    pub all: &'a [u64; LANES],
    pub bytes: u32,
}

impl Request<'_> {
    /// The bytes from the first lane's to the last lane's, when all lanes take part and each
    /// begins where the one before ends.
    #[inline(always)]
    pub fn row_bytes(&self) -> Option<u64> {
        let mut differs = 0;
        for (lane, address) in self.all.iter().enumerate() {
            let expected = self.all[0].wrapping_add(lane as u64 * self.bytes as u64);
            differs |= address ^ expected;
        }
        (differs == 0 && self.mask == u32::MAX).then_some(LANES as u64 * self.bytes as u64)
    }
}

/// The addresses that the lanes of a warp form.
#[inline(always)]
pub(crate) fn addresses(warp: &Warp, base: Base, offset: i64) -> [u64; LANES] {
    match base {
        Base::Long(index) => {
            let row = &warp.registers.longs[index as usize];
            std::array::from_fn(|lane| row[lane].wrapping_add(offset as u64))
        }
        Base::Word(index) => {
            let row = &warp.registers.words[index as usize];
            std::array::from_fn(|lane| row[lane].wrapping_add(offset as u32) as u64)
        }
        Base::Absolute => [offset as u64; LANES],
    }
}

/// Whether every active lane lies at `base` or up to `limit` bytes past it, and the bits of all
/// active addresses together.
#[inline(always)]
fn inside(mask: u32, addresses: &[u64; LANES], base: u64, limit: u64) -> (bool, u64) {
    let (mut bad, mut bits) = (0u64, 0u64);
    for (lane, address) in addresses.iter().enumerate() {
        let active = 0u64.wrapping_sub((mask >> lane & 1) as u64);
        let offset = address.wrapping_sub(base);
        // The top bit is set when the offset is negative, or larger than the limit.
        bad |= (offset | limit.wrapping_sub(offset)) & active;
        bits |= *address & active;
    }
    (bad >> 63 == 0, bits)
}

/// Splits the lanes of a generic access by the space that their addresses lie in.
pub(crate) fn by_space(mask: u32, addresses: &mut [u64; LANES]) -> [(Space, u32); 4] {
    let mut masks =
        [(Space::Global, 0), (Space::Shared, 0), (Space::Local, 0), (Space::Parameter, 0)];
    for (lane, address) in addresses.iter_mut().enumerate() {
        if mask >> lane & 1 == 0 {
            continue;
        }
        let (index, window) = match space_of(*address) {
            Space::Shared => (1, SHARED_WINDOW),
            Space::Local => (2, LOCAL_WINDOW),
            Space::Parameter => (3, PARAMETER_WINDOW),
            _ => (0, 0),
        };
        masks[index].1 |= 1 << lane;
        *address = address.wrapping_sub(window);
    }
    masks
}

impl Machine<'_> {
    /// Executes a load with the widest instructions that the CPU has.
    pub fn load(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        access: &Access,
    ) -> Result<(), Error> {
        if self.wide {
            // SAFETY: `wide` is set where the CPU has these features.
            unsafe { self.load_wide(block, warp, pc, mask, access) }
        } else {
            self.load_lanes(block, warp, pc, mask, access)
        }
    }

    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma,bmi2,popcnt,lzcnt"))]
    fn load_wide(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        access: &Access,
    ) -> Result<(), Error> {
        self.load_lanes(block, warp, pc, mask, access)
    }

    #[inline(always)]
    fn load_lanes(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        access: &Access,
    ) -> Result<(), Error> {
        let mut all = addresses(warp, access.base, access.offset);
        if access.space != Space::Generic {
            return self.load_in(block, warp, pc, mask, access, (access.space, &all));
        }
        self.tallies[pc].generic += 1;
        for (space, lanes) in by_space(mask, &mut all) {
            if lanes != 0 {
                self.load_in(block, warp, pc, lanes, access, (space, &all))?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn load_in(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        access: &Access,
        (space, all): (Space, &[u64; LANES]),
    ) -> Result<(), Error> {
        let request = Request { pc, mask, all, bytes: access.total_bytes() };
        match space {
            Space::Global | Space::Constant | Space::Generic => {
                let window = self.window(block, warp, request, false)?;
                if self.counting {
                    self.count_global(request, space == Space::Constant);
                }
                if let Some(estimator) = &mut self.estimator
                    && space != Space::Constant
                {
                    estimator.read(request, !access.strong);
                }
                if self.checking {
                    let kind = (access.strong, access.read_only);
                    self.check_global_read(block, warp, request, kind);
                }
                if !window.grain.is_one(access.bytes) {
                    load_parts(&window, warp, mask, access);
                    return Ok(());
                }
                if access.bytes == 4
                    && mask == u32::MAX
                    && let [Some(Row::Word(row))] = access.rows[..]
                {
                    let row = &mut warp.registers.words[row as usize];
                    for (lane, value) in row.iter_mut().enumerate() {
                        // SAFETY: `window` checked bounds and alignment of all active lanes.
                        *value = unsafe { window.read_one(lane, 0, 4) } as u32;
                    }
                    return Ok(());
                }
                fill_rows(warp, mask, access, |lane, shift| {
                    // SAFETY: `window` checked bounds and alignment of all active lanes.
                    unsafe { window.read_one(lane, shift, access.bytes) }
                });
            }
            Space::Shared => {
                if self.reaches_blocks(request) {
                    return self.load_across(block, warp, request, access);
                }
                self.shared_bounds(block, warp, request)?;
                if self.counting {
                    self.count_shared(request);
                }
                if self.checking {
                    self.check_shared_read(block, warp, request, access.strong);
                }
                let shared = &block.shared[..];
                if access.bytes == 4
                    && mask == u32::MAX
                    && let [Some(Row::Word(row))] = access.rows[..]
                {
                    let row = &mut warp.registers.words[row as usize];
                    for lane in 0..LANES {
                        row[lane] = read_bytes(shared, all[lane] as usize, 4) as u32;
                    }
                    return Ok(());
                }
                fill_rows(warp, mask, access, |lane, shift| {
                    read_bytes(shared, (all[lane] + shift) as usize, access.bytes)
                });
            }
            Space::Local => {
                self.local_bounds(block, warp, request)?;
                if self.counting && access.space != Space::Parameter {
                    self.count_local(request);
                }
                if self.checking {
                    self.check_local_read(block, warp, request);
                }
                let local = std::mem::take(&mut warp.local);
                fill_rows(warp, mask, access, |lane, shift| {
                    read_local(&local, lane, (all[lane] + shift) as u32, access.bytes)
                });
                warp.local = local;
            }
            Space::Parameter => {
                let bytes = self.run.parameters.len() as u64;
                self.small_bounds(block, warp, request, (bytes, "kernel parameters"))?;
                // At a fixed place a parameter is an operand; with an index it is a constant load.
                if self.counting && !matches!(access.base, Base::Absolute) {
                    self.count_global(request, true);
                }
                let parameters = &self.run.parameters[..];
                if access.base == Base::Absolute && access.rows.len() == 1 {
                    // All lanes read the same.
                    let value = read_bytes(parameters, all[0] as usize, access.bytes);
                    fill_rows(warp, mask, access, |_, _| value);
                    return Ok(());
                }
                fill_rows(warp, mask, access, |lane, shift| {
                    read_bytes(parameters, (all[lane] + shift) as usize, access.bytes)
                });
            }
        }
        Ok(())
    }

    /// A load of shared memory of several blocks.
    #[cold]
    fn load_across(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        access: &Access,
    ) -> Result<(), Error> {
        self.in_blocks(block, warp, request, false, |machine, block, warp, request| {
            let Request { pc, mask, all, .. } = request;
            machine.load_in(block, warp, pc, mask, access, (Space::Shared, all))
        })
    }

    /// A store to shared memory of several blocks.
    #[cold]
    fn store_across(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        access: &Access,
    ) -> Result<(), Error> {
        self.in_blocks(block, warp, request, true, |machine, block, warp, request| {
            let Request { pc, mask, all, .. } = request;
            machine.store_in(block, warp, pc, mask, access, (Space::Shared, all))
        })
    }

    /// Executes a store with the widest instructions that the CPU has.
    pub fn store(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        access: &Access,
    ) -> Result<(), Error> {
        if self.wide {
            // SAFETY: `wide` is set where the CPU has these features.
            unsafe { self.store_wide(block, warp, pc, mask, access) }
        } else {
            self.store_lanes(block, warp, pc, mask, access)
        }
    }

    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma,bmi2,popcnt,lzcnt"))]
    fn store_wide(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        access: &Access,
    ) -> Result<(), Error> {
        self.store_lanes(block, warp, pc, mask, access)
    }

    #[inline(always)]
    fn store_lanes(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        access: &Access,
    ) -> Result<(), Error> {
        let mut all = addresses(warp, access.base, access.offset);
        if access.space != Space::Generic {
            return self.store_in(block, warp, pc, mask, access, (access.space, &all));
        }
        self.tallies[pc].generic += 1;
        for (space, lanes) in by_space(mask, &mut all) {
            if lanes != 0 {
                self.store_in(block, warp, pc, lanes, access, (space, &all))?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn store_in(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        access: &Access,
        (space, all): (Space, &[u64; LANES]),
    ) -> Result<(), Error> {
        let request = Request { pc, mask, all, bytes: access.total_bytes() };
        match space {
            Space::Global | Space::Generic => {
                let window = self.window(block, warp, request, true)?;
                if self.counting {
                    self.count_global(request, false);
                }
                if let Some(estimator) = &mut self.estimator {
                    estimator.write(request);
                }
                if self.checking {
                    self.check_global_write(block, warp, request, access.strong);
                    self.check_conflicting(block, warp, request, access);
                }
                if !window.grain.is_one(access.bytes) {
                    store_parts(&window, warp, mask, access);
                    return Ok(());
                }
                for_each_element(warp, mask, access, |lane, shift, value| {
                    // SAFETY: `window` checked bounds and alignment of all active lanes.
                    unsafe { window.write_one(lane, shift, access.bytes, value) };
                });
            }
            Space::Shared => {
                if self.reaches_blocks(request) {
                    return self.store_across(block, warp, request, access);
                }
                self.shared_bounds(block, warp, request)?;
                if self.counting {
                    self.count_shared(request);
                }
                if self.checking {
                    self.check_shared_write(block, warp, request, access.strong);
                    self.check_conflicting(block, warp, request, access);
                }
                let shared = &mut block.shared[..];
                for_each_element(warp, mask, access, |lane, shift, value| {
                    write_bytes(shared, (all[lane] + shift) as usize, access.bytes, value);
                });
            }
            Space::Local => {
                self.local_bounds(block, warp, request)?;
                if self.counting && access.space != Space::Parameter {
                    self.count_local(request);
                }
                if self.checking {
                    self.mark_local(warp, request);
                }
                let mut local = std::mem::take(&mut warp.local);
                for_each_element(warp, mask, access, |lane, shift, value| {
                    let at = (all[lane] + shift) as u32;
                    write_local(&mut local, lane, at, access.bytes, value);
                });
                warp.local = local;
            }
            Space::Parameter | Space::Constant => {
                let place = Box::new(self.run.place(block.index, warp.index, mask, pc));
                return Err(Error::IllegalAddress {
                    place,
                    address: all[mask.trailing_zeros() as usize],
                    bytes: request.bytes,
                    message: "constants and kernel parameters cannot be written".into(),
                });
            }
        }
        Ok(())
    }

    /// Checks alignment and bounds of a global access and finds the bytes behind it.
    #[inline(always)]
    pub fn window(
        &mut self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        write: bool,
    ) -> Result<Window, Error> {
        let bytes = request.bytes as u64;
        let region = self.run.memory.region_or_none(self.regions[request.pc] as usize);
        let (base, limit) = region.map_or((0, 0), |r| (r.base, r.bytes.wrapping_sub(bytes)));
        let (fits, bits) = inside(request.mask, request.all, base, limit);
        if bits & (bytes - 1) != 0 {
            return Err(self.misaligned(block, warp, request));
        }
        if let (Some(region), true) = (region, fits)
            && region.bytes >= bytes
        {
            return Ok(Window::new(region, request.all, self.run.grain));
        }
        self.window_slow(block, warp, request, write)
    }

    #[cold]
    fn window_slow(
        &mut self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        write: bool,
    ) -> Result<Window, Error> {
        let memory = self.run.memory;
        let pointers = [std::ptr::null_mut(); LANES];
        let mut window = Window { pointers, grain: self.run.grain };
        let mut bad = 0u32;
        for lane in lanes(request.mask) {
            match memory.find(request.all[lane], request.bytes as u64) {
                Some(index) => {
                    let region = memory.region(index);
                    let offset = request.all[lane] - region.base;
                    window.pointers[lane] = region.pointer.wrapping_add(offset as usize);
                    self.regions[request.pc] = index as u32;
                }
                None => bad |= 1 << lane,
            }
        }
        if bad != 0 {
            let address = request.all[bad.trailing_zeros() as usize];
            let verb = if write { "write to" } else { "read from" };
            let place = Box::new(self.run.place(block.index, warp.index, bad, request.pc));
            let message = format!(
                "{} lane(s) {verb} memory that is not allocated; {}; to fix it: check the index \
                 against the length, or enlarge the allocation",
                bad.count_ones(),
                memory.describe(address)
            );
            return Err(Error::IllegalAddress { place, address, bytes: request.bytes, message });
        }
        Ok(window)
    }

    /// The error of lanes whose address is no multiple of the access's size.
    #[cold]
    pub fn misaligned(&self, block: &Block, warp: &Warp, request: Request<'_>) -> Error {
        let bad = lanes(request.mask)
            .filter(|lane| request.all[*lane] & (request.bytes as u64 - 1) != 0)
            .fold(0u32, |m, lane| m | 1 << lane);
        Error::MisalignedAddress {
            place: Box::new(self.run.place(block.index, warp.index, bad, request.pc)),
            address: request.all[bad.trailing_zeros() as usize & 31],
            bytes: request.bytes,
        }
    }

    #[inline(always)]
    pub fn shared_bounds(
        &self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
    ) -> Result<(), Error> {
        let bytes = self.run.shared_bytes as u64;
        self.small_bounds(block, warp, request, (bytes, "shared memory"))
    }

    #[inline(always)]
    fn local_bounds(&self, block: &Block, warp: &Warp, request: Request<'_>) -> Result<(), Error> {
        let bytes = self.run.program.local_bytes as u64;
        self.small_bounds(block, warp, request, (bytes, "local memory"))
    }

    #[inline(always)]
    fn small_bounds(
        &self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        (bytes, what): (u64, &str),
    ) -> Result<(), Error> {
        let each = request.bytes as u64;
        let (fits, bits) = inside(request.mask, request.all, 0, bytes.wrapping_sub(each));
        if bits & (each - 1) != 0 {
            return Err(self.misaligned(block, warp, request));
        }
        if fits && bytes >= each {
            return Ok(());
        }
        Err(self.past_end(block, warp, request, (bytes, what)))
    }

    /// The error of lanes that reach past the end of a small space.
    #[cold]
    fn past_end(
        &self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        (bytes, what): (u64, &str),
    ) -> Error {
        let bad = lanes(request.mask)
            .filter(|lane| request.all[*lane].saturating_add(request.bytes as u64) > bytes)
            .fold(0u32, |m, lane| m | 1 << lane);
        let address = request.all[bad.trailing_zeros() as usize & 31];
        Error::IllegalAddress {
            place: Box::new(self.run.place(block.index, warp.index, bad, request.pc)),
            address,
            bytes: request.bytes,
            message: format!(
                "{} lane(s) access {what} past its end; it is {} bytes past the end of {bytes} \
                 bytes; to fix it: check the index, or give the kernel more",
                bad.count_ones(),
                address.saturating_sub(bytes)
            ),
        }
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
            let passes = words[..count].chunk_by(|a, b| a == b).count() as u32;
            let traffic = &mut self.tallies[pc].constant;
            traffic.wavefronts += passes as u64;
            traffic.wavefronts_ideal += 1;
            traffic.request(request);
            if self.watching {
                let counts = Traffic::of_passes(passes, 1);
                self.record(Side::Constant, request, counts, || constant_passes(mask, all));
            }
            return;
        }
        let (sectors, lines, distinct) =
            self.memos[pc].get(mask, all, 0, || sectors_and_lines(mask, all));
        let bytes_distinct = distinct as u64 * request.bytes as u64;
        let traffic = &mut self.tallies[pc].global;
        traffic.bytes_distinct += bytes_distinct;
        traffic.sectors += sectors as u64;
        traffic.sectors_ideal += bytes_distinct.div_ceil(32);
        traffic.lines += lines as u64;
        traffic.request(request);
        if self.watching {
            let counts = Traffic {
                bytes_distinct,
                sectors: sectors as u64,
                sectors_ideal: bytes_distinct.div_ceil(32),
                lines: lines as u64,
                ..Traffic::default()
            };
            self.record(Side::Global, request, counts, Vec::new);
        }
    }

    /// Counts wavefronts of a shared access.
    #[inline(always)]
    pub fn count_shared(&mut self, request: Request<'_>) {
        let Request { pc, mask, all, bytes } = request;
        let (count, ideal, _) = self.memos[pc].get(mask, all, 1, || {
            let (count, ideal) = wavefronts(mask, all, bytes);
            (count, ideal, 0)
        });
        let traffic = &mut self.tallies[pc].shared;
        traffic.wavefronts += count as u64;
        traffic.wavefronts_ideal += ideal as u64;
        traffic.request(request);
        if self.watching {
            let counts = Traffic::of_passes(count, ideal);
            self.record(Side::Shared, request, counts, || shared_passes(mask, all, bytes));
        }
    }

    /// Local memory is interleaved: word `w` of all lanes is one line.
    fn count_local(&mut self, request: Request<'_>) {
        let Request { pc, mask, all, bytes } = request;
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
        traffic.request(request);
    }

    /// Several lanes of one store that write different values to one place.
    fn check_conflicting(
        &mut self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        access: &Access,
    ) {
        let Request { pc, mask, all, .. } = request;
        if !self.run.options.checks.shared_races || ascending(mask, all) {
            return;
        }
        let mut order = [(0u64, 0usize); LANES];
        let mut count = 0;
        for lane in lanes(mask) {
            order[count] = (all[lane], lane);
            count += 1;
        }
        order[..count].sort_unstable();
        for pair in order[..count].windows(2) {
            let [(address, first), (other, second)] = [pair[0], pair[1]];
            if address != other {
                continue;
            }
            let field = if access.bytes == 8 { u64::MAX } else { (1 << (8 * access.bytes)) - 1 };
            let same = access.rows.iter().flatten().all(|row| {
                let value = |lane| super::step::read_row(warp, *row, lane) & field;
                value(first) == value(second)
            });
            if !same {
                let (index, w) = (block.index, warp.index);
                self.find(Hazard::ConflictingStore, pc, |run| Finding {
                    hazard: Hazard::ConflictingStore,
                    place: run.place(index, w, 1 << first | 1 << second, pc),
                    other: None,
                    address: Some(address),
                    message: format!("two lanes store different values to {address:#x}"),
                });
                return;
            }
        }
    }
}

/// Whether every active lane's address is above that of the active lane before.
#[inline(always)]
fn ascending(mask: u32, all: &[u64; LANES]) -> bool {
    let mut before = None;
    lanes(mask).all(|lane| before.replace(all[lane]).is_none_or(|b| b < all[lane]))
}

impl Traffic {
    /// The counts of a request that takes so many passes.
    pub(crate) fn of_passes(count: u32, ideal: u32) -> Traffic {
        Traffic { wavefronts: count as u64, wavefronts_ideal: ideal as u64, ..Traffic::default() }
    }

    /// Counts one request with its lanes and bytes.
    #[inline(always)]
    pub(crate) fn request(&mut self, request: Request<'_>) {
        let lanes = request.mask.count_ones() as u64;
        self.requests += 1;
        self.lanes += lanes;
        self.bytes += lanes * request.bytes as u64;
    }
}

/// Reads the elements of a load that are no atomics of the launch's size.
#[inline(never)]
fn load_parts(window: &Window, warp: &mut Warp, mask: u32, access: &Access) {
    fill_rows(warp, mask, access, |lane, shift| {
        // SAFETY: the caller has the window checked for all active lanes.
        unsafe { window.read(lane, shift, access.bytes) }
    });
}

/// Writes the elements of a store that are no atomics of the launch's size.
#[inline(never)]
fn store_parts(window: &Window, warp: &Warp, mask: u32, access: &Access) {
    for_each_element(warp, mask, access, |lane, shift, value| {
        // SAFETY: the caller has the window checked for all active lanes.
        unsafe { window.write(lane, shift, access.bytes, value) };
    });
}

/// Reads every element of a load and writes its row.
#[inline(always)]
fn fill_rows(warp: &mut Warp, mask: u32, access: &Access, read: impl Fn(usize, u64) -> u64) {
    for (element, row) in access.rows.iter().enumerate() {
        let shift = element as u64 * access.bytes as u64;
        match row {
            None => {}
            Some(Row::Word(row)) => {
                let row = &mut warp.registers.words[*row as usize];
                for (lane, target) in row.iter_mut().enumerate() {
                    if mask >> lane & 1 != 0 {
                        let value = read(lane, shift);
                        *target = match (access.signed, access.bytes) {
                            (true, 1) => value as i8 as i32 as u32,
                            (true, 2) => value as i16 as i32 as u32,
                            _ => value as u32,
                        };
                    }
                }
            }
            Some(Row::Long(row)) => {
                let row = &mut warp.registers.longs[*row as usize];
                for (lane, target) in row.iter_mut().enumerate() {
                    if mask >> lane & 1 != 0 {
                        let value = read(lane, shift);
                        *target = match (access.signed, access.bytes) {
                            (true, 1) => value as i8 as i64 as u64,
                            (true, 2) => value as i16 as i64 as u64,
                            (true, 4) => value as i32 as i64 as u64,
                            _ => value,
                        };
                    }
                }
            }
            Some(Row::Predicate(_)) => {}
        }
    }
}

/// Hands every element of a store to `write`; a higher lane overwrites a lower one.
#[inline(always)]
fn for_each_element(
    warp: &Warp,
    mask: u32,
    access: &Access,
    mut write: impl FnMut(usize, u64, u64),
) {
    for (element, row) in access.rows.iter().enumerate() {
        let shift = element as u64 * access.bytes as u64;
        match row {
            Some(Row::Word(row)) => {
                let row = &warp.registers.words[*row as usize];
                for (lane, value) in row.iter().enumerate() {
                    if mask >> lane & 1 != 0 {
                        write(lane, shift, *value as u64);
                    }
                }
            }
            Some(Row::Long(row)) => {
                let row = &warp.registers.longs[*row as usize];
                for (lane, value) in row.iter().enumerate() {
                    if mask >> lane & 1 != 0 {
                        write(lane, shift, *value);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Reads 1, 2, 4 or 8 bytes; past the end (which bounds checks exclude) reads zero.
#[inline(always)]
pub(crate) fn read_bytes(memory: &[u8], at: usize, bytes: u32) -> u64 {
    match bytes {
        1 => memory.get(at).copied().unwrap_or(0) as u64,
        2 => memory.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes)
            as u64,
        4 => memory.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
            as u64,
        _ => memory.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes),
    }
}

/// Writes the low bytes of a value; past the end (which bounds checks exclude) does nothing.
#[inline(always)]
pub(crate) fn write_bytes(memory: &mut [u8], at: usize, bytes: u32, value: u64) {
    let source = value.to_le_bytes();
    if let Some(target) = memory.get_mut(at..at + bytes as usize) {
        match bytes {
            4 => target.copy_from_slice(&source[..4]),
            8 => target.copy_from_slice(&source),
            2 => target.copy_from_slice(&source[..2]),
            _ => target.copy_from_slice(&source[..1]),
        }
    }
}
