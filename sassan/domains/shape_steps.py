"""What the machine steps of a warp do to the shape of its state, remembered: the same step on the same shape has one result."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, ParamSpec, TypeVar, cast

from sassan.domains.bits import bits
from sassan.domains.groups import ACTIVE, GroupDomain, Groups
from sassan.domains.shapes import StackShape, shape, spread
from sassan.domains.stack import BOT, Filtered, Stack, StackDomain

P = ParamSpec("P")
T = TypeVar("T")


class NextShape(NamedTuple):
    """The shape after a step, and the names of the former one that it keeps."""

    shape: StackShape
    names: int


class ResumedShape(NamedTuple):
    """An entry that resumes, by name, and the state in which it does; `name` 0: the stack is empty, the warp ends."""

    name: int
    kept: NextShape | None


@dataclass(frozen=True, slots=True)
class Members:
    """How many of the active threads may be in the nearest entry of a tag: all, none, or some of them. `point` is it, if one is sure."""

    all: bool
    none: bool
    some: bool
    point: int | None


STACKS, GROUPS = StackDomain(), GroupDomain()


def unknown(points: int) -> Groups:
    """Return the groups of which nothing is known."""
    names = (ACTIVE, *bits(points))
    return Groups(dict.fromkeys(names, 0), dict.fromkeys(names, 0))


def pops(filtered: Filtered, groups: Groups, sides: int, *, no_groups: bool) -> Iterator[tuple[int, Stack, Groups]]:
    """Yield what may resume: the point, and stack and groups then; 0 where the stack may be empty."""
    for point in bits(filtered.stack.top & ~BOT):
        rest = STACKS.pop(filtered.stack, point)
        left = rest.points
        if groups.inside[point] & ~left & ~(1 << point | 1):
            continue  # inside an entry that is no longer there: threads resume only where there are some
        disjoint = bool(sides >> point & 1)
        yield point, rest, unknown(left) if no_groups else GROUPS.resume(groups, point, left, disjoint=disjoint)
    if filtered.stack.top & BOT:
        yield 0, STACKS.bottom, GROUPS.bottom


class ShapeSteps:
    """The steps; what is switched off is a subset of `warp.ABLATIONS`. Without `remember` every step is computed anew."""

    def __init__(self, ablate: frozenset[str], *, remember: bool) -> None:
        """Take what to switch off."""
        self._acyclic = "acyclic-stack" in ablate
        self._no_groups = "no-groups" in ablate

        def memo(step: Callable[P, T]) -> Callable[P, T]:
            return cast("Callable[P, T]", cache(step)) if remember else step

        self.leq = memo(self._leq)
        self.join = memo(self._join)
        self.push = memo(self._push)
        self.leave = memo(self._leave)
        self.leave_some = memo(self._leave_some)
        self.nearest = memo(self._nearest)
        self.members = memo(self._members)
        self.narrow = memo(self._narrow)
        self.holding = memo(self._holding)
        self.withdraw = memo(self._withdraw)
        self.outside = memo(self._outside)
        self.runners = memo(self._runners)

    def _leq(self, a: StackShape, b: StackShape, places: int) -> bool:
        """Say whether `b` stands for all that `a` stands for; `places` are the names of `a` in `b`."""
        stack, groups = spread(a, places)
        return STACKS.leq(stack, b.stack) and GROUPS.leq(groups, b.groups)

    def _join(self, a: StackShape, b: StackShape, places_a: int, places_b: int) -> StackShape:
        """Return the least shape above both, whose names are `places_a` in the result and `places_b`."""
        (stack_a, groups_a), (stack_b, groups_b) = spread(a, places_a), spread(b, places_b)
        return shape(STACKS.join(stack_a, stack_b), GROUPS.join(groups_a, groups_b))[0]

    def _push(self, before: StackShape, name: int, *, fresh: bool, side: bool) -> StackShape:
        """Return the shape after an entry is pushed: a side, else a token; a `fresh` name was not on the stack."""
        places = (1 << before.size + 1 + fresh) - 2
        stack, groups = spread(before, places & ~(1 << name) if fresh else places)
        groups = (GROUPS.push_side if side else GROUPS.push_token)(groups, name)
        pushed = STACKS.push(stack, name)
        if self._acyclic and not fresh:
            pushed = STACKS.saturate(pushed)
        return shape(pushed, unknown(pushed.points) if self._no_groups else groups)[0]

    def _runners(self, before: StackShape) -> tuple[tuple[int, ...], int]:
        """Return the names whose threads all run when the active ones do, and the set of those of which some may."""
        inside, clear = before.groups.inside, before.groups.apart[ACTIVE]
        with_active = tuple(name for name in inside if name == ACTIVE or inside[name] & 1)
        return with_active, sum(1 << name for name in inside if name not in with_active and not clear >> name & 1)

    def _nearest(self, before: StackShape, tag: int) -> int:
        return STACKS.nearest(before.stack, tag)

    def _leave(self, before: StackShape, tag: int, sides: int) -> tuple[tuple[ResumedShape, ...], bool]:
        """Return what may resume once all active threads leave to the nearest of `tag` (empty: EXIT), and if a stack lacked it."""
        filtered, groups = self._filter(before, tag, some=False)
        outcomes = tuple(
            ResumedShape(name, NextShape(*shape(stack, rest)) if name else None)
            for name, stack, rest in pops(filtered, groups, sides, no_groups=self._no_groups)
        )
        return outcomes, filtered.unmatched

    def _leave_some(self, before: StackShape, tag: int) -> tuple[NextShape | None, bool]:
        """Return the shape after some, not all, of the active threads left, None where that cannot be, and if a stack lacked the tag."""
        filtered, groups = self._filter(before, tag, some=True)
        return NextShape(*shape(filtered.stack, groups)) if filtered.stack.top else None, filtered.unmatched

    def _members(self, before: StackShape, tag: int) -> Members:
        near = STACKS.nearest(before.stack, tag)
        if not near or self._no_groups:
            return Members(bool(near), none=True, some=bool(near), point=None)
        inside, apart = before.groups.inside[ACTIVE], before.groups.apart[ACTIVE]
        # A ⊆ X with threads in A says that X is on the stack: the entry cannot be missing where all its candidates hold the active threads.
        # A group that stands for several entries says so of their union only.
        surely_in, surely_out = not near & ~(inside & ~STACKS.cyclic(before.stack, near & inside)), not near & ~apart
        return Members(not surely_out, not surely_in, not surely_in and not surely_out, self._only(before, near))

    def _narrow(self, before: StackShape, tag: int, name: int | None, *, inside: bool) -> NextShape:
        stack = STACKS.holding(before.stack, tag) if inside else before.stack
        groups = before.groups
        if name is not None and not self._no_groups:
            groups = (GROUPS.enclose if inside else GROUPS.separate)(groups, ACTIVE, name)
        return NextShape(*shape(stack, groups))

    def _holding(self, before: StackShape, tag: int) -> NextShape:
        return NextShape(*shape(STACKS.holding(before.stack, tag), before.groups))

    def _withdraw(self, before: StackShape, tag: int, who: int, *, sure: bool) -> NextShape:
        near = STACKS.nearest(before.stack, tag)
        if not near:
            return NextShape(*shape(before.stack, before.groups))
        if self._no_groups:
            return NextShape(*shape(STACKS.erase(before.stack, near, 0, {}), unknown(before.stack.points)))
        only = self._only(before, near)
        emptied = sure and only is not None and before.groups.inside[only] >> who & 1
        may = near & ~before.groups.apart[who]
        groups = GROUPS.withdraw(before.groups, who, near, sure=sure and only is not None)
        single = ~STACKS.cyclic(before.stack, near)
        pinned = {name: row & single for name, row in groups.inside.items()}
        return NextShape(*shape(STACKS.erase(before.stack, may, near if emptied else 0, pinned), groups))

    def _outside(self, before: StackShape, name: int, tag: int) -> bool:
        return not STACKS.nearest(before.stack, tag) & ~before.groups.apart[name]

    @staticmethod
    def _only(before: StackShape, near: int) -> int | None:
        """Return the one name of `near` if it stands for one entry, so that what is learnt of the group holds of the entry."""
        if near.bit_count() != 1 or near & STACKS.cyclic(before.stack, near):
            return None
        return near.bit_length() - 1

    def _filter(self, before: StackShape, tag: int, *, some: bool) -> tuple[Filtered, Groups]:
        above, below = STACKS.regions(before.stack, tag)
        groups = GROUPS.leave(before.groups, above, below, some=some) if above or some else before.groups
        if self._no_groups or not above:
            return STACKS.filter(before.stack, tag, 0, 0, {}), groups
        single = ~STACKS.cyclic(before.stack, above)
        pinned = {point: groups.inside[point] & single for point in bits(above)}
        drop = 0
        if some:
            pinned[ACTIVE] = groups.inside[ACTIVE] & single
        else:
            drop = sum(1 << name for name, row in before.groups.inside.items() if row & 1)
        return STACKS.filter(before.stack, tag, before.groups.apart[ACTIVE], drop, pinned), groups
