//! Textures and surfaces: images that kernels read by coordinates, and write.
//!
//! An image is an [`Array`] (one to three dimensions, layers, cube maps; the driver lays it out), a [`Mipmaps`] of
//! several levels, a [`PitchedBuffer`] or a plain slice of device memory. A [`Texture`] says how coordinates become
//! texels ([`Sampling`]); a [`Surface`] is for loads and stores of whole texels. Both borrow their image, so it outlives
//! them, or a texture owns it; a kernel gets their [`handle`](Texture::handle).
//!
//! ```no_run
//! use cust_ext::texture::{Array, Filter, Sampling, Shape, Texture, Uses};
//! # fn f(pixels: &[f32]) -> cust_ext::Result<()> {
//! let mut array = Array::<f32>::new(Shape::Plane { width: 64, height: 32 }, Uses::default())?;
//! array.upload(pixels)?;
//! let texture = Texture::of_array(&array, &Sampling::default().filter(Filter::Linear))?;
//! let argument: u64 = texture.handle();
//! # Ok(())
//! # }
//! ```
//!
//! What a kernel writes to an image is seen by fetches of later launches, not of the same one.

mod array;
mod object;
mod pitched;

pub use array::{Array, Mipmaps, Shape, Uses};
pub use object::{AddressMode, Filter, Levels, Sampling, Surface, Texture};
pub use pitched::PitchedBuffer;

use bytemuck::{Pod, Zeroable};
use cust::memory::DeviceCopy;
use cust::sys::CUarray_format;

/// The bits of a half-precision float.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable, DeviceCopy)]
#[repr(transparent)]
pub struct Half(pub u16);

/// A type of texel: one, two or four channels of one type.
pub trait Texel: Pod + DeviceCopy {
    #[doc(hidden)]
    const FORMAT: CUarray_format;
    #[doc(hidden)]
    const CHANNELS: u32;
}

macro_rules! texels {
    ($($type:ty: $format:ident;)*) => {$(
        impl Texel for $type {
            const FORMAT: CUarray_format = CUarray_format::$format;
            const CHANNELS: u32 = 1;
        }
        impl Texel for [$type; 2] {
            const FORMAT: CUarray_format = CUarray_format::$format;
            const CHANNELS: u32 = 2;
        }
        impl Texel for [$type; 4] {
            const FORMAT: CUarray_format = CUarray_format::$format;
            const CHANNELS: u32 = 4;
        }
    )*};
}

texels! {
    u8: CU_AD_FORMAT_UNSIGNED_INT8;
    i8: CU_AD_FORMAT_SIGNED_INT8;
    u16: CU_AD_FORMAT_UNSIGNED_INT16;
    i16: CU_AD_FORMAT_SIGNED_INT16;
    u32: CU_AD_FORMAT_UNSIGNED_INT32;
    i32: CU_AD_FORMAT_SIGNED_INT32;
    f32: CU_AD_FORMAT_FLOAT;
    Half: CU_AD_FORMAT_HALF;
}
