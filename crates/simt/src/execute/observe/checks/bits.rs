//! The bits of a result that are undefined, by trial: an instruction whose every bit comes from at most one bit of each
//! operand is computed with the undefined bits all clear and all set, and what differs is undefined.

use crate::compute::{ComputeFunction, Operands};
use crate::execute::issue::warp::{Warp, read_row, write_row};
use crate::execute::observe::checks::follower::Followed;
use crate::operation::{Operation, Register};
use crate::program::Program;
use crate::registers::LANES;
use crate::uninitialized::number;
use races::lanes;

/// A value by lane.
type Row = [u64; LANES];

/// The instructions that only move bits: what nobody wrote does no harm in them.
const MOVES: [&str; 10] = ["mov", "cvt", "and", "shl", "shr", "bfe", "bfi", "prmt", "shf", "brev"];
/// Those that take bits out of one operand.
const TAKES: [&str; 5] = ["and", "shl", "shr", "bfe", "prmt"];

/// The undefined bits of a result.
pub(super) struct Moved {
    /// By lane.
    pub bits: Row,
    /// The operands that they come from, each with the lanes in which it has a part.
    from: Vec<(Register, u32)>,
    /// Lanes in which another operand, which says what is done, is undefined.
    pub steered: u32,
    /// The bits that hold something of the one operand that they were taken from.
    own: Option<Row>,
    /// Taken is more than the upper half of a pair of registers, which is an operand like others.
    is_taken: bool,
    /// The one operand is the result, and bits are only moved.
    is_plain: bool,
    moves: bool,
}

/// Returns the undefined bits of an instruction's result in the lanes of a mask; nothing if it does more than move bits.
pub(super) fn moved(program: &Program, warp: &mut Warp, pc: usize, mask: u32) -> Option<Moved> {
    let detail = &program.details[pc];
    let Operation::Compute { function, operands } = program.instructions[pc].operation else {
        return None;
    };
    let target = *detail.writes.first()?;
    if mask == 0 || target.index() != operands.d {
        return None;
    }
    let sources = sources(program, pc, target)?;
    let others = detail.reads.iter().filter(|row| !sources.contains(row));
    let steered = others.fold(0, |lanes, row| lanes | mask & !defined_lanes(warp, *row));
    let mut held = sources.clone();
    held.retain(|row| mask & !defined_lanes(warp, *row) != 0);
    let count = held.len();
    let trial = Trial::new(program, warp, (function, operands), (&held, target), mask);
    let trials: Vec<Row> = (0..1usize << count)
        .map(|set| {
            trial.compute(warp, |index, lane| {
                let (value, bits) = (trial.values[index][lane], trial.undefined[index][lane]);
                if set >> index & 1 != 0 { value | bits } else { value & !bits }
            })
        })
        .collect();
    let differ = |lane: usize, other: usize| {
        (0..trials.len()).fold(0, |bits, at| bits | trials[at][lane] ^ trials[at ^ other][lane])
    };
    let all = |lane: usize| (1..trials.len()).fold(0, |bits, other| bits | differ(lane, other));
    let bits = std::array::from_fn(all);
    let part = |index: usize| {
        lanes(mask)
            .filter(|lane| differ(*lane, 1 << index) != 0)
            .fold(0, |lanes, lane| lanes | 1 << lane)
    };
    let from = held.iter().enumerate().map(|(index, row)| (*row, part(index))).collect();
    let name = name(program, pc);
    let amount = warp.registers.words.get(operands.b as usize);
    let is_half = name == "shr"
        && matches!(target, Register::Long(_))
        && amount.is_some_and(|amount| lanes(mask).all(|lane| amount[lane] == 32));
    let is_one = count == 1 && (name != "prmt" || sources.len() == 1) && !detail.synthetic;
    let own = (is_one && TAKES.contains(&name)).then(|| {
        let whole = full(trial.held[0]);
        let own: Row = std::array::from_fn(|lane| {
            value_of(program, warp, trial.held[0], lane).map_or(whole, |value| value.own & whole)
        });
        trial.compute(warp, |_, lane| own[lane])
    });
    let is_plain = detail.synthetic || matches!(name, "mov" | "cvt");
    let is_plain = is_plain && detail.reads.len() == 1 || name == "selp";
    let moves = detail.synthetic || MOVES.contains(&name);
    Some(Moved { bits, from, steered, own, is_taken: !is_half, is_plain, moves })
}

/// Returns the lanes of a mask in which the bits that are known decide a comparison of integers.
pub(super) fn compared(program: &Program, warp: &mut Warp, pc: usize, mask: u32) -> u32 {
    let detail = &program.details[pc];
    let text = &program.texts[detail.text as usize];
    let Operation::Compute { function, operands } = program.instructions[pc].operation else {
        return 0;
    };
    if !text.starts_with("setp.") {
        return 0;
    }
    let (["setp", operator, t], [target @ Register::Predicate(_)]) =
        (&text.split('.').collect::<Vec<_>>()[..], &detail.writes[..])
    else {
        return 0;
    };
    let (is_signed, bits) = match (t.get(..1), t.get(1..).map(str::parse::<u32>)) {
        (Some("s"), Some(Ok(bits))) => (true, bits),
        (Some("u" | "b"), Some(Ok(bits))) => (false, bits),
        _ => return 0,
    };
    let row = if bits == 64 { Register::Long } else { Register::Word };
    let held = [row(operands.a), row(operands.b)];
    let is_other = |read: &Register| !held.contains(read);
    if mask == 0 || operands.a == operands.b || detail.reads.iter().any(is_other) {
        return 0;
    }
    let trial = Trial::new(program, warp, (function, operands), (&held, *target), mask);
    let decides = |lane: &usize| {
        let [a, b] =
            [0, 1].map(|index: usize| (trial.values[index][*lane], trial.undefined[index][*lane]));
        (a.0 ^ b.0) & !(a.1 | b.1) & u64::MAX >> (64 - bits) != 0
    };
    if matches!(*operator, "eq" | "ne") {
        return lanes(mask).filter(decides).fold(0, |lanes, lane| lanes | 1 << lane);
    }
    // The least and the greatest that each may be, against the greatest and the least of the other.
    let sign = if is_signed { 1 << (bits - 1) } else { 0 };
    let end = |index: usize, lane: usize, is_high: bool| {
        let (value, bits) = (trial.values[index][lane], trial.undefined[index][lane]);
        let set = if is_high { bits & !sign } else { bits & sign };
        value & !bits | set
    };
    let [low, high] = [false, true]
        .map(|is_high| trial.compute(warp, |index, lane| end(index, lane, is_high ^ (index == 1))));
    lanes(mask).filter(|lane| low[*lane] == high[*lane]).fold(0, |lanes, lane| lanes | 1 << lane)
}

/// An instruction that is computed with other operands, and leaves no trace.
struct Trial {
    function: ComputeFunction,
    operands: Operands,
    mask: u32,
    target: Register,
    /// The operands that change.
    held: Vec<Register>,
    /// Their values, and behind them that of the target.
    values: Vec<Row>,
    /// Their undefined bits.
    undefined: Vec<Row>,
}

impl Trial {
    fn new(
        program: &Program,
        warp: &Warp,
        (function, operands): (ComputeFunction, Operands),
        (held, target): (&[Register], Register),
        mask: u32,
    ) -> Trial {
        let bits = |row: &Register| -> Row {
            std::array::from_fn(|lane| {
                value_of(program, warp, *row, lane).map_or(0, |value| value.bits & full(*row))
            })
        };
        let undefined = held.iter().map(bits).collect();
        let values = held.iter().chain([&target]).map(|row| values(warp, *row)).collect();
        Trial { function, operands, mask, target, held: held.to_vec(), values, undefined }
    }

    /// Returns the result, by lane, with these operands.
    fn compute(&self, warp: &mut Warp, value: impl Fn(usize, usize) -> u64) -> Row {
        for (index, row) in self.held.iter().enumerate() {
            write_row(warp, *row, self.mask, |lane| value(index, lane));
        }
        // SAFETY: `choose` picked this function for this CPU when the kernel was decoded.
        unsafe { (self.function)(&mut warp.registers, &self.operands, self.mask) };
        let result = values(warp, self.target);
        for (row, values) in self.held.iter().chain([&self.target]).zip(&self.values) {
            write_row(warp, *row, u32::MAX, |lane| values[lane]);
        }
        result
    }
}

impl Moved {
    /// Returns a lane's result as it is followed on.
    pub fn value(&self, program: &Program, warp: &Warp, pc: usize, lane: usize) -> Followed {
        let mut value = Followed::new(self.bits[lane]);
        for (row, _) in self.from.iter().filter(|(_, lanes)| lanes >> lane & 1 != 0) {
            let Some(source) = value_of(program, warp, *row, lane) else { continue };
            let is_unwritten =
                source.loads.is_empty() && whole(program, pc, *row) & !source.bits == 0;
            value.is_computed |= source.is_computed || is_unwritten && !self.moves;
            value.loads.extend(&source.loads);
            // What is put together with other bits is a part no more.
            if self.is_plain || self.own.is_some() {
                (value.own, value.is_taken) = (source.own, source.is_taken);
            }
        }
        if let Some(own) = &self.own {
            value.own = own[lane];
            value.is_taken |= self.is_taken;
        }
        value
    }
}

/// The operands of an instruction of which each bit goes to its own places; nothing if it does more than move bits.
fn sources(program: &Program, pc: usize, target: Register) -> Option<Vec<Register>> {
    let detail = &program.details[pc];
    let Operation::Compute { operands, .. } = &program.instructions[pc].operation else {
        return None;
    };
    let text = &program.texts[detail.text as usize];
    let is_integer = |t: &str| matches!(t.as_bytes(), [b'u' | b's' | b'b', b'1'..=b'9', ..]);
    let mut rows = detail.reads.clone();
    let count = match name(program, pc) {
        _ if detail.synthetic => 3,
        "mov" => 3,
        "cvt" if text.split('.').skip(1).all(is_integer) => 3,
        "not" | "brev" | "bfe" | "shl" | "shr" => 1,
        "and" | "or" | "xor" | "prmt" | "shf" | "bfi" | "selp" => 2,
        "lop3" => 3,
        _ => return None,
    };
    // An operand that is no register of the kernel is a constant.
    if count < 3 {
        let places = [operands.a, operands.b];
        rows.retain(|row| {
            std::mem::discriminant(row) == std::mem::discriminant(&target)
                && places[..count].contains(&row.index())
        });
    }
    rows.sort_unstable();
    rows.dedup();
    Some(rows)
}

fn name(program: &Program, pc: usize) -> &str {
    let text = &program.texts[program.details[pc].text as usize];
    text.split('.').next().unwrap_or_default()
}

/// The bits of a register that an instruction reads, by the type that it ends with.
fn whole(program: &Program, pc: usize, row: Register) -> u64 {
    let text = &program.texts[program.details[pc].text as usize];
    let digits = text.trim_start_matches(|c: char| c != '.').rsplit(['b', 'u', 's']).next();
    match digits.and_then(|digits| digits.parse::<u32>().ok()) {
        Some(bits @ 1..64) => full(row) & (u64::MAX >> (64 - bits)),
        _ => full(row),
    }
}

fn values(warp: &Warp, row: Register) -> Row {
    std::array::from_fn(|lane| read_row(warp, row, lane))
}

/// All bits of a register.
pub(super) fn full(row: Register) -> u64 {
    match row {
        Register::Word(_) => u32::MAX.into(),
        Register::Long(_) => u64::MAX,
        Register::Predicate(_) => 1,
    }
}

/// Returns the followed value in a lane of a register; nothing where it is defined.
pub(super) fn value_of<'w>(
    program: &Program,
    warp: &'w Warp,
    row: Register,
    lane: usize,
) -> Option<&'w Followed> {
    static UNWRITTEN: [Followed; 3] =
        [Followed::new(u32::MAX as u64), Followed::new(u64::MAX), Followed::new(1)];
    if defined_lanes(warp, row) >> lane & 1 != 0 {
        return None;
    }
    let unwritten = &UNWRITTEN[match row {
        Register::Word(_) => 0,
        Register::Long(_) => 1,
        Register::Predicate(_) => 2,
    }];
    Some(warp.followed.get(number(program, row), lane).unwrap_or(unwritten))
}

/// Returns the lanes in which a register was written.
pub(super) fn defined_lanes(warp: &Warp, row: Register) -> u32 {
    match row {
        Register::Word(index) => warp.defined_words[index as usize],
        Register::Long(index) => warp.defined_longs[index as usize],
        Register::Predicate(index) => warp.defined_predicates[index as usize],
    }
}
