//! The meaning of names between one pair of braces.

use crate::operation::Register;
use ptx::Type;
use std::collections::HashMap;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Symbol {
    Register {
        row: Register,
        t: Type,
    },
    /// A vector register; each of its components is a register.
    Vector {
        rows: [Register; 4],
        count: usize,
        t: Type,
    },
    EntryParameter {
        offset: u32,
    },
    /// Per-lane memory: `.local`, and `.param` of calls.
    Local {
        offset: u32,
    },
    /// An array of the call that is under way, whose address is in this row.
    Stack {
        row: u32,
    },
    Shared {
        offset: i64,
    },
}

/// Names declared between one pair of braces.
#[derive(Default, Debug)]
pub(crate) struct Scope<'t, 'a> {
    pub names: HashMap<&'a str, Symbol>,
    /// `%r<60>`: prefix to type and count; rows are made on first use.
    pub ranges: HashMap<&'a str, (Type, u64)>,
    pub labels: HashMap<&'a str, u32>,
    pub branch_targets: HashMap<&'a str, &'t [&'a str]>,
}
