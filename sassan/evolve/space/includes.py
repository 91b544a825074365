"""The headers that a source includes: read once, so that results do not depend on later changes of files.

Compilations run in a temporary folder that contains only these files; NVRTC finds no others except its built-in headers. So a source may
include only files in its folder or below; other includes are refused.
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
"""Also matches in comments and strings: a superfluous name only reads a file in vain."""

Header = tuple[str, str]
"""Path relative to the folder of the source, and text."""


class IncludeProblem(Exception):  # noqa: N818 - converted to an error of the configuration by the caller
    """An include cannot be resolved; the message says why."""


def headers(text: str, folder: Path, read: Callable[[Path], str]) -> tuple[Header, ...]:
    """Return the transitively included files in `folder` or below; raises IncludeProblem, and what `read` raises."""
    texts: dict[str, str] = {}
    waiting = [("", text)]
    while waiting:
        name, content = waiting.pop()
        for included in _included(content):
            for path in {PurePosixPath(name).parent / included, PurePosixPath(included)}:
                if str(path) not in texts and (folder / path).is_file():
                    texts[str(path)] = read(folder / path)
                    waiting.append((str(path), texts[str(path)]))
    return tuple(sorted(texts.items()))


def _included(text: str) -> Iterator[str]:
    for directive in _DIRECTIVE.finditer(_SPLICE.sub("", text)):
        name = directive["quoted"] if directive["quoted"] is not None else directive["angled"]
        if name is None:
            raise IncludeProblem(f"an include must name its file, not '{(directive['other'] or '').strip()}'")
        if PureWindowsPath(name).anchor or PurePosixPath(name).is_absolute() or ".." in PureWindowsPath(name).parts:
            raise IncludeProblem(f"includes '{name}': only files in the folder of the source or below may be included")
        yield name
