"""The memory accesses of a function, for the launch of its result."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sassan.access import Access, assumptions
from sassan.access.reasons import reason
from sassan.app.accesses import launch_accesses
from sassan.app.result import AnalysisResult
from sassan.errors import Gap, UsageError
from sassan.ipet.wcet import greatest
from sassan.ir import Function, Language, SourceLine
from sassan.isa.languages import variables
from sassan.machine.parameters import ParameterLocation, Setting, describe, places, setting
from sassan.render.graph.decorations import Decorations
from sassan.values import WarpValues, with_values
from sassan.warpcfg import explore


@dataclass(frozen=True, slots=True)
class AccessRow:
    """One access, how often a warp executes it on the worst path (None: not known), and where it stands in the source."""

    access: Access
    executions: int | None
    source: SourceLine | None

    @property
    def wasted(self) -> int:
        """Return the transactions beyond the ideal that a warp makes at most, one execution where their number is not known."""
        return (self.access.waste or 0) * (1 if self.executions is None else self.executions)

    @property
    def reason(self) -> str:
        """Return why it wastes transactions, and how many it makes, '' where it does not."""
        return reason(self.access)


@dataclass(frozen=True, slots=True)
class MemoryResult:
    """The accesses of a function, those that waste most first; where they are not followed, there are none and `gaps` say why."""

    analysis: AnalysisResult
    rows: tuple[AccessRow, ...]
    gaps: tuple[Gap, ...] = ()
    alignments: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def function(self) -> Function:
        """The function."""
        return self.analysis.function

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what the transactions rest on."""
        return assumptions([row.access for row in self.rows], self.alignments)


def alignment(text: str) -> Setting:
    """Return the alignment of a pointer, in bytes, of `param_0=16`, `x=16` or `0x140=16`.

    Raises UsageError `parameter`.
    """
    given = setting(text)
    if given.value < 1 or given.value & given.value - 1:
        raise UsageError("parameter", f"alignment {given}: not a power of two", hint="pass --align PARAM=16, in bytes")
    return given


def check_alignments(aligned: Sequence[Setting], functions: Sequence[Function]) -> None:
    """Raise UsageError `unknown-parameter` where no kernel has such a pointer."""
    for given in aligned:
        if functions and all(_pointer(function, given) is None for function in functions):
            raise UsageError("unknown-parameter", f"alignment {given}: no kernel has such a pointer", hint=describe(functions[0]))


def _pointer(function: Function, given: Setting) -> ParameterLocation | None:
    """Return the parameter of 8 bytes that is meant; only a cubin says which there are."""
    wanted = [place for place in places(function) if place.size == 8]  # noqa: PLR2004 - bytes of a pointer
    called = [place for place in wanted if (given.name in {place.source, place.name} if given.name else place.offset == given.offset)]
    return next(iter(called), None)


def memory_of(result: AnalysisResult, aligned: Sequence[Setting] = ()) -> MemoryResult:
    """Return the accesses of a function with their transactions; `aligned` are alignments of single pointers.

    Raises SelfCheckError.
    """
    values = result.values or _followed(result)
    if values is None:
        return MemoryResult(result, (), result.cfg.gaps or (_not_followed(result.function),))
    counts = _executions(result)
    alignments = {place.called: given.value for given in aligned if (place := _pointer(result.function, given)) is not None}
    rows = [
        AccessRow(access, None if counts is None else counts.get(access.address, 0), line_of(result.function, access.address))
        for access in launch_accesses(values, result.settings, alignments)
    ]
    return MemoryResult(result, tuple(sorted(rows, key=lambda row: (-row.wasted, row.access.address))), alignments=alignments)


def most_wasted(memory: MemoryResult) -> int | None:
    """Return the most transactions that the full accesses of a warp waste on any path, None where accesses or paths are not known.

    Raises MissingToolError, UsageError (solver), SelfCheckError.
    """
    wastes = [(row.access.address, row.access.waste) for row in memory.rows]
    if memory.gaps or any(waste is None for _, waste in wastes):
        return None
    by_address: dict[int, int] = {}
    for address, waste in wastes:
        by_address[address] = by_address.get(address, 0) + (waste or 0)
    nodes = memory.analysis.cfg.nodes
    return greatest(memory.analysis.problem, [sum(by_address.get(each.address, 0) for each in node.instructions) for node in nodes])


def _executions(result: AnalysisResult) -> dict[int, int] | None:
    """Return how often the worst path executes each instruction, in all contexts together; None where no worst path is known."""
    if not result.wcet.counts or not result.wcet.bound:
        return None
    counts: dict[int, int] = {}
    for node, count in zip(result.cfg.nodes, Decorations(counts=result.wcet.counts).node_counts(result.cfg), strict=True):
        for instruction in node.instructions:
            counts[instruction.address] = counts.get(instruction.address, 0) + count
    return counts


def _followed(result: AnalysisResult) -> WarpValues | None:
    """Return what registers hold where nothing of the launch is given: lanes are known by their number alone."""
    function, settings = result.function, result.settings
    return with_values(result.cfg, variables(result.isa), settings.launch, lambda facts: explore(function, facts, settings.exploration))


def _not_followed(function: Function) -> Gap:
    why = "the registers of PTX are not followed: compile it" if function.language is Language.PTX else "some instruction is not known"
    return Gap(function.entry, "values-not-followed", f"accesses are not known: {why}")


def line_of(function: Function, address: int) -> SourceLine | None:
    """Return the source line of an instruction, None where it is not known."""
    place = bisect_right(function.lines, address, key=lambda line: line.address)
    return function.lines[place - 1] if place else None
