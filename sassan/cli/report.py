"""The report of `analyze` and `ipet`: a table of numbers, the worst paths, the assumptions, the gaps."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sassan.cli import table
from sassan.cli.document import address
from sassan.cli.table import Column, Table
from sassan.cli.terminal import middle, out, safe

if TYPE_CHECKING:
    from sassan.cli.inputs import Result
    from sassan.errors import Gap
    from sassan.pipeline import Analysis

NAME = Column("function", widest=24)
NONE = "-"
"""Stands where no number can be given."""


def show(results: Sequence["Result"], warps: int | None) -> None:
    """Print the report of `analyze`."""
    if not results:
        return
    _numbers(results, warps)
    paths(results)
    assumptions(results)
    gaps(results)


def _numbers(results: Sequence["Result"], warps: int | None) -> None:
    columns = [
        NAME,
        Column("arch"),
        Column("instr", number=True),
        Column("blocks", number=True),
        Column("div", number=True),
        Column("react", number=True),
        Column("WCET" if all(one.analysis.wcet.bound for one in results) else "(not a bound)", number=True),
    ]
    if warps is not None:
        columns.append(Column(f"{warps} warps", number=True))
    rows = [_row(one.analysis, warps) for one in results]
    table.show(Table(tuple(columns), tuple(rows)))


def _row(analysis: "Analysis", warps: int | None) -> tuple[str, ...]:
    numbers = (len(analysis.function.instructions), len(analysis.cfg.nodes), analysis.divergent_branches, analysis.reactivation_edges)
    bounds = [analysis.wcet.value] if warps is None else [analysis.wcet.value, analysis.makespan.bound.value if analysis.makespan else None]
    shown = (NONE if one is None else str(one) for one in bounds)
    return (analysis.function.name, analysis.function.arch, *map(str, numbers), *shown)


def paths(results: Sequence["Result"]) -> None:
    """Print the string of each worst path, or why there is none."""
    columns = (NAME, Column("worst path, or gaps"))
    rows = tuple((one.analysis.function.name, str(one.analysis.worst_path or _codes(one.analysis))) for one in results)
    _section()
    table.show(Table(columns, rows))


def _codes(analysis: "Analysis") -> str:
    if not analysis.gaps:
        return f"({analysis.wcet.note or analysis.wcet.status})"
    count = Counter(gap.code for gap in analysis.gaps)
    return "gaps: " + ", ".join(f"{number} {code}" for code, number in sorted(count.items()))


def assumptions(results: Sequence["Result"]) -> None:
    """Print what the numbers above rest on, each assumption once; one that not every function needs names those that do."""
    users: dict[str, list[str]] = {}
    for one in results:
        for text in _assumed(one.analysis):
            users.setdefault(text, []).append(one.analysis.function.name)
    if not users:
        return
    bounded = sum(bool(_assumed(one.analysis)) for one in results)
    _section("assumptions:")
    for text, names in users.items():
        only = "" if len(names) == bounded else f" ({_some(names)})"
        out(f"  - {safe(text + only)}\n")


def _assumed(analysis: "Analysis") -> tuple[str, ...]:
    """Return what the numbers of one function rest on; where there is none, nothing is assumed."""
    wcet = analysis.wcet.assumptions if analysis.wcet.value is not None else ()
    makespan = analysis.makespan.bound.assumptions if analysis.makespan and analysis.makespan.bound.value is not None else ()
    return tuple(dict.fromkeys((*wcet, *makespan)))


def _some(names: Sequence[str]) -> str:
    first = middle(names[0], 30)
    return first if len(names) == 1 else f"{first} and {len(names) - 1} more"


def gaps(results: Sequence["Result"]) -> None:
    """Print every gap with its address; nothing of its message is cut."""
    list_gaps([(one.analysis.function.name, one.analysis.gaps) for one in results])


def list_gaps(found: Sequence[tuple[str, "tuple[Gap, ...]"]]) -> None:
    """Print the gaps of each function, under its name."""
    if not any(some for _, some in found):
        return
    _section("gaps:")
    for name, some in found:
        for gap in some:
            out(f"  {middle(safe(name), 30)} {address(gap.address)} {gap.code}: {safe(gap.message)}\n")


def _section(title: str = "") -> None:
    out("\n" + (f"{title}\n" if title else ""))
