"""Results: the bounds of one kernel, and of all kernels of an input."""

from collections.abc import Mapping
from dataclasses import dataclass

from sassan.api import checking, tables
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

    With the model `unit`, the default without a GPU, a bound counts instructions, not cycles. The bound of a warp is argued in
    docs/proofs/ipet-rows.md, that of the warps of an SM in docs/proofs/many-warps.md, that of a grid in docs/proofs/grid-bound.md.
    `analysis` is the result of the pipeline, whose shape may change between versions.
    """

    analysis: AnalysisResult

    def __repr__(self) -> str:
        """Return name, architecture and bound in a line."""
        known = f"WCET {self.wcet}" if self.wcet is not None else tables.gaps(len(self.gaps))
        return f"<Kernel {self.name!r} {self.arch}: {known}>"

    @property
    def subject(self) -> AnalysisResult:
        """The result of the pipeline, `analysis`: its shape may change between versions."""
        return self.analysis

    @property
    def function(self) -> Function:
        """The function that was analyzed, with its instructions in address order; `analyze` and the others take it again."""
        return self.analysis.function

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the bounds rest on, a sentence each; empty where there is no bound.

        docs/reference/assumptions.md says of each what backs it and what would refute it; one that fails takes the bound with it.
        """
        return self.analysis.assumptions

    @property
    def graph(self) -> Graph:
        """The warp-level control-flow graph, with costs and the worst path where they are known; a notebook draws it."""
        return Graph(self.analysis)

    def program(self, form: str = "lp") -> str | None:
        """Return the integer program behind the WCET as text for other solvers, None where gaps forbid it.

        `form` is `lp` or `mps`. The maximum is the WCET, in the unit of the cost model; every row has a name, which
        docs/proofs/ipet-rows.md argues for. Raises UsageError for another form.
        """
        return integer_program(self.analysis, checking.one_of("lp", "mps")("form", form))

    def to_dict(self) -> Mapping[str, Value]:
        """Return what `sassan analyze --json` says of the function, ready for `json.dumps`; keys are those of docs/reference/json.md."""
        return document(ProfiledFields, self.analysis)

    def _repr_html_(self) -> str:
        return tables.kernels((self.analysis,))


@dataclass(frozen=True, slots=True)
class Kernels(NamedResults[Kernel]):
    """The functions of one input, each a `Kernel`, in the order of the input: `kernels[0]`, `kernels["saxpy"]` (the first of that name).

    `file` is the name of the input. A notebook shows the table of `sassan analyze`.
    """

    def _repr_html_(self) -> str:
        return tables.kernels([kernel.analysis for kernel in self.found])
