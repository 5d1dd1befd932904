//! A case's arrays on the device, with guard zones around every output.
//!
//! ```
//! use coalesce::{arrays::Arrays, pattern::Case};
//!
//! fn start(gpu: &cuda_host::Gpu, case: &Case) -> anyhow::Result<()> {
//!     let arrays = Arrays::new(gpu, case)?;
//!     assert_eq!(arrays.broken_guard(gpu, 0)?, None);
//!     Ok(())
//! }
//! ```

use crate::case::{Before, Case};
use crate::data::{Data, Element, POISON};
use anyhow::{Result, bail};
use cuda_host::{DevicePtr, DevicePtrMut, Gpu, GpuError};
use cust::context::CurrentContext;
use cust::memory::{AsyncCopyDestination, DeviceBuffer, DeviceSlice, LockedBuffer};
use cust_ext::texture::Texture;
use indicatif::BinaryBytes;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::cell::RefCell;

/// Bytes before and after each output that no kernel may write. A multiple of every alignment
/// that a kernel relies on.
const GUARD: usize = 1024;
/// The largest size of the page-locked buffer through which arrays travel.
const STAGE: usize = 32 << 20;

/// The arrays of one case in device memory.
pub struct Arrays {
    inputs: Vec<Array>,
    outputs: Vec<Array>,
    /// Page-locked memory through which they travel.
    stage: Stage,
    /// By name. After the arrays: freeing these waits for the launches that use textures.
    textures: RefCell<Vec<(&'static str, Texture<'static>)>>,
}

/// Page-locked memory through which arrays travel, as long as the longest of them at most; `None` without arrays.
struct Stage(Option<RefCell<LockedBuffer<u8>>>);

impl Stage {
    fn new(case: &Case) -> Result<Stage> {
        let outputs = case.outputs.iter().map(|output| &output.reference);
        let Some(longest) = case.inputs.iter().chain(outputs).map(Data::byte_len).max() else {
            return Ok(Stage(None));
        };
        // SAFETY: every piece of it is written before it is read.
        let buffer = unsafe { LockedBuffer::uninitialized(longest.clamp(GUARD, STAGE)) }
            .map_err(|error| GpuError::driver("allocating pinned memory", error))?;
        Ok(Stage(Some(RefCell::new(buffer))))
    }
}

/// Arrays that begin one element behind the address that allocations are aligned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misaligned {
    /// None: what kernels rely on.
    None,
    /// The inputs.
    Inputs,
    /// The outputs.
    Outputs,
}

/// One array: its `byte_len` from `offset` in the buffer, between guard zones if it has them.
struct Array {
    buffer: DeviceBuffer<u8>,
    offset: usize,
    byte_len: usize,
    element: &'static str,
}

impl Arrays {
    /// Allocates the arrays of a case and uploads its inputs.
    ///
    /// # Errors
    /// When they do not fit, or the driver's.
    pub fn new(gpu: &Gpu, case: &Case) -> Result<Arrays> {
        Arrays::misaligned(gpu, case, Misaligned::None)
    }

    /// As [`Self::new`], with some arrays where most kernels must not be given them: to see that they notice.
    pub fn misaligned(gpu: &Gpu, case: &Case, misaligned: Misaligned) -> Result<Arrays> {
        Arrays::placed(gpu, case, misaligned, GUARD)
    }

    /// As [`Self::new`], with inputs that have no guard zones: on the virtual device a read beside one is an illegal address,
    /// whatever is done with what it gives.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_inputs_alone(gpu: &Gpu, case: &Case) -> Result<Arrays> {
        Arrays::placed(gpu, case, Misaligned::None, 0)
    }

    fn placed(gpu: &Gpu, case: &Case, misaligned: Misaligned, guard: usize) -> Result<Arrays> {
        let count = case.inputs.len() + case.outputs.len();
        let needed = case.byte_len() + count * 2 * GUARD;
        let (free, _) = gpu.memory()?;
        if needed > free {
            bail!(
                "this size needs {} of device memory and {} are free: choose a smaller --size",
                BinaryBytes(needed as u64),
                BinaryBytes(free as u64)
            );
        }
        let stage = Stage::new(case)?;
        let inputs = case.inputs.iter().map(|data| {
            let array = Array::new(data, guard, misaligned == Misaligned::Inputs)?;
            array.upload(gpu, data, &stage)?;
            Ok(array)
        });
        let inputs = inputs.collect::<Result<_>>()?;
        let is_misaligned = misaligned == Misaligned::Outputs;
        let outputs = case.outputs.iter();
        let outputs = outputs.map(|output| Array::new(&output.reference, GUARD, is_misaligned));
        let outputs = outputs.collect::<Result<_, _>>()?;
        let arrays = Arrays { inputs, outputs, stage, textures: RefCell::default() };
        arrays.reset(gpu, case)?;
        Ok(arrays)
    }

    /// Sets every output and its guard zones to what they hold before a launch.
    pub fn reset(&self, gpu: &Gpu, case: &Case) -> Result<()> {
        for array in &self.outputs {
            let fail = |error| GpuError::driver("resetting an output", error);
            let mut whole = array.buffer.index(..);
            // SAFETY: the buffer lives until the stream is synchronized below.
            unsafe { whole.set_8_async(POISON, gpu.stream()) }.map_err(fail)?;
        }
        self.rewind(gpu, case)?;
        Ok(gpu.synchronize()?)
    }

    /// Enqueues what a launch needs in its outputs: zeros where kernels accumulate, the input where they work in place.
    pub fn rewind(&self, gpu: &Gpu, case: &Case) -> Result<()> {
        for (index, (array, output)) in self.outputs.iter().zip(&case.outputs).enumerate() {
            let mut inner = array.inner();
            match output.before {
                Before::Poison => {}
                // SAFETY: dropping the buffer waits for the device.
                Before::Zeros => unsafe { inner.set_8_async(0, gpu.stream()) }
                    .map_err(|error| GpuError::driver("zeroing an output", error))?,
                Before::Input(input) => {
                    let source =
                        self.inputs.get(input).filter(|one| one.byte_len == array.byte_len);
                    let Some(source) = source else {
                        bail!(
                            "output {index} of the case begins as input {input}, which is not there or has another length: name an input of its length"
                        );
                    };
                    // SAFETY: dropping the buffers waits for the device; they are two.
                    unsafe { inner.async_copy_from(&source.inner(), gpu.stream()) }
                        .map_err(|error| GpuError::driver("restoring an output", error))?;
                }
            }
        }
        Ok(())
    }

    /// Returns whether an output holds exactly these bytes.
    pub fn equals(&self, gpu: &Gpu, index: usize, expected: &Data) -> Result<bool> {
        let array = &self.outputs[index];
        let mut equal = true;
        array.visit(gpu, &self.stage, array.offset, array.byte_len, |offset, piece| {
            let expected = &expected.bytes()[offset..offset + piece.len()];
            const PIECE: usize = 1 << 20;
            equal &= piece.par_chunks(PIECE).zip(expected.par_chunks(PIECE)).all(|(a, b)| a == b);
        })?;
        Ok(equal)
    }

    /// Downloads an output.
    pub fn download(&self, gpu: &Gpu, index: usize, like: &Data) -> Result<Data> {
        let array = &self.outputs[index];
        let mut data = like.zeroed();
        let target = data.bytes_mut();
        array.visit(gpu, &self.stage, array.offset, array.byte_len, |offset, piece| {
            in_parallel(&mut target[offset..offset + piece.len()], piece, |to, from| {
                to.copy_from_slice(from)
            });
        })?;
        Ok(data)
    }

    /// The start of the SHA-256 of an output's bytes, as 16 hexadecimal digits.
    pub fn digest(&self, gpu: &Gpu, index: usize) -> Result<String> {
        let array = &self.outputs[index];
        let mut digest = Sha256::new();
        array.visit(gpu, &self.stage, array.offset, array.byte_len, |_, piece| {
            digest.update(piece)
        })?;
        Ok(in_hexadecimal(digest))
    }

    /// The offset in bytes, from an output's start, of the first guard byte that was written.
    pub fn broken_guard(&self, gpu: &Gpu, index: usize) -> Result<Option<isize>> {
        let array = &self.outputs[index];
        let mut broken = None;
        for (start, len) in [(0, array.offset), (array.offset + array.byte_len, GUARD)] {
            array.visit(gpu, &self.stage, start, len, |offset, piece| {
                let found = piece.iter().position(|byte| *byte != POISON);
                let at = |at| (start + offset + at) as isize - array.offset as isize;
                broken = broken.or(found.map(at));
            })?;
        }
        Ok(broken)
    }

    /// Makes a texture for the launches on these arrays, unless there is one of this name. It is destroyed with them.
    pub fn keep_texture(
        &self,
        name: &'static str,
        make: impl FnOnce() -> Result<Texture<'static>>,
    ) -> Result<()> {
        let mut textures = self.textures.borrow_mut();
        if textures.iter().all(|(kept, _)| *kept != name) {
            textures.push((name, make()?));
            // Copies from pageable memory may return before they have arrived, on another stream than the launches'.
            CurrentContext::synchronize()
                .map_err(|error| GpuError::driver("copying an image to the device", error))?;
        }
        Ok(())
    }

    /// The handle of a texture that the preparation of a launch made; it lives as long as the arrays.
    ///
    /// # Panics
    /// If there is none of this name: a bug of the pattern.
    pub fn texture(&self, name: &str) -> u64 {
        let textures = self.textures.borrow();
        let kept = textures.iter().find(|(kept, _)| *kept == name);
        kept.expect("a launch asks for a texture that its preparation made").1.handle()
    }

    /// The addresses of all inputs and of all outputs.
    pub fn addresses(&self) -> (Vec<u64>, Vec<u64>) {
        let of = |arrays: &[Array]| arrays.iter().map(Array::start).collect();
        (of(&self.inputs), of(&self.outputs))
    }

    /// The view of an input.
    ///
    /// # Panics
    /// If the pattern declared the array with another element type: a bug of the pattern.
    pub fn input<T: Element>(&self, index: usize) -> DevicePtr<'_, T> {
        let array = &self.inputs[index];
        DevicePtr::from_raw(array.address::<T>(), array.byte_len / size_of::<T>())
    }

    /// The view of an output.
    ///
    /// # Panics
    /// As [`Self::input`].
    pub fn output<T: Element>(&self, index: usize) -> DevicePtrMut<'_, T> {
        let array = &self.outputs[index];
        DevicePtrMut::from_raw(array.address::<T>(), array.byte_len / size_of::<T>())
    }
}

impl Array {
    fn new(data: &Data, guard: usize, is_misaligned: bool) -> Result<Array> {
        let byte_len = data.byte_len();
        let shift = if is_misaligned { byte_len.checked_div(data.len()).unwrap_or(0) } else { 0 };
        let offset = guard + shift;
        // SAFETY: the memory is written (uploaded or reset) before anything reads it.
        let buffer = unsafe { DeviceBuffer::uninitialized((offset + byte_len + guard).max(1)) };
        let buffer = buffer.map_err(|error| GpuError::driver("allocating device memory", error))?;
        Ok(Array { buffer, offset, byte_len, element: data.element_name() })
    }

    /// The device address of the first element.
    fn address<T: Element>(&self) -> u64 {
        assert_eq!(self.element, T::NAME, "a launch asks for the element type its case declared");
        self.start()
    }

    /// The bytes between the guards.
    fn inner(&self) -> DeviceSlice<u8> {
        self.buffer.index(self.offset..self.offset + self.byte_len)
    }

    /// The address of the first byte between the guards.
    fn start(&self) -> u64 {
        self.buffer.as_device_ptr().as_raw() + self.offset as u64
    }

    /// Copies host data in, piece by piece through page-locked memory.
    ///
    /// The rest of the last 16 bytes, if it is there, is poisoned: an asynchronous copy that takes a part of them and fills up with zeros
    /// counts as reading them all with NVIDIA's initcheck.
    fn upload(&self, gpu: &Gpu, data: &Data, stage: &Stage) -> Result<()> {
        let end = self.offset + self.byte_len;
        let mut rest = self.buffer.index(end..end.next_multiple_of(16).min(self.buffer.len()));
        // SAFETY: the buffer lives until the stream is synchronized below, or before it is used.
        unsafe { rest.set_8_async(POISON, gpu.stream()) }
            .map_err(|error| GpuError::driver("copying an input to the device", error))?;
        let Stage(Some(stage)) = stage else { return Ok(()) };
        let mut stage = stage.borrow_mut();
        let whole = stage.len();
        for (index, piece) in data.bytes().chunks(stage.len()).enumerate() {
            let stage = &mut stage[..piece.len()];
            in_parallel(stage, piece, |to, from| to.copy_from_slice(from));
            let start = self.offset + index * whole;
            let mut target = self.buffer.index(start..start + piece.len());
            // SAFETY: both buffers live, and the stream is synchronized before the piece is reused.
            unsafe { target.async_copy_from(stage, gpu.stream()) }
                .map_err(|error| GpuError::driver("copying an input to the device", error))?;
            gpu.synchronize()?;
        }
        Ok(())
    }

    /// Brings `len` device bytes from `start` on to the host, piece by piece through page-locked
    /// memory, and shows each piece with its offset.
    fn visit(
        &self,
        gpu: &Gpu,
        stage: &Stage,
        start: usize,
        len: usize,
        mut see: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let Stage(Some(stage)) = stage else { return Ok(()) };
        let mut stage = stage.borrow_mut();
        let whole = stage.len();
        for offset in (0..len).step_by(whole) {
            let stage = &mut stage[..whole.min(len - offset)];
            let source = self.buffer.index(start + offset..start + offset + stage.len());
            // SAFETY: both buffers live, and the stream is synchronized before the piece is read.
            unsafe { source.async_copy_to(stage, gpu.stream()) }
                .map_err(|error| GpuError::driver("copying an output to the host", error))?;
            gpu.synchronize()?;
            see(offset, stage);
        }
        Ok(())
    }
}

/// The start of the SHA-256 of bytes, as 16 hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    in_hexadecimal(Sha256::new_with_prefix(bytes))
}

fn in_hexadecimal(digest: Sha256) -> String {
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Works on two slices of one length in parallel pieces: one core cannot keep up with the link.
fn in_parallel(target: &mut [u8], source: &[u8], work: impl Fn(&mut [u8], &[u8]) + Sync) {
    const PIECE: usize = 1 << 20;
    target
        .par_chunks_mut(PIECE)
        .zip(source.par_chunks(PIECE))
        .for_each(|(to, from)| work(to, from));
}
