//! The results of a thread in registers, and what is added to them in a step.

use cuda_std::GpuFloat;

/// Rows of C per thread.
pub const ROWS: usize = 8;
/// The most columns of C per thread.
pub const MOST_COLUMNS: usize = 16;
/// The sums of a thread: for each of its columns, eight rows. A variant with fewer columns leaves the others alone, and
/// the compiler removes them.
pub type Sums = [[f32; ROWS]; MOST_COLUMNS];

/// No sums yet.
pub const NO_SUMS: Sums = [[0.0; ROWS]; MOST_COLUMNS];

/// Adds `left x right` to the sums: 8 multiply-adds for each column of a thread.
///
/// Written out, because a loop that is not unrolled would put `sums` into local memory. Every second column runs
/// upwards: then the last element of `left` is also the first of the next column, and the multiply-add finds it in the
/// operand cache instead of a bank of the register file.
#[inline(always)]
pub fn multiply(
    left: &[f32; ROWS],
    right: &[f32; MOST_COLUMNS],
    sums: &mut Sums,
    columns_per_thread: u32,
) {
    macro_rules! columns {
        ($($down:literal $up:literal),*) => { $(
            column(left, right[$down], &mut sums[$down]);
            column_upwards(left, right[$up], &mut sums[$up]);
        )* };
    }
    columns!(0 1, 2 3, 4 5, 6 7);
    if columns_per_thread == 16 {
        columns!(8 9, 10 11, 12 13, 14 15);
    }
}

/// One column of sums, from the first row to the last.
#[inline(always)]
fn column(left: &[f32; ROWS], right: f32, sums: &mut [f32; ROWS]) {
    sums[0] = left[0].mul_add(right, sums[0]);
    sums[1] = left[1].mul_add(right, sums[1]);
    sums[2] = left[2].mul_add(right, sums[2]);
    sums[3] = left[3].mul_add(right, sums[3]);
    sums[4] = left[4].mul_add(right, sums[4]);
    sums[5] = left[5].mul_add(right, sums[5]);
    sums[6] = left[6].mul_add(right, sums[6]);
    sums[7] = left[7].mul_add(right, sums[7]);
}

/// One column of sums, from the last row to the first.
#[inline(always)]
fn column_upwards(left: &[f32; ROWS], right: f32, sums: &mut [f32; ROWS]) {
    sums[7] = left[7].mul_add(right, sums[7]);
    sums[6] = left[6].mul_add(right, sums[6]);
    sums[5] = left[5].mul_add(right, sums[5]);
    sums[4] = left[4].mul_add(right, sums[4]);
    sums[3] = left[3].mul_add(right, sums[3]);
    sums[2] = left[2].mul_add(right, sums[2]);
    sums[1] = left[1].mul_add(right, sums[1]);
    sums[0] = left[0].mul_add(right, sums[0]);
}
