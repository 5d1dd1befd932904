//! Typed launches: a kernel's token says which arguments it takes, and others do not compile.

use crate::argument::Arguments;
use crate::error::{GpuError, Result};
use crate::gpu::Gpu;
use crate::kernels::Kernels;
use bytemuck::Pod;
use cuda_std::kernel::{Kernel, Symbol};
use cust::context::CurrentContext;
use cust::function::{BlockSize, GridSize};
use cust::memory::DeviceCopy;
use cust::stream::Stream;
use cust_ext::device::DeviceAttribute;
use cust_ext::launch::Launch;
use cust_ext::symbol::symbol;
use std::cell::RefCell;

/// Dynamic shared memory that every kernel may ask for, bytes; a kernel that asks for more opts in.
const SHARED_WITHOUT_OPTING_IN: u32 = 48 << 10;

/// Enqueues kernels on a stream: the device's own, or that of [`Launcher::on`].
pub struct Launcher<'a> {
    gpu: &'a Gpu,
    kernels: &'a Kernels,
    stream: &'a Stream,
    /// Launches, each once, for the message of a fault that surfaces later.
    launched: RefCell<Vec<Launched>>,
}

impl Gpu {
    /// A launcher on this device's stream.
    pub fn launcher(&self) -> Launcher<'_> {
        Launcher::new(self, self.kernels())
    }

    /// A launcher of other kernels on this device's stream: those that [`Gpu::load`] gave.
    pub fn launcher_of<'a>(&'a self, kernels: &'a Kernels) -> Launcher<'a> {
        Launcher::new(self, kernels)
    }
}

impl<'a> Launcher<'a> {
    fn new(gpu: &'a Gpu, kernels: &'a Kernels) -> Self {
        Self { gpu, kernels, stream: gpu.stream(), launched: RefCell::default() }
    }

    /// The same kernels on another stream of the device.
    pub fn on(self, stream: &'a Stream) -> Self {
        Self { stream, ..self }
    }

    /// The stream.
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// The device.
    pub fn gpu(&self) -> &'a Gpu {
        self.gpu
    }

    /// Enqueues `kernel` on the stream.
    ///
    /// The kernel's token carries its parameter types, so arguments that do not fit do not compile:
    ///
    #[doc = example!("", raw, "source: DeviceBuffer<f32>, mut target: DeviceBuffer<f32>",
        "launcher.launch(scale, 1, 256, 0, (&source, &mut target, 1_u32))")]
    /// One argument is missing:
    #[doc = example!("compile_fail,E0277", raw, "source: DeviceBuffer<f32>, mut target: DeviceBuffer<f32>",
        "launcher.launch(scale, 1, 256, 0, (&source, &mut target))")]
    /// The output has another element type:
    #[doc = example!("compile_fail,E0277", raw, "source: DeviceBuffer<f32>, mut target: DeviceBuffer<u8>",
        "launcher.launch(scale, 1, 256, 0, (&source, &mut target, 1_u32))")]
    /// An input stands where the kernel writes:
    #[doc = example!("compile_fail,E0277", raw, "source: DeviceBuffer<f32>, target: DeviceBuffer<f32>",
        "launcher.launch(scale, 1, 256, 0, (&source, &target, 1_u32))")]
    /// 64 bits stand where the kernel takes 32:
    #[doc = example!("compile_fail,E0277", raw, "source: DeviceBuffer<f32>, mut target: DeviceBuffer<f32>",
        "launcher.launch(scale, 1, 256, 0, (&source, &mut target, 1_usize))")]
    /// An array by value has another length:
    /// ```compile_fail,E0277
    /// # use cuda_host::Launcher;
    /// # const fill: cuda_std::kernel::Kernel<fn([u32; 8])> =
    /// #     unsafe { cuda_std::kernel::Kernel::new("fill", (0, 0), (0, 0, 0), 0) };
    /// # unsafe fn f(launcher: &Launcher<'_>) -> Result<(), cuda_host::GpuError> {
    /// launcher.launch(fill, 1, 256, 0, ([0_u32; 7],))
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`GpuError::Refused`] when the device does not take the launch.
    ///
    /// # Safety
    /// - The kernel's launch contract holds: grid, block, lengths, alignment, aliasing.
    /// - Until the kernel has ended, its memory stays allocated, and the work of other streams that uses it is ordered.
    /// - Where the stream is being captured, both hold at each launch of the graph, and the module outlives the graph.
    pub unsafe fn launch<F, A: Arguments<F>>(
        &self,
        kernel: Kernel<F>,
        grid: impl Into<GridSize>,
        block: impl Into<BlockSize>,
        dynamic_shared_bytes: u32,
        arguments: A,
    ) -> Result<()> {
        let launch = Launch { dynamic_shared_bytes, ..Launch::new(grid, block) };
        // SAFETY: the caller's contract.
        unsafe { self.launch_as(kernel, &launch, &arguments) }
    }

    /// Enqueues `kernel` on the stream so that all of its blocks run at once, and may wait for each other by
    /// `cuda_std::grid::sync`.
    ///
    /// # Errors
    /// [`GpuError::Refused`] when the device does not take the launch, for example because its blocks do not fit on the
    /// device at once.
    ///
    /// # Safety
    /// - As for [`Self::launch`].
    pub unsafe fn launch_cooperative<F, A: Arguments<F>>(
        &self,
        kernel: Kernel<F>,
        grid: impl Into<GridSize>,
        block: impl Into<BlockSize>,
        dynamic_shared_bytes: u32,
        arguments: A,
    ) -> Result<()> {
        let launch = Launch { dynamic_shared_bytes, cooperative: true, ..Launch::new(grid, block) };
        // SAFETY: the caller's contract.
        unsafe { self.launch_as(kernel, &launch, &arguments) }
    }

    /// Enqueues `kernel` in this shape.
    ///
    /// # Safety
    /// - As for [`Self::launch`].
    unsafe fn launch_as<F, A: Arguments<F>>(
        &self,
        kernel: Kernel<F>,
        shape: &Launch,
        arguments: &A,
    ) -> Result<()> {
        let Launch { grid, block, dynamic_shared_bytes, cooperative, .. } = *shape;
        let mut launch = Launched { kernel: kernel.name(), grid, block, dynamic_shared_bytes };
        let refuse = |launch: &Launched, cause: String| GpuError::Refused {
            launch: launch.to_string(),
            cause,
        };
        launch.kernel = self.kernels.entry(kernel).map_err(|cause| refuse(&launch, cause))?;
        let refused = |cause: String| refuse(&launch, cause);
        let function = self.kernels.get_function(launch.kernel).map_err(|error| {
            let needed = kernel.min_compute_capability();
            if needed > self.gpu.image().capability && needed <= self.gpu.capability() {
                refused(
                    "this driver is too old for the newest kernels, and the older ones that were loaded do not have it: \
                     install a newer driver"
                        .to_owned(),
                )
            } else if needed > self.gpu.image().capability {
                refused(format!(
                    "it needs compute capability {}.{}",
                    kernel.min_compute_capability() / 10,
                    kernel.min_compute_capability() % 10
                ))
            } else {
                refused(format!("the loaded kernels do not have it ({error})"))
            }
        })?;
        let (max_threads, _) = kernel.launch_bounds();
        if max_threads > 0 && block.x * block.y * block.z > max_threads {
            return Err(refused(format!(
                "its launch bounds allow {max_threads} threads per block"
            )));
        }
        if dynamic_shared_bytes > SHARED_WITHOUT_OPTING_IN {
            cust_ext::function::allow_dynamic_shared_bytes(&function, dynamic_shared_bytes)
                .map_err(|error| refused(error.to_string()))?;
        }
        let mut list = arguments.list();
        if kernel.parameters().is_some_and(|parameters| parameters != list.len()) {
            return Err(refused(
                "a parameter of it is an alias of a slice, which is two values: write the slice out, `&[T]`".to_owned(),
            ));
        }
        let pointers = list.pointers();
        // SAFETY: `Arguments` matches the kernel's signature value by value, the slots outlive the
        // call, and the caller vouches for the rest of the launch contract.
        unsafe {
            if cooperative {
                let launched = shape.run(&function, self.stream, &pointers);
                launched.map_err(|error| refused(error.to_string()))
            } else {
                let launched =
                    self.stream.launch(&function, grid, block, dynamic_shared_bytes, &pointers);
                launched.map_err(|error| refused(error.to_string()))
            }
        }?;
        let mut launched = self.launched.borrow_mut();
        if !launched.contains(&launch) {
            launched.push(launch);
        }
        Ok(())
    }

    /// Writes a static of the kernels, by the type of its name that `#[address_space]` makes, and waits until it is written.
    ///
    /// ```
    /// # use cuda_host::Launcher;
    /// # use cuda_std::address_space;
    /// # use cuda_std::safe::Constant;
    /// #[address_space(constant)]
    /// pub static WEIGHTS: Constant<[f32; 2]> = Constant::new([0.0; 2]);
    /// # fn f(launcher: &Launcher<'_>) -> Result<(), cuda_host::GpuError> {
    /// launcher.write::<WEIGHTS>(&[1.0, 2.0])
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the loaded kernels do not have the static, or it has another size.
    pub fn write<S: Symbol<Value: Pod + DeviceCopy>>(&self, value: &S::Value) -> Result<()> {
        // No kernel may read it meanwhile.
        CurrentContext::synchronize()
            .map_err(|error| GpuError::driver("waiting for the device", error))?;
        // SAFETY: the static holds such a value, by the contract of `Symbol`.
        unsafe { symbol::<S::Value>(self.kernels, S::NAME) }
            .and_then(|mut symbol| symbol.upload(std::slice::from_ref(value)))
            .map_err(|source| GpuError::Static { name: S::NAME, source })?;
        // A copy from pageable memory may return before it has arrived.
        CurrentContext::synchronize()
            .map_err(|error| GpuError::driver("writing a static of the kernels", error))?;
        Ok(())
    }

    /// Waits for the stream; a fault is reported with those that may have caused it.
    ///
    /// # Errors
    /// [`GpuError::Fault`] when a kernel stopped with an error.
    pub fn finish(&self) -> Result<(), GpuError> {
        self.stream.synchronize().map_err(|cause| {
            let launched = self.launched.borrow();
            let launch = launched.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
            GpuError::Fault { launch, cause }
        })
    }

    /// Returns what the launch of the most threads took of a multiprocessor; of several, the last.
    ///
    /// # Errors
    /// When the driver does not tell what the kernel takes.
    pub fn resources(&self) -> Result<Option<LaunchResources>> {
        let launched = self.launched.borrow();
        let Some(largest) = launched.iter().max_by_key(|launch| launch.threads()) else {
            return Ok(None);
        };
        let Launched { kernel, block, dynamic_shared_bytes, .. } = *largest;
        let function = self.kernels.get_function(kernel)?;
        let info = cust_ext::function::info(&function)?;
        let threads = block.x * block.y * block.z;
        let blocks = cust_ext::function::blocks_per_multiprocessor(
            &function,
            threads,
            dynamic_shared_bytes as usize,
        )?;
        let most = self.gpu.attribute(DeviceAttribute::MaxThreadsPerMultiprocessor)?;
        let is_known = self.gpu.image().facts(kernel).is_some_and(|it| it.registers.is_some());
        Ok(Some(LaunchResources {
            registers: info.registers,
            registers_are_estimated: self.gpu.is_virtual() && !is_known,
            shared_bytes: info.static_shared_bytes + dynamic_shared_bytes,
            local_bytes: info.local_bytes,
            block_threads: threads,
            // Warps are whole, also those of a block whose threads do not fill them.
            occupancy_percent: 100.0 * f64::from(blocks * threads.next_multiple_of(32))
                / f64::from(most),
        }))
    }
}

/// A launch's share of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchResources {
    /// Registers per thread.
    pub registers: u32,
    /// A virtual device estimated them, because NVIDIA's assembler has not seen the kernel.
    pub registers_are_estimated: bool,
    /// Shared memory per block, bytes, dynamic included.
    pub shared_bytes: u32,
    /// Local memory per thread, bytes.
    pub local_bytes: u32,
    /// Threads per block.
    pub block_threads: u32,
    /// Warps that fit on a multiprocessor over those that it can hold, percent.
    pub occupancy_percent: f64,
}

#[derive(PartialEq)]
struct Launched {
    kernel: &'static str,
    grid: GridSize,
    block: BlockSize,
    dynamic_shared_bytes: u32,
}

impl Launched {
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
