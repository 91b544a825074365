"""An error as a document: code, place, source line, hint (docs/developer/README.md, "Errors")."""

import sys
import warnings
from collections.abc import Mapping

from sassan.cli.output.terminal import colourful, cut, message, note, safe
from sassan.entries import CacheWarning
from sassan.errors import DefectWarning, SassanError
from sassan.source import Source, Span

_readable = message
_HEADS: Mapping[type[Warning], str] = {DefectWarning: "warning[defect]", CacheWarning: "note"}
_BEFORE = 60
"""Characters of a long source line that are shown before the place of the error."""
_SHOWN = 110
"""Characters of a long source line that are shown at all."""
_LONGEST = 2_000
"""Characters of a message: names in it may be as long as the input."""
_INDENT = " " * 8


def show(error: SassanError, file: str = "") -> None:
    """Print an error once, on standard error; `file` is named when the error itself names no source."""
    text = describe(error, file)
    if colourful(sys.stderr):
        head, rest = text.split(": ", 1)
        text = f"\x1b[1;31m{head}\x1b[0m: {rest}"
    note(text)


def warn(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object) -> None:
    """Print a warning of Python, once, on standard error: those of ours as such, any other as Python does."""
    head = next((head for kind, head in _HEADS.items() if issubclass(category, kind)), None)
    note(f"{head}: {cut(_readable(str(message)), _LONGEST)}\n" if head else warnings.formatwarning(message, category, filename, lineno))


def describe(error: SassanError, file: str = "") -> str:
    """Return the text of an error, line ends included; nothing in it can steer a terminal."""
    lines = [f"error[{error.code}]: {cut(message(error.message), _LONGEST)}"]
    name = error.source.name if error.source else file
    if name and error.span:
        lines.append(f"  --> {safe(name)}:{error.span.line}:{error.span.column}")
    elif name:
        lines.append(f"  --> {safe(name)}")
    if error.source and error.span:
        lines.extend(_excerpt(error.source, error.span))
    if error.hint:
        lines.append(f"hint: {safe(error.hint)}")
    return "\n".join(lines) + "\n"


def _excerpt(source: Source, span: Span) -> tuple[str, ...]:
    line = source.line(span.line)
    if not line.strip():
        return ()
    start = max(0, span.column - 1 - _BEFORE)
    blank = len(line) - len(line.lstrip())
    start = max(start, min(blank, span.column - 1))
    before = safe(line[start : span.column - 1])
    marked = safe(line[span.column - 1 : span.column - 1 + max(span.width, 1)])
    after = safe(line[span.column - 1 + max(span.width, 1) :])
    shown = (before + marked + after)[:_SHOWN]
    carets = "^" * max(1, min(len(marked), _SHOWN - len(before)))
    return f"{_INDENT}{shown}".rstrip(), f"{_INDENT}{' ' * len(before)}{carets}"
