"""Kernels in Triton, one for each kind of instruction that Triton's compiler writes."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def copy_bytes(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0), mask=i < n)


@triton.jit
def row_sum(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(x + row * columns + i, mask=i < columns, other=0.0), axis=0))


@triton.jit
def arg_max(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=float("-inf"))
    tl.store(out + row, tl.argmax(values, axis=0))


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=float("-inf"))
    shifted = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + i, shifted / tl.sum(shifted, axis=0), mask=i < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(i < columns, values - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    result = centred * scale * tl.load(weight + i, mask=i < columns) + tl.load(bias + i, mask=i < columns)
    tl.store(out + row * columns + i, result, mask=i < columns)


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(out + i, (0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))).to(tl.bfloat16), mask=i < n)


@triton.jit
def dropout(x, out, n, keep, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, i) < keep
    tl.store(out + i, tl.where(kept, tl.load(x + i, mask=i < n) / keep, 0.0), mask=i < n)


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def block_histogram(x, bins, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + i), 64)
    tl.atomic_add(bins + tl.arange(0, 64), counts)


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i), axis=0))


@triton.jit
def sort(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@triton.jit
def transpose(x, out, rows, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + r[:, None] * columns + c[None, :])
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(tile))


@triton.jit
def lock(counter, out, BLOCK: tl.constexpr):
    while tl.atomic_cas(counter, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + 1)
    tl.atomic_xchg(counter, 0)


@triton.jit
def gather(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + tl.load(index + i, mask=i < n, other=0), mask=i < n), mask=i < n)


@triton.jit
def matmul(a, b, c, m, n, k, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, DEPTH)
    sums = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        left = tl.load(a + r[:, None] * k + (start + d)[None, :])
        right = tl.load(b + (start + d)[:, None] * n + s[None, :])
        sums = tl.dot(left, right, sums)
    tl.store(c + r[:, None] * n + s[None, :], sums)


@triton.jit
def matmul_int8(a, b, c, m, n, k, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, DEPTH)
    sums = tl.zeros((BLOCK, BLOCK), dtype=tl.int32)
    for start in range(0, k, DEPTH):
        left = tl.load(a + r[:, None] * k + (start + d)[None, :])
        right = tl.load(b + (start + d)[:, None] * n + s[None, :])
        sums = tl.dot(left, right, sums, out_dtype=tl.int32)
    tl.store(c + r[:, None] * n + s[None, :], sums)


@triton.jit
def attention(q, k, v, out, length, scale, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = tl.arange(0, WIDTH)
    rows = tl.load(q + r[:, None] * WIDTH + w[None, :])
    most = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    sums = tl.zeros((BLOCK, WIDTH), tl.float32)
    for start in range(0, length, BLOCK):
        s = start + tl.arange(0, BLOCK)
        keys = tl.load(k + s[None, :] * WIDTH + w[:, None])
        scores = tl.dot(rows, keys) * scale
        larger = tl.maximum(most, tl.max(scores, axis=1))
        weights = tl.exp(scores - larger[:, None])
        shrink = tl.exp(most - larger)
        values = tl.load(v + s[:, None] * WIDTH + w[None, :])
        sums = tl.dot(weights.to(tl.float16), values, sums * shrink[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        most = larger
    tl.store(out + r[:, None] * WIDTH + w[None, :], sums / total[:, None])


@triton.jit
def tensor_map_copy(x, out, rows, columns, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    at = [tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK]
    target.store(at, source.load(at) * 2.0)


# Kernel, types of its parameters, constants, warps per block.
KERNELS = [
    (add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}, 4),
    (copy_bytes, {"x": "*i8", "out": "*i8", "n": "i32"}, {"BLOCK": 1024}, 4),
    (row_sum, {"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 1024}, 4),
    (arg_max, {"x": "*fp32", "out": "*i32", "columns": "i32"}, {"BLOCK": 1024}, 4),
    (softmax, {"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 1024}, 4),
    (
        layer_norm,
        {"x": "*fp32", "weight": "*fp32", "bias": "*fp32", "out": "*fp32", "columns": "i32", "epsilon": "fp32"},
        {"BLOCK": 1024},
        4,
    ),
    (gelu, {"x": "*bf16", "out": "*bf16", "n": "i32"}, {"BLOCK": 1024}, 4),
    (dropout, {"x": "*fp32", "out": "*fp32", "n": "i32", "keep": "fp32", "seed": "i32"}, {"BLOCK": 1024}, 4),
    (histogram, {"x": "*i32", "bins": "*i32", "n": "i32"}, {"BLOCK": 1024}, 4),
    (block_histogram, {"x": "*i32", "bins": "*i32"}, {"BLOCK": 1024}, 4),
    (scan, {"x": "*fp32", "out": "*fp32"}, {"BLOCK": 1024}, 4),
    (sort, {"x": "*i32", "out": "*i32"}, {"BLOCK": 256}, 4),
    (transpose, {"x": "*fp32", "out": "*fp32", "rows": "i32", "columns": "i32"}, {"BLOCK": 32}, 4),
    (lock, {"counter": "*i32", "out": "*i32"}, {"BLOCK": 1}, 1),
    (gather, {"x": "*fp32", "index": "*i32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}, 4),
] + [
    (kernel, {"a": of, "b": of, "c": to, "m": "i32", "n": "i32", "k": "i32"}, {"BLOCK": 64, "DEPTH": 64}, 4)
    for kernel, of, to in [
        (matmul, "*fp16", "*fp32"),
        (matmul, "*bf16", "*fp32"),
        (matmul, "*fp32", "*fp32"),
        (matmul, "*fp8e5", "*fp32"),
        (matmul_int8, "*i8", "*i32"),
    ]
] + [
    (
        attention,
        {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp32", "length": "i32", "scale": "fp32"},
        {"BLOCK": 64, "WIDTH": 64},
        4,
    ),
    (tensor_map_copy, {"x": "*fp32", "out": "*fp32", "rows": "i32", "columns": "i32"}, {"BLOCK": 32}, 4),
]
