"""The report of `analyze --launches`: a row per recorded launch, what the numbers rest on, the gaps."""

from collections import defaultdict
from collections.abc import Sequence

from sassan.app.launches import LaunchResult
from sassan.cli.output import analysis_report as report
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.errors import Gap
from sassan.machine.launch import Shape

_COLUMNS = (
    Column("kernel", widest=24),
    Column("grid"),
    Column("block"),
    Column("shared", number=True),
    Column("count", number=True),
    Column("WCET", number=True),
    Column("grid bound", number=True),
    Column("gaps"),
)


def show(found: Sequence[LaunchResult], *, cut: str) -> None:
    """Print every launch; `cut` says why the recording ends early."""
    table.show(Table(_COLUMNS, tuple(_row(one) for one in found)))
    total = sum(one.launch.count for one in found)
    bounded = sum(one.launch.count for one in found if one.cycles is not None)
    out(f"\n{total} launches, {bounded} of them bounded")
    whole = sum(one.launch.count * one.cycles for one in found if one.cycles is not None)
    out(f"; one after the other at most {whole} cycles\n" if total == bounded and found else "\n")
    if cut:
        out(f"the recording was cut off {safe(cut)}: later launches are missing\n")
    results = tuple({id(one.result): one.result for one in found if one.result is not None}.values())
    report.assumptions(results)
    for text in dict.fromkeys(text for one in found if one.wcet is not None for text in one.assumptions):
        out(f"  - {safe(text)}\n")
    gaps = defaultdict[str, dict[Gap, None]](dict)
    for one in found:
        gaps[one.launch.kernel].update(dict.fromkeys(one.gaps))
    report.list_gaps([(kernel, tuple(several)) for kernel, several in gaps.items()])


def _row(one: LaunchResult) -> tuple[str, ...]:
    launch = one.launch
    numbers = (report.NONE if number is None else str(number) for number in (one.wcet, one.cycles))
    codes = ", ".join(sorted({gap.code for gap in one.gaps}))
    return (launch.kernel, _shape(launch.grid), _shape(launch.block), str(launch.shared), str(launch.count), *numbers, codes)


def _shape(shape: Shape) -> str:
    return "x".join(map(str, shape))
