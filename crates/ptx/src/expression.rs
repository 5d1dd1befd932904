//! Constant expressions, by the PTX ISA's section of that name: integers of 64 bits, signed or unsigned, and doubles.
//!
//! Values that the ISA leaves open are NVIDIA's assembler's: a remainder is unsigned, a shift takes its amount modulo
//! 64.

use super::cursor::Parser;
use super::lexer::Token;
use crate::error::{Error, Position};

/// A constant as an operand or an initial value has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    Integer(i128),
    /// `0f3F800000`, which takes part in no expression.
    Single(u32),
    Double(u64),
}

/// The value of an expression.
#[derive(Clone, Copy, Debug)]
enum Value {
    Signed(i64),
    Unsigned(u64),
    Double(f64),
}

impl Value {
    fn bits(self) -> Option<u64> {
        match self {
            Value::Signed(value) => Some(value as u64),
            Value::Unsigned(value) => Some(value),
            Value::Double(_) => None,
        }
    }

    fn truth(value: bool) -> Value {
        Value::Signed(value.into())
    }
}

/// The binary operators, those that bind loosest first.
const OPERATORS: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("==", 6),
    ("!=", 6),
    ("<=", 7),
    (">=", 7),
    ("<", 7),
    (">", 7),
    ("<<", 8),
    (">>", 8),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];
/// Binds as loosely as any binary operator.
const LOOSEST: u8 = 1;
/// Binds as multiplication does.
const PRODUCT: u8 = 10;

impl<'a> Parser<'a> {
    /// Returns whether a constant begins here: not the name of a register or a variable.
    pub fn is_constant_next(&self) -> bool {
        let begins = |token| match token {
            Token::Integer(_) | Token::Single(_) | Token::Double(_) => true,
            Token::Word(name) => name == "WARP_SZ",
            Token::Mark(mark) => b"(+-~!".contains(&mark),
            _ => false,
        };
        match self.peek() {
            Token::Mark(b'-' | b'!') => begins(self.peek_second()),
            token => begins(token),
        }
    }

    /// A constant expression, or a literal of 32 bits with a sign.
    pub fn constant(&mut self) -> Result<Constant, Error> {
        let is_negative =
            self.peek() == Token::Mark(b'-') && matches!(self.peek_second(), Token::Single(_));
        if is_negative {
            self.next();
        }
        if let Token::Single(bits) = self.peek() {
            self.next();
            return Ok(Constant::Single(if is_negative { bits ^ 1 << 31 } else { bits }));
        }
        Ok(match self.conditional()? {
            Value::Signed(value) => Constant::Integer(value.into()),
            Value::Unsigned(value) => Constant::Integer(value.into()),
            Value::Double(value) => Constant::Double(value.to_bits()),
        })
    }

    /// A constant expression that is an integer; of a sum only its first part.
    pub fn integer_term(&mut self) -> Result<i64, Error> {
        let position = self.position();
        match self.binary(PRODUCT)?.bits() {
            Some(bits) => Ok(bits as i64),
            None => invalid(position, "an offset is an integer"),
        }
    }

    /// `condition ? value : other`, or only the first of them.
    fn conditional(&mut self) -> Result<Value, Error> {
        self.enter("fewer nested expressions")?;
        let position = self.position();
        let mut value = self.binary(LOOSEST)?;
        if self.accept(b'?') {
            let yes = self.conditional()?;
            self.expect(b':')?;
            let no = self.conditional()?;
            let Some(condition) = value.bits() else {
                return invalid(position, "the condition of `?:` is an integer");
            };
            let is_unsigned =
                matches!((yes, no), (Value::Unsigned(_), _) | (_, Value::Unsigned(_)));
            let chosen = if condition != 0 { yes } else { no };
            value = match (yes.bits(), no.bits(), chosen.bits()) {
                (Some(_), Some(_), Some(bits)) if is_unsigned => Value::Unsigned(bits),
                (Some(_), Some(_), _) | (None, None, _) => chosen,
                _ => return mixed(position),
            };
        }
        self.depth -= 1;
        Ok(value)
    }

    /// Values joined by operators that bind at least so tightly, from left to right.
    fn binary(&mut self, tightness: u8) -> Result<Value, Error> {
        let mut left = self.unary()?;
        while let Some((operator, binds)) = self.operator()
            && binds >= tightness
        {
            let position = self.position();
            for _ in operator.bytes() {
                self.next();
            }
            let right = self.binary(binds + 1)?;
            left = apply(operator, left, right, position)?;
        }
        Ok(left)
    }

    /// The next operator; the remainder's sign must not touch what follows, or it begins the name of a register.
    fn operator(&self) -> Option<(&'static str, u8)> {
        let (first, second) = (self.peek(), self.peek_second());
        let found = OPERATORS.iter().filter(|(operator, _)| match operator.as_bytes() {
            [b'%'] => first == Token::Word("%"),
            [one] => first == Token::Mark(*one),
            [one, two] => first == Token::Mark(*one) && second == Token::Mark(*two),
            _ => false,
        });
        found.max_by_key(|(operator, _)| operator.len()).copied()
    }

    fn unary(&mut self) -> Result<Value, Error> {
        self.enter("fewer nested expressions")?;
        let position = self.position();
        let value = match self.next() {
            Token::Integer(value) => {
                let literal = self.text.get(self.before..).unwrap_or_default();
                let end = literal.find(|c: char| !c.is_ascii_alphanumeric());
                let is_unsigned = literal[..end.unwrap_or(literal.len())].ends_with(['u', 'U']);
                match i64::try_from(value) {
                    Ok(value) if !is_unsigned => Value::Signed(value),
                    _ => Value::Unsigned(value),
                }
            }
            Token::Double(bits) => Value::Double(f64::from_bits(bits)),
            Token::Word("WARP_SZ") => Value::Signed(32),
            Token::Mark(b'+') => self.unary()?,
            Token::Mark(b'-') => match self.unary()? {
                Value::Signed(value) => Value::Signed(value.wrapping_neg()),
                Value::Unsigned(value) => Value::Unsigned(value.wrapping_neg()),
                Value::Double(value) => Value::Double(-value),
            },
            Token::Mark(b'~') => match self.unary()?.bits() {
                Some(bits) => Value::Unsigned(!bits),
                None => return mixed(position),
            },
            Token::Mark(b'!') => match self.unary()?.bits() {
                Some(bits) => Value::truth(bits == 0),
                None => return mixed(position),
            },
            Token::Mark(b'(') => match self.peek() {
                Token::Dot(cast @ ("s64" | "u64")) => {
                    self.next();
                    self.expect(b')')?;
                    match self.unary()?.bits() {
                        Some(bits) if cast == "s64" => Value::Signed(bits as i64),
                        Some(bits) => Value::Unsigned(bits),
                        None => return mixed(position),
                    }
                }
                _ => {
                    let value = self.conditional()?;
                    self.expect(b')')?;
                    value
                }
            },
            _ => return invalid(position, "expected a number or a constant expression"),
        };
        self.depth -= 1;
        Ok(value)
    }
}

fn invalid<T>(position: Position, message: &str) -> Result<T, Error> {
    Err(Error { position, message: message.into() })
}

fn mixed<T>(position: Position) -> Result<T, Error> {
    invalid(position, "integers and floating-point numbers cannot be mixed in an expression")
}

fn apply(operator: &str, left: Value, right: Value, position: Position) -> Result<Value, Error> {
    if let (Value::Double(a), Value::Double(b)) = (left, right) {
        return Ok(match operator {
            "+" => Value::Double(a + b),
            "-" => Value::Double(a - b),
            "*" => Value::Double(a * b),
            "/" => Value::Double(a / b),
            "<" => Value::truth(a < b),
            ">" => Value::truth(a > b),
            "<=" => Value::truth(a <= b),
            ">=" => Value::truth(a >= b),
            "==" => Value::truth(a == b),
            "!=" => Value::truth(a != b),
            _ => return mixed(position),
        });
    }
    let (Some(a), Some(b)) = (left.bits(), right.bits()) else { return mixed(position) };
    let signed = (a as i64, b as i64);
    let is_signed = matches!((left, right), (Value::Signed(_), Value::Signed(_)));
    // The usual conversions: a result is unsigned when one of its operands is.
    let number = |bits: u64| {
        if is_signed { Value::Signed(bits as i64) } else { Value::Unsigned(bits) }
    };
    let is_less = if is_signed { signed.0 < signed.1 } else { a < b };
    Ok(match operator {
        "/" | "%" if b == 0 => return invalid(position, "division by zero"),
        "+" => number(a.wrapping_add(b)),
        "-" => number(a.wrapping_sub(b)),
        "*" => number(a.wrapping_mul(b)),
        "/" if is_signed => Value::Signed(signed.0.wrapping_div(signed.1)),
        "/" => Value::Unsigned(a / b),
        "%" => Value::Unsigned(a % b),
        "<<" => match left {
            Value::Signed(value) => Value::Signed(value.wrapping_shl(b as u32)),
            _ => Value::Unsigned(a.wrapping_shl(b as u32)),
        },
        ">>" => match left {
            Value::Signed(value) => Value::Signed(value.wrapping_shr(b as u32)),
            _ => Value::Unsigned(a.wrapping_shr(b as u32)),
        },
        "<" => Value::truth(is_less),
        ">=" => Value::truth(!is_less),
        ">" => Value::truth(!is_less && a != b),
        "<=" => Value::truth(is_less || a == b),
        "==" => Value::truth(a == b),
        "!=" => Value::truth(a != b),
        "&" => Value::Unsigned(a & b),
        "^" => Value::Unsigned(a ^ b),
        "|" => Value::Unsigned(a | b),
        "&&" => Value::truth(a != 0 && b != 0),
        _ => Value::truth(a != 0 || b != 0),
    })
}
