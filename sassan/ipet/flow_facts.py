"""The bounds of the loops of a graph and what else its flow facts say, with the assumptions made and the gaps that remain.

A fact holds for the loops at an address or a source line, in every call context: `bound` is the largest number of back edges that one
thread takes per entry into the loop.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sassan.assumptions import Assumption, AssumptionStatus
from sassan.checked import quoted
from sassan.errors import Gap, InputError, UsageError
from sassan.ipet.facts.describe import assumptions
from sassan.ipet.facts.model import NO_FACTS, Constraint, FlowFacts, FunctionFacts, LineReference
from sassan.ipet.facts.places import check_names, inside, loops_at, scopes
from sassan.ipet.loop_bounds import Ending, Inferred, Refutation
from sassan.ir import Function
from sassan.plurals import count_of
from sassan.warpcfg.externals import NEVER_RETURN
from sassan.warpcfg.graph import External, WarpCfg

EXTERNAL = "external-function"
UNBOUNDED = "unbounded-loop"
REFUTED = "refuted-bound"
_BARE = re.compile("[A-Za-z0-9_-]+", re.ASCII)
REMEDY = ": pass "
"""Begins what the message of a loop without a bound advises; a caller without these options replaces it."""


class Origin(StrEnum):
    """Where a bound comes from: a flow fact, the code itself, --loop-bound, the YIELD assumption, or nowhere."""

    FACT = "fact"
    INFERRED = "inferred"
    DEFAULT = "default"
    YIELD = "yield"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class LoopBounds:
    """`of_loop` follows `WarpCfg.loops`, None where no bound is known; each of those headers has one gap in `gaps`.

    `origins` and `reasons` follow the loops, too: where the bound comes from, and the argument of an inferred one.
    """

    of_loop: tuple[int | None, ...]
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    origins: tuple[Origin, ...] = ()
    reasons: tuple[str, ...] = ()
    external: tuple[tuple[int, int | None], ...] = ()
    """The cost of each call of an external function with a fact, by its address; None where it is never made."""
    facts: FunctionFacts = NO_FACTS
    """What is known of the function beside the bounds of its loops; every name in them is in the graph."""
    endings: tuple[Ending | None, ...] = ()
    """What ends each loop without a bound, None where that is not known."""
    given: frozenset[int] = frozenset()
    """Loops whose inferred bounds rest on nothing that is not given."""
    extents: frozenset[int] = frozenset()
    """Loops of which no more is known than the extent of what they walk through."""


def check_functions(facts: FlowFacts, functions: Iterable[Function], *, changed: bool = False) -> None:
    """Raise InputError for facts about a function that the input lacks, or whose text has changed since they were written.

    Facts that name loops by source line have no text: they hold for any. `changed`: other texts are the caller's matter.
    """
    hashes = {function.name: function.text_hash for function in functions}
    for function, known in facts.functions:
        if function not in hashes:
            raise InputError("facts-unknown-function", f"{facts.name}: the input has no function {function!r}")
        if not changed and known.text not in {"", hashes[function]}:
            message = f"{facts.name}: the facts were written for another text of function {function!r}"
            raise InputError("facts-text-mismatch", message, hint=f'check the bounds again, then write text = "{hashes[function]}"')


def bounds_of(
    cfg: WarpCfg,
    facts: FlowFacts | None = None,
    default: int | None = None,
    inferred: Sequence[Inferred] = (),
    *,
    checked: bool = False,
) -> LoopBounds:
    """The bound of every loop: its fact, else the inferred one, else the default, else a gap; with the assumptions made.

    `checked`: inferred bounds were held to runs.
    Raises InputError for facts about another text or about an address where no loop begins, UsageError for a negative default.
    """
    if default is not None and default < 0:
        raise UsageError("negative-loop-bound", f"the loop bound {default} is negative", hint="0 or more")
    of_function = _facts_of(cfg, facts)
    given = _given(cfg, of_function)
    headers = [cfg.nodes[loop.head].start for loop in cfg.loops]
    spinning = [header for header in cfg.spins if header in headers and header not in given]
    known = dict.fromkeys(spinning, 0) | given
    by_loop = {result.loop: result for result in inferred if result.bound is not None and result.head not in known}
    by_total = {header: bound for header, bound in _by_total(cfg, of_function).items() if header not in known}
    known |= by_total
    without = sorted({header for index, header in enumerate(headers) if header not in known and index not in by_loop})
    advice = {result.head: result.advice for result in inferred if result.bound is None and result.advice}
    stated = dict(facts.external) if facts is not None else {}
    costs = dict.fromkeys(NEVER_RETURN) | stated
    endings = {result.head: result.ended.ending for result in inferred if result.ended is not None}
    refuted = {result.head: result.refutation for result in inferred if result.refutation is not None}
    gaps = () if default is not None else tuple(_gap(header, advice.get(header, ""), refuted.get(header)) for header in without)
    gaps += tuple(_external_gap(external) for external in cfg.externals if external.name not in costs)
    assumed = (
        *(f"flow fact: {text}" for text in _loop_facts(cfg, of_function)),
        *assumptions(of_function),
        *(f"YIELD does not split threads: the loop at 0x{header:04x} never iterates" for header in spinning),
        *sorted({_inferred(result, AssumptionStatus.CHECKED if checked else AssumptionStatus.PROVED) for result in by_loop.values()}),
        *_default_assumption(default, without),
        *sorted({_external_assumption(name, stated[name]) for _, name in cfg.externals if name in stated}),
        *_unfailing(name for _, name in cfg.externals if name not in stated),
    )
    return LoopBounds(
        tuple(by_loop[index].bound if index in by_loop else known.get(header, default) for index, header in enumerate(headers)),
        assumed,
        gaps,
        tuple(
            _origin(header in given, header in spinning, index in by_loop, header in by_total, default)
            for index, header in enumerate(headers)
        ),
        tuple(by_loop[index].reason if index in by_loop else "" for index in range(len(headers))),
        tuple((external.address, costs[external.name]) for external in cfg.externals if external.name in costs),
        of_function,
        tuple(endings.get(header) for header in headers),
        frozenset(index for index, result in by_loop.items() if not result.missing),
        frozenset(index for index, result in by_loop.items() if result.extent is not None and result.reason == result.extent.reason),
    )


def without_blocks(cfg: WarpCfg, bounds: LoopBounds, blocks: Sequence[int]) -> LoopBounds:
    """The bounds where no thread of the launch executes some blocks: loops that begin there have no iterations."""
    if not blocks:
        return bounds
    dead = [cfg.nodes[loop.head].start in blocks for loop in cfg.loops]
    text = f"no thread of the launch executes the blocks at {', '.join(f'0x{block:04x}' for block in blocks)}"
    return replace(
        bounds,
        of_loop=tuple(0 if never else bound for never, bound in zip(dead, bounds.of_loop, strict=True)),
        assumptions=(*bounds.assumptions, Assumption(text, AssumptionStatus.PROVED)),
        gaps=tuple(gap for gap in bounds.gaps if gap.code != UNBOUNDED or gap.address not in blocks),
        origins=tuple(
            Origin.INFERRED if never and origin is Origin.NONE else origin for never, origin in zip(dead, bounds.origins, strict=True)
        ),
        facts=replace(bounds.facts, never=(*bounds.facts.never, *blocks)),
    )


def with_executions(bounds: LoopBounds, most: Mapping[int, int], why: str, *, recorded: bool) -> LoopBounds:
    """The bounds where a warp executes the block at each address at most so many times."""
    text = Assumption(f"how often a warp executes each block: {why}", AssumptionStatus.RECORDED if recorded else AssumptionStatus.CHECKED)
    known = tuple(Constraint(((address, 1),), "<=", times) for address, times in sorted(most.items()))
    facts = replace(bounds.facts, constraints=(*bounds.facts.constraints, *known))
    return replace(bounds, assumptions=(*bounds.assumptions, text), facts=facts)


def _facts_of(cfg: WarpCfg, facts: FlowFacts | None) -> FunctionFacts:
    """The facts of the function of a graph, which fit it; none where there are none."""
    of_function = facts.of(cfg.function.name) if facts is not None else None
    if facts is None or of_function is None:
        return NO_FACTS
    check_functions(FlowFacts(facts.name, ((cfg.function.name, of_function),)), (cfg.function,))
    check_names(cfg, facts)
    return of_function


def _given(cfg: WarpCfg, facts: FunctionFacts) -> dict[int, int]:
    """The least bound that facts give each header; a loop whose header is never executed takes no back edge."""
    given = {address: 0 for address in facts.never if loops_at(cfg, address)}
    for name, bound in facts.bounds:
        for loop in loops_at(cfg, name):
            header = cfg.nodes[loop.head].start
            given[header] = min(bound, given.get(header, bound))
    return given


def _by_total(cfg: WarpCfg, facts: FunctionFacts) -> dict[int, int]:
    """The bounds that totals of back edges imply: where the scope holds all loops with a header, no entry takes more than all of them."""
    bounds: dict[int, int] = {}
    for total in facts.totals:
        counted = loops_at(cfg, total.counted) if total.back else ()
        limited = {loop.head for scope in scopes(cfg, total.per) for loop in counted if loop.head in inside(cfg, scope)}
        for header in {cfg.nodes[head].start for head in limited}:
            if all(loop.head in limited for loop in loops_at(cfg, header)):
                bounds[header] = min(total.bound, bounds.get(header, total.bound))
    return bounds


def _loop_facts(cfg: WarpCfg, facts: FunctionFacts) -> Iterator[str]:
    """Yield each bound of a loop in words, those by source line for every loop that the line means."""
    bounds = {
        (cfg.nodes[loop.head].start, f" ({name})" if isinstance(name, LineReference) else "", bound)
        for name, bound in facts.bounds
        for loop in loops_at(cfg, name)
    }
    yield from (f"{_loop_bound(header, bound)}{source}" for header, source, bound in sorted(bounds))


def _inferred(result: Inferred, kind: AssumptionStatus) -> Assumption:
    text = f"inferred: {_loop_bound(result.head, result.bound or 0)} ({result.reason})"
    if result.assumed:
        return Assumption(text, AssumptionStatus.ASSUMED)
    return Assumption(text, AssumptionStatus.RECORDED if result.recorded else kind)


def _loop_bound(header: int, bound: int) -> str:
    return f"at most {_per_entry(bound)} of the loop at 0x{header:04x}"


def _per_entry(bound: int) -> str:
    edges, iterations = ("" if count == 1 else "s" for count in (bound, bound + 1))
    return f"{bound} back edge{edges} per entry ({bound + 1} iteration{iterations} of the header)"


def _default_assumption(default: int | None, without: Sequence[int]) -> Iterator[str]:
    if default is not None and without:
        headers = ", ".join(f"0x{header:04x}" for header in without)
        yield f"--loop-bound: at most {_per_entry(default)} of the loop{'' if len(without) == 1 else 's'} at {headers}"


def _external_assumption(name: str, cost: int | None) -> str:
    if cost is None:
        return f"flow fact: {name} is never called"
    return f"flow fact: a call of {name} takes at most {count_of(cost, 'cycle')}, including all that it leaves pending"


def _unfailing(names: Iterable[str]) -> Iterator[str]:
    """Yield what is assumed of functions that end the launch, and of which no fact is given."""
    for name in sorted(NEVER_RETURN.intersection(names)):
        yield f"no assertion fails: {name} ends the launch, and is never called"


def _external_gap(external: External) -> Gap:
    key = external.name if _BARE.fullmatch(external.name) else quoted(external.name)
    remedy = f'give its cost in a --bounds file: [external.{key}] cost = N, or calls = "never"'
    return Gap(external.address, EXTERNAL, f"the input does not contain {external.name}, which is called here: {remedy}")


def _origin(given: bool, spinning: bool, inferred: bool, by_total: bool, default: int | None) -> Origin:
    if given:
        return Origin.FACT
    if spinning:
        return Origin.YIELD
    if inferred:
        return Origin.INFERRED
    return Origin.FACT if by_total else Origin.NONE if default is None else Origin.DEFAULT


def _gap(header: int, advice: str, refuted: Refutation | None) -> Gap:
    if refuted is not None:
        why = f"a run refuted the bound that was inferred of the loop at 0x{header:04x}: {refuted.seen} back edges per entry, and not"
        return Gap(header, REFUTED, f"{why} at most {refuted.bound}; this is a defect of sassan: report it{REMEDY}--bounds or --loop-bound")
    options = advice.removeprefix("pass ") + ", " if advice.startswith("pass ") else ""
    reason = f" ({advice})" if advice and not options else ""
    return Gap(header, UNBOUNDED, f"the loop at 0x{header:04x} has no bound{reason}{REMEDY}{options}--bounds or --loop-bound")
