//! Whole-number expressions as PTX: `33 * (lane % 8) + lane / 8`.
//!
//! Numbers are 32 bits wide and wrap. Operators and their precedence are Rust's; a comparison is 1 or 0.

use std::fmt::Write;

const MAX_LETTERS: usize = 400;
const MAX_DEPTH: u32 = 40;

/// Operators from the weakest to the strongest, each with the PTX that it becomes.
const LEVELS: [&[(&str, &str)]; 7] = [
    &[("==", "eq"), ("!=", "ne"), ("<=", "le"), (">=", "ge"), ("<", "lt"), (">", "gt")],
    &[("|", "or.b32")],
    &[("^", "xor.b32")],
    &[("&", "and.b32")],
    &[("<<", "shl.b32"), (">>", "shr.u32")],
    &[("+", "add.u32"), ("-", "sub.u32")],
    &[("*", "mul.lo.u32"), ("/", "div.u32"), ("%", "rem.u32")],
];

/// Reads an expression and writes instructions.
pub struct Compiler<'a> {
    /// The names that it knows, with their registers.
    pub names: &'a [(&'a str, String)],
    pub code: String,
    /// Registers `%r0` up to this are in use.
    pub registers: u32,
    rest: &'a str,
    depth: u32,
}

impl<'a> Compiler<'a> {
    /// One that knows these names; registers begin after `registers`.
    pub fn new(names: &'a [(&'a str, String)], registers: u32) -> Compiler<'a> {
        Compiler { names, code: String::new(), registers, rest: "", depth: 0 }
    }

    /// Writes the instructions of an expression and says in which register its value is.
    pub fn compile(&mut self, text: &'a str) -> Result<String, String> {
        if text.len() > MAX_LETTERS {
            return Err(format!(
                "the expression has {} letters: write at most {MAX_LETTERS}",
                text.len()
            ));
        }
        self.rest = text.trim();
        let value = self.binary(0)?;
        if self.rest.is_empty() { Ok(value) } else { Err(self.expected("an operator")) }
    }

    fn expected(&self, what: &str) -> String {
        let found = match self.rest.chars().next() {
            Some(_) => format!("`{}`", self.rest.chars().take(12).collect::<String>()),
            None => "the end".to_owned(),
        };
        format!("expected {what}, found {found}")
    }

    fn register(&mut self) -> String {
        self.registers += 1;
        format!("%r{}", self.registers - 1)
    }

    fn operator(&mut self, level: usize) -> Option<&'static str> {
        let (symbol, instruction) =
            LEVELS[level].iter().find(|(symbol, _)| self.rest.starts_with(symbol))?;
        // `<` is no shift, and `&` no `&&`.
        let after = &self.rest[symbol.len()..];
        if symbol.len() == 1 && "<>&|".contains(symbol) && after.starts_with(symbol) {
            return None;
        }
        self.rest = after.trim_start();
        Some(instruction)
    }

    fn binary(&mut self, level: usize) -> Result<String, String> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        while let Some(instruction) = self.operator(level) {
            let right = self.binary(level + 1)?;
            let target = self.register();
            if instruction.len() == 2 {
                let _ = writeln!(
                    self.code,
                    "\tsetp.{instruction}.u32 %p0, {left}, {right};\n\tselp.u32 {target}, 1, 0, %p0;"
                );
            } else if right == "0"
                && (instruction.starts_with("div") || instruction.starts_with("rem"))
            {
                return Err("a division by 0 has no value: divide by something else".to_owned());
            } else {
                let _ = writeln!(self.code, "\t{instruction} {target}, {left}, {right};");
            }
            left = target;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<String, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!(
                "more than {MAX_DEPTH} parentheses or signs follow each other: write fewer"
            ));
        }
        let value = self.value();
        self.depth -= 1;
        value
    }

    fn value(&mut self) -> Result<String, String> {
        for (sign, instruction) in [("-", "neg.s32"), ("!", "not.b32")] {
            if let Some(rest) = self.rest.strip_prefix(sign) {
                self.rest = rest.trim_start();
                let value = self.unary()?;
                let target = self.register();
                let _ = writeln!(self.code, "\t{instruction} {target}, {value};");
                return Ok(target);
            }
        }
        if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest.trim_start();
            let value = self.binary(0)?;
            let rest = self.rest.strip_prefix(')').ok_or_else(|| self.expected("`)`"))?;
            self.rest = rest.trim_start();
            return Ok(value);
        }
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let end = self.rest.find(|letter| !is_word(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(self.expected("a number, a name or `(`"));
        }
        let value = if word.starts_with(|letter: char| letter.is_ascii_digit()) {
            let (digits, radix) = word.strip_prefix("0x").map_or((word, 10), |hex| (hex, 16));
            let number = u32::from_str_radix(digits, radix);
            number.map_err(|_| format!("`{word}` is no number of 32 bits"))?.to_string()
        } else {
            let known = self.names.iter().find(|(name, _)| *name == word);
            let names: Vec<&str> = self.names.iter().map(|(name, _)| *name).collect();
            known
                .ok_or_else(|| format!("there is no `{word}`: the names are {}", names.join(", ")))?
                .1
                .clone()
        };
        self.rest = rest.trim_start();
        Ok(value)
    }
}
