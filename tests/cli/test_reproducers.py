"""Inputs that once took minutes or gigabytes, ended as a defect, or were believed: the time and the memory of a process for each."""

import json
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import growing
from budget import some
from cli.shell import SAMPLES
from cli.test_hostile_size import compressed_zeros

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the system counts no memory of a process")]
SECONDS = 5.0
MEMORY = 1 << 30
#: Between a test and what it measures: a process begins with the largest memory that its parent ever had, and a worker of pytest had much.
SMALL = """
import json, os, sys
child = os.spawnv(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss << 10], file)
"""
CODE = str(SAMPLES / "sm_80" / "saxpy.cuobjdump.sass")
LOOP = str(SAMPLES / "sm_80" / "mandelbrot.cuobjdump.sass")
DIGITS = "9" * 5000
Files = dict[str, str | bytes]


@dataclass(frozen=True)
class Case:
    """A command line, the files that it names, and its answer: exit status and codes of its errors."""

    name: str
    arguments: tuple[str, ...]
    status: int
    codes: tuple[str, ...] = ()
    files: Callable[[], Files] = dict


def grows(name: str, text: Callable[[], str]) -> Case:
    return Case(name, ("analyze", "k.txt", "-f", "k"), 3, ("gaps",), lambda: {"k.txt": text()})


def reads(name: str, arguments: tuple[str, ...], text: str | Callable[[], str | bytes], status: int = 3, *codes: str) -> Case:
    return Case(name, (*arguments, "input"), status, codes, lambda: {"input": text if isinstance(text, str) else text()})


def edited(sample: str, before: str, after: str) -> Callable[[], str]:
    def text() -> str:
        whole = (SAMPLES / sample).read_text()
        assert before in whole
        return whole.replace(before, after, 1)

    return text


def with_section_header(to: int, of: int) -> bytes:
    """A cubin with the header of a section copied over that of another."""
    data = bytearray((SAMPLES / "sm_80" / "saxpy.cubin").read_bytes())
    (headers,) = struct.unpack_from("<Q", data, 0x28)
    data[headers + 64 * to : headers + 64 * (to + 1)] = data[headers + 64 * of : headers + 64 * (of + 1)]
    return bytes(data)


def swapped(sample: str, first: str, second: str) -> Callable[[], str]:
    """A listing in which the texts of two instructions are exchanged, without their encodings."""
    return lambda: edited(sample, first, "\0")().replace(second, first, 1).replace("\0", second)


PTX = (SAMPLES / "sm_80" / "saxpy.ptx").read_text()
CASES = [
    Case("a run of 10^12 letters", ("makespan", "L999999999999C", "-W", "4", "--time-limit", "0.5"), 0),
    Case("a run of 10^7 letters", ("makespan", "L9999999C", "-W", "2", "--time-limit", "0.5"), 0),
    Case("a group of 10^9 letters", ("makespan", "(LC)^1000000000", "-W", "4", "--time-limit", "0.5"), 0),
    grows("14 functions that each call the next twice", lambda: growing.calls(14, 2)),
    grows("300 levels of calls", lambda: growing.calls(300)),
    grows("300 levels of two calls", lambda: growing.calls(300, 2)),
    grows("25 nested loops", lambda: growing.nested_loops(25)),
    grows("500 nested loops", lambda: growing.nested_loops(500)),
    grows("1000 random branches", lambda: growing.random_branches(1000)),
    grows("600 nested ifs", lambda: growing.nested_ifs(600)),
    reads("a vector of 8000 operands", ("analyze", "-f", "k"), lambda: growing.vector(8000), 0),
    reads("8000 arguments", ("analyze", "-f", "k"), lambda: growing.arguments(8000), 3, "undeclared-name"),
    reads("8000 coordinates", ("analyze", "-f", "k"), lambda: growing.coordinates(8000), 3, "undeclared-name"),
    reads("gates with a key of 50000 tables", ("check", CODE, "--gates"), "a." * 50_000 + "a = 1\n", 3, "bad-gates"),
    reads(
        "gates with many keys of 99 tables",
        ("check", CODE, "--gates"),
        "".join("a." * 98 + f"b{each} = 1\n" for each in range(480)),
        3,
        "bad-gates",
    ),
    Case("an LZ4 bomb", ("analyze", "zeros.fatbin"), 3, ("cuobjdump-failed",), lambda: {"zeros.fatbin": compressed_zeros(1_600_000)}),
    Case("a drawing of 600 nested ifs", ("cfg", "k.sass", "-o", "k.svg"), 0, (), lambda: {"k.sass": growing.nested_ifs(600)}),
    Case("a drawing of a name of 20000 characters", ("cfg", "k.sass", "-o", "k.svg"), 0, (), lambda: {"k.sass": growing.name(20_000)}),
    reads("a count in hexadecimal", ("analyze",), f"{growing.PTX}.visible .entry k()\n{{\n.reg .b32 %r<0x10>;\nret;\n}}\n", 0),
    reads("a gate of 5000 digits", ("check", CODE, "--gates"), f'[function."*"]\nmax-wcet = {DIGITS}\n', 3, "bad-gates"),
    reads(
        "a bound of 5000 digits", ("ipet", LOOP, "--bounds"), f"[function.mandelbrot]\nloop = [{{bound = {DIGITS}}}]\n", 3, "facts-syntax"
    ),
    reads("a machine of 5000 digits", ("analyze", CODE, "--machine"), f"[sm]\nwarps = {DIGITS}\n", 3, "bad-machine"),
    Case(
        "a GPU of 5000 digits",
        ("analyze", CODE, "--gpu", "b.toml"),
        3,
        ("bad-gpu",),
        lambda: {"b.toml": f"[product.B]\nsms = {DIGITS}\n"},
    ),
    reads("launches of 5000 digits", ("analyze", CODE, "--launches"), f"schema = {DIGITS}\n", 3, "launches-syntax"),
    reads("an instance of 5000 digits", ("makespan", "--config"), f"warps = {DIGITS}\n", 3, "config-syntax"),
    reads("a search of 5000 digits", ("evolve",), f"schema = {DIGITS}\n", 2, "bad-config"),
    reads("a project of 5000 digits", ("analyze", CODE, "--project"), f"warps = {DIGITS}\n", 3, "bad-project"),
    Case("an output that is a link to itself", ("cfg", CODE, "-o", "loop.svg"), 2, ("unwritable-output",)),
    Case("an output of 300 characters", ("cfg", CODE, "-o", "x" * 300 + ".svg"), 2, ("unwritable-output",)),
    Case("an input of 300 characters", ("analyze", "x" * 300 + ".sass"), 3, ("unreadable",)),
    Case("a section header over another", ("analyze", "k.cubin"), 3, ("malformed-elf",), lambda: {"k.cubin": with_section_header(3, 5)}),
    Case("a file to compare that there is not", ("cfg", CODE, "--compare", "nope"), 3, ("missing-file",)),
    reads("damaged PTX that is checked", ("listing", "--check"), lambda: PTX[: len(PTX) // 2], 3, "truncated"),
    reads(
        "a redirected branch", ("analyze",), edited("sm_70/voronoi.cuobjdump.sass", "@!P0 BRA 0x240 ", "@!P0 BRA 0x280 "), 3, "text-differs"
    ),
    reads(
        "exchanged texts",
        ("analyze",),
        swapped("sm_80/saxpy.cuobjdump.sass", "S2R R4, SR_CTAID.X", "S2R R3, SR_TID.X"),
        3,
        "text-differs",
    ),
    reads(
        "a negation that is gone", ("analyze",), edited("sm_70/reduce_shuffle.cuobjdump.sass", "0xc0, !PT", "0xc0, PT"), 3, "text-differs"
    ),
    reads("an address without a register", ("analyze",), edited("sm_52/binary_search.cuobjdump.sass", "[R2]", "[]"), 3, "syntax"),
]


@pytest.mark.parametrize("case", some(CASES, of=20), ids=lambda case: case.name)
def test_it_is_answered_at_once_and_in_little_memory(case: Case, tmp_path: Path, record_property: Callable[[str, object], None]):
    for name, data in case.files().items():
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    (tmp_path / "loop.svg").symlink_to(tmp_path / "loop.svg")
    line = [sys.executable, "-S", "-c", SMALL, "used", sys.executable, "-m", "sassan", *case.arguments]
    said = subprocess.run(line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True).stderr
    status, seconds, memory = json.loads((tmp_path / "used").read_text())
    record_property("seconds", seconds)
    record_property("megabytes", memory >> 20)
    codes = tuple(row.partition("[")[2].partition("]")[0] for row in said.splitlines() if row.startswith("error["))
    assert (status, codes) == (case.status, case.codes)
    assert seconds <= SECONDS
    assert memory <= MEMORY
