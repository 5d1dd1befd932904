//! No files that need each other in a circle: what is on one cannot be read, tested or moved without all of them.
//!
//! A file needs another if its code, tests aside, names something that the other defines: by `use`, or by a path such as
//! `crate::clock::Clock` or `super::page()`. A re-export is no need of its own: who names a re-exported thing needs the
//! file that defines it. Methods are not seen; their types are.

use crate::kernels_source::{files, root};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A token of a file, as far as paths need it.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Colons,
    Open(Delimiter),
    Close(Delimiter),
    Other(char),
}

/// A module: the names from the root of its crate.
type Module = Vec<String>;

/// Something that a `use` brings into a file.
#[derive(Debug)]
struct Import {
    /// The name that it has here; `*` for everything.
    name: String,
    /// As it is written.
    path: Vec<String>,
    /// Whether others can have it from here.
    is_public: bool,
}

/// One file of a crate.
#[derive(Debug, Default)]
struct Source {
    imports: Vec<Import>,
    /// Paths of two names or more that are not of a `use`.
    paths: Vec<Vec<String>>,
    /// Every word, those of a `use` aside.
    words: BTreeSet<String>,
    /// What is defined here.
    defined: BTreeSet<String>,
    macros: BTreeSet<String>,
    /// The modules that have files of their own.
    modules: Vec<String>,
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

fn read(text: &str) -> Source {
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
            } else {
                source.defined.insert(name.clone());
            }
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

/// The files of a crate that are modules of it, by the modules.
struct Crate {
    sources: BTreeMap<Module, (String, Source)>,
}

impl Crate {
    /// From the texts of a folder by their paths in it, beginning with one of them.
    fn read(texts: &BTreeMap<String, String>, root: &str) -> Crate {
        let mut sources = BTreeMap::new();
        let mut open: Vec<(Module, String)> = vec![(Vec::new(), root.to_owned())];
        while let Some((module, path)) = open.pop() {
            let Some(text) = texts.get(&path) else { continue };
            let source = read(text);
            for name in &source.modules {
                let module: Module = module.iter().chain([name]).cloned().collect();
                let stem = module.join("/");
                let candidates = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
                let file = candidates.into_iter().find(|path| texts.contains_key(path));
                open.extend(file.map(|file| (module, file)));
            }
            sources.insert(module, (path, source));
        }
        Crate { sources }
    }

    /// The module whose file defines what a path names, and the rest of the path; `None` for what is not this crate's.
    fn resolve(
        &self,
        from: &Module,
        path: &[String],
        depth: usize,
    ) -> Option<(Module, Vec<String>)> {
        if depth > 16 {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let (mut module, mut rest) = match first.as_str() {
            "crate" => (Vec::new(), rest.to_vec()),
            "self" => (from.clone(), rest.to_vec()),
            "super" => {
                let mut module = from.clone();
                module.pop();
                let above = rest.iter().take_while(|name| *name == "super").count();
                module.truncate(module.len().saturating_sub(above));
                (module, rest[above..].to_vec())
            }
            name => {
                let child: Module = from.iter().cloned().chain([name.to_owned()]).collect();
                if self.sources.contains_key(&child) {
                    (child, rest.to_vec())
                } else {
                    let (_, source) = self.sources.get(from)?;
                    let import = source.imports.iter().find(|import| import.name == name)?;
                    if import.path.first() == Some(first) {
                        return None;
                    }
                    let (module, mut found) = self.resolve(from, &import.path, depth + 1)?;
                    found.extend(rest.iter().cloned());
                    (module, found)
                }
            }
        };
        while let Some(name) = rest.first() {
            let child: Module = module.iter().cloned().chain([name.clone()]).collect();
            if !self.sources.contains_key(&child) {
                break;
            }
            module = child;
            rest.remove(0);
        }
        let Some(name) = rest.first() else { return Some((module, rest)) };
        let (_, source) = self.sources.get(&module)?;
        if source.defined.contains(name) {
            return Some((module, rest));
        }
        // What it has from elsewhere, by its name or among all of a module.
        for import in &source.imports {
            let mut path = import.path.clone();
            if import.name == "*" {
                path.push(name.clone());
            } else if import.name != *name {
                continue;
            }
            path.extend(rest[1..].iter().cloned());
            if let Some((found, rest)) = self.resolve(&module, &path, depth + 1)
                && (import.name != "*" || self.defines(&found, &rest))
            {
                return Some((found, rest));
            }
        }
        let with_macro = self.sources.iter().find(|(_, (_, source))| source.macros.contains(name));
        Some((with_macro.map_or(module, |(module, _)| module.clone()), rest))
    }

    fn defines(&self, module: &Module, rest: &[String]) -> bool {
        let defined = |name| {
            self.sources.get(module).is_some_and(|(_, source)| source.defined.contains(name))
        };
        rest.first().is_none_or(defined)
    }

    /// Which file needs which, and for what.
    fn needs(&self) -> BTreeMap<(&str, &str), BTreeSet<String>> {
        let mut needs: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for (module, (file, source)) in &self.sources {
            let used = |import: &&Import| !import.is_public || source.words.contains(&import.name);
            let imports = source.imports.iter().filter(used).map(|import| {
                let mut path = import.path.clone();
                if import.name == "*" {
                    path.push("*".to_owned());
                }
                path
            });
            for path in imports.chain(source.paths.iter().cloned()) {
                let Some((target, rest)) = self.resolve(module, &path, 0) else { continue };
                // A module itself is nothing yet: what is taken from it is.
                let Some(name) = rest.first() else { continue };
                let other = &self.sources[&target].0;
                // All of a module that only re-exports.
                let is_bare = name == "*" && self.sources[&target].1.defined.is_empty();
                if other != file && !is_bare {
                    needs.entry((file, other)).or_default().insert(name.clone());
                }
            }
        }
        needs
    }
}

/// The circles of a crate, each as one sentence.
fn circles(texts: &BTreeMap<String, String>, root: &str) -> Vec<String> {
    let whole = Crate::read(texts, root);
    let needs = whole.needs();
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for start in whole.sources.values().map(|(file, _)| file.as_str()) {
        let mut open = vec![start];
        while let Some(file) = open.pop() {
            for (_, other) in needs.keys().filter(|(from, _)| *from == file) {
                if reached.entry(start).or_default().insert(other) {
                    open.push(other);
                }
            }
        }
    }
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for ((from, to), names) in &needs {
        if reaches(to, from) {
            let on_it = reached[from].iter().filter(|file| reaches(file, from));
            let first = on_it.min().expect("the file itself is on the circle");
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            found.entry(first).or_default().push(format!("{from} -> {to} ({})", names.join(", ")));
        }
    }
    found.into_values().map(|edges| edges.join(", ")).collect()
}

/// The texts of a folder by their paths in it.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let all = files(&folder.to_string_lossy(), "rs").into_iter();
    let below = |path: &Path| {
        path.strip_prefix(folder).expect("it is below").to_string_lossy().into_owned()
    };
    all.map(|(path, text)| (below(&path), text)).collect()
}

#[test]
fn no_files_of_a_crate_need_each_other_in_a_circle() {
    let mut wrong = Vec::new();
    let mut crates = 0;
    for package in super::layers::workspace() {
        for target in &package.targets {
            let file = target.src_path.as_std_path();
            let folder = file.parent().expect("a file is in a folder");
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if !["lib.rs", "main.rs"].contains(&name.as_ref()) {
                continue;
            }
            crates += 1;
            let place = folder.strip_prefix(root()).unwrap_or(folder).display();
            let found = circles(&texts(folder), &name);
            wrong.extend(found.into_iter().map(|circle| format!("{place}: {circle}")));
        }
    }
    assert!(crates > 15, "only {crates} crates were read");
    assert!(
        wrong.is_empty(),
        "move what both files of a circle need into a file of its own:\n{}",
        wrong.join("\n")
    );
}

/// A crate of small files.
fn planted(files: &[(&str, &str)]) -> Vec<String> {
    let texts = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    circles(&texts, "lib.rs")
}

#[test]
fn a_circle_is_found_however_its_paths_are_written() {
    let root = ("lib.rs", "mod a; mod b;");
    let needed_by_use = ("b.rs", "use crate::a::A; pub struct B(A);");
    let ways = [
        "use crate::b::B; pub struct A(B);",
        "use super::b::{self, B}; pub struct A(B);",
        "pub struct A(crate::b::B);",
        "use crate::b; pub fn f(_: b::B) {} pub struct A;",
        "use super::*; pub fn f(_: b::B) {} pub struct A;",
        "pub struct A; mod inner { fn f(_: super::super::b::B) {} }",
        "use crate::b as c; pub struct A(c::B);",
    ];
    for way in ways {
        let found = planted(&[root, ("a.rs", way), needed_by_use]);
        assert_eq!(found, ["a.rs -> b.rs (B), b.rs -> a.rs (A)"], "{way}");
    }
}

#[test]
fn a_circle_through_a_parent_is_found() {
    let parent = "mod child; pub struct Page; pub fn f() { child::draw() }";
    let child = "use super::Page; pub fn draw() -> Page { Page }";
    let found =
        planted(&[("lib.rs", "mod plot;"), ("plot/mod.rs", parent), ("plot/child.rs", child)]);
    assert_eq!(found, ["plot/child.rs -> plot/mod.rs (Page), plot/mod.rs -> plot/child.rs (draw)"]);
    let longer = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "use crate::c::C; pub struct B(C);"),
        ("c.rs", "use crate::a::A; pub struct C(A);"),
    ];
    assert_eq!(planted(&longer), ["a.rs -> b.rs (B), b.rs -> c.rs (C), c.rs -> a.rs (A)"]);
}

#[test]
fn what_is_no_circle_is_not_called_one() {
    let root = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::*;");
    let b = ("b.rs", "pub struct B; pub struct C;");
    let ways = [
        // Through the root, which only re-exports.
        "use crate::{B, C}; pub struct A(B, C);",
        // In tests.
        "use crate::b::B; pub struct A(B); #[cfg(test)] mod tests { use super::*; use crate::Root; }",
        // In comments and strings.
        "/// See [`crate::Root`].\npub struct A(crate::b::B); const S: &str = \"crate::Root\";",
    ];
    for way in ways {
        assert!(planted(&[root, ("a.rs", way), b]).is_empty(), "{way}");
    }
    let tested = (
        "b.rs",
        "pub struct B; #[cfg(test)] use crate::a::A; #[cfg(test)] mod tests { use crate::a::A; }",
    );
    assert!(planted(&[root, ("a.rs", ways[0]), tested]).is_empty());
}
