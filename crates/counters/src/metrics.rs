//! Metrics of Nsight Compute that each counter must equal.

use crate::counters::{Counters, RequestCounts};

/// A counter and the metrics of Nsight Compute whose sum it equals.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The executor's value.
    pub counted: fn(&Counters) -> f64,
    /// Nsight Compute's names. Those that end in `.pct` it prints with two decimals, all others are
    /// whole numbers.
    pub names: &'static [&'static str],
}

impl Metric {
    /// Returns whether the executor's value equals the measured one.
    pub fn agrees(&self, counters: &Counters, measured: f64) -> bool {
        let tolerance = if self.names[0].ends_with(".pct") { 0.01 } else { 0.0 };
        ((self.counted)(counters) - measured).abs() <= tolerance
    }
}

fn all_global(c: &Counters, value: fn(&RequestCounts) -> u64) -> f64 {
    [&c.global_load, &c.global_store, &c.global_atomic, &c.global_reduction, &c.async_copy_global]
        .into_iter()
        .map(value)
        .sum::<u64>() as f64
}

fn all_shared(c: &Counters, value: fn(&RequestCounts) -> u64) -> f64 {
    [&c.shared_load, &c.shared_store, &c.shared_atomic, &c.async_copy_shared, &c.shared_matrix_load]
        .into_iter()
        .map(value)
        .sum::<u64>() as f64
}

const fn metric(counted: fn(&Counters) -> f64, names: &'static [&'static str]) -> Metric {
    Metric { counted, names }
}

/// The hardware's counters of loads contain `cp.async` (LDGSTS) and those of shared loads
/// `ldmatrix`; an atomic whose result nobody uses is a reduction there.
pub const METRICS: &[Metric] = &[
    metric(|c| c.global_load.requests as f64, &["smsp__sass_inst_executed_op_global_ld.sum"]),
    metric(|c| c.global_store.requests as f64, &["smsp__sass_inst_executed_op_global_st.sum"]),
    metric(|c| c.shared_load.requests as f64, &["smsp__sass_inst_executed_op_shared_ld.sum"]),
    metric(|c| c.shared_store.requests as f64, &["smsp__sass_inst_executed_op_shared_st.sum"]),
    metric(|c| c.async_copy_global.requests as f64, &["smsp__sass_inst_executed_op_ldgsts.sum"]),
    metric(|c| c.shared_matrix_load.requests as f64, &["smsp__sass_inst_executed_op_ldsm.sum"]),
    metric(
        |c| (c.global_load.requests + c.async_copy_global.requests) as f64,
        &["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
    ),
    metric(
        |c| (c.global_load.sectors + c.async_copy_global.sectors) as f64,
        &["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    ),
    metric(
        |c| c.global_store.requests as f64,
        &["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
    ),
    metric(|c| c.global_store.sectors as f64, &["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"]),
    metric(
        |c| (c.global_atomic.requests + c.global_reduction.requests) as f64,
        &[
            "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
            "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        ],
    ),
    metric(
        |c| (c.global_atomic.sector_updates + c.global_reduction.sector_updates) as f64,
        &[
            "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
        ],
    ),
    metric(
        |c| (c.global_atomic.wavefronts + c.global_reduction.wavefronts) as f64,
        &[
            "l1tex__t_set_accesses_pipe_lsu_mem_global_op_atom.sum",
            "l1tex__t_set_accesses_pipe_lsu_mem_global_op_red.sum",
        ],
    ),
    metric(
        |c| (c.global_atomic.sector_updates + c.global_reduction.sector_updates) as f64,
        &["lts__t_sectors_op_atom.sum", "lts__t_sectors_op_red.sum"],
    ),
    metric(|c| all_global(c, |t| t.sectors), &["memory_l2_theoretical_sectors_global"]),
    metric(|c| all_global(c, |t| t.sectors_ideal), &["memory_l2_theoretical_sectors_global_ideal"]),
    metric(|c| all_global(c, |t| t.lines), &["memory_l1_tag_requests_global"]),
    metric(
        |c| c.global_load.efficiency().unwrap_or(0.0) * 100.0,
        &["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"],
    ),
    metric(
        |c| c.global_store.efficiency().unwrap_or(0.0) * 100.0,
        &["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"],
    ),
    metric(
        |c| c.shared_load.wavefronts as f64,
        &["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    ),
    metric(
        |c| c.shared_store.wavefronts as f64,
        &["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    ),
    metric(
        |c| c.shared_matrix_load.wavefronts as f64,
        &["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum"],
    ),
    metric(
        |c| c.async_copy_shared.wavefronts as f64,
        &["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"],
    ),
    metric(
        |c| (c.shared_load.wavefronts + c.shared_matrix_load.wavefronts) as f64,
        &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    ),
    metric(
        |c| c.shared_store.wavefronts as f64,
        &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    ),
    metric(
        |c| c.shared_atomic.wavefronts as f64,
        &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
    ),
    metric(
        |c| (c.shared_load.bank_conflicts() + c.shared_matrix_load.bank_conflicts()) as f64,
        &["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
    ),
    metric(
        |c| c.shared_store.bank_conflicts() as f64,
        &["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
    ),
    metric(|c| all_shared(c, |t| t.wavefronts), &["memory_l1_wavefronts_shared"]),
    metric(|c| all_shared(c, |t| t.wavefronts_ideal), &["memory_l1_wavefronts_shared_ideal"]),
];

/// Returns what Nsight Compute counts as `idc__requests.sum`, the requests to the constant cache, of a kernel whose machine code
/// executed so many `LDC` instructions (`smsp__inst_executed_op_ldc.sum`).
///
/// An indexed load of constants or parameters (`LDC` with a register) makes a request for each distinct word that its lanes
/// ask for: `constant_load.wavefronts`. All other `LDC` are those with which ptxas reads parameters and the stack pointer,
/// two and more per warp; each makes one request, and PTX does not say how many there will be. Constants at a fixed place
/// are operands of other instructions and not counted.
pub fn constant_cache_requests(counters: &Counters, ldc: f64) -> f64 {
    let indexed = &counters.constant_load;
    ldc - indexed.requests as f64 + indexed.wavefronts as f64
}
