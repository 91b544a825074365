"""What is looked at while warps of a launch run: at every instruction, the words of registers and what lanes share of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sassan.domains.lanes import UNKNOWN, LaneWord
from sassan.ir import Instruction
from sassan.isa.registers import bit
from sassan.simt.code import ExecutableFunction, number
from sassan.simt.state import Session, lanes
from sassan.simt.values import LANES, PREDICATES
from sassan.values import WarpValues
from sassan.values.single_thread import single_thread_instructions
from sassan.values.warp_values import PointValues
from soundness.watch import by_context, name

_CC = number("CC", 0)
Place = tuple[tuple[int, ...], int]
"""Call context and address of an instruction."""


@dataclass(frozen=True, slots=True)
class Shared:
    """R registers, `rows` (R) of the machine, of which lanes of one row share all but `own` (R, W, 32), for W warps in turn.

    `own` is what a lane adds to a word, `apart` are the rows (R, W, 32). Nothing is added where threads agree altogether.
    """

    kind: str
    registers: tuple[int, ...]
    rows: np.ndarray
    own: np.ndarray
    apart: np.ndarray


@dataclass(frozen=True, slots=True)
class Claims:
    """What is said before an instruction: the words of R registers, `rows` (R) of the machine, what lanes share, and which there are.

    `lanes` (W, 32) are those whose threads may execute it, `present` those that do whenever one does, for W warps in turn.
    """

    registers: tuple[int, ...]
    rows: np.ndarray
    words: tuple[LaneWord, ...]
    adds: np.ndarray
    offsets: np.ndarray
    masks: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    carries: np.ndarray
    shared: tuple[Shared, ...]
    lanes: np.ndarray
    present: np.ndarray
    guard: tuple[int, bool] | None = None
    """The row of a predicate, and what it is in the threads of which this is said; None: in all."""


@dataclass(slots=True)
class WordWatch:
    """An observer of a machine whose blocks are single instructions; `bases` are the words (N) that stand for each base, `numbers` those
    of the warps in their blocks (N).

    Afterwards, `problems` are (kind, run, what is wrong), the first for each kind, place and register; `checked` counts claims,
    once per thread.
    """

    values: WarpValues
    code: ExecutableFunction
    bases: Mapping[str, np.ndarray]
    numbers: np.ndarray
    problems: dict[tuple[str, Place, int], tuple[str, int, str]] = field(default_factory=dict)
    checked: int = 0
    _claims: dict[Place, list[Claims]] = field(init=False)
    _single: set[Place] = field(init=False)
    _guarded: set[Place] = field(init=False)

    def __post_init__(self) -> None:
        self._claims = {}
        self._single = {(self.values.cfg.nodes[node].context, address) for node, address in single_thread_instructions(self.values)}
        for place, claims in self._everywhere():
            self._claims.setdefault(place, []).append(claims)
        self._guarded = {place for place, several in self._claims.items() if any(claims.guard is not None for claims in several)}

    def _everywhere(self) -> Iterator[tuple[Place, Claims]]:
        slots = {register: index for index, register in enumerate(self.code.registers)}
        for index, node in enumerate(self.values.cfg.nodes):
            for position, (instruction, point) in enumerate(self.values.along(index)):
                # What a node begins with in agreement is agreed on altogether.
                whole = {each: UNKNOWN for each in slots if not position and node.agreement >> each & 1}
                yield (node.context, instruction.address), _claims(point, slots, whole, self.values.threads)
            for instruction, point in self.values.executing(index, _guarded):
                guard = instruction.guard
                assert guard is not None
                row = slots[bit(guard.file, guard.index).bit_length() - 1]
                yield (
                    (node.context, instruction.address),
                    replace(_claims(point, slots, {}, self.values.threads), guard=(row, not guard.negated)),
                )

    def enter(self, session: Session, block: int, rows: np.ndarray) -> None:
        for context, part in by_context(session, rows):
            place = context, self.code.blocks[block].address
            if place not in self._claims:
                self.problems.setdefault(("place", place, 0), ("place", int(part[0]), f"no node holds {place[1]:04x}"))
            for claims in self._claims.get(place, ()):
                if claims.registers or claims.shared or place in self._single or not claims.lanes.all() or claims.present.any():
                    self._look(session, place, claims, part)

    def _look(self, session: Session, place: Place, claims: Claims, rows: np.ndarray) -> None:
        active, checked = lanes(session.warps.active[rows]), len(claims.registers)
        if claims.guard is not None:
            row, value = claims.guard
            active = active & ((session.warps.registers[row, rows] != 0) == value)
        self._look_at_lanes(place, claims, rows, active)
        if place in self._single and (claims.guard is not None or place not in self._guarded):
            for row in np.flatnonzero(active.sum(axis=1) > 1).tolist()[:1]:
                self.problems.setdefault(("single", place, 0), ("single", int(rows[row]), f"several threads at {place[1]:04x}"))
        if claims.registers:
            words = session.warps.registers[claims.rows[:, None], rows]
            # What is said of CC is said of the carry: the machine keeps the zero flag beside it.
            words = np.where(claims.carries[:, None, None], words & np.uint32(1), words)
            left = words - _of(claims.adds, self.numbers[rows]) - claims.offsets[:, None, None]
            for index, word in enumerate(claims.words):
                if word.base:
                    left[index] -= self.bases[word.base][rows, None].astype(np.uint32)
            outside = (left & claims.masks[:, None, None]) != 0
            outside |= (words < claims.lows[:, None, None]) | (words > claims.highs[:, None, None])
            self._note("word", place, claims, claims.registers, words, _first(outside & active, rows))
        for shared in claims.shared:
            words = session.warps.registers[shared.rows[:, None], rows]
            rests, apart = words - _of(shared.own, self.numbers[rows]), _of(shared.apart, self.numbers[rows])
            for row in range(int(shared.apart.max()) + 1):
                inside = active & (apart == row)
                first = np.take_along_axis(rests, inside.argmax(axis=2)[:, :, None], axis=2)
                self._note(shared.kind, place, claims, shared.registers, words, _first((rests != first) & inside, rows))
            checked += len(shared.registers)
        self.checked += int(np.count_nonzero(active)) * checked

    def _look_at_lanes(self, place: Place, claims: Claims, rows: np.ndarray, active: np.ndarray) -> None:
        absent = active & ~claims.lanes[self.numbers[rows] % len(claims.lanes)]
        for row in np.flatnonzero(absent.any(axis=1)).tolist()[:1]:
            what = f"lane {int(absent[row].argmax())} executes {place[1]:04x}"
            self.problems.setdefault(("coming", place, 0), ("coming", int(rows[row]), what))
        missing = claims.present[self.numbers[rows] % len(claims.present)] & ~active & active.any(axis=1)[:, None]
        for row in np.flatnonzero(missing.any(axis=1)).tolist()[:1]:
            what = f"lane {int(missing[row].argmax())} does not execute {place[1]:04x}, others do"
            self.problems.setdefault(("missing", place, 0), ("missing", int(rows[row]), what))

    def _note(  # noqa: PLR0913, PLR0917  # the parts of a problem
        self,
        kind: str,
        place: Place,
        claims: Claims,
        registers: tuple[int, ...],
        words: np.ndarray,
        wrong: Iterator[tuple[int, int, int, int]],
    ) -> None:
        for index, row, lane, run in wrong:
            register = registers[index]
            said = claims.words[claims.registers.index(register)] if register in claims.registers else UNKNOWN
            what = f"{name(register)} at {place[1]:04x} is {words[index, row, lane]:#x} in lane {lane}, said is {said}"
            self.problems.setdefault((kind, place, register), (kind, run, what))


def _guarded(instruction: Instruction) -> bool:
    return instruction.guard is not None and instruction.guard.index is not None


def _claims(point: PointValues, slots: Mapping[int, int], whole: Mapping[int, LaneWord], threads: Sequence[int]) -> Claims:
    """Return what is said at a point, for warps of so many threads in turn; on the registers of `whole` threads agree altogether."""
    held = {each: word for each in slots if (word := point.words.held.get(each, UNKNOWN)) != UNKNOWN}
    # On predicates threads agree altogether.
    agreed = {each: UNKNOWN if each in PREDICATES else held.get(each, UNKNOWN) for each in slots if point.agreed >> each & 1}
    words = tuple(held.values())
    return Claims(
        tuple(held),
        _rows(held, slots),
        words,
        _tables([word.lanes for word in words]),
        np.array([word.offset for word in words], dtype=np.uint32),
        np.array([word.modulus - 1 for word in words], dtype=np.uint32),
        np.array([word.low for word in words], dtype=np.uint32),
        np.array([word.high for word in words], dtype=np.uint32),
        np.array([register == _CC for register in held], dtype=np.bool_),
        tuple(_shared(kind, said, slots) for kind, said in (("lanes", agreed), ("agreement", whole)) if said),
        _lanes(point.lanes, [LANES] * len(threads)),
        _lanes(point.present, threads),
    )


def _lanes(some: int, threads: Sequence[int]) -> np.ndarray:
    """Return a set of lanes of warps of so many threads each as (W, 32)."""
    kept = [lane < count and bool(some >> (warp * LANES + lane) & 1) for warp, count in enumerate(threads) for lane in range(LANES)]
    return np.array(kept, dtype=np.bool_).reshape(len(threads), LANES)


def _tables(tables: list[tuple[int, ...] | None]) -> np.ndarray:
    """Return tables of lanes (R, W, 32), 0 where there is none; all are for equally many warps."""
    count = max((len(table) for table in tables if table is not None), default=LANES)
    filled = [table or (0,) * count for table in tables]
    return np.array(filled, dtype=np.uint32).reshape(len(tables), count // LANES, LANES)


def _shared(kind: str, said: Mapping[int, LaneWord], slots: Mapping[int, int]) -> Shared:
    words = list(said.values())
    return Shared(kind, tuple(said), _rows(said, slots), _tables([word.lanes for word in words]), _tables([word.rows for word in words]))


def _rows(registers: Iterable[int], slots: Mapping[int, int]) -> np.ndarray:
    return np.array([slots[each] for each in registers], dtype=np.intp)


def _of(tables: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return what tables (R, W, 32) say of warps with these numbers: (R, N, 32)."""
    return tables[:, numbers % tables.shape[1]]


def _first(wrong: np.ndarray, rows: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
    """Yield the first (register, row, lane) of each register that is wrong, and the run of the row."""
    if not wrong.any():
        return
    for index in np.flatnonzero(wrong.any(axis=(1, 2))).tolist():
        row, lane = (int(each[0]) for each in np.nonzero(wrong[index]))
        yield index, row, lane, int(rows[row])
