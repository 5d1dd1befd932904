//! The order of `wgmma` and what it reads and writes: registers, and shared memory through the asynchronous proxy.

use crate::execute::issue::block::Block;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::{Issue, Worker};
use crate::findings::{Finding, Hazard};
use races::Queue;

impl Worker<'_> {
    /// Passes the state of registers on, and reports a use that nothing orders after or before a product.
    pub fn check_products(&mut self, issue: &mut Issue<'_>) {
        let Issue { block, warp, pc, mask } = issue;
        let (pc, mask) = (*pc, *mask);
        let (Some(registers), true) = (&self.run.products, mask != 0) else { return };
        let found = warp.products.pass(self.run.program, registers, pc);
        let Some((what, other)) = found else { return };
        let (index, w) = (block.index, warp.index);
        self.observers.find(Hazard::UnorderedProduct, pc, |run| Finding {
            other: other.map(|pc| run.place(index, w, u32::MAX, pc)),
            ..Finding::new(Hazard::UnorderedProduct, run.place(index, w, mask, pc), what.into())
        });
    }

    /// Makes a group of a warp's products up to now.
    pub fn products_committed(&mut self, block: &mut Block, warp: &mut Warp) {
        if let Some(shadow) = &mut block.shadow {
            warp.products.commit();
            shadow.commit(Queue::Products, warp.index as u8);
        }
    }

    /// Notes that a warp has waited for all groups of its products but the latest.
    pub fn products_awaited(&mut self, block: &mut Block, warp: &mut Warp, pending: u32) {
        let Some(shadow) = &block.shadow else { return };
        warp.products.wait(pending);
        let known = shadow.awaited(Queue::Products, warp.order.block, warp.index as u8, pending);
        warp.order.learn(warp.live, warp.live, &known);
    }
}
