//! Loads that the assembler moves to the front, so that they wait together.
//!
//! Within a basic block, which runs from its first instruction to its last, a load can come as early as its address is
//! there, unless a store to the same memory or a barrier is in its way. A short loop becomes one with a few bodies in a
//! row, which are such a block, too, if it is known before the first of these turns that the last will come:
//! `while i < n { sum += x[i]; i += step }`, and not a search. `ptxas` of CUDA 13.0 makes four turns one in every such loop
//! of this project's kernels that has no more than a few dozen instructions.

use crate::operation::Operation;
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

/// The places of all instructions.
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
fn chosen_by_predicates(program: &Program) -> BTreeSet<usize> {
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
            }
            Operation::Compute { .. } | Operation::Store(_) | Operation::Nothing => {}
            Operation::Load(access) => {
                if access.strong || decides(program, (start, end), pc, &mut { WORK_MAX }) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    exits == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::Module;

    /// Returns whether a loop with this body, whose counter is `%r1`, is unrolled.
    fn unrolls(body: &str) -> bool {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 array)\n{{
    .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [array];
    mov.u32 %r1, %tid.x;
LOOP:
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    {body}
    add.u32 %r1, %r1, 32;
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
        let skipping = |count: usize| {
            let skipped = "add.u32 %r4, %r4, 1; ".repeat(count);
            unrolls(&format!("{load} setp.eq.u32 %p2, %r3, 7; @%p2 bra OUT; {skipped} OUT:"))
        };
        assert!(skipping(SKIPPED_MAX), "predicates");
        assert!(!skipping(SKIPPED_MAX + 1), "a branch inside");
        assert!(!unrolls(&format!("{load} {}", "add.u32 %r4, %r4, 1;".repeat(LENGTH_MAX))), "long");
    }
}
