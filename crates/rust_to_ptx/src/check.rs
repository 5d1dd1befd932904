//! Names and types of a file, by Rust's rules for the part of the language that is read.

mod choice;

use crate::names;
use crate::tree::{
    Checked, Closure, Expr, Function, Int, Iter, Kind, LocalId, Op, Pattern, Place, Result,
    Statement, Static, StaticSpace, Type, Vector, refuse,
};
use proc_macro2::Span;
use std::cell::OnceCell;
use std::collections::HashMap;
use syn::spanned::Spanned;

/// Nested expressions and types beyond which a file is refused.
const MAX_DEPTH: usize = 200;
/// The longest array; shared memory has fewer words.
const MAX_LENGTH: usize = 1 << 16;

/// A type that is to be found.
#[derive(Clone, Debug)]
pub enum Variable {
    Any,
    Int,
    Float,
    Is(Type),
}

#[derive(Clone, Copy, Debug)]
enum Binding {
    Local(LocalId),
    Const(usize),
    Static(usize),
    Function(usize),
    Struct(usize),
}

struct Local {
    of: Type,
    is_mutable: bool,
}

struct OpenLoop {
    label: Option<String>,
    id: usize,
}

/// A closure whose parameters' types are not known yet, with the names around it.
struct Waiting {
    index: usize,
    one: syn::ExprClosure,
    scopes: Vec<HashMap<String, Binding>>,
    unsafe_depth: usize,
}

/// The checker of one file.
pub struct Check {
    pub out: Checked,
    pub types: Vec<Variable>,
    scopes: Vec<HashMap<String, Binding>>,
    imports: HashMap<String, String>,
    locals: Vec<Local>,
    loops: Vec<OpenLoop>,
    loop_count: usize,
    const_sources: Vec<(syn::Expr, Type)>,
    unsafe_depth: usize,
    result: Type,
    depth: usize,
    waiting: Vec<Waiting>,
}

pub fn place(span: Span) -> Place {
    let start = span.start();
    Place { line: start.line as u32, column: start.column as u32 + 1 }
}

/// Takes a checked file of another language, with the types of its locals.
pub fn checked(out: Checked, types: Vec<Type>) -> Check {
    let locals = types.into_iter().map(|of| Local { of, is_mutable: true }).collect();
    Check { locals, ..empty(out) }
}

fn empty(out: Checked) -> Check {
    Check {
        out,
        types: Vec::new(),
        scopes: vec![HashMap::new()],
        imports: HashMap::new(),
        locals: Vec::new(),
        loops: Vec::new(),
        loop_count: 0,
        const_sources: Vec::new(),
        unsafe_depth: 0,
        result: Type::Unit,
        depth: 0,
        waiting: Vec::new(),
    }
}

pub fn check(file: &syn::File) -> Result<Check> {
    let mut check = empty(Checked::default());
    if let Some(attribute) = file.attrs.iter().find(|one| !is_plain(one)) {
        return refuse(place(attribute.span()), "this attribute is not read here: leave it");
    }
    check.items(&file.items.iter().collect::<Vec<_>>())?;
    Ok(check)
}

/// An attribute that changes nothing.
fn is_plain(attribute: &syn::Attribute) -> bool {
    ["doc", "allow", "expect", "warn", "inline", "must_use"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}

fn plain(attributes: &[syn::Attribute]) -> Result<()> {
    match attributes.iter().find(|one| !is_plain(one)) {
        Some(other) => refuse(place(other.span()), "this attribute is not read here: leave it"),
        None => Ok(()),
    }
}

impl Check {
    /// The type as far as it is known; whole numbers without another type are `i32`, as in Rust.
    pub fn known(&self, of: &Type) -> Type {
        match of {
            Type::Unknown(index) => match &self.types[*index] {
                Variable::Is(of) => self.known(of),
                Variable::Int => Type::Int(Int::I32),
                Variable::Float => Type::F64,
                Variable::Any => of.clone(),
            },
            Type::Tuple(all) => Type::Tuple(all.iter().map(|one| self.known(one)).collect()),
            Type::Array(element, length) => Type::Array(Box::new(self.known(element)), *length),
            Type::Pointer(mutable, to) => Type::Pointer(*mutable, Box::new(self.known(to))),
            Type::Uninit(of) => Type::Uninit(Box::new(self.known(of))),
            Type::Reference(mutable, to) => Type::Reference(*mutable, Box::new(self.known(to))),
            Type::Slice(mutable, of) => Type::Slice(*mutable, Box::new(self.known(of))),
            other => other.clone(),
        }
    }

    pub fn local_type(&self, id: LocalId) -> Type {
        self.known(&self.locals[id].of)
    }

    /// The type without a guess.
    pub fn shallow(&self, of: &Type) -> Type {
        match of {
            Type::Unknown(index) => match &self.types[*index] {
                Variable::Is(of) => self.shallow(of),
                _ => of.clone(),
            },
            other => other.clone(),
        }
    }

    pub fn fresh(&mut self, variable: Variable) -> Type {
        self.types.push(variable);
        Type::Unknown(self.types.len() - 1)
    }

    fn variable(&self, of: &Type) -> Option<(usize, Variable)> {
        match of {
            Type::Unknown(index) => Some((*index, self.types[*index].clone())),
            _ => None,
        }
    }

    fn unified(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.shallow(a), self.shallow(b));
        if a == b || a == Type::Never || b == Type::Never {
            return true;
        }
        let (first, second) = (self.variable(&a), self.variable(&b));
        match (first, second) {
            (Some((index, Variable::Any)), _) => {
                if self.contains(&b, index) {
                    return false;
                }
                self.types[index] = Variable::Is(b);
                return true;
            }
            (_, Some((index, Variable::Any))) => {
                if self.contains(&a, index) {
                    return false;
                }
                self.types[index] = Variable::Is(a);
                return true;
            }
            (Some((index, Variable::Int)), other) => {
                let fits = matches!(b, Type::Int(_)) || matches!(other, Some((_, Variable::Int)));
                self.types[index] = if fits { Variable::Is(b) } else { Variable::Int };
                return fits;
            }
            (Some((index, Variable::Float)), other) => {
                let fits = matches!(b, Type::F32 | Type::F64)
                    || matches!(other, Some((_, Variable::Float)));
                self.types[index] = if fits { Variable::Is(b) } else { Variable::Float };
                return fits;
            }
            (None, Some(_)) => return self.unified(&b, &a),
            _ => {}
        }
        match (&a, &b) {
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.unified(a, b))
            }
            (Type::Array(a, n), Type::Array(b, m)) => n == m && self.unified(a, b),
            (Type::Pointer(m, a), Type::Pointer(n, b)) => m == n && self.unified(a, b),
            (Type::Reference(m, a), Type::Reference(n, b))
            | (Type::Slice(m, a), Type::Slice(n, b)) => m == n && self.unified(a, b),
            (Type::Uninit(a), Type::Uninit(b)) => self.unified(a, b),
            _ => false,
        }
    }

    fn contains(&self, of: &Type, index: usize) -> bool {
        match self.shallow(of) {
            Type::Unknown(other) => other == index,
            Type::Tuple(all) => all.iter().any(|one| self.contains(one, index)),
            Type::Array(of, _)
            | Type::Pointer(_, of)
            | Type::Reference(_, of)
            | Type::Slice(_, of)
            | Type::Uninit(of) => self.contains(&of, index),
            _ => false,
        }
    }

    pub fn unify(&mut self, found: &Type, wanted: &Type, at: Place) -> Result<()> {
        if self.unified(found, wanted) {
            return Ok(());
        }
        let (found, wanted) = (self.known(found).show(), self.known(wanted).show());
        refuse(at, format!("this is of type `{found}`, and `{wanted}` is wanted"))
    }

    /// Lets an expression stand where a type is wanted: as Rust does, `*mut T` for `*const T`.
    pub fn coerce(&mut self, found: &Expr, wanted: &Type) -> Result<()> {
        let (from, to) = (self.shallow(&found.of), self.shallow(wanted));
        // A reference is a pointer wherever one is wanted.
        match (&from, &to) {
            (Type::Pointer(true, from), Type::Pointer(false, to))
            | (Type::Reference(true, from), Type::Reference(false, to) | Type::Pointer(_, to))
            | (Type::Reference(false, from), Type::Pointer(false, to))
            | (Type::Slice(true, from), Type::Slice(false, to)) => {
                return self.unify(from, to, found.at);
            }
            _ => {}
        }
        self.unify(&found.of, wanted, found.at)
    }

    // Items.

    fn items(&mut self, items: &[&syn::Item]) -> Result<()> {
        self.declare_structs(items)?;
        // Names first: they are known before and behind their item.
        let mut functions = Vec::new();
        let mut constants = Vec::new();
        let mut statics = Vec::new();
        for item in items {
            match item {
                syn::Item::Use(one) => self.import("", &one.tree)?,
                syn::Item::Fn(one) => {
                    functions.push((self.out.functions.len(), one));
                    self.declare(one)?;
                }
                syn::Item::Const(one) => {
                    plain(&one.attrs)?;
                    let index = self.out.constants.len();
                    self.out.constants.push(None);
                    self.const_sources.push(((*one.expr).clone(), Type::Unit));
                    self.bind(&one.ident.to_string(), Binding::Const(index));
                    constants.push((index, one));
                }
                syn::Item::Static(one) => statics.push(one),
                syn::Item::Struct(_) => {}
                other => {
                    return refuse(
                        place(other.span()),
                        "this kind of item is not read here: a task's file has functions, constants, statics and structs",
                    );
                }
            }
        }
        for (index, one) in &constants {
            self.const_sources[*index].1 = self.type_of(&one.ty)?;
        }
        for one in statics {
            self.declare_static(one)?;
        }
        for (index, one) in constants {
            let wanted = self.const_sources[index].1.clone();
            let value = self.expr(&one.expr, Some(&wanted))?;
            self.coerce(&value, &wanted)?;
            self.out.constants[index] = Some(value);
        }
        for (index, one) in functions {
            self.body(index, one)?;
        }
        Ok(())
    }

    fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), binding);
        }
    }

    fn import(&mut self, path: &str, tree: &syn::UseTree) -> Result<()> {
        let at = |name: &dyn std::fmt::Display| {
            if path.is_empty() { name.to_string() } else { format!("{path}::{name}") }
        };
        match tree {
            syn::UseTree::Path(one) => self.import(&at(&one.ident), &one.tree),
            syn::UseTree::Name(one) => {
                let name = one.ident.to_string();
                let (name, path) = if name == "self" {
                    (path.rsplit("::").next().unwrap_or(path).to_owned(), path.to_owned())
                } else {
                    (name, at(&one.ident))
                };
                self.imports.insert(name, path);
                Ok(())
            }
            syn::UseTree::Rename(one) => {
                self.imports.insert(one.rename.to_string(), at(&one.ident));
                Ok(())
            }
            syn::UseTree::Group(group) => {
                group.items.iter().try_for_each(|one| self.import(path, one))
            }
            syn::UseTree::Glob(star) => {
                let names = names::glob(path);
                if names.is_empty() {
                    let message = format!("`use {path}::*` is not read here: name what you need");
                    return refuse(place(star.span()), message);
                }
                for name in names {
                    self.imports
                        .entry((*name).to_owned())
                        .or_insert_with(|| format!("cuda_std::{name}"));
                }
                Ok(())
            }
        }
    }

    fn declare(&mut self, one: &syn::ItemFn) -> Result<()> {
        let at = place(one.sig.ident.span());
        let mut is_kernel = false;
        for attribute in &one.attrs {
            if attribute.path().is_ident("kernel") {
                if !matches!(attribute.meta, syn::Meta::Path(_)) {
                    return refuse(
                        place(attribute.span()),
                        "`#[kernel]` with arguments is not read here",
                    );
                }
                is_kernel = true;
            } else if !is_plain(attribute) {
                return refuse(place(attribute.span()), "this attribute is not read here");
            }
        }
        let sig = &one.sig;
        if !sig.generics.params.is_empty() || sig.asyncness.is_some() || sig.abi.is_some() {
            return refuse(
                at,
                "a function with generics, `async` or `extern` is not read here: name its types",
            );
        }
        let is_unsafe = matches!(sig.safety, syn::Safety::Unsafe(_));
        if is_kernel && !is_unsafe {
            return refuse(at, "a kernel is an `unsafe fn` here");
        }
        let mut parameters = Vec::new();
        for input in &sig.inputs {
            let syn::FnArg::Typed(typed) = input else {
                return refuse(place(input.span()), "`self` is not read here");
            };
            let of = self.type_of(&typed.ty)?;
            let (name, is_mutable) = match &*typed.pat {
                syn::Pat::Ident(one) => (one.ident.to_string(), one.mutability.is_some()),
                syn::Pat::Wild(_) => ("_".to_owned(), false),
                other => return refuse(place(other.span()), "a parameter is one name here"),
            };
            if is_kernel && !matches!(of, Type::Int(_) | Type::F32 | Type::F64 | Type::Pointer(..))
            {
                let message = format!(
                    "a kernel's parameter of type `{}` is not read here: a number or a pointer is",
                    of.show()
                );
                return refuse(place(typed.ty.span()), message);
            }
            parameters.push((self.local(&name, of.clone(), is_mutable), of));
        }
        let result = match &sig.output {
            syn::ReturnType::Default => Type::Unit,
            syn::ReturnType::Type(_, of) => self.type_of(of)?,
        };
        if is_kernel && result != Type::Unit {
            return refuse(at, "a kernel has no result");
        }
        let name = sig.ident.to_string();
        self.bind(&name, Binding::Function(self.out.functions.len()));
        self.out.functions.push(Function {
            name,
            is_kernel,
            is_unsafe,
            parameters,
            result,
            body: OnceCell::new(),
            at,
        });
        Ok(())
    }

    fn body(&mut self, index: usize, one: &syn::ItemFn) -> Result<()> {
        let function = &self.out.functions[index];
        let (result, is_unsafe) = (function.result.clone(), function.is_unsafe);
        let parameters: Vec<LocalId> = function.parameters.iter().map(|(id, _)| *id).collect();
        let outer = self.scopes.clone();
        for scope in &mut self.scopes {
            scope.retain(|_, binding| !matches!(binding, Binding::Local(_)));
        }
        self.scopes.push(HashMap::new());
        for id in parameters {
            let name = self.out.locals[id].clone();
            self.bind(&name, Binding::Local(id));
        }
        let before = std::mem::replace(&mut self.result, result.clone());
        let (depth, loops) = (self.unsafe_depth, std::mem::take(&mut self.loops));
        self.unsafe_depth = usize::from(is_unsafe);
        let body = self.block(&one.block, Some(&result))?;
        self.coerce(&body, &result)?;
        self.unsafe_depth = depth;
        self.loops = loops;
        self.result = before;
        self.scopes = outer;
        let _ = self.out.functions[index].body.set(body);
        Ok(())
    }

    fn declare_static(&mut self, one: &syn::ItemStatic) -> Result<()> {
        let at = place(one.ident.span());
        let mut space = StaticSpace::Global;
        for attribute in &one.attrs {
            if attribute.path().is_ident("address_space") {
                let name: syn::Ident =
                    attribute.parse_args().map_err(|error| crate::parse_error(&error))?;
                space = match name.to_string().as_str() {
                    "shared" => StaticSpace::Shared,
                    "constant" => StaticSpace::Constant,
                    "global" => StaticSpace::Global,
                    _ => return refuse(place(name.span()), "this address space is not read here"),
                };
            } else if !is_plain(attribute) {
                return refuse(place(attribute.span()), "this attribute is not read here");
            }
        }
        let of = self.type_of(&one.ty)?;
        let is_mutable = matches!(one.mutability, syn::StaticMutability::Mut(_));
        let value = self.expr(&one.expr, Some(&of))?;
        self.coerce(&value, &of)?;
        let is_uninit = matches!(value.kind, Kind::Library("uninit", _));
        if space == StaticSpace::Shared && !is_uninit {
            return refuse(at, "a static of shared memory begins as `MaybeUninit::uninit()`");
        }
        if is_mutable && space != StaticSpace::Shared {
            return refuse(at, "a `static mut` outside of shared memory is not read here");
        }
        let name = one.ident.to_string();
        self.bind(&name, Binding::Static(self.out.statics.len()));
        let value = if is_uninit { None } else { Some(value) };
        self.out.statics.push(Static { name, of, space, is_mutable, value, at });
        Ok(())
    }

    fn local(&mut self, name: &str, of: Type, is_mutable: bool) -> LocalId {
        self.locals.push(Local { of, is_mutable });
        self.out.locals.push(name.to_owned());
        self.locals.len() - 1
    }

    // Types.

    pub fn type_of(&mut self, of: &syn::Type) -> Result<Type> {
        let at = place(of.span());
        match of {
            syn::Type::Paren(one) => self.type_of(&one.elem),
            syn::Type::Group(one) => self.type_of(&one.elem),
            syn::Type::Infer(_) => Ok(self.fresh(Variable::Any)),
            syn::Type::Never(_) => Ok(Type::Never),
            syn::Type::Ptr(one) => {
                let mutable = matches!(one.mutability, syn::PointerMutability::Mut(_));
                Ok(Type::Pointer(mutable, Box::new(self.type_of(&one.elem)?)))
            }
            syn::Type::Reference(one) => {
                let mutable = one.mutability.is_some();
                if let syn::Type::Slice(slice) = &*one.elem {
                    return Ok(Type::Slice(mutable, Box::new(self.type_of(&slice.elem)?)));
                }
                Ok(Type::Reference(mutable, Box::new(self.type_of(&one.elem)?)))
            }
            syn::Type::Tuple(one) if one.elems.is_empty() => Ok(Type::Unit),
            syn::Type::Tuple(one) => {
                let all = one.elems.iter().map(|one| self.type_of(one));
                Ok(Type::Tuple(all.collect::<Result<_>>()?))
            }
            syn::Type::Array(one) => {
                let element = self.type_of(&one.elem)?;
                let length = self.array_length(&one.len, &element)?;
                Ok(Type::Array(Box::new(element), length))
            }
            syn::Type::Path(one) if one.qself.is_none() => {
                let path = self.path(&one.path);
                let last = path.rsplit("::").next().unwrap_or_default();
                if path == "core::mem::MaybeUninit" {
                    let arguments = one.path.segments.last().map(|one| &one.arguments);
                    if let Some(syn::PathArguments::AngleBracketed(arguments)) = arguments
                        && let Some(syn::GenericArgument::Type(of)) = arguments.args.first()
                    {
                        return Ok(Type::Uninit(Box::new(self.type_of(of)?)));
                    }
                    let of = self.fresh(Variable::Any);
                    return Ok(Type::Uninit(Box::new(of)));
                }
                if path == "f32" || path == "f64" {
                    return Ok(if path == "f32" { Type::F32 } else { Type::F64 });
                }
                if path == "bool" {
                    return Ok(Type::Bool);
                }
                if let Some(int) = Int::named(&path) {
                    return Ok(Type::Int(int));
                }
                if let Some(Binding::Struct(index)) = self.find(&path) {
                    return Ok(Type::Struct(index));
                }
                if path.starts_with("cuda_std::vector::")
                    && let Some(vector) = Vector::named(last)
                {
                    return Ok(Type::Vector(vector));
                }
                refuse(at, format!("the type `{}` is not read here", crate::show(&one.path)))
            }
            _ => refuse(at, "this type is not read here"),
        }
    }

    fn array_length(&mut self, expr: &syn::Expr, element: &Type) -> Result<usize> {
        let length = self.length(expr)?;
        let parts = match self.known(element) {
            Type::Array(..) => element.layout().0 as usize,
            _ => 1,
        };
        if length.saturating_mul(parts) > MAX_LENGTH {
            let message = format!("an array has at most {MAX_LENGTH} elements here");
            return refuse(place(expr.span()), message);
        }
        Ok(length)
    }

    /// A length that is known when the file is compiled.
    fn length(&mut self, expr: &syn::Expr) -> Result<usize> {
        let at = place(expr.span());
        let unknown = || {
            refuse(
                at,
                "the length of an array is a number, or constants of type `usize` with + - * / here",
            )
        };
        match expr {
            syn::Expr::Paren(one) => self.length(&one.expr),
            syn::Expr::Group(one) => self.length(&one.expr),
            syn::Expr::Block(one) if one.block.stmts.len() == 1 => match &one.block.stmts[0] {
                syn::Stmt::Expr(one, None) => self.length(one),
                _ => unknown(),
            },
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) => {
                number.base10_parse().map_err(|error| crate::parse_error(&error))
            }
            syn::Expr::Cast(one) => self.length(&one.expr),
            syn::Expr::Path(one) => {
                let Some(Binding::Const(index)) =
                    one.path.get_ident().and_then(|name| self.find(&name.to_string()))
                else {
                    return unknown();
                };
                let source = self.const_sources[index].0.clone();
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return refuse(at, "this constant needs itself");
                }
                let length = self.length(&source);
                self.depth -= 1;
                length
            }
            syn::Expr::Binary(one) => {
                let (a, b) = (self.length(&one.left)?, self.length(&one.right)?);
                let value = match one.op {
                    syn::BinOp::Add(_) => a.checked_add(b),
                    syn::BinOp::Sub(_) => a.checked_sub(b),
                    syn::BinOp::Mul(_) => a.checked_mul(b),
                    syn::BinOp::Div(_) => a.checked_div(b),
                    _ => None,
                };
                value.map_or_else(unknown, Ok)
            }
            _ => unknown(),
        }
    }

    fn find(&self, name: &str) -> Option<Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// A path with its first name replaced by what it was imported as.
    pub fn path(&self, path: &syn::Path) -> String {
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        let first = self.imports.get(&names[0]).cloned().unwrap_or_else(|| names[0].clone());
        let whole = std::iter::once(first).chain(names.into_iter().skip(1));
        let whole = whole.collect::<Vec<_>>().join("::");
        names::canonical(&whole)
    }

    pub fn turbofish(&mut self, segment: Option<&syn::PathArguments>) -> Result<Vec<Type>> {
        let Some(syn::PathArguments::AngleBracketed(arguments)) = segment else {
            return Ok(Vec::new());
        };
        self.generic(arguments)
    }

    fn generic(&mut self, arguments: &syn::AngleBracketedGenericArguments) -> Result<Vec<Type>> {
        let one = |one: &syn::GenericArgument| match one {
            syn::GenericArgument::Type(of) => self.type_of(of),
            other => refuse(place(other.span()), "this argument is not read here"),
        };
        arguments.args.iter().map(one).collect()
    }

    // Expressions.

    fn block(&mut self, block: &syn::Block, wanted: Option<&Type>) -> Result<Expr> {
        let at = place(block.brace_token.span.open());
        self.scopes.push(HashMap::new());
        let items: Vec<&syn::Item> = block
            .stmts
            .iter()
            .filter_map(|one| match one {
                syn::Stmt::Item(item) => Some(item),
                _ => None,
            })
            .collect();
        self.items(&items)?;
        let mut statements = Vec::new();
        let mut tail = None;
        let mut diverges = false;
        let last = block.stmts.len().saturating_sub(1);
        for (index, statement) in block.stmts.iter().enumerate() {
            match statement {
                syn::Stmt::Item(_) => {}
                syn::Stmt::Macro(one) => {
                    let made = self.macro_call(&one.mac, place(one.mac.span()))?;
                    diverges |= made.of == Type::Never;
                    if index == last && one.semi_token.is_none() {
                        tail = Some(Box::new(made));
                    } else {
                        statements.push(Statement::Expr(made));
                    }
                }
                syn::Stmt::Local(one) => statements.push(self.let_statement(one)?),
                syn::Stmt::Expr(one, None) if index == last => {
                    tail = Some(Box::new(self.expr(one, wanted)?));
                }
                syn::Stmt::Expr(one, semicolon) => {
                    // What ends with a brace is a statement without a semicolon, and has no value.
                    let wanted = if semicolon.is_none() { Some(Type::Unit) } else { None };
                    let one = self.expr(one, wanted.as_ref())?;
                    if let Some(wanted) = &wanted {
                        self.coerce(&one, wanted)?;
                    }
                    diverges |= self.shallow(&one.of) == Type::Never;
                    statements.push(Statement::Expr(one));
                }
            }
        }
        self.scopes.pop();
        let of = match &tail {
            Some(tail) => tail.of.clone(),
            None if diverges => Type::Never,
            None => Type::Unit,
        };
        Ok(Expr { kind: Kind::Block(statements, tail), of, at })
    }

    fn let_statement(&mut self, one: &syn::Local) -> Result<Statement> {
        plain(&one.attrs)?;
        let at = place(one.let_token.span);
        let (pattern, declared) = match &one.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(self.type_of(&typed.ty)?)),
            other => (other, None),
        };
        let Some(init) = &one.init else {
            return refuse(at, "a variable gets its value where it is declared, here");
        };
        if init.diverge.is_some() {
            return refuse(at, "`let .. else` is not read here: write `if`");
        }
        let value = self.expr(&init.expr, declared.as_ref())?;
        let of = match declared {
            Some(declared) => {
                self.coerce(&value, &declared)?;
                declared
            }
            None => value.of.clone(),
        };
        let pattern = self.pattern(pattern, &of)?;
        Ok(Statement::Let(pattern, Some(value)))
    }

    fn pattern(&mut self, pattern: &syn::Pat, of: &Type) -> Result<Pattern> {
        let at = place(pattern.span());
        match pattern {
            syn::Pat::Wild(_) => Ok(Pattern::Wild),
            syn::Pat::Paren(one) => self.pattern(&one.pat, of),
            syn::Pat::Ident(one) if one.by_ref.is_none() && one.subpat.is_none() => {
                let name = one.ident.to_string();
                let id = self.local(&name, of.clone(), one.mutability.is_some());
                self.bind(&name, Binding::Local(id));
                Ok(Pattern::Bind(id))
            }
            syn::Pat::Tuple(one) => {
                let types: Vec<Type> =
                    one.elems.iter().map(|_| self.fresh(Variable::Any)).collect();
                self.unify(of, &Type::Tuple(types.clone()), at)?;
                let all = one.elems.iter().zip(&types);
                let all = all.map(|(one, of)| self.pattern(one, of));
                Ok(Pattern::Tuple(all.collect::<Result<_>>()?))
            }
            syn::Pat::Type(one) => {
                let declared = self.type_of(&one.ty)?;
                self.unify(of, &declared, at)?;
                self.pattern(&one.pat, &declared)
            }
            syn::Pat::Struct(one) => {
                let index = self.struct_named(&one.path, at)?;
                self.unify(of, &Type::Struct(index), at)?;
                let mut all = vec![Pattern::Wild; self.out.structs[index].fields.len()];
                for field in &one.fields {
                    let (number, of) = self.field(index, &field.member, at)?;
                    all[number] = self.pattern(&field.pat, &of)?;
                }
                Ok(Pattern::Tuple(all))
            }
            _ => refuse(
                at,
                "this pattern is not read here: a name, `_`, a tuple or a struct of them is",
            ),
        }
    }

    fn condition(&mut self, expr: &syn::Expr) -> Result<Box<Expr>> {
        let condition = self.expr(expr, Some(&Type::Bool))?;
        self.coerce(&condition, &Type::Bool)?;
        Ok(Box::new(condition))
    }

    pub fn needs_unsafe(&self, what: &str, at: Place) -> Result<()> {
        if self.unsafe_depth > 0 {
            return Ok(());
        }
        refuse(at, format!("{what} is unsafe: put it into an `unsafe` block"))
    }

    pub fn expr(&mut self, expr: &syn::Expr, wanted: Option<&Type>) -> Result<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return refuse(place(expr.span()), "this is nested too deeply");
        }
        let found = self.expr_inner(expr, wanted);
        self.depth -= 1;
        found
    }

    fn expr_inner(&mut self, expr: &syn::Expr, wanted: Option<&Type>) -> Result<Expr> {
        let at = place(expr.span());
        let made = |kind: Kind, of: Type| Ok(Expr { kind, of, at });
        match expr {
            syn::Expr::Paren(one) => self.expr(&one.expr, wanted),
            syn::Expr::Group(one) => self.expr(&one.expr, wanted),
            syn::Expr::Lit(one) => self.literal(&one.lit, wanted, at),
            syn::Expr::Path(one) => {
                if let Some(name) = one.path.get_ident()
                    && let Some(binding) = self.find(&name.to_string())
                {
                    return match binding {
                        Binding::Local(id) => made(Kind::Local(id), self.locals[id].of.clone()),
                        Binding::Const(index) => {
                            made(Kind::Const(index), self.const_sources[index].1.clone())
                        }
                        Binding::Static(index) => {
                            let one = &self.out.statics[index];
                            let of = one.of.clone();
                            if one.is_mutable {
                                self.needs_unsafe("a `static mut`", at)?;
                            }
                            made(Kind::Static(index), of)
                        }
                        Binding::Function(_) => refuse(at, "a function is called here"),
                        Binding::Struct(_) => refuse(at, "a struct has values for its fields here"),
                    };
                }
                let path = self.path(&one.path);
                names::constant(&path, at).map_or_else(
                    || refuse(at, format!("`{}` is not known here", crate::show(&one.path))),
                    Ok,
                )
            }
            syn::Expr::Unary(one) => {
                let value = match one.op {
                    syn::UnOp::Deref(_) => self.expr(&one.expr, None)?,
                    _ => self.expr(&one.expr, wanted)?,
                };
                let of = self.shallow(&value.of);
                match one.op {
                    syn::UnOp::Deref(_) => match of {
                        Type::Pointer(_, to) => {
                            self.needs_unsafe("reading or writing through a pointer", at)?;
                            made(Kind::Deref(Box::new(value)), *to)
                        }
                        Type::Reference(_, to) => made(Kind::Deref(Box::new(value)), *to),
                        other => {
                            refuse(at, format!("`{}` is no pointer", self.known(&other).show()))
                        }
                    },
                    syn::UnOp::Neg(_) => {
                        let is_number = match self.known(&of) {
                            Type::Int(int) => int.signed,
                            Type::F32 | Type::F64 => true,
                            _ => false,
                        };
                        // The type of a literal may be found later.
                        if !is_number {
                            return refuse(at, "a number with a sign is negated");
                        }
                        made(Kind::Neg(Box::new(value)), of)
                    }
                    syn::UnOp::Not(_) => {
                        if !matches!(self.known(&of), Type::Bool | Type::Int(_)) {
                            return refuse(at, "`!` takes a `bool` or a whole number");
                        }
                        made(Kind::Not(Box::new(value)), of)
                    }
                    _ => refuse(at, "this operator is not read here"),
                }
            }
            syn::Expr::Binary(one) => self.binary(one, wanted, at),
            syn::Expr::Assign(one) => {
                // `_ = value` drops a value.
                if matches!(*one.left, syn::Expr::Infer(_)) {
                    let value = self.expr(&one.right, None)?;
                    return made(
                        Kind::Block(vec![Statement::Let(Pattern::Wild, Some(value))], None),
                        Type::Unit,
                    );
                }
                if matches!(*one.left, syn::Expr::Tuple(_)) {
                    return self.assign_all(&one.left, &one.right, at);
                }
                let target = self.expr(&one.left, None)?;
                self.writable(&target)?;
                let of = target.of.clone();
                let value = self.expr(&one.right, Some(&of))?;
                self.coerce(&value, &of)?;
                made(Kind::Assign(Box::new(target), Box::new(value)), Type::Unit)
            }
            syn::Expr::Cast(one) => {
                let to = self.type_of(&one.ty)?;
                let value = self.expr(&one.expr, None)?;
                self.cast(&value, &to, at)?;
                made(Kind::Cast(Box::new(value)), to)
            }
            syn::Expr::Tuple(one) if one.elems.is_empty() => made(Kind::Unit, Type::Unit),
            syn::Expr::Tuple(one) => {
                let wanted: Vec<Option<Type>> = match wanted.map(|one| self.shallow(one)) {
                    Some(Type::Tuple(all)) if all.len() == one.elems.len() => {
                        all.into_iter().map(Some).collect()
                    }
                    _ => vec![None; one.elems.len()],
                };
                let all = one.elems.iter().zip(&wanted);
                let all: Vec<Expr> =
                    all.map(|(one, of)| self.expr(one, of.as_ref())).collect::<Result<_>>()?;
                let of = Type::Tuple(all.iter().map(|one| one.of.clone()).collect());
                made(Kind::Tuple(all), of)
            }
            syn::Expr::Array(one) => {
                let element = match wanted.map(|one| self.shallow(one)) {
                    Some(Type::Array(element, _)) => *element,
                    _ => self.fresh(Variable::Any),
                };
                let mut all = Vec::new();
                for one in &one.elems {
                    let one = self.expr(one, Some(&element))?;
                    self.coerce(&one, &element)?;
                    all.push(one);
                }
                let of = Type::Array(Box::new(element), all.len());
                made(Kind::Array(all), of)
            }
            syn::Expr::Repeat(one) => {
                let element = match wanted.map(|one| self.shallow(one)) {
                    Some(Type::Array(element, _)) => Some(*element),
                    _ => None,
                };
                let value = self.expr(&one.expr, element.as_ref())?;
                let length = self.array_length(&one.len, &value.of.clone())?;
                let of = Type::Array(Box::new(value.of.clone()), length);
                made(Kind::Repeat(Box::new(value), length), of)
            }
            syn::Expr::Field(one) => {
                let value = self.expr(&one.base, None)?;
                let value = self.dereferenced(value);
                let (of, index) = match (self.shallow(&value.of), &one.member) {
                    (Type::Tuple(all), syn::Member::Unnamed(index)) => {
                        let index = index.index as usize;
                        let Some(of) = all.get(index).cloned() else {
                            return refuse(at, format!("the tuple has no field {index}"));
                        };
                        (of, index)
                    }
                    (Type::Struct(index), member) => {
                        let (number, of) = self.field(index, member, at)?;
                        (of, number)
                    }
                    (Type::Vector(vector), syn::Member::Named(name)) => {
                        let names = ["x", "y", "z", "w"];
                        let index = names.iter().position(|one| name == one);
                        match index.filter(|index| *index < vector.lanes) {
                            Some(index) => (Type::of(vector.element), index),
                            None => return refuse(at, format!("the vector has no field `{name}`")),
                        }
                    }
                    _ => return refuse(at, "this field is not known here"),
                };
                made(Kind::Field(Box::new(value), index), of)
            }
            syn::Expr::Index(one) => {
                let value = self.expr(&one.expr, None)?;
                let value = self.dereferenced(value);
                let index = self.expr(&one.index, Some(&Type::USIZE))?;
                self.coerce(&index, &Type::USIZE)?;
                match self.shallow(&value.of) {
                    Type::Array(element, _) => {
                        made(Kind::Index(Box::new(value), Box::new(index)), *element)
                    }
                    Type::Slice(mutable, element) => {
                        let of = Type::Pointer(mutable, element.clone());
                        let kind = Kind::Library("slice.at", vec![value, index]);
                        let address = Expr { kind, of, at };
                        made(Kind::Deref(Box::new(address)), *element)
                    }
                    _ => refuse(at, "only an array or a slice is indexed here"),
                }
            }
            syn::Expr::RawAddr(one) => {
                let mutable = matches!(one.mutability, syn::PointerMutability::Mut(_));
                self.address(&one.expr, mutable, at)
            }
            syn::Expr::Block(one) if one.label.is_none() => self.block(&one.block, wanted),
            syn::Expr::Unsafe(one) => {
                self.unsafe_depth += 1;
                let block = self.block(&one.block, wanted);
                self.unsafe_depth -= 1;
                block
            }
            syn::Expr::If(one) => self.if_expr(one, wanted, at),
            syn::Expr::While(one) => {
                let condition = self.condition(&one.cond)?;
                let id = self.open(one.label.as_ref());
                let body = self.block(&one.body, Some(&Type::Unit))?;
                self.coerce(&body, &Type::Unit)?;
                self.loops.pop();
                made(Kind::While(id, condition, Box::new(body), None), Type::Unit)
            }
            syn::Expr::Loop(one) => {
                let id = self.open(one.label.as_ref());
                let body = self.block(&one.body, Some(&Type::Unit))?;
                self.coerce(&body, &Type::Unit)?;
                self.loops.pop();
                let of = if breaks(&body, id) { Type::Unit } else { Type::Never };
                made(Kind::Loop(id, Box::new(body)), of)
            }
            syn::Expr::ForLoop(one) => {
                let (iter, of) = self.iter(&one.expr)?;
                let id = self.open(one.label.as_ref());
                self.scopes.push(HashMap::new());
                let pattern = self.pattern(&one.pat, &of)?;
                let body = self.block(&one.body, Some(&Type::Unit))?;
                self.coerce(&body, &Type::Unit)?;
                self.scopes.pop();
                self.loops.pop();
                made(Kind::For(id, pattern, Box::new(iter), Box::new(body)), Type::Unit)
            }
            syn::Expr::Break(one) => {
                if one.expr.is_some() {
                    return refuse(
                        at,
                        "`break` with a value is not read here: assign it to a variable before",
                    );
                }
                let id = self.target(one.label.as_ref(), at)?;
                made(Kind::Break(id), Type::Never)
            }
            syn::Expr::Continue(one) => {
                let id = self.target(one.label.as_ref(), at)?;
                made(Kind::Continue(id), Type::Never)
            }
            syn::Expr::Return(one) => {
                let result = self.result.clone();
                let value = match &one.expr {
                    Some(value) => {
                        let value = self.expr(value, Some(&result))?;
                        self.coerce(&value, &result)?;
                        Some(Box::new(value))
                    }
                    None => {
                        self.unify(&Type::Unit, &result, at)?;
                        None
                    }
                };
                made(Kind::Return(value), Type::Never)
            }
            syn::Expr::Closure(one) => self.closure(one, at),
            syn::Expr::Call(one) => self.call(one, wanted, at),
            syn::Expr::MethodCall(one) => {
                let receiver = self.expr(&one.receiver, None)?;
                let receiver = self.dereferenced(receiver);
                let generics = match &one.turbofish {
                    Some(arguments) => self.generic(arguments)?,
                    None => Vec::new(),
                };
                let name = one.method.to_string();
                let arguments: Vec<&syn::Expr> = one.args.iter().collect();
                // Lines are those of the method's name, as in what rustc inlines.
                let at = place(one.method.span());
                self.library_method(receiver, &name, &generics, &arguments, at)
            }
            syn::Expr::Macro(one) => self.macro_call(&one.mac, at),
            syn::Expr::Reference(one) => self.reference(one, wanted, at),
            syn::Expr::Match(one) => self.match_expr(one, wanted, at),
            syn::Expr::Struct(one) => self.struct_expr(one, at),
            syn::Expr::Let(_) => {
                refuse(at, "`if let` and `while let` are not read here: compare, or write `match`")
            }
            syn::Expr::Range(_) => refuse(at, "a range stands in a `for` here, or in a pattern"),
            _ => refuse(at, "this expression is not read here"),
        }
    }

    fn literal(&mut self, lit: &syn::Lit, wanted: Option<&Type>, at: Place) -> Result<Expr> {
        match lit {
            syn::Lit::Bool(one) => Ok(Expr { kind: Kind::Bool(one.value), of: Type::Bool, at }),
            syn::Lit::Int(one) => {
                let value: u64 = one.base10_parse().map_err(|error| crate::parse_error(&error))?;
                let suffix = one.suffix();
                if suffix == "f32" || suffix == "f64" {
                    let of = if suffix == "f32" { Type::F32 } else { Type::F64 };
                    return Ok(Expr { kind: Kind::Float(value as f64, value as f32), of, at });
                }
                let of = match (suffix, wanted.map(|one| self.shallow(one))) {
                    ("", Some(Type::Int(int))) => Type::Int(int),
                    ("", _) => self.fresh(Variable::Int),
                    (suffix, _) => match Int::named(suffix) {
                        Some(int) => Type::Int(int),
                        None => {
                            return refuse(at, format!("numbers of `{suffix}` are not read here"));
                        }
                    },
                };
                Ok(Expr { kind: Kind::Int(value), of, at })
            }
            syn::Lit::Float(one) => {
                let value: f64 = one.base10_parse().map_err(|error| crate::parse_error(&error))?;
                let of = match one.suffix() {
                    "f32" => Type::F32,
                    "f64" => Type::F64,
                    "" => self.fresh(Variable::Float),
                    suffix => {
                        return refuse(at, format!("numbers of `{suffix}` are not read here"));
                    }
                };
                // A float of 32 bits is rounded once, from its digits.
                let short: f32 = one.base10_parse().map_err(|error| crate::parse_error(&error))?;
                let kind = Kind::Float(value, short);
                let of = match (one.suffix(), wanted.map(|one| self.shallow(one))) {
                    ("", Some(wanted @ (Type::F32 | Type::F64))) => wanted,
                    _ => of,
                };
                Ok(Expr { kind, of, at })
            }
            _ => refuse(at, "this literal is not read here: numbers and `bool`s are"),
        }
    }

    fn binary(&mut self, one: &syn::ExprBinary, wanted: Option<&Type>, at: Place) -> Result<Expr> {
        use syn::BinOp;
        let (op, assigns) = match one.op {
            BinOp::And(_) | BinOp::Or(_) => {
                let (left, right) = (self.condition(&one.left)?, self.condition(&one.right)?);
                let is_and = matches!(one.op, BinOp::And(_));
                let kind =
                    if is_and { Kind::AndAlso(left, right) } else { Kind::OrElse(left, right) };
                return Ok(Expr { kind, of: Type::Bool, at });
            }
            BinOp::Add(_) => (Op::Add, false),
            BinOp::Sub(_) => (Op::Sub, false),
            BinOp::Mul(_) => (Op::Mul, false),
            BinOp::Div(_) => (Op::Div, false),
            BinOp::Rem(_) => (Op::Rem, false),
            BinOp::BitAnd(_) => (Op::And, false),
            BinOp::BitOr(_) => (Op::Or, false),
            BinOp::BitXor(_) => (Op::Xor, false),
            BinOp::Shl(_) => (Op::Shl, false),
            BinOp::Shr(_) => (Op::Shr, false),
            BinOp::Eq(_) => (Op::Eq, false),
            BinOp::Ne(_) => (Op::Ne, false),
            BinOp::Lt(_) => (Op::Lt, false),
            BinOp::Le(_) => (Op::Le, false),
            BinOp::Gt(_) => (Op::Gt, false),
            BinOp::Ge(_) => (Op::Ge, false),
            BinOp::AddAssign(_) => (Op::Add, true),
            BinOp::SubAssign(_) => (Op::Sub, true),
            BinOp::MulAssign(_) => (Op::Mul, true),
            BinOp::DivAssign(_) => (Op::Div, true),
            BinOp::RemAssign(_) => (Op::Rem, true),
            BinOp::BitAndAssign(_) => (Op::And, true),
            BinOp::BitOrAssign(_) => (Op::Or, true),
            BinOp::BitXorAssign(_) => (Op::Xor, true),
            BinOp::ShlAssign(_) => (Op::Shl, true),
            BinOp::ShrAssign(_) => (Op::Shr, true),
            _ => return refuse(at, "this operator is not read here"),
        };
        let left_wanted = if assigns || op.compares() { None } else { wanted };
        let left = self.expr(&one.left, left_wanted)?;
        let shifts = matches!(op, Op::Shl | Op::Shr);
        let right_wanted = if shifts { None } else { Some(left.of.clone()) };
        let right = self.expr(&one.right, right_wanted.as_ref())?;
        if !shifts {
            self.coerce(&right, &left.of)?;
        }
        let of = self.known(&left.of);
        let is_fine = match op {
            Op::Shl | Op::Shr => {
                matches!(of, Type::Int(_)) && matches!(self.known(&right.of), Type::Int(_))
            }
            Op::And | Op::Or | Op::Xor => matches!(of, Type::Int(_) | Type::Bool),
            Op::Eq | Op::Ne => {
                matches!(of, Type::Int(_) | Type::Bool | Type::F32 | Type::F64)
            }
            op if op.compares() => matches!(of, Type::Int(_) | Type::F32 | Type::F64),
            Op::Rem => matches!(of, Type::Int(_)),
            _ => matches!(of, Type::Int(_) | Type::F32 | Type::F64 | Type::Vector(_)),
        };
        if !is_fine {
            let message = format!("this operator on `{}` is not read here", of.show());
            return refuse(at, message);
        }
        if assigns {
            self.writable(&left)?;
            let kind = Kind::AssignOp(op, Box::new(left), Box::new(right));
            return Ok(Expr { kind, of: Type::Unit, at });
        }
        let of = if op.compares() { Type::Bool } else { left.of.clone() };
        Ok(Expr { kind: Kind::Binary(op, Box::new(left), Box::new(right)), of, at })
    }

    /// Refuses an assignment to what may not be written.
    fn writable(&self, target: &Expr) -> Result<()> {
        match &target.kind {
            Kind::Local(id) if self.locals[*id].is_mutable => Ok(()),
            Kind::Local(id) => {
                let name = &self.out.locals[*id];
                refuse(target.at, format!("`{name}` is not mutable: declare it with `let mut`"))
            }
            Kind::Field(base, _) | Kind::Index(base, _) => self.writable(base),
            Kind::Deref(pointer) => match self.shallow(&pointer.of) {
                Type::Pointer(true, _) | Type::Reference(true, _) => Ok(()),
                Type::Reference(..) => {
                    refuse(target.at, "nothing is written through a `&` reference: take `&mut`")
                }
                _ => refuse(target.at, "nothing is written through a `*const` pointer"),
            },
            _ => refuse(target.at, "this cannot be assigned to, here"),
        }
    }

    fn cast(&mut self, value: &Expr, to: &Type, at: Place) -> Result<()> {
        let from = self.shallow(&value.of);
        let to = self.shallow(to);
        let is_fine = match (self.known(&from), &to) {
            (Type::Int(_) | Type::F32 | Type::F64, Type::Int(_) | Type::F32 | Type::F64) => true,
            (Type::Bool, Type::Int(_) | Type::Bool) => true,
            (Type::Pointer(..) | Type::Reference(..), Type::Pointer(_, to)) => {
                // `as *const _` keeps what it points to.
                if let (Type::Unknown(_), Type::Pointer(_, of) | Type::Reference(_, of)) =
                    (self.shallow(to), &from)
                {
                    self.unify(of, to, at)?;
                }
                true
            }
            _ => false,
        };
        // The type of a literal is found by the cast, as in Rust: `1 as u64`.
        if let (Some((index, Variable::Int)), Type::Int(_)) = (self.variable(&from), &to)
            && matches!(value.kind, Kind::Int(_))
        {
            self.types[index] = Variable::Is(to.clone());
        }
        if is_fine {
            return Ok(());
        }
        let message = format!(
            "`{}` as `{}` is not read here",
            self.known(&from).show(),
            self.known(&to).show()
        );
        refuse(at, message)
    }

    fn address(&mut self, expr: &syn::Expr, mutable: bool, at: Place) -> Result<Expr> {
        // The address of a `static mut` is safe; its value is not.
        self.unsafe_depth += 1;
        let value = self.expr(expr, None);
        self.unsafe_depth -= 1;
        let value = value?;
        match &value.kind {
            Kind::Static(index) => {
                if mutable && !self.out.statics[*index].is_mutable {
                    return refuse(at, "this static is not mutable");
                }
            }
            Kind::Deref(_) => self.needs_unsafe("reading or writing through a pointer", at)?,
            Kind::Local(_) | Kind::Index(..) | Kind::Field(..) => {
                if mutable {
                    self.writable(&value)?;
                }
                if let Some(id) = crate::walk::root(&value) {
                    self.out.addressed.insert(id);
                }
            }
            _ => {
                return refuse(
                    at,
                    "only a variable, a static, or what a pointer points to, has an address here",
                );
            }
        }
        let of = Type::Pointer(mutable, Box::new(value.of.clone()));
        Ok(Expr { kind: Kind::AddressOf(Box::new(value)), of, at })
    }

    fn if_expr(&mut self, one: &syn::ExprIf, wanted: Option<&Type>, at: Place) -> Result<Expr> {
        let condition = self.condition(&one.cond)?;
        let wanted = if one.else_branch.is_some() { wanted.cloned() } else { Some(Type::Unit) };
        let then = self.block(&one.then_branch, wanted.as_ref())?;
        let Some((_, other)) = &one.else_branch else {
            self.coerce(&then, &Type::Unit)?;
            let kind = Kind::If(condition, Box::new(then), None);
            return Ok(Expr { kind, of: Type::Unit, at });
        };
        let wanted = wanted.or_else(|| Some(then.of.clone()));
        let other = self.expr(other, wanted.as_ref())?;
        let of = if self.shallow(&then.of) == Type::Never {
            other.of.clone()
        } else {
            self.coerce(&other, &then.of)?;
            then.of.clone()
        };
        Ok(Expr { kind: Kind::If(condition, Box::new(then), Some(Box::new(other))), of, at })
    }

    fn open(&mut self, label: Option<&syn::Label>) -> usize {
        let id = self.loop_count;
        self.loop_count += 1;
        let label = label.map(|one| one.name.ident.to_string());
        self.loops.push(OpenLoop { label, id });
        id
    }

    fn target(&self, label: Option<&syn::Lifetime>, at: Place) -> Result<usize> {
        let label = label.map(|one| one.ident.to_string());
        let mut loops = self.loops.iter().rev();
        let found = loops.find(|one| label.is_none() || one.label == label);
        found.map_or_else(|| refuse(at, "there is no such loop around this"), |one| Ok(one.id))
    }

    /// The values that a `for` goes through, and their type.
    fn iter(&mut self, expr: &syn::Expr) -> Result<(Iter, Type)> {
        let at = place(expr.span());
        match expr {
            syn::Expr::Paren(one) => self.iter(&one.expr),
            syn::Expr::Range(one) => {
                let (Some(start), Some(end)) = (&one.start, &one.end) else {
                    return refuse(at, "a range has both ends here");
                };
                let start = self.expr(start, None)?;
                let end = self.expr(end, Some(&start.of.clone()))?;
                self.unify(&end.of, &start.of, end.at)?;
                let of = start.of.clone();
                if !matches!(self.known(&of), Type::Int(_)) {
                    return refuse(at, "a range is one of whole numbers here");
                }
                let is_closed = matches!(one.limits, syn::RangeLimits::Closed(_));
                let iter = Iter::Range { start, end, is_closed, step: None, is_reversed: false };
                Ok((iter, of))
            }
            syn::Expr::MethodCall(one) => {
                let name = one.method.to_string();
                let (iter, of) = match name.as_str() {
                    "step_by" | "rev" => self.iter(&one.receiver)?,
                    _ => {
                        return refuse(
                            at,
                            "only ranges, `step_by` and `rev` of them, and arrays are gone through here",
                        );
                    }
                };
                match (iter, name.as_str()) {
                    (
                        Iter::Range {
                            start,
                            end,
                            is_closed: false,
                            step: None,
                            is_reversed: false,
                        },
                        "step_by",
                    ) if one.args.len() == 1 => {
                        let step = self.expr(&one.args[0], Some(&Type::USIZE))?;
                        self.coerce(&step, &Type::USIZE)?;
                        let (step, is_closed, is_reversed) = (Some(step), false, false);
                        Ok((Iter::Range { start, end, is_closed, step, is_reversed }, of))
                    }
                    (
                        Iter::Range {
                            start,
                            end,
                            is_closed: false,
                            step: None,
                            is_reversed: false,
                        },
                        "rev",
                    ) if one.args.is_empty() => {
                        let (step, is_closed, is_reversed) = (None, false, true);
                        Ok((Iter::Range { start, end, is_closed, step, is_reversed }, of))
                    }
                    _ => refuse(at, "this combination of ranges and methods is not read here"),
                }
            }
            _ => {
                let value = self.expr(expr, None)?;
                match self.shallow(&value.of) {
                    Type::Array(element, _) => Ok((Iter::Array(value), *element)),
                    _ => refuse(at, "only ranges and arrays are gone through here"),
                }
            }
        }
    }

    fn closure(&mut self, one: &syn::ExprClosure, at: Place) -> Result<Expr> {
        if one.asyncness.is_some() || one.capture.is_some() {
            return refuse(at, "a closure with `move` or `async` is not read here: leave the word");
        }
        self.scopes.push(HashMap::new());
        let mut parameters = Vec::new();
        let mut types = Vec::new();
        for input in &one.inputs {
            let of = self.fresh(Variable::Any);
            parameters.push(self.pattern(input, &of)?);
            types.push(of);
        }
        let result = match &one.output {
            syn::ReturnType::Default => self.fresh(Variable::Any),
            syn::ReturnType::Type(_, of) => self.type_of(of)?,
        };
        let index = self.out.closures.len();
        self.out.closures.push(Closure { parameters, types, result, body: None });
        // Its body is checked when its parameters' types are known: at once, unless a call says them.
        let expr = Expr { kind: Kind::Closure(index), of: Type::Closure(index), at };
        let all_known = self.out.closures[index].types.clone();
        let all_known = all_known.iter().all(|of| !matches!(self.shallow(of), Type::Unknown(_)));
        if all_known {
            self.closure_body(index, one)?;
        } else {
            self.waiting_closure(index, one.clone());
        }
        self.scopes.pop();
        Ok(expr)
    }

    fn closure_body(&mut self, index: usize, one: &syn::ExprClosure) -> Result<()> {
        let result = self.out.closures[index].result.clone();
        let before = std::mem::replace(&mut self.result, result.clone());
        let loops = std::mem::take(&mut self.loops);
        let body = self.expr(&one.body, Some(&result))?;
        self.coerce(&body, &result)?;
        self.result = before;
        self.loops = loops;
        self.out.closures[index].body = Some(body);
        Ok(())
    }

    fn waiting_closure(&mut self, index: usize, one: syn::ExprClosure) {
        // Names are those of where it stands.
        let scopes = self.scopes.clone();
        self.waiting.push(Waiting { index, one, scopes, unsafe_depth: self.unsafe_depth });
    }

    fn call(&mut self, one: &syn::ExprCall, wanted: Option<&Type>, at: Place) -> Result<Expr> {
        let arguments: Vec<&syn::Expr> = one.args.iter().collect();
        let syn::Expr::Path(function) = &*one.func else {
            return refuse(at, "only a function with a name is called here");
        };
        if let Some(name) = function.path.get_ident()
            && let Some(binding) = self.find(&name.to_string())
        {
            return match binding {
                Binding::Function(index) => {
                    let function = &self.out.functions[index];
                    let (is_unsafe, is_kernel) = (function.is_unsafe, function.is_kernel);
                    let types: Vec<Type> =
                        function.parameters.iter().map(|(_, of)| of.clone()).collect();
                    let of = function.result.clone();
                    if is_kernel {
                        return refuse(at, "a kernel is launched, not called");
                    }
                    if is_unsafe {
                        self.needs_unsafe(&format!("`{name}`"), at)?;
                    }
                    let arguments = self.arguments(&arguments, &types, at)?;
                    Ok(Expr { kind: Kind::Call(index, arguments), of, at })
                }
                Binding::Local(id) => {
                    let Type::Closure(index) = self.shallow(&self.locals[id].of.clone()) else {
                        return refuse(at, format!("`{name}` is no function"));
                    };
                    self.call_closure(index, &arguments, at)
                }
                Binding::Struct(index) => self.tuple_struct(index, &arguments, at),
                _ => refuse(at, format!("`{name}` is no function")),
            };
        }
        let path = self.path(&function.path);
        let generics: Vec<&syn::PathArguments> =
            function.path.segments.iter().map(|one| &one.arguments).collect();
        let generics = self.turbofish(
            generics.into_iter().rev().find(|one| !matches!(one, syn::PathArguments::None)),
        )?;
        let shown = crate::show(&function.path);
        self.library_function(&path, &shown, &generics, &arguments, wanted, at)
    }

    fn call_closure(&mut self, index: usize, arguments: &[&syn::Expr], at: Place) -> Result<Expr> {
        let types = self.out.closures[index].types.clone();
        let arguments = self.arguments(arguments, &types, at)?;
        self.settle(index)?;
        let of = self.out.closures[index].result.clone();
        Ok(Expr { kind: Kind::CallClosure(index, arguments), of, at })
    }

    /// Checks the body of a closure whose parameters' types are known by now.
    pub fn settle(&mut self, index: usize) -> Result<()> {
        let Some(at) = self.waiting.iter().position(|one| one.index == index) else {
            return Ok(());
        };
        let found = self.waiting.swap_remove(at);
        let outer = std::mem::replace(&mut self.scopes, found.scopes);
        let outer_depth = std::mem::replace(&mut self.unsafe_depth, found.unsafe_depth);
        self.closure_body(index, &found.one)?;
        self.scopes = outer;
        self.unsafe_depth = outer_depth;
        Ok(())
    }

    pub fn arguments(
        &mut self,
        arguments: &[&syn::Expr],
        types: &[Type],
        at: Place,
    ) -> Result<Vec<Expr>> {
        if arguments.len() != types.len() {
            let message =
                format!("{} arguments are given, and {} are wanted", arguments.len(), types.len());
            return refuse(at, message);
        }
        let mut all = Vec::new();
        for (one, of) in arguments.iter().zip(types) {
            let one = self.expr(one, Some(of))?;
            self.coerce(&one, of)?;
            all.push(one);
        }
        Ok(all)
    }
}

/// Returns whether a loop is left by a `break`.
pub fn breaks(body: &Expr, id: usize) -> bool {
    let mut found = false;
    crate::walk::each(body, &mut |one| {
        found |= matches!(one.kind, Kind::Break(target) if target == id);
    });
    found
}
