"""The state of a warp at one program point: stack, groups and agreement, normalised (warp-cfg-2023, section 3.4).

The domain knows activation points by number and registers by bit; it has never heard of an opcode. What an instruction does reaches it as
the arguments of the operations below.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sassan.domains.agreement import Agreement, AgreementDomain
from sassan.domains.bits import bits
from sassan.domains.groups import ACTIVE, GroupDomain, Groups
from sassan.domains.stack import BOT, Filtered, Stack, StackDomain

ABLATIONS = frozenset({"acyclic-stack", "no-groups", "no-agreement", "active-only"})
"""What can be switched off to see what it is worth (warp-cfg-2023, section 4.2)."""


@dataclass(frozen=True, slots=True)
class Warp:
    """One abstract state; groups and agreement hold exactly the names of the stack's points and `ACTIVE`."""

    stack: Stack
    groups: Groups
    agreement: Agreement

    @property
    def active(self) -> int:
        """Return the registers on which the active threads agree."""
        return self.agreement.on[ACTIVE]


@dataclass(frozen=True, slots=True)
class Resumed:
    """One outcome of halting the active threads: `point` resumes in `warp`; None: nothing was suspended, the warp ends."""

    point: int | None
    warp: Warp


@dataclass(frozen=True, slots=True)
class Members:
    """How many of the active threads may be in the nearest entry of a tag: all, none, or some of them. `point` is it, if one is sure."""

    all: bool
    none: bool
    some: bool
    point: int | None


class WarpDomain:
    """The product lattice and the machine steps on it (warp-cfg.md, section 1)."""

    def __init__(self, ablate: frozenset[str] = frozenset()) -> None:
        """Take the parts to switch off, a subset of `ABLATIONS`."""
        self._acyclic = "acyclic-stack" in ablate
        self._no_groups = "no-groups" in ablate
        self._no_agreement = "no-agreement" in ablate
        self._active_only = "active-only" in ablate
        self._stacks, self._groups, self._agreements = StackDomain(), GroupDomain(), AgreementDomain()
        self._sides = 0
        """The points where threads wait to run: a thread waits in one entry of all of these, or at a token; so they share no threads."""

    bottom = Warp(StackDomain.bottom, GroupDomain.bottom, AgreementDomain.bottom)

    def start(self, agreed: int) -> Warp:
        """Return the state of a warp that begins: an empty stack, threads that agree on `agreed`."""
        return Warp(StackDomain.empty, GroupDomain.start, Agreement({ACTIVE: 0 if self._no_agreement else agreed}))

    def leq(self, a: Warp, b: Warp) -> bool:
        """Say whether `b` stands for every state that `a` stands for."""
        return (
            self._agreements.leq(a.agreement, b.agreement) and self._stacks.leq(a.stack, b.stack) and self._groups.leq(a.groups, b.groups)
        )

    def join(self, a: Warp, b: Warp) -> Warp:
        """Return the least state above both."""
        return Warp(
            self._stacks.join(a.stack, b.stack),
            self._groups.join(a.groups, b.groups),
            self._agreements.join(a.agreement, b.agreement),
        )

    def explain(self, a: Warp, b: Warp) -> str:
        """Return why `leq(a, b)` is false, '' when it holds."""
        return (
            self._stacks.explain(a.stack, b.stack)
            or self._groups.explain(a.groups, b.groups)
            or self._agreements.explain(a.agreement, b.agreement)
        )

    def execute(self, warp: Warp, transform: Callable[[int], int], writes: int) -> Warp:
        """Return the state after the active threads run instructions that write `writes`.

        `transform` maps what the executing threads agree on before to what they agree on after. Groups inside the active one run it too;
        disjoint ones keep what they have; of the others only a part may run it, so agreement on what is written is lost.
        """
        before, inside, clear = warp.agreement.on, warp.groups.inside, warp.groups.apart[ACTIVE]
        if self._no_agreement:
            return warp
        on: dict[int, int] = {}
        for name, registers in before.items():
            if name == ACTIVE or inside[name] & 1:
                on[name] = transform(registers)
            else:
                on[name] = registers if clear >> name & 1 else registers & ~writes
        return Warp(warp.stack, warp.groups, Agreement(on))

    def learn(self, warp: Warp, registers: int) -> Warp:
        """Return the state in which the active threads are known to agree on `registers` too."""
        if self._no_agreement or not registers & ~warp.active:
            return warp
        return Warp(warp.stack, warp.groups, Agreement({**warp.agreement.on, ACTIVE: warp.active | registers}))

    def push(self, warp: Warp, point: int) -> Warp:
        """Return the state after a token for all active threads is pushed at `point`."""
        groups = self._groups.push_token(warp.groups, point)
        return self._pushed(warp, point, groups)

    def diverge(self, warp: Warp, point: int, waits: int, goes: int = 0) -> Warp:
        """Return the state of the side that goes on, the other suspended at `point`; they agree on `goes`, the others on `waits`, too."""
        self._sides |= 1 << point
        groups = self._groups.push_side(warp.groups, point)
        return self._pushed(warp, point, groups, 0 if self._no_agreement else waits, 0 if self._no_agreement else goes)

    def _pushed(self, warp: Warp, point: int, groups: Groups, waits: int = 0, goes: int = 0) -> Warp:
        on = dict(warp.agreement.on)
        agreed = on[ACTIVE] | waits
        on[ACTIVE] |= goes
        on[point] = on.get(point, agreed) & (0 if self._active_only else agreed)
        stack = self._stacks.push(warp.stack, point)
        if self._acyclic and point in warp.stack.below:
            stack = self._stacks.saturate(stack)
        if self._no_groups:
            groups = self._unknown(stack.points)
        return Warp(stack, groups, Agreement(on))

    @staticmethod
    def _unknown(points: int) -> Groups:
        names = (ACTIVE, *bits(points))
        return Groups(dict.fromkeys(names, 0), dict.fromkeys(names, 0))

    def nearest(self, warp: Warp, tag: int) -> int:
        """Return the points of the set `tag` that may be the nearest of their kind on the stack."""
        return self._stacks.nearest(warp.stack, tag)

    def leave(self, warp: Warp, tag: int) -> tuple[Iterator[Resumed], bool]:
        """Return what may resume once all active threads leave to the nearest point of the set `tag`, and if a stack lacked it.

        An empty `tag` is EXIT: the threads leave everything.
        """
        filtered, groups = self._filter(warp, tag, some=False)
        return self._pops(warp, filtered, groups), filtered.unmatched

    def leave_some(self, warp: Warp, tag: int, learned: int) -> tuple[Warp | None, bool]:
        """Return the state of the threads that stay after some, not all, of the active ones left; they agree on `learned` too."""
        filtered, groups = self._filter(warp, tag, some=True)
        if not filtered.stack.top:
            return None, filtered.unmatched
        return self.learn(self._normal(filtered.stack, groups, warp.agreement), learned), filtered.unmatched

    def members(self, warp: Warp, tag: int) -> Members:
        """Return which of the active threads may be in the nearest entry of the set `tag`; without one on the stack, none is."""
        near = self._stacks.nearest(warp.stack, tag)
        if not near or self._no_groups:
            return Members(bool(near), none=True, some=bool(near), point=None)
        inside, apart = warp.groups.inside[ACTIVE], warp.groups.apart[ACTIVE]
        # A ⊆ X with threads in A says that X is on the stack: the entry cannot be missing where all its candidates hold the active threads.
        # A group that stands for several entries says so of their union only.
        surely_in, surely_out = not near & ~(inside & ~self._stacks.cyclic(warp.stack, near & inside)), not near & ~apart
        return Members(not surely_out, not surely_in, not surely_in and not surely_out, self._only(warp, near))

    def narrow(self, warp: Warp, tag: int, members: Members, *, inside: bool) -> Warp:
        """Return the state in which all active threads are known to be in the nearest entry of the set `tag`, or not to be."""
        stack = self._stacks.holding(warp.stack, tag) if inside else warp.stack
        groups = warp.groups
        if members.point is not None and not self._no_groups:
            groups = (self._groups.enclose if inside else self._groups.separate)(groups, ACTIVE, members.point)
        return self._normal(stack, groups, warp.agreement)

    def holding(self, warp: Warp, tag: int) -> Warp:
        """Return the state in which the stack is known to hold a point of the set `tag`."""
        return self._normal(self._stacks.holding(warp.stack, tag), warp.groups, warp.agreement)

    def withdraw(self, warp: Warp, tag: int, who: int, *, sure: bool) -> Warp:
        """Return the state after threads of the group `who`, with `sure` all of them, left the nearest entry of the set `tag`.

        Nobody is suspended; an entry that is empty then vanishes.
        """
        near = self._stacks.nearest(warp.stack, tag)
        if not near:
            return warp
        if self._no_groups:
            return self._normal(self._stacks.erase(warp.stack, near, 0, {}), self._unknown(warp.stack.points), warp.agreement)
        only = self._only(warp, near)
        emptied = sure and only is not None and warp.groups.inside[only] >> who & 1
        may = near & ~warp.groups.apart[who]
        groups = self._groups.withdraw(warp.groups, who, near, sure=sure and only is not None)
        single = ~self._stacks.cyclic(warp.stack, near)
        pinned = {name: row & single for name, row in groups.inside.items()}
        return self._normal(self._stacks.erase(warp.stack, may, near if emptied else 0, pinned), groups, warp.agreement)

    def outside(self, warp: Warp, point: int, tag: int) -> bool:
        """Say whether no thread that waits at `point` may be in the nearest entry of the set `tag`."""
        return point not in warp.stack.below or not self._stacks.nearest(warp.stack, tag) & ~warp.groups.apart[point]

    def _only(self, warp: Warp, near: int) -> int | None:
        """Return the one point of `near` if it stands for one entry, so that what is learnt of the group holds of the entry."""
        if near.bit_count() != 1 or near & self._stacks.cyclic(warp.stack, near):
            return None
        return near.bit_length() - 1

    def gather(self, warp: Warp, point: int, whole: int, *, sides: int, others: int) -> tuple[Warp | None, Iterator[Resumed]]:
        """Return what happens when the active threads meet the others at a barrier of the whole warp.

        `whole` is the point that stands for all live threads, `sides` are those of suspended sides, `others` of such barriers elsewhere.
        First: the state if nobody is waited for, None where that cannot be. Then: what resumes while the active threads wait in the entry
        `point`, beneath all sides and above the nearest token, merged with those that wait there already.
        """
        self._sides |= 1 << point
        alone = self._stacks.under_top(self._stacks.without(warp.stack, sides), ~(1 << point))
        at_once = self._all_met(self._normal(alone, warp.groups, warp.agreement), whole) if alone.top else None
        here, _ = self._stacks.run(warp.stack, others | 1 << point)
        if not (warp.stack.points & sides or here >> point & 1):
            return at_once, iter(())
        # Of threads that meet here nothing is known but what the whole warp agrees on; until others come, it is what these agree on.
        together = warp.agreement.on.get(whole, 0)
        meeting = together if point in warp.stack.below else together | warp.active
        agreement = Agreement({**warp.agreement.on, point: 0 if self._active_only else meeting})
        stack = self._stacks.insert(warp.stack, point, sides, others)
        groups = self._unknown(stack.points) if self._no_groups else self._groups.push_token(warp.groups, point)
        waiting = Warp(stack, groups, agreement)
        resumed = self._pops(waiting, Filtered(stack, unmatched=False), groups)
        return at_once, (Resumed(one.point, self._all_met(one.warp, whole)) if one.point == point else one for one in resumed)

    def rename(self, warp: Warp, old: int, new: int) -> Warp:
        """Return the state in which every entry of the point `old` is one of the point `new`."""
        self._sides |= 1 << new if self._sides >> old & 1 else 0
        if old not in warp.stack.below:
            return warp
        on = dict(warp.agreement.on)
        agreed = on.pop(old)
        on[new] = on.get(new, agreed) & agreed
        stack = self._stacks.rename(warp.stack, old, new)
        groups = self._unknown(stack.points) if self._no_groups else self._groups.rename(warp.groups, old, new)
        return Warp(stack, groups, Agreement(on))

    def _all_met(self, warp: Warp, whole: int) -> Warp:
        """Return the state of threads that met at a barrier of the warp: where no token waits below, they are all the live ones."""
        if warp.stack.top != 1 << whole:
            return warp
        groups = warp.groups if self._no_groups else self._groups.enclose(warp.groups, whole, ACTIVE)
        return self.learn(Warp(warp.stack, groups, warp.agreement), warp.agreement.on[whole])

    def _filter(self, warp: Warp, tag: int, *, some: bool) -> tuple[Filtered, Groups]:
        above, below = self._stacks.regions(warp.stack, tag)
        groups = self._groups.leave(warp.groups, above, below, some=some) if above or some else warp.groups
        if self._no_groups or not above:
            return self._stacks.filter(warp.stack, tag, 0, 0, {}), groups
        single = ~self._stacks.cyclic(warp.stack, above)
        pinned = {point: groups.inside[point] & single for point in bits(above)}
        drop = 0
        if some:
            pinned[ACTIVE] = groups.inside[ACTIVE] & single
        else:
            drop = sum(1 << name for name, row in warp.groups.inside.items() if row & 1)
        return self._stacks.filter(warp.stack, tag, warp.groups.apart[ACTIVE], drop, pinned), groups

    def _pops(self, warp: Warp, filtered: Filtered, groups: Groups) -> Iterator[Resumed]:
        for point in bits(filtered.stack.top & ~BOT):
            rest = self._stacks.pop(filtered.stack, point)
            left = rest.points
            if groups.inside[point] & ~left & ~(1 << point | 1):
                continue  # inside an entry that is no longer there: threads resume only where there are some
            disjoint = bool(self._sides >> point & 1)
            resumed = self._unknown(left) if self._no_groups else self._groups.resume(groups, point, left, disjoint=disjoint)
            on = {name: registers for name, registers in warp.agreement.on.items() if left >> name & 1}
            on[ACTIVE] = warp.agreement.on[point]
            yield Resumed(point, Warp(rest, resumed, Agreement(on)))
        if filtered.stack.top & BOT:
            yield Resumed(None, self.bottom)

    def _normal(self, stack: Stack, groups: Groups, agreement: Agreement) -> Warp:
        points = stack.points
        names = points | 1
        if len(agreement.on) > len(stack.below) + 1:
            agreement = Agreement({name: registers for name, registers in agreement.on.items() if names >> name & 1})
        return Warp(stack, self._groups.restrict(groups, points), agreement)
