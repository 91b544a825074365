"""What is looked at while runs execute: agreements at the start of blocks, and the steps of every thread."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sassan.isa.registers import names
from sassan.simt.code import AGAIN, ExecutableFunction
from sassan.simt.state import Session, lanes
from sassan.warpcfg.graph import WarpCfg

ALWAYS_CHECKED = 40
"""So many visits of a block have their agreements checked one by one, then every `STRIDE`-th."""
STRIDE = 7


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Run `run` entered node `node` at its block step `time` with active threads that differ on `register`."""

    node: int
    register: int
    run: int
    time: int


@dataclass(frozen=True, slots=True)
class Stray:
    """A thread of run `run` stepped from node `src` (-1: the start) to `dst`, where no thread edge leads."""

    src: int
    dst: int
    run: int
    time: int


@dataclass(slots=True)
class _Step:
    """Thread edge `index` from `src`: the loops that it goes back in, and those that it enters."""

    index: int
    src: int
    back: list[int]
    enter: list[int]


@dataclass(slots=True)
class _Place:
    """A node, as a visit of its first block needs it."""

    node: int
    claims: np.ndarray
    claimed: list[int]
    steps: list[_Step]
    first: list[int]
    again: bool
    visits: int = 0


@dataclass(slots=True)
class Watch:
    """An observer of a machine that runs `code`, whose leaders include every start of a node of `cfg`.

    Afterwards: `threads` (N, thread edges) counts steps over all threads; `turns` (loops, N) is, per loop, the most often that one thread
    went back between two entries; `visitors` (nodes, N) are the lanes
    that ever entered each node, as bits; `disagreements` and `strays` are what must not happen, the first of each kind.
    """

    cfg: WarpCfg
    code: ExecutableFunction
    runs: int
    depth: int | None = None
    """The innermost call sites that tell nodes apart; None: all."""
    threads: np.ndarray = field(init=False)
    turns: np.ndarray = field(init=False)
    visitors: np.ndarray = field(init=False)
    disagreements: dict[tuple[int, int], Disagreement] = field(default_factory=dict)
    strays: dict[tuple[int, int], Stray] = field(default_factory=dict)
    checked: int = 0
    _last: np.ndarray = field(init=False)
    _counters: np.ndarray = field(init=False)
    _places: dict[tuple[tuple[int, ...], int], _Place] = field(init=False)

    def __post_init__(self) -> None:
        self.threads = np.zeros((self.runs, len(self.cfg.thread_edges)), dtype=np.int64)
        self.turns = np.zeros((len(self.cfg.loops), self.runs), dtype=np.int64)
        self.visitors = np.zeros((len(self.cfg.nodes), self.runs), dtype=np.uint32)
        self._last = np.full((self.runs, 32), -1, dtype=np.int32)
        self._counters = np.zeros((len(self.cfg.loops), self.runs, 32), dtype=np.int32)
        slots = {register: index for index, register in enumerate(self.code.registers)}
        steps = self._steps()
        self._places = {}
        for index, node in enumerate(self.cfg.nodes):
            claimed = [register for register in self.code.registers if node.agreement >> register & 1]
            loops = [number for number, loop in enumerate(self.cfg.loops) if index in loop.nodes]
            rows = np.array([slots[register] for register in claimed], dtype=np.intp)
            first = loops if index == self.cfg.entry else []
            self._places[node.context, node.start] = _Place(index, rows, claimed, steps[index], first, again=False)

    def _steps(self) -> list[list[_Step]]:
        inside = [frozenset(loop.nodes) for loop in self.cfg.loops]
        backs = [frozenset(loop.back) for loop in self.cfg.loops]
        out: list[list[_Step]] = [[] for _ in self.cfg.nodes]
        for index, edge in enumerate(self.cfg.thread_edges):
            back = [number for number, pairs in enumerate(backs) if (edge.src, edge.dst) in pairs]
            enter = [number for number, nodes in enumerate(inside) if edge.dst in nodes and edge.src not in nodes]
            out[edge.dst].append(_Step(index, edge.src, back, enter))
        return out

    def enter(self, session: Session, block: int, rows: np.ndarray) -> None:
        address = self.code.blocks[block].address
        control = self.code.blocks[block].control
        again = control is not None and control.flow in AGAIN
        for context, part in by_context(session, rows):
            place = self._places.get((shorten(context, self.depth), address))
            if place is None:
                continue
            place.again = again
            active = lanes(session.warps.active[part])
            self.visitors[place.node, part] |= session.warps.active[part]
            self._agreements(session, place, part, active)
            self._thread_steps(session, place, part, active)

    def _agreements(self, session: Session, place: _Place, rows: np.ndarray, active: np.ndarray) -> None:
        place.visits += 1
        if not place.claimed or (place.visits > ALWAYS_CHECKED and place.visits % STRIDE):
            return
        words = session.warps.registers[place.claims[:, None], rows]
        first = words[:, np.arange(len(rows)), active.argmax(axis=1)]
        differ = ((words != first[:, :, None]) & active).any(axis=2)
        self.checked += differ.size
        if differ.any():
            for claim, row in zip(*np.nonzero(differ), strict=True):
                key = (place.node, place.claimed[claim])
                run = int(rows[row])
                self.disagreements.setdefault(key, Disagreement(*key, run, int(session.warps.time[run])))

    def _thread_steps(self, session: Session, place: _Place, rows: np.ndarray, active: np.ndarray) -> None:
        last = self._last[rows]
        left = active
        for step in place.steps:
            hits = active & (last == step.src)
            left = left & ~hits
            self.threads[rows, step.index] += hits.sum(axis=1)
            for loop in step.back:
                counter = self._counters[loop, rows] + hits
                self._counters[loop, rows] = counter
                self.turns[loop, rows] = np.maximum(self.turns[loop, rows], (counter * hits).max(axis=1))
            for loop in step.enter:
                self._counters[loop, rows] = np.where(hits, 0, self._counters[loop, rows])
        if place.again:
            left = left & (last != place.node)
        if place.node == self.cfg.entry:
            left = left & (last != -1)
        if left.any():
            self._stray(session, place, rows, last, left)
        self._last[rows] = np.where(active, place.node, last)

    def _stray(self, session: Session, place: _Place, rows: np.ndarray, last: np.ndarray, left: np.ndarray) -> None:
        for row, lane in zip(*np.nonzero(left), strict=True):
            key = (int(last[row, lane]), place.node)
            run = int(rows[row])
            self.strays.setdefault(key, Stray(*key, run, int(session.warps.time[run])))


def by_context(session: Session, rows: np.ndarray) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    contexts = session.warps.context[rows]
    if (contexts == contexts[0]).all():
        yield session.contexts.strings[contexts[0]], rows
        return
    for context in np.unique(contexts):
        yield session.contexts.strings[context], rows[contexts == context]


def shorten(context: tuple[int, ...], depth: int | None) -> tuple[int, ...]:
    """Return the innermost `depth` call sites, all of them for None."""
    return context if depth is None else context[len(context) - min(len(context), depth) :]


def name(register: int) -> str:
    """Return the printed name of a register."""
    return next(names(1 << register))
