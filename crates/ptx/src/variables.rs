use super::cursor::Parser;
use super::expression::Constant;
use super::lexer::Token;
use super::tree::{Initial, Variable};
use crate::error::Error;

impl<'a> Parser<'a> {
    /// `.attribute(.managed)` and friends; whether `.managed` is among them.
    pub fn attribute(&mut self) -> Result<bool, Error> {
        self.next();
        self.expect(b'(')?;
        let mut is_managed = false;
        while !self.accept(b')') {
            match self.next() {
                Token::End => return self.error("`)`"),
                Token::Dot("managed") => is_managed = true,
                _ => {}
            }
        }
        Ok(is_managed)
    }

    pub fn formal_parameters(&mut self) -> Result<Vec<Variable<'a>>, Error> {
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

    pub fn variables(&mut self, is_extern: bool) -> Result<Vec<Variable<'a>>, Error> {
        let all = self.variables_of_one_declaration(is_extern, false)?;
        self.expect(b';')?;
        Ok(all)
    }

    /// `.space [.align n] [.ptr ...] [.v2|.v4] .type name[dims] [= initial], ...`
    pub fn variables_of_one_declaration(
        &mut self,
        is_extern: bool,
        single: bool,
    ) -> Result<Vec<Variable<'a>>, Error> {
        let space = self.dot("a state space")?;
        let mut element = "";
        let mut vector = 1u64;
        let mut alignment = 0;
        let (mut is_pointer, mut is_managed) = (false, false);
        while let Token::Dot(word) = self.peek() {
            match word {
                "align" => {
                    self.next();
                    let position = self.position();
                    let value = self.integer()?;
                    if !value.is_power_of_two() || value > 1 << 20 {
                        let message = format!("alignment {value} is not a power of two");
                        return Err(Error { position, message });
                    }
                    // `.ptr .align n` speaks of the pointee.
                    if !is_pointer {
                        alignment = value;
                    }
                    continue;
                }
                "ptr" => is_pointer = true,
                "attribute" => {
                    is_managed |= self.attribute()?;
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
                is_managed,
                initial: Vec::new(),
                position,
            };
            all.push(self.variable_rest(variable)?);
            if single || !self.accept(b',') {
                return Ok(all);
            }
        }
    }

    pub fn variable_rest(&mut self, mut variable: Variable<'a>) -> Result<Variable<'a>, Error> {
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
                        return Err(Error { position, message });
                    }
                },
            };
        }
        if self.accept(b'=') {
            self.initializer(&mut variable.initial)?;
            if variable.elements.is_none() {
                variable.elements = Some(variable.initial.len() as u64);
            }
        }
        Ok(variable)
    }

    pub fn initializer(&mut self, values: &mut Vec<Initial<'a>>) -> Result<(), Error> {
        if self.accept(b'{') {
            self.enter("fewer nested braces")?;
            while !self.accept(b'}') {
                self.initializer(values)?;
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

    /// A constant, or the address of a symbol: `symbol+4`, `generic(symbol)`, or one byte of it,
    /// `0xFF00(symbol)`.
    pub fn initial_value(&mut self) -> Result<Initial<'a>, Error> {
        if let Token::Integer(mask) = self.peek()
            && self.peek_second() == Token::Mark(b'(')
        {
            self.next();
            self.next();
            let (name, offset) = self.symbol()?;
            self.expect(b')')?;
            return Ok(Initial::Symbol { name, offset, mask: Some(mask) });
        }
        if !self.is_constant_next() {
            let (name, offset) = self.symbol()?;
            return Ok(Initial::Symbol { name, offset, mask: None });
        }
        Ok(match self.constant()? {
            Constant::Integer(value) => Initial::Integer(value),
            Constant::Single(bits) => Initial::Single(bits),
            Constant::Double(bits) => Initial::Double(bits),
        })
    }

    fn symbol(&mut self) -> Result<(&'a str, i64), Error> {
        let is_generic = self.peek() == Token::Word("generic");
        let name = if is_generic && self.peek_second() == Token::Mark(b'(') {
            self.next();
            self.next();
            let name = self.word("a symbol")?;
            self.expect(b')')?;
            name
        } else {
            self.word("an initial value")?
        };
        Ok((name, self.offset()?))
    }
}
