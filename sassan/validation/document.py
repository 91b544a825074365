"""The JSON document of `sassan validate`."""

from collections.abc import Sequence

from sassan.estimate.answer import LaunchEstimate
from sassan.fields.field import NONE, Declare, Record
from sassan.fields.kinds import (
    ADDRESS,
    AMOUNT,
    BOUND,
    COUNT,
    EXTENTS,
    FIGURE,
    FLAG,
    NAME,
    SIGNED,
    STRING,
    TEXT,
    array,
    merged,
    nullable,
    one,
    present,
)
from sassan.fields.shared import GAPS, AssumedFields
from sassan.validation.counts import CountCheck, Excess
from sassan.validation.launches import LaunchValidation, ValidationSummary, summary


def measured_us(validation: LaunchValidation) -> float | None:
    """Return the measured microseconds, computed from the cycles and the clock where the recording has no times."""
    return validation.launch.time_ns / 1e3 if validation.launch.time_ns is not None else validation.us(validation.cycles)


def _assumptions(validation: LaunchValidation) -> Sequence[str]:
    analysis = validation.analysis
    if analysis is None or validation.bound is None:
        return ()
    grid = analysis.makespan.grid if analysis.makespan is not None else None
    return tuple(dict.fromkeys((*analysis.wcet.assumptions, *(grid.assumptions if grid is not None else ()))))


def _known(validation: LaunchValidation) -> LaunchEstimate | None:
    return validation.estimate.estimate if validation.estimate is not None else None


def _executions(counts: CountCheck) -> str:
    """Return the result of the check: executions as on the worst path, possible on another path, or impossible."""
    if not counts.checked:
        return NONE
    if not counts.consistent:
        return f"{len(counts.above) or counts.checked} of {counts.checked} impossible"
    if counts.equal == counts.checked:
        return f"{counts.checked} equal"
    return f"{counts.equal} equal, {counts.checked - counts.equal} possible"


def _rounded(value: float | None, digits: int = 0) -> str:
    return NONE if value is None else f"{value:.{digits}f}"


_of_excess, _of, _of_summary = Declare[Excess](), Declare[LaunchValidation](), Declare[ValidationSummary]()


class ExcessFields(Record[Excess]):
    """An instruction that was recorded more often than is possible."""

    address = _of_excess(ADDRESS, "of the instruction")
    recorded = _of_excess(COUNT, "executions that were recorded")
    most = _of_excess(COUNT, "executions that are possible")


class ValidatedBoundFields(Record[LaunchValidation]):
    """The bound of a launch."""

    cycles = _of(present(COUNT), "of the whole grid", lambda each: each.bound, unit="cycles", csv="bound_cycles", head="bound")
    us = _of(FIGURE, "of the whole grid", lambda each: each.us(each.bound), unit="us", csv="bound_us")


class ValidatedEstimateFields(Record[LaunchValidation]):
    """The estimate of a launch."""

    cycles = _of(
        present(AMOUNT),
        "expected time",
        lambda each: each.estimated,
        unit="cycles",
        csv="estimate_cycles",
        after="ratio",
        head="estimate",
        head_after="ratio",
        shown=lambda each: _rounded(each.estimated),
    )
    us = _of(FIGURE, "expected time", lambda each: each.us(each.estimated), unit="us", csv="estimate_us", after="estimate_cycles")
    bound_by = _of(
        TEXT,
        "what explains most of the time",
        lambda each: known.bound_by if (known := _known(each)) is not None else None,
        csv=True,
        after="estimate_us",
    )


class ValidatedFields(Record[LaunchValidation]):
    """A launch that was recorded, and what is known of it."""

    kernel = _of(NAME, "the kernel", lambda each: each.launch.mangled or each.launch.kernel, csv=True, head="kernel", widest=32)
    grid = _of(nullable(EXTENTS), "blocks of the grid, by axis", lambda each: each.launch.grid, csv=True, head="grid")
    block = _of(nullable(EXTENTS), "threads of a block, by axis", lambda each: each.launch.block, csv=True, head="block")
    count = _of(COUNT, "equal launches", lambda each: each.launch.count, csv=True)
    cycles = _of(
        FIGURE, "measured time", unit="cycles", key="measured.cycles", csv=True, head="measured", shown=lambda each: _rounded(each.cycles)
    )
    measured = _of(FIGURE, "measured time", measured_us, unit="us", key="measured.us", csv=True)
    instructions = _of(
        BOUND, "executed by warps, as recorded", lambda each: each.launch.instructions, key="measured.instructions", csv="instructions"
    )
    bound = _of(
        nullable(one(ValidatedBoundFields)),
        "the bound, null where there is none",
        lambda each: each if each.bound is not None else None,
        flat=True,
    )
    estimate = _of(
        nullable(one(ValidatedEstimateFields)),
        "the estimate, null where there is none",
        lambda each: each if _known(each) is not None else None,
        flat=True,
    )
    ratio = _of(FIGURE, "bound over measurement", csv=True, head="ratio", shown=lambda each: _rounded(each.ratio, 2))
    checked = _of(
        COUNT, "instructions whose executions were recorded", lambda each: each.counts.checked, key="counts.checked", csv="checked"
    )
    equal = _of(
        COUNT, "those that run on the worst path as often as recorded", lambda each: each.counts.equal, key="counts.equal", csv="equal"
    )
    above = _of(
        array(one(ExcessFields)),
        "those that were recorded too often; how many, in CSV",
        lambda each: each.counts.above,
        key="counts.above",
        csv="above",
        cell=lambda each: len(each.counts.above),
    )
    consistent = _of(
        FLAG, "whether all counts together are possible", lambda each: each.counts.consistent, key="counts.consistent", csv="consistent"
    )
    why = _of(STRING, "why nothing could be checked; empty where something was", lambda each: each.counts.why, key="counts.why")
    _executions = _of(STRING, "the check of counts", lambda each: _executions(each.counts), key=None, head="executions")
    arguments = _of(FLAG, "whether the arguments of the launch were known")
    gaps = _of(GAPS, "why there is no bound, or no comparison", csv=True, head="gaps")
    _assumed = _of(merged(AssumedFields), "what the bound rests on", _assumptions)


class ValidationSummaryFields(Record[ValidationSummary]):
    """All launches together; ratios are bound over measurement."""

    count = _of_summary(COUNT, "launches that were compared", key="n")
    below = _of_summary(COUNT, "bounds that are below the measurement")
    ratio_median = _of_summary(FIGURE, "median of the ratios")
    mape = _of_summary(FIGURE, "mean absolute error of the bounds, over the measurement")
    tau = _of_summary(SIGNED, "Kendall's rank correlation of bounds and measurements")
    estimate_mape = _of_summary(FIGURE, "mean absolute error of the estimates", key="estimate.mape")
    estimate_tau = _of_summary(SIGNED, "Kendall's rank correlation of estimates and measurements", key="estimate.tau")


class ValidationFields(Record[Sequence[LaunchValidation]]):
    """What `sassan validate` says."""

    launches = Declare[Sequence[LaunchValidation]]()(array(one(ValidatedFields)), "the launches, in order", lambda several: several)
    summary = Declare[Sequence[LaunchValidation]]()(one(ValidationSummaryFields), "all of them", summary)
