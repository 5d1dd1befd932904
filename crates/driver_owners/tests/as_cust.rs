//! The same program for cust and for this crate: what compiles with one compiles with the other, and does the same.

use cuda_driver::Backend;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Takes the virtual GPU where there is no other, for one test at a time: they share the legacy default stream.
fn device() -> MutexGuard<'static, ()> {
    static CHOSEN: Once = Once::new();
    static TURN: Mutex<()> = Mutex::new(());
    CHOSEN.call_once(|| {
        if cuda_driver::status().is_err() {
            let profile = virtual_gpu::Profile::named("h200").expect("it comes with the crate");
            let gpu = virtual_gpu::VirtualGpu::start(profile, virtual_gpu::Options::default());
            let gpu = gpu.expect("it is the first of this process");
            cuda_driver::select(Backend::Table(gpu)).expect("nothing was selected before");
        }
    });
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds 1 to each of a block's words.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry increment(.param .u64 words)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [words];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.s32 %r2, %r2, 1;
    st.global.u32 [%rd3], %r2;
    ret;
}
";

/// A module with the tests, in which `cust` is this crate.
macro_rules! tests {
    ($module:ident: $library:ident) => {
        mod $module {
            use $library as cust;

            use super::{MutexGuard, PTX};
            use cust::context::{Context, CurrentContext};
            use cust::device::{Device, DeviceAttribute};
            use cust::error::{CudaError, CudaResult};
            use cust::event::{Event, EventFlags, EventStatus};
            use cust::function::{BlockSize, GridSize};
            use cust::memory::{
                AsyncCopyDestination, CopyDestination, DeviceBuffer, DevicePointer, DeviceSlice,
                LockedBuffer, mem_get_info,
            };
            use cust::module::Module;
            use cust::stream::{Stream, StreamFlags};

            fn open() -> CudaResult<(Context, MutexGuard<'static, ()>)> {
                let turn = super::device();
                cust::init(cust::CudaFlags::empty())?;
                Ok((Context::new(Device::get_device(0)?)?, turn))
            }

            #[test]
            fn devices_tell_what_they_are() -> CudaResult<()> {
                let (context, _turn) = open()?;
                assert!(Device::num_devices()? > 0);
                let device = CurrentContext::get_device()?;
                assert_eq!(device.as_raw(), 0);
                assert!(!device.name()?.is_empty());
                let (free, total) = mem_get_info()?;
                assert!(free > 0 && free <= total && total <= device.total_memory()?);
                assert!(device.get_attribute(DeviceAttribute::ComputeCapabilityMajor)? >= 7);
                CurrentContext::set_current(&context)?;
                assert!(!context.as_raw().is_null());
                Ok(())
            }

            #[test]
            fn a_kernel_runs_on_a_stream_between_copies_and_events() -> CudaResult<()> {
                let _context = open()?;
                let module = Module::from_ptx(PTX, &[])?;
                let function = module.get_function("increment")?;
                let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
                let begin = Event::new(EventFlags::DEFAULT)?;
                let end = Event::new(EventFlags::DEFAULT)?;
                let source = LockedBuffer::from_slice(&(0..64).collect::<Vec<u32>>())?;
                let mut target = LockedBuffer::new(&0_u32, 64)?;
                let mut words = DeviceBuffer::<u32>::zeroed(64)?;
                CurrentContext::synchronize()?;
                begin.record(&stream)?;
                let mut address = words.as_device_ptr().as_raw();
                let arguments = [(&raw mut address).cast()];
                // SAFETY: all memory lives until the stream was waited for; the kernel has 64 threads for 64 words.
                unsafe {
                    words.async_copy_from(&source, &stream)?;
                    stream.launch(
                        &function,
                        GridSize::x(1),
                        BlockSize::xy(64, 1),
                        0,
                        &arguments,
                    )?;
                    words.async_copy_to(&mut target, &stream)?;
                }
                end.record(&stream)?;
                stream.synchronize()?;
                end.synchronize()?;
                assert_eq!(end.query()?, EventStatus::Ready);
                assert!(end.elapsed_time_f32(&begin)? >= 0.0);
                assert!((0..64).all(|i| target[i] == source[i] + 1), "{:?}", &target[..]);
                Ok(())
            }

            #[test]
            fn memory_is_copied_in_every_direction() -> CudaResult<()> {
                let _context = open()?;
                let first = DeviceBuffer::from_slice(&[1.0_f32, 2.0, 3.0])?;
                let mut second = DeviceBuffer::<f32>::zeroed(3)?;
                let mut host = vec![9.0; 3];
                second.copy_to(&mut host)?;
                assert_eq!(host, [0.0; 3]);
                second.copy_from(&first)?;
                CurrentContext::synchronize()?;
                let slice: &DeviceSlice<f32> = &second;
                assert_eq!((slice.len(), slice.is_empty()), (3, false));
                slice.copy_to(&mut host)?;
                assert_eq!(host, [1.0, 2.0, 3.0]);
                second.copy_from(&[4.0, 5.0, 6.0])?;
                let mut array = [0.0; 3];
                second.as_slice().copy_to(&mut array)?;
                assert_eq!(array, [4.0, 5.0, 6.0]);
                assert!(DeviceBuffer::<u64>::from_slice(&[])?.is_empty());
                assert!(DevicePointer::<u8>::null().is_null());
                Ok(())
            }

            #[test]
            fn errors_are_the_driver_s() -> CudaResult<()> {
                let _context = open()?;
                let module = Module::from_ptx(PTX, &[])?;
                let missing = module.get_function("no_such_kernel").unwrap_err();
                assert_eq!(missing, CudaError::NotFound);
                assert!(missing.to_string().starts_with('"'), "{missing}");
                // SAFETY: nothing is read of it.
                let huge = unsafe { DeviceBuffer::<u8>::uninitialized(1 << 50) }.unwrap_err();
                assert!(matches!(huge, CudaError::OutOfMemory), "{huge:?}");
                // SAFETY: nothing is read of it.
                let beyond = unsafe { DeviceBuffer::<u64>::uninitialized(usize::MAX) }.unwrap_err();
                assert_eq!(beyond, CudaError::InvalidMemoryAllocation);
                assert_eq!(beyond.to_string(), "Invalid memory allocation");
                Ok(())
            }
        }
    };
}

tests!(published: cust);
tests!(ours: driver_owners);

/// Holds what is stricter here than in cust: a stream that does not block need not wait for the legacy default stream,
/// on which memory is filled.
#[test]
fn memory_is_zero_when_the_call_returns() {
    use driver_owners::context::Context;
    use driver_owners::device::Device;
    use driver_owners::memory::DeviceBuffer;
    let _turn = device();
    driver_owners::init(driver_owners::CudaFlags::empty()).unwrap();
    let _context = Context::new(Device::get_device(0).unwrap()).unwrap();
    // A fill that takes longer than its call.
    let _words = DeviceBuffer::<u32>::zeroed(1 << 26).unwrap();
    // SAFETY: the null stream is the legacy default one.
    let code = unsafe { cuda_driver::api::cuStreamQuery(std::ptr::null_mut()) };
    assert_eq!(code, cuda_driver::ReturnCode::SUCCESS, "the fill is still under way");
}

#[test]
fn a_stream_that_does_not_block_is_one() {
    use driver_owners::context::Context;
    use driver_owners::device::Device;
    use driver_owners::stream::{Stream, StreamFlags};
    let _turn = device();
    driver_owners::init(driver_owners::CudaFlags::empty()).unwrap();
    let _context = Context::new(Device::get_device(0).unwrap()).unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    let mut flags = 0;
    // SAFETY: the stream is alive, and the flags are a local to write to.
    let _ = unsafe { cuda_driver::api::cuStreamGetFlags(stream.as_inner(), &mut flags) };
    assert_eq!(flags, StreamFlags::NON_BLOCKING.bits());
}
