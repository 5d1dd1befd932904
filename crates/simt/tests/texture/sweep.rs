//! The generated images and coordinates of `sweep.cu`, and what it prints.

use std::sync::LazyLock;

const SEED: u64 = 0x7465_7874_7572_6573;
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
pub const SAMPLES_PER_DIGEST: usize = 256;

pub fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The instructions in the order of `sweep.cu`, as PTX without its operands.
pub static OPERATIONS: LazyLock<Vec<&str>> = LazyLock::new(|| NAMES.split_whitespace().collect());
const NAMES: &str = "
    tex.1d.v4.u32.f32 tex.2d.v4.u32.f32 tex.3d.v4.u32.f32 tex.a1d.v4.u32.f32 tex.a2d.v4.u32.f32
    tex.cube.v4.u32.f32 tex.acube.v4.u32.f32 tex.1d.v4.u32.s32 tex.2d.v4.u32.s32 tex.3d.v4.u32.s32
    tex.a1d.v4.u32.s32 tex.a2d.v4.u32.s32 tld4.r.2d.v4.u32.f32 tld4.g.2d.v4.u32.f32 tld4.b.2d.v4.u32.f32
    tld4.a.2d.v4.u32.f32 tex.level.1d.v4.u32.f32 tex.level.2d.v4.u32.f32 tex.level.3d.v4.u32.f32
    tex.level.a2d.v4.u32.f32 tex.level.cube.v4.u32.f32 tex.level.2d.v4.u32.s32 tex.grad.1d.v4.u32.f32
    tex.grad.2d.v4.u32.f32 suld.b.1d.b32.clamp suld.b.2d.b32.clamp suld.b.3d.b32.clamp suld.b.a1d.b32.clamp
    suld.b.a2d.b32.clamp suld.b.1d.b32.zero suld.b.2d.b32.zero suld.b.3d.b32.zero suld.b.a1d.b32.zero
    suld.b.a2d.b32.zero suld.b.2d.v4.b32.clamp suld.b.2d.b8.clamp suld.b.2d.b16.clamp suld.b.2d.v2.b64.clamp
    sust.b.2d.b32.clamp sust.b.2d.b32.zero
";

/// Kinds of images, in the order of `sweep.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Linear,
    Pitch,
    Line,
    Plane,
    Volume,
    Lines,
    Planes,
    Cube,
    Cubes,
}

const KINDS: [Kind; 9] = {
    use Kind::*;
    [Linear, Pitch, Line, Plane, Volume, Lines, Planes, Cube, Cubes]
};

/// One image, one description of how to read it, and one instruction.
#[derive(Clone, Debug)]
pub struct Group {
    pub number: usize,
    pub operation: usize,
    pub kind: Kind,
    pub width: i64,
    pub height: i64,
    pub depth: i64,
    pub levels: i64,
    /// Unsigned and signed of 8, 16 and 32 bits, then `f16` and `f32`.
    pub format: usize,
    pub channels: usize,
    pub to_float: bool,
    pub linear: bool,
    pub modes: [usize; 3],
    pub normalized: bool,
    content: usize,
    grid: bool,
    pub samples: usize,
    pub mip_linear: bool,
    pub bias: f32,
    pub low: f32,
    pub high: f32,
    pub digests: Vec<u32>,
}

/// Reads what `sweep.cu` printed.
pub fn read(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let n = |at: usize| words[at].parse::<i64>().unwrap();
        let f = |at: usize| f32::from_bits(u32::from_str_radix(words[at], 16).unwrap());
        match words[0] {
            "group" => groups.push(Group {
                number: groups.len(),
                operation: n(1) as usize,
                kind: KINDS[n(2) as usize],
                width: n(3),
                height: n(4),
                depth: n(5),
                levels: n(6),
                format: n(7) as usize,
                channels: n(8) as usize,
                to_float: n(9) != 0,
                linear: n(10) != 0,
                modes: [n(11) as usize, n(12) as usize, n(13) as usize],
                normalized: n(14) != 0,
                content: n(15) as usize,
                grid: n(16) != 0,
                samples: n(17) as usize,
                mip_linear: n(18) != 0,
                bias: f(19),
                low: f(20),
                high: f(21),
                digests: Vec::new(),
            }),
            "digests" => {
                let digests = words[1..].iter().map(|w| u32::from_str_radix(w, 16).unwrap());
                groups.last_mut().unwrap().digests = digests.collect();
            }
            _ => {}
        }
    }
    groups
}

/// The digest that stands for some results.
pub fn digest(words: &[u32]) -> u32 {
    let digest = words.iter().fold(0, |d, word| mix(d ^ u64::from(*word)).wrapping_add(GOLDEN));
    (digest >> 32) as u32
}

impl Group {
    /// Returns whether floats are any bits, NaN and infinity among them.
    pub fn is_wild(&self) -> bool {
        self.content == 1 && self.format >= 6
    }

    pub fn element_bytes(&self) -> usize {
        [1, 1, 2, 2, 4, 4, 2, 4][self.format]
    }

    /// Extent of a level: width, height, and depth or layers, each at least one.
    pub fn extent(&self, level: i64) -> [i64; 3] {
        let depth = if self.kind == Kind::Volume { self.depth >> level } else { self.depth };
        [(self.width >> level).max(1), (self.height >> level).max(1), depth.max(1)]
    }

    pub fn texel(&self, level: i64, [x, y, z]: [i64; 3], channel: usize) -> u32 {
        let bits = 8 * self.element_bytes() as u32;
        if self.content >= 2 {
            let at_three = |n: i64, i: i64| n <= 1 || i == 3;
            let one = x == 3 && at_three(self.height, y) && at_three(self.depth, z);
            let place = [x, y, z, level][channel];
            let whole = if self.content == 3 { i64::from(one) } else { place } as u32;
            let single = (whole as f32).to_bits();
            return match self.format {
                7 => single,
                6 if whole == 0 => 0,
                6 => (single >> 13) - (112 << 10),
                _ => whole,
            };
        }
        let seed = mix(SEED + self.number as u64);
        let place = 1 + channel as i64 + 4 * (x + 4096 * (y + 4096 * (z + 256 * level)));
        let mut r = mix(seed.wrapping_add(GOLDEN.wrapping_mul(place as u64)));
        let s = mix(r ^ SEED);
        match (self.content, self.format) {
            (0, 7) => return r as u32 & 0x807f_ffff | (127 + (s % 17) as u32 - 8) << 23,
            (0, 6) => return r as u32 & 0x83ff | (15 + (s % 9) as u32 - 4) << 10,
            _ => {}
        }
        let other = (s >> 8) % 2 == 1;
        match s % 8 {
            0 => r = if other { u64::MAX } else { 1 << (bits - 1) },
            1 => r = if other { 0 } else { (1 << (bits - 1)) - 1 },
            _ => {}
        }
        (r & (0xffff_ffff >> (32 - bits))) as u32
    }

    /// All texels of a level, rows without gaps.
    pub fn image(&self, level: i64) -> Vec<u8> {
        let [w, h, d] = self.extent(level);
        let mut bytes = Vec::new();
        for place in 0..w * h * d {
            for channel in 0..self.channels {
                let bits = self.texel(level, [place % w, place / w % h, place / w / h], channel);
                bytes.extend_from_slice(&bits.to_le_bytes()[..self.element_bytes()]);
            }
        }
        bytes
    }

    /// A coordinate of an axis with `n` texels.
    fn coordinate(&self, n: i64, r: u64) -> u32 {
        const SPECIAL: [u32; 24] = [
            0x7fc0_0000,
            0xffc0_0000,
            0x7f80_0001,
            0x7f80_0000,
            0xff80_0000,
            0x0000_0000,
            0x8000_0000,
            0x0000_0001,
            0x8000_0001,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x4f00_0000,
            0xcf00_0000,
            0x4f80_0000,
            0xcf80_0000,
            0x4b80_0000,
            0xcb80_0000,
            0x4b00_0000,
            0xcb00_0000,
            0x5f00_0000,
            0xdf00_0000,
            0x4700_0000,
            0xc700_0000,
            0x4a80_0001,
        ];
        let s = mix(r ^ SEED);
        let within = |count: i64| (r % count as u64) as i64;
        let texels = match s % 8 {
            0..=2 => (within(4 * n * 4096) - 3 * n * 2048) as f32 / 4096.0,
            3 => (within(4 * n * 512) - 3 * n * 256) as f32 / 512.0,
            4 => {
                let bits = ((within(8 * n) - 3 * n) as f32 / 2.0).to_bits();
                f32::from_bits(bits.wrapping_add(((r >> 32) % 3) as u32).wrapping_sub(1))
            }
            5 => return r as u32 & 0x807f_ffff | ((90 + (r >> 32) % 90) as u32) << 23,
            6 => return SPECIAL[((r >> 8) % 24) as usize],
            _ => (r >> 40) as u32 as f32 / 16_777_216.0 * n as f32,
        };
        if self.normalized { texels / n as f32 } else { texels }.to_bits()
    }

    /// The eight words of a sample: x, y, z, layer, then a level or gradients.
    pub fn sample(&self, sample: usize) -> [u32; 8] {
        let r: [u64; 6] = std::array::from_fn(|k| {
            mix(SEED ^ (self.number as u64) << 40 ^ (sample as u64) << 8 ^ k as u64)
        });
        let n = [self.width, self.height, self.depth];
        let mut at = [0; 8];
        if self.grid {
            let i = sample as f32;
            let of = |steps: u64| (2.5 + steps as f32 / 256.0).to_bits();
            match self.kind {
                Kind::Line => at[0] = (2.5 + i / 8192.0).to_bits(),
                Kind::Plane => (at[0], at[1]) = (of(sample as u64 % 512), of(sample as u64 / 512)),
                _ => (0..3).for_each(|k| at[k] = of(r[k] % 512)),
            }
            return at;
        }
        let operation = self.operation;
        let axes = match operation {
            2 | 18 => 3,
            1 | 12..=15 | 17 | 23 | 4 | 19 => 2,
            0 | 16 | 22 | 3 => 1,
            _ => 0,
        };
        for axis in 0..axes {
            at[axis] = self.coordinate(n[axis], r[axis]);
        }
        match operation {
            0..=2 | 12..=18 | 22 | 23 => {}
            3 | 4 | 19 => at[3] = whole(n[2], r[2]),
            5 | 6 | 20 => {
                (0..3).for_each(|k| at[k] = direction(r[k]));
                if operation == 6 {
                    at[3] = whole(n[2] / 6, r[3]);
                }
            }
            10 | 27 | 32 => (at[0], at[3]) = (whole(n[0], r[0]), whole(n[2], r[2])),
            11 | 28 | 33 => {
                (at[0], at[1], at[3]) = (whole(n[0], r[0]), whole(n[1], r[1]), whole(n[2], r[2]));
            }
            _ => (0..3).for_each(|k| at[k] = whole(n[k].max(1), r[k])),
        }
        match operation {
            16..=20 => at[4] = level(self.levels, r[4]),
            21 => at[4] = whole(self.levels, r[4]),
            22 | 23 => (0..4).for_each(|k| at[4 + k] = gradient(mix(r[4].wrapping_add(k as u64)))),
            24.. => at[0] = at[0].wrapping_mul((self.channels * self.element_bytes()) as u32),
            _ => {}
        }
        at
    }
}

/// An integer coordinate of an axis with `n` places.
fn whole(n: i64, r: u64) -> u32 {
    const SPECIAL: [u32; 8] = [
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x0100_0000,
        0xff00_0000,
        0x0001_0000,
        0xffff_0000,
        0x8000_0001,
    ];
    if mix(r ^ SEED).is_multiple_of(16) {
        return SPECIAL[((r >> 8) % 8) as usize];
    }
    ((r % (5 * n) as u64) as i64 - 2 * n) as u32
}

/// A part of a direction of a cube map.
fn direction(r: u64) -> u32 {
    let s = mix(r ^ SEED);
    if s.is_multiple_of(8) {
        return (((r % 9) as i64 - 4) as f32 / 4.0).to_bits();
    }
    match (s % 32, s % 64) {
        (1, _) => r as u32 & 0x807f_ffff | ((90 + (r >> 32) % 90) as u32) << 23,
        (_, 2) if (s >> 8) % 2 == 1 => 0x7fc0_0000,
        (_, 2) if (s >> 9) % 2 == 1 => 0x7f80_0000,
        (_, 2) => 0xff80_0000,
        _ => (((r % 65536) as i64 - 32768) as f32 / 16384.0).to_bits(),
    }
}

fn level(levels: i64, r: u64) -> u32 {
    let s = mix(r ^ SEED);
    let within = |count: i64| (r % count as u64) as i64;
    if s.is_multiple_of(16) {
        return [0x7fc0_0000, 0x7f80_0000, 0xff80_0000, 0x7149_f2ca][(r % 4) as usize];
    }
    if s % 4 == 1 {
        return ((within(4096 * (levels + 4)) - 8192) as f32 / 4096.0).to_bits();
    }
    ((within(512 * (levels + 4)) - 1024) as f32 / 512.0).to_bits()
}

fn gradient(r: u64) -> u32 {
    let s = mix(r ^ SEED);
    if s.is_multiple_of(4) {
        return 0;
    }
    (((r % 65536) as i64 - 32768) as f32 / (1u64 << (10 + s / 4 % 8)) as f32).to_bits()
}
