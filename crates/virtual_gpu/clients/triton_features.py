"""Each feature of Triton once, compared with the CPU: `coalesce run --torch -- python triton_features.py [NAME..]`.

Prints a line for each feature, and at the end how many passed, failed and were skipped since Triton has none for the device.
"""

import sys

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor

CUDA = "cuda"
CAPABILITY = torch.cuda.get_device_capability()
FEATURES = {}


def feature(name, since=(7, 0)):
    def add(function):
        FEATURES[name] = (function, since)
        return function

    return add


def near(got, expected, error=1e-5):
    got, expected = got.cpu().double(), expected.double()
    assert got.shape == expected.shape, (got.shape, expected.shape)
    worst = ((got - expected).abs() / (1 + expected.abs())).max().item()
    assert worst <= error, f"{worst} off"


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def add(**options):
    x, y = random(9843), random(9843)
    out = torch.empty(9843, device=CUDA)
    add_kernel[(triton.cdiv(9843, 1024),)](x.to(CUDA), y.to(CUDA), out, 9843, BLOCK=1024, **options)
    near(out, x + y, 0)


@feature("times of benchmarks")
def times():
    """A kernel has a predicted time, the same each time but for the host's part; an operator of PyTorch has none."""
    x, out = random(9843).to(CUDA), torch.empty(9843, device=CUDA)
    kernel = lambda: add_kernel[(10,)](x, x, out, 9843, BLOCK=1024)
    kernel()
    assert 0 < triton.testing.do_bench(kernel) < 1, "the time of a small kernel is part of a millisecond"
    assert torch.tensor(triton.testing.do_bench(lambda: x + x)).isnan(), "PyTorch's operators run on the CPU"


FEATURES["masked add"] = (add, (7, 0))
FEATURES["cooperative launch"] = (lambda: add(launch_cooperative_grid=True), (7, 0))
FEATURES["dependent launch"] = (lambda: add(launch_pdl=True), (9, 0))


@triton.jit
def rows_kernel(x, out, columns, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=float("-inf"))
    if OPERATION == "softmax":
        e = tl.exp(values - tl.max(values, axis=0))
        result = e / tl.sum(e, axis=0)
    elif OPERATION == "cumsum":
        result = tl.cumsum(tl.where(i < columns, values, 0.0), axis=0)
    elif OPERATION == "sort":
        result = tl.sort(tl.where(i < columns, values, float("inf")))
    else:
        result = tl.zeros([BLOCK], tl.float32) + tl.argmax(values, axis=0)
    tl.store(out + row * columns + i, result, mask=i < columns)


def rows(operation, reference, error=1e-5, columns=781):
    x = random(5, columns)
    out = torch.empty(5, columns, device=CUDA)
    rows_kernel[(5,)](x.to(CUDA), out, columns, OPERATION=operation, BLOCK=1024)
    near(out, reference(x), error)


FEATURES["softmax"] = (lambda: rows("softmax", lambda x: torch.softmax(x, 1)), (7, 0))
FEATURES["cumsum"] = (lambda: rows("cumsum", lambda x: torch.cumsum(x.double(), 1), 1e-4), (7, 0))
FEATURES["sort"] = (lambda: rows("sort", lambda x: torch.sort(x, 1).values, 0), (7, 0))
FEATURES["reduce"] = (lambda: rows("max", lambda x: x.argmax(1, keepdim=True).expand_as(x), 0), (7, 0))


@triton.jit
def histogram_kernel(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@feature("atomic histogram")
def histogram():
    x = torch.randint(0, 64, (10_000,), dtype=torch.int32)
    bins = torch.zeros(64, dtype=torch.int32, device=CUDA)
    histogram_kernel[(10,)](x.to(CUDA), bins, 10_000, BLOCK=1024)
    near(bins, torch.bincount(x, minlength=64), 0)


@triton.jit
def functions_kernel(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    v = tl.load(x + i)
    tl.store(out + i, tl.sin(v))
    tl.store(out + n + i, tl.exp2(v))
    tl.store(out + 2 * n + i, tl.erf(v))
    tl.store(out + 3 * n + i, libdevice.tanh(v))
    tl.store(out + 4 * n + i, libdevice.pow(tl.abs(v), 1.5))
    tl.store(out + 5 * n + i, tl.rsqrt(tl.abs(v) + 1))


@feature("functions")
def functions():
    x, out = random(512), torch.empty(6, 512, device=CUDA)
    functions_kernel[(1,)](x.to(CUDA), out, n=512)
    expected = [x.sin(), x.exp2(), x.erf(), x.tanh(), x.abs() ** 1.5, (x.abs() + 1).rsqrt()]
    near(out, torch.stack(expected), 1e-5)


@triton.jit
def print_kernel(out):
    tl.device_print("program", tl.program_id(0))
    tl.device_assert(tl.program_id(0) < 2, "two programs")
    tl.store(out + tl.program_id(0), 7)


@feature("print and assert")
def prints():
    out = torch.zeros(2, dtype=torch.int32, device=CUDA)
    print_kernel[(2,)](out, debug=True)
    near(out, torch.tensor([7, 7]), 0)


@triton.jit
def philox_kernel(out, seed, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.rand(seed, i))


@feature("philox")
def philox():
    out = torch.empty(4096, device=CUDA)
    philox_kernel[(1,)](out, 5, n=4096)
    values = out.cpu()
    assert 0 <= values.min() and values.max() < 1 and abs(values.mean() - 0.5) < 0.02
    assert values.unique().numel() > 4000


@triton.jit
def matmul_kernel(
    a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr, SUM: tl.constexpr
):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), SUM)
    for at in range(0, k, BK):
        x = tl.load(a + row[:, None] * k + (at + depth)[None, :])
        y = tl.load(b + (at + depth)[:, None] * n + column[None, :])
        total = tl.dot(x, y, total, input_precision=PRECISION, out_dtype=SUM)
    tl.store(c + row[:, None] * n + column[None, :], total)


def matmul(kernel=matmul_kernel, dtype=torch.float16, error=1e-4, size=128, **options):
    a, b = random(size, size), random(size, size)
    if dtype == torch.int8:
        a, b = (torch.randint(-9, 9, (size, size)) for _ in range(2))
    a, b = a.to(dtype), b.to(dtype)
    kinds = {torch.int8: (torch.int32, tl.int32), torch.float64: (torch.float64, tl.float64)}
    result, total = kinds.get(dtype, (torch.float32, tl.float32))
    c = torch.empty(size, size, dtype=result, device=CUDA)
    blocks = dict(BM=64, BN=64, BK=32, PRECISION="tf32", SUM=total) | options
    grid = (size // blocks["BM"], size // blocks["BN"])
    kernel[grid](a.to(CUDA), b.to(CUDA), c, size, size, size, **blocks)
    near(c, a.double() @ b.double(), error)


FEATURES["dot f16"] = (matmul, (7, 0))
FEATURES["dot bf16"] = (lambda: matmul(dtype=torch.bfloat16), (8, 0))
FEATURES["dot tf32"] = (lambda: matmul(dtype=torch.float32, error=5e-2), (7, 0))
FEATURES["dot i8"] = (lambda: matmul(dtype=torch.int8, error=0), (8, 0))
FEATURES["dot f64"] = (lambda: matmul(dtype=torch.float64, BM=32, BN=32, error=1e-12), (8, 0))
FEATURES["dot f8e4m3"] = (lambda: matmul(dtype=torch.float8_e4m3fn, error=2e-2), (8, 9))
FEATURES["pipeline of 3 stages, 8 warps"] = (
    lambda: matmul(size=256, BM=128, BN=128, BK=64, num_warps=8, num_stages=3),
    (8, 0),
)
FEATURES["2 blocks for each cluster"] = (lambda: matmul(size=256, BM=128, BN=128, num_ctas=2), (9, 0))

tuned_kernel = triton.autotune(
    configs=[triton.Config({"BM": m, "BN": 32, "BK": 32}, num_warps=w) for m, w in [(32, 2), (64, 4)]], key=["m"]
)(matmul_kernel)


@feature("autotune")
def autotune():
    a, b = random(64, 64, dtype=torch.float16), random(64, 64, dtype=torch.float16)
    c = torch.empty(64, 64, device=CUDA)
    grid = lambda meta: (64 // meta["BM"], 64 // meta["BN"])
    tuned_kernel[grid](a.to(CUDA), b.to(CUDA), c, 64, 64, 64, PRECISION="tf32", SUM=tl.float32)
    near(c, a.double() @ b.double(), 1e-4)


@triton.jit
def described(a, b, c, k, B: tl.constexpr, SPECIALIZE: tl.constexpr):
    row, column = tl.program_id(0) * B, tl.program_id(1) * B
    total = tl.zeros((B, B), tl.float32)
    for at in tl.range(0, k, B, warp_specialize=SPECIALIZE):
        total = tl.dot(a.load([row, at]), b.load([at, column]), total)
    c.store([row, column], total)


@triton.jit
def device_described(a, b, c, m, n, k, B: tl.constexpr):
    x = tl.make_tensor_descriptor(a, [m, k], [k, 1], [B, B])
    y = tl.make_tensor_descriptor(b, [k, n], [n, 1], [B, B])
    z = tl.make_tensor_descriptor(c, [m, n], [n, 1], [B, B])
    described(x, y, z, k, B, False)


def descriptors(on_device, specialize=False):
    a, b = random(128, 128, dtype=torch.float16), random(128, 128, dtype=torch.float16)
    c = torch.empty(128, 128, device=CUDA)
    tensors = a.to(CUDA), b.to(CUDA), c
    if on_device:
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=CUDA))
        device_described[(2, 2)](*tensors, 128, 128, 128, B=64)
    else:
        maps = [TensorDescriptor.from_tensor(tensor, [64, 64]) for tensor in tensors]
        described[(2, 2)](*maps, 128, B=64, SPECIALIZE=specialize)
    near(c, a.double() @ b.double(), 1e-4)


FEATURES["descriptors made on the device"] = (lambda: descriptors(True), (7, 0))
FEATURES["descriptors of the host"] = (lambda: descriptors(False), (9, 0))
FEATURES["specialized warps"] = (lambda: descriptors(False, True), (9, 0))


@triton.jit
def attention_kernel(q, k, v, out, n, scale, B: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0) * B + tl.arange(0, B)
    d, column = tl.arange(0, D), tl.arange(0, B)
    queries = tl.load(q + row[:, None] * D + d[None, :])
    most = tl.full([B], float("-inf"), tl.float32)
    sums = tl.zeros([B], tl.float32)
    total = tl.zeros([B, D], tl.float32)
    for at in range(0, n, B):
        keys = tl.load(k + (at + column)[None, :] * D + d[:, None])
        scores = tl.dot(queries, keys) * scale
        higher = tl.maximum(most, tl.max(scores, axis=1))
        weights = tl.exp(scores - higher[:, None])
        shrink = tl.exp(most - higher)
        sums = sums * shrink + tl.sum(weights, axis=1)
        values = tl.load(v + (at + column)[:, None] * D + d[None, :])
        total = total * shrink[:, None] + tl.dot(weights.to(tl.float16), values)
        most = higher
    tl.store(out + row[:, None] * D + d[None, :], total / sums[:, None])


@feature("attention")
def attention():
    q, k, v = (random(128, 64, dtype=torch.float16) for _ in range(3))
    out = torch.empty(128, 64, device=CUDA)
    attention_kernel[(2,)](q.to(CUDA), k.to(CUDA), v.to(CUDA), out, 128, 0.125, B=64, D=64)
    near(out, torch.softmax(q.double() @ k.double().T * 0.125, 1) @ v.double(), 2e-3)


def main():
    torch.manual_seed(1)
    passed, failed, skipped = 0, 0, 0
    for name, (run, since) in FEATURES.items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        if CAPABILITY < since:
            skipped += 1
            print(f"skipped: {name}")
            continue
        try:
            run()
            passed += 1
            print(f"passed: {name}", flush=True)
        except Exception as error:
            failed += 1
            print(f"failed: {name}: {type(error).__name__}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
