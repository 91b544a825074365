"""What is said of one function that was analyzed: in documents, in CSV, in the table, in the library."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from sassan.app.documents import HeadFields
from sassan.app.fingerprint import settings_of
from sassan.app.result import AnalysisResult, Loop
from sassan.fields.field import NONE, Declare, FieldKind, Record
from sassan.fields.kinds import (
    ADDRESS,
    AMOUNT,
    BOUND,
    COUNT,
    HASH,
    MICROSECONDS,
    POSITIVE,
    STRING,
    TEXT,
    address,
    array,
    choice,
    mapping,
    merged,
    nullable,
    one,
    present,
)
from sassan.fields.shared import GAPS, MODEL, TARGETS, AssumedFields
from sassan.ipet.flow_facts import Origin

if TYPE_CHECKING:
    from sassan.ipet.sm.optima import Bound
    from sassan.ipet.sm.residency import Residency
    from sassan.machine.occupancy import Occupancy

_of, _of_loop = Declare[AnalysisResult](), Declare[Loop]()
_of_bound: "Declare[Bound]" = Declare()
_of_residency: "Declare[Residency]" = Declare()
_of_occupancy: "Declare[Occupancy]" = Declare()

UNLIMITED = "unlimited memory bandwidth"
"""What the grid has where no product is named: its bound is none on a GPU whose memory is the bottleneck."""
SETTINGS: FieldKind[Mapping[str, str]] = FieldKind(
    {"type": "object", "required": ["model", "order", "letters", "tables"], "additionalProperties": STRING.schema}, dict
)
_TERMS: FieldKind[Mapping[str, float] | None] = nullable(
    FieldKind({"type": "object", "required": ["chain", "sm", "memory", "drain", "launch"], "additionalProperties": AMOUNT.schema}, dict)
)


def _interval(result: AnalysisResult) -> str:
    known = result.makespan.bound.value if result.makespan is not None else None
    upper = NONE if known is None else str(known)
    lower = result.scheduled.cycles if result.scheduled is not None else None
    return upper if lower is None else f"{lower}..{upper}"


def _occupancy(known: "Residency") -> "Occupancy":
    assert known.occupancy is not None
    return known.occupancy


def _terms(result: AnalysisResult) -> Mapping[str, float] | None:
    terms = result.makespan.terms if result.makespan is not None else None
    return {name: float(cycles) for name, cycles in asdict(terms).items()} if terms is not None else None


class LoopFields(Record[Loop]):
    """A loop, once for each call context."""

    head = _of_loop(ADDRESS, "address of its header")
    context = _of_loop(array(ADDRESS), "call sites that lead to it")
    bound = _of_loop(BOUND, "the most back edges that one thread takes per entry")
    source = _of_loop(choice(*Origin), "where the bound comes from")
    reason = _of_loop(STRING, "the argument of an inferred bound")


class WcetFields(Record[AnalysisResult]):
    """The bound of one warp that runs alone."""

    wcet = _of(
        BOUND,
        "bound of one warp that runs alone, in cycles of the cost model, or instructions for `unit`",
        lambda result: result.wcet.value if result.wcet.bound else None,
        key="value",
        csv="wcet",
        head="WCET",
        shown=lambda result: NONE if result.wcet.value is None else str(result.wcet.value),
    )
    status = _of(
        choice("optimal", "infeasible", "unbounded", "unproven", "unsolved", "gaps", "experiment"),
        "what the solver found, `gaps` where there is nothing to solve, `experiment` of a number that is not a bound",
        lambda result: result.wcet.status if result.wcet.bound else "experiment",
    )
    experiment = _of(
        BOUND,
        "the number of an experiment, which is not a bound",
        lambda result: result.wcet.value,
        when=lambda result: not result.wcet.bound,
    )
    model = _of(MODEL, "cost model of the bound", lambda result: result.wcet.model, csv="model")
    _assumed = _of(merged(AssumedFields), "what the bound rests on", lambda result: result.wcet.assumptions)
    proof = _of(STRING, "how the optimum was proved, such as `dual`; empty without a proof", lambda result: result.wcet.proof)
    note = _of(STRING, "a remark on the path; empty without one", lambda result: result.wcet.note)


class PartitionFields(Record["Bound"]):
    """The bound in the partition model."""

    upper = _of_bound(BOUND, "no path takes longer", lambda bound: bound.value, unit="cycles of the cost model")
    _assumed = _of_bound(merged(AssumedFields), "what the bound rests on", lambda bound: bound.assumptions)


class MakespanFields(Record[AnalysisResult]):
    """The bound of the warps that share an SM, over all paths."""

    warps = _of(
        present(POSITIVE),
        "how many warps share the SM",
        lambda result: result.makespan.residents.warps if result.makespan is not None else None,
        csv="warps",
    )
    schedule = _of(
        BOUND,
        "what a schedule of the warps takes, with `--schedule`",
        lambda result: result.scheduled.cycles if result.scheduled is not None else None,
        unit="cycles of the cost model",
        key="lower",
        csv="schedule",
    )
    makespan = _of(
        BOUND,
        "bound of the warps that were asked for, or are resident, on one SM over all paths",
        lambda result: result.makespan.bound.value if result.makespan is not None else None,
        unit="cycles of the cost model",
        key="upper",
        csv="makespan",
        head="full SM",
        shown=_interval,
    )
    _assumed = _of(
        merged(AssumedFields),
        "what the bound rests on",
        lambda result: result.makespan.bound.assumptions if result.makespan is not None else (),
    )
    partition = _of(
        present(one(PartitionFields)),
        "the bound in the partition model, where it is asked for",
        lambda result: result.makespan.partition if result.makespan is not None else None,
        when=lambda result: result.makespan is not None and result.makespan.partition is not None,
    )


class KnownOccupancyFields(Record["Occupancy"]):
    """The blocks that are resident on an SM, and why no more are."""

    block_warps = _of_occupancy(COUNT, "warps of a block")
    threads = _of_occupancy(COUNT, "threads of a block", lambda known: known.demand.threads)
    registers = _of_occupancy(COUNT, "registers of a block", lambda known: known.demand.registers)
    shared = _of_occupancy(COUNT, "shared memory of a block", lambda known: known.demand.shared, unit="bytes")
    barriers = _of_occupancy(COUNT, "barriers of a block", lambda known: known.demand.barriers)
    limits = _of_occupancy(mapping(BOUND), "how many blocks each resource allows; null where the block uses none of it")
    limited_by = _of_occupancy(array(STRING), "the resources that allow the fewest")
    _assumed = _of_occupancy(merged(AssumedFields), "what the occupancy rests on", lambda known: known.assumptions)


class OccupancyFields(Record["Residency"]):
    """How many blocks are resident on an SM, or why that is unknown."""

    blocks = _of_residency(BOUND, "resident blocks of an SM, at most", lambda known: known.occupancy.blocks if known.occupancy else None)
    warps = _of_residency(BOUND, "resident warps of an SM, at most", lambda known: known.occupancy.warps if known.occupancy else None)
    why = _of_residency(STRING, "why the occupancy is unknown", when=lambda known: known.occupancy is None)
    _known = _of_residency(merged(KnownOccupancyFields), "the known occupancy", _occupancy, when=lambda known: known.occupancy is not None)


class GridFields(Record[AnalysisResult]):
    """The bound of the whole launch."""

    grid_blocks = _of(present(POSITIVE), "blocks of the launch", lambda result: result.shape.blocks if result.shape else None, key="blocks")
    sms = _of(present(POSITIVE), "SMs that run them", lambda result: result.shape.sms if result.shape else None)
    resident = _of(present(POSITIVE), "blocks that are resident on an SM", lambda result: result.shape.places if result.shape else None)
    grid = _of(
        BOUND,
        "bound of the whole grid",
        lambda result: result.grid_bound,
        unit="cycles of the cost model",
        key="upper",
        csv="grid",
        head="grid",
    )
    grid_us = _of(
        MICROSECONDS, "bound of the whole grid, at the boost clock of the GPU", unit="us", key="us", csv="us", head="us", sparse=True
    )
    gpu = _of(TEXT, "the product that is named", lambda result: result.settings.gpu.name if result.settings.gpu is not None else None)
    terms = _of(
        _TERMS,
        "parts of the bound: `chain` (blocks one after the other), `sm` (other blocks of the SM), `memory` (L2 and DRAM), `drain`, "
        "`launch` (overhead, cold start, dispatch of blocks)",
        _terms,
        unit="cycles of the cost model",
    )
    _assumed = _of(
        merged(AssumedFields),
        "what the bound rests on",
        lambda result: result.makespan.grid.assumptions if result.makespan is not None and result.makespan.grid is not None else (),
    )


class PathFields(Record[AnalysisResult]):
    """A path through the function."""

    string = _of(STRING, "its kernel string", lambda result: str(result.worst_path))
    cost = _of(BOUND, "what one warp takes on it, in cycles of the cost model", lambda result: result.wcet.value)
    lower = _of(BOUND, "what a schedule takes", lambda result: result.scheduled.cycles if result.scheduled else None, key="makespan.lower")
    upper = _of(
        BOUND,
        "bound if every warp takes the path",
        lambda result: result.makespan.worst_path if result.makespan else None,
        unit="cycles of the cost model",
        key="makespan.upper",
    )


class WorstPathFields(Record[AnalysisResult]):
    """Kernel strings."""

    worst_path = _of(
        TEXT,
        "kernel string of a path that costs as much as the WCET: `L2C9(L1C4)^10`",
        lambda result: None if result.worst_path is None else str(result.worst_path),
        csv="worst_path",
        after="us",
    )


class AnalysisFields(Record[AnalysisResult]):
    """What is known of one function."""

    _head = _of(merged(HeadFields), "the function", lambda result: result)
    instructions = _of(
        COUNT, "instructions of the function", lambda result: len(result.function.instructions), csv="instructions", head="instr"
    )
    blocks = _of(COUNT, "nodes of the warp-level graph", lambda result: len(result.cfg.nodes), csv="blocks", head="blocks")
    edges = _of(COUNT, "edges of the warp-level graph", lambda result: len(result.cfg.edges))
    registers = _of(
        BOUND,
        "registers per thread, null where the input does not say",
        lambda result: result.function.registers,
        csv="registers",
        after="reactivation_edges",
    )
    text = _of(HASH, "SHA-256 of the instructions, to which facts and measurements are tied", lambda result: result.function.text_hash)
    options = _of(
        SETTINGS,
        "what the numbers rest on beside the code, by the names of options: `model`, `order`, `letters` always, others where they are "
        "given and concern the function; `tables` (figures of the architecture), `bounds` (flow facts) and `measurements` are digests",
        settings_of,
        key="settings",
    )
    divergent_branches = _of(COUNT, "branches that may split a warp", csv="divergent_branches", head="div")
    reactivation_edges = _of(COUNT, "edges on which a suspended side resumes", csv="reactivation_edges", head="reconv.")
    token_targets = _of(
        TARGETS,
        "for each SYNC, BRK or BSYNC the addresses where its threads resume",
        lambda result: {address(at): targets for at, targets in result.cfg.token_targets},
    )
    _strings = _of(one(WorstPathFields), "kernel strings", lambda result: result, key="strings", flat=True)
    _wcet = _of(one(WcetFields), "the bound of one warp", lambda result: result, key="wcet", flat=True)
    _makespan = _of(
        nullable(one(MakespanFields)),
        "the bound of the warps of an SM, null where it is not asked for",
        lambda result: result if result.makespan is not None else None,
        key="makespan",
        flat=True,
    )
    occupancy = _of(
        nullable(one(OccupancyFields)), "blocks that are resident, null where no launch is given", lambda result: result.residency
    )
    _grid = _of(
        nullable(one(GridFields)),
        "the bound of the whole launch, null where none is given",
        lambda result: result if result.shape is not None else None,
        key="grid",
        flat=True,
    )
    _limit = _of(STRING, "what bounds the bandwidth of memory", lambda _: UNLIMITED, key=None, head="the grid has", widest=len(UNLIMITED))
    _paths = _of(
        array(one(PathFields)),
        "the worst path, where it is known",
        lambda result: () if result.worst_path is None else (result,),
        key="paths",
    )
    loops = _of(array(one(LoopFields)), "the loops, one for each call context")
    gaps = _of(GAPS, "everything that forbids a bound, by address", csv="gaps")


class IpetFields(Record[AnalysisResult]):
    """What `sassan ipet` says of one function."""

    _head = _of(merged(HeadFields), "the function", lambda result: result)
    wcet = _of(one(WcetFields), "the bound of one warp", lambda result: result)
    strings = _of(one(WorstPathFields), "kernel strings", lambda result: result)
    loops = _of(array(one(LoopFields)), "the loops, one for each call context")
    gaps = _of(GAPS, "everything that forbids a bound, by address")
