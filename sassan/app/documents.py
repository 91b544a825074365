"""What the JSON documents of cli.md say of an analysis: keys are stable, more may stand beside them, an unknown number is null.

The command line, the library, batches, gates and integrations write them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sassan import __version__

if TYPE_CHECKING:
    from sassan.app.launches import LaunchResult
    from sassan.app.result import AnalysisResult
    from sassan.errors import Gap, SassanError
    from sassan.ipet.sm.makespan import Makespan
    from sassan.ipet.sm.residency import Residency
    from sassan.strings.kernel_string import KernelString

Value = str | int | float | bool | None | Sequence["Value"] | Mapping[str, "Value"]
"""What JSON can hold."""

SCHEMA = 1


def tool() -> Mapping[str, Value]:
    """Return the keys with which every document begins."""
    return {"schema": SCHEMA, "tool": {"name": "sassan", "version": __version__}}


def address(value: int) -> str:
    """Return the spelling of an address in every document and table."""
    return f"0x{value:04x}"


def gaps(found: Sequence["Gap"]) -> Sequence[Value]:
    """Return the list of gaps."""
    return [{"code": gap.code, "address": address(gap.address), "message": gap.message} for gap in found]


def head(one: "AnalysisResult") -> Mapping[str, Value]:
    """Return the keys with which every function begins."""
    return {"name": one.function.name, "arch": one.function.arch, "file": one.file}


def analysis(one: "AnalysisResult") -> Mapping[str, Value]:
    """Return what `analyze` says of one function."""
    targets: dict[str, Value] = {address(at): [address(to) for to in targets] for at, targets in one.cfg.token_targets}
    return {
        **head(one),
        "instructions": len(one.function.instructions),
        "blocks": len(one.cfg.nodes),
        "edges": len(one.cfg.edges),
        "registers": one.function.registers,
        "text": one.function.text_hash,
        "divergent_branches": one.divergent_branches,
        "reactivation_edges": one.reactivation_edges,
        "token_targets": targets,
        "strings": {"worst_path": string(one.worst_path)},
        "wcet": wcet(one),
        "makespan": makespan(one.makespan),
        "occupancy": _occupancy(one.residency),
        "grid": _grid(one.makespan),
        "paths": _paths(one),
        "loops": loops(one),
        "gaps": gaps(one.gaps),
    }


def launch(one: "LaunchResult") -> Mapping[str, Value]:
    """Return what is known of one recorded launch; microseconds and estimates need a product."""
    recorded = one.launch
    return {
        "kernel": recorded.kernel,
        "file": one.file,
        "grid": list(recorded.grid),
        "block": list(recorded.block),
        "shared": recorded.shared,
        "count": recorded.count,
        "wcet": wcet(one.result) if one.result is not None else None,
        "bound": {"cycles": one.cycles, "us": None, "assumptions": _of_grid(one)} if one.cycles is not None else None,
        "estimate": None,
        "gaps": gaps(one.gaps),
    }


def _of_grid(one: "LaunchResult") -> list[Value]:
    makespan = one.result.makespan if one.result is not None else None
    grid = makespan.grid if makespan is not None else None
    return [*(grid.assumptions if grid is not None else ()), *one.assumptions]


def loops(one: "AnalysisResult") -> Sequence[Value]:
    """Return the loops with their bounds, where each bound comes from, and the argument of an inferred one."""
    nodes, bounds = one.cfg.nodes, one.bounds
    rows = zip(one.cfg.loops, bounds.of_loop, bounds.origins, bounds.reasons, strict=True)
    return [
        {
            "head": address(nodes[loop.head].start),
            "context": [address(site) for site in nodes[loop.head].context],
            "bound": bound,
            "source": origin.value,
            "reason": reason,
        }
        for loop, bound, origin, reason in rows
    ]


def string(one: "KernelString | None") -> str | None:
    """Return the printed form of a string, None where it is not known."""
    return None if one is None else str(one)


def wcet(one: "AnalysisResult") -> Value:
    """Return the bound of the execution time, with what it rests on; the result of an experiment, which is none, has its own key."""
    found = one.wcet
    common: dict[str, Value] = {"model": found.model, "assumptions": list(found.assumptions), "proof": found.proof, "note": found.note}
    if not found.bound:
        return {"value": None, "status": "experiment", "experiment": found.value} | common
    return {"value": found.value, "status": found.status} | common


def makespan(found: "Makespan | None") -> Value:
    """Return the bounds of the warps on an SM over all paths, None where it is not requested."""
    if found is None:
        return None
    common = {"warps": found.residents.warps, "lower": None, "upper": found.bound.value, "assumptions": list(found.bound.assumptions)}
    if found.partition is None:
        return common
    return common | {"partition": {"upper": found.partition.value, "assumptions": list(found.partition.assumptions)}}


def _occupancy(found: "Residency | None") -> Value:
    """Return how many blocks are resident on an SM, None where no launch is given; `why` says why there is no number."""
    if found is None:
        return None
    known = found.occupancy
    if known is None:
        return {"blocks": None, "warps": None, "why": found.why}
    return {
        "blocks": known.blocks,
        "warps": known.warps,
        "block_warps": known.block_warps,
        "threads": known.demand.threads,
        "registers": known.demand.registers,
        "shared": known.demand.shared,
        "barriers": known.demand.barriers,
        "limits": dict(known.limits),
        "limited_by": list(known.limited_by),
        "assumptions": list(known.assumptions),
    }


def _grid(found: "Makespan | None") -> Value:
    if found is None or found.grid is None or found.residents.grid is None:
        return None
    grid = found.residents.grid
    return {
        "blocks": grid.blocks,
        "sms": grid.sms,
        "resident": grid.places,
        "upper": found.grid.value,
        "assumptions": list(found.grid.assumptions),
    }


def _paths(one: "AnalysisResult") -> Sequence[Value]:
    if one.worst_path is None:
        return []
    upper = one.makespan.worst_path if one.makespan else None
    return [{"string": str(one.worst_path), "cost": one.wcet.value, "makespan": {"lower": None, "upper": upper}}]


def refusal(file: str, error: "SassanError") -> Mapping[str, Value]:
    """Return the entry of a file that was refused."""
    place: dict[str, Value] = {"line": error.span.line, "column": error.span.column} if error.span else {}
    return {"file": file, "code": error.code, "message": error.message, "hint": error.hint} | place
