//! No files that need each other in a circle: what is on one cannot be read, tested or moved without all of them.
//!
//! A file needs another if its code, tests aside, names something that the other defines: by `use`, or by a path such as
//! `crate::clock::Clock` or `super::page()`. A re-export is no need of its own: who names a re-exported thing needs the
//! file that defines it. Methods are not seen; their types are.

use super::source::{Import, Source, read};
use crate::kernels_source::{files, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module: the names from the root of its crate.
type Module = Vec<String>;

/// Re-exports of re-exports that are followed.
const DEPTH: usize = 4;

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
        if depth > DEPTH {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let (mut module, mut rest) = match first.as_str() {
            "crate" => (Vec::new(), rest.to_vec()),
            "self" | "super" => {
                let above = path.iter().filter(|name| *name == "super").count();
                let len = from.len().saturating_sub(above);
                (from[..len].to_vec(), path[above + usize::from(first == "self")..].to_vec())
            }
            name => {
                let child: Module = from.iter().cloned().chain([name.to_owned()]).collect();
                if self.sources.contains_key(&child) {
                    (child, rest.to_vec())
                } else {
                    let (_, source) = self.sources.get(from)?;
                    let Some(import) = source.imports.iter().find(|import| import.name == name)
                    else {
                        return self.through_globs(from, path, depth);
                    };
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

    /// What a path names whose first name comes by `use ..::*`.
    fn through_globs(
        &self,
        from: &Module,
        path: &[String],
        depth: usize,
    ) -> Option<(Module, Vec<String>)> {
        let (_, source) = self.sources.get(from)?;
        let globs = source.imports.iter().filter(|import| import.name == "*");
        globs.into_iter().find_map(|import| {
            // A glob whose own first name came by a glob would be looked for for ever.
            if !["crate", "self", "super"].contains(&import.path.first()?.as_str()) {
                return None;
            }
            let path: Vec<String> = import.path.iter().chain(path).cloned().collect();
            let (module, rest) = self.resolve(from, &path, depth + 1)?;
            (module != *from && self.defines(&module, &rest)).then_some((module, rest))
        })
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
