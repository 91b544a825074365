"""Gates: what a build must keep, and where a function fails to.

Unknown is not below any limit: a number that is not known fails its gate.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from sassan.alphabet import UNITS, Letter
from sassan.app.builds.saved_results import BOUNDS, Measure, Result
from sassan.checked import Fields, Format
from sassan.errors import UsageError

if TYPE_CHECKING:
    from sassan.ir import Function
    from sassan.timing.findings import Report


class Rule(StrEnum):
    """What a gate asks for, as it is written on the command line and in a file of gates."""

    MAX_WCET = "max-wcet"
    MAX_MAKESPAN = "max-makespan"
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


LIMITS: Mapping[Rule, Measure] = {
    Rule.MAX_WCET: Measure.WCET,
    Rule.MAX_MAKESPAN: Measure.MAKESPAN,
    Rule.MAX_REGISTERS: Measure.REGISTERS,
    Rule.MAX_DIVERGENT: Measure.DIVERGENT,
}
"""The gates that are a limit, and the number that each holds to it."""
EXPLAINED: Mapping[Rule, tuple[str, str]] = {
    Rule.MAX_WCET: (
        "The worst-case execution time of a function is at most a limit.",
        "Bound loops tighter (--bounds, --param, --block-dim), shorten the worst path that 'sassan strings' prints, or raise the limit.",
    ),
    Rule.MAX_MAKESPAN: (
        "The makespan of the warps on an SM is at most a limit.",
        "Give an SM fewer warps, remove instructions of the busiest unit ('sassan makespan' names it), or raise the limit.",
    ),
    Rule.MAX_REGISTERS: (
        "A thread uses at most a number of registers.",
        "Compile with --maxrregcount or __launch_bounds__, or raise the limit. Registers are known of a cubin only.",
    ),
    Rule.MAX_DIVERGENT: (
        "A function has at most a number of branches that may split a warp.",
        "'sassan cfg' draws them; a condition that is the same in all threads of a warp splits none.",
    ),
    Rule.MAX_WASTE: (
        "A warp wastes at most a number of memory transactions, all accesses of a function together.",
        "'sassan memory' lists the accesses; pass --block-dim and --param, without which lanes and row lengths are not known.",
    ),
    Rule.MAX_SPILLS: (
        "A function has at most a number of loads and stores of places of its stack.",
        "'sassan listing --live' shows where registers run out; raise --maxrregcount, or index no local array at run time.",
    ),
    Rule.MAX_SHARED: (
        "A block uses at most a number of bytes of shared memory: static ones, and those of the launch where it is given.",
        "Use smaller tiles, or raise the limit. Shared memory is known of a cubin only.",
    ),
    Rule.MAX_LOCAL: (
        "A thread uses at most a number of bytes of local memory (its stack).",
        "Index local arrays by constants only, unroll the loops around them, or raise the limit. Local memory is known of a cubin only.",
    ),
    Rule.MIN_OCCUPANCY: (
        "An SM has at least a percentage of the warps that it can hold.",
        "'sassan analyze --block-dim' says what limits the blocks of an SM: registers, shared memory, or the shape of the block.",
    ),
    Rule.MAX_MIX: (
        "Of the instructions of a function, those of a letter are at most a percentage.",
        "'sassan listing' shows the letter of each; D are often constants without an f (0.5), L spills or accesses that could be wider.",
    ),
    Rule.MIN_MIX: (
        "Of the instructions of a function, those of a letter are at least a percentage.",
        "'sassan diff --sass' shows which are gone; T are lost where shapes or types are none that tensor cores take.",
    ),
    Rule.REQUIRE_BOUNDED: (
        "A function has a bound of its execution time, and of the makespan where one is asked for.",
        "'sassan analyze' lists the gaps; 'sassan ipet --facts-template' writes a file for the loops that need a bound.",
    ),
    Rule.NO_GAPS: (
        "Nothing in a function is unknown to the analysis.",
        "Each gap says what is missing: a loop bound (--bounds), the target of an indirect branch, an instruction without an entry.",
    ),
    Rule.GROWTH: (
        "No number is larger than in the baseline by more than is allowed.",
        "'sassan diff OLD NEW' shows what changed; write a new baseline with 'sassan analyze --json' where the growth is meant.",
    ),
    Rule.CONTROL: (
        "Every instruction waits for the results that it reads, by its control code.",
        "'sassan listing --check' prints the same; whoever wrote the control codes must wait for the barrier or stall longer.",
    ),
    Rule.UNCOALESCED_ACCESS: (
        "An access of a warp touches as few sectors of memory as its bytes need.",
        "Let neighbouring lanes access neighbouring elements: structures of arrays, tiles in shared memory, aligned rows.",
    ),
    Rule.BANK_CONFLICT: (
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

    rule: Rule
    limit: int | None
    source: str
    letter: Letter | None = None
    """Of the rules on the instruction mix: which instructions count."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How much a number may grow: by a share of what it was, or by a number of cycles."""

    share: Fraction = Fraction(0)
    cycles: int = 0

    def allows(self, old: int, new: int) -> bool:
        """Say whether `new` is no more than `old` may become."""
        return new <= old + old * self.share + self.cycles

    def __str__(self) -> str:
        """Return it as it is typed."""
        return f"{float(self.share * 100):g}%" if self.share or not self.cycles else str(self.cycles)


@dataclass(frozen=True, slots=True)
class Failure:
    """A gate that a function fails, at an address of it, None where it is the function as a whole.

    `value` is the number that was held to `limit`, None where it is not known. `code` is that of the gap or finding, '' for others.
    `related` lists further addresses with what is there.
    """

    rule: Rule
    message: str
    address: int | None = None
    code: str = ""
    value: int | None = None
    limit: int | None = None
    related: tuple[tuple[int, str], ...] = ()


def growth(text: str) -> Growth:
    """Return the growth that a text such as `5%`, `2.5%` or `12` (cycles) allows.

    Raises UsageError.
    """
    match = re.fullmatch(r"([0-9]{1,9})(\.[0-9]{1,6})?(%?)", text.strip(), re.ASCII)
    if match is None or (match[2] and not match[3]):
        raise UsageError("growth", f"'{text}' is not a growth", hint="write it as 5% or, in cycles, as 12")
    if match[3]:
        return Growth(share=Fraction(match[1] + (match[2] or "")) / 100)
    return Growth(cycles=int(match[1]))


def failures(result: Result, gates: Sequence[Gate]) -> Iterator[Failure]:
    """Yield every gate that a function fails, in the order of the gates."""
    for gate in gates:
        if gate.rule in LIMITS:
            yield from _limit(result, gate)
        elif gate.rule is Rule.REQUIRE_BOUNDED:
            yield from _bounded(result)
        elif gate.rule is Rule.NO_GAPS:
            yield from _gaps(result)


def _limit(result: Result, gate: Gate) -> Iterator[Failure]:
    measure = LIMITS[gate.rule]
    value = result.number(measure)
    if gate.limit is None or (value is not None and value <= gate.limit):
        return
    limit = f"the limit {gate.limit} of {gate.source}"
    if value is None:
        message = f"the {named(result, measure)} is unknown ({_why(result, measure)}), and unknown is not below {limit}"
    else:
        message = f"the {named(result, measure)} is {value}, above {limit}"
    yield Failure(gate.rule, message, _first(result) if value is None and measure in BOUNDS else None, "", value, gate.limit)


def named(result: Result, measure: Measure) -> str:
    """Return the name of a number with what it depends on."""
    if measure is Measure.WCET and result.model:
        return f"WCET ({result.model} model)"
    if measure is Measure.GRID and result.grid is not None:
        return f"bound of a grid of {result.grid[0]} blocks ({result.model} model)"
    if measure is Measure.MAKESPAN and result.warps is not None:
        return f"makespan of {result.warps} warps ({result.model} model)"
    return f"number of {measure.value}" if measure not in BOUNDS else measure.value


def _why(result: Result, measure: Measure) -> str:
    """Return why a number is not known."""
    if measure is Measure.REGISTERS:
        return "it is known of a cubin only"
    if result.gaps:
        first = result.gaps[0]
        more = f" and {len(result.gaps) - 1} more" if len(result.gaps) > 1 else ""
        return f"{first.code} at 0x{first.address:04x}{more}"
    if measure is Measure.MAKESPAN and result.warps is None:
        return "how many warps share an SM is not known"
    return f"the solver ended with '{result.status}'" if measure is Measure.WCET else "it has no bound"


def _first(result: Result) -> int | None:
    return result.gaps[0].address if result.gaps else None


def _bounded(result: Result) -> Iterator[Failure]:
    for measure in asked(result):
        if result.number(measure) is None:
            message = f"the {named(result, measure)} has no bound: {_why(result, measure)}"
            yield Failure(Rule.REQUIRE_BOUNDED, message, _first(result), related=_others(result))
            return


def asked(result: Result) -> list[Measure]:
    """Return the bounds that were asked for: a makespan where warps or the shape of a block are given, a grid where it is; known or not."""
    requested = {Measure.WCET: True, Measure.MAKESPAN: result.warps is not None or result.launched, Measure.GRID: result.grid is not None}
    return [measure for measure in BOUNDS if requested[measure]]


def _others(result: Result) -> tuple[tuple[int, str], ...]:
    return tuple((gap.address, f"{gap.code}: {gap.message}") for gap in result.gaps[1:])


def _gaps(result: Result) -> Iterator[Failure]:
    for gap in result.gaps:
        yield Failure(Rule.NO_GAPS, f"{gap.code}: {gap.message}", gap.address, gap.code)


def grown(old: Result, new: Result, allowed: Growth) -> Iterator[Failure]:
    """Yield every number that grew beyond what is allowed, or is no longer known; one that was not known before is held to nothing.

    Nor is a makespan that is not requested now: neither warps nor a block are given; nor the bound of a grid of another launch.
    Raises UsageError where the numbers count different things: another cost model, another number of warps; or are no bounds.
    """
    refuse_experiments((old, new))
    if old.model != new.model:
        raise _incomparable(old, f"the cost model '{old.model}'", f"'{new.model}'")
    for measure in BOUNDS:
        before, after = old.number(measure), new.number(measure)
        if before is None or measure not in asked(new) or (measure is Measure.GRID and not _same_launch(old, new)):
            continue
        if measure is Measure.MAKESPAN and new.warps is not None and old.warps != new.warps:
            raise _incomparable(old, f"{old.warps} warps", str(new.warps))
        if after is None:
            message = f"the {named(new, measure)} was {before} and is now unknown ({_why(new, measure)})"
            yield Failure(Rule.GROWTH, message, _first(new), limit=before)
        elif not allowed.allows(before, after):
            message = f"the {named(new, measure)} grew from {before} to {after} ({growth_text(before, after)}); allowed is {allowed}"
            yield Failure(Rule.GROWTH, message, value=after, limit=before)


def refuse_experiments(results: Iterable[Result]) -> None:
    """Raise UsageError where a number is that of an ablation or of the paper's experiment."""
    for result in results:
        if result.experiment:
            message = f"'{result.name}': the numbers are those of --ablate or --paper-experiment, which give no bounds to hold to"
            raise UsageError("experiment", message, hint="analyze without these options")


def _same_launch(old: Result, new: Result) -> bool:
    return (old.block, old.grid) == (new.block, new.grid)


def unheld(old: Sequence[Result], new: Result) -> tuple[Measure, ...]:
    """Return the bounds of a function that a baseline holds to nothing: none of what it has of the function (`old`) knows them.

    One that knows the bound of a grid of another launch does not know that of this one.
    """
    return tuple(
        measure
        for measure in asked(new)
        if all(each.number(measure) is None or (measure is Measure.GRID and not _same_launch(each, new)) for each in old)
    )


def growth_text(old: int, new: int) -> str:
    """Return by how much a number changed: `+3.1%`, or `+4` where it was 0."""
    if not old:
        return f"{new - old:+d}"
    # Numbers of a file may be larger than a float is.
    tenths = round(Fraction(1000 * abs(new - old), old))
    return f"{'-' if new < old else '+'}{tenths // 10}.{tenths % 10}%"


def _incomparable(old: Result, before: str, after: str) -> UsageError:
    message = f"'{old.name}': the baseline is for {before}, and this analysis for {after}"
    return UsageError("baseline", message, hint="analyze both with the same --model and -W")


def control(function: "Function", report: "Report") -> Iterator[Failure]:
    """Yield every consumer that does not wait for its producer; where control codes could not be followed, that, too."""
    code = {instruction.address: instruction.text for instruction in function.instructions}
    for finding in report.findings:
        message = f"{finding.code}: {finding.message(code[finding.address], code[finding.producer])}"
        related = ((finding.producer, f"producer: {code[finding.producer]}"),)
        yield Failure(Rule.CONTROL, message, finding.address, finding.code, related=related)
    for gap in report.gaps:
        yield Failure(Rule.CONTROL, f"not checked: {gap.message}", gap.address, gap.code)


@dataclass(frozen=True, slots=True)
class Demand:
    """The gates of the functions whose names match a pattern; `file` is where it is written, '' for the command line."""

    pattern: str
    gates: tuple[Gate, ...]
    file: str = ""


def read(name: str, text: str) -> tuple[Demand, ...]:
    """Return the demands of a TOML text: a table per pattern of function names, with the gates as keys.

    Raises InputError `bad-gates`, UsageError `no-gate` where there is none.
    """
    file = _FORMAT.toml(name, text)
    file.only("function")
    asked = demands(file.table("function"))
    if not any(demand.gates for demand in asked):
        raise UsageError("no-gate", f"{name}: no gate stands in it, so nothing can fail", hint=_EXAMPLE)
    return asked


def demands(functions: Fields) -> tuple[Demand, ...]:
    """Return the demands of a table that holds a table per pattern of function names."""
    return tuple(gate for pattern in functions.values for gate in demand(pattern, functions.table(pattern)))


def demand(pattern: str, table: Fields, *, besides: tuple[str, ...] = ()) -> tuple[Demand, ...]:
    """Return the demand of a table of gates, none where it holds none of them; `besides` are its other keys."""
    table.only(*IN_FILES, *besides)
    asked = tuple(gate for key in table.values if key not in besides for gate in _gates(table, Rule(key)))
    return (Demand(pattern, asked, table.name),) if asked or not besides else ()


_EXAMPLE = 'a table per pattern: [function."*saxpy*"] with max-wcet = 400'
_FORMAT = Format("bad-gates", _EXAMPLE)
_NUMBERED = (*LIMITS, Rule.MAX_WASTE, Rule.MAX_SPILLS, Rule.MAX_SHARED, Rule.MAX_LOCAL, Rule.MIN_OCCUPANCY)
_MIX = (Rule.MAX_MIX, Rule.MIN_MIX)
_LETTERS, _WHOLE = tuple(letter.value for letter in UNITS), 100
IN_FILES = (*_NUMBERED, *_MIX, Rule.REQUIRE_BOUNDED, Rule.NO_GAPS)


def mix(rule: Rule, text: str) -> Gate:
    """Return the gate of a text such as `D=0`: a letter, and a percentage of the instructions.

    Raises UsageError.
    """
    match = re.fullmatch(r"([A-Z])=([0-9]{1,3})", text.strip().upper(), re.ASCII)
    if match is None or match[1] not in _LETTERS or int(match[2]) > _WHOLE:
        raise UsageError(
            "usage", f"--{rule}: '{text}' is no share of instructions", hint=f"write D=0: one of {', '.join(_LETTERS)}, percent"
        )
    return Gate(rule, int(match[2]), f"--{rule}", Letter(match[1]))


def _gates(table: Fields, rule: Rule) -> Iterator[Gate]:
    source = f"{table.name}: {table.where.removesuffix('.')}"
    if rule in _MIX:
        shares = table.table(rule)
        shares.only(*_LETTERS)
        yield from (Gate(rule, shares.whole(key, least=0, most=_WHOLE), source, Letter(key)) for key in shares.values)
    elif rule in _NUMBERED:
        yield Gate(rule, table.whole(rule, least=0), source)
    elif table.flag(rule):
        yield Gate(rule, None, source)
    else:
        raise table.fail(rule, "can only be true; omit it otherwise")
