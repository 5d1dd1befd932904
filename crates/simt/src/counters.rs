//! What is counted, and what each count means.

use std::ops::AddAssign;

/// How far a counter can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// A pure function of addresses, masks and widths: equal to Nsight Compute's source counter.
    Exact,
    /// Exact for the PTX as written; `ptxas` may merge, remove or predicate instructions.
    ExactAtPtxLevel,
    /// A model of hardware behaviour that is not documented, or that depends on timing.
    Model,
}

/// Traffic of one kind of access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Warp-level accesses with at least one active lane.
    pub requests: u64,
    /// Lanes that took part, summed over requests.
    pub lanes: u64,
    /// Bytes that the lanes asked for.
    pub bytes: u64,
    /// Bytes of global memory that were asked for, those that several lanes share once per
    /// request.
    pub bytes_distinct: u64,
    /// Distinct 32-byte sectors per request, summed. Zero for shared memory.
    pub sectors: u64,
    /// The fewest sectors that could hold the distinct bytes.
    pub sectors_ideal: u64,
    /// For atomics: sectors, once for each pass that lanes with equal addresses make necessary.
    pub sector_passes: u64,
    /// Distinct 128-byte lines per request, summed. Zero for shared memory.
    pub lines: u64,
    /// Passes through the shared-memory banks (or serialized passes of an atomic).
    pub wavefronts: u64,
    /// The passes that the width alone makes necessary.
    pub wavefronts_ideal: u64,
}

impl Traffic {
    /// Wavefronts beyond the fewest possible: bank conflicts.
    pub fn bank_conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.wavefronts_ideal)
    }

    /// Average sectors per request.
    pub fn sectors_per_request(&self) -> f64 {
        ratio(self.sectors, self.requests)
    }

    /// Distinct bytes asked for, per byte of the sectors moved.
    pub fn efficiency(&self) -> f64 {
        ratio(self.bytes_distinct, self.sectors * 32)
    }
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.requests += other.requests;
        self.lanes += other.lanes;
        self.bytes += other.bytes;
        self.bytes_distinct += other.bytes_distinct;
        self.sectors += other.sectors;
        self.sectors_ideal += other.sectors_ideal;
        self.sector_passes += other.sector_passes;
        self.lines += other.lines;
        self.wavefronts += other.wavefronts;
        self.wavefronts_ideal += other.wavefronts_ideal;
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $ncu:expr, $trust:ident;)*) => {
        /// Everything that is counted, for one instruction or summed over many.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl AddAssign for Counters {
            fn add_assign(&mut self, other: Counters) {
                $(self.$name += other.$name;)*
            }
        }

        /// Every counter: name, Nsight Compute's name for it, and how far it can be trusted.
        pub const COUNTERS: &[(&str, &str, Trust)] = &[
            $((stringify!($name), $ncu, Trust::$trust),)*
        ];
    };
}

counters! {
    /// Warp-instructions issued.
    warp_instructions: u64, "smsp__inst_executed", ExactAtPtxLevel;
    /// Lanes that were active when an instruction issued, summed.
    thread_instructions: u64, "smsp__thread_inst_executed", ExactAtPtxLevel;
    /// Active lanes whose guard held, summed.
    predicated_on_thread_instructions: u64, "smsp__thread_inst_executed_pred_on", ExactAtPtxLevel;
    /// Branch instructions issued.
    branches: u64, "smsp__sass_branch_targets", ExactAtPtxLevel;
    /// Branches at which the active lanes went both ways.
    divergent_branches: u64, "smsp__sass_branch_targets_threads_divergent", ExactAtPtxLevel;
    /// Block barriers, per warp.
    barriers: u64, "smsp__inst_executed_op_barrier (BAR)", ExactAtPtxLevel;
    /// Loads of global memory, also through generic addresses.
    global_load: Traffic, "smsp__sass_inst_executed_op_global_ld, memory_l2_theoretical_sectors_global, memory_l1_tag_requests_global", Exact;
    /// Stores to global memory.
    global_store: Traffic, "smsp__sass_inst_executed_op_global_st, memory_l2_theoretical_sectors_global", Exact;
    /// Texture fetches and surface loads; sectors are those of arrays in tiles of 64 bytes by 8 rows.
    texture_load: Traffic, "l1tex__t_sectors_pipe_tex", Model;
    /// Surface stores.
    surface_store: Traffic, "l1tex__t_sectors_pipe_tex_mem_surface_op_st", Model;
    /// Atomics on global memory whose result is used.
    global_atomic: Traffic, "l1tex__t_{requests,sectors,set_accesses}_pipe_lsu_mem_global_op_atom", Exact;
    /// Atomics on global memory without a result.
    global_reduction: Traffic, "l1tex__t_{requests,sectors,set_accesses}_pipe_lsu_mem_global_op_red", Exact;
    /// The global side of asynchronous copies.
    async_copy_global: Traffic, "smsp__sass_inst_executed_op_ldgsts, memory_l2_theoretical_sectors_global", Exact;
    /// The shared side of asynchronous copies.
    async_copy_shared: Traffic, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts", Exact;
    /// Bytes moved by bulk copies; a request per copy.
    bulk_copy: Traffic, "l1tex__m_xbar2l1tex_read_bytes_mem_lg_op_tma", Model;
    /// Loads of shared memory.
    shared_load: Traffic, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld, memory_l1_wavefronts_shared_ideal", Exact;
    /// Stores to shared memory.
    shared_store: Traffic, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st, memory_l1_wavefronts_shared_ideal", Exact;
    /// Atomics on shared memory.
    shared_atomic: Traffic, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom", Model;
    /// Matrix loads of shared memory.
    shared_matrix_load: Traffic, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm", Exact;
    /// Matrix stores to shared memory.
    shared_matrix_store: Traffic, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm", Model;
    /// Loads of local memory.
    local_load: Traffic, "smsp__sass_inst_executed_op_local_ld", ExactAtPtxLevel;
    /// Stores to local memory.
    local_store: Traffic, "smsp__sass_inst_executed_op_local_st", ExactAtPtxLevel;
    /// Loads of constant memory, and of kernel parameters with an index; wavefronts are the distinct
    /// words per request.
    constant_load: Traffic, "idc__requests (wavefronts), smsp__inst_executed_op_ldc (requests); both without ptxas's loads of parameters", ExactAtPtxLevel;
    /// Loads of kernel parameters, which cost no memory request unless they have an index.
    parameter_loads: u64, "(none: constant bank operand)", ExactAtPtxLevel;
    /// Accesses through generic addresses, by request; each is also counted in its space.
    generic_requests: u64, "smsp__inst_executed_op_generic", ExactAtPtxLevel;
    /// Integer, logic and move instructions.
    integer_instructions: u64, "smsp__sass_thread_inst_executed_op_integer (by warp)", ExactAtPtxLevel;
    /// Floating-point instructions.
    float_instructions: u64, "smsp__sass_thread_inst_executed_op_fp32/fp64/fp16 (by warp)", ExactAtPtxLevel;
    /// Shuffles, votes, matches and reductions of a warp.
    warp_level_instructions: u64, "smsp__inst_executed_op_shfl and votes", ExactAtPtxLevel;
}
