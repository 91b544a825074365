"""Flow facts: what a user knows of the loops of a function, read from TOML and tied to the text of the function.

A fact holds for the loop header at an address, in every call context: `bound` is the largest number of back edges that one thread takes per
entry into the loop.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from sassan.checked import Fields, Format, quoted, shown
from sassan.errors import Gap, InputError, UsageError
from sassan.ipet.loop_bounds import Inferred
from sassan.ir import Function
from sassan.machine.parameters import Named, places
from sassan.warpcfg.graph import External, WarpCfg

_FORMAT = Format("facts-value", "sassan ipet --facts-template writes such a file", syntax="facts-syntax")
_MOST_COST = 10**12
_BARE = re.compile("[A-Za-z0-9_-]+", re.ASCII)
_EXTERNAL = "external-function"
REMEDY = ": pass "
"""Begins what the message of a loop without a bound advises; a caller without these options replaces it."""


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """`text` is the hash of the function that the facts were written for; `bounds` are (address of the header, bound), sorted.

    `parameters` are (name, offset in constant bank 0), in the order of the file.
    """

    text: str
    bounds: tuple[tuple[int, int], ...]
    parameters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FlowFacts:
    """The facts of one file, per function name, in the order of the file."""

    name: str
    functions: tuple[tuple[str, FunctionFacts], ...] = ()
    external: tuple[tuple[str, int | None], ...] = ()
    """The cost of a call of each external function, in cycles of the cost model; None: it is never called."""

    @property
    def named(self) -> tuple[Named, ...]:
        """The names that the file gives to the parameters of functions."""
        return tuple(Named(function, name, offset) for function, facts in self.functions for name, offset in facts.parameters)


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


def read(name: str, text: str) -> FlowFacts:
    """The facts of a TOML text that the user called `name`.

    Raises InputError `facts-syntax` where the text is not TOML, `facts-value` where a value is not what README.md says.
    """
    file = _FORMAT.toml(name, text)
    file.only("function", "external")
    functions, external = file.table("function"), file.table("external")
    return FlowFacts(
        name,
        tuple((function, _function(functions.table(function))) for function in functions.values),
        tuple((callee, _external(external, callee)) for callee in external.values),
    )


def _external(functions: Fields, callee: str) -> int | None:
    table = functions.table(callee)
    table.only("cost", "calls")
    if len(table.values) != 1:
        raise functions.fail(callee, 'must hold either cost = N or calls = "never"')
    if "calls" in table:
        table.choice("calls", ("never",))
        return None
    return table.whole("cost", least=0, most=_MOST_COST)


def _function(table: Fields) -> FunctionFacts:
    table.only("text", "loop", "parameters")
    bounds: dict[int, int] = {}
    for loop in table.tables("loop"):
        loop.only("head", "bound")
        head = loop.address("head")
        if head in bounds:
            raise loop.fail("head", f"the loop at 0x{head:04x} has two bounds")
        bounds[head] = loop.whole("bound", least=0, most=inf)
    parameters = table.table("parameters")
    return FunctionFacts(
        table.text("text"), tuple(sorted(bounds.items())), tuple((key, _offset(parameters, key)) for key in parameters.values)
    )


def _offset(parameters: Fields, name: str) -> int:
    value = parameters.text(name)
    if re.fullmatch("0x[0-9a-fA-F]{1,4}", value) is None:
        raise parameters.fail(name, f'must be a place in constant bank 0 such as "0x140", not {shown(value)}')
    return int(value, 16)


def check_functions(facts: FlowFacts, functions: Iterable[Function]) -> None:
    """Raise InputError for facts about a function that the input lacks, or whose text has changed since they were written."""
    hashes = {function.name: function.text_hash for function in functions}
    for function, known in facts.functions:
        if function not in hashes:
            raise InputError("facts-unknown-function", f"{facts.name}: the input has no function {function!r}")
        if known.text != hashes[function]:
            message = f"{facts.name}: the facts were written for another text of function {function!r}"
            raise InputError("facts-text-mismatch", message, hint=f'check the bounds again, then write text = "{hashes[function]}"')


def bounds_of(cfg: WarpCfg, facts: FlowFacts | None = None, default: int | None = None, inferred: Sequence[Inferred] = ()) -> LoopBounds:
    """The bound of every loop: its fact, else the inferred one, else the default, else a gap; with the assumptions made.

    Raises InputError for facts about another text or about an address where no loop begins, UsageError for a negative default.
    """
    if default is not None and default < 0:
        raise UsageError("negative-loop-bound", f"the loop bound {default} is negative", hint="0 or more")
    given = _facts_of(cfg, facts)
    headers = [cfg.nodes[loop.head].start for loop in cfg.loops]
    spinning = [header for header in cfg.spins if header in headers and header not in given]
    known = dict.fromkeys(spinning, 0) | given
    by_loop = {result.loop: result for result in inferred if result.bound is not None and result.head not in known}
    without = sorted({header for index, header in enumerate(headers) if header not in known and index not in by_loop})
    advice = {result.head: result.advice for result in inferred if result.bound is None and result.advice}
    costs = dict(facts.external) if facts is not None else {}
    gaps = () if default is not None else tuple(_gap(header, advice.get(header, "")) for header in without)
    gaps += tuple(_external_gap(external) for external in cfg.externals if external.name not in costs)
    assumptions = (
        *(f"flow fact: {_loop_bound(header, bound)}" for header, bound in sorted(given.items())),
        *(f"YIELD does not split threads: the loop at 0x{header:04x} never iterates" for header in spinning),
        *sorted({f"inferred: {_loop_bound(result.head, result.bound or 0)} ({result.reason})" for result in by_loop.values()}),
        *_default_assumption(default, without),
        *sorted({_external_assumption(external.name, costs[external.name]) for external in cfg.externals if external.name in costs}),
    )
    return LoopBounds(
        tuple(by_loop[index].bound if index in by_loop else known.get(header, default) for index, header in enumerate(headers)),
        assumptions,
        gaps,
        tuple(_origin(header, given, spinning, index in by_loop, default) for index, header in enumerate(headers)),
        tuple(by_loop[index].reason if index in by_loop else "" for index in range(len(headers))),
        tuple((external.address, costs[external.name]) for external in cfg.externals if external.name in costs),
    )


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
    return f"flow fact: a call of {name} takes at most {cost} cycle{'' if cost == 1 else 's'}, including all that it leaves pending"


def _external_gap(external: External) -> Gap:
    key = external.name if _BARE.fullmatch(external.name) else quoted(external.name)
    remedy = f'give its cost in a --bounds file: [external.{key}] cost = N, or calls = "never"'
    return Gap(external.address, _EXTERNAL, f"the input does not contain {external.name}, which is called here: {remedy}")


def _origin(header: int, given: Mapping[int, int], spinning: Sequence[int], inferred: bool, default: int | None) -> Origin:
    if header in given:
        return Origin.FACT
    if header in spinning:
        return Origin.YIELD
    return Origin.INFERRED if inferred else Origin.NONE if default is None else Origin.DEFAULT


def _facts_of(cfg: WarpCfg, facts: FlowFacts | None) -> dict[int, int]:
    of_function = dict(facts.functions).get(cfg.function.name) if facts else None
    if facts is None or of_function is None:
        return {}
    check_functions(FlowFacts(facts.name, ((cfg.function.name, of_function),)), (cfg.function,))
    headers = {cfg.nodes[loop.head].start for loop in cfg.loops}
    for header, _ in of_function.bounds:
        if header not in headers:
            listed = ", ".join(f"0x{known:04x}" for known in sorted(headers)) or "none"
            message = f"{facts.name}: no loop of {cfg.function.name!r} begins at 0x{header:04x}"
            raise InputError("facts-unknown-loop", message, hint=f"loop headers: {listed}")
    return dict(of_function.bounds)


def _gap(header: int, advice: str) -> Gap:
    options = advice.removeprefix("pass ") + ", " if advice.startswith("pass ") else ""
    reason = f" ({advice})" if advice and not options else ""
    return Gap(header, "unbounded-loop", f"the loop at 0x{header:04x} has no bound{reason}{REMEDY}{options}--bounds or --loop-bound")


def template(graphs: Iterable[tuple[WarpCfg, LoopBounds]]) -> str:
    """The TOML text of a facts file to fill in: every loop that still needs a bound, and why."""
    lines = ["# Loop bounds for sassan: the largest number of back edges that one thread takes per entry into the loop."]
    graphs = tuple(graphs)
    missing = {gap.address for _, bounds in graphs for gap in bounds.gaps if gap.code == _EXTERNAL}
    for callee in sorted({external.name for cfg, _ in graphs for external in cfg.externals if external.address in missing}):
        lines += ["", f"[external.{quoted(callee)}]", "# cost = ", '# calls = "never"']
    for cfg, bounds in graphs:
        name = quoted(cfg.function.name)
        loops = [gap for gap in bounds.gaps if gap.code != _EXTERNAL]
        if not loops:
            continue
        lines += ["", f"[function.{name}]", f'text = "{cfg.function.text_hash}"', *_parameters(cfg.function)]
        for gap in loops:
            lines += [f"[[function.{name}.loop]]", f'head = "0x{gap.address:04x}"', *_why(gap), "# bound = "]
    return "\n".join(lines) + "\n"


def _parameters(function: Function) -> list[str]:
    """The line that names the parameters, where the input says where they stand."""
    known = [f'{quoted(place.called)} = "0x{place.offset:x}"' for place in places(function) if place.offset >= 0]
    return [f"parameters = {{ {', '.join(known)} }} # names for --param: change them as you like"] if known else []


def _why(gap: Gap) -> list[str]:
    _, _, reason = gap.message.partition(" has no bound (")
    return [f"# {reason.rpartition('):')[0]}"] if reason else []
