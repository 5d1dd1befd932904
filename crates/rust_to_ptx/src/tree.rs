//! A checked file: every name resolved, every type known.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A line and a column, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// A reason why a file is not compiled, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub place: Place,
    pub message: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Place { line, column } = self.place;
        write!(formatter, "line {line}, column {column}: {}", self.message)
    }
}

impl std::error::Error for Refusal {}

pub type Result<T> = std::result::Result<T, Refusal>;

pub fn refuse<T>(place: Place, message: impl Into<String>) -> Result<T> {
    Err(Refusal { place, message: message.into() })
}

/// A type of whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    pub bits: u32,
    pub signed: bool,
    /// True for `usize` and `isize`.
    pub of_address: bool,
}

impl Int {
    pub const U32: Int = Int { bits: 32, signed: false, of_address: false };
    pub const I32: Int = Int { bits: 32, signed: true, of_address: false };
    pub const USIZE: Int = Int { bits: 64, signed: false, of_address: true };
    pub const U8: Int = Int { bits: 8, signed: false, of_address: false };

    pub fn named(name: &str) -> Option<Int> {
        let (signed, rest) = (name.starts_with('i'), name.get(1..)?);
        if !name.starts_with(['i', 'u']) {
            return None;
        }
        let bits = match rest {
            "size" => return Some(Int { bits: 64, signed, of_address: true }),
            "8" => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            _ => return None,
        };
        Some(Int { bits, signed, of_address: false })
    }

    pub fn name(self) -> String {
        let letter = if self.signed { 'i' } else { 'u' };
        if self.of_address { format!("{letter}size") } else { format!("{letter}{}", self.bits) }
    }
}

/// A short vector of `cuda_std::vector`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    pub element: Scalar,
    pub lanes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Int(Int),
    F32,
    F64,
}

impl Vector {
    pub fn named(name: &str) -> Option<Vector> {
        let (element, lanes) = name.split_once('x')?;
        let lanes = lanes.parse().ok().filter(|lanes| [2, 4].contains(lanes))?;
        let element = match element {
            "F32" => Scalar::F32,
            "F64" if lanes == 2 => Scalar::F64,
            "U8" if lanes == 4 => Scalar::Int(Int::U8),
            "U32" => Scalar::Int(Int::U32),
            "I32" => Scalar::Int(Int::I32),
            _ => return None,
        };
        Some(Vector { element, lanes })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Int(Int),
    F32,
    F64,
    Bool,
    Unit,
    Never,
    Tuple(Vec<Type>),
    Array(Box<Type>, usize),
    Vector(Vector),
    /// True when it may be written through.
    Pointer(bool, Box<Type>),
    Uninit(Box<Type>),
    /// A reference; true when it may be written through.
    Reference(bool, Box<Type>),
    /// The address of the first of some elements, and how many there are.
    Slice(bool, Box<Type>),
    Struct(usize),
    /// True when its scope is the block.
    Atomic(bool, Scalar),
    /// The target of a pointer of C++, which is read and written each time.
    Volatile(Box<Type>),
    Ordering,
    Closure(usize),
    /// Not known yet.
    Unknown(usize),
}

impl Type {
    pub const U32: Type = Type::Int(Int::U32);
    pub const USIZE: Type = Type::Int(Int::USIZE);

    pub fn of(scalar: Scalar) -> Type {
        match scalar {
            Scalar::Int(int) => Type::Int(int),
            Scalar::F32 => Type::F32,
            Scalar::F64 => Type::F64,
        }
    }

    pub fn show(&self) -> String {
        match self {
            Type::Int(int) => int.name(),
            Type::F32 => "f32".to_owned(),
            Type::F64 => "f64".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Unit => "()".to_owned(),
            Type::Never => "!".to_owned(),
            Type::Tuple(all) => {
                let all: Vec<String> = all.iter().map(Type::show).collect();
                format!("({})", all.join(", "))
            }
            Type::Array(element, length) => format!("[{}; {length}]", element.show()),
            Type::Vector(vector) => format!("a vector of {} elements", vector.lanes),
            Type::Pointer(true, to) => format!("*mut {}", to.show()),
            Type::Pointer(false, to) => format!("*const {}", to.show()),
            Type::Reference(true, to) => format!("&mut {}", to.show()),
            Type::Reference(false, to) => format!("&{}", to.show()),
            Type::Slice(true, of) => format!("&mut [{}]", of.show()),
            Type::Slice(false, of) => format!("&[{}]", of.show()),
            Type::Struct(_) => "a struct".to_owned(),
            Type::Uninit(of) => format!("MaybeUninit<{}>", of.show()),
            Type::Atomic(..) => "an atomic".to_owned(),
            Type::Volatile(of) => of.show(),
            Type::Ordering => "Ordering".to_owned(),
            Type::Closure(_) => "a closure".to_owned(),
            Type::Unknown(_) => "a type that is not known yet".to_owned(),
        }
    }

    /// The bytes and the alignment.
    pub fn layout(&self) -> (u64, u64) {
        match self {
            Type::Int(int) => (u64::from(int.bits / 8), u64::from(int.bits / 8)),
            Type::F32 => (4, 4),
            Type::F64 | Type::Pointer(..) | Type::Reference(..) => (8, 8),
            Type::Bool => (1, 1),
            Type::Vector(vector) => {
                let bytes = Type::of(vector.element).layout().0 * vector.lanes as u64;
                (bytes, bytes)
            }
            Type::Array(element, length) => {
                let (bytes, align) = element.layout();
                (bytes * *length as u64, align)
            }
            Type::Uninit(of) | Type::Volatile(of) => of.layout(),
            Type::Atomic(_, scalar) => Type::of(*scalar).layout(),
            _ => (0, 1),
        }
    }
}

pub type LocalId = usize;

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: Kind,
    pub of: Type,
    pub at: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Op {
    pub fn compares(self) -> bool {
        matches!(self, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
    }
}

#[derive(Clone, Debug)]
pub enum Kind {
    Int(u64),
    /// A float, rounded from its digits to 64 and to 32 bits.
    Float(f64, f32),
    Bool(bool),
    Unit,
    Local(LocalId),
    Const(usize),
    Static(usize),
    Field(Box<Expr>, usize),
    Index(Box<Expr>, Box<Expr>),
    Deref(Box<Expr>),
    AddressOf(Box<Expr>),
    Neg(Box<Expr>),
    Not(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    AndAlso(Box<Expr>, Box<Expr>),
    OrElse(Box<Expr>, Box<Expr>),
    Assign(Box<Expr>, Box<Expr>),
    AssignOp(Op, Box<Expr>, Box<Expr>),
    Cast(Box<Expr>),
    Tuple(Vec<Expr>),
    Array(Vec<Expr>),
    Repeat(Box<Expr>, usize),
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    Block(Vec<Statement>, Option<Box<Expr>>),
    /// The step stands between two turns: `continue` goes to it.
    While(usize, Box<Expr>, Box<Expr>, Option<Rc<Expr>>),
    Loop(usize, Box<Expr>),
    For(usize, Pattern, Box<Iter>, Box<Expr>),
    Break(usize),
    Continue(usize),
    Return(Option<Box<Expr>>),
    Call(usize, Vec<Expr>),
    CallClosure(usize, Vec<Expr>),
    Closure(usize),
    /// A function or a method of a library, by its name in `lower`.
    Library(&'static str, Vec<Expr>),
}

#[derive(Clone, Debug)]
pub enum Iter {
    Range { start: Expr, end: Expr, is_closed: bool, step: Option<Expr>, is_reversed: bool },
    Array(Expr),
}

#[derive(Clone, Debug)]
pub enum Statement {
    Let(Pattern, Option<Expr>),
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub enum Pattern {
    Wild,
    Bind(LocalId),
    Tuple(Vec<Pattern>),
}

#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub is_kernel: bool,
    pub is_unsafe: bool,
    pub parameters: Vec<(LocalId, Type)>,
    pub result: Type,
    pub body: OnceCell<Expr>,
    pub at: Place,
}

#[derive(Debug)]
pub struct Closure {
    pub parameters: Vec<Pattern>,
    pub types: Vec<Type>,
    pub result: Type,
    pub body: Option<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticSpace {
    Shared,
    Constant,
    Global,
}

#[derive(Debug)]
pub struct Static {
    pub name: String,
    pub of: Type,
    pub space: StaticSpace,
    pub is_mutable: bool,
    pub value: Option<Expr>,
    pub at: Place,
}

#[derive(Debug)]
pub struct Struct {
    pub name: String,
    pub fields: Vec<(String, Type)>,
    /// The numbers that it is made of.
    pub parts: usize,
}

#[derive(Debug, Default)]
pub struct Checked {
    pub structs: Vec<Struct>,
    pub functions: Vec<Function>,
    pub closures: Vec<Closure>,
    pub statics: Vec<Static>,
    pub constants: Vec<Option<Expr>>,
    /// The names of locals.
    pub locals: Vec<String>,
    /// Locals that are also written through an address.
    pub addressed: BTreeSet<LocalId>,
    /// Parameters of kernels through which alone their memory is reached: `__restrict__`.
    pub restricted: BTreeSet<LocalId>,
    /// True where C's rules hold: no check of an index or a division.
    pub is_c: bool,
}
