"""The JSON document of `sassan validate`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from sassan.app import documents
from sassan.validation.launches import LaunchValidation, summary

Document = Mapping[str, object]


def document(validations: Sequence[LaunchValidation]) -> Document:
    """Return the launches and their summary."""
    figures = summary(validations)
    return {
        "launches": [launch(validation) for validation in validations],
        "summary": {
            "n": figures.count,
            "below": figures.below,
            "ratio_median": figures.ratio_median,
            "mape": figures.mape,
            "tau": figures.tau,
            "estimate": {"mape": figures.estimate_mape, "tau": figures.estimate_tau},
        },
    }


def launch(validation: LaunchValidation) -> Document:
    """Return a launch: measurements, bound, the check of its instruction counts, and gaps."""
    recorded, bound = validation.launch, validation.bound
    return {
        "kernel": recorded.mangled or recorded.kernel,
        "grid": list(recorded.grid) if recorded.grid is not None else None,
        "block": list(recorded.block) if recorded.block is not None else None,
        "count": recorded.count,
        "measured": {"cycles": validation.cycles, "us": measured_us(validation), "instructions": recorded.instructions},
        "bound": {"cycles": bound, "us": validation.us(bound)} if bound is not None else None,
        "estimate": _estimate(validation),
        "ratio": validation.ratio,
        "counts": {
            "checked": validation.counts.checked,
            "equal": validation.counts.equal,
            "above": [asdict(excess) | {"address": documents.address(excess.address)} for excess in validation.counts.above],
            "consistent": validation.counts.consistent,
            "why": validation.counts.why,
        },
        "arguments": validation.arguments,
        "gaps": documents.gaps(validation.gaps),
        **documents.assumptions(_assumptions(validation)),
    }


def _estimate(validation: LaunchValidation) -> Document | None:
    known = validation.estimate.estimate if validation.estimate is not None else None
    return {"cycles": known.cycles, "us": validation.us(known.cycles), "bound_by": known.bound_by} if known is not None else None


def measured_us(validation: LaunchValidation) -> float | None:
    """Return the measured microseconds, computed from the cycles and the clock where the recording has no times."""
    return validation.launch.time_ns / 1e3 if validation.launch.time_ns is not None else validation.us(validation.cycles)


def _assumptions(validation: LaunchValidation) -> Sequence[str]:
    analysis = validation.analysis
    if analysis is None or validation.bound is None:
        return ()
    grid = analysis.makespan.grid if analysis.makespan is not None else None
    return tuple(dict.fromkeys((*analysis.wcet.assumptions, *(grid.assumptions if grid is not None else ()))))
