"""Places in an input text: what an error or a listing row points at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of one line; `line` and `column` count from 1, `width` in characters."""

    line: int
    column: int
    width: int


@dataclass(frozen=True, slots=True)
class Source:
    """A named input text; the name is what the user typed (`-` for standard input)."""

    name: str
    text: str

    def line(self, number: int) -> str:
        """Return line `number` (from 1) without its line end, or '' when there is none."""
        lines = self.text.split("\n")
        return lines[number - 1].removesuffix("\r") if 0 < number <= len(lines) else ""
