"""Calls across text sections: the callee's code is put behind the caller's, as the loader would.

A debug build, or separate compilation, leaves each device function in a section of its own and calls it by name. A function of
the IR is one address space, so every callee that the listing holds is appended, once, at the next multiple of `ALIGN`.
"""

from dataclasses import replace

from sassan.ir import Function, Instruction, Operand, Symbol, Target

ALIGN = 0x1000
"""Sections are moved by multiples of this, so that control words keep their places and the old address can be read off the new one."""

_CALLS = frozenset({"JCAL", "CAL"})


def link(functions: tuple[Function, ...]) -> tuple[Function, ...]:
    """Return the functions, each with the code of all functions of the same architecture that it calls by name, directly or not."""
    known: dict[tuple[str, str], Function] = {}
    for one in functions:
        known.setdefault((one.arch, one.name), one)
    return tuple(_linked(one, known) for one in functions)


def _linked(function: Function, known: dict[tuple[str, str], Function]) -> Function:
    places = {function.name: 0}
    order = [function]
    for one in order:
        for name in _called(one):
            callee = known.get((function.arch, name))
            if callee is not None and name not in places:
                last = order[-1]
                end = places[last.name] + last.instructions[-1].following
                places[name] = -(-end // ALIGN) * ALIGN
                order.append(callee)
    if len(order) == 1 and not any(name == function.name for name in _called(function)):
        return function
    entries = {one.name: places[one.name] + one.entry for one in order}
    instructions = tuple(_moved(step, places[one.name], entries) for one in order for step in one.instructions)
    symbols = tuple((places[one.name] + address, name) for one in order for address, name in one.symbols)
    return replace(function, instructions=instructions, symbols=symbols)


def _called(function: Function) -> list[str]:
    return [
        operand.name for one in function.instructions if one.opcode in _CALLS for operand in one.operands if isinstance(operand, Symbol)
    ]


def _moved(one: Instruction, shift: int, entries: dict[str, int]) -> Instruction:
    return replace(
        one,
        address=one.address + shift,
        following=one.following + shift,
        targets=tuple(target + shift for target in one.targets),
        operands=tuple(_operand(operand, shift, entries if one.opcode in _CALLS else {}) for operand in one.operands),
    )


def _operand(operand: Operand, shift: int, entries: dict[str, int]) -> Operand:
    match operand:
        case Target(address=address):
            return replace(operand, address=address + shift)
        case Symbol(name=name) if name in entries:
            return Target(entries[name], name)
        case _:
            return operand
