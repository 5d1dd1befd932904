//! CUDA C++ to tokens. Of the preprocessor there are includes, which bring nothing that is not known, and plain macros.

use crate::tree::{Int, Place, Result, Type, refuse};
use std::collections::HashMap;

/// The most tokens of a file with its macros replaced, and macros inside of macros.
const MAX_TOKENS: usize = 1 << 15;
const MAX_MACROS: usize = 16;
/// The longest name, bytes.
const MAX_NAME: usize = 80;

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Word(String),
    Int(u64, Int),
    /// A float, rounded from its digits to 64 and to 32 bits, and its type.
    Float(f64, f32, Type),
    /// A character's code.
    Letter(u64),
    Text,
    Sign(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub at: Place,
}

/// Signs, the longest first.
const SIGNS: &[&str] = &[
    "<<=", ">>=", "...", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->", "::", "+", "-", "*", "/", "%", "&", "|", "^",
    "!", "~", "<", ">", "=", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}",
];

struct Lexer<'a> {
    rest: &'a str,
    place: Place,
    macros: HashMap<String, Vec<Token>>,
    out: Vec<Token>,
}

/// The tokens of a file; the last is [`Kind::End`].
pub fn tokens(source: &str) -> Result<Vec<Token>> {
    let source = source.replace("\r\n", "\n");
    let place = Place { line: 1, column: 1 };
    let mut lexer = Lexer { rest: &source, place, macros: HashMap::new(), out: Vec::new() };
    lexer.file()?;
    Ok(lexer.out)
}

impl Lexer<'_> {
    fn step(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        for letter in passed.chars() {
            if letter == '\n' {
                self.place = Place { line: self.place.line + 1, column: 1 };
            } else {
                self.place.column += 1;
            }
        }
        self.rest = rest;
    }

    /// Goes over spaces and remarks; with `within_line`, to the end of the line at most.
    fn spaces(&mut self, within_line: bool) -> Result<()> {
        loop {
            let rest = self.rest;
            let bytes = if let Some(begun) = rest.strip_prefix("/*") {
                let Some(end) = begun.find("*/") else {
                    return refuse(self.place, "this remark has no end: write `*/` behind it");
                };
                end + 4
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("\\\n") {
                2
            } else {
                match rest.chars().next() {
                    Some('\n') if within_line => return Ok(()),
                    Some(letter) if letter.is_whitespace() => letter.len_utf8(),
                    _ => return Ok(()),
                }
            };
            self.step(bytes);
        }
    }

    fn file(&mut self) -> Result<()> {
        loop {
            self.spaces(false)?;
            if self.rest.is_empty() {
                self.out.push(Token { kind: Kind::End, at: self.place });
                return Ok(());
            }
            if self.rest.starts_with('#') {
                self.directive()?;
                continue;
            }
            let token = self.token()?;
            self.put(token, 0)?;
        }
    }

    /// A token, or what it is a name for.
    fn put(&mut self, token: Token, depth: usize) -> Result<()> {
        if let Kind::Word(word) = &token.kind
            && let Some(replaced) = self.macros.get(word).cloned()
        {
            if depth > MAX_MACROS {
                return refuse(token.at, "macros inside of macros are too many here");
            }
            for one in replaced {
                if one.kind == token.kind {
                    return refuse(token.at, "a macro that names itself is not read here");
                }
                self.put(Token { at: token.at, ..one }, depth + 1)?;
            }
            return Ok(());
        }
        if self.out.len() >= MAX_TOKENS {
            return refuse(token.at, "a file has fewer words here");
        }
        self.out.push(token);
        Ok(())
    }

    fn directive(&mut self) -> Result<()> {
        let at = self.place;
        self.step(1);
        self.spaces(true)?;
        let name: String =
            self.rest.chars().take_while(char::is_ascii_alphabetic).take(MAX_NAME).collect();
        self.step(name.len());
        match name.as_str() {
            "include" | "pragma" => {
                if name == "pragma" {
                    self.spaces(true)?;
                    if !self.rest.starts_with("unroll") && !self.rest.starts_with("once") {
                        return refuse(at, "`#pragma unroll` is the only pragma that is read here");
                    }
                }
                self.spaces(true)?;
                if name == "include" && !self.rest.starts_with('<') {
                    return refuse(
                        at,
                        "a file stands by itself: only headers of CUDA, such as `<cuda_pipeline.h>`, are included",
                    );
                }
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.step(end);
                Ok(())
            }
            "define" => {
                self.spaces(true)?;
                let word = self.token()?;
                let Kind::Word(word) = word.kind else {
                    return refuse(at, "`#define` is followed by a name");
                };
                if self.rest.starts_with('(') {
                    return refuse(
                        at,
                        format!(
                            "a macro with arguments is not read here: make `{word}` a `__device__` function"
                        ),
                    );
                }
                let mut replaced = Vec::new();
                loop {
                    self.spaces(true)?;
                    if self.rest.is_empty() || self.rest.starts_with('\n') {
                        break;
                    }
                    replaced.push(self.token()?);
                }
                self.macros.insert(word, replaced);
                Ok(())
            }
            _ => refuse(
                at,
                format!(
                    "`#{name}` is not read here: `#include`, `#define NAME VALUE` and `#pragma unroll` are"
                ),
            ),
        }
    }

    fn token(&mut self) -> Result<Token> {
        let at = self.place;
        let rest = self.rest;
        let Some(first) = rest.chars().next() else {
            return refuse(at, "the file ends here, and more is expected");
        };
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let is_fraction =
            first == '.' && rest[1..].starts_with(|letter: char| letter.is_ascii_digit());
        let (kind, bytes) = if first.is_ascii_digit() || is_fraction {
            number(rest, at)?
        } else if is_part(first) {
            let bytes = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
            if bytes > MAX_NAME {
                return refuse(at, format!("a name has at most {MAX_NAME} letters here"));
            }
            (Kind::Word(rest[..bytes].to_owned()), bytes)
        } else if first == '\'' {
            letter(rest, at)?
        } else if first == '"' {
            let Some(end) = rest[1..].find(['"', '\n']) else {
                return refuse(at, "this text has no end");
            };
            (Kind::Text, end + 2)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Kind::Sign(sign), sign.len())
        } else {
            return refuse(at, format!("`{}` is not read here", first.escape_default()));
        };
        self.step(bytes);
        Ok(Token { kind, at })
    }
}

fn letter(rest: &str, at: Place) -> Result<(Kind, usize)> {
    let mut letters = rest[1..].chars();
    let (code, bytes) = match (letters.next(), letters.next()) {
        (Some('\\'), Some(name)) => {
            let code = match name {
                'n' => b'\n',
                't' => b'\t',
                'r' => b'\r',
                '0' => 0,
                '\\' | '\'' => name as u8,
                _ => return refuse(at, "this character is not read here: write its number"),
            };
            (u64::from(code), 3)
        }
        (Some(letter), _) if letter.is_ascii() && letter != '\'' && letter != '\n' => {
            (letter as u64, 2)
        }
        _ => return refuse(at, "this character is not read here: write its number"),
    };
    if !rest[bytes..].starts_with('\'') {
        return refuse(at, "a character is one letter between two `'`");
    }
    Ok((Kind::Letter(code), bytes + 1))
}

/// A number with its type, by C's rules.
fn number(rest: &str, at: Place) -> Result<(Kind, usize)> {
    let is_hex = rest.starts_with("0x") || rest.starts_with("0X");
    let is_binary = rest.starts_with("0b") || rest.starts_with("0B");
    let mut bytes = 0;
    let mut before = ' ';
    for letter in rest.chars() {
        let is_sign = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E') && !is_hex;
        if !letter.is_ascii_alphanumeric() && letter != '.' && !is_sign {
            break;
        }
        before = letter;
        bytes += 1;
    }
    let text = &rest[..bytes];
    let shown: String = text.chars().take(24).collect();
    let wrong = || refuse(at, format!("`{shown}` is no number that is read here"));
    let is_float = !is_hex && !is_binary && text.contains(['.', 'e', 'E']);
    if is_float {
        let (digits, of) = match text.strip_suffix(['f', 'F']) {
            Some(digits) => (digits, Type::F32),
            None => (text, Type::F64),
        };
        let (Ok(long), Ok(short)) = (digits.parse::<f64>(), digits.parse::<f32>()) else {
            return wrong();
        };
        if if of == Type::F32 { short.is_infinite() } else { long.is_infinite() } {
            return refuse(at, format!("`{shown}` is too large for its type"));
        }
        return Ok((Kind::Float(long, short, of), bytes));
    }
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = text[digits.len()..].to_lowercase();
    let parsed = if is_hex {
        u64::from_str_radix(&digits[2..], 16)
    } else if is_binary {
        u64::from_str_radix(&digits[2..], 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    let (Ok(value), "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") =
        (parsed, suffix.as_str())
    else {
        return wrong();
    };
    let (is_unsigned, is_long) = (suffix.contains('u'), suffix.contains('l'));
    let may_be_unsigned = is_unsigned || is_hex || is_binary;
    let fits =
        |bits: u32, signed: bool| bits == 64 && !signed || value >> (bits - u32::from(signed)) == 0;
    let of =
        [(32, true), (32, false), (64, true), (64, false)].into_iter().find(|(bits, signed)| {
            let has_sign = if *signed { !is_unsigned } else { may_be_unsigned };
            fits(*bits, *signed) && has_sign && (*bits == 64 || !is_long)
        });
    match of {
        Some((bits, signed)) => {
            Ok((Kind::Int(value, Int { bits, signed, of_address: false }), bytes))
        }
        None => refuse(
            at,
            format!("`{shown}` is too large for a number with a sign: write `u` behind it"),
        ),
    }
}
