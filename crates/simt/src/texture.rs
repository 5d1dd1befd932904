//! Images in device memory, and how a texture reads them: what a texture or surface handle stands for.

/// The format of one channel of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `u8`.
    Unsigned8,
    /// `i8`.
    Signed8,
    /// `u16`.
    Unsigned16,
    /// `i16`.
    Signed16,
    /// `u32`.
    Unsigned32,
    /// `i32`.
    Signed32,
    /// A half-precision float.
    Half,
    /// A single-precision float.
    Single,
}

impl Format {
    /// Bytes of one channel.
    pub fn bytes(self) -> u32 {
        match self {
            Format::Unsigned8 | Format::Signed8 => 1,
            Format::Unsigned16 | Format::Signed16 | Format::Half => 2,
            Format::Unsigned32 | Format::Signed32 | Format::Single => 4,
        }
    }

    /// Returns whether it holds floats.
    pub fn is_float(self) -> bool {
        matches!(self, Format::Half | Format::Single)
    }
}

/// The arrangement of an image's texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Plain memory, read by index: `tex1Dfetch`.
    Buffer,
    /// One dimension.
    Line,
    /// Two dimensions.
    Plane,
    /// Three dimensions.
    Volume,
    /// Layers of one dimension each.
    Lines,
    /// Layers of two dimensions each.
    Planes,
    /// Six square faces.
    Cube,
    /// Layers of six square faces each.
    Cubes,
}

impl Shape {
    /// Returns whether the third extent counts layers, or faces of layers.
    pub fn is_layered(self) -> bool {
        matches!(self, Shape::Lines | Shape::Planes | Shape::Cube | Shape::Cubes)
    }

    /// Returns whether a level has only one row.
    pub fn is_flat(self) -> bool {
        matches!(self, Shape::Buffer | Shape::Line | Shape::Lines)
    }
}

/// Texels of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The first byte.
    pub address: u64,
    /// Bytes from one row to the next in plain memory; `None` for tiles of 64 bytes by 8 rows, as in arrays.
    pub pitch: Option<u64>,
}

/// Bytes of a row of a tile, and rows of a tile.
const TILE: (u64, u64) = (64, 8);

/// Texels in device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The arrangement of the texels.
    pub shape: Shape,
    /// The format of a channel.
    pub format: Format,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// Texels of a row.
    pub width: u32,
    /// Rows; 1 where there is only one.
    pub height: u32,
    /// Depth of a volume, or the number of layers or of faces; otherwise 1.
    pub depth: u32,
    /// The finest first; at least one.
    pub levels: Vec<Level>,
}

impl Image {
    /// Bytes of one texel.
    pub fn texel_bytes(&self) -> u32 {
        self.format.bytes() * self.channels
    }

    /// Width, height, and depth or layers of a level.
    pub fn extent(&self, level: usize) -> [u32; 3] {
        let half = |n: u32| n.checked_shr(level as u32).unwrap_or(0).max(1);
        let depth = if self.shape == Shape::Volume { half(self.depth) } else { self.depth };
        [half(self.width), half(self.height), depth]
    }

    /// The address of a byte of a row of a level. Tiles are a model of what a GPU does: a cache line holds neighbours of
    /// both directions, 16 bytes of two rows to a sector of 32.
    pub fn address(&self, level: usize, byte: u64, y: u32, z: u32) -> u64 {
        let Level { address, pitch } = self.levels[level];
        let [_, height, _] = self.extent(level);
        let (y, z) = (u64::from(y), u64::from(z));
        if let Some(pitch) = pitch {
            return address + (z * u64::from(height) + y) * pitch + byte;
        }
        if self.shape.is_flat() {
            return address + z * self.slice_bytes(level) + byte;
        }
        let (x, in_x, in_y) = (byte / TILE.0, byte % TILE.0, y % TILE.1);
        let across = self.row_bytes(level).div_ceil(TILE.0);
        let tile = (y / TILE.1 * across + x) * TILE.0 * TILE.1;
        let in_tile =
            in_x / 32 * 256 + in_y / 2 * 64 + in_x / 16 % 2 * 32 + in_y % 2 * 16 + in_x % 16;
        address + z * self.slice_bytes(level) + tile + in_tile
    }

    /// Bytes of a row of a level, without padding.
    pub fn row_bytes(&self, level: usize) -> u64 {
        u64::from(self.extent(level)[0]) * u64::from(self.texel_bytes())
    }

    /// Bytes from one layer of an array's level to the next.
    fn slice_bytes(&self, level: usize) -> u64 {
        let rows = u64::from(self.extent(level)[1]);
        let across = self.row_bytes(level).next_multiple_of(TILE.0);
        if self.shape.is_flat() { across } else { across * rows.next_multiple_of(TILE.1) }
    }

    /// Bytes that a level of an array takes.
    pub fn level_bytes(&self, level: usize) -> u64 {
        self.slice_bytes(level) * u64::from(self.extent(level)[2])
    }
}

/// The rule for coordinates beyond the edge of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressMode {
    /// The image again; without normalized coordinates as [`AddressMode::Clamp`].
    Wrap,
    /// The texel at the edge.
    Clamp,
    /// The image mirrored; without normalized coordinates as [`AddressMode::Clamp`].
    Mirror,
    /// The border colour.
    Border,
}

/// The way in which a texture reads its image.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// Beyond the edges in x, y and z.
    pub address: [AddressMode; 3],
    /// Weighs neighbours instead of taking the nearest.
    pub linear: bool,
    /// Coordinates from 0 to 1 instead of in texels.
    pub normalized: bool,
    /// Integers of 8 and 16 bits are read as floats from 0 or -1 to 1.
    pub to_float: bool,
    /// The colour beyond edges, as bits.
    pub border: [u32; 4],
    /// Weighs neighbouring levels.
    pub linear_levels: bool,
    /// A value that is added to each level.
    pub level_bias: f32,
    /// The finest and the coarsest level that is read.
    pub level_clamp: [f32; 2],
}

/// The object that a texture handle stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// The texels.
    pub image: Image,
    /// The way to read them; a surface has none.
    pub sampler: Option<Sampler>,
}
