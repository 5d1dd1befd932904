//! Defines the CUDA driver API's symbols and forwards them to the driver opened at run time.
//!
//! cust (through cust_raw) declares the driver's `cu*` functions as external symbols, which normally ties a program to
//! a CUDA installation when it is linked and to `libcuda.so.1` when it starts. This crate defines those symbols itself:
//!
//! ```text
//! cust, cust_ext ──> cuMemAlloc_v2, cuLaunchKernel, ... (this crate) ──> table ──┬──> libcuda.so.1, opened at run time
//!                                                                                └──> a virtual GPU
//! ```
//!
//! * `table.rs` is the list of functions, one line each; [`api`] makes them of it.
//! * [`select`] chooses, once and before the first call, who answers. Without it the machine's driver does.
//! * [`status`] says in one sentence what is wrong: no library, no device, a driver that is too old, a missing function.
//!   [`probe`] says the same of the machine's driver while another backend is selected.
//! * A return code that cust_raw's `CUresult` does not list becomes `CUDA_ERROR_UNKNOWN` before a Rust enum is made of
//!   it; the driver's own code stays readable through [`last_unlisted_code`].
//!
//! A program only has to mention this crate once (`use cuda_driver as _;`) for its symbols to be linked.

pub mod api;
mod backend;
mod check;
mod code;
mod dispatch;
mod error;
mod library;
mod local;
mod names;
mod operations;
pub mod raw;
mod symbol;
mod table;
pub mod types;
mod version;

pub use backend::{Backend, SymbolSource};
pub use code::{ReturnCode, last_unlisted_code};
pub use dispatch::{UnavailableCall, probe, select, status, unavailable_calls};
pub use error::{DriverError, DriverInfo};
pub use library::MINIMUM_VERSION;
pub use names::LIBRARY_VARIABLE;
pub use operations::{OperationKind, OperationRecord, record_operations, recorded_operations};
pub use ptx::{Target, shared_spills};
pub use version::CudaVersion;
