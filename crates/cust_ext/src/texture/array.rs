use super::Texel;
use crate::error::{Result, argument, call};
use cust::sys::{CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUarray, CUmemorytype, CUmipmappedArray};
use std::ffi::c_uint;
use std::marker::PhantomData;

/// The arrangement of an array's texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One row.
    Line {
        /// Texels.
        width: usize,
    },
    /// Rows and columns.
    Plane {
        /// Texels of a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// Three dimensions.
    Volume {
        /// Texels of a row.
        width: usize,
        /// Rows of a slice.
        height: usize,
        /// Slices.
        depth: usize,
    },
    /// Layers of one row each, which are never mixed.
    Lines {
        /// Texels of a row.
        width: usize,
        /// Layers.
        layers: usize,
    },
    /// Layers of rows and columns, which are never mixed.
    Planes {
        /// Texels of a row.
        width: usize,
        /// Rows of a layer.
        height: usize,
        /// Layers.
        layers: usize,
    },
    /// Six square faces: +x, -x, +y, -y, +z, -z.
    Cube {
        /// Texels along an edge.
        edge: usize,
    },
}

impl Shape {
    /// Width, height, depth as the driver wants them, and flags.
    fn describe(self) -> ([usize; 3], c_uint) {
        match self {
            Shape::Line { width } => ([width, 0, 0], 0),
            Shape::Plane { width, height } => ([width, height, 0], 0),
            Shape::Volume { width, height, depth } => ([width, height, depth], 0),
            Shape::Lines { width, layers } => ([width, 0, layers], 1),
            Shape::Planes { width, height, layers } => ([width, height, layers], 1),
            Shape::Cube { edge } => ([edge, edge, 6], 4),
        }
    }

    fn check(self) -> Result<()> {
        let parts = match self {
            Shape::Line { width } => [width, 1, 1],
            Shape::Plane { width, height } => [width, height, 1],
            Shape::Volume { width, height, depth } => [width, height, depth],
            Shape::Lines { width, layers } => [width, 1, layers],
            Shape::Planes { width, height, layers } => [width, height, layers],
            Shape::Cube { edge } => [edge, edge, 6],
        };
        if parts.contains(&0) {
            return argument(format!(
                "an array of {self:?} has no texels: make each extent at least 1"
            ));
        }
        Ok(())
    }
}

/// Uses of an array besides plain fetches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uses {
    /// Kernels load and store texels through a [`super::Surface`].
    pub surfaces: bool,
    /// Kernels fetch one channel of four neighbours at once. Only for [`Shape::Plane`].
    pub gather: bool,
}

setters!(Uses { surfaces: bool, gather: bool });

/// An image that the driver lays out, so that neighbours in all directions share cache lines.
#[derive(Debug)]
pub struct Array<T: Texel> {
    handle: CUarray,
    extent: [usize; 3],
    uses: Uses,
    _texels: PhantomData<T>,
}

impl<T: Texel> Array<T> {
    /// An array whose texels are not yet written.
    ///
    /// # Errors
    /// An extent of zero or one that is too large, and the driver's.
    pub fn new(shape: Shape, uses: Uses) -> Result<Array<T>> {
        shape.check()?;
        let ([width, height, depth], flags) = shape.describe();
        let flags = flags | (2 * c_uint::from(uses.surfaces)) | (8 * c_uint::from(uses.gather));
        let descriptor = descriptor::<T>([width, height, depth], flags);
        let mut handle = std::ptr::null_mut();
        // SAFETY: a local to write to and a descriptor to read.
        unsafe { call!(cuArray3DCreate_v2(&mut handle, &descriptor))? };
        let extent = [width, height.max(1), depth.max(1)];
        Ok(Array { handle, extent, uses, _texels: PhantomData })
    }

    /// Texels of a row, rows, and slices, layers or faces.
    pub fn extent(&self) -> [usize; 3] {
        self.extent
    }

    /// All texels.
    pub fn len(&self) -> usize {
        self.extent.iter().product()
    }

    /// Never: an array has at least one texel.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Writes all texels: rows one after the other, then slices. Waits until it is done.
    pub fn upload(&mut self, texels: &[T]) -> Result<()> {
        upload(self.handle, self.extent, texels)
    }

    /// Reads all texels. Waits until it is done.
    pub fn download(&self, texels: &mut [T]) -> Result<()> {
        download(self.handle, self.extent, texels)
    }

    pub(super) fn raw(&self) -> CUarray {
        self.handle
    }

    pub(super) fn uses(&self) -> Uses {
        self.uses
    }
}

impl<T: Texel> Drop for Array<T> {
    fn drop(&mut self) {
        // SAFETY: the array is ours, and textures and surfaces of it borrow it; the driver waits for work that uses it.
        // A failure to free has no one to be told to.
        let _ = unsafe { call!(cuArrayDestroy(self.handle)) };
    }
}

/// An image with smaller versions of itself, each half as wide, high and deep as the one before.
#[derive(Debug)]
pub struct Mipmaps<T: Texel> {
    handle: CUmipmappedArray,
    extent: [usize; 3],
    is_volume: bool,
    levels: u32,
    _texels: PhantomData<T>,
}

impl<T: Texel> Mipmaps<T> {
    /// So many levels, whose texels are not yet written.
    ///
    /// # Errors
    /// An extent of zero or one that is too large, and the driver's.
    pub fn new(shape: Shape, levels: u32) -> Result<Mipmaps<T>> {
        shape.check()?;
        let ([width, height, depth], flags) = shape.describe();
        let most = width.max(height).ilog2() + 1;
        if !(1..=most).contains(&levels) {
            return argument(format!("{levels} levels of {shape:?}: there can be 1 to {most}"));
        }
        let descriptor = descriptor::<T>([width, height, depth], flags);
        let mut handle = std::ptr::null_mut();
        // SAFETY: a local to write to and a descriptor to read.
        unsafe { call!(cuMipmappedArrayCreate(&mut handle, &descriptor, levels))? };
        let is_volume = matches!(shape, Shape::Volume { .. });
        let extent = [width, height.max(1), depth.max(1)];
        Ok(Mipmaps { handle, extent, is_volume, levels, _texels: PhantomData })
    }

    /// Returns how many levels there are.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Texels of a row, rows, and slices, layers or faces of a level.
    pub fn extent(&self, level: u32) -> [usize; 3] {
        let [width, height, depth] = self.extent;
        let half = |n: usize| (n >> level).max(1);
        [half(width), half(height), if self.is_volume { half(depth) } else { depth }]
    }

    /// Writes all texels of a level. Waits until it is done.
    pub fn upload(&mut self, level: u32, texels: &[T]) -> Result<()> {
        upload(self.level(level)?, self.extent(level), texels)
    }

    /// Reads all texels of a level. Waits until it is done.
    pub fn download(&self, level: u32, texels: &mut [T]) -> Result<()> {
        download(self.level(level)?, self.extent(level), texels)
    }

    fn level(&self, level: u32) -> Result<CUarray> {
        if level >= self.levels {
            return argument(format!("level {level} of {}: the finest is 0", self.levels));
        }
        let mut handle = std::ptr::null_mut();
        // SAFETY: a local to write to and a mipmapped array that is alive.
        unsafe { call!(cuMipmappedArrayGetLevel(&mut handle, self.handle, level))? };
        Ok(handle)
    }

    pub(super) fn raw(&self) -> CUmipmappedArray {
        self.handle
    }
}

impl<T: Texel> Drop for Mipmaps<T> {
    fn drop(&mut self) {
        // SAFETY: as for an array.
        let _ = unsafe { call!(cuMipmappedArrayDestroy(self.handle)) };
    }
}

fn descriptor<T: Texel>(
    [width, height, depth]: [usize; 3],
    flags: c_uint,
) -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: depth,
        Format: T::FORMAT,
        NumChannels: T::CHANNELS,
        Flags: flags,
    }
}

/// A copy without sides.
fn copy_of<T>([width, height, depth]: [usize; 3]) -> CUDA_MEMCPY3D {
    let pitch = width * size_of::<T>();
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: std::ptr::null(),
        srcDevice: 0,
        srcArray: std::ptr::null_mut(),
        reserved0: std::ptr::null_mut(),
        srcPitch: pitch,
        srcHeight: height,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: std::ptr::null_mut(),
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        reserved1: std::ptr::null_mut(),
        dstPitch: pitch,
        dstHeight: height,
        WidthInBytes: pitch,
        Height: height,
        Depth: depth,
    }
}

fn check_length(extent: [usize; 3], length: usize) -> Result<()> {
    let has: usize = extent.iter().product();
    if length != has {
        return argument(format!("the image has {has} texels and the host slice {length}"));
    }
    Ok(())
}

fn upload<T: Texel>(array: CUarray, extent: [usize; 3], texels: &[T]) -> Result<()> {
    check_length(extent, texels.len())?;
    let mut copy = copy_of::<T>(extent);
    copy.srcHost = texels.as_ptr().cast();
    copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    // SAFETY: the slice has as many texels as the array, which is alive; the call returns when they were read.
    unsafe { call!(cuMemcpy3D_v2(&copy)) }
}

fn download<T: Texel>(array: CUarray, extent: [usize; 3], texels: &mut [T]) -> Result<()> {
    check_length(extent, texels.len())?;
    let mut copy = copy_of::<T>(extent);
    copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.dstHost = texels.as_mut_ptr().cast();
    // SAFETY: the slice has as many texels as the array, which is alive; any bytes are a texel, and the call returns
    // when they were written.
    unsafe { call!(cuMemcpy3D_v2(&copy)) }
}
