"""Cubins of the configurations of a tuning space, as Kernel Tuner has them compiled, kept by content.

Parameters are macros (Kernel Tuner documentation, "How it works"); `#pragma unroll NAME` is removed where NAME is 0, as Kernel Tuner does
for its parameters loop_unroll_factor* (documentation, "Loop unrolling"): 0 stands for no pragma.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sassan.entries import Entries
from sassan.errors import InputError
from sassan.evolve.compilation import compilers
from sassan.evolve.space.includes import IncludeProblem, headers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sassan.evolve.space.includes import Header
    from sassan.recorded.types import Value

ENTRIES = Entries("silicon", b"sassan silicon 1", limit=1024 * 1024 * 1024)
SECONDS = 120.0
"""For one compilation."""
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+unroll[ \t]*\(?[ \t]*([A-Za-z_]\w*)[ \t]*\)?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KernelSource:
    """The source of a kernel and the headers beside it, with the compiler that is used."""

    text: str
    headers: tuple[Header, ...]
    compiler: compilers.InstalledCompiler


def load(path: Path) -> KernelSource:
    """Return the source at a path.

    Raises InputError `cannot-read`, `bad-include`; MissingToolError `no-nvrtc`.
    """

    def text_of(file: Path) -> str:
        try:
            return file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("cannot-read", f"cannot read '{file}': {error}") from None

    text = text_of(path)
    try:
        beside = headers(text, path.parent, text_of)
    except IncludeProblem as problem:
        raise InputError("bad-include", f"{path}: {problem}") from None
    compiler = compilers.find(nvrtc=True, ptxas=False).nvrtc
    assert compiler is not None
    return KernelSource(text, beside, compiler)


def prepared(text: str, values: Mapping[str, Value]) -> str:
    """Return a source without each `#pragma unroll NAME` whose NAME is a parameter with the value 0; lines keep their numbers."""
    return _PRAGMA.sub(lambda match: "" if values.get(match[1]) == 0 else match[0], text)


def macros(values: Mapping[str, Value], more: Mapping[str, str]) -> tuple[str, ...]:
    """Return the options that define the parameters, and the macro that Kernel Tuner always defines."""
    return tuple(f"-D{name}={value}" for name, value in {**values, "kernel_tuner": 1, **more}.items())


def compiled(source: KernelSource, arch: str, values: Mapping[str, Value], more: Mapping[str, str]) -> bytes:
    """Return the cubin of a configuration.

    Raises CompileProblem where the compiler refuses it.
    """
    text, options = prepared(source.text, values), (f"-arch={arch}", *macros(values, more))
    beside = tuple((name, prepared(header, values)) for name, header in source.headers)
    key = json.dumps([source.compiler.identity, options, text, beside])
    name = hashlib.sha256(key.encode()).hexdigest()
    kept = ENTRIES.get(name)
    if kept is None:
        kept = compilers.nvrtc(source.compiler, text, options, "CUBIN", SECONDS, beside)
        ENTRIES.put(name, kept, look=False)
    return kept
