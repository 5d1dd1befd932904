"""cuda-core: CUDA C++ compiled to PTX at run time, launched, and read back."""

import ctypes

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = 'extern "C" __global__ void twice(unsigned *x) { x[threadIdx.x] += x[threadIdx.x]; }'

device = Device()
device.set_current()
stream = device.create_stream()
compiled = Program(SOURCE, code_type="c++", options=ProgramOptions(arch="compute_80")).compile("ptx")
kernel = compiled.get_kernel("twice")
buffer = device.allocate(128, stream=stream)
words = (ctypes.c_uint * 32)(*range(32))

from cuda.bindings import driver

driver.cuMemcpyHtoD(int(buffer.handle), ctypes.addressof(words), 128)
launch(stream, LaunchConfig(grid=1, block=32), kernel, int(buffer.handle))
stream.sync()
driver.cuMemcpyDtoH(ctypes.addressof(words), int(buffer.handle), 128)
assert list(words) == [2 * i for i in range(32)], list(words)
