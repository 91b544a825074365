"""What a source includes from beside it: read once, so that results belong to texts and not to whatever lies in a folder later.

Compilations run in a folder of their own, into which these texts are written: NVRTC finds nothing else but what it carries itself. So a
source may name only files below its folder; whatever could reach elsewhere is refused.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

_SPACE = r"(?:\s|/\*.*?\*/)*"
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t]*\r?\n")
_DIRECTIVE = re.compile(
    rf"(?:(?:\#|%:|\?\?=){_SPACE}(?:include_next|include|import|embed)\b|\b__has_(?:include_next|include|embed)\b{_SPACE}\(){_SPACE}"
    r'(?:"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>|(?P<other>[^\n]{0,40}))',
    re.DOTALL,
)
"""Also in comments and texts: a name too many is only a file that is read for nothing."""

Header = tuple[str, str]
"""Its path from the folder of the source, and its text."""


class IncludeProblem(Exception):  # noqa: N818 - it becomes an error of the configuration where its name is known
    """Which text is compiled cannot be known; the message says why."""


def headers(text: str, folder: Path, read: Callable[[Path], str]) -> tuple[Header, ...]:
    """Return what a source includes, directly or not, of the files below its folder; raises IncludeProblem, what `read` raises."""
    found: dict[str, str] = {}
    waiting = [("", text)]
    while waiting:
        name, inside = waiting.pop()
        for wanted in _named(inside):
            for path in {PurePosixPath(name).parent / wanted, PurePosixPath(wanted)}:
                if str(path) not in found and (folder / path).is_file():
                    found[str(path)] = read(folder / path)
                    waiting.append((str(path), found[str(path)]))
    return tuple(sorted(found.items()))


def _named(text: str) -> Iterator[str]:
    for one in _DIRECTIVE.finditer(_SPLICE.sub("", text)):
        name = one["quoted"] if one["quoted"] is not None else one["angled"]
        if name is None:
            raise IncludeProblem(f"an include must spell its file, not '{(one['other'] or '').strip()}'")
        if PureWindowsPath(name).anchor or PurePosixPath(name).is_absolute() or ".." in PureWindowsPath(name).parts:
            raise IncludeProblem(f"includes '{name}': only files beside the source or below its folder may be included")
        yield name
