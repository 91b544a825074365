"""The recorded launches of a program one after the other, as a page shows them: each with its times, their sum, and a deadline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sassan.app.launches import LaunchResult, different
from sassan.assumptions import kind_of
from sassan.launches import Launches
from sassan.names import brief

ONE_BY_ONE = (
    "the launches run one after the other; what the host, copies, and waits between launches take is not in the sum, "
    "and a launch finds nothing else on the GPU"
)


@dataclass(frozen=True, slots=True)
class RecordedSequence:
    """The launches of a recording that are shown; `file` holds it, `deadline` is in microseconds, None where none is given."""

    recording: Launches
    launches: tuple[LaunchResult, ...]
    file: str = ""
    deadline: float | None = None

    @property
    def results(self) -> Mapping[int, int]:
        """The place of each different result among these, by its identity: in the order of the first launch of each."""
        return {id(result): place for place, result in enumerate(different(self.launches))}


def names(program: RecordedSequence) -> tuple[str, ...]:
    """Return, for each different result, what distinguishes it from others of its kernel: its first launch."""
    out: dict[int, str] = {}
    for number, each in enumerate(program.launches, 1):
        if each.result is not None:
            out.setdefault(id(each.result), f"launch {number}: {_shape(each.launch.grid)} blocks of {_shape(each.launch.block)}")
    return tuple(out.values())


def document(program: RecordedSequence, shown: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the record of a program; `shown` are those of its different results, whose estimates count."""
    places = program.results
    rows = [_row(each, places.get(id(each.result)), shown) for each in program.launches]
    return {
        "program": " ".join((program.recording.program, *program.recording.arguments)).strip(),
        "file": program.file,
        "cut": program.recording.cut,
        "notes": list(program.recording.notes),
        "launches": rows,
        "total": program.recording.total if len(rows) == len(program.recording.launches) else sum(row["count"] for row in rows),
        "bounded": sum(row["count"] for row in rows if row["cycles"] is not None),
        "estimated": sum(row["count"] for row in rows if row["estimate_us"] is not None),
        "cycles": _sum(rows, "cycles"),
        "us": _sum(rows, "us"),
        "estimate_us": _sum(rows, "estimate_us"),
        "deadline_us": program.deadline,
        "assumptions": _assumptions(program) if _sum(rows, "cycles") is not None else [],
    }


def _row(each: LaunchResult, place: int | None, shown: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    launch, expected = each.launch, shown[place]["estimate"] if place is not None else None
    return {
        "function": place,
        "kernel": launch.kernel,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "shared": launch.shared,
        "count": launch.count,
        "cycles": each.cycles,
        "us": each.us,
        "estimate_us": expected["us"] if expected is not None else None,
        "bound_by": expected["bound_by"] if expected is not None else None,
        "gaps": sorted({gap.code for gap in each.gaps}),
    }


def _sum(rows: Sequence[Mapping[str, Any]], key: str) -> float | None:
    """Return the sum over all launches, None where one is not known."""
    known = [row["count"] * row[key] for row in rows if row[key] is not None]
    return sum(known) if len(known) == len(rows) and rows else None


def _assumptions(program: RecordedSequence) -> list[Mapping[str, Any]]:
    """Return what the sum of the bounds rests on: each assumption with its status, and its kernels where not all rest on it."""
    users: dict[str, set[str]] = {ONE_BY_ONE: {each.launch.kernel for each in program.launches}}
    texts: dict[str, str] = {ONE_BY_ONE: ONE_BY_ONE}
    for each in program.launches:
        makespan = each.result.makespan if each.result is not None else None
        grid = makespan.grid if makespan is not None else None
        for text in (*(grid.assumptions if grid is not None else ()), *each.assumptions):
            texts.setdefault(text, text)
            users.setdefault(text, set()).add(each.launch.kernel)
    every = len(users[ONE_BY_ONE])
    return [
        {"text": text, "kind": kind_of(text).value, "kernels": sorted(map(brief, users[text])) if len(users[text]) < every else []}
        for text in texts.values()
    ]


def _shape(extents: Sequence[int]) -> str:
    return " x ".join(map(str, extents))
