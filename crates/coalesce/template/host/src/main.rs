//! One launch: a GPU if there is one, else the virtual one; pinned memory, a stream, events.

use anyhow::Result;
use cuda_host::Gpu;
use cuda_host::cust::event::{Event, EventFlags};
use cuda_host::cust::memory::{AsyncCopyDestination, DeviceBuffer, LockedBuffer};
use my_app_kernels::saxpy::{THREADS_PER_BLOCK, saxpy_coalesced};

const N: usize = 1 << 20;

fn main() -> Result<()> {
    let gpu = Gpu::auto(my_app::IMAGES)?;
    println!("device: {}", gpu.origin());

    // Page-locked memory of the host, which the device reads and writes by itself.
    let x = LockedBuffer::new(&2.0_f32, N)?;
    let y = LockedBuffer::new(&1.0_f32, N)?;
    let mut z = LockedBuffer::new(&0.0_f32, N)?;
    let mut device_x = DeviceBuffer::zeroed(N)?;
    let mut device_y = DeviceBuffer::zeroed(N)?;
    let mut device_z = DeviceBuffer::zeroed(N)?;

    let stream = gpu.stream();
    // SAFETY: nobody touches x and y until the stream has been waited for, which `run` does.
    unsafe {
        device_x.async_copy_from(&x, stream)?;
        device_y.async_copy_from(&y, stream)?;
    }
    let [begin, end] = [Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?];
    begin.record(stream)?;
    let blocks = (N as u32).div_ceil(THREADS_PER_BLOCK);
    gpu.launcher().run(saxpy_coalesced, blocks, (3.0, &device_x, &device_y, &mut device_z))?;
    end.record(stream)?;
    // SAFETY: nobody touches z until the stream has been waited for.
    unsafe { device_z.async_copy_to(&mut z, stream)? };
    stream.synchronize()?;

    let ms = end.elapsed_time_f32(&begin)?;
    println!("z[0] = {}, z[{}] = {}, {ms:.3} ms", z[0], N - 1, z[N - 1]);
    Ok(())
}
