"""From drafts with labels to a function with addresses, spaced as the architecture spaces instructions."""

from dataclasses import dataclass, replace

from sassan.ir import Constant, Function, Guard, Immediate, Instruction, Memory, Operand, Register, Special, Target
from sassan.source import Span

NOWHERE = Span(1, 1, 1)
PACKED = frozenset({"sm_52", "sm_61"})
"""Architectures with control words between the instructions."""


@dataclass(frozen=True, slots=True)
class Label:
    """A code address that is known once everything is laid out."""

    number: int


@dataclass(frozen=True, slots=True)
class Address:
    """A label as a number, for a register that is to hold a return address."""

    number: int


@dataclass(frozen=True, slots=True)
class Draft:
    """An instruction with labels for addresses."""

    opcode: str
    operands: tuple[Operand | Label | Address, ...] = ()
    guard: Guard | None = None
    condition: str = ""
    targets: tuple[Label, ...] = ()


def assemble(name: str, arch: str, written: list[Draft], places: dict[int, int], entry: Label) -> Function:
    """Return the program with addresses: up to sm_62 a control word stands before every three instructions."""
    packed = arch in PACKED

    def address(index: int) -> int:
        return 8 * (index + index // 3 + 1) if packed else 16 * index

    def resolve(operand: Operand | Label | Address) -> Operand:
        match operand:
            case Label(number=number):
                return Target(address(places[number]))
            case Address(number=number):
                return Immediate(address(places[number]))
            case _:
                return operand

    drafts = [*written, *([Draft("EXIT")] if len(written) in places.values() else [])]
    instructions = []
    for index, one in enumerate(drafts):
        targets = tuple(dict.fromkeys(address(places[label.number]) for label in one.targets))
        operands = tuple(resolve(operand) for operand in one.operands)
        made = Instruction(address(index), address(index + 1), one.opcode, operands, one.guard, NOWHERE, one.condition, targets)
        instructions.append(replace(made, text=render(made)))
    return Function(name, arch, tuple(instructions), address(places[entry.number]))


def render(one: Instruction) -> str:
    """Return the instruction as a disassembler would print it, near enough to read a reproducer."""
    guard = f"@{'!' * one.guard.negated}{one.guard.file}{'T' if one.guard.index is None else one.guard.index} " if one.guard else ""
    words = [one.condition] * bool(one.condition) + [_operand(operand) for operand in one.operands]
    table = f" {[f'{target:#x}' for target in one.targets]}" if one.targets else ""
    return f"{guard}{one.opcode} {', '.join(words)}".strip() + table


def _operand(operand: Operand) -> str:
    match operand:
        case Register(file=file, index=index):
            tail = {"R": "Z", "P": "T"}.get(file, "") if index is None else str(index)
            return f"{'!' * operand.negated}{file}{tail}{''.join(f'.{one}' for one in operand.modifiers)}"
        case Memory(base=base, offset=offset):
            return f"[{_operand(base[0])}+{offset:#x}]"
        case Constant(bank=bank, base=base, offset=offset):
            return f"c[{bank}][{_operand(base[0]) if base else ''}+{offset:#x}]"
        case _:
            return _literal(operand)


def _literal(operand: Operand) -> str:
    match operand:
        case Immediate(value=value):
            return hex(value) if isinstance(value, int) else str(value)
        case Special(name=name):
            return name
        case Target(address=address):
            return hex(address)
        case _:
            return str(operand)
