//! Tensor maps: which boxes of a tensor a kernel copies by `cuda_std::tensor_copy`. Compute capability 9.0.
//!
//! ```no_run
//! # fn f(matrix: &cust::memory::DeviceBuffer<u16>) -> cust_ext::Result<()> {
//! use cust_ext::tensor_map::{Element, Swizzle, Tiled};
//! // Boxes of 64 x 128 elements of a matrix of 4096 rows and 1024 columns.
//! let words = Tiled::new(Element::Bf16, matrix.as_device_ptr().as_raw(), &[1024, 4096], &[64, 128])
//!     .swizzle(Swizzle::Bytes128)
//!     .encode()?;
//! // A kernel takes it as `cuda_std::tensor_copy::TensorMap(words)`.
//! # Ok(()) }
//! ```

use crate::error::{Result, argument, call};
use cuda_driver::types::TensorMap;
use std::mem::MaybeUninit;

/// The type of the elements. It decides their size, and what fills with NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are the types")]
pub enum Element {
    U8 = 0,
    U16 = 1,
    U32 = 2,
    I32 = 3,
    U64 = 4,
    I64 = 5,
    F16 = 6,
    F32 = 7,
    F64 = 8,
    Bf16 = 9,
    Tf32 = 11,
}

impl Element {
    /// Its size in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Element::U8 => 1,
            Element::U16 | Element::F16 | Element::Bf16 => 2,
            Element::U32 | Element::I32 | Element::F32 | Element::Tf32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }
}

/// The permutation of the 16-byte chunks of a box's rows in shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Swizzle {
    /// Not at all.
    #[default]
    None = 0,
    /// Within 32 bytes.
    Bytes32 = 1,
    /// Within 64 bytes.
    Bytes64 = 2,
    /// Within 128 bytes.
    Bytes128 = 3,
}

/// A tensor and its boxes. Dimensions begin with that of neighbouring elements.
#[derive(Clone, Debug)]
pub struct Tiled {
    element: Element,
    address: u64,
    sizes: Vec<u64>,
    strides: Vec<u64>,
    extents: Vec<u32>,
    swizzle: Swizzle,
    fills_nan: bool,
}

impl Tiled {
    /// A dense tensor of these sizes at an address in device memory, and boxes of these extents. Beyond the tensor are zeros.
    pub fn new(element: Element, address: u64, sizes: &[u64], extents: &[u32]) -> Tiled {
        let strides = sizes.iter().scan(u64::from(element.bytes()), |stride, size| {
            *stride = stride.saturating_mul(*size);
            Some(*stride)
        });
        Tiled {
            element,
            address,
            sizes: sizes.to_vec(),
            strides: strides.take(sizes.len().saturating_sub(1)).collect(),
            extents: extents.to_vec(),
            swizzle: Swizzle::None,
            fills_nan: false,
        }
    }

    /// Bytes from one element to the next along each dimension but the first, where the tensor is not dense.
    pub fn strides(self, bytes: &[u64]) -> Tiled {
        Tiled { strides: bytes.to_vec(), ..self }
    }

    /// Swizzles the rows of boxes.
    pub fn swizzle(self, swizzle: Swizzle) -> Tiled {
        Tiled { swizzle, ..self }
    }

    /// Fills what is beyond a tensor of floats with NaN.
    pub fn fill_nan(self) -> Tiled {
        Tiled { fills_nan: true, ..self }
    }

    /// The 128 bytes that a kernel takes by value.
    ///
    /// # Errors
    /// A sentence for what no device accepts, or the driver's.
    pub fn encode(&self) -> Result<[u64; 16]> {
        if let Some(problem) = self.problem() {
            return argument(format!("a tensor map needs {problem}"));
        }
        let ones = vec![1; self.sizes.len()];
        let mut map = MaybeUninit::<TensorMap>::zeroed();
        // SAFETY: the arrays have as many numbers as dimensions, strides one fewer; the driver does not access the tensor.
        unsafe {
            call!(cuTensorMapEncodeTiled(
                map.as_mut_ptr(),
                self.element as u32,
                self.sizes.len() as u32,
                std::ptr::with_exposed_provenance_mut(self.address as usize),
                self.sizes.as_ptr(),
                self.strides.as_ptr(),
                self.extents.as_ptr(),
                ones.as_ptr(),
                0,
                self.swizzle as u32,
                // Lines of 128 bytes are brought to L2.
                2,
                u32::from(self.fills_nan),
            ))?;
        }
        // SAFETY: the driver has written all of it, and any bits are numbers.
        Ok(unsafe { std::mem::transmute::<TensorMap, [u64; 16]>(map.assume_init()) })
    }

    /// Returns what a tensor map needs and this one has not.
    fn problem(&self) -> Option<String> {
        let (rank, row) = (self.sizes.len(), self.extents.first()? * self.element.bytes());
        let span = 16 << self.swizzle as u32;
        if !(1..=5).contains(&rank) {
            return Some(format!("one to five dimensions, not {rank}"));
        }
        if self.extents.len() != rank || self.strides.len() != rank - 1 {
            return Some(format!(
                "{rank} extents and {} strides for {rank} sizes, not {} and {}",
                rank - 1,
                self.extents.len(),
                self.strides.len()
            ));
        }
        if self.address == 0 || !self.address.is_multiple_of(16) {
            return Some(format!("an address that is a multiple of 16, not {:#x}", self.address));
        }
        if let Some(size) = self.sizes.iter().find(|size| !(1..=1 << 32).contains(*size)) {
            return Some(format!("sizes from 1 to 2^32, not {size}"));
        }
        let is_stride = |stride: &&u64| stride.is_multiple_of(16) && **stride < 1 << 40;
        if let Some(stride) = self.strides.iter().find(|stride| !is_stride(stride)) {
            return Some(format!(
                "strides that are multiples of 16 bytes below 2^40, not {stride}"
            ));
        }
        if let Some(extent) = self.extents.iter().find(|extent| !(1..=256).contains(*extent)) {
            return Some(format!("boxes of 1 to 256 elements along a dimension, not {extent}"));
        }
        if !row.is_multiple_of(16) {
            return Some(format!("rows of boxes that are multiples of 16 bytes, not of {row}"));
        }
        if self.swizzle != Swizzle::None && row > span {
            return Some(format!(
                "rows of boxes of at most the swizzle's {span} bytes, not of {row}"
            ));
        }
        let is_float = matches!(
            self.element,
            Element::F16 | Element::Bf16 | Element::F32 | Element::F64 | Element::Tf32
        );
        (self.fills_nan && !is_float).then(|| "floats, to fill with NaN".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_device_accepts_is_a_sentence() {
        let good = Tiled::new(Element::Bf16, 4096, &[104, 7], &[64, 4]).swizzle(Swizzle::Bytes128);
        assert_eq!(good.strides, [208]);
        assert_eq!(good.problem(), None);
        let new = |sizes: &[u64], extents: &[u32]| Tiled::new(Element::Bf16, 4096, sizes, extents);
        let wrong = [
            (new(&[8; 6], &[8; 6]), "one to five dimensions"),
            (new(&[8, 8], &[8]), "2 extents and 1 strides"),
            (Tiled { address: 8, ..good.clone() }, "address"),
            (new(&[0, 7], &[64, 4]), "sizes"),
            (new(&[100, 7], &[64, 4]), "not 200"),
            (new(&[104, 7], &[264, 4]), "not 264"),
            (new(&[104, 7], &[65, 4]), "not of 130"),
            (new(&[104, 7], &[128, 4]).swizzle(Swizzle::Bytes128), "the swizzle's 128 bytes"),
            (Tiled { element: Element::U16, ..good }.fill_nan(), "NaN"),
        ];
        for (map, word) in wrong {
            let problem = map.problem().unwrap_or_default();
            assert!(problem.contains(word), "{problem:?} has no {word:?}");
            assert!(map.encode().is_err());
        }
    }
}
