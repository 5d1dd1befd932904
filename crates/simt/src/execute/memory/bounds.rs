//! True when an access lies in memory, and where.

use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::Worker;
use crate::execute::memory::asynchronous::bytes_read;
use crate::execute::memory::device::Window;
use crate::execute::observe::checks::provenance::is_formed_from;
use crate::operation::{Operation, Register};
use crate::region::Region;
use crate::registers::LANES;
use races::Request;
use races::lanes;

impl Worker<'_> {
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
        let (fits, bits) = request.inside(base, limit);
        if bits & (bytes - 1) != 0 {
            return Err(self.misaligned(block, warp, request));
        }
        if let (Some(region), true) = (region, fits)
            && region.bytes >= bytes
        {
            return Ok(Window::new(region, request.all, self.run.granularity));
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
        let mut window = Window { pointers, granularity: self.run.granularity };
        // What is wrong with the first bad lane, where a heap knows it.
        let (mut bad, mut problem) = (0u32, None);
        // An aligned vector lies in a part of memory that is allocated as a whole, so that its unused end does no harm.
        let used = match &self.run.program.instructions[request.pc].operation {
            Operation::Load(access) => [access.used_bytes(); LANES],
            Operation::AsyncCopy(copy) => bytes_read(copy, warp),
            _ => [request.bytes; LANES],
        };
        for lane in lanes(request.mask) {
            let address = request.all[lane];
            let Some(index) = memory.find(address, used[lane].into()) else {
                bad |= 1 << lane;
                continue;
            };
            let region = memory.region(index);
            if write && region.is_constant && self.names(request.pc, region) {
                let place = self.run.place(block.index, warp.index, request.mask, request.pc);
                let (place, bytes) = (Box::new(place), request.bytes);
                let message = format!(
                    "a store to constant memory, which only the host writes; {}; to fix it: put \
                     the array into global memory",
                    memory.describe(address)
                );
                return Err(Error::IllegalAddress { place, address, bytes, message });
            }
            window.pointers[lane] = region.pointer.wrapping_add((address - region.base) as usize);
            // Each access to a heap comes here, because its blocks are not regions.
            let mut heaps = memory.heaps.values().chain(memory.launch_buffers.values());
            match heaps.find(|heap| heap.is_at(region.base)) {
                None => self.regions[request.pc] = index as u32,
                Some(heap) => {
                    if let Some(of_heap) = heap.problem(address, used[lane].into()) {
                        if bad == 0 {
                            problem = Some(of_heap);
                        }
                        bad |= 1 << lane;
                    }
                }
            }
        }
        if bad != 0 {
            let address = request.all[bad.trailing_zeros() as usize];
            let verb = if write { "write to" } else { "read from" };
            let place = Box::new(self.run.place(block.index, warp.index, bad, request.pc));
            let (what, cure) = match self.run.not_of_device_memory(request.pc, address) {
                Some(known) if problem.is_none() => known,
                _ => {
                    let formed =
                        || self.run.formed_from_argument(request.pc, address, request.bytes);
                    let what = problem.or_else(formed).unwrap_or_else(|| memory.describe(address));
                    (what, "check the index against the length, or enlarge the allocation")
                }
            };
            let message = format!(
                "{} lane(s) {verb} memory that is not allocated; {what}; to fix it: {cure}",
                bad.count_ones(),
            );
            return Err(Error::IllegalAddress { place, address, bytes: request.bytes, message });
        }
        Ok(window)
    }

    /// Returns whether the kernel forms the address of a store from the name of a region.
    ///
    /// Hopper faults there, but not where the host passed the address: `results/nvidia-h100/constants.txt`.
    #[cold]
    fn names(&self, pc: usize, region: &Region) -> bool {
        let in_region = |(_, value): &&(u32, u64)| value.wrapping_sub(region.base) < region.bytes;
        let rows = self.run.long_constants.iter().filter(in_region);
        let rows: Vec<Register> = rows.map(|(index, _)| Register::Long(*index)).collect();
        is_formed_from(self.run.program, pc, &rows)
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
    pub fn local_bounds(
        &self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
    ) -> Result<(), Error> {
        self.small_bounds(block, warp, request, (warp.local_bytes.into(), "local memory"))
    }

    #[inline(always)]
    pub fn small_bounds(
        &self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        (bytes, what): (u64, &str),
    ) -> Result<(), Error> {
        let each = request.bytes as u64;
        let (fits, bits) = request.inside(0, bytes.wrapping_sub(each));
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
}
