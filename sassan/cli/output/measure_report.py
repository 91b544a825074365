"""What `sassan measure` prints: estimates with their intervals, what is to be doubted, and the verdict."""

from collections.abc import Iterator, Sequence

from sassan.cli.output.terminal import safe
from sassan.measure.confidence import DOUBTS, Interval
from sassan.measure.samples import Samples
from sassan.measure.summary import Estimate, Row
from sassan.measure.verdict import Verdict, finding, time

_SHOWN = ("kernel", "device", "date")
_INTERVAL = 28
"""Columns of an interval at least."""
_LEAST = 0.001
"""Percent: smaller ones are not told apart."""


def text(file: str, samples: Samples, rows: Sequence[Row], verdicts: Sequence[Verdict]) -> str:
    """Return the report of one set of samples, line ends included."""
    about = ", ".join(samples.about[key] for key in _SHOWN if samples.about.get(key))
    lines = [f"{file}: {_count(samples.runs, 'run')} in {_count(len(samples.groups), 'group')}{f' ({about})' if about else ''}"]
    for row in rows:
        lines.extend(("", *_row(row)))
    lines.extend(("", *_verdicts(verdicts)))
    return "".join(f"{safe(line)}\n" for line in lines)


def _row(row: Row) -> Iterator[str]:

    size = "" if row.size is None else f"size {row.size:g}, "
    yield f"{size}delay {row.delay:g} s: {_count(row.runs, 'run')} in {_count(row.groups, 'group')}"
    level = next((one.interval.level for one in row.estimates if one.interval is not None), None)
    widest = max((len(_range(one.interval)) for one in row.estimates if one.interval is not None), default=0)
    widest = max(widest + 2, _INTERVAL)
    if level is not None:
        yield f"  {'estimator':<10}{'value':>12}  {f'{level * 100:.4g} % interval':<{widest}}method"
    for one in row.estimates:
        yield _estimate(one, widest).rstrip()
    doubted: dict[str, list[str]] = {}
    for one in row.estimates:
        for code in one.interval.doubts if one.interval is not None else ():
            doubted.setdefault(code, []).append(one.estimator.value)
    for code, names in doubted.items():
        yield f"  ! {', '.join(names)}: {DOUBTS[code]}"


def _estimate(one: Estimate, widest: int) -> str:

    return f"  {one.estimator.value:<10}{time(one.value):>12}  {_interval(one.interval, widest)}"


def _interval(found: Interval | None, widest: int) -> str:
    if found is None:
        return ""
    beyond = (
        "" if found.share is None else f"; at most {found.share * 100:.2g} % of runs {'faster' if found.high is not None else 'slower'}"
    )
    return f"{_range(found):<{widest}}{found.method}{beyond}"


def _range(found: Interval) -> str:
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


def _verdicts(found: Sequence[Verdict]) -> Iterator[str]:

    if not found:
        yield "verdict: none; one group does not show how far estimates move: measure several, or 60 runs and more in one"
        return
    yield f"verdict: how far each estimate moves over five groups; stable up to {_percent(found[0].tolerance)}"
    names = [one.estimator.value for one in found[0].stabilities]
    lines = [("least run", "groups", "one run", *names, ""), *map(_cells, found)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]) - 1)]
    yield _aligned((*lines[0][:-1], "choice"), widths)
    for one, line in zip(found, lines[1:], strict=True):
        yield _aligned(line, widths)
        yield from _notes(one)
    said = finding(found)
    if said is not None:
        yield f"{said[:1].upper()}{said[1:]}."


def _cells(one: Verdict) -> tuple[str, ...]:

    spreads = (_percent(kind.spread) for kind in one.stabilities)
    return time(one.duration), str(one.groups), _percent(one.single), *spreads, one.choice or "none is stable"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return cells in columns: numbers to the right, the last as long as it is."""
    first, *numbers, last = cells
    return "  ".join((f"  {first:<{widths[0]}}", *(f"{one:>{size}}" for one, size in zip(numbers, widths[1:], strict=True)), last))


def _notes(one: Verdict) -> Iterator[str]:
    if one.few:
        yield "    ! fewer than five groups: their spread is scaled up to that of five, and may be far from it"
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
