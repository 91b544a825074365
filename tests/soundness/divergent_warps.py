"""A warp whose threads part and meet, on one scheduler: groups of threads, the convergence barriers that they are in, and random turns.

Written apart from the exploration: a group runs along the steps of threads, BSSY enters a barrier, and BSYNC waits until every group that
is in it has come or ended.
"""

from dataclasses import dataclass, field
from random import Random

from sassan.arch import described
from sassan.ir import Register
from sassan.timing.rates import Rates
from sassan.warpcfg.graph import EdgeKind, WarpCfg
from soundness.issue_simulator import Scheduler, step

BLOCKS, SPLITS = 60, 6
"""After so many blocks a run is cut; after so many splits threads stay together."""
_OTHERS = ("WARPSYNC", "BREAK", "BMOV", "CALL", "RET", "BRX", "JMX", "BPT")


@dataclass
class Group:
    """Threads that run together: where, from when on, in which barriers, and the one that they wait at."""

    node: int
    may: int
    barriers: dict[int, int] = field(default_factory=dict[int, int])
    place: int = 0
    waits: int | None = None


def simple(cfg: WarpCfg) -> bool:
    """Whether only branches, EXIT, BSSY and BSYNC move threads, and the last two all of them."""
    code = [one for node in cfg.nodes for one in node.code]
    return not cfg.gaps and not any(
        one.opcode.startswith(_OTHERS) or (one.opcode in ("BSSY", "BSYNC") and one.guard is not None) for one in code
    )


class Warp:
    """One run from the entry; `started` are the blocks that groups have begun, in turn."""

    def __init__(self, cfg: WarpCfg, rates: Rates, random: Random, draw: str) -> None:
        self._cfg, self._random = cfg, random
        together = described(cfg.function.arch).control_words
        self._machine = Scheduler(random, draw, together=together, drains=random.random() < 0.7, queues=random.random() < 0.3)
        self._code = [[(one, step(one, rates)) for one in node.code] for node in cfg.nodes]
        self._next = {node: [edge.dst for edge in cfg.thread_edges if edge.src == node] for node in range(len(cfg.nodes))}
        self._parts = {edge.src for edge in cfg.edges if edge.kind is EdgeKind.DIVERGE}
        self._ends = {edge.src for edge in cfg.edges if edge.dst is None}
        self._entered = 0
        self.splits = 0
        self.started = [cfg.entry]
        self.groups = [Group(cfg.entry, 0)]

    def run(self) -> int:
        """Return when the last of them has ended, or the last instruction before the cut issued."""
        done = 0
        while self.groups and len(self.started) < BLOCKS:
            running = [group for group in self.groups if group.waits is None]
            ready = [
                group for group in running if group.may <= self._machine.now and self._machine.ready(self._code[group.node][group.place][1])
            ]
            if not ready:
                self._machine.wait(*(group.may for group in running))
                continue
            group = self._random.choice(ready)
            instruction, one = self._code[group.node][group.place]
            issued = self._machine.now
            group.may = done = self._machine.issue(one)
            self._machine.now += 1
            group.place += 1
            match instruction.opcode, instruction.operands:
                case "BSSY", (Register(index=int(index)), *_):
                    self._entered += 1
                    group.barriers[index] = self._entered
                case "BSYNC", (Register(index=int(index)), *_):
                    group.waits = group.barriers.pop(index)
                case _:
                    pass
            if group.place == len(self._code[group.node]):
                self._behind(group)
            self._meet()
            if self.groups:
                done = issued
        return done if self.groups else max(done, self._machine.rest)

    def _behind(self, group: Group) -> None:
        """Go on behind a block: all threads one way, or some each way."""
        if group.waits is not None:
            return
        ways: list[int | None] = [*self._next[group.node], *([None] if group.node in self._ends else [])]
        self._random.shuffle(ways)
        # Ways out of the program do not part: a guarded EXIT leaves the others alone.
        parts = group.node in self._parts and len(ways) > 1 and self.splits < SPLITS and self._random.random() < 0.7
        self.splits += parts
        self.groups.remove(group)
        for way in ways[: 2 if parts else 1]:
            if way is not None:
                self._start(Group(way, group.may, dict(group.barriers)))

    def _start(self, group: Group) -> None:
        self.started.append(group.node)
        self.groups.append(group)

    def _meet(self) -> None:
        """Open every barrier that all who are in it have come to."""
        while opened := next(
            (
                barrier
                for barrier in {group.waits for group in self.groups}
                if barrier is not None and not any(barrier in group.barriers.values() for group in self.groups)
            ),
            None,
        ):
            met = [group for group in self.groups if group.waits == opened]
            self.groups = [group for group in self.groups if group.waits != opened]
            (behind,) = self._next[met[0].node]
            self._start(Group(behind, max(group.may for group in met), met[0].barriers))
