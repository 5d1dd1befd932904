//! Attributes of kernels: shared memory beyond 48 KiB, the carve-out, registers, spills, and occupancy.
//!
//! ```no_run
//! # fn f(function: &cust::function::Function<'_>) -> cust_ext::Result<()> {
//! use cust_ext::function::{allow_dynamic_shared_bytes, blocks_per_multiprocessor};
//! allow_dynamic_shared_bytes(function, 96 << 10)?;
//! let blocks = blocks_per_multiprocessor(function, 256, 96 << 10)?;
//! # Ok(())
//! # }
//! ```

use crate::error::{Result, argument, call};
use cust::function::Function;
use std::ffi::{c_int, c_uint};

const MAX_THREADS_PER_BLOCK: c_uint = 0;
const STATIC_SHARED_BYTES: c_uint = 1;
const CONSTANT_BYTES: c_uint = 2;
const LOCAL_BYTES: c_uint = 3;
const REGISTERS: c_uint = 4;
const PTX_VERSION: c_uint = 5;
const BINARY_VERSION: c_uint = 6;
const MAX_DYNAMIC_SHARED_BYTES: c_uint = 8;
const PREFERRED_CARVEOUT: c_uint = 9;
const NON_PORTABLE_CLUSTER_SIZE_ALLOWED: c_uint = 14;

/// Facts of a compiled kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionInfo {
    /// Threads per block at most, given its registers.
    pub max_threads_per_block: u32,
    /// Bytes of static shared memory per block.
    pub static_shared_bytes: u32,
    /// Bytes of dynamic shared memory that a launch may ask for at the moment.
    pub max_dynamic_shared_bytes: u32,
    /// Bytes of the user's constant memory.
    pub constant_bytes: u32,
    /// Bytes of local memory per thread: spilled registers and arrays indexed at run time.
    pub local_bytes: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Virtual architecture that the PTX was made for: 90 is sm_90.
    pub ptx_version: u32,
    /// Architecture that the machine code was made for: 90 is sm_90.
    pub binary_version: u32,
}

/// Returns what the compiler made of the kernel.
///
/// # Errors
/// When the driver does not tell one of the facts.
pub fn info(function: &Function) -> Result<FunctionInfo> {
    Ok(FunctionInfo {
        max_threads_per_block: get(function, MAX_THREADS_PER_BLOCK)?,
        static_shared_bytes: get(function, STATIC_SHARED_BYTES)?,
        max_dynamic_shared_bytes: get(function, MAX_DYNAMIC_SHARED_BYTES)?,
        constant_bytes: get(function, CONSTANT_BYTES)?,
        local_bytes: get(function, LOCAL_BYTES)?,
        registers: get(function, REGISTERS)?,
        ptx_version: get(function, PTX_VERSION)?,
        binary_version: get(function, BINARY_VERSION)?,
    })
}

/// Lets launches of the kernel ask for up to `bytes` of dynamic shared memory.
///
/// Above 48 KiB this is required; the device's limit is
/// [`MaxSharedMemoryPerBlockOptIn`](crate::device::DeviceAttribute::MaxSharedMemoryPerBlockOptIn) less the static part.
///
/// # Errors
/// When `bytes` are more than the device allows.
pub fn allow_dynamic_shared_bytes(function: &Function, bytes: u32) -> Result<()> {
    set(function, MAX_DYNAMIC_SHARED_BYTES, bytes)
}

/// Wishes that `percent` of the storage shared between L1 and shared memory be shared memory, from 0 (all L1) to 100.
///
/// # Errors
/// More than 100 percent, and the driver's.
pub fn prefer_shared_carveout(function: &Function, percent: u32) -> Result<()> {
    if percent > 100 {
        return argument(format!("a shared-memory carve-out of {percent} %: it is at most 100"));
    }
    set(function, PREFERRED_CARVEOUT, percent)
}

/// Leaves the split between L1 and shared memory to the driver again.
///
/// # Errors
/// When the driver refuses.
pub fn reset_shared_carveout(function: &Function) -> Result<()> {
    // SAFETY: the function's module is alive as long as the function; no memory is involved. -1 is the default.
    unsafe { call!(cuFuncSetAttribute(function.to_raw(), PREFERRED_CARVEOUT, -1)) }
}

/// Allows clusters of more than the portable 8 blocks.
///
/// # Errors
/// When the device has no clusters.
pub fn allow_non_portable_cluster_size(function: &Function) -> Result<()> {
    set(function, NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
}

/// Returns how many blocks of `block_size` threads and `dynamic_shared_bytes` fit on one multiprocessor at once.
///
/// # Errors
/// A block without threads, and the driver's.
pub fn blocks_per_multiprocessor(
    function: &Function,
    block_size: u32,
    dynamic_shared_bytes: usize,
) -> Result<u32> {
    let Ok(threads @ 1..) = c_int::try_from(block_size) else {
        return argument(format!("a block of {block_size} threads: give at least 1"));
    };
    let mut blocks: c_int = 0;
    // SAFETY: a local to write to, and a function whose module is alive.
    unsafe {
        call!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &mut blocks,
            function.to_raw(),
            threads,
            dynamic_shared_bytes
        ))?;
    }
    Ok(blocks.cast_unsigned())
}

/// The block size with the highest occupancy, and how many blocks fill the device with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuggestedLaunch {
    /// Threads per block.
    pub block_size: u32,
    /// Blocks that fill the device.
    pub min_grid_size: u32,
}

/// Asks the driver for the block size with the highest occupancy, for a fixed amount of dynamic shared memory.
///
/// # Errors
/// When a block of the kernel cannot run with so much shared memory.
pub fn suggested_launch(
    function: &Function,
    dynamic_shared_bytes: usize,
) -> Result<SuggestedLaunch> {
    let (mut grid, mut block): (c_int, c_int) = (0, 0);
    // SAFETY: two locals to write to, a function whose module is alive, and no callback.
    unsafe {
        call!(cuOccupancyMaxPotentialBlockSize(
            &mut grid,
            &mut block,
            function.to_raw(),
            None,
            dynamic_shared_bytes,
            0
        ))?;
    }
    Ok(SuggestedLaunch { block_size: block.cast_unsigned(), min_grid_size: grid.cast_unsigned() })
}

fn get(function: &Function, attribute: c_uint) -> Result<u32> {
    let mut value: c_int = 0;
    // SAFETY: a local to write to, and a function whose module is alive.
    unsafe { call!(cuFuncGetAttribute(&mut value, attribute, function.to_raw()))? };
    Ok(u32::try_from(value).unwrap_or(0))
}

fn set(function: &Function, attribute: c_uint, value: u32) -> Result<()> {
    let Ok(value) = c_int::try_from(value) else {
        return argument(format!("{value} is more than any device has"));
    };
    // SAFETY: a function whose module is alive; no memory is involved.
    unsafe { call!(cuFuncSetAttribute(function.to_raw(), attribute, value)) }
}
