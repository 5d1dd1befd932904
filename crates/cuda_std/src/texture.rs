//! Textures and surfaces: images that a kernel reads by coordinates, through the texture units.
//!
//! A handle is an argument of the kernel; the host makes it (`cust_ext::texture`). Its type says the dimensions and what
//! a fetch gives, so that a wrong instruction does not compile:
//!
//! ```text
//! #[kernel]
//! pub unsafe fn blur(image: Texture<Plane, f32>, target: *mut f32, width: u32) {
//!     let (x, y) = ...;
//!     let value = image.fetch(x as f32 + 1.0, y as f32 + 0.5);   // half way to the right neighbour
//!     unsafe { *target.add(i) = value };
//! }
//! ```
//!
//! | dimensions | read by | PTX |
//! |---|---|---|
//! | [`Buffer`]: plain memory | [`texel`](Texture::texel)`(i)` | `tex.1d.v4.*.s32` |
//! | [`Line`] | `fetch(x)` | `tex.1d` |
//! | [`Plane`] | `fetch(x, y)`, `texel(x, y)`, `fetch_level`, `gather` | `tex.2d`, `tex.level.2d`, `tld4` |
//! | [`Volume`] | `fetch(x, y, z)`, `texel(x, y, z)` | `tex.3d` |
//! | [`Lines`]: layers | `fetch(layer, x)` | `tex.a1d` |
//! | [`Planes`]: layers | `fetch(layer, x, y)`, `texel(layer, x, y)` | `tex.a2d` |
//! | [`Cube`] | `fetch(x, y, z)`: a direction | `tex.cube` |
//!
//! Coordinates of `fetch` are floats; texel `i` reaches from `i` to `i + 1`, its centre is `i + 0.5`. Coordinates beyond
//! the edge, NaN and infinity among them, find what the sampling says; integer coordinates beyond it find zero. Linear
//! filtering has weights of 256ths. What a fetch gives is what the texels are: floats, also for halves and for integers
//! that are read as normalized floats, or integers.
//!
//! Fetches are not coherent with stores of the same launch: the texture cache may hold what was there before.
//!
//! Sources: PTX ISA, "Texture Instructions" and "Surface Instructions".

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;
use core::marker::PhantomData;

use crate::gpu_only;
use crate::kernel::Parameter;
#[cfg(not(target_arch = "nvptx64"))]
use crate::nvvm;
use crate::vector::{F32x2, F32x4, I32x2, I32x4, U32x2, U32x4};

/// Plain memory, read by index.
#[derive(Debug, Clone, Copy)]
pub enum Buffer {}
/// One dimension.
#[derive(Debug, Clone, Copy)]
pub enum Line {}
/// Two dimensions.
#[derive(Debug, Clone, Copy)]
pub enum Plane {}
/// Three dimensions.
#[derive(Debug, Clone, Copy)]
pub enum Volume {}
/// Layers of one dimension.
#[derive(Debug, Clone, Copy)]
pub enum Lines {}
/// Layers of two dimensions.
#[derive(Debug, Clone, Copy)]
pub enum Planes {}
/// Six faces, read by a direction.
#[derive(Debug, Clone, Copy)]
pub enum Cube {}

mod sealed {
    /// A result of a fetch: the first channels of four words.
    pub trait Texel: Copy + 'static {
        fn from_words(words: [u32; 4]) -> Self;
    }
}
use sealed::Texel;

macro_rules! texels {
    ($($type:ty: |$words:ident| $value:expr;)*) => {$(
        impl Texel for $type {
            #[inline(always)]
            fn from_words($words: [u32; 4]) -> Self {
                $value
            }
        }
    )*};
}

texels! {
    u32: |w| w[0];
    i32: |w| w[0] as i32;
    f32: |w| f32::from_bits(w[0]);
    U32x2: |w| U32x2::new(w[0], w[1]);
    I32x2: |w| I32x2::new(w[0] as i32, w[1] as i32);
    F32x2: |w| F32x2::new(f32::from_bits(w[0]), f32::from_bits(w[1]));
    U32x4: |w| U32x4::new(w[0], w[1], w[2], w[3]);
    I32x4: |w| I32x4::new(w[0] as i32, w[1] as i32, w[2] as i32, w[3] as i32);
    F32x4: |w| F32x4::new(f32::from_bits(w[0]), f32::from_bits(w[1]), f32::from_bits(w[2]), f32::from_bits(w[3]));
}

macro_rules! handle {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[repr(transparent)]
        pub struct $name<D, T> {
            handle: u64,
            is: PhantomData<(D, T)>,
        }

        impl<D, T> Clone for $name<D, T> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<D, T> Copy for $name<D, T> {}

        impl<D, T> core::fmt::Debug for $name<D, T> {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(formatter, concat!(stringify!($name), "({:#x})"), self.handle)
            }
        }

        impl<D, T> $name<D, T> {
            /// The object that the driver gave this handle.
            ///
            /// # Safety
            /// - The object has these dimensions and texels, and exists until the last launch that uses it has ended.
            #[inline(always)]
            #[must_use]
            pub const unsafe fn from_raw(handle: u64) -> Self {
                $name { handle, is: PhantomData }
            }
        }

        // SAFETY: transparent around a `u64`. It is not `ByValue`, because only the driver makes handles.
        unsafe impl<D: 'static, T: 'static> Parameter for $name<D, T> {}
    };
}

handle! {
    /// A texture object with dimensions `D`, of which a fetch gives `T`.
    Texture
}
handle! {
    /// A surface object with dimensions `D` and texels of type `T`, with which columns are counted.
    Surface
}

/// One instruction that fills four words.
#[cfg(target_arch = "nvptx64")]
macro_rules! instruction {
    ($name:literal, $object:expr, $coordinates:literal, $level:literal, $($operands:tt)*) => {{
        let (a, b, c, d): (u32, u32, u32, u32);
        // SAFETY: the object exists and has these dimensions, by `from_raw`; coordinates have no precondition.
        unsafe {
            asm!(
                concat!($name, " {{{a}, {b}, {c}, {d}}}, [{object}, {{", $coordinates, "}}]", $level, ";"),
                a = out(reg32) a,
                b = out(reg32) b,
                c = out(reg32) c,
                d = out(reg32) d,
                object = in(reg64) $object,
                $($operands)*
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        Texel::from_words([a, b, c, d])
    }};
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! instruction {
    ($name:literal, $object:expr, $coordinates:literal, $level:literal, $($operand:ident = in($class:ident) $value:expr,)*) => {{
        let _ = ($object, $($value),*);
        nvvm::outside_kernel("Texture")
    }};
}

/// Declares fetches, each with its instruction, how it takes coordinates, and how it takes a level.
macro_rules! fetches {
    ($($dimensions:ident $texel:ident { $($(#[$documentation:meta])* $name:ident($($argument:ident: $kind:ty),*) -> $result:ty
        = $instruction:literal $coordinates:literal $level:literal;)* })*) => {$(
        fetches!(@impl $dimensions $texel {$(
            $(#[$documentation])*
            #[doc = concat!("PTX: `", $instruction, "`.")]
            #[inline(always)]
            #[must_use]
            pub fn $name(self, $($argument: $kind),*) -> $result {
                instruction!($instruction, self.handle, $coordinates, $level, $($argument = in(reg32) $argument,)*)
            }
        )*});
    )*};
    (@impl $dimensions:ident f32 { $($functions:tt)* }) => {
        impl Texture<$dimensions, f32> { $($functions)* }
    };
    (@impl $dimensions:ident $texel:ident { $($functions:tt)* }) => {
        impl<$texel: Texel> Texture<$dimensions, $texel> { $($functions)* }
    };
}

fetches! {
    Buffer T {
        /// The element at `index`; zero beyond the end.
        texel(index: i32) -> T = "tex.1d.v4.u32.s32" "{index}" "";
    }
    Line T {
        /// The value at `x`.
        fetch(x: f32) -> T = "tex.1d.v4.u32.f32" "{x}" "";
    }
    Plane T {
        /// The value at `x` and `y`.
        fetch(x: f32, y: f32) -> T = "tex.2d.v4.u32.f32" "{x}, {y}" "";
        /// The texel in this column and row; zero beyond the edge.
        texel(x: i32, y: i32) -> T = "tex.2d.v4.u32.s32" "{x}, {y}" "";
        /// The value at `x` and `y` of a level of detail, of an image with levels.
        fetch_level(x: f32, y: f32, level: f32) -> T = "tex.level.2d.v4.u32.f32" "{x}, {y}" ", {level}";
    }
    Plane f32 {
        /// The first channel of the four texels around `x` and `y`: below left, below right, above right, above left, where
        /// below is the larger y. The array was made for it.
        gather(x: f32, y: f32) -> F32x4 = "tld4.r.2d.v4.u32.f32" "{x}, {y}" "";
    }
    Volume T {
        /// The value at `x`, `y` and `z`.
        fetch(x: f32, y: f32, z: f32) -> T = "tex.3d.v4.u32.f32" "{x}, {y}, {z}, {z}" "";
        /// The texel in this column, row and slice; zero beyond the edge.
        texel(x: i32, y: i32, z: i32) -> T = "tex.3d.v4.u32.s32" "{x}, {y}, {z}, {z}" "";
    }
    Lines T {
        /// The value at `x` of a layer; the last for a layer beyond it.
        fetch(layer: u32, x: f32) -> T = "tex.a1d.v4.u32.f32" "{layer}, {x}" "";
    }
    Planes T {
        /// The value at `x` and `y` of a layer; the last for a layer beyond it.
        fetch(layer: u32, x: f32, y: f32) -> T = "tex.a2d.v4.u32.f32" "{layer}, {x}, {y}, {y}" "";
        /// The texel in this column and row of a layer; zero beyond the edge.
        texel(layer: u32, x: i32, y: i32) -> T = "tex.a2d.v4.u32.s32" "{layer}, {x}, {y}, {y}" "";
    }
    Cube T {
        /// The value that this direction points to.
        fetch(x: f32, y: f32, z: f32) -> T = "tex.cube.v4.u32.f32" "{x}, {y}, {z}, {z}" "";
    }
}

/// Loads and stores of a surface; PTX counts columns in bytes.
macro_rules! surface {
    ($($type:ty, $class:ident, $elements:literal, $values:literal, |$value:ident| ($($name:ident: $from:expr),*) => $made:expr;)*) => {$(
        impl Surface<Plane, $type> {
            /// The texel in this column and row.
            #[doc = concat!("PTX: `suld.b.2d", $elements, ".trap`.")]
            ///
            /// # Safety
            /// - The column and the row lie in the surface; otherwise the kernel is stopped.
            /// - No other thread of the launch stores this texel.
            #[gpu_only]
            #[inline(always)]
            #[must_use]
            pub unsafe fn load(self, x: u32, y: u32) -> $type {
                $(let $name;)*
                // SAFETY: the object exists and is a plane, by `from_raw`; the rest is the caller's.
                unsafe {
                    asm!(
                        concat!("suld.b.2d", $elements, ".trap {{", $values, "}}, [{object}, {{{x}, {y}}}];"),
                        $($name = out($class) $name,)*
                        object = in(reg64) self.handle,
                        x = in(reg32) x * size_of::<$type>() as u32,
                        y = in(reg32) y,
                        options(readonly, nostack, preserves_flags)
                    );
                }
                $made
            }

            /// Stores the texel in this column and row.
            #[doc = concat!("PTX: `sust.b.2d", $elements, ".trap`.")]
            ///
            /// # Safety
            /// - The column and the row lie in the surface; otherwise the kernel is stopped.
            /// - No other thread of the launch loads or stores this texel.
            #[gpu_only]
            #[inline(always)]
            pub unsafe fn store(self, x: u32, y: u32, $value: $type) {
                $(let $name = $from;)*
                // SAFETY: as for a load.
                unsafe {
                    asm!(
                        concat!("sust.b.2d", $elements, ".trap [{object}, {{{x}, {y}}}], {{", $values, "}};"),
                        object = in(reg64) self.handle,
                        x = in(reg32) x * size_of::<$type>() as u32,
                        y = in(reg32) y,
                        $($name = in($class) $name,)*
                        options(nostack, preserves_flags)
                    );
                }
            }
        }
    )*};
}

surface! {
    u8, reg16, ".b8", "{a}", |value| (a: u16::from(value)) => { let a: u16 = a; a as u8 };
    u16, reg16, ".b16", "{a}", |value| (a: value) => { let a: u16 = a; a };
    u32, reg32, ".b32", "{a}", |value| (a: value) => { let a: u32 = a; a };
    i32, reg32, ".b32", "{a}", |value| (a: value) => { let a: i32 = a; a };
    f32, reg32, ".b32", "{a}", |value| (a: value) => { let a: f32 = a; a };
    F32x2, reg32, ".v2.b32", "{a}, {b}", |value| (a: value.x, b: value.y) => F32x2::new(a, b);
    F32x4, reg32, ".v4.b32", "{a}, {b}, {c}, {d}",
        |value| (a: value.x, b: value.y, c: value.z, d: value.w) => F32x4::new(a, b, c, d);
}
