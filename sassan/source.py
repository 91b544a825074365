"""Positions in an input text, for errors and listings."""

from dataclasses import dataclass


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
