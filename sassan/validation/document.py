"""The JSON of `sassan validate` (cli.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from sassan.app import documents
from sassan.validation.launches import LaunchValidation, summary

Document = Mapping[str, object]


def document(validations: Sequence[LaunchValidation]) -> Document:
    """Return the launches and their summary."""
    figures = summary(validations)
    return {
        "launches": [launch(one) for one in validations],
        "summary": {
            "n": figures.count,
            "below": figures.below,
            "ratio_median": figures.ratio_median,
            "mape": figures.mape,
            "tau": figures.tau,
        },
    }


def launch(one: LaunchValidation) -> Document:
    """Return one launch: what was measured, the bound, how the executions of its instructions fit, the gaps."""
    recorded, bound = one.launch, one.bound
    return {
        "kernel": recorded.mangled or recorded.kernel,
        "grid": list(recorded.grid) if recorded.grid is not None else None,
        "block": list(recorded.block) if recorded.block is not None else None,
        "count": recorded.count,
        "measured": {"cycles": one.cycles, "us": _us(one), "instructions": recorded.instructions},
        "bound": {"cycles": bound, "us": one.us(bound)} if bound is not None else None,
        "estimate": None,
        "ratio": one.ratio,
        "counts": {
            "checked": one.counts.checked,
            "equal": one.counts.equal,
            "above": [asdict(excess) | {"address": documents.address(excess.address)} for excess in one.counts.above],
            "consistent": one.counts.consistent,
            "why": one.counts.why,
        },
        "arguments": one.arguments,
        "gaps": documents.gaps(one.gaps),
        "assumptions": list(_assumptions(one)),
    }


def _us(one: LaunchValidation) -> float | None:
    return one.launch.time_ns / 1e3 if one.launch.time_ns is not None else one.us(one.cycles)


def _assumptions(one: LaunchValidation) -> Sequence[str]:
    analysis = one.analysis
    if analysis is None or one.bound is None:
        return ()
    grid = analysis.makespan.grid if analysis.makespan is not None else None
    return tuple(dict.fromkeys((*analysis.wcet.assumptions, *(grid.assumptions if grid is not None else ()))))
