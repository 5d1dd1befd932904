use crate::error::Error;
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::bytes::{read_bytes, write_bytes};
use crate::execute::memory::request::{addresses, shared_offset};
use crate::operation::{Access, Register};
use crate::registers::LANES;
use counters::RequestCounts;
use counters::shared_wavefronts;
use races::Request;

impl Worker<'_> {
    /// Checks the row addresses of every matrix and counts one 8-lane pass for each; gives the
    /// addresses, and the lanes whose address names a row.
    fn matrix_rows(
        &mut self,
        issue: &Issue<'_>,
        access: &Access,
    ) -> Result<([u64; LANES], u32), Error> {
        self.require_all_lanes(issue)?;
        let Issue { block, warp, pc, .. } = issue;
        let all = addresses(warp, access.base, access.offset).map(shared_offset);
        let lanes = access.rows.len() * 8;
        let used = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
        self.shared_bounds(block, warp, Request::new(*pc, used, &all, 16))?;
        if self.observers.counting {
            let mut traffic = RequestCounts {
                requests: 1,
                lanes: 32,
                bytes: lanes as u64 * 16,
                ..RequestCounts::default()
            };
            for matrix in 0..access.rows.len() {
                let (count, ideal) = shared_wavefronts(0xff << (8 * matrix), &all, 16);
                traffic.wavefronts += count as u64;
                traffic.wavefronts_ideal += ideal as u64;
            }
            self.observers.tallies[*pc].shared += traffic;
        }
        Ok((all, used))
    }

    pub fn load_matrix(
        &mut self,
        issue: Issue<'_>,
        access: &Access,
        transpose: bool,
    ) -> Result<(), Error> {
        let (all, used) = self.matrix_rows(&issue, access)?;
        let Issue { block, warp, pc, .. } = issue;
        if self.observers.checking {
            let request = Request::new(pc, used, &all, 16);
            self.check_shared_read(block, warp, request);
        }
        for (matrix, row) in access.rows.iter().enumerate() {
            let element = |r: usize, c: usize| {
                read_bytes(&block.shared, all[matrix * 8 + r] as usize + c * 2, 2) as u32
            };
            let Some(Register::Word(index)) = row else { continue };
            for lane in 0..LANES {
                let (r, c) = (lane / 4, lane % 4 * 2);
                let (low, high) = if transpose {
                    (element(c, r), element(c + 1, r))
                } else {
                    (element(r, c), element(r, c + 1))
                };
                warp.registers.words[*index as usize][lane] = low | high << 16;
            }
        }
        Ok(())
    }

    pub fn store_matrix(
        &mut self,
        issue: Issue<'_>,
        access: &Access,
        transpose: bool,
    ) -> Result<(), Error> {
        let (all, used) = self.matrix_rows(&issue, access)?;
        let Issue { block, warp, pc, .. } = issue;
        if self.observers.checking {
            let request = Request::new(pc, used, &all, 16);
            self.check_shared_write(block, warp, request, None);
        }
        for (matrix, row) in access.rows.iter().enumerate() {
            let Some(Register::Word(index)) = row else { continue };
            for lane in 0..LANES {
                let value = warp.registers.words[*index as usize][lane];
                let (r, c) = (lane / 4, lane % 4 * 2);
                for (half, value) in [(0, value & 0xffff), (1, value >> 16)] {
                    let (r, c) = if transpose { (c + half, r) } else { (r, c + half) };
                    let at = all[matrix * 8 + r] as usize + c * 2;
                    write_bytes(&mut block.shared, at, 2, value as u64);
                }
            }
        }
        Ok(())
    }
}
