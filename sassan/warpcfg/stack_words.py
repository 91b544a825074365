"""Words of a thread's stack as variables: what is spilled to a known place and read back there is what was spilled.

A place is known by its distance from the stack pointer with which the function starts, and is followed through copies and sums over the
steps of a thread. Words that are read at known places become registers (`isa/stack.py`), for whatever follows registers. A store of another
width, at one of several places, or at an unknown one, spoils the words that it may change. Threads have stacks of their own, so a word is a
register of a thread.

Functions that the input does not hold leave the stack alone, as `externals.py` assumes, as long as no address of it can have reached them:
once one goes anywhere but into another address or a load or store of local memory, such calls spoil every word.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

from sassan.analysis.fixpoint import FixpointProblem, solve, verify
from sassan.analysis.graph import weak_order
from sassan.domains.bits import bits
from sassan.domains.ranges import signed
from sassan.ir import Instruction, Language, Memory
from sassan.isa.facts import Facts
from sassan.isa.moves import WORD, Add, InitialStackPointer, Load, Move, RoundDown, Store, moves, reads_stack
from sassan.isa.registers import bit, stack_word
from sassan.isa.stack import StackMove
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.externals import SAVED
from sassan.warpcfg.graph import WarpCfg

_STACK_POINTER = 1
_BYTES = 4
_LOCAL = frozenset({"LDL", "STL"})
_KEPT = SAVED | {_STACK_POINTER}
_REGISTERS = 1024
"""Bit numbers below are those of registers."""
_Places = Mapping[int, int | None]
"""The registers that may hold an address of the stack: how far it is from where the stack starts, None where that is not known."""


class _PlaceDomain:
    """A register holds no such address, or one at a distance, or possibly one at an unknown distance: above the other two."""

    bottom: _Places | None = None

    def leq(self, a: _Places | None, b: _Places | None) -> bool:
        return a is None or (b is not None and self.join(a, b) == b)

    def join(self, a: _Places | None, b: _Places | None) -> _Places | None:
        if a is None or b is None:
            return a if b is None else b
        if a == b:
            return b
        return {name: a[name] if name in a and name in b and a[name] == b[name] else None for name in a.keys() | b.keys()}

    def explain(self, a: _Places | None, b: _Places | None) -> str:
        return "" if self.leq(a, b) else f"places on the stack {a} are not among {b}"


class _Line(NamedTuple):
    """An instruction with what is known of it."""

    instruction: Instruction
    facts: Facts
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class _Access:
    """A load or a store of local memory, by the places where it may be in whatever call (None: unknown)."""

    line: _Line
    move: Load | Store
    places: frozenset[int | None]

    @property
    def count(self) -> int:
        """How many words it accesses."""
        return self.move.count if isinstance(self.move, Load) else len(self.move.sources)

    @property
    def place(self) -> int | None:
        """The one place where it is, None where there are several, or it is unknown."""
        return next(iter(self.places)) if len(self.places) == 1 else None

    def words(self) -> list[int | None]:
        """Return the numbers of the words that it copies; none where they are not known, or it accesses parts of words."""
        if self.place is None or self.place % _BYTES:
            return []
        return [stack_word(signed(self.place + _BYTES * index & WORD)) for index in range(self.count)]

    def changed(self, followed: int) -> int:
        """Return the words among `followed` that it may change, as a set of bits."""
        if None in self.places:
            return followed
        firsts = [place - place % _BYTES for place in self.places if place is not None]
        ends = self.count + any(place is not None and place % _BYTES for place in self.places)
        numbers = [stack_word(signed(first + _BYTES * index & WORD)) for first in firsts for index in range(ends)]
        return followed & _union(number for number in numbers if number is not None)


def stack_words(cfg: WarpCfg, facts_of: FactsOf) -> Mapping[int, StackMove]:
    """Return, by address, what the instructions of a graph copy to words of the stack that are read at known places, and from them.

    Nothing for PTX, for a graph with gaps, and where no instruction reads the stack. Raises SelfCheckError.
    """
    if cfg.gaps or cfg.function.language is Language.PTX or not any(reads_stack(each) for node in cfg.nodes for each in node.instructions):
        return {}
    lines = [_lines(node.instructions, facts_of) for node in cfg.nodes]
    before = _on_entry(cfg, lines)
    accesses = list(_accesses(lines, before))
    loads = (each for each in accesses if isinstance(each.move, Load))
    followed = _union(number for each in loads for number in each.words() if number is not None)
    out = {each.line.instruction.address: _moved(each, followed) for each in accesses}
    external = {each.address for each in cfg.externals}
    if external and any(_escapes(line, known, external) for line, known in _points(lines, before)):
        out |= dict.fromkeys(sorted(external), StackMove((), followed))
    return {address: move for address, move in out.items() if move != StackMove()}


def _lines(instructions: Iterable[Instruction], facts_of: FactsOf) -> list[_Line]:
    known = [(each, facts_of(each)) for each in instructions]
    return [_Line(each, facts, moves(each, facts.computes)) for each, facts in known if facts is not None]


def _on_entry(cfg: WarpCfg, lines: Sequence[Sequence[_Line]]) -> Sequence[_Places]:
    """Return what registers may hold before each node: the least fixpoint over the steps of a thread."""
    successors: list[list[int]] = [[] for _ in cfg.nodes]
    for edge in cfg.thread_edges:
        successors[edge.src].append(edge.dst)
    places = {node: place for place, node in enumerate(weak_order(len(successors), successors, cfg.entry))}

    external = {each.address for each in cfg.externals}

    def transfer(node: int, before: _Places | None) -> Iterator[tuple[int, _Places | None]]:
        known = dict(before or {})
        for line in lines[node]:
            _advance(known, line)
        if cfg.nodes[node].end in external:
            known = {name: place if name in _KEPT else None for name, place in known.items()}
        return ((after, known) for after in successors[node])

    sets = any(isinstance(move, InitialStackPointer) for block in lines for line in block for move in line.moves)
    start: dict[int, _Places | None] = {cfg.entry: {} if sets else {_STACK_POINTER: 0}}
    problem = FixpointProblem(_PlaceDomain(), transfer, start, lambda node: (places[node],))
    states = solve(problem).states
    verify(problem, states, name=lambda node: f"places on the stack at 0x{cfg.nodes[node].start:04x}")
    return [states.get(node) or {} for node in range(len(lines))]


def _advance(known: dict[int, int | None], line: _Line) -> None:
    """Change what registers may hold to what they may hold behind an instruction."""
    written: dict[int, int | None] = {}
    for move in line.moves:
        match move:
            case InitialStackPointer(to):
                written[to] = 0
            case Add(to, source, addend) if source in known:
                old = known[source]
                written[to] = None if old is None else old + addend & WORD
            case RoundDown(to, source, _) if source in known:
                written[to] = None
            case _:
                pass
    for name in bits(line.facts.writes & (1 << _REGISTERS) - 1):
        held = name in known, known.get(name)
        now = name in written, written.get(name)
        if line.instruction.guard is not None and held != now:
            now = True, None
        if now[0]:
            known[name] = now[1]
        else:
            known.pop(name, None)


def _points(lines: Sequence[Sequence[_Line]], before: Sequence[_Places]) -> Iterator[tuple[_Line, _Places]]:
    """Yield every instruction of every node with what registers may hold before it; it is to be read before the next is taken."""
    for block, places in zip(lines, before, strict=True):
        known = dict(places)
        for line in block:
            yield line, known
            _advance(known, line)


def _accesses(lines: Sequence[Sequence[_Line]], before: Sequence[_Places]) -> Iterator[_Access]:
    """Yield the accesses of local memory: one for each move of each instruction, whatever call it is in."""
    seen: dict[tuple[int, int], tuple[_Line, Load | Store, set[int | None]]] = {}
    for line, known in _points(lines, before):
        for index, move in enumerate(line.moves):
            if isinstance(move, Load | Store):
                base = None if move.base is None else known.get(move.base)
                _, _, places = seen.setdefault((line.instruction.address, index), (line, move, set()))
                places.add(None if base is None else base + move.offset & WORD)
    return (_Access(line, move, frozenset(places)) for line, move, places in seen.values())


def _moved(access: _Access, followed: int) -> StackMove:
    words = access.words()
    if isinstance(access.move, Load):
        return StackMove(tuple((access.move.to + index, word) for index, word in enumerate(words) if word is not None))
    pairs = tuple(
        (word, source)
        for word, source in zip(words, access.move.sources, strict=False)
        if word is not None and followed >> word & 1 and (access.move.zeros or source is not None)
    )
    return StackMove(pairs, access.changed(followed) & ~_union(word for word, _ in pairs))


def _escapes(line: _Line, known: _Places, external: Container[int]) -> bool:
    """Say whether an instruction may bring an address of the stack to where it is not followed, or to one of the `external` calls."""
    if not known:
        return False
    if line.instruction.address in external:
        return not _KEPT.issuperset(known)
    followed = _union(move.source for move in line.moves if isinstance(move, Add | RoundDown))
    if line.instruction.opcode.partition(".")[0] in _LOCAL:
        stored = _union(source for move in line.moves if isinstance(move, Store) for source in move.sources if source is not None)
        bases = [register for operand in line.instruction.operands if isinstance(operand, Memory) for register in operand.base]
        followed |= reduce(or_, (bit(register.file, register.index) for register in bases), 0) & ~stored
    return bool(line.facts.reads & ~followed & _union(known))


def _union(numbers: Iterable[int]) -> int:
    return reduce(or_, (1 << number for number in numbers), 0)
