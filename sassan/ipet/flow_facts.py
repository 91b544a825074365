"""Flow facts: what a user knows of the loops of a function (cli.md), read from TOML and tied to the text of the function.

A fact speaks of the loop head at an address, in every call context: `bound` is how often one thread goes back to the head per entry.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
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
GIVE = ": give one with --bounds or --loop-bound"
"""What the gap of a loop without a bound ends with; who offers no such options says what helps there."""


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """`text` is the hash of the function that the facts were written for; `bounds` are (address of the head, bound), sorted.

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
    """What a call of each external function costs, in the unit of the cost model; None: it is never called."""

    @property
    def named(self) -> tuple[Named, ...]:
        """Return what the file calls the parameters of functions."""
        return tuple(Named(function, name, offset) for function, one in self.functions for name, offset in one.parameters)


class Origin(StrEnum):
    """Where a bound comes from: a flow fact, the code itself, --loop-bound, the YIELD assumption, or nowhere."""

    FACT = "fact"
    INFERRED = "inferred"
    DEFAULT = "default"
    YIELD = "yield"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Bounds:
    """`of_loop` follows `WarpCfg.loops`, None where no bound is known; each of those heads has one gap in `gaps`.

    `origins` and `reasons` follow the loops too: where the bound comes from, and the argument of an inferred one.
    """

    of_loop: tuple[int | None, ...]
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    origins: tuple[Origin, ...] = ()
    reasons: tuple[str, ...] = ()
    external: tuple[tuple[int, int | None], ...] = ()
    """Per address of a call of an external function that a fact speaks of: what the call costs, None where it is never made."""


def read(name: str, text: str) -> FlowFacts:
    """Return the facts of a TOML text that the user called `name`.

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
    """Raise InputError for facts about a function that is not there, or that was another text when they were written."""
    hashes = {function.name: function.text_hash for function in functions}
    for function, known in facts.functions:
        if function not in hashes:
            raise InputError("facts-unknown-function", f"{facts.name}: the input has no function {function!r}")
        if known.text != hashes[function]:
            message = f"{facts.name}: function {function!r} is not the text that the facts were written for"
            raise InputError("facts-text-mismatch", message, hint=f'check the bounds again, then write text = "{hashes[function]}"')


def bounds_of(cfg: WarpCfg, facts: FlowFacts | None = None, default: int | None = None, found: Sequence[Inferred] = ()) -> Bounds:
    """Return the bound of every loop: its fact, else what was inferred (`found`), else the default, else a gap; what was assumed is said.

    Raises InputError for facts about another text or about an address where no loop begins, UsageError for a negative default.
    """
    if default is not None and default < 0:
        raise UsageError("negative-loop-bound", f"a loop bound of {default} means nothing", hint="0 or more")
    given = _facts_of(cfg, facts)
    heads = [cfg.nodes[loop.head].start for loop in cfg.loops]
    assumptions = [
        f"flow fact: the loop at 0x{head:04x} goes back at most {bound} times per entry" for head, bound in sorted(given.items())
    ]
    spinning = [head for head in cfg.spins if head in heads and head not in given]
    assumptions += [f"YIELD splits no threads: the loop at 0x{head:04x} never turns" for head in spinning]
    known = dict.fromkeys(spinning, 0) | given
    inferred = {one.loop: one for one in found if one.bound is not None and one.head not in known}
    assumptions += _inferences(inferred)
    without = sorted({head for index, head in enumerate(heads) if head not in known and index not in inferred})
    if without and default is not None:
        listed = ", ".join(f"0x{head:04x}" for head in without)
        assumptions.append(f"--loop-bound: a thread goes back at most {default} times per entry in the loops at {listed}")
    advice = {one.head: one.advice for one in found if one.bound is None and one.advice}
    gaps = () if default is not None else tuple(_gap(head, advice.get(head, "")) for head in without)
    known_external = dict(facts.external) if facts is not None else {}
    external = tuple((one.address, known_external[one.name]) for one in cfg.externals if one.name in known_external)
    assumptions += sorted({_of_external(one.name, known_external[one.name]) for one in cfg.externals if one.name in known_external})
    gaps += tuple(_external_gap(one) for one in cfg.externals if one.name not in known_external)
    return Bounds(
        tuple(inferred[index].bound if index in inferred else known.get(head, default) for index, head in enumerate(heads)),
        tuple(assumptions),
        gaps,
        tuple(_origin(head, given, spinning, index in inferred, default) for index, head in enumerate(heads)),
        tuple(inferred[index].reason if index in inferred else "" for index in range(len(heads))),
        external,
    )


def _of_external(name: str, cost: int | None) -> str:
    if cost is None:
        return f"flow fact: {name} is never called"
    return f"flow fact: a call of {name} takes {cost} at most, with all that it leaves under way"


def _external_gap(one: External) -> Gap:
    key = one.name if _BARE.fullmatch(one.name) else quoted(one.name)
    remedy = f'say what a call costs, in a file for --bounds: [external.{key}] cost = N, or calls = "never"'
    return Gap(one.address, _EXTERNAL, f"{one.name} is called, and it is not in the input: {remedy}")


def _inferences(inferred: Mapping[int, Inferred]) -> list[str]:
    """Return the arguments of inferred bounds, those of one head in several call contexts once."""
    said = {
        f"inferred: the loop at 0x{one.head:04x} goes back at most {one.bound} times per entry ({one.reason})" for one in inferred.values()
    }
    return sorted(said)


def _origin(head: int, given: Mapping[int, int], spinning: Sequence[int], inferred: bool, default: int | None) -> Origin:
    if head in given:
        return Origin.FACT
    if head in spinning:
        return Origin.YIELD
    return Origin.INFERRED if inferred else Origin.NONE if default is None else Origin.DEFAULT


def _facts_of(cfg: WarpCfg, facts: FlowFacts | None) -> dict[int, int]:
    mine = dict(facts.functions).get(cfg.function.name) if facts else None
    if facts is None or mine is None:
        return {}
    check_functions(FlowFacts(facts.name, ((cfg.function.name, mine),)), (cfg.function,))
    heads = {cfg.nodes[loop.head].start for loop in cfg.loops}
    for head, _ in mine.bounds:
        if head not in heads:
            listed = ", ".join(f"0x{one:04x}" for one in sorted(heads)) or "none"
            message = f"{facts.name}: no loop of {cfg.function.name!r} begins at 0x{head:04x}"
            raise InputError("facts-unknown-loop", message, hint=f"loop heads: {listed}")
    return dict(mine.bounds)


def _gap(head: int, advice: str) -> Gap:
    why = f" ({advice})" if advice else ""
    return Gap(head, "unbounded-loop", f"the loop at 0x{head:04x} has no bound{why}{GIVE}")


def template(cfgs: Iterable[tuple[WarpCfg, Bounds]]) -> str:
    """Return the TOML text of a facts file with every loop that still needs a bound, to be filled in, and why it needs one."""
    lines = ["# Loop bounds for sassan: how often one thread goes back to the head of the loop, per entry into it."]
    every = tuple(cfgs)
    missing = {gap.address for _, bounds in every for gap in bounds.gaps if gap.code == _EXTERNAL}
    for callee in sorted({one.name for cfg, _ in every for one in cfg.externals if one.address in missing}):
        lines += ["", f"[external.{quoted(callee)}]", "# cost = ", '# calls = "never"']
    for cfg, bounds in every:
        name = quoted(cfg.function.name)
        loops = [gap for gap in bounds.gaps if gap.code != _EXTERNAL]
        if not loops:
            continue
        lines += ["", f"[function.{name}]", f'text = "{cfg.function.text_hash}"', *_parameters(cfg.function)]
        for gap in loops:
            lines += [f"[[function.{name}.loop]]", f'head = "0x{gap.address:04x}"', *_why(gap), "# bound = "]
    return "\n".join(lines) + "\n"


def _parameters(function: Function) -> list[str]:
    """Return the line that gives the parameters names, where the input says where they stand."""
    known = [f'{quoted(one.source or one.name)} = "0x{one.offset:x}"' for one in places(function) if one.offset >= 0]
    return [f"parameters = {{ {', '.join(known)} }} # as --param calls them: change the names"] if known else []


def _why(gap: Gap) -> list[str]:
    _, _, why = gap.message.partition(" has no bound (")
    return [f"# {why.rpartition('):')[0]}"] if why else []
