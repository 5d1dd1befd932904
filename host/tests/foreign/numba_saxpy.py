"""Writes numba.ptx, by numba-cuda 0.30 and without a GPU."""
from numba import cuda, float32
def saxpy(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]
ptx, _ = cuda.compile_ptx(saxpy, (float32[::1], float32[::1], float32), cc=(8, 0), lineinfo=True)
open("numba.ptx", "w").write(ptx)
