//! Budgets: what each kernel may ask of memory, in a file beside the kernels.
//!
//! The counts are exact and the same on every machine, so a budget is a snapshot: a test compares, and writes it anew when
//! a change is meant. Registers are there where NVIDIA's assembler has told of them.
//!
//! ```
//! use coalesce::budget::{Budgets, counted};
//!
//! fn check(catalogue: &coalesce::Catalogue) -> anyhow::Result<()> {
//!     let recorded = Budgets::read("traffic.toml".as_ref())?;
//!     assert!(recorded.differences(&counted(catalogue)?).is_empty());
//!     Ok(())
//! }
//! ```

use crate::catalogue::Catalogue;
use crate::count;
use crate::counted::Counted;
use crate::pattern::{Pattern, Variant};
use anyhow::{Context, Result};
use cuda_host::{Gpu, Image};
use results::{Counters, RequestCounts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The text above the budgets in a file.
const HEAD: &str = "\
# What the kernels ask of memory at their count size, held by `cargo test` without a GPU.
# Sectors are pieces of 32 bytes, wavefronts passes through the banks of shared memory: both per request of a warp.
# After a change that is meant: COALESCE_BLESS=1 cargo test
";

/// The budgets of a catalogue's kernels, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Budgets(BTreeMap<String, BTreeMap<String, f64>>);

/// Counts every kernel of a catalogue.
pub fn counted(catalogue: &Catalogue) -> Result<Budgets> {
    let gpu = count::open(catalogue)?;
    let image = gpu.image();
    let mut budgets = Budgets::default();
    let of = |_: &'static Pattern, _: &'static Variant, counted: &Counted| of_image(image, counted);
    count::count_kernels(&gpu, catalogue.patterns, of, |_, one| budgets.0.extend(one.0))?;
    Ok(budgets)
}

/// Returns what kernels that were launched asked for.
pub fn of_launches(gpu: &Gpu, counted: &Counted) -> Budgets {
    of_image(gpu.image(), counted)
}

fn of_image(image: &Image, counted: &Counted) -> Budgets {
    let of_kernel = |(kernel, counters): (&String, &Counters)| {
        let mut budget = of_counters(counters);
        let facts = image.kernels.iter().find(|facts| facts.kernel == kernel);
        if let Some(facts) = facts {
            budget.insert("local_bytes".to_owned(), facts.local_bytes as f64);
            if let Some(registers) = facts.registers {
                budget.insert("registers".to_owned(), f64::from(registers));
            }
        }
        (kernel.clone(), budget)
    };
    Budgets(counted.kernels.iter().map(of_kernel).collect())
}

/// Returns what there is to say of a kernel's counters: nothing of requests that it does not make.
fn of_counters(counters: &Counters) -> BTreeMap<String, f64> {
    let mut budget = BTreeMap::new();
    let mut per_request = |name: &str, of: &RequestCounts, amount: u64| {
        if of.requests > 0 {
            // Four digits tell one lane's sector in a thousand requests.
            let value = (amount as f64 / of.requests as f64 * 1e4).round() / 1e4;
            budget.insert(name.to_owned(), value);
        }
    };
    let Counters { global_load, global_store, global_atomic, global_reduction, .. } = counters;
    per_request("sectors_per_load", global_load, global_load.sectors);
    per_request("sectors_per_store", global_store, global_store.sectors);
    per_request("passes_per_atomic", global_atomic, global_atomic.sector_updates);
    per_request("passes_per_reduction", global_reduction, global_reduction.sector_updates);
    let Counters { shared_load, shared_store, constant_load, async_copy_global, .. } = counters;
    per_request("wavefronts_per_shared_load", shared_load, shared_load.wavefronts);
    per_request("wavefronts_per_shared_store", shared_store, shared_store.wavefronts);
    per_request("wavefronts_per_constant_load", constant_load, constant_load.wavefronts);
    per_request("sectors_per_async_copy", async_copy_global, async_copy_global.sectors);
    budget
}

impl Budgets {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is not there, or is not a file of budgets.
    pub fn read(path: &Path) -> Result<Budgets> {
        let text = std::fs::read_to_string(path).with_context(|| {
            format!("cannot read {}: COALESCE_BLESS=1 cargo test writes it", path.display())
        })?;
        toml::from_str(&text)
            .with_context(|| format!("{} is not a file of budgets", path.display()))
    }

    /// These, where `other` has other kernels also those.
    pub fn and(mut self, other: Budgets) -> Budgets {
        for (kernel, budget) in other.0 {
            self.0.entry(kernel).or_insert(budget);
        }
        self
    }

    /// Those of the kernels that `other` has, too.
    pub fn of_kernels_in(mut self, other: &Budgets) -> Budgets {
        self.0.retain(|kernel, _| other.0.contains_key(kernel));
        self
    }

    /// Writes a file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = format!("{HEAD}\n{}", toml::to_string(self)?);
        results::write(path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns how `counted` differs, a sentence each. Registers that are not known here are no difference.
    pub fn differences(&self, counted: &Budgets) -> Vec<String> {
        let mut differences = Vec::new();
        for (kernel, is) in &counted.0 {
            let Some(budget) = self.0.get(kernel) else {
                differences.push(format!("{kernel} has no budget"));
                continue;
            };
            for (name, value) in is {
                match budget.get(name) {
                    Some(most) if most == value => {}
                    Some(most) => {
                        let change = if value > most { "more" } else { "less" };
                        let at = format!("{kernel}: {name} is {value}, {change} than {most}");
                        differences.push(at);
                    }
                    None if name == "registers" => {}
                    None => {
                        differences.push(format!("{kernel}: {name} is {value}, and has no budget"))
                    }
                }
            }
            let gone =
                budget.iter().filter(|(name, _)| !is.contains_key(*name) && *name != "registers");
            differences.extend(
                gone.map(|(name, most)| format!("{kernel}: {name} is none, and was {most}")),
            );
        }
        let gone = self.0.keys().filter(|kernel| !counted.0.contains_key(*kernel));
        differences.extend(gone.map(|kernel| format!("{kernel} is gone, and has a budget")));
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets(text: &str) -> Budgets {
        toml::from_str(text).expect("it is TOML")
    }

    #[test]
    fn a_part_of_the_kernels_is_compared_and_written() {
        let file = budgets("[a]\nlocal_bytes = 0.0\n[b]\nlocal_bytes = 0.0\n");
        let part = budgets("[a]\nlocal_bytes = 8.0\n");
        let found = file.clone().of_kernels_in(&part).differences(&part);
        assert_eq!(found, ["a: local_bytes is 8, more than 0"]);
        let written = part.and(file);
        assert_eq!(written, budgets("[a]\nlocal_bytes = 8.0\n[b]\nlocal_bytes = 0.0\n"));
    }

    #[test]
    fn what_is_more_or_less_or_new_or_gone_is_named() {
        let file =
            budgets("[a]\nsectors_per_load = 4.0\nlocal_bytes = 0.0\nregisters = 30.0\n[b]\n");
        let same = budgets("[a]\nsectors_per_load = 4.0\nlocal_bytes = 0.0\n[b]\n");
        assert!(file.differences(&same).is_empty(), "registers are not known everywhere");
        let other = budgets(
            "[a]\nsectors_per_load = 32.0\nsectors_per_store = 4.0\nregisters = 28.0\n[c]\n",
        );
        assert_eq!(
            file.differences(&other),
            [
                "a: registers is 28, less than 30",
                "a: sectors_per_load is 32, more than 4",
                "a: sectors_per_store is 4, and has no budget",
                "a: local_bytes is none, and was 0",
                "c has no budget",
                "b is gone, and has a budget",
            ]
        );
    }
}
