"""Flow facts as values; what each of them means, for a thread and for a warp, stands in docs/proofs/flow-facts.md."""

from dataclasses import dataclass

from sassan.access.limits import Limit
from sassan.ilp.model import Sense
from sassan.machine.parameters import Named


@dataclass(frozen=True, slots=True, order=True)
class LineReference:
    """Line `number` of a source file; `file` is the end of its path, in whole components."""

    file: str
    number: int

    def __str__(self) -> str:
        """The spelling of the file of facts."""
        return f"{self.file}:{self.number}"


LoopName = int | LineReference
"""How a fact names a loop: the address of its head, or a source line; a line names every loop that was compiled from it."""


@dataclass(frozen=True, slots=True)
class Total:
    """A thread executes the block at the address `counted`, or takes back edges of the loop `counted` (`back`), at most `bound` times.

    That is per entry into the loop `per`; None: in one run of the function.
    """

    counted: LoopName
    back: bool
    bound: int
    per: LoopName | None = None


@dataclass(frozen=True, slots=True)
class Exclusive:
    """A thread executes at most one of `blocks` (addresses) in one iteration of the loop `within`; None: in one run of the function."""

    blocks: tuple[int, ...]
    within: LoopName | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """The sum of factor * executions by a warp of the block at an address, over `terms` (address, factor), is `sense` `limit`."""

    terms: tuple[tuple[int, int], ...]
    sense: Sense
    limit: int


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """The facts of one function. `text` is the hash of the function that they were written for, '' where all of them name loops by line.

    `bounds` are (loop, largest number of back edges of a thread per entry); `parameters` are (name, offset in constant bank 0), in the
    order of the file; no block at an address of `never` is executed; `targets` are (address of a branch or call, where it leads),
    `accesses` (address of a memory instruction, what is known of it).
    """

    text: str
    bounds: tuple[tuple[LoopName, int], ...] = ()
    parameters: tuple[tuple[str, int], ...] = ()
    totals: tuple[Total, ...] = ()
    never: tuple[int, ...] = ()
    exclusive: tuple[Exclusive, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    targets: tuple[tuple[int, tuple[int, ...]], ...] = ()
    accesses: tuple[tuple[int, Limit], ...] = ()


NO_FACTS = FunctionFacts("")


@dataclass(frozen=True, slots=True)
class FlowFacts:
    """The facts of one file, per function name, in the order of the file."""

    name: str
    functions: tuple[tuple[str, FunctionFacts], ...] = ()
    external: tuple[tuple[str, int | None], ...] = ()
    """The cost of a call of each external function, in cycles of the cost model; None: it is never called."""

    def of(self, function: str) -> FunctionFacts | None:
        """The facts of a function, None where there are none."""
        return dict(self.functions).get(function)

    @property
    def named(self) -> tuple[Named, ...]:
        """The names that the file gives to the parameters of functions."""
        return tuple(Named(function, name, offset) for function, facts in self.functions for name, offset in facts.parameters)
