//! A case's arrays on the device, with guard zones around every output.

use super::{Gpu, GpuError};
use crate::data::{Data, Element, POISON};
use crate::pattern::{Before, Case};
use cust::memory::{AsyncCopyDestination, DeviceBuffer, LockedBuffer};
use std::marker::PhantomData;

/// Bytes before and after each output that no kernel may write. A multiple of every alignment
/// that a kernel relies on.
const GUARD: usize = 1024;
/// The size of the page-locked buffer through which arrays travel.
const STAGE: usize = 32 << 20;

/// The arrays of one case in device memory.
pub struct Arrays {
    inputs: Vec<Array>,
    outputs: Vec<Array>,
}

/// One array, with `GUARD` bytes on either side of its `byte_len`.
struct Array {
    buffer: DeviceBuffer<u8>,
    byte_len: usize,
    element: &'static str,
}

/// A read-only view of `len` elements in device memory.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    address: u64,
    len: usize,
    array: PhantomData<&'a T>,
}

/// A view of `len` elements in device memory that a kernel may write.
#[derive(Clone, Copy, Debug)]
pub struct ViewMut<'a, T> {
    address: u64,
    len: usize,
    array: PhantomData<&'a T>,
}

impl Arrays {
    /// Allocates the arrays of a case and uploads its inputs.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] when they do not fit.
    pub fn new(gpu: &Gpu, case: &Case) -> Result<Arrays, GpuError> {
        let count = case.inputs.len() + case.outputs.len();
        let needed = case.byte_len() + count * 2 * GUARD;
        let (free, _) = gpu.memory()?;
        if needed > free {
            return Err(GpuError::OutOfMemory { needed, free });
        }
        let inputs = case.inputs.iter().map(|data| {
            let array = Array::new(data)?;
            array.upload(gpu, data)?;
            Ok(array)
        });
        let inputs = inputs.collect::<Result<_, GpuError>>()?;
        let outputs = case
            .outputs
            .iter()
            .map(|output| Array::new(&output.reference));
        let outputs = outputs.collect::<Result<_, _>>()?;
        let mut arrays = Arrays { inputs, outputs };
        arrays.reset(gpu, case)?;
        Ok(arrays)
    }

    /// Sets every output and its guard zones to what they hold before a launch.
    pub fn reset(&mut self, gpu: &Gpu, case: &Case) -> Result<(), GpuError> {
        for (array, output) in self.outputs.iter_mut().zip(&case.outputs) {
            let fail = |error| GpuError::driver("resetting an output", error);
            // SAFETY: the buffer lives until the stream is synchronised below.
            unsafe { array.buffer.set_8_async(POISON, &gpu.stream) }.map_err(fail)?;
            if output.before == Before::Zeros {
                let mut inner = array.buffer.index(GUARD..GUARD + array.byte_len);
                // SAFETY: as above.
                unsafe { inner.set_8_async(0, &gpu.stream) }.map_err(fail)?;
            }
        }
        gpu.synchronize()
    }

    /// Downloads an output, or says that a guard zone was written.
    pub fn download(&self, gpu: &Gpu, index: usize, like: &Data) -> Result<Downloaded, GpuError> {
        let array = &self.outputs[index];
        let mut data = like.poisoned();
        array.copy_back(gpu, GUARD, data.bytes_mut())?;
        let mut guards = [0_u8; 2 * GUARD];
        array.copy_back(gpu, 0, &mut guards[..GUARD])?;
        array.copy_back(gpu, GUARD + array.byte_len, &mut guards[GUARD..])?;
        let broken = guards.iter().position(|byte| *byte != POISON);
        let guard_broken_at = broken.map(|at| {
            let at = at as isize;
            let guard = GUARD as isize;
            if at < guard {
                at - guard
            } else {
                at - guard + array.byte_len as isize
            }
        });
        Ok(Downloaded {
            data,
            guard_broken_at,
        })
    }

    /// The view of an input.
    ///
    /// # Panics
    /// If the pattern declared the array with another element type: a bug of the pattern.
    pub fn input<T: Element>(&self, index: usize) -> View<'_, T> {
        let array = &self.inputs[index];
        View {
            address: array.address::<T>(),
            len: array.byte_len / size_of::<T>(),
            array: PhantomData,
        }
    }

    /// The view of an output.
    ///
    /// # Panics
    /// As [`Self::input`].
    pub fn output<T: Element>(&self, index: usize) -> ViewMut<'_, T> {
        let array = &self.outputs[index];
        ViewMut {
            address: array.address::<T>(),
            len: array.byte_len / size_of::<T>(),
            array: PhantomData,
        }
    }
}

/// An output as the device left it.
pub struct Downloaded {
    /// The array.
    pub data: Data,
    /// The offset in bytes from the array's start of a guard byte that changed.
    pub guard_broken_at: Option<isize>,
}

impl Array {
    fn new(data: &Data) -> Result<Array, GpuError> {
        let byte_len = data.byte_len();
        // SAFETY: the memory is written (uploaded or reset) before anything reads it.
        let buffer = unsafe { DeviceBuffer::uninitialized(byte_len + 2 * GUARD) };
        let buffer = buffer.map_err(|error| GpuError::driver("allocating device memory", error))?;
        Ok(Array {
            buffer,
            byte_len,
            element: data.element_name(),
        })
    }

    /// The device address of the first element.
    fn address<T: Element>(&self) -> u64 {
        assert_eq!(
            self.element,
            T::NAME,
            "a launch asks for the element type its case declared"
        );
        self.buffer.as_device_ptr().as_raw() + GUARD as u64
    }

    /// Copies host data in, piece by piece through page-locked memory.
    fn upload(&self, gpu: &Gpu, data: &Data) -> Result<(), GpuError> {
        let fail = |error| GpuError::driver("uploading an input", error);
        let bytes = data.bytes();
        // SAFETY: every piece is written before it is copied from.
        let mut stage = unsafe { LockedBuffer::<u8>::uninitialized(STAGE.min(bytes.len()).max(1)) }
            .map_err(fail)?;
        for (index, piece) in bytes.chunks(STAGE).enumerate() {
            stage[..piece.len()].copy_from_slice(piece);
            let start = GUARD + index * STAGE;
            let mut target = self.buffer.index(start..start + piece.len());
            // SAFETY: both buffers live, and the stream is synchronised before the piece is reused.
            unsafe { target.async_copy_from(&stage[..piece.len()], &gpu.stream) }.map_err(fail)?;
            gpu.synchronize()?;
        }
        Ok(())
    }

    /// Copies device bytes from `start` on into `target`, piece by piece.
    fn copy_back(&self, gpu: &Gpu, start: usize, target: &mut [u8]) -> Result<(), GpuError> {
        let fail = |error| GpuError::driver("downloading an output", error);
        // SAFETY: every piece is written by the copy before it is read.
        let mut stage =
            unsafe { LockedBuffer::<u8>::uninitialized(STAGE.min(target.len()).max(1)) }
                .map_err(fail)?;
        for (index, piece) in target.chunks_mut(STAGE).enumerate() {
            let at = start + index * STAGE;
            let source = self.buffer.index(at..at + piece.len());
            let stage = &mut stage[..piece.len()];
            // SAFETY: both buffers live, and the stream is synchronised before the piece is read.
            unsafe { source.async_copy_to(stage, &gpu.stream) }.map_err(fail)?;
            gpu.synchronize()?;
            piece.copy_from_slice(stage);
        }
        Ok(())
    }
}

impl<T> View<'_, T> {
    /// The device address of the first element.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl<T> ViewMut<'_, T> {
    /// The device address of the first element.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}
