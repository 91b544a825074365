"""The proof that two orders of PTX instructions are equivalent, from their text alone: without tables or a dependence graph.

Every instruction must read each name from the same writer as before, and each name must be written last by the same instruction; memory of
a state space is a name, which a load reads and a store reads and writes. By induction over the new order every instruction then computes
the same values as before, and the final values are the same. Nothing is proved of other instructions.
"""

import re
from collections.abc import Iterator, Sequence

from sassan.frontend.ptx.syntax import InstructionStatement
from sassan.frontend.ptx.text import operand_text

_WORD = re.compile(r"[%$\w][\w.$]*")
_ARITHMETIC = re.compile(
    r"(?:add|sub|mul|mad|mul24|mad24|sad|div|rem|abs|neg|min|max|popc|clz|bfind|brev|bfe|bfi|fns|dp4a|dp2a|copysign|testp|fma|rcp|sqrt|rsqrt"
    r"|sin|cos|lg2|ex2|tanh|and|or|xor|not|cnot|lop3|shf|shl|shr|prmt|cvt|set|setp|selp|slct|cvta|isspacep|mov|addc|subc|madc)(?:\..*)?"
)
_MOVES = re.compile(
    r"(?:(?P<load>ld)|st)(?:\.weak)?\.(?P<space>global|shared|local|const|param)(?:::cta)?(?:\.(?:nc|ca|cg|cs|wb|v2|v4|[busf][0-9]+|bf16|f16x2))+"
)
_CHANGES = re.compile(r"%(?:clock|globaltimer|pm[0-9]|envreg|smid|warpid)")
_CARRY = "the carry flag"
"""Contains a space, like the names of memories, so that it differs from every variable."""

Read = tuple[tuple[str, int], ...]


def proved(before: Sequence[InstructionStatement], after: Sequence[InstructionStatement]) -> bool:
    """Return whether the second order has the same instructions and is equivalent to the first."""
    number = {id(instruction): place for place, instruction in enumerate(before)}
    if len(after) != len(before) or {id(instruction) for instruction in after} != number.keys():
        return False
    first = _history(before, number)
    return first is not None and first == _history(after, number)


def _history(order: Sequence[InstructionStatement], number: dict[int, int]) -> tuple[dict[int, Read], dict[str, int]] | None:
    """Return the writer of each name that an instruction uses (-1: before the run), and the last writer of each name; None if unknown."""
    last: dict[str, int] = {}
    used: dict[int, Read] = {}
    for instruction in order:
        known = _names(instruction)
        if known is None:
            return None
        used_names, written = known
        used[number[id(instruction)]] = tuple((name, last.get(name, -1)) for name in sorted(used_names))
        last.update(dict.fromkeys(written, number[id(instruction)]))
    return used, last


def _names(instruction: InstructionStatement) -> tuple[set[str], set[str]] | None:
    """Return all names that an instruction uses, and those that it writes; None if its effect is unknown."""
    operands = [set(_words(operand_text(operand))) for operand in instruction.operands]
    every = set[str]().union(*operands, _words(instruction.guard.lstrip("!")))
    moves = _MOVES.fullmatch(instruction.opcode)
    if any(_CHANGES.match(name) for name in every) or not (moves or _ARITHMETIC.fullmatch(instruction.opcode)):
        return None
    stores = moves is not None and not moves["load"]
    written = set[str]() if stores else set(operands[0])
    if ".cc" in instruction.opcode or instruction.opcode.startswith(("addc", "subc", "madc")):
        every, written = every | {_CARRY}, written | {_CARRY}
    if moves is not None:
        every.add(f"memory: {moves['space']}")
    if stores:
        assert moves is not None
        written.add(f"memory: {moves['space']}")
    return every, written


def _words(text: str) -> Iterator[str]:
    """Yield the names in a text; a part of a register (`%v.x`) is the register, `_` is ignored."""
    for match in _WORD.findall(text):
        if not match[0].isdigit() and match != "_":
            yield match.partition(".")[0]
