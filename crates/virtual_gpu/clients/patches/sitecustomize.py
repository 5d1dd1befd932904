"""Makes numba-cuda hand PTX to the driver instead of machine code; Python imports this file when it starts.

numba-cuda links every kernel to machine code by nvJitLink before it loads it. Kernels that are all PTX need no linking, so
their texts are given to the driver as one.
"""

import importlib.abc
import sys

MODULE = "numba.cuda.cudadrv.driver"


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


class Patch(importlib.abc.MetaPathFinder):
    """Changes the linker of numba-cuda when its module has been loaded."""

    def find_spec(self, name, path, target=None):
        if not name.endswith("numba.cuda.cudadrv.driver"):
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
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

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Patch())
