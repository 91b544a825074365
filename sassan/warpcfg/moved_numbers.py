"""Numbers that a program moves to a uniform register before an instruction reads it: shapes of products, columns of tensor memory."""

from collections.abc import Iterable

from sassan.ir import Immediate, Instruction, Register
from sassan.isa.registers import bit
from sassan.isa.tables import load
from sassan.warpcfg.graph import Node, WarpCfg


def moved_number(cfg: WarpCfg, node: Node, reader: Instruction, register: Register, *, likely: bool = False) -> int | None:
    """Return what a register holds where an instruction of a node reads it; None where that may be anything.

    It is the number that the node moves to it before; where the node writes it nowhere before, the one that every writer of it moves. A
    move with a guard may not be executed; that is it only where what is `likely` is wanted.
    """
    if register.index is None:
        return 0
    before, arch = list(node.code), cfg.function.arch
    before = before[: before.index(reader)]
    last = next((each for each in reversed(before) if _writes(each, register, arch)), None)
    if last is not None:
        return _number(last, register, likely=likely)
    return _one(_number(each, register, likely=likely) for other in cfg.nodes for each in other.code if _writes(each, register, arch))


def _one(numbers: Iterable[int | None]) -> int | None:
    every = set(numbers)
    return every.pop() if len(every) == 1 else None


def _writes(instruction: Instruction, register: Register, arch: str) -> bool:
    facts = load(arch).facts(instruction)
    return facts is None or bool(facts.writes & bit(register.file, register.index))


def _number(instruction: Instruction, register: Register, *, likely: bool) -> int | None:
    first, *others = instruction.operands or (None,)
    surely = likely or instruction.guard is None
    moves = instruction.opcode == "UMOV" and surely and isinstance(first, Register) and first.index == register.index
    number = others[-1] if others else None
    return number.value if moves and isinstance(number, Immediate) and isinstance(number.value, int) else None
