"""Calls across text sections: the callee's code is put behind the caller's, as the loader would.

A debug build, or separate compilation, leaves each device function in a section of its own and calls it by name. A function of
the IR is one address space, so every callee that the listing holds is appended, once, at the next multiple of `ALIGN`.
"""

import re
from dataclasses import replace

from sassan.ir import CodeAddress, Function, Instruction, Operand, Register, Symbol, Target

ALIGN = 0x1000
"""Sections are moved by multiples of this, so that control words keep their places and the old address can be read off the new one."""

_CALLS = frozenset({"JCAL", "CAL", "CALL"})
_POINTER = re.compile(r"32@(lo|hi)\((.*)\)")


def link(functions: tuple[Function, ...]) -> tuple[Function, ...]:
    """Return the functions, each with the code of all functions of the same architecture that it calls by name, directly or not.

    A function that calls through a pointer gets every device function of the input.
    """
    known: dict[tuple[str, str], Function] = {}
    for one in functions:
        known.setdefault((one.arch, one.name), one)
    return tuple(_linked(one, known) for one in functions)


def _linked(function: Function, known: dict[tuple[str, str], Function]) -> Function:
    places = {function.name: 0}
    order = [function]
    indirect = False
    for one in order:
        indirect = indirect or any(map(_calls_pointer, one.instructions))
        devices = [name for (arch, name), other in known.items() if arch == function.arch and not other.kernel] if indirect else []
        for name in (*_called(one), *devices):
            callee = known.get((function.arch, name))
            if callee is not None and name not in places:
                last = order[-1]
                end = places[last.name] + last.instructions[-1].following
                places[name] = -(-end // ALIGN) * ALIGN
                order.append(callee)
    if len(order) == 1 and not indirect and not any(name == function.name for name in _called(function)):
        return function
    entries = {one.name: places[one.name] + one.entry for one in order}
    instructions = tuple(_moved(step, places[one.name], entries) for one in order for step in one.instructions)
    symbols = tuple((places[one.name] + address, name) for one in order for address, name in one.symbols)
    # A listing of cuobjdump does not say where device functions start: nobody knows then where a pointer leads.
    devices_at = tuple(sorted({address for address, _ in symbols if address != function.entry or not function.kernel}))
    lines = tuple(replace(line, address=places[one.name] + line.address) for one in order for line in one.lines)
    callees = devices_at if indirect and devices_at else None
    return replace(function, instructions=instructions, symbols=symbols, callees=callees, lines=lines)


def _calls_pointer(one: Instruction) -> bool:
    is_call = one.opcode.partition(".")[0] in _CALLS and bool(one.operands) and isinstance(one.operands[0], Register)
    return is_call or (bool(one.notes) and any("INDIRECT_CALL" in note for note in one.notes))


def _called(function: Function) -> list[str]:
    symbols = ((one, operand) for one in function.instructions for operand in one.operands if isinstance(operand, Symbol))
    return [name for one, symbol in symbols if (name := _function_name(one, symbol))]


def _function_name(one: Instruction, operand: Symbol) -> str:
    """Return the name of the function that a symbol calls, or takes the address of, '' for any other symbol."""
    if one.opcode.partition(".")[0] in _CALLS:
        return operand.name
    found = _POINTER.fullmatch(operand.name)
    return found[2] if found else ""


def _moved(one: Instruction, shift: int, entries: dict[str, int]) -> Instruction:
    return replace(
        one,
        address=one.address + shift,
        following=one.following + shift,
        targets=tuple(target + shift for target in one.targets),
        operands=tuple(_operand(one, operand, shift, entries) for operand in one.operands),
    )


def _operand(one: Instruction, operand: Operand, shift: int, entries: dict[str, int]) -> Operand:
    match operand:
        case Target(address=address) | CodeAddress(address=address):
            return replace(operand, address=address + shift)
        case Symbol(name=name) if (callee := _function_name(one, operand)) in entries:
            found = _POINTER.fullmatch(name)
            return Target(entries[callee], callee) if found is None else CodeAddress(entries[callee], found[1] == "hi")
        case _:
            return operand
