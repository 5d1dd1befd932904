//! Loads and stores of global memory whose way through the caches is named, and prefetches.
//!
//! All take 1 to 16 bytes at a time: integers, floats and the types of [`vector`](crate::vector).
//! A plain `*pointer` is cached as by the default operators, [`load_ca`] and [`store_wb`]; name one
//! only with a measurement. On the host they are plain loads and stores. Beyond rust-cuda.
//!
//! The addresses are generic pointers to global memory and are used as global addresses without a
//! conversion, as CUDA's own `__ldcs` does: the two are the same number.
//!
//! They are inline assembly, because LLVM has no intrinsics for them. That is safe with respect to
//! convergence: none of them waits for, or communicates with, other lanes.
//!
//! Sources: PTX ISA, "Cache Operators", "Cache Eviction Priority Hints", `ld`, `ld.global.nc`, `st`,
//! `prefetch`, `createpolicy`.
//!
//! ```no_run
//! use cuda_std::memory::{load_cs, store_cs};
//! # unsafe fn copy(source: *const u32, target: *mut u32) {
//! // SAFETY: both point to a word of global memory.
//! unsafe { store_cs(target, load_cs(source)) };
//! # }
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::{bf16, f16};

use crate::capability::require;
use crate::vector::{
    F32x2, F32x4, F64x2, I32x2, I32x4, I64x2, U8x4, U8x8, U8x16, U16x4, U16x8, U32x2, U32x4, U64x2,
};

mod sealed {
    pub trait Sealed {}
}

/// The types that one instruction loads or stores.
pub trait Word: sealed::Sealed + Copy {
    /// The registers that carry a value of this type.
    #[doc(hidden)]
    type Carrier: Carrier;
}

/// Declares which registers carry which types.
macro_rules! words {
    ($($carrier:ty: $($word:ty),*;)*) => {
        $($(
            const _: () = assert!(size_of::<$word>() == size_of::<$carrier>());
            impl sealed::Sealed for $word {}
            impl Word for $word {
                type Carrier = $carrier;
            }
        )*)*
    };
}

words! {
    u8: u8, i8;
    u16: u16, i16, f16, bf16;
    u32: u32, i32, f32, U8x4;
    u64: u64, i64, f64, usize, isize;
    [u32; 2]: F32x2, U32x2, I32x2, U16x4, U8x8;
    [u32; 4]: F32x4, U32x4, I32x4, U16x8, U8x16;
    [u64; 2]: F64x2, U64x2, I64x2;
}

/// The same bits in another type of the same size.
#[inline(always)]
fn reinterpret<A: Copy, B: Copy>(value: A) -> B {
    const { assert!(size_of::<A>() == size_of::<B>()) };
    // SAFETY: the sizes are equal, and only plain numbers and vectors of numbers come here.
    unsafe { core::mem::transmute_copy(&value) }
}

/// One load instruction: the registers of the carrier, the operator, the options of the assembly,
/// what follows the address, and the operands of that.
#[cfg(target_arch = "nvptx64")]
macro_rules! load_instruction {
    (b8 $($rest:tt)*) => {{
        let value: u16;
        load_instruction!(@ ".b8 {value}", (value = out(reg16) value,) $($rest)*);
        value as u8
    }};
    (b16 $($rest:tt)*) => {{
        let value: u16;
        load_instruction!(@ ".b16 {value}", (value = out(reg16) value,) $($rest)*);
        value
    }};
    (b32 $($rest:tt)*) => {{
        let value: u32;
        load_instruction!(@ ".b32 {value}", (value = out(reg32) value,) $($rest)*);
        value
    }};
    (b64 $($rest:tt)*) => {{
        let value: u64;
        load_instruction!(@ ".b64 {value}", (value = out(reg64) value,) $($rest)*);
        value
    }};
    (v2_b32 $($rest:tt)*) => {{
        let (x, y): (u32, u32);
        load_instruction!(@ ".v2.b32 {{{x}, {y}}}",
            (x = out(reg32) x, y = out(reg32) y,) $($rest)*);
        [x, y]
    }};
    (v4_b32 $($rest:tt)*) => {{
        let (x, y, z, w): (u32, u32, u32, u32);
        load_instruction!(@ ".v4.b32 {{{x}, {y}, {z}, {w}}}",
            (x = out(reg32) x, y = out(reg32) y, z = out(reg32) z, w = out(reg32) w,) $($rest)*);
        [x, y, z, w]
    }};
    (v2_b64 $($rest:tt)*) => {{
        let (x, y): (u64, u64);
        load_instruction!(@ ".v2.b64 {{{x}, {y}}}",
            (x = out(reg64) x, y = out(reg64) y,) $($rest)*);
        [x, y]
    }};
    (
        @ $registers:literal, ($($output:tt)*)
        $operator:literal [$($option:ident),*] $source:expr $(, $suffix:literal ($($operand:tt)*))?
    ) => {
        asm!(
            concat!("ld.global", $operator, $registers, ", [{source}]" $(, $suffix)?, ";"),
            $($output)*
            source = in(reg64) $source,
            $($($operand)*)?
            options(nostack, preserves_flags $(, $option)*)
        )
    };
}

/// One store instruction: the registers of the carrier, the operator, what follows the value, and
/// the operands of that.
#[cfg(target_arch = "nvptx64")]
macro_rules! store_instruction {
    (b8 $value:expr, $($rest:tt)*) => {
        store_instruction!(@ ".b8" "{value}", (value = in(reg16) u16::from($value),) $($rest)*)
    };
    (b16 $value:expr, $($rest:tt)*) => {
        store_instruction!(@ ".b16" "{value}", (value = in(reg16) $value,) $($rest)*)
    };
    (b32 $value:expr, $($rest:tt)*) => {
        store_instruction!(@ ".b32" "{value}", (value = in(reg32) $value,) $($rest)*)
    };
    (b64 $value:expr, $($rest:tt)*) => {
        store_instruction!(@ ".b64" "{value}", (value = in(reg64) $value,) $($rest)*)
    };
    (v2_b32 $value:expr, $($rest:tt)*) => {{
        let [x, y] = $value;
        store_instruction!(@ ".v2.b32" "{{{x}, {y}}}",
            (x = in(reg32) x, y = in(reg32) y,) $($rest)*)
    }};
    (v4_b32 $value:expr, $($rest:tt)*) => {{
        let [x, y, z, w] = $value;
        store_instruction!(@ ".v4.b32" "{{{x}, {y}, {z}, {w}}}",
            (x = in(reg32) x, y = in(reg32) y, z = in(reg32) z, w = in(reg32) w,) $($rest)*)
    }};
    (v2_b64 $value:expr, $($rest:tt)*) => {{
        let [x, y] = $value;
        store_instruction!(@ ".v2.b64" "{{{x}, {y}}}",
            (x = in(reg64) x, y = in(reg64) y,) $($rest)*)
    }};
    (
        @ $kind:literal $registers:literal, ($($input:tt)*)
        $operator:literal $target:expr $(, $suffix:literal ($($operand:tt)*))?
    ) => {
        asm!(
            concat!("st.global", $operator, $kind, " [{target}], ", $registers $(, $suffix)?, ";"),
            $($input)*
            target = in(reg64) $target,
            $($($operand)*)?
            options(nostack, preserves_flags)
        )
    };
}

/// Declares the operators: a method of [`Carrier`] for each, implemented for every carrier, and the
/// public function.
macro_rules! operators {
    (
        loads { $($(#[$load_doc:meta])* $load:ident $load_operator:literal $options:tt $(since $load_since:literal)?;)* }
        stores { $($(#[$store_doc:meta])* $store:ident $store_operator:literal $(since $store_since:literal)?;)* }
    ) => {
        /// A value that travels through registers. Each method is one instruction.
        #[doc(hidden)]
        pub trait Carrier: Copy {
            $(unsafe fn $load(source: *const Self) -> Self;)*
            $(unsafe fn $store(target: *mut Self, value: Self);)*
            unsafe fn load_with_policy(source: *const Self, policy: u64) -> Self;
            unsafe fn store_with_policy(target: *mut Self, value: Self, policy: u64);
        }

        operators!(@carriers { u8 b8; u16 b16; u32 b32; u64 b64; [u32; 2] v2_b32; [u32; 4] v4_b32; [u64; 2] v2_b64; }
            { $($load $load_operator $options;)* } { $($store $store_operator;)* });

        $(
            $(#[$load_doc])*
            ///
            /// # Safety
            /// - Lengths: `source` points to global memory and is valid for reading a `T`.
            /// - Alignment: it is aligned to the size of `T`.
            #[inline(always)]
            #[must_use]
            pub unsafe fn $load<T: Word>(source: *const T) -> T {
                $(require::<$load_since>();)?
                // SAFETY: the caller's contract; the carrier has the size of `T`.
                reinterpret(unsafe { T::Carrier::$load(source.cast()) })
            }
        )*

        $(
            $(#[$store_doc])*
            ///
            /// # Safety
            /// - Lengths: `target` points to global memory and is valid for writing a `T`.
            /// - Alignment: it is aligned to the size of `T`.
            #[inline(always)]
            pub unsafe fn $store<T: Word>(target: *mut T, value: T) {
                $(require::<$store_since>();)?
                // SAFETY: the caller's contract; the carrier has the size of `T`.
                unsafe { T::Carrier::$store(target.cast(), reinterpret(value)) }
            }
        )*
    };
    (@carriers { $($carrier:tt $registers:ident;)* } $loads:tt $stores:tt) => {
        $(operators!(@carrier $carrier $registers, loads $loads stores $stores);)*
    };
    (
        @carrier $carrier:tt $registers:ident,
        loads { $($load:ident $load_operator:literal $options:tt;)* }
        stores { $($store:ident $store_operator:literal;)* }
    ) => {
        impl Carrier for $carrier {
            $(
                #[inline(always)]
                unsafe fn $load(source: *const Self) -> Self {
                    // SAFETY: the caller's contract.
                    unsafe {
                        #[cfg(target_arch = "nvptx64")]
                        { load_instruction!($registers $load_operator $options source) }
                        #[cfg(not(target_arch = "nvptx64"))]
                        source.read()
                    }
                }
            )*
            $(
                #[inline(always)]
                unsafe fn $store(target: *mut Self, value: Self) {
                    // SAFETY: the caller's contract.
                    unsafe {
                        #[cfg(target_arch = "nvptx64")]
                        { store_instruction!($registers value, $store_operator target) }
                        #[cfg(not(target_arch = "nvptx64"))]
                        target.write(value);
                    }
                }
            )*

            #[inline(always)]
            unsafe fn load_with_policy(source: *const Self, policy: u64) -> Self {
                // SAFETY: the caller's contract.
                unsafe {
                    #[cfg(target_arch = "nvptx64")]
                    {
                        load_instruction!($registers ".L2::cache_hint" [pure, readonly] source,
                            ", {policy}" (policy = in(reg64) policy,))
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        let _ = policy;
                        source.read()
                    }
                }
            }

            #[inline(always)]
            unsafe fn store_with_policy(target: *mut Self, value: Self, policy: u64) {
                // SAFETY: the caller's contract.
                unsafe {
                    #[cfg(target_arch = "nvptx64")]
                    {
                        store_instruction!($registers value, ".L2::cache_hint" target,
                            ", {policy}" (policy = in(reg64) policy,))
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        let _ = policy;
                        target.write(value);
                    }
                }
            }
        }
    };
}

operators! {
    loads {
        /// Loads and caches at all levels, as a plain load does; the machine code is that of a strong load,
        /// `LDG.STRONG.SM`. PTX: `ld.global.ca`.
        load_ca ".ca" [pure, readonly];
        /// Loads and caches in L2 but not in L1. PTX: `ld.global.cg`.
        load_cg ".cg" [pure, readonly];
        /// Loads data that is read once: both caches evict it first. PTX: `ld.global.cs`.
        load_cs ".cs" [pure, readonly];
        /// Loads data that is not needed again: the line is dropped without being written back,
        /// which is meant for local memory and acts as [`load_cs`] on global memory.
        /// PTX: `ld.global.lu`.
        load_lu ".lu" [pure, readonly];
        /// Loads as if nothing were cached: the value is fetched again each time, for memory that
        /// someone outside the grid changes. PTX: `ld.global.cv`.
        load_cv ".cv" [];
        /// Loads data that nobody writes while the kernel runs, through the read-only path.
        /// PTX: `ld.global.nc`. In addition to the below, the memory must not change for the whole
        /// duration of the kernel.
        load_nc ".nc" [pure, readonly];
        /// [`load_nc`] that leaves L1 as it is, for streams. PTX: `ld.global.nc.L1::no_allocate`.
        load_nc_no_allocate ".nc.L1::no_allocate" [pure, readonly];
        /// [`load_nc`] that marks the line as the first that L1 evicts.
        /// PTX: `ld.global.nc.L1::evict_first`.
        load_nc_evict_first ".nc.L1::evict_first" [pure, readonly];
        /// [`load_nc`] that marks the line as the last that L1 evicts.
        /// PTX: `ld.global.nc.L1::evict_last`.
        load_nc_evict_last ".nc.L1::evict_last" [pure, readonly];
        /// Loads and does not put the line into L1. PTX: `ld.global.L1::no_allocate`.
        load_no_allocate ".L1::no_allocate" [pure, readonly];
        /// Loads and marks the line as the first that L1 evicts. PTX: `ld.global.L1::evict_first`.
        load_evict_first ".L1::evict_first" [pure, readonly];
        /// Loads and marks the line as the last that L1 evicts. PTX: `ld.global.L1::evict_last`.
        load_evict_last ".L1::evict_last" [pure, readonly];
        /// Loads and leaves the line's place in the eviction order of L1 as it was.
        /// PTX: `ld.global.L1::evict_unchanged`.
        load_evict_unchanged ".L1::evict_unchanged" [pure, readonly];
        /// Loads, and asks L2 to fetch the aligned 64 bytes around. PTX: `ld.global.L2::64B`.
        load_prefetch_64 ".L2::64B" [pure, readonly] since 75;
        /// Loads, and asks L2 to fetch the aligned 128 bytes around. PTX: `ld.global.L2::128B`.
        load_prefetch_128 ".L2::128B" [pure, readonly] since 75;
        /// Loads, and asks L2 to fetch the aligned 256 bytes around. PTX: `ld.global.L2::256B`.
        load_prefetch_256 ".L2::256B" [pure, readonly] since 80;
    }
    stores {
        /// Stores with write-back at all levels, as a plain store does; the machine code is that of a
        /// strong store, `STG.STRONG.SM`. PTX: `st.global.wb`.
        store_wb ".wb";
        /// Stores into L2 and past L1. PTX: `st.global.cg`.
        store_cg ".cg";
        /// Stores data that is not read soon: evicted first. PTX: `st.global.cs`.
        store_cs ".cs";
        /// Stores through L2 into memory. PTX: `st.global.wt`.
        store_wt ".wt";
        /// Stores and does not put the line into L1. PTX: `st.global.L1::no_allocate`.
        store_no_allocate ".L1::no_allocate";
        /// Stores and marks the line as the first that L1 evicts. PTX: `st.global.L1::evict_first`.
        store_evict_first ".L1::evict_first";
        /// Stores and marks the line as the last that L1 evicts. PTX: `st.global.L1::evict_last`.
        store_evict_last ".L1::evict_last";
        /// Stores and leaves the line's place in the eviction order of L1 as it was.
        /// PTX: `st.global.L1::evict_unchanged`.
        store_evict_unchanged ".L1::evict_unchanged";
    }
}

/// The treatment of an access's lines by L2. Made once, used for many accesses.
///
/// Compute capability 8.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachePolicy(u64);

/// Declares constructors of [`CachePolicy`].
macro_rules! policies {
    ($($(#[$documentation:meta])* $name:ident $priority:literal;)*) => {
        impl CachePolicy {
            $(
                $(#[$documentation])*
                #[inline(always)]
                #[must_use]
                pub fn $name(fraction: f32) -> Self {
                    require::<80>();
                    #[cfg(target_arch = "nvptx64")]
                    {
                        let policy: u64;
                        // SAFETY: the instruction computes a number from a number.
                        unsafe {
                            asm!(
                                concat!("createpolicy.fractional.", $priority, ".b64 {policy}, {fraction};"),
                                policy = out(reg64) policy,
                                fraction = in(reg32) fraction,
                                options(pure, nomem, nostack, preserves_flags)
                            );
                        }
                        CachePolicy(policy)
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        let _ = fraction;
                        CachePolicy(0)
                    }
                }
            )*
        }
    };
}

policies! {
    /// The given fraction of the lines, above 0 and up to 1, is evicted first; the rest as usual.
    /// PTX: `createpolicy.fractional.L2::evict_first.b64`.
    evict_first "L2::evict_first";
    /// The given fraction of the lines, above 0 and up to 1, is evicted last; the rest as usual.
    /// PTX: `createpolicy.fractional.L2::evict_last.b64`.
    evict_last "L2::evict_last";
    /// Lines are evicted as usual. PTX: `createpolicy.fractional.L2::evict_normal.b64`.
    evict_normal "L2::evict_normal";
    /// The given fraction of the lines keeps its place in the eviction order; the rest as usual.
    /// PTX: `createpolicy.fractional.L2::evict_unchanged.b64`.
    evict_unchanged "L2::evict_unchanged";
}

/// Loads with an L2 policy. PTX: `ld.global.L2::cache_hint`, compute capability 8.0.
///
/// # Safety
/// - Lengths: `source` points to global memory and is valid for reading a `T`.
/// - Alignment: it is aligned to the size of `T`.
#[inline(always)]
#[must_use]
pub unsafe fn load_with_policy<T: Word>(source: *const T, policy: CachePolicy) -> T {
    require::<80>();
    // SAFETY: the caller's contract; the carrier has the size of `T`.
    reinterpret(unsafe { T::Carrier::load_with_policy(source.cast(), policy.0) })
}

/// Stores with an L2 policy. PTX: `st.global.L2::cache_hint`, compute capability 8.0.
///
/// # Safety
/// - Lengths: `target` points to global memory and is valid for writing a `T`.
/// - Alignment: it is aligned to the size of `T`.
#[inline(always)]
pub unsafe fn store_with_policy<T: Word>(target: *mut T, value: T, policy: CachePolicy) {
    require::<80>();
    // SAFETY: the caller's contract; the carrier has the size of `T`.
    unsafe { T::Carrier::store_with_policy(target.cast(), reinterpret(value), policy.0) }
}

/// Declares the instructions that act on the line at an address.
macro_rules! line_operations {
    ($($safety:literal => {
        $($(#[$documentation:meta])* $name:ident $instruction:literal $suffix:literal [$($option:ident),*] $(since $since:literal)?;)*
    })*) => {
        $($(
            $(#[$documentation])*
            ///
            /// # Safety
            #[doc = $safety]
            #[inline(always)]
            pub unsafe fn $name<T>(address: *const T) {
                $(require::<$since>();)?
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        concat!($instruction, " [{address}]", $suffix, ";"),
                        address = in(reg64) address,
                        options(nostack, preserves_flags $(, $option)*)
                    );
                }
                #[cfg(not(target_arch = "nvptx64"))]
                let _ = address;
            }
        )*)*
    };
}

line_operations! {
    "- The address is one of global memory that may be accessed." => {
        /// Asks for the line at this address in L1 and L2. PTX: `prefetch.global.L1`.
        prefetch_l1 "prefetch.global.L1" "" [nomem];
        /// Asks for the line at this address in L2. PTX: `prefetch.global.L2`.
        prefetch_l2 "prefetch.global.L2" "" [nomem];
        /// Asks for the line at this address in L2, in the usual eviction order.
        /// PTX: `prefetch.global.L2::evict_normal`, compute capability 8.0.
        prefetch_l2_evict_normal "prefetch.global.L2::evict_normal" "" [nomem] since 80;
        /// Asks for the line at this address in L2, to be evicted last.
        /// PTX: `prefetch.global.L2::evict_last`, compute capability 8.0.
        prefetch_l2_evict_last "prefetch.global.L2::evict_last" "" [nomem] since 80;
    }
    "- The 128 bytes are global memory, aligned to 128 bytes, and nobody reads what is dropped before writing it." => {
        /// Returns the 128 bytes at this address to the usual eviction order.
        /// PTX: `applypriority.global.L2::evict_normal`, compute capability 8.0.
        l2_evict_normal "applypriority.global.L2::evict_normal" ", 128" [nomem] since 80;
        /// Drops the 128 bytes at this address from L2 without writing them back; their value is
        /// undefined until written. PTX: `discard.global.L2`, compute capability 8.0.
        discard_l2 "discard.global.L2" ", 128" [] since 80;
    }
}
