"""What a user may analyze: files, bytes in memory, programs and functions; and which functions of them."""

import os
from pathlib import Path
from typing import get_args

from sassan.api import checking
from sassan.app.inputs import check_patterns, wanted
from sassan.app.reading import read_content, read_program
from sassan.compilers.source import Compiler
from sassan.errors import UsageError
from sassan.ir import Function, Program

Origin = str | os.PathLike[str] | bytes
"""The path of a file, or the content of one."""
_SHOWN = 60
"""Characters that are shown of a text that is not a path."""
_LONGEST = 4096
"""Characters of a path: no system that CUDA has takes more."""
IN_MEMORY = "<bytes>"
"""The name of an input that has none."""


def read(origin: Origin, *, name: str | None = None, arch: str | None = None, cached: bool = True, compiler: Compiler = "nvcc") -> Program:
    """Return the program of a cubin, of a file with cubins inside, of a SASS listing, of PTX, or of CUDA source (`.cu`), for `arch`.

    `origin` is a path (`-`: standard input) or the content itself as bytes; `name` is what results call it, and that of bytes that are CUDA
    source ends in `.cu`. `arch` (`sm_61`) overrides what the input says of itself, and of several cubins picks those for it; `cached`
    False compiles and disassembles anew. `compiler` is the one of nvcc and NVRTC that is tried first: `nvrtc` is quicker, and takes device
    code alone; their code differs where their versions do.
    Raises InputError, MissingToolError, UsageError for an `arch` that is unknown, and for a text in place of a path.
    """
    _ = name is None or checking.text("name", name)
    _ = arch is None or checking.text("arch", arch)
    _ = checking.one_of(*get_args(Compiler))("compiler", compiler)
    if isinstance(origin, bytes):
        return read_content(name or IN_MEMORY, origin, arch, cached=cached, first=compiler)
    program = read_program(_path(origin), arch, cached=cached, first=compiler)
    return program if name is None else Program(name, program.functions)


def read_for(origin: Origin, target: str | None) -> Program:
    """Return the program of a path or of a content; CUDA source, which a path alone says, is compiled for `target`."""
    return read(origin) if isinstance(origin, bytes) else read_program(_path(origin), target=target)


def _path(origin: object) -> str:
    """Return the path; a text of several lines, or longer than any path, that is none is the content of a file, which is given as bytes.

    Raises UsageError `usage`.
    """
    if not isinstance(origin, str | os.PathLike):
        raise checking.wrong("the input", origin, "a path, or the content of a file as bytes")
    path = checking.path("the input", origin)
    if ("\n" in path or len(path) > _LONGEST) and not _exists(path):
        first = path.strip().partition("\n")[0]
        shown = first if len(first) <= _SHOWN else f"{first[:_SHOWN]}..."
        raise UsageError(
            "usage",
            f"a text of {len(path)} characters is not a path; it begins with {shown!r}",
            hint="pass the content of a file as bytes: sassan.analyze(text.encode()), sassan.read(text.encode(), name='mine.sass')",
        )
    return path


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False  # too long for a name, or with a character that none has


def chosen(program: Program, pattern: str | None) -> tuple[Function, ...]:
    """Return the functions whose name is `pattern`, or matches it as a glob; all of them for None.

    Raises UsageError `unknown-function`.
    """
    patterns = () if pattern is None else (checking.text("function", pattern),)
    check_patterns(patterns, [function.name for function in program.functions])
    return tuple(function for function in program.functions if wanted(function.name, patterns))
