//! A place among the tokens of a text, and the smallest things that are read there.

use super::lexer::{Located, Token};
use crate::error::{Error, Position};

/// Scopes nested deeper than this are refused, so that no text can exhaust the stack.
pub(crate) const DEPTH_MAX: u32 = 100;

/// What parses a text, and how far it has come.
pub(crate) struct Parser<'a> {
    pub text: &'a str,
    pub tokens: Vec<Located<'a>>,
    pub at: usize,
    pub depth: u32,
}

impl<'a> Parser<'a> {
    pub fn peek(&self) -> Token<'a> {
        self.tokens[self.at].token
    }

    pub fn peek_after(&self, ahead: usize) -> Token<'a> {
        self.tokens.get(self.at + ahead).map_or(Token::End, |t| t.token)
    }

    pub fn position(&self) -> Position {
        self.tokens[self.at].position
    }

    /// Takes one token; the end is never passed.
    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub fn error<T>(&self, expected: &str) -> Result<T, Error> {
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

    pub fn accept(&mut self, mark: u8) -> bool {
        let found = self.peek() == Token::Mark(mark);
        if found {
            self.next();
        }
        found
    }

    pub fn expect(&mut self, mark: u8) -> Result<(), Error> {
        if self.accept(mark) { Ok(()) } else { self.error(&format!("`{}`", mark as char)) }
    }

    pub fn word(&mut self, what: &str) -> Result<&'a str, Error> {
        match self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => self.error(what),
        }
    }

    pub fn dot(&mut self, what: &str) -> Result<&'a str, Error> {
        match self.peek() {
            Token::Dot(word) => {
                self.next();
                Ok(word)
            }
            _ => self.error(what),
        }
    }

    pub fn integer(&mut self) -> Result<u64, Error> {
        match self.peek() {
            Token::Integer(value) => {
                self.next();
                Ok(value)
            }
            _ => self.error("an integer"),
        }
    }

    pub fn small(&mut self) -> Result<u32, Error> {
        let position = self.position();
        let value = self.integer()?;
        u32::try_from(value)
            .map_err(|_| Error::Syntax { position, message: format!("{value} is too large here") })
    }

    /// Any number of `+n`, `-n`, `+-n`.
    pub fn offset(&mut self) -> Result<i64, Error> {
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
}
