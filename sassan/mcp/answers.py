"""The small answers of the tools: parts of the documents of the command line, with the same keys."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sassan.api.estimating import KernelEstimate
from sassan.app.memory import line_of
from sassan.fields.kinds import address
from sassan.ir import Function

_LEAST = 0.005
"""Shares below it are not listed."""
_DIGITS = 3


def picked(document: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return some keys of a document, those that it has."""
    return {name: document[name] for name in names if name in document}


def rounded(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    """Return a document with numbers of so many digits that a difference counts."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS + 1}g}") if abs(value) < 1 else round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {name: rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list | tuple) else value


def estimate(known: KernelEstimate, rows: int, *, assumptions: bool) -> dict[str, Any]:
    """Return what is said of an estimate: the time, what binds it, and at most so many places where warps wait."""
    document = known.to_dict()
    answer = picked(document, "name", "demangled", "arch")
    answer["estimate"] = _time(document["estimate"], known, rows)
    answer["gaps"] = list(known.to_dict()["gaps"])[:rows]
    answer["assumptions"] = list(known.assumptions) if assumptions else len(known.assumptions)
    return answer


def _time(document: Mapping[str, Any] | None, known: KernelEstimate, rows: int) -> dict[str, Any] | None:
    if document is None:
        return None
    answer = picked(document, "us", "cycles", "gpu", "bound_by", "occupancy", "assumed")
    shares = sorted(document["shares"].items(), key=lambda pair: -pair[1])
    answer["shares"] = {name: share for name, share in shares if share >= _LEAST}
    answer["stalls"] = [
        {**place(known.function, each.address), "reason": each.reason.name.lower(), "share": each.share}
        for each in sorted(known.stalls, key=lambda stall: -stall.share)[:rows]
        if each.share >= _LEAST
    ]
    return answer


def place(function: Function, at: int) -> dict[str, Any]:
    """Return an instruction with the source line that it was made from, null where that is unknown."""
    line = line_of(function, at)
    text = next((each.text for each in function.instructions if each.address == at), "")
    return {"address": address(at), "instruction": text, "source": None if line is None else f"{line.file}:{line.line}"}


def by_line(function: Function, shares: Iterable[tuple[int, float]]) -> Sequence[dict[str, Any]]:
    """Return shares of instructions by source line, the largest first; nothing where lines are unknown."""
    total: dict[str, float] = {}
    for at, share in shares:
        line = line_of(function, at)
        if line is not None:
            name = f"{line.file}:{line.line}"
            total[name] = total.get(name, 0.0) + share
    return [{"source": name, "share": share} for name, share in sorted(total.items(), key=lambda pair: -pair[1])]
