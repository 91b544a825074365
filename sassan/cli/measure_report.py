"""What `sassan measure` prints: estimates with their intervals, what is to be doubted, and the verdict."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sassan.cli.terminal import safe

if TYPE_CHECKING:
    from sassan.measure.confidence import Interval
    from sassan.measure.samples import Samples
    from sassan.measure.summary import Estimate, Row
    from sassan.measure.verdict import Verdict

_SHOWN = ("kernel", "device", "date")
_LEAST = 0.001
"""Percent: smaller ones are not told apart."""


def text(file: str, samples: "Samples", rows: "Sequence[Row]", verdicts: "Sequence[Verdict]") -> str:
    """Return the report of one set of samples, line ends included."""
    about = ", ".join(samples.about[key] for key in _SHOWN if samples.about.get(key))
    lines = [f"{file}: {_count(samples.runs, 'run')} in {_count(len(samples.groups), 'group')}{f' ({about})' if about else ''}"]
    for row in rows:
        lines.extend(("", *_row(row)))
    lines.extend(("", *_verdicts(verdicts)))
    return "".join(f"{safe(line)}\n" for line in lines)


def _row(row: "Row") -> Iterator[str]:
    from sassan.measure.confidence import DOUBTS

    size = "" if row.size is None else f"size {row.size:g}, "
    yield f"{size}delay {row.delay:g} s: {_count(row.runs, 'run')} in {_count(row.groups, 'group')}"
    level = next((one.interval.level for one in row.estimates if one.interval is not None), None)
    if level is not None:
        yield f"  {'estimator':<10}{'value':>12}  {f'{level * 100:.4g} % interval':<28}method"
    for one in row.estimates:
        yield _estimate(one).rstrip()
    doubted: dict[str, list[str]] = {}
    for one in row.estimates:
        for code in one.interval.doubts if one.interval is not None else ():
            doubted.setdefault(code, []).append(one.estimator.value)
    for code, names in doubted.items():
        yield f"  ! {', '.join(names)}: {DOUBTS[code]}"


def _estimate(one: "Estimate") -> str:
    from sassan.measure.verdict import time

    return f"  {one.estimator.value:<10}{time(one.value):>12}  {_interval(one.interval)}"


def _interval(found: "Interval | None") -> str:
    if found is None:
        return ""
    beyond = (
        "" if found.share is None else f"; at most {found.share * 100:.2g} % of runs {'faster' if found.high is not None else 'slower'}"
    )
    return f"{_range(found):<28}{found.method}{beyond}"


def _range(found: "Interval") -> str:
    if found.high is None:
        return "no upper end"
    if found.low is None:
        unit, size = _unit(found.high)
        return f"up to {found.high / size:.6g} {unit}"
    unit, size = _unit(found.high)
    digits = next((n for n in range(6, 12) if f"{found.low / size:.{n}g}" != f"{found.high / size:.{n}g}"), 6)
    return f"{found.low / size:.{digits}g} to {found.high / size:.{digits}g} {unit}"


def _unit(seconds: float) -> tuple[str, float]:
    return next(((unit, size) for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if seconds >= size), ("ns", 1e-9))


def _verdicts(found: "Sequence[Verdict]") -> Iterator[str]:
    from sassan.measure.verdict import finding

    if not found:
        yield "verdict: none; one group does not show how far estimates move: measure several, or 60 runs and more in one"
        return
    yield f"verdict: how far each estimate moves between groups; stable up to {_percent(found[0].tolerance)}"
    names = [one.estimator.value for one in found[0].stabilities]
    yield f"  {'least run':<12}{'groups':>6}{'one run':>10}{''.join(f'{name:>10}' for name in names)}  choice"
    for one in found:
        cells = "".join(f"{_percent(kind.spread):>10}" for kind in one.stabilities)
        yield from _verdict(one, cells)
    said = finding(found)
    if said is not None:
        yield f"{said[:1].upper()}{said[1:]}."


def _verdict(one: "Verdict", cells: str) -> Iterator[str]:
    from sassan.measure.verdict import time

    yield f"  {time(one.duration):<12}{one.groups:>6}{_percent(one.single):>10}{cells}  {one.choice or 'none is stable'}"
    if one.parts:
        yield f"    one group, cut into {one.groups} parts: they share what the whole group suffered"
    moved = {kind.estimator.value: kind for kind in one.stabilities if kind.same_delay is not None}
    if len(one.delays) > 1 and "min" in moved:
        least = moved["min"]
        moves = f"{_percent(least.spread)}, among groups of one delay by {_percent(least.same_delay)}"
        yield f"    over {len(one.delays)} delays the minimum moves by {moves}"


def _percent(value: float | None) -> str:
    if value is None:
        return "-"
    return f"<{_LEAST} %" if 0 < value * 100 < _LEAST else f"{value * 100:.3g} %"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
