"""The blocks of a function: what each costs, how often the worst path executes it, and its share of the WCET."""

from dataclasses import dataclass

from sassan.app.documents import HeadFields
from sassan.app.memory import line_of
from sassan.app.result import AnalysisResult
from sassan.fields.field import NONE, Declare, Record
from sassan.fields.kinds import ADDRESS, BOUND, COUNT, LINE, SHARE, TEXT, array, merged, nullable, one
from sassan.fields.shared import GAPS
from sassan.ipet.sm.optima import out_of
from sassan.ir import SourceLine


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A node of the warp-level graph. `cost` is one execution in cycles of the cost model, None where a gap forbids it.

    `executions` are those of one warp on the worst path, None where there is none; `share` is the part of the WCET, from 0 to 1.
    """

    start: int
    end: int
    context: tuple[int, ...]
    source: SourceLine | None
    instructions: int
    string: str | None
    cost: int | None
    executions: int | None
    share: float | None


def rows(result: AnalysisResult) -> tuple[BlockRow, ...]:
    """Return the blocks of a function in the order of the graph."""
    cfg, problem, wcet = result.cfg, result.problem, result.wcet
    known = wcet.bound and wcet.value is not None and bool(wcet.counts)
    counts = out_of(cfg, wcet.counts) if known else (None,) * len(cfg.nodes)
    return tuple(
        BlockRow(
            node.start,
            node.end,
            node.context,
            line_of(result.function, node.start),
            len(node.code),
            None if letters is None else str(letters),
            shown,
            count,
            (count * cost / wcet.value if wcet.value else 0.0) if count is not None else None,
        )
        for node, letters, shown, cost, count in zip(cfg.nodes, result.strings, problem.known_costs, problem.costs, counts, strict=True)
    )


_of_block, _of = Declare[BlockRow](), Declare[AnalysisResult]()


class BlockFields(Record[BlockRow]):
    """A block of the graph."""

    start = _of_block(ADDRESS, "its first instruction", key="address", csv="address", head="address")
    end = _of_block(ADDRESS, "its last instruction", csv="end")
    context = _of_block(array(ADDRESS), "call sites that lead to it", csv="context")
    source = _of_block(LINE, "the line that its first instruction was made from", csv="source", head="line")
    instructions = _of_block(COUNT, "how many it has", csv="instructions", head="instr")
    string = _of_block(TEXT, "its kernel string", csv="string", head="string", head_after="share", shown=lambda row: row.string or "?")
    cost = _of_block(BOUND, "of one execution, in cycles of the cost model", csv="cost", head="cost")
    executions = _of_block(BOUND, "by one warp on the worst path, null where there is none", csv="executions", head="executions")
    share = _of_block(
        nullable(SHARE),
        "of the WCET, from 0 to 1",
        csv="share",
        head="share",
        shown=lambda row: NONE if row.share is None else f"{row.share:.1%}",
    )


class BlocksFields(Record[AnalysisResult]):
    """What `sassan blocks` says of one function."""

    _head = _of(merged(HeadFields), "the function", lambda result: result)
    gaps = _of(GAPS, "everything that forbids a bound, by address")
    blocks = _of(array(one(BlockFields)), "in the order of the graph", rows)
