"""The shape of an instruction: everything that its facts depend on except register numbers, immediates, addresses and the guard.

Instructions of one shape share one template (`template.py`). The registers of an instruction are numbered in the order in which
`shape` meets them: operand by operand, a constant's bank before its base, an address's base before its descriptor.
"""

from collections.abc import Sequence

from sassan.ir import Constant, Immediate, Instruction, Memory, Register, Special, Target, Word

Shape = tuple[object, ...]
_REUSE = ("reuse",)


def shape(instruction: Instruction) -> tuple[Shape, list[int]]:
    """Return the shape and the register indices in order, 0 for RZ, PT and their like (which the shape tells apart)."""
    key: list[object] = [instruction.opcode, instruction.condition]
    indices: list[int] = []
    for operand in instruction.operands:
        if isinstance(operand, Register):
            key.append(_register(operand, indices))
        elif isinstance(operand, Immediate):
            key.append("i")
        elif isinstance(operand, Constant):
            bank = operand.bank
            key.append(("c", _registers((bank,), indices) if isinstance(bank, Register) else 0, _registers(operand.base, indices)))
        elif isinstance(operand, Memory):
            key.append((operand.prefix, _registers(operand.base, indices), _registers(operand.descriptor, indices)))
        elif isinstance(operand, Target):
            key.append("t")
        elif isinstance(operand, Special):
            key.append(operand.name)
        else:
            key.append(("w", operand.text) if isinstance(operand, Word) else "y")
    return tuple(key), indices


def _register(register: Register, indices: list[int]) -> object:
    index = register.index
    modifiers = register.modifiers if register.modifiers != _REUSE else ()
    if index is None:
        indices.append(0)
        return ("z", register.file, register.negated, modifiers)
    indices.append(index)
    return (register.file, modifiers) if modifiers else register.file


def _registers(registers: Sequence[Register], indices: list[int]) -> tuple[object, ...]:
    return tuple([_register(register, indices) for register in registers])
