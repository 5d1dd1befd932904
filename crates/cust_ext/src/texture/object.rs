use super::{Array, Mipmaps, PitchedBuffer, Texel};
use crate::error::{Result, argument, call};
use cust::memory::{DeviceBuffer, DeviceSlice};
use cust::sys::{
    CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC, CUaddress_mode, CUarray_format, CUfilter_mode,
    CUresourcetype,
};
use std::any::Any;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

/// `CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT` and the fewest texels that any device of compute capability
/// 5.0 and above takes.
const ALIGNMENT: u64 = 512;
const TEXELS_MOST: usize = 1 << 27;

/// The values beyond the edge of an image. [`AddressMode::Wrap`] and [`AddressMode::Mirror`] need normalized
/// coordinates, and are [`AddressMode::Clamp`] without.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// The image again.
    Wrap,
    /// The texel at the edge.
    #[default]
    Clamp,
    /// The image mirrored.
    Mirror,
    /// [`Sampling::border`].
    Border,
}

/// Rule for the texels that make a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Filter {
    /// The one that the coordinates fall into.
    #[default]
    Nearest,
    /// Those around the coordinates, weighed by their distance in 256ths.
    Linear,
}

/// The use of levels in a fetch from a [`Mipmaps`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// The filter between two levels.
    pub filter: Filter,
    /// Added to the level that a fetch names.
    pub bias: f32,
    /// The finest level that is read.
    pub finest: f32,
    /// The coarsest level that is read.
    pub coarsest: f32,
}

impl Default for Levels {
    fn default() -> Levels {
        Levels { filter: Filter::Nearest, bias: 0.0, finest: 0.0, coarsest: f32::MAX }
    }
}

/// The way from coordinates to a value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Sampling {
    /// Beyond the edges in x, y and z.
    pub address: [AddressMode; 3],
    /// Rule for the texels that make a value.
    pub filter: Filter,
    /// Coordinates run from 0 to 1 instead of from 0 to the number of texels.
    pub normalized_coordinates: bool,
    /// Integers of 8 and 16 bits are read as floats from 0 to 1, signed ones from -1 to 1.
    pub normalized_floats: bool,
    /// The colour of [`AddressMode::Border`].
    pub border: [f32; 4],
    /// The use of levels.
    pub levels: Levels,
}

setters!(Sampling {
    address: [AddressMode; 3],
    filter: Filter,
    normalized_coordinates: bool,
    normalized_floats: bool,
    border: [f32; 4],
    levels: Levels,
});

impl Sampling {
    fn check<T: Texel>(&self) -> Result<()> {
        let is_float = matches!(
            T::FORMAT,
            CUarray_format::CU_AD_FORMAT_FLOAT | CUarray_format::CU_AD_FORMAT_HALF
        );
        let is_small = size_of::<T>() as u32 / T::CHANNELS < 4;
        if self.normalized_floats && (is_float || !is_small) {
            return argument(
                "normalized floats are made of integers of 8 and 16 bits: take it away",
            );
        }
        if self.filter == Filter::Linear && !is_float && !self.normalized_floats {
            return argument(
                "linear filtering needs floats: set `normalized_floats`, or take the nearest texel",
            );
        }
        Ok(())
    }

    fn describe(&self) -> CUDA_TEXTURE_DESC {
        let filter = |filter| match filter {
            Filter::Nearest => CUfilter_mode::CU_TR_FILTER_MODE_POINT,
            Filter::Linear => CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
        };
        CUDA_TEXTURE_DESC {
            addressMode: self.address.map(|mode| match mode {
                AddressMode::Wrap => CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP,
                AddressMode::Clamp => CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP,
                AddressMode::Mirror => CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR,
                AddressMode::Border => CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER,
            }),
            filterMode: filter(self.filter),
            flags: u32::from(!self.normalized_floats)
                | (2 * u32::from(self.normalized_coordinates)),
            maxAnisotropy: 0,
            mipmapFilterMode: filter(self.levels.filter),
            mipmapLevelBias: self.levels.bias,
            minMipmapLevelClamp: self.levels.finest,
            maxMipmapLevelClamp: self.levels.coarsest,
            borderColor: self.border,
            reserved: [0; 12],
        }
    }
}

/// A texture object; its image is borrowed, or owned.
#[derive(Debug)]
pub struct Texture<'image> {
    handle: u64,
    /// Dropped after the object was destroyed.
    _owned: Option<Box<dyn Any>>,
    _image: PhantomData<&'image ()>,
}

impl Texture<'static> {
    /// A texture that owns its array.
    pub fn owning_array<T: Texel>(
        array: Array<T>,
        sampling: &Sampling,
    ) -> Result<Texture<'static>> {
        let handle = Texture::of_array(&array, sampling)?.into_handle();
        Ok(Texture { handle, _owned: Some(Box::new(array)), _image: PhantomData })
    }

    /// A texture that owns the plain memory that it reads by index.
    pub fn owning_buffer<T: Texel>(
        buffer: DeviceBuffer<T>,
        normalized_floats: bool,
    ) -> Result<Texture<'static>> {
        let handle = Texture::of_slice(&buffer, normalized_floats)?.into_handle();
        Ok(Texture { handle, _owned: Some(Box::new(buffer)), _image: PhantomData })
    }
}

impl<'image> Texture<'image> {
    /// A texture of an array.
    ///
    /// # Errors
    /// [`Sampling`] that texels of this type do not have, and the driver's.
    pub fn of_array<T: Texel>(
        array: &'image Array<T>,
        sampling: &Sampling,
    ) -> Result<Texture<'image>> {
        sampling.check::<T>()?;
        let mut resource = resource(CUresourcetype::CU_RESOURCE_TYPE_ARRAY);
        resource.res.array.hArray = array.raw();
        Texture::new(&resource, sampling)
    }

    /// A texture of an image with several levels. Coordinates are normalized, as levels differ in size.
    ///
    /// # Errors
    /// [`Sampling`] that texels of this type do not have, and the driver's.
    pub fn of_mipmaps<T: Texel>(
        mipmaps: &'image Mipmaps<T>,
        sampling: &Sampling,
    ) -> Result<Texture<'image>> {
        sampling.check::<T>()?;
        if !sampling.normalized_coordinates {
            return argument("levels differ in size: set `normalized_coordinates`");
        }
        let mut resource = resource(CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
        resource.res.mipmap.hMipmappedArray = mipmaps.raw();
        Texture::new(&resource, sampling)
    }

    /// A texture of a plane in plain memory.
    ///
    /// # Errors
    /// [`Sampling`] that texels of this type do not have, and the driver's.
    pub fn of_pitched<T: Texel>(
        plane: &'image PitchedBuffer<T>,
        sampling: &Sampling,
    ) -> Result<Texture<'image>> {
        sampling.check::<T>()?;
        let mut resource = resource(CUresourcetype::CU_RESOURCE_TYPE_PITCH2D);
        let [width, height] = plane.extent();
        resource.res.pitch2D.devPtr = plane.address();
        resource.res.pitch2D.format = T::FORMAT;
        resource.res.pitch2D.numChannels = T::CHANNELS;
        resource.res.pitch2D.width = width;
        resource.res.pitch2D.height = height;
        resource.res.pitch2D.pitchInBytes = plane.pitch_bytes();
        Texture::new(&resource, sampling)
    }

    /// A texture of plain memory, read by index; beyond it, a fetch gives zero.
    ///
    /// # Errors
    /// [`Sampling`] that texels of this type do not have, and the driver's.
    pub fn of_slice<T: Texel>(
        values: &'image DeviceSlice<T>,
        normalized_floats: bool,
    ) -> Result<Texture<'image>> {
        let sampling = Sampling { normalized_floats, ..Sampling::default() };
        sampling.check::<T>()?;
        let address = values.as_device_ptr().as_raw();
        if !address.is_multiple_of(ALIGNMENT) || values.len() > TEXELS_MOST {
            return argument(format!(
                "a texture of linear memory begins at a multiple of {ALIGNMENT} bytes and has at most {TEXELS_MOST} \
                 texels, and the slice at {address:#x} has {}: begin with the first element of an allocation",
                values.len()
            ));
        }
        let mut resource = resource(CUresourcetype::CU_RESOURCE_TYPE_LINEAR);
        resource.res.linear.devPtr = address;
        resource.res.linear.format = T::FORMAT;
        resource.res.linear.numChannels = T::CHANNELS;
        resource.res.linear.sizeInBytes = values.len() * size_of::<T>();
        Texture::new(&resource, &sampling)
    }

    fn new(resource: &CUDA_RESOURCE_DESC, sampling: &Sampling) -> Result<Texture<'image>> {
        let mut handle = 0;
        let description = sampling.describe();
        // SAFETY: a local to write to, and descriptions of an image that is alive and stays so while it is borrowed.
        unsafe { call!(cuTexObjectCreate(&mut handle, resource, &description, std::ptr::null()))? };
        Ok(Texture { handle, _owned: None, _image: PhantomData })
    }

    /// The object, to be destroyed by someone else.
    fn into_handle(self) -> u64 {
        ManuallyDrop::new(self).handle
    }

    /// Returns what a kernel takes: `cuda_std::texture::Texture::from_raw`.
    pub fn handle(&self) -> u64 {
        self.handle
    }
}

impl Drop for Texture<'_> {
    fn drop(&mut self) {
        // SAFETY: the object is ours. Launches that use it are the caller's to wait for, as each launch promises.
        let _ = unsafe { call!(cuTexObjectDestroy(self.handle)) };
    }
}

/// A surface object; its array is borrowed.
#[derive(Debug)]
pub struct Surface<'image> {
    handle: u64,
    _image: PhantomData<&'image ()>,
}

impl<'image> Surface<'image> {
    /// A surface of an array that was made for it.
    ///
    /// # Errors
    /// An array that was made without `Uses::surfaces`, and the driver's.
    pub fn new<T: Texel>(array: &'image Array<T>) -> Result<Surface<'image>> {
        if !array.uses().surfaces {
            return argument("the array was made without `Uses::surfaces`: make it with");
        }
        let mut resource = resource(CUresourcetype::CU_RESOURCE_TYPE_ARRAY);
        resource.res.array.hArray = array.raw();
        let mut handle = 0;
        // SAFETY: as for a texture.
        unsafe { call!(cuSurfObjectCreate(&mut handle, &resource))? };
        Ok(Surface { handle, _image: PhantomData })
    }

    /// Returns what a kernel takes: `cuda_std::texture::Surface::from_raw`.
    pub fn handle(&self) -> u64 {
        self.handle
    }
}

impl Drop for Surface<'_> {
    fn drop(&mut self) {
        // SAFETY: as for a texture.
        let _ = unsafe { call!(cuSurfObjectDestroy(self.handle)) };
    }
}

/// A resource of this kind, all zero.
fn resource(kind: CUresourcetype) -> CUDA_RESOURCE_DESC {
    // SAFETY: integers, null pointers and a union of them; zero is a listed value of each enum that is read.
    let mut resource: CUDA_RESOURCE_DESC = unsafe { std::mem::zeroed() };
    resource.resType = kind;
    resource
}
