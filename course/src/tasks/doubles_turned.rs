use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "transpose",
    fails_as_shipped: FailureKind::Bound(BankConflicts),
    bounds: &[
        none(BankConflicts, "16 elements of a column in 32 banks"),
        bound(SharedRequests, |n| up_to(n / 16.0), "a store and a load for each warp"),
        bound(SharedBytes, |_| up_to(8448.0), "32 rows of 33 doubles"),
        bound(SectorsPerLoad, |_| between(1.0, 8.0), "32 x 8 B / 32 B"),
        bound(SectorsPerStore, |_| between(1.0, 8.0), "32 x 8 B / 32 B"),
        bound(StoreSectors, |n| exactly(n / 4.0), "each result once: 8 B of a sector of 32 B"),
        bound(LoadSectors, |n| exactly(n / 4.0), "each element once: 8 B of a sector of 32 B"),
    ],
    hints: [
        "Element (row, column) is in banks 2 x (PITCH x row + column) and the next, modulo 32.",
        "From row to row the banks must move on by the width of one element.",
        "33 elements are 66 words: two banks further in each row.",
    ],
    ..task!(
        doubles_turned(f64) -> f64, images(&[128, 128]), case,
        |rows, columns| ((blocks(columns, 32), blocks(rows, 32)), (32, 32))
    )
};

fn case(size: &Size, random: &mut Random) -> Case {
    let source = floats(size, random).into_iter().map(f64::from).collect();
    transposed(source, size, |row, column| (row, column))
}
