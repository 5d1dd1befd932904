//! Coverage of parser, decoder and executor by a text: texts that do something new are
//! mutated further.

use simt::{Error, Module, Report};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Hashes of what was seen so far.
#[derive(Default)]
pub struct Coverage {
    seen: HashSet<u64>,
    /// The text that is tried now did something new.
    is_new: bool,
}

impl Coverage {
    /// Returns how many different things were seen.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    /// Returns whether something was new since this was last asked.
    pub fn drain_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    fn see(&mut self, what: impl Hash) {
        // With fixed keys: the same run sees the same on every machine.
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        self.is_new |= self.seen.insert(hasher.finish());
    }

    /// A kind of error: its sentence without names and numbers.
    pub fn error(&mut self, error: &Error) {
        let sentence = error.to_string();
        let quoted = sentence.split('`').step_by(2);
        let kind: String = quoted.flat_map(str::chars).filter(|c| !c.is_ascii_digit()).collect();
        self.see(("error", kind.chars().take(80).collect::<String>()));
    }

    /// The instructions of a module, and what may follow each other.
    pub fn module(&mut self, module: &Module) {
        for kernel in module.kernels() {
            if let Err(error) = kernel.supported() {
                self.error(error);
            }
            let listing = kernel.listing();
            for pair in listing.windows(2) {
                self.see(("instruction", &pair[0].1));
                self.see(("pair", pair.iter().map(|(_, text)| opcode(text)).collect::<Vec<_>>()));
            }
            let facts = (kernel.is_approximate(), kernel.is_order_dependent());
            self.see(("kernel", facts, kernel.parameters.len(), kernel.contraction().is_some()));
        }
        self.see(("variables", module.variables().len().min(8)));
    }

    /// Returns what ran: each instruction with how it diverged, what was found, and all of it together.
    pub fn report(&mut self, report: &Report) {
        let mut path = Vec::new();
        for one in &report.instructions {
            let counters = &one.counters;
            let diverged = counters.divergent_branches > 0;
            let partly = counters.thread_instructions < 32 * counters.warp_instructions;
            self.see(("ran", &one.text, diverged, partly));
            if counters.branches > 0 {
                path.push((one.ptx_line, diverged, counters.branches.ilog2()));
            }
        }
        // Which way the branches went, as their counts say.
        self.see(("path", path.len(), path.iter().filter(|(_, diverged, _)| *diverged).count()));
        for finding in &report.findings {
            self.see(("finding", finding.hazard, opcode(&finding.place.instruction)));
        }
    }
}

fn opcode(text: &str) -> &str {
    text.split('.').next().unwrap_or_default()
}
