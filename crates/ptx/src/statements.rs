use super::cursor::Parser;
use super::expression::Constant;
use super::lexer::Token;
use super::tree::{Instruction, Location, Operand, Site, Statement};
use crate::error::{Error, Position};

impl<'a> Parser<'a> {
    pub fn block(&mut self) -> Result<Vec<Statement<'a>>, Error> {
        self.enter("fewer nested scopes")?;
        self.expect(b'{')?;
        let mut statements = Vec::new();
        while !self.accept(b'}') {
            self.statement(&mut statements)?;
        }
        self.depth -= 1;
        Ok(statements)
    }

    pub fn statement(&mut self, statements: &mut Vec<Statement<'a>>) -> Result<(), Error> {
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
            Token::Word(name) if self.peek_second() == Token::Mark(b':') => {
                let position = self.position();
                self.next();
                self.next();
                self.after_label(name, position, statements)?;
            }
            Token::Word(_) | Token::Mark(b'@') => {
                let instruction = self.instruction()?;
                statements.push(Statement::Instruction(instruction));
            }
            _ => return self.error("an instruction"),
        }
        Ok(())
    }

    pub fn after_label(
        &mut self,
        label: &'a str,
        position: Position,
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
                statements.push(Statement::BranchTargets { label, position, targets });
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
            _ => statements.push(Statement::Label(label, position)),
        }
        Ok(())
    }

    pub fn registers(&mut self) -> Result<Statement<'a>, Error> {
        self.next();
        let position = self.position();
        let mut vector = 1;
        let mut element = self.dot("a register type")?;
        if element == "v2" || element == "v4" {
            vector = if element == "v2" { 2 } else { 4 };
            element = self.dot("a register type")?;
            let bytes = crate::Type::parse(element).map_or(0, crate::Type::bytes);
            if element == "pred" || bytes * vector > 16 {
                let message = "a vector register has numbers of 128 bits in all at most".into();
                return Err(Error { position, message });
            }
            self.has_vectors = true;
        }
        let mut names = Vec::new();
        loop {
            let name = self.word("a register name")?;
            let count = self.name_count()?;
            if vector > 1 && count.is_some() {
                return self.error("vector registers with a name each");
            }
            names.push((name, count));
            if !self.accept(b',') {
                break;
            }
        }
        self.expect(b';')?;
        Ok(Statement::Registers { element, vector, names, position })
    }

    /// The count of `name<count>`.
    pub fn name_count(&mut self) -> Result<Option<u64>, Error> {
        if !self.accept(b'<') {
            return Ok(None);
        }
        let count = self.integer()?;
        self.expect(b'>')?;
        Ok(Some(count))
    }

    /// `.loc file line column[, function_name .., inlined_at file line column]`, and LLVM's
    /// comment form `// .. @[ file:line:column ]`.
    pub fn location(&mut self) -> Result<Location<'a>, Error> {
        let start = self.at();
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
        // The comment ends before the next token, so that a line is not read again and again.
        let rest = self.text.get(start..self.at()).unwrap_or("");
        let rest = rest.lines().next().unwrap_or("");
        if inlined_at.is_empty() {
            inlined_at = comment_sites(rest);
        }
        Ok(Location { file, line, inlined_at })
    }

    pub fn instruction(&mut self) -> Result<Instruction<'a>, Error> {
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
                // Elsewhere a parenthesis begins a constant expression.
                operands.push(match self.peek() {
                    Token::Mark(b'(') if opcode == "call" => {
                        Operand::List(self.operand_list(b')')?)
                    }
                    _ => self.operand()?,
                });
                if !self.accept(b',') {
                    break;
                }
            }
            self.expect(b';')?;
        }
        Ok(Instruction { guard, opcode, modifiers, operands, position })
    }

    pub fn operand(&mut self) -> Result<Operand<'a>, Error> {
        let first = self.simple_operand()?;
        if self.accept(b'|') {
            let second = self.simple_operand()?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    pub fn simple_operand(&mut self) -> Result<Operand<'a>, Error> {
        // By itself it is a name, which no predicate can be.
        let is_alone = self.peek() == Token::Word("WARP_SZ")
            && matches!(self.peek_second(), Token::Mark(b',' | b';' | b'}'));
        if self.is_constant_next() && !is_alone {
            return Ok(match self.constant()? {
                Constant::Integer(value) => Operand::Integer(value),
                Constant::Single(bits) => Operand::Single(bits),
                Constant::Double(bits) => Operand::Double(bits),
            });
        }
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
                // `name[0]` is the variable's address, as `name` is.
                if self.accept(b'[') {
                    if self.integer_term()? != 0 {
                        return self.error("the index 0, and `name+bytes` for another element");
                    }
                    self.expect(b']')?;
                }
                let offset = self.offset()?;
                Ok(Operand::Name { name, component, offset })
            }
            Token::Mark(b'[') => self.address(),
            Token::Mark(b'{') => Ok(Operand::Vector(self.operand_list(b'}')?)),
            Token::Mark(b'!') => {
                self.next();
                Ok(Operand::Not(self.word("a predicate")?))
            }
            Token::Mark(b'-') => {
                self.next();
                Ok(Operand::Negative(self.word("a number")?))
            }
            _ => self.error("an operand"),
        }
    }

    pub fn operand_list(&mut self, close: u8) -> Result<Vec<Operand<'a>>, Error> {
        self.next();
        self.operands_up_to(close)
    }

    fn operands_up_to(&mut self, close: u8) -> Result<Vec<Operand<'a>>, Error> {
        self.enter("fewer nested operands")?;
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

    pub fn address(&mut self) -> Result<Operand<'a>, Error> {
        self.next();
        let mut base = None;
        let mut offset = 0i64;
        match self.peek() {
            Token::Word(name) => {
                self.next();
                base = Some(name);
            }
            _ if self.is_constant_next() => offset = self.integer_term()?,
            _ => return self.error("an address"),
        }
        // `[base+%register]` is written by nobody but allowed for parameters by some versions.
        let mut index = None;
        if self.peek() == Token::Mark(b'+')
            && let Token::Word(name) = self.peek_second()
        {
            self.next();
            self.next();
            index = Some(name);
        }
        offset = offset.wrapping_add(self.offset()?);
        if let (Some(object), true) = (base, self.accept(b',')) {
            let coordinates = self.operands_up_to(b']')?;
            return Ok(Operand::Texel { object, coordinates });
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
