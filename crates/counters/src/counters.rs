use std::ops::AddAssign;

/// The degree to which a counter can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// A pure function of addresses, masks and widths: equal to Nsight Compute's source counter.
    Exact,
    /// Exact for the PTX as written; `ptxas` may merge, remove or predicate instructions.
    ExactAtPtxLevel,
    /// A model of hardware behaviour that is not documented, or that depends on timing.
    Model,
}

/// Declares a struct of sums: files leave out what is zero.
macro_rules! sums {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[cfg_attr(
            feature = "serde",
            derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
            serde(deny_unknown_fields, default)
        )]
        pub struct $name {
            $(
                $(#[$field_doc])*
                #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
                pub $field: $type,
            )*
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: $name) {
                $(self.$field += other.$field;)*
            }
        }
    };
}

#[cfg(feature = "serde")]
fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

sums! {
    /// The requests of one kind, and what they moved. A request is one memory instruction of a warp.
    RequestCounts {
        /// Requests with at least one active lane.
        requests: u64,
        /// Lanes that took part, summed over requests.
        lanes: u64,
        /// Bytes that the lanes asked for.
        bytes: u64,
        /// Bytes of global memory that were asked for, those that several lanes share once per request.
        bytes_distinct: u64,
        /// Distinct 32-byte sectors per request, summed. Zero for shared memory.
        sectors: u64,
        /// The fewest sectors that could hold the distinct bytes.
        sectors_ideal: u64,
        /// For atomics: sectors, each as often as lanes update one address in it.
        #[cfg_attr(feature = "serde", serde(rename = "sector_passes"))]
        sector_updates: u64,
        /// Distinct 128-byte lines per request, summed. Zero for shared memory.
        lines: u64,
        /// Wavefronts of shared memory, or of an atomic: lines, each as often as lanes update one address in it.
        wavefronts: u64,
        /// The wavefronts that the width alone makes necessary.
        wavefronts_ideal: u64,
    }
}

/// Declares the counters with Nsight Compute's name of each, and how far it can be trusted.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $ncu:expr, $trust:ident;)*) => {
        sums! {
            /// Everything that is counted, for one instruction or summed over many.
            Counters { $($(#[$doc])* $name: $type,)* }
        }

        /// Every counter: name, Nsight Compute's name for it, and how far it can be trusted.
        pub const COUNTERS: &[(&str, &str, Trust)] = &[
            $((stringify!($name), $ncu, Trust::$trust),)*
        ];
    };
}

counters! {
    /// Warp-instructions issued, of the PTX; NVIDIA's assembler may unroll loops, merge and remove instructions.
    warp_instructions: u64, "smsp__inst_executed", ExactAtPtxLevel;
    /// Lanes that were active when an instruction issued, summed.
    thread_instructions: u64, "smsp__thread_inst_executed", ExactAtPtxLevel;
    /// Active lanes whose guard held, summed.
    predicated_on_thread_instructions: u64, "smsp__thread_inst_executed_pred_on", ExactAtPtxLevel;
    /// Branch instructions issued, of the PTX; NVIDIA's assembler may unroll loops and replace short branches.
    branches: u64, "smsp__sass_branch_targets", ExactAtPtxLevel;
    /// Branches at which the active lanes went both ways.
    divergent_branches: u64, "smsp__sass_branch_targets_threads_divergent", ExactAtPtxLevel;
    /// Block barriers, per warp.
    barriers: u64, "smsp__inst_executed_op_barrier (BAR)", ExactAtPtxLevel;
    /// Loads of global memory, also through generic addresses.
    global_load: RequestCounts, "smsp__sass_inst_executed_op_global_ld, memory_l2_theoretical_sectors_global, memory_l1_tag_requests_global", Exact;
    /// Fetches of textures; sectors are those of a model of an array's layout.
    texture_load: RequestCounts, "l1tex__t_sectors_pipe_tex", Model;
    /// Stores to surfaces; sectors are those of the same model. Older files do not have them.
    surface_store: RequestCounts, "l1tex__t_sectors_pipe_tex_mem_surface_op_st", Model;
    /// Stores to global memory.
    global_store: RequestCounts, "smsp__sass_inst_executed_op_global_st, memory_l2_theoretical_sectors_global", Exact;
    /// Atomics on global memory whose result is used.
    global_atomic: RequestCounts, "l1tex__t_{requests,sectors,set_accesses}_pipe_lsu_mem_global_op_atom", Exact;
    /// Atomics on global memory without a result.
    global_reduction: RequestCounts, "l1tex__t_{requests,sectors,set_accesses}_pipe_lsu_mem_global_op_red", Exact;
    /// The global side of asynchronous copies.
    async_copy_global: RequestCounts, "smsp__sass_inst_executed_op_ldgsts, memory_l2_theoretical_sectors_global", Exact;
    /// The shared side of asynchronous copies.
    async_copy_shared: RequestCounts, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts", Exact;
    /// Bytes moved by bulk copies; a request per copy.
    bulk_copy: RequestCounts, "l1tex__m_xbar2l1tex_read_bytes_mem_lg_op_tma", Model;
    /// Loads of shared memory.
    shared_load: RequestCounts, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld, memory_l1_wavefronts_shared_ideal", Exact;
    /// Stores to shared memory.
    shared_store: RequestCounts, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st, memory_l1_wavefronts_shared_ideal", Exact;
    /// Atomics on shared memory.
    shared_atomic: RequestCounts, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom", Model;
    /// Matrix loads of shared memory.
    shared_matrix_load: RequestCounts, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm", Exact;
    /// Matrix stores to shared memory.
    shared_matrix_store: RequestCounts, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm", Model;
    /// Loads of local memory.
    local_load: RequestCounts, "smsp__sass_inst_executed_op_local_ld", ExactAtPtxLevel;
    /// Stores to local memory.
    local_store: RequestCounts, "smsp__sass_inst_executed_op_local_st", ExactAtPtxLevel;
    /// Loads of constant memory, and of kernel parameters with an index; wavefronts are the distinct words per
    /// request.
    constant_load: RequestCounts, "idc__requests (wavefronts), smsp__inst_executed_op_ldc (requests); both without ptxas's loads of parameters", ExactAtPtxLevel;
    /// Loads of kernel parameters, which cost no memory request unless they have an index.
    parameter_loads: u64, "(none: constant bank operand)", ExactAtPtxLevel;
    /// Requests through generic addresses; each is also counted in its space.
    generic_requests: u64, "smsp__inst_executed_op_generic", ExactAtPtxLevel;
    /// Integer, logic and move instructions.
    integer_instructions: u64, "smsp__sass_thread_inst_executed_op_integer (by warp)", ExactAtPtxLevel;
    /// Floating-point instructions.
    float_instructions: u64, "smsp__sass_thread_inst_executed_op_fp32/fp64/fp16 (by warp)", ExactAtPtxLevel;
    /// Shuffles, votes, matches and reductions of a warp.
    warp_level_instructions: u64, "smsp__inst_executed_op_shfl and votes", ExactAtPtxLevel;
}

impl RequestCounts {
    /// The counts of a request that takes so many wavefronts, where so many would do.
    pub fn of_wavefronts(count: u32, ideal: u32) -> RequestCounts {
        RequestCounts {
            wavefronts: count.into(),
            wavefronts_ideal: ideal.into(),
            ..RequestCounts::default()
        }
    }

    /// Counts one request of the lanes in `mask` with `bytes` each.
    #[inline(always)]
    pub fn add_request(&mut self, mask: u32, bytes: u32) {
        let lanes = u64::from(mask.count_ones());
        self.requests += 1;
        self.lanes += lanes;
        self.bytes += lanes * u64::from(bytes);
    }

    /// Wavefronts beyond the fewest possible: bank conflicts.
    pub fn bank_conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.wavefronts_ideal)
    }

    /// Distinct bytes asked for, per byte of the sectors moved.
    pub fn efficiency(&self) -> Option<f64> {
        ratio(self.bytes_distinct, 32 * self.sectors)
    }
}

impl Counters {
    /// Average active lanes per instruction.
    pub fn lanes_per_instruction(&self) -> Option<f64> {
        ratio(self.thread_instructions, self.warp_instructions)
    }

    /// 32-byte sectors per global load request, asynchronous copies included.
    pub fn load_sectors(&self) -> Option<f64> {
        let (loads, copies) = (&self.global_load, &self.async_copy_global);
        ratio(loads.sectors + copies.sectors, loads.requests + copies.requests)
    }

    /// 32-byte sectors per global store request.
    pub fn store_sectors(&self) -> Option<f64> {
        ratio(self.global_store.sectors, self.global_store.requests)
    }

    /// 32-byte sectors per texture fetch.
    pub fn texture_sectors(&self) -> Option<f64> {
        ratio(self.texture_load.sectors, self.texture_load.requests)
    }

    /// Wavefronts per shared load request, loads of matrices included.
    pub fn shared_load_wavefronts(&self) -> Option<f64> {
        let (loads, matrices) = (&self.shared_load, &self.shared_matrix_load);
        ratio(loads.wavefronts + matrices.wavefronts, loads.requests + matrices.requests)
    }

    /// Wavefronts per shared store request, asynchronous copies included.
    pub fn shared_store_wavefronts(&self) -> Option<f64> {
        let (stores, copies) = (&self.shared_store, &self.async_copy_shared);
        ratio(stores.wavefronts + copies.wavefronts, stores.requests + copies.requests)
    }

    /// Wavefronts per request of constant memory or of a parameter with an index.
    pub fn constant_wavefronts(&self) -> Option<f64> {
        ratio(self.constant_load.wavefronts, self.constant_load.requests)
    }

    /// Wavefronts per shared atomic request.
    pub fn shared_atomic_wavefronts(&self) -> Option<f64> {
        ratio(self.shared_atomic.wavefronts, self.shared_atomic.requests)
    }

    /// 32-byte sectors per load of local memory.
    pub fn local_load_sectors(&self) -> Option<f64> {
        ratio(self.local_load.sectors, self.local_load.requests)
    }

    /// 32-byte sectors per store to local memory.
    pub fn local_store_sectors(&self) -> Option<f64> {
        ratio(self.local_store.sectors, self.local_store.requests)
    }

    /// Atomic updates of global memory in all, with and without a result.
    pub fn global_atomics(&self) -> Option<f64> {
        let lanes = self.global_atomic.lanes + self.global_reduction.lanes;
        (lanes > 0).then_some(lanes as f64)
    }

    /// Sector updates per global atomic request, with and without a result.
    pub fn global_atomic_updates(&self) -> Option<f64> {
        let (atomics, reductions) = (&self.global_atomic, &self.global_reduction);
        ratio(
            atomics.sector_updates + reductions.sector_updates,
            atomics.requests + reductions.requests,
        )
    }

    /// The bytes that lanes asked of global memory, to load and to store.
    pub fn global_bytes(&self) -> u64 {
        [self.global_load, self.global_store, self.async_copy_global, self.bulk_copy]
            .iter()
            .map(|counts| counts.bytes)
            .sum()
    }

    /// Distinct bytes that global loads asked for over bytes of the sectors moved, asynchronous copies included, in
    /// percent: the load efficiency.
    pub fn load_efficiency_percent(&self) -> Option<f64> {
        let (loads, copies) = (&self.global_load, &self.async_copy_global);
        ratio(
            100 * (loads.bytes_distinct + copies.bytes_distinct),
            32 * (loads.sectors + copies.sectors),
        )
    }

    /// The same of global stores: the store efficiency.
    pub fn store_efficiency_percent(&self) -> Option<f64> {
        ratio(100 * self.global_store.bytes_distinct, 32 * self.global_store.sectors)
    }

    /// Distinct bytes asked for over bytes of the sectors moved, of loads and stores together, in percent.
    pub fn efficiency_percent(&self) -> Option<f64> {
        let sum = |of: fn(&RequestCounts) -> u64| {
            of(&self.global_load) + of(&self.global_store) + of(&self.async_copy_global)
        };
        ratio(100 * sum(|counts| counts.bytes_distinct), 32 * sum(|counts| counts.sectors))
    }
}

fn ratio(amount: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| amount as f64 / of as f64)
}
