//! Typed launches: a kernel's token says which arguments it takes, and others do not compile.

use super::{Gpu, GpuError, View, ViewMut};
use crate::data::Element;
use crate::results::Resources;
use anyhow::{Context, Result};
use cuda_std::kernel::Kernel;
use cust::context::CurrentContext;
use cust::function::{BlockSize, GridSize};
use cust::memory::DeviceCopy;
use cust_ext::device::Attribute;
use cust_ext::symbol::symbol;
use std::cell::RefCell;
use std::ffi::c_void;

/// Dynamic shared memory that every kernel may ask for, bytes; a kernel that asks for more opts in.
const SHARED_WITHOUT_OPTING_IN: u32 = 48 << 10;

/// Enqueues kernels on a device's stream.
pub struct Launcher<'a> {
    gpu: &'a Gpu,
    /// What was launched, each once, for the message of a fault that surfaces later.
    launched: RefCell<Vec<Launched>>,
}

/// The arguments of a launch as the driver takes them: each in as many 8-byte slots as it needs.
#[derive(Default)]
pub struct ArgumentList {
    slots: Vec<u64>,
    /// The first slot of each argument.
    starts: Vec<usize>,
}

impl ArgumentList {
    /// Appends a value.
    fn push(&mut self, bytes: &[u8]) {
        self.starts.push(self.slots.len());
        self.slots.extend(bytes.chunks(8).map(|chunk| {
            let mut slot = [0; 8];
            slot[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(slot)
        }));
    }

    /// Where each argument lies.
    fn pointers(&mut self) -> Vec<*mut c_void> {
        let first = self.slots.as_mut_ptr();
        self.starts.iter().map(|start| first.wrapping_add(*start).cast()).collect()
    }
}

/// What may be passed for a kernel parameter of type `P`.
///
/// # Safety
/// `append` must append exactly the values of `P`'s parameters in the PTX entry: one for a scalar
/// or a pointer, a pointer and a length for a slice.
pub unsafe trait Argument<P> {
    /// Appends the value.
    fn append(&self, list: &mut ArgumentList);
}

// SAFETY: a pointer to the elements.
unsafe impl<T> Argument<*const T> for View<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address().to_ne_bytes());
    }
}

// SAFETY: a pointer to the elements and their number.
unsafe impl<T> Argument<&'static [T]> for View<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address().to_ne_bytes());
        list.push(&(self.len() as u64).to_ne_bytes());
    }
}

// SAFETY: a pointer to the elements.
unsafe impl<T> Argument<*mut T> for ViewMut<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address().to_ne_bytes());
    }
}

// SAFETY: a pointer to the elements, which the kernel only reads.
unsafe impl<T> Argument<*const T> for ViewMut<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address().to_ne_bytes());
    }
}

// SAFETY: a pointer to the elements and their number.
unsafe impl<T> Argument<&'static mut [T]> for ViewMut<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address().to_ne_bytes());
        list.push(&(self.len() as u64).to_ne_bytes());
    }
}

/// Scalars and arrays of them are passed as themselves; no conversion takes place.
macro_rules! scalars {
    ($($type:ty)*) => {$(
        // SAFETY: the scalar's own bytes.
        unsafe impl Argument<$type> for $type {
            fn append(&self, list: &mut ArgumentList) {
                list.push(&self.to_ne_bytes());
            }
        }

        // SAFETY: the elements' own bytes, one after the other: an array has no padding. An empty
        // one, which would be no parameter at all, does not compile.
        unsafe impl<const N: usize> Argument<[$type; N]> for [$type; N] {
            fn append(&self, list: &mut ArgumentList) {
                const { assert!(N > 0, "an empty array is no parameter") };
                list.push(bytemuck::cast_slice(self));
            }
        }
    )*};
}
scalars!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64);

/// A tuple that fits the parameters of a kernel with signature `F`.
pub trait Arguments<F> {
    /// The values in order.
    fn list(&self) -> ArgumentList;
}

macro_rules! tuples {
    ($($argument:ident $parameter:ident $index:tt),*) => {
        impl<$($argument, $parameter,)*> Arguments<fn($($parameter),*)> for ($($argument,)*)
        where $($argument: Argument<$parameter>,)*
        {
            fn list(&self) -> ArgumentList {
                #[allow(unused_mut)]
                let mut list = ArgumentList::default();
                $(self.$index.append(&mut list);)*
                list
            }
        }
    };
}
tuples!(A0 P0 0);
tuples!(A0 P0 0, A1 P1 1);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6, A7 P7 7);

impl<'a> Launcher<'a> {
    pub(super) fn new(gpu: &'a Gpu) -> Self {
        Self { gpu, launched: RefCell::default() }
    }

    /// The device.
    pub fn gpu(&self) -> &'a Gpu {
        self.gpu
    }

    /// Enqueues `kernel` on the stream.
    ///
    /// The kernel's token carries its parameter types, so arguments that do not fit do not compile:
    ///
    /// ```
    /// # use coalesce::gpu::{Arrays, Launcher};
    /// use kernels::global::coalescing::coalescing_scalar;
    /// # unsafe fn f(launcher: &Launcher<'_>, arrays: &Arrays) -> anyhow::Result<()> {
    /// launcher.launch(coalescing_scalar, 1, 256, 0, (arrays.input(0), arrays.output(0), 1_u32))
    /// # }
    /// ```
    /// One argument is missing:
    /// ```compile_fail,E0277
    /// # use coalesce::gpu::{Arrays, Launcher};
    /// use kernels::global::coalescing::coalescing_scalar;
    /// # unsafe fn f(launcher: &Launcher<'_>, arrays: &Arrays) -> anyhow::Result<()> {
    /// launcher.launch(coalescing_scalar, 1, 256, 0, (arrays.input::<f32>(0), arrays.output::<f32>(0)))
    /// # }
    /// ```
    /// The output has another element type:
    /// ```compile_fail,E0277
    /// # use coalesce::gpu::{Arrays, Launcher};
    /// use kernels::global::coalescing::coalescing_scalar;
    /// # unsafe fn f(launcher: &Launcher<'_>, arrays: &Arrays) -> anyhow::Result<()> {
    /// launcher.launch(coalescing_scalar, 1, 256, 0, (arrays.input(0), arrays.output::<u8>(0), 1_u32))
    /// # }
    /// ```
    /// An input stands where the kernel writes:
    /// ```compile_fail,E0277
    /// # use coalesce::gpu::{Arrays, Launcher};
    /// use kernels::global::coalescing::coalescing_scalar;
    /// # unsafe fn f(launcher: &Launcher<'_>, arrays: &Arrays) -> anyhow::Result<()> {
    /// launcher.launch(coalescing_scalar, 1, 256, 0, (arrays.input(0), arrays.input::<f32>(0), 1_u32))
    /// # }
    /// ```
    /// 64 bits stand where the kernel takes 32:
    /// ```compile_fail,E0277
    /// # use coalesce::gpu::{Arrays, Launcher};
    /// use kernels::global::coalescing::coalescing_scalar;
    /// # unsafe fn f(launcher: &Launcher<'_>, arrays: &Arrays) -> anyhow::Result<()> {
    /// launcher.launch(coalescing_scalar, 1, 256, 0, (arrays.input(0), arrays.output(0), 1_usize))
    /// # }
    /// ```
    /// An array by value has another length:
    /// ```compile_fail,E0277
    /// # use coalesce::gpu::{Arrays, Launcher};
    /// use kernels::caches::constant_memory::constant_memory_parameter;
    /// # unsafe fn f(launcher: &Launcher<'_>, arrays: &Arrays) -> anyhow::Result<()> {
    /// let table = [0_u32; 991];
    /// launcher.launch(constant_memory_parameter, 1, 256, 0, (table, arrays.output(0), 1_u32, 1_u32))
    /// # }
    /// ```
    /// There is no such kernel:
    /// ```compile_fail,E0432
    /// use kernels::global::coalescing::coalescing_scaler;
    /// ```
    ///
    /// # Errors
    /// [`GpuError::Refused`] when the device does not take the launch.
    ///
    /// # Safety
    /// The kernel's launch contract holds: grid, block, lengths, alignment, aliasing.
    pub unsafe fn launch<F, A: Arguments<F>>(
        &self,
        kernel: Kernel<F>,
        grid: impl Into<GridSize>,
        block: impl Into<BlockSize>,
        dynamic_shared_bytes: u32,
        arguments: A,
    ) -> Result<()> {
        let (grid, block) = (grid.into(), block.into());
        let launch = Launched { kernel: kernel.name(), grid, block, dynamic_shared_bytes };
        let refused = |cause: String| GpuError::Refused { launch: launch.to_string(), cause };
        let function = self.gpu.module.get_function(kernel.name()).map_err(|error| {
            if kernel.since() > self.gpu.image.capability {
                refused(format!(
                    "it needs compute capability {}.{}",
                    kernel.since() / 10,
                    kernel.since() % 10
                ))
            } else {
                refused(format!("the loaded kernels do not have it ({error})"))
            }
        })?;
        let (max_threads, _) = kernel.launch_bounds();
        if max_threads > 0 && block.x * block.y * block.z > max_threads {
            return Err(refused(format!(
                "its launch bounds allow {max_threads} threads per block"
            ))
            .into());
        }
        if dynamic_shared_bytes > SHARED_WITHOUT_OPTING_IN {
            cust_ext::function::allow_dynamic_shared_bytes(&function, dynamic_shared_bytes)
                .map_err(|error| refused(error.to_string()))?;
        }
        let mut list = arguments.list();
        let pointers = list.pointers();
        // SAFETY: `Arguments` matches the kernel's signature value by value, the slots outlive the
        // call, and the caller vouches for the rest of the launch contract.
        unsafe { self.gpu.stream.launch(&function, grid, block, dynamic_shared_bytes, &pointers) }
            .map_err(|error| refused(error.to_string()))?;
        let mut launched = self.launched.borrow_mut();
        if !launched.contains(&launch) {
            launched.push(launch);
        }
        Ok(())
    }

    /// Writes a static of the kernels by its name, and waits until it is written.
    ///
    /// # Errors
    /// When there is no such static, or it has another size.
    pub fn write_symbol<T: Element + DeviceCopy>(&self, name: &str, values: &[T]) -> Result<()> {
        symbol::<T>(&self.gpu.module, name)
            .and_then(|mut symbol| symbol.upload(values))
            .with_context(|| format!("writing the static `{name}` of the kernels failed"))?;
        // A copy from pageable memory may return before it has arrived.
        CurrentContext::synchronize()
            .map_err(|error| GpuError::driver("writing a static of the kernels", error))?;
        Ok(())
    }

    /// Waits for the launches; a fault is reported with those that may have caused it.
    pub fn finish(&self) -> Result<(), GpuError> {
        self.gpu.stream.synchronize().map_err(|cause| {
            let launched = self.launched.borrow();
            let launch = launched.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
            GpuError::Fault { launch, cause }
        })
    }

    /// What the launch of the most threads took of a multiprocessor; of several, the last.
    ///
    /// # Errors
    /// The driver's.
    pub fn resources(&self) -> Result<Option<Resources>> {
        let launched = self.launched.borrow();
        let Some(largest) = launched.iter().max_by_key(|launch| launch.threads()) else {
            return Ok(None);
        };
        let Launched { kernel, block, dynamic_shared_bytes, .. } = *largest;
        let function = self.gpu.module.get_function(kernel)?;
        let info = cust_ext::function::info(&function)?;
        let threads = block.x * block.y * block.z;
        let blocks = cust_ext::function::blocks_per_multiprocessor(
            &function,
            threads,
            dynamic_shared_bytes as usize,
        )?;
        let most = self.gpu.attribute(Attribute::MaxThreadsPerMultiprocessor)?;
        Ok(Some(Resources {
            registers: info.registers,
            shared_bytes: info.static_shared_bytes + dynamic_shared_bytes,
            local_bytes: info.local_bytes,
            block_threads: threads,
            // Warps are whole, also those of a block whose threads do not fill them.
            occupancy_percent: 100.0 * f64::from(blocks * threads.next_multiple_of(32))
                / f64::from(most),
        }))
    }
}

/// A launch, to be named.
#[derive(PartialEq)]
struct Launched {
    kernel: &'static str,
    grid: GridSize,
    block: BlockSize,
    dynamic_shared_bytes: u32,
}

impl Launched {
    /// The threads of the grid.
    fn threads(&self) -> u64 {
        let extents =
            [self.grid.x, self.grid.y, self.grid.z, self.block.x, self.block.y, self.block.z];
        extents.into_iter().map(u64::from).product()
    }
}

impl std::fmt::Display for Launched {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Launched { kernel, grid, block, dynamic_shared_bytes } = self;
        write!(
            formatter,
            "{kernel}<<<({}, {}, {}), ({}, {}, {}), {dynamic_shared_bytes} B>>>",
            grid.x, grid.y, grid.z, block.x, block.y, block.z
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argument_has_its_slots_and_its_pointer() {
        let mut list = (7_u8, [1_u32, 2, 3], -1_i64).list();
        assert_eq!(list.slots, [7, 1 | 2 << 32, 3, u64::MAX]);
        let pointers = list.pointers();
        let first = list.slots.as_mut_ptr();
        let expected: Vec<*mut c_void> =
            [0, 1, 3].map(|slot| first.wrapping_add(slot).cast()).to_vec();
        assert_eq!(pointers, expected);
    }
}
