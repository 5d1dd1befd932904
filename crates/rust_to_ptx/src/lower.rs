//! A checked file to PTX. Locals are values in registers, which a branch or a loop joins; calls are a part of their caller.

mod memory;
mod number;
mod statement;

use crate::check::Check;
use crate::tree::{Expr, Function, Kind, LocalId, Pattern, Place, Refusal, StaticSpace, Type};
use crate::walk;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::rc::Rc;

/// Calls inside of calls beyond which a file is refused: it may call itself.
const MAX_CALLS: usize = 32;
/// The longest PTX that is written, lines: a program that unrolls further is refused.
const MAX_LINES: usize = 200_000;

pub(crate) type Reg = u32;

/// A reason to stop lowering.
#[derive(Debug)]
enum Stop {
    Refused(Refusal),
    /// A local needs memory, because an index of it is not known: all begins anew.
    Restart(LocalId),
    /// An effect in what was tried without a branch.
    Impure,
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::Refused(refusal)
    }
}

type R<T> = std::result::Result<T, Stop>;

fn refuse<T>(at: Place, message: impl Into<String>) -> R<T> {
    Err(Stop::Refused(Refusal { place: at, message: message.into() }))
}

/// Values of locals.
type Env = BTreeMap<LocalId, Value>;

/// A value, or nothing where what follows is never reached.
type Flow = Option<Value>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Pred,
    B32,
    B64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Reg(Reg),
    Const(u64),
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    One(Class, Operand),
    All(Vec<Value>),
    Pointer(Pointer),
    /// A local in local memory.
    InMemory(Pointer),
    /// The address of a local in registers, or of a part of it.
    Ref(LocalId, Vec<usize>),
    Closure(usize),
    Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Space {
    Global,
    Shared,
    Constant,
    Local,
    Generic,
}

/// The array that an address is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Parameter,
    /// A parameter through which alone its memory is reached, and whether it is only read.
    Restricted(usize, bool),
    Symbol(usize),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pointer {
    space: Space,
    root: Root,
    /// A register, or else the symbol of the root.
    base: Option<Reg>,
    offset: i64,
}

struct Line {
    text: String,
    at: Place,
    is_dead: bool,
}

/// A symbol of a kernel: its name and how it is declared.
struct Symbol {
    name: String,
    declaration: String,
    is_local: bool,
    index: Option<usize>,
}

/// A loop around what is lowered.
struct OpenLoop {
    id: usize,
    header: String,
    exit: String,
    phis: BTreeMap<LocalId, Value>,
    /// The counter of a `for` and its step.
    counter: Option<(LocalId, Step)>,
    /// An expression between two turns.
    step: Option<Rc<Expr>>,
    is_left: bool,
}

#[derive(Clone)]
enum Step {
    Add(Class, u64, Type),
    /// A counter, by a value, and how often still.
    Times {
        by: Value,
        of: Type,
        left: LocalId,
    },
    Keep,
}

struct Frame {
    /// `None` in a kernel, which just ends.
    exit: Option<String>,
    result: Option<Value>,
    /// Variables of the caller that the function may change, as the registers that are read behind it.
    joined: BTreeMap<LocalId, Value>,
}

struct Lower<'a> {
    check: &'a Check,
    lines: Vec<Line>,
    at: Place,
    regs: Vec<Class>,
    labels: usize,
    memo: Vec<HashMap<String, Reg>>,
    env: BTreeMap<LocalId, Value>,
    hidden: LocalId,
    /// Known contents of memory: where, of which type, and the value.
    known: Vec<(Pointer, Type, Value)>,
    /// Stores that nothing has read yet, with their line.
    pending: Vec<(Pointer, u64, usize)>,
    /// A register as another and a number.
    linear: HashMap<Reg, (Reg, i64)>,
    /// A register of 64 bits that is one of 32 bits, with zeros.
    widened: HashMap<Reg, Reg>,
    /// The largest value of a register.
    most: HashMap<Reg, u64>,
    /// The space of an address that joins several.
    spaces: HashMap<Reg, Space>,
    speculating: usize,
    constant_mode: usize,
    /// The type of a counter that is kept in a wider one.
    narrow_counter: Option<crate::tree::Int>,
    loops: Vec<OpenLoop>,
    frames: Vec<Frame>,
    symbols: Vec<Symbol>,
    in_memory: BTreeSet<LocalId>,
    panics: bool,
    parameters: Vec<(LocalId, Type)>,
    kernel: String,
}

/// All kernels of a file.
pub fn ptx(check: &mut Check, name: &str) -> crate::tree::Result<String> {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    let kernels: Vec<&Function> = check.out.functions.iter().filter(|one| one.is_kernel).collect();
    if kernels.is_empty() {
        return crate::tree::refuse(
            Place { line: 1, column: 1 },
            if check.out.is_c {
                "the file has no kernel: a function with `extern \"C\" __global__`"
            } else {
                "the file has no kernel: a function with `#[kernel]`"
            },
        );
    }
    for kernel in kernels {
        let mut in_memory = BTreeSet::new();
        let lowered = loop {
            let mut lower = Lower::new(check, kernel, in_memory.clone());
            match lower.kernel(kernel) {
                Ok(text) => break text,
                Err(Stop::Refused(refusal)) => return Err(refusal),
                Err(Stop::Restart(id)) if in_memory.insert(id) => {}
                Err(Stop::Restart(_) | Stop::Impure) => {
                    return crate::tree::refuse(kernel.at, "this kernel is not read here");
                }
            }
        };
        text.push_str(&lowered);
    }
    let name = name.replace(['"', '\\', '\n'], "_");
    let _ = writeln!(text, "\t.file\t1 \"{name}\"");
    Ok(text)
}

impl<'a> Lower<'a> {
    fn new(check: &'a Check, kernel: &Function, in_memory: BTreeSet<LocalId>) -> Lower<'a> {
        Lower {
            check,
            lines: Vec::new(),
            at: kernel.at,
            regs: Vec::new(),
            labels: 0,
            memo: vec![HashMap::new()],
            env: BTreeMap::new(),
            hidden: check.out.locals.len(),
            known: Vec::new(),
            pending: Vec::new(),
            linear: HashMap::new(),
            widened: HashMap::new(),
            most: HashMap::new(),
            spaces: HashMap::new(),
            speculating: 0,
            constant_mode: 0,
            narrow_counter: None,
            loops: Vec::new(),
            frames: Vec::new(),
            symbols: Vec::new(),
            in_memory,
            panics: false,
            parameters: kernel.parameters.clone(),
            kernel: kernel.name.clone(),
        }
    }

    fn kernel(&mut self, kernel: &Function) -> R<String> {
        for (index, (id, of)) in self.parameters.clone().into_iter().enumerate() {
            let name = format!("{}_param_{index}", self.kernel);
            let value = match &of {
                Type::Pointer(..) => {
                    let raw = self.op(Class::B64, "ld.param.b64", &[format!("[{name}]")])?;
                    let base =
                        self.op(Class::B64, "cvta.to.global.u64", &[reg(Class::B64, raw)])?;
                    let is_read = matches!(of, Type::Pointer(false, _));
                    let root = if self.check.out.restricted.contains(&id) {
                        Root::Restricted(index, is_read)
                    } else {
                        Root::Parameter
                    };
                    Value::Pointer(Pointer {
                        space: Space::Global,
                        root,
                        base: Some(base),
                        offset: 0,
                    })
                }
                _ => {
                    let class = class(&of);
                    let (small, _) = of.layout();
                    let kind = match (&of, small) {
                        (Type::Int(int), 1 | 2) => {
                            format!("{}{}", if int.signed { "s" } else { "u" }, 8 * small)
                        }
                        _ => format!("b{}", 8 * small),
                    };
                    let found =
                        self.op(class, &format!("ld.param.{kind}"), &[format!("[{name}]")])?;
                    Value::One(class, Operand::Reg(found))
                }
            };
            self.env.insert(id, value);
        }
        self.frames.push(Frame { exit: None, result: None, joined: BTreeMap::new() });
        let Some(body) = kernel.body.get() else {
            return refuse(kernel.at, "the kernel has no body");
        };
        self.expr(body)?;
        self.frames.pop();
        self.line("ret;".to_owned())?;
        if self.panics {
            self.line("$panic:".to_owned())?;
            self.line("trap;".to_owned())?;
        }
        Ok(self.text())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for one in self
            .symbols
            .iter()
            .filter(|one| !one.is_local && !one.declaration.starts_with(".shared"))
        {
            let _ = writeln!(text, "{}", one.declaration);
        }
        let _ = writeln!(text, ".visible .entry {}(", self.kernel);
        let count = self.parameters.len();
        for (index, (_, of)) in self.parameters.iter().enumerate() {
            let comma = if index + 1 < count { "," } else { "" };
            let kind = match of {
                Type::Pointer(..) => ".u64 .ptr .align 1".to_owned(),
                Type::Int(int) => format!(".{}{}", if int.signed { "s" } else { "u" }, int.bits),
                Type::F32 => ".f32".to_owned(),
                _ => ".f64".to_owned(),
            };
            let _ = writeln!(text, "\t.param {kind} {}_param_{index}{comma}", self.kernel);
        }
        text.push_str(")\n{\n");
        for one in
            self.symbols.iter().filter(|one| one.is_local || one.declaration.starts_with(".shared"))
        {
            let _ = writeln!(text, "\t{}", one.declaration);
        }
        for (name, class) in
            [("pred \t%p", Class::Pred), ("b32 \t%r", Class::B32), ("b64 \t%rd", Class::B64)]
        {
            if self.regs.contains(&class) {
                let _ = writeln!(text, "\t.reg .{name}<{}>;", self.regs.len());
            }
        }
        let mut last = Place::default();
        for line in self.lines.iter().filter(|line| !line.is_dead) {
            if line.text.ends_with(':') {
                let _ = writeln!(text, "{}", line.text);
                continue;
            }
            if line.at != last && line.at.line > 0 {
                let _ = writeln!(text, "\t.loc\t1 {} {}", line.at.line, line.at.column);
                last = line.at;
            }
            let _ = writeln!(text, "\t{}", line.text);
        }
        text.push_str("}\n");
        text
    }

    // Emission.

    fn line(&mut self, text: String) -> R<()> {
        if self.lines.len() >= MAX_LINES {
            return refuse(self.at, "the kernel becomes too long");
        }
        self.lines.push(Line { text, at: self.at, is_dead: false });
        Ok(())
    }

    fn fresh(&mut self, class: Class) -> Reg {
        self.regs.push(class);
        (self.regs.len() - 1) as Reg
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }

    /// An instruction without effect: computed once where it is needed several times.
    fn op(&mut self, class: Class, name: &str, operands: &[String]) -> R<Reg> {
        let key = format!("{name} {}", operands.join(", "));
        if let Some(found) = self.memo.iter().rev().find_map(|scope| scope.get(&key)) {
            return Ok(*found);
        }
        let found = self.fresh(class);
        let (mnemonic, joined) = (name, operands.join(", "));
        self.line(format!("{mnemonic} \t{}, {joined};", reg(class, found)))?;
        if let Some(scope) = self.memo.last_mut() {
            scope.insert(key, found);
        }
        Ok(found)
    }

    /// An instruction with an effect.
    fn act(&mut self, text: String) -> R<()> {
        self.impure()?;
        self.line(text)
    }

    fn impure(&self) -> R<()> {
        if self.speculating > 0 { Err(Stop::Impure) } else { Ok(()) }
    }

    /// Forgets memory: others may have written it, and see what was written.
    fn barrier(&mut self) {
        self.known.clear();
        self.pending.clear();
    }

    fn show(&self, class: Class, operand: Operand) -> String {
        match (operand, class) {
            (Operand::Reg(number), class) => reg(class, number),
            (Operand::Const(value), Class::B32) => (value as u32).cast_signed().to_string(),
            (Operand::Const(value), Class::B64) => value.cast_signed().to_string(),
            (Operand::Const(value), Class::Pred) => value.to_string(),
        }
    }

    /// An operand of a float instruction.
    fn show_float(&self, of: &Type, operand: Operand) -> String {
        match (operand, of) {
            (Operand::Const(value), Type::F32) => format!("0f{:08X}", value as u32),
            (Operand::Const(value), _) => format!("0d{value:016X}"),
            (operand, of) => self.show(class(of), operand),
        }
    }

    /// A predicate in a register.
    fn predicate(&mut self, operand: Operand) -> R<String> {
        match operand {
            Operand::Reg(number) => Ok(reg(Class::Pred, number)),
            Operand::Const(value) => {
                let made = self.op(Class::Pred, "mov.pred", &[value.to_string()])?;
                Ok(reg(Class::Pred, made))
            }
        }
    }

    fn of(&self, expr: &Expr) -> Type {
        self.check.known(&expr.of)
    }

    fn one(&self, value: &Value, at: Place) -> R<Operand> {
        match value {
            Value::One(_, operand) => Ok(*operand),
            _ => refuse(at, "a number is wanted here"),
        }
    }

    // Branches.

    /// Lowers one of two, or both: the value of the one that runs.
    fn branch(
        &mut self,
        condition: Operand,
        then: &mut dyn FnMut(&mut Self) -> R<Flow>,
        other: &mut dyn FnMut(&mut Self) -> R<Flow>,
    ) -> R<Flow> {
        let condition = match condition {
            Operand::Const(0) => return other(self),
            Operand::Const(_) => return then(self),
            Operand::Reg(number) => number,
        };
        if let Some(flow) = self.selected(condition, then, other)? {
            return Ok(Some(flow));
        }
        self.impure()?;
        let at = self.at;
        let before = (self.env.clone(), self.known.clone());
        let (mut first, then_flow) = self.captured(then)?;
        let after_then = (
            std::mem::replace(&mut self.env, before.0),
            std::mem::replace(&mut self.known, before.1),
        );
        let (mut second, other_flow) = self.captured(other)?;
        let flow = match (then_flow, other_flow) {
            (None, None) => None,
            (Some(value), None) => {
                (self.env, self.known) = after_then;
                Some(value)
            }
            (None, Some(value)) => Some(value),
            (Some(a), Some(b)) => {
                let mut moves = Vec::new();
                let value = self.joined(&a, &b, &mut moves);
                let (env_a, known_a) = after_then;
                for (id, a) in &env_a {
                    if let Some(b) = self.env.get(id).cloned()
                        && *a != b
                    {
                        let joined = self.joined(a, &b, &mut moves);
                        self.env.insert(*id, joined);
                    }
                }
                self.known.retain(|one| known_a.contains(one));
                let outer = std::mem::replace(&mut self.lines, first);
                for (target, a, _) in &moves {
                    self.set(*target, a)?;
                }
                first = std::mem::replace(&mut self.lines, second);
                for (target, _, b) in &moves {
                    self.set(*target, b)?;
                }
                second = std::mem::replace(&mut self.lines, outer);
                Some(value)
            }
        };
        self.at = at;
        let (over, end) = (self.label(), self.label());
        let condition = reg(Class::Pred, condition);
        if first.is_empty() {
            self.line(format!("@{condition} bra \t{end};"))?;
            self.lines.append(&mut second);
        } else {
            self.line(format!("@!{condition} bra \t{over};"))?;
            self.lines.append(&mut first);
            if !second.is_empty() {
                self.line(format!("bra.uni \t{end};"))?;
            }
            self.line(format!("{over}:"))?;
            self.lines.append(&mut second);
        }
        self.line(format!("{end}:"))?;
        self.pending.clear();
        Ok(flow)
    }

    /// Lowers something into lines of its own.
    fn captured(&mut self, what: &mut dyn FnMut(&mut Self) -> R<Flow>) -> R<(Vec<Line>, Flow)> {
        let outer = std::mem::take(&mut self.lines);
        self.pending.clear();
        self.memo.push(HashMap::new());
        let flow = what(self)?;
        self.memo.pop();
        self.pending.clear();
        Ok((std::mem::replace(&mut self.lines, outer), flow))
    }

    /// Tries both without a branch, if they are short and have no effect.
    fn selected(
        &mut self,
        condition: Reg,
        then: &mut dyn FnMut(&mut Self) -> R<Flow>,
        other: &mut dyn FnMut(&mut Self) -> R<Flow>,
    ) -> R<Flow> {
        /// Instructions that are rather executed in vain than branched around.
        const SHORT: usize = 8;
        let (lines, at) = (self.lines.len(), self.at);
        let saved = (self.memo.clone(), self.env.clone(), self.panics);
        self.speculating += 1;
        let mut both = || -> R<Option<(Value, Env, Value)>> {
            let Some(a) = then(self)? else { return Ok(None) };
            let env_a = std::mem::replace(&mut self.env, saved.1.clone());
            let Some(b) = other(self)? else { return Ok(None) };
            Ok(Some((a, env_a, b)))
        };
        let tried = both();
        self.speculating -= 1;
        self.at = at;
        match tried {
            Ok(Some((a, env_a, b))) if self.lines.len() - lines <= SHORT => {
                let value = self.select(condition, &a, &b)?;
                for (id, a) in &env_a {
                    if let Some(b) = self.env.get(id).cloned()
                        && *a != b
                    {
                        let selected = self.select(condition, a, &b)?;
                        self.env.insert(*id, selected);
                    }
                }
                Ok(Some(value))
            }
            Ok(_) | Err(Stop::Impure) => {
                self.lines.truncate(lines);
                (self.memo, self.env, self.panics) = saved;
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    fn select(&mut self, condition: Reg, a: &Value, b: &Value) -> R<Value> {
        if a == b {
            return Ok(a.clone());
        }
        let name = reg(Class::Pred, condition);
        Ok(match (a, b) {
            (Value::One(Class::Pred, x), Value::One(_, y)) => {
                // There is no `selp` of predicates.
                let (x, y) = (self.predicate(*x)?, self.predicate(*y)?);
                let not = self.op(Class::Pred, "not.pred", std::slice::from_ref(&name))?;
                let left = self.op(Class::Pred, "and.pred", &[name, x])?;
                let right = self.op(Class::Pred, "and.pred", &[reg(Class::Pred, not), y])?;
                let (left, right) = (reg(Class::Pred, left), reg(Class::Pred, right));
                Value::One(
                    Class::Pred,
                    Operand::Reg(self.op(Class::Pred, "or.pred", &[left, right])?),
                )
            }
            (Value::One(class, x), Value::One(_, y)) => {
                let kind = if *class == Class::B32 { "selp.b32" } else { "selp.b64" };
                let operands = [self.show(*class, *x), self.show(*class, *y), name];
                let made = self.op(*class, kind, &operands)?;
                if let (Some(x), Some(y)) = (self.largest(*x), self.largest(*y)) {
                    self.most.insert(made, x.max(y));
                }
                Value::One(*class, Operand::Reg(made))
            }
            (Value::All(x), Value::All(y)) => {
                let pairs = x.iter().zip(y);
                Value::All(pairs.map(|(x, y)| self.select(condition, x, y)).collect::<R<_>>()?)
            }
            (Value::Pointer(x), Value::Pointer(y)) => {
                let joined = joined_pointer(x, y);
                let (x, y) = (self.address(x, joined.space)?, self.address(y, joined.space)?);
                let made = self.op(
                    Class::B64,
                    "selp.b64",
                    &[reg(Class::B64, x), reg(Class::B64, y), name],
                )?;
                Value::Pointer(Pointer { base: Some(made), ..joined })
            }
            _ => return refuse(self.at, "these two values cannot be joined here"),
        })
    }

    /// A value that is one of two, in new registers, which both sides set.
    fn joined(&mut self, a: &Value, b: &Value, moves: &mut Vec<(Reg, Value, Value)>) -> Value {
        if a == b {
            return a.clone();
        }
        match (a, b) {
            (Value::One(class, x), Value::One(_, y)) => {
                let made = self.fresh(*class);
                if let (Some(x), Some(y)) = (self.largest(*x), self.largest(*y)) {
                    self.most.insert(made, x.max(y));
                }
                moves.push((made, a.clone(), b.clone()));
                Value::One(*class, Operand::Reg(made))
            }
            (Value::All(x), Value::All(y)) => {
                let pairs = x.iter().zip(y);
                Value::All(pairs.map(|(x, y)| self.joined(x, y, moves)).collect())
            }
            (Value::Pointer(x), Value::Pointer(y)) => {
                let joined = joined_pointer(x, y);
                let made = self.fresh(Class::B64);
                self.spaces.insert(made, joined.space);
                moves.push((made, a.clone(), b.clone()));
                Value::Pointer(Pointer { base: Some(made), ..joined })
            }
            (Value::InMemory(_) | Value::Closure(_) | Value::Ref(..), _) => {
                // Two arrays or closures: what sets the register refuses it.
                moves.push((self.fresh(Class::B64), a.clone(), b.clone()));
                a.clone()
            }
            _ => a.clone(),
        }
    }

    /// Sets a register that joins values.
    fn set(&mut self, target: Reg, value: &Value) -> R<()> {
        let class = self.regs[target as usize];
        let source = match value {
            Value::One(_, operand) => self.show(class, *operand),
            Value::Pointer(pointer) => {
                let space = self.spaces.get(&target).copied().unwrap_or(pointer.space);
                let made = self.address(pointer, space)?;
                reg(Class::B64, made)
            }
            _ => return refuse(self.at, "this value cannot be joined here"),
        };
        let kind = match class {
            Class::Pred => "mov.pred",
            Class::B32 => "mov.b32",
            Class::B64 => "mov.b64",
        };
        self.line(format!("{kind} \t{}, {source};", reg(class, target)))
    }

    // Calls.

    fn call(&mut self, function: &Function, arguments: Vec<Value>, at: Place) -> R<Flow> {
        if self.frames.len() > MAX_CALLS {
            return refuse(at, "functions that call themselves are not read here");
        }
        for ((id, _), value) in function.parameters.iter().zip(arguments) {
            self.bind(*id, value)?;
        }
        let Some(body) = function.body.get() else {
            return refuse(at, "a function that is still being read is called here");
        };
        let mut returns = false;
        walk::each(body, &mut |one| returns |= matches!(one.kind, Kind::Return(_)));
        if !returns {
            self.frames.push(Frame { exit: None, result: None, joined: BTreeMap::new() });
            let flow = self.expr(body);
            self.frames.pop();
            return flow;
        }
        self.impure()?;
        let result = self.blank(&function.result, at)?;
        let exit = self.label();
        let joined = self.phis(&self.check.out.addressed)?;
        self.frames.push(Frame {
            exit: Some(exit.clone()),
            result: Some(result.clone()),
            joined: joined.clone(),
        });
        let loops = std::mem::take(&mut self.loops);
        self.memo.push(HashMap::new());
        let flow = self.expr(body)?;
        if let Some(value) = flow {
            self.give(&result, &value)?;
            self.join(&joined)?;
        }
        self.memo.pop();
        self.loops = loops;
        self.frames.pop();
        self.line(format!("{exit}:"))?;
        self.env.extend(joined);
        self.barrier();
        Ok(Some(result))
    }

    /// New registers for a value of a type.
    fn blank(&mut self, of: &Type, at: Place) -> R<Value> {
        Ok(match of {
            Type::Unit | Type::Never => Value::Unit,
            Type::Tuple(all) => {
                Value::All(all.iter().map(|of| self.blank(of, at)).collect::<R<_>>()?)
            }
            Type::Array(of, length) => {
                Value::All((0..*length).map(|_| self.blank(of, at)).collect::<R<_>>()?)
            }
            Type::Struct(index) => {
                let fields = &self.check.out.structs[*index].fields;
                Value::All(fields.iter().map(|(_, of)| self.blank(of, at)).collect::<R<_>>()?)
            }
            Type::Vector(vector) => {
                let of = Type::of(vector.element);
                Value::All((0..vector.lanes).map(|_| self.blank(&of, at)).collect::<R<_>>()?)
            }
            Type::Int(_) | Type::F32 | Type::F64 | Type::Bool => {
                let class = class(of);
                Value::One(class, Operand::Reg(self.fresh(class)))
            }
            _ => return refuse(at, "a function with `return` has no result of this type here"),
        })
    }

    /// Sets the registers of a value.
    fn give(&mut self, target: &Value, value: &Value) -> R<()> {
        match (target, value) {
            (Value::One(_, Operand::Reg(target)), value) => self.set(*target, value),
            (Value::All(target), Value::All(value)) => {
                target.iter().zip(value).try_for_each(|(target, value)| self.give(target, value))
            }
            _ => Ok(()),
        }
    }

    fn bind(&mut self, id: LocalId, value: Value) -> R<()> {
        if self.in_memory.contains(&id) && !matches!(value, Value::InMemory(_)) {
            return self.bind_in_memory(id, Some(value));
        }
        self.env.insert(id, value);
        Ok(())
    }

    fn bind_pattern(&mut self, pattern: &Pattern, value: Value) -> R<()> {
        match (pattern, value) {
            (Pattern::Wild, _) => Ok(()),
            (Pattern::Bind(id), value) => self.bind(*id, value),
            (Pattern::Tuple(all), Value::All(values)) => {
                all.iter().zip(values).try_for_each(|(one, value)| self.bind_pattern(one, value))
            }
            (Pattern::Tuple(_), _) => refuse(self.at, "a tuple is wanted here"),
        }
    }

    /// The symbol of a static, declared in this kernel.
    fn symbol(&mut self, index: usize) -> R<Pointer> {
        let one = &self.check.out.statics[index];
        let (space, keyword) = match one.space {
            StaticSpace::Shared => (Space::Shared, ".shared"),
            StaticSpace::Constant => (Space::Constant, ".const"),
            StaticSpace::Global => (Space::Global, ".global"),
        };
        let found = self.symbols.iter().position(|one| one.index == Some(index));
        let found = match found {
            Some(found) => found,
            None => {
                let of = self.check.known(&one.of);
                let (bytes, align) = of.layout();
                let same =
                    self.symbols.iter().filter(|other| other.name.starts_with(&one.name)).count();
                let name =
                    if same == 0 { one.name.clone() } else { format!("{}_{same}", one.name) };
                let mut declaration = format!("{keyword} .align {align} .b8 {name}[{bytes}]");
                if let Some(value) = &one.value {
                    let value = self.constant(value)?;
                    let mut all = Vec::new();
                    self.bytes(&value, &of, &mut all, one.at)?;
                    let all: Vec<String> = all.iter().map(u8::to_string).collect();
                    let _ = write!(declaration, " = {{{}}}", all.join(", "));
                }
                declaration.push(';');
                self.symbols.push(Symbol {
                    name,
                    declaration,
                    is_local: false,
                    index: Some(index),
                });
                self.symbols.len() - 1
            }
        };
        Ok(Pointer { space, root: Root::Symbol(found), base: None, offset: 0 })
    }

    /// The value of a constant expression.
    fn constant(&mut self, expr: &Expr) -> R<Value> {
        if self.constant_mode > MAX_CALLS {
            return refuse(expr.at, "constants that need themselves are not read here");
        }
        let lines = self.lines.len();
        let env = self.env.clone();
        self.constant_mode += 1;
        let value = self.expr(expr);
        self.constant_mode -= 1;
        self.env = env;
        let Some(value) = value? else { return refuse(expr.at, "a constant has a value") };
        if self.lines.len() != lines || !is_constant(&value) {
            return refuse(expr.at, "this is not known when the file is compiled");
        }
        Ok(value)
    }

    fn bytes(&self, value: &Value, of: &Type, all: &mut Vec<u8>, at: Place) -> R<()> {
        match (value, of) {
            (Value::One(_, Operand::Const(value)), of) => {
                let (bytes, _) = of.layout();
                all.extend(&value.to_le_bytes()[..bytes as usize]);
                Ok(())
            }
            (Value::All(values), Type::Array(of, _)) => {
                values.iter().try_for_each(|one| self.bytes(one, of, all, at))
            }
            (Value::All(values), Type::Vector(vector)) => {
                let of = Type::of(vector.element);
                values.iter().try_for_each(|one| self.bytes(one, &of, all, at))
            }
            _ => refuse(at, "a static of this type is not read here"),
        }
    }

    /// The largest value that an operand may have, if it is known.
    fn largest(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Const(value) => Some(value),
            Operand::Reg(number) => self.most.get(&number).copied(),
        }
    }

    /// Ends the kernel where a predicate holds, as a panic does.
    fn trap_if(&mut self, predicate: Operand) -> R<()> {
        if self.constant_mode > 0 && predicate != Operand::Const(0) {
            return refuse(self.at, "this constant panics");
        }
        if self.check.out.is_c && predicate == Operand::Const(1) {
            return refuse(self.at, "this divides by zero");
        }
        match predicate {
            Operand::Const(0) => Ok(()),
            Operand::Const(_) => self.act("trap;".to_owned()),
            Operand::Reg(number) => {
                self.panics = true;
                self.act(format!("@{} bra \t$panic;", reg(Class::Pred, number)))
            }
        }
    }
}

fn is_constant(value: &Value) -> bool {
    match value {
        Value::One(_, Operand::Const(_)) | Value::Unit => true,
        Value::All(all) => all.iter().all(is_constant),
        _ => false,
    }
}

fn joined_pointer(a: &Pointer, b: &Pointer) -> Pointer {
    let space = if a.space == b.space { a.space } else { Space::Generic };
    let root = if a.root == b.root { a.root } else { Root::Unknown };
    Pointer { space, root, base: None, offset: 0 }
}

fn class(of: &Type) -> Class {
    match of {
        Type::Bool => Class::Pred,
        Type::F64 => Class::B64,
        Type::Int(int) if int.bits == 64 => Class::B64,
        _ => Class::B32,
    }
}

fn reg(class: Class, number: Reg) -> String {
    match class {
        Class::Pred => format!("%p{number}"),
        Class::B32 => format!("%r{number}"),
        Class::B64 => format!("%rd{number}"),
    }
}
