use crate::execute::issue::run::Run;
use crate::hash::mix;
use crate::options::Schedule;

impl Run<'_> {
    /// The place of a block in its cluster.
    pub fn place_in_cluster(&self, block: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| block[axis] % self.model.grid.cluster[axis])
    }

    /// The number of a block in its cluster.
    pub fn rank(&self, block: [u32; 3]) -> u32 {
        let [x, y, z] = self.place_in_cluster(block);
        let [cx, cy, _] = self.model.grid.cluster;
        x + cx * (y + cy * z)
    }

    /// The linear index of a cluster's block of a rank.
    pub fn block_of(&self, cluster: u64, rank: u32) -> u64 {
        let [nx, ny, _] = self.model.grid.clusters();
        let [cx, cy, _] = self.model.grid.cluster;
        let origin = [cluster % nx, cluster / nx % ny, cluster / nx / ny].map(|n| n as u32);
        let place = [rank % cx, rank / cx % cy, rank / cx / cy];
        let cluster = self.model.grid.cluster;
        self.model
            .grid
            .linear(std::array::from_fn(|axis| origin[axis] * cluster[axis] + place[axis]))
    }

    /// The number of clusters that run.
    pub fn clusters(&self) -> u64 {
        match &self.sample {
            Some(sample) => sample.len() as u64,
            None => self.model.grid.clusters().iter().product(),
        }
    }

    /// The linear index of the cluster at a position in launch order; `None` past the end.
    pub fn cluster_at(&self, order: u64) -> Option<u64> {
        let count = self.clusters();
        if order >= count {
            return None;
        }
        let order = match self.options.schedule {
            Schedule::Forward => order,
            Schedule::Reverse => count - 1 - order,
            Schedule::Seeded(seed) => permuted(order, count, seed),
        };
        match &self.sample {
            Some(sample) => sample.get(order as usize).copied(),
            None => Some(order),
        }
    }
}

/// A permutation of `0..count`: a Feistel network, walked until it lands inside.
fn permuted(order: u64, count: u64, seed: u64) -> u64 {
    let half = (64 - count.leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let mut value = order;
    loop {
        let (mut left, mut right) = (value >> half, value & mask);
        for round in 0..4 {
            let mixed = mix(right ^ seed.wrapping_add(round)) & mask;
            (left, right) = (right, left ^ mixed);
        }
        value = left << half | right;
        if value < count {
            return value;
        }
    }
}
