/// The values of `cuCtxSetLimit`; those of a new context are those of NVIDIA's driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// `CU_LIMIT_STACK_SIZE`.
    stack_bytes: usize,
    /// `CU_LIMIT_PRINTF_FIFO_SIZE`.
    pub(crate) printf_bytes: usize,
    /// `CU_LIMIT_MALLOC_HEAP_SIZE`.
    heap_bytes: usize,
    /// `CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH`.
    synchronization_depth: usize,
    /// `CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT`.
    pub(crate) pending_launches: usize,
    /// `CU_LIMIT_MAX_L2_FETCH_GRANULARITY`.
    l2_fetch_bytes: usize,
    /// `CU_LIMIT_PERSISTING_L2_CACHE_SIZE`.
    pub(crate) persisting_l2_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            stack_bytes: 1024,
            printf_bytes: 1 << 20,
            heap_bytes: 8 << 20,
            synchronization_depth: 2,
            pending_launches: 2048,
            l2_fetch_bytes: 64,
            persisting_l2_bytes: 0,
        }
    }
}

impl Limits {
    /// The number of `persisting_l2_bytes`.
    pub(crate) const PERSISTING_L2: u32 = 6;

    /// Returns the value that a limit gets which is asked for: the buffer of `printf` has half a MiB at least, as an H100's
    /// driver answers (`results/nvidia-h100/printf.txt`).
    pub(crate) fn granted(number: u32, value: usize) -> usize {
        if number == 1 { value.max(512 << 10) } else { value }
    }

    /// The limit of this number, if there is one.
    pub(crate) fn by_number(&mut self, number: u32) -> Option<&mut usize> {
        Some(match number {
            0 => &mut self.stack_bytes,
            1 => &mut self.printf_bytes,
            2 => &mut self.heap_bytes,
            3 => &mut self.synchronization_depth,
            4 => &mut self.pending_launches,
            5 => &mut self.l2_fetch_bytes,
            Limits::PERSISTING_L2 => &mut self.persisting_l2_bytes,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_nvidias_numbers_and_first_values() {
        let mut limits = Limits::default();
        let values: Vec<usize> =
            (0..7).map(|number| *limits.by_number(number).expect("a limit")).collect();
        assert_eq!(values, [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0]);
        assert_eq!(limits.by_number(7), None);
        *limits.by_number(Limits::PERSISTING_L2).expect("a limit") = 5;
        assert_eq!(limits.persisting_l2_bytes, 5);
    }
}
