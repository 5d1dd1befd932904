//! Loads and stores in every state space.

use super::block::Block;
use super::step::space_of;
use super::traffic::{sectors_and_lines, wavefronts};
use super::warp::Warp;
use super::{Machine, Run};
use crate::counters::Traffic;
use crate::error::Error;
use crate::findings::{Finding, Hazard};
use crate::memory::Region;
use crate::program::{Access, Base, LOCAL_WINDOW, PARAMETER_WINDOW, Row, SHARED_WINDOW, Space};
use crate::registers::LANES;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Host pointers to what the active lanes of one access address.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pointers: [*mut u8; LANES],
}

impl Window {
    /// Reads `bytes` (1, 2, 4 or 8) at `shift` bytes past a lane's address.
    ///
    /// # Safety
    /// The lane is active in the mask that the window was made for, and `shift + bytes` is at most
    /// the access's size, of which `bytes` and `shift` are fractions.
    #[inline(always)]
    pub unsafe fn read(&self, lane: usize, shift: u64, bytes: u32) -> u64 {
        // SAFETY: `Machine::window` checked that the whole access of an active lane lies in a
        // region and is aligned; regions agree with their addresses modulo 16. Relaxed atomics
        // make concurrent access by other workers sound.
        unsafe {
            let at = self.pointers[lane].add(shift as usize);
            match bytes {
                1 => AtomicU8::from_ptr(at).load(Relaxed) as u64,
                2 => AtomicU16::from_ptr(at.cast()).load(Relaxed) as u64,
                4 => AtomicU32::from_ptr(at.cast()).load(Relaxed) as u64,
                _ => AtomicU64::from_ptr(at.cast()).load(Relaxed),
            }
        }
    }

    /// Writes the low `bytes` bytes of a value.
    ///
    /// # Safety
    /// As for [`Window::read`].
    #[inline(always)]
    pub unsafe fn write(&self, lane: usize, shift: u64, bytes: u32, value: u64) {
        // SAFETY: as in `read`.
        unsafe {
            let at = self.pointers[lane].add(shift as usize);
            match bytes {
                1 => AtomicU8::from_ptr(at).store(value as u8, Relaxed),
                2 => AtomicU16::from_ptr(at.cast()).store(value as u16, Relaxed),
                4 => AtomicU32::from_ptr(at.cast()).store(value as u32, Relaxed),
                _ => AtomicU64::from_ptr(at.cast()).store(value, Relaxed),
            }
        }
    }

    /// The host pointer of a lane.
    pub fn pointer(&self, lane: usize) -> *mut u8 {
        self.pointers[lane]
    }
}

/// All lanes' addresses as pointers into one region; only those of active lanes are meaningful.
#[inline(always)]
fn pointers(region: &Region, all: &[u64; LANES]) -> Window {
    let pointers = std::array::from_fn(|lane| {
        region.pointer.wrapping_add((all[lane].wrapping_sub(region.base)) as usize)
    });
    Window { pointers }
}

impl Run<'_> {
    /// Whether an address belongs to a constant variable; used by `isspacep.const` only.
    pub fn is_constant(&self, _address: u64) -> bool {
        // Constants live among the global allocations here.
        false
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
        let total = access.total_bytes();
        match space {
            Space::Global | Space::Constant | Space::Generic => {
                let window = self.window(block, warp, pc, mask, all, total, false)?;
                if self.counting {
                    self.count_global(pc, mask, all, total, space == Space::Constant);
                }
                if self.checking {
                    self.check_global_read(block, warp, pc, mask, all, access);
                }
                if access.bytes == 4
                    && mask == u32::MAX
                    && let [Some(Row::Word(row))] = access.rows[..]
                {
                    let row = &mut warp.registers.words[row as usize];
                    for (lane, value) in row.iter_mut().enumerate() {
                        // SAFETY: `window` checked bounds and alignment of all active lanes.
                        *value = unsafe { window.read(lane, 0, 4) } as u32;
                    }
                    return Ok(());
                }
                fill_rows(warp, mask, access, |lane, shift| {
                    // SAFETY: `window` checked bounds and alignment of all active lanes.
                    unsafe { window.read(lane, shift, access.bytes) }
                });
            }
            Space::Shared => {
                self.shared_bounds(block, warp, pc, mask, all, total)?;
                if self.counting {
                    self.count_shared(pc, mask, all, total);
                }
                if self.checking {
                    self.check_shared_read(block, warp, pc, mask, all, total, access.strong);
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
                self.local_bounds(block, warp, pc, mask, all, total)?;
                if self.counting && access.space != Space::Parameter {
                    self.count_local(pc, mask, all, total);
                }
                if self.checking {
                    self.check_local_read(block, warp, pc, mask, all, total);
                }
                let local = std::mem::take(&mut warp.local);
                fill_rows(warp, mask, access, |lane, shift| {
                    read_local(&local, lane, (all[lane] + shift) as u32, access.bytes)
                });
                warp.local = local;
            }
            Space::Parameter => {
                let bytes = self.run.parameters.len() as u64;
                self.small_bounds(block, warp, pc, mask, all, total, (bytes, "kernel parameters"))?;
                // At a fixed place a parameter is an operand; with an index it is a constant load.
                if self.counting && !matches!(access.base, Base::Absolute) {
                    self.count_global(pc, mask, all, total, true);
                }
                let parameters = &self.run.parameters[..];
                fill_rows(warp, mask, access, |lane, shift| {
                    read_bytes(parameters, (all[lane] + shift) as usize, access.bytes)
                });
            }
        }
        Ok(())
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
        let total = access.total_bytes();
        match space {
            Space::Global | Space::Generic => {
                let window = self.window(block, warp, pc, mask, all, total, true)?;
                if self.counting {
                    self.count_global(pc, mask, all, total, false);
                }
                if self.checking {
                    self.check_global_write(block, warp, pc, mask, all, access);
                    self.check_conflicting(block, warp, pc, mask, all, access);
                }
                for_each_element(warp, mask, access, |lane, shift, value| {
                    // SAFETY: `window` checked bounds and alignment of all active lanes.
                    unsafe { window.write(lane, shift, access.bytes, value) };
                });
            }
            Space::Shared => {
                self.shared_bounds(block, warp, pc, mask, all, total)?;
                if self.counting {
                    self.count_shared(pc, mask, all, total);
                }
                if self.checking {
                    self.check_shared_write(block, warp, pc, mask, all, total, access.strong);
                    self.check_conflicting(block, warp, pc, mask, all, access);
                }
                let shared = &mut block.shared[..];
                for_each_element(warp, mask, access, |lane, shift, value| {
                    write_bytes(shared, (all[lane] + shift) as usize, access.bytes, value);
                });
            }
            Space::Local => {
                self.local_bounds(block, warp, pc, mask, all, total)?;
                if self.counting && access.space != Space::Parameter {
                    self.count_local(pc, mask, all, total);
                }
                if self.checking {
                    self.mark_local(warp, mask, all, total);
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
                    bytes: total,
                    message: "constants and kernel parameters cannot be written".into(),
                });
            }
        }
        Ok(())
    }

    /// Checks alignment and bounds of a global access and finds the bytes behind it.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub fn window(
        &mut self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
        write: bool,
    ) -> Result<Window, Error> {
        let region = self.run.memory.region_or_none(self.regions[pc] as usize);
        let (base, limit) = region.map_or((0, 0), |r| (r.base, r.bytes.wrapping_sub(total as u64)));
        let (fits, bits) = inside(mask, all, base, limit);
        if bits & (total as u64 - 1) != 0 {
            return Err(self.misaligned(block, warp, pc, mask, all, total));
        }
        if let (Some(region), true) = (region, fits)
            && region.bytes >= total as u64
        {
            return Ok(pointers(region, all));
        }
        self.window_slow(block, warp, pc, mask, all, (total, write))
    }

    #[cold]
    fn window_slow(
        &mut self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        (total, write): (u32, bool),
    ) -> Result<Window, Error> {
        let memory = self.run.memory;
        let mut window = Window { pointers: [std::ptr::null_mut(); LANES] };
        let mut bad = 0u32;
        for (lane, address) in all.iter().enumerate() {
            if mask >> lane & 1 == 0 {
                continue;
            }
            match memory.find(*address, total as u64) {
                Some(index) => {
                    let region = memory.region(index);
                    let offset = *address - region.base;
                    window.pointers[lane] = region.pointer.wrapping_add(offset as usize);
                    self.regions[pc] = index as u32;
                }
                None => bad |= 1 << lane,
            }
        }
        if bad != 0 {
            let address = all[bad.trailing_zeros() as usize];
            let verb = if write { "write to" } else { "read from" };
            let place = Box::new(self.run.place(block.index, warp.index, bad, pc));
            let message = format!(
                "{} lane(s) {verb} memory that is not allocated; {}; to fix it: check the index \
                 against the length, or enlarge the allocation",
                bad.count_ones(),
                memory.describe(address)
            );
            return Err(Error::IllegalAddress { place, address, bytes: total, message });
        }
        Ok(window)
    }

    /// The error of lanes whose address is no multiple of the access's size.
    #[cold]
    pub fn misaligned(
        &self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
    ) -> Error {
        let bad = (0..LANES)
            .filter(|lane| mask >> lane & 1 != 0 && all[*lane] & (total as u64 - 1) != 0)
            .fold(0u32, |m, lane| m | 1 << lane);
        Error::MisalignedAddress {
            place: Box::new(self.run.place(block.index, warp.index, bad, pc)),
            address: all[bad.trailing_zeros() as usize & 31],
            bytes: total,
        }
    }

    #[inline(always)]
    pub fn shared_bounds(
        &self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
    ) -> Result<(), Error> {
        let bytes = self.run.shared_bytes as u64;
        self.small_bounds(block, warp, pc, mask, all, total, (bytes, "shared memory"))
    }

    #[inline(always)]
    fn local_bounds(
        &self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
    ) -> Result<(), Error> {
        let bytes = self.run.program.local_bytes as u64;
        self.small_bounds(block, warp, pc, mask, all, total, (bytes, "local memory"))
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn small_bounds(
        &self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
        (bytes, what): (u64, &str),
    ) -> Result<(), Error> {
        let (fits, bits) = inside(mask, all, 0, bytes.wrapping_sub(total as u64));
        if bits & (total as u64 - 1) != 0 {
            return Err(self.misaligned(block, warp, pc, mask, all, total));
        }
        if fits && bytes >= total as u64 {
            return Ok(());
        }
        Err(self.past_end(block, warp, pc, mask, all, (total, bytes, what)))
    }

    /// The error of lanes that reach past the end of a small space.
    #[cold]
    fn past_end(
        &self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        (total, bytes, what): (u32, u64, &str),
    ) -> Error {
        let bad = (0..LANES)
            .filter(|lane| mask >> lane & 1 != 0 && all[*lane].saturating_add(total as u64) > bytes)
            .fold(0u32, |m, lane| m | 1 << lane);
        let address = all[bad.trailing_zeros() as usize & 31];
        Error::IllegalAddress {
            place: Box::new(self.run.place(block.index, warp.index, bad, pc)),
            address,
            bytes: total,
            message: format!(
                "{} lane(s) access {what} past its end, there are {bytes} bytes; to fix it: check \
                 the index, or give the kernel more",
                bad.count_ones()
            ),
        }
    }

    /// Counts sectors and lines of a global (or constant) access.
    #[inline(always)]
    pub fn count_global(
        &mut self,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
        constant: bool,
    ) {
        let lanes = mask.count_ones() as u64;
        if constant {
            let mut words: Vec<u64> = (0..LANES)
                .filter(|lane| mask >> lane & 1 != 0)
                .map(|lane| all[lane] >> 2)
                .collect();
            words.sort_unstable();
            words.dedup();
            let traffic = &mut self.tallies[pc].constant;
            traffic.requests += 1;
            traffic.lanes += lanes;
            traffic.bytes += lanes * total as u64;
            traffic.wavefronts += words.len() as u64;
            traffic.wavefronts_ideal += 1;
            return;
        }
        let (sectors, lines, distinct) =
            self.memos[pc].get(mask, all, 0, || sectors_and_lines(mask, all));
        let bytes_distinct = distinct as u64 * total as u64;
        let traffic = &mut self.tallies[pc].global;
        traffic.requests += 1;
        traffic.lanes += lanes;
        traffic.bytes += lanes * total as u64;
        traffic.bytes_distinct += bytes_distinct;
        traffic.sectors += sectors as u64;
        traffic.sectors_ideal += bytes_distinct.div_ceil(32);
        traffic.lines += lines as u64;
    }

    /// Counts wavefronts of a shared access.
    #[inline(always)]
    pub fn count_shared(&mut self, pc: usize, mask: u32, all: &[u64; LANES], total: u32) {
        let (count, ideal, _) = self.memos[pc].get(mask, all, 1, || {
            let (count, ideal) = wavefronts(mask, all, total);
            (count, ideal, 0)
        });
        let lanes = mask.count_ones() as u64;
        let traffic = &mut self.tallies[pc].shared;
        traffic.requests += 1;
        traffic.lanes += lanes;
        traffic.bytes += lanes * total as u64;
        traffic.wavefronts += count as u64;
        traffic.wavefronts_ideal += ideal as u64;
    }

    /// Local memory is interleaved: word `w` of all lanes is one line.
    fn count_local(&mut self, pc: usize, mask: u32, all: &[u64; LANES], total: u32) {
        let (mut sectors, mut lines) = (0u64, 0u64);
        for word in 0..total.div_ceil(4) as u64 {
            let physical: [u64; LANES] = std::array::from_fn(|lane| {
                (all[lane] / 4 + word) * 128 + lane as u64 * 4 + all[lane] % 4
            });
            let (s, l, _) = sectors_and_lines(mask, &physical);
            sectors += s as u64;
            lines += l as u64;
        }
        let lanes = mask.count_ones() as u64;
        let bytes = lanes * total as u64;
        self.tallies[pc].local += Traffic {
            requests: 1,
            lanes,
            bytes,
            sectors,
            sectors_ideal: bytes.div_ceil(32),
            lines,
            ..Traffic::default()
        };
    }

    /// Several lanes of one store that write different values to one place.
    fn check_conflicting(
        &mut self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        access: &Access,
    ) {
        if !self.run.options.checks.shared_races {
            return;
        }
        let mut lanes: Vec<usize> = (0..LANES).filter(|lane| mask >> lane & 1 != 0).collect();
        lanes.sort_by_key(|lane| all[*lane]);
        for pair in lanes.windows(2) {
            if all[pair[0]] != all[pair[1]] {
                continue;
            }
            let field = if access.bytes == 8 { u64::MAX } else { (1 << (8 * access.bytes)) - 1 };
            let same = access.rows.iter().flatten().all(|row| {
                let value = |lane| super::step::read_row(warp, *row, lane) & field;
                value(pair[0]) == value(pair[1])
            });
            if !same {
                let (index, w, address) = (block.index, warp.index, all[pair[0]]);
                let two = 1 << pair[0] | 1 << pair[1];
                self.find(Hazard::ConflictingStore, pc, |run| Finding {
                    hazard: Hazard::ConflictingStore,
                    place: run.place(index, w, two, pc),
                    other: None,
                    address: Some(address),
                    message: format!("two lanes store different values to {address:#x}"),
                });
                return;
            }
        }
    }
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

fn read_local(local: &[u32], lane: usize, offset: u32, bytes: u32) -> u64 {
    let index = (offset / 4) as usize * LANES + lane;
    let low = local[index] as u64;
    match bytes {
        8 => low | (local[index + LANES] as u64) << 32,
        4 => low,
        2 => low >> (8 * (offset % 4)) & 0xffff,
        _ => low >> (8 * (offset % 4)) & 0xff,
    }
}

fn write_local(local: &mut [u32], lane: usize, offset: u32, bytes: u32, value: u64) {
    let index = (offset / 4) as usize * LANES + lane;
    match bytes {
        8 => {
            local[index] = value as u32;
            local[index + LANES] = (value >> 32) as u32;
        }
        4 => local[index] = value as u32,
        _ => {
            let shift = 8 * (offset % 4);
            let field = if bytes == 1 { 0xffu32 } else { 0xffff } << shift;
            local[index] = local[index] & !field | (value as u32) << shift & field;
        }
    }
}
