//! Scopes: which register, variable or label a name means.

use super::Decoder;
use super::modifiers::Type;
use crate::program::Row;
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Symbol {
    Register {
        row: Row,
        t: Type,
    },
    EntryParameter {
        offset: u32,
    },
    /// Per-lane memory: `.local`, and `.param` of calls.
    Local {
        offset: u32,
    },
    Shared {
        offset: i64,
    },
}

/// Names declared between one pair of braces.
#[derive(Default, Debug)]
pub(crate) struct Scope<'a> {
    pub names: HashMap<&'a str, Symbol>,
    /// `%r<60>`: prefix to type and count; rows are made on first use.
    pub ranges: HashMap<&'a str, (Type, u64)>,
    pub labels: HashMap<&'a str, u32>,
    pub branch_targets: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Decoder<'_, '_, 'a> {
    pub fn declare_register(&mut self, name: &'a str, t: Type, count: Option<u64>) {
        if let Some(count) = count {
            if let Some(scope) = self.scopes.last_mut() {
                scope.ranges.insert(name, (t, count));
            }
            return;
        }
        let row = self.new_row(t);
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, Symbol::Register { row, t });
        }
    }

    /// A fresh row wide enough for a type.
    pub fn new_row(&mut self, t: Type) -> Row {
        let program = &mut self.program;
        let counter = match t {
            Type::Pred => &mut program.predicates,
            t if t.bytes() >= 8 => &mut program.longs,
            _ => &mut program.words,
        };
        let index = *counter;
        *counter += if t == Type::B128 { 2 } else { 1 };
        match t {
            Type::Pred => Row::Predicate(index),
            t if t.bytes() >= 8 => Row::Long(index),
            _ => Row::Word(index),
        }
    }

    /// What a name means in the innermost scope that knows it.
    pub fn lookup(&mut self, name: &'a str) -> Option<Symbol> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (prefix, number) = name.split_at(name.len() - digits);
        for depth in (0..self.scopes.len()).rev() {
            if let Some(symbol) = self.scopes[depth].names.get(name) {
                return Some(*symbol);
            }
            let range = self.scopes[depth].ranges.get(prefix).copied();
            if let (Some((t, count)), Ok(number)) = (range, number.parse::<u64>())
                && number < count
            {
                let row = self.new_row(t);
                let symbol = Symbol::Register { row, t };
                self.scopes[depth].names.insert(name, symbol);
                return Some(symbol);
            }
        }
        None
    }

    pub fn register(&mut self, name: &'a str) -> Option<(Row, Type)> {
        match self.lookup(name)? {
            Symbol::Register { row, t } => Some((row, t)),
            _ => None,
        }
    }

    pub fn label(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|scope| scope.labels.get(name).copied())
    }
}
