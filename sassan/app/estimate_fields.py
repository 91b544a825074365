"""What is said of an estimate, and of a recorded launch with its bound and its estimate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sassan.app.analysis_fields import UNLIMITED, MakespanFields, WcetFields
from sassan.app.documents import HeadFields
from sassan.app.estimating import EstimateResult, expected_time
from sassan.app.explain import ExplanationFields, explain
from sassan.app.launches import LaunchResult
from sassan.app.registers import PressureFields, registers_of_result
from sassan.app.result import AnalysisResult
from sassan.app.what_if import Alternative
from sassan.estimate.answer import LaunchEstimate, PathRow, StallShare
from sassan.fields.field import NONE, Declare, FieldKind, Record, Value, row
from sassan.fields.kinds import (
    ADDRESS,
    AMOUNT,
    BOUND,
    COUNT,
    EXTENTS,
    FIGURE,
    FLAG,
    MICROSECONDS,
    NAME,
    POSITIVE,
    SHARE,
    STRING,
    TEXT,
    array,
    mapping,
    merged,
    nullable,
    one,
    present,
)
from sassan.fields.shared import GAPS, AssumedFields


class Estimated(NamedTuple):
    """An estimate, and those of changed launches."""

    result: EstimateResult
    changed: Sequence[Alternative] = ()


_of_change, _of_estimated = Declare[Alternative](), Declare[Estimated]()
_of_stall, _of_rows, _of_estimate = Declare[StallShare](), Declare[Mapping[str, PathRow]](), Declare[LaunchEstimate]()


def _resident(analysis: AnalysisResult) -> int | None:
    known = analysis.residency
    return known.occupancy.blocks if known is not None and known.occupancy is not None else None


def _work(row: PathRow) -> Value:
    return {**row.cycles, "bound_by": row.bound_by}


_WORK: FieldKind[PathRow] = FieldKind(
    {"type": "object", "required": ["bound_by"], "properties": {"bound_by": STRING.schema}, "additionalProperties": AMOUNT.schema}, _work
)


class WorkFields(Record[Mapping[str, PathRow]]):
    """The work of a warp, in cycles per unit, and what many such warps would wait for."""

    total = _of_rows(_WORK, "on the path that stands for all", lambda rows: rows["total"])
    shortest = _of_rows(_WORK, "on the shortest path", lambda rows: rows["shortest"])
    longest = _of_rows(_WORK, "on the longest path", lambda rows: rows["longest"])


class StallFields(Record[StallShare]):
    """Where warps wait."""

    address = _of_stall(ADDRESS, "the instruction before which they wait")
    reason = _of_stall(STRING, "for what, by the names of Nsight Compute", lambda stall: stall.reason.name.lower())
    share = _of_stall(SHARE, "of the cycles of all warps")


class EstimateFields(Record[LaunchEstimate]):
    """The expected time of a launch."""

    cycles = _of_estimate(AMOUNT, "expected time of the launch, in cycles", csv="cycles")
    us = _of_estimate(AMOUNT, "expected time of the launch", unit="us", csv="us")
    gpu = _of_estimate(STRING, "the product", csv="gpu", after="what_if")
    bound_by = _of_estimate(STRING, "what explains most of the time", csv="bound_by")
    shares = _of_estimate(mapping(SHARE), "the share of the time in which each resource is busy")
    occupancy = _of_estimate(AMOUNT, "resident warps over the most that the SM holds", csv="occupancy")
    rows = _of_estimate(one(WorkFields), "work of a warp")
    stalls = _of_estimate(array(one(StallFields)), "where warps wait")
    assumed = _of_estimate(SHARE, "the share of the time that rests on guesses", csv="assumed")
    counts = _of_estimate(
        STRING, "where the executions come from: the worst path, or a recording", lambda known: known.source.value, csv="counts"
    )


class TimedLaunch(NamedTuple):
    """A recorded launch, with its estimate, if any."""

    launch: LaunchResult
    expected: EstimateResult | None = None

    @property
    def estimate(self) -> LaunchEstimate | None:
        """The estimate, None where there is none."""
        return self.expected.estimate if self.expected is not None else None

    @property
    def result(self) -> AnalysisResult | None:
        """The analysis, None where the inputs do not hold the kernel, or it cannot be launched."""
        return self.launch.result


_of_bound, _of = Declare[LaunchResult](), Declare[TimedLaunch]()


def _assumptions(launch: LaunchResult) -> tuple[str, ...]:
    makespan = launch.result.makespan if launch.result is not None else None
    grid = makespan.grid if makespan is not None else None
    return (*(grid.assumptions if grid is not None else ()), *launch.assumptions)


class LaunchBoundFields(Record[LaunchResult]):
    """The bound of a recorded launch."""

    cycles = _of_bound(present(COUNT), "bound of the whole grid, in cycles", csv="bound_cycles", head="grid bound")
    us = _of_bound(MICROSECONDS, "bound of the whole grid", unit="us", csv="bound_us", head="us", sparse=True)
    _assumed = _of_bound(merged(AssumedFields), "what the bound rests on", _assumptions)


class LaunchFields(Record[TimedLaunch]):
    """A recorded launch."""

    kernel = _of(
        NAME, "the kernel, as the recording has it", lambda each: each.launch.launch.kernel, csv="kernel", head="kernel", widest=24
    )
    file = _of(STRING, "the file that holds it, empty where none does", lambda each: each.launch.file, csv="file")
    grid = _of(EXTENTS, "blocks of the grid, by axis", lambda each: each.launch.launch.grid, csv="grid", head="grid")
    block = _of(EXTENTS, "threads of a block, by axis", lambda each: each.launch.launch.block, csv="block", head="block")
    shared = _of(
        COUNT, "dynamic shared memory of a block", lambda each: each.launch.launch.shared, unit="bytes", csv="shared", head="shared"
    )
    cluster = _of(nullable(EXTENTS), "blocks of a cluster, by axis", lambda each: each.launch.launch.cluster, head="cluster", sparse=True)
    programmatic = _of(
        FLAG, "whether it may begin before the launch ahead of it in its stream has ended", lambda each: each.launch.launch.programmatic
    )
    tensor_maps = _of(
        array(STRING),
        "the tensor maps among its arguments, with their offsets there",
        lambda each: [f"{offset}: {said}" for offset, said in each.launch.launch.maps],
    )
    count = _of(POSITIVE, "equal launches, one after the other", lambda each: each.launch.launch.count, csv="count", head="count")
    known_bytes = _of(
        COUNT,
        "bytes of device memory that the launch finds as the host wrote them",
        lambda each: each.launch.launch.contents.size if each.launch.launch.contents is not None else 0,
        unit="bytes",
        csv="known_bytes",
        head="known bytes",
        shown=lambda each: str(each.launch.launch.contents.size) if each.launch.launch.contents is not None else "",
    )
    wcet = _of(
        replace(nullable(one(WcetFields)), number=True),
        "the bound of one warp that runs alone",
        lambda each: each.result,
        csv="wcet",
        cell=lambda each: each.launch.wcet,
        head="WCET",
        shown=lambda each: NONE if each.launch.wcet is None else str(each.launch.wcet),
    )
    bound = _of(
        nullable(one(LaunchBoundFields)),
        "the bound of the whole grid, null where there is none",
        lambda each: each.launch if each.launch.cycles is not None else None,
        flat=True,
    )
    estimate = _of(nullable(one(EstimateFields)), "the expected time, null where there is none", lambda each: each.estimate)
    _cycles = _of(FIGURE, "expected time, in cycles", lambda each: expected_time(each.expected).cycles, key=None, csv="estimate_cycles")
    _us = _of(
        MICROSECONDS,
        "expected time",
        lambda each: expected_time(each.expected).us,
        key=None,
        unit="us",
        csv="estimate_us",
        head="estimate us",
    )
    _bound_by = _of(TEXT, "what explains most of the time", lambda each: expected_time(each.expected).bound_by, key=None, csv="bound_by")
    _limit = _of(
        TEXT,
        "what bounds the bandwidth of memory",
        lambda each: None if each.launch.cycles is None else UNLIMITED,
        key=None,
        head="the grid has",
        widest=len(UNLIMITED),
    )
    gaps = _of(GAPS, "everything that forbids a bound", lambda each: each.launch.gaps, csv="gaps", head="gaps")


class ExplainedLaunchFields(Record[TimedLaunch]):
    """What `sassan analyze` says of a recorded launch."""

    _launch = _of(merged(LaunchFields), "the launch, its bound and its estimate", lambda each: each)
    makespan = _of(
        nullable(one(MakespanFields)),
        "the bound of the warps of an SM, with `--schedule`",
        lambda each: each.result if each.result is not None and each.result.makespan is not None else None,
        when=lambda each: each.result is not None,
        optional=True,
    )
    explanation = _of(
        nullable(one(ExplanationFields)),
        "the parts of the bounds, with `--explain`",
        lambda each: explain(each.result) if each.result is not None else None,
        key="explain",
        when=lambda each: each.result is not None,
        optional=True,
    )


class WhatIfFields(Record[Alternative]):
    """A changed launch, or a changed kernel."""

    change = _of_change(STRING, "what is changed", lambda each: str(each.change), csv="what_if", after="file")
    estimate = _of_change(
        nullable(one(EstimateFields)),
        "the expected time then, null where there is none",
        lambda each: each.result.estimate if each.result is not None else None,
    )
    why = _of_change(TEXT, "why there is none", lambda each: each.why or None, csv=True, after="counts")


class EstimatedFields(Record[Estimated]):
    """What `sassan estimate` says of one function."""

    _head = _of_estimated(merged(HeadFields), "the function", lambda each: each.result.analysis)
    estimate = _of_estimated(
        nullable(one(EstimateFields)), "the expected time, null where there is none", lambda each: each.result.estimate, flat=True
    )
    _blocks = _of_estimated(
        BOUND, "resident on an SM", lambda each: _resident(each.result.analysis), key=None, csv="blocks_per_sm", after="occupancy"
    )
    live_registers = _of_estimated(
        nullable(one(PressureFields)),
        "the registers in use, null where they are unknown",
        lambda each: registers_of_result(each.result.analysis),
    )
    _assumed = _of_estimated(merged(AssumedFields), "what the estimate rests on", lambda each: each.result.assumptions)
    gaps = _of_estimated(GAPS, "why there is no estimate", lambda each: each.result.gaps, csv=True)
    what_if = _of_estimated(
        array(one(WhatIfFields)), "changed launches, with `--what-if`", lambda each: each.changed, when=lambda each: bool(each.changed)
    )


def rows(each: Estimated) -> Iterator[Mapping[str, object]]:
    """Yield the row of a kernel in CSV, then one for each changed launch of it."""
    yield row(EstimatedFields, each)
    for changed in each.changed:
        known = row(HeadFields, each.result.analysis) if changed.result is None else row(EstimatedFields, Estimated(changed.result))
        yield {**known, **row(WhatIfFields, changed)}
