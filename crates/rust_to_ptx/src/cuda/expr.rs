//! Expressions of CUDA C++, with C's conversions.

use super::token::Kind as Word;
use super::{Name, Number, Parser, int, zero};
use crate::tree::{Expr, Int, Kind, LocalId, Op, Pattern, Place, Result, Statement, Type, refuse};
use crate::walk;

/// Expressions inside of each other beyond which one is refused: what lowers them recurses.
const MAX_DEPTH: usize = 100;
/// Operators between two values, the weakest first.
const BINARY: &[(&str, u8, Op)] = &[
    ("||", 1, Op::Or),
    ("&&", 2, Op::And),
    ("|", 3, Op::Or),
    ("^", 4, Op::Xor),
    ("&", 5, Op::And),
    ("==", 6, Op::Eq),
    ("!=", 6, Op::Ne),
    ("<", 7, Op::Lt),
    (">", 7, Op::Gt),
    ("<=", 7, Op::Le),
    (">=", 7, Op::Ge),
    ("<<", 8, Op::Shl),
    (">>", 8, Op::Shr),
    ("+", 9, Op::Add),
    ("-", 9, Op::Sub),
    ("*", 10, Op::Mul),
    ("/", 10, Op::Div),
    ("%", 10, Op::Rem),
];
const ASSIGNING: &[(&str, Op)] = &[
    ("+=", Op::Add),
    ("-=", Op::Sub),
    ("*=", Op::Mul),
    ("/=", Op::Div),
    ("%=", Op::Rem),
    ("&=", Op::And),
    ("|=", Op::Or),
    ("^=", Op::Xor),
    ("<<=", Op::Shl),
    (">>=", Op::Shr),
];

pub fn made(kind: Kind, of: Type, at: Place) -> Expr {
    Expr { kind, of, at }
}

pub fn library(name: &'static str, all: Vec<Expr>, of: Type, at: Place) -> Expr {
    made(Kind::Library(name, all), of, at)
}

/// A type as C++ writes it.
pub fn show(of: &Type) -> String {
    match of {
        Type::Int(Int { bits, signed, .. }) => {
            let name = match bits {
                8 if *signed => return "char".to_owned(),
                8 => "char",
                16 => "short",
                32 => "int",
                _ => "long",
            };
            if *signed { name.to_owned() } else { format!("unsigned {name}") }
        }
        Type::F32 => "float".to_owned(),
        Type::F64 => "double".to_owned(),
        Type::Unit => "void".to_owned(),
        Type::Array(element, length) => format!("{}[{length}]", show(element)),
        Type::Pointer(true, to) => format!("{} *", show(to)),
        Type::Pointer(false, to) => format!("const {} *", show(to)),
        Type::Volatile(of) => format!("volatile {}", show(of)),
        other => other.show(),
    }
}

fn is_number(of: &Type) -> bool {
    matches!(of, Type::Int(_) | Type::F32 | Type::F64 | Type::Bool)
}

/// The type that a number has in an expression: small ones become `int`.
fn promoted(of: &Type) -> Type {
    match of {
        Type::Bool => int(32, true),
        Type::Int(one) if one.bits < 32 => int(32, true),
        other => other.clone(),
    }
}

/// The type of two numbers in one expression.
pub fn common(a: &Type, b: &Type) -> Type {
    match (promoted(a), promoted(b)) {
        (Type::F64, _) | (_, Type::F64) => Type::F64,
        (Type::F32, _) | (_, Type::F32) => Type::F32,
        (Type::Int(a), Type::Int(b)) => {
            let bits = a.bits.max(b.bits);
            let is_unsigned = [a, b].iter().any(|one| one.bits == bits && !one.signed);
            int(bits, !is_unsigned)
        }
        (a, _) => a,
    }
}

impl Parser {
    /// An expression, perhaps several with commas between them; `used` where its value is.
    pub fn expr(&mut self, used: bool) -> Result<Expr> {
        let at = self.at();
        let mut last = self.assignment(used)?;
        let mut all = Vec::new();
        while self.takes(",") {
            all.push(Statement::Expr(last));
            last = self.assignment(used)?;
        }
        if all.is_empty() {
            return Ok(last);
        }
        let of = last.of.clone();
        Ok(made(Kind::Block(all, Some(Box::new(last))), of, at))
    }

    /// An expression as a condition.
    pub fn condition(&mut self) -> Result<Expr> {
        let value = self.expr(true)?;
        self.truth(value)
    }

    pub fn assignment(&mut self, used: bool) -> Result<Expr> {
        let at = self.at();
        let made = self.nested(|parser| parser.assignment_inside(used))?;
        if walk::depth(&made) > MAX_DEPTH {
            return refuse(
                at,
                "this expression is too long here: put a part of it into a variable",
            );
        }
        Ok(made)
    }

    fn assignment_inside(&mut self, used: bool) -> Result<Expr> {
        let at = self.at();
        let target = self.ternary_or_step(used)?;
        if self.takes("=") {
            let value = self.assignment(true)?;
            return self.assign(target, value, used, at);
        }
        let Word::Sign(sign) = *self.kind() else { return Ok(target) };
        let Some((_, op)) = ASSIGNING.iter().find(|(one, _)| *one == sign) else {
            return Ok(target);
        };
        self.advance();
        let value = self.assignment(true)?;
        self.assign_op(*op, target, value, used, at)
    }

    /// A conditional expression, without assignments.
    pub fn ternary(&mut self) -> Result<Expr> {
        self.ternary_or_step(true)
    }

    fn ternary_or_step(&mut self, used: bool) -> Result<Expr> {
        let at = self.at();
        let condition = self.binary(1, used)?;
        if !self.takes("?") {
            return Ok(condition);
        }
        let condition = self.truth(condition)?;
        let then = self.expr(true)?;
        let then = self.value(then)?;
        self.expect(":")?;
        let other = self.assignment(true)?;
        let other = self.value(other)?;
        let of = if is_number(&then.of) && is_number(&other.of) {
            if then.of == other.of { then.of.clone() } else { common(&then.of, &other.of) }
        } else if let (Type::Pointer(false, _), Type::Pointer(..)) = (&other.of, &then.of) {
            other.of.clone()
        } else {
            then.of.clone()
        };
        let (then, other) = (self.convert(then, &of)?, self.convert(other, &of)?);
        let kind = Kind::If(Box::new(condition), Box::new(then), Some(Box::new(other)));
        Ok(made(kind, of, at))
    }

    fn binary(&mut self, least: u8, used: bool) -> Result<Expr> {
        let at = self.at();
        let mut left = self.unary(used)?;
        loop {
            let Word::Sign(sign) = *self.kind() else { return Ok(left) };
            let Some((_, level, op)) = BINARY.iter().find(|(one, ..)| *one == sign) else {
                return Ok(left);
            };
            if *level < least {
                return Ok(left);
            }
            self.advance();
            let right = self.binary(level + 1, true)?;
            left = match sign {
                "&&" | "||" => {
                    let (a, b) = (Box::new(self.truth(left)?), Box::new(self.truth(right)?));
                    let kind = if sign == "&&" { Kind::AndAlso(a, b) } else { Kind::OrElse(a, b) };
                    made(kind, Type::Bool, at)
                }
                _ => self.combined(*op, left, right, at)?,
            };
        }
    }

    /// Two values and an operator.
    fn combined(&mut self, op: Op, a: Expr, b: Expr, at: Place) -> Result<Expr> {
        let (a, b) = (self.value(a)?, self.value(b)?);
        match (op, &a.of, &b.of) {
            (Op::Add | Op::Sub, Type::Pointer(..), Type::Int(_)) => {
                return self.moved(a, b, op == Op::Sub, at);
            }
            (Op::Add, Type::Int(_), Type::Pointer(..)) => return self.moved(b, a, false, at),
            (_, Type::Pointer(..), _) | (_, _, Type::Pointer(..)) => {
                return refuse(
                    at,
                    "pointers are not compared or subtracted here: compute with the index instead",
                );
            }
            _ => {}
        }
        if !is_number(&a.of) || !is_number(&b.of) {
            let of = if is_number(&a.of) { &b.of } else { &a.of };
            return refuse(
                at,
                format!("this operator on `{}` is not read here: take its parts", show(of)),
            );
        }
        if let (Op::Shl | Op::Shr, Type::Int(_) | Type::Bool, Type::Int(_) | Type::Bool) =
            (op, &a.of, &b.of)
        {
            let of = promoted(&a.of);
            let (a, b) = (self.convert(a, &of)?, self.convert(b, &int(32, false))?);
            return Ok(made(Kind::Binary(op, Box::new(a), Box::new(b)), of, at));
        }
        // Of two `bool` these are the same as of the numbers that they become.
        let are_bools = a.of == Type::Bool && b.of == Type::Bool;
        if are_bools && matches!(op, Op::And | Op::Or | Op::Xor | Op::Eq | Op::Ne) {
            let made = made(Kind::Binary(op, Box::new(a), Box::new(b)), Type::Bool, at);
            return if op.compares() { Ok(made) } else { self.convert(made, &int(32, true)) };
        }
        let of = common(&a.of, &b.of);
        let needs_int = matches!(op, Op::Rem | Op::And | Op::Or | Op::Xor | Op::Shl | Op::Shr);
        if needs_int && !matches!(of, Type::Int(_)) {
            return refuse(
                at,
                format!("this operator takes whole numbers, and `{}` is found", show(&of)),
            );
        }
        let (a, b) = (self.convert(a, &of)?, self.convert(b, &of)?);
        let result = if op.compares() { Type::Bool } else { of };
        Ok(made(Kind::Binary(op, Box::new(a), Box::new(b)), result, at))
    }

    /// A pointer so many elements further on.
    pub fn moved(&mut self, pointer: Expr, by: Expr, backwards: bool, at: Place) -> Result<Expr> {
        let of = pointer.of.clone();
        if let Type::Pointer(_, to) = &of
            && **to == Type::Unit
        {
            return refuse(at, "a `void *` has no elements: cast it first");
        }
        let by = self.index(by)?;
        let name = if backwards { "pointer.sub" } else { "pointer.add" };
        Ok(library(name, vec![pointer, by], of, at))
    }

    /// A number as an index of 64 bits.
    fn index(&mut self, by: Expr) -> Result<Expr> {
        let by = self.value(by)?;
        match by.of.clone() {
            Type::Int(Int { signed, .. }) => self.convert(by, &int(64, signed)),
            Type::Bool => self.convert(by, &int(64, false)),
            other => refuse(
                by.at,
                format!("an index is a whole number, and `{}` is found", show(&other)),
            ),
        }
    }

    fn unary(&mut self, used: bool) -> Result<Expr> {
        let at = self.at();
        let sign = if let Word::Sign(sign) = *self.kind() { sign } else { "" };
        match sign {
            "+" | "-" | "!" | "~" | "*" | "&" => {
                self.advance();
                let value = self.nested(|parser| parser.unary(true))?;
                self.unary_of(sign, value, at)
            }
            "++" | "--" => {
                self.advance();
                let target = self.nested(|parser| parser.unary(true))?;
                let op = if sign == "++" { Op::Add } else { Op::Sub };
                let one = made(Kind::Int(1), int(32, true), at);
                self.assign_op(op, target, one, used, at)
            }
            "(" if self.is_type(1) => {
                self.advance();
                let to = self.type_name()?;
                self.expect(")")?;
                let value = self.nested(|parser| parser.unary(true))?;
                self.cast(value, &to, at)
            }
            _ => self.postfix(used),
        }
    }

    fn unary_of(&mut self, sign: &str, value: Expr, at: Place) -> Result<Expr> {
        match sign {
            "&" => self.address(value, at),
            "!" => {
                let value = self.truth(value)?;
                Ok(made(Kind::Not(Box::new(value)), Type::Bool, at))
            }
            "*" => {
                let value = self.value(value)?;
                self.deref(value, at)
            }
            _ => {
                let value = self.value(value)?;
                if !is_number(&value.of)
                    || sign == "~" && !matches!(promoted(&value.of), Type::Int(_))
                {
                    return refuse(
                        at,
                        format!("`{sign}` of `{}` is not read here", show(&value.of)),
                    );
                }
                let of = promoted(&value.of);
                let value = self.convert(value, &of)?;
                Ok(match (sign, &of) {
                    ("+", _) => value,
                    ("~", _) => made(Kind::Not(Box::new(value)), of, at),
                    (_, Type::Int(one)) if !one.signed => {
                        let kind = Kind::Binary(Op::Sub, Box::new(zero(&of, at)), Box::new(value));
                        made(kind, of, at)
                    }
                    _ => made(Kind::Neg(Box::new(value)), of, at),
                })
            }
        }
    }

    /// Returns the value that a pointer points to.
    pub fn deref(&mut self, pointer: Expr, at: Place) -> Result<Expr> {
        match pointer.of.clone() {
            Type::Pointer(_, to) if *to != Type::Unit => {
                Ok(made(Kind::Deref(Box::new(pointer)), *to, at))
            }
            other => refuse(at, format!("`{}` is no pointer to a value", show(&other))),
        }
    }

    /// The address of a place.
    pub fn address(&mut self, place: Expr, at: Place) -> Result<Expr> {
        let mutable = self.writable(&place).is_ok();
        let of = Type::Pointer(mutable, Box::new(place.of.clone()));
        match place.kind {
            Kind::Deref(pointer) => Ok(Expr { of, ..*pointer }),
            Kind::Local(_) | Kind::Static(_) | Kind::Index(..) | Kind::Field(..) => {
                if let Some(id) = walk::root(&place) {
                    self.out.addressed.insert(id);
                }
                Ok(made(Kind::AddressOf(Box::new(place)), of, at))
            }
            _ => refuse(at, "only a variable, or what a pointer points to, has an address"),
        }
    }

    /// A place as what a reference is bound to.
    pub fn reference(&mut self, place: Expr, pointer: &Type) -> Result<Expr> {
        let at = place.at;
        let address = self.address(place, at)?;
        self.convert(address, pointer)
    }

    fn postfix(&mut self, used: bool) -> Result<Expr> {
        let mut value = self.primary()?;
        loop {
            let at = value.at;
            if self.takes("[") {
                let by = self.nested(|parser| parser.expr(true))?;
                self.expect("]")?;
                value = self.element(value, by, at)?;
            } else if self.takes(".") {
                let name = self.name()?;
                let Type::Vector(vector) = &value.of else {
                    return refuse(at, format!("`{}` has no field `{name}`", show(&value.of)));
                };
                let index = ["x", "y", "z", "w"].iter().position(|one| *one == name);
                let Some(index) = index.filter(|index| *index < vector.lanes) else {
                    return refuse(at, format!("this vector has no field `{name}`"));
                };
                // nvcc may join accesses of neighbouring fields into one, or not.
                if walk::root(&value).is_none()
                    && !matches!(value.kind, Kind::Library(..) | Kind::Call(..))
                {
                    return refuse(
                        at,
                        "a field of a vector in memory is not read here: take the whole vector, such as `float4 four = ..`",
                    );
                }
                let of = Type::of(vector.element);
                value = made(Kind::Field(Box::new(value), index), of, at);
            } else if self.is_sign("->") {
                return refuse(self.at(), "`->` is not read here: write `(*pointer).x`");
            } else if self.is_sign("++") || self.is_sign("--") {
                let op = if self.is_sign("++") { Op::Add } else { Op::Sub };
                self.advance();
                value = self.step_behind(op, value, used, at)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn element(&mut self, base: Expr, by: Expr, at: Place) -> Result<Expr> {
        if let Type::Array(element, _) = base.of.clone() {
            let by = self.index(by)?;
            return Ok(made(Kind::Index(Box::new(base), Box::new(by)), *element, at));
        }
        let base = self.value(base)?;
        if !matches!(base.of, Type::Pointer(..)) {
            return refuse(
                at,
                format!(
                    "`{}` has no elements: only arrays and pointers are indexed",
                    show(&base.of)
                ),
            );
        }
        let moved = self.moved(base, by, false, at)?;
        self.deref(moved, at)
    }

    fn primary(&mut self) -> Result<Expr> {
        let at = self.at();
        match self.kind().clone() {
            Word::Int(value, of) => {
                self.advance();
                Ok(made(Kind::Int(value), Type::Int(of), at))
            }
            Word::Float(long, short, of) => {
                self.advance();
                Ok(made(Kind::Float(long, short), of, at))
            }
            Word::Letter(code) => {
                self.advance();
                Ok(made(Kind::Int(code), int(8, true), at))
            }
            Word::Text => refuse(at, "a text is not read here"),
            Word::Sign("(") => {
                self.advance();
                let value = self.nested(|parser| parser.expr(true))?;
                self.expect(")")?;
                Ok(value)
            }
            Word::Word(word) => self.word(&word, at),
            _ => refuse(at, format!("a value is expected here, and {} is found", self.shown())),
        }
    }

    fn word(&mut self, word: &str, at: Place) -> Result<Expr> {
        if word == "std" && *self.ahead(1) == Word::Sign("::") {
            self.advance();
            self.advance();
            let name = self.name()?;
            return self.call(&name, at);
        }
        if self.is_type(0) {
            let to = self.type_name()?;
            self.expect("(")?;
            let value = self.nested(|parser| parser.expr(true))?;
            self.expect(")")?;
            return self.cast(value, &to, at);
        }
        self.advance();
        match word {
            "true" | "false" => return Ok(made(Kind::Bool(word == "true"), Type::Bool, at)),
            "warpSize" => return Ok(made(Kind::Int(32), int(32, true), at)),
            "nullptr" | "NULL" | "this" | "new" | "delete" => {
                return refuse(at, format!("`{word}` is not read here"));
            }
            "sizeof" => {
                self.expect("(")?;
                let of = if self.is_type(0) { self.type_name()? } else { self.expr(true)?.of };
                self.expect(")")?;
                return Ok(made(Kind::Int(of.layout().0), int(64, false), at));
            }
            "static_cast" | "reinterpret_cast" | "const_cast" => {
                self.expect("<")?;
                let to = self.type_name()?;
                self.expect(">")?;
                self.expect("(")?;
                let value = self.nested(|parser| parser.expr(true))?;
                self.expect(")")?;
                return self.cast(value, &to, at);
            }
            "threadIdx" | "blockIdx" | "blockDim" | "gridDim" if self.find(word).is_none() => {
                self.expect(".")?;
                let part = self.name()?;
                let register = match (word, part.as_str()) {
                    ("threadIdx", "x") => "%tid.x",
                    ("threadIdx", "y") => "%tid.y",
                    ("threadIdx", "z") => "%tid.z",
                    ("blockIdx", "x") => "%ctaid.x",
                    ("blockIdx", "y") => "%ctaid.y",
                    ("blockIdx", "z") => "%ctaid.z",
                    ("blockDim", "x") => "%ntid.x",
                    ("blockDim", "y") => "%ntid.y",
                    ("blockDim", "z") => "%ntid.z",
                    ("gridDim", "x") => "%nctaid.x",
                    ("gridDim", "y") => "%nctaid.y",
                    ("gridDim", "z") => "%nctaid.z",
                    _ => {
                        return refuse(
                            at,
                            format!("`{word}` has `x`, `y` and `z`, and no `{part}`"),
                        );
                    }
                };
                return Ok(library(register, Vec::new(), int(32, false), at));
            }
            _ => {}
        }
        if self.is_sign("(") {
            return self.call(word, at);
        }
        match self.captured(word, at)? {
            Some(Name::Local(id)) => Ok(made(Kind::Local(id), self.locals[id].of.clone(), at)),
            Some(Name::Reference(id)) => {
                let of = self.locals[id].of.clone();
                self.deref(made(Kind::Local(id), of, at), at)
            }
            Some(Name::Constant(number, of)) => Ok(literal(number, of, at)),
            Some(Name::Static(index)) => {
                let of = self.out.statics[index].of.clone();
                Ok(made(Kind::Static(index), of, at))
            }
            Some(Name::Function(_)) => refuse(at, format!("`{word}` is a function: call it")),
            None => refuse(at, format!("`{word}` is not known here")),
        }
    }

    pub fn find(&self, name: &str) -> Option<(usize, Name)> {
        let mut scopes = self.scopes.iter().enumerate().rev();
        scopes.find_map(|(scope, names)| names.get(name).map(|found| (scope, found.clone())))
    }

    /// A name, as a lambda around takes it.
    fn captured(&mut self, name: &str, at: Place) -> Result<Option<Name>> {
        let Some((scope, found)) = self.find(name) else { return Ok(None) };
        let (Name::Local(id) | Name::Reference(id)) = found else { return Ok(Some(found)) };
        let Some(lambda) = self.lambdas.last() else { return Ok(Some(found)) };
        if scope >= lambda.first_scope {
            return Ok(Some(found));
        }
        if lambda.by_reference {
            self.out.addressed.insert(id);
            return Ok(Some(found));
        }
        if !lambda.by_value {
            return refuse(
                at,
                format!("the lambda does not take `{name}`: begin it with `[=]` or `[&]`"),
            );
        }
        let first_scope = lambda.first_scope;
        let of = self.locals[id].of.clone();
        let copy = self.local(name, of, true);
        let name_of_copy =
            if matches!(found, Name::Local(_)) { Name::Local(copy) } else { Name::Reference(copy) };
        self.scopes[first_scope].insert(name.to_owned(), name_of_copy.clone());
        if let Some(lambda) = self.lambdas.last_mut() {
            lambda.copies.push((id, copy));
        }
        Ok(Some(name_of_copy))
    }

    /// The arguments of a call.
    pub fn arguments(&mut self) -> Result<Vec<Expr>> {
        self.expect("(")?;
        let mut all = Vec::new();
        while !self.takes(")") {
            if !all.is_empty() {
                self.expect(",")?;
            }
            all.push(self.assignment(true)?);
        }
        Ok(all)
    }

    fn call(&mut self, name: &str, at: Place) -> Result<Expr> {
        let Some((_, Name::Function(index))) = self.find(name) else {
            let arguments = self.arguments()?;
            return self.library(name, arguments, at);
        };
        if self.out.functions[index].is_kernel {
            return refuse(at, "a kernel is launched, not called");
        }
        let parameters: Vec<(LocalId, Type)> = self.out.functions[index].parameters.clone();
        let result = self.out.functions[index].result.clone();
        let arguments = self.arguments()?;
        if arguments.len() != parameters.len() {
            let (given, wanted) = (arguments.len(), parameters.len());
            return refuse(at, format!("`{name}` takes {wanted} values, and {given} are given"));
        }
        let mut all = Vec::new();
        for (one, (id, of)) in arguments.into_iter().zip(parameters) {
            all.push(if self.references.contains(&id) {
                self.reference(one, &of)?
            } else {
                self.convert(one, &of)?
            });
        }
        Ok(made(Kind::Call(index, all), result, at))
    }

    // Assignments.

    /// Refuses an assignment to what may not be written.
    fn writable(&self, target: &Expr) -> Result<()> {
        match &target.kind {
            Kind::Local(id) if self.locals[*id].is_const => {
                refuse(target.at, format!("`{}` is `const`", self.out.locals[*id]))
            }
            Kind::Local(_) => Ok(()),
            Kind::Static(index) if self.out.statics[*index].is_mutable => Ok(()),
            Kind::Static(index) => {
                refuse(target.at, format!("`{}` is constant", self.out.statics[*index].name))
            }
            Kind::Field(base, _) | Kind::Index(base, _) => self.writable(base),
            Kind::Deref(pointer) => match pointer.of {
                Type::Pointer(true, _) => Ok(()),
                _ => refuse(target.at, "nothing is written through a pointer to `const`"),
            },
            _ => refuse(target.at, "this cannot be assigned to"),
        }
    }

    fn assign(&mut self, target: Expr, value: Expr, used: bool, at: Place) -> Result<Expr> {
        self.writable(&target)?;
        let (of, is_volatile) = match &target.of {
            Type::Volatile(of) => ((**of).clone(), true),
            Type::Array(..) => {
                return refuse(at, "an array is not assigned to: write its elements");
            }
            other => (other.clone(), false),
        };
        let value = self.convert(value, &of)?;
        let write = |parser: &mut Self, value: Expr| {
            Ok(if is_volatile {
                let pointer = parser.address(target, at)?;
                library("write_volatile", vec![pointer, value], Type::Unit, at)
            } else {
                made(Kind::Assign(Box::new(target), Box::new(value)), Type::Unit, at)
            })
        };
        if !used {
            return write(self, value);
        }
        let id = self.local("", of.clone(), true);
        let read = |at| made(Kind::Local(id), of.clone(), at);
        let all = vec![
            Statement::Let(Pattern::Bind(id), Some(value)),
            Statement::Expr(write(self, read(at))?),
        ];
        Ok(made(Kind::Block(all, Some(Box::new(read(at)))), of, at))
    }

    fn assign_op(
        &mut self,
        op: Op,
        target: Expr,
        value: Expr,
        used: bool,
        at: Place,
    ) -> Result<Expr> {
        self.writable(&target)?;
        let value = self.value(value)?;
        let of = target.of.clone();
        let same = match &of {
            Type::Int(Int { bits: 32 | 64, .. }) if matches!(op, Op::Shl | Op::Shr) => {
                matches!(value.of, Type::Int(_))
            }
            Type::Int(_) | Type::F32 | Type::F64 => {
                is_number(&value.of) && common(&of, &value.of) == of
            }
            _ => false,
        };
        if same && !used {
            let wanted = if matches!(op, Op::Shl | Op::Shr) { int(32, false) } else { of };
            let value = self.convert(value, &wanted)?;
            let (target, value) = (Box::new(target), Box::new(value));
            let whole = matches!(wanted, Type::Int(_))
                || matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div);
            if !whole {
                return refuse(
                    at,
                    format!("this operator takes whole numbers, and `{}` is found", show(&wanted)),
                );
            }
            return Ok(made(Kind::AssignOp(op, target, value), Type::Unit, at));
        }
        self.needs_pure(&target)?;
        // The right side comes first, and the target is read behind it.
        let (of, id) = (value.of.clone(), self.local("", value.of.clone(), true));
        let first = Statement::Let(Pattern::Bind(id), Some(value));
        let after = self.combined(op, target.clone(), made(Kind::Local(id), of, at), at)?;
        let step = self.assign(target, after, used, at)?;
        let of = step.of.clone();
        let (all, result) = match used {
            true => (vec![first], Some(Box::new(step))),
            false => (vec![first, Statement::Expr(step)], None),
        };
        Ok(made(Kind::Block(all, result), of, at))
    }

    /// `x++` and `x--`: the value is that of before.
    fn step_behind(&mut self, op: Op, target: Expr, used: bool, at: Place) -> Result<Expr> {
        let one = made(Kind::Int(1), int(32, true), at);
        if !used {
            return self.assign_op(op, target, one, false, at);
        }
        self.needs_pure(&target)?;
        let before = self.value(target.clone())?;
        let of = before.of.clone();
        let id = self.local("", of.clone(), true);
        let read = || made(Kind::Local(id), of.clone(), at);
        let after = self.combined(op, read(), one, at)?;
        let step = self.assign(target, after, false, at)?;
        let all = vec![Statement::Let(Pattern::Bind(id), Some(before)), Statement::Expr(step)];
        Ok(made(Kind::Block(all, Some(Box::new(read()))), of, at))
    }

    /// Refuses a target that would be computed twice and does something each time.
    fn needs_pure(&self, target: &Expr) -> Result<()> {
        let mut is_pure = true;
        walk::each(target, &mut |one| {
            is_pure &= match &one.kind {
                Kind::Assign(..) | Kind::AssignOp(..) | Kind::Call(..) | Kind::Block(..) => false,
                Kind::Library(name, _) => {
                    name.starts_with('%')
                        || name.starts_with("pointer")
                        || ["min", "max"].contains(name)
                }
                _ => true,
            };
        });
        if is_pure {
            return Ok(());
        }
        refuse(
            target.at,
            "this is changed and does something itself: put its index into a variable first",
        )
    }

    // Conversions.

    /// An expression as a value: an array is a pointer to its first element, `volatile` memory is read.
    pub fn value(&mut self, one: Expr) -> Result<Expr> {
        let at = one.at;
        match one.of.clone() {
            Type::Array(element, _) => {
                let first = zero(&int(64, false), at);
                let place = made(Kind::Index(Box::new(one), Box::new(first)), *element, at);
                self.address(place, at)
            }
            Type::Volatile(of) => {
                let pointer = self.address(one, at)?;
                Ok(library("read_volatile", vec![pointer], *of, at))
            }
            Type::Unit => refuse(at, "this has no value"),
            _ => Ok(one),
        }
    }

    /// A value as `bool`.
    pub fn truth(&mut self, one: Expr) -> Result<Expr> {
        let one = self.value(one)?;
        let at = one.at;
        if let Some(number) = self.constant(&one) {
            return Ok(literal(wrapped(number, &Type::Bool), Type::Bool, at));
        }
        match (&one.of, one.kind) {
            (Type::Bool, kind) => Ok(made(kind, Type::Bool, at)),
            // A `bool` that became a number.
            (Type::Int(_), Kind::Cast(inner)) if inner.of == Type::Bool => Ok(*inner),
            (of @ (Type::Int(_) | Type::F32 | Type::F64), kind) => {
                let (of, zero) = (of.clone(), zero(of, at));
                let kind = Kind::Binary(Op::Ne, Box::new(made(kind, of, at)), Box::new(zero));
                Ok(made(kind, Type::Bool, at))
            }
            (other, _) => refuse(at, format!("`{}` is no condition here: compare it", show(other))),
        }
    }

    /// A value where one of a type is wanted.
    pub fn convert(&mut self, one: Expr, to: &Type) -> Result<Expr> {
        let one = self.value(one)?;
        let at = one.at;
        if one.of == *to {
            return Ok(one);
        }
        match (&one.of, to) {
            (_, Type::Bool) if is_number(&one.of) => self.truth(one),
            (Type::Bool, Type::F32 | Type::F64) => {
                let number = self.convert(one, &int(32, true))?;
                self.convert(number, to)
            }
            (from, to) if is_number(from) && is_number(to) => {
                // A number that is written has the type that it is wanted in.
                if let (Type::Int(_) | Type::F32 | Type::F64, Some(number)) =
                    (from, self.constant(&one))
                {
                    return Ok(literal(wrapped(number, to), to.clone(), at));
                }
                Ok(made(Kind::Cast(Box::new(one)), to.clone(), at))
            }
            (Type::Pointer(from_mutable, from), Type::Pointer(mutable, target)) => {
                let plain = |of: &Type| match of {
                    Type::Volatile(of) => (**of).clone(),
                    other => other.clone(),
                };
                let loses =
                    matches!(**from, Type::Volatile(_)) && !matches!(**target, Type::Volatile(_));
                let same = plain(from) == plain(target) || **target == Type::Unit;
                if !same || loses || *mutable && !from_mutable {
                    return refuse(
                        at,
                        format!(
                            "`{}` is wanted here, and `{}` is found: cast it",
                            show(to),
                            show(&one.of)
                        ),
                    );
                }
                Ok(made(Kind::Cast(Box::new(one)), to.clone(), at))
            }
            (from, to) => {
                refuse(at, format!("`{}` is wanted here, and `{}` is found", show(to), show(from)))
            }
        }
    }

    fn cast(&mut self, one: Expr, to: &Type, at: Place) -> Result<Expr> {
        if *to == Type::Unit {
            // `(void)x` drops a value.
            return Ok(made(Kind::Block(vec![Statement::Expr(one)], None), Type::Unit, at));
        }
        let one = self.value(one)?;
        if let (Type::Pointer(..), Type::Pointer(..)) = (&one.of, to) {
            return Ok(made(Kind::Cast(Box::new(one)), to.clone(), at));
        }
        if is_number(&one.of) && is_number(to) {
            return self.convert(one, to);
        }
        if one.of == *to {
            return Ok(one);
        }
        refuse(at, format!("`{}` as `{}` is not read here", show(&one.of), show(to)))
    }

    // Constants.

    /// The value of an expression, if it is known.
    pub fn constant(&self, one: &Expr) -> Option<Number> {
        let of = &one.of;
        let number = match &one.kind {
            Kind::Int(value) => Number::Int(i128::from(*value)),
            Kind::Bool(value) => Number::Int(i128::from(*value)),
            Kind::Float(long, short) => Number::Float(*long, *short),
            Kind::Cast(inner) => self.constant(inner)?,
            Kind::Neg(inner) => match self.constant(inner)? {
                Number::Int(value) => Number::Int(-value),
                Number::Float(long, short) => Number::Float(-long, -short),
            },
            Kind::Not(inner) => match (self.constant(inner)?, of) {
                (Number::Int(value), Type::Bool) => Number::Int(i128::from(value == 0)),
                (Number::Int(value), _) => Number::Int(!value),
                _ => return None,
            },
            Kind::Binary(op, a, b) => {
                let (Number::Int(a), Number::Int(b)) = (self.constant(a)?, self.constant(b)?)
                else {
                    return None;
                };
                let shift = || u32::try_from(b).ok().filter(|by| *by < 64);
                Number::Int(match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a.checked_mul(b)?,
                    Op::Div => a.checked_div(b)?,
                    Op::Rem => a.checked_rem(b)?,
                    Op::And => a & b,
                    Op::Or => a | b,
                    Op::Xor => a ^ b,
                    Op::Shl => a << shift()?,
                    Op::Shr => a >> shift()?,
                    Op::Eq => i128::from(a == b),
                    Op::Ne => i128::from(a != b),
                    Op::Lt => i128::from(a < b),
                    Op::Le => i128::from(a <= b),
                    Op::Gt => i128::from(a > b),
                    Op::Ge => i128::from(a >= b),
                })
            }
            Kind::If(condition, then, Some(other)) => match self.constant(condition)? {
                Number::Int(0) => self.constant(other)?,
                _ => self.constant(then)?,
            },
            _ => return None,
        };
        is_number(of).then(|| wrapped(number, of))
    }
}

/// A number as one of a type.
pub fn wrapped(number: Number, of: &Type) -> Number {
    match (number, of) {
        (Number::Int(value), Type::Int(int)) => {
            let mask = (1_i128 << int.bits) - 1;
            let value = value & mask;
            let is_negative = int.signed && value >> (int.bits - 1) != 0;
            Number::Int(if is_negative { value - mask - 1 } else { value })
        }
        (Number::Int(value), Type::Bool) => Number::Int(i128::from(value != 0)),
        (Number::Int(value), Type::F32) => Number::Float(f64::from(value as f32), value as f32),
        (Number::Int(value), _) => Number::Float(value as f64, value as f32),
        (Number::Float(_, short), Type::F32) => Number::Float(f64::from(short), short),
        (Number::Float(long, _), Type::F64) => Number::Float(long, long as f32),
        (Number::Float(long, _), Type::Bool) => Number::Int(i128::from(long != 0.0)),
        (Number::Float(long, _), of) => wrapped(Number::Int(long as i128), of),
    }
}

/// A number as an expression.
pub fn literal(number: Number, of: Type, at: Place) -> Expr {
    match (number, &of) {
        (Number::Int(value), Type::Bool) => made(Kind::Bool(value != 0), of, at),
        (Number::Int(value), Type::F32 | Type::F64) => {
            made(Kind::Float(value as f64, value as f32), of, at)
        }
        (Number::Int(value), _) if value < 0 => {
            let size = made(Kind::Int(value.unsigned_abs() as u64), of.clone(), at);
            made(Kind::Neg(Box::new(size)), of, at)
        }
        (Number::Int(value), _) => made(Kind::Int(value as u64), of, at),
        (Number::Float(long, short), _) => made(Kind::Float(long, short), of, at),
    }
}
