//! The executor from outside: its results, counts, findings and refusals.

#[cfg(not(debug_assertions))]
mod approximate;
mod asynchronous;
mod blackwell;
#[path = "../../../tests/chosen.rs"]
mod chosen;
mod clusters;
mod contraction;
mod cooperative;
mod corpus;
mod coverage;
mod declarations;
mod endless;
mod errors;
mod fixtures;
mod footprint;
mod half;
mod hazards;
mod mma;
mod narrow;
mod progress;
mod races;
mod races_of_nvcc;
mod recursion;
mod registers;
mod rounding;
mod sanitized;
mod smoke;
#[path = "support/spent.rs"]
mod spent;
mod support;
mod tensor_copy;
mod texture;
mod threads;
mod timing;
mod trace;
mod video;
mod wgmma;
mod wmma;
