//! Lanes that part at a branch meet again where the immediate-post-dominator rule says (Fung et al., "Dynamic Warp
//! Formation and Scheduling for Efficient GPU Control Flow", 2007).
//!
//! The executor runs the lanes at the lowest position first. Lanes that have reached the immediate
//! post-dominator of their branch therefore wait there exactly as long as the others are at lower
//! positions: the two rules agree when everything between the branch and its post-dominator lies
//! below the post-dominator. Device functions lie elsewhere; lanes in a call count as being at the
//! call (`Split::is_before`).

use crate::module::Module;
use crate::operation::Operation;
use crate::program::Program;
use crate::registers::ALWAYS;

/// Branches at which the rules differ: kernel and PTX line of the branch, with the reason.
const DIFFERENT: &[(&str, u32, &str)] = &[];

/// Returns the instructions that may follow one within a function; `length` is the function's end.
fn following(program: &Program, pc: usize) -> Vec<usize> {
    let instruction = &program.instructions[pc];
    let end = program.instructions.len();
    let mut next = match &instruction.operation {
        Operation::Branch { target } => vec![*target as usize],
        Operation::BranchTable { table, .. } => {
            program.branch_tables[*table as usize].iter().map(|pc| *pc as usize).collect()
        }
        Operation::Return | Operation::Exit | Operation::Trap => vec![end],
        _ => vec![pc + 1],
    };
    if instruction.guard != ALWAYS || instruction.negate != 0 {
        next.push(pc + 1);
    }
    next.sort_unstable();
    next.dedup();
    next
}

/// The nodes that every path from each node to the end passes, itself included.
fn post_dominators(next: &[Vec<usize>]) -> Vec<Vec<bool>> {
    let end = next.len();
    let mut all = vec![vec![true; end + 1]; end + 1];
    all[end].fill(false);
    all[end][end] = true;
    loop {
        let mut changed = false;
        for node in (0..end).rev() {
            let mut now = vec![true; end + 1];
            for to in &next[node] {
                now.iter_mut().zip(&all[*to]).for_each(|(now, other)| *now &= other);
            }
            now[node] = true;
            changed |= now != all[node];
            all[node] = now;
        }
        if !changed {
            return all;
        }
    }
}

/// The highest position that lanes may reach from a branch before they pass `join`.
fn highest_before(next: &[Vec<usize>], branch: usize, join: usize) -> usize {
    let mut seen = vec![false; next.len() + 1];
    let mut work = next[branch].clone();
    let mut highest = 0;
    while let Some(node) = work.pop() {
        if node != join && node < next.len() && !std::mem::replace(&mut seen[node], true) {
            highest = highest.max(node);
            work.extend(&next[node]);
        }
    }
    highest
}

/// The PTX lines of branches after which lanes could pass the post-dominator separately.
fn late_joins(program: &Program) -> (usize, Vec<u32>) {
    let next: Vec<Vec<usize>> =
        (0..program.instructions.len()).map(|pc| following(program, pc)).collect();
    let dominators = post_dominators(&next);
    let (mut branches, mut late) = (0, Vec::new());
    for branch in (0..next.len()).filter(|pc| next[*pc].len() > 1) {
        let behind = (0..next.len()).filter(|pc| *pc != branch && dominators[branch][*pc]);
        // Of all that follow on every path, the next is the one with the most behind it.
        let size = |pc: &usize| dominators[*pc].iter().filter(|d| **d).count();
        let Some(join) = behind.max_by_key(size) else { continue };
        branches += 1;
        if highest_before(&next, branch, join) > join {
            late.push(program.details[branch].position.line);
        }
    }
    (branches, late)
}

#[test]
fn lowest_position_first_joins_at_post_dominators() {
    let mut branches = 0;
    let mut found = Vec::new();
    for folder in ["tests/corpus", "fixtures/ptx"] {
        let folder = format!("{}/../simt/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "ptx") {
                continue;
            }
            let module = Module::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
            for kernel in module.kernels() {
                let (count, late) = late_joins(kernel.program.as_ref().unwrap());
                branches += count;
                found.extend(late.into_iter().map(|line| (kernel.name.clone(), line)));
            }
        }
    }
    assert!(branches > 100, "only {branches} branches");
    found.sort();
    let listed: Vec<(String, u32)> =
        DIFFERENT.iter().map(|(kernel, line, _)| (kernel.to_string(), *line)).collect();
    assert_eq!(found, listed);
}

#[test]
fn a_block_behind_its_join_is_laid_out_in_front_of_it() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n\
        .visible .entry k() {\n.reg .pred %p<2>; .reg .b32 %r<3>;\n\
        mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 8;\n\
        @%p1 bra FAR;\nJOIN: add.u32 %r1, %r1, 1; ret;\nFAR: add.u32 %r1, %r1, 2; bra JOIN;\n}\n";
    let module = Module::parse(text).unwrap();
    let program = module.kernel("k").unwrap().program.as_ref().unwrap();
    assert_eq!(late_joins(program), (1, vec![]));
}

#[test]
fn lanes_in_a_call_are_waited_for() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n\
        .func work() { .reg .b32 %s<2>; mov.u32 %s1, 1; add.u32 %s1, %s1, 1; ret; }\n\
        .visible .entry k() {\n.reg .pred %p<2>; .reg .b32 %r<3>;\n\
        mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 8;\n\
        @%p1 bra JOIN;\ncall.uni work, ();\nJOIN: add.u32 %r1, %r1, 1;\nret;\n}\n";
    let module = Module::parse(text).unwrap();
    let launch = crate::Launch::new("k", [1, 1, 1], [32, 1, 1]);
    let options = crate::Options::default();
    let report = crate::run(&module, &mut crate::Memory::default(), &launch, &options).unwrap();
    let join = report.instructions.iter().find(|i| i.ptx_line == 10).unwrap();
    assert_eq!((join.counters.warp_instructions, join.counters.thread_instructions), (1, 32));
}
