"""The state of a warp at one program point: stack, groups and agreement, normalised (Jeanmougin et al. 2023, section 3.4).

The domain knows activation points by number and registers by bit; it has never heard of an opcode. What an instruction does reaches it as
the arguments of the operations below. Stack and groups of a state are kept as a shape over dense names, so that a step on a shape that was
met before, at whatever point of the program, is looked up (`shape_steps.py`).
"""

from collections.abc import Callable, Iterator, Mapping
from operator import and_
from typing import NamedTuple

from sassan.domains.agreement import Agreement, AgreementDomain
from sassan.domains.bits import bits
from sassan.domains.groups import ACTIVE, Groups
from sassan.domains.shape_steps import GROUPS, STACKS, Members, NextShape, ShapeSteps, pops, unknown
from sassan.domains.shapes import PointNames, StackShape, renamed, shape
from sassan.domains.stack import Filtered, Stack

ABLATIONS = frozenset({"acyclic-stack", "no-groups", "no-agreement", "active-only"})
"""What can be switched off to see what it is worth (Jeanmougin et al. 2023, section 4.2)."""


class Warp(NamedTuple):
    """One abstract state: `agreed[k]` is what the group of name k of the shape agrees on, `agreed[0]` what the active threads do.

    The bottom, in which no warp is, has no names and agrees on nothing: `agreed` is empty.
    """

    names: PointNames
    shape: StackShape
    agreed: tuple[int, ...]

    @property
    def active(self) -> int:
        """The registers on which the active threads agree."""
        return self.agreed[ACTIVE]

    @property
    def points(self) -> tuple[int, ...]:
        """The points that some stack may hold, ascending."""
        return self.names.points

    @property
    def waiting(self) -> tuple[int, ...]:
        """The points where threads may wait that are not active, ascending: those whose group may not be inside the active one."""
        inside = self.shape.groups.inside
        return tuple(point for name, point in enumerate(self.names.points, 1) if not inside[name] & 1)

    @property
    def top(self) -> tuple[int, ...]:
        """The points that may stand on top of the stack, ascending; 0 is its end."""
        return tuple(self.names.points[name - 1] if name else 0 for name in bits(self.shape.stack.top))

    @property
    def stack(self) -> Stack:
        """The stack over the numbers of points."""
        return self._parts()[0]

    @property
    def groups(self) -> Groups:
        """The groups over the numbers of points."""
        return self._parts()[1]

    @property
    def agreement(self) -> Agreement:
        """What each group agrees on, by the number of its point."""
        return Agreement(dict(zip((ACTIVE, *self.names.points) if self.agreed else (), self.agreed, strict=True)))

    def _parts(self) -> tuple[Stack, Groups]:
        return renamed(self.shape.stack, self.shape.groups, dict(enumerate((ACTIVE, *self.names.points))), -1)


def warp_of(stack: Stack, groups: Groups, agreement: Agreement) -> Warp:
    """Return the state with these parts over the numbers of points; what they say of points that are not on the stack is dropped."""
    made, _ = shape(stack, groups)
    points = sorted(stack.below)
    return Warp(PointNames.of(points), made, tuple(agreement.on[name] for name in (ACTIVE, *points)))


class Resumed(NamedTuple):
    """One outcome of halting the active threads: `point` resumes in `warp`; None: nothing was suspended, the warp ends."""

    point: int | None
    warp: Warp


class WarpDomain:
    """The product lattice and the machine steps on it (docs/concepts/warp-machine.md)."""

    bottom = Warp(PointNames.of(()), StackShape(STACKS.bottom, GROUPS.bottom, 0), ())

    def __init__(self, ablate: frozenset[str] = frozenset(), *, remember: bool = True) -> None:
        """Take the parts to switch off, a subset of `ABLATIONS`; without `remember` every step is computed anew."""
        self._no_groups = "no-groups" in ablate
        self._no_agreement = "no-agreement" in ablate
        self._active_only = "active-only" in ablate
        self._steps = ShapeSteps(ablate, remember=remember)
        self._sides = 0
        """The points where threads wait to run: a thread waits in one entry of all of these, or at a token; so they share no threads."""

    def start(self, agreed: int) -> Warp:
        """Return the state of a warp that begins: an empty stack, threads that agree on `agreed`."""
        return warp_of(STACKS.empty, GROUPS.start, Agreement({ACTIVE: 0 if self._no_agreement else agreed}))

    def leq(self, a: Warp, b: Warp) -> bool:
        """Say whether `b` stands for every state that `a` stands for."""
        if not a.agreed or not b.agreed:
            return not a.agreed
        if a.names is b.names:
            if a.agreed != b.agreed and tuple(map(and_, a.agreed, b.agreed)) != b.agreed:
                return False
            return a.shape is b.shape or self._steps.leq(a.shape, b.shape, (1 << a.shape.size + 1) - 2)
        aligned = a.names.align(b.names)
        if aligned.both is not b.names:
            return False
        expected = aligned.pick(b.agreed)
        return tuple(map(and_, a.agreed, expected)) == expected and self._steps.leq(a.shape, b.shape, aligned.places)

    def join(self, a: Warp, b: Warp) -> Warp:
        """Return the least state above both."""
        if not a.agreed or not b.agreed:
            return a if a.agreed else b
        if a.names is b.names:
            agreed = b.agreed if a.agreed == b.agreed else tuple(map(and_, a.agreed, b.agreed))
            places = (1 << a.shape.size + 1) - 2
            return Warp(b.names, b.shape if a.shape is b.shape else self._steps.join(a.shape, b.shape, places, places), agreed)
        aligned = b.names.align(a.names)  # as `leq(b, a)`, which a fixpoint asks first
        on = [-1] * (len(aligned.both.points) + 1)
        for names, values in ((aligned.right, a.agreed), (aligned.left, b.agreed)):
            on[ACTIVE] &= values[ACTIVE]
            for name, registers in zip(names, values[1:], strict=True):
                on[name] &= registers
        return Warp(aligned.both, self._steps.join(a.shape, b.shape, aligned.right_places, aligned.places), tuple(on))

    def explain(self, a: Warp, b: Warp) -> str:
        """Return why `leq(a, b)` is false, '' when it holds."""
        return STACKS.explain(a.stack, b.stack) or GROUPS.explain(a.groups, b.groups) or AgreementDomain().explain(a.agreement, b.agreement)

    def execute(self, warp: Warp, transform: Callable[[int], int], writes: int) -> Warp:
        """Return the state after the active threads run instructions that write `writes`.

        `transform` maps what the executing threads agree on before to what they agree on after. Groups inside the active one run it too;
        disjoint ones keep what they have; of the others only a part may run it, so agreement on what is written is lost.
        """
        if self._no_agreement:
            return warp
        running, partly = self._steps.runners(warp.shape)
        agreed = list(warp.agreed)
        for name in running:
            agreed[name] = transform(agreed[name])
        for name in bits(partly):
            agreed[name] &= ~writes
        return Warp(warp.names, warp.shape, tuple(agreed))

    def learn(self, warp: Warp, registers: int) -> Warp:
        """Return the state in which the active threads are known to agree on `registers` too."""
        if not registers or self._no_agreement or not registers & ~warp.active:
            return warp
        return Warp(warp.names, warp.shape, (warp.active | registers, *warp.agreed[1:]))

    def push(self, warp: Warp, point: int) -> Warp:
        """Return the state after a token for all active threads is pushed at `point`."""
        return self._pushed(warp, point, side=False)

    def diverge(self, warp: Warp, point: int, waits: int, goes: int = 0) -> Warp:
        """Return the state of the side that goes on, the other suspended at `point`; they agree on `goes`, the others on `waits`, too."""
        self._sides |= 1 << point
        return self._pushed(warp, point, 0 if self._no_agreement else waits, 0 if self._no_agreement else goes, side=True)

    def _pushed(self, warp: Warp, point: int, waits: int = 0, goes: int = 0, *, side: bool) -> Warp:
        name = warp.names.place.get(point)
        agreed, waiting = list(warp.agreed), 0 if self._active_only else warp.active | waits
        agreed[ACTIVE] |= goes
        if name is None:
            names, name = warp.names.including(point)
            agreed.insert(name, waiting)
            return Warp(names, self._steps.push(warp.shape, name, fresh=True, side=side), tuple(agreed))
        agreed[name] &= waiting
        return Warp(warp.names, self._steps.push(warp.shape, name, fresh=False, side=side), tuple(agreed))

    def nearest(self, warp: Warp, tag: int) -> int:
        """Return the points of the set `tag` that may be the nearest of their kind on the stack."""
        return sum(1 << warp.names.points[name - 1] for name in bits(self._steps.nearest(warp.shape, warp.names.among(tag))))

    def leave(self, warp: Warp, tag: int) -> tuple[Iterator[Resumed], bool]:
        """Return what may resume once all active threads leave to the nearest point of the set `tag`, and if a stack lacked it.

        An empty `tag` is EXIT: the threads leave everything.
        """
        names = warp.names
        outcomes, unmatched = self._steps.leave(warp.shape, names.among(tag), names.among(self._sides))
        resumed = (
            Resumed(None, self.bottom) if kept is None else Resumed(names.points[name - 1], self._keep(warp, kept, name))
            for name, kept in outcomes
        )
        return resumed, unmatched

    def leave_some(self, warp: Warp, tag: int, learned: int) -> tuple[Warp | None, bool]:
        """Return the state of the threads that stay after some, not all, of the active ones left; they agree on `learned` too."""
        kept, unmatched = self._steps.leave_some(warp.shape, warp.names.among(tag))
        return None if kept is None else self.learn(self._keep(warp, kept), learned), unmatched

    def members(self, warp: Warp, tag: int) -> Members:
        """Return which of the active threads may be in the nearest entry of the set `tag`; without one on the stack, none is."""
        members = self._steps.members(warp.shape, warp.names.among(tag))
        if members.point is None:
            return members
        return Members(members.all, members.none, members.some, warp.names.points[members.point - 1])

    def narrow(self, warp: Warp, tag: int, members: Members, *, inside: bool) -> Warp:
        """Return the state in which all active threads are known to be in the nearest entry of the set `tag`, or not to be."""
        name = None if members.point is None else warp.names.place.get(members.point)
        return self._keep(warp, self._steps.narrow(warp.shape, warp.names.among(tag), name, inside=inside))

    def holding(self, warp: Warp, tag: int) -> Warp:
        """Return the state in which the stack is known to hold a point of the set `tag`."""
        return self._keep(warp, self._steps.holding(warp.shape, warp.names.among(tag)))

    def withdraw(self, warp: Warp, tag: int, who: int, *, sure: bool) -> Warp:
        """Return the state after threads of the group `who`, with `sure` all of them, left the nearest entry of the set `tag`.

        No thread is suspended; an entry that is empty then vanishes.
        """
        name = ACTIVE if who == ACTIVE else warp.names.place[who]
        return self._keep(warp, self._steps.withdraw(warp.shape, warp.names.among(tag), name, sure=sure))

    def outside(self, warp: Warp, point: int, tag: int) -> bool:
        """Say whether no thread that waits at `point` may be in the nearest entry of the set `tag`."""
        name = warp.names.place.get(point)
        return name is None or self._steps.outside(warp.shape, name, warp.names.among(tag))

    def gather(self, warp: Warp, point: int, whole: int, *, sides: int, others: int) -> tuple[Warp | None, Iterator[Resumed]]:
        """Return what happens when the active threads meet the others at a barrier of the whole warp.

        `whole` is the point that stands for all live threads, `sides` are those of suspended sides, `others` of such barriers elsewhere.
        First: the state if none is waited for, None where that cannot be. Then: what resumes while the active threads wait in the entry
        `point`, beneath all sides and above the nearest token, merged with those that wait there already.
        """
        self._sides |= 1 << point
        before, before_groups, on = warp.stack, warp.groups, warp.agreement.on
        alone = STACKS.under_top(STACKS.without(before, sides), ~(1 << point))
        at_once = self._all_met(warp_of(alone, before_groups, warp.agreement), whole) if alone.top else None
        here, _ = STACKS.run(before, others | 1 << point)
        if not (before.points & sides or here >> point & 1):
            return at_once, iter(())
        # Of threads that meet here nothing is known but what the whole warp agrees on; until others come, it is what these agree on.
        together = on.get(whole, 0)
        meeting = together if point in before.below else together | warp.active
        agreement = Agreement({**on, point: 0 if self._active_only else meeting})
        stack = STACKS.insert(before, point, sides, others)
        groups = unknown(stack.points) if self._no_groups else GROUPS.push_token(before_groups, point)
        resumed = (
            Resumed(None, self.bottom)
            if not entry
            else Resumed(entry, warp_of(rest, left, Agreement({**agreement.on, ACTIVE: agreement.on[entry]})))
            for entry, rest, left in pops(Filtered(stack, unmatched=False), groups, self._sides, no_groups=self._no_groups)
        )
        return at_once, (Resumed(point, self._all_met(outcome.warp, whole)) if outcome.point == point else outcome for outcome in resumed)

    def rename(self, warp: Warp, names: Mapping[int, int]) -> Warp:
        """Return the state in which every entry of a point is one of the point that `names` has for it, which is not a key itself."""
        for old, new in names.items():
            self._sides |= 1 << new if self._sides >> old & 1 else 0
        held = [(old, new) for old, new in names.items() if old in warp.names.place]
        if not held:
            return warp
        on, stack, groups = dict(warp.agreement.on), warp.stack, warp.groups
        for old, new in held:
            agreed = on.pop(old)
            on[new] = on.get(new, agreed) & agreed
            stack = STACKS.rename(stack, old, new)
            groups = unknown(stack.points) if self._no_groups else GROUPS.rename(groups, old, new)
        return warp_of(stack, groups, Agreement(on))

    def _all_met(self, warp: Warp, whole: int) -> Warp:
        """Return the state of threads that met at a barrier of the warp: where no token waits below, they are all the live ones."""
        if warp.top != (whole,):
            return warp
        if not self._no_groups:
            warp = warp_of(warp.stack, GROUPS.enclose(warp.groups, whole, ACTIVE), warp.agreement)
        return self.learn(warp, warp.agreement.on[whole])

    @staticmethod
    def _keep(warp: Warp, kept: NextShape, active: int = ACTIVE) -> Warp:
        """Return the state with a shape that keeps some names; `active` names the threads that run then."""
        agreed = warp.agreed
        if active:
            agreed = (agreed[active], *agreed[1:])
        if kept.names == (1 << len(agreed)) - 2:
            return Warp(warp.names, kept.shape, agreed)
        names, pick = warp.names.keep(kept.names)
        return Warp(names, kept.shape, pick(agreed))
