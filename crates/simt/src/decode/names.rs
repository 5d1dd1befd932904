use super::decoder::Decoder;
use super::scope::Symbol;
use crate::operation::Register;
use ptx::Type;

/// The register by which `cuda_std::grid::sync` says what it is. Cooperative groups of CUDA C++ look themselves whether the
/// launch is cooperative.
const GRID_BARRIER: &str = "cuda_std_grid_barrier";

impl<'a> Decoder<'_, '_, 'a> {
    pub fn declare_register(&mut self, name: &'a str, t: Type, count: Option<u64>) {
        if let Some(count) = count {
            if let Some(scope) = self.scopes.last_mut() {
                scope.ranges.insert(name, (t, count));
            }
            return;
        }
        self.program.grid_barrier |= name == GRID_BARRIER;
        let row = self.new_row(t);
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, Symbol::Register { row, t });
        }
    }

    /// Returns what a name means in the innermost scope that knows it.
    pub fn lookup(&mut self, name: &'a str) -> Option<Symbol> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        for depth in (0..self.scopes.len()).rev() {
            if let Some(symbol) = self.scopes[depth].names.get(name) {
                return Some(*symbol);
            }
            // A prefix may end in digits itself.
            for at in name.len() - digits..name.len() {
                let (prefix, number) = name.split_at(at);
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
        }
        None
    }

    pub fn declare_vector(&mut self, name: &'a str, t: Type, count: usize) {
        let mut rows = [self.new_row(t); 4];
        rows[1..count].fill_with(|| self.new_row(t));
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, Symbol::Vector { rows, count, t });
        }
    }

    pub fn register(&mut self, name: &'a str) -> Option<(Register, Type)> {
        self.component(name, None)
    }

    /// Returns a register, or a component of a vector register.
    pub fn component(
        &mut self,
        name: &'a str,
        component: Option<&str>,
    ) -> Option<(Register, Type)> {
        match (self.lookup(name)?, component) {
            (Symbol::Register { row, t }, None) => Some((row, t)),
            (Symbol::Vector { rows, count, t }, Some(component)) => {
                let at = ["x", "y", "z", "w"].iter().position(|axis| *axis == component)?;
                rows[..count].get(at).map(|row| (*row, t))
            }
            _ => None,
        }
    }

    pub fn label(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|scope| scope.labels.get(name).copied())
    }
}
