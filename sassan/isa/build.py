"""From the table and one instruction to the template of its shape."""

from collections.abc import Iterator, Sequence

from sassan.ir import Constant, Immediate, Instruction, Memory, Operand, Register, Special, Word
from sassan.isa.computations import Computation
from sassan.isa.effects import slot_names
from sassan.isa.facts import Flow
from sassan.isa.forms import OperandSlot, assign, kind
from sassan.isa.registers import bit, span
from sassan.isa.rows import LetterRules, OpcodeRow, OpcodeTable, Uniformity
from sassan.isa.template import CARRY, Access, Needs, Template

_NEVER, _ALWAYS, _READS = Needs("never"), Needs("places"), Needs("reads")
_BY_AGREE = {Uniformity.NEVER: _NEVER, Uniformity.LANEWISE: _READS, Uniformity.ADDRESS: _READS, Uniformity.ALWAYS: _ALWAYS}
_WHOLE_WARP = 0x1F
"""Operand c of SHFL.IDX when every lane of the warp may be named: clamp 31, no segment bits."""
_ALL_LANES = 0xFFFFFFFF
_UNDECIDED = (Flow.NONE, Flow.BLOCK_BARRIER)
"""What a thread does not take or leave: a predicate operand is data there."""
_NARROW = frozenset({"U32", "S32", "X4", "X8", "X16"})
_HARMLESS = frozenset({"reuse", "CC", "64"})
"""Suffixes of a destination that do not select a part of it."""


class Uncovered(Exception):  # noqa: N818 - no error: the caller answers with None
    """The table does not say what this instruction does."""


class AccessBuilder:
    """Walks the operands of one instruction along the slots of its row and collects register accesses."""

    def __init__(self, table: OpcodeTable, instruction: Instruction) -> None:
        """Find the row and the slots of the instruction; raises Uncovered."""
        self.table = table
        self.instruction = instruction
        self.modifiers = tuple(instruction.opcode.split(".")[1:])
        self.row, self.slots = select(table, instruction)
        self.place = 0
        self.reads: list[Access] = []
        self.writes: list[Access] = []
        self.never: list[Access] = []
        self.shared: list[Access] = []
        self.deciding: list[Access] = []
        self.fixed_reads = 0
        self.fixed_writes = 0
        self.by_operand: list[tuple[Access, ...]] = []
        self.decided_by_operand = False
        self.values = self.row.masked or self.row.agree is Uniformity.LANE or self.row.flow is Flow.WARP_BARRIER
        """Whether the template depends on an immediate, and so holds for this instruction only."""

    def build(self, letters: LetterRules, agreeing: frozenset[str]) -> Template:
        """Return the template; `agreeing` are special registers that agree besides those of the table."""
        opcode, row = self.instruction.opcode, self.row
        if self.table.carry_in.intersection(self.modifiers):
            self.fixed_reads |= CARRY
        for slot, operand in zip(self.slots, self.instruction.operands, strict=True):
            before = len(self.reads)
            self.operand(slot, operand)
            self.by_operand.append(tuple(self.reads[before:]))
        if self.instruction.condition:
            self.fixed_reads |= CARRY
        constants = [item for item in self.instruction.operands if isinstance(item, Constant)]
        return Template(
            reads=tuple(self.reads),
            writes=tuple(self.writes),
            never=tuple(self.never),
            shared=tuple(self.shared),
            deciding=tuple(self.deciding),
            fixed_reads=self.fixed_reads,
            fixed_writes=self.fixed_writes,
            needs=self.needs(agreeing),
            flow=self.flow(constants),
            letter=letters.letter(opcode, constant=bool(constants), indexed=any(constant.base for constant in constants)),
            tag=row.tag,
            barrier=any(slot.role in "be" for slot in self.slots),
            carry_decides=bool(self.instruction.condition),
            guard_alone=not (self.instruction.condition or self.decided_by_operand or row.undecided),
            uniform=row.uniform,
            undecided=row.undecided,
            computes=self.computes(),
        )

    def operand(self, slot: OperandSlot, operand: Operand) -> None:
        """Record what the instruction does with one operand."""
        match operand:
            case Register():
                self.register(slot, operand)
            case Constant():
                if isinstance(operand.bank, Register):
                    self.read(operand.bank, 2)
                for base in operand.base:
                    self.read(base, 1)
            case Memory():
                self.memory(slot, operand)
            case Word() if slot.role in "az":
                self.named(slot, operand.text)
            case _:
                pass

    def register(self, slot: OperandSlot, register: Register) -> None:
        """Record one register operand, by the role of its slot."""
        if not self.known(register):
            raise Uncovered
        if slot.role in "az":
            self.place += 1
            self.named(slot, register.file)
        elif slot.role in "dq":
            self.write(slot, register)
        elif slot.role in "sp":
            access = self.read(register, self.width(slot, register))
            if slot.role == "p" and self.row.flow not in _UNDECIDED:
                self.deciding += access
                self.decided_by_operand |= register.index is not None or register.negated
        elif slot.role == "e":
            self.writes += self.access(register, 1)
        else:
            self.read(register, 1)

    def write(self, slot: OperandSlot, register: Register) -> None:
        """Record a destination, and its old value as read where a part of it is kept."""
        if "CC" in register.modifiers:
            self.fixed_writes |= CARRY
        partly = slot.keep or bool(self.row.partial.intersection(self.modifiers)) or bool(set(register.modifiers) - _HARMLESS)
        access = self.access(register, self.width(slot, register))
        if partly:
            self.reads += access
        if slot.never:
            self.never += access
        elif register.file in ("UR", "UP"):
            self.shared += access
        else:
            self.writes += access

    def memory(self, slot: OperandSlot, memory: Memory) -> None:
        """Record the registers of an address: pairs where it has 64 bits."""
        wide = 2 if "E" in self.modifiers else 1
        if memory.prefix and memory.prefix not in self.table.prefixes:
            raise Uncovered
        for register in memory.base:
            if not self.known(register):
                raise Uncovered
            if "64" in register.modifiers:
                self.read(register, 2)
            elif slot.width:
                self.read(register, self.width(slot, register))
            elif memory.prefix and not memory.descriptor:
                self.read(register, self.table.prefixes[memory.prefix])
            else:
                self.read(register, 1 if _NARROW.intersection(register.modifiers) else wide)
        for register in memory.descriptor:
            self.read(register, self.table.prefixes.get(memory.prefix, 2))

    def named(self, slot: OperandSlot, name: str) -> None:
        """Record a set of registers that is operand by name: `PR`, `CC`; the last operand may select some of them."""
        if name not in self.table.sets:
            raise Uncovered
        file, count = self.table.sets[name]
        registers = span(file, 0, count)
        mask = self.instruction.operands[-1]
        if self.row.masked and file != "CC" and isinstance(mask, Immediate) and isinstance(mask.value, int):
            registers = sum(bit(file, index) for index in range(count) if mask.value >> index & 1)
        elif slot.role == "z":
            self.fixed_reads |= registers
        if slot.role == "a":
            self.fixed_reads |= registers
        else:
            self.fixed_writes |= registers

    def read(self, register: Register, width: int) -> tuple[Access, ...]:
        """Record a source and return its access."""
        access = self.access(register, width)
        self.reads += access
        return access

    def access(self, register: Register, width: int) -> tuple[Access, ...]:
        """Return the access at the next place: none for RZ, PT and their like.

        A form that is wider than the operand may run past the end of the file: more is then read or lost than need be, never less.
        """
        place = self.place
        self.place += 1
        return () if register.index is None else ((place, span(register.file, 0, width)),)

    def width(self, slot: OperandSlot, register: Register) -> int:
        """Return how many registers an operand spans."""
        if register.file in ("P", "UP"):
            return 1
        width = slot.width if isinstance(slot.width, int) else self.table.widths[slot.width].of(self.modifiers)
        if not width:
            raise Uncovered
        if "F32" in register.modifiers:  # one number, also where others are pairs
            return 1
        return max(width, 2) if "64" in register.modifiers else width

    def computes(self) -> Computation | None:
        """Return what the instruction computes, None where no effect of the row covers its modifiers."""
        effect = next((rule for rule in self.row.effects if rule.covers(self.modifiers)), None)
        return None if effect is None else Computation(effect, {name: place for place, name in slot_names(self.slots)})

    def known(self, register: Register) -> bool:
        """Return whether every suffix of the operand is one that the table knows."""
        return self.table.selectors.issuperset(register.modifiers)

    def needs(self, agreeing: frozenset[str]) -> Needs:
        """Return when the threads agree on what is written."""
        match self.row.agree:
            case Uniformity.SPECIAL:
                names = [operand.name for operand in self.instruction.operands if isinstance(operand, Special)]
                return _ALWAYS if self.table.agreeing.union(agreeing).issuperset(names) else _NEVER
            case Uniformity.LANE:
                clamp = self.instruction.operands[-1]
                whole = isinstance(clamp, Immediate) and clamp.value == _WHOLE_WARP
                return Needs("places", self.by_operand[-2]) if whole else _NEVER
            case agree:
                return _BY_AGREE[agree]

    def flow(self, constants: Sequence[Constant]) -> Flow:
        """Return the flow class; a target that is read from a constant bank is known only when the kernel runs.

        Only a barrier of the whole warp merges threads; that of an unknown mask is passed
        (docs/developer/design/warp-graph.md, "Decisions since Volta").
        """
        flow = self.row.flow
        if flow is Flow.WARP_BARRIER:
            masks = [operand.value for operand in self.instruction.operands if isinstance(operand, Immediate)]
            whole = not self.instruction.operands or _ALL_LANES in masks
            return flow if whole else Flow.NONE
        if not constants or flow not in (Flow.BRANCH, Flow.CALL, Flow.PUSH):
            return flow
        return {Flow.BRANCH: Flow.INDIRECT_BRANCH, Flow.CALL: Flow.INDIRECT_CALL}.get(flow, Flow.UNSUPPORTED)


def select(table: OpcodeTable, instruction: Instruction) -> tuple[OpcodeRow, tuple[OperandSlot, ...]]:
    """Return the first row that covers the opcode with all its modifiers and these operands, and one slot per operand; raises Uncovered."""
    base, *modifiers = instruction.opcode.split(".")
    kinds = [kind(operand) for operand in instruction.operands]
    for row in _candidates(table, base, frozenset(modifiers)):
        for form in row.forms:
            slots = assign(form, kinds)
            if slots is not None:
                return row, slots
    raise Uncovered


def _candidates(table: OpcodeTable, base: str, modifiers: frozenset[str]) -> Iterator[OpcodeRow]:
    return (row for row in table.rows.get(base, ()) if row.required <= modifiers <= row.modifiers)
