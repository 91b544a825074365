"""Results: the bounds of one kernel, and of all kernels of an input."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from sassan.api import tables
from sassan.api.graphs import Graph
from sassan.app import documents
from sassan.app.builds import profile
from sassan.app.documents import Value
from sassan.app.result import AnalysisResult
from sassan.app.views import integer_program
from sassan.errors import Gap
from sassan.ir import Function


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: the address of its header, the largest number of back edges that a thread takes per entry, and where that comes from.

    `bound` is None where it is unknown; `source` is `fact`, `inferred`, `default`, `yield` or `none`, `reason` the argument of an
    inferred one.
    """

    head: int
    bound: int | None
    source: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Kernel:
    """What is known of one function. Bounds are in cycles of the cost model and hold under `assumptions`; None: `gaps` say why.

    `analysis` is the result of the pipeline, whose shape may change between versions.
    """

    file: str
    analysis: AnalysisResult

    def __repr__(self) -> str:
        """Return name, architecture and bound in a line."""
        known = f"WCET {self.wcet}" if self.wcet is not None else tables.gaps(len(self.gaps))
        return f"<Kernel {self.name!r} {self.arch}: {known}>"

    @property
    def function(self) -> Function:
        """Return the function."""
        return self.analysis.function

    @property
    def name(self) -> str:
        """Return the name of the function, as the input spells it: untrusted text."""
        return self.analysis.function.name

    @property
    def arch(self) -> str:
        """Return the architecture: `sm_61`."""
        return self.analysis.function.arch

    @property
    def wcet(self) -> int | None:
        """Return the bound of one warp that runs alone."""
        return self.analysis.wcet.value if self.analysis.wcet.bound else None

    @property
    def makespan(self) -> int | None:
        """Return the bound of the warps that were asked for, or are resident, on one SM; None also where none was asked for."""
        makespan = self.analysis.makespan
        return makespan.bound.value if makespan is not None else None

    @property
    def warps(self) -> int | None:
        """Return of how many warps `makespan` speaks."""
        makespan = self.analysis.makespan
        return makespan.residents.warps if makespan is not None else None

    @property
    def grid(self) -> int | None:
        """Return the bound of the whole grid; None also where no grid was given."""
        makespan = self.analysis.makespan
        return makespan.grid.value if makespan is not None and makespan.grid is not None else None

    @property
    def grid_us(self) -> float | None:
        """Return the bound of the whole grid in microseconds at the boost clock of the GPU; None also where no GPU was given."""
        return self.analysis.grid_us

    @property
    def worst_path(self) -> str | None:
        """Return the kernel string of a path that costs as much as the WCET: `L2C9(L1C4)^10`."""
        return documents.string(self.analysis.worst_path)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return everything that forbids a bound, by address."""
        return self.analysis.gaps

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what the bounds rest on; nothing where there is none."""
        return self.analysis.assumptions

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Return the loops, one for each call context."""
        nodes, bounds = self.analysis.cfg.nodes, self.analysis.bounds
        rows = zip(self.analysis.cfg.loops, bounds.of_loop, bounds.origins, bounds.reasons, strict=True)
        return tuple(Loop(nodes[loop.head].start, bound, origin.value, reason) for loop, bound, origin, reason in rows)

    @property
    def graph(self) -> Graph:
        """Return the warp-level control-flow graph; a notebook draws it."""
        return Graph(self.analysis)

    def program(self, form: str = "lp") -> str | None:
        """Return the integer program behind the WCET as LP or MPS text, None where gaps forbid it."""
        return integer_program(self.analysis, form)

    def to_dict(self) -> Mapping[str, Value]:
        """Return what `sassan analyze --json` says of the function."""
        return {**documents.analysis(self.analysis), **profile.document(self.analysis)}

    def _repr_html_(self) -> str:
        return tables.kernels((tables.KernelLine(self.analysis, self.assumptions),))


@dataclass(frozen=True, slots=True)
class Kernels(Sequence[Kernel]):
    """The kernels of one input, in its order; also by name, the first of that name."""

    file: str
    found: tuple[Kernel, ...]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.found)

    def __contains__(self, key: object) -> bool:
        """Return whether this kernel is there, or one of this name."""
        return any(kernel.name == key for kernel in self.found) if isinstance(key, str) else key in self.found

    def __iter__(self) -> Iterator[Kernel]:
        """Yield them in order."""
        return iter(self.found)

    @overload
    def __getitem__(self, key: int | str) -> Kernel: ...
    @overload
    def __getitem__(self, key: slice) -> "Kernels": ...
    def __getitem__(self, key: int | str | slice) -> "Kernel | Kernels":
        """Return a kernel by name or by place; raises KeyError, IndexError."""
        if isinstance(key, slice):
            return Kernels(self.file, self.found[key])
        if isinstance(key, int):
            return self.found[key]
        for kernel in self.found:
            if kernel.name == key:
                return kernel
        raise KeyError(key)

    def to_dict(self) -> Mapping[str, Value]:
        """Return the document of `sassan analyze --json`."""
        return {**documents.tool(), "functions": [kernel.to_dict() for kernel in self.found]}

    def _repr_html_(self) -> str:
        return tables.kernels(tuple(tables.KernelLine(kernel.analysis, kernel.assumptions) for kernel in self.found))
