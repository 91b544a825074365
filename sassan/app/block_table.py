"""The blocks of a function: what each costs, how often the worst path executes it, and its share of the WCET."""

from collections.abc import Mapping
from dataclasses import dataclass

from sassan.app import documents
from sassan.app.memory import line_of
from sassan.app.result import AnalysisResult
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
            documents.string(letters),
            shown,
            count,
            (count * cost / wcet.value if wcet.value else 0.0) if count is not None else None,
        )
        for node, letters, shown, cost, count in zip(cfg.nodes, result.strings, problem.known_costs, problem.costs, counts, strict=True)
    )


def document(row: BlockRow) -> Mapping[str, documents.Value]:
    """Return the keys of a block."""
    return {
        "address": documents.address(row.start),
        "end": documents.address(row.end),
        "context": [documents.address(site) for site in row.context],
        "source": {"file": row.source.file, "line": row.source.line} if row.source is not None else None,
        "instructions": row.instructions,
        "string": row.string,
        "cost": row.cost,
        "executions": row.executions,
        "share": row.share,
    }
