"""The small answers of the tools: parts of the documents of the command line, with the same keys."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sassan.api.estimating import KernelEstimate
from sassan.app.memory import line_of
from sassan.fields.kinds import address
from sassan.ir import Function, SourceLine

_LEAST = 0.005
"""Shares below it are not listed."""
_DIGITS = 4
_LONG = ("assumptions", "assumption_kinds")

Row = dict[str, Any]


def picked(document: Mapping[str, Any], *names: str) -> Row:
    """Return some keys of a document, those that it has, without the assumptions below them."""
    return {name: _without(document[name]) for name in names if name in document}


def _without(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    return {name: each for name, each in value.items() if name not in _LONG} if isinstance(value, Mapping) else value


def rounded(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    """Return a document with so many digits of each number that a difference counts."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list | tuple) else value


def said(assumptions: Sequence[str], *, in_words: bool) -> int | list[str]:
    """Return assumptions in words, or how many there are."""
    return list(assumptions) if in_words else len(assumptions)


def time(known: KernelEstimate) -> Row | None:
    """Return the time of an estimate and what binds it, None where there is none."""
    estimate = known.result.estimate
    if estimate is None:
        return None
    shares = sorted(estimate.shares.items(), key=lambda pair: -pair[1])
    return {
        "us": estimate.us,
        "cycles": estimate.cycles,
        "gpu": estimate.gpu,
        "bound_by": estimate.bound_by,
        "occupancy": estimate.occupancy,
        "assumed": estimate.assumed,
        "shares": {name: share for name, share in shares if share >= _LEAST},
    }


def stalls(known: KernelEstimate, most: int) -> list[Row]:
    """Return the instructions before which warps wait most, with the reasons, and the source lines that they were made from."""
    rows = sorted(known.stalls, key=lambda stall: -stall.share)[:most]
    return [
        {**place(known.function, each.address), "reason": each.reason.name.lower(), "share": each.share}
        for each in rows
        if each.share >= _LEAST
    ]


def place(function: Function, at: int) -> Row:
    """Return an instruction, with the source line that it was made from, null where that is unknown."""
    text = next((each.text for each in function.instructions if each.address == at), "")
    return {"address": address(at), "instruction": text, "source": source(line_of(function, at))}


def source(line: SourceLine | None) -> str | None:
    """Return a source line as `file:line`."""
    return None if line is None else f"{line.file}:{line.line}"


def by_line(function: Function, shares: Iterable[tuple[int, float]], most: int) -> list[Row]:
    """Return the largest shares by source line; nothing where lines are unknown."""
    total: dict[str, float] = {}
    for at, share in shares:
        name = source(line_of(function, at))
        if name is not None:
            total[name] = total.get(name, 0.0) + share
    rows = sorted(total.items(), key=lambda pair: -pair[1])[:most]
    return [{"source": name, "share": share} for name, share in rows if share >= _LEAST]


def gaps(document: Mapping[str, Any], most: int) -> list[Any]:
    """Return the first gaps of a function."""
    return list(document["gaps"])[:most]
