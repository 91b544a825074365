"""Errors and limits shared by all readers."""

import re

from sassan.errors import InputError
from sassan.source import Source, Span

CODE = "bad-recording"
LIMIT = 256 << 20
"""Maximum size of a file, and of the contents of a compressed file, in bytes."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SHOWN = 60
DAMAGED = "the file is damaged or truncated: record it again, or copy it again"


def bad(path: str, place: str, problem: str, hint: str = DAMAGED) -> InputError:
    """Return the error for an unreadable file; `place` is the position in the file, '' for the whole file."""
    return InputError(CODE, f"{place}: {problem}" if place else problem, source=Source(path, ""), hint=hint)


def bad_line(path: str, line: int, problem: str) -> InputError:
    """Return the error for a line of a text; `line` counts from 1."""
    excerpt = Source(path, "\n" * (line - 1) if line <= 1 << 20 else "")
    return InputError(CODE, f"line {line}: {problem}", source=excerpt, span=Span(line, 1, 1), hint=DAMAGED)


def shown(text: str) -> str:
    """Return a text of a file for a message: shortened, and without control characters."""
    plain = _CONTROL.sub("?", text[: _SHOWN + 1])
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"


def has_control_characters(text: str) -> bool:
    """Return whether a text contains control characters, which could control a terminal."""
    return bool(_CONTROL.search(text))
