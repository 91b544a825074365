"""Names of functions as the source has them: C++ names demangled, by the demangler of LLVM (Itanium C++ ABI, 5.1).

A mangled name may refer to its own parts, so that a short one stands for a text of any length: one with many references is demangled by a
child process with limits. What cannot be demangled keeps its name.
"""

import re
import subprocess
import sys
from functools import lru_cache

_LONGEST = 65_536
"""Characters of a mangled name, and of what it stands for."""
_REFERENCE = re.compile(r"[ST][0-9A-Z]*_")
_FEW = 40
"""References with which a name stands for a megabyte at most: so many make 4 parts of 3 or 5 of 4 references grow in every step."""
_SECONDS, _MEMORY = 5, 1 << 30
_CHILD = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))
resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))
from pydemumble import demangle
sys.stdout.write(demangle(sys.stdin.read())[:{_LONGEST + 1}])
"""
_TOKEN = re.compile(r"(?<![\w./-])_Z[A-Za-z0-9_]+(?![\w/-]|\.\w)")


@lru_cache(maxsize=4096)
def demangled(name: str) -> str:
    """Return the declaration that a mangled name stands for, the name itself where it is no mangled name."""
    if not name.startswith("_Z") or len(name) > _LONGEST or not name.isascii() or not name.isprintable():
        return name
    if len(_REFERENCE.findall(name)) <= _FEW:
        from pydemumble import demangle  # noqa: PLC0415 - start-up

        known: str = demangle(name)
        return known or name
    return _apart(name) or name


def _apart(name: str) -> str:
    """Return the declaration from a child process, '' where it is too long or takes too long."""
    if sys.platform != "linux":
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - our own program; -P: the current folder is not searched
            [sys.executable, "-P", "-c", _CHILD], input=name, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 and len(done.stdout) <= _LONGEST else ""


def readable(name: str) -> str:
    """Return a name as it is shown: that of the source, with template arguments and parameters, without the `void` before it."""
    return demangled(name).removeprefix("void ")


def brief(name: str) -> str:
    """Return a name without its parameters, where it has some: template arguments remain."""
    shown = readable(name)
    if shown == name or not shown.endswith(")"):
        return shown
    depth = 0
    for place in range(len(shown) - 1, -1, -1):
        depth += (shown[place] == ")") - (shown[place] == "(")
        if depth == 0:
            return shown[:place] or shown
    return shown


def spellings(name: str) -> tuple[str, ...]:
    """Return every spelling of a name that a user may choose it by: as it is, demangled, without parameters, without template arguments."""
    short = brief(name)
    return tuple(dict.fromkeys((name, demangled(name), readable(name), short, short.partition("<")[0] or short)))


def in_text(text: str) -> str:
    """Return a message with the mangled names in it as they are shown; what is part of a path stays."""
    return _TOKEN.sub(lambda match: readable(match[0]), text) if "_Z" in text else text
