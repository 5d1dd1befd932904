use super::cursor::Parser;
use super::expression::Constant;
use super::lexer::Token;
use super::tree::{Initial, Variable};
use crate::Type;
use crate::error::Error;

/// Elements that an initializer may have before a row in braces, so that a short text makes no long list.
const FILLED_MAX: u64 = 1 << 20;

/// The elements of an array of these dimensions for each step of the first.
fn row_of(extents: &[u64]) -> u64 {
    extents.iter().skip(1).fold(1u64, |all, n| all.saturating_mul(*n)).max(1)
}

impl<'a> Parser<'a> {
    /// `.attribute(.managed)` and friends; whether `.managed` is among them.
    pub fn attribute(&mut self) -> Result<bool, Error> {
        self.next();
        self.expect(b'(')?;
        let mut is_managed = false;
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Token::End => return self.error("`)`"),
                Token::Dot("managed") => is_managed = true,
                Token::Mark(b'(') => depth += 1,
                Token::Mark(b')') => depth -= 1,
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
        // The elements of a vector are aligned together (PTX ISA, "Variable and Array Alignment").
        if vector > 1 && alignment == 0 {
            alignment = vector * u64::from(Type::parse(element).map_or(1, Type::bytes));
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
            let count = if single { None } else { self.name_count()? };
            if let Some(count) = count {
                self.counts.insert(position, count);
                all.push(variable);
            } else {
                all.push(self.variable_rest(variable)?);
            }
            if single || !self.accept(b',') {
                return Ok(all);
            }
        }
    }

    pub fn variable_rest(&mut self, mut variable: Variable<'a>) -> Result<Variable<'a>, Error> {
        // The elements below each dimension, a vector's own among them.
        let mut extents: Vec<u64> = variable.elements.filter(|n| *n > 1).into_iter().collect();
        let dimensions = extents.len();
        while self.accept(b'[') {
            variable.is_array = true;
            if self.accept(b']') {
                variable.elements = None;
                extents.insert(extents.len() - dimensions, 0);
                continue;
            }
            let position = self.position();
            let count = match self.constant()? {
                Constant::Integer(value) => u64::try_from(value).ok(),
                Constant::Single(_) | Constant::Double(_) => None,
            };
            let Some(count) = count else {
                let message = "a dimension is an integer, and not negative".into();
                return Err(Error { position, message });
            };
            self.expect(b']')?;
            extents.insert(extents.len() - dimensions, count);
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
            self.initializer(&mut variable.initial, &extents)?;
            if variable.elements.is_none() {
                let row = row_of(&extents);
                let count = variable.initial.len() as u64;
                variable.elements = Some(count.next_multiple_of(row));
            }
        }
        Ok(variable)
    }

    /// A value, or the values of an array of these dimensions; in braces of its own a row may have fewer than it has
    /// elements (PTX ISA, "Initializers").
    fn initializer(&mut self, values: &mut Vec<Initial<'a>>, extents: &[u64]) -> Result<(), Error> {
        if self.accept(b'{') {
            self.enter("fewer nested braces")?;
            let start = values.len() as u64;
            let (row, position) = (row_of(extents), self.position());
            while !self.accept(b'}') {
                if let (Token::Word(_), Token::Mark(b'=')) = (self.peek(), self.peek_second()) {
                    // A property of a sampler, `filter_mode = linear`.
                    self.next();
                    self.next();
                    self.next();
                } else {
                    if self.peek() == Token::Mark(b'{') {
                        let count = values.len() as u64 - start;
                        self.fill(values, count.next_multiple_of(row) - count)?;
                    }
                    self.initializer(values, extents.get(1..).unwrap_or_default())?;
                }
                if !self.accept(b',') {
                    self.expect(b'}')?;
                    break;
                }
            }
            self.depth -= 1;
            let most = extents.first().map_or(u64::MAX, |n| n.saturating_mul(row));
            if most > 0 && values.len() as u64 - start > most {
                let message = format!("more than the {most} values that have room");
                return Err(Error { position, message });
            }
            return Ok(());
        }
        let value = self.initial_value()?;
        values.push(value);
        Ok(())
    }

    /// Appends the zeros of a row that is not written to its end.
    fn fill(&self, values: &mut Vec<Initial<'a>>, count: u64) -> Result<(), Error> {
        if count > FILLED_MAX.saturating_sub(values.len() as u64) {
            return self.error("fewer elements before it");
        }
        values.extend((0..count).map(|_| Initial::Integer(0)));
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
