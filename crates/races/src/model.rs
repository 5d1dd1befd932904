//! The meaning of an instruction and of a launch for the order of memory: scopes, strength, clusters.

/// The threads of a launch that a strong operation or a fence reaches; a launch has one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// `.gpu` and `.sys`
    #[default]
    Device,
}

impl Scope {
    /// Returns its name in PTX.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Block => ".cta",
            Scope::Cluster => ".cluster",
            Scope::Device => ".gpu",
        }
    }
}

/// The meaning of an access or a fence for the order of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Semantics {
    /// The scope of a strong operation; a weak one has none.
    pub strong: Option<Scope>,
    /// `.acquire`, or a fence that acquires.
    pub acquire: bool,
    /// `.release`, or a fence that releases.
    pub release: bool,
    /// A fence of `.sc`.
    pub sequential: bool,
    /// `.volatile`: relaxed at system scope.
    pub volatile: bool,
    /// The scope is `.sys`.
    pub system: bool,
}

/// The meaning of an instruction for the order of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessKind {
    /// Strength, scope, and what it releases or acquires.
    pub semantics: Semantics,
    /// It reads and writes as one.
    pub updates: bool,
    /// It replaces what it reads without a use of it: an exchange whose result nobody reads.
    pub overwrites: bool,
    /// Its result may be used: an `atom`, not a `red`.
    pub observes: bool,
    /// It reads again and again until somebody has written.
    pub polls: bool,
    /// Bytes of one element.
    pub bytes: u8,
}

impl AccessKind {
    /// Returns whether its accesses are strong.
    #[inline(always)]
    pub fn is_strong(self) -> bool {
        self.semantics.strong.is_some()
    }
}

/// The blocks of a launch, and the clusters that they form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks in x, y, z.
    pub blocks: [u32; 3],
    /// Blocks of a cluster in x, y, z.
    pub cluster: [u32; 3],
}

impl Grid {
    /// Returns the number of blocks of a cluster.
    #[inline]
    pub fn blocks_per_cluster(&self) -> u64 {
        self.cluster.iter().map(|n| *n as u64).product()
    }

    /// Returns the number of clusters along each axis.
    #[inline]
    pub fn clusters(&self) -> [u64; 3] {
        std::array::from_fn(|axis| (self.blocks[axis] / self.cluster[axis]) as u64)
    }

    /// Returns the linear index of a block.
    #[inline]
    pub fn linear(&self, block: [u32; 3]) -> u64 {
        let [x, y, z] = block.map(u64::from);
        let [gx, gy, _] = self.blocks.map(u64::from);
        x + gx * (y + gy * z)
    }

    /// Returns a block from its linear index.
    #[inline]
    pub fn block_index(&self, linear: u64) -> [u32; 3] {
        let [gx, gy, _] = self.blocks.map(u64::from);
        [linear % gx, linear / gx % gy, linear / gx / gy].map(|n| n as u32)
    }

    /// Returns the cluster that a block belongs to.
    #[inline]
    pub fn cluster_of(&self, linear: u64) -> u64 {
        let block = self.block_index(linear);
        let [x, y, z]: [u64; 3] =
            std::array::from_fn(|axis| (block[axis] / self.cluster[axis]) as u64);
        let [nx, ny, _] = self.clusters();
        x + nx * (y + ny * z)
    }

    /// Returns whether a scope around a thread of block `from` includes those of block `to`.
    #[inline]
    pub fn includes(&self, scope: Scope, from: u32, to: u32) -> bool {
        match scope {
            Scope::Device => true,
            Scope::Block => from == to,
            Scope::Cluster => {
                from == to
                    || self.blocks_per_cluster() > 1
                        && self.cluster_of(from as u64) == self.cluster_of(to as u64)
            }
        }
    }

    /// Returns the narrowest scope that includes threads of both blocks.
    pub fn narrowest_scope(&self, a: u32, b: u32) -> Scope {
        let scopes = [Scope::Block, Scope::Cluster];
        scopes.into_iter().find(|scope| self.includes(*scope, a, b)).unwrap_or(Scope::Device)
    }
}

/// The facts of a launch that the order of its accesses depends on.
#[derive(Clone, Debug)]
pub struct LaunchModel {
    /// The blocks and clusters.
    pub grid: Grid,
    /// The meaning of each instruction.
    pub kinds: Vec<AccessKind>,
    /// The kernel can order some threads and not the others.
    pub orders_some: bool,
    /// Some strong access or fence reaches less than the device.
    pub narrow_scopes: bool,
    /// Bytes per entry of the shadow of global memory: a power of two up to 4.
    pub granule: u32,
    /// The same of shared memory.
    pub shared_granule: u32,
    /// The synchronization with other launches on its device, and on others.
    pub synchronization: [crate::Synchronization; 2],
}
