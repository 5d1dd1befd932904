//! Loads that the assembler moves to the front, so that they wait together.
//!
//! Within a basic block, which runs from its first instruction to its last, a load can come as early as its address is
//! there, unless a store to the same memory or a barrier is in its way. A short loop becomes one with a few bodies in a
//! row, which are such a block, too, if it is known before the first of these turns that the last will come:
//! `while i < n { sum += x[i]; i += 32 }`, and not a search. `ptxas` of CUDA 13.0 makes four turns one in every such loop
//! that has no more than a few dozen instructions, and in none whose step is only known when it runs, as that of a grid
//! (`probe_compiled_step` and `probe_launched_step`, in `crates/measurement_kernels`).

use crate::operation::{Operation, Register};
use crate::program::{BlockPlace, Instruction, Program};
use crate::registers::ALWAYS;
use crate::spin_loops::{decides, loops};
use std::collections::BTreeSet;

/// The longest loop that is unrolled, in instructions of PTX.
const LENGTH_MAX: usize = 48;
/// The most instructions of one way that become predicated.
const SKIPPED_MAX: usize = 8;
/// Instructions that are looked at for one load.
const WORK_MAX: usize = 1 << 16;

pub(crate) fn places(program: &Program) -> Vec<BlockPlace> {
    let mut places = vec![BlockPlace::default(); program.instructions.len()];
    let chosen = chosen_by_predicates(program);
    let mut begin = |pc: usize| {
        if let Some(place) = places.get_mut(pc) {
            place.is_first = true;
        }
    };
    begin(0);
    for (pc, instruction) in program.instructions.iter().enumerate() {
        match &instruction.operation {
            Operation::Branch { .. } if chosen.contains(&pc) => {}
            Operation::Branch { target } | Operation::Call { target } => {
                begin(*target as usize);
                begin(pc + 1);
            }
            Operation::BranchTable { table, .. } => {
                let targets = &program.branch_tables[*table as usize];
                targets.iter().for_each(|target| begin(*target as usize));
                begin(pc + 1);
            }
            Operation::Return => begin(pc + 1),
            _ => {}
        }
    }
    for (number, (start, end)) in (1..).zip(loops(program)) {
        if end - start < LENGTH_MAX && is_unrolled(program, &chosen, start, end) {
            for (pc, place) in (start..).zip(&mut places[start..=end]) {
                *place = BlockPlace { is_first: pc == start, unrolled: number };
            }
        }
    }
    places
}

/// Branches that become predicates: they skip so little that both ways are in one block.
pub(crate) fn chosen_by_predicates(program: &Program) -> BTreeSet<usize> {
    let mut chosen = BTreeSet::new();
    let is_short = |from: usize, to: usize| {
        let is_plain = |it: &Instruction| {
            matches!(
                it.operation,
                Operation::Compute { .. } | Operation::Load(_) | Operation::Store(_)
            )
        };
        from <= to
            && to - from <= SKIPPED_MAX
            && program.instructions[from..to].iter().all(is_plain)
    };
    for (pc, instruction) in program.instructions.iter().enumerate() {
        let Operation::Branch { target } = instruction.operation else { continue };
        let target = target as usize;
        if target <= pc || instruction.guard == ALWAYS {
            continue;
        }
        // Of two ways the first ends with a jump over the second.
        let jump = target - 1;
        match program.instructions[jump].operation {
            Operation::Branch { target: end }
                if jump > pc
                    && program.instructions[jump].guard == ALWAYS
                    && is_short(pc + 1, jump)
                    && is_short(target, end as usize) =>
            {
                chosen.extend([pc, jump]);
            }
            _ if is_short(pc + 1, target) => chosen.extend([pc]),
            _ => {}
        }
    }
    chosen
}

/// One way out that no load decides, no branch or loop inside, and nothing that others could notice in between.
fn is_unrolled(program: &Program, chosen: &BTreeSet<usize>, start: usize, end: usize) -> bool {
    let mut exits = 0;
    let mut counted = true;
    for pc in start..=end {
        let instruction = &program.instructions[pc];
        match &instruction.operation {
            Operation::Branch { .. } if chosen.contains(&pc) => {}
            Operation::Branch { target } => {
                let target = *target as usize;
                let is_inside = (start..=end).contains(&target);
                let is_always = instruction.guard == ALWAYS;
                if is_inside && target != start || !is_inside && is_always {
                    return false;
                }
                exits += u32::from(!is_always);
                counted &= is_always || is_counted(program, (start, end), instruction.guard);
            }
            Operation::Compute { .. }
            | Operation::Store(_)
            | Operation::Nothing
            | Operation::Sleep { .. } => {}
            Operation::Load(access) => {
                if access.strong || decides(program, (start, end), pc, &mut { WORK_MAX }) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    exits == 1 && counted
}

/// Returns whether a predicate in a loop compares what stays the same there with what changes by a constant in each turn.
fn is_counted(program: &Program, (start, end): (usize, usize), predicate: u32) -> bool {
    let writers = |row: Register| -> Vec<usize> {
        (start..=end).filter(|pc| program.details[*pc].writes.contains(&row)).collect()
    };
    let [compares] = writers(Register::Predicate(predicate))[..] else { return false };
    let is_constant = |row: &Register| program.constants.iter().any(|(other, _)| other == row);
    // Copies of the counter are the counter.
    let steps = |row: Register| {
        let mut counter = vec![row];
        let mut at = 0;
        let mut has_stepped = false;
        while let Some(row) = counter.get(at).copied() {
            let [pc] = writers(row)[..] else { return false };
            let text = &program.texts[program.details[pc].text as usize];
            let adds = text.starts_with("add") || text.starts_with("sub");
            if program.instructions[pc].guard != ALWAYS || !adds && !text.starts_with("mov") {
                return false;
            }
            has_stepped |= adds;
            let others = program.details[pc].reads.iter().filter(|read| !is_constant(read));
            let others: Vec<Register> = others.copied().collect();
            let [other] = others[..] else { return false };
            if !counter.contains(&other) {
                counter.push(other);
            }
            at += 1;
        }
        has_stepped
    };
    let changes = program.details[compares].reads.iter().filter(|row| !writers(**row).is_empty());
    let mut changes: Vec<Register> = changes.copied().collect();
    changes.dedup();
    matches!(changes[..], [counter] if steps(counter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::Module;

    /// Returns whether a loop with this body, whose counter is `%r1`, is unrolled.
    fn unrolls(body: &str) -> bool {
        unrolls_by("add.u32 %r1, %r1, 32;", body)
    }

    /// The same, with this step.
    fn unrolls_by(step: &str, body: &str) -> bool {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 array)\n{{
    .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [array];
    mov.u32 %r1, %tid.x;
LOOP:
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    {body}
    {step}
    setp.lt.u32 %p1, %r1, 1024;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r2;
    ret;\n}}"
        );
        let module = Module::parse(&text).expect("it is PTX");
        let kernel = module.kernel("k").expect("it is there");
        let program = kernel.program.as_ref().expect("it is supported");
        places(program).iter().any(|place| place.unrolled != 0)
    }

    #[test]
    fn a_loop_is_unrolled_unless_a_turn_decides_whether_there_is_another() {
        let load = "ld.global.u32 %r3, [%rd3]; add.u32 %r2, %r2, %r3;";
        assert!(unrolls(load));
        assert!(unrolls(&format!("{load} st.global.u32 [%rd3], %r2;")));
        assert!(!unrolls(&format!("{load} bar.sync 0;")), "others go on meanwhile");
        assert!(!unrolls("ld.volatile.global.u32 %r2, [%rd3];"), "others may write");
        assert!(!unrolls("ld.global.u32 %r1, [%rd3];"), "what is loaded decides");
        assert!(unrolls_by("add.u32 %r6, %r1, 32; mov.u32 %r1, %r6;", load), "by a copy");
        assert!(!unrolls_by("add.u32 %r1, %r1, %r5;", load), "a step that is known when it runs");
        assert!(!unrolls_by("shr.u32 %r1, %r1, 1;", load), "no step at all");
        let skipping = |count: usize| {
            let skipped = "add.u32 %r4, %r4, 1; ".repeat(count);
            unrolls(&format!("{load} setp.eq.u32 %p2, %r3, 7; @%p2 bra OUT; {skipped} OUT:"))
        };
        assert!(skipping(SKIPPED_MAX), "predicates");
        assert!(!skipping(SKIPPED_MAX + 1), "a branch inside");
        assert!(!unrolls(&format!("{load} {}", "add.u32 %r4, %r4, 1;".repeat(LENGTH_MAX))), "long");
    }
}
