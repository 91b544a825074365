"""Numbers as printed by Nsight Compute, in the locale of the machine: `379,490`, `379.490`, `379 490`, `1,520.09`.

A text has one convention, determined by its unambiguous numbers; if there are none, ambiguous numbers have no value.
"""

import re
from collections.abc import Iterable
from math import isfinite
from typing import NamedTuple

_PLAIN = re.compile(r"-?\d{1,30}(?:[eE][+-]?\d{1,3})?", re.ASCII)
_GROUPED = re.compile(r"-?[\d.,'\u2019 \u00a0\u202f]{1,60}(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SPACES = re.compile(r"(?<=\d)['\u2019 \u00a0\u202f](?=\d{3})", re.ASCII)
_EITHER = re.compile(r"-?([1-9]\d{0,2})([.,])(\d{3})", re.ASCII)
_POINTS = ".,"


class Convention(NamedTuple):
    """The decimal mark of a text, '' if it is undecided; `mixed` if its numbers contradict each other."""

    mark: str
    mixed: bool = False


def convention(cells: Iterable[tuple[str, bool]]) -> Convention:
    """Return the convention of numbers, each with whether it must be an integer, such as a count of cycles."""
    marks: set[str] = set()
    for cell, whole in cells:
        text = _SPACES.sub("", cell.strip(" "))
        if _GROUPED.fullmatch(text):
            marks |= _mark(re.split("[eE]", text)[0], whole=whole)
    return Convention("", mixed=True) if len(marks) > 1 else Convention(marks.pop() if marks else "")


def value_of(cell: str, mark: str) -> float | None:
    """Return the number in a cell, None if it is not a number or is ambiguous."""
    text = _SPACES.sub("", cell.strip(" "))
    if _PLAIN.fullmatch(text):
        return _finite(text)
    if not _GROUPED.fullmatch(text):
        return None
    if not mark:
        return None if _EITHER.fullmatch(text) else value_of(text, mark="".join(_mark(text, whole=False))[:1] or ".")
    return _number(text, mark)


def _number(text: str, mark: str) -> float | None:
    separator = re.escape(_POINTS[_POINTS.index(mark) - 1])
    if not re.fullmatch(rf"-?(\d+|\d{{1,3}}({separator}\d{{3}})+)({re.escape(mark)}\d*)?([eE][+-]?\d{{1,3}})?", text):
        return None
    return _finite(re.sub(separator, "", text).replace(mark, "."))


def _finite(text: str) -> float | None:
    value = float(text)
    return value if isfinite(value) else None


def ambiguous(cell: str) -> bool:
    """Return whether a cell is both an integer with a separator and a number with three decimals."""
    return bool(_EITHER.fullmatch(_SPACES.sub("", cell.strip(" "))))


def _mark(text: str, *, whole: bool) -> set[str]:
    """Return the decimal mark that a number implies, empty if it implies none."""
    points = [character for character in text if character in _POINTS]
    if not points:
        return set()
    last = points[-1]
    other = _POINTS[_POINTS.index(last) - 1]
    if len(points) == 1 and not _EITHER.fullmatch(text):
        return {last}
    if len(points) == 1:
        return {other} if whole else set()
    # Groups of other than three digits are not a number, but an address or a version.
    return {mark for mark in (last, other) if _number(text, mark) is not None}
