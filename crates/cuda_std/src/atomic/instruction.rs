//! The instructions that atomic operations are made of, by scope, type and ordering.
//!
//! They are inline assembly, because LLVM 22 lowers `atomicrmw` without its ordering and has no
//! intrinsics with one. That is safe with respect to convergence: an atomic operation is one
//! thread's access to memory. Each is a barrier to the compiler for all memory, which is more than
//! `Relaxed` needs and what the other orderings need.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;
use core::convert::identity;
use core::ops::Neg;
use core::sync::atomic::Ordering;

use crate::capability::require;
use crate::float::half::{bf16, f16};
use crate::float::{Bf16x2, F16x2};
#[cfg(target_arch = "nvptx64")]
use crate::nvvm;
#[cfg(target_arch = "nvptx64")]
use crate::ptr::shared_address;

mod sealed {
    pub trait Sealed {}
}

/// The threads of one block.
pub struct Block;
/// The threads of one device.
pub struct Device;
/// The threads of all devices and of the host.
pub struct System;

/// Chooses an instruction by the state space that a pointer points into, which LLVM mostly knows.
#[cfg(target_arch = "nvptx64")]
macro_rules! by_space {
    ($pointer:expr, $before:expr, $after:expr, ($($output:tt)*), ($($input:tt)*)) => {
        if nvvm::is_global($pointer.cast()) {
            asm!(
                concat!($before, ".global", $after),
                $($output)*
                pointer = in(reg64) $pointer,
                $($input)*
                options(nostack, preserves_flags)
            )
        } else if nvvm::is_shared($pointer.cast()) {
            asm!(
                concat!($before, ".shared", $after),
                $($output)*
                pointer = in(reg32) shared_address($pointer),
                $($input)*
                options(nostack, preserves_flags)
            )
        } else {
            // Shared memory of another block of the cluster, for one.
            asm!(
                concat!($before, $after),
                $($output)*
                pointer = in(reg64) $pointer,
                $($input)*
                options(nostack, preserves_flags)
            )
        }
    };
}

/// Chooses a read-modify-write instruction by its ordering.
#[cfg(target_arch = "nvptx64")]
macro_rules! by_ordering {
    ($ordering:expr, $scope:literal, $pointer:expr, $after:expr, $output:tt, $input:tt) => {
        match $ordering {
            Ordering::Relaxed => {
                by_space!($pointer, concat!("atom.relaxed.", $scope), $after, $output, $input)
            }
            Ordering::Acquire => {
                by_space!($pointer, concat!("atom.acquire.", $scope), $after, $output, $input)
            }
            Ordering::Release => {
                by_space!($pointer, concat!("atom.release.", $scope), $after, $output, $input)
            }
            Ordering::AcqRel => {
                by_space!($pointer, concat!("atom.acq_rel.", $scope), $after, $output, $input)
            }
            _ => {
                asm!(concat!("fence.sc.", $scope, ";"), options(nostack, preserves_flags));
                by_space!($pointer, concat!("atom.acq_rel.", $scope), $after, $output, $input)
            }
        }
    };
}

/// Declares the operations of a scope.
macro_rules! scopes {
    (
        scopes { $($scope:ident $scope_name:literal;)* }
        operations $operations:tt
    ) => {
        scopes!(@trait $operations);
        $(scopes!(@scope $scope $scope_name $operations);)*
    };
    (@trait {
        words { $($class:ident $bits:literal $word:ident $load:ident $store:ident $compare:ident;)* }
        update { $($update:ident $update_class:ident $kind:ident $instruction:literal $host:expr;)* }
    }) => {
        /// A set of threads that see an operation as atomic and in order.
        pub trait Scope: sealed::Sealed {
            $(
                unsafe fn $load(pointer: *mut $word, ordering: Ordering) -> $word;
                unsafe fn $store(pointer: *mut $word, value: $word, ordering: Ordering);
                unsafe fn $compare(
                    pointer: *mut $word,
                    current: $word,
                    new: $word,
                    ordering: Ordering,
                ) -> $word;
            )*
            $(unsafe fn $update(pointer: *mut $kind, value: $kind, ordering: Ordering) -> $kind;)*
            fn fence(ordering: Ordering);
        }
    };
    (@scope $scope:ident $scope_name:literal {
        words { $($class:ident $bits:literal $word:ident $load:ident $store:ident $compare:ident;)* }
        update { $($update:ident $update_class:ident $kind:ident $instruction:literal $host:expr;)* }
    }) => {
        impl sealed::Sealed for $scope {}

        #[cfg(target_arch = "nvptx64")]
        impl Scope for $scope {
            $(
                #[inline(always)]
                unsafe fn $load(pointer: *mut $word, ordering: Ordering) -> $word {
                    let value: $word;
                    // SAFETY: the caller's contract: a valid place.
                    unsafe {
                        match ordering {
                            Ordering::Relaxed => by_space!(
                                pointer, concat!("ld.relaxed.", $scope_name),
                                concat!(".b", $bits, " {value}, [{pointer}];"),
                                (value = out($class) value,), ()
                            ),
                            Ordering::Release | Ordering::AcqRel => {
                                panic!("a load cannot release")
                            }
                            _ => {
                                if ordering != Ordering::Acquire {
                                    asm!(concat!("fence.sc.", $scope_name, ";"),
                                        options(nostack, preserves_flags));
                                }
                                by_space!(
                                    pointer, concat!("ld.acquire.", $scope_name),
                                    concat!(".b", $bits, " {value}, [{pointer}];"),
                                    (value = out($class) value,), ()
                                )
                            }
                        }
                    }
                    value
                }

                #[inline(always)]
                unsafe fn $store(pointer: *mut $word, value: $word, ordering: Ordering) {
                    // SAFETY: the caller's contract: a valid place.
                    unsafe {
                        match ordering {
                            Ordering::Relaxed => by_space!(
                                pointer, concat!("st.relaxed.", $scope_name),
                                concat!(".b", $bits, " [{pointer}], {value};"),
                                (), (value = in($class) value,)
                            ),
                            Ordering::Acquire | Ordering::AcqRel => {
                                panic!("a store cannot acquire")
                            }
                            _ => {
                                if ordering != Ordering::Release {
                                    asm!(concat!("fence.sc.", $scope_name, ";"),
                                        options(nostack, preserves_flags));
                                }
                                by_space!(
                                    pointer, concat!("st.release.", $scope_name),
                                    concat!(".b", $bits, " [{pointer}], {value};"),
                                    (), (value = in($class) value,)
                                )
                            }
                        }
                    }
                }

                #[inline(always)]
                unsafe fn $compare(
                    pointer: *mut $word,
                    current: $word,
                    new: $word,
                    ordering: Ordering,
                ) -> $word {
                    let old: $word;
                    // SAFETY: the caller's contract: a valid place.
                    unsafe {
                        by_ordering!(
                            ordering, $scope_name, pointer,
                            concat!(".cas.b", $bits, " {old}, [{pointer}], {current}, {new};"),
                            (old = out($class) old,),
                            (current = in($class) current, new = in($class) new,)
                        )
                    }
                    old
                }
            )*
            $(
                #[inline(always)]
                unsafe fn $update(pointer: *mut $kind, value: $kind, ordering: Ordering) -> $kind {
                    let old: $kind;
                    // SAFETY: the caller's contract: a valid place.
                    unsafe {
                        by_ordering!(
                            ordering, $scope_name, pointer,
                            concat!(".", $instruction, " {old}, [{pointer}], {value};"),
                            (old = out($update_class) old,),
                            (value = in($update_class) value,)
                        )
                    }
                    old
                }
            )*

            #[inline(always)]
            fn fence(ordering: Ordering) {
                // SAFETY: a fence has no precondition.
                unsafe {
                    match ordering {
                        Ordering::Relaxed => {}
                        Ordering::Acquire | Ordering::Release | Ordering::AcqRel => {
                            asm!(concat!("fence.acq_rel.", $scope_name, ";"),
                                options(nostack, preserves_flags));
                        }
                        _ => {
                            asm!(concat!("fence.sc.", $scope_name, ";"),
                                options(nostack, preserves_flags));
                        }
                    }
                }
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl Scope for $scope {
            $(
                unsafe fn $load(pointer: *mut $word, ordering: Ordering) -> $word {
                    // SAFETY: the caller's contract: a valid place.
                    unsafe { <host::$word>::from_ptr(pointer) }.load(ordering)
                }

                unsafe fn $store(pointer: *mut $word, value: $word, ordering: Ordering) {
                    // SAFETY: the caller's contract: a valid place.
                    unsafe { <host::$word>::from_ptr(pointer) }.store(value, ordering);
                }

                unsafe fn $compare(
                    pointer: *mut $word,
                    current: $word,
                    new: $word,
                    ordering: Ordering,
                ) -> $word {
                    // SAFETY: the caller's contract: a valid place.
                    let place = unsafe { <host::$word>::from_ptr(pointer) };
                    let failure = host::failure(ordering);
                    place.compare_exchange(current, new, ordering, failure).unwrap_or_else(|old| old)
                }
            )*
            $(
                unsafe fn $update(pointer: *mut $kind, value: $kind, ordering: Ordering) -> $kind {
                    // SAFETY: the caller's contract: a valid place.
                    unsafe { host::update(pointer, value, ordering, $host) }
                }
            )*

            fn fence(ordering: Ordering) {
                if ordering != Ordering::Relaxed {
                    core::sync::atomic::fence(ordering);
                }
            }
        }
    };
}

scopes! {
    scopes {
        Block "cta";
        Device "gpu";
        System "sys";
    }
    operations {
        words {
            reg16 16 u16 load_16 store_16 compare_16;
            reg32 32 u32 load_32 store_32 compare_32;
            reg64 64 u64 load_64 store_64 compare_64;
        }
        update {
            swap_32 reg32 u32 "exch.b32" |_, new| new;
            swap_64 reg64 u64 "exch.b64" |_, new| new;
            and_32 reg32 u32 "and.b32" |old, mask| old & mask;
            and_64 reg64 u64 "and.b64" |old, mask| old & mask;
            or_32 reg32 u32 "or.b32" |old, mask| old | mask;
            or_64 reg64 u64 "or.b64" |old, mask| old | mask;
            xor_32 reg32 u32 "xor.b32" |old, mask| old ^ mask;
            xor_64 reg64 u64 "xor.b64" |old, mask| old ^ mask;
            add_32 reg32 u32 "add.u32" u32::wrapping_add;
            add_64 reg64 u64 "add.u64" u64::wrapping_add;
            add_f32 reg32 f32 "add.f32" |old, value| old + value;
            add_f64 reg64 f64 "add.f64" |old, value| old + value;
            add_f16 reg16 u16 "add.noftz.f16" |old, value| {
                (f16::from_bits(old) + f16::from_bits(value)).to_bits()
            };
            add_bf16 reg16 u16 "add.noftz.bf16" |old, value| {
                (bf16::from_bits(old) + bf16::from_bits(value)).to_bits()
            };
            // The hardware adds both halves, each atomically by itself.
            add_f16x2 reg32 u32 "add.noftz.f16x2" |old, value| {
                (F16x2::from_bits(old) + F16x2::from_bits(value)).to_bits()
            };
            add_bf16x2 reg32 u32 "add.noftz.bf16x2" |old, value| {
                (Bf16x2::from_bits(old) + Bf16x2::from_bits(value)).to_bits()
            };
            inc_32 reg32 u32 "inc.u32" |old, limit| if old >= limit { 0 } else { old + 1 };
            dec_32 reg32 u32 "dec.u32" |old, limit| {
                if old == 0 || old > limit { limit } else { old - 1 }
            };
            min_u32 reg32 u32 "min.u32" Ord::min;
            min_i32 reg32 i32 "min.s32" Ord::min;
            min_u64 reg64 u64 "min.u64" Ord::min;
            min_i64 reg64 i64 "min.s64" Ord::min;
            max_u32 reg32 u32 "max.u32" Ord::max;
            max_i32 reg32 i32 "max.s32" Ord::max;
            max_u64 reg64 u64 "max.u64" Ord::max;
            max_i64 reg64 i64 "max.s64" Ord::max;
        }
    }
}

/// The operations on the host, by the atomics of `core`.
#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

    #[allow(non_camel_case_types)]
    pub type u16 = AtomicU16;
    #[allow(non_camel_case_types)]
    pub type u32 = AtomicU32;
    #[allow(non_camel_case_types)]
    pub type u64 = AtomicU64;

    /// The ordering of a compare-and-swap that finds another value.
    pub fn failure(success: Ordering) -> Ordering {
        match success {
            Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
            Ordering::SeqCst => Ordering::SeqCst,
            _ => Ordering::Relaxed,
        }
    }

    /// Replaces the value at a place by a function of it and another, and returns the old one.
    ///
    /// # Safety
    /// - Lengths: `pointer` leads to a number.
    /// - Alignment: it is aligned to the size of the number.
    /// - Aliasing: other threads access it atomically.
    pub unsafe fn update<T: Copy>(
        pointer: *mut T,
        value: T,
        ordering: Ordering,
        function: impl Fn(T, T) -> T,
    ) -> T {
        macro_rules! update_bits {
            ($atomic:ty, $bits:ty) => {{
                // SAFETY: the caller's contract, and a size that was compared.
                let place = unsafe { <$atomic>::from_ptr(pointer.cast()) };
                let of_bits = |bits: $bits| {
                    // SAFETY: `T` is a number of the same size.
                    unsafe { core::mem::transmute_copy::<$bits, T>(&bits) }
                };
                let replace = |bits| {
                    let new = function(of_bits(bits), value);
                    // SAFETY: `T` is a number of the same size.
                    Some(unsafe { core::mem::transmute_copy::<T, $bits>(&new) })
                };
                let old = place
                    .fetch_update(ordering, failure(ordering), replace)
                    .unwrap_or_else(|old| old);
                of_bits(old)
            }};
        }
        match size_of::<T>() {
            2 => update_bits!(AtomicU16, core::primitive::u16),
            4 => update_bits!(AtomicU32, core::primitive::u32),
            8 => update_bits!(AtomicU64, core::primitive::u64),
            _ => unreachable!("atomic numbers have 2, 4 or 8 bytes"),
        }
    }
}

/// The orderings of a compare-and-swap as the one that PTX has for both outcomes.
#[inline(always)]
fn strongest(success: Ordering, failure: Ordering) -> Ordering {
    match (success, failure) {
        (Ordering::SeqCst, _) | (_, Ordering::SeqCst) => Ordering::SeqCst,
        (Ordering::Relaxed, Ordering::Acquire) => Ordering::Acquire,
        (Ordering::Release, Ordering::Acquire) => Ordering::AcqRel,
        _ => success,
    }
}

/// The numbers that can be atomic.
///
/// # Safety
/// - Scope: this holds for every function of this trait and of those below.
/// - Lengths: `pointer` leads to a number of this type in global or shared memory, allocated until the call returns.
/// - Alignment: it is aligned to the size of the number.
/// - Aliasing: accesses of other threads at the same time are atomic as well, of the same size, and their scope and this
///   one include each other's threads.
pub trait Value: Copy {
    unsafe fn load<S: Scope>(pointer: *mut Self, ordering: Ordering) -> Self;
    unsafe fn store<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering);
    unsafe fn add<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self;
    unsafe fn sub<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self;
    /// The old value; its bits are those of `current` when it was replaced.
    unsafe fn compare_and_swap<S: Scope>(
        pointer: *mut Self,
        current: Self,
        new: Self,
        ordering: Ordering,
    ) -> Self;
    unsafe fn compare_exchange<S: Scope>(
        pointer: *mut Self,
        current: Self,
        new: Self,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Self, Self>;
}

/// The numbers of 4 and 8 bytes, for which PTX has these operations.
pub trait Word: Value {
    unsafe fn swap<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self;
    unsafe fn and<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self;
    unsafe fn or<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self;
    unsafe fn xor<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self;
}

/// The integers that can be atomic.
pub trait Integer: Value {
    unsafe fn minimum<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self;
    unsafe fn maximum<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self;
}

/// The counters that wrap around at a limit.
pub trait Counter: Value {
    unsafe fn increment<S: Scope>(pointer: *mut Self, limit: Self, ordering: Ordering) -> Self;
    unsafe fn decrement<S: Scope>(pointer: *mut Self, limit: Self, ordering: Ordering) -> Self;
}

impl Counter for u32 {
    #[inline(always)]
    unsafe fn increment<S: Scope>(pointer: *mut Self, limit: Self, ordering: Ordering) -> Self {
        // SAFETY: the caller's contract.
        unsafe { S::inc_32(pointer, limit, ordering) }
    }
    #[inline(always)]
    unsafe fn decrement<S: Scope>(pointer: *mut Self, limit: Self, ordering: Ordering) -> Self {
        // SAFETY: the caller's contract.
        unsafe { S::dec_32(pointer, limit, ordering) }
    }
}

/// Implements [`Value`], and [`Word`] where its operations are named, by the operations of a scope on words of the same
/// size.
macro_rules! values {
    ($(
        $kind:ident as $word:ident, $to_word:expr, $of_word:expr;
        $load:ident $store:ident $compare:ident $([$swap:ident $and:ident $or:ident $xor:ident])?,
        $add:ident($to_sum:expr, $of_sum:expr), $negate:expr;
    )*) => {
        $(
            // SAFETY of all blocks: by the caller's contract `pointer` is valid, aligned and shared by atomic accesses alone; the
            // word that it is cast to has the size and alignment of the number.
            #[allow(clippy::undocumented_unsafe_blocks)]
            impl Value for $kind {
                #[inline(always)]
                unsafe fn load<S: Scope>(pointer: *mut Self, ordering: Ordering) -> Self {
                    $of_word(unsafe { S::$load(pointer.cast(), ordering) })
                }
                #[inline(always)]
                unsafe fn store<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) {
                    unsafe { S::$store(pointer.cast(), $to_word(value), ordering) }
                }
                #[inline(always)]
                unsafe fn add<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self {
                    $of_sum(unsafe { S::$add(pointer.cast(), $to_sum(value), ordering) })
                }
                #[inline(always)]
                unsafe fn sub<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self {
                    unsafe { Self::add::<S>(pointer, $negate(value), ordering) }
                }
                #[inline(always)]
                unsafe fn compare_and_swap<S: Scope>(
                    pointer: *mut Self,
                    current: Self,
                    new: Self,
                    ordering: Ordering,
                ) -> Self {
                    $of_word(unsafe {
                        S::$compare(pointer.cast(), $to_word(current), $to_word(new), ordering)
                    })
                }
                #[inline(always)]
                unsafe fn compare_exchange<S: Scope>(
                    pointer: *mut Self,
                    current: Self,
                    new: Self,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<Self, Self> {
                    let ordering = strongest(success, failure);
                    let old = unsafe { Self::compare_and_swap::<S>(pointer, current, new, ordering) };
                    if $to_word(old) == $to_word(current) { Ok(old) } else { Err(old) }
                }
            }

            $(
                // SAFETY of all blocks: the caller's `pointer` is valid and aligned; the word has the number's size.
                #[allow(clippy::undocumented_unsafe_blocks)]
                impl Word for $kind {
                    #[inline(always)]
                    unsafe fn swap<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self {
                        $of_word(unsafe { S::$swap(pointer.cast(), $to_word(value), ordering) })
                    }
                    #[inline(always)]
                    unsafe fn and<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self {
                        $of_word(unsafe { S::$and(pointer.cast(), $to_word(value), ordering) })
                    }
                    #[inline(always)]
                    unsafe fn or<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self {
                        $of_word(unsafe { S::$or(pointer.cast(), $to_word(value), ordering) })
                    }
                    #[inline(always)]
                    unsafe fn xor<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self {
                        $of_word(unsafe { S::$xor(pointer.cast(), $to_word(value), ordering) })
                    }
                }
            )?
        )*
    };
}

values! {
    u32 as u32, identity, identity;
        load_32 store_32 compare_32 [swap_32 and_32 or_32 xor_32],
        add_32(identity, identity), u32::wrapping_neg;
    i32 as u32, i32::cast_unsigned, u32::cast_signed;
        load_32 store_32 compare_32 [swap_32 and_32 or_32 xor_32],
        add_32(i32::cast_unsigned, u32::cast_signed), i32::wrapping_neg;
    f32 as u32, f32::to_bits, f32::from_bits;
        load_32 store_32 compare_32 [swap_32 and_32 or_32 xor_32],
        add_f32(identity, identity), Neg::neg;
    u64 as u64, identity, identity;
        load_64 store_64 compare_64 [swap_64 and_64 or_64 xor_64],
        add_64(identity, identity), u64::wrapping_neg;
    i64 as u64, i64::cast_unsigned, u64::cast_signed;
        load_64 store_64 compare_64 [swap_64 and_64 or_64 xor_64],
        add_64(i64::cast_unsigned, u64::cast_signed), i64::wrapping_neg;
    f64 as u64, f64::to_bits, f64::from_bits;
        load_64 store_64 compare_64 [swap_64 and_64 or_64 xor_64],
        add_f64(identity, identity), Neg::neg;
    F16x2 as u32, F16x2::to_bits, F16x2::from_bits;
        load_32 store_32 compare_32 [swap_32 and_32 or_32 xor_32],
        add_f16x2(F16x2::to_bits, F16x2::from_bits), Neg::neg;
    f16 as u16, |value: f16| value.to_bits(), f16::from_bits;
        load_16 store_16 compare_16,
        add_f16(|value: f16| value.to_bits(), f16::from_bits), Neg::neg;
    bf16 as u16, |value: bf16| value.to_bits(), bf16::from_bits;
        load_16 store_16 compare_16,
        add_bf16(bf16_bits_since_90, bf16::from_bits), Neg::neg;
    Bf16x2 as u32, Bf16x2::to_bits, Bf16x2::from_bits;
        load_32 store_32 compare_32 [swap_32 and_32 or_32 xor_32],
        add_bf16x2(bits_since_90, Bf16x2::from_bits), Neg::neg;
}

/// The bits of what is added: only compute capability 9.0 adds it atomically.
#[inline(always)]
fn bf16_bits_since_90(value: bf16) -> u16 {
    require::<90>();
    value.to_bits()
}

/// As [`bf16_bits_since_90`].
#[inline(always)]
fn bits_since_90(value: Bf16x2) -> u32 {
    require::<90>();
    value.to_bits()
}

macro_rules! integers {
    ($($kind:ident $min:ident $max:ident;)*) => {
        $(
            impl Integer for $kind {
                #[inline(always)]
                unsafe fn minimum<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self {
                    // SAFETY: the caller's contract.
                    unsafe { S::$min(pointer, value, ordering) }
                }
                #[inline(always)]
                unsafe fn maximum<S: Scope>(pointer: *mut Self, value: Self, ordering: Ordering) -> Self {
                    // SAFETY: the caller's contract.
                    unsafe { S::$max(pointer, value, ordering) }
                }
            }
        )*
    };
}

integers! {
    u32 min_u32 max_u32;
    i32 min_i32 max_i32;
    u64 min_u64 max_u64;
    i64 min_i64 max_i64;
}
