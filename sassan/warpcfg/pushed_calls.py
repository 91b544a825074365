"""Calls until Pascal: a call pushes a token with which its callee returns."""

from collections.abc import Iterator
from dataclasses import dataclass

from sassan.domains.warp import Warp
from sassan.ir import Instruction
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.blocks import conditional, disagree
from sassan.warpcfg.externals import callee as external_callee
from sassan.warpcfg.graph import Context, EdgeKind
from sassan.warpcfg.steps import RET, TransferContext, WarpStep


@dataclass(frozen=True, slots=True)
class PushedCalls:
    """The productions of such calls.

    `recursive` are the addresses of the calls to step over, `pointers` what a call through a pointer may enter (None: not known).
    """

    program: TransferContext
    recursive: frozenset[int]
    pointers: tuple[int, ...] | None
    depth: int | None

    def __call__(self, context: Context, instruction: Instruction, facts: Facts, warp: Warp) -> Iterator[WarpStep]:
        """Yield what a call does."""
        return (
            self._direct(context, instruction, facts, warp)
            if facts.flow is Flow.CALL
            else self._through_pointer(context, instruction, facts, warp)
        )

    def _direct(self, context: Context, instruction: Instruction, facts: Facts, warp: Warp) -> Iterator[WarpStep]:
        """Yield what a call does until Pascal: it pushes a token to the next instruction."""
        target = self.program.block_at(facts.target)
        if facts.target is None:
            if not external_callee(instruction):
                self.program.report(instruction, "indirect-call", f"{instruction.opcode} calls code that is not in the input")
        elif target is None or conditional(instruction, facts):
            code = "bad-target" if target is None else "guarded-push"
            self.program.report(instruction, code, f"{instruction.opcode} is not a plain call of a known address")
        elif instruction.address in self.recursive:
            self._recursion(instruction)
        elif instruction.following in self.program.blocks.at:
            back = self.program.points.name(context, instruction.following, facts.tag)
            yield WarpStep(EdgeKind.CALL, (self._inner(context, instruction), target), self.program.domain.push(warp, back))
            return
        yield from self.program.go_on(context, instruction, self.program.forget(warp))

    def _inner(self, context: Context, instruction: Instruction) -> Context:
        inner = (*context, instruction.address)
        return inner if self.depth is None else inner[max(0, len(inner) - self.depth) :]

    def _recursion(self, instruction: Instruction) -> None:
        self.program.report(
            instruction, "recursion", f"{instruction.opcode} calls a function that is already running: no bound on the depth is known"
        )

    def _through_pointer(self, context: Context, instruction: Instruction, facts: Facts, warp: Warp) -> Iterator[WarpStep]:
        """Yield what a call through a pointer does until Pascal: JCAL pushes its own return, BRX after PRET finds it on the stack."""
        callees = [
            self.program.blocks.at[address] for address in instruction.targets or self.pointers or () if address in self.program.blocks.at
        ]
        if not callees or conditional(instruction, facts) or instruction.address in self.recursive:
            yield from self.unknown(context, instruction, facts, warp)
            return
        inner = self._inner(context, instruction)
        again = self.program.points.name(context, instruction.address, "")
        states: list[tuple[EdgeKind, Warp, int | None]] = [(EdgeKind.CALL, warp, None)]
        if disagree(facts, warp.active, places=len(callees)):
            states.append((EdgeKind.DIVERGE, self.program.domain.diverge(warp, again, 0), again))
        for kind, state, pushed in states:
            if facts.tag and instruction.following in self.program.blocks.at:
                state = self.program.domain.push(state, self.program.points.name(context, instruction.following, facts.tag))  # noqa: PLW2901 - the callee's
            for callee in callees:
                yield WarpStep(kind, (inner, callee), state, pushed=pushed)

    def unknown(self, context: Context, instruction: Instruction, facts: Facts, warp: Warp) -> Iterator[WarpStep]:
        """Step over a call of an unknown function, so that the rest can be shown.

        A call that pushes its own return goes on at the next instruction, a BRX after PRET at the token.
        """
        if instruction.address in self.recursive:
            self._recursion(instruction)
        else:
            self.program.report(instruction, "indirect-call", f"{instruction.opcode} calls a function that the input does not name")
        warp = self.program.forget(warp)
        if facts.tag:
            yield from self.program.go_on(context, instruction, warp)
            return
        outcomes, _ = self.program.domain.leave(warp, self.program.points.of(RET))
        for outcome in outcomes:
            yield self.program.resume(outcome)

    def returns_behind(self, instruction: Instruction, warp: Warp) -> bool:
        """Say whether a return token to the next instruction is on top: PRET and BRX together are a call, even where no note says so."""
        tops = [self.program.points[number] if number else None for number in warp.top]
        return all(point is not None and point.tag == RET and point.address == instruction.following for point in tops)
