"""Calls until Pascal: a call pushes a token with which its callee returns."""

from collections.abc import Iterator
from dataclasses import dataclass

from sassan.domains.warp import Warp
from sassan.ir import Instruction
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.blocks import conditional, disagree
from sassan.warpcfg.externals import callee as external_callee
from sassan.warpcfg.graph import Context, Kind, Point
from sassan.warpcfg.steps import RET, Ground, Step


@dataclass(frozen=True, slots=True)
class PushedCalls:
    """The productions of such calls.

    `recursive` are the addresses of the calls to step over, `pointers` what a call through a pointer may enter (None: not known).
    """

    ground: Ground
    recursive: frozenset[int]
    pointers: tuple[int, ...] | None
    depth: int | None

    def __call__(self, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
        """Yield what a call does."""
        return self._direct(context, one, facts, warp) if facts.flow is Flow.CALL else self._through_pointer(context, one, facts, warp)

    def _direct(self, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
        """Yield what a call does until Pascal: it pushes a token to the next instruction."""
        target = self.ground.block_at(facts.target)
        if facts.target is None:
            if not external_callee(one):
                self.ground.report(one, "indirect-call", f"{one.opcode} calls code that is not in the input")
        elif target is None or conditional(one, facts):
            code = "bad-target" if target is None else "guarded-push"
            self.ground.report(one, code, f"{one.opcode} is not a plain call of a known address")
        elif one.address in self.recursive:
            self._recursion(one)
        elif one.following in self.ground.blocks.at:
            back = self.ground.points.name(Point(context, one.following, facts.tag))
            yield Step(Kind.CALL, (self._inner(context, one), target), self.ground.domain.push(warp, back))
            return
        yield from self.ground.go_on(context, one, self.ground.forget(warp))

    def _inner(self, context: Context, one: Instruction) -> Context:
        inner = (*context, one.address)
        return inner if self.depth is None else inner[max(0, len(inner) - self.depth) :]

    def _recursion(self, one: Instruction) -> None:
        self.ground.report(one, "recursion", f"{one.opcode} calls a function that is already running: no bound on the depth is known")

    def _through_pointer(self, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
        """Yield what a call through a pointer does until Pascal: JCAL pushes its own return, BRX after PRET finds it on the stack."""
        callees = [self.ground.blocks.at[address] for address in self.pointers or () if address in self.ground.blocks.at]
        if not callees or conditional(one, facts) or one.address in self.recursive:
            yield from self.unknown(context, one, facts, warp)
            return
        inner = self._inner(context, one)
        again = self.ground.points.name(Point(context, one.address, ""))
        states: list[tuple[Kind, Warp, int | None]] = [(Kind.CALL, warp, None)]
        if disagree(facts, warp.active, places=len(callees)):
            states.append((Kind.DIVERGE, self.ground.domain.diverge(warp, again, 0), again))
        for kind, state, pushed in states:
            if facts.tag and one.following in self.ground.blocks.at:
                state = self.ground.domain.push(state, self.ground.points.name(Point(context, one.following, facts.tag)))  # noqa: PLW2901 - the callee's
            for callee in callees:
                yield Step(kind, (inner, callee), state, pushed=pushed)

    def unknown(self, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
        """Step over a call of nobody knows what, so that the rest can be shown.

        A call that pushes its own return goes on at the next instruction, a BRX after PRET at the token.
        """
        if one.address in self.recursive:
            self._recursion(one)
        else:
            self.ground.report(one, "indirect-call", f"{one.opcode} calls a function that the input does not name")
        warp = self.ground.forget(warp)
        if facts.tag:
            yield from self.ground.go_on(context, one, warp)
            return
        outcomes, _ = self.ground.domain.leave(warp, self.ground.points.of(RET))
        for outcome in outcomes:
            yield self.ground.resume(outcome)

    def returns_behind(self, one: Instruction, warp: Warp) -> bool:
        """Say whether a return token to the next instruction is on top: PRET and BRX together are a call, even where no note says so."""
        tops = [self.ground.points[number] if number else None for number in warp.top]
        return all(point is not None and point.tag == RET and point.address == one.following for point in tops)
