//! Expressions and loops.

use super::memory::Spot;
use super::{
    Class, Flow, Lower, OpenLoop, Operand, Pointer, R, Space, Step, Stop, Value, class, refuse, reg,
};
use crate::tree::{Expr, Int, Iter, Kind, LocalId, Op, Pattern, Place, Scalar, Statement, Type};
use crate::walk;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Turns of a loop that become a straight line at most, and the parts that all of them may have.
const MAX_TURNS: u64 = 64;
const MAX_UNROLLED: usize = 6000;
/// Turns of a loop in a constant.
const MAX_CONSTANT_TURNS: u64 = 1 << 16;

/// The value of an expression, or the end of what can be reached.
macro_rules! value {
    ($self:ident, $expr:expr) => {
        match $self.expr($expr)? {
            Some(value) => value,
            None => return Ok(None),
        }
    };
}

impl Lower<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> R<Flow> {
        let of = self.of(expr);
        let at = expr.at;
        Ok(Some(match &expr.kind {
            Kind::Int(value) => match &of {
                Type::Int(int) => {
                    let bits = int.bits - u32::from(int.signed);
                    // The least number of a type is written as one more than the largest, behind a minus.
                    if bits < 64 && *value > 1 << bits
                        || (bits < 64 && *value == 1 << bits && !int.signed)
                    {
                        return refuse(at, format!("{value} does not fit into `{}`", int.name()));
                    }
                    Value::One(class(&of), Lower::int(*int, i128::from(*value)))
                }
                Type::Ordering => Value::Unit,
                other => return refuse(at, format!("a whole number is no `{}`", other.show())),
            },
            Kind::Float(long, short) => match of {
                Type::F32 => Value::One(Class::B32, Operand::Const(u64::from(short.to_bits()))),
                _ => Value::One(Class::B64, Operand::Const(long.to_bits())),
            },
            Kind::Bool(value) => Value::One(Class::Pred, Operand::Const(u64::from(*value))),
            Kind::Unit => Value::Unit,
            Kind::Const(index) => {
                let Some(value) = self.check.out.constants[*index].as_ref() else {
                    return refuse(at, "this constant needs itself");
                };
                self.constant(value)?
            }
            Kind::Local(_) | Kind::Static(_) | Kind::Deref(_) => {
                let Some(spot) = self.spot(expr)? else { return refuse(at, "this has no value") };
                self.read(&spot, at)?
            }
            Kind::Field(base, index) => match self.spot(expr)? {
                Some(spot) => self.read(&spot, at)?,
                None => match value!(self, base) {
                    Value::All(all) if *index < all.len() => all[*index].clone(),
                    _ => return refuse(at, "this part has no value here"),
                },
            },
            Kind::Index(base, index) => match self.spot(expr)? {
                Some(spot) => self.read(&spot, at)?,
                None => {
                    let (base, index) = (value!(self, base), value!(self, index));
                    match (base, self.one(&index, at)?) {
                        (Value::All(all), Operand::Const(index))
                            if (index as usize) < all.len() =>
                        {
                            all[index as usize].clone()
                        }
                        _ => {
                            return refuse(
                                at,
                                "an array without a name has only indexes that are known, here",
                            );
                        }
                    }
                }
            },
            Kind::AddressOf(place) => match self.spot(place)? {
                Some(Spot::Memory(pointer, _)) => Value::Pointer(pointer),
                Some(Spot::Local(id, path)) => Value::Ref(id, path),
                None => return refuse(at, "only a variable has an address here"),
            },
            Kind::Neg(one) => {
                // The type of a literal is that of the whole.
                let value = value!(self, one);
                let x = self.one(&value, at)?;
                Value::One(class(&of), self.negate(&of, x, at)?)
            }
            Kind::Not(one) => {
                let value = value!(self, one);
                let x = self.one(&value, at)?;
                self.at = at;
                let made = match &of {
                    Type::Int(int) => self.complement(*int, x)?,
                    _ => self.not(x)?,
                };
                Value::One(class(&of), made)
            }
            Kind::Binary(op, a, b) => {
                let (x, y) = (value!(self, a), value!(self, b));
                let (a, b) = (self.of(a), self.of(b));
                self.binary(*op, &a, &x, &y, &b, at)?
            }
            Kind::AndAlso(a, b) => return self.short_circuit(a, b, true),
            Kind::OrElse(a, b) => return self.short_circuit(a, b, false),
            Kind::Assign(target, value) => {
                let value = value!(self, value);
                let Some(spot) = self.spot(target)? else {
                    return refuse(at, "this cannot be assigned to, here");
                };
                self.write(&spot, value, at)?;
                Value::Unit
            }
            Kind::AssignOp(op, target, value) => {
                let value_of = self.of(value);
                let value = value!(self, value);
                let Some(spot) = self.spot(target)? else {
                    return refuse(at, "this cannot be assigned to, here");
                };
                let before = self.read(&spot, at)?;
                let of = self.of(target);
                let after = self.binary(*op, &of, &before, &value, &value_of, at)?;
                self.write(&spot, after, at)?;
                Value::Unit
            }
            Kind::Cast(one) => {
                let value = value!(self, one);
                let from = self.of(one);
                self.cast(&from, &of, value, at)?
            }
            Kind::Tuple(all) | Kind::Array(all) => {
                let mut values = Vec::new();
                for one in all {
                    values.push(value!(self, one));
                }
                Value::All(values)
            }
            Kind::Repeat(one, length) => {
                let value = value!(self, one);
                Value::All(vec![value; *length])
            }
            Kind::If(condition, then, other) => {
                let condition_value = value!(self, condition);
                let condition = self.one(&condition_value, at)?;
                self.at = at;
                return self.branch(condition, &mut |lower| lower.expr(then), &mut |lower| {
                    match other {
                        Some(other) => lower.expr(other),
                        None => Ok(Some(Value::Unit)),
                    }
                });
            }
            Kind::Block(statements, tail) => {
                for one in statements {
                    match one {
                        Statement::Let(pattern, Some(init)) => {
                            let value = value!(self, init);
                            self.at = init.at;
                            self.bind_pattern(pattern, value)?;
                        }
                        Statement::Let(Pattern::Bind(id), None) => self.declare(*id, at)?,
                        Statement::Let(_, None) => {}
                        Statement::Expr(one) => {
                            value!(self, one);
                        }
                    }
                }
                match tail {
                    Some(tail) => return self.expr(tail),
                    None => Value::Unit,
                }
            }
            Kind::While(id, condition, body, step) => {
                if let Some(flow) = self.unrolled_while(*id, condition, body, step.as_deref())? {
                    return Ok(flow);
                }
                return self.turns(*id, Some(condition), body, None, None, step.clone());
            }
            Kind::Loop(id, body) => return self.turns(*id, None, body, None, None, None),
            Kind::For(id, pattern, iter, body) => {
                return self.for_loop(*id, pattern, iter, body, at);
            }
            Kind::Break(id) => {
                self.at = at;
                self.leave(*id, true)?;
                return Ok(None);
            }
            Kind::Continue(id) => {
                self.at = at;
                self.leave(*id, false)?;
                return Ok(None);
            }
            Kind::Return(value) => {
                let value = match value {
                    Some(value) => value!(self, value),
                    None => Value::Unit,
                };
                self.at = at;
                self.impure()?;
                let Some(frame) = self.frames.last() else { return Ok(None) };
                match (frame.exit.clone(), frame.result.clone()) {
                    (Some(exit), result) => {
                        let joined = frame.joined.clone();
                        if let Some(result) = result {
                            self.give(&result, &value)?;
                        }
                        self.join(&joined)?;
                        self.line(format!("bra.uni \t{exit};"))?;
                    }
                    (None, _) => self.line("ret;".to_owned())?,
                }
                return Ok(None);
            }
            Kind::Call(index, arguments) => {
                let mut values = Vec::new();
                for one in arguments {
                    values.push(value!(self, one));
                }
                let function = &self.check.out.functions[*index];
                return self.call(function, values, at);
            }
            Kind::CallClosure(index, arguments) => {
                let mut values = Vec::new();
                for one in arguments {
                    values.push(value!(self, one));
                }
                return self.call_closure(*index, values, at);
            }
            Kind::Closure(index) => Value::Closure(*index),
            Kind::Library(name, arguments) => {
                let mut values = Vec::new();
                for one in arguments {
                    values.push(value!(self, one));
                }
                self.at = at;
                if *name == "panic" {
                    self.trap_if(Operand::Const(1))?;
                    return Ok(None);
                }
                self.library(name, &of, arguments, values, at)?
            }
        }))
    }

    fn short_circuit(&mut self, a: &Expr, b: &Expr, is_and: bool) -> R<Flow> {
        let first = value!(self, a);
        let condition = self.one(&first, a.at)?;
        let stays = Value::One(Class::Pred, Operand::Const(u64::from(!is_and)));
        // Two conditions without effect are one instruction.
        if let Operand::Reg(_) = condition {
            let lines = self.lines.len();
            let (memo, panics) = (self.memo.clone(), self.panics);
            self.speculating += 1;
            let second = self.expr(b);
            self.speculating -= 1;
            match second {
                Ok(Some(second)) => {
                    let op = if is_and { Op::And } else { Op::Or };
                    let both = self.binary(op, &Type::Bool, &first, &second, &Type::Bool, a.at)?;
                    return Ok(Some(both));
                }
                Ok(None) | Err(Stop::Impure) => {
                    self.lines.truncate(lines);
                    (self.memo, self.panics) = (memo, panics);
                }
                Err(other) => return Err(other),
            }
        }
        let mut second = |lower: &mut Self| lower.expr(b);
        let mut first = |_: &mut Self| Ok(Some(stays.clone()));
        if is_and {
            self.branch(condition, &mut second, &mut first)
        } else {
            self.branch(condition, &mut first, &mut second)
        }
    }

    fn call_closure(&mut self, index: usize, arguments: Vec<Value>, at: Place) -> R<Flow> {
        let closure = &self.check.out.closures[index];
        let Some(body) = &closure.body else {
            return refuse(at, "the types of this closure's arguments are not known");
        };
        let mut is_plain = true;
        walk::each(body, &mut |one| {
            is_plain &= !matches!(one.kind, Kind::Return(_));
            if let Kind::Assign(target, _) | Kind::AssignOp(_, target, _) = &one.kind {
                is_plain &= walk::root(target).is_none();
            }
        });
        if !is_plain {
            return refuse(
                body.at,
                "a closure that assigns to a variable or returns is not read here",
            );
        }
        if self.frames.len() > super::MAX_CALLS {
            return refuse(at, "functions that call themselves are not read here");
        }
        for (pattern, value) in closure.parameters.iter().zip(arguments) {
            self.bind_pattern(pattern, value)?;
        }
        self.expr(body)
    }

    // Loops.

    /// Declares a variable without a value.
    fn declare(&mut self, id: LocalId, at: Place) -> R<()> {
        if self.in_memory.contains(&id) {
            return self.bind_in_memory(id, None);
        }
        let value = zero(&self.check.local_type(id));
        match value {
            Some(value) => self.bind(id, value),
            None => refuse(at, "this variable gets its value where it is declared, here"),
        }
    }

    fn unrolled_while(
        &mut self,
        id: usize,
        condition: &Expr,
        body: &Expr,
        step: Option<&Expr>,
    ) -> R<Option<Flow>> {
        let leaves = step.is_some_and(|step| is_left(step, id));
        if is_left(body, id) || leaves || self.speculating > 0 {
            return Ok(None);
        }
        let most = if self.constant_mode > 0 { MAX_CONSTANT_TURNS } else { MAX_TURNS };
        let size = size(body) + step.map_or(0, size);
        let lines = self.lines.len();
        let saved = (
            self.memo.clone(),
            self.env.clone(),
            self.known.clone(),
            self.symbols.len(),
            self.panics,
        );
        self.pending.clear();
        for turn in 0..=most {
            let flow = self.expr(condition)?;
            let Some(value) = flow else { return Ok(Some(None)) };
            match self.one(&value, condition.at)? {
                Operand::Const(0) => return Ok(Some(Some(Value::Unit))),
                Operand::Const(_)
                    if self.constant_mode > 0 || (turn as usize + 1) * size <= MAX_UNROLLED => {}
                _ => break,
            }
            if turn == most {
                break;
            }
            if self.expr(body)?.is_none() {
                return Ok(Some(None));
            }
            if let Some(step) = step
                && self.expr(step)?.is_none()
            {
                return Ok(Some(None));
            }
        }
        if self.constant_mode > 0 {
            return refuse(condition.at, "this is not known when the file is compiled");
        }
        self.lines.truncate(lines);
        self.symbols.truncate(saved.3);
        (self.memo, self.env, self.known) = (saved.0, saved.1, saved.2);
        self.panics = saved.4;
        self.pending.clear();
        Ok(None)
    }

    fn for_loop(
        &mut self,
        id: usize,
        pattern: &Pattern,
        iter: &Iter,
        body: &Expr,
        at: Place,
    ) -> R<Flow> {
        let (start, end, of) = match iter {
            Iter::Array(array) => {
                let Value::All(all) = value!(self, array) else {
                    return refuse(at, "an array is wanted here");
                };
                if is_left(body, id) || all.len() as u64 > 4 * MAX_TURNS {
                    return refuse(at, "a loop over an array has no `break` or `continue` here");
                }
                for one in all {
                    self.bind_pattern(pattern, one)?;
                    value!(self, body);
                }
                return Ok(Some(Value::Unit));
            }
            Iter::Range { start, end, .. } => {
                let of = self.of(start);
                (value!(self, start), value!(self, end), of)
            }
        };
        let Iter::Range { is_closed, step, is_reversed, .. } = iter else {
            return refuse(at, "a range is wanted here");
        };
        let Type::Int(int) = of else { return refuse(at, "a range is one of whole numbers here") };
        let (first, last) = (self.one(&start, at)?, self.one(&end, at)?);
        let step = match step {
            Some(step) => {
                let value = value!(self, step);
                Some(self.one(&value, at)?)
            }
            None => None,
        };
        let class = class(&of);
        // A range whose ends are known may become a straight line.
        if let (Operand::Const(first), Operand::Const(last)) = (first, last)
            && matches!(step, None | Some(Operand::Const(_)))
            && !is_left(body, id)
        {
            let value = |bits: u64| {
                if int.signed && int.bits < 64 {
                    i128::from((bits as u32).cast_signed())
                } else if int.signed {
                    i128::from(bits.cast_signed())
                } else {
                    i128::from(bits)
                }
            };
            let by = match step {
                Some(Operand::Const(by)) => i128::from(by),
                _ => 1,
            };
            if by == 0 {
                return refuse(at, "`step_by` takes no 0");
            }
            let end = value(last) + i128::from(*is_closed);
            let count = ((end - value(first)).max(0) + by - 1) / by;
            let is_short =
                count <= i128::from(MAX_TURNS) && count as usize * size(body) <= MAX_UNROLLED;
            if self.constant_mode > 0 && count > i128::from(MAX_CONSTANT_TURNS) {
                return refuse(at, "a constant takes fewer turns of a loop here");
            }
            if is_short || self.constant_mode > 0 {
                for turn in 0..count {
                    let turn = if *is_reversed { count - 1 - turn } else { turn };
                    let counter = Lower::int(int, value(first) + turn * by);
                    self.bind_pattern(pattern, Value::One(class, counter))?;
                    value!(self, body);
                }
                return Ok(Some(Value::Unit));
            }
        }
        self.at = at;
        self.impure()?;
        let counter = self.hidden;
        self.hidden += 2;
        match (step, is_closed, is_reversed) {
            (None, false, false) => {
                self.env.insert(counter, Value::One(class, first));
                let step = Step::Add(class, 1, of.clone());
                self.turns(
                    id,
                    None,
                    body,
                    Some((counter, step)),
                    Some((pattern, last, int, false)),
                    None,
                )
            }
            (None, false, true) => {
                self.env.insert(counter, Value::One(class, last));
                let step = Step::Keep;
                self.turns(
                    id,
                    None,
                    body,
                    Some((counter, step)),
                    Some((pattern, first, int, true)),
                    None,
                )
            }
            (None, true, _) => {
                if int.bits > 32 {
                    return refuse(at, "`..=` of 64-bit numbers is not read here: use `..`");
                }
                // With 64 bits one more than the end exists.
                let wide = Int { bits: 64, signed: int.signed, of_address: false };
                let (first, last) =
                    (self.cast_int(int, wide, first)?, self.cast_int(int, wide, last)?);
                let last = self.ints(Op::Add, wide, last, Operand::Const(1))?;
                self.env.insert(counter, Value::One(Class::B64, first));
                let step = Step::Add(Class::B64, 1, Type::Int(wide));
                self.narrow_counter = Some(int);
                self.turns(
                    id,
                    None,
                    body,
                    Some((counter, step)),
                    Some((pattern, last, wide, false)),
                    None,
                )
            }
            (Some(by), ..) => {
                let is_zero = self.compare_ints(Op::Eq, Int::USIZE, by, Operand::Const(0))?;
                self.trap_if(is_zero)?;
                // The number of turns is computed first, as `StepBy` does: the last step may wrap around.
                if int.signed || int.bits < 32 {
                    return refuse(at, "`step_by` of this type is not read here");
                }
                let wide = Int::USIZE;
                let (start, end) =
                    (self.cast_int(int, wide, first)?, self.cast_int(int, wide, last)?);
                let most = self.extreme("max", &Type::USIZE, start, end)?;
                let length = self.ints(Op::Sub, wide, most, start)?;
                let turns = self.ints(Op::Div, wide, length, by)?;
                let rest = self.ints(Op::Rem, wide, length, by)?;
                let more = self.compare_ints(Op::Ne, wide, rest, Operand::Const(0))?;
                let more =
                    self.cast(&Type::Bool, &Type::USIZE, Value::One(Class::Pred, more), at)?;
                let more = self.one(&more, at)?;
                let turns = self.ints(Op::Add, wide, turns, more)?;
                let left = counter + 1;
                self.env.insert(counter, Value::One(class, first));
                self.env.insert(left, Value::One(Class::B64, turns));
                let by = self.cast_int(Int::USIZE, int, by)?;
                let step = Step::Times { by: Value::One(class, by), of: of.clone(), left };
                self.turns(
                    id,
                    None,
                    body,
                    Some((counter, step)),
                    Some((pattern, Operand::Const(0), int, false)),
                    None,
                )
            }
        }
    }

    /// A loop: `while`, `loop`, or a `for` with a counter.
    fn turns(
        &mut self,
        id: usize,
        condition: Option<&Expr>,
        body: &Expr,
        counter: Option<(LocalId, Step)>,
        bound: Option<(&Pattern, Operand, Int, bool)>,
        between: Option<Rc<Expr>>,
    ) -> R<Flow> {
        self.impure()?;
        if self.constant_mode > 0 {
            return refuse(body.at, "this is not known when the file is compiled");
        }
        let at = self.at;
        let narrow = self.narrow_counter.take();
        let mut assigned = BTreeSet::new();
        let mut collect = |one: &Expr| {
            if let Kind::Assign(target, _) | Kind::AssignOp(_, target, _) = &one.kind {
                assigned.extend(walk::root(target));
            }
        };
        walk::each(body, &mut collect);
        if let Some(condition) = condition {
            walk::each(condition, &mut collect);
        }
        if let Some(between) = &between {
            walk::each(between, &mut collect);
        }
        // What is written through an address is not seen in the body.
        assigned.extend(&self.check.out.addressed);
        if let Some((counter, step)) = &counter {
            assigned.insert(*counter);
            if let Step::Times { left, .. } = step {
                assigned.insert(*left);
            }
        }
        let phis = self.phis(&assigned)?;
        let (header, exit) = (self.label(), self.label());
        self.pending.clear();
        let changes = changes_memory(body)
            || condition.is_some_and(changes_memory)
            || between.as_deref().is_some_and(changes_memory);
        if changes {
            self.known.clear();
        }
        self.line(format!("{header}:"))?;
        self.memo.push(HashMap::new());
        // Without an end that is reached, what follows is not.
        let mut ends = false;
        match (condition, &bound) {
            (Some(condition), _) => {
                let Some(value) = self.expr(condition)? else {
                    return refuse(condition.at, "a condition has a value");
                };
                let value = self.one(&value, condition.at)?;
                if value != Operand::Const(1) {
                    ends = true;
                    self.at = condition.at;
                    let value = self.predicate(value)?;
                    self.line(format!("@!{value} bra \t{exit};"))?;
                }
            }
            (None, Some((pattern, last, int, is_reversed))) => {
                ends = true;
                let Some((counter, step)) = &counter else {
                    return refuse(at, "a loop over a range has a counter");
                };
                let value = self.env[counter].clone();
                let x = self.one(&value, at)?;
                let goes_on = match step {
                    Step::Times { left, .. } => {
                        let left = self.env[left].clone();
                        let left = self.one(&left, at)?;
                        self.compare_ints(Op::Ne, Int::USIZE, left, Operand::Const(0))?
                    }
                    // Downwards the bound is the start.
                    _ if *is_reversed => self.compare_ints(Op::Gt, *int, x, *last)?,
                    _ => self.compare_ints(Op::Lt, *int, x, *last)?,
                };
                let goes_on = self.predicate(goes_on)?;
                self.line(format!("@!{goes_on} bra \t{exit};"))?;
                let mut x = x;
                if *is_reversed {
                    x = self.ints(Op::Sub, *int, x, Operand::Const(1))?;
                    let lowered = Value::One(class(&Type::Int(*int)), x);
                    self.env.insert(*counter, lowered);
                }
                let shown = match narrow {
                    Some(narrow) => (self.cast_int(*int, narrow, x)?, narrow),
                    None => (x, *int),
                };
                let value = Value::One(class(&Type::Int(shown.1)), shown.0);
                self.bind_pattern(pattern, value)?;
            }
            (None, None) => {}
        }
        let known = self.known.clone();
        self.loops.push(OpenLoop {
            id,
            header: header.clone(),
            exit: exit.clone(),
            phis: phis.clone(),
            counter,
            step: between,
            is_left: false,
        });
        let flow = self.expr(body)?;
        self.at = at;
        if flow.is_some() {
            self.leave(id, false)?;
        }
        let was_left = self.loops.pop().is_some_and(|one| one.is_left);
        self.memo.pop();
        self.line(format!("{exit}:"))?;
        self.pending.clear();
        for (one, phi) in phis {
            self.env.insert(one, phi);
        }
        if was_left || changes {
            self.known.clear();
        } else {
            self.known = known;
        }
        Ok((ends || was_left).then_some(Value::Unit))
    }

    /// New registers for locals that are changed, set to what they are before.
    pub(super) fn phis(&mut self, changed: &BTreeSet<LocalId>) -> R<BTreeMap<LocalId, Value>> {
        let mut phis = BTreeMap::new();
        for one in changed {
            let before = match self.env.get(one) {
                None | Some(Value::InMemory(_)) => continue,
                Some(before) => before.clone(),
            };
            let phi = self.phi(&before)?;
            phis.insert(*one, phi.clone());
            self.env.insert(*one, phi);
        }
        Ok(phis)
    }

    /// New registers for a value, which a loop changes, set to what it is before.
    fn phi(&mut self, before: &Value) -> R<Value> {
        Ok(match before {
            Value::One(class, _) => {
                let made = self.fresh(*class);
                self.set(made, before)?;
                Value::One(*class, Operand::Reg(made))
            }
            Value::All(all) => Value::All(all.iter().map(|one| self.phi(one)).collect::<R<_>>()?),
            Value::Pointer(pointer) => {
                let made = self.fresh(Class::B64);
                self.set(made, before)?;
                Value::Pointer(Pointer { base: Some(made), offset: 0, ..*pointer })
            }
            other => other.clone(),
        })
    }

    /// Goes to the end of a loop or to its next turn.
    fn leave(&mut self, id: usize, is_break: bool) -> R<()> {
        self.impure()?;
        let Some(index) = self.loops.iter().position(|one| one.id == id) else {
            return refuse(self.at, "this loop is not left from here");
        };
        if !is_break && let Some((counter, step)) = self.loops[index].counter.as_ref() {
            let (counter, step) = (*counter, step.clone());
            let value = self.env[&counter].clone();
            let x = self.one(&value, self.at)?;
            match step {
                Step::Add(class, by, Type::Int(int)) => {
                    let next = self.ints(Op::Add, int, x, Operand::Const(by))?;
                    self.env.insert(counter, Value::One(class, next));
                }
                Step::Times { by, of: of @ Type::Int(_), left } => {
                    let next = self.binary(Op::Add, &of, &value, &by, &of, self.at)?;
                    self.env.insert(counter, next);
                    let before = self.env[&left].clone();
                    let before = self.one(&before, self.at)?;
                    let less = self.ints(Op::Sub, Int::USIZE, before, Operand::Const(1))?;
                    self.env.insert(left, Value::One(Class::B64, less));
                }
                _ => {}
            }
        }
        if !is_break && let Some(step) = self.loops[index].step.clone() {
            // A `break` of it goes to the end.
            if self.expr(&step)?.is_none() {
                return Ok(());
            }
        }
        let phis = self.loops[index].phis.clone();
        self.join(&phis)?;
        let open = &mut self.loops[index];
        open.is_left |= is_break;
        let label = if is_break { open.exit.clone() } else { open.header.clone() };
        self.line(format!("bra.uni \t{label};"))
    }

    /// Sets registers that join the values of locals to what these are now.
    pub(super) fn join(&mut self, phis: &BTreeMap<LocalId, Value>) -> R<()> {
        let mut moves = Vec::new();
        for (one, phi) in phis {
            let now = self.env[one].clone();
            self.collect_moves(phi, &now, &mut moves)?;
        }
        moves.retain(|(class, target, source)| *source != reg(*class, *target));
        // All at once: what is read is put aside before it is overwritten.
        let targets: Vec<String> =
            moves.iter().map(|(class, target, _)| reg(*class, *target)).collect();
        let mut aside = Vec::new();
        for (class, _, source) in &mut moves {
            if targets.contains(source) {
                let made = self.fresh(*class);
                aside.push(format!("{} \t{}, {source};", mov(*class), reg(*class, made)));
                *source = reg(*class, made);
            }
        }
        for text in aside {
            self.line(text)?;
        }
        for (class, target, source) in moves {
            self.line(format!("{} \t{}, {source};", mov(class), reg(class, target)))?;
        }
        Ok(())
    }

    fn collect_moves(
        &mut self,
        phi: &Value,
        now: &Value,
        moves: &mut Vec<(Class, u32, String)>,
    ) -> R<()> {
        match (phi, now) {
            (Value::One(class, Operand::Reg(target)), Value::One(_, source)) => {
                moves.push((*class, *target, self.show(*class, *source)));
                Ok(())
            }
            (Value::All(all), Value::All(now)) => {
                all.iter().zip(now).try_for_each(|(one, now)| self.collect_moves(one, now, moves))
            }
            (Value::Pointer(phi), Value::Pointer(now)) => {
                if phi.space != now.space {
                    return refuse(
                        self.at,
                        "a pointer that changes its kind of memory in a loop is not read here",
                    );
                }
                let source = self.address(now, now.space)?;
                let Some(target) = phi.base else { return Ok(()) };
                moves.push((Class::B64, target, reg(Class::B64, source)));
                Ok(())
            }
            (phi, now) if phi == now => Ok(()),
            _ => refuse(self.at, "the address of another variable in each turn is not read here"),
        }
    }

    // The library.

    fn library(
        &mut self,
        name: &'static str,
        of: &Type,
        arguments: &[Expr],
        values: Vec<Value>,
        at: Place,
    ) -> R<Value> {
        if name.starts_with('%') {
            let made = self.op(Class::B32, "mov.u32", &[name.to_owned()])?;
            if name == "%laneid" {
                self.most.insert(made, 31);
            }
            return Ok(Value::One(Class::B32, Operand::Reg(made)));
        }
        if name.ends_with(';') {
            self.act(name.to_owned())?;
            self.barrier();
            return Ok(Value::Unit);
        }
        let pointer = |index: usize| match values.get(index) {
            Some(Value::Pointer(pointer)) => Ok(*pointer),
            _ => refuse(at, "a pointer is wanted here"),
        };
        match name {
            "uninit" => return refuse(at, "uninitialized memory is read here only as a static"),
            "index_1d" => {
                let mut special = |name: &str| -> R<Value> {
                    let made = self.op(Class::B32, "mov.u32", &[name.to_owned()])?;
                    Ok(Value::One(Class::B32, Operand::Reg(made)))
                };
                let (block, size, thread) =
                    (special("%ctaid.x")?, special("%ntid.x")?, special("%tid.x")?);
                let u32 = Type::U32;
                let first = self.binary(Op::Mul, &u32, &block, &size, &u32, at)?;
                return self.binary(Op::Add, &u32, &first, &thread, &u32, at);
            }
            "activemask" => {
                let made = self.fresh(Class::B32);
                self.act(format!("activemask.b32 \t{};", reg(Class::B32, made)))?;
                return Ok(Value::One(Class::B32, Operand::Reg(made)));
            }
            "pointer" | "aggregate" => {
                let mut values = values;
                return Ok(if name == "aggregate" {
                    Value::All(values)
                } else {
                    values.swap_remove(0)
                });
            }
            "splat" => {
                let Type::Vector(vector) = of else { return refuse(at, "a vector is wanted here") };
                return Ok(Value::All(vec![values[0].clone(); vector.lanes]));
            }
            "map" => {
                let (Value::All(all), Value::Closure(index)) = (&values[0], &values[1]) else {
                    return refuse(at, "a vector and a closure are wanted here");
                };
                let (all, index) = (all.clone(), *index);
                let mut mapped = Vec::new();
                for one in all {
                    match self.call_closure(index, vec![one], at)? {
                        Some(value) => mapped.push(value),
                        None => return refuse(at, "this closure never gives a value"),
                    }
                }
                return Ok(Value::All(mapped));
            }
            "pointer.add" | "pointer.sub" => {
                let to = match of {
                    Type::Pointer(_, to) => to.layout().0,
                    _ => return refuse(at, "a pointer is wanted here"),
                };
                if to == 0 {
                    return refuse(at, "the size of what this points to is not known here");
                }
                let mut by = self.one(&values[1], at)?;
                if name == "pointer.sub" {
                    by = self.ints(Op::Sub, Int::USIZE, Operand::Const(0), by)?;
                }
                if let Value::Ref(id, path) = &values[0] {
                    return self.moved_ref(*id, path, by, at);
                }
                let pointer = pointer(0)?;
                return Ok(Value::Pointer(self.moved(&pointer, by, to)?));
            }
            "assert" => {
                let holds = self.one(&values[0], at)?;
                let fails = self.not(holds)?;
                self.trap_if(fails)?;
                return Ok(Value::Unit);
            }
            "slice.at" => {
                let (Value::All(parts), Type::Pointer(_, to)) = (&values[0], of) else {
                    return refuse(at, "a slice is wanted here");
                };
                let (first, length) = (parts[0].clone(), self.one(&parts[1], at)?);
                let index = self.one(&values[1], at)?;
                let is_inside = matches!(
                    (self.largest(index), length),
                    (Some(most), Operand::Const(length)) if most < length
                );
                if !is_inside {
                    let outside = self.compare_ints(Op::Ge, Int::USIZE, index, length)?;
                    self.trap_if(outside)?;
                    if outside == Operand::Const(1) {
                        return refuse(at, "this index is outside of its slice");
                    }
                }
                return match first {
                    Value::Ref(id, path) => self.moved_ref(id, &path, index, at),
                    Value::Pointer(first) => {
                        Ok(Value::Pointer(self.moved(&first, index, to.layout().0)?))
                    }
                    _ => refuse(at, "a slice is wanted here"),
                };
            }
            "read" => return self.load(&pointer(0)?, of, at),
            "write" => {
                let of = self.of(&arguments[1]);
                self.store(&pointer(0)?, &of, &values[1], at)?;
                return Ok(Value::Unit);
            }
            "read_volatile" => {
                self.pending.clear();
                return self.loaded(&pointer(0)?, of, "ld.volatile", "", at);
            }
            "write_volatile" => {
                let (of, place) = (self.of(&arguments[1]), pointer(0)?);
                self.stored(&place, &of, &values[1], "st.volatile", at)?;
                let (bytes, _) = of.layout();
                self.known.retain(|(other, kind, _)| {
                    super::memory::apart(other, kind.layout().0, &place, bytes)
                });
                self.pending.clear();
                return Ok(Value::Unit);
            }
            "load_nc" => {
                self.barrier();
                return self.loaded(&pointer(0)?, of, "ld", ".nc", at);
            }
            "vector.load" => return self.load(&pointer(0)?, of, at),
            "vector.store" => {
                let of = self.of(&arguments[1]);
                self.store(&pointer(0)?, &of, &values[1], at)?;
                return Ok(Value::Unit);
            }
            "transmute" => return self.transmute(of, &values[0], &arguments[0], at),
            _ => {}
        }
        if let Some(name) = name.strip_prefix("cp.async.") {
            let (target, source) = (pointer(0)?, pointer(1)?);
            if target.space != Space::Shared || source.space != Space::Global {
                return refuse(at, "an asynchronous copy goes from global to shared memory");
            }
            let (target, source) = (self.bracket(&target)?, self.bracket(&source)?);
            self.act(format!("cp.async.ca.shared.global {target}, {source}, {name};"))?;
            self.barrier();
            return Ok(Value::Unit);
        }
        if let Some(name) = name.strip_prefix("atom.") {
            return self.atomic(name, of, &pointer(0)?, &self.of(&arguments[0]), &values, at);
        }
        if name.starts_with("bar.") || name.starts_with("vote.") || name.starts_with("shfl.") {
            return self.of_warps(name, &values, at);
        }
        let kind = arguments.first().map_or(Type::Unit, |one| self.of(one));
        let mut operands = Vec::new();
        for one in &values {
            operands.push(self.one(one, at)?);
        }
        match self.of_numbers(name, &kind, &operands, at)? {
            Some(value) => Ok(value),
            None => refuse(at, "this method is not read here for this type"),
        }
    }

    /// Bits as a value of another type.
    fn transmute(&mut self, to: &Type, value: &Value, from: &Expr, at: Place) -> R<Value> {
        let is_number = |of: &Type| matches!(of, Type::Int(_) | Type::F32 | Type::F64);
        let from = self.of(from);
        if !is_number(&from)
            || !is_number(to)
            || from.layout() != to.layout()
            || from.layout().0 < 4
        {
            return refuse(
                at,
                format!("`{}` as the bits of `{}` is not read here", from.show(), to.show()),
            );
        }
        Ok(value.clone())
    }

    fn atomic(
        &mut self,
        name: &str,
        of: &Type,
        pointer: &Pointer,
        atomic: &Type,
        values: &[Value],
        at: Place,
    ) -> R<Value> {
        let Type::Atomic(is_block, scalar) = atomic else {
            return refuse(at, "an atomic is wanted here");
        };
        let element = Type::of(*scalar);
        let int = match scalar {
            Scalar::Int(int) => *int,
            _ => Int { bits: 8 * element.layout().0 as u32, signed: false, of_address: false },
        };
        let scope = if *is_block { "cta" } else { "gpu" };
        let (space, place) = (super::memory::space(pointer.space), self.bracket(pointer)?);
        if !matches!(pointer.space, Space::Global | Space::Shared | Space::Generic) {
            return refuse(at, "an atomic is in global or in shared memory");
        }
        let (bits, class) = (int.bits, class(&Type::Int(int)));
        let value = match values.get(1) {
            Some(Value::One(Class::B32 | Class::B64, operand)) if name != "load" => Some(*operand),
            _ => None,
        };
        let value = match (name, value) {
            ("sub", Some(value)) => Some(self.ints(Op::Sub, int, Operand::Const(0), value)?),
            (_, value) => value,
        };
        // A number is in a register, as in `cuda_std`: a constant would be combined by the lanes of a warp.
        let shown = match value {
            // nvcc writes it as it is.
            Some(value @ Operand::Const(_)) if self.check.out.is_c => {
                if matches!(scalar, Scalar::Int(_)) {
                    self.show(class, value)
                } else {
                    self.show_float(&element, value)
                }
            }
            Some(value @ Operand::Const(_)) => {
                let constant = self.show(class, value);
                reg(class, self.op(class, mov(class), &[constant])?)
            }
            Some(value) => self.show(class, value),
            None => String::new(),
        };
        match name {
            "store" => self.act(format!("st.relaxed.{scope}{space}.b{bits} {place}, {shown};"))?,
            "load" => {
                let made = self.fresh(class);
                self.act(format!(
                    "ld.relaxed.{scope}{space}.b{bits} {}, {place};",
                    reg(class, made)
                ))?;
                self.barrier();
                return Ok(Value::One(class, Operand::Reg(made)));
            }
            _ => {
                let (name, kind) = match name {
                    "add" if !matches!(scalar, Scalar::Int(_)) => ("add", format!("f{bits}")),
                    "add" | "sub" => ("add", format!("u{bits}")),
                    "inc" | "dec" => (name, "u32".to_owned()),
                    "min" | "max" => {
                        (name, format!("{}{bits}", if int.signed { "s" } else { "u" }))
                    }
                    _ => (name, format!("b{bits}")),
                };
                let made = self.fresh(class);
                // What is stored where the first value was found.
                let second = match (name, values.get(2)) {
                    ("cas", Some(Value::One(_, second))) => {
                        format!(", {}", self.show(class, *second))
                    }
                    _ => String::new(),
                };
                let text = format!(
                    "atom.relaxed.{scope}{space}.{name}.{kind} {}, {place}, {shown}{second};",
                    reg(class, made)
                );
                self.act(text)?;
                self.barrier();
                return Ok(Value::One(class, Operand::Reg(made)));
            }
        }
        let _ = of;
        self.barrier();
        Ok(Value::Unit)
    }

    /// The address of a part of a local so many elements further on.
    fn moved_ref(&mut self, id: LocalId, path: &[usize], by: Operand, at: Place) -> R<Value> {
        let mut path = path.to_vec();
        match (path.last_mut(), by) {
            (_, Operand::Const(0)) => {}
            (Some(last), Operand::Const(by)) => {
                let by = by.cast_signed();
                match usize::try_from(*last as i64 + by) {
                    Ok(moved) => *last = moved,
                    Err(_) => return refuse(at, "this address is before its array"),
                }
            }
            _ if self.fits_memory(id) => return Err(Stop::Restart(id)),
            _ => return refuse(at, "this address is not known here"),
        }
        Ok(Value::Ref(id, path))
    }

    /// Barriers with a result, votes and shuffles.
    fn of_warps(&mut self, name: &str, values: &[Value], at: Place) -> R<Value> {
        let first = self.one(&values[0], at)?;
        if name == "bar.warp" {
            let mask = self.show(Class::B32, first);
            self.act(format!("bar.warp.sync \t{mask};"))?;
            self.barrier();
            return Ok(Value::Unit);
        }
        if let Some(kind) = name.strip_prefix("bar.") {
            let holds = self.compare_ints(Op::Ne, Int::U32, first, Operand::Const(0))?;
            let holds = self.predicate(holds)?;
            let value = if kind == "popc" {
                let made = self.fresh(Class::B32);
                self.act(format!("bar.red.popc.u32 \t{}, 0, {holds};", reg(Class::B32, made)))?;
                Value::One(Class::B32, Operand::Reg(made))
            } else {
                let made = self.fresh(Class::Pred);
                self.act(format!("bar.red.{kind}.pred \t{}, 0, {holds};", reg(Class::Pred, made)))?;
                let made = Value::One(Class::Pred, Operand::Reg(made));
                self.cast(&Type::Bool, &Type::U32, made, at)?
            };
            self.barrier();
            return Ok(value);
        }
        let mask = self.show(Class::B32, first);
        if let Some(kind) = name.strip_prefix("vote.") {
            let holds = self.one(&values[1], at)?;
            let holds = self.predicate(holds)?;
            let class = if kind == "ballot" { Class::B32 } else { Class::Pred };
            let made = self.fresh(class);
            let kind =
                if kind == "ballot" { "ballot.b32".to_owned() } else { format!("{kind}.pred") };
            self.act(format!("vote.sync.{kind} \t{}, {holds}, {mask};", reg(class, made)))?;
            return Ok(Value::One(class, Operand::Reg(made)));
        }
        let kind = name.trim_start_matches("shfl.");
        let (value, lane) = (self.one(&values[1], at)?, self.one(&values[2], at)?);
        let Operand::Const(width @ (1 | 2 | 4 | 8 | 16 | 32)) = self.one(&values[3], at)? else {
            return refuse(at, "the width of a shuffle is a known power of two up to 32 here");
        };
        let clamp = (32 - width) << 8 | if kind == "up" { 0 } else { 31 };
        let (value, lane) = (self.show(Class::B32, value), self.show(Class::B32, lane));
        let (made, is_valid) = (self.fresh(Class::B32), self.fresh(Class::Pred));
        let targets = format!("{}|{}", reg(Class::B32, made), reg(Class::Pred, is_valid));
        self.act(format!("shfl.sync.{kind}.b32 \t{targets}, {value}, {lane}, {clamp}, {mask};"))?;
        Ok(Value::All(vec![
            Value::One(Class::B32, Operand::Reg(made)),
            Value::One(Class::Pred, Operand::Reg(is_valid)),
        ]))
    }
}

/// Zeros of a type.
fn zero(of: &Type) -> Option<Value> {
    Some(match of {
        Type::Int(_) | Type::F32 | Type::F64 | Type::Bool => {
            Value::One(class(of), Operand::Const(0))
        }
        Type::Array(element, length) => Value::All(vec![zero(element)?; *length]),
        Type::Vector(vector) => Value::All(vec![zero(&Type::of(vector.element))?; vector.lanes]),
        _ => return None,
    })
}

fn mov(class: Class) -> &'static str {
    match class {
        Class::Pred => "mov.pred",
        Class::B32 => "mov.b32",
        Class::B64 => "mov.b64",
    }
}

/// Returns whether a `break` or a `continue` of a loop is in its body.
fn is_left(body: &Expr, id: usize) -> bool {
    let mut found = false;
    walk::each(body, &mut |one| {
        found |= matches!(one.kind, Kind::Break(target) | Kind::Continue(target) if target == id);
    });
    found
}

fn size(body: &Expr) -> usize {
    let mut size = 0;
    walk::each(body, &mut |_| size += 1);
    size
}

/// Returns whether something may write memory or wait for others.
fn changes_memory(body: &Expr) -> bool {
    let mut found = false;
    walk::each(body, &mut |one| {
        found |= match &one.kind {
            Kind::Assign(target, _) | Kind::AssignOp(_, target, _) => {
                walk::root(target).is_none() || matches!(target.kind, Kind::Index(..))
            }
            Kind::Library(name, _) => {
                name.ends_with(';')
                    || [
                        "bar.",
                        "atom.",
                        "cp.",
                        "write",
                        "vector.store",
                        "load_nc",
                        "vote.",
                        "shfl.",
                    ]
                    .iter()
                    .any(|one| name.starts_with(one))
            }
            Kind::Call(..) => true,
            _ => false,
        };
    });
    found
}
