//! Places, loads and stores: what memory is known to hold is not loaded again, as LLVM does within a straight line.

use super::{
    Class, Lower, Operand, Pointer, R, Reg, Root, Space, Stop, Symbol, Value, class, refuse, reg,
};
use crate::tree::{Expr, Int, Kind, LocalId, Place, Type};

/// Places of which the contents are known at most, and stores that may turn out to be in vain.
const MAX_KNOWN: usize = 512;

/// Something that is read or assigned to.
pub(super) enum Spot {
    /// A part of a local.
    Local(LocalId, Vec<usize>),
    Memory(Pointer, Type),
}

impl Lower<'_> {
    /// The place of an expression, if it is one.
    pub(super) fn spot(&mut self, expr: &Expr) -> R<Option<Spot>> {
        let of = self.of(expr);
        Ok(match &expr.kind {
            Kind::Local(id) => Some(match self.env.get(id) {
                Some(Value::InMemory(pointer)) => Spot::Memory(*pointer, of),
                _ => Spot::Local(*id, Vec::new()),
            }),
            Kind::Static(index) => Some(Spot::Memory(self.symbol(*index)?, of)),
            Kind::Deref(pointer) => {
                match self.expr(pointer)? {
                    Some(Value::Pointer(pointer)) => Some(Spot::Memory(pointer, of)),
                    Some(Value::Ref(id, path)) => Some(match self.env.get(&id) {
                        // It is in memory by now: the address was taken before.
                        Some(Value::InMemory(_)) => {
                            return refuse(expr.at, "this address is not known here");
                        }
                        _ => Spot::Local(id, path),
                    }),
                    _ => return refuse(expr.at, "a pointer is wanted here"),
                }
            }
            Kind::Field(base, index) => match self.spot(base)? {
                Some(Spot::Local(id, mut path)) => {
                    path.push(*index);
                    Some(Spot::Local(id, path))
                }
                Some(Spot::Memory(pointer, Type::Vector(vector))) => {
                    let element = Type::of(vector.element);
                    let offset = pointer.offset + (element.layout().0 * *index as u64) as i64;
                    Some(Spot::Memory(Pointer { offset, ..pointer }, element))
                }
                Some(Spot::Memory(..)) => {
                    return refuse(expr.at, "a tuple in memory is not read here");
                }
                None => None,
            },
            Kind::Index(base, index) => {
                let Some(spot) = self.spot(base)? else { return Ok(None) };
                let Some(index) = self.expr(index)? else {
                    return refuse(expr.at, "an index has a value");
                };
                let index = self.one(&index, expr.at)?;
                let Type::Array(element, length) = self.of(base) else {
                    return refuse(expr.at, "only an array is indexed here");
                };
                self.at = expr.at;
                self.check_index(index, length as u64)?;
                match (spot, index) {
                    (Spot::Local(id, mut path), Operand::Const(index)) => {
                        path.push(index as usize);
                        Some(Spot::Local(id, path))
                    }
                    (Spot::Local(id, _), Operand::Reg(_)) => {
                        if self.fits_memory(id) {
                            return Err(Stop::Restart(id));
                        }
                        return refuse(
                            expr.at,
                            "an array inside of something has only indexes that are known, here",
                        );
                    }
                    (Spot::Memory(pointer, _), index) => {
                        let (bytes, _) = element.layout();
                        let pointer = self.moved(&pointer, index, bytes)?;
                        Some(Spot::Memory(pointer, *element))
                    }
                }
            }
            _ => None,
        })
    }

    /// Panics where an index is not inside of an array, as far as that is not known.
    fn check_index(&mut self, index: Operand, length: u64) -> R<()> {
        if self.check.out.is_c || self.largest(index).is_some_and(|most| most < length) {
            return Ok(());
        }
        let outside = match index {
            Operand::Const(_) => Operand::Const(1),
            Operand::Reg(number) => {
                let operands = [reg(Class::B64, number), length.to_string()];
                Operand::Reg(self.op(Class::Pred, "setp.ge.u64", &operands)?)
            }
        };
        self.trap_if(outside)?;
        if outside == Operand::Const(1) {
            return refuse(self.at, "this index is outside of its array");
        }
        Ok(())
    }

    pub(super) fn read(&mut self, spot: &Spot, at: Place) -> R<Value> {
        match spot {
            Spot::Local(id, path) => {
                let Some(mut value) = self.env.get(id) else {
                    return refuse(at, "this has no value here");
                };
                for step in path {
                    value = match value {
                        Value::All(all) if *step < all.len() => &all[*step],
                        _ => return refuse(at, "this part has no value here"),
                    };
                }
                Ok(value.clone())
            }
            Spot::Memory(pointer, of) => self.load(pointer, of, at),
        }
    }

    pub(super) fn write(&mut self, spot: &Spot, value: Value, at: Place) -> R<()> {
        match spot {
            Spot::Local(id, path) if path.is_empty() => self.bind(*id, value),
            Spot::Local(id, path) => {
                let Some(mut target) = self.env.get_mut(id) else {
                    return refuse(at, "this has no value here");
                };
                for step in path {
                    target = match target {
                        Value::All(all) if *step < all.len() => &mut all[*step],
                        _ => return refuse(at, "this part has no value here"),
                    };
                }
                *target = value;
                Ok(())
            }
            Spot::Memory(pointer, of) => self.store(pointer, of, &value, at),
        }
    }

    /// Returns whether a local may be in memory: all of its parts have a place there.
    pub(super) fn fits_memory(&self, id: LocalId) -> bool {
        let mut of = &self.check.local_type(id);
        while let Type::Array(element, _) = of {
            of = element;
        }
        matches!(of, Type::Int(_) | Type::F32 | Type::F64 | Type::Bool | Type::Vector(_))
    }

    /// Puts a local into local memory, such as an array that is indexed by what is not known; it may have no value yet.
    pub(super) fn bind_in_memory(&mut self, id: LocalId, value: Option<Value>) -> R<()> {
        if !self.fits_memory(id) {
            return refuse(self.at, "this has no address in memory here");
        }
        let at = self.at;
        let pointer = match self.env.get(&id) {
            Some(Value::InMemory(pointer)) => *pointer,
            _ => {
                let of = self.check.local_type(id);
                let (bytes, align) = of.layout();
                let name = format!("local_{id}");
                let declaration = format!(".local .align {align} .b8 {name}[{bytes}];");
                self.symbols.push(Symbol { name, declaration, is_local: true, index: None });
                let root = Root::Symbol(self.symbols.len() - 1);
                Pointer { space: Space::Local, root, base: None, offset: 0 }
            }
        };
        self.env.insert(id, Value::InMemory(pointer));
        let of = self.check.local_type(id);
        match value {
            Some(value) => self.store(&pointer, &of, &value, at),
            None => Ok(()),
        }
    }

    /// A pointer so many elements further on.
    pub(super) fn moved(&mut self, pointer: &Pointer, index: Operand, bytes: u64) -> R<Pointer> {
        let (index, constant) = match index {
            Operand::Const(value) => (None, value.cast_signed()),
            Operand::Reg(number) => match self.linear.get(&number) {
                Some((base, constant)) => (Some(*base), *constant),
                None => (Some(number), 0),
            },
        };
        let offset = pointer.offset.wrapping_add(constant.wrapping_mul(bytes as i64));
        let Some(index) = index else { return Ok(Pointer { offset, ..*pointer }) };
        let by = if bytes == 1 {
            index
        } else {
            match self.widened.get(&index) {
                Some(narrow) => {
                    let operands = [reg(Class::B32, *narrow), bytes.to_string()];
                    self.op(Class::B64, "mul.wide.u32", &operands)?
                }
                None => {
                    let operands = [reg(Class::B64, index), bytes.to_string()];
                    self.op(Class::B64, "mul.lo.s64", &operands)?
                }
            }
        };
        let base = self.base(pointer)?;
        let base = self.op(Class::B64, "add.s64", &[reg(Class::B64, base), reg(Class::B64, by)])?;
        Ok(Pointer { base: Some(base), offset, ..*pointer })
    }

    fn base(&mut self, pointer: &Pointer) -> R<Reg> {
        match (pointer.base, pointer.root) {
            (Some(base), _) => Ok(base),
            (None, Root::Symbol(index)) => {
                let name = self.symbols[index].name.clone();
                self.op(Class::B64, "mov.b64", &[name])
            }
            (None, _) => refuse(self.at, "this address is not known here"),
        }
    }

    /// A pointer's address in a register, in its own space or as one of any.
    pub(super) fn address(&mut self, pointer: &Pointer, space: Space) -> R<Reg> {
        let mut address = self.base(pointer)?;
        if pointer.offset != 0 {
            let operands = [reg(Class::B64, address), pointer.offset.to_string()];
            address = self.op(Class::B64, "add.s64", &operands)?;
        }
        if space == pointer.space {
            return Ok(address);
        }
        let from = match pointer.space {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Constant => "const",
            Space::Local => "local",
            Space::Generic => return Ok(address),
        };
        self.op(Class::B64, &format!("cvta.{from}.u64"), &[reg(Class::B64, address)])
    }

    /// A pointer as an operand in brackets.
    pub(super) fn bracket(&self, pointer: &Pointer) -> R<String> {
        let base = match (pointer.base, pointer.root) {
            (Some(base), _) => reg(Class::B64, base),
            (None, Root::Symbol(index)) => self.symbols[index].name.clone(),
            (None, _) => return refuse(self.at, "this address is not known here"),
        };
        Ok(match pointer.offset {
            0 => format!("[{base}]"),
            offset => format!("[{base}+{offset}]"),
        })
    }

    pub(super) fn load(&mut self, pointer: &Pointer, of: &Type, at: Place) -> R<Value> {
        match of {
            Type::Uninit(of) => return self.load(pointer, of, at),
            Type::Array(element, length) => {
                let (bytes, _) = element.layout();
                let mut all = Vec::new();
                for index in 0..*length {
                    let offset = pointer.offset + (bytes * index as u64) as i64;
                    all.push(self.load(&Pointer { offset, ..*pointer }, element, at)?);
                }
                return Ok(Value::All(all));
            }
            _ => {}
        }
        self.impure()?;
        let known = self.known.iter().find(|(place, kind, _)| place == pointer && kind == of);
        if let Some((_, _, value)) = known {
            return Ok(value.clone());
        }
        let (bytes, _) = of.layout();
        // A store that is read is needed.
        let pending = std::mem::take(&mut self.pending);
        self.pending = pending
            .into_iter()
            .filter(|(other, size, _)| apart(other, *size, pointer, bytes))
            .collect();
        // nvcc loads what nobody writes by the instruction of read-only memory.
        let is_read_only =
            matches!(pointer.root, Root::Restricted(_, true)) && pointer.space == Space::Global;
        let cache = if is_read_only { ".nc" } else { "" };
        let value = self.loaded(pointer, of, "ld", cache, at)?;
        self.known.push((*pointer, of.clone(), value.clone()));
        Ok(value)
    }

    /// Loads, whatever is known of the place.
    pub(super) fn loaded(
        &mut self,
        pointer: &Pointer,
        of: &Type,
        name: &str,
        cache: &str,
        at: Place,
    ) -> R<Value> {
        self.at = at;
        let space = space(pointer.space);
        let place = self.bracket(pointer)?;
        let kind = |of: &Type| match of {
            Type::Int(Int { bits: bits @ (8 | 16), signed, .. }) => {
                Some(format!("{}{bits}", if *signed { "s" } else { "u" }))
            }
            Type::Int(Int { bits: 64, .. }) | Type::F64 => Some("b64".to_owned()),
            Type::Int(_) | Type::F32 => Some("b32".to_owned()),
            Type::Bool => Some("u8".to_owned()),
            _ => None,
        };
        match of {
            // Four bytes are a word.
            Type::Vector(vector) if Type::of(vector.element).layout().0 == 1 => {
                let word = self.fresh(Class::B32);
                let text = reg(Class::B32, word);
                self.act(format!("{name}{space}{cache}.b32 \t{text}, {place};"))?;
                let mut all = Vec::new();
                for byte in 0..vector.lanes {
                    let shifted = match byte {
                        0 => word,
                        _ => {
                            self.op(Class::B32, "shr.u32", &[text.clone(), (8 * byte).to_string()])?
                        }
                    };
                    let one = self.op(
                        Class::B32,
                        "and.b32",
                        &[reg(Class::B32, shifted), "255".to_owned()],
                    )?;
                    self.most.insert(one, 255);
                    all.push(Value::One(Class::B32, Operand::Reg(one)));
                }
                Ok(Value::All(all))
            }
            Type::Vector(vector) => {
                let element = Type::of(vector.element);
                let class = class(&element);
                let Some(kind) = kind(&element) else {
                    return refuse(at, "this is not loaded here");
                };
                let all: Vec<Reg> = (0..vector.lanes).map(|_| self.fresh(class)).collect();
                let names: Vec<String> = all.iter().map(|one| reg(class, *one)).collect();
                let (lanes, names) = (vector.lanes, names.join(", "));
                self.act(format!("{name}{space}{cache}.v{lanes}.{kind} \t{{{names}}}, {place};"))?;
                Ok(Value::All(
                    all.into_iter().map(|one| Value::One(class, Operand::Reg(one))).collect(),
                ))
            }
            of => {
                let Some(kind) = kind(of) else {
                    return refuse(
                        at,
                        format!("a value of type `{}` is not loaded here", of.show()),
                    );
                };
                let class = if *of == Type::Bool { Class::B32 } else { class(of) };
                let made = self.fresh(class);
                self.act(format!("{name}{space}{cache}.{kind} \t{}, {place};", reg(class, made)))?;
                if let Type::Int(Int { bits: bits @ (8 | 16), signed: false, .. }) = of {
                    self.most.insert(made, (1 << bits) - 1);
                }
                if *of == Type::Bool {
                    let operands = [reg(class, made), "0".to_owned()];
                    let made = self.op(Class::Pred, "setp.ne.s32", &operands)?;
                    return Ok(Value::One(Class::Pred, Operand::Reg(made)));
                }
                Ok(Value::One(class, Operand::Reg(made)))
            }
        }
    }

    pub(super) fn store(
        &mut self,
        pointer: &Pointer,
        of: &Type,
        value: &Value,
        at: Place,
    ) -> R<()> {
        match (of, value) {
            (Type::Uninit(of), value) => return self.store(pointer, of, value, at),
            (Type::Array(element, _), Value::All(all)) => {
                let (bytes, _) = element.layout();
                for (index, one) in all.iter().enumerate() {
                    let offset = pointer.offset + (bytes * index as u64) as i64;
                    self.store(&Pointer { offset, ..*pointer }, element, one, at)?;
                }
                return Ok(());
            }
            _ => {}
        }
        self.impure()?;
        let (bytes, _) = of.layout();
        let lines = self.lines.len();
        self.stored(pointer, of, value, "st", at)?;
        // The line of the store itself is the last one.
        let line = self.lines.len() - 1;
        debug_assert!(line >= lines);
        for (other, size, line) in &self.pending {
            if other == pointer && *size == bytes {
                self.lines[*line].is_dead = true;
            }
        }
        self.pending.retain(|(other, size, _)| other != pointer || *size != bytes);
        self.pending.push((*pointer, bytes, line));
        self.known.retain(|(other, kind, _)| apart(other, kind.layout().0, pointer, bytes));
        self.known.push((*pointer, of.clone(), value.clone()));
        if self.known.len() > MAX_KNOWN {
            self.known.remove(0);
        }
        if self.pending.len() > MAX_KNOWN {
            self.pending.remove(0);
        }
        Ok(())
    }

    /// Stores, and forgets nothing.
    pub(super) fn stored(
        &mut self,
        pointer: &Pointer,
        of: &Type,
        value: &Value,
        name: &str,
        at: Place,
    ) -> R<()> {
        self.at = at;
        let space = space(pointer.space);
        match (of, value) {
            (Type::Vector(vector), Value::All(all)) if Type::of(vector.element).layout().0 == 1 => {
                let mut word = None;
                for (byte, one) in all.iter().enumerate() {
                    let one = self.one(one, at)?;
                    let one = match (byte, one) {
                        (_, Operand::Const(value)) => ((value & 255) << (8 * byte)).to_string(),
                        (0, one) => {
                            let operands = [self.show(Class::B32, one), "255".to_owned()];
                            reg(Class::B32, self.op(Class::B32, "and.b32", &operands)?)
                        }
                        (_, one) => {
                            let operands = [self.show(Class::B32, one), "255".to_owned()];
                            let one = self.op(Class::B32, "and.b32", &operands)?;
                            let operands = [reg(Class::B32, one), (8 * byte).to_string()];
                            reg(Class::B32, self.op(Class::B32, "shl.b32", &operands)?)
                        }
                    };
                    word = Some(match word {
                        None => reg(Class::B32, self.op(Class::B32, "mov.b32", &[one])?),
                        Some(word) => reg(Class::B32, self.op(Class::B32, "or.b32", &[word, one])?),
                    });
                }
                let place = self.bracket(pointer)?;
                let word = word.unwrap_or_default();
                self.act(format!("{name}{space}.b32 \t{place}, {word};"))
            }
            (Type::Vector(vector), Value::All(all)) => {
                let element = Type::of(vector.element);
                let (class, bits) = (class(&element), 8 * element.layout().0);
                let mut names = Vec::new();
                for one in all {
                    let one = self.one(one, at)?;
                    names.push(self.show(class, one));
                }
                let (place, names) = (self.bracket(pointer)?, names.join(", "));
                self.act(format!("{name}{space}.v{}.b{bits} \t{place}, {{{names}}};", vector.lanes))
            }
            (Type::Bool, value) => {
                let value = self.one(value, at)?;
                let value = match value {
                    Operand::Const(value) => value.to_string(),
                    Operand::Reg(number) => {
                        let operands = ["1".to_owned(), "0".to_owned(), reg(Class::Pred, number)];
                        reg(Class::B32, self.op(Class::B32, "selp.b32", &operands)?)
                    }
                };
                let place = self.bracket(pointer)?;
                self.act(format!("{name}{space}.u8 \t{place}, {value};"))
            }
            (Type::Int(_) | Type::F32 | Type::F64, value) => {
                let value = self.one(value, at)?;
                let (bits, value) = (8 * of.layout().0, self.show(class(of), value));
                let place = self.bracket(pointer)?;
                self.act(format!("{name}{space}.b{bits} \t{place}, {value};"))
            }
            _ => refuse(at, format!("a value of type `{}` is not stored here", of.show())),
        }
    }
}

pub(super) fn space(space: Space) -> &'static str {
    match space {
        Space::Global => ".global",
        Space::Shared => ".shared",
        Space::Constant => ".const",
        Space::Local => ".local",
        Space::Generic => "",
    }
}

/// Returns whether two accesses never meet.
pub(super) fn apart(a: &Pointer, a_bytes: u64, b: &Pointer, b_bytes: u64) -> bool {
    if a.base == b.base && a.root == b.root {
        let (first, bytes, second) = if a.offset <= b.offset {
            (a.offset, a_bytes, b.offset)
        } else {
            (b.offset, b_bytes, a.offset)
        };
        return first.saturating_add(bytes as i64) <= second;
    }
    match (a.root, b.root) {
        (Root::Symbol(a), Root::Symbol(b)) => a != b,
        (Root::Restricted(a, _), Root::Restricted(b, _)) => a != b,
        (Root::Unknown, _) | (_, Root::Unknown) | (Root::Parameter, Root::Parameter) => {
            a.space != b.space && a.space != Space::Generic && b.space != Space::Generic
        }
        _ => true,
    }
}
