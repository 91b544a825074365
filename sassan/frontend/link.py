"""Calls across text sections: the callee's code is placed after the caller's, as the loader would.

A debug build, or separate compilation, leaves each device function in a section of its own and calls it by name. A function of
the IR is one address space, so every callee that the listing holds is appended, once, at the next multiple of `ALIGN`.
"""

import re
from dataclasses import replace

from sassan.ir import INTERNAL, CodeAddress, Function, Instruction, Operand, Register, Symbol, Target

ALIGN = 0x1000
"""Sections are moved by multiples of this, so that control words keep their positions and the new address shows the old one."""
DEPTH = 128
"""Callees so many calls below a function are linked to it, none further down: no exploration gets there, and all pairs take too long."""

_CALLS = frozenset({"JCAL", "CAL", "CALL"})
_POINTER = re.compile(r"32@(lo|hi)\((.*)\)")


def link(functions: tuple[Function, ...]) -> tuple[Function, ...]:
    """Return the functions, each with the code of all functions of the same architecture that it calls by name, directly or not.

    A function that calls through a pointer gets every device function of the input.
    """
    by_name: dict[tuple[str, str], Function] = {}
    for function in functions:
        by_name.setdefault((function.arch, function.name), function)
    return tuple(_linked(function, by_name) for function in functions)


def _linked(function: Function, by_name: dict[tuple[str, str], Function]) -> Function:
    places, depths = {function.name: 0}, {function.name: 0}
    order = [function]
    indirect, devices = False, list[str]()
    for part in order:
        if not indirect and any(map(_calls_pointer, part.instructions)):
            indirect = True
            devices = [name for (arch, name), candidate in by_name.items() if arch == function.arch and not candidate.kernel]
        for name in (*_called(part), *devices):
            callee = by_name.get((function.arch, name))
            if callee is not None and name not in places and depths[part.name] < DEPTH:
                depths[name] = depths[part.name] + 1
                last = order[-1]
                end = places[last.name] + last.instructions[-1].following
                places[name] = -(-end // ALIGN) * ALIGN
                order.append(callee)
    if len(order) == 1 and not indirect and not any(name == function.name for name in _called(function)):
        return function
    entries = {part.name: places[part.name] + part.entry for part in order}
    instructions = tuple(_moved(step, places[part.name], entries) for part in order for step in part.instructions)
    symbols = tuple((places[part.name] + address, name) for part in order for address, name in part.symbols)
    # A listing of cuobjdump does not show where device functions start: the targets of a pointer are unknown then.
    # No pointer leads to a subroutine of the compiler.
    pointed = {address for address, name in symbols if (address != function.entry or not function.kernel) and INTERNAL not in name}
    devices_at = tuple(sorted(pointed))
    lines = tuple(replace(line, address=places[part.name] + line.address) for part in order for line in part.lines)
    callees = devices_at if indirect and devices_at and all(name in places for name in devices) else None
    differing = ((places[part.name] + part.contradiction[0], part.contradiction[1]) for part in order if part.contradiction)
    contradiction, unchecked = next(differing, None), sum(part.unchecked for part in order)
    linked = replace(function, instructions=instructions, symbols=symbols, callees=callees, lines=lines)
    return replace(linked, contradiction=contradiction, unchecked=unchecked, relocated=sum(part.relocated for part in order))


def _calls_pointer(instruction: Instruction) -> bool:
    is_call = (
        instruction.opcode.partition(".")[0] in _CALLS and bool(instruction.operands) and isinstance(instruction.operands[0], Register)
    )
    return is_call or (bool(instruction.notes) and any("INDIRECT_CALL" in note for note in instruction.notes))


def _called(function: Function) -> list[str]:
    symbols = (
        (instruction, operand) for instruction in function.instructions for operand in instruction.operands if isinstance(operand, Symbol)
    )
    return [name for instruction, symbol in symbols if (name := _function_name(instruction, symbol))]


def _function_name(instruction: Instruction, operand: Symbol) -> str:
    """Return the name of the function that a symbol calls, or takes the address of, '' for any other symbol."""
    if instruction.opcode.partition(".")[0] in _CALLS:
        return operand.name
    match = _POINTER.fullmatch(operand.name)
    return match[2] if match else ""


def _moved(instruction: Instruction, shift: int, entries: dict[str, int]) -> Instruction:
    return replace(
        instruction,
        address=instruction.address + shift,
        following=instruction.following + shift,
        targets=tuple(target + shift for target in instruction.targets),
        operands=tuple(_operand(instruction, operand, shift, entries) for operand in instruction.operands),
    )


def _operand(instruction: Instruction, operand: Operand, shift: int, entries: dict[str, int]) -> Operand:
    match operand:
        case Target(address=address) | CodeAddress(address=address):
            return replace(operand, address=address + shift)
        case Symbol(name=name) if (callee := _function_name(instruction, operand)) in entries:
            pointer = _POINTER.fullmatch(name)
            return Target(entries[callee], callee) if pointer is None else CodeAddress(entries[callee], pointer[1] == "hi")
        case _:
            return operand
