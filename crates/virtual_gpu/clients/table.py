"""Runs clients of the CUDA driver API on the virtual GPU and writes the table of crates/virtual_gpu/README.md.

    python3 -m venv clients && clients/bin/pip install numba-cuda cuda-python cuda-core filecheck cffi \
        nvidia-cuda-nvcc nvidia-cuda-nvrtc nvidia-nvvm nvidia-nvjitlink
    cargo build --release -p virtual_libcuda
    clients/bin/python crates/virtual_gpu/clients/table.py target/release/libvirtual_libcuda.so

Needs no GPU. `--only TEXT` runs the rows whose name has the text.
"""

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
LIMIT_SECONDS = 600
# Modules of numba-cuda's tests, below `numba.cuda.tests`.
NUMBA = [
    "cudapy.test_atomics",
    "cudapy.test_warp_ops",
    "cudapy.test_sm",
    "cudapy.test_constmem",
    "cudapy.test_sync",
    "cudapy.test_intrinsics",
    "cudapy.test_device_func",
    "cudapy.test_math",
    "cudapy.test_reduction",
    "cudapy.test_vector_type",
    "cudapy.test_complex",
    "cudapy.test_slicing",
    "cudadrv.test_cuda_memory",
    "cudadrv.test_cuda_ndarray",
    "cudadrv.test_streams",
    "cudadrv.test_events",
]
PROGRAMS = [("cuda-core", "core.py"), ("cuda-bindings", "bindings.py")]


def run(command, environment):
    """The output of a command, and whether it ended well and in time."""
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT_SECONDS} s", False
    return done.stdout + done.stderr, done.returncode == 0


def counts(output):
    """Tests that ran, that failed and that were skipped, as unittest says them."""
    ran = re.findall(r"^Ran (\d+) tests?", output, re.M)
    if not ran:
        return None
    last = output.rstrip().splitlines()[-1]
    number = lambda name: sum(map(int, re.findall(rf"{name}=(\d+)", last)))
    # A package that pytest looks for and does not find is an error for unittest.
    missing = len(re.findall(r"^Skipped: could not import", output, re.M))
    return int(ran[-1]), number("failures") + number("errors") - missing, number("skipped") + missing


def alone(module, environment):
    """The counts of a module's tests, each in a process of its own: a kernel that fails ends its process's context."""
    command = [sys.executable, "-m", "numba.runtests"]
    listed, _ = run([*command, "-l", module], environment)
    sums = [0, 0, 0]
    for test in re.findall(rf"^{re.escape(module)}\.\S+", listed, re.M):
        found = counts(run([*command, test], environment)[0]) or (1, 1, 0)
        sums = [one + other for one, other in zip(sums, found)]
        if found[1]:
            print(f"failed: {test}", file=sys.stderr)
    return tuple(sums)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    toolkit = next(iter(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/cu*")), None)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("libcuda.so", "libcuda.so.1"):
            (pathlib.Path(folder) / name).symlink_to(arguments.library.resolve())
        environment = dict(os.environ, LD_LIBRARY_PATH=folder, PYTHONPATH=str(HERE / "patches"))
        if toolkit:
            environment["CUDA_HOME"] = str(toolkit)
        print(f"Written by `clients/table.py` on {datetime.date.today()}.\n")
        print("| client | what | passed | failed | skipped |\n|---|---|--:|--:|--:|")
        for package, program in PROGRAMS:
            if arguments.only not in program:
                continue
            output, is_good = run([sys.executable, str(HERE / program)], environment)
            version = importlib.metadata.version(package)
            print(f"| {package} {version} | `clients/{program}` | {int(is_good)} | {int(not is_good)} | 0 |", flush=True)
            if not is_good:
                print(output, file=sys.stderr)
        version = importlib.metadata.version("numba-cuda")
        for module in NUMBA:
            if arguments.only not in module:
                continue
            output, _ = run([sys.executable, "-m", "numba.runtests", f"numba.cuda.tests.{module}"], environment)
            found = counts(output)
            if found and found[1]:
                found = alone(f"numba.cuda.tests.{module}", environment)
            if found is None:
                print(f"| numba-cuda {version} | `{module}` | stops | | |", flush=True)
            else:
                ran, failed, skipped = found
                print(f"| numba-cuda {version} | `{module}` | {ran - failed - skipped} | {failed} | {skipped} |", flush=True)
            if found is None or found[1]:
                print(output[-6000:], file=sys.stderr)


if __name__ == "__main__":
    main()
