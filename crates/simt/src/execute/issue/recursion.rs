//! Frames that recursive calls save, lane by lane.

use crate::execute::issue::saved_frame::SavedFrame;
use crate::execute::issue::warp::{Warp, read_row, write_row};
use crate::operation::Operation;
use crate::program::Program;

/// Recursive calls of one thread that may be under way at once: as many as a stack of 512 KiB has room for at 512 bytes each.
const MAX_DEPTH: usize = 1024;

/// Bytes of local memory that a thread may have.
const MAX_STACK: u32 = 512 << 10;

/// Returns what is wrong with more of them.
fn too_deep() -> String {
    format!(
        "{MAX_DEPTH} recursive calls are under way, which is more than a thread's stack holds; to fix it: end the recursion"
    )
}

impl Warp {
    /// Returns what calls that may come back into their caller do; what is wrong with one that cannot be executed.
    pub fn recursion(
        &mut self,
        program: &Program,
        operation: &Operation,
        mask: u32,
        depth: usize,
    ) -> Result<(), String> {
        match operation {
            Operation::SaveFrame { .. } if self.is_deep(mask) => return Err(too_deep()),
            Operation::SaveFrame { frame } => self.save(program, *frame, mask, depth),
            Operation::RestoreFrame { frame } => self.restore(program, *frame, mask, depth),
            Operation::Alloca { destination, bytes, alignment, stack } => {
                let bytes = self.registers.words[*bytes as usize];
                for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
                    let used = &mut self.registers.words[*stack as usize][lane];
                    let start = (program.local_bytes + *used).next_multiple_of(*alignment);
                    let end = start.saturating_add(bytes[lane]);
                    if end > MAX_STACK {
                        return Err(format!(
                            "a thread's stack would have {end} bytes, which is more than {MAX_STACK}; to fix it: take less, or \
                             give back by stackrestore"
                        ));
                    }
                    *used = end - program.local_bytes;
                    self.allocate_local(lane, start, end);
                    write_row(self, *destination, 1 << lane, |_| start.into());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns whether one of these lanes has as many frames aside as there may be.
    fn is_deep(&self, mask: u32) -> bool {
        let lanes = self.saved_frames.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0);
        lanes.into_iter().any(|(_, aside)| aside.len() >= MAX_DEPTH)
    }

    /// Puts a frame of these lanes aside.
    fn save(&mut self, program: &Program, index: u32, mask: u32, depth: usize) {
        let frame = &program.saved_frames[index as usize];
        self.saved_frames.resize(32, Vec::new());
        for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
            let rows = frame.rows.iter().map(|row| read_row(self, *row, lane)).collect();
            let bytes = frame.bytes.iter().map(|at| self.read_local(lane, *at, 1) as u8).collect();
            self.saved_frames[lane].push(SavedFrame { depth, rows, bytes });
        }
    }

    /// Gives those of these lanes that made the call their frames back. Others did not make it, because of its guard.
    fn restore(&mut self, program: &Program, frame: u32, mask: u32, depth: usize) {
        let frame = &program.saved_frames[frame as usize];
        for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
            let made = self.saved_frames.get_mut(lane);
            let Some(aside) = made.and_then(|all| all.pop_if(|last| last.depth == depth)) else {
                continue;
            };
            for (row, value) in frame.rows.iter().zip(aside.rows) {
                write_row(self, *row, 1 << lane, |_| value);
            }
            for (at, value) in frame.bytes.iter().zip(aside.bytes) {
                self.write_local(lane, *at, 1, u64::from(value));
            }
        }
    }
}
