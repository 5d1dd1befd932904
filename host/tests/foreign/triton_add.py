"""Writes triton.ptx, by Triton 3.9 and without a GPU."""
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)
types = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
source = ASTSource(add, signature=types, constexprs={"BLOCK": 1024})
ptx = compile(source, target=GPUTarget("cuda", 80, 32)).asm["ptx"]
# The sections for debuggers name folders of the machine.
open("triton.ptx", "w").write(ptx[: ptx.index("\t.section")])
