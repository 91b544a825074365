"""The facts of PTX instructions. Registers have no file here: the bit of a variable is its number in its function (`ir.Variable`).

isa = load(function)
facts = isa.facts(instruction)      # None: the gap `unknown-opcode`

Calls pass values through parameters, and each of them has a bit: a call binds the parameters of the callee to its arguments, and a `ret`
binds what the callers of its function receive. What a function keeps in its own registers means nothing to the next call of it.
A register of 64 bits has the next bit too, for its high word.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from sassan.alphabet import Letter
from sassan.ir import Frame, Function, Immediate, Instruction, Operand, OperandGroup, PtxAddress, Special, Symbol, Target, Variable, Word
from sassan.isa.computations import Computation
from sassan.isa.effects import slot_names
from sassan.isa.facts import Facts, Flow, WriteEffect
from sassan.isa.forms import OperandSlot
from sassan.isa.loading import data_text, read_letters
from sassan.isa.ptx_table import Carry, PtxRow, PtxTable, PtxUniformity, Writes, table, width
from sassan.isa.rows import LetterRules

RET = "RET"
_WHOLE_WARP = 0x1F
"""Operand c of shfl.idx when every lane of the warp may be named: clamp 31, no segment bits."""
_LONG = 64
_CLAMP = 2
"""Which source of shfl that is."""
_READS = frozenset({PtxUniformity.LANEWISE, PtxUniformity.ADDRESS})
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}


class PtxIsa:
    """The instruction facts of one function; a pure function of the instruction."""

    def __init__(self, function: Function, rows: PtxTable, letters: LetterRules) -> None:
        """Take the table, and look at what the calls of the function pass."""
        self._table, self._letters = rows, letters
        self._function = function
        self._starts = [frame.start for frame in function.frames]
        self._by_start = {frame.start: frame for frame in function.frames}
        self._by_name = {frame.name: frame for frame in function.frames}
        self._carry = 1 << max((frame.last for frame in function.frames), default=0)
        self._rows: dict[str, PtxRow | None] = {}
        self._computations: dict[tuple[str, int], Computation | None] = {}
        self._received: dict[int, list[WriteEffect]] = {}
        for instruction in function.instructions:
            if instruction.opcode.startswith("call"):
                self._note_call(instruction)

    def facts(self, instruction: Instruction) -> Facts | None:
        """Return the facts, or None when the table has no row for the opcode, its modifiers or its operands."""
        opcode = instruction.opcode
        if opcode not in self._rows:
            self._rows[opcode] = self._table.row(opcode)
        row = self._rows[opcode]
        if row is None:
            return None
        split = _split(row, instruction)
        if split is None:
            return None
        destinations, sources = split
        reads = _bits(_variables(sources))
        effects = self._results(row, instruction, destinations, sources)
        if destinations and (row.partly or any(variable.part for variable in destinations)):
            reads |= _bits(destinations)
            effects = tuple(
                WriteEffect(effect.writes, None if effect.needs is None else effect.needs | effect.writes) for effect in effects
            )
        reads, effects = self._with_carry(row, opcode, reads, effects)
        return self._control(row, instruction, reads, effects)

    def _results(
        self, row: PtxRow, instruction: Instruction, destinations: Sequence[Variable], sources: Sequence[Operand]
    ) -> tuple[WriteEffect, ...]:
        if row.writes is Writes.PARAMETER:
            return _stored(instruction)
        if not destinations:
            return ()
        return (WriteEffect(_bits(destinations), self._needs(row.agree, instruction, sources)),)

    def _needs(self, agree: PtxUniformity, instruction: Instruction, sources: Sequence[Operand]) -> int | None:
        """Return on what the threads must agree so that they agree on the result, None where they never do."""
        if agree in _READS:
            return self._reads(agree, sources)
        if agree is PtxUniformity.PARAMETER:
            return self._parameter(instruction)
        deciding = _deciding(agree, sources)
        if deciding is None or any(isinstance(operand, Special | PtxAddress) for operand in deciding):
            return None
        return _bits(_variables(deciding))

    def _reads(self, agree: PtxUniformity, sources: Sequence[Operand]) -> int | None:
        for operand in sources:
            if isinstance(operand, Special) and operand.name.partition(".")[0] not in self._table.agreeing:
                return None
            if isinstance(operand, PtxAddress) and (agree is not PtxUniformity.ADDRESS or operand.bare):
                return None
        return _bits(_variables(sources))

    def _parameter(self, instruction: Instruction) -> int | None:
        """Return on what a load of a parameter depends: nothing for one of the kernel, the parameter of a call itself."""
        place = next((operand for operand in instruction.operands if isinstance(operand, PtxAddress)), None)
        if place is None:
            return None
        frame = self._frame(instruction.address)
        if isinstance(place.base, Symbol):
            known = frame is not None and frame.kernel and any(parameter.name == place.base.name for parameter in frame.parameters)
            return 0 if known else None
        return _bit(place.base) if isinstance(place.base, Variable) and place.base.size else None

    def _frame(self, address: int) -> Frame | None:
        index = bisect_right(self._starts, address) - 1
        return self._function.frames[index] if index >= 0 else None

    def _with_carry(self, row: PtxRow, opcode: str, reads: int, effects: tuple[WriteEffect, ...]) -> tuple[int, tuple[WriteEffect, ...]]:
        if row.carry is Carry.NONE:
            return reads, effects
        if row.carry is Carry.ALWAYS:
            reads |= self._carry
            effects = tuple(WriteEffect(effect.writes, None if effect.needs is None else effect.needs | self._carry) for effect in effects)
        if "cc" in opcode.split("."):
            effects = tuple(WriteEffect(effect.writes | self._carry, effect.needs) for effect in effects)
        return reads, effects

    def _control(self, row: PtxRow, instruction: Instruction, reads: int, effects: tuple[WriteEffect, ...]) -> Facts:
        guard = 1 << instruction.guard.index if instruction.guard is not None and instruction.guard.index is not None else 0
        flow, tag = row.flow, ""
        target = next((operand.address for operand in instruction.operands if isinstance(operand, Target)), None)
        if flow is Flow.CALL:
            flow, tag = (Flow.CALL if self._is_direct(instruction) else Flow.INDIRECT_CALL), RET
            effects = tuple(self._passed(instruction))
        elif flow is Flow.RETURN:
            frame = self._frame(instruction.address)
            inside = frame is not None and not frame.kernel
            flow, tag = (Flow.POP, RET) if inside else (Flow.EXIT, "")
            effects = tuple(self._received.get(frame.start, ())) if frame is not None and inside else ()
        elif flow in {Flow.PUSH, Flow.POP}:
            tag = next(operand.text for operand in instruction.operands if isinstance(operand, Word))
        return Facts(
            reads,
            effects,
            guard,
            flow,
            self._letter(instruction),
            condition=guard,
            uniform="uni" in instruction.opcode.split("."),
            tag=tag,
            target=target,
            computes=self._computes(row, instruction),
        )

    def _computes(self, row: PtxRow, instruction: Instruction) -> Computation | None:
        """Return what an instruction computes, None where no effect of the row covers its modifiers and operands."""
        count = len(instruction.operands)
        if not row.effects or not len(row.form) - 1 <= count <= len(row.form) or not all(map(_fills, row.form, instruction.operands)):
            return None
        key = instruction.opcode, count
        if key not in self._computations:
            modifiers = instruction.opcode.upper().split(".")[1:]
            effect = next((effect for effect in row.effects if effect.covers_in_order(modifiers)), None)
            places = {name: place for place, name in slot_names(row.form[:count])}
            complete = count == len(row.form) or row.form[-1].optional
            self._computations[key] = Computation(effect, places) if effect is not None and complete else None
        return self._computations[key]

    def _letter(self, instruction: Instruction) -> Letter:
        bare = any(isinstance(operand, PtxAddress) and operand.bare for operand in instruction.operands[1:])
        special = any(isinstance(operand, Special) for operand in instruction.operands)
        return self._letters.letter(instruction.opcode + (".sreg" if special else ""), constant=bare, indexed=False)

    @staticmethod
    def _is_direct(instruction: Instruction) -> bool:
        return any(isinstance(operand, Target | Symbol) for operand in instruction.operands)

    def _callees(self, instruction: Instruction) -> tuple[Frame, ...]:
        """Return what a call may enter, as far as the input holds it."""
        for operand in instruction.operands:
            if isinstance(operand, Target):
                # By name: virtual instructions may stand in front of its start.
                return (self._by_name[operand.label],)
            if isinstance(operand, Symbol):
                return ()
        return tuple(self._by_start[start] for start in self._function.callees or ())

    def _passed(self, instruction: Instruction) -> Iterator[WriteEffect]:
        """Yield what a call does: the callee's own variables are new, its parameters are the arguments, and what comes back is to come."""
        results, arguments = _lists(instruction)
        callees = self._callees(instruction)
        for callee in callees:
            yield WriteEffect((1 << callee.last) - (1 << callee.first), None)
        for callee in callees:
            for place, parameter in enumerate(callee.parameters):
                given = arguments[place] if place < len(arguments) else None
                yield WriteEffect(
                    _bit(parameter), None if given is None or isinstance(given, Special | PtxAddress) else _bits(_variables([given]))
                )
        for result in _variables(results):
            # Nothing reads it before the callee returns and says more (`_received`); what code outside of the input returns is unknown.
            yield WriteEffect(_bit(result), 0 if callees else None)

    def _note_call(self, instruction: Instruction) -> None:
        """Remember what the callees of a call bind when they return: agreement that was there before, and holds of the value too."""
        results, _ = _lists(instruction)
        for callee in self._callees(instruction):
            for place, result in enumerate(results):
                returned = callee.returns[place] if place < len(callee.returns) else None
                written = _bits(_variables([result]))
                needs = None if returned is None else written | _bit(returned)
                self._received.setdefault(callee.start, []).append(WriteEffect(written, needs))


def _split(row: PtxRow, instruction: Instruction) -> tuple[tuple[Variable, ...], tuple[Operand, ...]] | None:
    """Return the registers that an instruction writes and the operands that it reads, None where the first is neither."""
    operands = instruction.operands
    if row.writes in {Writes.NONE, Writes.PARAMETER} or (
        row.writes is Writes.REGISTER and operands and isinstance(operands[0], PtxAddress)
    ):
        return (), operands
    if not operands:
        return None
    destinations: list[Variable] = []
    for item in _items(operands[0]):
        if isinstance(item, Variable) and not item.negated:
            destinations.append(item)
        elif not (isinstance(item, Word) and item.text == "_"):
            return None
    return tuple(destinations), operands[1:]


def _items(operand: Operand) -> Iterator[Operand]:
    """Yield the parts of a group, and of the groups in it: a texel and its predicate are `{a, b, c, d}|p`."""
    if isinstance(operand, OperandGroup):
        for item in operand.items:
            yield from _items(item)
    else:
        yield operand


def _fills(slot: OperandSlot, operand: Operand) -> bool:
    """Say whether an operand can be what an effect takes it for."""
    if slot.role in "qp":
        return isinstance(operand, Variable) and operand.bits == 1
    if slot.role == "i":
        return isinstance(operand, Immediate)
    return slot.role != "d" or (isinstance(operand, Variable) and operand.bits > 1 and not operand.part)


def _stored(instruction: Instruction) -> tuple[WriteEffect, ...]:
    """Return what a store to a call parameter does; one that covers only a part of it keeps the rest."""
    place = instruction.operands[0]
    if not isinstance(place, PtxAddress) or not isinstance(place.base, Variable) or not place.base.size:
        return ()
    modifiers = instruction.opcode.split(".")
    covered = max((width(name) for name in modifiers), default=0) * max((_VECTORS.get(name, 1) for name in modifiers), default=1)
    written = _bit(place.base)
    values = _bits(_variables(instruction.operands[1:]))
    if any(isinstance(operand, Special | PtxAddress) for operand in instruction.operands[1:]):
        return (WriteEffect(written, None),)
    whole = place.offset == 0 and covered >= place.base.size
    return (WriteEffect(written, values if whole else values | written),)


def _deciding(agree: PtxUniformity, sources: Sequence[Operand]) -> Sequence[Operand] | None:
    """Return the operands that decide whether the threads that run an instruction together get one result; None: nothing does."""
    match agree:
        case PtxUniformity.ALWAYS:
            return ()
        case PtxUniformity.MASK:
            return sources[-1:]
        case PtxUniformity.BARRIER:
            return sources[:-1]
        case PtxUniformity.LANE | PtxUniformity.LANE_MASK if len(sources) > _CLAMP:
            clamp = sources[_CLAMP]
            whole = isinstance(clamp, Immediate) and clamp.value == _WHOLE_WARP
            return (sources[1], *sources[_CLAMP + 1 :]) if whole else None
        case _:
            return None


def _lists(instruction: Instruction) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """Return what a call receives and what it passes."""
    before: tuple[Operand, ...] = ()
    after: tuple[Operand, ...] = ()
    seen = False
    for operand in instruction.operands:
        if not isinstance(operand, OperandGroup):
            seen = True
        elif seen:
            after = operand.items
        else:
            before = operand.items
    return before, after


def _variables(operands: Iterable[Operand]) -> Iterator[Variable]:
    """Yield every variable that operands name, those of addresses and vectors too."""
    for operand in operands:
        if isinstance(operand, Variable):
            yield operand
        elif isinstance(operand, OperandGroup):
            yield from _variables(operand.items)
        elif isinstance(operand, PtxAddress):
            yield from _variables((operand.base, *operand.items))


def _bit(variable: Variable) -> int:
    return (3 if variable.bits == _LONG else 1) << variable.number


def _bits(variables: Iterable[Variable]) -> int:
    out = 0
    for variable in variables:
        out |= _bit(variable)
    return out


def variable_names(function: Function) -> dict[int, str]:
    """Return the name of every variable that the function's instructions name, by number."""
    out: dict[int, str] = {}
    for instruction in function.instructions:
        for variable in _variables(instruction.operands):
            out[variable.number] = variable.name.partition(".")[0]
        if instruction.guard is not None and instruction.guard.index is not None:
            out[instruction.guard.index] = instruction.guard.file
    return out


def register_widths(function: Function) -> dict[int, int]:
    """Return the width in bits of every register that the function's instructions name, by number (`Variable.bits`)."""
    out: dict[int, int] = {}
    for instruction in function.instructions:
        out |= {variable.number: variable.bits for variable in _variables(instruction.operands)}
        if instruction.guard is not None and instruction.guard.index is not None:
            out[instruction.guard.index] = 1
    return out


@lru_cache(maxsize=4)
def _letters(name: str) -> LetterRules:
    return read_letters("ptx_letters.toml", data_text("ptx_letters.toml"), name)


def load(function: Function, letters: str = "timing") -> PtxIsa:
    """Return the facts of a function of PTX with one mapping to letters; raises InputError `bad-table` when a table is not well formed."""
    return PtxIsa(function, table(), _letters(letters))
