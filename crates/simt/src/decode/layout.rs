//! Puts the blocks of a program in the order in which diverged lanes meet again.
//!
//! The executor runs the lanes at the lowest position first. Lanes then meet at the end of a branch
//! or of a loop if every block lies behind all blocks that lead to it, the way back of loops
//! excepted, and if a loop lies in one piece. Compilers mostly place blocks so, but LLVM likes to put
//! the end of a loop's body in front of the rest: lanes that skip the rest would run ahead into the
//! next round, while hardware lets them wait.
//!
//! The order is Bourdoncle's weak topological order ("Efficient chaotic iteration strategies with
//! widenings", 1993), which has both properties for every control-flow graph.

use crate::operation::Operation;
use crate::program::{Detail, Instruction, Program};
use crate::registers::ALWAYS;
use std::ops::Range;

/// Functions with more blocks stay as they are: the order takes a recursion as deep as they are many.
const BLOCKS_MAX: usize = 2048;

/// Reorders the blocks of every function of the program.
pub(crate) fn arrange(program: &mut Program) {
    let blocks = Blocks::of(program);
    let order = blocks.order(program);
    if order.iter().copied().eq(0..blocks.ranges.len()) {
        return;
    }
    let mut instructions = Vec::with_capacity(program.instructions.len());
    let mut details = Vec::with_capacity(program.details.len());
    let mut moved = vec![0; blocks.ranges.len()];
    for (place, block) in order.iter().enumerate() {
        moved[*block] = instructions.len() as u32;
        let range = blocks.ranges[*block].clone();
        instructions.extend_from_slice(&program.instructions[range.clone()]);
        details.extend_from_slice(&program.details[range.clone()]);
        let follower = block + 1;
        if falls_through(&program.instructions[range.end - 1])
            && order.get(place + 1) != Some(&follower)
            && follower < blocks.ranges.len()
        {
            let jump = Operation::Branch { target: blocks.ranges[follower].start as u32 };
            instructions.push(Instruction { guard: ALWAYS, negate: 0, operation: jump });
            let detail = &program.details[range.end - 1];
            let (reads, writes) = (Vec::new(), Vec::new());
            details.push(Detail { synthetic: true, reads, writes, ..detail.clone() });
        }
    }
    let place = |target: &mut u32| *target = moved[blocks.at(*target)];
    for instruction in &mut instructions {
        if let Operation::Branch { target } | Operation::Call { target } =
            &mut instruction.operation
        {
            place(target);
        }
    }
    program.branch_tables.iter_mut().flatten().for_each(place);
    program.functions.iter_mut().for_each(|(start, _)| place(start));
    (program.instructions, program.details) = (instructions, details);
}

/// Returns whether the next instruction may follow.
fn falls_through(instruction: &Instruction) -> bool {
    let leaves = matches!(
        instruction.operation,
        Operation::Branch { .. }
            | Operation::BranchTable { .. }
            | Operation::Return
            | Operation::Exit
            | Operation::Trap
    );
    !leaves || instruction.guard != ALWAYS
}

/// The basic blocks of a program, in the order of the text.
struct Blocks {
    ranges: Vec<Range<usize>>,
}

impl Blocks {
    fn of(program: &Program) -> Blocks {
        let end = program.instructions.len();
        let mut starts: Vec<usize> =
            program.functions.iter().map(|(start, _)| *start as usize).collect();
        for (pc, instruction) in program.instructions.iter().enumerate() {
            match instruction.operation {
                Operation::Branch { target } => starts.extend([target as usize, pc + 1]),
                Operation::BranchTable { .. }
                | Operation::Return
                | Operation::Exit
                | Operation::Trap => starts.push(pc + 1),
                _ => {}
            }
        }
        starts.extend(program.branch_tables.iter().flatten().map(|target| *target as usize));
        starts.sort_unstable();
        starts.dedup();
        starts.retain(|start| *start < end);
        let ends = starts.iter().skip(1).copied().chain([end]);
        Blocks { ranges: starts.iter().copied().zip(ends).map(|(a, b)| a..b).collect() }
    }

    /// The block that starts at a position.
    fn at(&self, pc: u32) -> usize {
        self.ranges.partition_point(|range| range.start < pc as usize)
    }

    /// Returns the blocks that may follow a block, the furthest first.
    fn successors(&self, program: &Program, block: usize) -> Vec<usize> {
        let last = self.ranges[block].end - 1;
        let instruction = &program.instructions[last];
        let mut found = match &instruction.operation {
            Operation::Branch { target } => vec![self.at(*target)],
            Operation::BranchTable { table, .. } => {
                program.branch_tables[*table as usize].iter().map(|pc| self.at(*pc)).collect()
            }
            _ => Vec::new(),
        };
        if falls_through(instruction) && block + 1 < self.ranges.len() {
            found.push(block + 1);
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found
    }

    /// All blocks, function by function, each in its weak topological order; blocks that cannot be reached come last.
    fn order(&self, program: &Program) -> Vec<usize> {
        let starts: Vec<usize> =
            program.functions.iter().map(|(start, _)| self.at(*start)).collect();
        let ends = starts.iter().skip(1).copied().chain([self.ranges.len()]);
        let mut order = Vec::with_capacity(self.ranges.len());
        for (start, end) in starts.iter().copied().zip(ends) {
            if end - start > BLOCKS_MAX {
                order.extend(start..end);
                continue;
            }
            let successors = (start..end)
                .map(|block| {
                    let all = self.successors(program, block).into_iter();
                    all.filter(|next| (start..end).contains(next)).map(|next| next - start)
                })
                .map(Iterator::collect)
                .collect();
            let found = Walk::new(successors).order();
            let mut is_reached = vec![false; end - start];
            found.iter().for_each(|block| is_reached[*block] = true);
            let unreached = (0..end - start).filter(|block| !is_reached[*block]);
            order.extend(found.iter().copied().chain(unreached).map(|block| start + block));
        }
        order
    }
}

/// The recursion of the weak topological order, from block 0.
struct Walk {
    successors: Vec<Vec<usize>>,
    /// Order in which each block was first seen: 0 not yet, `usize::MAX` when it has its place.
    seen: Vec<usize>,
    stack: Vec<usize>,
    count: usize,
}

impl Walk {
    fn new(successors: Vec<Vec<usize>>) -> Walk {
        Walk { seen: vec![0; successors.len()], successors, stack: Vec::new(), count: 0 }
    }

    fn order(mut self) -> Vec<usize> {
        let mut backwards = Vec::new();
        self.visit(0, &mut backwards);
        backwards.reverse();
        backwards
    }

    /// Places `block` and what it leads to, last first; says the earliest block that leads here again.
    fn visit(&mut self, block: usize, backwards: &mut Vec<usize>) -> usize {
        self.stack.push(block);
        self.count += 1;
        self.seen[block] = self.count;
        let (mut head, mut is_loop) = (self.count, false);
        for index in 0..self.successors[block].len() {
            let next = self.successors[block][index];
            let earliest =
                if self.seen[next] == 0 { self.visit(next, backwards) } else { self.seen[next] };
            if earliest <= head {
                (head, is_loop) = (earliest, true);
            }
        }
        if head != self.seen[block] {
            return head;
        }
        self.seen[block] = usize::MAX;
        while let Some(member) = self.stack.pop().filter(|member| *member != block) {
            self.seen[member] = 0;
        }
        if is_loop {
            for index in 0..self.successors[block].len() {
                let next = self.successors[block][index];
                if self.seen[next] == 0 {
                    self.visit(next, backwards);
                }
            }
        }
        backwards.push(block);
        head
    }
}

#[cfg(test)]
mod tests {
    use super::Walk;

    fn order(successors: &[&[usize]]) -> Vec<usize> {
        Walk::new(successors.iter().map(|next| next.to_vec()).collect()).order()
    }

    #[test]
    fn both_sides_of_a_branch_come_before_their_end() {
        assert_eq!(order(&[&[2, 1], &[3], &[3], &[]]), [0, 1, 2, 3]);
        // The end of the branch is placed in front of one side.
        assert_eq!(order(&[&[3, 1], &[2], &[], &[2]]), [0, 1, 3, 2]);
    }

    #[test]
    fn the_end_of_a_loops_body_comes_after_the_rest_and_the_exit_after_the_loop() {
        // 0 enters at 2; 1 is the end of the body and leaves to 3; 2 is the head, 4 is skipped by some.
        assert_eq!(order(&[&[2], &[3, 2], &[4, 1], &[], &[1]]), [0, 2, 4, 1, 3]);
    }

    #[test]
    fn an_inner_loop_lies_in_one_piece() {
        // 0 -> 1 (outer head) -> 2 (inner, loops to itself) -> 3 (back to 1) -> 4.
        assert_eq!(order(&[&[1], &[2], &[3, 2], &[4, 1], &[]]), [0, 1, 2, 3, 4]);
        // The same with the exit placed inside.
        assert_eq!(order(&[&[1], &[3], &[], &[4, 3], &[2, 1]]), [0, 1, 3, 4, 2]);
    }

    #[test]
    fn a_loop_with_two_entries_has_an_order() {
        assert_eq!(order(&[&[2, 1], &[3, 2], &[1], &[]]).len(), 4);
    }
}
