//! Tokens to the syntax tree, by recursive descent: directives and functions.

use super::cursor::Parser;
use super::expand::expand;
use super::lexer::Token;
use super::tree::{Function, Tree};
use crate::error::Error;

/// Parses a whole PTX text, of at most 64 MiB.
///
/// # Errors
/// The first place at which the text is not PTX, or is nested or long beyond what is read.
pub fn parse(text: &str) -> Result<Tree<'_>, Error> {
    Parser::new(text)?.unit()
}

/// Reads the first `.target` of a text with its options, such as `sm_90a` and `texmode_independent`, and nothing behind it.
pub fn targets(text: &str) -> Vec<&str> {
    let read = || {
        let mut parser = Parser::new(text)?;
        while parser.next() != Token::Dot("target") {
            if parser.peek() == Token::End {
                return Ok(Vec::new());
            }
        }
        parser.targets()
    };
    read().unwrap_or_else(|_: Error| Vec::new())
}

impl<'a> Parser<'a> {
    /// The words behind `.target`.
    fn targets(&mut self) -> Result<Vec<&'a str>, Error> {
        let mut targets = vec![self.word("a target")?];
        while self.accept(b',') {
            targets.push(self.word("a target option")?);
        }
        Ok(targets)
    }

    fn unit(&mut self) -> Result<Tree<'a>, Error> {
        let mut tree = Tree::default();
        loop {
            match self.peek() {
                Token::End => {
                    self.check_end()?;
                    tree.tokens = self.count;
                    if self.has_vectors || !self.counts.is_empty() {
                        expand(&mut tree, &self.counts);
                    }
                    return Ok(tree);
                }
                Token::Mark(b';') => {
                    self.next();
                }
                Token::Dot(name) => {
                    self.top_level(name, &mut tree)?;
                    if ["version", "target", "address_size"].contains(&name) {
                        tree.body = self.text.get(self.at()..).unwrap_or_default();
                    }
                }
                // Labels and comments of debug sections.
                Token::Word(_) if self.peek_second() == Token::Mark(b':') => {
                    self.next();
                    self.next();
                }
                _ => return self.error("a directive"),
            }
        }
    }

    fn top_level(&mut self, name: &'a str, tree: &mut Tree<'a>) -> Result<(), Error> {
        match name {
            "version" => {
                self.next();
                self.version(tree)?;
            }
            "target" => {
                self.next();
                tree.target = self.targets()?[0];
            }
            "address_size" => {
                self.next();
                let position = self.position();
                tree.address_size = Some((self.integer()?, position));
            }
            "file" => {
                self.next();
                let number = self.integer()?;
                if let Token::Text(text) = self.next() {
                    tree.files.insert(number, text);
                }
                while self.accept(b',') {
                    self.integer()?;
                }
            }
            "section" => self.section()?,
            "loc" => {
                self.location()?;
            }
            "pragma" => {
                while !self.accept(b';') {
                    if self.next() == Token::End {
                        return self.error("`;`");
                    }
                }
            }
            "alias" => {
                self.next();
                let alias = self.word("a name")?;
                self.expect(b',')?;
                let target = self.word("a name")?;
                self.accept(b';');
                tree.aliases.push((alias, target));
            }
            _ => self.declaration(tree)?,
        }
        Ok(())
    }

    /// `7.8` reads as one decimal token, `8` as an integer.
    fn version(&mut self, tree: &mut Tree<'a>) -> Result<(), Error> {
        let start = self.at();
        if !matches!(self.next(), Token::Double(_) | Token::Integer(_)) {
            return self.error("a version number");
        }
        let end = self.at();
        let text = self.text.get(start..end).unwrap_or("").split_whitespace().next().unwrap_or("");
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        tree.version = (major.parse().unwrap_or(0), minor.parse().unwrap_or(0));
        Ok(())
    }

    /// Debug sections are skipped as a balanced group.
    fn section(&mut self) -> Result<(), Error> {
        self.next();
        while self.peek() != Token::Mark(b'{') {
            if self.next() == Token::End {
                return self.error("`{`");
            }
        }
        let mut depth = 0u32;
        loop {
            match self.next() {
                Token::Mark(b'{') => depth += 1,
                Token::Mark(b'}') => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                Token::End => return self.error("`}`"),
                _ => {}
            }
        }
    }

    fn declaration(&mut self, tree: &mut Tree<'a>) -> Result<(), Error> {
        let (start, first_line) = (self.at(), self.position().line);
        let mut is_extern = false;
        loop {
            match self.peek() {
                Token::Dot("extern") => is_extern = true,
                Token::Dot("visible" | "weak" | "common") => {}
                Token::Dot(kind @ ("entry" | "func")) => {
                    let mut function = self.function(kind == "entry")?;
                    function.text = self.text.get(start..=self.before).unwrap_or_default();
                    function.first_line = first_line;
                    tree.functions.push(function);
                    return Ok(());
                }
                Token::Dot("global" | "const" | "shared" | "tex" | "local" | "param") => {
                    let mut variables = self.variables(is_extern)?;
                    tree.variables.append(&mut variables);
                    return Ok(());
                }
                _ => return self.error("a declaration"),
            }
            self.next();
        }
    }

    fn function(&mut self, is_entry: bool) -> Result<Function<'a>, Error> {
        self.next();
        let position = self.position();
        let mut results = Vec::new();
        while matches!(self.peek(), Token::Dot("attribute")) {
            self.attribute()?;
        }
        if !is_entry && self.accept(b'(') {
            results = self.formal_parameters()?;
        }
        let name = self.word("a function name")?;
        let parameters = if self.accept(b'(') { self.formal_parameters()? } else { Vec::new() };
        let mut function = Function {
            name,
            is_entry,
            results,
            parameters,
            body: None,
            max_threads: None,
            required_threads: None,
            cluster: None,
            position,
            text: "",
            first_line: 0,
        };
        loop {
            match self.peek() {
                Token::Dot("maxntid") => function.max_threads = Some(self.extent()?),
                Token::Dot("reqntid") => function.required_threads = Some(self.extent()?),
                Token::Dot("reqnctapercluster") => function.cluster = Some(self.extent()?),
                Token::Dot(
                    "minnctapersm"
                    | "maxnctapersm"
                    | "maxnreg"
                    | "maxclusterrank"
                    | "explicitcluster"
                    | "blocksareclusters"
                    | "abi_preserve"
                    | "abi_preserve_control",
                ) => {
                    self.next();
                    if matches!(self.peek(), Token::Integer(_)) {
                        self.extent_after_name()?;
                    }
                }
                Token::Dot("noreturn") => {
                    self.next();
                }
                Token::Dot("pragma") => {
                    while !self.accept(b';') {
                        if self.next() == Token::End {
                            return self.error("`;`");
                        }
                    }
                }
                Token::Dot("attribute") => _ = self.attribute()?,
                Token::Mark(b';') => {
                    self.next();
                    return Ok(function);
                }
                Token::Mark(b'{') => {
                    function.body = Some(self.block()?);
                    return Ok(function);
                }
                _ => return self.error("a function body"),
            }
        }
    }

    fn extent(&mut self) -> Result<[u32; 3], Error> {
        self.next();
        self.extent_after_name()
    }

    fn extent_after_name(&mut self) -> Result<[u32; 3], Error> {
        let mut extent = [self.small()?, 1, 1];
        for value in extent.iter_mut().skip(1) {
            if !self.accept(b',') {
                break;
            }
            *value = self.small()?;
        }
        Ok(extent)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Position, parse};

    #[test]
    fn an_address_size_has_the_place_of_its_number() {
        let tree = parse(".version 8.0\n.target sm_80\n.address_size 32\n.file 1 \"a\"").unwrap();
        assert_eq!(tree.address_size, Some((32, Position { line: 3, column: 15 })));
        assert_eq!((tree.version, tree.target), ((8, 0), "sm_80"));
        assert_eq!(tree.body.trim(), ".file 1 \"a\"");
    }

    #[test]
    fn instructions_of_inner_scopes_are_visited_with_their_place() {
        let text = ".version 8.0\n.target sm_80\n.file 1 \"a.rs\"\n.entry k() {\n.loc 1 7 0\n\
            { .reg .pred p; mbarrier.try_wait.shared.b64 p, [0], 1; }\n.loc 1 0 0\nret;\n}";
        let (tree, mut seen) = (parse(text).unwrap(), Vec::new());
        let kernel = tree.entry("k").unwrap();
        tree.instructions(kernel, |one, at| seen.push((one.text(), at)));
        let at = Some(("a.rs", 7));
        assert_eq!(seen, [("mbarrier.try_wait.shared.b64".to_owned(), at), ("ret".to_owned(), at)]);
    }
}
