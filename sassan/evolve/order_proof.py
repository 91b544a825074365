"""The proof that an order of PTX instructions means what another means, from their text alone: no table and no dependence graph.

Every instruction must read each name from the same writer as before, and each name must be written last by the same instruction; memory of
a state space is a name, which a load reads and a store reads and writes. By induction over the new order every instruction then computes
what it computed before, and leaves the same values behind. Of any other instruction nothing is proved.
"""

import re
from collections.abc import Iterator, Sequence

from sassan.frontend.ptx.syntax import Instruction
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
"""As the names of memories it has a space, so that no variable is called so."""

Read = tuple[tuple[str, int], ...]


def proved(before: Sequence[Instruction], after: Sequence[Instruction]) -> bool:
    """Say whether the second order is one of the same instructions, and means what the first means."""
    number = {id(one): place for place, one in enumerate(before)}
    if len(after) != len(before) or {id(one) for one in after} != number.keys():
        return False
    first = _history(before, number)
    return first is not None and first == _history(after, number)


def _history(order: Sequence[Instruction], number: dict[int, int]) -> tuple[dict[int, Read], dict[str, int]] | None:
    """Return, for each instruction, who wrote what it uses (-1: whoever came before), and who wrote each name last; None: not known."""
    last: dict[str, int] = {}
    used: dict[int, Read] = {}
    for one in order:
        known = _names(one)
        if known is None:
            return None
        every, written = known
        used[number[id(one)]] = tuple((name, last.get(name, -1)) for name in sorted(every))
        last.update(dict.fromkeys(written, number[id(one)]))
    return used, last


def _names(one: Instruction) -> tuple[set[str], set[str]] | None:
    """Return all names that an instruction uses, and those that it writes; None where it is not known what it does."""
    operands = [set(_words(operand_text(operand))) for operand in one.operands]
    every = set[str]().union(*operands, _words(one.guard.lstrip("!")))
    moves = _MOVES.fullmatch(one.opcode)
    if any(_CHANGES.match(name) for name in every) or not (moves or _ARITHMETIC.fullmatch(one.opcode)):
        return None
    stores = moves is not None and not moves["load"]
    written = set[str]() if stores else set(operands[0])
    if ".cc" in one.opcode or one.opcode.startswith(("addc", "subc", "madc")):
        every, written = every | {_CARRY}, written | {_CARRY}
    if moves is not None:
        every.add(f"memory: {moves['space']}")
    if stores:
        assert moves is not None
        written.add(f"memory: {moves['space']}")
    return every, written


def _words(text: str) -> Iterator[str]:
    """Yield the names in a text; a part of a register (`%v.x`) is the register, `_` is nothing."""
    for found in _WORD.findall(text):
        if not found[0].isdigit() and found != "_":
            yield found.partition(".")[0]
