//! The integration tests of Coalesce: one binary.
//!
//! Tests that need something that may be missing are ignored and named for it: `assembled::` needs
//! NVIDIA's `ptxas`, `device::` a GPU, `stranger::` minutes, `accuracy::` predictions. `cargo xtask test` runs those whose
//! need is met and says which were not run; `revision::` and the ignored one of `packages::` are long proofs.
#![allow(clippy::print_stdout, reason = "tests report what they compared")]

mod accuracy;
mod advice;
mod alignment;
mod assembled;
mod book;
mod calibrate;
mod catalogue;
mod device;
mod docs;
mod executor;
mod fuzz;
mod glossary;
mod hardware;
mod house;
mod kernels_source;
mod last_block;
mod look_back;
mod measurement;
mod occupancy;
mod other_devices;
mod packages;
mod pictures;
mod proofs;
mod race_kernels;
mod race_runs;
mod references;
mod regressions;
mod report;
mod revision;
mod snapshots;
mod stranger;
mod streams;
mod tidy;
mod transfers;
