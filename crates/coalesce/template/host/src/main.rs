//! One launch: a GPU if there is one, else the virtual one; memory in order, and events that tell the time.

use anyhow::Result;
use cuda_host::Gpu;
use cuda_host::cust::event::{Event, EventFlags};
use my_app_kernels::saxpy::{THREADS_PER_BLOCK, saxpy_coalesced};

const N: usize = 1 << 20;

fn main() -> Result<()> {
    let gpu = Gpu::auto(my_app::IMAGES)?;
    println!("device: {}", gpu.origin());

    // Each call comes after the one before it, and is done when it returns.
    let x = gpu.upload(&vec![2.0_f32; N])?;
    let y = gpu.filled(1.0, N)?;
    let mut z = gpu.zeroed(N)?;

    let [begin, end] = [Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?];
    let blocks = (N as u32).div_ceil(THREADS_PER_BLOCK);
    begin.record(gpu.stream())?;
    gpu.launcher().run(saxpy_coalesced, blocks, (3.0, &x, &y, &mut z))?;
    end.record(gpu.stream())?;
    end.synchronize()?;

    let z = gpu.download(&z)?;
    let ms = end.elapsed_time_f32(&begin)?;
    println!("z[0] = {}, z[{}] = {}, {ms:.3} ms", z[0], N - 1, z[N - 1]);
    Ok(())
}
