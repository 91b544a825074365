"""Walks through warp-level graphs, simulated (`issue_simulator`) and held to the prices of `control`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from sassan.arch import described
from sassan.ir import Instruction
from sassan.timing import control, control_ops
from sassan.timing.control import ControlCostModel
from sassan.timing.model import BlockCosts
from sassan.timing.rates import Rates
from sassan.warpcfg.graph import EdgeKind, WarpCfg
from soundness.issue_simulator import Scheduler, Step, in_order, in_turns, step

BACK = 5
"""Blocks that are run before the one that a run is about."""
AHEAD = 6
"""Blocks of a side."""
DRAIN = 0.7
"""How often block barriers wait for earlier accesses."""
QUEUE = 0.3
"""How often instructions wait for their unit behind their issue."""


@dataclass(frozen=True)
class Excess:
    """A simulated time above its price."""

    node: str
    took: int
    price: int


class Runs:
    """One graph with its prices; None of them may have a gap."""

    def __init__(self, cfg: WarpCfg, rates: Rates, prices: BlockCosts, interleaved_blocks: frozenset[int]) -> None:
        self.cfg = cfg
        self.costs = prices.costs
        self._pieces = prices.pieces
        words = described(cfg.function.arch).control_words
        blocks = [tuple(control_ops.op_of(one, rates, together=words) for one in node.code) for node in cfg.nodes]
        self._times = control.times(cfg, blocks, interleaved_blocks)
        self.interleaved_blocks = interleaved_blocks
        self._together = described(cfg.function.arch).control_words
        self._steps: list[tuple[Step, ...]] = [tuple(step(one, rates) for one in node.code) for node in cfg.nodes]
        self._parts = [list(_parts(node.code)) for node in cfg.nodes]
        self._edges = [edge for edge in cfg.edges if edge.dst is not None]
        self._into = {node: [edge.src for edge in self._edges if edge.dst == node] for node in range(len(cfg.nodes))}
        self._out = {node: [edge.dst for edge in self._edges if edge.src == node] for node in range(len(cfg.nodes))}
        self._threads = {node: [edge.dst for edge in cfg.thread_edges if edge.src == node] for node in range(len(cfg.nodes))}
        self._ends = {edge.src for edge in cfg.edges if edge.dst is None}

    def to(self, node: int, random: Random) -> list[int]:
        """A walk over warp edges that ends in a block."""
        path = [node]
        while len(path) < BACK and (before := self._into[path[0]]):
            path.insert(0, random.choice(before))
        return path

    def excess(self, path: list[int], random: Random, draw: str) -> Iterator[Excess]:
        """Run a walk: no block takes longer than its time, and all of it, with what is left at its end, no longer than its price.

        Where block barriers do not wait for earlier accesses, or instructions queue, a later block may: then only the sums hold.
        """
        drains, queues = random.random() < DRAIN, random.random() < QUEUE
        machine = Scheduler(random, draw, together=self._together, drains=drains, queues=queues)
        entered = price = 0
        for place, node in enumerate(path):
            left = in_order(machine, self._steps[node], entered)
            price += self.costs[node]
            ends = path[0] == self.cfg.entry and place == len(path) - 1 and node in self._ends
            longest = self._times.behind.get((path[place - 1], node), self._times.longest[node]) if place else self._times.longest[node]
            if drains and not queues and left - entered > longest:
                yield Excess(self.cfg.nodes[node].id, left - entered, longest)
            if (whole := max(left, machine.rest) if ends else left) > price:
                yield Excess(" ".join(self.cfg.nodes[one].id for one in path[: place + 1]), whole, price)
            entered = left

    def places(self, path: list[int], times: int, random: Random, draw: str) -> Excess | None:
        """Run a walk so many times, each as a warp of its own that starts when the one before has ended, whatever units that still has."""
        machine = Scheduler(random, draw, together=self._together, drains=random.random() < DRAIN, queues=random.random() < QUEUE)
        entered = 0
        for _ in range(times):
            for node in path:
                entered = in_order(machine, self._steps[node], entered)
            entered = max(entered, machine.ended)
        price = times * sum(self.costs[node] for node in path)
        return None if entered <= price else Excess(" ".join(self.cfg.nodes[node].id for node in path), entered, price)

    def pieces(self, path: list[int], random: Random, draw: str) -> Iterator[Excess]:
        """Run a walk: from each block barrier to the next it takes no longer than the pieces and blocks between them say."""
        machine = Scheduler(random, draw, together=self._together, drains=True, queues=random.random() < QUEUE)
        entered = begun = price = 0
        for node in path:
            parts = self._parts[node]
            costs = self._pieces[node] or (self.costs[node],) * len(parts)
            for place, part in enumerate(parts):
                entered = in_order(machine, [self._steps[node][index] for index in part], entered)
                if len(parts) == 1:
                    price += self.costs[node]
                    continue
                price += costs[place]
                if place < len(parts) - 1:
                    if entered - begun > price:
                        yield Excess(self.cfg.nodes[node].id, entered - begun, price)
                    begun, price = entered, 0

    def taking_turns(self, random: Random, draw: str) -> Excess | None:
        """Run to a divergence, the sides of it in turns, and on: in all no longer than the prices of what ran."""
        split = random.choice([edge for edge in self._edges if edge.kind is EdgeKind.DIVERGE])
        path = self.to(split.src, random)
        sides = [self._side(first, random) for first in self._sides(split.src, split.dst, random)]
        machine = Scheduler(random, draw, together=self._together, drains=random.random() < DRAIN, queues=random.random() < QUEUE)
        entered = 0
        for node in path:
            entered = in_order(machine, self._steps[node], entered)
        entered = in_turns(machine, [[one for node in side for one in self._steps[node]] for side in sides], entered, random)
        after = [node for side in sides for node in self._out[side[-1]] if node not in self.interleaved_blocks][:1]
        for node in after:
            entered = in_order(machine, self._steps[node], entered)
        ran = [*path, *(node for side in sides for node in side), *after]
        if path[0] == self.cfg.entry and {*after, *(side[-1] for side in sides)} & self._ends:
            entered = max(entered, machine.rest)
        price = sum(self.costs[node] for node in ran)
        return None if entered <= price else Excess(" ".join(self.cfg.nodes[node].id for node in ran), entered, price)

    def may_end(self, node: int) -> bool:
        return node in self._ends

    @property
    def diverges(self) -> bool:
        return any(edge.kind is EdgeKind.DIVERGE for edge in self._edges)

    def _sides(self, source: int, taken: int, random: Random) -> list[int]:
        others = [node for node in self._threads[source] if node != taken and node in self.interleaved_blocks]
        return [taken, *random.sample(others, min(len(others), 2))]

    def _side(self, first: int, random: Random) -> list[int]:
        path = [first]
        while len(path) < AHEAD and (after := [node for node in self._threads[path[-1]] if node in self.interleaved_blocks]):
            path.append(random.choice(after))
        return path


def priced(cfg: WarpCfg, model: ControlCostModel, interleaved_blocks: frozenset[int]) -> Runs | None:
    """The graph with its prices, None where there are gaps."""
    prices = model.block_costs(cfg)
    return None if prices.gaps else Runs(cfg, model.tables.rates(cfg.function.arch), prices, interleaved_blocks)


def _parts(code: Sequence[Instruction]) -> Iterator[range]:
    """Places of the instructions up to each block barrier, and behind the last."""
    first = 0
    for place, one in enumerate(code):
        if one.opcode.startswith("BAR."):
            yield range(first, place + 1)
            first = place + 1
    yield range(first, len(code))
