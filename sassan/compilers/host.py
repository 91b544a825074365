"""The C compiler of the system."""

import os
import shlex
import shutil
from pathlib import Path

from sassan.errors import MissingToolError
from sassan.system.programs import folders, programs

_COMPILERS = ("cc", "gcc", "clang")


def c_compiler() -> tuple[str, ...]:
    """Return the words that call the compiler: those of CC where its program is found (`ccache gcc -m64`), else a usual one.

    Raises MissingToolError `compiler-missing`.
    """
    try:
        name, *words = shlex.split(os.environ.get("CC") or "") or [""]
    except ValueError:  # quotes that are not closed
        name, words = "", []
    path = shutil.which(name) if os.sep in name else next(programs(name, folders()), None) if name else None
    if path is not None:
        return str(Path(path).absolute()), *words
    path = next((path for name in _COMPILERS for path in programs(name, folders())), None)
    if path is not None:
        return (path,)
    raise MissingToolError(
        "compiler-missing", "recording needs a C compiler, which was not found", hint="apt install gcc (or set the variable CC)"
    )
