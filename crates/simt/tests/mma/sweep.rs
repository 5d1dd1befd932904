//! The generated matrices of `sweep.cu`, element by element, and what it prints.

use super::tile::{Form, Kind, Matrix};

pub const TILES: usize = 576;
/// Those before the ones whose results are at the lower end of the type.
const LOW_END: usize = 512;
const SEED: u64 = 0x636f_616c_6573_6365;
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    A,
    B,
    C,
}

impl Kind {
    pub fn is_float(self) -> bool {
        !matches!(self, Kind::S8 | Kind::U8 | Kind::S32)
    }

    pub fn exponent_bits(self) -> u32 {
        match self {
            Kind::F16 | Kind::E5m2 => 5,
            Kind::E4m3 => 4,
            Kind::F64 => 11,
            _ => 8,
        }
    }

    pub fn mantissa_bits(self) -> u32 {
        match self {
            Kind::F16 | Kind::Tf32 => 10,
            Kind::Bf16 => 7,
            Kind::F32 => 23,
            Kind::E4m3 => 3,
            Kind::E5m2 => 2,
            _ => 52,
        }
    }

    /// Bits below the mantissa, which the hardware ignores.
    fn unused_bits(self) -> u32 {
        if self == Kind::Tf32 { 13 } else { 0 }
    }
}

/// One element. `style` is the kind of trouble that the tile makes, `narrow` whether its A and B have 5 bits of exponent or fewer.
fn element(kind: Kind, role: Role, style: usize, narrow: bool, random: &mut Random) -> u64 {
    let (r, s) = (random.next(), random.next());
    if !kind.is_float() {
        const EXTREMES: [u64; 4] = [0x8000_0080, 0x7fff_ffff, 0xffff_ffff, 0];
        let extreme = style % 2 == 1;
        let bits = match (extreme, kind == Kind::S32) {
            (true, false) if s % 4 == 1 => 0x7f,
            (true, _) => EXTREMES[(s % 4) as usize],
            (false, _) => r,
        };
        return bits & if kind == Kind::S32 { 0xffff_ffff } else { 0xff };
    }
    let (e, m, unused) = (kind.exponent_bits(), kind.mantissa_bits(), kind.unused_bits());
    if style == 5 {
        return r & (u64::MAX >> (63 - e - m - unused));
    }
    let (bias, top) = ((1_i64 << (e - 1)) - 1, (1_i64 << e) - 1);
    let (sign, mut mantissa) = (r >> 63, r & ((1 << m) - 1));
    let (pick, other) = ((s & 0x3fff_ffff) as i64, (s >> 34) as i64);
    let exponent = match (style, role) {
        (1 | 7, _) => bias + pick % 31 - 15,
        (2, Role::C) => bias + pick % 25 - 20,
        (2, _) => bias + pick % 13 - 6,
        (3, Role::A) if other % 2 == 1 => 0,
        (3, Role::A) => pick % 4,
        (3, Role::B) => bias + pick % 9 - 4,
        (3, Role::C) if narrow && kind == Kind::F32 => bias - 24 + pick % 9,
        (3, Role::C) => pick % 6,
        (8, Role::A) => pick % 12,
        (8, Role::B) => bias - 40 + pick % 24,
        (8, Role::C) => 0,
        (6, Role::A) => bias + pick % 4 - 8 + if other % 8 == 0 { 12 } else { 0 },
        (6, Role::B) => bias + pick % 4 - 2,
        (6, Role::C) => bias + pick % 16 - 12,
        _ => bias + pick % 5 - 2,
    };
    let mut exponent = exponent.clamp(0, top - 1);
    match (style, other % 128) {
        (4, 0) => (exponent, mantissa) = (top, 0),
        (4, 1) => (exponent, mantissa) = (top, mantissa | 1),
        (4, 2..34) => (exponent, mantissa) = (0, 0),
        (8, _) if role == Role::C => mantissa &= if other % 8 == 0 { 0xff } else { 0 },
        (7, _) if other % 16 != 0 => (exponent, mantissa) = (0, 0),
        _ => {}
    }
    (sign << (e + m) | (exponent as u64) << m | mantissa) << unused
}

/// A, B and C of one tile of the form with this number.
pub fn generate(form: &Form, number: usize, tile: usize) -> [Matrix; 3] {
    let mut random = Random(mix(SEED ^ (number as u64) << 32 ^ tile as u64));
    let style = if tile < LOW_END { tile % 8 } else { 8 };
    let narrow = matches!(form.a, Kind::F16 | Kind::E4m3 | Kind::E5m2);
    let mut matrix = |elements: usize, kind: Kind, role: Role| -> Matrix {
        (0..elements).map(|_| element(kind, role, style, narrow, &mut random)).collect()
    };
    let mut a = matrix(form.m * form.k, form.a, Role::A);
    let mut b = matrix(form.k * form.n, form.b, Role::B);
    let c = matrix(form.m * form.n, form.c, Role::C);
    if style == 2 && form.a.is_float() {
        // Neighbours along K cancel, some of them all but the last bit.
        for pair in a.chunks_mut(2) {
            pair[1] = pair[0];
        }
        let unused = form.a.unused_bits();
        let sign = 1 << (form.a.exponent_bits() + form.a.mantissa_bits() + unused);
        for pair in b.chunks_mut(2 * form.n) {
            let (even, odd) = pair.split_at_mut(form.n);
            for (even, odd) in even.iter().zip(odd) {
                *odd = even ^ sign ^ if random.next().is_multiple_of(4) { 1 << unused } else { 0 };
            }
        }
    }
    [a, b, c]
}

/// The digest that stands for a tile's result.
pub fn digest(result: &[u64]) -> u32 {
    let digest = result.iter().fold(0, |digest, bits| mix(digest ^ bits).wrapping_add(GOLDEN));
    (digest >> 32) as u32
}

/// Results of a GPU for one form.
pub struct Computed {
    pub digests: Vec<u32>,
    pub tiles: Vec<Matrix>,
}

/// Reads what `sweep.cu` printed: the results by the form's name.
pub fn read(text: &str) -> Vec<(String, Computed)> {
    let mut forms: Vec<(String, Computed)> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), forms.last_mut()) {
            (Some("form"), _) => {
                let name = words.next().unwrap().to_string();
                forms.push((name, Computed { digests: Vec::new(), tiles: Vec::new() }));
            }
            (Some("digests"), Some((_, form))) => {
                form.digests = words.map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
            }
            (Some("tile"), Some((_, form))) => {
                let bits = words.skip(1).map(|word| u64::from_str_radix(word, 16).unwrap());
                form.tiles.push(bits.collect());
            }
            _ => {}
        }
    }
    forms
}
