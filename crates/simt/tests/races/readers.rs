//! More than two readers of a word that nothing orders, and a write that comes after the first and the last of them.
//! These did not run under compute-sanitizer.

use super::Row;
use super::kernels::{GLOBAL, Grid, SHARED};

/// The second of three warps does not come to the barrier.
const NOT_THE_SECOND: &str = "setp.eq.u32 %p2, %r4, 1; @%p2 bra END; bar.sync 1, 64;";

pub const ROWS: &[Row] = &[
    (
        "the second of three readers, shared",
        Grid(1, 96, 1),
        "st.shared.u32 [%r5], %r1; bar.sync 0; ld.shared.u32 %r8, [tile]; ?\nsetp.ne.u32 %p1, %r1, 0; @%p1 bra END; st.shared.u32 [tile], %r9;",
        [NOT_THE_SECOND, "bar.sync 1, 96;"],
        SHARED,
    ),
    (
        "the second of three readers of a row, shared",
        Grid(1, 96, 1),
        "mov.u32 %r20, tile; mad.lo.u32 %r21, %r3, 4, %r20; st.shared.u32 [%r5], %r1; bar.sync 0;\nld.shared.u32 %r8, [%r21]; ?\nsetp.ne.u32 %p1, %r4, 0; @%p1 bra END; st.shared.u32 [%r21], %r9;",
        [NOT_THE_SECOND, "bar.sync 1, 96;"],
        SHARED,
    ),
    (
        "the second of three readers of a row, global",
        Grid(1, 96, 1),
        "mad.wide.u32 %rd10, %r3, 4, %rd1; ld.global.u32 %r8, [%rd10]; ?\nsetp.ne.u32 %p1, %r4, 0; @%p1 bra END; st.global.u32 [%rd10], %r9;",
        [NOT_THE_SECOND, "bar.sync 1, 96;"],
        GLOBAL,
    ),
    (
        "the second of three readers, then stores from the last lane to the first",
        Grid(1, 96, 1),
        "mad.wide.u32 %rd10, %r3, 4, %rd1; ld.global.u32 %r8, [%rd10]; ?\nsetp.ne.u32 %p1, %r4, 0; @%p1 bra END; xor.b32 %r20, %r3, 31; mad.wide.u32 %rd10, %r20, 4, %rd1; st.global.u32 [%rd10], %r9;",
        [NOT_THE_SECOND, "bar.sync 1, 96;"],
        GLOBAL,
    ),
];
