//! The CUDA C++ of the course's kernels to the same tree as their Rust: types, declarations and statements.
//!
//! C's rules are followed where they differ: promotions, conversions, no check of an index or a division. Expressions
//! are in `expr`, functions of CUDA in `library`.

mod expr;
mod library;
mod token;

use crate::tree::{
    Checked, Expr, Function, Int, Kind, LocalId, Pattern, Place, Result, Statement, Static,
    StaticSpace, Type, Vector, refuse,
};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use token::{Kind as Word, Token};

/// Nested statements and expressions beyond which a file is refused, and the words of a statement.
const MAX_DEPTH: usize = 32;
const MAX_WORDS: usize = 600;
/// The longest array; shared memory has fewer words.
const MAX_LENGTH: usize = 1 << 16;

/// A number that is known when the file is compiled.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Int(i128),
    Float(f64, f32),
}

#[derive(Clone, Debug)]
pub enum Name {
    Local(LocalId),
    /// A local that names another place.
    Reference(LocalId),
    Constant(Number, Type),
    Static(usize),
    Function(usize),
}

struct Local {
    of: Type,
    is_const: bool,
}

/// A lambda's way to take the names around it: from this scope on they are its own.
struct Lambda {
    first_scope: usize,
    by_value: bool,
    by_reference: bool,
    copies: Vec<(LocalId, LocalId)>,
}

/// The parser of one file, which also finds every type.
pub struct Parser {
    tokens: Vec<Token>,
    next: usize,
    out: Checked,
    locals: Vec<Local>,
    scopes: Vec<HashMap<String, Name>>,
    loops: Vec<usize>,
    loop_count: usize,
    /// The result of the function around; `None` where a lambda's first `return` says it.
    result: Option<Type>,
    lambdas: Vec<Lambda>,
    /// The parameters that are references.
    references: BTreeSet<LocalId>,
    /// True when the last pointer was `__restrict__`.
    is_restricted: bool,
    depth: usize,
}

/// The facts that words before a name say of it.
#[derive(Default)]
struct Declared {
    of: Option<Type>,
    is_auto: bool,
    is_const: bool,
    is_volatile: bool,
    is_static: bool,
    space: Option<StaticSpace>,
    is_kernel: bool,
    is_device: bool,
    is_extern: bool,
    at: Place,
}

/// A checked file and the types of its locals.
pub fn check(source: &str) -> Result<(Checked, Vec<Type>)> {
    let tokens = token::tokens(source)?;
    refuse_deep(&tokens)?;
    let mut parser = Parser {
        tokens,
        next: 0,
        out: Checked { is_c: true, ..Checked::default() },
        locals: Vec::new(),
        scopes: vec![HashMap::new()],
        loops: Vec::new(),
        loop_count: 0,
        result: None,
        lambdas: Vec::new(),
        references: BTreeSet::new(),
        is_restricted: false,
        depth: 0,
    };
    while !parser.is_end() {
        parser.item()?;
    }
    let types = parser.locals.into_iter().map(|local| local.of).collect();
    Ok((parser.out, types))
}

/// Refuses a file whose statements would take more stack than there is.
fn refuse_deep(tokens: &[Token]) -> Result<()> {
    // The words of the present statement in each bracket, and whether it may have ended with a brace.
    let mut open = vec![(0, false)];
    for token in tokens {
        let sign = if let Word::Sign(sign) = token.kind { sign } else { "" };
        let is_else = matches!(&token.kind, Word::Word(word) if word == "else");
        if let Some((words, has_ended)) = open.last_mut() {
            if std::mem::take(has_ended) && !is_else {
                *words = 0;
            }
            *words += 1;
        }
        match sign {
            "(" | "[" | "{" => open.push((0, false)),
            ")" | "]" | "}" if open.len() > 1 => {
                open.pop();
                if let (Some(last), "}") = (open.last_mut(), sign) {
                    last.1 = true;
                }
            }
            ";" | "," => {
                if let Some(last) = open.last_mut() {
                    last.1 = true;
                }
            }
            _ => {}
        }
        if open.len() > MAX_DEPTH || open.iter().map(|one| one.0).sum::<usize>() > MAX_WORDS {
            return refuse(token.at, "this is nested too deep, or too long for a statement, here");
        }
    }
    Ok(())
}

impl Parser {
    // Tokens.

    fn is_end(&self) -> bool {
        self.tokens[self.next].kind == Word::End
    }

    fn at(&self) -> Place {
        self.tokens[self.next].at
    }

    fn kind(&self) -> &Word {
        &self.tokens[self.next].kind
    }

    fn ahead(&self, by: usize) -> &Word {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.next + by).min(last)].kind
    }

    fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.kind(), Word::Sign(one) if *one == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), Word::Word(one) if one == word)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn shown(&self) -> String {
        match self.kind() {
            Word::Word(word) => format!("`{word}`"),
            Word::Sign(sign) => format!("`{sign}`"),
            Word::Text => "a text".to_owned(),
            Word::End => "the end of the file".to_owned(),
            _ => "a number".to_owned(),
        }
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        if self.takes(sign) {
            return Ok(());
        }
        refuse(self.at(), format!("`{sign}` is expected here, and {} is found", self.shown()))
    }

    fn name(&mut self) -> Result<String> {
        match self.kind().clone() {
            Word::Word(word) => {
                self.advance();
                Ok(word)
            }
            _ => {
                refuse(self.at(), format!("a name is expected here, and {} is found", self.shown()))
            }
        }
    }

    // Names.

    fn bind(&mut self, name: &str, what: Name) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), what);
        }
    }

    fn local(&mut self, name: &str, of: Type, is_const: bool) -> LocalId {
        self.locals.push(Local { of, is_const });
        self.out.locals.push(name.to_owned());
        self.locals.len() - 1
    }

    // Types.

    /// Returns whether a declaration begins here.
    fn is_type(&self, by: usize) -> bool {
        match self.ahead(by) {
            Word::Word(word) => is_type_word(word),
            _ => false,
        }
    }

    /// The words of a declaration before its first name.
    fn declared(&mut self) -> Result<Declared> {
        let mut found = Declared { at: self.at(), ..Declared::default() };
        // `unsigned`, `long` and their like, in any order.
        let (mut sign, mut longs, mut word) = (None, 0, None::<String>);
        loop {
            let at = self.at();
            let Word::Word(one) = self.kind().clone() else { break };
            match one.as_str() {
                "const" | "constexpr" => found.is_const = true,
                "volatile" => found.is_volatile = true,
                "static" => found.is_static = true,
                "inline" | "__inline__" | "__forceinline__" | "__noinline__" | "register"
                | "__host__" => {}
                "__restrict__" | "__restrict" => {}
                "__shared__" => found.space = Some(StaticSpace::Shared),
                "__constant__" => found.space = Some(StaticSpace::Constant),
                "__device__" => found.is_device = true,
                "__global__" => found.is_kernel = true,
                "extern" => {
                    found.is_extern = true;
                    if *self.ahead(1) == Word::Text {
                        self.advance();
                    } else {
                        return refuse(
                            at,
                            "`extern` memory has no length here: declare the array with its length, such as `__shared__ float tile[256]`",
                        );
                    }
                }
                "__launch_bounds__" => {
                    self.advance();
                    self.skip_parentheses()?;
                    continue;
                }
                "auto" => found.is_auto = true,
                "signed" | "unsigned" => sign = Some(one == "signed"),
                "long" => longs += 1,
                "std" if *self.ahead(1) == Word::Sign("::") => {
                    self.advance();
                }
                "struct" | "class" | "union" | "enum" | "typedef" | "using" | "template"
                | "namespace" => {
                    return refuse(
                        at,
                        format!(
                            "`{one}` is not read here: a task's file has functions, arrays and numbers"
                        ),
                    );
                }
                _ if word.is_none() && found.of.is_none() && is_type_word(&one) => {
                    match simple_type(&one) {
                        Some(of) => found.of = Some(of),
                        None => word = Some(one),
                    }
                }
                _ => break,
            }
            self.advance();
        }
        let has_words = sign.is_some() || longs > 0 || word.is_some();
        if has_words {
            if found.of.is_some() {
                return refuse(found.at, "this type is not read here: a type has one name");
            }
            let signed = sign.unwrap_or(true);
            found.of = Some(match (word.as_deref(), longs) {
                (Some("int") | None, 0) => int(32, signed),
                (Some("int") | None, 1 | 2) => int(64, signed),
                (Some("char"), 0) => int(8, signed),
                (Some("short"), 0) => int(16, signed),
                _ => return refuse(found.at, "this type is not read here"),
            });
            // `short int`.
            self.takes_word("int");
        }
        if found.of.is_none() && !found.is_auto {
            return refuse(
                self.at(),
                format!("a type is expected here, and {} is found", self.shown()),
            );
        }
        Ok(found)
    }

    fn skip_parentheses(&mut self) -> Result<()> {
        self.expect("(")?;
        let mut open = 1;
        while open > 0 && !self.is_end() {
            open += usize::from(self.is_sign("("));
            open -= usize::from(self.is_sign(")"));
            self.advance();
        }
        Ok(())
    }

    /// Stars and their words behind a type.
    fn pointers(&mut self, of: Type, is_const: bool, is_volatile: bool) -> Result<(Type, bool)> {
        let (mut of, mut is_const) = (of, is_const);
        self.is_restricted = false;
        let mut is_volatile = is_volatile;
        let is_pointee = |of: &Type| {
            matches!(
                of,
                Type::Int(_)
                    | Type::F32
                    | Type::F64
                    | Type::Bool
                    | Type::Vector(_)
                    | Type::Volatile(_)
            )
        };
        loop {
            let at = self.at();
            if !self.takes("*") {
                break;
            }
            if is_volatile {
                of = Type::Volatile(Box::new(of));
            }
            if !is_pointee(&of) && of != Type::Unit {
                return refuse(at, "a pointer to this is not read here: a pointer to numbers is");
            }
            of = Type::Pointer(!is_const, Box::new(of));
            (is_const, is_volatile, self.is_restricted) = (false, false, false);
            loop {
                if self.takes_word("const") {
                    is_const = true;
                } else if self.takes_word("__restrict__") || self.takes_word("__restrict") {
                    self.is_restricted = true;
                } else {
                    break;
                }
            }
        }
        if is_volatile {
            of = Type::Volatile(Box::new(of));
        }
        Ok((of, is_const))
    }

    /// A type without a name, as in a cast.
    fn type_name(&mut self) -> Result<Type> {
        let at = self.at();
        let declared = self.declared()?;
        let Some(of) = declared.of else {
            return refuse(at, "`auto` is not read here: write the type");
        };
        let (of, _) = self.pointers(of, declared.is_const, declared.is_volatile)?;
        Ok(of)
    }

    /// The lengths behind an array's name.
    fn lengths(&mut self, of: Type) -> Result<Type> {
        let mut lengths = Vec::new();
        while self.is_sign("[") {
            let at = self.at();
            self.advance();
            if self.is_sign("]") {
                return refuse(at, "an array has a length here: write it between the brackets");
            }
            let length = self.ternary()?;
            self.expect("]")?;
            let Some(Number::Int(length)) = self.constant(&length) else {
                return refuse(at, "the length of an array is a number, or a `const` one, here");
            };
            if length <= 0 || length > MAX_LENGTH as i128 {
                return refuse(at, format!("an array has 1 to {MAX_LENGTH} elements here"));
            }
            lengths.push((length as usize, at));
        }
        let mut parts = 1_usize;
        let mut of = of;
        for (length, at) in lengths.into_iter().rev() {
            parts = parts.saturating_mul(length);
            if parts > MAX_LENGTH {
                return refuse(at, format!("an array has at most {MAX_LENGTH} elements here"));
            }
            of = Type::Array(Box::new(of), length);
        }
        Ok(of)
    }

    // Items.

    fn item(&mut self) -> Result<()> {
        if self.takes(";") {
            return Ok(());
        }
        if self.is_word("extern")
            && *self.ahead(1) == Word::Text
            && *self.ahead(2) == Word::Sign("{")
        {
            return refuse(
                self.at(),
                "a block of `extern \"C\"` is not read here: write `extern \"C\"` before the kernel",
            );
        }
        let declared = self.declared()?;
        let Some(of) = declared.of.clone() else {
            return refuse(declared.at, "`auto` is not read here: write the type");
        };
        let (of, is_const) = self.pointers(of, declared.is_const, declared.is_volatile)?;
        let at = self.at();
        let name = self.name()?;
        if self.is_sign("(") {
            return self.function(&declared, &name, of, at);
        }
        let declared = Declared { is_const, ..declared };
        self.globals(&declared, name, of, at)
    }

    fn function(&mut self, declared: &Declared, name: &str, result: Type, at: Place) -> Result<()> {
        if !declared.is_kernel && !declared.is_device {
            return refuse(
                at,
                format!("`{name}` is a function of the host: write `__device__` before it"),
            );
        }
        if declared.is_kernel && result != Type::Unit {
            return refuse(at, "a kernel has no result: write `void`");
        }
        if declared.is_kernel && !declared.is_extern {
            return refuse(
                at,
                format!(
                    "write `extern \"C\" __global__ void {name}(..)`: without it C++ gives the kernel another name"
                ),
            );
        }
        self.scopes.push(HashMap::new());
        let parameters = self.parameters(declared.is_kernel)?;
        let known = match self.scopes[0].get(name) {
            Some(Name::Function(index)) => Some(*index),
            Some(_) => return refuse(at, format!("`{name}` is declared twice")),
            None => None,
        };
        let index = match known {
            Some(index) if self.out.functions[index].body.get().is_none() => {
                let before = &self.out.functions[index];
                let same = before
                    .parameters
                    .iter()
                    .map(|one| &one.1)
                    .eq(parameters.iter().map(|one| &one.1));
                if !same || before.result != result {
                    return refuse(at, format!("`{name}` is declared with other types before"));
                }
                self.out.functions[index].parameters = parameters;
                index
            }
            Some(_) => {
                return refuse(
                    at,
                    format!("`{name}` is declared twice: overloads are not read here"),
                );
            }
            None => {
                self.out.functions.push(Function {
                    name: name.to_owned(),
                    is_kernel: declared.is_kernel,
                    is_unsafe: false,
                    parameters,
                    result: result.clone(),
                    body: OnceCell::new(),
                    at,
                });
                self.out.functions.len() - 1
            }
        };
        self.scopes[0].insert(name.to_owned(), Name::Function(index));
        if self.takes(";") {
            self.scopes.pop();
            return Ok(());
        }
        self.result = Some(result.clone());
        let body = self.block()?;
        self.scopes.pop();
        self.result = None;
        let body = with_tail(body);
        if result != Type::Unit && !returns_always(&body) {
            return refuse(at, format!("`{name}` may end without a `return`"));
        }
        let _ = self.out.functions[index].body.set(body);
        Ok(())
    }

    fn parameters(&mut self, is_kernel: bool) -> Result<Vec<(LocalId, Type)>> {
        self.expect("(")?;
        let mut all = Vec::new();
        if self.is_word("void") && *self.ahead(1) == Word::Sign(")") {
            self.advance();
        }
        while !self.takes(")") {
            if !all.is_empty() {
                self.expect(",")?;
            }
            let declared = self.declared()?;
            let at = declared.at;
            let Some(of) = declared.of else {
                return refuse(at, "`auto` is not read here: write the type");
            };
            let (mut of, is_const) = self.pointers(of, declared.is_const, declared.is_volatile)?;
            let is_restricted = self.is_restricted;
            let is_reference = self.takes("&");
            let name = match self.kind() {
                Word::Word(_) => self.name()?,
                _ => String::new(),
            };
            if self.is_sign("[") {
                // An array is handed on as a pointer to its first element; a first length says nothing.
                self.advance();
                if !self.is_sign("]") {
                    self.ternary()?;
                }
                self.expect("]")?;
                if self.is_sign("[") || is_reference {
                    return refuse(at, "this parameter is not read here: hand on a pointer");
                }
                of = Type::Pointer(!is_const, Box::new(of));
            }
            if is_kernel
                && (is_reference
                    || !matches!(of, Type::Int(_) | Type::F32 | Type::F64 | Type::Pointer(..)))
            {
                return refuse(
                    at,
                    "this parameter of a kernel is not read here: a number or a pointer is",
                );
            }
            if of == Type::Unit || matches!(of, Type::Volatile(_)) {
                return refuse(at, "this type of a parameter is not read here");
            }
            let of = if is_reference { Type::Pointer(!is_const, Box::new(of)) } else { of };
            let id = self.local(&name, of.clone(), is_const && !is_reference);
            self.bind(&name, if is_reference { Name::Reference(id) } else { Name::Local(id) });
            if is_reference {
                self.references.insert(id);
            }
            if is_kernel && is_restricted {
                self.out.restricted.insert(id);
            }
            all.push((id, of));
        }
        Ok(all)
    }

    /// Arrays and numbers outside of functions.
    fn globals(&mut self, declared: &Declared, name: String, of: Type, at: Place) -> Result<()> {
        let (mut name, mut at) = (name, at);
        loop {
            let whole = self.lengths(of.clone())?;
            let space = match (declared.space, declared.is_device, &whole) {
                (Some(space), ..) => Some(space),
                (None, true, _) => Some(StaticSpace::Global),
                (None, false, Type::Int(_) | Type::F32 | Type::F64 | Type::Bool)
                    if declared.is_const =>
                {
                    None
                }
                _ => {
                    return refuse(
                        at,
                        format!(
                            "`{name}` is memory of the host: write `__device__` or `__constant__` before it, or `const` before a number"
                        ),
                    );
                }
            };
            match space {
                Some(space) => self.declare_static(&name, whole, space, declared.is_const, at)?,
                None => {
                    self.expect("=")?;
                    let value = self.assignment(true)?;
                    let value = self.convert(value, &whole)?;
                    let Some(number) = self.constant(&value) else {
                        return refuse(
                            at,
                            format!("the value of `{name}` is not known when the file is compiled"),
                        );
                    };
                    self.bind(&name, Name::Constant(number, whole));
                }
            }
            if !self.takes(",") {
                return self.expect(";");
            }
            at = self.at();
            name = self.name()?;
        }
    }

    fn declare_static(
        &mut self,
        name: &str,
        of: Type,
        space: StaticSpace,
        is_const: bool,
        at: Place,
    ) -> Result<()> {
        let value = if self.takes("=") || self.is_sign("{") {
            if space == StaticSpace::Shared {
                return refuse(
                    at,
                    "a `__shared__` array has no first value: write it in the kernel",
                );
            }
            Some(self.initial(&of)?)
        } else {
            None
        };
        let is_mutable = !is_const && space != StaticSpace::Constant;
        self.bind(name, Name::Static(self.out.statics.len()));
        self.out.statics.push(Static { name: name.to_owned(), of, space, is_mutable, value, at });
        Ok(())
    }

    /// The first value of a variable: an expression, or a list in braces.
    fn initial(&mut self, of: &Type) -> Result<Expr> {
        let at = self.at();
        if !self.is_sign("{") {
            if let Type::Array(..) = of {
                return refuse(at, "an array begins as a list in braces here");
            }
            let value = self.assignment(true)?;
            return self.convert(value, of);
        }
        self.advance();
        let (element, length) = match of {
            Type::Array(element, length) => ((**element).clone(), *length),
            Type::Vector(vector) => (Type::of(vector.element), vector.lanes),
            other => (other.clone(), 1),
        };
        let mut all = Vec::new();
        while !self.takes("}") {
            if !all.is_empty() {
                self.expect(",")?;
                if self.takes("}") {
                    break;
                }
            }
            if all.len() == length {
                return refuse(self.at(), format!("the list has more than {length} values"));
            }
            if matches!(element, Type::Array(..)) && !self.is_sign("{") {
                return refuse(self.at(), "each row of an array has braces of its own here");
            }
            all.push(self.initial(&element)?);
        }
        while all.len() < length {
            all.push(zero(&element, at));
        }
        let of = of.clone();
        Ok(match of {
            Type::Array(..) => Expr { kind: Kind::Array(all), of, at },
            Type::Vector(_) => Expr { kind: Kind::Library("aggregate", all), of, at },
            _ => all.swap_remove(0),
        })
    }

    // Statements.

    /// Statements between braces; names end with it.
    fn block(&mut self) -> Result<Expr> {
        let at = self.at();
        self.expect("{")?;
        self.scopes.push(HashMap::new());
        let mut all = Vec::new();
        while !self.takes("}") {
            if self.is_end() {
                return refuse(self.at(), "`}` is expected here, and the file ends");
            }
            self.statement(&mut all)?;
        }
        self.scopes.pop();
        Ok(Expr { kind: Kind::Block(all, None), of: Type::Unit, at })
    }

    /// A statement where one is wanted, such as behind `if (..)`.
    fn body(&mut self) -> Result<Expr> {
        let at = self.at();
        if self.is_sign("{") {
            return self.nested(Parser::block);
        }
        self.scopes.push(HashMap::new());
        let mut all = Vec::new();
        self.statement(&mut all)?;
        self.scopes.pop();
        Ok(Expr { kind: Kind::Block(all, None), of: Type::Unit, at })
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > 4 * MAX_DEPTH {
            return refuse(self.at(), "this is nested too deep here");
        }
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn statement(&mut self, all: &mut Vec<Statement>) -> Result<()> {
        let at = self.at();
        let word = match self.kind() {
            Word::Word(word) => word.clone(),
            Word::Sign("{") => {
                let block = self.nested(Parser::block)?;
                all.push(Statement::Expr(block));
                return Ok(());
            }
            Word::Sign(";") => {
                self.advance();
                return Ok(());
            }
            _ => String::new(),
        };
        match word.as_str() {
            "if" => {
                self.advance();
                self.takes_word("constexpr");
                let made = self.nested(Parser::if_statement)?;
                all.push(Statement::Expr(made));
            }
            "while" => {
                self.advance();
                self.expect("(")?;
                let condition = self.condition()?;
                self.expect(")")?;
                let (id, body) = self.turns()?;
                let kind = Kind::While(id, Box::new(condition), Box::new(body), None);
                all.push(Statement::Expr(Expr { kind, of: Type::Unit, at }));
            }
            "do" => {
                self.advance();
                let (id, body) = self.turns()?;
                if !self.takes_word("while") {
                    return refuse(self.at(), "`while (..)` is expected behind `do { .. }`");
                }
                self.expect("(")?;
                let condition = self.condition()?;
                self.expect(")")?;
                self.expect(";")?;
                // What stands behind the body is its condition, which `continue` goes to as well.
                let ends = Expr { kind: Kind::Not(Box::new(condition)), of: Type::Bool, at };
                let leave = Expr { kind: Kind::Break(id), of: Type::Never, at };
                let step = Expr {
                    kind: Kind::If(Box::new(ends), Box::new(leave), None),
                    of: Type::Unit,
                    at,
                };
                let always = Expr { kind: Kind::Bool(true), of: Type::Bool, at };
                let kind = Kind::While(id, Box::new(always), Box::new(body), Some(step.into()));
                all.push(Statement::Expr(Expr { kind, of: Type::Unit, at }));
            }
            "for" => {
                self.advance();
                let made = self.nested(Parser::for_statement)?;
                all.push(Statement::Expr(made));
            }
            "break" | "continue" => {
                self.advance();
                self.expect(";")?;
                let Some(id) = self.loops.last().copied() else {
                    return refuse(at, format!("there is no loop around this `{word}`"));
                };
                let kind = if word == "break" { Kind::Break(id) } else { Kind::Continue(id) };
                all.push(Statement::Expr(Expr { kind, of: Type::Never, at }));
            }
            "return" => {
                self.advance();
                let value = if self.is_sign(";") { None } else { Some(self.expr(true)?) };
                self.expect(";")?;
                let value = match (value, self.result.clone()) {
                    (Some(value), Some(of)) if of != Type::Unit => Some(self.convert(value, &of)?),
                    (Some(value), None) => {
                        let value = self.value(value)?;
                        self.result = Some(value.of.clone());
                        Some(value)
                    }
                    (None, Some(Type::Unit)) => None,
                    (None, None) => {
                        self.result = Some(Type::Unit);
                        None
                    }
                    (Some(_), _) => {
                        return refuse(at, "this function has no result: write `return;`");
                    }
                    (None, _) => {
                        return refuse(at, "this function has a result: write it behind `return`");
                    }
                };
                let kind = Kind::Return(value.map(Box::new));
                all.push(Statement::Expr(Expr { kind, of: Type::Never, at }));
            }
            "switch" => {
                return refuse(at, "`switch` is not read here: write `if` and `else if`");
            }
            "goto" | "try" | "asm" | "__asm__" | "throw" => {
                return refuse(
                    at,
                    format!("`{word}` is not read here: write it with `if` and loops"),
                );
            }
            _ if self.begins_declaration() => self.declaration(all)?,
            _ => {
                let made = self.expr(false)?;
                self.expect(";")?;
                all.push(Statement::Expr(made));
            }
        }
        Ok(())
    }

    /// Returns whether a type begins here that is no cast: `float(x);` is one.
    fn begins_declaration(&self) -> bool {
        self.is_type(0) && *self.ahead(1) != Word::Sign("(")
    }

    fn if_statement(&mut self) -> Result<Expr> {
        let at = self.at();
        self.expect("(")?;
        let condition = self.condition()?;
        self.expect(")")?;
        let then = self.body()?;
        let other =
            if self.takes_word("else") { Some(Box::new(self.nested(Parser::body)?)) } else { None };
        let kind = Kind::If(Box::new(condition), Box::new(then), other);
        Ok(Expr { kind, of: Type::Unit, at })
    }

    /// The body of a loop.
    fn turns(&mut self) -> Result<(usize, Expr)> {
        let id = self.loop_count;
        self.loop_count += 1;
        self.loops.push(id);
        let body = self.nested(Parser::body)?;
        self.loops.pop();
        Ok((id, body))
    }

    fn for_statement(&mut self) -> Result<Expr> {
        let at = self.at();
        self.expect("(")?;
        self.scopes.push(HashMap::new());
        let mut all = Vec::new();
        if self.begins_declaration() {
            self.declaration(&mut all)?;
        } else if !self.takes(";") {
            let first = self.expr(false)?;
            self.expect(";")?;
            all.push(Statement::Expr(first));
        }
        let condition = if self.is_sign(";") {
            Expr { kind: Kind::Bool(true), of: Type::Bool, at }
        } else {
            self.condition()?
        };
        self.expect(";")?;
        let step = if self.is_sign(")") { None } else { Some(self.expr(false)?.into()) };
        self.expect(")")?;
        let (id, body) = self.turns()?;
        self.scopes.pop();
        let kind = Kind::While(id, Box::new(condition), Box::new(body), step);
        all.push(Statement::Expr(Expr { kind, of: Type::Unit, at }));
        Ok(Expr { kind: Kind::Block(all, None), of: Type::Unit, at })
    }

    /// A declaration of variables.
    fn declaration(&mut self, all: &mut Vec<Statement>) -> Result<()> {
        let declared = self.declared()?;
        if declared.is_kernel
            || declared.is_device
            || declared.is_extern
            || declared.space == Some(StaticSpace::Constant)
        {
            return refuse(declared.at, "this is declared outside of functions");
        }
        if declared.is_static && !declared.is_const && declared.space.is_none() {
            return refuse(
                declared.at,
                "a `static` variable outlives its function, for all threads together: pass a pointer to memory",
            );
        }
        loop {
            let base = declared.of.clone().unwrap_or(Type::Unit);
            let (of, is_const) = self.pointers(base, declared.is_const, declared.is_volatile)?;
            let is_reference = self.takes("&");
            let at = self.at();
            let name = self.name()?;
            if declared.is_auto {
                self.auto(&name, is_const, is_reference, at, all)?;
            } else if of == Type::Unit {
                return refuse(at, "a variable has a type other than `void`");
            } else if is_reference {
                self.expect("=")?;
                let place = self.assignment(true)?;
                let pointer = Type::Pointer(!is_const, Box::new(of.clone()));
                let place = self.reference(place, &pointer)?;
                let id = self.local(&name, pointer, true);
                self.bind(&name, Name::Reference(id));
                all.push(Statement::Let(Pattern::Bind(id), Some(place)));
            } else {
                let whole = self.lengths(of)?;
                self.variable(&declared, &name, whole, is_const, at, all)?;
            }
            if !self.takes(",") {
                return self.expect(";");
            }
        }
    }

    fn auto(
        &mut self,
        name: &str,
        is_const: bool,
        is_reference: bool,
        at: Place,
        all: &mut Vec<Statement>,
    ) -> Result<()> {
        self.expect("=")?;
        if self.is_sign("[") {
            return self.lambda(name, all);
        }
        if is_reference {
            return refuse(at, "a reference has a type here: write it instead of `auto`");
        }
        let value = self.assignment(true)?;
        let value = self.value(value)?;
        let id = self.local(name, value.of.clone(), is_const);
        self.bind(name, Name::Local(id));
        all.push(Statement::Let(Pattern::Bind(id), Some(value)));
        Ok(())
    }

    fn variable(
        &mut self,
        declared: &Declared,
        name: &str,
        of: Type,
        is_const: bool,
        at: Place,
        all: &mut Vec<Statement>,
    ) -> Result<()> {
        if let Some(space) = declared.space {
            return self.declare_static(name, of, space, is_const, at);
        }
        if let Type::Volatile(_) = of {
            return refuse(
                at,
                "a `volatile` variable is not read here: memory behind a pointer may be `volatile`",
            );
        }
        if self.is_sign("(") {
            return refuse(at, format!("write `= ..` behind `{name}`"));
        }
        let value =
            if self.takes("=") || self.is_sign("{") { Some(self.initial(&of)?) } else { None };
        // A constant is its value, also as the length of an array.
        if is_const
            && matches!(of, Type::Int(_) | Type::F32 | Type::F64 | Type::Bool)
            && let Some(number) = value.as_ref().and_then(|value| self.constant(value))
        {
            self.bind(name, Name::Constant(number, of));
            return Ok(());
        }
        let id = self.local(name, of, is_const);
        self.bind(name, Name::Local(id));
        all.push(Statement::Let(Pattern::Bind(id), value));
        Ok(())
    }

    /// A function without a name, which is called by that of its variable.
    fn lambda(&mut self, name: &str, all: &mut Vec<Statement>) -> Result<()> {
        let at = self.at();
        self.expect("[")?;
        let by_value = self.takes("=");
        let by_reference = !by_value && self.takes("&");
        if !self.takes("]") {
            return refuse(at, "a lambda begins with `[]`, `[=]` or `[&]` here");
        }
        if !self.lambdas.is_empty() {
            return refuse(at, "a lambda inside of another is not read here");
        }
        let lambda =
            Lambda { first_scope: self.scopes.len(), by_value, by_reference, copies: Vec::new() };
        self.scopes.push(HashMap::new());
        self.lambdas.push(lambda);
        let parameters = self.parameters(false)?;
        let result = if self.takes("->") { Some(self.type_name()?) } else { None };
        let (outer, loops) =
            (std::mem::replace(&mut self.result, result), std::mem::take(&mut self.loops));
        let body = self.nested(Parser::block)?;
        let result = std::mem::replace(&mut self.result, outer).unwrap_or(Type::Unit);
        self.loops = loops;
        self.scopes.pop();
        let copies = self.lambdas.pop().map(|lambda| lambda.copies).unwrap_or_default();
        for (from, to) in copies {
            let of = self.locals[from].of.clone();
            let value = Expr { kind: Kind::Local(from), of, at };
            all.push(Statement::Let(Pattern::Bind(to), Some(value)));
        }
        let body = with_tail(body);
        if result != Type::Unit && !returns_always(&body) {
            return refuse(at, format!("`{name}` may end without a `return`"));
        }
        self.bind(name, Name::Function(self.out.functions.len()));
        self.out.functions.push(Function {
            name: name.to_owned(),
            is_kernel: false,
            is_unsafe: false,
            parameters,
            result,
            body: OnceCell::from(body),
            at,
        });
        Ok(())
    }
}

/// A body whose last statement gives the result: the function is then a part of its caller without a jump.
fn with_tail(body: Expr) -> Expr {
    let Expr { kind: Kind::Block(mut all, None), of, at } = body else { return body };
    let is_last =
        |one: &Statement| matches!(one, Statement::Expr(Expr { kind: Kind::Return(_), .. }));
    if all.last().is_some_and(is_last)
        && let Some(Statement::Expr(Expr { kind: Kind::Return(value), .. })) = all.pop()
    {
        let of = value.as_ref().map_or(Type::Unit, |value| value.of.clone());
        return Expr { kind: Kind::Block(all, value), of, at };
    }
    Expr { kind: Kind::Block(all, None), of, at }
}

/// Returns whether a body never reaches its end without a value.
fn returns_always(body: &Expr) -> bool {
    match &body.kind {
        Kind::Block(_, Some(_)) | Kind::Return(_) => true,
        Kind::Block(all, None) => {
            all.iter().any(|one| matches!(one, Statement::Expr(one) if returns_always(one)))
        }
        Kind::If(_, then, Some(other)) => returns_always(then) && returns_always(other),
        Kind::While(id, condition, body, _) => {
            matches!(condition.kind, Kind::Bool(true)) && !crate::check::breaks(body, *id)
        }
        _ => false,
    }
}

fn int(bits: u32, signed: bool) -> Type {
    Type::Int(Int { bits, signed, of_address: false })
}

/// A type of one word.
fn simple_type(word: &str) -> Option<Type> {
    Some(match word {
        "void" => Type::Unit,
        "bool" => Type::Bool,
        "float" => Type::F32,
        "double" => Type::F64,
        "size_t" | "uintptr_t" => int(64, false),
        "ptrdiff_t" | "intptr_t" => int(64, true),
        "uint" => int(32, false),
        "uchar" => int(8, false),
        "ushort" => int(16, false),
        _ => {
            if let Some(vector) = vector(word) {
                return Some(Type::Vector(vector));
            }
            let (signed, rest) = match word.strip_prefix('u') {
                Some(rest) => (false, rest),
                None => (true, word),
            };
            let bits = rest.strip_prefix("int")?.strip_suffix("_t")?.parse().ok()?;
            return [8, 16, 32, 64].contains(&bits).then(|| int(bits, signed));
        }
    })
}

/// A short vector by its name in CUDA: `float4`.
fn vector(word: &str) -> Option<Vector> {
    Vector::named(match word {
        "float2" => "F32x2",
        "float4" => "F32x4",
        "double2" => "F64x2",
        "uchar4" => "U8x4",
        "uint2" => "U32x2",
        "uint4" => "U32x4",
        "int2" => "I32x2",
        "int4" => "I32x4",
        _ => return None,
    })
}

fn is_type_word(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "constexpr"
            | "volatile"
            | "static"
            | "inline"
            | "register"
            | "__shared__"
            | "__constant__"
            | "__device__"
            | "__global__"
            | "__host__"
            | "__forceinline__"
            | "__noinline__"
            | "__inline__"
            | "__launch_bounds__"
            | "extern"
            | "auto"
            | "signed"
            | "unsigned"
            | "long"
            | "short"
            | "int"
            | "char"
            | "std"
            | "struct"
            | "class"
            | "union"
            | "enum"
            | "typedef"
            | "using"
            | "template"
            | "namespace"
    ) || simple_type(word).is_some()
}

/// Nothing yet, or zeros.
fn zero(of: &Type, at: Place) -> Expr {
    let kind = match of {
        Type::Bool => Kind::Bool(false),
        Type::F32 | Type::F64 => Kind::Float(0.0, 0.0),
        Type::Array(element, length) => Kind::Repeat(Box::new(zero(element, at)), *length),
        Type::Vector(vector) => Kind::Library("splat", vec![zero(&Type::of(vector.element), at)]),
        Type::Volatile(of) => return zero(of, at),
        _ => Kind::Int(0),
    };
    Expr { kind, of: of.clone(), at }
}
