"""cuda-bindings: the driver's functions, a library of PTX, and a kernel of it."""

import ctypes

from cuda.bindings import driver

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 array)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [array];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.u32 %r3, %r2, %r2;
    st.global.u32 [%rd3], %r3;
    ret;
}
\0"""


def done(result):
    """The values of a call, which has succeeded."""
    error, *values = result
    assert error == driver.CUresult.CUDA_SUCCESS, error
    return values[0] if len(values) == 1 else values


done(driver.cuInit(0))
device = done(driver.cuDeviceGet(0))
context = done(driver.cuDevicePrimaryCtxRetain(device))
done(driver.cuCtxSetCurrent(context))
library = done(driver.cuLibraryLoadData(PTX, [], [], 0, [], [], 0))
kernel = done(driver.cuLibraryGetKernel(library, b"twice"))
assert done(driver.cuKernelGetName(kernel)) == b"twice"
array = done(driver.cuMemAlloc(128))
words = (ctypes.c_uint * 32)(*range(32))
done(driver.cuMemcpyHtoD(array, ctypes.addressof(words), 128))
function = done(driver.cuKernelGetFunction(kernel))
done(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, ((int(array),), (ctypes.c_void_p,)), 0))
done(driver.cuMemcpyDtoH(ctypes.addressof(words), array, 128))
assert list(words) == [2 * i for i in range(32)], list(words)
done(driver.cuMemFree(array))
done(driver.cuLibraryUnload(library))
