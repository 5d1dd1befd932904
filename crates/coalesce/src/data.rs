//! Arrays on the host: inputs, poisoned outputs, and how results are compared.
//!
//! ```
//! use coalesce::data::{Data, Tolerance, compare};
//!
//! let (result, reference) = (Data::F32(vec![1.0, f32::NAN]), Data::F32(vec![1.0, 2.0]));
//! let first = compare(&result, &reference, Tolerance::Exact).expect("NaN is wrong");
//! assert_eq!((first.index, first.count), (1, 1));
//! ```

use half::{bf16, f16};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// Elements that arrays of a pattern may have.
pub trait Element: bytemuck::Pod + PartialEq + Send + Sync + std::fmt::Debug {
    /// The name of the type in Rust, shown to people.
    const NAME: &'static str;
    /// Wraps a vector.
    fn wrap(values: Vec<Self>) -> Data
    where
        Self: Sized;
    /// The typed view of an array, if it has this type.
    fn view(data: &Data) -> Option<&[Self]>
    where
        Self: Sized;
}

macro_rules! elements {
    ($($variant:ident $type:ty, $doc:literal;)*) => {
        /// An array of one of the element types that patterns use.
        #[derive(Clone, Debug)]
        pub enum Data {
            $(#[doc = $doc] $variant(Vec<$type>),)*
        }

        impl Data {
            /// The array's memory.
            pub fn bytes(&self) -> &[u8] {
                match self { $(Data::$variant(values) => bytemuck::cast_slice(values),)* }
            }

            /// The array's memory, to be overwritten.
            pub fn bytes_mut(&mut self) -> &mut [u8] {
                match self { $(Data::$variant(values) => bytemuck::cast_slice_mut(values),)* }
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                match self { $(Data::$variant(values) => values.len(),)* }
            }

            /// The element type's name.
            pub fn element_name(&self) -> &'static str {
                match self { $(Data::$variant(_) => <$type as Element>::NAME,)* }
            }

            /// An array of the same type and length that holds zeros.
            pub fn zeroed(&self) -> Data {
                match self {
                    $(Data::$variant(values) => Data::$variant(vec![bytemuck::Zeroable::zeroed(); values.len()]),)*
                }
            }

            /// One element as text, for a message.
            pub fn show(&self, index: usize) -> String {
                match self { $(Data::$variant(values) => format!("{:?}", values[index]),)* }
            }
        }

        $(impl Element for $type {
            const NAME: &'static str = stringify!($type);
            fn wrap(values: Vec<Self>) -> Data { Data::$variant(values) }
            fn view(data: &Data) -> Option<&[Self]> {
                match data { Data::$variant(values) => Some(values), _ => None }
            }
        })*
    };
}

elements! {
    Bf16 bf16, "16-bit floats with the exponent of an f32.";
    F16 f16, "Half-precision floats.";
    F32 f32, "Single-precision floats.";
    F64 f64, "Double-precision floats.";
    I8 i8, "Signed bytes.";
    I16 i16, "Signed 16-bit integers.";
    I32 i32, "Signed 32-bit integers.";
    I64 i64, "Signed 64-bit integers.";
    U8 u8, "Bytes.";
    U16 u16, "Unsigned 16-bit integers.";
    U32 u32, "Unsigned 32-bit integers.";
    U64 u64, "Unsigned 64-bit integers.";
}

/// The value of every byte of an output before a launch. A float of these bytes is NaN, so an
/// element that nobody wrote cannot pass for a result.
pub const POISON: u8 = 0xFF;

impl Data {
    /// Returns whether the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An array of the same type and length that holds [`POISON`] everywhere.
    pub fn poisoned(&self) -> Data {
        let mut poisoned = self.zeroed();
        poisoned.bytes_mut().par_chunks_mut(1 << 20).for_each(|piece| piece.fill(POISON));
        poisoned
    }

    /// The size of the array in bytes.
    pub fn byte_len(&self) -> usize {
        self.bytes().len()
    }
}

/// The accepted difference between a result and its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// The same bits.
    Exact,
    /// `|result - reference| <= relative * |reference| + absolute`, in the element's type.
    Near {
        /// Relative to the reference.
        relative: f64,
        /// Independent of it.
        absolute: f64,
    },
}

impl Tolerance {
    /// The bound for a float sum of `depth` products of magnitude at most 1, in any order:
    /// each of the `depth` roundings adds at most half a unit in the last place of a partial sum
    /// that is at most `depth`.
    pub fn sum_of_products(depth: usize) -> Tolerance {
        let depth = depth as f64;
        Tolerance::Near {
            relative: 0.0,
            absolute: depth * depth.max(1.0) * f64::from(f32::EPSILON),
        }
    }
}

/// The first element at which a result differs from its reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Its index.
    pub index: usize,
    /// The number of all elements that differ.
    pub count: usize,
    /// The value that the device wrote.
    pub result: String,
    /// The value of the reference.
    pub reference: String,
}

/// Compares every element; a NaN is never near anything.
pub fn compare(result: &Data, reference: &Data, tolerance: Tolerance) -> Option<Mismatch> {
    assert_eq!(result.len(), reference.len(), "result and reference have the same length");
    let wrong: Vec<usize> = match (result, reference, tolerance) {
        (Data::F32(result), Data::F32(reference), Tolerance::Near { relative, absolute }) => {
            wrong_indices(result, reference, |&a, &b| {
                f64::from(a - b).abs() <= relative * f64::from(b).abs() + absolute
            })
        }
        (Data::F64(result), Data::F64(reference), Tolerance::Near { relative, absolute }) => {
            wrong_indices(result, reference, |a, b| near(*a, *b, relative, absolute))
        }
        (Data::F16(result), Data::F16(reference), Tolerance::Near { relative, absolute }) => {
            wrong_indices(result, reference, |a, b| {
                near(a.to_f64(), b.to_f64(), relative, absolute)
            })
        }
        (Data::Bf16(result), Data::Bf16(reference), Tolerance::Near { relative, absolute }) => {
            wrong_indices(result, reference, |a, b| {
                near(a.to_f64(), b.to_f64(), relative, absolute)
            })
        }
        _ if result.bytes() == reference.bytes() => return None,
        _ => {
            let width = result.byte_len() / result.len().max(1);
            let chunk = width.max(1);
            let pairs = result.bytes().par_chunks(chunk).zip(reference.bytes().par_chunks(chunk));
            pairs.enumerate().filter(|(_, (a, b))| a != b).map(|(index, _)| index).collect()
        }
    };
    let index = *wrong.first()?;
    Some(Mismatch {
        index,
        count: wrong.len(),
        result: result.show(index),
        reference: reference.show(index),
    })
}

fn near(result: f64, reference: f64, relative: f64, absolute: f64) -> bool {
    (result - reference).abs() <= relative * reference.abs() + absolute
}

fn wrong_indices<T: Sync>(
    result: &[T],
    reference: &[T],
    near: impl Fn(&T, &T) -> bool + Sync,
) -> Vec<usize> {
    let pairs = result.par_iter().zip(reference.par_iter());
    pairs.enumerate().filter(|(_, (a, b))| !near(a, b)).map(|(index, _)| index).collect()
}

/// Seeded random inputs: the same seed gives the same arrays on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    seed: u64,
    arrays: u64,
}

impl Random {
    /// A source for one case.
    pub fn new(seed: u64) -> Self {
        Self { seed, arrays: 0 }
    }

    /// Floats in [-1, 1).
    pub fn f32s(&mut self, len: usize) -> Vec<f32> {
        // 24 random bits make every value exact: k / 2^23 - 1.
        self.fill(len, |bits| (bits >> 8) as f32 / 8_388_608.0 - 1.0)
    }

    /// Integers over their whole range.
    pub fn u32s(&mut self, len: usize) -> Vec<u32> {
        self.fill(len, |bits| bits)
    }

    /// Bytes over their whole range.
    pub fn u8s(&mut self, len: usize) -> Vec<u8> {
        self.fill(len, |bits| (bits >> 24) as u8)
    }

    /// Fills an array in parallel; each chunk has its own generator, so the number of threads does not matter.
    fn fill<T: Send + Default + Clone>(
        &mut self,
        len: usize,
        from_bits: impl Fn(u32) -> T + Sync,
    ) -> Vec<T> {
        const CHUNK: usize = 1 << 16;
        self.arrays += 1;
        let stream = self.seed ^ self.arrays.rotate_left(48);
        let mut values = vec![T::default(); len];
        values.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, values)| {
            let mut generator =
                Xoshiro256PlusPlus::seed_from_u64(stream.wrapping_add(chunk as u64));
            for value in values {
                *value = from_bits((generator.next_u64() >> 32) as u32);
            }
        });
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritten_float_fails_every_comparison() {
        let reference = Data::F32(vec![1.0, 2.0]);
        let poisoned = reference.poisoned();
        let near = Tolerance::Near { relative: 1.0, absolute: 1e30 };
        assert_eq!(compare(&poisoned, &reference, near).map(|wrong| wrong.count), Some(2));
        assert_eq!(
            compare(&poisoned, &reference, Tolerance::Exact).map(|wrong| wrong.count),
            Some(2)
        );
        assert_eq!(compare(&reference, &reference, Tolerance::Exact), None);
    }

    #[test]
    fn halves_have_a_tolerance() {
        let halves = |values: [f32; 2]| Data::F16(values.map(f16::from_f32).to_vec());
        let wrong = |relative| {
            let near = Tolerance::Near { relative, absolute: 0.0 };
            compare(&halves([1.0, 2.002]), &halves([1.0, 2.0]), near).map(|wrong| wrong.index)
        };
        assert_eq!((wrong(0.01), wrong(0.0001)), (None, Some(1)));
    }

    #[test]
    fn the_first_of_all_differences_is_named() {
        let mut result = Data::U32((0..1000).collect());
        let reference = result.clone();
        if let Data::U32(values) = &mut result {
            values[400] = 7;
            values[999] = 7;
        }
        let wrong = compare(&result, &reference, Tolerance::Exact).expect("two elements differ");
        assert_eq!((wrong.index, wrong.count), (400, 2));
        assert_eq!((wrong.result.as_str(), wrong.reference.as_str()), ("7", "400"));
    }

    #[test]
    fn inputs_depend_on_the_seed_alone() {
        let twice = [Random::new(5).f32s(100_000), Random::new(5).f32s(100_000)];
        assert_eq!(twice[0], twice[1]);
        assert_ne!(twice[0], Random::new(6).f32s(100_000));
        assert!(twice[0].iter().all(|value| (-1.0..1.0).contains(value)));
        let mut one = Random::new(5);
        assert_ne!(one.u32s(64), one.u32s(64), "two arrays of one case differ");
    }
}
