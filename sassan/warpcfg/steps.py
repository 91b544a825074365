"""What every production of the transfer function shares: steps, activation points, and the step to the next instruction."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from sassan.domains.bits import bits
from sassan.domains.warp import Resumed, Warp, WarpDomain
from sassan.errors import Gap, SelfCheckError
from sassan.ir import Instruction
from sassan.isa.registers import EVERY
from sassan.warpcfg.blocks import Blocks
from sassan.warpcfg.graph import ActivationPoint, Context, EdgeKind

Key = tuple[Context, int]
"""A node of the exploration: call string and block index."""

NOWHERE = -1
"""The address of the return token under a device function that is explored on its own: who calls it is not known."""
RET = "RET"
WARP = "warp"
"""The tag of the entry at the bottom of the stack since Volta: all live threads. Popping it ends the warp."""
MEET = "WARPSYNC"
"""The tag of the threads that wait at a barrier of the whole warp."""
RELEASED = "WARPSYNC-done"
"""Their tag once the barrier has opened and others go on first: they wait as a side does, and no threads join them any more."""


class WarpStep(NamedTuple):
    """One production: `to` None is the end of the warp."""

    kind: EdgeKind
    to: Key | None
    warp: Warp
    pushed: int | None = None
    popped: int | None = None


@dataclass(slots=True)
class Points:
    """The activation points met so far, numbered from 1; `tagged` keeps the set of the points of each tag."""

    known: list[ActivationPoint] = field(default_factory=list[ActivationPoint])
    numbers: dict[tuple[Context, int, str, int], int] = field(default_factory=dict[tuple[Context, int, str, int], int])
    tagged: dict[str, int] = field(default_factory=dict[str, int])

    def name(self, context: Context, address: int, tag: str, origin: int = -1) -> int:
        """Return the number of a point, a new one if it was not met before."""
        number = self.numbers.get((context, address, tag, origin))
        if number is None:
            point = ActivationPoint(context, address, tag, origin)
            self.known.append(point)
            number = self.numbers[point] = len(self.known)
            self.tagged[tag] = self.tagged.get(tag, 0) | 1 << number
        return number

    def of(self, tag: str) -> int:
        """Return the set of the points of a tag."""
        return self.tagged.get(tag, 0)

    def __getitem__(self, number: int) -> ActivationPoint:
        """Return the point with this number."""
        return self.known[number - 1]


@dataclass(slots=True)
class TransferContext:
    """The program, the domain and the points: what the productions of all instruction classes share."""

    blocks: Blocks
    domain: WarpDomain
    gap: Callable[[Gap], None]
    points: Points = field(default_factory=Points)
    agreed: dict[int, str] = field(default_factory=dict[int, str])
    """Barriers of the whole warp whose guard the threads are taken to agree on, by address: the instruction that demands it."""

    def block_at(self, address: int | None) -> int | None:
        """Return the index of the block that starts at an address."""
        return None if address is None else self.blocks.at.get(address)

    def go_on(self, context: Context, instruction: Instruction, warp: Warp, learned: int = 0) -> tuple[WarpStep, ...]:
        """Return the step to the next instruction, or report that there is none."""
        to = self.blocks.at.get(instruction.following)
        if to is None:
            self.report(instruction, "falls-off-end", f"after {instruction.opcode} the code runs past the end of the function")
            return ()
        return (WarpStep(EdgeKind.FALLTHROUGH, (context, to), self.domain.learn(warp, learned)),)

    def resume(self, outcome: Resumed) -> WarpStep:
        """Return the step of an entry that resumes, or of a warp that ends."""
        if outcome.point is None:
            return WarpStep(EdgeKind.EXIT, None, outcome.warp)
        point = self.points[outcome.point]
        if point.tag == MEET:
            outcome = Resumed(outcome.point, self.released(outcome.warp))
        kind = {"": EdgeKind.REACTIVATE, RET: EdgeKind.RETURN}.get(point.tag, EdgeKind.RECONVERGE)
        if point.tag == WARP or point.address == NOWHERE or (point.tag and point.address not in self.blocks.at):
            # No thread is left, the caller is unknown, or the token names no instruction (the gap `bad-target`).
            return WarpStep(EdgeKind.EXIT, None, self.domain.bottom)
        if point.address not in self.blocks.at:
            raise SelfCheckError("no-such-point", f"{point} resumes where no block starts")
        popped = self.points.name(*point._replace(tag=MEET)) if point.tag == RELEASED else outcome.point
        return WarpStep(kind, (point.context, self.blocks.at[point.address]), outcome.warp, popped=popped)

    def released(self, warp: Warp) -> Warp:
        """Return the state when a barrier of the whole warp has opened: everybody has arrived, at this instruction or at another."""
        opened = {number: self.points.name(*self.points[number]._replace(tag=RELEASED)) for number in bits(self.points.of(MEET))}
        return self.domain.rename(warp, opened)

    def forget(self, warp: Warp) -> Warp:
        """Return the state after unknown code."""
        return self.domain.execute(warp, lambda _: 0, EVERY)

    def report(self, instruction: Instruction, code: str, message: str) -> None:
        """Report a gap at an instruction."""
        self.gap(Gap(instruction.address, code, message))
