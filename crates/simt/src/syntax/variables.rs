//! Variables and parameters, with their initial values.

use super::cursor::{DEPTH_MAX, Parser};
use super::lexer::Token;
use super::tree::{Initial, Variable};
use crate::error::Error;

impl<'a> Parser<'a> {
    /// `.attribute(.managed)` and friends.
    pub fn attribute(&mut self) -> Result<(), Error> {
        self.next();
        self.expect(b'(')?;
        while !self.accept(b')') {
            if self.next() == Token::End {
                return self.error("`)`");
            }
        }
        Ok(())
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

    pub fn initialiser(&mut self, values: &mut Vec<Initial<'a>>) -> Result<(), Error> {
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

    pub fn initial_value(&mut self) -> Result<Initial<'a>, Error> {
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
}
