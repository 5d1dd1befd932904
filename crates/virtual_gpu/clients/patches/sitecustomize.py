"""Makes numba-cuda and pycuda hand PTX to the driver instead of machine code; Python imports this file when it starts.

numba-cuda links every kernel to machine code by nvJitLink before it loads it. Kernels that are all PTX need no linking, so
their texts are given to the driver as one. pycuda has nvcc write machine code; here it asks for PTX.
"""

import importlib.abc
import importlib.util
import sys


def joined(codes):
    """One text of several, with the head of the first."""
    heads = (b".version", b".target", b".address_size")
    lines = []
    for index, code in enumerate(codes):
        text = code.code if isinstance(code.code, bytes) else code.code.encode()
        for line in text.rstrip(b"\0").splitlines():
            if index == 0 or not line.lstrip().startswith(heads):
                lines.append(line)
    return b"\n".join(lines) + b"\n\0"


def numba(module):
    """Changes numba-cuda's linker."""
    link = module._Linker.complete

    def complete(linker):
        codes = linker._object_codes
        if all(code.code_type == "ptx" for code in codes):
            linker._complete = True
            linker._info_log = linker._error_log = ""
            return module.ObjectCode.from_ptx(joined(codes))
        if all(code.code_type in ("ptx", "ltoir") for code in codes):
            options = linker._get_linker_options(ptx=True)
            linker.linker = module.Linker(*codes, options=options)
            result = linker.linker.link("ptx")
            linker._complete = True
            linker.close()
            return result
        return link(linker)

    module._Linker.complete = complete


def pycuda(module):
    """Changes what pycuda asks nvcc for."""
    compile_plain = module.compile_plain

    def as_ptx(source, options, keep, nvcc, cache_dir, target="cubin"):
        target = "ptx" if target == "cubin" else target
        return compile_plain(source, options, keep, nvcc, cache_dir, target)

    module.compile_plain = as_ptx


CHANGES = {"numba.cuda.cudadrv.driver": numba, "pycuda.compiler": pycuda}


class Patch(importlib.abc.MetaPathFinder):
    """Changes a module of `CHANGES` when it has been loaded."""

    def find_spec(self, name, path, target=None):
        change = CHANGES.pop(name, None)
        if change is None:
            return None
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            change(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Patch())
