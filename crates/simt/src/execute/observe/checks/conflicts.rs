//! Lanes of one store that write different values to one place.

use crate::execute::issue::block::Block;
use crate::execute::issue::warp::{Warp, read_row};
use crate::execute::issue::worker::Worker;
use crate::findings::{Finding, Hazard};
use crate::operation::Access;
use crate::registers::LANES;
use races::Request;
use races::lanes;

impl Worker<'_> {
    /// Several lanes of one store that write different values to one place.
    pub fn check_conflicting(
        &mut self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        access: &Access,
    ) {
        let Request { pc, mask, all, .. } = request;
        if !self.run.options.checks.shared_races || request.is_ascending() {
            return;
        }
        // Strong stores by lanes of one block are morally strong, so no data race.
        let hazard = match access.semantics {
            semantics if semantics.volatile && self.run.options.checks.volatile => {
                Hazard::UnorderedVolatile
            }
            semantics if semantics.strong.is_some() => return,
            _ => Hazard::ConflictingStore,
        };
        let mut order = [(0u64, 0usize); LANES];
        let mut count = 0;
        for lane in lanes(mask) {
            order[count] = (all[lane], lane);
            count += 1;
        }
        order[..count].sort_unstable();
        for pair in order[..count].windows(2) {
            let [(address, first), (other, second)] = [pair[0], pair[1]];
            if address != other {
                continue;
            }
            let field = if access.bytes == 8 { u64::MAX } else { (1 << (8 * access.bytes)) - 1 };
            let same = access.rows.iter().flatten().all(|row| {
                let value = |lane| read_row(warp, *row, lane) & field;
                value(first) == value(second)
            });
            if !same {
                let (index, w) = (block.index, warp.index);
                self.observers.find(hazard, pc, |run| Finding {
                    address: Some(address),
                    ..Finding::new(
                        hazard,
                        run.place(index, w, 1 << first | 1 << second, pc),
                        format!("two lanes store different values to {address:#x}"),
                    )
                });
                return;
            }
        }
    }
}
