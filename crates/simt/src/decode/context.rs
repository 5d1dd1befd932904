//! Facts about the whole module.

use super::call_graph::CallGraph;
use crate::windows::FUNCTION_WINDOW;
use ptx::tree::{self, Initial, Statement, Tree, Variable};
use std::cell::Cell;
use std::collections::HashMap;

/// Facts about the whole module that every kernel's decoding needs.
pub(crate) struct Context<'t, 'a> {
    pub tree: &'t Tree<'a>,
    pub functions: HashMap<&'a str, usize>,
    pub variables: HashMap<&'a str, &'t Variable<'a>>,
    pub address_taken: Vec<usize>,
    pub calls: CallGraph,
    /// Instructions that the kernels may still have.
    pub budget: Cell<usize>,
}

/// Instructions that the kernels of any module may have, and of a longer text for each of its tokens.
/// A function counts once for each kernel that calls it.
const INSTRUCTIONS: usize = 1 << 18;
const INSTRUCTIONS_PER_TOKEN: usize = 2;

impl<'t, 'a> Context<'t, 'a> {
    pub fn new(tree: &'t Tree<'a>) -> Context<'t, 'a> {
        let mut functions: HashMap<&'a str, usize> = HashMap::new();
        for (index, function) in tree.functions.iter().enumerate() {
            let known = functions.get(function.name);
            if known.is_none_or(|k| tree.functions[*k].body.is_none()) {
                functions.insert(function.name, index);
            }
        }
        for (alias, target) in &tree.aliases {
            if let Some(index) = functions.get(target).copied() {
                functions.insert(alias, index);
            }
        }
        let variables: HashMap<_, _> = tree.variables.iter().map(|v| (v.name, v)).collect();
        let budget = Cell::new(INSTRUCTIONS + INSTRUCTIONS_PER_TOKEN * tree.tokens as usize);
        let mut context = Context {
            tree,
            functions,
            variables,
            address_taken: Vec::new(),
            calls: CallGraph::default(),
            budget,
        };
        context.find_address_taken();
        context.calls = CallGraph::new(tree, &context.functions, &context.address_taken);
        context
    }

    /// Functions whose address appears anywhere: the candidates of indirect calls.
    fn find_address_taken(&mut self) {
        let mut names: Vec<&str> = Vec::new();
        for variable in &self.tree.variables {
            for initial in &variable.initial {
                if let Initial::Symbol { name, .. } = initial {
                    names.push(name);
                }
            }
        }
        fn walk<'a>(statements: &[Statement<'a>], names: &mut Vec<&'a str>) {
            for statement in statements {
                match statement {
                    Statement::Instruction(i) if i.opcode == "mov" => {
                        if let Some(tree::Operand::Name { name, .. }) = i.operands.get(1) {
                            names.push(name);
                        }
                    }
                    Statement::Block(inner) => walk(inner, names),
                    _ => {}
                }
            }
        }
        for function in &self.tree.functions {
            if let Some(body) = &function.body {
                walk(body, &mut names);
            }
        }
        let mut taken: Vec<usize> =
            names.iter().filter_map(|name| self.functions.get(name).copied()).collect();
        taken.sort_unstable();
        taken.dedup();
        self.address_taken = taken;
    }

    /// The generic address that stands for a device function.
    pub fn function_address(&self, index: usize) -> u64 {
        FUNCTION_WINDOW + 16 * index as u64
    }
}
