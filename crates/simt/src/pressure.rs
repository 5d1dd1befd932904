//! The registers that a kernel takes per thread, estimated: only NVIDIA's assembler knows.
//!
//! At the widest point of the PTX so many values are alive. The assembler makes less of them: parameters stay in constant
//! memory, and it computes again, or in another order, what would be alive for long:
//!
//! ```text
//! registers = 0.6 x alive + 0.2 x alive without what parameters say alone + 8
//! ```
//!
//! Fitted to what `ptxas` said of programs that are not this project's (`results/virtual/registers.csv`).

use crate::operation::{Atomic, AtomicOperation, Operation, Register, Space};
use crate::program::{Instruction, Program};
use crate::registers::ALWAYS;
use crate::uninitialized::{number, successors};
use std::collections::BTreeMap;

/// Words of the analysis's states above which each virtual register counts.
const STATE_WORDS_MAX: usize = 1 << 23;
/// Registers that a thread can have, and those that a kernel with calls takes at the least.
const REGISTERS_MAX: u32 = 255;
const CALLING: u32 = 24;

/// Returns the estimate for a kernel whose blocks have at most so many threads.
pub(crate) fn registers(program: &Program, max_threads: Option<u32>) -> u32 {
    let constant = constants(program);
    let all = alive(program, &constant);
    let mut known = shared_by_threads(program, false);
    known.iter_mut().zip(&constant).for_each(|(known, constant)| *known |= constant);
    let of_threads = alive(program, &known);
    let calls = |it: &Instruction| matches!(it.operation, Operation::Call { .. });
    let least = if program.instructions.iter().any(calls) { CALLING } else { 1 };
    // A block has 65536 of them, in units of 8 per thread.
    let most = max_threads.map_or(REGISTERS_MAX, |threads| {
        (65536 / threads.next_multiple_of(32).max(32) / 8 * 8).clamp(16, REGISTERS_MAX)
    });
    ((3 * all + of_threads + 40) / 5).max(least).min(most)
}

/// Registers of 32 bits that a row takes.
fn width(row: Register) -> u32 {
    match row {
        Register::Word(_) => 1,
        Register::Long(_) => 2,
        Register::Predicate(_) => 0,
    }
}

/// Rows that hold constants, by their number.
fn constants(program: &Program) -> Vec<bool> {
    let mut constant = vec![false; number(program, Register::Predicate(program.predicates))];
    for (row, _) in &program.constants {
        constant[number(program, *row)] = true;
    }
    constant
}

/// The rows that hold parameters, or addresses in other forms of them; where `computed`, also what is computed or loaded from
/// these and from the place of the block: all threads of a block have the same there.
fn shared_by_threads(program: &Program, computed: bool) -> Vec<bool> {
    let mut others = vec![false; number(program, Register::Predicate(program.predicates))];
    let mut shared = others.clone();
    let repeated = if computed { written_repeatedly(program) } else { Vec::new() };
    loop {
        let mut changed = false;
        for (instruction, detail) in program.instructions.iter().zip(&program.details) {
            let text = &program.texts[detail.text as usize];
            let copies = || text.starts_with("mov") || text.starts_with("cvta");
            let hands_on = match &instruction.operation {
                Operation::Load(access) => computed || access.space == Space::Parameter,
                Operation::Compute { .. } => computed || copies(),
                _ => false,
            };
            let is_other = |row: &Register| others[number(program, *row)];
            let is_own = instruction.guard != ALWAYS || computed && detail.reads_own_place;
            if !hands_on || is_own || detail.reads.iter().any(is_other) {
                for row in &detail.writes {
                    changed |= !std::mem::replace(&mut others[number(program, *row)], true);
                }
            }
        }
        for (row, written) in &repeated {
            let differs = || divergent_branches(program, &others).any(|way| splits(way, *written));
            if !others[*row] && differs() {
                (others[*row], changed) = (true, true);
            }
        }
        if !changed {
            break;
        }
    }
    for row in program.details.iter().flat_map(|detail| &detail.writes) {
        let row = number(program, *row);
        shared[row] = !others[row];
    }
    shared
}

/// Returns the rows that more than one instruction writes, with the first and the last of these.
fn written_repeatedly(program: &Program) -> Vec<(usize, (usize, usize))> {
    let mut writers: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (pc, detail) in program.details.iter().enumerate() {
        for row in &detail.writes {
            writers.entry(number(program, *row)).or_insert((pc, pc)).1 = pc;
        }
    }
    writers.retain(|_, (first, last)| first != last);
    writers.into_iter().collect()
}

/// Returns the places and targets of branches that the threads of a block may take differently.
fn divergent_branches(program: &Program, others: &[bool]) -> impl Iterator<Item = (usize, usize)> {
    program.instructions.iter().enumerate().filter_map(|(pc, instruction)| {
        let Operation::Branch { target } = instruction.operation else { return None };
        let is_divergent = instruction.guard != ALWAYS
            && others[number(program, Register::Predicate(instruction.guard))];
        is_divergent.then_some((pc, target as usize))
    })
}

/// Returns whether a branch lets some threads pass only a part of the instructions that write a row. One around all of
/// them does not.
fn splits((from, to): (usize, usize), (first, last): (usize, usize)) -> bool {
    let (begin, end) = (from.min(to), from.max(to));
    let meets = begin <= last && first < end;
    let is_around = begin < first && last < end;
    meets && !is_around
}

/// Atomics of one word by all lanes of a warp that the assembler makes one, in ascending order: it adds constants by `VOTE` and
/// `POPC`, and combines values of 32 bits whose result nobody reads by `REDUX` (`nvdisasm`).
pub(crate) fn aggregated(program: &Program) -> Vec<u32> {
    use AtomicOperation::{Add, And, Maximum, Minimum, Or, Xor};
    let may_be = |atomic: &Atomic| {
        !atomic.t.is_float()
            && matches!(atomic.space, Space::Global | Space::Generic)
            && atomic.more_sources.is_empty()
    };
    let is_meant =
        |it: &Instruction| matches!(&it.operation, Operation::Atomic(atomic) if may_be(atomic));
    if !program.instructions.iter().any(is_meant) {
        return Vec::new();
    }
    let (shared, constant) = (shared_by_threads(program, true), constants(program));
    let instructions = program.instructions.iter().enumerate();
    let found = instructions.filter(|(_, it)| {
        let Operation::Atomic(atomic) = &it.operation else { return false };
        let base = atomic.base.register().map(|row| number(program, row));
        let adds_constant = atomic.operation == Add && constant[number(program, atomic.source)];
        let is_combined = atomic.is_reduction
            && atomic.t.bytes() == 4
            && matches!(atomic.operation, Add | Minimum | Maximum | And | Or | Xor);
        may_be(atomic)
            && (adds_constant || is_combined)
            && base.is_none_or(|row| shared[row] || constant[row])
    });
    found.map(|(pc, _)| pc as u32).collect()
}

/// Returns how many registers of 32 bits hold values at once that are read later, at the most.
fn alive(program: &Program, known: &[bool]) -> u32 {
    let following = successors(program);
    // The rows that count, in a sequence of their own.
    let (mut place, mut widths) = (vec![None; known.len()], Vec::new());
    for row in program.details.iter().flat_map(|detail| detail.reads.iter().chain(&detail.writes)) {
        let at = number(program, *row);
        if !known[at] && width(*row) > 0 && place[at].is_none() {
            place[at] = Some(widths.len());
            widths.push(width(*row));
        }
    }
    let words = widths.len().div_ceil(64);
    if words * following.len() > STATE_WORDS_MAX {
        return widths.iter().sum();
    }
    let places = |rows: &[Register]| -> Vec<usize> {
        rows.iter().filter_map(|row| place[number(program, *row)]).collect()
    };
    let mut states = vec![vec![0u64; words]; following.len()];
    let mut state = vec![0u64; words];
    loop {
        let mut changed = false;
        for pc in (0..following.len()).rev() {
            state.fill(0);
            for next in &following[pc] {
                let next = &states[*next as usize];
                state.iter_mut().zip(next).for_each(|(all, some)| *all |= some);
            }
            if let Some(detail) = program.details.get(pc) {
                if program.instructions[pc].guard == ALWAYS {
                    places(&detail.writes)
                        .iter()
                        .for_each(|at| state[at / 64] &= !(1 << (at % 64)));
                }
                places(&detail.reads).iter().for_each(|at| state[at / 64] |= 1 << (at % 64));
            }
            if state != states[pc] {
                states[pc].copy_from_slice(&state);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let sum = |state: &Vec<u64>| -> u32 {
        let is_alive = |at: &usize| state[at / 64] >> (at % 64) & 1 != 0;
        (0..widths.len()).filter(is_alive).map(|at| widths[at]).sum()
    };
    states.iter().map(sum).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::module::Module;

    fn estimate(max_threads: &str, body: &str) -> u32 {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 array)\n{max_threads}\n{{
    .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>;
    ld.param.u64 %rd1, [array];
    {body}
    ret;\n}}"
        );
        Module::parse(&text).expect("it is PTX").kernel("k").expect("it is there").registers()
    }

    /// Loads so many words and then stores them.
    fn words(count: u32) -> String {
        let each = |of: &dyn Fn(u32) -> String| (2..2 + count).map(of).collect::<String>();
        let loads = each(&|at| format!("ld.global.u32 %r{at}, [%rd1+{}];\n", 4 * at));
        loads + &each(&|at| format!("st.global.u32 [%rd1+{}], %r{at};\n", 4 * at + 400))
    }

    #[test]
    fn what_is_alive_at_once_counts_and_parameters_count_less() {
        // One address of two registers, which is a parameter.
        assert_eq!(estimate("", &words(1)), (3 * 3 + 1 + 40) / 5);
        assert_eq!(estimate("", &words(40)), (3 * 42 + 40 + 40) / 5);
        // One after the other, each is dead before the next comes.
        let in_turn: String = (0..40).map(|_| words(1)).collect();
        assert_eq!(estimate("", &in_turn), estimate("", &words(1)));
    }

    #[test]
    fn what_a_loop_needs_again_stays_alive_in_it() {
        let around = format!(
            "ld.global.u32 %r90, [%rd1+8];\nL: {}\nadd.u32 %r91, %r91, %r90;\nsetp.lt.u32 %p1, %r91, 9;\n@%p1 bra L;",
            words(10)
        );
        assert_eq!(estimate("", &around), (3 * 14 + 12 + 40) / 5);
    }

    #[test]
    fn sums_of_one_word_by_all_lanes_are_one_and_those_of_each_lanes_own_are_not() {
        let aggregated = |address: &str| {
            let text = format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 array, .param .u32 n)\n{{
    .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>;
    ld.param.u64 %rd1, [array]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r3, %r2, %r4;
    mul.wide.s32 %rd2, %r1, 4;
    L: {address}
    add.s64 %rd5, %rd1, %rd3;
    atom.global.add.u32 %r11, [%rd5], 1;
    add.s32 %r5, %r5, %r2;
    setp.lt.u32 %p2, %r5, %r1;
    @%p2 bra L;
    ret;\n}}"
            );
            let module = Module::parse(&text).expect("it is PTX");
            module
                .kernel("k")
                .expect("it is there")
                .program
                .as_ref()
                .expect("it is decoded")
                .aggregated
                .len()
        };
        assert_eq!(aggregated("mov.u64 %rd3, %rd2;"), 1, "a parameter says where");
        assert_eq!(
            aggregated("shl.b32 %r10, %r5, 2; cvt.u64.u32 %rd3, %r10; and.b64 %rd3, %rd3, 124;"),
            0,
            "the place of the thread says where"
        );
    }

    #[test]
    fn values_of_one_word_are_combined_where_nobody_reads_the_result() {
        let combined = |body: &str| {
            let text = format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 array)\n{{
    .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>;
    ld.param.u64 %rd1, [array];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
    ld.global.u32 %r2, [%rd2]; ld.global.u32 %r3, [%rd1+64]; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd3, %rd1, %rd3;
    {body}
    ret;\n}}"
            );
            let module = Module::parse(&text).expect("it is PTX");
            let kernel = module.kernel("k").expect("it is there");
            kernel.program.as_ref().expect("it is decoded").aggregated.len()
        };
        assert_eq!(combined("red.global.add.u32 [%rd3], %r2;"), 1, "a word that all have loaded");
        assert_eq!(combined("atom.global.max.u32 %r9, [%rd1], %r2;"), 1, "its result is dropped");
        assert_eq!(combined("red.global.add.u32 [%rd2], %r2;"), 0, "each has its own");
        assert_eq!(combined("red.global.add.f32 [%rd1], %r2;"), 0, "floats are not");
        assert_eq!(combined("red.global.inc.u32 [%rd1], %r2;"), 0, "increments are not");
        let read = "atom.global.max.u32 %r9, [%rd1], %r2; st.global.u32 [%rd2], %r9;";
        assert_eq!(combined(read), 0, "its result is read");
        let counted = |of: &str| {
            format!(
                "mov.u64 %rd4, %rd1; L: setp.eq.u32 %p1, {of}, 7; @%p1 bra M; add.s64 %rd4, %rd4, 4; \
                 setp.lt.u64 %p2, %rd4, 99; @%p2 bra L; M: red.global.add.u32 [%rd4], %r2;"
            )
        };
        assert_eq!(combined(&counted("%r3")), 1, "all leave the loop at once");
        assert_eq!(combined(&counted("%r2")), 0, "each leaves the loop when it wants");
    }

    #[test]
    fn a_block_of_many_threads_leaves_each_fewer() {
        assert_eq!(estimate(".maxntid 1024", &words(95)), 64);
        assert_eq!(estimate(".maxntid 128", &words(95)), estimate("", &words(95)));
    }
}
