//! Launches of kernels that are safe functions: what the kernel rests on is checked before it is enqueued.

use crate::argument::{Arguments, SafeArguments};
use crate::error::{GpuError, Result};
use crate::launch::Launcher;
use cuda_std::kernel::SafeKernel;
use cuda_std::safe::MOST_ROWS;
use cust::function::{BlockSize, GridSize};
use cust_ext::stream::{DefaultStream, is_capturing};

/// Threads along one axis whose indices in 32 bits all differ.
const MOST_THREADS: u64 = 1 << 32;

impl Launcher<'_> {
    /// Runs `kernel` with the block that it says, and waits until it has ended.
    ///
    /// Nothing of this needs `unsafe`: the kernel is a safe function, and the memory is borrowed until the kernel has ended.
    /// The launch comes after what cust's calls without a stream have under way, such as `DeviceBuffer::zeroed`.
    /// [`Launcher::scope`] and [`Launcher::enqueue`] do not wait. A grid of no blocks does nothing.
    ///
    #[doc = example!("", safe, "x: DeviceBuffer<f32>, mut z: DeviceBuffer<f32>",
        "launcher.run(scale, 4, (2.0_f32, &x, &mut z))")]
    /// One buffer cannot be read and written by one launch:
    #[doc = example!("compile_fail,E0502", safe, "mut x: DeviceBuffer<f32>",
        "launcher.run(scale, 4, (2.0_f32, &x, &mut x))")]
    /// a slice of cust's can be copied, so what it points to may be freed or be the output:
    #[doc = example!("compile_fail,E0277", safe, "x: DeviceBuffer<f32>",
        "let mut copy: DeviceSlice<f32> = *x;"
        "launcher.run(scale, 4, (2.0_f32, &x, &mut copy))")]
    /// and an address is not memory that is borrowed:
    #[doc = example!("compile_fail,E0277", safe, "x: DeviceBuffer<f32>",
        "launcher.run(scale, 4, (2.0_f32, &x, DevicePtrMut::<f32>::from_raw(4096, 1000)))")]
    ///
    /// # Errors
    /// [`GpuError::Refused`] when the launch breaks the kernel's contract or the device does not take it,
    /// [`GpuError::Fault`] when the kernel stops with an error.
    pub fn run<F, A: SafeArguments<F>>(
        &self,
        kernel: SafeKernel<F>,
        grid: impl Into<GridSize>,
        arguments: A,
    ) -> Result<()> {
        if is_capturing(self.stream())? {
            let launch = kernel.name().to_owned();
            let cause = "its stream is being captured, and `run` waits: take `Launcher::enqueue`";
            return Err(GpuError::Refused { launch, cause: cause.to_owned() });
        }
        // Then nothing that this thread could have started uses the arguments.
        DefaultStream::legacy().synchronize()?;
        // SAFETY: the arguments are borrowed until this function returns, and by then the kernel has ended.
        unsafe { self.enqueue(kernel, grid, arguments) }?;
        self.finish()
    }

    /// Enqueues `kernel` with the block that it says. A grid of no blocks does nothing.
    ///
    /// # Errors
    /// [`GpuError::Refused`] when the launch breaks the kernel's contract or the device does not take it.
    ///
    /// # Safety
    /// - Until the kernel has ended, the memory of the arguments stays allocated, nobody writes what it reads, and nobody
    ///   accesses what it writes.
    /// - Where the stream is being captured, this holds at each launch of the graph, and the module outlives the graph.
    pub unsafe fn enqueue<F, A: Arguments<F>>(
        &self,
        kernel: SafeKernel<F>,
        grid: impl Into<GridSize>,
        arguments: A,
    ) -> Result<()> {
        let grid = grid.into();
        let (x, y, z) = kernel.block();
        let block = BlockSize { x, y, z };
        // A launch that only tells how it would be may name memory of another size.
        if !self.gpu().is_dry_run()
            && let Some(cause) = broken(kernel, &grid, &block, &arguments)
        {
            let launch = format!(
                "{}<<<({}, {}, {}), ({x}, {y}, {z})>>>",
                kernel.name(),
                grid.x,
                grid.y,
                grid.z
            );
            return Err(GpuError::Refused { launch, cause });
        }
        if [grid.x, grid.y, grid.z].contains(&0) {
            return Ok(());
        }
        // SAFETY: the block is the kernel's, the grid has no more dimensions than the parameters allow, lengths that must
        // agree do, and the caller vouches for the memory.
        unsafe { self.launch(kernel.unchecked(), grid, block, 0, arguments) }
    }
}

/// Returns what of the kernel's contract a launch breaks.
fn broken<F, A: Arguments<F>>(
    kernel: SafeKernel<F>,
    grid: &GridSize,
    block: &BlockSize,
    arguments: &A,
) -> Option<String> {
    let name = |position: usize| kernel.parameters().get(position).copied().unwrap_or("?");
    if let Some((position, fault)) = arguments.fault() {
        return Some(format!("its argument `{}` {fault}", name(position)));
    }
    let lengths = arguments.lengths();
    let mut same = kernel.same_length().iter().map(|position| (*position, lengths[*position]));
    if let Some((first, length)) = same.next()
        && let Some((other, other_length)) = same.find(|(_, other)| *other != length)
    {
        return Some(format!(
            "its arguments `{}` and `{}` must be equally long, but have {} and {} elements",
            name(first),
            name(other),
            length.unwrap_or(0),
            other_length.unwrap_or(0),
        ));
    }
    let threads = [(grid.x, block.x), (grid.y, block.y), (grid.z, block.z)]
        .map(|(blocks, threads)| u64::from(blocks) * u64::from(threads));
    let dimensions = threads.iter().rposition(|threads| *threads > 1).map_or(1, |last| last + 1);
    if dimensions > A::MOST_DIMENSIONS {
        return Some(format!(
            "its parameters are for launches in {} dimension(s), and this one has {dimensions}",
            A::MOST_DIMENSIONS
        ));
    }
    let along = threads.into_iter().max().unwrap_or(0);
    if along > MOST_THREADS {
        return Some(format!(
            "it has {along} threads along one axis, and indices of 32 bits count {MOST_THREADS}"
        ));
    }
    // A transposed plane has its rows by the blocks along x and the threads along y.
    let rows = u64::from(grid.x.max(grid.y)) * u64::from(block.x.max(block.y) * MOST_ROWS);
    (A::MOST_DIMENSIONS == 2 && rows > MOST_THREADS).then(|| {
        format!(
            "its planes may have {rows} rows or columns, and indices of 32 bits count {MOST_THREADS}"
        )
    })
}
