"""Words of a thread's stack as variables: what is spilled to a known place and read back there is what was spilled.

A place is known by its distance from the stack pointer with which the kernel starts. It is followed through copies and sums over the steps
of a thread. A word in which a store of another width, or one at an unknown place, may have written holds anything afterwards. Called
functions that the input does not hold leave the stack alone, as `warpcfg/externals.py` assumes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import or_
from typing import NamedTuple

from sassan.domains.bits import bits
from sassan.domains.ranges import signed
from sassan.ipet.loop_bounds.evaluate import Evaluated
from sassan.ipet.loop_bounds.step import InstructionStep
from sassan.ipet.loop_bounds.values import Known, constant
from sassan.ir import Instruction, Language, Register
from sassan.isa.facts import Facts
from sassan.isa.moves import WORD, Add, InitialStackPointer, Load, Move, Store, moves, reads_stack
from sassan.values.patterns import SAME, InstructionEffect
from sassan.warpcfg.graph import WarpCfg

FIRST = 1 << 11
"""The bit number of the first word of the stack: more than any register has."""
_STACK_POINTER = 1
_BYTES = 4
_Places = Mapping[int, int]
"""The distance from the start of the stack of what registers hold, where that is known."""


class SlotMove(NamedTuple):
    """What a load from, or a store to, the stack writes: a register or word each, and where it comes from (None: 0).

    `spoiled` are the words of which nothing is known afterwards, as a mask.
    """

    pairs: tuple[tuple[int, int | None], ...]
    spoiled: int = 0

    @property
    def written(self) -> int:
        """Return what it may write, as a mask."""
        return reduce(or_, (1 << to for to, _ in self.pairs), self.spoiled)

    @property
    def read(self) -> int:
        """Return what it copies, as a mask."""
        return reduce(or_, (1 << source for _, source in self.pairs if source is not None), 0)

    @property
    def effect(self) -> InstructionEffect[Evaluated]:
        """Return what it computes."""
        return InstructionEffect(Evaluated(tuple(((to,), str(to), partial(_slot_word, number=source)) for to, source in self.pairs)), SAME)


def _slot_word(step: InstructionStep, number: int | None) -> Known:
    return constant(0) if number is None else step.register(number)


@dataclass(frozen=True, slots=True)
class Slots:
    """The words of a function: the bit number of each by its distance, and, per node, the accesses to them by address."""

    numbers: Mapping[int, int] = field(default_factory=dict[int, int])
    accesses: Sequence[Mapping[int, SlotMove]] = ()

    def name(self, number: int) -> str:
        """Return what a word is called."""
        place = next(signed(place) for place, known in self.numbers.items() if known == number)
        return f"the stack word at {'-' if place < 0 else ''}0x{abs(place):x}"

    def at(self, node: int) -> Mapping[int, SlotMove]:
        """Return the accesses of a node."""
        return self.accesses[node] if self.accesses else {}


NO_SLOTS = Slots()


class _Access(NamedTuple):
    """A load or a store of words at a distance (None: unknown), by the move that says so."""

    instruction: Instruction
    move: Load | Store
    place: int | None


def slots_of(cfg: WarpCfg, facts: Mapping[int, Facts], order: Sequence[int], successors: Sequence[Sequence[int]]) -> Slots:
    """Return the words of the stack that are read at known places, and what accesses them."""
    if cfg.function.language is Language.PTX or not any(reads_stack(each) for node in cfg.nodes for each in node.instructions):
        return NO_SLOTS
    lines = [[(each, facts[each.address], moves(each, facts[each.address].computes)) for each in node.instructions] for node in cfg.nodes]
    accesses = _accesses(lines, _on_entry(lines, cfg.entry, order, successors))
    read = {word for row in accesses for each in row if isinstance(each.move, Load) for word in _words(each)}
    numbers = {place: FIRST + index for index, place in enumerate(sorted(read))}
    every = reduce(or_, (1 << number for number in numbers.values()), 0)
    return Slots(numbers, [{each.instruction.address: _moved(each, numbers, every) for each in row} for row in accesses])


_Line = Sequence[tuple[Instruction, Facts, tuple[Move, ...]]]


def _on_entry(lines: Sequence[_Line], entry: int, order: Sequence[int], successors: Sequence[Sequence[int]]) -> list[_Places]:
    """Return the known places before each node: the greatest fixpoint below what the entry knows."""
    starts = any(isinstance(move, InitialStackPointer) for line in lines for _, _, done in line for move in done)
    before: list[_Places | None] = [None] * len(lines)
    before[entry] = {} if starts else {_STACK_POINTER: 0}
    places = {node: place for place, node in enumerate(order)}
    pending = {entry}
    while pending:
        node = min(pending, key=places.__getitem__)
        pending.discard(node)
        known = dict(before[node] or {})
        for line in lines[node]:
            _advance(known, line)
        for after in successors[node]:
            old = before[after]
            new = known if old is None else {name: place for name, place in old.items() if known.get(name) == place}
            if old is None or len(new) < len(old):
                before[after] = dict(new)
                pending.add(after)
    return [places or {} for places in before]


def _advance(known: dict[int, int], line: tuple[Instruction, Facts, tuple[Move, ...]]) -> None:
    """Change what is known to what is known behind an instruction."""
    instruction, facts, done = line
    written: dict[int, int | None] = {}
    for move in done:
        match move:
            case InitialStackPointer(to):
                written[to] = 0
            case Add(to, source, addend):
                old = known.get(source)
                written[to] = None if old is None else old + addend & WORD
            case _:
                pass
    for name in bits(facts.writes):
        place = written.get(name)
        if place is None or (instruction.guard is not None and known.get(name) != place):
            known.pop(name, None)
        else:
            known[name] = place


def _accesses(lines: Sequence[_Line], before: Sequence[_Places]) -> list[list[_Access]]:
    out: list[list[_Access]] = []
    for line, places in zip(lines, before, strict=True):
        known, row = dict(places), list[_Access]()
        for instruction, facts, done in line:
            for move in done:
                if isinstance(move, Load | Store):
                    base = None if move.base is None else known.get(move.base)
                    row.append(_Access(instruction, move, None if base is None else base + move.offset & WORD))
            _advance(known, (instruction, facts, done))
        out.append(row)
    return out


def _words(access: _Access) -> Iterable[int]:
    """Return the distances of the words of an access; none where they are not known, or it accesses parts of words."""
    count = access.move.count if isinstance(access.move, Load) else len(access.move.sources)
    aligned = access.place is not None and access.place % _BYTES == 0
    return [(access.place or 0) + _BYTES * index & WORD for index in range(count)] if aligned else []


def _moved(access: _Access, numbers: Mapping[int, int], every: int) -> SlotMove:
    words = _words(access)
    if isinstance(access.move, Load):
        return SlotMove(tuple((access.move.to + index, numbers[word]) for index, word in enumerate(words)))
    if not words:
        return SlotMove((), every)
    source = access.instruction.operands[-1]
    if isinstance(source, Register) and source.index is None:
        return SlotMove(tuple((numbers[word], None) for word in words if word in numbers))
    stored = [(numbers[word], source) for word, source in zip(words, access.move.sources, strict=True) if word in numbers]
    spoiled = reduce(or_, (1 << number for number, source in stored if source is None), 0)
    return SlotMove(tuple((number, source) for number, source in stored if source is not None), spoiled)
