//! Variants that do not run on the virtual device at the sizes at which results are checked.

/// Variants that do not run, why, and at which sizes.
pub const NOT_RUN: &[(&str, &str, &str)] = &[
    ("atomics/f32x2", NO_VECTOR, NO_VECTOR_SIZES),
    ("atomics/f32x4", NO_VECTOR, NO_VECTOR_SIZES),
    ("distributed_shared/rows_cluster", NO_ROWS, NO_ROWS_SIZES),
    ("distributed_shared/rows_global", NO_ROWS, NO_ROWS_SIZES),
    ("distributed_shared/rows_l2", NO_ROWS, NO_ROWS_SIZES),
    ("matmul_tensor/wgmma_multicast", RAGGED_ROWS, RAGGED_ROWS_SIZES),
    ("matmul_tensor/wgmma_persistent", RAGGED_ROWS, RAGGED_ROWS_SIZES),
    (
        "memory_hierarchy/chase_constant",
        "the chain in constant memory has 2048 words",
        OTHER_CHAINS,
    ),
    ("memory_hierarchy/chase_shared", TOO_LARGE, TOO_LARGE_SIZES),
    ("memory_hierarchy/read_shared", TOO_LARGE, TOO_LARGE_SIZES),
    ("stencil/plane_boxes", NO_VECTORS, NO_VECTORS_SIZES),
    ("stencil/plane_r1_rolling", NO_VECTORS, NO_VECTORS_SIZES),
    ("stencil/plane_rolling", NO_VECTORS, NO_VECTORS_SIZES),
    ("stencil/volume_r1_rolling", NO_VECTORS, NO_VECTORS_SIZES),
    ("stencil/volume_rolling", NO_VECTORS, NO_VECTORS_SIZES),
    ("transpose/async_copy", UNEVEN, UNEVEN_SIZES),
    ("transpose/block_order", UNEVEN, UNEVEN_SIZES),
    ("transpose/tensor_copy", UNEVEN, UNEVEN_SIZES),
    ("transpose/vectorized", UNEVEN, UNEVEN_SIZES),
];
const NO_VECTOR: &str = "fewer than 4 counters are no vector";
const NO_VECTOR_SIZES: &str = "n=1, addresses=1; n=31, addresses=2; n=257, addresses=1";
const NO_ROWS: &str = "the keys must be whole rows of at least 32";
const NO_ROWS_SIZES: &str = "n=1, bins=8; n=31, bins=32; n=32, bins=64; n=33, bins=8; n=1001, bins=256; n=5003, bins=4096; n=20000, bins=65536";
const OTHER_CHAINS: &str = "words=1, accesses=1, blocks=1; words=31, accesses=1024, blocks=2; words=32, accesses=1024, blocks=1; words=33, accesses=1024, blocks=3; words=8193, accesses=2048, blocks=2; words=100003, accesses=1024, blocks=2";
const RAGGED_ROWS: &str = "rows of C must be multiples of 16 bytes: n must be a multiple of 4";
const RAGGED_ROWS_SIZES: &str =
    "m=1, n=1, k=8; m=33, n=31, k=24; m=129, n=257, k=72; m=65, n=9, k=512; m=1001, n=9, k=8";
const TOO_LARGE: &str = "shared memory is for at most 8192 words here";
const TOO_LARGE_SIZES: &str =
    "words=8193, accesses=2048, blocks=2; words=100003, accesses=1024, blocks=2";
const UNEVEN: &str = "4 must divide rows and columns";
const UNEVEN_SIZES: &str = "rows=1, columns=1; rows=1, columns=33; rows=31, columns=1; rows=33, columns=31; rows=31, columns=33; rows=63, columns=65; rows=65, columns=63; rows=1001, columns=517";
const NO_VECTORS: &str = "4 must divide columns";
const NO_VECTORS_SIZES: &str =
    "planes=1, rows=1, columns=1; planes=1, rows=3, columns=33; planes=2, rows=5, columns=31";
