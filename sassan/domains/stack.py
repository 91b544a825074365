"""Activation stacks as a graph: every path from the top to `BOT` is a possible stack (Jeanmougin et al. 2023, section 3.1).

A node is an activation point, named by a small integer from 1 on; bit `n` of a mask is point `n`, and bit 0 (`BOT`) is the end of the
stack. A cyclic graph stands for stacks of unbounded height.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.domains.bits import bits

BOT = 1
"""The mask of the end of the stack."""


@dataclass(frozen=True, slots=True)
class Stack:
    """`top` is the set of points that may stand on top; `below[p]` those that may stand under `p`. Only reachable points are kept."""

    top: int
    below: Mapping[int, int] = field(default_factory=dict[int, int])

    @property
    def points(self) -> int:
        """Return the set of points that some stack may hold."""
        out = 0
        for point in self.below:
            out |= 1 << point
        return out


@dataclass(frozen=True, slots=True)
class Filtered:
    """What `StackDomain.filter` gives: the stacks left, and whether a stack without the tag was met (what is left may still hold it)."""

    stack: Stack
    unmatched: bool


class StackDomain:
    """The lattice of stack graphs, ordered by inclusion of nodes and edges."""

    bottom = Stack(0)
    empty = Stack(BOT)

    def leq(self, a: Stack, b: Stack) -> bool:
        """Say whether every edge of `a` is one of `b`."""
        if a.top & ~b.top:
            return False
        below = b.below
        for point, under in a.below.items():
            if point not in below:
                return False
            if under & ~below[point]:
                return False
        return True

    def join(self, a: Stack, b: Stack) -> Stack:
        """Return the union of nodes and edges."""
        below = dict(a.below)
        for point, under in b.below.items():
            below[point] = below.get(point, 0) | under
        return Stack(a.top | b.top, below)

    def explain(self, a: Stack, b: Stack) -> str:
        """Return the first edge of `a` that `b` lacks."""
        for point in bits(a.top & ~b.top):
            return f"point {point} on top"
        for point, under in sorted(a.below.items()):
            for other in bits(under & ~b.below.get(point, 0)):
                return f"point {other} under {point}"
        return ""

    def push(self, stack: Stack, point: int) -> Stack:
        """Return the stacks with `point` on top; pushing one that is there already makes a cycle."""
        below = dict(stack.below)
        below[point] = below.get(point, 0) | stack.top
        return Stack(1 << point, below)

    def saturate(self, stack: Stack) -> Stack:
        """Return all stacks over the same points, in any order and height: the acyclic ablation's answer to a cycle."""
        every = stack.points | BOT
        return Stack(every, dict.fromkeys(bits(every & ~BOT), every))

    def pop(self, stack: Stack, point: int) -> Stack:
        """Return what may lie under `point` where it stands on top."""
        return self._reachable(stack.below[point], stack.below)

    def cyclic(self, stack: Stack, among: int = -1) -> int:
        """Return the points, of the set `among`, that one stack may hold more than once."""
        out = 0
        for point, under in stack.below.items():
            if among >> point & 1 and self._reach(under, stack.below) >> point & 1:
                out |= 1 << point
        return out

    def nearest(self, stack: Stack, tag: int) -> int:
        """Return the points of the set `tag` that may be the nearest of their kind."""
        seen, todo = 0, stack.top
        while todo := todo & ~seen:
            seen |= todo
            for point in bits(todo & ~tag & ~BOT):
                todo |= stack.below[point]
        return seen & tag

    def regions(self, stack: Stack, tag: int) -> tuple[int, int]:
        """Return the points that some stack holds above the nearest point of `tag` (empty: all), and those at it or under it."""
        above, ends = self._above(stack, tag)
        if not tag:
            return above, 0
        return above, self._reach(ends & ~BOT, stack.below) & ~BOT

    def filter(self, stack: Stack, tag: int, keep: int, drop: int, pinned: Mapping[int, int]) -> Filtered:
        """Return the stacks after the threads that leave are taken out of every entry above the nearest point of `tag`.

        `keep` entries stay, `drop` entries vanish, all others may do either. `pinned[p]` are the points that cannot vanish under an entry
        `p` that stays (0: under the threads that stay active). An empty `tag` means the whole stack (EXIT).
        """
        passed, ends = self._above(stack, tag)
        unmatched = bool(tag) and bool(ends & BOT)
        if not passed:
            return Filtered(self._reachable(ends & ~BOT if tag else ends, stack.below), unmatched)
        rest = self._reachable(ends & ~BOT if tag else 0, stack.below)
        skippable = passed & ~keep
        gone = passed & drop
        below = dict(rest.below)
        for point in bits(passed & ~gone):
            fixed = pinned.get(point, 0)
            below[point] = below.get(point, 0) | self._skip(stack.below, stack.below[point], skippable & ~fixed, gone)
        top = self._skip(stack.below, stack.top, skippable & ~pinned.get(0, 0), gone)
        if tag:
            top &= ~BOT
        return Filtered(self._reachable(top, below), unmatched)

    def erase(self, stack: Stack, may: int, must: int, pinned: Mapping[int, int]) -> Stack:
        """Return the stacks after entries of `may` may have vanished, and those of `must` have, wherever they stood.

        `pinned[p]` are the points that cannot vanish directly under `p` (0: under the active threads).
        """
        below = {
            point: self._skip(stack.below, under, (may | must) & ~pinned.get(point, 0), must)
            for point, under in stack.below.items()
            if not must >> point & 1
        }
        return self._reachable(self._skip(stack.below, stack.top, (may | must) & ~pinned.get(0, 0), must), below)

    def under_top(self, stack: Stack, tops: int) -> Stack:
        """Return the stacks whose top is one of `tops` (points, or `BOT`)."""
        return self._reachable(stack.top & tops, stack.below)

    def without(self, stack: Stack, points: int) -> Stack:
        """Return the stacks that hold none of `points`; an empty top says that there is none."""
        ending, before = BOT, 0
        while ending != before:
            before = ending
            for point, under in stack.below.items():
                if under & ending and not points >> point & 1:
                    ending |= 1 << point
        return self._reachable(stack.top & ending, {point: under & ending for point, under in stack.below.items()})

    def rename(self, stack: Stack, old: int, new: int) -> Stack:
        """Return the stacks in which every entry of the point `old` is one of `new`."""
        bit, other = 1 << old, 1 << new
        below: dict[int, int] = {}
        for point, under in stack.below.items():
            name = new if point == old else point
            below[name] = below.get(name, 0) | (under & ~bit | other if under & bit else under)
        return Stack(stack.top & ~bit | other if stack.top & bit else stack.top, below)

    def insert(self, stack: Stack, point: int, sides: int, others: int = 0) -> Stack:
        """Return the stacks with one entry of `point` beneath all `sides`: a new one, or the one that ends the run of sides on top.

        Sides that stand below something else are lifted to the run; in which order the run then stands is not kept. Nor is the order of
        the entry and of those of the set `others` that it then stands among.
        """
        bit = 1 << point
        run, ends = self.run(stack, sides & ~bit)
        among, under = self.run(Stack(ends, stack.below), others | bit)
        tops = stack.top & run | (among if among & bit and stack.top & among else 0)
        among |= bit
        deep = self._reach(under, stack.below) & sides
        below = dict(stack.below)
        if deep:
            below = {entry: self._skip(below, old, 0, sides) for entry, old in below.items()}
            under = self._skip(stack.below, under, 0, sides)
            run |= deep
            below |= dict.fromkeys(bits(run), run | among)
        else:
            for entry in bits(run):
                old = stack.below[entry]
                below[entry] = old & run | (among if old & ~run else 0)
        for entry in bits(among):
            # One entry of each, but no graph says so without an order; alone, the entry stands on what the run stood on.
            below[entry] = below.get(entry, 0) | under | (among if among != bit else 0)
        return self._reachable(run | among if deep else tops, below)

    def run(self, stack: Stack, sides: int) -> tuple[int, int]:
        """Return the points of the set `sides` that stand on top with only such points above them, and what the run may stand on."""
        seen, ends, todo = 0, stack.top & ~sides, stack.top & sides
        while todo := todo & ~seen:
            seen |= todo
            for point in bits(todo):
                ends |= stack.below[point] & ~sides
                todo |= stack.below[point] & sides
        return seen, ends

    def holding(self, stack: Stack, tag: int) -> Stack:
        """Return the stacks that hold a point of the set `tag`."""
        reaching, before = tag & stack.points, 0
        while reaching != before:
            before = reaching
            for point, under in stack.below.items():
                if under & reaching:
                    reaching |= 1 << point
        above, ends = self._above(stack, tag)
        deep = self._reach(ends & tag, stack.below)
        only_above = above & ~deep
        below = {point: under & reaching if only_above >> point & 1 else under for point, under in stack.below.items()}
        return self._reachable(stack.top & reaching, below)

    def _above(self, stack: Stack, tag: int) -> tuple[int, int]:
        """Return the points above the nearest `tag` point of some stack, and the tag points and bottoms that end the walk."""
        seen, todo = 0, stack.top
        while todo := todo & ~seen:
            seen |= todo
            for point in bits(todo & ~tag & ~BOT):
                todo |= stack.below[point]
        return seen & ~tag & ~BOT, seen & (tag | BOT)

    @staticmethod
    def _skip(below: Mapping[int, int], start: int, skippable: int, gone: int) -> int:
        """Return what may stand in the place of `start` when entries of `skippable` may vanish and those of `gone` must."""
        seen, todo = 0, start
        while todo := todo & ~seen:
            seen |= todo
            for point in bits(todo & (skippable | gone)):
                todo |= below[point]
        return seen & ~gone

    @staticmethod
    def _reach(start: int, below: Mapping[int, int]) -> int:
        # As `bits` would do it, but one point at a time: most of the time of a fixpoint would go into resuming a generator.
        seen, todo = start, start & ~BOT
        while todo:
            low = todo & -todo
            fresh = below[low.bit_length() - 1] & ~seen
            seen |= fresh
            todo = todo ^ low | fresh & ~BOT
        return seen

    def _reachable(self, top: int, below: Mapping[int, int]) -> Stack:
        seen = self._reach(top, below) & ~BOT
        if len(below) == seen.bit_count():
            return Stack(top, below)
        return Stack(top, {point: under for point, under in below.items() if seen >> point & 1})
