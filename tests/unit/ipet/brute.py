"""Small programs run by a plain SIMT machine in which every thread decides at random: what a warp really counts on every edge.

Written apart from `sassan.simt`: it knows the rules of docs/concepts/warp-machine.md (up to Pascal), and nothing of abstract states.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from sassan.alphabet import Letter
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import bit
from sassan.source import Span
from sassan.warpcfg.explore import explore
from sassan.warpcfg.graph import ActivationPoint, Context, EdgeKind, WarpCfg
from sassan.warpcfg.options import Options

FLOWS = {
    "op": (Flow.NONE, ""),
    "bra": (Flow.BRANCH, ""),
    "brx": (Flow.INDIRECT_BRANCH, ""),
    "ssy": (Flow.PUSH, "SYNC"),
    "pbk": (Flow.PUSH, "BRK"),
    "sync": (Flow.POP, "SYNC"),
    "brk": (Flow.POP, "BRK"),
    "cal": (Flow.CALL, "RET"),
    "ret": (Flow.POP, "RET"),
    "exit": (Flow.EXIT, ""),
    "bssy0": (Flow.PUSH, "B0"),
    "bssy1": (Flow.PUSH, "B1"),
    "bsync0": (Flow.POP, "B0"),
    "bsync1": (Flow.POP, "B1"),
    "break0": (Flow.BREAK, "B0"),
    "break1": (Flow.BREAK, "B1"),
    "meet": (Flow.WARP_BARRIER, ""),
}
VOLTA = frozenset({"bssy0", "bssy1", "bsync0", "bsync1", "break0", "break1", "meet"})
STRAIGHT = frozenset({"op", "ssy", "pbk", "bssy0", "bssy1", "break0", "break1"})
MEET = "WARPSYNC"
_CC = bit("CC", 0)
"""What decides is the carry flag: no branch teaches anything about it, so that every decision is a new one."""


@dataclass(frozen=True)
class Op:
    """`some`: each thread decides whether it takes part; `uniform`: all together. Targets are indices of instructions."""

    name: str
    targets: tuple[int, ...] = ()
    some: bool = False
    uniform: bool = False


def instruction(index: int, op: Op) -> Instruction:
    targets = tuple(8 * target for target in op.targets) if op.name == "brx" else ()
    text = f"{op.name}{' some' if op.some else ''} {op.targets}"
    return Instruction(
        8 * index, 8 * index + 8, op.name, (), None, Span(1, 1, 1), targets=targets, text=text, condition="CC.NE" if op.some else ""
    )


def facts(op: Op) -> Facts:
    flow, tag = FLOWS[op.name]
    condition = _CC if op.some or op.name == "brx" else 0
    target = 8 * op.targets[0] if op.targets and op.name != "brx" else None
    reads = _CC if op.name == "brx" else 0
    return Facts(
        reads, (), 0, flow, Letter.COMPUTE, condition=condition, guard_alone=not op.some, uniform=op.uniform, tag=tag, target=target
    )


def graph(ops: list[Op], order: str = "taken-first") -> WarpCfg:
    arch = "sm_61" if VOLTA.isdisjoint(op.name for op in ops) else "sm_75"
    function = Function("brute", arch, tuple(instruction(index, op) for index, op in enumerate(ops)))
    return explore(function, lambda one: facts(ops[one.address // 8]), Options(order=order))


@dataclass
class Entry:
    point: ActivationPoint
    threads: set[int]
    opened: bool = False
    """Who waits at a barrier of the warp that has opened: nobody joins them."""

    @property
    def runs_later(self) -> bool:
        return not self.point.tag or self.opened


@dataclass
class Counts:
    """Executions per warp edge, steps per thread edge, the most turns of a thread per entry, per loop, and the walk of each thread."""

    warp: dict[int, int] = field(default_factory=dict[int, int])
    thread: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    turns: list[int] = field(default_factory=list[int])
    walks: list[list[int]] = field(default_factory=list[list[int]])


class MissingEdgeError(Exception):
    """The machine took an edge that the graph does not have."""


class Machine:
    """One run of one warp; `step` runs one block."""

    def __init__(self, ops: list[Op], cfg: WarpCfg, lanes: int, random: Random, *, either: bool, keep: float) -> None:  # noqa: PLR0913  # all that a run depends on
        self.ops, self.cfg, self.random, self.either, self.keep = ops, cfg, random, either, keep
        self.at = {(node.context, node.start): index for index, node in enumerate(cfg.nodes)}
        self.edges = {(e.src, e.dst, e.kind, e.pushed, e.popped): index for index, e in enumerate(cfg.edges)}
        self.active = set(range(lanes))
        self.stack: list[Entry] = []
        self.node: int | None = cfg.entry
        self.decided: dict[int, int] = {}
        self.counts = Counts(turns=[0] * len(cfg.loops), walks=[[cfg.entry] for _ in range(lanes)])
        self.where = dict.fromkeys(self.active, cfg.entry)
        self.current = [dict.fromkeys(self.active, 0) for _ in cfg.loops]

    def run(self, limit: int) -> Counts | None:
        for _ in range(limit):
            if self.node is None:
                return self.counts
            self.step()
        return None

    def step(self) -> None:
        node = self.cfg.nodes[self.node]
        context = node.context
        for one in node.instructions[:-1]:
            self.run_straight(context, one.address // 8)
        index = node.end // 8
        op = self.ops[index]
        self.run_straight(context, index)
        takers = {thread for thread in sorted(self.active) if not op.some or self.random.random() < self.keep}
        if op.name in STRAIGHT:
            self.go(EdgeKind.FALLTHROUGH, context, index + 1)
        elif op.name == "bra":
            self.branch(context, index, op.targets[0], takers)
        elif op.name == "brx":
            self.indirect(context, index, op)
        elif op.name == "cal":
            self.stack.append(Entry(ActivationPoint(context, 8 * index + 8, "RET"), set(self.active)))
            self.go(EdgeKind.CALL, (*context, 8 * index), op.targets[0])
        elif op.name == "meet":
            self.meet(context, index)
        elif op.name in VOLTA:
            entry = self.nearest(FLOWS[op.name][1])
            self.leave(context, index, FLOWS[op.name][1], takers & entry.threads if entry else set())
        else:
            self.leave(context, index, FLOWS[op.name][1], takers)

    def nearest(self, tag: str) -> Entry | None:
        return next((entry for entry in reversed(self.stack) if entry.point.tag == tag), None)

    def run_straight(self, context: Context, index: int) -> None:
        op = self.ops[index]
        flow, tag = FLOWS[op.name]
        if flow is Flow.BREAK and (entry := self.nearest(tag)):
            entry.threads -= {thread for thread in sorted(self.active) if not op.some or self.random.random() < self.keep}
            self.stack = [one for one in self.stack if one.threads]
        if flow is Flow.PUSH:
            self.stack.append(Entry(ActivationPoint(context, 8 * op.targets[0], FLOWS[op.name][1]), set(self.active)))

    def branch(self, context: Context, index: int, target: int, takers: set[int]) -> None:
        others = self.active - takers
        if not others:
            self.go(EdgeKind.TAKEN, context, target)
        elif not takers:
            self.go(EdgeKind.FALLTHROUGH, context, index + 1)
        elif self.either and self.random.random() < 0.5:
            self.diverge(context, index + 1, ActivationPoint(context, 8 * target, "", 8 * index), others, takers)
        else:
            self.diverge(context, target, ActivationPoint(context, 8 * index + 8, ""), takers, others)

    def indirect(self, context: Context, index: int, op: Op) -> None:
        chosen = {thread: self.random.choice(op.targets) for thread in sorted(self.active)}
        for thread in sorted(self.active):
            self.decided.setdefault(thread, chosen[thread])
        target = self.random.choice(sorted({self.decided[thread] for thread in self.active}))
        takers = {thread for thread in self.active if self.decided[thread] == target}
        for thread in takers:
            del self.decided[thread]
        if takers == self.active:
            self.go(EdgeKind.TAKEN, context, target)
        else:
            self.diverge(context, target, ActivationPoint(context, 8 * index, ""), takers, self.active - takers)

    def diverge(self, context: Context, to: int, point: ActivationPoint, takers: set[int], others: set[int]) -> None:
        self.stack.append(Entry(point, others))
        self.active = takers
        self.go(EdgeKind.DIVERGE, context, to, pushed=point)

    def leave(self, context: Context, index: int, tag: str, takers: set[int]) -> None:
        for entry in reversed(self.stack if takers else []):
            if tag and entry.point.tag == tag:
                break
            entry.threads -= takers
        self.stack = [entry for entry in self.stack if entry.threads]
        if self.active - takers:
            self.active = self.active - takers
            self.go(EdgeKind.FALLTHROUGH, context, index + 1)
        elif not self.stack:
            self.take((self.node, None, EdgeKind.EXIT, None, None))
            self.node = None
        else:
            self.resume()

    def resume(self) -> None:
        top = self.stack.pop()
        if top.point.tag == MEET and not top.opened:
            self.open_barriers()
        self.active = set(top.threads)
        kind = {"": EdgeKind.REACTIVATE, "RET": EdgeKind.RETURN}.get(top.point.tag, EdgeKind.RECONVERGE)
        self.go(kind, top.point.context, top.point.address // 8, popped=top.point)

    def open_barriers(self) -> None:
        for entry in self.stack:
            entry.opened |= entry.point.tag == MEET

    def meet(self, context: Context, index: int) -> None:
        """Wait for all sides, above the nearest token and together with those who are here already; then those here go on first."""
        point = ActivationPoint(context, 8 * index + 8, MEET)
        sides = [entry for entry in self.stack if entry.runs_later]
        rest = [entry for entry in self.stack if not entry.runs_later]
        floor = next((place + 1 for place in reversed(range(len(rest))) if rest[place].point.tag != MEET), 0)
        here = next((entry for entry in rest[floor:] if entry.point == point), None)
        if here is None and not sides:
            self.open_barriers()
            self.go(EdgeKind.FALLTHROUGH, context, index + 1)
            return
        if here is None:
            here = Entry(point, set())
        else:
            rest.remove(here)
        here.threads |= self.active
        self.stack = [*rest, here, *sides]
        self.resume()

    def go(
        self, kind: EdgeKind, context: Context, index: int, pushed: ActivationPoint | None = None, popped: ActivationPoint | None = None
    ) -> None:
        to = self.at[context, 8 * index]
        self.take((self.node, to, kind, pushed, popped))
        again = popped is not None and not popped.tag and self.ops[index].name == "brx" and popped.address == 8 * index
        if not (again and all(self.where[thread] == to for thread in self.active)):
            for thread in sorted(self.active):
                self.move(thread, self.where[thread], to)
        self.node = to

    def take(self, key: tuple[int | None, int | None, EdgeKind, ActivationPoint | None, ActivationPoint | None]) -> None:
        if key not in self.edges:
            raise MissingEdgeError(str(key))
        index = self.edges[key]
        self.counts.warp[index] = self.counts.warp.get(index, 0) + 1

    def move(self, thread: int, src: int, dst: int) -> None:
        self.where[thread] = dst
        self.counts.walks[thread].append(dst)
        self.counts.thread[src, dst] = self.counts.thread.get((src, dst), 0) + 1
        for number, loop in enumerate(self.cfg.loops):
            if (src, dst) in loop.back:
                self.current[number][thread] += 1
                self.counts.turns[number] = max(self.counts.turns[number], self.current[number][thread])
            elif dst in loop.nodes and src not in loop.nodes:
                self.current[number][thread] = 0


def random_program(random: Random, size: int) -> list[Op]:
    """Any jumps at all: most of such programs are refused, and the rest are stranger than what a compiler writes."""
    names = random.choice(
        (
            ("op", "bra", "bra", "bra", "ssy", "sync", "exit"),
            ("op", "bra", "bra", "bra", "ssy", "sync", "pbk", "brk"),
            ("op", "bra", "bra", "bra", "exit"),
            ("op", "bra", "bra", "brx", "ssy", "sync"),
            ("op", "bra", "bra", "cal", "ret", "exit"),
        )
    )
    return _filled(random, size, names)


def random_volta_program(random: Random, size: int) -> list[Op]:
    """As above, with barriers that resume behind one of their BSYNCs: what else there is, is a gap."""
    names = random.choice(
        (
            ("op", "bra", "bra", "bra", "bssy0", "bsync0", "exit"),
            ("op", "bra", "bra", "bra", "bssy0", "bsync0", "bssy1", "bsync1", "break0"),
            ("op", "bra", "bra", "bra", "meet", "exit"),
            ("op", "bra", "bra", "bra", "meet", "bssy0", "bsync0", "break0"),
        )
    )
    ops = _filled(random, size, names)
    for index, op in enumerate(ops):
        if op.name.startswith("bssy"):
            behind = [place + 1 for place, one in enumerate(ops) if one.name == "bsync" + op.name[-1]]
            ops[index] = Op(op.name, (random.choice(behind),)) if behind else Op("op")
    return ops


def _filled(random: Random, size: int, names: tuple[str, ...]) -> list[Op]:
    ops: list[Op] = []
    for index in range(size):
        name = random.choice(names)
        some = random.random() < 0.7
        if name in {"bra", "cal", "ssy", "pbk"}:
            ops.append(Op(name, (random.randrange(size + 1),), some and name == "bra"))
        elif name == "brx":
            ops.append(Op(name, tuple(sorted({random.randrange(size + 1) for _ in range(random.randint(2, 3))}))))
        else:
            ops.append(Op(name, (), some and index < size - 1 and name not in {"op", "meet"}))
    return [*ops, Op("exit")]
