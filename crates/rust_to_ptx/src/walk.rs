use crate::tree::{Expr, Iter, Kind, LocalId, Statement};

/// Visits an expression and all inside of it, without the bodies of functions and closures that it calls.
pub fn each(expr: &Expr, visit: &mut impl FnMut(&Expr)) {
    visit(expr);
    match &expr.kind {
        Kind::Int(_)
        | Kind::Float(..)
        | Kind::Bool(_)
        | Kind::Unit
        | Kind::Local(_)
        | Kind::Const(_)
        | Kind::Static(_)
        | Kind::Break(_)
        | Kind::Continue(_)
        | Kind::Closure(_) => {}
        Kind::Field(one, _)
        | Kind::Deref(one)
        | Kind::AddressOf(one)
        | Kind::Neg(one)
        | Kind::Not(one)
        | Kind::Cast(one)
        | Kind::Repeat(one, _)
        | Kind::Loop(_, one) => each(one, visit),
        Kind::Index(a, b)
        | Kind::Binary(_, a, b)
        | Kind::AndAlso(a, b)
        | Kind::OrElse(a, b)
        | Kind::Assign(a, b)
        | Kind::AssignOp(_, a, b) => {
            each(a, visit);
            each(b, visit);
        }
        Kind::While(_, a, b, step) => {
            each(a, visit);
            each(b, visit);
            if let Some(step) = step {
                each(step, visit);
            }
        }
        Kind::Tuple(all)
        | Kind::Array(all)
        | Kind::Call(_, all)
        | Kind::CallClosure(_, all)
        | Kind::Library(_, all) => all.iter().for_each(|one| each(one, visit)),
        Kind::If(condition, then, other) => {
            each(condition, visit);
            each(then, visit);
            if let Some(other) = other {
                each(other, visit);
            }
        }
        Kind::Block(statements, tail) => {
            for one in statements {
                match one {
                    Statement::Let(_, Some(one)) | Statement::Expr(one) => each(one, visit),
                    Statement::Let(_, None) => {}
                }
            }
            if let Some(tail) = tail {
                each(tail, visit);
            }
        }
        Kind::For(_, _, iter, body) => {
            match &**iter {
                Iter::Range { start, end, step, .. } => {
                    each(start, visit);
                    each(end, visit);
                    if let Some(step) = step {
                        each(step, visit);
                    }
                }
                Iter::Array(one) => each(one, visit),
            }
            each(body, visit);
        }
        Kind::Return(value) => {
            if let Some(value) = value {
                each(value, visit);
            }
        }
    }
}

/// The local that an assignment changes, if it is one.
pub fn root(target: &Expr) -> Option<LocalId> {
    match &target.kind {
        Kind::Local(id) => Some(*id),
        Kind::Field(base, _) | Kind::Index(base, _) => root(base),
        _ => None,
    }
}
