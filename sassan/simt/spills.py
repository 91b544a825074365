"""Loads and stores of a thread's own memory and of its block's, as the SIMT machine executes them."""

from dataclasses import replace

from sassan.ir import Instruction, Memory, Register
from sassan.simt.code import Condition, LocalAccess, Operation, number
from sassan.simt.values import key

_LOADS, _STORES = "LDL", "STL"
_SHARED_LOAD, _SHARED_STORE = "LDS", "STS"
_SCALES = {"": 1, "X4": 4, "X8": 8, "X16": 16}
_WORDS = {"64": 2, "128": 4}
_PARTS = frozenset({"U8", "S8", "U16", "S16"})
_FORMS = frozenset({"32", "U", *_WORDS, *_PARTS})
"""Modifiers of loads and stores of shared memory whose words are known."""


def local_operation(instruction: Instruction, condition: Condition, writes: tuple[int, ...]) -> Operation | None:
    """Return what a load or a store does whose address is a sum of registers and a number; None for any other instruction.

    A load of a part of a word is none: what it finds is drawn.
    """
    base, *modifiers = instruction.opcode.split(".")
    whole = _PARTS.isdisjoint(modifiers)
    if base not in {_LOADS, _STORES} or (base == _LOADS and not whole):
        return None
    place = instruction.operands[1 if base == _LOADS else 0]
    if not isinstance(place, Memory) or place.descriptor:
        return None
    address = tuple(name for register in place.base if (name := number(register.file, register.index)) is not None)
    if base == _LOADS:
        loaded = LocalAccess(place.offset, len(address), store=False)
        return Operation(instruction, key(instruction.opcode), address, writes, condition, time=True, exact=loaded)
    count = next((words for name, words in _WORDS.items() if name in modifiers), 1)
    source = instruction.operands[-1]
    first = number(source.file, source.index) if isinstance(source, Register) else None
    data = () if first is None else tuple(range(first, first + count))
    stored = LocalAccess(place.offset, len(address), store=True, whole=whole, zeros=0 if data else count)
    return Operation(instruction, key(instruction.opcode), (*address, *data), (), condition, exact=stored)


def shared_operation(instruction: Instruction, condition: Condition, writes: tuple[int, ...]) -> Operation | None:
    """Return what a load from, or a store to, shared memory does at a sum of multiples of registers; None for any other one."""
    base, *modifiers = instruction.opcode.split(".")
    if base not in {_SHARED_LOAD, _SHARED_STORE}:
        return None
    place = instruction.operands[1 if base == _SHARED_LOAD else 0]
    if not isinstance(place, Memory) or place.descriptor or place.prefix or place.modifiers or set(modifiers) - _FORMS:
        return None
    scales, address = [], []
    for register in place.base:
        scale = _SCALES.get("".join(modifier for modifier in register.modifiers if modifier != "reuse"))
        if scale is None or register.negated or register.absolute:
            return None
        if (name := number(register.file, register.index)) is not None:
            scales.append(scale)
            address.append(name)
    whole = _PARTS.isdisjoint(modifiers)
    how = LocalAccess(place.offset, len(address), base == _SHARED_STORE, whole, shared=True, scales=tuple(scales))
    if base == _SHARED_LOAD:
        return Operation(instruction, key(instruction.opcode), tuple(address), writes, condition, time=True, exact=how)
    count = next((words for name, words in _WORDS.items() if name in modifiers), 1)
    source = instruction.operands[-1]
    first = number(source.file, source.index) if isinstance(source, Register) else None
    data = () if first is None else tuple(range(first, first + count))
    return Operation(instruction, key(instruction.opcode), (*address, *data), (), condition, exact=replace(how, zeros=0 if data else count))
