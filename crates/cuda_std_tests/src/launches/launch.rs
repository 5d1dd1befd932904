use crate::kernels::THREADS;
use bytemuck::{NoUninit, Pod};
use cuda_std::kernel::Kernel;

#[derive(Debug, Clone)]
pub struct Launch {
    pub kernel: &'static str,
    /// The oldest compute capability that has it, such as 80; 0 for any.
    pub since: u32,
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    pub shared_bytes: u32,
    /// Bytes of stack for each thread (`CU_LIMIT_STACK_SIZE`); 0 when the default of 1 KiB is enough.
    pub stack_bytes: u32,
    pub arguments: Vec<Argument>,
}

/// One parameter of a kernel, or the two of a slice.
#[derive(Debug, Clone)]
pub enum Argument {
    /// The bytes of a value, passed as they are.
    Value(Vec<u8>),
    /// The address of a buffer, aligned to 256 bytes.
    Pointer(Buffer),
    /// The address of a buffer, then its length in elements as 8 bytes.
    Slice(Buffer, u64),
}

#[derive(Debug, Clone)]
pub struct Buffer {
    /// Bytes before the launch.
    pub input: Vec<u8>,
    pub expected: Expected,
}

/// Contents of a buffer that a launch must leave.
#[derive(Debug, Clone)]
pub enum Expected {
    /// The bytes of before.
    Unchanged,
    /// These bytes.
    Exactly(Vec<u8>),
    /// These numbers, each up to an error of `absolute + relative * |expected|`.
    F32 { values: Vec<f32>, relative: f64, absolute: f64 },
    /// These numbers, each up to an error of `absolute + relative * |expected|`.
    F64 { values: Vec<f64>, relative: f64, absolute: f64 },
    /// Whatever it may be.
    Anything,
}

impl Buffer {
    /// Compares what the buffer holds after the launch with what it must hold.
    pub fn check(&self, actual: &[u8]) -> Result<(), String> {
        match &self.expected {
            Expected::Unchanged => check_bytes(&self.input, actual),
            Expected::Exactly(expected) => check_bytes(expected, actual),
            Expected::F32 { values, relative, absolute } => {
                let actual = numbers::<f32>(actual).map(f64::from);
                check_numbers(values.iter().copied().map(f64::from), actual, *relative, *absolute)
            }
            Expected::F64 { values, relative, absolute } => {
                check_numbers(values.iter().copied(), numbers::<f64>(actual), *relative, *absolute)
            }
            Expected::Anything => Ok(()),
        }
    }
}

/// The numbers that bytes of any alignment hold.
pub(super) fn numbers<T: Pod>(bytes: &[u8]) -> impl Iterator<Item = T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned)
}

pub(super) fn check_bytes(expected: &[u8], actual: &[u8]) -> Result<(), String> {
    if expected.len() != actual.len() {
        return Err(format!("expected {} bytes, found {}", expected.len(), actual.len()));
    }
    let difference = expected.iter().zip(actual).position(|(expected, actual)| expected != actual);
    difference.map_or(Ok(()), |at| {
        let word = at / 4 * 4;
        Err(format!(
            "byte {at}: expected {:02x?}, found {:02x?}",
            &expected[word..expected.len().min(word + 4)],
            &actual[word..actual.len().min(word + 4)]
        ))
    })
}

pub(super) fn check_numbers(
    expected: impl Iterator<Item = f64>,
    actual: impl Iterator<Item = f64>,
    relative: f64,
    absolute: f64,
) -> Result<(), String> {
    for (index, (expected, actual)) in expected.zip(actual).enumerate() {
        let same = expected == actual || (expected.is_nan() && actual.is_nan());
        let error = (expected - actual).abs();
        // An error that is not a number is not within the tolerance.
        let within = error <= absolute + relative * expected.abs();
        if !same && !within {
            return Err(format!("element {index}: expected {expected:e}, found {actual:e}"));
        }
    }
    Ok(())
}

impl Launch {
    /// A launch of one block of [`THREADS`] threads, so far without arguments.
    pub(super) fn of<F>(kernel: Kernel<F>) -> Self {
        Launch {
            kernel: kernel.name(),
            since: kernel.min_compute_capability(),
            grid: [1, 1, 1],
            block: [THREADS, 1, 1],
            shared_bytes: 0,
            stack_bytes: 0,
            arguments: Vec::new(),
        }
    }

    pub(super) fn grid(mut self, grid: [u32; 3], block: [u32; 3]) -> Self {
        (self.grid, self.block) = (grid, block);
        self
    }

    pub(super) fn shared(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    pub(super) fn stack(mut self, bytes: u32) -> Self {
        self.stack_bytes = bytes;
        self
    }

    pub(super) fn pointer(mut self, input: Vec<u8>, expected: Expected) -> Self {
        self.arguments.push(Argument::Pointer(Buffer { input, expected }));
        self
    }

    /// A buffer that the kernel only reads.
    pub(super) fn reads<T: NoUninit>(self, input: &[T]) -> Self {
        self.pointer(bytes(input), Expected::Unchanged)
    }

    /// A buffer that the kernel overwrites; it starts out with bytes that no kernel writes.
    pub(super) fn writes<T: NoUninit>(self, expected: &[T]) -> Self {
        let input = vec![0xcd; size_of_val(expected)];
        self.pointer(input, Expected::Exactly(bytes(expected)))
    }

    /// A buffer that the kernel changes.
    pub(super) fn changes<T: NoUninit>(self, input: &[T], expected: &[T]) -> Self {
        self.pointer(bytes(input), Expected::Exactly(bytes(expected)))
    }

    /// A buffer of numbers that the kernel computes up to an error.
    pub(super) fn writes_f32(self, values: Vec<f32>, relative: f64, absolute: f64) -> Self {
        let input = vec![0xcd; 4 * values.len()];
        self.pointer(input, Expected::F32 { values, relative, absolute })
    }

    /// A buffer of numbers that the kernel computes up to an error.
    pub(super) fn writes_f64(self, values: Vec<f64>, relative: f64, absolute: f64) -> Self {
        let input = vec![0xcd; 8 * values.len()];
        self.pointer(input, Expected::F64 { values, relative, absolute })
    }

    /// A slice that the kernel only reads.
    pub(super) fn reads_slice<T: NoUninit>(mut self, input: &[T]) -> Self {
        let buffer = Buffer { input: bytes(input), expected: Expected::Unchanged };
        self.arguments.push(Argument::Slice(buffer, input.len() as u64));
        self
    }

    /// A slice that the kernel overwrites.
    pub(super) fn writes_slice<T: NoUninit>(mut self, expected: &[T]) -> Self {
        let input = vec![0xcd; size_of_val(expected)];
        let buffer = Buffer { input, expected: Expected::Exactly(bytes(expected)) };
        self.arguments.push(Argument::Slice(buffer, expected.len() as u64));
        self
    }

    pub(super) fn value<T: NoUninit>(mut self, value: T) -> Self {
        self.arguments.push(Argument::Value(bytes(&[value])));
        self
    }
}

pub(super) fn bytes<T: NoUninit>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

/// One value for each thread of a block.
pub(super) fn per_thread<T>(value: impl FnMut(u32) -> T) -> Vec<T> {
    (0..THREADS).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_one_is_an_error() {
        let expected = Expected::F32 { values: vec![1.0], relative: 1.0, absolute: 1.0 };
        let buffer = Buffer { input: Vec::new(), expected };
        assert!(buffer.check(&f32::NAN.to_le_bytes()).is_err());
        assert!(buffer.check(&1.5_f32.to_le_bytes()).is_ok());
        assert!(buffer.check(&4.0_f32.to_le_bytes()).is_err());
    }

    #[test]
    fn differing_bytes_are_an_error() {
        let buffer = Buffer { input: vec![1, 2], expected: Expected::Unchanged };
        assert!(buffer.check(&[1, 2]).is_ok());
        assert!(buffer.check(&[1, 3]).is_err());
        assert!(buffer.check(&[1]).is_err());
    }
}
