"""The text report of `sassan measure`: estimates with their intervals, warnings, and the verdict."""

from collections.abc import Iterator, Sequence

from sassan.cli.output.terminal import safe
from sassan.measure.confidence import DOUBTS, Interval
from sassan.measure.samples import Samples
from sassan.measure.summary import EstimateRow, IntervalEstimate
from sassan.measure.verdict import Verdict, finding, time
from sassan.plurals import count_of

_SHOWN = ("kernel", "device", "date")
_INTERVAL = 28
"""Minimum width of the interval column."""
_LEAST = 0.001
"""Percent; smaller percentages are shown as less than this."""


def text(file: str, samples: Samples, rows: Sequence[EstimateRow], verdicts: Sequence[Verdict]) -> str:
    """Return the report of a set of samples, line ends included."""
    about = ", ".join(samples.about[key] for key in _SHOWN if samples.about.get(key))
    lines = [f"{file}: {count_of(samples.runs, 'run')} in {count_of(len(samples.groups), 'group')}{f' ({about})' if about else ''}"]
    for row in rows:
        lines.extend(("", *_row(row)))
    lines.extend(("", *_verdicts(verdicts)))
    return "".join(f"{safe(line)}\n" for line in lines)


def _row(row: EstimateRow) -> Iterator[str]:

    size = "" if row.size is None else f"size {row.size:g}, "
    yield f"{size}delay {row.delay:g} s: {count_of(row.runs, 'run')} in {count_of(row.groups, 'group')}"
    level = next((estimate.interval.level for estimate in row.estimates if estimate.interval is not None), None)
    widest = max((len(_range(estimate.interval)) for estimate in row.estimates if estimate.interval is not None), default=0)
    widest = max(widest + 2, _INTERVAL)
    if level is not None:
        yield f"  {'estimator':<10}{'value':>12}  {f'{level * 100:.4g} % interval':<{widest}}method"
    for estimate in row.estimates:
        yield _estimate(estimate, widest).rstrip()
    doubted: dict[str, list[str]] = {}
    for estimate in row.estimates:
        for code in estimate.interval.doubts if estimate.interval is not None else ():
            doubted.setdefault(code, []).append(estimate.estimator.value)
    for code, names in doubted.items():
        yield f"  ! {', '.join(names)}: {DOUBTS[code]}"


def _estimate(estimate: IntervalEstimate, widest: int) -> str:

    return f"  {estimate.estimator.value:<10}{time(estimate.value):>12}  {_interval(estimate.interval, widest)}"


def _interval(interval: Interval | None, widest: int) -> str:
    if interval is None:
        return ""
    beyond = (
        ""
        if interval.share is None
        else f"; at most {interval.share * 100:.2g} % of runs {'faster' if interval.high is not None else 'slower'}"
    )
    return f"{_range(interval):<{widest}}{interval.method}{beyond}"


def _range(interval: Interval) -> str:
    if interval.high is None:
        return "no upper end"
    if interval.low is None:
        unit, size = _unit(interval.high)
        return f"up to {interval.high / size:.6g} {unit}"
    unit, size = _unit(interval.high)
    digits = next((n for n in range(6, 12) if f"{interval.low / size:.{n}g}" != f"{interval.high / size:.{n}g}"), 6)
    return f"{interval.low / size:.{digits}g} to {interval.high / size:.{digits}g} {unit}"


def _unit(seconds: float) -> tuple[str, float]:
    return next(((unit, size) for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if seconds >= size), ("ns", 1e-9))


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[str]:

    if not verdicts:
        yield "verdict: none; the spread of estimates needs several groups, or one group of at least 60 runs"
        return
    yield f"verdict: spread of each estimate over five groups; stable up to {_percent(verdicts[0].tolerance)}"
    names = [stability.estimator.value for stability in verdicts[0].stabilities]
    lines = [("shortest run", "groups", "single run", *names, ""), *map(_cells, verdicts)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]) - 1)]
    yield _aligned((*lines[0][:-1], "choice"), widths)
    for verdict, line in zip(verdicts, lines[1:], strict=True):
        yield _aligned(line, widths)
        yield from _notes(verdict)
    sentence = finding(verdicts)
    if sentence is not None:
        yield f"{sentence[:1].upper()}{sentence[1:]}."


def _cells(verdict: Verdict) -> tuple[str, ...]:

    spreads = (_percent(kind.spread) for kind in verdict.stabilities)
    return time(verdict.duration), str(verdict.groups), _percent(verdict.single_run_spread), *spreads, verdict.choice or "none is stable"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return cells in columns: numbers right-aligned, the last cell unpadded."""
    first, *numbers, last = cells
    return "  ".join((f"  {first:<{widths[0]}}", *(f"{cell:>{size}}" for cell, size in zip(numbers, widths[1:], strict=True)), last))


def _notes(verdict: Verdict) -> Iterator[str]:
    if verdict.few_groups:
        yield "    ! fewer than five groups: the spread is extrapolated to five groups and may be inaccurate"
    if verdict.parts:
        yield f"    one group, divided into {verdict.groups} parts: a disturbance of the whole group does not show in the spread"
    moved = {kind.estimator.value: kind for kind in verdict.stabilities if kind.same_delay is not None}
    if len(verdict.delays) > 1 and "min" in moved:
        minimum = moved["min"]
        moves = f"{_percent(minimum.spread)}, among groups of one delay by {_percent(minimum.same_delay)}"
        yield f"    over {len(verdict.delays)} delays the minimum varies by {moves}"


def _percent(value: float | None) -> str:
    if value is None:
        return "-"
    return f"<{_LEAST} %" if 0 < value * 100 < _LEAST else f"{value * 100:.3g} %"
