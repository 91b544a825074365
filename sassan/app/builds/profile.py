"""What a build is held to beside its time: accesses with their transactions, branches that split a warp, local memory.

Transactions are those of the block that is given. Without one they are counted for a usual block, which shows a change and is not a bound.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sassan.access.access import Access
from sassan.access.opcodes import MemorySpace, references
from sassan.access.transactions import Count
from sassan.app.accesses import launch_accesses
from sassan.app.memory import line_of
from sassan.app.result import AnalysisResult
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import ADDRESS, BOUND, FLAG, LINE, STRING, array, nullable, one
from sassan.ir import Function, Language, SourceLine, Special
from sassan.isa.languages import variables
from sassan.machine.launch import Shape
from sassan.values import with_values
from sassan.warpcfg import explore

_LINE: Shape = (256, 1, 1)
_PLANE: Shape = (32, 8, 1)
_SECOND_AXIS = "SR_TID.Y"


@dataclass(frozen=True, slots=True)
class CodePlace:
    """An instruction, and the line that it was made from."""

    address: int
    line: SourceLine | None


@dataclass(frozen=True, slots=True)
class ProfiledAccess(CodePlace):
    """An access of memory; `access` is None where it is not followed."""

    opcode: str
    space: MemorySpace
    access: Access | None

    @property
    def transactions(self) -> Count | None:
        """The transactions of a full warp, None where they are unknown."""
        return self.access.transactions if self.access is not None else None


def _divergent(result: AnalysisResult) -> Iterator[CodePlace]:
    for at in sorted({node.end for node in result.cfg.nodes if node.divergent}):
        yield CodePlace(at, line_of(result.function, at))


_of_place, _of_access, _of = Declare[CodePlace](), Declare[ProfiledAccess](), Declare[AnalysisResult]()


class DivergentBranchFields(Record[CodePlace]):
    """A branch that may split a warp."""

    address = _of_place(ADDRESS, "address of the instruction")
    source = _of_place(LINE, "the line that it was made from", lambda place: place.line)


class ProfiledAccessFields(Record[ProfiledAccess]):
    """An access of memory in the code, reached or not."""

    address = _of_access(ADDRESS, "address of the instruction")
    opcode = _of_access(STRING, "its opcode")
    space = _of_access(STRING, "the memory", lambda each: each.space.value)
    transactions = _of_access(
        BOUND, "transactions of a full warp, at most where not `exact`", lambda each: each.transactions.most if each.transactions else None
    )
    exact = _of_access(FLAG, "whether it is exactly so many", lambda each: each.transactions is not None and each.transactions.exact)
    ideal = _of_access(BOUND, "the fewest that its bytes need", lambda each: each.access.ideal if each.access is not None else None)
    source = _of_access(LINE, "the line that it was made from", lambda each: each.line)


class ProfileFields(Record[AnalysisResult]):
    """What a baseline holds beside bounds; transactions are those of the block."""

    block = _of(STRING, "threads of a block, by axis", lambda result: ",".join(map(str, block_of(result))))
    assumed = _of(FLAG, "whether the block is a usual one, since none is given", lambda result: result.settings.launch.block is None)
    local = _of(BOUND, "local memory of a thread", lambda result: local(result.function), unit="bytes")
    accesses = _of(
        nullable(array(one(ProfiledAccessFields))),
        "accesses of memory, null for PTX",
        lambda result: None if result.function.language is Language.PTX else _accesses(result, block_of(result)),
    )
    divergent = _of(array(one(DivergentBranchFields)), "branches that may split a warp", _divergent)


def block_of(result: AnalysisResult) -> Shape:
    """Return the block that transactions are counted for: the given one, that which the code was compiled for, or a usual one."""
    given, limit = result.settings.launch.block, result.function.block_limit
    if given is not None:
        return given
    if limit is not None and limit.exact:
        return limit.extents
    special = {operand.name for each in result.function.instructions for operand in each.operands if isinstance(operand, Special)}
    return _PLANE if _SECOND_AXIS in special else _LINE


def local(function: Function) -> int | None:
    """Return the bytes of local memory of a thread, None where the input does not say."""
    facts = function.compiler
    sizes = [size for size in (facts.frame_size, facts.max_stack) if size is not None] if facts is not None else []
    return max(sizes, default=None)


def _accesses(result: AnalysisResult, block: Shape) -> Iterator[ProfiledAccess]:
    """Yield every access of memory in the order of the code, reached or not."""
    known = {(access.address, access.space): access for access in _followed(result, block)}
    for instruction in result.function.instructions:
        for reference in references(instruction):
            if reference.space is not MemorySpace.CONSTANT:
                at, access = instruction.address, known.get((instruction.address, reference.space))
                yield ProfiledAccess(at, line_of(result.function, at), instruction.opcode, reference.space, access)


def _followed(result: AnalysisResult, block: Shape) -> tuple[Access, ...]:
    """Return the accesses of lanes; none where they are not followed."""
    function, settings = result.function, replace(result.settings, facts=None)
    values = result.values
    if values is None or settings.launch.block is None:
        launch = replace(settings.launch, block=block)
        values = with_values(result.cfg, variables(result.isa), launch, lambda facts: explore(function, facts, settings.exploration))
    return launch_accesses(values, settings) if values is not None else ()
