"""`memory`: the transactions of the memory accesses of the functions of an input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack, overload

from sassan.api import checking, tables
from sassan.api.choices import Choices, checked, options_of
from sassan.api.inputs import Origin
from sassan.api.launching import Launch, parameters
from sassan.api.results import NamedResults
from sassan.api.subjects import functions_of
from sassan.app import analysis
from sassan.app.memory import AccessRow, MemoryResult, alignment, check_alignments, memory_of
from sassan.app.memory_fields import AccessFields, MemoryFields
from sassan.app.options import library
from sassan.errors import Gap
from sassan.fields.field import Value, document
from sassan.ir import Function, Program
from sassan.timing import UnitCostModel


@dataclass(frozen=True, slots=True, repr=False)
class KernelMemory:
    """The memory accesses of one function, those that waste most first; there are none where `gaps` say why they are unknown.

    A transaction is a sector of 32 bytes of global or local memory, or a pass over the banks of shared memory. `result` is what the
    pipeline found, whose shape may change between versions.
    """

    result: MemoryResult

    def __repr__(self) -> str:
        """Return name, accesses and waste in a line."""
        known = f"{len(self.accesses)} accesses, {self.wasted} transactions wasted" if not self.gaps else tables.gaps(len(self.gaps))
        return f"<KernelMemory {self.name!r}: {known}>"

    @property
    def name(self) -> str:
        """The name of the function, as the input has it (mangled in cubins): what `KernelMemories` is indexed by."""
        return self.result.function.name

    @property
    def accesses(self) -> tuple[AccessRow, ...]:
        """Each `access` with its `executions` by one warp on the worst path, its `source` line, and the transactions `wasted`.

        An access has its address, opcode, memory space, bytes per thread, and the transactions of one execution by a full warp.
        """
        return self.result.rows

    @property
    def wasted(self) -> int:
        """The transactions of one warp beyond those that the same bytes need: sectors of 32 bytes, passes over the banks."""
        return sum(row.wasted for row in self.result.rows)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Why accesses are unknown: a `Gap` each, with its code and address; empty where they are known."""
        return self.result.gaps

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the transactions rest on, a sentence each, such as the block that is given or the alignment of pointers."""
        return self.result.assumptions

    def to_dict(self) -> Mapping[str, Value]:
        """Return what `sassan memory --json` says of the function, ready for `json.dumps`; keys are those of docs/reference/json.md."""
        return document(MemoryFields, self.result)

    def _repr_html_(self) -> str:
        return _table((self.result,))


@dataclass(frozen=True, slots=True)
class KernelMemories(NamedResults[KernelMemory]):
    """The memory accesses of the functions of one input, in its order: `memories[0]`, `memories["saxpy"]` (the first of that name).

    `file` is the name of the input.
    """

    def _repr_html_(self) -> str:
        return _table([each.result for each in self.found])


@overload
def memory(
    subject: Function, *, file: str = ..., align: Mapping[str | int, int] | None = ..., **choices: Unpack[Choices]
) -> KernelMemory: ...
@overload
def memory(
    subject: Program | Origin, *, function: str | None = ..., align: Mapping[str | int, int] | None = ..., **choices: Unpack[Choices]
) -> KernelMemories: ...
def memory(
    subject: Function | Program | Origin,
    *,
    function: str | None = None,
    file: str = "",
    align: Mapping[str | int, int] | None = None,
    **choices: Unpack[Choices],
) -> KernelMemory | KernelMemories:
    """Return the memory accesses of one function, or of every function of a program or an input (of those that match `function`).

    `subject` and `file` are those of `analyze`, and so are `choices`: the block of `launch` says which thread is in which lane, its
    parameters the row lengths of arrays. `align` are bytes to which a pointer is aligned, by its name or its place in constant bank 0:
    without it an array may begin anywhere, and a row of 128 bytes take five sectors. Transactions are those of one execution by a full
    warp, the most that may be where they are not exact. Numbers are those of `sassan memory`.
    Raises what `analyze` raises, and UsageError for an alignment that is not a power of 2, or of a parameter that no function has.
    """
    options = options_of(checked(choices))
    settings = replace(options, occupancy=False, model=options.model or UnitCostModel().name).settings(library)
    pointers = Launch(parameters=checking.mapping("align", {} if align is None else align))
    aligned = [alignment(text) for text in parameters(pointers)]
    name, functions = functions_of(subject, settings, function, file)
    check_alignments(aligned, functions)
    memories = tuple(KernelMemory(memory_of(analysis.analyze(each, settings, name), aligned)) for each in functions)
    return memories[0] if isinstance(subject, Function) else KernelMemories(name, memories)


def _table(results: Sequence[MemoryResult]) -> str:
    """Return the memory accesses of each function; the gaps and the assumptions stand below."""
    fields = [field for field in AccessFields.fields if field.head]
    rows = ((result.function.name, *(tables.shown(field, row) for field in fields)) for result in results for row in result.rows)
    missing = [tables.gap_line(result.function.name, gap) for result in results for gap in result.gaps]
    table = tables.of_rows(("function", *(field.head for field in fields)), rows)
    return table + tables.listed("gaps", missing) + tables.assumptions(text for result in results for text in result.assumptions)
