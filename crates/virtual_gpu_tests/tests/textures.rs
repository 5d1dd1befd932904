//! Arrays and texture objects are refused as an H200's driver refuses them.

use cuda_driver::raw::{
    CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC, CUarray, CUarray_format,
    CUresourcetype,
};
use cuda_driver::{Backend, ReturnCode, api};
use virtual_gpu::{Options, Profile, VirtualGpu};

const OK: ReturnCode = ReturnCode::SUCCESS;
const INVALID: ReturnCode = ReturnCode::INVALID_VALUE;
const FLOAT: CUarray_format = CUarray_format::CU_AD_FORMAT_FLOAT;

/// Makes an array, and destroys it again.
fn array([width, height, depth]: [usize; 3], channels: u32, flags: u32) -> ReturnCode {
    let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: depth,
        Format: FLOAT,
        NumChannels: channels,
        Flags: flags,
    };
    let mut array: CUarray = std::ptr::null_mut();
    // SAFETY: a local to write to and one to read; the array is destroyed once.
    unsafe {
        let code = api::cuArray3DCreate_v2(&mut array, &descriptor);
        if code == OK {
            assert_eq!(api::cuArrayDestroy(array), OK);
        }
        code
    }
}

fn texture(resource: &CUDA_RESOURCE_DESC) -> (ReturnCode, u64) {
    // SAFETY: integers, floats and enums of which zero is a listed value.
    let texture: CUDA_TEXTURE_DESC = unsafe { std::mem::zeroed() };
    let mut object = 0;
    // SAFETY: a local to write to and two structures to read.
    let code = unsafe { api::cuTexObjectCreate(&mut object, resource, &texture, std::ptr::null()) };
    (code, object)
}

fn linear(address: u64, channels: u32, bytes: usize) -> CUDA_RESOURCE_DESC {
    // SAFETY: as in `texture`.
    let mut resource: CUDA_RESOURCE_DESC = unsafe { std::mem::zeroed() };
    resource.resType = CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = address;
    resource.res.linear.format = FLOAT;
    resource.res.linear.numChannels = channels;
    resource.res.linear.sizeInBytes = bytes;
    resource
}

fn pitched(address: u64, [width, height, pitch]: [usize; 3]) -> CUDA_RESOURCE_DESC {
    let mut resource = linear(address, 1, 0);
    resource.resType = CUresourcetype::CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    resource
}

#[test]
fn limits_and_descriptions_have_the_codes_of_a_driver() {
    let gpu = VirtualGpu::start(Profile::named("h200").unwrap(), Options::default()).unwrap();
    cuda_driver::select(Backend::Table(gpu)).unwrap();
    let _context = cust::quick_init().unwrap();
    // Each line was asked of an H200.
    for (extent, channels, flags, code) in [
        ([131_072, 0, 0], 1, 0, OK),
        ([131_073, 0, 0], 1, 0, INVALID),
        ([1, 65537, 0], 1, 0, INVALID),
        ([0, 4, 0], 1, 0, INVALID),
        ([16, 16, 0], 3, 0, INVALID),
        ([16, 16, 0], 0, 0, INVALID),
        ([16385, 4, 4], 1, 0, INVALID),
        ([16384, 4, 4], 1, 0, OK),
        ([4, 4, 16385], 1, 0, OK),
        ([4, 0, 4], 1, 0, INVALID),
        ([16, 0, 2048], 1, 1, OK),
        ([16, 0, 2049], 1, 1, INVALID),
        ([32769, 0, 2], 1, 1, INVALID),
        ([4, 4, 0], 1, 1, INVALID),
        ([8, 8, 6], 1, 4, OK),
        ([8, 7, 6], 1, 4, INVALID),
        ([8, 8, 5], 1, 4, INVALID),
        ([8, 8, 12], 1, 5, OK),
        ([8, 8, 13], 1, 5, INVALID),
        ([32769, 8, 0], 1, 8, INVALID),
        ([8, 0, 0], 1, 8, INVALID),
        ([8, 8, 8], 1, 8, INVALID),
        ([8, 8, 0], 1, 0x800, INVALID),
        ([131_072, 8, 0], 1, 2, OK),
    ] {
        assert_eq!(array(extent, channels, flags), code, "{extent:?} {channels} {flags}");
    }
    let mut memory = 0;
    // SAFETY: a local to write to.
    assert_eq!(unsafe { api::cuMemAlloc_v2(&mut memory, 1 << 20) }, OK);
    for (resource, code) in [
        (linear(memory, 4, 1 << 20), OK),
        (linear(memory + 256, 4, 1024), INVALID),
        (linear(memory + 512, 4, 1024), OK),
        (linear(memory, 3, 1024), INVALID),
        (linear(0, 1, 1024), INVALID),
        (pitched(memory, [100, 10, 512]), OK),
        (pitched(memory, [100, 10, 416]), OK),
        (pitched(memory, [100, 10, 404]), INVALID),
        (pitched(memory + 128, [100, 10, 512]), INVALID),
        (pitched(memory, [100, 65001, 512]), INVALID),
    ] {
        let (got, object) = texture(&resource);
        assert_eq!(got, code);
        if got == OK {
            // SAFETY: the object was made above; a second time, the driver says nothing.
            unsafe {
                let mut described = resource;
                assert_eq!(api::cuTexObjectGetResourceDesc(&mut described, object), OK);
                assert_eq!(described.resType, resource.resType);
                assert_eq!(api::cuTexObjectDestroy(object), OK);
                assert_eq!(api::cuTexObjectGetResourceDesc(&mut described, object), INVALID);
                assert_eq!(api::cuTexObjectDestroy(object), OK);
            }
        }
    }
}
