"""Gates: what a build must keep, and where a function fails to.

Unknown is not below any limit: a number that is not known fails its gate.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sassan.alphabet import UNITS, Letter
from sassan.app.builds.numbers import first_gap, named, requested_bounds, unknown
from sassan.app.builds.saved_results import BOUNDS, Measure, SavedResult
from sassan.checked import Fields, Format
from sassan.errors import UsageError

if TYPE_CHECKING:
    from sassan.ir import Function
    from sassan.timing.findings import Report


class GateRule(StrEnum):
    """What a gate asks for, as it is written on the command line and in a file of gates."""

    MAX_WCET = "max-wcet"
    MAX_MAKESPAN = "max-makespan"
    MAX_US = "max-us"
    MAX_GRID_CYCLES = "max-grid-cycles"
    MAX_TOTAL_US = "max-total-us"
    MAX_REGISTERS = "max-registers"
    MAX_DIVERGENT = "max-divergent"
    MAX_WASTE = "max-waste"
    MAX_SPILLS = "max-spills"
    MAX_SHARED = "max-shared"
    MAX_LOCAL = "max-local"
    MIN_OCCUPANCY = "min-occupancy"
    MAX_MIX = "max-mix"
    MIN_MIX = "min-mix"
    REQUIRE_BOUNDED = "require-bounded"
    NO_GAPS = "no-gaps"
    GROWTH = "growth"
    CONTROL = "control"
    UNCOALESCED_ACCESS = "uncoalesced-access"
    """Where a function that fails `max-waste` wastes sectors; no gate of its own."""
    BANK_CONFLICT = "bank-conflict"
    """Where it wastes passes over the banks."""


LIMITS: Mapping[GateRule, Measure] = {
    GateRule.MAX_WCET: Measure.WCET,
    GateRule.MAX_MAKESPAN: Measure.MAKESPAN,
    GateRule.MAX_GRID_CYCLES: Measure.GRID,
    GateRule.MAX_REGISTERS: Measure.REGISTERS,
    GateRule.MAX_DIVERGENT: Measure.DIVERGENT,
}
"""The gates that are a limit, and the number that each holds to it."""
EXPLAINED: Mapping[GateRule, tuple[str, str]] = {
    GateRule.MAX_WCET: (
        "The worst-case execution time of a function is at most a limit.",
        "Bound loops tighter (--bounds, --param, --block-dim), shorten the worst path that 'sassan strings' prints, or raise the limit.",
    ),
    GateRule.MAX_MAKESPAN: (
        "The makespan of the warps on an SM is at most a limit.",
        "Give an SM fewer warps, remove instructions of the busiest unit ('sassan makespan' names it), or raise the limit.",
    ),
    GateRule.MAX_US: (
        "A launch takes at most a number of microseconds, by its bound.",
        "'sassan analyze --gpu' shows the terms of the bound, 'sassan estimate' what to expect and what binds it.",
    ),
    GateRule.MAX_GRID_CYCLES: (
        "A launch takes at most a number of cycles, by its bound.",
        "'sassan analyze --gpu' shows the terms of the bound; fewer blocks, a shorter worst path, or more resident blocks lower it.",
    ),
    GateRule.MAX_TOTAL_US: (
        "The launches of a recording take at most a number of microseconds, one after the other.",
        "'sassan analyze --gpu --launches' lists them; shorten the one that the message names, or raise the limit.",
    ),
    GateRule.MAX_REGISTERS: (
        "A thread uses at most a number of registers.",
        "Compile with --maxrregcount or __launch_bounds__, or raise the limit. Registers are known of a cubin only.",
    ),
    GateRule.MAX_DIVERGENT: (
        "A function has at most a number of branches that may split a warp.",
        "'sassan cfg' draws them; a condition that is the same in all threads of a warp splits none.",
    ),
    GateRule.MAX_WASTE: (
        "A warp wastes at most a number of memory transactions, all accesses of a function together.",
        "'sassan memory' lists the accesses; pass --block-dim and --param, without which lanes and row lengths are not known.",
    ),
    GateRule.MAX_SPILLS: (
        "A function has at most a number of loads and stores of places of its stack.",
        "'sassan listing --live' shows where registers run out; raise --maxrregcount, or index no local array at run time.",
    ),
    GateRule.MAX_SHARED: (
        "A block uses at most a number of bytes of shared memory: static ones, and those of the launch where it is given.",
        "Use smaller tiles, or raise the limit. Shared memory is known of a cubin only.",
    ),
    GateRule.MAX_LOCAL: (
        "A thread uses at most a number of bytes of local memory (its stack).",
        "Index local arrays by constants only, unroll the loops around them, or raise the limit. Local memory is known of a cubin only.",
    ),
    GateRule.MIN_OCCUPANCY: (
        "An SM has at least a percentage of the warps that it can hold.",
        "'sassan analyze --block-dim' says what limits the blocks of an SM: registers, shared memory, or the shape of the block.",
    ),
    GateRule.MAX_MIX: (
        "Of the instructions of a function, those of a letter are at most a percentage.",
        "'sassan listing' shows the letter of each; D are often constants without an f (0.5), L spills or accesses that could be wider.",
    ),
    GateRule.MIN_MIX: (
        "Of the instructions of a function, those of a letter are at least a percentage.",
        "'sassan diff --sass' shows which are gone; T are lost where shapes or types are none that tensor cores take.",
    ),
    GateRule.REQUIRE_BOUNDED: (
        "A function has a bound of its execution time, and of the makespan where one is asked for.",
        "'sassan analyze' lists the gaps; 'sassan ipet --facts-template' writes a file for the loops that need a bound.",
    ),
    GateRule.NO_GAPS: (
        "Nothing in a function is unknown to the analysis.",
        "Each gap says what is missing: a loop bound (--bounds), the target of an indirect branch, an instruction without an entry.",
    ),
    GateRule.GROWTH: (
        "No number is larger than in the baseline by more than is allowed.",
        "'sassan diff OLD NEW' shows what changed; accept the growth with 'sassan check --update-baseline' where it is meant.",
    ),
    GateRule.CONTROL: (
        "Every instruction waits for the results that it reads, by its control code.",
        "'sassan listing --check' prints the same; whoever wrote the control codes must wait for the barrier or stall longer.",
    ),
    GateRule.UNCOALESCED_ACCESS: (
        "An access of a warp requests as few sectors of memory as its bytes need.",
        "Let neighbouring lanes access neighbouring elements: structures of arrays, tiles in shared memory, aligned rows.",
    ),
    GateRule.BANK_CONFLICT: (
        "An access of a warp to shared memory takes as few passes over the banks as its bytes need.",
        "Pad the rows of the array by one word, or permute its columns.",
    ),
}
"""What each rule asks for, in a sentence, and how to mend a failure."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A rule for one function; `limit` (of the instruction mix: in percent) belongs to the rules that are numbers.

    `source` says who asks: `--max-wcet`, or a table of a file.
    """

    rule: GateRule
    limit: float | None
    source: str
    letter: Letter | None = None
    """Of the rules on the instruction mix: which instructions count."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A gate that a function fails, at an address of it, None where it is the function as a whole.

    `value` is the number that was held to `limit`, None where it is not known. `code` is that of the gap or finding, '' for others.
    `related` lists further addresses with what is there.
    """

    rule: GateRule
    message: str
    address: int | None = None
    code: str = ""
    value: float | None = None
    limit: float | None = None
    related: tuple[tuple[int, str], ...] = ()


def failures(result: SavedResult, gates: Sequence[Gate]) -> Iterator[Failure]:
    """Yield every gate that a function fails, in the order of the gates."""
    for gate in gates:
        if gate.rule in LIMITS:
            yield from _limit(result, gate)
        elif gate.rule is GateRule.REQUIRE_BOUNDED:
            yield from _bounded(result)
        elif gate.rule is GateRule.NO_GAPS:
            yield from _gaps(result)


def _limit(result: SavedResult, gate: Gate) -> Iterator[Failure]:
    measure = LIMITS[gate.rule]
    value = result.number(measure)
    if gate.limit is None or (value is not None and value <= gate.limit):
        return
    limit = f"the limit {gate.limit} of {gate.source}"
    if value is None:
        message = f"the {named(result, measure)} is unknown ({unknown(result, measure)}), and unknown is not below {limit}"
    else:
        message = f"the {named(result, measure)} is {value}, above {limit}"
    yield Failure(gate.rule, message, first_gap(result) if value is None and measure in BOUNDS else None, "", value, gate.limit)


def _bounded(result: SavedResult) -> Iterator[Failure]:
    for measure in requested_bounds(result):
        if result.number(measure) is None:
            message = f"the {named(result, measure)} has no bound: {unknown(result, measure)}"
            yield Failure(GateRule.REQUIRE_BOUNDED, message, first_gap(result), related=_others(result))
            return


def _others(result: SavedResult) -> tuple[tuple[int, str], ...]:
    return tuple((gap.address, f"{gap.code}: {gap.message}") for gap in result.gaps[1:])


def _gaps(result: SavedResult) -> Iterator[Failure]:
    for gap in result.gaps:
        yield Failure(GateRule.NO_GAPS, f"{gap.code}: {gap.message}", gap.address, gap.code)


def control(function: "Function", report: "Report") -> Iterator[Failure]:
    """Yield every consumer that does not wait for its producer; where control codes could not be followed, that, too."""
    code = {instruction.address: instruction.text for instruction in function.instructions}
    for finding in report.findings:
        message = f"{finding.code}: {finding.message(code[finding.address], code[finding.producer])}"
        related = ((finding.producer, f"producer: {code[finding.producer]}"),)
        yield Failure(GateRule.CONTROL, message, finding.address, finding.code, related=related)
    for gap in report.gaps:
        yield Failure(GateRule.CONTROL, f"not checked: {gap.message}", gap.address, gap.code)


@dataclass(frozen=True, slots=True)
class PatternGates:
    """The gates of the functions whose names match a pattern; `file` is where it is written, '' for the command line."""

    pattern: str
    gates: tuple[Gate, ...]
    file: str = ""


def read(name: str, text: str) -> tuple[PatternGates, ...]:
    """Return the demands of a TOML text: a table per pattern of function names, with the gates as keys.

    Raises InputError `bad-gates`, UsageError `no-gate` where there is none.
    """
    file = _FORMAT.toml(name, text)
    file.only("function")
    demanded = demands(file.table("function"))
    if not any(demand.gates for demand in demanded):
        raise UsageError("no-gate", f"{name}: no gate stands in it, so nothing can fail", hint=_EXAMPLE)
    return demanded


def demands(functions: Fields) -> tuple[PatternGates, ...]:
    """Return the demands of a table that holds a table per pattern of function names."""
    return tuple(gate for pattern in functions.values for gate in demand(pattern, functions.table(pattern)))


def demand(pattern: str, table: Fields, *, besides: tuple[str, ...] = ()) -> tuple[PatternGates, ...]:
    """Return the demand of a table of gates, none where it holds none of them; `besides` are its other keys."""
    table.only(*IN_FILES, *besides)
    demanded = tuple(gate for key in table.values if key not in besides for gate in _gates(table, GateRule(key)))
    return (PatternGates(pattern, demanded, table.name),) if demanded or not besides else ()


_EXAMPLE = 'a table per pattern: [function."*saxpy*"] with max-wcet = 400'
_FORMAT = Format("bad-gates", _EXAMPLE)
TIMES = (GateRule.MAX_US, GateRule.MAX_TOTAL_US)
"""The gates that are microseconds, which need a GPU."""
_LONGEST = 1e15
"""Microseconds: some thirty years."""
_NUMBERED = (*LIMITS, GateRule.MAX_WASTE, GateRule.MAX_SPILLS, GateRule.MAX_SHARED, GateRule.MAX_LOCAL, GateRule.MIN_OCCUPANCY)
_MIX = (GateRule.MAX_MIX, GateRule.MIN_MIX)
_LETTERS, _WHOLE = tuple(letter.value for letter in UNITS), 100
IN_FILES = (*_NUMBERED, *TIMES, *_MIX, GateRule.REQUIRE_BOUNDED, GateRule.NO_GAPS)


def mix(rule: GateRule, text: str) -> Gate:
    """Return the gate of a text such as `D=0`: a letter, and a percentage of the instructions.

    Raises UsageError.
    """
    match = re.fullmatch(r"([A-Z])=([0-9]{1,3})", text.strip().upper(), re.ASCII)
    if match is None or match[1] not in _LETTERS or int(match[2]) > _WHOLE:
        raise UsageError(
            "usage", f"--{rule}: '{text}' is not a share of instructions", hint=f"write D=0: one of {', '.join(_LETTERS)}, percent"
        )
    return Gate(rule, int(match[2]), f"--{rule}", Letter(match[1]))


def _gates(table: Fields, rule: GateRule) -> Iterator[Gate]:
    source = f"{table.name}: {table.where.removesuffix('.')}"
    if rule in _MIX:
        shares = table.table(rule)
        shares.only(*_LETTERS)
        yield from (Gate(rule, shares.whole(key, least=0, most=_WHOLE), source, Letter(key)) for key in shares.values)
    elif rule in _NUMBERED:
        yield Gate(rule, table.whole(rule, least=0), source)
    elif rule in TIMES:
        yield Gate(rule, table.number(rule, least=0, most=_LONGEST), source)
    elif table.flag(rule):
        yield Gate(rule, None, source)
    else:
        raise table.fail(rule, "can only be true; omit it otherwise")
