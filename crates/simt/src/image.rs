//! Texture and surface instructions, with registers resolved.

use crate::register::Register;

/// The dimensions that a texture or surface instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Geometry {
    Line,
    Plane,
    Volume,
    Lines,
    Planes,
    Cube,
    Cubes,
}

/// The level that a fetch names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelOperand {
    Nothing,
    Float(u32),
    Whole(u32),
}

/// Registers of a place in a texture or surface.
#[derive(Clone, Debug)]
pub(crate) struct TexelAddress {
    pub geometry: Geometry,
    pub object: u32,
    pub layer: Option<u32>,
    /// x, y and z, as many as there are.
    pub at: Vec<u32>,
}

/// `tex` and `tld4`.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    pub address: TexelAddress,
    /// Integer coordinates.
    pub whole: bool,
    pub level: LevelOperand,
    /// The one channel of four texels: `tld4`.
    pub gather: Option<usize>,
    pub results: Vec<Register>,
}

/// The behaviour of a surface access beyond the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    Trap,
    Clamp,
    Zero,
}

/// `suld.b` and `sust.b`.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceAccess {
    pub address: TexelAddress,
    pub beyond: Beyond,
    /// Bytes of one element; x counts bytes.
    pub bytes: u32,
    pub rows: Vec<Register>,
}

/// The question of a `txq` or `suq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextureQuestion {
    Width,
    Height,
    Depth,
}

/// `txq` and `suq`.
#[derive(Clone, Debug)]
pub(crate) struct TextureQuery {
    pub question: TextureQuestion,
    pub object: u32,
    pub destination: Register,
}

/// A texture or surface instruction.
#[derive(Clone, Debug)]
pub(crate) enum ImageOperation {
    Fetch(Fetch),
    Load(SurfaceAccess),
    Store(SurfaceAccess),
    Query(TextureQuery),
}

impl ImageOperation {
    /// Bytes of one element that it loads from a surface, or stores to it.
    pub fn surface_bytes(&self) -> Option<u32> {
        match self {
            ImageOperation::Load(access) | ImageOperation::Store(access) => Some(access.bytes),
            ImageOperation::Fetch(_) | ImageOperation::Query(_) => None,
        }
    }
}
