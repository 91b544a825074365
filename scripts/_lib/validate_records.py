"""Measurements on a GPU and bounds of the same code: records, their CSV, and violated bounds."""

from __future__ import annotations

import csv
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

from _lib.written import written

from sassan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


_NUMBERS = (False, False, False, True, True, True, True)


@dataclass(frozen=True)
class Record:
    """One kernel in one launch. `measured` is the longest time of a thread in cycles, over all repeats; `bound` is None in case of gaps.

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
        """Return bound / measured, None without a bound."""
        return None if self.bound is None else self.bound / self.measured


def violations(records: Iterable[Record]) -> list[Record]:
    """Return the records whose bound is below the measurement."""
    return [record for record in records if record.bound is not None and record.bound < record.measured]


def write(records: Sequence[Record], path: Path) -> None:
    """Write the records as CSV, a line each."""
    with written(path) as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Record)])
        writer.writerows(tuple("" if value is None else value for value in astuple(record)) for record in records)


def read(path: Path) -> list[Record]:
    """Return the records of a file.

    Raises InputError `records` with the invalid line.
    """
    with path.open(encoding="utf-8") as file:
        return [_record(row, f"{path}:{number}") for number, row in enumerate(csv.DictReader(file), start=2)]


def _record(row: dict[str, str], place: str) -> Record:
    numbers = ("block", "blocks", "warps", "repeats", "measured")
    try:
        values = {**row, **{key: int(row[key]) for key in numbers}, "bound": int(row["bound"]) if row["bound"] else None}
        record = Record(**values)  # type: ignore[arg-type]  # csv has strings only; the numbers are converted above
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("records", f"{place}: not a record of a measurement: {error}") from error
    if record.measured <= 0:
        raise InputError("records", f"{place}: invalid time of {record.measured} cycles")
    return record


def table(records: Sequence[Record]) -> str:
    """Return the records as text: a line per kernel, model and launch, and a summary of the ratios."""
    head = ("kernel", "model", "launch", "warps", "measured", "bound", "bound/measured")
    rows = [head, *(_cells(record) for record in records)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    lines = ["  ".join(map(_aligned, row, widths, _NUMBERS)) for row in rows]
    return "\n".join(line.rstrip() for line in (*lines, "", *_summary(records)))


def _aligned(text: str, size: int, number: bool) -> str:
    return text.rjust(size) if number else text.ljust(size)


def _cells(record: Record) -> tuple[str, ...]:
    mark = " BELOW" if record in violations([record]) else ""
    ratio = f"({record.gaps})" if record.ratio is None else f"{record.ratio:.2f}{mark}"
    return (
        record.kernel,
        record.model,
        record.launch,
        str(record.warps),
        str(record.measured),
        "-" if record.bound is None else str(record.bound),
        ratio,
    )


def _summary(records: Sequence[Record]) -> list[str]:
    runs = dict.fromkeys((record.device, record.capability, record.driver, record.date) for record in records)
    lines = [f"{device} (compute capability {capability}, driver {driver}), {date}" for device, capability, driver, date in runs]
    for kind in dict.fromkeys((record.model, record.launch) for record in records):
        ratios = sorted(record.ratio for record in records if (record.model, record.launch) == kind and record.ratio is not None)
        if ratios:
            ratio_text = f"bound / measured {ratios[0]:.2f} to {ratios[-1]:.2f}, median {ratios[len(ratios) // 2]:.2f}"
            lines.append(f"{kind[0]}, {kind[1]}: {len(ratios)} kernels, {ratio_text}")
    below = violations(records)
    lines.append(f"{len(below)} of {len(records)} bounds are below the measurement" + (":" if below else ""))
    lines.extend(
        f"  {record.kernel} ({record.model}, {record.launch}): bound {record.bound}, measured {record.measured}" for record in below
    )
    return lines
