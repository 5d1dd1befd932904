//! Tasks in CUDA C++: the twin of each kernel, graded by the same bounds.

use crate::format;
use crate::task::Task;
use anyhow::{Context, Result};

/// Defines the twins by the names of their tasks.
macro_rules! twins {
    ($($name:ident)*) => {
        /// The solved twins, with their regions.
        const TWINS: &[(&str, &str)] =
            &[$((stringify!($name), include_str!(concat!("../cuda/", stringify!($name), ".cu")))),*];
    };
}

twins! {
    any_order barrier_in_branch bins_private boss_capitals boss_classes boss_complex boss_matches boss_outer boss_row_sums
    boss_table constant_walk copy_not_awaited doubles_turned every_third first_warp grid_stride guard half_and_half
    line_or_sector lockstep lost_update matmul_tile missing_barrier offset_load one_counter one_field own_element
    pad_the_tile read_only_lie rows_to_lanes small_grid spilled stride_banks swizzle_the_tile tree two_writers
    uninitialized_halo useful_bytes wide_banks wide_loads window_sum wrong_mask
}

/// The solved twin of a task's file: its text on top as the Rust file has it, then the kernel.
///
/// # Errors
/// A task of the host, whose file is Rust.
pub fn solved(task: &Task) -> Result<String> {
    let twin = TWINS.iter().find(|(name, _)| *name == task.id());
    let (_, code) = twin.with_context(|| {
        format!("`{}` is about calls of the host, whose file is Rust: leave `--lang`", task.id())
    })?;
    let text = format::doc(task.solved());
    let text: String =
        text.lines().map(|line| format!("// {line}\n").replace("// \n", "//\n")).collect();
    Ok(format!("{text}\n{}", task.replace(code)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::refuse;
    use crate::task::Kind;
    use crate::tasks::TASKS;

    #[test]
    fn every_kernel_has_a_twin_with_its_regions() {
        for task in TASKS.iter().filter(|task| !matches!(task.kind, Kind::Host { .. })) {
            let solved = solved(task).unwrap();
            let kernel = format!("extern \"C\" __global__ void {}(", task.id());
            for text in [format::shipped(&solved).unwrap(), format::solution(&solved).unwrap()] {
                assert!(text.contains(&kernel) && !text.contains("learn:"), "{}", task.id());
                refuse(&text).unwrap();
            }
        }
        assert_eq!(TWINS.len(), TASKS.len() - 8);
    }
}
