use crate::cpu::widest;
use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::{Polled, Warp, read_local, write_local};
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::bytes::{read_bytes, write_bytes};
use crate::execute::memory::device::Window;
use crate::execute::memory::pattern::{QUARTER, QUARTERS};
use crate::execute::memory::request::{addresses, by_space};
use crate::observer::AccessKind;
use crate::operation::{Access, Base, Register, Space};
use crate::registers::LANES;
use races::Request;
use races::Shape;

impl Worker<'_> {
    /// Executes a load, or a store when `STORES`, with the widest instructions that the CPU has.
    pub fn access<const STORES: bool>(
        &mut self,
        issue: Issue<'_>,
        access: &Access,
    ) -> Result<(), Error> {
        widest!(
            self.wide,
            self.access_wide::<STORES>(issue, access),
            self.access_lanes::<STORES>(issue, access)
        )
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi2,popcnt,lzcnt")]
    fn access_wide<const STORES: bool>(
        &mut self,
        issue: Issue<'_>,
        access: &Access,
    ) -> Result<(), Error> {
        self.access_lanes::<STORES>(issue, access)
    }

    #[inline(always)]
    fn access_lanes<const STORES: bool>(
        &mut self,
        issue: Issue<'_>,
        access: &Access,
    ) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        let mut all = addresses(warp, access.base, access.offset);
        if access.space != Space::Generic {
            let row = match access.base {
                Base::Word(index) => Some(&warp.registers.words[index as usize]),
                _ => None,
            };
            let request = self.observers.observe(pc, mask, (&all, row), access.total_bytes());
            return self.access_in::<STORES>(block, warp, request, access, access.space);
        }
        self.observers.tallies[pc].generic += 1;
        for (space, mask) in by_space(mask, &mut all) {
            if mask != 0 {
                let request = self.observers.observe(pc, mask, (&all, None), access.total_bytes());
                self.access_in::<STORES>(block, warp, request, access, space)?;
            }
        }
        Ok(())
    }

    /// Moves a word of shared memory for each of all lanes where they lie as they did the last time: then counts are known, and
    /// addresses only matter to the checks. Returns whether it did; a store that is checked, or a value that is followed, has
    /// more to do.
    #[inline(always)]
    pub fn access_again<const STORES: bool>(
        &mut self,
        issue: &mut Issue<'_>,
        access: &Access,
    ) -> bool {
        let Issue { block, warp, pc, mask } = issue;
        let (pc, mask) = (*pc, *mask);
        let (Base::Word(base), [Some(Register::Word(value))]) = (access.base, &access.rows[..])
        else {
            return false;
        };
        let observers = &mut self.observers;
        // A page has little room for it.
        if cfg!(target_arch = "wasm32")
            || mask != u32::MAX
            || access.space != Space::Shared
            || access.bytes != 4
            || observers.checking && (STORES || observers.follower.is_some())
            || observers.watching
        {
            return false;
        }
        let row = &warp.registers.words[base as usize];
        let pattern = &observers.patterns[pc];
        // Of a static array's bytes, where the address is formed from one.
        let array = self.run.arrays.get(pc).copied().flatten();
        let bounds = array.unwrap_or((0, self.run.shared_bytes));
        let again = pattern.again(row, access.offset as u32, bounds, observers.counting);
        let Some((first, (wavefronts, ideal, _))) = again else { return false };
        if observers.counting {
            let traffic = &mut observers.tallies[pc].shared;
            traffic.wavefronts += u64::from(wavefronts);
            traffic.wavefronts_ideal += u64::from(ideal);
            traffic.add_request(u32::MAX, 4);
            if let Some(observer) = &mut observers.observer {
                observer.shared(wavefronts);
            }
        }
        if !STORES && observers.checking {
            let all = pattern.distances().map(|it| u64::from(first.wrapping_add_signed(it)));
            let layout = Some(pattern.layout());
            let request = Request { pc, mask, all: &all, bytes: 4, layout };
            self.shared_event(block, warp, &request, false, None);
        }
        let pattern = &self.observers.patterns[pc];
        let (shared, distances) = (&mut block.shared[..], pattern.distances());
        let quarters = &pattern.quarters;
        let at = |lane: usize| u64::from(first.wrapping_add_signed(distances[lane]));
        let row = &mut warp.registers.words[*value as usize];
        // SAFETY: `again` checked that the four bytes of every lane lie in the block's `shared_bytes`, and `start_block` gave
        // it at least as many. `quarters` are those of the pattern, which it compared.
        unsafe {
            match STORES {
                true => write_words(shared, at, quarters, row),
                false => read_words(shared, at, quarters, row),
            }
        }
        if !STORES {
            let (pc, mask, bytes) = (pc as u32, u32::MAX, 4);
            let (address, turn) = (u64::from(first), self.steps);
            warp.polled = Polled { pc, mask, address, bytes, is_shared: true, turn };
        }
        true
    }

    #[inline(always)]
    fn access_in<const STORES: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        access: &Access,
        space: Space,
    ) -> Result<(), Error> {
        let Request { pc, mask, all, .. } = request;
        // One word of each lane, and all lanes take part.
        let row = match access.rows[..] {
            [Some(Register::Word(row))] if access.bytes == 4 && mask == u32::MAX => Some(row),
            _ => None,
        };
        match space {
            Space::Parameter | Space::Constant if STORES => {
                return Err(Error::IllegalAddress {
                    place: Box::new(self.run.place(block.index, warp.index, mask, pc)),
                    address: all[mask.trailing_zeros() as usize],
                    bytes: request.bytes,
                    message: "constants and kernel parameters cannot be written".into(),
                });
            }
            Space::Global | Space::Constant | Space::Generic => {
                let window = self.window(block, warp, request, STORES)?;
                if !STORES {
                    self.polls(warp, request, access.bytes, false);
                }
                if self.observers.counting {
                    self.observers.count_global(request, space == Space::Constant);
                }
                let kind = match space {
                    _ if STORES => AccessKind::Store,
                    Space::Constant => AccessKind::Constant,
                    _ => AccessKind::Load { past_l1: access.past_l1 },
                };
                self.observers.tell(kind, request);
                if self.observers.checking && STORES {
                    self.check_global_write(block, warp, request, access);
                    self.check_conflicting(block, warp, request, access);
                } else if self.observers.checking {
                    self.check_global_read(block, warp, request, access.read_only);
                }
                match (window.granularity.is_one(access.bytes), row) {
                    (false, _) if STORES => store_parts(&window, warp, mask, access),
                    (false, _) => load_parts(&window, warp, mask, access),
                    (true, _) if STORES => {
                        for_each_element(warp, mask, access, |lane, shift, value| {
                            // SAFETY: `window` checked bounds and alignment of all active lanes.
                            unsafe { window.write_one(lane, shift, access.bytes, value) };
                        });
                    }
                    (true, Some(row)) => {
                        let row = &mut warp.registers.words[row as usize];
                        for (lane, value) in row.iter_mut().enumerate() {
                            // SAFETY: `window` checked bounds and alignment of all active lanes.
                            *value = unsafe { window.read_one(lane, 0, 4) } as u32;
                        }
                    }
                    (true, None) => fill_rows(warp, mask, access, |lane, shift| {
                        // SAFETY: `window` checked bounds and alignment of all active lanes.
                        unsafe { window.read_one(lane, shift, access.bytes) }
                    }),
                }
            }
            Space::Shared => {
                if self.reaches_blocks(request) {
                    return self.access_across::<STORES>(block, warp, request, access);
                }
                self.shared_bounds(block, warp, request)?;
                if self.observers.counting {
                    self.observers.count_shared(request, STORES);
                }
                if !STORES {
                    self.polls(warp, request, access.bytes, true);
                }
                if self.observers.checking && STORES {
                    self.check_shared_write(block, warp, request, Some(access));
                    self.check_conflicting(block, warp, request, access);
                } else if self.observers.checking {
                    self.check_shared_read(block, warp, request);
                }
                let shared = &mut block.shared[..];
                let quarters = &self.observers.patterns[pc].quarters;
                match row {
                    // SAFETY: `shared_bounds` checked that the four bytes of every active lane, which are all, lie in
                    // the block's `shared_bytes`, and `start_block` gave it at least as many. `quarters` are those of the
                    // pattern, which `observe` has compared with the addresses.
                    Some(row) if STORES => unsafe {
                        write_words(
                            shared,
                            |lane| all[lane],
                            quarters,
                            &warp.registers.words[row as usize],
                        );
                    },
                    // SAFETY: as for the store.
                    Some(row) => unsafe {
                        read_words(
                            shared,
                            |lane| all[lane],
                            quarters,
                            &mut warp.registers.words[row as usize],
                        );
                    },
                    None if STORES => for_each_element(warp, mask, access, |lane, shift, value| {
                        write_bytes(shared, (all[lane] + shift) as usize, access.bytes, value);
                    }),
                    None => fill_rows(warp, mask, access, |lane, shift| {
                        read_bytes(shared, (all[lane] + shift) as usize, access.bytes)
                    }),
                }
            }
            Space::Local => {
                self.local_bounds(block, warp, request)?;
                if self.observers.counting && access.space != Space::Parameter && !access.of_call {
                    self.observers.count_local(request);
                }
                if self.observers.checking && STORES {
                    self.mark_local(block, warp, request, access);
                } else if self.observers.checking {
                    self.check_local_read(block, warp, request);
                }
                let mut local = std::mem::take(&mut warp.local);
                if STORES {
                    for_each_element(warp, mask, access, |lane, shift, value| {
                        let at = (all[lane] + shift) as u32;
                        write_local(&mut local, lane, at, access.bytes, value);
                    });
                } else {
                    fill_rows(warp, mask, access, |lane, shift| {
                        read_local(&local, lane, (all[lane] + shift) as u32, access.bytes)
                    });
                }
                warp.local = local;
            }
            Space::Parameter => {
                let bytes = self.run.parameters.len() as u64;
                self.small_bounds(block, warp, request, (bytes, "kernel parameters"))?;
                // At a fixed place a parameter is an operand; with an index it is a constant load.
                if self.observers.counting && !matches!(access.base, Base::Absolute) {
                    self.observers.count_global(request, true);
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

    /// Remembers the last load, in case it is what a loop waits for.
    #[inline(always)]
    pub fn polls(&self, warp: &mut Warp, request: Request<'_>, bytes: u32, is_shared: bool) {
        let Request { pc, mask, all, .. } = request;
        let address = all[mask.trailing_zeros() as usize & 31];
        warp.polled = Polled { pc: pc as u32, mask, address, bytes, is_shared, turn: self.steps };
    }

    /// Accesses shared memory of several blocks.
    #[cold]
    fn access_across<const STORES: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        access: &Access,
    ) -> Result<(), Error> {
        self.in_blocks(block, warp, request, |worker, block, warp, request| {
            let Request { pc, mask, all, .. } = request;
            let request = worker.observers.observe(pc, mask, (all, None), access.total_bytes());
            worker.access_in::<STORES>(block, warp, request, access, Space::Shared)
        })
    }
}

/// Reads a word of shared memory for each lane.
///
/// # Safety
/// - The four bytes at every lane's address lie in `shared`, and `quarters` are the shapes of these addresses.
#[inline(always)]
unsafe fn read_words(
    shared: &[u8],
    address: impl Fn(usize) -> u64,
    quarters: &[Shape; QUARTERS],
    row: &mut [u32; LANES],
) {
    // SAFETY: by the contract; the address need not be aligned.
    let word = |at: u64| unsafe {
        u32::from_le(shared.as_ptr().add(at as usize).cast::<u32>().read_unaligned())
    };
    for (quarter, values) in row.as_chunks_mut::<QUARTER>().0.iter_mut().enumerate() {
        let first = quarter * QUARTER;
        let start = address(first);
        *values = match quarters[quarter] {
            Shape::Uniform => [word(start); QUARTER],
            Shape::Contiguous => std::array::from_fn(|lane| word(start + 4 * lane as u64)),
            _ => std::array::from_fn(|lane| word(address(first + lane))),
        };
    }
}

/// Writes a word of shared memory for each lane; a higher lane overwrites a lower one.
///
/// # Safety
/// - The four bytes at every lane's address lie in `shared`, and `quarters` are the shapes of these addresses.
#[inline(always)]
unsafe fn write_words(
    shared: &mut [u8],
    address: impl Fn(usize) -> u64,
    quarters: &[Shape; QUARTERS],
    row: &[u32; LANES],
) {
    let start = shared.as_mut_ptr();
    // SAFETY: by the contract; the address need not be aligned.
    let put = |at: u64, value: u32| unsafe {
        start.add(at as usize).cast::<u32>().write_unaligned(value.to_le());
    };
    for (quarter, values) in row.as_chunks::<QUARTER>().0.iter().enumerate() {
        let first = quarter * QUARTER;
        let (start, is_row) = (address(first), quarters[quarter] == Shape::Contiguous);
        for (lane, value) in values.iter().enumerate() {
            put(if is_row { start + 4 * lane as u64 } else { address(first + lane) }, *value);
        }
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
            Some(Register::Word(row)) => {
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
            Some(Register::Long(row)) => {
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
            Some(Register::Predicate(_)) => {}
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
            Some(Register::Word(row)) => {
                let row = &warp.registers.words[*row as usize];
                for (lane, value) in row.iter().enumerate() {
                    if mask >> lane & 1 != 0 {
                        write(lane, shift, *value as u64);
                    }
                }
            }
            Some(Register::Long(row)) => {
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
