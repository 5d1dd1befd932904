//! `match`, structs, references, macros that panic, and assignments to several places.

use super::{Binding, Check, MAX_LENGTH, place, plain};
use crate::tree::{Expr, Kind, Op, Pattern, Place, Result, Statement, Struct, Type, refuse};
use std::collections::HashMap;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

/// Arms of a `match`, and expressions inside of each other with it: each arm is inside of the one before.
const MAX_ARMS: usize = 64;
const MAX_INSIDE: usize = 150;

/// An arm of a `match`: a condition, if it has one, the names that it binds, and what it gives.
struct Choice {
    condition: Option<Expr>,
    names: Vec<Statement>,
    body: Expr,
}

fn both(op: Op, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let at = a.at;
            let (a, b) = (Box::new(a), Box::new(b));
            let kind = if op == Op::And { Kind::AndAlso(a, b) } else { Kind::OrElse(a, b) };
            Some(Expr { kind, of: Type::Bool, at })
        }
        (a, b) => a.or(b),
    }
}

impl Check {
    // Match.

    pub(super) fn match_expr(
        &mut self,
        one: &syn::ExprMatch,
        wanted: Option<&Type>,
        at: Place,
    ) -> Result<Expr> {
        if one.arms.len() > MAX_ARMS {
            return refuse(at, format!("a `match` has at most {MAX_ARMS} arms here"));
        }
        let value = self.expr(&one.expr, None)?;
        let of = value.of.clone();
        let id = self.local("", of.clone(), false);
        let subject = Expr { kind: Kind::Local(id), of: of.clone(), at };
        let mut result = wanted.cloned();
        let (mut choices, mut seen, mut is_whole) = (Vec::new(), [false; 2], false);
        for arm in &one.arms {
            let arm_at = place(arm.pat.span());
            plain(&arm.attrs)?;
            self.scopes.push(HashMap::new());
            let mut names = Vec::new();
            let (pattern, guard) = match &arm.pat {
                syn::Pat::Guard(one) => (&*one.pat, Some(&*one.guard)),
                pattern => (pattern, None),
            };
            let mut condition = self.test(pattern, &subject, &mut names)?;
            // The second of `true` and `false` is all that is left.
            if let (syn::Pat::Lit(lit), None) = (pattern, guard)
                && let syn::Lit::Bool(lit) = &lit.lit
            {
                seen[usize::from(lit.value)] = true;
                if seen == [true; 2] {
                    condition = None;
                }
            }
            if let Some(guard) = guard {
                let guard = self.condition(guard)?;
                let names = names.clone();
                let kind = Kind::Block(names, Some(guard));
                let guard = Expr { kind, of: Type::Bool, at: arm_at };
                condition = both(Op::And, condition, Some(guard));
            }
            let body = self.expr(&arm.body, result.as_ref())?;
            self.scopes.pop();
            if self.shallow(&body.of) != Type::Never {
                match &result {
                    Some(result) => self.coerce(&body, &result.clone())?,
                    None => result = Some(body.of.clone()),
                }
            }
            is_whole |= condition.is_none();
            choices.push(Choice { condition, names, body });
        }
        if !is_whole {
            return refuse(
                at,
                "a `match` has an arm for all that is left here: end it with `_ => ..`",
            );
        }
        let of = result.unwrap_or(Type::Never);
        let mut rest: Option<Expr> = None;
        for Choice { condition, names, body } in choices.into_iter().rev() {
            let at = body.at;
            let kind = Kind::Block(names, Some(Box::new(body)));
            let then = Expr { kind, of: of.clone(), at };
            rest = match (condition, rest) {
                (Some(condition), Some(rest)) => {
                    let kind = Kind::If(Box::new(condition), Box::new(then), Some(Box::new(rest)));
                    Some(Expr { kind, of: of.clone(), at })
                }
                (None, _) => Some(then),
                // Behind the last arm that takes all, nothing is reached.
                (Some(_), None) => None,
            };
        }
        let first = Statement::Let(Pattern::Bind(id), Some(value));
        let made = Expr { kind: Kind::Block(vec![first], rest.map(Box::new)), of, at };
        if crate::walk::depth(&made) > MAX_INSIDE {
            return refuse(at, "this is nested too deep here: put a part of it into a function");
        }
        Ok(made)
    }

    /// The condition under which a value is one of a pattern, if there is one.
    fn test(
        &mut self,
        pattern: &syn::Pat,
        subject: &Expr,
        names: &mut Vec<Statement>,
    ) -> Result<Option<Expr>> {
        let at = place(pattern.span());
        let compared = |op: Op, with: Expr| {
            let kind = Kind::Binary(op, Box::new(subject.clone()), Box::new(with));
            Some(Expr { kind, of: Type::Bool, at })
        };
        match pattern {
            syn::Pat::Wild(_) | syn::Pat::Rest(_) => Ok(None),
            syn::Pat::Paren(one) => self.test(&one.pat, subject, names),
            syn::Pat::Lit(one) => {
                let with = self.bound(&syn::Expr::Lit(one.clone()), subject)?;
                Ok(compared(Op::Eq, with))
            }
            syn::Pat::Path(one) => {
                let with = self.bound(&syn::Expr::Path(one.clone()), subject)?;
                Ok(compared(Op::Eq, with))
            }
            syn::Pat::Range(one) => {
                let first = match &one.start {
                    Some(start) => {
                        let with = self.bound(start, subject)?;
                        compared(Op::Ge, with)
                    }
                    None => None,
                };
                let last = match &one.end {
                    Some(end) => {
                        let is_closed = matches!(one.limits, syn::RangeLimits::Closed(_));
                        let with = self.bound(end, subject)?;
                        compared(if is_closed { Op::Le } else { Op::Lt }, with)
                    }
                    None => None,
                };
                Ok(both(Op::And, first, last))
            }
            syn::Pat::Or(one) => {
                let mut all = None;
                for (index, case) in one.cases.iter().enumerate() {
                    let before = names.len();
                    let Some(condition) = self.test(case, subject, names)? else {
                        return Ok(None);
                    };
                    if names.len() != before {
                        return refuse(at, "names in a pattern with `|` are not read here");
                    }
                    all = if index == 0 {
                        Some(condition)
                    } else {
                        both(Op::Or, all, Some(condition))
                    };
                }
                Ok(all)
            }
            syn::Pat::Ident(one) if one.by_ref.is_none() => {
                let name = one.ident.to_string();
                // A constant is compared with; any other name is new.
                if let Some(Binding::Const(_)) = self.find(&name) {
                    let path = syn::Expr::Path(syn::ExprPath {
                        attrs: Vec::new(),
                        qself: None,
                        path: one.ident.clone().into(),
                    });
                    let with = self.bound(&path, subject)?;
                    return Ok(compared(Op::Eq, with));
                }
                let id = self.local(&name, subject.of.clone(), one.mutability.is_some());
                self.bind(&name, Binding::Local(id));
                names.push(Statement::Let(Pattern::Bind(id), Some(subject.clone())));
                match &one.subpat {
                    Some((_, inner)) => self.test(inner, subject, names),
                    None => Ok(None),
                }
            }
            syn::Pat::Tuple(one) => {
                let types: Vec<Type> =
                    one.elems.iter().map(|_| self.fresh(super::Variable::Any)).collect();
                self.unify(&subject.of, &Type::Tuple(types.clone()), at)?;
                let mut all = None;
                for (index, (inner, of)) in one.elems.iter().zip(types).enumerate() {
                    if let syn::Pat::Rest(_) = inner {
                        return refuse(
                            at,
                            "`..` in a pattern is not read here: write `_` for each part",
                        );
                    }
                    let part = Expr { kind: Kind::Field(Box::new(subject.clone()), index), of, at };
                    let condition = self.test(inner, &part, names)?;
                    all = both(Op::And, all, condition);
                }
                Ok(all)
            }
            syn::Pat::Struct(one) => {
                let index = self.struct_named(&one.path, at)?;
                self.unify(&subject.of, &Type::Struct(index), at)?;
                let mut all = None;
                for field in &one.fields {
                    let (number, of) = self.field(index, &field.member, at)?;
                    let part =
                        Expr { kind: Kind::Field(Box::new(subject.clone()), number), of, at };
                    let condition = self.test(&field.pat, &part, names)?;
                    all = both(Op::And, all, condition);
                }
                Ok(all)
            }
            _ => refuse(
                at,
                "this pattern is not read here: numbers, ranges, `|`, names, tuples, structs and `_` are",
            ),
        }
    }

    /// A number of a pattern, with the type of what it is compared with.
    fn bound(&mut self, expr: &syn::Expr, subject: &Expr) -> Result<Expr> {
        let at = place(expr.span());
        let of = subject.of.clone();
        if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) = expr
            && let Some(digits) = number.base10_digits().strip_prefix('-')
        {
            let Ok(value) = digits.parse() else {
                return refuse(at, "this number is not read here");
            };
            let value = Expr { kind: Kind::Int(value), of: of.clone(), at };
            let whole = self.fresh_int();
            self.unify(&whole, &of, at)?;
            return Ok(Expr { kind: Kind::Neg(Box::new(value)), of, at });
        }
        let value = self.expr(expr, Some(&of))?;
        self.unify(&value.of, &of, at)?;
        if matches!(self.known(&of), Type::F32 | Type::F64) {
            return refuse(at, "a float in a pattern is not read here: use `if`");
        }
        Ok(value)
    }

    fn fresh_int(&mut self) -> Type {
        self.fresh(super::Variable::Int)
    }

    // Structs.

    pub(super) fn declare_structs(&mut self, items: &[&syn::Item]) -> Result<()> {
        for item in items {
            let syn::Item::Struct(one) = item else { continue };
            let at = place(one.ident.span());
            let is_plain =
                |one: &&syn::Attribute| super::is_plain(one) || one.path().is_ident("derive");
            if let Some(other) = one.attrs.iter().find(|one| !is_plain(one)) {
                return refuse(place(other.span()), "this attribute is not read here");
            }
            if !one.generics.params.is_empty() {
                return refuse(at, "a struct with generics is not read here: name its types");
            }
            let mut fields = Vec::new();
            for (index, field) in one.fields.iter().enumerate() {
                let name = field.ident.as_ref().map_or(index.to_string(), ToString::to_string);
                fields.push((name, self.type_of(&field.ty)?));
            }
            let parts: usize = fields.iter().map(|(_, of)| self.parts(of)).sum();
            if parts > MAX_LENGTH {
                return refuse(at, "this struct has too many parts");
            }
            let name = one.ident.to_string();
            self.bind(&name, Binding::Struct(self.out.structs.len()));
            self.out.structs.push(Struct { name, fields, parts });
        }
        Ok(())
    }

    /// The numbers that a type is made of.
    fn parts(&self, of: &Type) -> usize {
        match of {
            Type::Struct(index) => self.out.structs[*index].parts,
            Type::Array(element, length) => self.parts(element).saturating_mul(*length),
            Type::Tuple(all) => all.iter().map(|one| self.parts(one)).sum(),
            _ => 1,
        }
    }

    pub(super) fn struct_named(&self, path: &syn::Path, at: Place) -> Result<usize> {
        let found = path.get_ident().and_then(|name| self.find(&name.to_string()));
        match found {
            Some(Binding::Struct(index)) => Ok(index),
            _ => refuse(at, format!("`{}` is no struct that is known here", crate::show(path))),
        }
    }

    /// A field of a struct: its number and its type.
    pub(super) fn field(
        &self,
        index: usize,
        member: &syn::Member,
        at: Place,
    ) -> Result<(usize, Type)> {
        let name = match member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(number) => number.index.to_string(),
        };
        let one = &self.out.structs[index];
        match one.fields.iter().position(|(field, _)| *field == name) {
            Some(number) => Ok((number, one.fields[number].1.clone())),
            None => refuse(at, format!("`{}` has no field `{name}`", one.name)),
        }
    }

    pub(super) fn struct_expr(&mut self, one: &syn::ExprStruct, at: Place) -> Result<Expr> {
        if one.rest.is_some() {
            return refuse(at, "`..` in a struct is not read here: write every field");
        }
        let index = self.struct_named(&one.path, at)?;
        let count = self.out.structs[index].fields.len();
        // Values are computed in the order in which they are written.
        let mut names = Vec::new();
        let mut parts: Vec<Option<Expr>> = (0..count).map(|_| None).collect();
        for field in &one.fields {
            let (number, of) = self.field(index, &field.member, at)?;
            let value = self.expr(&field.expr, Some(&of))?;
            self.coerce(&value, &of)?;
            let id = self.local("", of.clone(), false);
            if parts[number].is_some() {
                return refuse(value.at, "this field has a value already");
            }
            parts[number] = Some(Expr { kind: Kind::Local(id), of, at: value.at });
            names.push(Statement::Let(Pattern::Bind(id), Some(value)));
        }
        let Some(all) = parts.into_iter().collect::<Option<Vec<Expr>>>() else {
            return refuse(at, "a field of this struct has no value");
        };
        let of = Type::Struct(index);
        let whole = Expr { kind: Kind::Tuple(all), of: of.clone(), at };
        Ok(Expr { kind: Kind::Block(names, Some(Box::new(whole))), of, at })
    }

    /// A value of a struct whose fields have numbers.
    pub(super) fn tuple_struct(
        &mut self,
        index: usize,
        arguments: &[&syn::Expr],
        at: Place,
    ) -> Result<Expr> {
        let types: Vec<Type> =
            self.out.structs[index].fields.iter().map(|(_, of)| of.clone()).collect();
        let all = self.arguments(arguments, &types, at)?;
        Ok(Expr { kind: Kind::Tuple(all), of: Type::Struct(index), at })
    }

    // References.

    pub(super) fn reference(
        &mut self,
        one: &syn::ExprReference,
        wanted: Option<&Type>,
        at: Place,
    ) -> Result<Expr> {
        let mutable = one.mutability.is_some();
        let value = self.expr(&one.expr, None)?;
        let of = self.shallow(&value.of);
        // A part of an array, as long as it is.
        let element = match (&of, wanted.map(|wanted| self.shallow(wanted))) {
            (Type::Array(element, length), Some(Type::Slice(..))) => {
                Some((*element.clone(), *length))
            }
            _ => None,
        };
        if mutable {
            self.writable(&value)?;
        }
        let address = |check: &mut Self, place: Expr, of: Type| {
            if let Some(id) = crate::walk::root(&place) {
                check.out.addressed.insert(id);
            }
            Expr { kind: Kind::AddressOf(Box::new(place)), of, at }
        };
        match value.kind {
            Kind::Deref(inner) if element.is_none() => {
                let to = Type::Reference(mutable, Box::new(value.of));
                return Ok(Expr { of: to, ..*inner });
            }
            Kind::Local(_)
            | Kind::Static(_)
            | Kind::Index(..)
            | Kind::Field(..)
            | Kind::Deref(_) => {}
            _ => {
                return refuse(
                    at,
                    "a reference is one to a variable here: give the value a name first",
                );
            }
        }
        let Some((element, length)) = element else {
            let to = Type::Reference(mutable, Box::new(value.of.clone()));
            return Ok(address(self, value, to));
        };
        let zero = Expr { kind: Kind::Int(0), of: Type::USIZE, at };
        let kind = Kind::Index(Box::new(value), Box::new(zero));
        let first = Expr { kind, of: element.clone(), at };
        let first = address(self, first, Type::Pointer(mutable, Box::new(element.clone())));
        let length = Expr { kind: Kind::Int(length as u64), of: Type::USIZE, at };
        let of = Type::Slice(mutable, Box::new(element));
        Ok(Expr { kind: Kind::Tuple(vec![first, length]), of, at })
    }

    /// Returns the value that a reference refers to, however often; any other is itself.
    pub(super) fn dereferenced(&self, value: Expr) -> Expr {
        let mut value = value;
        while let Type::Reference(_, to) = self.shallow(&value.of) {
            let at = value.at;
            value = Expr { kind: Kind::Deref(Box::new(value)), of: *to, at };
        }
        value
    }

    // Macros.

    pub(super) fn macro_call(&mut self, one: &syn::Macro, at: Place) -> Result<Expr> {
        let name = crate::show(&one.path);
        let arguments = || {
            one.parse_body_with(Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated)
                .map_err(|error| crate::parse_error(&error))
        };
        let made = |kind: Kind, of: Type| Ok(Expr { kind, of, at });
        match name.as_str() {
            // A release build has none of them.
            "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
                made(Kind::Block(Vec::new(), None), Type::Unit)
            }
            "assert" => {
                let arguments = arguments()?;
                let Some(condition) = arguments.first() else {
                    return refuse(at, "`assert!` takes a condition");
                };
                let condition = self.condition(condition)?;
                made(Kind::Library("assert", vec![*condition]), Type::Unit)
            }
            "assert_eq" | "assert_ne" => {
                let arguments = arguments()?;
                let (Some(a), Some(b)) = (arguments.get(0), arguments.get(1)) else {
                    return refuse(at, format!("`{name}!` takes two values"));
                };
                let a = self.expr(a, None)?;
                let b = self.expr(b, Some(&a.of.clone()))?;
                self.unify(&b.of, &a.of, b.at)?;
                if !matches!(self.known(&a.of), Type::Int(_) | Type::F32 | Type::F64 | Type::Bool) {
                    return refuse(a.at, format!("`{name}!` takes numbers here"));
                }
                let op = if name == "assert_eq" { Op::Eq } else { Op::Ne };
                let kind = Kind::Binary(op, Box::new(a), Box::new(b));
                let condition = Expr { kind, of: Type::Bool, at };
                made(Kind::Library("assert", vec![condition]), Type::Unit)
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                made(Kind::Library("panic", Vec::new()), Type::Never)
            }
            _ => refuse(
                at,
                format!(
                    "`{name}!` is not read here: `assert!`, `debug_assert!` and `panic!` are, other macros are not"
                ),
            ),
        }
    }

    // Assignments.

    /// `(a, b) = (b, a)`: all values first, then each place.
    pub(super) fn assign_all(
        &mut self,
        left: &syn::Expr,
        right: &syn::Expr,
        at: Place,
    ) -> Result<Expr> {
        let value = self.expr(right, None)?;
        let id = self.local("", value.of.clone(), false);
        let whole = Expr { kind: Kind::Local(id), of: value.of.clone(), at };
        let mut all = vec![Statement::Let(Pattern::Bind(id), Some(value))];
        self.assign_part(left, whole, &mut all)?;
        Ok(Expr { kind: Kind::Block(all, None), of: Type::Unit, at })
    }

    fn assign_part(
        &mut self,
        left: &syn::Expr,
        value: Expr,
        all: &mut Vec<Statement>,
    ) -> Result<()> {
        let at = place(left.span());
        match left {
            syn::Expr::Infer(_) => Ok(()),
            syn::Expr::Paren(one) => self.assign_part(&one.expr, value, all),
            syn::Expr::Tuple(one) => {
                let types: Vec<Type> =
                    one.elems.iter().map(|_| self.fresh(super::Variable::Any)).collect();
                self.unify(&value.of, &Type::Tuple(types.clone()), at)?;
                for (index, (one, of)) in one.elems.iter().zip(types).enumerate() {
                    let part = Expr { kind: Kind::Field(Box::new(value.clone()), index), of, at };
                    self.assign_part(one, part, all)?;
                }
                Ok(())
            }
            _ => {
                let target = self.expr(left, None)?;
                self.writable(&target)?;
                self.coerce(&value, &target.of.clone())?;
                let kind = Kind::Assign(Box::new(target), Box::new(value));
                all.push(Statement::Expr(Expr { kind, of: Type::Unit, at }));
                Ok(())
            }
        }
    }
}
