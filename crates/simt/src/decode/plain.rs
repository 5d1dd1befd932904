use super::access::take_elements;
use super::decoder::Decoder;
use crate::compute::{self, Meaning, Operands, compare, lanes, video};
use crate::error::Error;
use crate::operation::{Clock, Operation, Register, Space};
use crate::program::Constant;
use crate::windows::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

/// Modifiers that only hint at performance, or restate the default.
const HINTS: [&str; 2] = ["uni", "to"];

impl<'a> Decoder<'_, '_, 'a> {
    /// Decodes a computing instruction; false when it is not one.
    pub fn plain(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let operands = &instruction.operands[..];
        match instruction.opcode {
            "setp" => return self.set_predicate(operands, modifiers),
            "set" => return self.set_value(operands, modifiers),
            "cvta" => return self.convert_address(operands, modifiers),
            "isspacep" => return self.is_space(operands, modifiers),
            "mov" => {
                if let Some(done) = self.special_move(operands, modifiers)? {
                    return Ok(done);
                }
            }
            "bfe" | "bfi" => return self.bit_field(instruction, modifiers),
            "lop3" => return self.logic3(operands, modifiers),
            opcode if video::lanes_of(opcode).is_some() => {
                return self.video(instruction, modifiers);
            }
            "nop" => {
                self.emit(Operation::Nothing);
                return Ok(true);
            }
            _ => {}
        }
        let mut attempt = modifiers.clone();
        let Some(meaning) = families(instruction.opcode, &mut attempt) else { return Ok(false) };
        *modifiers = attempt;
        self.check_target(&instruction.text(), meaning.since)?;
        for hint in HINTS {
            modifiers.take(hint);
        }
        self.compute(meaning, operands)?;
        Ok(true)
    }

    /// Emits a computing instruction.
    pub fn compute(&mut self, meaning: Meaning, operands: &[Operand<'a>]) -> Result<(), Error> {
        if operands.len() != meaning.sources.len() + 1 {
            return self.invalid(format!(
                "{} operands, this instruction has {}",
                operands.len(),
                meaning.sources.len() + 1
            ));
        }
        self.current.approximate = meaning.approximate;
        let mut rows = [0u32; 3];
        for ((row, operand), t) in rows.iter_mut().zip(&operands[1..]).zip(&meaning.sources) {
            *row = self.source(operand, *t)?.index();
        }
        let d = self.destination(&operands[0], meaning.destination)?.index();
        let [a, b, c] = rows;
        let operands = Operands { d, a, b, c, immediate: meaning.immediate };
        self.emit(Operation::Compute { function: meaning.function, operands });
        self.current.approximate = false;
        Ok(())
    }

    fn set_predicate(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let (Some(operator), Some(t)) =
            (modifiers.take_any(&compare::OPERATORS), modifiers.only_type())
        else {
            return Ok(false);
        };
        let flush = modifiers.take("ftz");
        let combine = modifiers.take_any(&["and", "or", "xor"]);
        let expected = if combine.is_some() { 4 } else { 3 };
        if operands.len() != expected {
            return self.invalid(format!("setp of this form has {expected} operands"));
        }
        if matches!(t, Type::F16x2 | Type::Bf16x2) {
            return self.set_pair(operands, operator, t);
        }
        let Some(function) = compare::function(operator, t, flush) else { return Ok(false) };
        let a = self.source(&operands[1], t)?.index();
        let b = self.source(&operands[2], t)?.index();
        let third = match combine {
            Some(_) => Some(self.source(&operands[3], Type::Pred)?.index()),
            None => None,
        };
        let immediate = compare::code(operator);
        let (first, second) = match &operands[0] {
            Operand::Pair(p, q) => (&**p, Some(&**q)),
            single => (single, None),
        };
        if third.is_none() && second.is_none() {
            let d = self.destination(first, Type::Pred)?.index();
            let operands = Operands { d, a, b, immediate, ..Operands::default() };
            self.emit(Operation::Compute { function, operands });
            return Ok(true);
        }
        // p = compare OP c, q = !compare OP c, from a temporary that holds the comparison.
        let raw = self.new_row(Type::Pred).index();
        let combined = |negate: bool| match (combine, negate) {
            (Some("and"), false) => lanes!(|a: bool, c: bool| -> bool { a & c }),
            (Some("and"), true) => lanes!(|a: bool, c: bool| -> bool { !a & c }),
            (Some("or"), false) => lanes!(|a: bool, c: bool| -> bool { a | c }),
            (Some("or"), true) => lanes!(|a: bool, c: bool| -> bool { !a | c }),
            (Some("xor"), false) => lanes!(|a: bool, c: bool| -> bool { a ^ c }),
            (Some("xor"), true) => lanes!(|a: bool, c: bool| -> bool { !a ^ c }),
            (_, false) => lanes!(|a: bool, _c: bool| -> bool { a }),
            (_, true) => lanes!(|a: bool, _c: bool| -> bool { !a }),
        };
        // The third operand may be overwritten by p before q is computed.
        let third = match third {
            Some(row) => {
                let copy = self.new_row(Type::Pred).index();
                let function = lanes!(|a: bool| -> bool { a });
                let operands = Operands { d: copy, a: row, ..Operands::default() };
                self.after.push(Operation::Compute { function, operands });
                copy
            }
            None => raw,
        };
        for (target, negate) in [(Some(first), false), (second, true)] {
            let Some(target) = target else { continue };
            if *target == Operand::Sink {
                continue;
            }
            let d = self.destination(target, Type::Pred)?.index();
            let operands = Operands { d, a: raw, b: third, ..Operands::default() };
            self.after.push(Operation::Compute { function: combined(negate), operands });
        }
        let operands = Operands { d: raw, a, b, immediate, ..Operands::default() };
        self.emit(Operation::Compute { function, operands });
        Ok(true)
    }

    /// `setp.op.f16x2 p|q, a, b`: one predicate for each half.
    fn set_pair(
        &mut self,
        operands: &[Operand<'a>],
        operator: &str,
        t: Type,
    ) -> Result<bool, Error> {
        let (Operand::Pair(low, high), Some(function)) = (&operands[0], compare::half_of_pair(t))
        else {
            return Ok(false);
        };
        if operands.len() != 3 {
            return Ok(false);
        }
        let a = self.source(&operands[1], t)?.index();
        let b = self.source(&operands[2], t)?.index();
        let d = self.destination(low, Type::Pred)?.index();
        let second = self.destination(high, Type::Pred)?.index();
        let immediate = compare::code(operator);
        let operands =
            Operands { d: second, a, b, immediate: immediate | 1 << 8, ..Operands::default() };
        self.after.push(Operation::Compute { function, operands });
        let operands = Operands { d, a, b, immediate, ..Operands::default() };
        self.emit(Operation::Compute { function, operands });
        Ok(true)
    }

    /// `set.op.dtype.stype d, a, b`: all ones or 1.0 where the comparison holds.
    fn set_value(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let Some(operator) = modifiers.take_any(&compare::OPERATORS) else { return Ok(false) };
        let &[to, from] = &modifiers.types[..] else { return Ok(false) };
        let flush = modifiers.take("ftz");
        if operands.len() != 3 {
            return Ok(false);
        }
        let immediate = compare::code(operator);
        let raw = self.new_row(Type::Pred).index();
        let a = self.source(&operands[1], from)?.index();
        let b = self.source(&operands[2], from)?.index();
        if matches!(from, Type::F16x2 | Type::Bf16x2) {
            return self.set_value_pair(operands, immediate, (to, from), (a, b));
        }
        let Some(function) = compare::function(operator, from, flush) else { return Ok(false) };
        let d = self.destination(&operands[0], to)?;
        let pick = match to {
            Type::F32 => lanes!(|p: bool| -> f32 { if p { 1.0 } else { 0.0 } }),
            Type::F16 => lanes!(|p: bool| -> u16 { if p { 0x3c00 } else { 0 } }),
            Type::Bf16 => lanes!(|p: bool| -> u16 { if p { 0x3f80 } else { 0 } }),
            t if t.bytes() == 4 => lanes!(|p: bool| -> u32 { if p { u32::MAX } else { 0 } }),
            t if t.bytes() == 2 => lanes!(|p: bool| -> u16 { if p { u16::MAX } else { 0 } }),
            _ => return Ok(false),
        };
        let second = Operands { d: d.index(), a: raw, ..Operands::default() };
        self.after.insert(0, Operation::Compute { function: pick, operands: second });
        let first = Operands { d: raw, a, b, immediate, ..Operands::default() };
        self.emit(Operation::Compute { function, operands: first });
        Ok(true)
    }

    fn set_value_pair(
        &mut self,
        operands: &[Operand<'a>],
        immediate: u32,
        (to, from): (Type, Type),
        (a, b): (u32, u32),
    ) -> Result<bool, Error> {
        let Some(function) = compare::half_of_pair(from) else { return Ok(false) };
        let one: u32 = match to {
            Type::F16x2 => 0x3c00,
            Type::Bf16x2 => 0x3f80,
            _ if to.bytes() == 4 => 0xffff,
            _ => return Ok(false),
        };
        let low = self.new_row(Type::Pred).index();
        let high = self.new_row(Type::Pred).index();
        let d = self.destination(&operands[0], Type::B32)?.index();
        let join = lanes!(one; |p: bool, q: bool| -> u32 {
            (if p { one } else { 0 }) | (if q { one << 16 } else { 0 })
        });
        let second = Operands { d: high, a, b, immediate: immediate | 1 << 8, c: 0 };
        let third = Operands { d, a: low, b: high, immediate: one, c: 0 };
        self.after.insert(0, Operation::Compute { function: join, operands: third });
        self.after.insert(0, Operation::Compute { function, operands: second });
        let first = Operands { d: low, a, b, immediate, c: 0 };
        self.emit(Operation::Compute { function, operands: first });
        Ok(true)
    }

    /// `cvta` adds the window's base, `cvta.to` takes it away; some spaces have none.
    fn convert_address(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let Some(t) = modifiers.only_type().filter(|t| t.bytes() == 8) else { return Ok(false) };
        let to = modifiers.take("to");
        let window = match modifiers.take_any(&[
            "global",
            "shared::cta",
            "shared::cluster",
            "shared",
            "local",
            "const",
            "param::entry",
            "param",
        ]) {
            Some("shared" | "shared::cta" | "shared::cluster") => SHARED_WINDOW,
            Some("local") => LOCAL_WINDOW,
            Some("param" | "param::entry") if self.in_entry => PARAMETER_WINDOW,
            Some("param" | "param::entry") => LOCAL_WINDOW,
            Some(_) => 0,
            None => return Ok(false),
        };
        if operands.len() != 2 {
            return Ok(false);
        }
        let a = self.source(&operands[1], t)?.index();
        let d = self.destination(&operands[0], t)?.index();
        let function = if window == 0 {
            lanes!(|a: u64| -> u64 { a })
        } else if to && window == SHARED_WINDOW {
            // The assembler keeps the low half, so null stays null.
            lanes!(|a: u64, b: u64| -> u64 { if a == 0 { 0 } else { a.wrapping_sub(b) } })
        } else if to {
            // Null does not become the thread's first byte, which compilers compare it with.
            lanes!(|a: u64, b: u64| -> u64 { a.wrapping_sub(b) })
        } else {
            lanes!(|a: u64, b: u64| -> u64 { a.wrapping_add(b) })
        };
        let b = self.constant(true, Constant::Value(window)).index();
        let operands = Operands { d, a, b, ..Operands::default() };
        self.emit(Operation::Compute { function, operands });
        Ok(true)
    }

    fn is_space(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let names =
            ["global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"];
        let space = match modifiers.take_any(&names) {
            Some("global") => Space::Global,
            Some("local") => Space::Local,
            Some("const") => Space::Constant,
            Some("param") => Space::Parameter,
            Some(_) => Space::Shared,
            None => return Ok(false),
        };
        if operands.len() != 2 {
            return Ok(false);
        }
        let address = self.source(&operands[1], Type::U64)?;
        let destination = self.destination(&operands[0], Type::Pred)?.index();
        self.emit(Operation::IsSpace { destination, address, space });
        Ok(true)
    }

    /// Moves that are more than a copy: clocks and 128-bit values.
    fn special_move(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<Option<bool>, Error> {
        let Some(t) = modifiers.only_type() else { return Ok(None) };
        let [target, source] = operands else { return Ok(None) };
        let count = take_elements(modifiers);
        if count > 1 {
            return self.move_vector(target, source, count, t).map(Some);
        }
        if t == Type::B128 {
            return self.move_wide(target, source).map(Some);
        }
        let Operand::Name { name, component: None, .. } = source else { return Ok(None) };
        let (clock, shift) = match *name {
            "%clock" | "%clock64" => (Clock::Cycles, false),
            "%clock_hi" => (Clock::Cycles, true),
            "%globaltimer" | "%globaltimer_lo" => (Clock::GlobalTime, false),
            "%globaltimer_hi" => (Clock::GlobalTime, true),
            _ => return Ok(None),
        };
        self.program.irreproducible = true;
        let long = self.new_row(Type::U64);
        let d = self.destination(target, t)?;
        let function = match (d, shift) {
            (Register::Long(_), _) => lanes!(|a: u64| -> u64 { a }),
            (_, true) => lanes!(|a: u64| -> u32 { (a >> 32) as u32 }),
            (_, false) => lanes!(|a: u64| -> u32 { a as u32 }),
        };
        let operands = Operands { d: d.index(), a: long.index(), ..Operands::default() };
        self.after.insert(0, Operation::Compute { function, operands });
        self.emit(Operation::ReadClock { clock, destination: long });
        Ok(Some(true))
    }

    /// Moves all components at once: a source may be the destination of another (PTX ISA, "Vectors as Operands").
    fn move_vector(
        &mut self,
        target: &Operand<'a>,
        source: &Operand<'a>,
        count: usize,
        t: Type,
    ) -> Result<bool, Error> {
        let mut sources = Vec::new();
        for part in self.elements(source, count)? {
            sources.push(self.source(part, t)?);
        }
        let mut moves = Vec::new();
        for (at, part) in self.elements(target, count)?.into_iter().enumerate() {
            let to = self.destination(part, t)?;
            for from in sources.iter_mut().skip(at + 1).filter(|from| **from == to) {
                let copy = self.new_row(t);
                self.copy_row(*from, copy, false)?;
                *from = copy;
            }
            moves.push((sources[at], to));
        }
        let conversions = std::mem::take(&mut self.after);
        for (from, to) in moves {
            self.copy_row(from, to, true)?;
        }
        self.after.extend(conversions);
        let first = self.after.remove(0);
        self.emit(first);
        Ok(true)
    }

    fn move_wide(&mut self, target: &Operand<'a>, source: &Operand<'a>) -> Result<bool, Error> {
        let mut sources = [0; 2];
        match source {
            Operand::Vector(parts) if parts.len() == 2 => {
                for (row, part) in sources.iter_mut().zip(parts) {
                    *row = self.source(part, Type::B64)?.index();
                }
            }
            other => {
                let row = self.source(other, Type::B128)?.index();
                sources = [row, row + 1];
            }
        }
        let mut targets = [0; 2];
        match target {
            Operand::Vector(parts) if parts.len() == 2 => {
                for (row, part) in targets.iter_mut().zip(parts) {
                    *row = self.destination(part, Type::B64)?.index();
                }
            }
            other => {
                let row = self.destination(other, Type::B128)?.index();
                targets = [row, row + 1];
            }
        }
        let function = lanes!(|a: u64| -> u64 { a });
        let operands = |i: usize| Operands { d: targets[i], a: sources[i], ..Operands::default() };
        self.after.insert(0, Operation::Compute { function, operands: operands(1) });
        self.emit(Operation::Compute { function, operands: operands(0) });
        Ok(true)
    }

    /// `bfe` and `bfi`: position and length go into one row, `position | length << 8`.
    fn bit_field(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let operands = &instruction.operands[..];
        let count = if instruction.opcode == "bfe" { 4 } else { 5 };
        if operands.len() != count {
            return self.invalid(format!("this instruction has {count} operands"));
        }
        let Some(meaning) = compute::bits::meaning(instruction.opcode, modifiers) else {
            return Ok(false);
        };
        let position = self.source(&operands[count - 2], Type::U32)?;
        let length = self.source(&operands[count - 1], Type::U32)?;
        let packed = self.new_row(Type::U32);
        let function = lanes!(|a: u32, b: u32| -> u32 { (a & 0xff) | (b & 0xff) << 8 });
        let pack = Operands {
            d: packed.index(),
            a: position.index(),
            b: length.index(),
            ..Operands::default()
        };
        self.helper_compute(function, pack, position, packed);
        let a = self.source(&operands[1], meaning.sources[0])?.index();
        let (b, c) = if count == 4 {
            (packed.index(), 0)
        } else {
            (self.source(&operands[2], meaning.sources[1])?.index(), packed.index())
        };
        let d = self.destination(&operands[0], meaning.destination)?.index();
        let operands = Operands { d, a, b, c, immediate: 0 };
        self.emit(Operation::Compute { function: meaning.function, operands });
        Ok(true)
    }

    /// A SIMD video instruction, whose sources may pick parts of both words, and whose destination may have a mask.
    fn video(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let opcode = instruction.opcode;
        let Some(lanes) = video::lanes_of(opcode) else { return Ok(false) };
        let [d, a, b, c] = &instruction.operands[..] else {
            return self.invalid("this instruction has 4 operands");
        };
        let bare = |operand: &Operand<'a>| match operand {
            Operand::Name { name, component, offset: 0 } => {
                (Operand::Name { name, component: None, offset: 0 }, *component)
            }
            other => (other.clone(), None),
        };
        let (((d, mask), (a, of_a)), (b, of_b)) = ((bare(d), bare(a)), bare(b));
        let mask = match mask {
            Some(name) => video::mask(name, lanes),
            None => Some((1 << lanes) - 1),
        };
        let selectors = [(of_a, 0x3210), (of_b, 0x7654)].map(|(name, usual)| match name {
            Some(name) => video::selector(name, lanes),
            None => Some(usual),
        });
        let (Some(mask), [Some(of_a), Some(of_b)]) = (mask, selectors) else { return Ok(false) };
        let Some(meaning) = video::meaning(opcode, mask, modifiers) else { return Ok(false) };
        let sources = [self.source(&a, Type::B32)?, self.source(&b, Type::B32)?];
        let mut picked = sources;
        for (row, (selector, usual)) in picked.iter_mut().zip([(of_a, 0x3210), (of_b, 0x7654)]) {
            if selector != usual {
                let of = *row;
                *row = self.new_row(Type::B32);
                let operands = Operands {
                    d: row.index(),
                    a: sources[0].index(),
                    b: sources[1].index(),
                    c: 0,
                    immediate: selector,
                };
                self.helper_compute(video::pick(), operands, of, *row);
            }
        }
        let c = self.source(c, Type::B32)?.index();
        let d = self.destination(&d, Type::B32)?.index();
        let [a, b] = picked.map(|row| row.index());
        let operands = Operands { d, a, b, c, immediate: meaning.immediate };
        self.emit(Operation::Compute { function: meaning.function, operands });
        Ok(true)
    }

    fn logic3(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let [d, a, b, c, Operand::Integer(table)] = operands else { return Ok(false) };
        let Some(meaning) = compute::bits::meaning("lop3", modifiers) else { return Ok(false) };
        let meaning = match *table as u32 & 0xff {
            // The tables that compilers emit most get code of their own.
            0x96 => with(meaning, lanes!(|a: u32, b: u32, c: u32| -> u32 { a ^ b ^ c })),
            0xe8 => with(
                meaning,
                lanes!(|a: u32, b: u32, c: u32| -> u32 { (a & b) | (a & c) | (b & c) }),
            ),
            0xca => with(meaning, lanes!(|a: u32, b: u32, c: u32| -> u32 { (a & b) | (!a & c) })),
            0x80 => with(meaning, lanes!(|a: u32, b: u32, c: u32| -> u32 { a & b & c })),
            0xfe => with(meaning, lanes!(|a: u32, b: u32, c: u32| -> u32 { a | b | c })),
            0xf8 => with(meaning, lanes!(|a: u32, b: u32, c: u32| -> u32 { a | (b & c) })),
            0xea => with(meaning, lanes!(|a: u32, b: u32, c: u32| -> u32 { (a & b) | c })),
            table => meaning.with(table),
        };
        self.compute(meaning, &[d.clone(), a.clone(), b.clone(), c.clone()])?;
        Ok(true)
    }
}

fn with(mut meaning: Meaning, function: compute::ComputeFunction) -> Meaning {
    meaning.function = function;
    meaning
}

/// Tries the families of computing instructions, each on its own copy of the modifiers.
fn families(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let all: [fn(&str, &mut Modifiers<'_>) -> Option<Meaning>; 6] = [
        compute::integer::meaning,
        compute::bits::meaning,
        compute::float::meaning,
        compute::half::meaning,
        compute::convert::meaning,
        video::whole,
    ];
    for family in all {
        let mut attempt = modifiers.clone();
        if let Some(meaning) = family(opcode, &mut attempt) {
            *modifiers = attempt;
            return Some(meaning);
        }
    }
    None
}
