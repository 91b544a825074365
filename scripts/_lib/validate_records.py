"""Measurements on a GPU beside the bounds of the same code: the records, their CSV, and what a bound below a measurement means."""

from __future__ import annotations

import csv
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

from sassan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


_NUMBERS = (False, False, False, True, True, True, True)


@dataclass(frozen=True)
class Record:
    """One kernel in one launch. `measured` is the longest time of a thread in cycles, over all repeats; `bound` None: a gap forbids it.

    `launch` is `warp` (one warp alone on the GPU) or `sm` (as many blocks on every SM as are resident, `warps` on each).
    """

    device: str
    capability: str
    driver: str
    date: str
    kernel: str
    model: str
    launch: str
    block: int
    blocks: int
    warps: int
    repeats: int
    measured: int
    bound: int | None
    gaps: str = ""

    @property
    def ratio(self) -> float | None:
        """Return bound / measured, None where there is no bound."""
        return None if self.bound is None else self.bound / self.measured


def violations(records: Iterable[Record]) -> list[Record]:
    """Return the records whose bound is below what was measured."""
    return [one for one in records if one.bound is not None and one.bound < one.measured]


def write(records: Sequence[Record], path: Path) -> None:
    """Write the records as CSV, a line each."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Record)])
        writer.writerows(tuple("" if value is None else value for value in astuple(one)) for one in records)


def read(path: Path) -> list[Record]:
    """Return the records of a file.

    Raises InputError `records` with the line that is no record.
    """
    with path.open(encoding="utf-8") as file:
        return [_record(row, f"{path}:{number}") for number, row in enumerate(csv.DictReader(file), start=2)]


def _record(row: dict[str, str], place: str) -> Record:
    numbers = ("block", "blocks", "warps", "repeats", "measured")
    try:
        values = {**row, **{key: int(row[key]) for key in numbers}, "bound": int(row["bound"]) if row["bound"] else None}
        found = Record(**values)  # type: ignore[arg-type]  # csv knows texts only; the numbers have just been made
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("records", f"{place}: not a record of a measurement: {error}") from error
    if found.measured <= 0:
        raise InputError("records", f"{place}: nothing runs in {found.measured} cycles")
    return found


def table(records: Sequence[Record]) -> str:
    """Return the records as text: a line per kernel, model and launch, and what the ratios are."""
    head = ("kernel", "model", "launch", "warps", "measured", "bound", "bound/measured")
    rows = [head, *(_cells(one) for one in records)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    lines = ["  ".join(map(_aligned, row, widths, _NUMBERS)) for row in rows]
    return "\n".join(line.rstrip() for line in (*lines, "", *_summary(records)))


def _aligned(text: str, size: int, number: bool) -> str:
    return text.rjust(size) if number else text.ljust(size)


def _cells(one: Record) -> tuple[str, ...]:
    mark = " BELOW" if one in violations([one]) else ""
    ratio = f"({one.gaps})" if one.ratio is None else f"{one.ratio:.2f}{mark}"
    return one.kernel, one.model, one.launch, str(one.warps), str(one.measured), "-" if one.bound is None else str(one.bound), ratio


def _summary(records: Sequence[Record]) -> list[str]:
    runs = dict.fromkeys((one.device, one.capability, one.driver, one.date) for one in records)
    lines = [f"{device} (compute capability {capability}, driver {driver}), {date}" for device, capability, driver, date in runs]
    for kind in dict.fromkeys((one.model, one.launch) for one in records):
        ratios = sorted(one.ratio for one in records if (one.model, one.launch) == kind and one.ratio is not None)
        if ratios:
            told = f"bound / measured {ratios[0]:.2f} to {ratios[-1]:.2f}, median {ratios[len(ratios) // 2]:.2f}"
            lines.append(f"{kind[0]}, {kind[1]}: {len(ratios)} kernels, {told}")
    below = violations(records)
    lines.append(f"{len(below)} of {len(records)} bounds are below the measurement" + (":" if below else ""))
    lines.extend(f"  {one.kernel} ({one.model}, {one.launch}): bound {one.bound}, measured {one.measured}" for one in below)
    return lines
