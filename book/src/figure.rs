use anyhow::{Context, Result};
use results::Counters;

/// A count: its name in a directive, its name for people, and how it is computed.
pub struct Count {
    /// Such as `load_sectors`.
    pub name: &'static str,
    pub words: &'static str,
    /// `None` where a kernel makes no such requests.
    pub of: fn(&Counters) -> Option<f64>,
}

/// All counts, in the order of a table's columns.
pub const COUNTS: &[Count] = &[
    Count { name: "load_sectors", words: "sectors per load", of: Counters::load_sectors },
    Count { name: "store_sectors", words: "sectors per store", of: Counters::store_sectors },
    Count {
        name: "load_requests",
        words: "load requests",
        of: |c| positive(c.global_load.requests + c.async_copy_global.requests),
    },
    Count {
        name: "load_efficiency",
        words: "bytes used of those loaded, %",
        of: Counters::load_efficiency_percent,
    },
    Count {
        name: "store_efficiency",
        words: "bytes written of the sectors stored, %",
        of: Counters::store_efficiency_percent,
    },
    Count {
        name: "shared_load_wavefronts",
        words: "wavefronts per shared load",
        of: Counters::shared_load_wavefronts,
    },
    Count {
        name: "shared_store_wavefronts",
        words: "wavefronts per shared store",
        of: Counters::shared_store_wavefronts,
    },
    Count {
        name: "bank_conflicts",
        words: "bank conflicts",
        of: |c| {
            let requests = c.shared_load.requests + c.shared_store.requests;
            positive(requests)
                .map(|_| (c.shared_load.bank_conflicts() + c.shared_store.bank_conflicts()) as f64)
        },
    },
    Count {
        name: "shared_atomic_wavefronts",
        words: "wavefronts per shared atomic",
        of: Counters::shared_atomic_wavefronts,
    },
    Count { name: "global_atomics", words: "global atomics", of: Counters::global_atomics },
    Count {
        name: "global_atomic_updates",
        words: "sector accesses per global atomic request",
        of: Counters::global_atomic_updates,
    },
    Count {
        name: "constant_wavefronts",
        words: "wavefronts per constant load",
        of: Counters::constant_wavefronts,
    },
    Count {
        name: "local_load_sectors",
        words: "sectors per local load",
        of: Counters::local_load_sectors,
    },
    Count { name: "barriers", words: "barriers, per warp", of: |c| positive(c.barriers) },
    Count {
        name: "divergent_branches",
        words: "divergent branches",
        of: |c| positive(c.branches).map(|_| c.divergent_branches as f64),
    },
    Count {
        name: "lanes_per_instruction",
        words: "active lanes per instruction",
        of: Counters::lanes_per_instruction,
    },
];

fn positive(count: u64) -> Option<f64> {
    (count > 0).then_some(count as f64)
}

pub fn count(name: &str) -> Result<&'static Count> {
    COUNTS.iter().find(|count| count.name == name).with_context(|| {
        let names: Vec<&str> = COUNTS.iter().map(|count| count.name).collect();
        format!("there is no count `{name}`: choose one of {}", names.join(", "))
    })
}
