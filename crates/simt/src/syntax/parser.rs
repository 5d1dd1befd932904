//! Tokens to the syntax tree, by recursive descent.

use super::lexer::{Located, Token, tokens};
use super::tree::{
    Function, Initial, Instruction, Location, Operand, Site, Statement, Tree, Variable,
};
use crate::error::{Error, Position};

/// Scopes nested deeper than this are refused, so that no text can exhaust the stack.
const DEPTH_MAX: u32 = 100;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Located<'a>>,
    at: usize,
    depth: u32,
}

/// Parses a whole PTX text.
pub(crate) fn parse(text: &str) -> Result<Tree<'_>, Error> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0 };
    parser.unit()
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.at].token
    }

    fn peek_after(&self, ahead: usize) -> Token<'a> {
        self.tokens.get(self.at + ahead).map_or(Token::End, |t| t.token)
    }

    fn position(&self) -> Position {
        self.tokens[self.at].position
    }

    /// Takes one token; the end is never passed.
    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn error<T>(&self, expected: &str) -> Result<T, Error> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Dot(word) => format!("`.{word}`"),
            Token::Integer(value) => format!("`{value}`"),
            Token::Single(_) | Token::Double(_) => "a floating-point number".into(),
            Token::Text(_) => "a string".into(),
            Token::Mark(mark) => format!("`{}`", mark as char),
            Token::End => "the end of the text".into(),
        };
        let message = format!("expected {expected}, found {found}");
        Err(Error::Syntax { position: self.position(), message })
    }

    fn accept(&mut self, mark: u8) -> bool {
        let found = self.peek() == Token::Mark(mark);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, mark: u8) -> Result<(), Error> {
        if self.accept(mark) { Ok(()) } else { self.error(&format!("`{}`", mark as char)) }
    }

    fn word(&mut self, what: &str) -> Result<&'a str, Error> {
        match self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => self.error(what),
        }
    }

    fn dot(&mut self, what: &str) -> Result<&'a str, Error> {
        match self.peek() {
            Token::Dot(word) => {
                self.next();
                Ok(word)
            }
            _ => self.error(what),
        }
    }

    fn integer(&mut self) -> Result<u64, Error> {
        match self.peek() {
            Token::Integer(value) => {
                self.next();
                Ok(value)
            }
            _ => self.error("an integer"),
        }
    }

    fn small(&mut self) -> Result<u32, Error> {
        let position = self.position();
        let value = self.integer()?;
        u32::try_from(value)
            .map_err(|_| Error::Syntax { position, message: format!("{value} is too large here") })
    }

    fn unit(&mut self) -> Result<Tree<'a>, Error> {
        let mut tree = Tree::default();
        loop {
            match self.peek() {
                Token::End => return Ok(tree),
                Token::Mark(b';') => {
                    self.next();
                }
                Token::Dot(name) => self.top_level(name, &mut tree)?,
                // Labels and comments of debug sections.
                Token::Word(_) if self.peek_after(1) == Token::Mark(b':') => {
                    self.next();
                    self.next();
                }
                _ => return self.error("a directive"),
            }
        }
    }

    fn top_level(&mut self, name: &'a str, tree: &mut Tree<'a>) -> Result<(), Error> {
        match name {
            "version" => {
                self.next();
                self.version(tree)?;
            }
            "target" => {
                self.next();
                tree.target = self.word("a target")?;
                while self.accept(b',') {
                    self.word("a target option")?;
                }
            }
            "address_size" => {
                self.next();
                let position = self.position();
                let bits = self.integer()?;
                if bits != 64 {
                    let what = format!(".address_size {bits}");
                    return Err(Error::Unsupported { position, what });
                }
            }
            "file" => {
                self.next();
                let number = self.integer()?;
                if let Token::Text(text) = self.next() {
                    tree.files.insert(number, text);
                }
                while self.accept(b',') {
                    self.integer()?;
                }
            }
            "section" => self.section()?,
            "loc" => {
                self.location()?;
            }
            "pragma" => {
                while !self.accept(b';') {
                    if self.next() == Token::End {
                        return self.error("`;`");
                    }
                }
            }
            "alias" => {
                self.next();
                let alias = self.word("a name")?;
                self.expect(b',')?;
                let target = self.word("a name")?;
                self.accept(b';');
                tree.aliases.push((alias, target));
            }
            _ => self.declaration(tree)?,
        }
        Ok(())
    }

    /// `7.8` reads as one decimal token, `8` as an integer.
    fn version(&mut self, tree: &mut Tree<'a>) -> Result<(), Error> {
        let start = self.tokens[self.at].offset;
        if !matches!(self.next(), Token::Double(_) | Token::Integer(_)) {
            return self.error("a version number");
        }
        let end = self.tokens[self.at].offset;
        let text = self.text.get(start..end).unwrap_or("").split_whitespace().next().unwrap_or("");
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        tree.version = (major.parse().unwrap_or(0), minor.parse().unwrap_or(0));
        Ok(())
    }

    /// Debug sections are skipped as a balanced group.
    fn section(&mut self) -> Result<(), Error> {
        self.next();
        while self.peek() != Token::Mark(b'{') {
            if self.next() == Token::End {
                return self.error("`{`");
            }
        }
        let mut depth = 0u32;
        loop {
            match self.next() {
                Token::Mark(b'{') => depth += 1,
                Token::Mark(b'}') => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                Token::End => return self.error("`}`"),
                _ => {}
            }
        }
    }

    fn declaration(&mut self, tree: &mut Tree<'a>) -> Result<(), Error> {
        let mut is_extern = false;
        loop {
            match self.peek() {
                Token::Dot("extern") => is_extern = true,
                Token::Dot("visible" | "weak" | "common") => {}
                Token::Dot("entry") => {
                    let function = self.function(true)?;
                    tree.functions.push(function);
                    return Ok(());
                }
                Token::Dot("func") => {
                    let function = self.function(false)?;
                    tree.functions.push(function);
                    return Ok(());
                }
                Token::Dot("global" | "const" | "shared" | "tex" | "local" | "param") => {
                    let mut variables = self.variables(is_extern)?;
                    tree.variables.append(&mut variables);
                    return Ok(());
                }
                _ => return self.error("a declaration"),
            }
            self.next();
        }
    }

    fn function(&mut self, is_entry: bool) -> Result<Function<'a>, Error> {
        self.next();
        let position = self.position();
        let mut results = Vec::new();
        while matches!(self.peek(), Token::Dot("attribute")) {
            self.attribute()?;
        }
        if !is_entry && self.accept(b'(') {
            results = self.formal_parameters()?;
        }
        let name = self.word("a function name")?;
        let parameters = if self.accept(b'(') { self.formal_parameters()? } else { Vec::new() };
        let mut function = Function {
            name,
            is_entry,
            results,
            parameters,
            body: None,
            max_threads: None,
            required_threads: None,
            cluster: None,
            position,
        };
        loop {
            match self.peek() {
                Token::Dot("maxntid") => function.max_threads = Some(self.extent()?),
                Token::Dot("reqntid") => function.required_threads = Some(self.extent()?),
                Token::Dot("reqnctapercluster") => function.cluster = Some(self.extent()?),
                Token::Dot(
                    "minnctapersm"
                    | "maxnctapersm"
                    | "maxnreg"
                    | "maxclusterrank"
                    | "explicitcluster"
                    | "blocksareclusters"
                    | "abi_preserve"
                    | "abi_preserve_control",
                ) => {
                    self.next();
                    if matches!(self.peek(), Token::Integer(_)) {
                        self.extent_after_name()?;
                    }
                }
                Token::Dot("noreturn") => {
                    self.next();
                }
                Token::Dot("pragma") => {
                    while !self.accept(b';') {
                        if self.next() == Token::End {
                            return self.error("`;`");
                        }
                    }
                }
                Token::Dot("attribute") => self.attribute()?,
                Token::Mark(b';') => {
                    self.next();
                    return Ok(function);
                }
                Token::Mark(b'{') => {
                    function.body = Some(self.block()?);
                    return Ok(function);
                }
                _ => return self.error("a function body"),
            }
        }
    }

    /// `.attribute(.managed)` and friends.
    fn attribute(&mut self) -> Result<(), Error> {
        self.next();
        self.expect(b'(')?;
        while !self.accept(b')') {
            if self.next() == Token::End {
                return self.error("`)`");
            }
        }
        Ok(())
    }

    fn extent(&mut self) -> Result<[u32; 3], Error> {
        self.next();
        self.extent_after_name()
    }

    fn extent_after_name(&mut self) -> Result<[u32; 3], Error> {
        let mut extent = [self.small()?, 1, 1];
        for value in extent.iter_mut().skip(1) {
            if !self.accept(b',') {
                break;
            }
            *value = self.small()?;
        }
        Ok(extent)
    }

    fn formal_parameters(&mut self) -> Result<Vec<Variable<'a>>, Error> {
        let mut all = Vec::new();
        while !self.accept(b')') {
            match self.peek() {
                Token::Dot("param" | "reg") => {
                    let mut one = self.variables_of_one_declaration(false, true)?;
                    all.append(&mut one);
                }
                _ => return self.error("a parameter"),
            }
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(all)
    }

    fn variables(&mut self, is_extern: bool) -> Result<Vec<Variable<'a>>, Error> {
        let all = self.variables_of_one_declaration(is_extern, false)?;
        self.expect(b';')?;
        Ok(all)
    }

    /// `.space [.align n] [.ptr ...] [.v2|.v4] .type name[dims] [= initial], ...`
    fn variables_of_one_declaration(
        &mut self,
        is_extern: bool,
        single: bool,
    ) -> Result<Vec<Variable<'a>>, Error> {
        let space = self.dot("a state space")?;
        let mut element = "";
        let mut vector = 1u64;
        let mut alignment = 0;
        let mut is_pointer = false;
        while let Token::Dot(word) = self.peek() {
            match word {
                "align" => {
                    self.next();
                    let position = self.position();
                    let value = self.integer()?;
                    if !value.is_power_of_two() || value > 1 << 20 {
                        let message = format!("alignment {value} is not a power of two");
                        return Err(Error::Syntax { position, message });
                    }
                    // `.ptr .align n` speaks of the pointee.
                    if !is_pointer {
                        alignment = value;
                    }
                    continue;
                }
                "ptr" => is_pointer = true,
                "attribute" => {
                    self.attribute()?;
                    continue;
                }
                "v2" => vector = 2,
                "v4" => vector = 4,
                "global" | "const" | "shared" | "local" | "generic" => {}
                word => element = word,
            }
            self.next();
        }
        let mut all = Vec::new();
        loop {
            let position = self.position();
            let name = self.word("a variable name")?;
            let variable = Variable {
                name,
                space,
                element,
                alignment,
                elements: Some(vector),
                is_array: vector > 1,
                is_extern,
                is_pointer,
                initial: Vec::new(),
                position,
            };
            all.push(self.variable_rest(variable)?);
            if single || !self.accept(b',') {
                return Ok(all);
            }
        }
    }

    fn variable_rest(&mut self, mut variable: Variable<'a>) -> Result<Variable<'a>, Error> {
        // `name<count>` is a row of scalars, as the toolchain never writes outside `.reg`.
        while self.accept(b'[') {
            variable.is_array = true;
            if self.accept(b']') {
                variable.elements = None;
                continue;
            }
            let count = self.integer()?;
            self.expect(b']')?;
            let position = variable.position;
            variable.elements = match variable.elements {
                None => None,
                Some(n) => match n.checked_mul(count).filter(|n| *n < 1 << 40) {
                    Some(n) => Some(n),
                    None => {
                        let message = "array too large".into();
                        return Err(Error::Syntax { position, message });
                    }
                },
            };
        }
        if self.accept(b'=') {
            self.initialiser(&mut variable.initial)?;
            if variable.elements.is_none() {
                variable.elements = Some(variable.initial.len() as u64);
            }
        }
        Ok(variable)
    }

    fn initialiser(&mut self, values: &mut Vec<Initial<'a>>) -> Result<(), Error> {
        if self.accept(b'{') {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return self.error("fewer nested braces");
            }
            while !self.accept(b'}') {
                self.initialiser(values)?;
                if !self.accept(b',') {
                    self.expect(b'}')?;
                    break;
                }
            }
            self.depth -= 1;
            return Ok(());
        }
        let value = self.initial_value()?;
        values.push(value);
        Ok(())
    }

    fn initial_value(&mut self) -> Result<Initial<'a>, Error> {
        let negative = self.accept(b'-');
        match self.peek() {
            Token::Integer(value) => {
                self.next();
                if self.accept(b'(') {
                    let inner = self.initial_value()?;
                    self.expect(b')')?;
                    return match inner {
                        Initial::Symbol { name, offset, .. } => {
                            Ok(Initial::Symbol { name, offset, mask: Some(value) })
                        }
                        _ => self.error("a symbol"),
                    };
                }
                Ok(Initial::Integer(if negative { -(value as i128) } else { value as i128 }))
            }
            Token::Single(bits) => {
                self.next();
                Ok(Initial::Single(if negative { bits ^ 1 << 31 } else { bits }))
            }
            Token::Double(bits) => {
                self.next();
                Ok(Initial::Double(if negative { bits ^ 1 << 63 } else { bits }))
            }
            Token::Word("generic") if self.peek_after(1) == Token::Mark(b'(') => {
                self.next();
                self.next();
                let name = self.word("a symbol")?;
                self.expect(b')')?;
                let offset = self.offset()?;
                Ok(Initial::Symbol { name, offset, mask: None })
            }
            Token::Word(name) => {
                self.next();
                let offset = self.offset()?;
                Ok(Initial::Symbol { name, offset, mask: None })
            }
            _ => self.error("an initial value"),
        }
    }

    /// Any number of `+n`, `-n`, `+-n`.
    fn offset(&mut self) -> Result<i64, Error> {
        let mut offset = 0i64;
        loop {
            let negative = if self.accept(b'-') {
                true
            } else if self.accept(b'+') {
                self.accept(b'-')
            } else {
                return Ok(offset);
            };
            let value = self.integer()? as i64;
            offset = if negative { offset.wrapping_sub(value) } else { offset.wrapping_add(value) };
        }
    }

    fn block(&mut self) -> Result<Vec<Statement<'a>>, Error> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.error("fewer nested scopes");
        }
        self.expect(b'{')?;
        let mut statements = Vec::new();
        while !self.accept(b'}') {
            self.statement(&mut statements)?;
        }
        self.depth -= 1;
        Ok(statements)
    }

    fn statement(&mut self, statements: &mut Vec<Statement<'a>>) -> Result<(), Error> {
        match self.peek() {
            Token::Mark(b';') => {
                self.next();
            }
            Token::Mark(b'{') => {
                let inner = self.block()?;
                statements.push(Statement::Block(inner));
            }
            Token::Dot("reg") => statements.push(self.registers()?),
            Token::Dot("local" | "shared" | "param" | "global" | "const") => {
                for variable in self.variables(false)? {
                    statements.push(Statement::Variable(variable));
                }
            }
            Token::Dot("loc") => statements.push(Statement::Location(self.location()?)),
            Token::Dot("pragma") => {
                while !self.accept(b';') {
                    if self.next() == Token::End {
                        return self.error("`;`");
                    }
                }
            }
            Token::Dot("file") => while !matches!(self.next(), Token::Text(_) | Token::End) {},
            Token::Dot("branchtargets" | "calltargets" | "callprototype") => {
                return self.error("a label before it");
            }
            Token::Word(name) if self.peek_after(1) == Token::Mark(b':') => {
                self.next();
                self.next();
                self.after_label(name, statements)?;
            }
            Token::Word(_) | Token::Mark(b'@') => {
                let instruction = self.instruction()?;
                statements.push(Statement::Instruction(instruction));
            }
            _ => return self.error("an instruction"),
        }
        Ok(())
    }

    fn after_label(
        &mut self,
        label: &'a str,
        statements: &mut Vec<Statement<'a>>,
    ) -> Result<(), Error> {
        match self.peek() {
            Token::Dot("branchtargets") => {
                self.next();
                let mut targets = vec![self.word("a label")?];
                while self.accept(b',') {
                    targets.push(self.word("a label")?);
                }
                self.expect(b';')?;
                statements.push(Statement::BranchTargets { label, targets });
            }
            Token::Dot("calltargets") => {
                while !self.accept(b';') {
                    if self.next() == Token::End {
                        return self.error("`;`");
                    }
                }
                statements.push(Statement::CallTargets);
            }
            Token::Dot("callprototype") => {
                self.next();
                if self.accept(b'(') {
                    self.formal_parameters()?;
                }
                self.word("`_`")?;
                if self.accept(b'(') {
                    self.formal_parameters()?;
                }
                while let Token::Dot(_) = self.peek() {
                    self.next();
                    if matches!(self.peek(), Token::Integer(_)) {
                        self.next();
                    }
                }
                self.expect(b';')?;
                statements.push(Statement::CallTargets);
            }
            _ => statements.push(Statement::Label(label)),
        }
        Ok(())
    }

    fn registers(&mut self) -> Result<Statement<'a>, Error> {
        self.next();
        let position = self.position();
        let mut vector = 1;
        let mut element = self.dot("a register type")?;
        if element == "v2" || element == "v4" {
            vector = if element == "v2" { 2 } else { 4 };
            element = self.dot("a register type")?;
        }
        let mut names = Vec::new();
        loop {
            let name = self.word("a register name")?;
            let count = if self.accept(b'<') {
                let count = self.integer()?;
                self.expect(b'>')?;
                Some(count)
            } else {
                None
            };
            names.push((name, count));
            if !self.accept(b',') {
                break;
            }
        }
        self.expect(b';')?;
        Ok(Statement::Registers { element, vector, names, position })
    }

    /// `.loc file line column[, function_name .., inlined_at file line column]`, and LLVM's
    /// comment form `// .. @[ file:line:column ]`.
    fn location(&mut self) -> Result<Location<'a>, Error> {
        let start = self.tokens[self.at].offset;
        self.next();
        let file = self.integer()?;
        let line = self.small()?;
        self.small()?;
        let mut inlined_at = Vec::new();
        while self.accept(b',') {
            match self.word("`inlined_at` or `function_name`")? {
                "function_name" => {
                    self.word("a label")?;
                    self.offset()?;
                }
                _ => {
                    let file = self.integer()?;
                    let line = self.small()?;
                    self.small()?;
                    inlined_at.push((Site::Number(file), line));
                }
            }
        }
        let rest = self.text.get(start..).unwrap_or("");
        let rest = rest.lines().next().unwrap_or("");
        if inlined_at.is_empty() {
            inlined_at = comment_sites(rest);
        }
        Ok(Location { file, line, inlined_at })
    }

    fn instruction(&mut self) -> Result<Instruction<'a>, Error> {
        let mut guard = None;
        if self.accept(b'@') {
            let negated = self.accept(b'!');
            guard = Some((self.word("a predicate")?, negated));
        }
        let position = self.position();
        let opcode = self.word("an opcode")?;
        let mut modifiers = Vec::new();
        while let Token::Dot(modifier) = self.peek() {
            modifiers.push(modifier);
            self.next();
        }
        let mut operands = Vec::new();
        if !self.accept(b';') {
            loop {
                operands.push(self.operand()?);
                if !self.accept(b',') {
                    break;
                }
            }
            self.expect(b';')?;
        }
        Ok(Instruction { guard, opcode, modifiers, operands, position })
    }

    fn operand(&mut self) -> Result<Operand<'a>, Error> {
        let first = self.simple_operand()?;
        if self.accept(b'|') {
            let second = self.simple_operand()?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn simple_operand(&mut self) -> Result<Operand<'a>, Error> {
        match self.peek() {
            Token::Word("_") => {
                self.next();
                Ok(Operand::Sink)
            }
            Token::Word(name) => {
                self.next();
                let component = match self.peek() {
                    Token::Dot(component) => {
                        self.next();
                        Some(component)
                    }
                    _ => None,
                };
                let offset = self.offset()?;
                Ok(Operand::Name { name, component, offset })
            }
            Token::Mark(b'!') => {
                self.next();
                Ok(Operand::Not(self.word("a predicate")?))
            }
            Token::Mark(b'[') => self.address(),
            Token::Mark(b'{') => Ok(Operand::Vector(self.operand_list(b'}')?)),
            Token::Mark(b'(') => Ok(Operand::List(self.operand_list(b')')?)),
            Token::Mark(b'-') => {
                self.next();
                match self.next() {
                    Token::Integer(value) => Ok(Operand::Integer(-(value as i128))),
                    Token::Single(bits) => Ok(Operand::Single(bits ^ 1 << 31)),
                    Token::Double(bits) => Ok(Operand::Double(bits ^ 1 << 63)),
                    Token::Word(name) => Ok(Operand::Negative(name)),
                    _ => self.error("a number"),
                }
            }
            Token::Integer(value) => {
                self.next();
                Ok(Operand::Integer(value as i128))
            }
            Token::Single(bits) => {
                self.next();
                Ok(Operand::Single(bits))
            }
            Token::Double(bits) => {
                self.next();
                Ok(Operand::Double(bits))
            }
            _ => self.error("an operand"),
        }
    }

    fn operand_list(&mut self, close: u8) -> Result<Vec<Operand<'a>>, Error> {
        self.next();
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.error("fewer nested operands");
        }
        let mut all = Vec::new();
        while !self.accept(close) {
            all.push(self.operand()?);
            if !self.accept(b',') {
                self.expect(close)?;
                break;
            }
        }
        self.depth -= 1;
        Ok(all)
    }

    fn address(&mut self) -> Result<Operand<'a>, Error> {
        self.next();
        let mut base = None;
        let mut offset = 0i64;
        match self.peek() {
            Token::Word(name) => {
                self.next();
                base = Some(name);
            }
            Token::Integer(value) => {
                self.next();
                offset = value as i64;
            }
            _ => return self.error("an address"),
        }
        // `[base+%register]` is written by nobody but allowed for parameters by some versions.
        let mut index = None;
        if self.peek() == Token::Mark(b'+')
            && let Token::Word(name) = self.peek_after(1)
        {
            self.next();
            self.next();
            index = Some(name);
        }
        offset = offset.wrapping_add(self.offset()?);
        if self.accept(b',') {
            return Err(Error::Unsupported {
                position: self.position(),
                what: "texture or tensor coordinates".into(),
            });
        }
        self.expect(b']')?;
        Ok(Operand::Address { base, offset, index })
    }
}

/// Finds the call sites `@[ file:line:column ]` of LLVM's comment, innermost first.
fn comment_sites(line: &str) -> Vec<(Site<'_>, u32)> {
    let site = |text| -> Option<(Site<'_>, u32)> {
        let (rest, _column) = str::trim(text).rsplit_once(':')?;
        let (file, number) = rest.rsplit_once(':')?;
        Some((Site::Name(file), number.parse().ok()?))
    };
    let sites =
        line.split("@[ ").skip(1).filter_map(|text| site(text.trim_end_matches([' ', ']'])));
    sites.collect()
}
