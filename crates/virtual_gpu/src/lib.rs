//! A virtual GPU behind the CUDA driver API: unmodified host code, such as cust, runs on a machine without a GPU.
//!
//! ```no_run
//! use virtual_gpu::{Options, Profile, VirtualGpu};
//!
//! let gpu = VirtualGpu::start(Profile::named("h200")?, Options::default())?;
//! cuda_driver::select(cuda_driver::Backend::Table(gpu))?;
//! // From here on cust, cust_ext and every other user of the driver API run on it.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is exact and what is a model
//! Kernels are executed from their PTX bit for bit by `simt`, and its counters are exact. *Time* is a model: events are
//! answered from a simulated timeline of copy engines and a compute engine, whose durations come from the counters and a
//! [`Profile`]. The host's own computing takes no simulated time; each call of the driver costs what the profile says of
//! its kind.
//!
//! # Order
//! Work runs as late as its order allows: when the host waits for it, directly or through a dependency. What a program
//! did not order can therefore be seen not to have happened, which is what a GPU may do too. [`Order`] can instead run
//! everything at once, or permute by a seed what is left open.
//!
//! # Misuse
//! [`misuse`] reports mistakes that a real driver accepts, or punishes without an explanation: use after free, double free,
//! copies past an allocation, host memory that was changed or freed under a copy, pageable memory in asynchronous
//! copies, calls without a context, streams that use the same memory and are not ordered, memory that nobody wrote, and
//! every call that fails, with the reason.
//!
//! # Several devices
//! [`Topology`] says which devices there are and how they are linked; [`VirtualGpu::start`] takes one, or the profile of
//! a single device. Devices share one address space and the host's clock, and have memory, contexts, default streams,
//! engines and faults of their own. Kernels reach another device's memory when its context was enabled as a peer.
//!
//! A function that cannot do what is asked returns `CUDA_ERROR_NOT_SUPPORTED`;
//! [`cuda_driver::unavailable_calls`] names functions that are missing altogether.

mod access;
mod array_work;
mod arrays;
mod clock;
mod code;
mod concurrent;
mod device_state;
mod devices;
mod driver;
mod executor;
mod exports;
mod fat_binary;
mod graph_memory;
mod handles;
mod happens_before;
mod host_pages;
mod host_races;
mod idle;
mod launching;
mod limits;
mod managed;
mod memories;
mod memory_nodes;
mod misuse;
mod names;
mod objects;
mod options;
mod order;
mod process;
mod queue;
mod race_candidates;
mod recorder;
mod scheduler;
mod shared;
mod source;
mod taken_pages;
mod thread;
mod virtual_memory;
mod work;

pub use cuda_driver::{OperationKind, OperationRecord};
pub use exports::FindExported;
pub use fat_binary::fat_binaries_have_ptx;
pub use gpu_model::{
    BlockNeeds, Link, PROFILES, PageMoves, Parts, Profile, ProfileError, Topology, WorkScale,
    blocks_per_multiprocessor, together,
};
pub use misuse::{KernelFault, Misuse, MisuseKind, MisusedMemory};
pub use options::{Options, Order};
pub use process::{OwnMachine, StartError, VirtualGpu};
pub use recorder::{LaunchRecord, OrderRecord};
pub use simt::Location;
pub use source::{
    also_find, assume_registers, behind_calls, drain_if_idle, empty_l2, extrapolate_to,
    fails_above, finish, forget_failure, host_reads, host_touches, host_writes, launches, leaks,
    limit, misuse, observe, observe_begins, observe_enqueued, operations, order, refuse,
    skip_kernels, take_registered_for_device, tell_of_runtime, trace, watch, with_own_default,
};
