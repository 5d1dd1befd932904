//! Recursion: which calls may reach their own caller, and what a function has to get back after such a call.
//!
//! A function has one set of registers in a program, and its arrays are on a stack. A call that may come back into its caller saves
//! them for each lane before the arguments are passed, and restores them before the results are taken.

use super::decoder::{Decoder, Formal};
use super::extent::Extent;
use crate::operation::{Operation, Register};
use crate::program::SavedFrame;
use crate::registers::ALWAYS;
use std::collections::HashSet;

impl Decoder<'_, '_, '_> {
    /// Before a call that may come back into its caller: saves the caller's frame. Gives what restores it.
    pub fn save_frame(&mut self, callee: usize) -> Option<Operation> {
        let caller = self.caller?;
        let function = self.frames[caller].function;
        if !self.context.calls.comes_back(function, callee) {
            return None;
        }
        let frame = caller as u32;
        self.helper(Operation::SaveFrame { frame });
        Some(Operation::RestoreFrame { frame })
    }

    /// As a helper, but in all lanes: the guard may be a register that is to be restored.
    pub fn helper_of_all(&mut self, operation: Operation) {
        let guard = (self.current.guard, self.current.negate);
        (self.current.guard, self.current.negate) = (ALWAYS, 0);
        self.helper(operation);
        (self.current.guard, self.current.negate) = guard;
    }

    /// Returns the first row and local byte of those that are made next.
    pub fn extent_begins(&self) -> Extent {
        let program = &self.program;
        Extent {
            words: program.words..0,
            longs: program.longs..0,
            predicates: program.predicates..0,
            local: self.local_bytes..0,
        }
    }

    /// The frames that calls save: what a function made while it was decoded, without what calls of others passed
    /// through there, and with its own parameters.
    pub fn saved_frames(&self) -> Vec<SavedFrame> {
        let of_others = |own: usize| {
            let others = self.frames.iter().enumerate();
            others.flat_map(move |(index, frame)| {
                let parameters = frame.parameters.iter().filter(move |_| index != own);
                parameters.chain(&frame.results)
            })
        };
        let each = self.frames.iter().zip(&self.extents).enumerate();
        each.map(|(index, (frame, extent))| {
            if !self.context.calls.is_recursive(frame.function) {
                return SavedFrame::default();
            }
            let mut rows = HashSet::new();
            let mut bytes: HashSet<u32> = extent.local.clone().map(|byte| byte as u32).collect();
            rows.extend(extent.words.clone().map(Register::Word));
            rows.extend(extent.longs.clone().map(Register::Long));
            rows.extend(extent.predicates.clone().map(Register::Predicate));
            for formal in of_others(index) {
                match *formal {
                    Formal::Register { row, .. } => {
                        rows.remove(&row);
                    }
                    Formal::Memory { offset, bytes: count } => {
                        (offset..offset + count).for_each(|byte| {
                            bytes.remove(&byte);
                        });
                    }
                }
            }
            for formal in &frame.parameters {
                match *formal {
                    Formal::Register { row, .. } => {
                        rows.insert(row);
                    }
                    Formal::Memory { offset, bytes: count } => bytes.extend(offset..offset + count),
                }
            }
            SavedFrame { rows: rows.into_iter().collect(), bytes: bytes.into_iter().collect() }
        })
        .collect()
    }
}
