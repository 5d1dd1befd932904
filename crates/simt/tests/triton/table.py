"""Says which kernels of `kernels.py`, compiled by Triton without a GPU, the executor can run, as a table.

    python3 -m venv triton && triton/bin/pip install triton
    triton/bin/python crates/simt/tests/triton/table.py > docs/triton.md

A kernel runs when its module loads and all of its instructions are decoded (`crates/simt/examples/can_run.rs`).
`--keep FOLDER` leaves the PTX there.
"""

import argparse
import datetime
import pathlib
import subprocess
import sys
import tempfile

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

from kernels import KERNELS

ROOT = pathlib.Path(__file__).resolve().parents[4]
CAPABILITIES = (80, 90)


def ptx(kernel, types, constants, warps, capability):
    """The PTX of a kernel, or the compiler's reason."""
    signature = dict(types, **{name: "constexpr" for name in constants})
    # Addresses and sizes are multiples of 16, as Triton finds them of most arguments when it launches.
    aligned = {
        (at,): [["tt.divisibility", 16]] for at, kind in enumerate(types.values()) if kind != "fp32"
    }
    source = ASTSource(kernel, signature=signature, constexprs=constants, attrs=aligned)
    compiled = compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps})
    return compiled.asm["ptx"]


def verdicts(files):
    """What the executor says of each file: `runs`, or why its kernel is refused."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "simt", "--example", "can_run", "--", *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: `can_run` failed: {done.stderr}")
    rows = [line.split("\t", 2) for line in done.stdout.splitlines()]
    return {pathlib.Path(file): verdict for file, _, verdict in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        files, refused = {}, {}
        for at, (kernel, types, constants, warps) in enumerate(KERNELS):
            for capability in CAPABILITIES:
                file = folder / f"{at:02}_{kernel.__name__}_sm_{capability}.ptx"
                try:
                    file.write_text(ptx(kernel, types, constants, warps, capability))
                    files[at, capability] = file
                except Exception as error:
                    refused[at, capability] = f"Triton refuses it: {str(error).splitlines()[-1]}"
        says = verdicts(files.values())
        results = {key: says.get(file, "no kernel") for key, file in files.items()}
        version = next(line for line in file.read_text().splitlines() if line.startswith(".version"))
    print("# Kernels of Triton in the executor\n")
    print(f"Triton {triton.__version__} (PTX {version.split()[1]}), {datetime.date.today()}: ", end="")
    sums = []
    for capability in CAPABILITIES:
        of = [verdict for (_, one), verdict in results.items() if one == capability]
        sums.append(f"for sm_{capability} the executor runs {of.count('runs')} of {len(of)} kernels")
    print(f"{', '.join(sums)}. A kernel runs when its module\nloads and all of its instructions are decoded. ", end="")
    print("`crates/simt/tests/triton/table.py` writes this table, without a GPU.\n")
    print("| kernel | data | " + " | ".join(f"sm_{capability}" for capability in CAPABILITIES) + " |")
    print("|---|---|" + "---|" * len(CAPABILITIES))
    for at, (kernel, types, _, _) in enumerate(KERNELS):
        cells = [results.get((at, one)) or refused[at, one] for one in CAPABILITIES]
        print(f"| `{kernel.__name__}` | {next(iter(types.values())).strip('*')} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
