"""What is known of one function, with what made it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sassan.access.access import Access
from sassan.app.settings import Settings
from sassan.errors import Gap
from sassan.ipet.flow_facts import LoopBounds
from sassan.ipet.wcet import Wcet, WcetProblem
from sassan.ir import Function
from sassan.isa.languages import Isa
from sassan.strings.kernel_string import KernelString
from sassan.timing import Quantity
from sassan.values import WarpValues
from sassan.values.classes import WarpClass
from sassan.warpcfg.graph import EdgeKind, WarpCfg

if TYPE_CHECKING:
    from sassan.ipet.loop_bounds.whole_run import WholeRun
    from sassan.ipet.sm.makespan import SmMakespan
    from sassan.ipet.sm.residency import Grid, Residency


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A schedule of the warps whose makespan is bounded: it takes `cycles`, so no bound of them is below; None: `why` there is none.

    `rule` says which warps go first in it.
    """

    cycles: int | None
    rule: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: the address of its header, `head`, the largest number of back edges that a thread takes per entry, and where that comes from.

    `bound` is None where it is unknown; `source` is `fact`, `inferred`, `default`, `yield` or `none`, `reason` the argument of an
    inferred one; `context` are the call sites that lead to it.
    """

    head: int
    bound: int | None
    source: str
    reason: str
    context: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """All that is known of one function.

    `file` is the input that holds the function, as the user names it. `strings` are those of the nodes of the graph, None where an
    instruction is unknown. `worst_path` is the string of a path that costs as much as the WCET, None where none is known. `settings` and
    `isa` are those of the analysis.
    """

    file: str
    cfg: WarpCfg
    strings: tuple[KernelString | None, ...]
    bounds: LoopBounds
    problem: WcetProblem
    wcet: Wcet
    worst_path: KernelString | None
    settings: Settings
    isa: Isa = field(compare=False, repr=False)
    values: WarpValues | None = field(default=None, compare=False, repr=False)
    """What registers hold for the launch, None where nothing of it is given or they are not followed."""
    accesses: tuple[Access, ...] | None = field(default=None, compare=False, repr=False)
    """The accesses with these values, where the cost model has use for them."""
    run: "WholeRun | None" = field(default=None, compare=False, repr=False)
    """A run of all warps of the launch, where there was one."""
    classes: tuple[WarpClass, ...] = field(default=(), compare=False, repr=False)
    """The classes of the warps of a block, where they execute different code."""
    makespan: "SmMakespan | None" = None
    residency: "Residency | None" = None
    scheduled: Scheduled | None = None
    """The lower end of `makespan`, None where no schedule is wanted."""

    @property
    def function(self) -> Function:
        """The function."""
        return self.cfg.function

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Everything that forbids a bound, by address."""
        return tuple(sorted({*self.cfg.gaps, *self.wcet.gaps, *(self.makespan.gaps if self.makespan else ())}))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the numbers rest on, each once; nothing where there is no number."""
        makespan = self.makespan
        bounds = (self.wcet, *((makespan.bound, makespan.partition, makespan.grid) if makespan is not None else ()))
        return tuple(dict.fromkeys(text for bound in bounds if bound is not None and bound.value is not None for text in bound.assumptions))

    @property
    def quantity(self) -> Quantity:
        """What the bounds count."""
        return self.settings.costs.quantity

    @property
    def grid_us(self) -> float | None:
        """The bound of the whole grid in microseconds, None where it is not known, or no GPU is, or its numbers are no cycles."""
        gpu, cycles = self.settings.gpu, self.grid_bound
        return None if gpu is None or cycles is None or self.quantity is not Quantity.CYCLES else gpu.us(cycles)

    @property
    def grid_bound(self) -> int | None:
        """The bound of the whole grid in cycles, None where it is not known or not wanted."""
        return self.makespan.grid.value if self.makespan is not None and self.makespan.grid is not None else None

    @property
    def shape(self) -> "Grid | None":
        """The grid whose bound is known or has gaps, None where none is wanted."""
        return self.makespan.residents.grid if self.makespan is not None and self.makespan.grid is not None else None

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops, one for each call context."""
        nodes, bounds = self.cfg.nodes, self.bounds
        rows = zip(self.cfg.loops, bounds.of_loop, bounds.origins, bounds.reasons, strict=True)
        return tuple(
            Loop(nodes[loop.head].start, bound, origin.value, reason, tuple(nodes[loop.head].context))
            for loop, bound, origin, reason in rows
        )

    @property
    def divergent_branches(self) -> int:
        """How many instructions may split the warp, each counted once whatever calls lead to it."""
        return len({node.end for node in self.cfg.nodes if node.divergent})

    @property
    def reactivation_edges(self) -> int:
        """How many edges resume the suspended side of a divergence."""
        return sum(edge.kind is EdgeKind.REACTIVATE for edge in self.cfg.edges)
