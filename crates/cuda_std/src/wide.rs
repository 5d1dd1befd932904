//! Loads and stores of 32 bytes for each thread: a sector. Compute capability 10.0. Beyond rust-cuda.
//!
//! A warp moves 1024 bytes by one instruction, half as many as with [`vector`](crate::vector)s of 16 bytes. They exist for
//! global memory alone. No GPU of this project has confirmed what they count.
//!
//! They are inline assembly that communicates with no other lane.
//!
//! Source: PTX ISA, "ld", "st": `.v8.b32` and `.v4.b64`, PTX 8.8.
//!
//! ```no_run
//! use cuda_std::wide;
//! # unsafe fn scale(x: *const [f32; 8], z: *mut [f32; 8]) { unsafe {
//! wide::store(z, wide::load(x).map(|x| 2.0 * x));
//! # }}
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::capability::require;
use crate::kernel::ByValue;

mod sealed {
    pub trait Sealed {}
}

/// An array of 32 bytes.
pub trait Wide: ByValue + sealed::Sealed {
    /// The array in words.
    #[doc(hidden)]
    fn into_words(self) -> [u32; 8];
    /// The array of words.
    #[doc(hidden)]
    fn from_words(words: [u32; 8]) -> Self;
}

macro_rules! of_words {
    ($($kind:ty: |$value:ident| $into:expr, |$word:ident| $from:expr;)*) => {
        $(
            impl sealed::Sealed for [$kind; 8] {}
            impl Wide for [$kind; 8] {
                #[inline(always)]
                fn into_words(self) -> [u32; 8] {
                    self.map(|$value| $into)
                }
                #[inline(always)]
                fn from_words(words: [u32; 8]) -> Self {
                    words.map(|$word| $from)
                }
            }
        )*
    };
}

macro_rules! of_pairs {
    ($($kind:ty: |$value:ident| $into:expr, |$bits:ident| $from:expr;)*) => {
        $(
            impl sealed::Sealed for [$kind; 4] {}
            impl Wide for [$kind; 4] {
                #[inline(always)]
                fn into_words(self) -> [u32; 8] {
                    let [a, b, c, d] = self.map(|$value| $into);
                    let (low, high) = (|bits: u64| bits as u32, |bits: u64| (bits >> 32) as u32);
                    [low(a), high(a), low(b), high(b), low(c), high(c), low(d), high(d)]
                }
                #[inline(always)]
                fn from_words(words: [u32; 8]) -> Self {
                    let [a, b, c, d, e, f, g, h] = words;
                    [[a, b], [c, d], [e, f], [g, h]].map(|[low, high]| {
                        let $bits = u64::from(high) << 32 | u64::from(low);
                        $from
                    })
                }
            }
        )*
    };
}

of_words! {
    u32: |value| value, |word| word;
    i32: |value| value as u32, |word| word as i32;
    f32: |value| value.to_bits(), |word| f32::from_bits(word);
}

of_pairs! {
    u64: |value| value, |bits| bits;
    i64: |value| value as u64, |bits| bits as i64;
    f64: |value| value.to_bits(), |bits| f64::from_bits(bits);
}

/// Loads 32 bytes of global memory. PTX: `ld.global.v8.b32`.
///
/// # Safety
/// - Lengths: `source` is valid for reads, in global memory.
/// - Alignment: `source` is aligned to 32 bytes.
#[inline(always)]
#[must_use]
pub unsafe fn load<T: Wide>(source: *const T) -> T {
    require::<100>();
    #[cfg(target_arch = "nvptx64")]
    {
        let (a, b, c, d): (u32, u32, u32, u32);
        let (e, f, g, h): (u32, u32, u32, u32);
        // SAFETY: the caller's contract; the address of global memory is the generic one.
        unsafe {
            asm!(
                "ld.global.v8.b32 {{{a}, {b}, {c}, {d}, {e}, {f}, {g}, {h}}}, [{source}];",
                a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                e = out(reg32) e, f = out(reg32) f, g = out(reg32) g, h = out(reg32) h,
                source = in(reg64) source,
                options(readonly, nostack, preserves_flags)
            );
        }
        T::from_words([a, b, c, d, e, f, g, h])
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's contract.
    unsafe {
        source.read()
    }
}

/// Stores 32 bytes to global memory. PTX: `st.global.v8.b32`.
///
/// # Safety
/// - Lengths: `target` is valid for writes, in global memory.
/// - Alignment: `target` is aligned to 32 bytes.
#[inline(always)]
pub unsafe fn store<T: Wide>(target: *mut T, value: T) {
    require::<100>();
    #[cfg(target_arch = "nvptx64")]
    {
        let [a, b, c, d, e, f, g, h] = value.into_words();
        // SAFETY: as for `load`.
        unsafe {
            asm!(
                "st.global.v8.b32 [{target}], {{{a}, {b}, {c}, {d}, {e}, {f}, {g}, {h}}};",
                a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
                e = in(reg32) e, f = in(reg32) f, g = in(reg32) g, h = in(reg32) h,
                target = in(reg64) target,
                options(nostack, preserves_flags)
            );
        }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's contract.
    unsafe {
        target.write(value);
    }
}
