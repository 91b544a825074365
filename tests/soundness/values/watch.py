"""What is looked at while warps of a launch run: at every instruction, the words of registers and what lanes share of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from sassan.domains.lanes import UNKNOWN, LaneWord
from sassan.simt.code import Code
from sassan.simt.state import Session, lanes
from sassan.simt.values import LANES, PREDICATES
from sassan.values import WarpValues
from soundness.watch import by_context, name

Place = tuple[tuple[int, ...], int]
"""Call context and address of an instruction."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What is said of R registers before an instruction: `rows` (R) of the machine, each one's word, and whether lanes of one row share
    all but `own` (R, W, 32), for W warps in turn.

    `own` is what a lane adds to a word, nothing for predicates, on which threads agree altogether; `apart` are the rows (R, W, 32); `whole`
    says that they agree on all of a word.
    """

    registers: tuple[int, ...]
    rows: np.ndarray
    words: tuple[LaneWord, ...]
    adds: np.ndarray
    offsets: np.ndarray
    masks: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    own: np.ndarray
    apart: np.ndarray
    shared: np.ndarray
    whole: np.ndarray


@dataclass(slots=True)
class WordWatch:
    """An observer of a machine whose blocks are single instructions; `bases` are the words (N) that stand for each base, `numbers` those
    of the warps in their blocks (N).

    Afterwards, `problems` are (kind, run, what is wrong), the first for each kind, place and register; `checked` counts words.
    """

    values: WarpValues
    code: Code
    bases: Mapping[str, np.ndarray]
    numbers: np.ndarray
    problems: dict[tuple[str, Place, int], tuple[str, int, str]] = field(default_factory=dict)
    checked: int = 0
    _claims: dict[Place, Claims] = field(init=False)

    def __post_init__(self) -> None:
        self._claims = dict(self._everywhere())

    def _everywhere(self) -> Iterator[tuple[Place, Claims]]:
        slots = {register: index for index, register in enumerate(self.code.registers)}
        for index, node in enumerate(self.values.cfg.nodes):
            for number, (instruction, point) in enumerate(self.values.along(index)):
                whole = 0 if number else node.agreement
                claimed = [each for each in slots if each in point.words.held or (point.agreed | whole) >> each & 1]
                words = [point.words.held.get(each, UNKNOWN) for each in claimed]
                adds, apart = _tables([word.lanes for word in words]), _tables([word.rows for word in words])
                truth = np.array([each in PREDICATES for each in claimed], dtype=np.bool_)
                yield (
                    (node.context, instruction.address),
                    Claims(
                        tuple(claimed),
                        np.array([slots[each] for each in claimed], dtype=np.intp),
                        tuple(words),
                        adds,
                        np.array([word.offset for word in words], dtype=np.uint32),
                        np.array([word.modulus - 1 for word in words], dtype=np.uint32),
                        np.array([word.low for word in words], dtype=np.uint32),
                        np.array([word.high for word in words], dtype=np.uint32),
                        np.where(truth[:, None, None], np.uint32(0), adds),
                        apart,
                        np.array([point.agreed >> each & 1 for each in claimed], dtype=np.bool_),
                        np.array([whole >> each & 1 for each in claimed], dtype=np.bool_),
                    ),
                )

    def enter(self, session: Session, block: int, rows: np.ndarray) -> None:
        for context, part in by_context(session, rows):
            place = context, self.code.blocks[block].address
            claims = self._claims.get(place)
            if claims is None:
                self.problems.setdefault(("place", place, 0), ("place", int(part[0]), f"no node holds {place[1]:04x}"))
            elif claims.registers:
                self._look(session, place, claims, part)

    def _look(self, session: Session, place: Place, claims: Claims, rows: np.ndarray) -> None:
        active = lanes(session.warps.active[rows])
        words = session.warps.registers[claims.rows[:, None], rows]
        based = np.array([self.bases[word.base][rows] if word.base else np.zeros(len(rows), np.uint32) for word in claims.words])
        adds = _of(claims.adds, self.numbers[rows])
        left = words - adds - claims.offsets[:, None, None] - based[:, :, None].astype(np.uint32)
        outside = (left & claims.masks[:, None, None]) != 0
        outside |= (words < claims.lows[:, None, None]) | (words > claims.highs[:, None, None])
        self._note("word", place, claims, words, _first(outside & active, rows))
        none = np.zeros_like(words)
        lanes_of = _of(claims.own, self.numbers[rows]), _of(claims.apart, self.numbers[rows])
        for kind, (own, apart), said in (("lanes", lanes_of, claims.shared), ("agreement", (none, none), claims.whole)):
            rests = words - own
            for row in range(int(apart.max(initial=0)) + 1):
                inside = active & (apart == row) & said[:, None, None]
                first = np.take_along_axis(rests, inside.argmax(axis=2)[:, :, None], axis=2)
                self._note(kind, place, claims, words, _first((rests != first) & inside, rows))
        self.checked += int(active.sum()) * len(claims.registers)

    def _note(self, kind: str, place: Place, claims: Claims, words: np.ndarray, wrong: Iterator[tuple[int, int, int, int]]) -> None:
        for index, row, lane, run in wrong:
            register = claims.registers[index]
            what = f"{name(register)} at {place[1]:04x} is {words[index, row, lane]:#x} in lane {lane}, said is {claims.words[index]}"
            self.problems.setdefault((kind, place, register), (kind, run, what))


def _tables(tables: list[tuple[int, ...] | None]) -> np.ndarray:
    """Return tables of lanes (R, W, 32), 0 where there is none; all are for equally many warps."""
    count = max((len(table) for table in tables if table is not None), default=LANES)
    filled = [table or (0,) * count for table in tables]
    return np.array(filled, dtype=np.uint32).reshape(len(tables), count // LANES, LANES)


def _of(tables: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return what tables (R, W, 32) say of warps with these numbers: (R, N, 32)."""
    return tables[:, numbers % tables.shape[1]]


def _first(wrong: np.ndarray, rows: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
    """Yield the first (register, row, lane) of each register that is wrong, and the run of the row."""
    for index in np.flatnonzero(wrong.any(axis=(1, 2))).tolist():
        row, lane = (int(each[0]) for each in np.nonzero(wrong[index]))
        yield index, row, lane, int(rows[row])
