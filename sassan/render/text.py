r"""Untrusted text made harmless in DOT.

Kernel names come from the input and may hold anything. Graphviz reads a backslash as an escape (`\N`, `\l`), an ampersand as the
start of an HTML entity, and a label in angle brackets as HTML; XML refuses control characters; a right-to-left override reverses a
line around.
"""

import html

from sassan.names import visible

_TOOLTIP = 12_000
"""The characters of a line of a tooltip, escapes included: Graphviz reads no text of 16384 bytes."""
_ESCAPED = 16
"""As many as one character may become."""


def shorten(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters, without its middle: both ends of a mangled name distinguish kernels."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def in_html(text: str) -> str:
    """Return `text` for the inside of an HTML-like label."""
    return html.escape(visible(text)).replace("\\", "\\\\")


def in_tooltip(lines: tuple[str, ...]) -> str:
    """Return the value of a tooltip attribute; Graphviz substitutes its escapes twice there, so a backslash is written four times."""
    from graphviz import escape, nohtml  # noqa: PLC0415 - not needed before something is drawn

    def escaped(line: str) -> str:
        return str(escape(escape(visible(line).replace("&", "&amp;"))))

    whole = (line if len(escaped(line)) <= _TOOLTIP else shorten(line, _TOOLTIP // _ESCAPED) for line in lines)
    text: str = nohtml("&#10;".join(map(escaped, whole)))
    return text


def wrap(text: str, width: int, rows: int) -> tuple[str, ...]:
    """Return `text` cut into at most `rows` pieces of `width` characters; an ellipsis ends the last one if the text is longer."""
    pieces = [text[at : at + width] for at in range(0, len(text), width)]
    if len(pieces) <= rows:
        return tuple(pieces)
    return (*pieces[: rows - 1], pieces[rows - 1][: width - 1] + "…")
