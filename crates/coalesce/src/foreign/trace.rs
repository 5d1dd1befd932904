//! The instructions of one warp as text: line of the source, lanes, PTX, registers.

use ptx::tree::{Function, Instruction, Operand, Statement};
use simt::{SourceLocation, Step, TracedRegister, Watched};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::str::FromStr;

/// Instructions that are shown; a loop may have any number.
pub const MOST: usize = 10_000;
/// The column in which registers begin, unless the instruction is longer.
const WIDTH: usize = 44;

/// A warp as a person names it: `warp=3` of the first block, or `block=2,warp=3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedWarp(pub Watched);

impl FromStr for TracedWarp {
    type Err = String;

    fn from_str(text: &str) -> Result<TracedWarp, String> {
        let wrong = || format!("`{text}` is no warp: write warp=3, or block=2,warp=3");
        let mut watched = Watched::default();
        for part in text.split(',') {
            let (name, number) = part.split_once('=').ok_or_else(wrong)?;
            match name {
                "block" => watched.block = number.parse().map_err(|_| wrong())?,
                "warp" => watched.warp = number.parse().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            }
        }
        Ok(TracedWarp(watched))
    }
}

/// The form in which the bits of a register are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
}

/// The steps of a warp, with the lines of its kernel's PTX.
pub fn text(steps: &[Step], warp: Watched, kernel: &Function<'_>) -> String {
    let kinds = kinds(kernel);
    let lines: HashMap<u32, &str> =
        kernel.listing().iter().map(|line| (line.number, line.text.trim())).collect();
    let mut instructions = HashMap::new();
    kernel.visit(&mut |statement| {
        if let Statement::Instruction(instruction) = statement {
            instructions.entry(instruction.position.line).or_insert_with(|| registers(instruction));
        }
    });
    let mut text = format!(
        "Trace of warp {} of block {}, {} instructions:\n",
        warp.warp,
        warp.block,
        steps.len()
    );
    let mut place = None;
    for step in steps {
        // Line 0 is what a compiler writes of code that it moved.
        let source = step.source.as_ref().map(SourceLocation::outermost).filter(|it| it.1 != 0);
        if let Some((file, line)) = source.filter(|_| source != place) {
            // Formatting into a `String` does not fail.
            let _ = writeln!(text, "\n{file}:{line}");
            place = source;
        }
        let ptx = lines.get(&step.ptx_line).copied().unwrap_or_default();
        let ptx = ptx.split_whitespace().collect::<Vec<_>>().join(" ");
        let names = instructions.get(&step.ptx_line).map_or(&[][..], Vec::as_slice);
        let registers = shown(step, names, &kinds);
        let line = format!("  {:<12} {ptx:<WIDTH$} {registers}", lanes(step.lanes));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if steps.len() == MOST {
        let _ = writeln!(text, "\nThese are the first {MOST}; what follows is not shown.");
    }
    text
}

/// The registers of a step with their names, where the instruction says them.
fn shown(step: &Step, names: &[&str], kinds: &HashMap<&str, Kind>) -> String {
    let of = |index: usize, register: &TracedRegister| {
        let name = names.get(index).copied().unwrap_or("?");
        let kind = kinds.get(name).copied().unwrap_or(Kind::Unsigned);
        format!("{name} = {}", values(register, step.lanes, kind))
    };
    if step.lanes == 0 || names.len() < step.registers.len() {
        return String::new();
    }
    let all: Vec<String> =
        step.registers.iter().enumerate().map(|(index, register)| of(index, register)).collect();
    all.join("; ")
}

/// The names of the registers in an instruction's operands, in their order.
fn registers<'a>(instruction: &Instruction<'a>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for operand in &instruction.operands {
        operand.names(&mut |name| {
            if name.starts_with('%') && name.ends_with(|c: char| c.is_ascii_digit()) {
                names.push(name);
            }
        });
    }
    names
}

/// Returns what each register is used as: bits that are moved say nothing, another instruction may.
fn kinds<'a>(kernel: &Function<'a>) -> HashMap<&'a str, Kind> {
    let mut kinds = HashMap::new();
    kernel.visit(&mut |statement| {
        let Statement::Instruction(instruction) = statement else { return };
        if instruction.opcode.starts_with("ld") || instruction.opcode.starts_with("st") {
            return;
        }
        // Of a conversion the first type is that of the result.
        let kind = instruction.modifiers.iter().find_map(|part| match part.as_bytes() {
            [b'f', b'3', b'2'] | [b'f', b'6', b'4'] => Some(Kind::Float),
            [b's', b'1' | b'3' | b'6', ..] => Some(Kind::Signed),
            [b'u', b'1' | b'3' | b'6', ..] => Some(Kind::Unsigned),
            _ => None,
        });
        // A float as bits: `mov.b32 %r1, 0f3F800000`.
        let is_float = |one: &Operand<'_>| matches!(one, Operand::Single(_) | Operand::Double(_));
        let kind = kind.or(instruction.operands.iter().any(is_float).then_some(Kind::Float));
        let used = if instruction.opcode == "cvt" { 1 } else { usize::MAX };
        for name in registers(instruction).into_iter().take(used) {
            if let Some(kind) = kind {
                kinds.entry(name).or_insert(kind);
            }
        }
    });
    kinds
}

/// The values of the lanes: one, a sequence of equal steps, or all.
fn values(register: &TracedRegister, lanes: u32, kind: Kind) -> String {
    if register.bits == 1 {
        let set =
            (0..32).filter(|lane| register.values[*lane] != 0).fold(0, |set, lane| set | 1 << lane);
        return match set & lanes {
            0 => "false".to_owned(),
            all if all == lanes => "true".to_owned(),
            some => format!("true in {}", self::lanes(some)),
        };
    }
    let of: Vec<u64> =
        (0..32).filter(|lane| lanes >> lane & 1 != 0).map(|lane| register.values[lane]).collect();
    let one = |bits: u64| match (kind, register.bits) {
        (Kind::Float, 32) => format!("{:?}", f32::from_bits(bits as u32)),
        (Kind::Float, _) => format!("{:?}", f64::from_bits(bits)),
        (Kind::Signed, 32) => format!("{}", bits as u32 as i32),
        (Kind::Signed, _) if bits >> 40 == 0 || bits >> 40 == 0xff_ffff => {
            format!("{}", bits as i64)
        }
        _ if bits < 1 << 32 => format!("{bits}"),
        _ => format!("{bits:#x}"),
    };
    let steps: Vec<u64> = of.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
    match &of[..] {
        [first, .., last] if steps.iter().all(|step| *step == steps[0]) => {
            if steps[0] == 0 {
                one(*first)
            } else if of.len() < 4 || kind == Kind::Float {
                of.iter().map(|bits| one(*bits)).collect::<Vec<_>>().join(", ")
            } else {
                format!("{}, {} .. {}", one(*first), one(of[1]), one(*last))
            }
        }
        _ => of.iter().map(|bits| one(*bits)).collect::<Vec<_>>().join(", "),
    }
}

/// A set of lanes: `0-31`, `0-7,16`, `none`.
fn lanes(mask: u32) -> String {
    let mut ranges: Vec<String> = Vec::new();
    let mut lane = 0;
    while lane < 32 {
        if mask >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        let count = (mask >> lane).trailing_ones();
        ranges.push(match count {
            1 => format!("{lane}"),
            _ => format!("{lane}-{}", lane + count - 1),
        });
        lane += count;
    }
    let text = if ranges.is_empty() { "none".to_owned() } else { ranges.join(",") };
    format!("lanes {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_is_named_with_or_without_its_block() {
        let watched = |block, warp| Ok(TracedWarp(Watched { block, warp }));
        assert_eq!("warp=3".parse(), watched(0, 3));
        assert_eq!("block=2,warp=3".parse(), watched(2, 3));
        for wrong in ["3", "warp=", "warp=-1", "lane=1", "warp=1,"] {
            let said = wrong.parse::<TracedWarp>().expect_err(wrong);
            assert_eq!(said, format!("`{wrong}` is no warp: write warp=3, or block=2,warp=3"));
        }
    }

    #[test]
    fn values_are_short_where_lanes_agree() {
        let register = |value: fn(u64) -> u64| TracedRegister {
            bits: 32,
            values: std::array::from_fn(|lane| value(lane as u64)),
        };
        let shown = |value, lanes, kind| values(&register(value), lanes, kind);
        assert_eq!(shown(|_| 7, u32::MAX, Kind::Unsigned), "7");
        assert_eq!(shown(|lane| 4 * lane, u32::MAX, Kind::Unsigned), "0, 4 .. 124");
        assert_eq!(shown(|lane| lane * lane, 0xf, Kind::Unsigned), "0, 1, 4, 9");
        assert_eq!(shown(|lane| 4 * lane, 0b101, Kind::Unsigned), "0, 8");
        assert_eq!(shown(|_| 0xffff_ffff, 1, Kind::Signed), "-1");
        assert_eq!(shown(|_| 0x3f80_0000, 3, Kind::Float), "1.0");
        let predicate = TracedRegister { bits: 1, ..register(|lane| u64::from(lane < 8)) };
        assert_eq!(values(&predicate, 0xff, Kind::Unsigned), "true");
        assert_eq!(values(&predicate, 0xffff, Kind::Unsigned), "true in lanes 0-7");
        assert_eq!(values(&predicate, 0xff00, Kind::Unsigned), "false");
        assert_eq!(lanes(0x8000_00f1), "lanes 0,4-7,31");
        assert_eq!(lanes(0), "lanes none");
    }
}
