"""Walks along the paths of a thread, one producer at a time: the plain counterpart of the check of control codes.

Nothing here is shared with `timing/scoreboards.py` but the tables, the decoder and the steps of a thread: no states are joined, and
no fixpoint is sought. A walk follows each path from one instruction for a number of cycles and looks at what comes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sassan.ir import Function
from sassan.isa import tables
from sassan.isa.control import ControlCode, encode
from sassan.timing.hazards import FILES, GUARD, RAW, WAW, Hazards, accessed, load, parts
from sassan.timing.scheduled import issued
from sassan.timing.steps import steps

FAR = 30
"""Cycles after which every result of fixed latency is taken to be there."""


LONG = 200
"""Instructions after which a walk ends, whatever they cost."""


@dataclass(frozen=True, slots=True)
class Code:
    """One function: registers and control codes by index, and the steps of a thread."""

    function: Function
    controls: tuple[ControlCode, ...]
    reads: tuple[int, ...]
    guards: tuple[int, ...]
    writes: tuple[int, ...]
    after: tuple[tuple[int, ...], ...]
    """Empty behind a call to code that is not there."""
    hazards: Hazards

    def kind(self, index: int) -> str:
        """Return the class of an instruction."""
        return self.hazards.profile(self.function.instructions[index].opcode).producer

    def fixed(self, index: int) -> bool:
        """Return whether the result of an instruction comes after a fixed number of cycles."""
        opcode = self.function.instructions[index].opcode
        return self.controls[index].write_barrier is None and not self.hazards.profile(opcode).variable

    def ordered(self, index: int) -> bool:
        """Return whether an instruction is an access of a queue."""
        return self.hazards.profile(self.function.instructions[index].opcode).results != ""

    def changed(self, index: int, control: ControlCode) -> Function:
        """Return the function with another control code at one instruction."""
        code = list(self.function.instructions)
        code[index] = replace(code[index], control=encode(control))
        return replace(self.function, instructions=tuple(code))


def code_of(function: Function) -> Code:
    """Return the code of a function whose listing has encodings."""
    facts = [tables.load(function.arch).facts(one) for one in function.instructions]
    hazards = load(function.arch)
    registers = [accessed(one, fact, hazards.profile(one.opcode)) for one, fact in zip(function.instructions, facts, strict=True)]
    ways = steps(function, facts)
    after = tuple(() if index in ways.unknown else to for index, to in enumerate(ways.after))
    return Code(
        function,
        tuple(issued(one, hazards.profile(one.opcode), hazards) for one in function.instructions if one.control is not None),
        tuple(reads for reads, _, _ in registers),
        tuple(guard for _, guard, _ in registers),
        tuple(writes for _, _, writes in registers),
        after,
        hazards,
    )


@dataclass(frozen=True, slots=True)
class Use:
    """An instruction that depends on the producer, a way to it, and the cycles that this way takes.

    `classes` are those of the parts of the result that it touches.
    """

    consumer: int
    dependence: str
    file: str
    classes: tuple[str, ...]
    distance: int
    way: tuple[int, ...]


def uses(code: Code, producer: int, far: int = FAR) -> Iterator[Use]:
    """Yield the uses of the result of an instruction within `far` cycles, on every path, until it is overwritten, or a wait outlasts it."""
    todo: list[tuple[int, int, int, tuple[int, ...], int]] = []
    todo += [(to, code.controls[producer].stall, code.writes[producer], (producer,), 0) for to in code.after[producer]]
    while todo:
        index, distance, registers, way, setters = todo.pop()
        if distance > far or len(way) > LONG or code.controls[index].wait_mask & setters:
            continue
        for dependence, file, used in _touches(code, index):
            if used & registers and not apart(code, producer, index, way):
                classes = tuple(name for name, part in parts(code.kind(producer), code.writes[producer]) if part & used & registers)
                yield Use(index, dependence, file, classes, distance, way)
        left = registers if code.guards[index] else registers & ~code.writes[index]
        barrier = code.controls[index].write_barrier
        if barrier is not None and code.hazards.outlasts and code.ordered(index):
            setters |= 1 << barrier
        if left:
            todo.extend((to, distance + code.controls[index].stall, left, (*way, index), setters) for to in code.after[index])


def apart(code: Code, producer: int, consumer: int, way: tuple[int, ...]) -> bool:
    """Return whether no thread runs both: opposite guards, and nothing on the way writes the predicate."""
    one, other = code.function.instructions[producer].guard, code.function.instructions[consumer].guard
    if one is None or other is None or (one.file, one.index) != (other.file, other.index) or one.negated == other.negated:
        return False
    return not any(code.writes[index] & code.guards[producer] for index in way)


def _touches(code: Code, index: int) -> Iterator[tuple[str, str, int]]:
    yield RAW, GUARD, code.guards[index]
    for file, members in FILES.items():
        yield RAW, file, code.reads[index] & members
        yield WAW, file, code.writes[index] & members
