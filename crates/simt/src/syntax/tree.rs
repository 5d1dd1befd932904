//! The syntax tree; names and modifiers are borrowed from the source text.

use crate::error::Position;
use std::collections::HashMap;

/// A whole translation unit.
#[derive(Debug, Default)]
pub(crate) struct Tree<'a> {
    pub version: (u32, u32),
    pub target: &'a str,
    pub files: HashMap<u64, &'a str>,
    pub variables: Vec<Variable<'a>>,
    pub functions: Vec<Function<'a>>,
    /// `.alias name, target`.
    pub aliases: Vec<(&'a str, &'a str)>,
    /// How many words and signs the text has.
    pub tokens: u32,
}

/// A declared variable in any state space, or a formal parameter.
#[derive(Clone, Debug)]
pub(crate) struct Variable<'a> {
    pub name: &'a str,
    pub space: &'a str,
    /// The element type, for instance `b8` or `u64`.
    pub element: &'a str,
    pub alignment: u64,
    /// Elements in total; `None` for `[]`.
    pub elements: Option<u64>,
    pub is_array: bool,
    pub is_extern: bool,
    pub is_pointer: bool,
    /// `.attribute(.managed)`.
    pub is_managed: bool,
    pub initial: Vec<Initial<'a>>,
    pub position: Position,
}

/// One element of an initializer.
#[derive(Clone, Debug)]
pub(crate) enum Initial<'a> {
    Integer(i128),
    Single(u32),
    Double(u64),
    /// A symbol's address plus an offset; with a shift for `0xFF00(symbol)` masks.
    Symbol {
        name: &'a str,
        offset: i64,
        mask: Option<u64>,
    },
}

/// An entry or a device function.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub name: &'a str,
    pub is_entry: bool,
    pub results: Vec<Variable<'a>>,
    pub parameters: Vec<Variable<'a>>,
    pub body: Option<Vec<Statement<'a>>>,
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    pub cluster: Option<[u32; 3]>,
    pub position: Position,
}

/// A `.loc` directive: where the following instructions come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Location<'a> {
    pub file: u64,
    pub line: u32,
    /// The call sites that the code was inlined into, innermost first: `(file, line)`.
    pub inlined_at: Vec<(Site<'a>, u32)>,
}

/// A file, by number or by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Site<'a> {
    Number(u64),
    Name(&'a str),
}

/// What a function body is made of.
#[derive(Debug)]
pub(crate) enum Statement<'a> {
    Label(&'a str, Position),
    /// `.reg .type name, ...;` with a count for `name<count>`.
    Registers {
        element: &'a str,
        vector: u32,
        names: Vec<(&'a str, Option<u64>)>,
        position: Position,
    },
    Variable(Variable<'a>),
    Instruction(Instruction<'a>),
    Block(Vec<Statement<'a>>),
    /// `label: .branchtargets a, b, ...;`
    BranchTargets {
        label: &'a str,
        position: Position,
        targets: Vec<&'a str>,
    },
    /// `label: .calltargets a, b;` or `.callprototype`: what decoding finds out by itself.
    CallTargets,
    Location(Location<'a>),
}

/// One instruction, not yet given a meaning.
#[derive(Debug)]
pub(crate) struct Instruction<'a> {
    /// `(name, negated)`.
    pub guard: Option<(&'a str, bool)>,
    pub opcode: &'a str,
    pub modifiers: Vec<&'a str>,
    pub operands: Vec<Operand<'a>>,
    pub position: Position,
}

impl Instruction<'_> {
    /// The opcode with its modifiers, as written.
    pub fn text(&self) -> String {
        let mut text = self.opcode.to_string();
        for modifier in &self.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        text
    }
}

/// One operand of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand<'a> {
    /// A register, symbol, label or special register, with the offset of `symbol+4`.
    Name {
        name: &'a str,
        component: Option<&'a str>,
        offset: i64,
    },
    /// `!p`.
    Not(&'a str),
    /// `-%r1`, which few instructions allow.
    Negative(&'a str),
    Integer(i128),
    Single(u32),
    Double(u64),
    /// `[base+offset]`; no base for an absolute address.
    Address {
        base: Option<&'a str>,
        offset: i64,
        index: Option<&'a str>,
    },
    /// `[object, {x, y}]`: a texture or surface, or a tensor map, and coordinates.
    Texel {
        object: &'a str,
        coordinates: Vec<Operand<'a>>,
    },
    /// `{a, b}`.
    Vector(Vec<Operand<'a>>),
    /// `a|b`.
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `(a, b)` of a call.
    List(Vec<Operand<'a>>),
    /// `_`.
    Sink,
}
