//! Copies whose order or memory is wrong: of planes, of arrays, and of memory onto itself.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_MEMCPY3D, CUarray, CUarray_format, CUmemorytype, CUstream,
};
use simt::Checks;
use std::ffi::c_void;
use std::ptr::null_mut;
use support::done;
use virtual_gpu::{MisuseKind, Options, OwnMachine, Profile};

const NON_BLOCKING: u32 = 1;

fn begin() -> (OwnMachine, cust::context::Context) {
    let own = OwnMachine::new();
    let options = Options { checks: Checks::all(), ..Options::default() };
    let context = support::open(Profile::named("h200").unwrap(), options);
    (own, context)
}

fn stream() -> CUstream {
    let mut stream = null_mut();
    done!(cuStreamCreate(&mut stream, NON_BLOCKING));
    stream
}

fn device(bytes: usize) -> u64 {
    let mut address = 0;
    done!(cuMemAlloc_v2(&mut address, bytes));
    done!(cuMemsetD8_v2(address, 1, bytes));
    done!(cuCtxSynchronize());
    address
}

fn kinds() -> Vec<MisuseKind> {
    virtual_gpu::misuse().into_iter().map(|one| one.kind).collect()
}

/// A box of 32 bytes by 4 rows, from host memory with rows of 64 bytes.
fn from_host(host: *const c_void) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: host,
        srcDevice: 0,
        srcArray: null_mut(),
        reserved0: null_mut(),
        srcPitch: 64,
        srcHeight: 4,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: null_mut(),
        dstDevice: 0,
        dstArray: null_mut(),
        reserved1: null_mut(),
        dstPitch: 32,
        dstHeight: 4,
        WidthInBytes: 32,
        Height: 4,
        Depth: 1,
    }
}

#[test]
fn a_copy_onto_its_own_source_is_found() {
    let (_own, _context) = begin();
    let memory = device(4096);
    for (to, is_right) in [(memory + 1024, true), (memory, true), (memory + 1008, false)] {
        done!(cuMemcpyDtoD_v2(to, memory, 1024));
        let found = kinds();
        assert_eq!(found.is_empty(), is_right, "{found:?}");
    }
}

/// The runtime asks for planes by descriptions of boxes.
#[test]
fn a_plane_is_read_when_its_stream_comes_to_it() {
    let (_own, _context) = begin();
    let (stream, memory) = (stream(), device(4096));
    let mut host: *mut c_void = null_mut();
    done!(cuMemAllocHost_v2(&mut host, 256));
    let bytes = host.cast::<u8>();
    for (byte, is_right) in [(32, true), (64, false)] {
        // SAFETY: the allocation has 256 bytes.
        unsafe { bytes.write_bytes(0, 256) };
        let mut copy = from_host(host);
        copy.dstDevice = memory;
        done!(cuMemcpy3DAsync_v2(&copy, stream));
        // SAFETY: as above.
        unsafe { bytes.add(byte).write(7) };
        done!(cuStreamSynchronize(stream));
        let expected: &[_] = if is_right { &[] } else { &[MisuseKind::HostMemoryChanged] };
        assert_eq!(kinds(), expected, "byte {byte}");
    }
}

#[test]
fn copies_of_an_array_on_two_streams_need_an_order() {
    let (_own, _context) = begin();
    let (one, other) = (stream(), stream());
    let mut host: *mut c_void = null_mut();
    done!(cuMemAllocHost_v2(&mut host, 256));
    let mut array: CUarray = null_mut();
    let description = CUDA_ARRAY_DESCRIPTOR {
        Width: 8,
        Height: 4,
        Format: CUarray_format::CU_AD_FORMAT_FLOAT,
        NumChannels: 1,
    };
    done!(cuArrayCreate_v2(&mut array, &description));
    let memory = device(256);
    for (second, is_right) in [(one, true), (other, false)] {
        let mut copy = from_host(host);
        (copy.dstMemoryType, copy.dstArray) = (CUmemorytype::CU_MEMORYTYPE_ARRAY, array);
        done!(cuMemcpy3DAsync_v2(&copy, one));
        let mut back = copy;
        (back.srcMemoryType, back.srcArray) = (CUmemorytype::CU_MEMORYTYPE_ARRAY, array);
        (back.dstMemoryType, back.dstDevice, back.dstPitch) =
            (CUmemorytype::CU_MEMORYTYPE_DEVICE, memory, 32);
        done!(cuMemcpy3DAsync_v2(&back, second));
        done!(cuCtxSynchronize());
        let expected: &[_] = if is_right { &[] } else { &[MisuseKind::MissingOrder] };
        assert_eq!(kinds(), expected);
    }
    done!(cuArrayDestroy(array));
}
