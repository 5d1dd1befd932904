//! The modifiers of an instruction, with a record of which were understood.

use crate::Type;

/// The modifiers of one instruction; each must be taken by whoever understands it.
#[derive(Clone, Debug)]
pub struct Modifiers<'a> {
    rest: Vec<&'a str>,
    /// Those that are types, in order.
    pub types: Vec<Type>,
}

impl<'a> Modifiers<'a> {
    /// Splits modifiers into types and others.
    pub fn new(all: &[&'a str]) -> Modifiers<'a> {
        let mut modifiers = Modifiers { rest: Vec::new(), types: Vec::new() };
        for name in all {
            match Type::parse(name) {
                Some(t) => modifiers.types.push(t),
                None => modifiers.rest.push(name),
            }
        }
        modifiers
    }

    /// Returns whether the modifier is there; it then counts as understood.
    pub fn take(&mut self, name: &str) -> bool {
        match self.rest.iter().position(|m| *m == name) {
            Some(at) => {
                self.rest.remove(at);
                true
            }
            None => false,
        }
    }

    /// Takes the first of these modifiers that is there.
    pub fn take_any<'n>(&mut self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().find(|name| self.take(name)).copied()
    }

    /// The first modifier, in their order, that is one of these.
    pub fn first_of<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        self.rest.iter().find_map(|m| names.iter().find(|name| *name == m).copied())
    }

    /// Takes the modifiers for which `understood` holds.
    pub fn take_where(&mut self, understood: impl Fn(&str) -> bool) {
        self.rest.retain(|m| !understood(m));
    }

    /// Returns whether the modifier is there and not yet taken.
    pub fn has(&self, name: &str) -> bool {
        self.rest.contains(&name)
    }

    /// The first modifier that nobody took.
    pub fn unknown(&self) -> Option<&'a str> {
        self.rest.first().copied()
    }

    /// The type, when there is exactly one.
    pub fn only_type(&self) -> Option<Type> {
        match self.types[..] {
            [t] => Some(t),
            _ => None,
        }
    }
}
