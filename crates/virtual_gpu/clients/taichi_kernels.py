"""Kernels of Taichi or Quadrants against numpy: `python taichi_kernels.py taichi`; a line for each, and the counts."""

import importlib
import sys

import numpy as np

ti = importlib.import_module(sys.argv[1])
ti.init(arch=ti.cuda)
assert ti.cfg.arch == ti.cuda, f"it runs on {ti.cfg.arch}"
N = 256
x, y = ti.field(ti.f32, N), ti.field(ti.f32, N)
place, force = ti.Vector.field(3, ti.f32, N), ti.Vector.field(3, ti.f32, N)
total = ti.field(ti.f64, ())


@ti.kernel
def saxpy(a: ti.f32):
    for i in x:
        y[i] = a * x[i] + y[i]


@ti.kernel
def bodies():
    for i in place:
        sum = ti.Vector([0.0, 0.0, 0.0])
        for j in range(N):
            d = place[j] - place[i]
            r = d.norm_sqr() + 1e-2
            sum += d / (r * ti.sqrt(r))
        force[i] = sum


@ti.kernel
def add_up():
    for i in x:
        total[None] += ti.cast(x[i], ti.f64)


def saxpy_is_exact():
    x.from_numpy(np.arange(N, dtype=np.float32))
    y.from_numpy(np.ones(N, np.float32))
    saxpy(2.0)
    return (y.to_numpy() == 2 * np.arange(N) + 1).all()


def bodies_are_near():
    at = np.random.default_rng(1).random((N, 3), dtype=np.float32)
    place.from_numpy(at)
    bodies()
    d = (at[None] - at[:, None]).astype(np.float64)
    r = (d**2).sum(-1) + 1e-2
    expected = (d / (r * np.sqrt(r))[..., None]).sum(1)
    return np.abs(force.to_numpy() - expected).max() < 1e-5 * np.abs(expected).max()


def sum_is_exact():
    add_up()
    return total[None] == N * (N - 1) / 2


CHECKS = [saxpy_is_exact, bodies_are_near, sum_is_exact]
passed = 0
for check in CHECKS:
    is_right = bool(check())
    passed += is_right
    print(f"{'passed' if is_right else 'failed'}: {check.__name__}")
print(f"{passed} passed, {len(CHECKS) - passed} failed, 0 skipped")
