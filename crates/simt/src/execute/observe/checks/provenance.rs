//! Shared array that an address was formed from, so that running past its end into the next array
//! is found, although the bytes there belong to the block.

use crate::execute::issue::block::Block;
use crate::execute::issue::run::Run;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::Worker;
use crate::findings::{Finding, Hazard};
use crate::location::Location;
use crate::operation::{Base, Operation, Register, Space};
use crate::program::{Constant, Program};
use crate::registers::LANES;
use crate::uninitialized::number;
use races::Request;
use races::lanes;
use std::collections::HashSet;

/// The sources that an address may be formed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// No array.
    Nothing,
    /// The array that starts here.
    Array(u32),
    /// Several, or what was loaded.
    Unknown,
}

impl Origin {
    fn join(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Nothing, origin) | (origin, Origin::Nothing) => origin,
            (a, b) if a == b => a,
            _ => Origin::Unknown,
        }
    }
}

/// By instruction: the bounds of the one shared array that its address is formed from, if it is one.
pub(crate) fn arrays(program: &Program) -> Vec<Option<(u32, u32)>> {
    if program.shared_variables.len() < 2 {
        return Vec::new();
    }
    let count = number(program, Register::Predicate(program.predicates));
    let mut origins = vec![Origin::Nothing; count];
    for (row, constant) in &program.constants {
        origins[number(program, *row)] = match constant {
            Constant::Shared { start, .. } => Origin::Array(*start),
            Constant::DynamicShared { .. } => Origin::Unknown,
            _ => Origin::Nothing,
        };
    }
    loop {
        let mut changed = false;
        for (instruction, detail) in program.instructions.iter().zip(&program.details) {
            let computes = matches!(instruction.operation, Operation::Compute { .. });
            let sources = detail.reads.iter().filter(|row| !matches!(row, Register::Predicate(_)));
            // A number of 32 bits from outside of the block is an index, and no address of shared memory.
            let is_index = matches!(&instruction.operation, Operation::Load(access)
                if access.bytes <= 4 && matches!(access.space, Space::Parameter | Space::Global));
            let origin = if is_index {
                Origin::Nothing
            } else if computes {
                sources.fold(Origin::Nothing, |o, row| o.join(origins[number(program, *row)]))
            } else {
                Origin::Unknown
            };
            for row in &detail.writes {
                let known = &mut origins[number(program, *row)];
                let joined = known.join(origin);
                changed |= joined != *known;
                *known = joined;
            }
        }
        if !changed {
            break;
        }
    }
    let bounds = |start: u32| {
        let at =
            program.shared_variables.binary_search_by_key(&start, |(start, ..)| *start).ok()?;
        let (start, bytes, _) = program.shared_variables[at];
        Some((start, start + bytes))
    };
    let of = |operation: &Operation| {
        let (space, row) = address(operation)?;
        if !matches!(space, Space::Shared | Space::Generic) {
            return None;
        }
        match origins[number(program, row)] {
            Origin::Array(start) => bounds(start),
            _ => None,
        }
    };
    program.instructions.iter().map(|instruction| of(&instruction.operation)).collect()
}

/// The space of an access and the register that holds its address.
fn address(operation: &Operation) -> Option<(Space, Register)> {
    let (space, base) = match operation {
        Operation::Load(access) | Operation::Store(access) => (access.space, access.base),
        Operation::Atomic(atomic) => (atomic.space, atomic.base),
        _ => return None,
    };
    match base {
        Base::Word(index) => Some((space, Register::Word(index))),
        Base::Long(index) => Some((space, Register::Long(index))),
        Base::Absolute => None,
    }
}

/// Returns whether the address of an instruction is computed from one of the rows.
pub(crate) fn is_formed_from(program: &Program, pc: usize, rows: &[Register]) -> bool {
    let Some((_, base)) = address(&program.instructions[pc].operation) else { return false };
    let mut formed: HashSet<Register> = rows.iter().copied().collect();
    loop {
        let before = formed.len();
        for (instruction, detail) in program.instructions.iter().zip(&program.details) {
            let computes = matches!(instruction.operation, Operation::Compute { .. });
            if computes && detail.reads.iter().any(|row| formed.contains(row)) {
                formed.extend(&detail.writes);
            }
        }
        if formed.len() == before {
            return formed.contains(&base);
        }
    }
}

/// The first addresses, in which nothing is allocated: who uses one forgot a pointer's value.
const NULL_BYTES: u64 = 1 << 16;

impl Run<'_> {
    /// Says of an address below all device memory whether it is the offset of shared memory or null, and the cure.
    pub fn not_of_device_memory(&self, pc: usize, address: u64) -> Option<(String, &'static str)> {
        if address >= NULL_BYTES.max(self.shared_bytes.into()) {
            return None;
        }
        let is_shared = |(row, constant): &(Register, Constant)| {
            let is = matches!(constant, Constant::Shared { .. } | Constant::DynamicShared { .. });
            is.then_some(*row)
        };
        let rows: Vec<Register> = self.program.constants.iter().filter_map(is_shared).collect();
        if is_formed_from(self.program, pc, &rows) {
            let place = self.locate_shared(address);
            return Some((
                format!("the address is an offset in shared memory, where {place}"),
                "convert the offset to a generic address (cvta.shared, __cvta_shared_to_generic), or access shared memory by \
                 ld.shared and st.shared",
            ));
        }
        Some((
            format!("the address is null, or byte {address} from it"),
            "pass the kernel a pointer to memory of the device, and check what malloc of a kernel returns",
        ))
    }

    /// Says which argument an address of global memory was formed from, and where in that argument's array it lies.
    ///
    /// None where it was formed from no argument that points to memory, or from several.
    pub fn formed_from_argument(&self, pc: usize, address: u64, bytes: u32) -> Option<String> {
        let program = self.program;
        let mut found = None;
        for (number, parameter) in self.kernel.parameters.iter().enumerate() {
            let at = parameter.offset as usize;
            let Some(value) = self.parameters.get(at..at + 8) else { continue };
            let value = u64::from_le_bytes(value.try_into().ok()?);
            let Some(array) = self.memory.allocation(value) else { continue };
            let loads = program.instructions.iter().zip(&program.details).filter(|(it, _)| {
                matches!(&it.operation, Operation::Load(access)
                    if access.space == Space::Parameter && access.offset == at as i64)
            });
            let rows: Vec<Register> = loads.flat_map(|(_, it)| it.writes.iter().copied()).collect();
            if is_formed_from(program, pc, &rows) && found.replace((number, array)).is_some() {
                return None;
            }
        }
        let (number, array) = found?;
        let offset = address.wrapping_sub(array.address) as i64;
        let end = array.address + array.bytes;
        if address.wrapping_add(u64::from(bytes)) > array.address && address < end {
            return None;
        }
        let element = offset / i64::from(bytes);
        let wrapped = match element {
            0x8000_0000..=0xffff_ffff => format!(
                ": element {element}, which is {} as a signed index of 32 bits",
                element as i32
            ),
            -0x8000_0000..=-0x4000_0000 => format!(
                ": element {element}, which an index of 32 bits becomes beyond {}",
                i32::MAX
            ),
            _ => String::new(),
        };
        let place = if offset < 0 {
            Location::Before { allocation: array, distance: offset.unsigned_abs() }
        } else {
            Location::Past {
                distance: (offset as u64).wrapping_sub(array.bytes),
                allocation: array,
            }
        };
        Some(format!("{place}, which argument {number} points to{wrapped}"))
    }
}

impl Worker<'_> {
    /// An access that leaves the array that its address was formed from.
    pub fn check_array(&mut self, block: &Block, warp: &Warp, request: Request<'_>) {
        let Some(Some((start, end))) = self.run.arrays.get(request.pc).copied() else { return };
        let (start, end) = (u64::from(start), u64::from(end));
        let room = (end - start).wrapping_sub(u64::from(request.bytes));
        if request.inside(start, room).0 {
            return;
        }
        let leaves = |lane: &usize| request.all[*lane].wrapping_sub(start) > room;
        if let Some(lane) = lanes(request.mask).find(leaves) {
            self.report_overrun(block, warp, request, lane, start);
        }
    }

    /// Reports a bulk copy that begins in one static array and runs on behind it.
    pub fn check_bulk_array(
        &mut self,
        block: &Block,
        warp: &Warp,
        (pc, lane): (usize, usize),
        (start, bytes): (u64, u32),
    ) {
        let end = start + u64::from(bytes);
        let array = self.run.program.shared_variables.iter().find(|(first, length, _)| {
            let (first, length) = (u64::from(*first), u64::from(*length));
            (first..first + length).contains(&start) && end > first + length
        });
        let Some((first, length, _)) = array else { return };
        let behind = u64::from(first + length);
        let mut all = [0; LANES];
        all[lane] = behind;
        let request = Request::new(pc, 1 << lane, &all, (end - behind) as u32);
        self.report_overrun(block, warp, request, lane, u64::from(*first));
    }

    #[cold]
    fn report_overrun(
        &mut self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        lane: usize,
        start: u64,
    ) {
        let (index, w, pc, address) = (block.index, warp.index, request.pc, request.all[lane]);
        self.observers.find(Hazard::SharedOverrun, pc, |run| {
            let array = run.program.shared_variables.iter().find(|v| u64::from(v.0) == start);
            let (name, bytes) = array.map_or(("", 0), |(_, bytes, name)| (&**name, *bytes));
            let location = run.locate_shared(address);
            let message = format!(
                "shared address {address:#x} was formed from `{name}`, which has {bytes} bytes, but is not in it; {location}"
            );
            let place = run.place(index, w, 1 << lane, pc);
            Finding {
                address: Some(address),
                location: Some(location),
                ..Finding::new(Hazard::SharedOverrun, place, message)
            }
        });
    }
}
