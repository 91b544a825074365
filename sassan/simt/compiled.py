"""Blocks of a run as compiled code executes them, once the run is so long that loading it pays.

What has a row of numbers (`micro_operations.py`) is executed by `kernel.py`, together with the rows next to it; what has none, by the
values of the run. Both do the same: only the time differs.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sassan.ir import Function
from sassan.simt.certain import Certainty
from sassan.simt.code import ExecutableFunction, Operation
from sassan.simt.integer_work import WarpInputs
from sassan.simt.integers import Integers
from sassan.simt.lane_groups import is_of_one_lane
from sassan.simt.loads import descriptors
from sassan.simt.micro_operations import MicroOperation, Translator
from sassan.simt.micro_rules import row_of
from sassan.simt.shared import COMPILED, SharedMemory
from sassan.simt.values import LANES, ONE_COPY, Moment, Values, Words

if TYPE_CHECKING:
    from sassan.simt.kernel import OperationTable

_WORTH, _WORTH_LOADED, _WORTH_UNMADE = 3_000, 60, 30_000
"""Operations after which compiled code is loaded, which takes about a second; is used where it is loaded; is compiled, for ten seconds."""
_OF_PROCESS = [0]
"""Operations that all runs of this process have executed one by one: who estimates many kernels loads compiled code after some."""
_NOTHING, _NO_WORDS = np.zeros((1, 1, LANES), np.bool_), np.zeros((1, 1, LANES), np.uint32)


@dataclass(frozen=True, slots=True)
class CompiledOperations:
    """Operations that follow each other and have rows; `writes` are the registers that each of them writes."""

    table: "OperationTable"
    writes: tuple[tuple[int, ...], ...]
    choices: int = 0
    """How many of them draw what is noted of executions."""


@dataclass(slots=True)
class CompiledBlocks:
    """The blocks of a code for one run of `values`: a register file (R, N, 32), and what is certain of it."""

    code: ExecutableFunction
    values: Integers
    registers: Words
    certainty: Certainty | None
    separate: bool
    _parts: list[tuple[Operation | CompiledOperations, ...]] | None = None
    _executed: int = 0
    _slots: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        """Hold no compiled code."""
        self._slots = {register: place for place, register in enumerate(self.code.registers)}

    def parts(self, number: int) -> Sequence[Operation | CompiledOperations]:
        """Return what is to be executed of a block, one after the other."""
        if self._parts is not None:
            return self._parts[number]
        block = self.code.blocks[number]
        self._executed += len(block.operations)
        _OF_PROCESS[0] += len(block.operations)
        if self._executed > _WORTH_LOADED and (COMPILED in sys.modules or _OF_PROCESS[0] > _worth()):
            self.compile()
        return block.operations

    def compile(self) -> None:
        """Use compiled code from the next block on."""
        rows = Translator(self.values.place, self._slots)
        made = [[(each, self._row(rows, each)) for each in block.operations] for block in self.code.blocks]
        constants = np.zeros((len(rows.constants) + 1, len(self.values.place)), np.uint32)
        for place, word in enumerate(rows.constants):
            constants[place] = word
        self._parts = [tuple(self._in_groups(each, constants)) for each in made]

    def _row(self, rows: Translator, operation: Operation) -> MicroOperation | None:
        """Return the row of an operation that compiled code may execute in this run."""
        alike = ONE_COPY.issuperset(operation.reads) and not is_of_one_lane(operation)
        if self.certainty is not None and operation.broadcast and not alike:
            return None  # which lane comes first says what all get
        made = row_of(rows, operation)
        return self.values.drawn_row(rows, operation) if made is None else made

    def _in_groups(
        self, several: Sequence[tuple[Operation, MicroOperation | None]], constants: Words
    ) -> Iterator[Operation | CompiledOperations]:
        for has_rows, group in groupby(several, lambda each: each[1] is not None):
            if has_rows:
                yield self.table([(operation, row) for operation, row in group if row is not None], constants)
            else:
                yield from (operation for operation, _ in group)

    def table(self, several: Sequence[tuple[Operation, MicroOperation]], constants: Words) -> CompiledOperations:
        """Return the rows of operations that follow each other; `constants` are the words that they read (K, N)."""
        from sassan.simt import kernel  # noqa: PLC0415 - it loads the compiler

        lists: dict[str, list[Any]] = {"tests": [], "reads": [], "writes": []}
        table = np.zeros((len(several), kernel.COLUMNS), np.int64)
        history, choices = self.values.history, 0
        for row, (operation, made) in zip(table, several, strict=True):
            row[kernel.CODE], row[kernel.WORDS], row[kernel.TRUTHS] = made.code, len(made.words), len(made.truths)
            row[kernel.FIRST_WORD : kernel.FIRST_WORD + len(made.words)] = made.words
            row[kernel.FIRST_TRUTH : kernel.FIRST_TRUTH + len(made.truths)] = made.truths
            row[kernel.NEGATED], row[kernel.INVERTED], row[kernel.OTHERWISE] = made.negated, made.inverted, made.otherwise
            row[kernel.SIGNED] = made.signed
            row[kernel.FIRST_NUMBER : kernel.FIRST_NUMBER + len(made.numbers)] = made.numbers
            row[kernel.BROADCAST] = operation.broadcast
            number = history.numbers.get(operation.instruction.address, -1) if history is not None and operation.exact is None else -1
            row[kernel.NOTE] = number if made.is_computed else -1
            choices += number >= 0 and not made.is_computed
            hints = descriptors(operation.instruction)
            parts: dict[str, list[Any]] = {
                "tests": [(self._slots[test.register], int(test.negated)) for test in operation.condition.tests],
                "reads": [self._slots[register] for register in operation.reads if register not in hints],
                "writes": [(self._slots[register], made.results[register]) for register in operation.writes],
            }
            for first, name in ((kernel.FIRST_TEST, "tests"), (kernel.FIRST_READ, "reads"), (kernel.FIRST_WRITE, "writes")):
                row[first], row[first + 1] = len(lists[name]), len(parts[name])
                lists[name] += parts[name]
            if operation.condition.never:
                row[kernel.TESTS] = kernel.NEVER
            row[kernel.SURE], row[kernel.EXACT] = made.is_computed, operation.exact is not None
        tests, writes = (np.array(lists[name], np.int64).reshape(-1, 2) for name in ("tests", "writes"))
        one_copy = np.array([register in ONE_COPY for register in self.code.registers], np.bool_)
        return CompiledOperations(
            kernel.OperationTable(table, tests, np.array(lists["reads"], np.int64), writes, constants, one_copy),
            tuple(operation.writes for operation, _ in several),
            choices,
        )

    def execute(self, part: CompiledOperations, at: Moment) -> None:
        """Execute rows in warps that stand at their block, all of their registers being up to date."""
        from sassan.simt import kernel  # noqa: PLC0415 - it loads the compiler

        place, certainty, history = self.values.place, self.certainty, self.values.history
        lasting = self.values.lasting
        group = kernel.Group(at.rows, at.time, at.executing, self.registers, place.salt, lasting, self.separate)
        torn = np.zeros(len(part.writes), np.bool_)
        if certainty is None:
            known = kernel.Known(False, _NOTHING, _NOTHING[0], _NOTHING[0], torn)
        else:
            path, alive = certainty.paths(at.rows)
            known = kernel.Known(True, certainty.words, path, alive, torn)
        unknown = self.values.unknown
        if history is None:
            no = np.zeros(0, np.int64)
            past = kernel.Past(no, _NO_WORDS, _NO_WORDS, _NOTHING, _NOTHING[0], no.reshape(0, 0), False, _NOTHING)
        else:
            past = kernel.Past(
                history.first,
                history.words,
                history.moved,
                history.lanes,
                history.steady,
                history.times,
                unknown is not None,
                _NOTHING if unknown is None else unknown,
            )
        words, truths = np.zeros((kernel.FLAGS + 1, LANES), np.uint64), np.zeros((6, LANES), np.bool_)
        space = kernel.WarpSpace(words, np.zeros((4, LANES), np.uint64), truths[:3], truths[3], truths[4], truths[5])
        self.values.count_drawn(at.rows, part.choices)
        kernel.execute(part.table, group, known, past, space)
        if certainty is not None:
            for number in np.flatnonzero(torn).tolist():
                certainty.torn.update(part.writes[number])


def make() -> None:
    """Compile what executes rows, if that has not been done."""
    no_words = np.zeros((0, 0, LANES), np.uint32)
    place = WarpInputs(np.zeros(0, np.uint32), {}, lambda _: np.zeros(0, np.uint32))
    blocks = CompiledBlocks(ExecutableFunction(Function("", "", ()), (), 0, (), ()), Integers(place), no_words, None, separate=False)
    empty = Moment(np.zeros(0, np.intp), np.zeros(0, np.uint32), np.zeros((0, LANES), np.bool_))
    blocks.execute(blocks.table((), np.zeros((0, 0), np.uint32)), empty)
    SharedMemory(np.zeros(1, np.intp), set()).load(empty.rows, empty.executing, np.zeros((0, LANES), np.uint32))


def _worth() -> int:
    """Return after how many operations of all runs of this process compiled code is worth the time to load it."""
    return _WORTH if is_made() else _WORTH_UNMADE


@cache
def is_made() -> bool:
    """Say whether code has been compiled since it changed, as far as it is kept beside its source."""
    source = Path(__file__).with_name("kernel.py")
    return any(made.stat().st_mtime >= source.stat().st_mtime for made in (source.parent / "__pycache__").glob("kernel.execute-*.nbi"))


def of_run(
    code: ExecutableFunction, values: Values, registers: Words, certainty: Certainty | None, *, separate: bool
) -> CompiledBlocks | None:
    """Return the compiled blocks of a run, None for values of which nothing is known."""
    return CompiledBlocks(code, values, registers, certainty, separate) if isinstance(values, Integers) else None
