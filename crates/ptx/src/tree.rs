//! The syntax tree; names and modifiers are borrowed from the source text.
//!
//! ```
//! let text = ".version 8.0\n.target sm_80\n.entry kernel() { .shared .b8 tile[64]; ret; }";
//! let tree = ptx::parse(text)?;
//! assert_eq!(tree.target, "sm_80");
//! assert_eq!(tree.entry("kernel").expect("it is there").name, "kernel");
//! # Ok::<(), ptx::Error>(())
//! ```

use crate::error::Position;
use std::collections::HashMap;

/// A whole translation unit.
#[derive(Debug, Default)]
pub struct Tree<'a> {
    /// `.version`, major and minor.
    pub version: (u32, u32),
    /// The first of `.target`, such as `sm_90a`; empty without one.
    pub target: &'a str,
    /// The bits of an address, and where the text says so.
    pub address_size: Option<(u64, Position)>,
    /// The text behind the three directives with which it begins.
    pub body: &'a str,
    /// The files of `.loc`, by number.
    pub files: HashMap<u64, &'a str>,
    /// Those outside of functions.
    pub variables: Vec<Variable<'a>>,
    /// Entries and device functions, in the order of the text.
    pub functions: Vec<Function<'a>>,
    /// `.alias name, target`.
    pub aliases: Vec<(&'a str, &'a str)>,
    /// The number of words and signs in the text.
    pub tokens: u32,
}

/// A declared variable in any state space, or a formal parameter.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// Its name.
    pub name: &'a str,
    /// The state space, for instance `shared`.
    pub space: &'a str,
    /// The element type, for instance `b8` or `u64`.
    pub element: &'a str,
    /// `.align`, in bytes; 0 where none is written.
    pub alignment: u64,
    /// Elements in total; `None` for `[]`.
    pub elements: Option<u64>,
    /// Dimensions are written.
    pub is_array: bool,
    /// `.extern`.
    pub is_extern: bool,
    /// `.ptr`.
    pub is_pointer: bool,
    /// `.attribute(.managed)`.
    pub is_managed: bool,
    /// The initializer, element by element.
    pub initial: Vec<Initial<'a>>,
    /// Position of its name.
    pub position: Position,
}

/// One element of an initializer.
#[derive(Clone, Debug)]
pub enum Initial<'a> {
    /// An integer.
    Integer(i128),
    /// The bits of an f32.
    Single(u32),
    /// The bits of an f64.
    Double(u64),
    /// A symbol's address plus an offset; with a shift for `0xFF00(symbol)` masks.
    Symbol {
        /// The symbol.
        name: &'a str,
        /// Bytes past it.
        offset: i64,
        /// The bits that are taken of the sum.
        mask: Option<u64>,
    },
}

/// An entry or a device function.
#[derive(Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// `.entry`, not `.func`.
    pub is_entry: bool,
    /// The results of a device function.
    pub results: Vec<Variable<'a>>,
    /// The formal parameters.
    pub parameters: Vec<Variable<'a>>,
    /// The statements; `None` for a declaration.
    pub body: Option<Vec<Statement<'a>>>,
    /// `.maxntid`.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`.
    pub cluster: Option<[u32; 3]>,
    /// Position of its name.
    pub position: Position,
    /// The text from its linkage to the end of its body.
    pub text: &'a str,
    /// The line on which that text begins.
    pub first_line: u32,
}

/// A `.loc` directive: where the following instructions come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location<'a> {
    /// The number of a file.
    pub file: u64,
    /// The line in it.
    pub line: u32,
    /// The call sites that the code was inlined into, innermost first: `(file, line)`.
    pub inlined_at: Vec<(Site<'a>, u32)>,
}

/// A file, by number or by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Site<'a> {
    /// The number of a `.file`.
    Number(u64),
    /// A name out of the debug sections.
    Name(&'a str),
}

/// One part of a function body.
#[derive(Debug)]
pub enum Statement<'a> {
    /// `label:`.
    Label(&'a str, Position),
    /// `.reg .type name, ...;`.
    Registers {
        /// The element type.
        element: &'a str,
        /// Elements of a vector register, 1 for a scalar.
        vector: u32,
        /// The names, with a count for `name<count>`.
        names: Vec<(&'a str, Option<u64>)>,
        /// Position of the directive.
        position: Position,
    },
    /// A variable of the function.
    Variable(Variable<'a>),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// `{ .. }`, a scope of its own.
    Block(Vec<Statement<'a>>),
    /// `label: .branchtargets a, b, ...;`
    BranchTargets {
        /// The name of the list.
        label: &'a str,
        /// Position of the directive.
        position: Position,
        /// The labels.
        targets: Vec<&'a str>,
    },
    /// `label: .calltargets a, b;` or `.callprototype`, without their content.
    CallTargets,
    /// `.loc`.
    Location(Location<'a>),
}

/// One instruction, not yet given a meaning.
#[derive(Debug)]
pub struct Instruction<'a> {
    /// The predicate of `@p`, and whether it is negated.
    pub guard: Option<(&'a str, bool)>,
    /// The first word, for instance `ld`.
    pub opcode: &'a str,
    /// The others, without dots.
    pub modifiers: Vec<&'a str>,
    /// The operands.
    pub operands: Vec<Operand<'a>>,
    /// Position of the opcode.
    pub position: Position,
}

impl<'a> Tree<'a> {
    /// The kernels that have a body, in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = &Function<'a>> {
        self.functions.iter().filter(|function| function.is_entry && function.body.is_some())
    }

    /// The kernel of a name.
    pub fn entry(&self, name: &str) -> Option<&Function<'a>> {
        self.entries().find(|function| function.name == name)
    }

    /// The file and line of a location that the kernel's author sees: where inlined code was called. None for line 0,
    /// which belongs to no line of the source.
    pub fn place(&self, location: &Location<'a>) -> Option<(&'a str, u32)> {
        let (site, line) = match location.inlined_at.last() {
            Some((site, line)) => (*site, *line),
            None => (Site::Number(location.file), location.line),
        };
        let file = match site {
            Site::Number(number) => self.files.get(&number).copied()?,
            Site::Name(name) => name,
        };
        (line > 0).then_some((file, line))
    }

    /// Calls `visit` with each instruction of a function, and the place that its author sees, where one was written.
    pub fn instructions(
        &self,
        function: &Function<'a>,
        mut visit: impl FnMut(&Instruction<'a>, Option<(&'a str, u32)>),
    ) {
        let mut at = None;
        function.visit(&mut |statement| match statement {
            Statement::Location(location) => at = self.place(location).or(at),
            Statement::Instruction(instruction) => visit(instruction, at),
            _ => {}
        });
    }
}

impl<'a> Function<'a> {
    /// Calls `visit` with each statement of the body, those of inner blocks included, in the order of the text.
    pub fn visit(&self, visit: &mut impl FnMut(&Statement<'a>)) {
        fn each<'a>(statements: &[Statement<'a>], visit: &mut impl FnMut(&Statement<'a>)) {
            for statement in statements {
                match statement {
                    Statement::Block(inner) => each(inner, visit),
                    other => visit(other),
                }
            }
        }
        each(self.body.as_deref().unwrap_or_default(), visit);
    }

    /// The variables of the body in a state space, such as `shared`: names and bytes.
    pub fn variables(&self, space: &str) -> Vec<(&'a str, u64)> {
        let mut found = Vec::new();
        self.visit(&mut |statement| match statement {
            Statement::Variable(variable) if variable.space == space => {
                found.push((variable.name, variable.bytes()));
            }
            _ => {}
        });
        found
    }
}

impl Variable<'_> {
    /// Its size; 0 for an array whose length the launch gives.
    pub fn bytes(&self) -> u64 {
        let element = crate::Type::parse(self.element).map_or(0, crate::Type::bytes);
        self.elements.unwrap_or(0).saturating_mul(u64::from(element))
    }
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

impl<'a> Operand<'a> {
    /// Calls `visit` with each name in it: registers, symbols, labels.
    pub fn names(&self, visit: &mut impl FnMut(&'a str)) {
        match self {
            Operand::Name { name, .. } | Operand::Not(name) | Operand::Negative(name) => {
                visit(name)
            }
            Operand::Address { base, index, .. } => {
                base.iter().chain(index).for_each(|name| visit(name));
            }
            Operand::Texel { object, coordinates } => {
                visit(object);
                coordinates.iter().for_each(|operand| operand.names(visit));
            }
            Operand::Vector(operands) | Operand::List(operands) => {
                operands.iter().for_each(|operand| operand.names(visit));
            }
            Operand::Pair(one, other) => [one, other].iter().for_each(|it| it.names(visit)),
            Operand::Integer(_) | Operand::Single(_) | Operand::Double(_) | Operand::Sink => {}
        }
    }
}

/// One operand of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register, symbol, label or special register, with the offset of `symbol+4`.
    Name {
        /// The name.
        name: &'a str,
        /// `x` of `%tid.x`.
        component: Option<&'a str>,
        /// Bytes past a symbol.
        offset: i64,
    },
    /// `!p`.
    Not(&'a str),
    /// `-%r1`, which few instructions allow.
    Negative(&'a str),
    /// An integer.
    Integer(i128),
    /// The bits of an f32.
    Single(u32),
    /// The bits of an f64.
    Double(u64),
    /// `[base+offset]`; no base for an absolute address.
    Address {
        /// A register or symbol.
        base: Option<&'a str>,
        /// Bytes past it.
        offset: i64,
        /// A register that is added.
        index: Option<&'a str>,
    },
    /// `[object, {x, y}]`: a texture or surface, or a tensor map, and coordinates.
    Texel {
        /// A register or symbol.
        object: &'a str,
        /// Its coordinates.
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
