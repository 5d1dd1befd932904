"""Runs clients of the CUDA driver API on the virtual GPU and writes the table of crates/virtual_gpu/README.md.

    python3 -m venv clients && clients/bin/pip install numba-cuda cuda-python cuda-core filecheck cffi pytest \
        nvidia-cuda-nvcc==13.0.* nvidia-cuda-nvrtc==13.0.* nvidia-nvvm==13.0.* nvidia-nvjitlink==13.0.* \
        nvidia-cuda-runtime==13.0.* nvidia-cuda-crt==13.0.* nvidia-cuda-cccl==13.0.* nvidia-cuda-profiler-api==13.0.*
    cargo build --release -p coalesce-virtual-libcuda
    clients/bin/python crates/virtual_gpu/clients/table.py target/release/libvirtual_libcuda.so

Needs no GPU, and fetches nothing. `--only TEXT` runs the rows whose client or name has the text; other rows of the table
stay. More clients run where a folder of their sources is named:

- `--pycuda FOLDER`: pycuda's source package, unpacked, from which pycuda was installed (`build_pycuda.sh` does it).
- `--cudarc FOLDER`: the crate cudarc, unpacked, such as a copy of cargo's own.
- `--cubecl FOLDER`: the crate cubecl-cuda, unpacked. With `--burn VERSION`, burn of crates.io is built, too. Both are built
  without a toolkit, and compile their kernels by the headers and the run-time compiler of the environment `cubecl`
  (nvidia-cuda-nvrtc==13.2.*, nvidia-cuda-runtime==13.2.*, nvidia-cuda-crt==13.2.*, nvidia-cuda-cccl==13.2.*).
- `--candle FOLDER`: the crate candle-kernels, unpacked; needs numpy, and nvcc of the environment that runs this script or on
  the path.
- `--tutorials FOLDER`: `python/tutorials` of https://github.com/triton-lang/triton, for the environment `triton` (with pytest,
  pandas, matplotlib).
- `--liger FOLDER`: a checkout of https://github.com/linkedin/Liger-Kernel; needs torch, transformers, triton and
  liger-kernel, and by `--coalesce FILE` the program `coalesce`.
- `--environments FOLDER`: it has a virtual environment for each client that is to be run, by its name, made as
  `python3 -m venv FOLDER/NAME && FOLDER/NAME/bin/pip install ...`: `triton` (torch, triton), `taichi`, `quadrants`, `drjit`
  (each with numpy), `mojo` (mojo, max).
- `--tinygrad FOLDER`: a checkout of https://github.com/tinygrad/tinygrad, for the environment `tinygrad` (tinygrad, torch,
  pytest, hypothesis, nvidia-cuda-nvrtc); needs clang.
- `--offload COMPILER`: a GCC that has `-foffload=nvptx-none`, such as that of Debian's gcc-offload-nvptx.
- `--samples FOLDER`: a checkout of https://github.com/NVIDIA/cuda-samples; needs a C++ compiler.
"""

import argparse
import concurrent.futures
import datetime
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
README = HERE.parent / "README.md"
LIMIT_SECONDS = 1200
HEAD = "| client | what | passed | failed | skipped | date |\n|---|---|--:|--:|--:|---|\n"
BEGIN, END = "<!-- clients -->\n", "<!-- /clients -->\n"
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
# Tests of kernels of Triton in PyTorch, below `test/transformers`.
LIGER = [
    "test_softmax.py",
    "test_layer_norm.py",
    "test_dyt.py",
    "test_relu_squared.py",
]
DEVICES = ["h200", "a100", "t4"]
# Clients with an environment of their own, what to run, and the package that has the version.
PYTHON = [
    ("taichi", ["taichi_kernels.py", "taichi"], "taichi"),
    ("quadrants", ["taichi_kernels.py", "quadrants"], "quadrants"),
    ("drjit", ["drjit_arrays.py"], "drjit"),
]
TINYGRAD = ["test/test_tiny.py", "test/backend/test_ops.py"]
# Tests of tinygrad in one process.
PART = 20
# It executes thousands of millions of warp-instructions; tinygrad leaves it out for its own emulator, too.
TOO_LONG = {"test_masked_select"}
# Triton's tutorials, and what each says or whether its end says all. Their benchmarks are left out: `03` would tune products of
# 4096 x 4096, sixteen ways each.
TUTORIALS = [
    ("01-vector-add.py", "difference between torch and triton is 0.0"),
    ("02-fused-softmax.py", None),
    ("03-matrix-multiplication.py", "Triton and Torch match"),
    ("05-layer-norm.py", None),
]
WITHOUT_BENCHMARKS = (
    "import runpy, triton.testing; triton.testing.Mark.run = lambda *a, **k: None; runpy.run_path({!r}, run_name='__main__')"
)
# Attention is tests, of which those of 128 steps and two heads are run.
ATTENTION = ("06-fused-attention.py", "128-2-1")
# Sources of candle's kernels that `candle_kernels.py` launches.
CANDLE = ["unary", "binary", "reduce", "sort", "indexing", "cast", "conv"]
BURN_MANIFEST = """
[package]
name = "burn_operators"
version = "0.0.0"
edition = "2024"

[[bin]]
name = "burn_operators"
path = "{source}"

[dependencies]
burn = {{ version = "={version}", default-features = false, features = ["std", "cuda", "ndarray", "autodiff"] }}

[workspace]
"""
PYCUDA = ["test_driver.py"]
CUDARC_FEATURES = "std,driver,nvrtc,fallback-dynamic-loading,cuda-13000"
# Examples of cudarc that need no library beside the driver and the run-time compiler.
CUDARC_EXAMPLES = [
    "01-allocate",
    "02-copy",
    "03-launch-kernel",
    "04-streams",
    "05-device-repr",
    "06-threading",
    "09-constant-memory",
    "10-function-attributes",
    "12-context-config",
    "matmul-kernel",
    "nvrtc-compile",
]
# Folders of cuda-samples below `Samples`, their sources, the kernel's file without its ending, and what nvcc makes of it.
SAMPLES = [
    ("0_Introduction/vectorAddDrv", ["vectorAddDrv.cpp"], "vectorAdd_kernel", "fatbin"),
    ("0_Introduction/matrixMulDrv", ["matrixMulDrv.cpp"], "matrixMul_kernel", "fatbin"),
    ("0_Introduction/simpleTextureDrv", ["simpleTextureDrv.cpp"], "simpleTexture_kernel", "fatbin"),
    (
        "0_Introduction/matrixMulDynlinkJIT",
        [
            "cuda_drvapi_dynlink.c",
            "matrixMul_kernel_32_ptxdump.c",
            "matrixMul_kernel_64_ptxdump.c",
            "matrixMulDynlinkJIT.cpp",
            "matrixMul_gold.cpp",
        ],
        None,
        None,
    ),
    ("2_Concepts_and_Techniques/threadMigration", ["threadMigration.cpp"], "threadMigration_kernel", "fatbin"),
    ("1_Utilities/deviceQueryDrv", ["deviceQueryDrv.cpp"], None, None),
    ("0_Introduction/vectorAddMMAP", ["vectorAddMMAP.cpp", "multidevicealloc_memmap.cpp"], "vectorAdd_kernel", "fatbin"),
    ("3_CUDA_Features/ptxjit", ["ptxjit.cpp"], "ptxjit_kernel", "ptx"),
]
# A sample ends so when the device lacks what it is about.
WAIVED = 2


def run(command, environment, folder=None):
    """The output of a command, and its exit code; none where it did not end in time."""
    try:
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, errors="replace", timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT_SECONDS} s", None
    return done.stdout + done.stderr, done.returncode


def needed(command, environment, folder=None):
    """The output of a command without which there is no row."""
    output, code = run(command, environment, folder)
    if code != 0:
        sys.exit(f"error: `{' '.join(map(str, command))}` failed:\n{output[-3000:]}")
    return output


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


class Table:
    """Rows: those that were run, and those of the document that were not."""

    def __init__(self, only):
        self.only = only
        self.rows = []

    def wants(self, client, what):
        return self.only in client or self.only in what

    def add(self, client, what, result):
        """Adds a row; `result` is numbers of tests that passed, failed and were skipped, or none where nothing ran."""
        numbers = " | ".join(map(str, result)) if result else "stops | | "
        row = f"| {client} | {what} | {numbers} | {datetime.date.today()} |"
        print(row, flush=True)
        self.rows.append(row)

    def splice(self, text):
        """A document with these rows; a row of the same client and name is exchanged, whatever the client's version."""
        before, rest = text.split(BEGIN)
        old, after = rest.split(END)
        name = lambda row: tuple(cell.split(" ")[1] if at == 1 else cell for at, cell in enumerate(row.split("|")[:3]))
        rows = {name(row): row for row in old.splitlines() if row.startswith("| ") and not row.startswith("| client")}
        rows.update((name(row), row) for row in self.rows)
        return before + BEGIN + "Written by `clients/table.py`.\n\n" + HEAD + "\n".join(rows.values()) + "\n" + END + after


def programs(table, environment):
    for package, program in PROGRAMS:
        if not table.wants(package, program):
            continue
        output, code = run([sys.executable, str(HERE / program)], environment)
        version = importlib.metadata.version(package)
        table.add(f"{package} {version}", f"`clients/{program}`", (int(code == 0), int(code != 0), 0))
        if code != 0:
            print(output, file=sys.stderr)


def numba(table, environment):
    for module in NUMBA:
        if not table.wants("numba-cuda", module):
            continue
        output, _ = run([sys.executable, "-m", "numba.runtests", f"numba.cuda.tests.{module}"], environment)
        found = counts(output)
        if found and found[1]:
            found = alone(f"numba.cuda.tests.{module}", environment)
        result = found and (found[0] - found[1] - found[2], found[1], found[2])
        table.add(f"numba-cuda {importlib.metadata.version('numba-cuda')}", f"`{module}`", result)
        if found is None or found[1]:
            print(output[-6000:], file=sys.stderr)


def pytest_counts(output):
    """Tests that passed, that failed and that were skipped or expected to fail, as pytest says them."""
    last = output.rstrip().splitlines()[-1] if output.strip() else ""
    number = lambda name: sum(map(int, re.findall(rf"(\d+) {name}\b", last)))
    found = number("passed"), number("failed") + number("errors?"), number("skipped") + number("xfailed")
    return found if sum(found) else None


def pycuda(table, environment, sources):
    for file in PYCUDA:
        if not table.wants("pycuda", file):
            continue
        test = sources.resolve() / "test" / file
        if not test.exists():
            sys.exit(f"error: there is no {test}: --pycuda names pycuda's source package, unpacked")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
        with tempfile.TemporaryDirectory() as cache:
            output, _ = run(command, dict(environment, PYCUDA_CACHE_DIR=cache), test.parent)
        table.add(f"pycuda {importlib.metadata.version('pycuda')}", f"`{file}`", pytest_counts(output))
        print("\n".join(re.findall(r"^FAILED .*|^ERROR .*", output, re.M)), file=sys.stderr)


def liger(table, checkout, program):
    version = lambda package: importlib.metadata.version(package)
    client = f"PyTorch {version('torch')}, Triton {version('triton')}, Liger-Kernel"
    for file in LIGER:
        if not table.wants(client, file):
            continue
        test = checkout.resolve() / "test/transformers" / file
        if not test.exists():
            sys.exit(f"error: there is no {test}: --liger names a checkout of Liger-Kernel")
        command = [program, "run", "--torch", "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        output, _ = run([*command, f"test/transformers/{file}"], os.environ, checkout)
        # Behind them stands the profile.
        counted = re.findall(r"^=+ .*\b(?:passed|failed|skipped|errors?)\b.* in .*=+$", output, re.M)
        table.add(client, f"`{file}`", pytest_counts(counted[-1]) if counted else None)
        print("\n".join(re.findall(r"^FAILED .*|^ERROR .*", output, re.M)), file=sys.stderr)


def version_in(python, package):
    """The version of a package in another environment."""
    text = f"import importlib.metadata as m; print(m.version('{package}'))"
    return needed([python, "-c", text], os.environ).strip()


def ours(output):
    """The counts that a program of ours prints, whose failures are told; behind them stands the profile."""
    print("\n".join(re.findall(r"^failed: .*", output, re.M)), file=sys.stderr)
    found = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output, re.M)
    return tuple(map(int, found[-1])) if found else None


def others(table, environments, program):
    run_of = lambda device: [program, "run", "--device", f"virtual:{device}"]
    python = environments / "triton/bin/python"
    if python.exists():
        client = f"Triton {version_in(python, 'triton')}, PyTorch {version_in(python, 'torch')}"
        for device in DEVICES:
            what = f"`clients/triton_features.py` on {device}"
            if table.wants(client, what):
                command = [*run_of(device), "--torch", "--", python, HERE / "triton_features.py"]
                output, _ = run(command, os.environ)
                table.add(client, what, ours(output))
    for name, (file, *arguments), package in PYTHON:
        python = environments / name / "bin/python"
        if python.exists() and table.wants(name, file):
            output, _ = run([*run_of("h200"), "--", python, HERE / file, *arguments], os.environ)
            table.add(f"{name} {version_in(python, package)}", f"`clients/{file}`", ours(output))
    mojo = environments / "mojo/bin/mojo"
    if mojo.exists() and table.wants("mojo", "add.mojo"):
        command = [*run_of("h200"), "--", mojo, "run", "--target-accelerator=sm_90a", HERE / "add.mojo"]
        output, _ = run(command, os.environ)
        version = version_in(environments / "mojo/bin/python", "mojo")
        table.add(f"mojo {version}", "`clients/add.mojo`", ours(output))


def tinygrad(table, checkout, environments, program):
    python = environments / "tinygrad/bin/python"
    toolkit = next(iter((environments / "tinygrad").resolve().glob("lib/python*/site-packages/nvidia/cu*")), "")
    environment = dict(os.environ, DEV="CUDA", CUDA_PATH=str(toolkit), LD_LIBRARY_PATH=f"{toolkit}/lib")
    pytest = [program, "run", "--", python, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider"]
    for file in TINYGRAD:
        if not table.wants("tinygrad", file):
            continue
        collect = [python, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", file]
        tests = re.findall(r"^\S+::\S+$", needed(collect, environment, checkout), re.M)
        tests = [test for test in tests if test.split("::")[-1] not in TOO_LONG]
        sums = (0, 0, 0)
        for part in (tests[at : at + PART] for at in range(0, len(tests), PART)):
            output, _ = run([*pytest, *part], environment, checkout)
            counted = re.findall(r"^(?=.*\b(?:passed|failed)\b).* in [\d.]+s.*$", output, re.M)
            found = pytest_counts(counted[-1]) if counted else None
            # A kernel that fails ends its process's context, so what did not pass is run again, each alone.
            if found is None or found[1]:
                again = part if found is None else sorted(set(re.findall(r"^FAILED (\S+)", output, re.M)))
                failed = [test for test in again if run([*pytest, test], environment, checkout)[1] != 0]
                print("\n".join(f"failed: {test}" for test in failed), file=sys.stderr)
                passed = (found[0] if found else 0) + len(again) - len(failed)
                found = (passed, len(failed), found[2] if found else 0)
            sums = tuple(one + other for one, other in zip(sums, found))
        table.add(f"tinygrad {version_in(python, 'tinygrad')}", f"`{pathlib.Path(file).name}`", sums if tests else None)


def tutorials(table, folder, environments, program):
    python = environments / "triton/bin/python"
    client = f"Triton {version_in(python, 'triton')}, PyTorch {version_in(python, 'torch')}"
    command = [program, "run", "--torch", "--", python]
    for file, verdict in TUTORIALS:
        what = f"tutorial `{file}`, without its benchmarks"
        if table.wants(client, what):
            output, code = run([*command, "-c", WITHOUT_BENCHMARKS.format(file)], os.environ, folder)
            said = len(re.findall(verdict, output)) if verdict else 1
            denied = len(re.findall("Triton and Torch differ", output))
            result = (said, denied, 0) if code == 0 and said + denied else (0, 1, 0)
            table.add(client, what, result)
            if result[1]:
                print(output[:3000], file=sys.stderr)
    file, tests = ATTENTION
    what = f"tutorial `{file}`, tests `{tests}`"
    if table.wants(client, what):
        options = ["-q", "-p", "no:cacheprovider", file, "-k", tests]
        output, _ = run([*command, "-m", "pytest", *options], os.environ, folder)
        counted = re.findall(r"^(?=.*\b(?:passed|failed)\b).* in [\d.]+s.*$", output, re.M)
        table.add(client, what, pytest_counts(counted[-1]) if counted else None)
        print("\n".join(re.findall(r"^FAILED .*|^ERROR .*", output, re.M)), file=sys.stderr)


def rust_of_cuda(environment, environments):
    """What programs of CubeCL need: NVRTC of CUDA 13.2, whose names cudarc asks for, and the headers beside it."""
    toolkit = next((environments / "cubecl").glob("lib/python*/site-packages/nvidia/cu*"), None)
    if toolkit is None:
        sys.exit(f"error: there is no {environments / 'cubecl'} with nvidia-cuda-nvrtc: see the first lines of table.py")
    paths = [environment["LD_LIBRARY_PATH"].split(os.pathsep)[0], str(toolkit / "lib")]
    library = next(iter(toolkit.glob("lib*/libnvrtc.so.*")))
    found = pathlib.Path(paths[0]) / "libnvrtc.so"
    found.unlink(missing_ok=True)
    found.symlink_to(library)
    return dict(environment, CUDA_PATH=str(toolkit), LD_LIBRARY_PATH=os.pathsep.join(paths), CARGO_PROFILE_DEV_DEBUG="0")


def cubecl(table, environment, sources):
    if not table.wants("CubeCL", "tests"):
        return
    version = re.search(r'^version = "(.+)"', (sources / "Cargo.toml").read_text(), re.M)[1]
    with tempfile.TemporaryDirectory() as target:
        build = dict(environment, CARGO_TARGET_DIR=target, CARGO_PROFILE_TEST_DEBUG="0")
        output = needed(["cargo", "test", "--locked", "--lib", "--no-run"], build, sources)
        program = re.search(r"Executable .*\((.+)\)", output)[1]
        # One after the other: a launch that fails is an error of whoever reads next.
        output, _ = run([program, "--test-threads=1"], environment, sources)
    found = re.search(r"^test result: .* (\d+) passed; (\d+) failed; (\d+) ignored", output, re.M)
    table.add(f"CubeCL {version}", "tests of cubecl-cuda", found and tuple(map(int, found.groups())))
    print("\n".join(re.findall(r"^failures:\n(?:    .*\n)+", output, re.M)[-1:]), file=sys.stderr)


def candle(table, environment, sources):
    if not table.wants("candle-kernels", "candle_kernels.py"):
        return
    version = re.search(r'^version = "(.+)"', (sources / "Cargo.toml").read_text(), re.M)[1]
    options = ["-ptx", "-arch=sm_80", "-std=c++17", "-O3", "--expt-relaxed-constexpr"]
    with tempfile.TemporaryDirectory() as folder:
        for name in CANDLE:
            needed(["nvcc", *options, f"{name}.cu", "-o", f"{folder}/{name}.ptx"], environment, sources / "src")
        output, _ = run([sys.executable, HERE / "candle_kernels.py", folder], environment)
    table.add(f"candle-kernels {version}", "`clients/candle_kernels.py`", ours(output))


def burn(table, environment, version):
    if not table.wants("burn", "burn_operators.rs"):
        return
    with tempfile.TemporaryDirectory() as folder:
        manifest = BURN_MANIFEST.format(version=version, source=(HERE / "burn_operators.rs").resolve())
        (pathlib.Path(folder) / "Cargo.toml").write_text(manifest)
        needed(["cargo", "build"], environment, folder)
        output, _ = run([f"{folder}/target/debug/burn_operators"], environment, folder)
    table.add(f"burn {version}", "`clients/burn_operators.rs`", ours(output))


def offload(table, compiler, program):
    if not table.wants("GCC", "offload.c"):
        return
    with tempfile.TemporaryDirectory() as folder:
        options = ["-O2", "-fopenmp", "-foffload=nvptx-none", "-o", f"{folder}/offload", HERE / "offload.c"]
        needed([compiler, *options], os.environ)
        output, code = run([program, "run", "--", f"{folder}/offload"], os.environ)
    version = needed([compiler, "-dumpfullversion"], os.environ).strip()
    table.add(f"GCC {version}", "OpenMP's target regions, `clients/offload.c`", (int(code == 0), int(code != 0), 0))
    if code != 0:
        print(output[:1500], file=sys.stderr)


def each_alone(program, tests, environment, options=()):
    """The counts of a Rust test program's tests, each in a process of its own."""
    def passes(test):
        output, code = run([program, "--exact", *options, test], environment)
        if code != 0:
            print(f"failed: {test}\n{output[-1500:]}", file=sys.stderr)
        return code == 0

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = sum(pool.map(passes, tests))
    return passed, len(tests) - passed, 0


def cudarc(table, environment, sources):
    if not table.wants("cudarc", "driver::"):
        return
    if not (sources / "Cargo.toml").exists():
        sys.exit(f"error: there is no {sources / 'Cargo.toml'}: --cudarc names the crate, unpacked")
    version = re.search(r'^version = "(.+)"', (sources / "Cargo.toml").read_text(), re.M)[1]
    client = f"cudarc {version}"
    features = ["--no-default-features", "--features", CUDARC_FEATURES]
    with tempfile.TemporaryDirectory() as target:
        build = dict(environment, CARGO_TARGET_DIR=target)
        output = needed(["cargo", "test", "--release", "--lib", "--no-run", *features], build, sources)
        program = re.search(r"Executable .*\((.+)\)", output)[1]
        listed = lambda *options: re.findall(
            r"^(driver::\S+): test", needed([program, "--list", *options, "driver::"], environment), re.M
        )
        special = listed("--ignored")
        usual = [test for test in listed() if test not in special]
        table.add(client, "`driver::`, each test alone", each_alone(program, usual, environment))
        two = dict(environment, COALESCE_DEVICE="virtual:h100x2")
        result = each_alone(program, special, two, ["--ignored"])
        table.add(client, "`driver::`, tests for several GPUs or to be run alone, on `virtual:h100x2`", result)
        examples = [(name, environment) for name in CUDARC_EXAMPLES] + [("13-copy-multi-gpu", two)]
        passed = 0
        for name, device in examples:
            needed(["cargo", "build", "--release", "--example", name, *features], build, sources)
            output, code = run([f"{target}/release/examples/{name}"], device, sources)
            passed += code == 0
            if code != 0:
                print(f"failed: {name}\n{output[-1500:]}", file=sys.stderr)
        what = "examples that need no library beside the driver, `13-copy-multi-gpu` on `virtual:h100x2`"
        table.add(client, what, (passed, len(examples) - passed, 0))


def samples(table, environment, checkout, library):
    toolkit = pathlib.Path(environment.get("CUDA_HOME", ""))
    for name, files, kernel, kind in SAMPLES:
        sample = name.rsplit("/", 1)[1]
        if not table.wants("cuda-samples", sample):
            continue
        source = checkout.resolve() / "Samples" / name
        if not source.is_dir():
            sys.exit(f"error: there is no {source}: --samples names a checkout of cuda-samples")
        headers = ["-I", checkout.resolve() / "Common", "-I", toolkit / "include", "-I", source]
        with tempfile.TemporaryDirectory() as parent:
            folder = pathlib.Path(parent) / sample
            shutil.copytree(source, folder)
            if kernel:
                architecture = ["-gencode", "arch=compute_80,code=compute_80"] if kind == "fatbin" else ["-arch=compute_80"]
                target = ["-o", f"{kernel}64.{kind}"]
                needed([toolkit / "bin/nvcc", f"-{kind}", *architecture, *headers, f"{kernel}.cu", *target], environment, folder)
            objects = [f"{file}.o" for file in files]
            for file, output in zip(files, objects):
                compiler = ["cc"] if file.endswith(".c") else ["c++", "-std=c++17"]
                needed([*compiler, "-w", "-c", *headers, file, "-o", output], environment, folder)
            # Some samples call the CUDA runtime, too.
            runtime = next(iter(sorted(toolkit.glob("lib*/libcudart.so*"))), "")
            libraries = [library, str(runtime), "-ldl", "-lpthread"]
            needed(["c++", *objects, *filter(None, libraries), "-o", "program"], environment, folder)
            output, code = run(["./program"], environment, folder)
            result = (int(code == 0), int(code not in (0, WAIVED)), int(code == WAIVED))
            table.add("cuda-samples", f"`{sample}`", result)
            if code != 0:
                print(output[-1500:], file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path, help="libvirtual_libcuda.so")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--pycuda", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--cudarc", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--cubecl", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--burn", metavar="VERSION")
    parser.add_argument("--candle", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--tutorials", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--liger", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--environments", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--tinygrad", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--offload", metavar="COMPILER")
    parser.add_argument("--coalesce", type=pathlib.Path, metavar="FILE", default="target/release/coalesce")
    parser.add_argument("--samples", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--print", action="store_true", help="print the rows and leave the table as it is")
    arguments = parser.parse_args()
    if not arguments.library.exists():
        sys.exit(f"error: there is no {arguments.library}: build it by `cargo build --release -p coalesce-virtual-libcuda`")
    toolkit = next(iter(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/cu*")), None)
    table = Table(arguments.only)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("libcuda.so", "libcuda.so.1"):
            (pathlib.Path(folder) / name).symlink_to(arguments.library.resolve())
        environment = dict(os.environ, LD_LIBRARY_PATH=folder, PYTHONPATH=str(HERE / "patches"))
        if toolkit:
            for library in toolkit.glob("lib*/libnvrtc.so.*"):
                (pathlib.Path(folder) / "libnvrtc.so").symlink_to(library)
                break
            environment["CUDA_HOME"] = environment["CUDA_ROOT"] = str(toolkit)
            environment["LD_LIBRARY_PATH"] = os.pathsep.join([folder, str(toolkit / "lib")])
            environment["PATH"] = os.pathsep.join([str(toolkit / "bin"), os.environ.get("PATH", "")])
        if toolkit:
            programs(table, environment)
            numba(table, environment)
        if arguments.liger:
            liger(table, arguments.liger, arguments.coalesce.resolve())
        if arguments.environments:
            others(table, arguments.environments.resolve(), arguments.coalesce.resolve())
        if arguments.environments and arguments.tinygrad:
            tinygrad(table, arguments.tinygrad, arguments.environments.resolve(), arguments.coalesce.resolve())
        if arguments.offload:
            offload(table, arguments.offload, arguments.coalesce.resolve())
        if arguments.pycuda:
            pycuda(table, environment, arguments.pycuda)
        if arguments.cudarc:
            cudarc(table, environment, arguments.cudarc)
        if arguments.environments and arguments.tutorials:
            environments = arguments.environments.resolve()
            tutorials(table, arguments.tutorials.resolve(), environments, arguments.coalesce.resolve())
        if arguments.environments and (arguments.cubecl or arguments.burn):
            rust = rust_of_cuda(environment, arguments.environments.resolve())
            if arguments.cubecl:
                cubecl(table, rust, arguments.cubecl.resolve())
            if arguments.burn:
                burn(table, rust, arguments.burn)
        if arguments.candle:
            candle(table, environment, arguments.candle.resolve())
        if arguments.samples:
            samples(table, environment, arguments.samples, f"{folder}/libcuda.so.1")
    if not arguments.print:
        README.write_text(table.splice(README.read_text()))


if __name__ == "__main__":
    main()
