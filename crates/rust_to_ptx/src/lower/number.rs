//! Arithmetic as a release build has it: whole numbers wrap, casts cut off or saturate, a division by zero panics.

use super::{Class, Lower, Operand, R, Stop, Value, class, refuse, reg};
use crate::tree::{Int, Op, Place, Type};

/// The bits of a number of a type as they are in a register.
fn kept(int: Int, value: i128) -> u64 {
    match (int.bits, int.signed) {
        (64, _) => value as u64,
        (32, _) => u64::from(value as u32),
        (16, false) => u64::from(value as u16),
        (8, false) => u64::from(value as u8),
        (16, true) => u64::from(i32::from(value as i16).cast_unsigned()),
        _ => u64::from(i32::from(value as i8).cast_unsigned()),
    }
}

/// The number that bits in a register are.
fn number(int: Int, bits: u64) -> i128 {
    match (int.bits, int.signed) {
        (64, false) => i128::from(bits),
        (64, true) => i128::from(bits.cast_signed()),
        (_, false) => i128::from(bits as u32),
        (_, true) => i128::from((bits as u32).cast_signed()),
    }
}

impl Lower<'_> {
    pub(super) fn int(int: Int, value: i128) -> Operand {
        Operand::Const(kept(int, value))
    }

    fn made(&mut self, class: Class, name: &str, operands: &[String]) -> R<Operand> {
        Ok(Operand::Reg(self.op(class, name, operands)?))
    }

    pub(super) fn binary(
        &mut self,
        op: Op,
        of: &Type,
        a: &Value,
        b: &Value,
        b_of: &Type,
        at: Place,
    ) -> R<Value> {
        self.at = at;
        if let (Type::Vector(vector), Value::All(x), Value::All(y)) = (of, a, b) {
            let of = Type::of(vector.element);
            let pairs = x.iter().zip(y);
            let all = pairs.map(|(x, y)| self.binary(op, &of, x, y, &of, at));
            return Ok(Value::All(all.collect::<R<_>>()?));
        }
        let (x, y) = (self.one(a, at)?, self.one(b, at)?);
        let result = match of {
            Type::Int(int) if op.compares() => self.compare_ints(op, *int, x, y)?,
            Type::Int(int) => {
                let y = match (op, b_of) {
                    // Shifts take a number of any type, of which the lowest bits count.
                    (Op::Shl | Op::Shr, Type::Int(by)) => self.cast_int(*by, Int::U32, y)?,
                    _ => y,
                };
                self.ints(op, *int, x, y)?
            }
            Type::F32 | Type::F64 => self.floats(op, of, x, y)?,
            Type::Bool => self.bools(op, x, y)?,
            _ => return refuse(at, "this operator is not read here"),
        };
        let class = if op.compares() { Class::Pred } else { class(of) };
        Ok(Value::One(class, result))
    }

    fn bools(&mut self, op: Op, x: Operand, y: Operand) -> R<Operand> {
        if let (Operand::Const(x), Operand::Const(y)) = (x, y) {
            return Ok(Operand::Const(match op {
                Op::And => x & y,
                Op::Or => x | y,
                Op::Xor | Op::Ne => x ^ y,
                _ => u64::from(x == y),
            }));
        }
        let operands = [self.predicate(x)?, self.predicate(y)?];
        match op {
            Op::And => self.made(Class::Pred, "and.pred", &operands),
            Op::Or => self.made(Class::Pred, "or.pred", &operands),
            Op::Xor | Op::Ne => self.made(Class::Pred, "xor.pred", &operands),
            _ => {
                let differ = self.made(Class::Pred, "xor.pred", &operands)?;
                self.not(differ)
            }
        }
    }

    pub(super) fn not(&mut self, one: Operand) -> R<Operand> {
        match one {
            Operand::Const(value) => Ok(Operand::Const(value ^ 1)),
            Operand::Reg(_) => {
                let operand = self.predicate(one)?;
                self.made(Class::Pred, "not.pred", &[operand])
            }
        }
    }

    pub(super) fn compare_ints(&mut self, op: Op, int: Int, x: Operand, y: Operand) -> R<Operand> {
        if let (Operand::Const(x), Operand::Const(y)) = (x, y) {
            let (x, y) = (number(int, x), number(int, y));
            return Ok(Operand::Const(u64::from(match op {
                Op::Eq => x == y,
                Op::Ne => x != y,
                Op::Lt => x < y,
                Op::Le => x <= y,
                Op::Gt => x > y,
                _ => x >= y,
            })));
        }
        let (op, x, y) = match (x, op) {
            (Operand::Const(_), Op::Lt) => (Op::Gt, y, x),
            (Operand::Const(_), Op::Le) => (Op::Ge, y, x),
            (Operand::Const(_), Op::Gt) => (Op::Lt, y, x),
            (Operand::Const(_), Op::Ge) => (Op::Le, y, x),
            (Operand::Const(_), op) => (op, y, x),
            _ => (op, x, y),
        };
        let kind = format!("{}{}", if int.signed { "s" } else { "u" }, int.bits.max(32));
        let class = class(&Type::Int(int));
        let operands = [self.show(class, x), self.show(class, y)];
        self.made(Class::Pred, &format!("setp.{}.{kind}", comparison(op)), &operands)
    }

    /// An operation on whole numbers that wraps.
    pub(super) fn ints(&mut self, op: Op, int: Int, x: Operand, y: Operand) -> R<Operand> {
        let bits = int.bits;
        let class = class(&Type::Int(int));
        if let (Operand::Const(a), Operand::Const(b)) = (x, y) {
            let (a, b) = (number(int, a), number(int, b));
            self.check_shift(op, int, y)?;
            let by = (y_bits(y) & u64::from(bits - 1)) as u32;
            let value = match op {
                Op::Add => Some(a + b),
                Op::Sub => Some(a - b),
                Op::Mul => Some(a.wrapping_mul(b)),
                Op::Div => a.checked_div(b),
                Op::Rem => a.checked_rem(b),
                Op::And => Some(a & b),
                Op::Or => Some(a | b),
                Op::Xor => Some(a ^ b),
                Op::Shl => Some(a << by),
                _ => Some(a >> by),
            };
            match value {
                Some(value) => return Ok(Lower::int(int, value)),
                None => {
                    self.trap_if(Operand::Const(1))?;
                    return Ok(Operand::Const(0));
                }
            }
        }
        let (x, y) = match (op, x) {
            (Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor, Operand::Const(_)) => (y, x),
            _ => (x, y),
        };
        let wide = bits.max(32);
        let constant = match y {
            Operand::Const(value) => Some(value),
            Operand::Reg(_) => None,
        };
        let most = self.largest(x);
        match (op, constant) {
            (Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::Shr, Some(0))
            | (Op::Mul | Op::Div, Some(1)) => return Ok(x),
            (Op::Mul | Op::And, Some(0)) => return Ok(Operand::Const(0)),
            (Op::Add | Op::Sub, Some(value)) if wide == bits => {
                let value = number(int, value);
                let value = if op == Op::Sub { -value } else { value };
                return self.plus(int, x, value as i64);
            }
            (Op::Div, Some(value)) if !int.signed && value.is_power_of_two() => {
                return self.ints(
                    Op::Shr,
                    int,
                    x,
                    Operand::Const(u64::from(value.trailing_zeros())),
                );
            }
            (Op::Rem, Some(value)) if !int.signed && value.is_power_of_two() => {
                return self.ints(Op::And, int, x, Operand::Const(value - 1));
            }
            _ => {}
        }
        let (name, y) = match op {
            Op::Add => (format!("add.s{wide}"), y),
            Op::Sub => (format!("sub.s{wide}"), y),
            Op::Mul => (format!("mul.lo.s{wide}"), y),
            Op::And => (format!("and.b{wide}"), y),
            Op::Or => (format!("or.b{wide}"), y),
            Op::Xor => (format!("xor.b{wide}"), y),
            Op::Shl | Op::Shr => {
                self.check_shift(op, int, y)?;
                let y = match y {
                    // C++ says nothing of what is too far, and the instruction shifts all out.
                    Operand::Reg(_) if self.check.out.is_c => y,
                    Operand::Const(value) => Operand::Const(value & u64::from(bits - 1)),
                    Operand::Reg(number) => {
                        let operands = [reg(Class::B32, number), (bits - 1).to_string()];
                        self.made(Class::B32, "and.b32", &operands)?
                    }
                };
                let name = match (op, int.signed) {
                    (Op::Shl, _) => format!("shl.b{wide}"),
                    (_, true) => format!("shr.s{wide}"),
                    _ => format!("shr.u{wide}"),
                };
                (name, y)
            }
            _ => {
                self.check_division(int, x, y)?;
                let kind = if int.signed { "s" } else { "u" };
                let name = if op == Op::Div { "div" } else { "rem" };
                (format!("{name}.{kind}{wide}"), y)
            }
        };
        // The lowest bits of a sum of a multiple are those of the other.
        let mut x = x;
        if let (Op::And, Some(mask), Operand::Reg(first)) = (op, constant, x)
            && mask.wrapping_add(1).is_power_of_two()
            && let Some((base, by)) = self.linear.get(&first).copied()
        {
            let by = by & mask as i64;
            x = self.plus(int, Operand::Reg(base), by)?;
        }
        let y_class = if matches!(op, Op::Shl | Op::Shr) { Class::B32 } else { class };
        let mut operands = [self.show(class, x), self.show(y_class, y)];
        if matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor)
            && let (Operand::Reg(a), Operand::Reg(b)) = (x, y)
            && b < a
        {
            operands.swap(0, 1);
        }
        let made = self.made(class, &name, &operands)?;
        let made = if bits < 32 && !matches!(op, Op::And | Op::Or | Op::Xor | Op::Shr | Op::Rem) {
            self.narrow(int, made)?
        } else {
            made
        };
        if let (Operand::Reg(made), Some(constant)) = (made, constant)
            && !int.signed
        {
            let most = match op {
                Op::And => Some(most.map_or(constant, |most| most.min(constant))),
                Op::Rem => Some(constant - 1),
                Op::Shr => most.map(|most| most >> (constant & u64::from(bits - 1))),
                Op::Div => most.map(|most| most / constant),
                _ => None,
            };
            if let Some(most) = most {
                self.most.insert(made, most);
            }
        }
        Ok(made)
    }

    /// A register of 32 bits as a number of 8 or 16.
    fn narrow(&mut self, int: Int, one: Operand) -> R<Operand> {
        let operand = self.show(Class::B32, one);
        match (int.bits, int.signed) {
            (8, false) => self.made(Class::B32, "and.b32", &[operand, "255".to_owned()]),
            (16, false) => self.made(Class::B32, "and.b32", &[operand, "65535".to_owned()]),
            (8, true) => self.made(Class::B32, "cvt.s32.s8", &[operand]),
            (16, true) => self.made(Class::B32, "cvt.s32.s16", &[operand]),
            _ => Ok(one),
        }
    }

    /// A number and a constant; sums of sums become one.
    fn plus(&mut self, int: Int, x: Operand, by: i64) -> R<Operand> {
        let Operand::Reg(first) = x else { return Ok(x) };
        let (base, before) = self.linear.get(&first).copied().unwrap_or((first, 0));
        let sum = before.wrapping_add(by);
        let sum = if int.bits == 32 { i64::from(sum as i32) } else { sum };
        if sum == 0 {
            return Ok(Operand::Reg(base));
        }
        let class = class(&Type::Int(int));
        let operands = [reg(class, base), sum.to_string()];
        let made = self.op(class, &format!("add.s{}", int.bits), &operands)?;
        self.linear.insert(made, (base, sum));
        Ok(Operand::Reg(made))
    }

    /// Refuses a shift of C++ by a known number of bits that is too large.
    fn check_shift(&self, op: Op, int: Int, by: Operand) -> R<()> {
        let is_too_far = matches!(by, Operand::Const(by) if by >= u64::from(int.bits));
        if self.check.out.is_c && matches!(op, Op::Shl | Op::Shr) && is_too_far {
            return refuse(self.at, format!("this shifts by {} bits or more", int.bits));
        }
        Ok(())
    }

    /// Panics as Rust does where a divisor is zero, or where the quotient is too large.
    fn check_division(&mut self, int: Int, x: Operand, y: Operand) -> R<()> {
        if self.check.out.is_c {
            return if y == Operand::Const(0) { self.trap_if(Operand::Const(1)) } else { Ok(()) };
        }
        let is_zero = self.compare_ints(Op::Eq, int, y, Operand::Const(0))?;
        self.trap_if(is_zero)?;
        if int.signed {
            let least = -(1_i128 << (int.bits - 1));
            let is_least = self.compare_ints(Op::Eq, int, x, Lower::int(int, least))?;
            let is_minus = self.compare_ints(Op::Eq, int, y, Lower::int(int, -1))?;
            let overflows = match (is_least, is_minus) {
                (Operand::Const(0), _) | (_, Operand::Const(0)) => Operand::Const(0),
                (a, b) => self.bools(Op::And, a, b)?,
            };
            self.trap_if(overflows)?;
        }
        Ok(())
    }

    fn floats(&mut self, op: Op, of: &Type, x: Operand, y: Operand) -> R<Operand> {
        let kind = if *of == Type::F32 { "f32" } else { "f64" };
        if let (Operand::Const(a), Operand::Const(b)) = (x, y) {
            return Ok(Operand::Const(if *of == Type::F32 {
                let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
                if op.compares() {
                    u64::from(compared(op, a.partial_cmp(&b)))
                } else {
                    u64::from(folded(op, a, b).to_bits())
                }
            } else {
                let (a, b) = (f64::from_bits(a), f64::from_bits(b));
                if op.compares() {
                    u64::from(compared(op, a.partial_cmp(&b)))
                } else {
                    folded(op, a, b).to_bits()
                }
            }));
        }
        let operands = [self.show_float(of, x), self.show_float(of, y)];
        if op.compares() {
            let name = if op == Op::Ne { "neu" } else { comparison(op) };
            return self.made(Class::Pred, &format!("setp.{name}.{kind}"), &operands);
        }
        let name = match op {
            Op::Add => "add.rn",
            Op::Sub => "sub.rn",
            Op::Mul => "mul.rn",
            _ => "div.rn",
        };
        self.made(class(of), &format!("{name}.{kind}"), &operands)
    }

    pub(super) fn negate(&mut self, of: &Type, x: Operand, at: Place) -> R<Operand> {
        self.at = at;
        match (of, x) {
            (Type::Int(int), x) if int.signed => self.ints(Op::Sub, *int, Operand::Const(0), x),
            (Type::F32, Operand::Const(bits)) => Ok(Operand::Const(bits ^ (1 << 31))),
            (Type::F64, Operand::Const(bits)) => Ok(Operand::Const(bits ^ (1 << 63))),
            (Type::F32 | Type::F64, x) => {
                let kind = if *of == Type::F32 { "neg.f32" } else { "neg.f64" };
                let operand = self.show(class(of), x);
                self.made(class(of), kind, &[operand])
            }
            _ => refuse(at, format!("a `{}` has no negative numbers", of.show())),
        }
    }

    pub(super) fn complement(&mut self, int: Int, x: Operand) -> R<Operand> {
        self.ints(Op::Xor, int, x, Lower::int(int, -1)).map(|one| match one {
            Operand::Const(value) => Lower::int(int, number(int, value)),
            other => other,
        })
    }

    /// A number as one of another type.
    pub(super) fn cast_int(&mut self, from: Int, to: Int, x: Operand) -> R<Operand> {
        if let Operand::Const(value) = x {
            return Ok(Lower::int(to, number(from, value)));
        }
        let Operand::Reg(first) = x else { return Ok(x) };
        match (from.bits, to.bits) {
            (64, 64) => Ok(x),
            (_, 64) => {
                if from.signed {
                    return self.made(Class::B64, "cvt.s64.s32", &[reg(Class::B32, first)]);
                }
                let made = self.op(Class::B64, "cvt.u64.u32", &[reg(Class::B32, first)])?;
                self.widened.insert(made, first);
                let most = self.most.get(&first).copied().unwrap_or(u64::from(u32::MAX));
                self.most.insert(made, most);
                Ok(Operand::Reg(made))
            }
            (64, _) => {
                let made = match self.widened.get(&first) {
                    Some(narrow) => *narrow,
                    None => self.op(Class::B32, "cvt.u32.u64", &[reg(Class::B64, first)])?,
                };
                if let Some(most) = self.most.get(&first).copied().filter(|most| *most < 1 << 31) {
                    self.most.insert(made, most);
                }
                self.narrow(to, Operand::Reg(made))
            }
            _ if from.bits <= to.bits
                && (to.bits == 32 || from.signed == to.signed || !from.signed) =>
            {
                Ok(x)
            }
            _ => self.narrow(to, x),
        }
    }

    pub(super) fn cast(&mut self, from: &Type, to: &Type, value: Value, at: Place) -> R<Value> {
        self.at = at;
        if let Value::Pointer(_) = value {
            return Ok(value);
        }
        if let Value::Ref(id, _) = value {
            // The bits of a local as another type are those of memory.
            let pointee = |of: &Type| match of {
                Type::Pointer(_, to) => Some((**to).clone()),
                _ => None,
            };
            return if pointee(from) == pointee(to) { Ok(value) } else { Err(Stop::Restart(id)) };
        }
        let x = self.one(&value, at)?;
        let made = match (from, to) {
            (from, to) if from == to => x,
            (Type::Int(from), Type::Int(to)) => self.cast_int(*from, *to, x)?,
            (Type::Bool, Type::Int(to)) => match x {
                Operand::Const(value) => Operand::Const(value),
                Operand::Reg(number) => {
                    let class = class(&Type::Int(*to));
                    let name = if class == Class::B32 { "selp.b32" } else { "selp.b64" };
                    let operands = ["1".to_owned(), "0".to_owned(), reg(Class::Pred, number)];
                    let made = self.op(class, name, &operands)?;
                    self.most.insert(made, 1);
                    Operand::Reg(made)
                }
            },
            (Type::Int(from), Type::F32 | Type::F64) => match x {
                Operand::Const(value) => {
                    let value = number(*from, value);
                    Operand::Const(if *to == Type::F32 {
                        u64::from((value as f32).to_bits())
                    } else {
                        (value as f64).to_bits()
                    })
                }
                Operand::Reg(_) => {
                    let kind =
                        format!("{}{}", if from.signed { "s" } else { "u" }, from.bits.max(32));
                    let name = if *to == Type::F32 { "f32" } else { "f64" };
                    let operand = self.show(class(&Type::Int(*from)), x);
                    self.made(class(to), &format!("cvt.rn.{name}.{kind}"), &[operand])?
                }
            },
            (Type::F32, Type::F64) => match x {
                Operand::Const(bits) => {
                    Operand::Const(f64::from(f32::from_bits(bits as u32)).to_bits())
                }
                x => {
                    let operand = self.show(Class::B32, x);
                    self.made(Class::B64, "cvt.f64.f32", &[operand])?
                }
            },
            (Type::F64, Type::F32) => match x {
                Operand::Const(bits) => {
                    Operand::Const(u64::from((f64::from_bits(bits) as f32).to_bits()))
                }
                x => {
                    let operand = self.show(Class::B64, x);
                    self.made(Class::B32, "cvt.rn.f32.f64", &[operand])?
                }
            },
            (Type::F32 | Type::F64, Type::Int(to)) => self.float_to_int(from, *to, x)?,
            _ => return refuse(at, "this cast is not read here"),
        };
        Ok(Value::One(class(to), made))
    }

    /// A float as a whole number: towards zero, the nearest where it is too large, zero for NaN.
    fn float_to_int(&mut self, from: &Type, to: Int, x: Operand) -> R<Operand> {
        if let Operand::Const(bits) = x {
            let value = if *from == Type::F32 {
                f64::from(f32::from_bits(bits as u32))
            } else {
                f64::from_bits(bits)
            };
            let (least, most) = if to.signed {
                (-(1_i128 << (to.bits - 1)), (1_i128 << (to.bits - 1)) - 1)
            } else {
                (0, (1_i128 << to.bits) - 1)
            };
            return Ok(Lower::int(to, (value as i128).clamp(least, most)));
        }
        let name = if *from == Type::F32 { "f32" } else { "f64" };
        let sign = if to.signed { "s" } else { "u" };
        let wide = to.bits.max(32);
        let target = class(&Type::Int(to));
        let operand = self.show(class(from), x);
        let converted = self.made(
            target,
            &format!("cvt.rzi.{sign}{wide}.{name}"),
            std::slice::from_ref(&operand),
        )?;
        let is_number =
            self.op(Class::Pred, &format!("setp.num.{name}"), &[operand.clone(), operand])?;
        let operands = [self.show(target, converted), "0".to_owned(), reg(Class::Pred, is_number)];
        let mut made = self.made(target, &format!("selp.b{wide}"), &operands)?;
        if to.bits < 32 {
            let (least, most) = if to.signed {
                (-(1_i64 << (to.bits - 1)), (1_i64 << (to.bits - 1)) - 1)
            } else {
                (0, (1_i64 << to.bits) - 1)
            };
            let operand = self.show(target, made);
            made = self.made(target, &format!("min.{sign}32"), &[operand, most.to_string()])?;
            if to.signed {
                let operand = self.show(target, made);
                made = self.made(target, "max.s32", &[operand, least.to_string()])?;
            }
        }
        Ok(made)
    }

    /// A method of numbers.
    pub(super) fn of_numbers(
        &mut self,
        name: &str,
        of: &Type,
        all: &[Operand],
        at: Place,
    ) -> R<Option<Value>> {
        self.at = at;
        let made = match (of, name, all) {
            (Type::Int(int), "wrapping_add", [a, b]) => self.ints(Op::Add, *int, *a, *b)?,
            (Type::Int(int), "wrapping_sub", [a, b]) => self.ints(Op::Sub, *int, *a, *b)?,
            (Type::Int(int), "wrapping_mul", [a, b]) => self.ints(Op::Mul, *int, *a, *b)?,
            (Type::Int(int), "wrapping_neg", [a]) => {
                self.ints(Op::Sub, *int, Operand::Const(0), *a)?
            }
            (_, "min" | "max", [a, b]) => self.extreme(name, of, *a, *b)?,
            (Type::Int(_), "clamp", [a, least, most]) => {
                let a = self.extreme("max", of, *a, *least)?;
                self.extreme("min", of, a, *most)?
            }
            (Type::Int(int), "saturating_sub", [a, b]) if !int.signed => {
                let larger = self.extreme("max", of, *a, *b)?;
                self.ints(Op::Sub, *int, larger, *b)?
            }
            (Type::Int(int), "abs_diff", [a, b]) => {
                let (most, least) =
                    (self.extreme("max", of, *a, *b)?, self.extreme("min", of, *a, *b)?);
                self.ints(Op::Sub, *int, most, least)?
            }
            (Type::Int(int), "div_ceil", [a, b]) => {
                let quotient = self.ints(Op::Div, *int, *a, *b)?;
                let rest = self.ints(Op::Rem, *int, *a, *b)?;
                let more = self.compare_ints(Op::Ne, *int, rest, Operand::Const(0))?;
                let more = self.cast(&Type::Bool, of, Value::One(Class::Pred, more), at)?;
                let more = self.one(&more, at)?;
                self.ints(Op::Add, *int, quotient, more)?
            }
            (Type::Int(int), "is_multiple_of", [a, b]) => {
                if *b == Operand::Const(0) {
                    let is_zero = self.compare_ints(Op::Eq, *int, *a, Operand::Const(0))?;
                    return Ok(Some(Value::One(Class::Pred, is_zero)));
                }
                if let Operand::Reg(_) = b {
                    return refuse(at, "`is_multiple_of` takes a number that is known, here");
                }
                let rest = self.ints(Op::Rem, *int, *a, *b)?;
                let is_zero = self.compare_ints(Op::Eq, *int, rest, Operand::Const(0))?;
                return Ok(Some(Value::One(Class::Pred, is_zero)));
            }
            (Type::Int(int), "is_power_of_two", [a]) => {
                let ones = self.count_bits("popc", *int, *a)?;
                let is_one = self.compare_ints(Op::Eq, Int::U32, ones, Operand::Const(1))?;
                return Ok(Some(Value::One(Class::Pred, is_one)));
            }
            (Type::Int(int), "count_ones", [a]) => {
                let made = self.count_bits("popc", *int, *a)?;
                return Ok(Some(Value::One(Class::B32, made)));
            }
            (Type::Int(int), "leading_zeros", [a]) if int.bits >= 32 => {
                let made = self.count_bits("clz", *int, *a)?;
                return Ok(Some(Value::One(Class::B32, made)));
            }
            (Type::Int(int), "trailing_zeros", [a]) if int.bits >= 32 => {
                let made = match a {
                    Operand::Const(value) => {
                        let zeros = if *value == 0 { int.bits } else { value.trailing_zeros() };
                        Operand::Const(u64::from(zeros))
                    }
                    a => {
                        let class = class(of);
                        let operand = self.show(class, *a);
                        let turned = self.op(class, &format!("brev.b{}", int.bits), &[operand])?;
                        self.count_bits("clz", *int, Operand::Reg(turned))?
                    }
                };
                return Ok(Some(Value::One(Class::B32, made)));
            }
            (Type::Int(int), "upper" | "lower", [a]) => {
                let first = if name == "upper" { b'a' } else { b'A' };
                let letter = self.ints(Op::Sub, *int, *a, Operand::Const(u64::from(first)))?;
                let is_letter = self.compare_ints(Op::Lt, *int, letter, Operand::Const(26))?;
                let case = match is_letter {
                    Operand::Const(value) => Operand::Const(32 * value),
                    Operand::Reg(number) => {
                        let operands = ["32".to_owned(), "0".to_owned(), reg(Class::Pred, number)];
                        self.made(Class::B32, "selp.b32", &operands)?
                    }
                };
                self.ints(Op::Xor, *int, *a, case)?
            }
            (Type::Int(int), "abs", [a]) => {
                let less = self.ints(Op::Sub, *int, Operand::Const(0), *a)?;
                self.extreme("max", of, *a, less)?
            }
            (Type::F32 | Type::F64, "abs" | "sqrt", [a]) => {
                let kind = if *of == Type::F32 { "f32" } else { "f64" };
                let operand = self.show_float(of, *a);
                let name = if name == "abs" { "abs" } else { "sqrt.rn" };
                self.made(class(of), &format!("{name}.{kind}"), &[operand])?
            }
            (Type::F32 | Type::F64, "mul_add", [a, b, c]) => {
                let kind = if *of == Type::F32 { "f32" } else { "f64" };
                let operands = [a, b, c].map(|one| self.show_float(of, *one));
                self.made(class(of), &format!("fma.rn.{kind}"), &operands)?
            }
            _ => return Ok(None),
        };
        Ok(Some(Value::One(class(of), made)))
    }

    fn count_bits(&mut self, name: &str, int: Int, a: Operand) -> R<Operand> {
        let wide = int.bits.max(32);
        if let Operand::Const(value) = a {
            let value = if int.bits < 64 { value & ((1 << int.bits) - 1) } else { value };
            let count = match name {
                "popc" => value.count_ones(),
                _ => value.leading_zeros() - (64 - int.bits),
            };
            return Ok(Operand::Const(u64::from(count)));
        }
        let class = class(&Type::Int(int));
        let a = if int.bits < 32 && int.signed {
            self.ints(
                Op::And,
                Int { signed: false, ..int },
                a,
                Operand::Const((1 << int.bits) - 1),
            )?
        } else {
            a
        };
        let operand = self.show(class, a);
        let made = self.op(Class::B32, &format!("{name}.b{wide}"), &[operand])?;
        self.most.insert(made, u64::from(wide));
        Ok(Operand::Reg(made))
    }

    pub(super) fn extreme(&mut self, name: &str, of: &Type, a: Operand, b: Operand) -> R<Operand> {
        let kind = match of {
            Type::Int(int) => {
                if let (Operand::Const(a), Operand::Const(b)) = (a, b) {
                    let (a, b) = (number(*int, a), number(*int, b));
                    return Ok(Lower::int(*int, if name == "min" { a.min(b) } else { a.max(b) }));
                }
                format!("{}{}", if int.signed { "s" } else { "u" }, int.bits.max(32))
            }
            Type::F32 => "f32".to_owned(),
            _ => "f64".to_owned(),
        };
        let operands = match of {
            Type::Int(_) => [self.show(class(of), a), self.show(class(of), b)],
            _ => [self.show_float(of, a), self.show_float(of, b)],
        };
        let made = self.op(class(of), &format!("{name}.{kind}"), &operands)?;
        if name == "min"
            && matches!(of, Type::Int(int) if !int.signed)
            && let Some(most) = [a, b].iter().filter_map(|one| self.largest(*one)).min()
        {
            self.most.insert(made, most);
        }
        Ok(Operand::Reg(made))
    }
}

fn y_bits(operand: Operand) -> u64 {
    match operand {
        Operand::Const(value) => value,
        Operand::Reg(_) => 0,
    }
}

fn comparison(op: Op) -> &'static str {
    match op {
        Op::Eq => "eq",
        Op::Ne => "ne",
        Op::Lt => "lt",
        Op::Le => "le",
        Op::Gt => "gt",
        _ => "ge",
    }
}

fn compared(op: Op, order: Option<std::cmp::Ordering>) -> bool {
    match op {
        Op::Eq => order.is_some_and(std::cmp::Ordering::is_eq),
        Op::Ne => !order.is_some_and(std::cmp::Ordering::is_eq),
        Op::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
        Op::Le => order.is_some_and(std::cmp::Ordering::is_le),
        Op::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
        _ => order.is_some_and(std::cmp::Ordering::is_ge),
    }
}

fn folded<T>(op: Op, a: T, b: T) -> T
where
    T: std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>
        + std::ops::Div<Output = T>,
{
    match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        _ => a / b,
    }
}
