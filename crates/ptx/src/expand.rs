//! Abbreviations of declarations, written out: what reads the tree meets scalars and lists in braces only.

use super::tree::{Initial, Operand, Statement, Tree, Variable};
use crate::error::Position;
use std::collections::{BTreeMap, HashMap};

/// The components of a vector register, and their other names (PTX ISA, "Vectors as Operands").
const COMPONENTS: [(&str, &str); 4] = [("x", "r"), ("y", "g"), ("z", "b"), ("w", "a")];

/// Names by each way to read them as a prefix and a number.
type Uses<'a> = HashMap<&'a str, BTreeMap<u64, &'a str>>;

/// Replaces `name<count>` of variables by those of its names that occur (PTX ISA, "Parameterized Variable Names"), and each
/// vector register in an operand by its components; `counts` has the count at the position of each such name.
pub(crate) fn expand(tree: &mut Tree<'_>, counts: &HashMap<Position, u64>) {
    let mut expansion = Expansion { counts, widths: Vec::new() };
    let mut uses = Uses::new();
    for function in &mut tree.functions {
        if let Some(body) = &mut function.body {
            expansion.block(body, &mut uses);
        }
    }
    for variable in &tree.variables {
        for initial in &variable.initial {
            if let Initial::Symbol { name, .. } = initial {
                note(name, &mut uses);
            }
        }
    }
    let variables = std::mem::take(&mut tree.variables);
    tree.variables = variables.into_iter().flat_map(|one| expansion.each(one, &mut uses)).collect();
}

struct Expansion<'c, 'a> {
    counts: &'c HashMap<Position, u64>,
    /// The components of each register by its name, in the scopes around a statement.
    widths: Vec<HashMap<&'a str, usize>>,
}

impl<'a> Expansion<'_, 'a> {
    /// Writes out one block; `uses` gets the names that it does not declare itself.
    fn block(&mut self, statements: &mut Vec<Statement<'a>>, uses: &mut Uses<'a>) {
        self.widths.push(HashMap::new());
        let mut own = Uses::new();
        let mut has_counts = false;
        for statement in statements.iter_mut() {
            match statement {
                Statement::Registers { vector, names, .. } => {
                    let scope = self.widths.last_mut();
                    scope.into_iter().for_each(|scope| {
                        scope.extend(names.iter().map(|(name, _)| (*name, *vector as usize)));
                    });
                }
                Statement::Block(inner) => self.block(inner, &mut own),
                Statement::Instruction(instruction) => {
                    for operand in &mut instruction.operands {
                        self.components(operand);
                        operand.names(&mut |name| note(name, &mut own));
                    }
                }
                Statement::Variable(one) => has_counts |= self.counts.contains_key(&one.position),
                _ => {}
            }
        }
        self.widths.pop();
        if has_counts {
            for statement in std::mem::take(statements) {
                match statement {
                    Statement::Variable(one) => {
                        let all = self.each(one, &mut own).into_iter();
                        statements.extend(all.map(Statement::Variable));
                    }
                    other => statements.push(other),
                }
            }
        }
        for (prefix, names) in own {
            uses.entry(prefix).or_default().extend(names);
        }
    }

    /// The variables for which a declaration stands: itself, or one for each of its names that is used.
    fn each(&self, variable: Variable<'a>, uses: &mut Uses<'a>) -> Vec<Variable<'a>> {
        let mut names = vec![variable.name];
        if let Some(count) = self.counts.get(&variable.position) {
            let used = uses.entry(variable.name).or_default();
            let others = used.split_off(count);
            names = std::mem::replace(used, others).into_values().collect();
        }
        names.into_iter().map(|name| Variable { name, ..variable.clone() }).collect()
    }

    fn components(&self, operand: &mut Operand<'a>) {
        match operand {
            Operand::Name { name, component, offset: 0 } => {
                let width = self.widths.iter().rev().find_map(|scope| scope.get(name));
                let Some(width @ 2..) = width.copied() else { return };
                match component {
                    Some(written) => {
                        let known = COMPONENTS.iter().find(|(_, color)| color == written);
                        *written = known.map_or(*written, |(axis, _)| axis);
                    }
                    None => {
                        let one = |(axis, _): &(&'static str, _)| Operand::Name {
                            name,
                            component: Some(*axis),
                            offset: 0,
                        };
                        *operand = Operand::Vector(COMPONENTS[..width].iter().map(one).collect());
                    }
                }
            }
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter_mut().for_each(|part| self.components(part));
            }
            Operand::Texel { coordinates, .. } => {
                coordinates.iter_mut().for_each(|part| self.components(part));
            }
            Operand::Pair(one, other) => {
                self.components(one);
                self.components(other);
            }
            _ => {}
        }
    }
}

/// Notes a name that ends in a number; a prefix may end in digits itself.
fn note<'a>(name: &'a str, uses: &mut Uses<'a>) {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    for at in name.len() - digits..name.len() {
        let (prefix, number) = name.split_at(at);
        let is_plain = number == "0" || !number.starts_with('0');
        if let (true, Ok(number)) = (is_plain, number.parse()) {
            uses.entry(prefix).or_default().insert(number, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::parse;
    use crate::tree::Operand;

    #[test]
    fn each_block_declares_the_names_that_it_uses() {
        let text = ".version 8.0\n.target sm_80\n.global .u32 g<3>;\n.global .u64 p = g2;\n.entry k() {\n\
            .param .align 8 .u64 %P1<12>;\nst.param.u64 [%P10], 1;\n\
            { .param .u64 %P1<2>; st.param.u64 [%P11], 2; st.param.u64 [%P15], 3; }\n\
            st.param.u64 [%P111], g0; st.param.u64 [%P112], 4; ret; }";
        let tree = parse(text).unwrap();
        let names: Vec<_> = tree.variables.iter().map(|one| one.name).collect();
        assert_eq!(names, ["g0", "g2", "p"]);
        let mut names = tree.entry("k").unwrap().variables("param");
        names.sort_unstable();
        assert_eq!(names, [("%P10", 8), ("%P11", 8), ("%P111", 8), ("%P15", 8)]);
    }

    #[test]
    fn a_vector_register_is_a_list_of_its_components_until_its_name_means_another() {
        let text = ".version 8.0\n.target sm_80\n.entry k() {\n.reg .v4 .f32 v; .reg .f32 a;\n\
            mov.f32 a, v.g; st.v4.f32 [0], v; { .reg .f32 v; mov.f32 a, v; } mov.f32 a, v.x; }";
        let (tree, mut seen) = (parse(text).unwrap(), Vec::new());
        tree.instructions(tree.entry("k").unwrap(), |one, _| seen.push(one.operands[1].clone()));
        let name = |component| Operand::Name { name: "v", component, offset: 0 };
        let all = ["x", "y", "z", "w"].map(|axis| name(Some(axis))).to_vec();
        assert_eq!(seen, [name(Some("y")), Operand::Vector(all), name(None), name(Some("x"))]);
    }

    #[test]
    fn a_vector_of_more_than_sixteen_bytes_is_no_register() {
        for element in ["v4 .f64", "v2 .b128", "v2 .pred"] {
            let text = format!(".version 8.0\n.target sm_80\n.entry k() {{ .reg .{element} v; }}");
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.ends_with("numbers of 128 bits in all at most"), "{error}");
        }
    }
}
