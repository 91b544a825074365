"""Contents of memory that are searched, not drawn: the words under which some guard of a program changes its mind.

Each guard (an instruction that writes a condition) is asked for the words at its corners: the numbers that it names, one more, one less,
and the ends of the ranges of words. These are solved backwards, instruction by instruction, to the loads and the words of the launch that
they come from. What an instruction computes is asked of the concrete machine itself: a function of one word, with the others held, is taken
for a multiple of it plus a number (mod 2^32), or for an exclusive or of its bits; a solution counts where the machine confirms it.
So no opcode has a rule here, and one that has none there is not solved. The work is limited by a count.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np

from sassan.ir import Constant, Immediate
from sassan.isa.registers import bit
from sassan.simt.code import ExecutableFunction, Operation
from sassan.simt.integer_work import WarpInputs
from sassan.simt.integers import Corners, Integers
from sassan.simt.values import LANES, PREDICATES, Moment, Words

_WORD = 0xFFFFFFFF
_ENDS = (0, _WORD, 1, 0x7FFFFFFF, 0x80000000)
"""The ends of the ranges of signed and unsigned words, and 1."""
_TRUTHS = PREDICATES | {bit("CC", 0).bit_length() - 1}
_HELD = (0, 1, _WORD)
"""What the other words are held at, one after the other, until there is a solution."""
_FAR = 8
"""Instructions between a guard and what decides it, at most."""
_MOST = 24
"""Words for each load, and wanted of each register."""
_QUERIES = 400
"""Questions to the machine, at most."""
_BITS = np.array([0, *(1 << place for place in range(32))], dtype=np.uint32)
"""The words that tell a function: 0, and each bit alone."""

_Key = TypeVar("_Key")
_Solver = Callable[[int], int | None]
Variable = tuple[str, int]
"""A register, or a word of constant bank 0, by its number."""


def corners(code: ExecutableFunction, known: Callable[[int], int | None], free: Callable[[int], bool], *, short: bool) -> Corners:
    """Return the words at the corners of the guards of a program.

    `known` says what the launch gives of constant bank 0, `free` of which words there it says nothing.
    """
    return _Search(code, known, free, short).run()


@dataclass(slots=True)
class _Search:
    code: ExecutableFunction
    known: Callable[[int], int | None]
    free: Callable[[int], bool]
    short: bool
    queries: int = 0
    writers: dict[int, list[Operation]] = field(default_factory=lambda: defaultdict(list))
    loads: dict[tuple[int, int], dict[int, None]] = field(default_factory=lambda: defaultdict(dict))
    words: dict[int, dict[int, None]] = field(default_factory=lambda: defaultdict(dict))
    _solvers: dict[tuple[int, Variable, int], dict[int, _Solver]] = field(default_factory=dict)

    def run(self) -> Corners:
        """Return what was found, for each load and each word of the launch."""
        operations = [operation for block in self.code.blocks for operation in block.operations]
        for operation in operations:
            for register in operation.writes:
                self.writers[register].append(operation)
        guards = [operation for operation in operations if not _TRUTHS.isdisjoint(operation.writes)]
        numbers = {guard.instruction.address: self._numbers(guard) for guard in guards}
        common = tuple(dict.fromkeys((*_ENDS, *(word for words in numbers.values() for word in words))))[:_MOST]
        wanted: dict[Variable, dict[int, None]] = defaultdict(dict)
        for guard in guards:
            for variable in self._variables(guard):
                wanted[variable] |= dict.fromkeys((*numbers[guard.instruction.address], *common))
        done: set[tuple[Variable, int]] = set()
        for _ in range(_FAR):
            wanted = self._before(wanted, done)
            if not wanted or self.queries >= _QUERIES:
                break
        return Corners(_arrays(self.loads), _arrays(self.words))

    def _before(self, wanted: Mapping[Variable, Iterable[int]], done: set[tuple[Variable, int]]) -> dict[Variable, dict[int, None]]:
        """Return the words that instructions must find so that they leave those that are wanted; note them where nothing computes them."""
        out: dict[Variable, dict[int, None]] = defaultdict(dict)
        for variable, values in wanted.items():
            fresh = [value for value in values if (variable, value) not in done][:_MOST]
            done |= {(variable, value) for value in fresh}
            kind, number = variable
            if kind == "c":
                _note(self.words[number], fresh)
                continue
            for writer in self.writers[number] if fresh else ():
                if self.queries >= _QUERIES:
                    return out
                for source, solved in self._solved(writer, number, fresh):
                    out[source] |= dict.fromkeys(solved)
        return out

    def _solved(self, operation: Operation, register: int, values: Sequence[int]) -> Iterable[tuple[Variable, list[int]]]:
        """Yield, for each word that an instruction works on, those under which it leaves the values in a register."""
        if register not in self._computed(operation, {}, 0, 1):
            _note(self.loads[operation.instruction.address, operation.writes.index(register)], values)
            return
        for source in self._variables(operation):
            sources: dict[int, int] = {}
            for held in _HELD:
                rest = [value for value in values if value not in sources]
                if rest and self.queries < _QUERIES:
                    sources |= self._inverted(operation, register, source, held, rest)
            yield source, list(dict.fromkeys(sources.values()))

    def _inverted(self, operation: Operation, register: int, source: Variable, held: int, values: Sequence[int]) -> dict[int, int]:
        """Return for each value a word of the source under which the instruction leaves it, where there is one."""
        key = (operation.instruction.address, source, held)
        if key not in self._solvers:
            images = self._computed(operation, {source: _BITS}, held, len(_BITS))
            self._solvers[key] = {register: _solver(words) for register, words in images.items()}
        solve = self._solvers[key].get(register)
        if solve is None:
            return {}
        guesses = list(dict.fromkeys(guess for guess in map(solve, values) if guess is not None))
        if not guesses:
            return {}
        left = self._computed(operation, {source: np.array(guesses, dtype=np.uint32)}, held, len(guesses)).get(register)
        wanted = set(values)
        return {int(value): guess for guess, value in zip(guesses, () if left is None else left, strict=False) if int(value) in wanted}

    def _computed(self, operation: Operation, given: Mapping[Variable, Words], held: int, count: int) -> dict[int, Words]:
        """Return what the machine computes, by register, where the words are given or held; nothing of what it draws."""
        self.queries += 1
        inputs = {}
        for register in operation.reads:
            word = given.get(("r", register))
            other = held & 1 if register in PREDICATES else held
            inputs[register] = np.repeat(np.full(count, other, dtype=np.uint32) if word is None else word, LANES).reshape(count, LANES)

        def bank(offset: int) -> Words:
            word, known = given.get(("c", offset)), self.known(offset)
            return np.full(count, held if known is None else known, dtype=np.uint32) if word is None else word

        machine = Integers(WarpInputs(np.zeros(count, dtype=np.uint32), {}, bank, self.short))
        at = Moment(np.arange(count), np.zeros(count, dtype=np.uint32), np.ones((count, LANES), dtype=np.bool_))
        out = machine.computed(operation, tuple(inputs[register] for register in operation.reads), at)
        return {register: words[:, 0].astype(np.uint32) for register, words in out.items()}

    def _variables(self, operation: Operation) -> Iterable[Variable]:
        yield from (("r", register) for register in operation.reads if register not in _TRUTHS)
        for operand in operation.instruction.operands:
            if isinstance(operand, Constant) and operand.bank == 0 and not operand.base:
                yield from (("c", offset) for offset in (operand.offset, operand.offset + 4) if self.free(offset))

    def _numbers(self, operation: Operation) -> tuple[int, ...]:
        """Return the numbers that an instruction names, with those beside them."""
        named = [
            operand.value for operand in operation.instruction.operands if isinstance(operand, Immediate) and isinstance(operand.value, int)
        ]
        for operand in operation.instruction.operands:
            if isinstance(operand, Constant) and operand.bank == 0 and not operand.base:
                named += [word for word in (self.known(operand.offset),) if word is not None]
        return tuple(dict.fromkeys(number + beside & _WORD for number in named for beside in (0, 1, -1)))


def _solver(images: Words) -> _Solver:
    """Return what finds the word that a function maps to a value, by what it does to the words that tell it; it may be wrong."""
    start, factor = int(images[0]), int(images[1]) - int(images[0]) & _WORD
    if (images == images[0]).all():
        return _nothing
    if factor and (images == (_BITS * np.uint32(factor) + np.uint32(start))).all():
        return partial(_divided, start, factor)
    basis: dict[int, tuple[int, int]] = {}
    for place, image in enumerate(images[1:].tolist()):
        row, made = _reduced(basis, image ^ start, 1 << place)
        if row:
            basis[row.bit_length()] = (row, made)
    return partial(_eliminated, basis, start)


def _nothing(_: int) -> int | None:
    return None


def _divided(start: int, factor: int, value: int) -> int | None:
    """Return the word of which the multiple, plus a number, is the value."""
    rest, twos = value - start & _WORD, (factor & -factor).bit_length() - 1
    if rest & ((1 << twos) - 1):
        return None
    return (rest >> twos) * pow(factor >> twos, -1, 1 << 32) % (1 << 32 - twos)


def _eliminated(basis: Mapping[int, tuple[int, int]], start: int, value: int) -> int | None:
    """Return the word whose bits, each by what it does, give the value."""
    left, word = _reduced(basis, value ^ start, 0)
    return None if left else word


def _reduced(basis: Mapping[int, tuple[int, int]], row: int, made: int) -> tuple[int, int]:
    while row and row.bit_length() in basis:
        other, parts = basis[row.bit_length()]
        row, made = row ^ other, made ^ parts
    return row, made


def _note(words: dict[int, None], fresh: Iterable[int]) -> None:
    words |= dict.fromkeys((*fresh, *_ENDS))
    for word in list(words)[_MOST:]:
        del words[word]


def _arrays(candidates: Mapping[_Key, Mapping[int, None]]) -> dict[_Key, Words]:
    return {key: np.array(list(words), dtype=np.uint32) for key, words in candidates.items() if words}
