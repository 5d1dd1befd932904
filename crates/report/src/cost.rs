use crate::machine_code::{Instruction, MemoryLevel, SourceLine};
use results::{CountedKernel, Counters, InstructionCounts};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Memory traffic of a source line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests of global and local memory.
    pub requests: u64,
    /// Their sectors.
    pub sectors: u64,
    /// Requests of shared and constant memory.
    pub chip_requests: u64,
    /// Their wavefronts.
    pub wavefronts: u64,
}

impl Cost {
    fn of(counters: &Counters) -> Cost {
        let memory = [
            counters.global_load,
            counters.texture_load,
            counters.surface_store,
            counters.global_store,
            counters.global_atomic,
            counters.global_reduction,
            counters.async_copy_global,
            counters.local_load,
            counters.local_store,
        ];
        let chip = [
            counters.shared_load,
            counters.shared_store,
            counters.shared_atomic,
            counters.async_copy_shared,
            counters.shared_matrix_load,
            counters.shared_matrix_store,
            counters.constant_load,
        ];
        Cost {
            requests: memory.iter().map(|traffic| traffic.requests).sum(),
            sectors: memory.iter().map(|traffic| traffic.sectors.max(traffic.sector_updates)).sum(),
            chip_requests: chip.iter().map(|traffic| traffic.requests).sum(),
            wavefronts: chip.iter().map(|traffic| traffic.wavefronts).sum(),
        }
    }

    /// Sectors and wavefronts.
    pub fn total(&self) -> u64 {
        self.sectors + self.wavefronts
    }

    /// The part that is one memory's.
    pub fn of_memory(&self, memory: MemoryLevel) -> Cost {
        match memory {
            MemoryLevel::Device => Cost { chip_requests: 0, wavefronts: 0, ..*self },
            MemoryLevel::Chip => Cost { requests: 0, sectors: 0, ..*self },
        }
    }

    /// Returns what each of so many has of it.
    pub fn shared_out(&self, parts: u64) -> Cost {
        let Cost { requests, sectors, chip_requests, wavefronts } = *self;
        let [requests, sectors, chip_requests, wavefronts] =
            [requests, sectors, chip_requests, wavefronts].map(|count| count / parts);
        Cost { requests, sectors, chip_requests, wavefronts }
    }

    /// Sectors per request of global memory.
    pub fn sectors_per_request(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.sectors as f64 / self.requests as f64)
    }

    /// Passes per request of shared or constant memory.
    pub fn wavefronts_per_request(&self) -> Option<f64> {
        (self.chip_requests > 0).then(|| self.wavefronts as f64 / self.chip_requests as f64)
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.chip_requests += other.chip_requests;
        self.wavefronts += other.wavefronts;
    }
}

/// The costs of a kernel's instructions, by anything that they have.
fn costs<Key: Ord>(
    kernel: &CountedKernel,
    key: impl Fn(&InstructionCounts) -> Option<Key>,
) -> BTreeMap<Key, Cost> {
    let mut costs: BTreeMap<Key, Cost> = BTreeMap::new();
    for instruction in &kernel.instructions {
        if let Some(key) = key(instruction) {
            *costs.entry(key).or_default() += Cost::of(&instruction.counters);
        }
    }
    costs
}

/// The costs by line of the PTX.
pub fn by_ptx_line(kernel: &CountedKernel) -> BTreeMap<u32, Cost> {
    costs(kernel, |instruction| Some(instruction.ptx_line))
}

/// The costs by line of a source file, those of what was inlined into a line included.
pub fn by_source_line(kernel: &CountedKernel, file: &str) -> BTreeMap<u32, Cost> {
    costs(kernel, |instruction| instruction.source.as_ref()?.line_in(file))
}

/// The costs by innermost place in a source.
pub fn by_place(kernel: &CountedKernel) -> BTreeMap<SourceLine, Cost> {
    costs(kernel, |instruction| {
        let source = instruction.source.as_ref()?;
        Some((source.file.clone(), source.line))
    })
}

/// Returns what each instruction costs: the traffic of its place in the source, shared out among the instructions of
/// that place that ask for the same memory.
pub fn by_instruction(code: &[Instruction], by_place: &BTreeMap<SourceLine, Cost>) -> Vec<Cost> {
    let place_and_memory = |one: &Instruction| Some((one.place.clone()?, one.memory()?));
    let mut asking: BTreeMap<(SourceLine, MemoryLevel), u64> = BTreeMap::new();
    for one in code.iter().filter_map(place_and_memory) {
        *asking.entry(one).or_default() += 1;
    }
    let cost = |one: &Instruction| {
        let key = place_and_memory(one)?;
        let part = by_place.get(&key.0)?.of_memory(key.1);
        Some(part.shared_out(asking[&key]))
    };
    code.iter().map(|one| cost(one).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_shared_out_among_those_that_ask_for_the_same_memory() {
        let instruction = |text: &str, place: Option<(&str, u32)>| Instruction {
            text: text.to_owned(),
            place: place.map(|(file, line)| (file.to_owned(), line)),
        };
        let code = [
            instruction("LDC R1, c[0x0][0x28]", Some(("k.rs", 7))),
            instruction("@!P0 LDG.E.128 R4, desc[UR4][R2.64]", Some(("lib.rs", 3))),
            instruction(".L_x_1:", None),
            instruction("LDG.E R4, [R2]", Some(("lib.rs", 3))),
            instruction("STS [R3], R4", Some(("k.rs", 10))),
            instruction("LDC R1, c[0x3][R2]", Some(("k.rs", 10))),
        ];
        let cost = Cost { requests: 8, sectors: 32, chip_requests: 4, wavefronts: 6 };
        let places = [("k.rs", 7), ("lib.rs", 3), ("k.rs", 10)];
        let by_place = places.map(|(file, line)| ((file.to_owned(), line), cost)).into();
        let device = Cost { requests: 4, sectors: 16, ..Cost::default() };
        let chip = Cost { chip_requests: 2, wavefronts: 3, ..Cost::default() };
        let none = Cost::default();
        let found = by_instruction(&code, &by_place);
        assert_eq!(found, [none, device, none, device, chip, chip]);
    }
}
