//! Variants that cannot run at some of the sizes at which results are checked.

/// Which variant does not run, why, and at which sizes.
pub const NOT_RUN: &[(&str, &str, &str)] = &[
    ("stencil/plane_r1_rolling", NO_VECTORS, NO_VECTORS_SIZES),
    ("stencil/plane_rolling", NO_VECTORS, NO_VECTORS_SIZES),
    ("stencil/volume_r1_rolling", NO_VECTORS, NO_VECTORS_SIZES),
    ("stencil/volume_rolling", NO_VECTORS, NO_VECTORS_SIZES),
    ("transpose/async_copy", UNEVEN, UNEVEN_SIZES),
    ("transpose/block_order", UNEVEN, UNEVEN_SIZES),
    ("transpose/vectorized", UNEVEN, UNEVEN_SIZES),
];
const NO_VECTORS: &str = "4 must divide columns";
const NO_VECTORS_SIZES: &str =
    "planes=1, rows=1, columns=1; planes=1, rows=3, columns=33; planes=2, rows=5, columns=31";
const UNEVEN: &str = "4 must divide rows and columns";
const UNEVEN_SIZES: &str = "rows=1, columns=1; rows=1, columns=33; rows=31, columns=1; rows=33, columns=31; rows=31, columns=33; rows=63, columns=65; rows=65, columns=63; rows=1001, columns=517";
