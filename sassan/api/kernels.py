"""Results: the bounds of one kernel, and of all kernels of an input."""

from collections.abc import Mapping
from dataclasses import dataclass

from sassan.api import tables
from sassan.api.graphs import Graph
from sassan.api.results import NamedResults
from sassan.app.analysis_fields import AnalysisFields, GridFields, MakespanFields, WcetFields, WorstPathFields
from sassan.app.document_fields import ProfiledFields
from sassan.app.documents import FunctionFields
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
class Kernels(NamedResults[Kernel]):
    """The kernels of one input, in its order; also by name, the first of that name."""

    def _repr_html_(self) -> str:
        return tables.kernels([kernel.analysis for kernel in self.found])
