"""What a user may analyze: files, bytes in memory, programs and functions; and which functions of them."""

import os
from fnmatch import fnmatchcase

from sassan import frontend
from sassan.errors import UsageError
from sassan.ir import Function, Program

Origin = str | os.PathLike[str] | bytes
"""The path of a file, or the content of one."""
IN_MEMORY = "<bytes>"
"""The name of an input that has none."""


def read(origin: Origin, *, name: str | None = None, arch: str | None = None, cached: bool = True) -> Program:
    """Return the program of a cubin, of a file with cubins inside, of a SASS listing, or of PTX.

    `origin` is a path (`-`: standard input) or the content itself as bytes; `name` is what results call it. `arch` (`sm_61`) overrides what
    the input says of itself, and of several cubins picks those for it; `cached` False disassembles anew.
    Raises InputError, MissingToolError, UsageError for an `arch` that is unknown.
    """
    if isinstance(origin, bytes):
        return frontend.read(frontend.content(name or IN_MEMORY, origin), arch=arch, cached=cached)
    found = frontend.read(frontend.load(os.fspath(origin)), arch=arch, cached=cached)
    return found if name is None else Program(name, found.functions)


def chosen(program: Program, pattern: str | None) -> tuple[Function, ...]:
    """Return the functions whose name is `pattern`, or matches it as a glob; all of them for None.

    Raises UsageError `unknown-function`.
    """
    if pattern is None:
        return program.functions
    found = tuple(one for one in program.functions if one.name == pattern or fnmatchcase(one.name, pattern))
    if not found:
        names = ", ".join(one.name for one in program.functions[:3])
        raise UsageError("unknown-function", f"no function matches '{pattern}'", hint=f"there are {len(program.functions)}: {names}")
    return found
