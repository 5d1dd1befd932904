"""Arrays of Dr.Jit's CUDA back end against numpy: a line for each check, and the counts."""

import drjit as dr
import numpy as np
from drjit.cuda import Float, UInt
from drjit.cuda.ad import Float as Differentiable


def near(got, expected, error=1e-5):
    return np.abs(np.asarray(got) - expected).max() <= error * max(1, np.abs(expected).max())


def arithmetic():
    x = dr.linspace(Float, 0.1, 2, 1000)
    at = np.linspace(0.1, 2, 1000)
    return near(dr.sqrt(x) * dr.sin(x) + dr.log(x), np.sqrt(at) * np.sin(at) + np.log(at))


def scatter():
    target = dr.zeros(UInt, 10)
    dr.scatter_reduce(dr.ReduceOp.Add, target, UInt(1), dr.arange(UInt, 1000) % 10)
    return near(target, np.full(10, 100), 0)


def prefix_sum():
    at = np.arange(5000)
    return near(dr.prefix_sum(dr.arange(UInt, 5000)), at.cumsum() - at, 0)


def compress():
    index = dr.compress(dr.arange(UInt, 3000) % 3 == 1)
    return near(index, np.arange(1, 3000, 3), 0)


def gradient():
    x = dr.arange(Differentiable, 100)
    dr.enable_grad(x)
    dr.backward(dr.sum(x * x))
    return near(dr.grad(x), 2.0 * np.arange(100))


@dr.syntax
def collatz(n):
    steps = UInt(0)
    while n > 1:
        n = dr.select(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    return steps


def loop():
    def steps(n):
        return 0 if n < 2 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    return near(collatz(dr.arange(UInt, 1, 200)), [steps(n) for n in range(1, 200)], 0)


CHECKS = [arithmetic, scatter, prefix_sum, compress, gradient, loop]
passed = 0
for check in CHECKS:
    try:
        is_right = bool(check())
    except Exception as error:
        is_right = False
        print(error)
    passed += is_right
    print(f"{'passed' if is_right else 'failed'}: {check.__name__}", flush=True)
print(f"{passed} passed, {len(CHECKS) - passed} failed, 0 skipped")
