//! The virtual device: what it can be asked that a GPU cannot.

use crate::error::{GpuError, NoDriver};
use crate::image::KernelFacts;
use cust::stream::Stream;
use simt::Watched;
use std::cell::Cell;
pub use virtual_gpu::{KernelFault, Misuse, MisuseKind, MisusedMemory, WorkScale};
use virtual_gpu::{LaunchRecord, OperationRecord, Options, Topology, VirtualGpu};

/// The virtual device that answers the driver's calls of this process.
///
/// A [`Gpu`](crate::Gpu) gives it with [`Gpu::virtual_device`](crate::Gpu::virtual_device). This is a name for what the
/// whole process has once, as it has one driver: opening another virtual device replaces it, and every value of this
/// type then means the new one. Launches, operations and mistakes are those of all threads.
///
/// A thread may have a virtual device for itself instead: a [`Twin`](crate::Twin) opens one like another device, and so
/// tests run beside each other. [`testing::gpu`](crate::testing::gpu) gives a test its device, and
/// [`testing::exclusive`](crate::testing::exclusive) makes those that a test opens itself its own.
///
/// ```
/// # static IMAGES: &[cuda_host::Image] = &[];
/// use cuda_host::testing::exclusive;
/// use cuda_host::{Choice, Gpu};
///
/// // Until the end of the test its devices are its own.
/// let _machine = exclusive();
/// let gpu = Gpu::open(&Choice::Virtual("h200".to_owned()), IMAGES);
/// # assert!(gpu.is_err(), "there are no kernels");
/// ```
#[derive(Debug)]
pub struct VirtualDevice {
    /// The machine as it was started.
    pub(crate) machine: Topology,
    pub(crate) options: Options,
    /// True while launches are recorded only.
    is_dry_run: Cell<bool>,
}

impl VirtualDevice {
    /// Starts a virtual machine and makes it answer the driver's calls.
    pub(crate) fn start(machine: Topology, options: Options) -> Result<VirtualDevice, GpuError> {
        let gpu = VirtualGpu::start(machine.clone(), options).map_err(NoDriver::from)?;
        cuda_driver::select(cuda_driver::Backend::Table(gpu)).map_err(NoDriver::from)?;
        Ok(VirtualDevice { machine, options, is_dry_run: Cell::new(false) })
    }

    /// The same device: all of a machine are one here.
    pub(crate) fn clone_handle(&self) -> VirtualDevice {
        let (machine, options) = (self.machine.clone(), self.options);
        VirtualDevice { machine, options, is_dry_run: Cell::new(false) }
    }

    /// Says what NVIDIA's assembler gave kernels, as far as that is known: it decides how many blocks fit.
    pub(crate) fn assume_registers(&self, kernels: &[KernelFacts]) {
        let known = kernels.iter().filter_map(|facts| Some((facts.kernel, facts.registers?)));
        virtual_gpu::assume_registers(known);
    }

    /// From here on the times of kernels, copies and fills are those of work so many times larger than what is executed.
    pub fn scale_work(&self, scale: WorkScale) {
        virtual_gpu::extrapolate_to(scale);
    }

    /// L2 holds nothing any more of what ran before, but for what was set aside.
    pub fn empty_l2(&self) {
        virtual_gpu::empty_l2();
    }

    /// Returns what ran since the last call.
    pub fn drain_launches(&self) -> Vec<LaunchRecord> {
        virtual_gpu::launches()
    }

    /// The old name of [`Self::drain_launches`].
    #[deprecated(since = "0.2.0", note = "it is `drain_launches`")]
    pub fn take_launches(&self) -> Vec<LaunchRecord> {
        self.drain_launches()
    }

    /// The launches that `enqueue` puts on a stream, none of which is executed.
    ///
    /// # Errors
    /// Those of `enqueue`, and the driver's.
    pub fn without_executing<E: From<GpuError>>(
        &self,
        stream: &Stream,
        enqueue: impl FnOnce() -> Result<(), E>,
    ) -> Result<Vec<LaunchRecord>, E> {
        /// Executes again, also when the closure unwinds.
        struct Executing<'a>(&'a Cell<bool>);

        impl Drop for Executing<'_> {
            fn drop(&mut self) {
                self.0.set(false);
                virtual_gpu::skip_kernels(false);
            }
        }

        virtual_gpu::launches();
        virtual_gpu::skip_kernels(true);
        self.is_dry_run.set(true);
        let executing = Executing(&self.is_dry_run);
        enqueue()?;
        stream.synchronize().map_err(GpuError::from)?;
        drop(executing);
        Ok(virtual_gpu::launches())
    }

    /// Returns whether launches are recorded only, see [`Self::without_executing`].
    pub(crate) fn is_dry_run(&self) -> bool {
        self.is_dry_run.get()
    }

    /// Forgets that a kernel failed, for tests: later launches run, which on a GPU no launch of this process would.
    pub fn forget_failure(&self) {
        virtual_gpu::forget_failure();
    }

    /// From here on the requests of each launch's first warp are recorded, or no longer.
    pub fn watch_first_warp(&self, watch: bool) {
        virtual_gpu::watch(watch.then(Watched::default));
    }

    /// Returns what was done since the last call, and when, the host's calls among it.
    pub fn drain_operations(&self) -> Vec<OperationRecord> {
        virtual_gpu::operations()
    }

    /// The old name of [`Self::drain_operations`].
    #[deprecated(since = "0.2.0", note = "it is `drain_operations`")]
    pub fn take_operations(&self) -> Vec<OperationRecord> {
        self.drain_operations()
    }

    /// The clock, which sees calls of the driver only, moves on by the time that the host takes to read this memory.
    pub fn host_reads<T>(&self, memory: &[T]) {
        virtual_gpu::host_reads(memory.as_ptr().addr(), size_of_val(memory));
    }

    /// The host has used a few words of each page of this memory: pages of managed memory are on the host from here on.
    pub fn host_touches<T>(&self, memory: &[T]) {
        virtual_gpu::host_touches(memory.as_ptr().addr(), size_of_val(memory));
    }

    /// The host has written this memory: pages of managed memory are on the host from here on.
    pub fn host_writes<T>(&self, memory: &[T]) {
        virtual_gpu::host_writes(memory.as_ptr().addr(), size_of_val(memory));
    }

    /// Mistakes of the host's since the last call: use after free, a copy past an allocation, host memory that changed too
    /// early. Each has its kind, and is a sentence with its call and, where it is known, its line. Advice is left out,
    /// such as on asynchronous copies of pageable memory, which only cost time, and calls that failed, which the program
    /// knows from their results.
    pub fn drain_misuse(&self) -> Vec<Misuse> {
        misuses().collect()
    }

    /// The old name of [`Self::drain_misuse`].
    #[deprecated(since = "0.2.0", note = "it is `drain_misuse`")]
    pub fn take_misuse(&self) -> Vec<Misuse> {
        self.drain_misuse()
    }
}

fn misuses() -> impl Iterator<Item = Misuse> {
    let is_known = |kind: MisuseKind| kind.is_advice() || kind == MisuseKind::CallFailed;
    virtual_gpu::misuse().into_iter().filter(move |mistake| !is_known(mistake.kind))
}

/// The sentences of [`VirtualDevice::drain_misuse`].
pub(crate) fn mistakes() -> Vec<String> {
    misuses().map(|mistake| mistake.to_string()).collect()
}

/// Returns what the virtual device, if one runs, has to say of mistakes; each is said once.
pub fn misuse() -> Vec<String> {
    virtual_gpu::misuse().iter().map(ToString::to_string).collect()
}
