"""What JSON says of an analysis (docs/reference/json.md): keys are stable, more may stand beside them, an unknown number is null.

The command line, the library, batches, gates and integrations write them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from sassan import __version__
from sassan.app.fingerprint import settings_of
from sassan.assumptions import kinds
from sassan.names import readable

if TYPE_CHECKING:
    from sassan.app.estimating import EstimateResult
    from sassan.app.launches import LaunchResult
    from sassan.app.result import AnalysisResult
    from sassan.app.settings import Settings
    from sassan.errors import Gap, SassanError
    from sassan.estimate.answer import Estimate
    from sassan.ipet.sm.makespan import Makespan
    from sassan.ipet.sm.residency import Residency
    from sassan.ir import Function
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


def gaps(several: Sequence["Gap"]) -> Sequence[Value]:
    """Return the list of gaps."""
    return [{"code": gap.code, "address": address(gap.address), "message": gap.message} for gap in several]


def assumptions(texts: Sequence[str]) -> Mapping[str, Value]:
    """Return the keys of what a number rests on: the texts, and beside each what backs it."""
    return {"assumptions": list(texts), "assumption_kinds": kinds(texts)}


def head(result: "AnalysisResult") -> Mapping[str, Value]:
    """Return the keys with which every function begins; those of one of several launches say which."""
    return {**function_head(result.function, result.file), **recorded(result.settings)}


def recorded(settings: "Settings") -> Mapping[str, Value]:
    """Return the key of one of several recorded launches, nothing for another one."""
    launch = settings.launch
    if not launch.recorded:
        return {}
    return {"launch": {"grid": list(launch.grid or ()), "block": list(launch.block or ())}}


def function_head(function: "Function", file: str) -> Mapping[str, Value]:
    """Return the keys of a function of a file: its name as the input has it, and as the source has it."""
    return {"name": function.name, "demangled": readable(function.name), "arch": function.arch, "file": file}


def analysis(result: "AnalysisResult") -> Mapping[str, Value]:
    """Return what `analyze` says of one function."""
    targets: dict[str, Value] = {address(at): [address(to) for to in targets] for at, targets in result.cfg.token_targets}
    return {
        **head(result),
        "instructions": len(result.function.instructions),
        "blocks": len(result.cfg.nodes),
        "edges": len(result.cfg.edges),
        "registers": result.function.registers,
        "text": result.function.text_hash,
        "settings": settings_of(result),
        "divergent_branches": result.divergent_branches,
        "reactivation_edges": result.reactivation_edges,
        "token_targets": targets,
        "strings": {"worst_path": string(result.worst_path)},
        "wcet": wcet(result),
        "makespan": makespan(result.makespan, lower(result)),
        "occupancy": _occupancy(result.residency),
        "grid": _grid(result),
        "paths": _paths(result),
        "loops": loops(result),
        "gaps": gaps(result.gaps),
    }


def launch(result: "LaunchResult", expected: "EstimateResult | None" = None) -> Mapping[str, Value]:
    """Return what is known of one recorded launch, with its estimate, if any; microseconds need a product."""
    recorded = result.launch
    return {
        "kernel": recorded.kernel,
        "file": result.file,
        "grid": list(recorded.grid),
        "block": list(recorded.block),
        "shared": recorded.shared,
        "count": recorded.count,
        "wcet": wcet(result.result) if result.result is not None else None,
        "bound": {"cycles": result.cycles, "us": result.us, **assumptions(_of_grid(result))} if result.cycles is not None else None,
        "estimate": estimate(expected.estimate) if expected is not None and expected.estimate is not None else None,
        "gaps": gaps(result.gaps),
    }


def estimate(known: "Estimate") -> Mapping[str, Value]:
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


def _of_grid(result: "LaunchResult") -> list[str]:
    makespan = result.result.makespan if result.result is not None else None
    grid = makespan.grid if makespan is not None else None
    return [*(grid.assumptions if grid is not None else ()), *result.assumptions]


def loops(result: "AnalysisResult") -> Sequence[Value]:
    """Return the loops with their bounds, where each bound comes from, and the argument of an inferred one."""
    nodes, bounds = result.cfg.nodes, result.bounds
    rows = zip(result.cfg.loops, bounds.of_loop, bounds.origins, bounds.reasons, strict=True)
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


def string(letters: "KernelString | None") -> str | None:
    """Return the printed form of a string, None where it is not known."""
    return None if letters is None else str(letters)


def wcet(result: "AnalysisResult") -> Value:
    """Return the bound of the execution time, with what it rests on; the result of an experiment, which is none, has its own key."""
    bound = result.wcet
    common: dict[str, Value] = {"model": bound.model, **assumptions(bound.assumptions), "proof": bound.proof, "note": bound.note}
    if not bound.bound:
        return {"value": None, "status": "experiment", "experiment": bound.value} | common
    return {"value": bound.value, "status": bound.status} | common


def lower(result: "AnalysisResult") -> int | None:
    """Return the cycles of a schedule of the warps of a result, None where none was made."""
    return result.scheduled.cycles if result.scheduled is not None else None


def makespan(bounds: "Makespan | None", lower: int | None = None) -> Value:
    """Return the bounds of the warps on an SM over all paths, None where it is not requested; `lower`: what a schedule of them takes."""
    if bounds is None:
        return None
    common = {"warps": bounds.residents.warps, "lower": lower, "upper": bounds.bound.value, **assumptions(bounds.bound.assumptions)}
    if bounds.partition is None:
        return common
    return common | {"partition": {"upper": bounds.partition.value, **assumptions(bounds.partition.assumptions)}}


def _occupancy(residency: "Residency | None") -> Value:
    """Return how many blocks are resident on an SM, None where no launch is given; `why` says why there is no number."""
    if residency is None:
        return None
    known = residency.occupancy
    if known is None:
        return {"blocks": None, "warps": None, "why": residency.why}
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
        **assumptions(known.assumptions),
    }


def _grid(result: "AnalysisResult") -> Value:
    bounds, gpu = result.makespan, result.settings.gpu
    if bounds is None or bounds.grid is None or bounds.residents.grid is None:
        return None
    grid = bounds.residents.grid
    return {
        "blocks": grid.blocks,
        "sms": grid.sms,
        "resident": grid.places,
        "upper": bounds.grid.value,
        "us": result.grid_us,
        "gpu": gpu.name if gpu is not None else None,
        "terms": {name: float(cycles) for name, cycles in asdict(bounds.terms).items()} if bounds.terms is not None else None,
        **assumptions(bounds.grid.assumptions),
    }


def _paths(result: "AnalysisResult") -> Sequence[Value]:
    if result.worst_path is None:
        return []
    upper = result.makespan.worst_path if result.makespan else None
    return [{"string": str(result.worst_path), "cost": result.wcet.value, "makespan": {"lower": lower(result), "upper": upper}}]


def refusal(file: str, error: "SassanError") -> Mapping[str, Value]:
    """Return the entry of a file that was refused."""
    place: dict[str, Value] = {"line": error.span.line, "column": error.span.column} if error.span else {}
    return {"file": file, "code": error.code, "message": error.message, "hint": error.hint} | place
