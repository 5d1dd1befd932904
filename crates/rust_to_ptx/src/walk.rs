use crate::tree::{Expr, Iter, Kind, LocalId, Statement};

/// Visits an expression and all inside of it, without the bodies of functions and closures that it calls.
pub fn each(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    children(expr, &mut |one| each(one, visit));
}

/// Expressions inside of each other.
pub fn depth(expr: &Expr) -> usize {
    let mut deepest = 0;
    children(expr, &mut |one| deepest = deepest.max(depth(one)));
    deepest + 1
}

/// Visits what an expression is made of.
fn children(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
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
        | Kind::Loop(_, one) => visit(one),
        Kind::Index(a, b)
        | Kind::Binary(_, a, b)
        | Kind::AndAlso(a, b)
        | Kind::OrElse(a, b)
        | Kind::Assign(a, b)
        | Kind::AssignOp(_, a, b) => {
            visit(a);
            visit(b);
        }
        Kind::While(_, a, b, step) => {
            visit(a);
            visit(b);
            if let Some(step) = step {
                visit(step);
            }
        }
        Kind::Tuple(all)
        | Kind::Array(all)
        | Kind::Call(_, all)
        | Kind::CallClosure(_, all)
        | Kind::Library(_, all) => all.iter().for_each(visit),
        Kind::If(condition, then, other) => {
            visit(condition);
            visit(then);
            if let Some(other) = other {
                visit(other);
            }
        }
        Kind::Block(statements, tail) => {
            for one in statements {
                match one {
                    Statement::Let(_, Some(one)) | Statement::Expr(one) => visit(one),
                    Statement::Let(_, None) => {}
                }
            }
            if let Some(tail) = tail {
                visit(tail);
            }
        }
        Kind::For(_, _, iter, body) => {
            match &**iter {
                Iter::Range { start, end, step, .. } => {
                    visit(start);
                    visit(end);
                    if let Some(step) = step {
                        visit(step);
                    }
                }
                Iter::Array(one) => visit(one),
            }
            visit(body);
        }
        Kind::Return(value) => {
            if let Some(value) = value {
                visit(value);
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
