//! A place among the tokens of a text, and the smallest things that are read there.

use super::lexer::{Lexer, Located, Token};
use crate::error::{Error, Position};
use std::collections::HashMap;

/// Scopes nested deeper than this are refused, so that no text can exhaust the stack.
pub(crate) const DEPTH_MAX: u32 = 100;

/// Bytes of a text that are read.
const TEXT_BYTES_MAX: usize = 64 << 20;
/// Tokens that are read; the tree of a text needs some 50 bytes for each.
const TOKENS_MAX: u32 = 16 << 20;

/// The parser: a text, and a place among its tokens.
pub(crate) struct Parser<'a> {
    pub text: &'a str,
    lexer: Lexer<'a>,
    /// The offset of the token before.
    pub before: usize,
    /// The next two tokens.
    ahead: [Located<'a>; 2],
    /// Tokens so far.
    pub count: u32,
    /// Why there is no further token: found at [`Token::End`].
    failed: Option<Error>,
    pub depth: u32,
    /// The count of each variable that is declared as `name<count>`, at the position of its name.
    pub counts: HashMap<Position, u64>,
    /// A vector register was declared.
    pub has_vectors: bool,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str) -> Result<Parser<'a>, Error> {
        let position = Position { line: 1, column: 1 };
        if text.len() > TEXT_BYTES_MAX {
            let message = format!(
                "the text has {} bytes, more than the {TEXT_BYTES_MAX} that are read: split the module",
                text.len()
            );
            return Err(Error { position, message });
        }
        let none = Located { token: Token::End, position, offset: 0 };
        let (lexer, ahead) = (Lexer::new(text), [none; 2]);
        let mut parser = Parser {
            text,
            lexer,
            before: 0,
            ahead,
            count: 0,
            failed: None,
            depth: 0,
            counts: HashMap::new(),
            has_vectors: false,
        };
        parser.advance();
        parser.advance();
        Ok(parser)
    }

    fn advance(&mut self) {
        let [current, next] = self.ahead;
        let token = match self.failed {
            Some(_) => Ok(Located { token: Token::End, ..next }),
            None => self.lexer.token(),
        };
        self.count += 1;
        let failed = match token {
            Ok(_) if self.count > TOKENS_MAX => Error {
                position: next.position,
                message: format!("more than {TOKENS_MAX} words and signs: split the module"),
            },
            Ok(token) => {
                (self.before, self.ahead) = (current.offset, [next, token]);
                return;
            }
            Err(error) => error,
        };
        let position = failed.position;
        self.failed.get_or_insert(failed);
        let end = Located { token: Token::End, position, offset: self.text.len() };
        (self.before, self.ahead) = (current.offset, [next, end]);
    }

    pub fn peek(&self) -> Token<'a> {
        self.ahead[0].token
    }

    /// The token after the next one.
    pub fn peek_second(&self) -> Token<'a> {
        self.ahead[1].token
    }

    pub fn position(&self) -> Position {
        self.ahead[0].position
    }

    /// The offset in the text of the next token.
    pub fn at(&self) -> usize {
        self.ahead[0].offset
    }

    /// Takes one token; the end is never passed.
    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token != Token::End {
            self.advance();
        }
        token
    }

    /// Returns what ended the text too early, if that was not its end.
    pub fn check_end(&self) -> Result<(), Error> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    pub fn error<T>(&self, expected: &str) -> Result<T, Error> {
        if self.peek() == Token::End {
            self.check_end()?;
        }
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
        Err(Error { position: self.position(), message })
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
            .map_err(|_| Error { position, message: format!("{value} is too large here") })
    }

    /// Goes one level deeper, not deeper than [`DEPTH_MAX`]; the caller counts back.
    pub fn enter(&mut self, expected: &str) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { self.error(expected) } else { Ok(()) }
    }

    /// Any number of `+n`, `-n`, `+-n`, where each may be a product or stand in parentheses.
    pub fn offset(&mut self) -> Result<i64, Error> {
        let mut offset = 0i64;
        loop {
            let is_negative = self.accept(b'-');
            if !is_negative && !self.accept(b'+') {
                return Ok(offset);
            }
            let value = self.integer_term()?;
            offset =
                if is_negative { offset.wrapping_sub(value) } else { offset.wrapping_add(value) };
        }
    }
}
