use crate::code::CuResult;
use cuda_driver::ReturnCode;
use gpu_model::Profile;
use simt::{Format, Image, Level, Shape};

/// `CUDA_ARRAY3D_LAYERED` and its neighbours.
const LAYERED: u32 = 1;
const CUBE: u32 = 4;
const GATHER: u32 = 8;
const KNOWN: u32 = 0xff;

/// The request for an array.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ArrayRequest {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
    pub(crate) format: u32,
    pub(crate) channels: u32,
    pub(crate) flags: u32,
}

/// An array, or a level of a mipmapped array.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) request: ArrayRequest,
    pub(crate) image: Image,
    /// The levels of a mipmapped array go with it.
    pub(crate) is_level: bool,
}

/// The format of a number of `CUarray_format`.
pub(crate) fn format(number: u32) -> CuResult<Format> {
    Ok(match number {
        1 => Format::Unsigned8,
        2 => Format::Unsigned16,
        3 => Format::Unsigned32,
        8 => Format::Signed8,
        9 => Format::Signed16,
        10 => Format::Signed32,
        16 => Format::Half,
        32 => Format::Single,
        _ => return Err(ReturnCode::INVALID_VALUE),
    })
}

impl ArrayRequest {
    fn shape(&self) -> CuResult<Shape> {
        let ArrayRequest { width, height, depth, flags, .. } = *self;
        let shape = match (flags & LAYERED != 0, flags & CUBE != 0) {
            (false, true) if depth == 6 => Shape::Cube,
            (true, true) if depth.is_multiple_of(6) && depth > 0 => Shape::Cubes,
            (_, true) => return Err(ReturnCode::INVALID_VALUE),
            (true, false) if depth == 0 => return Err(ReturnCode::INVALID_VALUE),
            (true, false) if height == 0 => Shape::Lines,
            (true, false) => Shape::Planes,
            _ if depth > 0 && height == 0 => return Err(ReturnCode::INVALID_VALUE),
            _ if depth > 0 => Shape::Volume,
            _ if height > 0 => Shape::Plane,
            _ => Shape::Line,
        };
        let is_cube = matches!(shape, Shape::Cube | Shape::Cubes);
        if width == 0 || is_cube && width != height {
            return Err(ReturnCode::INVALID_VALUE);
        }
        Ok(shape)
    }

    /// The largest extents of such an array.
    fn limits(&self, profile: &Profile, shape: Shape, levels: usize) -> [usize; 3] {
        let [width, height, depth] = match shape {
            Shape::Buffer | Shape::Line if levels > 1 => [77, 77, 77],
            Shape::Buffer | Shape::Line => [21, 21, 21],
            Shape::Plane if levels > 1 => [73, 74, 74],
            Shape::Plane if self.flags & GATHER != 0 => [45, 46, 46],
            Shape::Plane => [22, 23, 23],
            Shape::Volume => [24, 25, 61],
            Shape::Lines => [42, 42, 43],
            Shape::Planes => [27, 28, 29],
            Shape::Cube => [52, 52, 52],
            Shape::Cubes => [53, 53, 54],
        };
        let limit = |number| profile.attribute(number).unwrap_or(0) as usize;
        [limit(width), limit(height), limit(depth)]
    }

    /// The image of such an array, without memory.
    pub(crate) fn image(&self, profile: &Profile, levels: usize) -> CuResult<Image> {
        let shape = self.shape()?;
        let ArrayRequest { width, height, depth, channels, flags, .. } = *self;
        let most = self.limits(profile, shape, levels);
        let is_gathered = flags & GATHER != 0;
        let fits = [width, height, depth].iter().zip(most).all(|(n, most)| *n <= most);
        if !fits
            || !matches!(channels, 1 | 2 | 4)
            || flags & !KNOWN != 0
            || is_gathered && shape != Shape::Plane
        {
            return Err(ReturnCode::INVALID_VALUE);
        }
        Ok(Image {
            shape,
            format: format(self.format)?,
            channels,
            width: width as u32,
            height: height.max(1) as u32,
            depth: depth.max(1) as u32,
            levels: vec![Level { address: 0, pitch: None }; levels],
        })
    }
}
