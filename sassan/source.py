"""Texts of inputs, and positions in them, for errors and listings."""

import codecs
from dataclasses import dataclass

UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""PowerShell writes what is redirected into a file as UTF-16, with a mark."""


def decoded(data: bytes) -> str:
    """Return the text of a file: UTF-8, or UTF-16 with its mark; marks are removed. Raises UnicodeDecodeError."""
    return data.decode("utf-16" if data.startswith(UTF16_MARKS) else "utf-8-sig")


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters of one line; `line` and `column` count from 1, `width` is in characters."""

    line: int
    column: int
    width: int


@dataclass(frozen=True, slots=True)
class Source:
    """A named input text; the name is as the user typed it (`-` for standard input)."""

    name: str
    text: str

    def line(self, number: int) -> str:
        """Return line `number` (from 1) without its line end, '' if there is no such line."""
        lines = self.text.split("\n")
        return lines[number - 1].removesuffix("\r") if 0 < number <= len(lines) else ""
