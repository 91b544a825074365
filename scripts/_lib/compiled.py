"""Encodings that compilers write, with their control codes: of the samples, of the census of the PTX ISA, and of other cubins."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from _lib.census.assemble import PtxasError, assembled
from _lib.census.statements import statements

from sassan.arch import Architecture, architecture
from sassan.compilers.ptxas import PTXAS
from sassan.errors import InputError
from sassan.frontend import load, read
from sassan.frontend.cubin.elf import sm_of
from sassan.frontend.cubin.tools import tools
from sassan.frontend.image import Image
from sassan.ir import Function
from sassan.isa.encoding_models import CONTROL
from sassan.isa.encodings import layout

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SMS = ("50", "61", "70", "75", "80", "86", "89", "90a", "100a", "120a")
"""The SMs whose encodings are learnt, with the instructions that are theirs alone."""
_SAMPLE_OF = {50: 52, 86: 80, 89: 80}
"""Of an SM without samples, the one whose samples it runs."""
_VERSION = "8.7"
_BATCH = 400


def known(sm: str) -> Architecture:
    """Return the architecture of an SM: `90a`."""
    found = architecture(f"sm_{sm.rstrip('a')}")
    assert found is not None
    return found


def census_tool(sms: Sequence[str]) -> str | None:
    """Return the first ptxas that assembles for all SMs, None where there is none."""
    return next((tool.path for tool in tools(PTXAS) if all(_assembles(tool.path, f"sm_{sm}") for sm in sms)), None)


def _assembles(ptxas: str, arch: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="sassan-") as scratch:
        try:
            assembled(ptxas, [(0, next(iter(statements())))], arch, _VERSION, Path(scratch) / "k.cubin")
        except PtxasError:
            return False
    return True


def of_samples(sm: str) -> set[int]:
    """Return the encodings of the samples that an SM runs."""
    number = known(sm).number
    folder = SAMPLES / f"sm_{_SAMPLE_OF.get(number, number)}"
    # Cubins: their texts come from a disassembler, and are not held against what was learnt before.
    return set(_words(function for path in sorted(folder.glob("*.cubin")) for function in read(load(str(path))).functions))


def of_census(ptxas: str, sm: str) -> set[int]:
    """Return the encodings of the instructions of the PTX ISA that ptxas accepts for an SM."""
    return set(_words(_census(ptxas, f"sm_{sm}")))


def of_cubins(folders: Iterable[Path], sm: str) -> set[int]:
    """Return the encodings of the cubins for an SM below some folders."""
    number = known(sm).number
    out: set[int] = set()
    for path in sorted(path for folder in folders for path in folder.rglob("*.cubin")):
        try:
            if sm_of(Image(str(path), path.read_bytes())) == number:
                out.update(_words(read(load(str(path)), cached=False).functions))
        except InputError:
            continue  # without code, or without text
    return out


def _words(functions: Iterable[Function]) -> Iterator[int]:
    for function in functions:
        found = architecture(function.arch)
        assert found is not None
        for each in function.instructions:
            if each.encoding is not None:
                behind = (each.control or 0) << CONTROL[layout(found).table] if found.control_words else 0
                yield each.encoding | behind


def _census(ptxas: str, arch: str) -> Iterator[Function]:
    numbered = list(enumerate(statements()))
    pending = [numbered[first : first + _BATCH] for first in range(0, len(numbered), _BATCH)]
    with tempfile.TemporaryDirectory(prefix="sassan-") as scratch:
        while pending:
            batch = pending.pop(0)
            left = batch
            try:
                part = assembled(ptxas, batch, arch, _VERSION, Path(scratch) / "k.cubin")
                left = part.accepted
                yield from read(load(str(part.cubin)), cached=False).functions if left else ()
            except (InputError, PtxasError):
                # Nothing is read where ptxas crashes on one instruction, or the disassembler refuses one.
                half = len(left) // 2
                pending[:0] = [left[:half], left[half:]] if half else []
