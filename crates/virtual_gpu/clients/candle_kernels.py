"""Kernels of candle, which needs no cuBLAS for them, compared with NumPy: `python candle_kernels.py FOLDER` of their PTX.

candle itself opens cuBLAS before its first kernel; these are launched by the driver API as candle launches them.
"""

import ctypes
import math
import pathlib
import sys

import numpy

DRIVER = ctypes.CDLL("libcuda.so.1")
U64, I32, U32, F32 = ctypes.c_uint64, ctypes.c_int, ctypes.c_uint32, ctypes.c_float
ROWS, COLUMNS = 37, 129
CASES = {}


def call(name, *arguments):
    code = getattr(DRIVER, name)(*arguments)
    if code:
        raise RuntimeError(f"{name}: error {code}")


def case(function):
    CASES[function.__name__] = function
    return function


def upload(array):
    address = U64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes))
    call("cuMemcpyHtoD_v2", address, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
    return address


def launch(file, kernel, arguments, out, blocks, block, shared=0):
    """What a kernel leaves in `out`, whose memory is the argument that is None."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), (FOLDER / f"{file}.ptx").read_bytes() + b"\0")
    call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
    target = upload(out)
    values = [target if it is None else upload(it) if isinstance(it, numpy.ndarray) else it for it in arguments]
    addresses = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    x, y = block if isinstance(block, tuple) else (block, 1)
    call("cuLaunchKernel", function, blocks, 1, 1, x, y, 1, shared, None, addresses, None)
    call("cuMemcpyDtoH_v2", out.ctypes.data_as(ctypes.c_void_p), target, ctypes.c_size_t(out.nbytes))
    return out


def random(*shape, kind=numpy.float32):
    return numpy.random.default_rng(1).uniform(-2, 2, shape).astype(kind)


def strided(x):
    """Dimensions and strides, in elements."""
    return numpy.array([*x.shape, *(stride // x.itemsize for stride in x.strides)], numpy.uint64)


def unary(kernel, expected, error=1e-5, kind=numpy.float32):
    x = random(ROWS, COLUMNS, kind=kind)
    found = launch("unary", kernel, [U64(x.size), U64(2), strided(x), x, None], numpy.zeros_like(x), 10, 256)
    numpy.testing.assert_allclose(found.astype(numpy.float64), expected(x.astype(numpy.float64)), error, error)


@case
def gelu():
    unary("ugelu_erf_f32", lambda x: x * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2))) / 2)


@case
def silu():
    unary("usilu_f32", lambda x: x / (1 + numpy.exp(-x)))


@case
def silu_in_16_bits():
    unary("usilu_f16", lambda x: x / (1 + numpy.exp(-x)), 4e-3, numpy.float16)


@case
def cosine():
    unary("ucos_f64", numpy.cos, 1e-14, numpy.float64)


@case
def transposed_sum():
    x, y = random(ROWS, COLUMNS), random(COLUMNS, ROWS).T
    info = numpy.concatenate([strided(x), strided(y)[2:]])
    arguments = [U64(x.size), U64(2), info, x, y.base, None]
    numpy.testing.assert_array_equal(launch("binary", "badd_f32", arguments, numpy.zeros_like(x), 10, 256), x + y)


@case
def softmax():
    x = random(ROWS, COLUMNS)
    found = launch("reduce", "softmax_f32", [x, None, I32(COLUMNS)], numpy.zeros_like(x), ROWS, (1, 32))
    expected = numpy.exp(x) / numpy.exp(x).sum(1, keepdims=True)
    numpy.testing.assert_allclose(found, expected, 1e-5)


@case
def layer_norm():
    x, a, b = random(ROWS, COLUMNS), random(COLUMNS), random(COLUMNS) + 1
    arguments = [x, None, a, b, I32(COLUMNS), I32(32), F32(1e-5)]
    found = launch("reduce", "layernorm_f32", arguments, numpy.zeros_like(x), ROWS, 32)
    expected = (x - x.mean(1, keepdims=True)) / numpy.sqrt(x.var(1, keepdims=True) + 1e-5) * a + b
    numpy.testing.assert_allclose(found, expected, 1e-4, 1e-5)


@case
def rms_norm():
    x, a = random(ROWS, COLUMNS), random(COLUMNS)
    arguments = [x, None, a, I32(COLUMNS), I32(32), F32(1e-5)]
    found = launch("reduce", "rmsnorm_f32", arguments, numpy.zeros_like(x), ROWS, 32)
    expected = x / numpy.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * a
    numpy.testing.assert_allclose(found, expected, 1e-4, 1e-5)


@case
def sort():
    x = random(ROWS, COLUMNS)
    arguments = [x, None, I32(COLUMNS), I32(256)]
    found = launch("sort", "asort_asc_f32", arguments, numpy.zeros((ROWS, COLUMNS), numpy.uint32), ROWS, 256, 1024)
    numpy.testing.assert_array_equal(numpy.take_along_axis(x, found.astype(numpy.int64), 1), numpy.sort(x, 1))


@case
def index_select():
    x, ids = random(ROWS, COLUMNS), numpy.array([5, 0, 36, 5], numpy.uint32)
    out = numpy.zeros((4, COLUMNS), numpy.float32)
    info = numpy.array([4, 1], numpy.uint64)
    arguments = [U64(out.size), U64(1), info, ids, x, None, U64(1), U64(ROWS), U64(4), U64(COLUMNS)]
    numpy.testing.assert_array_equal(launch("indexing", "is_u32_f32", arguments, out, 3, 256), x[ids])


@case
def cast_to_16_bits():
    x = random(ROWS, COLUMNS)
    out = numpy.zeros(x.shape, numpy.float16)
    found = launch("cast", "cast_f32_f16", [U64(x.size), U64(2), strided(x), x, None], out, 10, 256)
    numpy.testing.assert_array_equal(found, x.astype(numpy.float16))


@case
def convolution():
    x, k = random(2, 3, 17, 19), random(4, 3, 3, 3)
    info = numpy.concatenate([strided(x), strided(k)])
    out = numpy.zeros((2, 4, 17, 19), numpy.float32)
    one = U64(1)
    arguments = [U64(x.size), U64(19), U64(17), one, one, one, info, x, k, None]
    found = launch("conv", "conv2d_f32", arguments, out, 20, 256)
    padded = numpy.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    numpy.testing.assert_allclose(found, numpy.einsum("bcijyx,ocyx->boij", windows, k), 1e-4, 1e-4)


def main():
    context = ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    failed = 0
    for name, run in CASES.items():
        try:
            run()
        except Exception as error:
            failed += 1
            print(f"failed: {name}: {error}")
    print(f"{len(CASES) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


FOLDER = pathlib.Path(sys.argv[1])
main()
