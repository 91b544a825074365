"""Results: the bounds of one kernel, and of all kernels of an input."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from sassan.api import tables
from sassan.api.graphs import Graph
from sassan.app.analysis_fields import AnalysisFields, GridFields, MakespanFields, WcetFields, WorstPathFields
from sassan.app.document_fields import ProfiledFields
from sassan.app.documents import FunctionFields, tool
from sassan.app.result import AnalysisResult
from sassan.app.views import integer_program
from sassan.fields.field import Value, document
from sassan.ir import Function


@dataclass(frozen=True, slots=True, repr=False)
class Kernel(AnalysisFields, WorstPathFields, WcetFields, MakespanFields, GridFields, FunctionFields[AnalysisResult]):
    """What is known of one function. Bounds are in cycles of the cost model and hold under `assumptions`; None: `gaps` say why.

    `analysis` is the result of the pipeline, whose shape may change between versions.
    """

    analysis: AnalysisResult

    def __repr__(self) -> str:
        """Return name, architecture and bound in a line."""
        known = f"WCET {self.wcet}" if self.wcet is not None else tables.gaps(len(self.gaps))
        return f"<Kernel {self.name!r} {self.arch}: {known}>"

    @property
    def subject(self) -> AnalysisResult:
        """Return the result of the pipeline."""
        return self.analysis

    @property
    def function(self) -> Function:
        """Return the function."""
        return self.analysis.function

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what the bounds rest on; nothing where there is none."""
        return self.analysis.assumptions

    @property
    def graph(self) -> Graph:
        """Return the warp-level control-flow graph; a notebook draws it."""
        return Graph(self.analysis)

    def program(self, form: str = "lp") -> str | None:
        """Return the integer program behind the WCET as LP or MPS text, None where gaps forbid it."""
        return integer_program(self.analysis, form)

    def to_dict(self) -> Mapping[str, Value]:
        """Return what `sassan analyze --json` says of the function."""
        return document(ProfiledFields, self.analysis)

    def _repr_html_(self) -> str:
        return tables.kernels((self.analysis,))


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
        return {**tool(), "functions": [kernel.to_dict() for kernel in self.found]}

    def _repr_html_(self) -> str:
        return tables.kernels([kernel.analysis for kernel in self.found])
