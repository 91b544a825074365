"""The report of `estimate`: time, what binds, the work of a warp per unit, stalls, what it rests on, gaps."""

from collections.abc import Mapping, Sequence

from sassan.app import documents
from sassan.app.documents import address
from sassan.app.estimating import EstimateResult
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports.analysis import list_gaps, microseconds
from sassan.estimate.answer import Estimate

_SHARES = 0.005
_STALLS = 12
"""Stalls that the table shows: the greatest; --json has all."""


def show(results: Sequence[EstimateResult]) -> None:
    """Print the estimate of each kernel."""
    for result in results:
        function, known = result.analysis.function, result.estimate
        out(f"{safe(function.name)} ({function.arch})\n")
        if known is None:
            out("  no estimate: see the gaps\n\n")
            continue
        out(f"  {microseconds(known.us)} us, {known.cycles:.0f} cycles on {safe(known.gpu)}; bound by {known.bound_by}\n")
        shares = sorted(known.shares.items(), key=lambda pair: -pair[1])
        out("  busy or waiting: " + ", ".join(f"{name} {share:.0%}" for name, share in shares if share >= _SHARES) + "\n")
        out(f"  achieved occupancy {known.occupancy:.0%}; {known.assumed:.0%} of the time rests on assumed figures\n")
        out(f"  executions: {known.source.value}\n\n")
        table.show(_work(known))
        out("\n")
        table.show(_stalls(result, known))
        out("\n")
    assumptions.show([text for result in results for text in result.assumptions], every=True)
    list_gaps([(result.analysis.function.name, result.gaps) for result in results])


def _work(known: Estimate) -> Table:
    units = list(known.rows["total"].cycles)
    columns = (Column("path"), *(Column(unit, number=True) for unit in units), Column("bound by"))
    return Table(
        columns,
        tuple((name, *(f"{row.cycles[unit]:.0f}" for unit in units), row.bound_by) for name, row in known.rows.items()),
    )


def _stalls(result: EstimateResult, known: Estimate) -> Table:
    opcodes = {instruction.address: instruction.opcode for instruction in result.analysis.function.instructions}
    greatest = sorted(known.stalls, key=lambda stall: (-stall.share, stall.address))[:_STALLS]
    return Table(
        (Column("address"), Column("instruction", widest=24), Column("stall"), Column("share", number=True)),
        tuple((address(stall.address), opcodes[stall.address], stall.reason.name.lower(), f"{stall.share:.1%}") for stall in greatest),
    )


def row(result: EstimateResult) -> Mapping[str, documents.Value]:
    """Return what the document says of one kernel."""
    return {
        **documents.head(result.analysis),
        "estimate": document(result.estimate) if result.estimate is not None else None,
        **documents.assumptions(result.assumptions),
        "gaps": documents.gaps(result.gaps),
    }


def document(known: Estimate) -> Mapping[str, documents.Value]:
    """Return the keys of an estimate."""
    return {
        "cycles": known.cycles,
        "us": known.us,
        "gpu": known.gpu,
        "bound_by": known.bound_by,
        "shares": dict(known.shares),
        "occupancy": known.occupancy,
        "rows": {name: {**row.cycles, "bound_by": row.bound_by} for name, row in known.rows.items()},
        "stalls": [{"address": address(each.address), "reason": each.reason.name.lower(), "share": each.share} for each in known.stalls],
        "assumed": known.assumed,
        "counts": known.source.value,
    }
