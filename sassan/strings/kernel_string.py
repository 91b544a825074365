"""Kernel strings: which kind of unit each instruction of a path occupies, in order, run-length coded with repeats (`L2C9(L1C4)^10`).

Grammar: a string is a sequence of parts; a part is a letter of LCSDTB with an optional count (`L5`), or a group with a count (`(L1C4)^10`).
B is a block barrier, which is not an instruction: `length`, `counts` and `expand` are those of the instructions, `steps` has all letters.
At the top level a count of 1 is not printed; inside a group every count is.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Union

from sassan.alphabet import UNITS, Letter
from sassan.errors import InputError
from sassan.source import Source, Span


@dataclass(frozen=True, slots=True)
class LetterRun:
    """`count` times the same letter; `count` is at least 1."""

    letter: Letter
    count: int


@dataclass(frozen=True, slots=True)
class RepeatedString:
    """`body`, `times` times in a row; `times` is at least 2."""

    body: "KernelString"
    times: int


Part = Union[LetterRun, RepeatedString]  # noqa: UP007  # `|` cannot name a class that follows


@dataclass(frozen=True, slots=True)
class KernelString:
    """A normalised sequence of parts: built with `of`, `repeat`, `parse`, or `+`."""

    parts: tuple[Part, ...] = ()

    def __add__(self, other: "KernelString") -> "KernelString":
        """Return the concatenation, folded where the two strings join."""
        return of((*self.parts, *other.parts))

    @property
    def length(self) -> int:
        """Return the number of instructions of the expanded string."""
        return sum(self.counts().values())

    def __str__(self) -> str:
        """Return the printed form, which `parse` reads back."""
        return "".join(_printed(self.parts, inside=False))

    def counts(self) -> dict[Letter, int]:
        """Return how often each letter of an instruction occurs, without expanding; all of them, in the order of the alphabet."""
        totals = self._totals()
        return {letter: totals[letter] for letter in UNITS}

    @property
    def barriers(self) -> int:
        """Return the number of block barriers of the expanded string."""
        return self._totals()[Letter.BARRIER]

    def _totals(self) -> dict[Letter, int]:
        totals = dict.fromkeys(Letter, 0)
        _count(self.parts, 1, totals)
        return totals

    def expand(self) -> Iterator[Letter]:
        """Yield the letter of every instruction in order; check the length first."""
        return (letter for letter in self.steps() if letter is not Letter.BARRIER)

    def steps(self) -> Iterator[Letter]:
        """Yield every letter in order, barriers too; check the length first."""
        for part in self.parts:
            if isinstance(part, LetterRun):
                for _ in range(part.count):
                    yield part.letter
            else:
                for _ in range(part.times):
                    yield from part.body.steps()


def _printed(parts: Iterable[Part], *, inside: bool) -> Iterator[str]:
    for part in parts:
        if isinstance(part, LetterRun):
            yield part.letter.value if part.count == 1 and not inside else f"{part.letter.value}{part.count}"
        else:
            yield f"({''.join(_printed(part.body.parts, inside=True))})^{part.times}"


def _count(parts: Iterable[Part], times: int, totals: dict[Letter, int]) -> None:
    for part in parts:
        if isinstance(part, LetterRun):
            totals[part.letter] += times * part.count
        else:
            _count(part.body.parts, times * part.times, totals)


def of(parts: Iterable[Part]) -> KernelString:
    """Return the normalised string of these parts: equal neighbours are merged, empty parts dropped, and a body joins a group of it."""
    out: list[Part] = []
    for part in parts:
        _append(out, part)
    return KernelString(tuple(out))


def letters(row: Iterable[Letter]) -> KernelString:
    """Return the string of single letters in order."""
    return of(LetterRun(letter, 1) for letter in row)


def _append(out: list[Part], part: Part) -> None:
    if isinstance(part, LetterRun):
        _append_run(out, part)
    else:
        _append_group(out, part.body, part.times)


def _append_run(out: list[Part], run: LetterRun) -> None:
    last = out[-1] if out else None
    if run.count <= 0:
        return
    if isinstance(last, LetterRun) and last.letter is run.letter:
        out[-1] = LetterRun(run.letter, last.count + run.count)
    else:
        out.append(run)


def _append_group(out: list[Part], body: KernelString, times: int) -> None:
    if times <= 0 or not body.parts:
        return
    only = body.parts[0] if len(body.parts) == 1 else None
    last = out[-1] if out else None
    if isinstance(only, LetterRun):
        _append_run(out, LetterRun(only.letter, only.count * times))
    elif isinstance(only, RepeatedString):
        _append_group(out, only.body, only.times * times)
    elif isinstance(last, RepeatedString) and last.body == body:
        out[-1] = RepeatedString(body, last.times + times)
    elif times == 1:
        for part in body.parts:
            _append(out, part)
    else:
        out.append(RepeatedString(body, times))


_TOKEN = re.compile(r"(?P<letter>[LCSDTB])(?P<count>\d*)|(?P<open>\()|\)\^(?P<times>\d+)", re.ASCII | re.IGNORECASE)
_MOST_DIGITS = 18
_MOST_NESTING = 200


def parse(text: str, name: str = "string") -> KernelString:
    """Return the string written as `text`; lower case and blanks are accepted.

    Raises InputError `string-syntax` with the span of the error.
    """
    levels: list[list[Part]] = [[]]
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        token = _TOKEN.match(text, position)
        if token is None:
            raise _refused(text, name, position, "expected L, C, S, D, T or B with a count, or a group such as (L1C4)^10")
        _add_token(levels, token, text, name)
        position = token.end()
    if len(levels) > 1:
        raise _refused(text, name, len(text), "a group is not closed: expected )^ and a count")
    return of(levels[0])


def instructions(text: str) -> KernelString:
    """Return the string written as `text`, of at least one instruction.

    Raises InputError `string-syntax` or `empty-string`.
    """
    string = parse(text)
    if not string.length:
        raise InputError("empty-string", "the kernel string contains no instruction", hint="for example L5C9(L2C9)^10")
    return string


def _add_token(levels: list[list[Part]], token: re.Match[str], text: str, name: str) -> None:
    count = token["count"] or token["times"] or "1"
    if len(count) > _MOST_DIGITS or int(count) == 0:
        raise _refused(text, name, token.start(), f"a count must be 1 or more, with at most {_MOST_DIGITS} digits")
    if token["letter"]:
        levels[-1].append(LetterRun(Letter(token["letter"].upper()), int(count)))
    elif token["open"]:
        levels.append([])
        if len(levels) > _MOST_NESTING:
            raise _refused(text, name, token.start(), f"groups are nested more than {_MOST_NESTING} deep")
    elif len(levels) == 1:
        raise _refused(text, name, token.start(), "')' without a matching '('")
    else:
        body = of(levels.pop())
        levels[-1].append(RepeatedString(body, int(count)))


def _refused(text: str, name: str, position: int, reason: str) -> InputError:
    source = Source(name, text)
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return InputError(
        "string-syntax", f"not a kernel string: {reason}", source=source, span=Span(line, column, 1), hint="for example L5C9(L2C9)^10"
    )
