//! Pointers and the state spaces that they point into.
//!
//! ```no_run
//! use cuda_std::ptr::{AddressSpace, is_in_address_space};
//! # let value = 0_u32;
//! // SAFETY: a pointer to a value.
//! let is_local = unsafe { is_in_address_space(&value, AddressSpace::Local) };
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::{gpu_only, nvvm};

/// A state space of PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Device memory, seen by all threads.
    Global,
    /// The block's shared memory.
    Shared,
    /// Constant memory.
    Constant,
    /// The thread's own memory.
    Local,
}

/// Returns whether a generic pointer points into a state space. PTX: `isspacep`; nothing when LLVM knows.
///
/// # Safety
/// - Safe to call with any pointer.
/// - `unsafe` because rust-cuda's is.
#[inline(always)]
pub unsafe fn is_in_address_space<T>(ptr: *const T, address_space: AddressSpace) -> bool {
    let pointer = ptr.cast();
    // SAFETY: the instruction only looks at the address.
    unsafe {
        match address_space {
            AddressSpace::Global => nvvm::is_global(pointer),
            AddressSpace::Shared => nvvm::is_shared(pointer),
            AddressSpace::Constant => nvvm::is_constant(pointer),
            AddressSpace::Local => nvvm::is_local(pointer),
        }
    }
}

/// Declares a function that converts an address with one of the `cvta` instructions.
macro_rules! conversion {
    ($($(#[$documentation:meta])* $name:ident: $global:literal $shared:literal $constant:literal $local:literal;)*) => {
        $(
            $(#[$documentation])*
            #[gpu_only]
            #[inline(always)]
            pub unsafe fn $name<T>(ptr: *const T, address_space: AddressSpace) -> *const T {
                let converted: *const T;
                // SAFETY: the instruction computes an address from an address.
                unsafe {
                    match address_space {
                        AddressSpace::Global => conversion!(@ $global, converted, ptr),
                        AddressSpace::Shared => conversion!(@ $shared, converted, ptr),
                        AddressSpace::Constant => conversion!(@ $constant, converted, ptr),
                        AddressSpace::Local => conversion!(@ $local, converted, ptr),
                    }
                }
                converted
            }
        )*
    };
    (@ $instruction:literal, $converted:ident, $ptr:ident) => {
        asm!(
            concat!($instruction, " {converted}, {pointer};"),
            converted = out(reg64) $converted,
            pointer = in(reg64) $ptr,
            options(pure, nomem, nostack, preserves_flags)
        )
    };
}

conversion! {
    /// The address within a state space that a generic pointer stands for. PTX: `cvta.to`.
    ///
    /// # Safety
    /// - The pointer must point into that space.
    /// - The result is not a pointer that Rust may follow.
    convert_generic_to_specific_address_space:
        "cvta.to.global.u64" "cvta.to.shared.u64" "cvta.to.const.u64" "cvta.to.local.u64";
    /// The generic pointer for an address within a state space. PTX: `cvta`.
    ///
    /// # Safety
    /// - The address must be one of that space.
    convert_specific_address_space_to_generic:
        "cvta.global.u64" "cvta.shared.u64" "cvta.const.u64" "cvta.local.u64";
}

/// The 32-bit address in the shared state space of a generic pointer into shared memory: what
/// instructions that name shared memory take. PTX: `cvta.to.shared.u64`, or nothing where the
/// compiler knows the address. Beyond rust-cuda.
///
/// # Safety
/// - The pointer must point into shared memory.
#[inline(always)]
#[must_use]
pub unsafe fn shared_address<T>(pointer: *const T) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        // A cast to another address space, which LLVM can compute with and Rust cannot express:
        // `cuda_builder` writes it.
        unsafe extern "C" {
            #[link_name = "__coalesce_shared_address"]
            fn address(pointer: *const u8) -> u32;
        }
        // SAFETY: the caller's contract.
        unsafe { address(pointer.cast()) }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = pointer;
        nvvm::outside_kernel("shared_address")
    }
}
