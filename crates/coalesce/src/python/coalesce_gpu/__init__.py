"""Runs and checks CUDA kernels without a GPU: exact results, exact memory traffic, races with their lines.

    import numpy, coalesce_gpu
    report = coalesce_gpu.check(ptx, "saxpy", grid=4, block=256, args=[numpy.ones(1000, "f4"), 2.0])
    report.arrays["arg0"], report.kernels[0].global_load.sectors

The work is done by the program `coalesce` of this package; this module starts it and reads the JSON that it writes.
"""

from __future__ import annotations

import dataclasses
import html
import json
import operator
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import numpy

__all__ = [
    "Advice", "CoalesceError", "Finding", "FindingsError", "Global", "Instruction", "Kernel", "Report", "Shared",
    "check", "explain", "program", "run",
]

#: Extents of a grid, a block or a cluster.
Shape = Union[int, Sequence[int]]
#: An array of NumPy or any other buffer, whose contents the kernel gets; a number; the bytes of a structure; or the text
#: that `coalesce explain --arg NAME:` takes, such as "f32*1Mi=random".
Argument = Union["numpy.ndarray", "numpy.generic", memoryview, int, float, bytes, str]

#: The exit code of the program when it found something.
_FOUND = 4
#: The exit code when the program ran well and launched no kernel.
_NO_KERNEL = 5
#: The program's kinds of elements, by the letters of buffers.
_KINDS = {**dict.fromkeys("?BHILQN", "u"), **dict.fromkeys("bhilqn", "i"), **dict.fromkeys("efd", "f")}
#: Hazards that are notes and fail nothing.
_NOTES = frozenset({"SameValue", "UnorderedVolatile", "SkippedBarrier"})


class CoalesceError(RuntimeError):
    """The program could not do what was asked. The message is its sentence, with cause and cure."""


class FindingsError(CoalesceError):
    """Hazards, faults, misuse or leaks were found. `report` has all that was counted."""

    def __init__(self, report: Report):
        self.report = report
        self.findings = report.findings
        super().__init__("\n".join(str(finding) for finding in report.findings))

    def __reduce__(self) -> Any:
        """Returns what pickle makes it of again, in another process."""
        return FindingsError, (self.report,)


@dataclass(frozen=True)
class Global:
    """Requests of warps to global memory, and what they moved."""

    requests: int = 0
    lanes: int = 0
    #: Bytes that lanes asked for.
    bytes: int = 0
    #: Different bytes among them, per request.
    bytes_distinct: int = 0
    #: Sectors of 32 bytes that were moved.
    sectors: int = 0
    #: The fewest sectors that hold the bytes.
    sectors_ideal: int = 0
    lines: int = 0

    @property
    def sectors_per_request(self) -> float:
        """Returns sectors over requests; 0 where nothing was asked for."""
        return self.sectors / self.requests if self.requests else 0.0


@dataclass(frozen=True)
class Shared:
    """Requests of warps to shared memory, and the wavefronts that they took."""

    requests: int = 0
    lanes: int = 0
    bytes: int = 0
    wavefronts: int = 0
    #: The fewest wavefronts that transfer the bytes.
    wavefronts_ideal: int = 0

    @property
    def bank_conflicts(self) -> int:
        """Returns the wavefronts beyond the fewest."""
        return self.wavefronts - self.wavefronts_ideal


@dataclass(frozen=True)
class Instruction:
    """An instruction of the PTX, and what it did in all launches."""

    text: str
    ptx_line: int
    #: `FILE:LINE`, where the compiler wrote line tables.
    source: str | None
    #: All counters that are not 0, by the names of `coalesce explain --json`.
    counters: Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """Something wrong, as a sentence with cause and cure."""

    #: The name of a hazard or of a misuse, `Fault` for what ended a launch, or `Leak`.
    kind: str
    message: str
    kernel: str | None = None
    ptx_line: int | None = None
    #: `FILE:LINE`, where the compiler wrote line tables.
    source: str | None = None

    def __str__(self) -> str:
        place = f" at {self.source}" if self.source else ""
        return f"{self.kind}{place}: {self.message.removeprefix(f'{self.kind}: ')}"


@dataclass(frozen=True)
class Advice:
    """A change that would make a kernel faster, with the reason that was counted."""

    kind: str
    kernel: str | None
    source: str | None
    seen: str
    cure: str
    #: Model: microseconds that the change saves at most.
    gain_us: float


@dataclass(frozen=True)
class Kernel:
    """A kernel, and what its launches did together."""

    name: str
    #: The name in the PTX.
    symbol: str
    launches: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    occupancy_percent: float
    #: Model: the time of all launches.
    predicted_us: float
    global_load: Global
    global_store: Global
    shared_load: Shared
    shared_store: Shared
    #: All counters that are not 0, by the names of `coalesce explain --json`.
    counters: Mapping[str, Any]
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """All that was counted and found. A notebook shows it as a table with pictures."""

    program: str
    device: str
    #: True when hazards were looked for.
    checked: bool
    kernels: tuple[Kernel, ...]
    findings: tuple[Finding, ...]
    advice: tuple[Advice, ...]
    #: The text that a terminal gets.
    text: str
    #: The arrays after the launch, by their names; of `args` in a list they are `arg0`, `arg1`, ...
    arrays: Mapping[str, numpy.ndarray] = field(default_factory=dict)
    #: The addresses that the first warp touches, as SVG, by the kernel's name.
    pictures: Mapping[str, str] = field(default_factory=dict)
    #: The JSON of the program, as it is.
    json: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: The exit code of a program that `run` started.
    returncode: int = 0

    def __str__(self) -> str:
        return self.text

    def table(self) -> numpy.ndarray:
        """Returns the memory counters of each instruction as a structured array, one row for an instruction and kind."""
        kinds = ["global_load", "global_store", "shared_load", "shared_store"]
        columns = ["requests", "lanes", "bytes", "sectors", "sectors_ideal", "wavefronts", "wavefronts_ideal"]
        rows = [
            (kernel.name, one.source or "", one.ptx_line, one.text, kind,
             *(one.counters[kind].get(column, 0) for column in columns))
            for kernel in self.kernels for one in kernel.instructions for kind in kinds if kind in one.counters
        ]
        import numpy

        names = ["kernel", "source", "ptx_line", "instruction", "kind"]
        # As wide as the longest: NumPy would cut it.
        widths = [max((len(str(row[at])) for row in rows), default=1) for at in range(len(names))]
        types = [(name, "i8" if name == "ptx_line" else f"U{width}") for name, width in zip(names, widths)]
        return numpy.array(rows, dtype=[*types, *((column, "i8") for column in columns)])

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{_html(self.program)}</b> on {_html(self.device)}</p>"]
        rows = "".join(
            f"<tr><td>{_html(kernel.name)}</td><td>{_html(name)}</td><td>{one.requests}</td>"
            f"<td>{one.sectors if isinstance(one, Global) else ''}</td>"
            f"<td>{one.wavefronts if isinstance(one, Shared) else ''}</td>"
            f"<td>{one.bank_conflicts if isinstance(one, Shared) else ''}</td></tr>"
            for kernel in self.kernels
            for name, one in [
                ("global load", kernel.global_load), ("global store", kernel.global_store),
                ("shared load", kernel.shared_load), ("shared store", kernel.shared_store),
            ]
            if one.requests
        )
        if rows:
            heads = ["kernel", "memory", "requests", "sectors", "wavefronts", "bank conflicts"]
            parts.append(f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{rows}</table>")
        if self.findings:
            items = "".join(f"<li>{_html(finding)}</li>" for finding in self.findings)
            parts.append(f"<p><b>Found:</b></p><ul>{items}</ul>")
        elif self.checked:
            parts.append("<p>Checked for hazards: none.</p>")
        parts += [f"<figure>{svg}</figure>" for svg in self.pictures.values()]
        return "".join(parts)


def program() -> Path:
    """Returns the program `coalesce`: that of this package, or the one that the variable COALESCE_PROGRAM names."""
    named = os.environ.get("COALESCE_PROGRAM")
    name = "coalesce.exe" if sys.platform == "win32" else "coalesce"
    return Path(named) if named else Path(__file__).parent / "bin" / name


def check(ptx: str | os.PathLike[str], kernel: str | None, grid: Shape, block: Shape,
          args: Sequence[Argument] | Mapping[str, Argument] = (), **options: Any) -> Report:
    """Launches a kernel with every check, and raises FindingsError when something is wrong. Takes what `explain` takes."""
    options.setdefault("check", "all")
    report = explain(ptx, kernel, grid, block, args, **options)
    if report.findings:
        raise FindingsError(report)
    return report


def explain(ptx: str | os.PathLike[str], kernel: str | None, grid: Shape, block: Shape,
            args: Sequence[Argument] | Mapping[str, Argument] = (), *, device: str = "virtual",
            check: str = "none", schedules: int = 3, shared_bytes: int = 0, cluster: Shape | None = None,
            cooperative: bool = False, limit: int | None = None, timeout: float | None = None) -> Report:
    """Launches a kernel of a PTX text, or of a file that a Path names, and returns what it did.

    `args` are in the order of the kernel's parameters, or by their names in the PTX. Arrays are copied to the device;
    what they hold after the launch is in `arrays` of the report. `check` is "all", "no-volatile" or "none"; `limit` ends a
    kernel after so many warp-instructions, `timeout` the program after so many seconds.
    """
    if isinstance(args, (str, bytes)) or hasattr(args, "dtype") or not hasattr(args, "__iter__"):
        raise CoalesceError("`args` is no list: write all arguments of the kernel in one, such as [x, 2.0, 100]")
    named = list(args.items()) if isinstance(args, Mapping) else [(f"arg{at}", one) for at, one in enumerate(args)]
    with tempfile.TemporaryDirectory(prefix="coalesce-") as folder_name:
        folder = Path(folder_name)
        if isinstance(ptx, str):
            if ".version" not in ptx:
                raise CoalesceError("`ptx` is no text of PTX: for a file, write pathlib.Path(NAME)")
            file = folder / "kernel.ptx"
            file.write_text(ptx, encoding="utf-8", errors="replace")
        elif isinstance(ptx, os.PathLike):
            file = Path(ptx)
        else:
            raise CoalesceError(f"`ptx` is a {type(ptx).__name__}: give the text as str, or a pathlib.Path")
        # Such a name is no option.
        name = os.path.join(os.curdir, file) if str(file).startswith("-") else str(file)
        line = ["explain", f"{name}:{kernel}" if kernel else name, *_options(device, check, limit),
                f"--grid={_shape('grid', grid)}", f"--block={_shape('block', block)}",
                f"--schedules={_whole('schedules', schedules)}", f"--shared={_whole('shared_bytes', shared_bytes)}",
                f"--json={folder / 'profile.json'}", f"--svg={folder / 'svg'}"]
        saved = {}
        for at, (name, value) in enumerate(named):
            text = _argument(folder / f"{at}.in", name, value)
            line += ["--arg", f"{name}{text}"]
            if (view := _buffer(value)) is not None:
                saved[name] = (view, folder / f"{at}.out")
                line += ["--save", f"{name}={folder / f'{at}.out'}"]
        line += [f"--cluster={_shape('cluster', cluster)}"] if cluster is not None else []
        line += ["--cooperative"] if cooperative else []
        done = _start(line, timeout)
        if done.returncode not in (0, _FOUND) or not (folder / "profile.json").exists():
            raise CoalesceError(_sentence(done))
        arrays = {name: _array(file.read_bytes(), before) for name, (before, file) in saved.items() if file.exists()}
        pictures = {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "svg").glob("*.svg"))}
        profile = json.loads((folder / "profile.json").read_text(encoding="utf-8"))
    # The files of the arrays are gone.
    text = "".join(line for line in done.stdout.splitlines(True) if not line.startswith("Saved: "))
    return _report(profile, text, arrays=arrays, pictures=pictures)


def run(command: Sequence[str | os.PathLike[str]], *, device: str = "virtual", check: str = "all", torch: bool = False,
        kernel: str | None = None, limit: int | None = None, timeout: float | None = None) -> Report:
    """Runs a CUDA program on the virtual GPU and returns what its kernels did; Linux alone can.

    The program's own output goes where this process's goes. Raise FindingsError(report) where findings are to fail.
    """
    words = [] if isinstance(command, (str, bytes)) or not hasattr(command, "__iter__") else list(command)
    if not words or not all(isinstance(word, (str, bytes, os.PathLike)) for word in words):
        raise CoalesceError("`command` is no list of texts: write [\"./program\", \"its argument\"]")
    with tempfile.TemporaryDirectory(prefix="coalesce-") as folder:
        file = Path(folder) / "profile.json"
        line = ["run", *_options(device, check, limit), "--fail-on=none", f"--json={file}", "--all"]
        line += ["--torch"] if torch else []
        line += [f"--kernel={kernel}"] if kernel else []
        done = _start([*line, "--", *(os.fsdecode(word) for word in words)], timeout, stdout=None)
        if not file.exists():
            raise CoalesceError(_sentence(done))
        profile = json.loads(file.read_text(encoding="utf-8"))
    code = 0 if done.returncode == _NO_KERNEL else done.returncode
    return _report(profile, done.stderr, returncode=code)


def _options(device: str, check: str, limit: int | None) -> list[str]:
    if check not in ("all", "no-volatile", "none"):
        raise CoalesceError(f"`check` is {check!r}: write \"all\", \"no-volatile\" or \"none\"")
    ends = [f"--limit={_whole('limit', limit)}"] if limit is not None else []
    return [f"--device={device}", f"--check={check}", *ends]


def _start(line: Sequence[str], timeout: float | None, stdout: int | None = subprocess.PIPE) -> Any:
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
        raise CoalesceError(f"`timeout` is {timeout!r}: write seconds, more than 0")
    try:
        with subprocess.Popen([program(), *line], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              text=True, encoding="utf-8", errors="replace") as process:
            try:
                said = process.communicate(timeout=timeout)
            except BaseException:
                _end(process)
                raise
        return subprocess.CompletedProcess(line, process.returncode, *said)
    except subprocess.TimeoutExpired as error:
        raise CoalesceError(f"the program was ended after {timeout} s: give it a smaller launch, or a larger "
                            "timeout") from error
    except FileNotFoundError as error:
        raise CoalesceError(f"there is no program {program()}: install the wheel for this system, or name the "
                            "program by COALESCE_PROGRAM") from error
    except OSError as error:
        raise CoalesceError(f"cannot start {program()}: {error.strerror}; install the wheel for this system, or name "
                            "the program by COALESCE_PROGRAM") from error
    except ValueError as error:
        raise CoalesceError("a name or a text holds a character that no command line takes: leave out NUL and halves "
                            "of characters") from error


def _end(process: subprocess.Popen[str]) -> None:
    """Ends the program. It hands this signal on to the one that it runs, but no other."""
    process.terminate()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()


def _sentence(done: Any) -> str:
    """Returns what the program said, without its advice on command lines."""
    said = (done.stderr or "").strip().removeprefix("error: ")
    for end in ("\n\n  tip:", "\n\nUsage:", "\n\nFor more information"):
        said = said.split(end)[0]
    return said or f"the program ended with code {done.returncode} and said nothing"


def _whole(name: str, value: Any) -> int:
    """Returns a whole number that is not negative."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise CoalesceError(f"`{name}` is {value!r}: write a whole number that is not negative")
    return number


def _shape(name: str, shape: Any) -> str:
    extents = [shape] if hasattr(shape, "__index__") and not getattr(shape, "shape", ()) else shape
    try:
        numbers = [operator.index(extent) for extent in extents]
    except TypeError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1 or max(numbers) >= 1 << 32:
        raise CoalesceError(f"`{name}` is {shape!r}: write one to three whole numbers from 1 on, such as 1024 or (32, 8)")
    return "x".join(map(str, numbers))


def _argument(file: Path, name: str, value: Argument) -> str:
    """Returns an argument as the command line has it, behind its name, and writes an array to the file."""
    if not isinstance(name, str) or not name.isidentifier():
        raise CoalesceError(f"`{name}` is no name of an argument: write letters, digits and `_`")
    if isinstance(value, str):
        return f":{value}" if value[:1].isalpha() else f"={value}"
    if isinstance(value, bytes):
        return f":bytes={value.hex()}"
    if (view := _buffer(value)) is not None:
        file.write_bytes(view.tobytes())
        return f":{_type(view)}*{view.nbytes // view.itemsize}=@{file}"
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        if getattr(value.dtype, "kind", "") not in tuple("biuf"):
            raise CoalesceError(f"argument `{name}` is a {value.dtype}: give a whole number or a float")
        number = value.item()
        return f":{_type(memoryview(value))}={repr(number) if isinstance(number, float) else int(number)}"
    if isinstance(value, (int, float)):
        return f"={repr(value) if isinstance(value, float) else int(value)}"
    raise CoalesceError(f"argument `{name}` is a {type(value).__name__}: give an array of NumPy, a number, bytes, or "
                        "a text such as \"f32*1Mi=random\"")


def _buffer(value: object) -> memoryview | None:
    """Returns an array's elements; nothing for what is a number, bytes or a text."""
    if isinstance(value, (bytes, str)) or getattr(value, "shape", None) == ():
        return None
    try:
        return memoryview(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        if hasattr(value, "dtype"):
            raise CoalesceError(f"an array of {value.dtype} is none that a kernel takes: view it as whole numbers, such "
                                "as `array.view(\"u2\")`, or give `numpy.asarray(array)`") from None
        return None


def _type(view: memoryview) -> str:
    kind = _KINDS.get(view.format.lstrip("@=<"))
    if kind is None or sys.byteorder != "little":
        raise CoalesceError(f"elements of the format `{view.format}` are none that a kernel takes: give whole numbers or "
                            "floats of 8 to 64 bits in this machine's order")
    return f"{kind}{8 * view.itemsize}"


def _array(content: bytes, like: memoryview) -> Any:
    """Returns what an array holds now, as NumPy's where NumPy is."""
    letter = like.format.lstrip("@=<")
    try:
        import numpy
    except ImportError:
        # A view has no shape without elements, and few letters.
        return memoryview(bytearray(content)).cast(letter, like.shape) if content else memoryview(b"").cast(letter)
    return numpy.frombuffer(bytearray(content), letter).reshape(like.shape)


def _known(cls: type, values: Mapping[str, Any] | None) -> Any:
    names = {one.name for one in dataclasses.fields(cls)}
    return cls(**{name: value for name, value in (values or {}).items() if name in names})


def _place(source: Mapping[str, Any] | str | None) -> str | None:
    return f"{source['file']}:{source['line']}" if isinstance(source, Mapping) else source


def _report(profile: Mapping[str, Any], text: str, **more: Any) -> Report:
    kernels, findings = [], []
    for one in profile["kernels"]:
        name, counters = one["demangled"] or one["name"], one["counters"]
        instructions = tuple(
            Instruction(each["text"], each["counts"]["ptx_line"], _place(each["counts"].get("source")),
                        each["counts"]["counters"])
            for each in one["instructions"]
        )
        kernels.append(Kernel(
            name, one["name"], one["launches"], tuple(one["grid"]), tuple(one["block"]), one["occupancy_percent"],
            one["predicted_us"], _known(Global, counters.get("global_load")),
            _known(Global, counters.get("global_store")), _known(Shared, counters.get("shared_load")),
            _known(Shared, counters.get("shared_store")), counters, instructions,
        ))
        findings += [Finding(hazard["kind"], hazard["message"], name, hazard["ptx_line"], _place(hazard.get("source")))
                     for hazard in one["hazards"] if hazard["kind"] not in _NOTES]
        for fault in one.get("faults", []):
            place = fault.get("place") or {}
            findings.append(Finding("Fault", fault["message"], name, place.get("ptx_line"), _place(place if place.get("file") else None)))
    findings += [Finding(one["kind"], one["message"]) for one in profile["misuse"] if not one.get("is_advice")]
    findings += [Finding("Leak", one["message"]) for one in profile["leaks"] if not one.get("is_advice")]
    advice = tuple(Advice(one["kind"], one.get("kernel"), _place(one.get("source")), one["seen"], one["cure"],
                          one["gain_us"]) for one in profile["advice"])
    return Report(profile["program"], profile["device"], profile["checked"], tuple(kernels), tuple(findings), advice,
                  text, json=profile, **more)


def _html(value: object) -> str:
    return html.escape(str(value))

