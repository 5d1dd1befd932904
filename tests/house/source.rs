//! What a file of Rust imports, names and defines, tests aside: read as tokens, not understood.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// A token of a file, as far as paths need it.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Colons,
    Open(Delimiter),
    Close(Delimiter),
    Other(char),
}

/// Something that a `use` brings into a file.
#[derive(Debug)]
pub struct Import {
    /// The name that it has here; `*` for everything.
    pub name: String,
    /// As it is written.
    pub path: Vec<String>,
    /// Whether others can have it from here.
    pub is_public: bool,
}

/// One file of a crate.
#[derive(Debug, Default)]
pub struct Source {
    pub imports: Vec<Import>,
    /// Paths of two names or more that are not of a `use`.
    pub paths: Vec<Vec<String>>,
    /// Every word, those of a `use` aside.
    pub words: BTreeSet<String>,
    /// What is defined here.
    pub defined: BTreeSet<String>,
    pub macros: BTreeSet<String>,
    /// The modules that have files of their own.
    pub modules: Vec<String>,
}

/// The code without what is only there for tests.
pub fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if let TokenTree::Group(group) = &token
            && group.delimiter() == Delimiter::Bracket
            && matches!(kept.last(), Some(TokenTree::Punct(mark)) if mark.as_char() == '#')
            && matches!(&words(group.stream())[..], [first, rest @ ..]
                if first == "cfg" && rest.contains(&"test".to_owned()) && !rest.contains(&"not".to_owned()))
        {
            kept.pop();
            let ends_item = |token: &TokenTree| match token {
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                TokenTree::Punct(mark) => mark.as_char() == ';' || mark.as_char() == ',',
                _ => false,
            };
            let _item = tokens.by_ref().find(ends_item);
            continue;
        }
        kept.push(token);
    }
    kept
}

/// Every word, at any depth.
fn words(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(word) => found.push(word.to_string()),
            TokenTree::Group(group) => found.extend(words(group.stream())),
            _ => {}
        }
    }
    found
}

fn flatten(tokens: Vec<TokenTree>, out: &mut Vec<Token>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => out.push(Token::Word(word.to_string())),
            TokenTree::Punct(mark)
                if mark.as_char() == ':' && out.last() == Some(&Token::Other(':')) =>
            {
                out.pop();
                out.push(Token::Colons);
            }
            TokenTree::Punct(mark) => out.push(Token::Other(mark.as_char())),
            TokenTree::Literal(_) => out.push(Token::Other('"')),
            TokenTree::Group(group) => {
                let is_module = group.delimiter() == Delimiter::Brace
                    && matches!(&out[..], [.., Token::Word(word), Token::Word(_)] if word == "mod");
                let mut inner = Vec::new();
                flatten(without_tests(group.stream()), &mut inner);
                if is_module {
                    inner = one_level_up(inner);
                }
                out.push(Token::Open(group.delimiter()));
                out.extend(inner);
                out.push(Token::Close(group.delimiter()));
            }
        }
    }
}

/// The code of a module inside a file as if it stood in the file: `super::` is the file itself there.
fn one_level_up(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut skip = false;
    for (index, token) in tokens.iter().enumerate() {
        let begins = index == 0 || tokens[index - 1] != Token::Colons;
        if skip {
            skip = false;
        } else if begins
            && *token == Token::Word("super".to_owned())
            && tokens.get(index + 1) == Some(&Token::Colons)
        {
            skip = true;
            out.push(Token::Word("self".to_owned()));
            out.push(Token::Colons);
        } else {
            out.push(token.clone());
        }
    }
    out
}

/// The branches of a `use` from a place on; the place behind it is returned.
fn branches(
    tokens: &[Token],
    mut at: usize,
    before: &[String],
    out: &mut Vec<(Vec<String>, String)>,
) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(Token::Word(word)) if word == "as" => {
                let Some(Token::Word(name)) = tokens.get(at + 1) else { return at + 1 };
                out.push((path, name.clone()));
                return at + 2;
            }
            Some(Token::Word(word)) => {
                path.push(word.clone());
                at += 1;
            }
            Some(Token::Other('*')) => {
                out.push((path, "*".to_owned()));
                return at + 1;
            }
            Some(Token::Colons) => at += 1,
            Some(Token::Open(Delimiter::Brace)) => {
                at += 1;
                while !matches!(tokens.get(at), Some(Token::Close(_)) | None) {
                    at = branches(tokens, at, &path, out);
                    if tokens.get(at) == Some(&Token::Other(',')) {
                        at += 1;
                    }
                }
                return at + 1;
            }
            _ => {
                if path.last().is_some_and(|last| last == "self")
                    && path.len() > before.len()
                    && path.len() > 1
                {
                    path.pop();
                }
                if let Some(name) = path.last().cloned() {
                    out.push((path, name));
                }
                return at;
            }
        }
    }
}

pub fn read(text: &str) -> Source {
    let mut tokens = Vec::new();
    let stream: TokenStream = text.parse().expect("the compiler has read it, too");
    flatten(without_tests(stream), &mut tokens);
    let mut source = Source::default();
    let mut at = 0;
    while at < tokens.len() {
        let Token::Word(word) = &tokens[at] else {
            at += 1;
            continue;
        };
        let previous = at.checked_sub(1).map(|index| &tokens[index]);
        let next = tokens.get(at + 1);
        if word == "use" && !matches!(next, Some(Token::Other('<'))) {
            let is_public = match previous {
                Some(Token::Word(word)) => word == "pub",
                Some(Token::Close(Delimiter::Parenthesis)) => true,
                _ => false,
            };
            let mut found = Vec::new();
            at = branches(&tokens, at + 1, &[], &mut found);
            let imports = found.into_iter().map(|(path, name)| Import { name, path, is_public });
            source.imports.extend(imports);
            continue;
        }
        const ITEMS: [&str; 9] =
            ["struct", "enum", "fn", "trait", "type", "const", "static", "union", "mod"];
        if let (true, Some(Token::Word(name))) = (ITEMS.contains(&word.as_str()), next) {
            if word == "mod" && tokens.get(at + 2) == Some(&Token::Other(';')) {
                source.modules.push(name.clone());
                at += 2;
                continue;
            }
            source.defined.insert(name.clone());
        }
        if let ("macro_rules", Some(Token::Word(name))) = (word.as_str(), tokens.get(at + 2)) {
            source.macros.insert(name.clone());
        }
        source.words.insert(word.clone());
        if previous != Some(&Token::Colons) && next == Some(&Token::Colons) {
            let mut path = vec![word.clone()];
            while let (Some(Token::Colons), Some(Token::Word(name))) =
                (tokens.get(at + 1), tokens.get(at + 2))
            {
                path.push(name.clone());
                at += 2;
            }
            source.paths.push(path);
        }
        at += 1;
    }
    source
}
