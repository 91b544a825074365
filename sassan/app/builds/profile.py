"""What a build is held to beside its time: accesses with their transactions, branches that split a warp, local memory.

Transactions are those of the block that is given. Without one they are counted for a usual block, which shows a change and is no bound.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sassan.access.accesses import Access
from sassan.access.opcodes import Space, references
from sassan.app.documents import Value, address
from sassan.app.result import AnalysisResult
from sassan.app.touched import touched
from sassan.ir import Function, Language, Special
from sassan.machine.launch import Shape
from sassan.values import with_values
from sassan.warpcfg import explore

_LINE: Shape = (256, 1, 1)
_PLANE: Shape = (32, 8, 1)
_SECOND_AXIS = "SR_TID.Y"


def document(result: AnalysisResult) -> Mapping[str, Value]:
    """Return the key `profile` of a function."""
    block = block_of(result)
    return {
        "profile": {
            "block": ",".join(map(str, block)),
            "assumed": result.settings.launch.block is None,
            "local": local(result.function),
            "accesses": None if result.function.language is Language.PTX else list(_accesses(result, block)),
            "divergent": [
                {"address": address(at), "source": _source(result.function, at)}
                for at in sorted({node.end for node in result.cfg.nodes if node.divergent})
            ],
        }
    }


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


def _accesses(result: AnalysisResult, block: Shape) -> Iterator[Mapping[str, Value]]:
    """Yield every access of memory in the order of the code, reached or not; transactions are null where they are not known."""
    known = {(access.address, access.space): access for access in _followed(result, block)}
    for instruction in result.function.instructions:
        for reference in references(instruction):
            if reference.space is not Space.CONSTANT:
                access = known.get((instruction.address, reference.space))
                count = access.transactions if access is not None else None
                yield {
                    "address": address(instruction.address),
                    "opcode": instruction.opcode,
                    "space": reference.space.value,
                    "transactions": count.most if count is not None else None,
                    "exact": count is not None and count.exact,
                    "ideal": access.ideal if access is not None else None,
                    "source": _source(result.function, instruction.address),
                }


def _followed(result: AnalysisResult, block: Shape) -> tuple[Access, ...]:
    """Return the accesses of lanes; none where they are not followed."""
    function, settings = result.function, replace(result.settings, facts=None)
    values = result.values
    if values is None or settings.launch.block is None:
        launch = replace(settings.launch, block=block)
        values = with_values(result.cfg, result.isa.facts, launch, lambda facts: explore(function, facts, settings.exploration))
    return touched(values, settings) if values is not None else ()


def _source(function: Function, at: int) -> Value:
    place = bisect_right(function.lines, at, key=lambda line: line.address)
    return {"file": function.lines[place - 1].file, "line": function.lines[place - 1].line} if place else None
