"""The report of `estimate`: time, what binds, the work of a warp per unit, stalls, what it rests on, gaps."""

from collections.abc import Sequence

from sassan.app.estimating import EstimateResult
from sassan.app.registers import registers_of_result, sentences
from sassan.app.what_if import SAME_CODE, Alternative
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports.analysis import title
from sassan.cli.reports.gaps import list_gaps
from sassan.estimate.answer import LaunchEstimate
from sassan.fields.field import NONE
from sassan.fields.kinds import address, microseconds

_SHARES = 0.005
_STALLS = 12
"""Stalls that the table shows: the greatest; --json has all."""


def show(results: Sequence[EstimateResult], others: Sequence[Sequence[Alternative]]) -> None:
    """Print the estimate of each kernel, and those of the changed launches beside it."""
    for result, changed in zip(results, others, strict=True):
        details(result)
        if changed and result.estimate is not None:
            table.show(_changed(result, result.estimate, changed))
            for each in changed:
                if each.why:
                    out(f"{each.change}: {safe(each.why)}\n")
            out("\n")
    texts = [text for result in results for text in result.assumptions]
    assumptions.show([*texts, *([SAME_CODE] if any(others) and texts else ())], every=True)
    list_gaps([(result.analysis.function.name, result.gaps) for result in results])


def details(result: EstimateResult) -> None:
    """Print the estimate of one kernel without what it rests on."""
    function, known = result.analysis.function, result.estimate
    out(f"{title(function, result.analysis.settings.launch)}\n")
    if known is None:
        out("  no estimate: see the gaps\n\n")
        return
    out(f"  {microseconds(known.us)} us, {known.cycles:.0f} cycles on {safe(known.gpu)}; bound by {known.bound_by}\n")
    shares = sorted(known.shares.items(), key=lambda pair: -pair[1])
    out("  busy or waiting: " + ", ".join(f"{name} {share:.0%}" for name, share in shares if share >= _SHARES) + "\n")
    out(f"  achieved occupancy {known.occupancy:.0%}; {known.assumed:.0%} of the time rests on assumed figures\n")
    out(f"  executions: {known.source.value}\n")
    known_registers = registers_of_result(result.analysis)
    for text in sentences(known_registers) if known_registers is not None else ():
        out(f"  {text}\n")
    out("\n")
    table.show(_work(known))
    out("\n")
    table.show(_stalls(result, known))
    out("\n")


def _changed(result: EstimateResult, known: LaunchEstimate, changed: Sequence[Alternative]) -> Table:
    columns = (Column("what if"), Column("us", number=True), Column("change", number=True), Column("occupancy", number=True))
    rows = [("as given", microseconds(known.us), NONE, f"{known.occupancy:.0%}", _residents(result), known.bound_by)]
    for each in changed:
        other = each.result.estimate if each.result is not None else None
        if each.result is None or other is None:
            rows.append((str(each.change), NONE, NONE, NONE, NONE, NONE))  # the reason follows the table
        else:
            change = f"{other.us / known.us - 1:+.1%}"
            rows.append(
                (str(each.change), microseconds(other.us), change, f"{other.occupancy:.0%}", _residents(each.result), other.bound_by)
            )
    return Table((*columns, Column("blocks per SM", number=True), Column("bound by")), tuple(rows))


def _residents(result: EstimateResult) -> str:
    residency = result.analysis.residency
    return NONE if residency is None or residency.occupancy is None else str(residency.occupancy.blocks)


def _work(known: LaunchEstimate) -> Table:
    units = list(known.rows["total"].cycles)
    columns = (Column("path"), *(Column(unit, number=True) for unit in units), Column("bound by"))
    return Table(
        columns,
        tuple((name, *(f"{row.cycles[unit]:.0f}" for unit in units), row.bound_by) for name, row in known.rows.items()),
    )


def _stalls(result: EstimateResult, known: LaunchEstimate) -> Table:
    opcodes = {instruction.address: instruction.opcode for instruction in result.analysis.function.instructions}
    greatest = sorted(known.stalls, key=lambda stall: (-stall.share, stall.address))[:_STALLS]
    return Table(
        (Column("address"), Column("instruction", widest=24), Column("stall"), Column("share", number=True)),
        tuple((address(stall.address), opcodes[stall.address], stall.reason.name.lower(), f"{stall.share:.1%}") for stall in greatest),
    )
