//! Functions that may call themselves, over any number of others.

use ptx::tree::{Operand, Statement, Tree};
use std::collections::HashMap;

/// The functions of a module by the cycles of calls that they are in.
#[derive(Debug, Default)]
pub(crate) struct CallGraph {
    /// Functions of one number may reach each other.
    component: Vec<usize>,
    is_recursive: Vec<bool>,
}

impl CallGraph {
    /// Of a module; `indirect` are the functions that a call through a pointer may mean.
    pub fn new(tree: &Tree<'_>, names: &HashMap<&str, usize>, indirect: &[usize]) -> CallGraph {
        // Behind the functions stands one node for all calls through pointers.
        let count = tree.functions.len();
        let mut calls: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
        for (function, calls) in tree.functions.iter().zip(&mut calls) {
            if let Some(body) = &function.body {
                callees(body, names, count, calls);
                calls.sort_unstable();
                calls.dedup();
            }
        }
        calls[count] = indirect.to_vec();
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
        for (function, called) in calls.iter().enumerate() {
            called.iter().for_each(|callee| callers[*callee].push(function));
        }
        // Functions in the order in which they are left, and then, against it and the calls, who is reached together.
        let mut left = Vec::with_capacity(count + 1);
        let mut seen = vec![false; count + 1];
        for start in 0..=count {
            walk(start, &calls, &mut seen, &mut left);
        }
        let mut component = vec![0; count + 1];
        let mut sizes = vec![0; count + 1];
        seen.fill(false);
        for start in left.into_iter().rev() {
            let mut together = Vec::new();
            walk(start, &callers, &mut seen, &mut together);
            sizes[start] = together.len();
            together.into_iter().for_each(|function| component[function] = start);
        }
        let is_recursive = (0..count)
            .map(|function| sizes[component[function]] > 1 || calls[function].contains(&function))
            .collect();
        CallGraph { component, is_recursive }
    }

    /// Returns whether a call may come back into its caller.
    pub fn comes_back(&self, caller: usize, callee: usize) -> bool {
        self.component[caller] == self.component[callee]
    }

    /// Returns whether a function may be under way twice.
    pub fn is_recursive(&self, function: usize) -> bool {
        self.is_recursive[function]
    }
}

/// Appends what a function calls; `indirect` stands for all that a pointer may mean.
fn callees(
    body: &[Statement<'_>],
    names: &HashMap<&str, usize>,
    indirect: usize,
    found: &mut Vec<usize>,
) {
    for statement in body {
        match statement {
            Statement::Block(inner) => callees(inner, names, indirect, found),
            Statement::Instruction(call) if call.opcode == "call" => {
                let name = call.operands.iter().find_map(|operand| match operand {
                    Operand::Name { name, .. } => Some(*name),
                    _ => None,
                });
                // The first name is the function, or a register that has the address of one.
                found.push(name.and_then(|name| names.get(name).copied()).unwrap_or(indirect));
            }
            _ => {}
        }
    }
}

/// Appends what is reached from `start` for the first time, each after all that is reached from it.
fn walk(start: usize, edges: &[Vec<usize>], seen: &mut [bool], left: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((node, next)) = path.last_mut() {
        match edges[*node].get(*next) {
            Some(target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*target], true) {
                    path.push((*target, 0));
                }
            }
            None => {
                left.push(*node);
                path.pop();
            }
        }
    }
}
