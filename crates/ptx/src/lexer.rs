use crate::error::{Error, Position};

/// One token; text is borrowed from the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// `add`, `%r1`, `$L__BB0_2`, `_`.
    Word(&'a str),
    /// `.global`, `.L2::128B`: a directive or modifier, without the dot.
    Dot(&'a str),
    /// An unsigned integer literal.
    Integer(u64),
    /// `0f3F800000`: the bits of an f32.
    Single(u32),
    /// `0d3FF0000000000000` or a decimal literal: the bits of an f64.
    Double(u64),
    /// The inside of a quoted string.
    Text(&'a str),
    /// Any other character.
    Mark(u8),
    /// The end of the text.
    End,
}

/// A token with its position and its byte offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located<'a> {
    pub token: Token<'a>,
    pub position: Position,
    pub offset: usize,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Splits a text into tokens, one at a time, so that no text of many tokens takes much memory.
#[derive(Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, bytes: text.as_bytes(), at: 0, line: 1, line_start: 0 }
    }

    /// The next token; the last one is [`Token::End`], however often it is asked for.
    pub fn token(&mut self) -> Result<Located<'a>, Error> {
        self.skip_blank()?;
        let (position, offset) = (self.position(), self.at);
        Ok(Located { token: self.next(position)?, position, offset })
    }

    fn position(&self) -> Position {
        Position { line: self.line, column: (self.at - self.line_start + 1) as u32 }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn newline(&mut self) {
        self.line += 1;
        self.line_start = self.at + 1;
    }

    fn skip_blank(&mut self) -> Result<(), Error> {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\n' => {
                    self.newline();
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0 => self.at += 1,
                b'/' if self.peek(1) == b'/' => {
                    while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
                        self.at += 1;
                    }
                }
                b'/' if self.peek(1) == b'*' => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn skip_comment(&mut self) -> Result<(), Error> {
        let position = self.position();
        self.at += 2;
        while self.at < self.bytes.len() {
            if self.bytes[self.at] == b'*' && self.peek(1) == b'/' {
                self.at += 2;
                return Ok(());
            }
            if self.bytes[self.at] == b'\n' {
                self.newline();
            }
            self.at += 1;
        }
        Err(Error { position, message: "comment without end".into() })
    }

    /// Takes bytes while `keep` holds; only ASCII is ever taken, so slicing is on boundaries.
    fn take(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.at < self.bytes.len() && keep(self.bytes[self.at]) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or("")
    }

    fn next(&mut self, position: Position) -> Result<Token<'a>, Error> {
        if self.at >= self.bytes.len() {
            return Ok(Token::End);
        }
        let byte = self.bytes[self.at];
        match byte {
            b'0'..=b'9' => self.number(position),
            b'"' => self.string(position),
            b'.' if is_word(self.peek(1)) => Ok(Token::Dot(self.dotted())),
            b'%' => {
                let start = self.at;
                self.at += 1;
                self.take(is_word);
                Ok(Token::Word(self.text.get(start..self.at).unwrap_or("%")))
            }
            byte if is_word(byte) => Ok(Token::Word(self.take(is_word))),
            byte if byte.is_ascii() => {
                self.at += 1;
                Ok(Token::Mark(byte))
            }
            _ => Err(Error { position, message: "character outside ASCII".into() }),
        }
    }

    /// `.name`, with `::name` parts belonging to it.
    fn dotted(&mut self) -> &'a str {
        self.at += 1;
        let start = self.at;
        self.take(is_word);
        while self.peek(0) == b':' && self.peek(1) == b':' && is_word(self.peek(2)) {
            self.at += 2;
            self.take(is_word);
        }
        self.text.get(start..self.at).unwrap_or("")
    }

    fn string(&mut self, position: Position) -> Result<Token<'a>, Error> {
        self.at += 1;
        let start = self.at;
        while self.at < self.bytes.len() && self.bytes[self.at] != b'"' {
            if self.bytes[self.at] == b'\n' {
                break;
            }
            self.at += if self.bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        if self.peek(0) != b'"' || self.at >= self.bytes.len() {
            return Err(Error { position, message: "string without end".into() });
        }
        let inside = self.text.get(start..self.at).unwrap_or("");
        self.at += 1;
        Ok(Token::Text(inside))
    }

    fn number(&mut self, position: Position) -> Result<Token<'a>, Error> {
        let bad = |text: &str| Error { position, message: format!("`{text}` is not a number") };
        let start = self.at;
        let word = self.take(|b| b.is_ascii_alphanumeric());
        let is_hex = |s: &str, n: usize| s.len() == n && s.bytes().all(|b| b.is_ascii_hexdigit());
        if let Some(hex) = word.strip_prefix("0f").or(word.strip_prefix("0F")) {
            if is_hex(hex, 8) {
                return u32::from_str_radix(hex, 16).map(Token::Single).map_err(|_| bad(word));
            }
            return Err(bad(word));
        }
        if let Some(hex) = word.strip_prefix("0d").or(word.strip_prefix("0D")) {
            if is_hex(hex, 16) {
                return u64::from_str_radix(hex, 16).map(Token::Double).map_err(|_| bad(word));
            }
            return Err(bad(word));
        }
        let hexadecimal = word.starts_with("0x") || word.starts_with("0X");
        let fraction = self.peek(0) == b'.' && !hexadecimal && self.peek(1).is_ascii_digit();
        let exponent = !hexadecimal && word.bytes().any(|b| b == b'e' || b == b'E');
        if fraction || exponent {
            return self.decimal(start).ok_or_else(|| bad(word));
        }
        let digits = word.strip_suffix(['U', 'u']).unwrap_or(word);
        let value = if hexadecimal {
            u64::from_str_radix(&digits[2..], 16)
        } else if let Some(binary) = digits.strip_prefix("0b").or(digits.strip_prefix("0B")) {
            u64::from_str_radix(binary, 2)
        } else if digits.len() > 1 && digits.starts_with('0') {
            u64::from_str_radix(digits, 8)
        } else {
            digits.parse()
        };
        value.map(Token::Integer).map_err(|_| bad(word))
    }

    /// A decimal floating-point literal that starts at `start`.
    fn decimal(&mut self, start: usize) -> Option<Token<'a>> {
        if self.peek(0) == b'.' {
            self.at += 1;
            self.take(|b| b.is_ascii_alphanumeric());
        }
        if self.text.get(start..self.at)?.ends_with(['e', 'E'])
            && matches!(self.peek(0), b'+' | b'-')
        {
            self.at += 1;
            self.take(|b| b.is_ascii_digit());
        }
        let value: f64 = self.text.get(start..self.at)?.parse().ok()?;
        Some(Token::Double(value.to_bits()))
    }
}
