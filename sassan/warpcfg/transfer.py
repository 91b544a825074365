"""One block, one abstract state: which blocks may run next, and in which states.

That is Algorithm 1 of Jeanmougin et al. 2023, with its three productions.
The same function drives the fixpoint and, afterwards, its re-check and the edges of the graph. One machine serves all generations: what
differs is where a call keeps its return address, and that threads outside a convergence barrier pass it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sassan.domains.bits import bits
from sassan.domains.warp import Warp, WarpDomain
from sassan.errors import Gap
from sassan.ir import Instruction
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import ONE_PER_WARP, bit
from sassan.warpcfg import barriers
from sassan.warpcfg.blocks import BasicBlock, Blocks, Break, TokenPush, conditional, disagree
from sassan.warpcfg.calls import CallTarget, CallTargets
from sassan.warpcfg.graph import ActivationPoint, Context, EdgeKind
from sassan.warpcfg.options import EITHER, Options
from sassan.warpcfg.pushed_calls import PushedCalls
from sassan.warpcfg.steps import MEET, Key, TransferContext, WarpStep

_CC = bit("CC", 0)


@dataclass(frozen=True, slots=True)
class Calls:
    """How calls work: since Volta `targets` says where they and the returns lead; None: until Pascal they push tokens.

    `recursive` are the addresses of the calls to step over, `pointers` what a call through a pointer may enter (None: not known).
    """

    targets: CallTargets | None
    recursive: frozenset[int]
    pointers: tuple[int, ...] | None


class Transfer:
    """The transfer function of one program; `gap` is called with every gap that a step meets (the same one many times)."""

    def __init__(self, blocks: Blocks, calls: Calls, options: Options, gap: Callable[[Gap], None]) -> None:
        """Take the blocks of the program, and where its calls lead."""
        self.program = TransferContext(blocks, WarpDomain(options.ablate), gap)
        self.domain = self.program.domain
        self.points = self.program.points
        self._blocks = blocks
        self._calls = calls
        self.trusts_tokens = bool(options.ablate)
        """Whether a stack without the token that an instruction leaves to is passed over: where the states are coarser than the program."""
        self._either = options.order == EITHER
        self._pushed = PushedCalls(self.program, calls.recursive, calls.pointers, options.call_depth)

    def start(self, first: BasicBlock) -> Warp:
        """Return the state of a warp that begins with a block: threads agree on what it reads of the registers that a warp has once."""
        return self.domain.start(0) if self._calls.targets is None else barriers.start(self.program, ONE_PER_WARP & first.reads)

    def __call__(self, key: Key, warp: Warp) -> Iterable[WarpStep]:
        """Return every production of the block `key` in the state `warp`."""
        block = self._blocks.blocks[key[1]]
        return self.control(key, block, self.before_last(key[0], block, warp), warp.active)

    def control(self, key: Key, block: BasicBlock, warp: Warp, agreed: int) -> Iterable[WarpStep]:  # noqa: PLR0911 - one per class of flow
        """Return the productions of what ends the block `key`, in the state before it; at the start, its threads agree on `agreed`."""
        context, instruction, facts = key[0], block.end, block.last
        if facts is None or (instruction.guard is not None and instruction.guard.index is None and instruction.guard.negated):
            return self.program.go_on(context, instruction, warp)  # no control instruction, or @!PT: no thread ever takes it
        match facts.flow:
            case Flow.BRANCH:
                return self._branch(context, block, facts, warp, agreed)
            case Flow.INDIRECT_BRANCH:
                return self._indirect(context, instruction, facts, warp)
            case Flow.POP if facts.is_barrier:
                return barriers.sync(self.program, context, instruction, facts, warp)
            case Flow.POP | Flow.EXIT:
                return self._leave(context, block, facts, warp, agreed)
            case Flow.WARP_BARRIER:
                return barriers.warp_barrier(self.program, context, instruction, facts, warp)
            case Flow.CALL | Flow.INDIRECT_CALL | Flow.RETURN:
                return self._call(key, block, facts, warp)
            case Flow.TRAP if self._blocks.stops(block):
                return (WarpStep(EdgeKind.EXIT, None, self.domain.bottom),)
            case Flow.TRAP:
                return (WarpStep(EdgeKind.EXIT, None, self.domain.bottom), *self.program.go_on(context, instruction, warp))
            case _:
                self.program.report(instruction, "unsupported-flow", f"{instruction.opcode} changes the flow, which is not modelled")
                return self.program.go_on(context, instruction, self.program.forget(warp))

    def before_last(self, context: Context, block: BasicBlock, warp: Warp) -> Warp:
        """Return the state in which the control instruction of the block runs."""
        for step in block.steps:
            if isinstance(step, TokenPush):
                warp = self.domain.push(warp, self.points.name(context, step.address, step.tag))
            elif isinstance(step, Break):
                warp = barriers.leave_early(self.program, step, warp)
            else:
                warp = self.domain.execute(warp, step.transform, step.writes)
        return warp

    def may_split(self, block: BasicBlock, warp: Warp) -> bool:
        """Say whether the active threads may disagree on whether they take the control instruction, in the state before it."""
        if block.last is None or block.end.address in self.program.agreed:
            return False
        barrier = block.last.flow is Flow.POP and block.last.is_barrier
        return disagree(block.last, warp.active) or (barrier and self.domain.members(warp, self.points.of(block.last.tag)).some)

    def _branch(self, context: Context, block: BasicBlock, facts: Facts, warp: Warp, agreed: int) -> Iterable[WarpStep]:
        target = self.program.block_at(facts.target)
        if target is None:
            self.program.report(block.end, "bad-target", f"{block.end.opcode} has no known target")
            return ()
        return self._take(context, block, facts, warp, (EdgeKind.TAKEN, (context, target)), agreed)

    def _take(  # noqa: PLR0913, PLR0917 - a block, its state, and where it goes
        self, context: Context, block: BasicBlock, facts: Facts, warp: Warp, branch: tuple[EdgeKind, Key], agreed: int
    ) -> Iterator[WarpStep]:
        """Yield the productions of an instruction with one target, which all threads take, none, or some."""
        # Whoever takes the branch knows that guard and predicate operands hold; a CC test says less than what CC holds.
        instruction, (kind, to) = block.end, branch
        taken, passed = 0 if facts.uniform else facts.condition & ~_CC, facts.guard if facts.guard_alone and not facts.uniform else 0
        taken |= block.agreed_where(agreed, holds=True)
        passed |= block.agreed_where(agreed, holds=False) if facts.guard_alone else 0
        yield self._late(block, WarpStep(kind, to, self.domain.learn(warp, taken)), warp, taken=True)
        if not conditional(instruction, facts):
            return
        for step in self.program.go_on(context, instruction, warp, passed):
            yield self._late(block, step, warp, taken=False)
        if instruction.following not in self._blocks.at or not disagree(facts, warp.active):
            return
        other = self.points.name(context, instruction.following, "")
        side = self.domain.diverge(warp, other, waits=passed, goes=taken)
        yield self._late(block, WarpStep(EdgeKind.DIVERGE, to, side, pushed=other), warp, taken=True)
        if self._either:
            other = self.points.name(to[0], self._blocks.blocks[to[1]].start, "", instruction.address)
            side = self.domain.diverge(warp, other, waits=taken, goes=passed)
            step = WarpStep(EdgeKind.DIVERGE, (context, self._blocks.at[instruction.following]), side, pushed=other)
            yield self._late(block, step, warp, taken=False)

    def _late(self, block: BasicBlock, step: WarpStep, before: Warp, *, taken: bool) -> WarpStep:
        return barriers.leave_late(self.program, block, step, taken=taken, before=before) if block.late else step

    def _indirect(self, context: Context, instruction: Instruction, facts: Facts, warp: Warp) -> Iterator[WarpStep]:
        """BRX: one target runs, the others wait at the BRX itself and run it again (docs/developer/design/warp-graph.md)."""
        targets = [self._blocks.at[target] for target in sorted(set(instruction.targets)) if target in self._blocks.at]
        if not targets and self._calls.targets is None and self._pushed.returns_behind(instruction, warp):
            yield from self._pushed.unknown(context, instruction, facts, warp)
            return
        if not targets:
            self.program.report(instruction, "indirect-branch", f"{instruction.opcode} jumps through a table that the input does not show")
        steps = [WarpStep(EdgeKind.TAKEN, (context, target), warp) for target in targets]
        if steps and conditional(instruction, facts):
            steps += self.program.go_on(context, instruction, warp)
        yield from steps
        if len(steps) > 1 and disagree(facts, warp.active, places=len(targets)):
            yield from self._wait_here(context, instruction, warp, steps)

    def _wait_here(self, context: Context, instruction: Instruction, warp: Warp, steps: Iterable[WarpStep]) -> Iterator[WarpStep]:
        """Yield the productions in which one target runs, and the threads that go elsewhere wait at the instruction itself."""
        again = self.points.name(context, instruction.address, "")
        for step in steps:
            yield WarpStep(EdgeKind.DIVERGE, step.to, self.domain.diverge(warp, again, 0), pushed=again)

    def _leave(self, context: Context, block: BasicBlock, facts: Facts, warp: Warp, agreed: int) -> Iterator[WarpStep]:
        instruction = block.end
        tag = self.points.of(facts.tag) if facts.flow is Flow.POP else 0
        if facts.flow is Flow.POP and not self.domain.nearest(warp, tag):
            self._unmatched(instruction, f"{instruction.opcode} where no {facts.tag} token can be on the stack")
        else:
            outcomes, unmatched = self.domain.leave(warp, tag)
            if unmatched and facts.flow is Flow.POP:
                self._unmatched(instruction, f"{instruction.opcode} where the stack may hold no {facts.tag} token")
            for outcome in outcomes:
                yield self.program.resume(outcome)
        if not conditional(instruction, facts):
            return
        learned = facts.guard | block.agreed_where(agreed, holds=False) if facts.guard_alone else 0
        yield from self.program.go_on(context, instruction, warp, learned)
        if disagree(facts, warp.active):
            stay, _ = self.domain.leave_some(warp, tag, learned)
            if stay is not None:
                yield from self.program.go_on(context, instruction, stay)

    def _unmatched(self, instruction: Instruction, message: str) -> None:
        if not self.trusts_tokens:
            self.program.report(instruction, "unmatched-token", message)

    def _call(self, key: Key, block: BasicBlock, facts: Facts, warp: Warp) -> Iterator[WarpStep]:
        """Yield what a call or a return does: until Pascal it pushes a token, since Volta it jumps to where single threads went."""
        if self._calls.targets is None:
            yield from self._pushed(key[0], block.end, facts, warp)
            return
        targets = self._calls.targets.of.get(key)
        if targets is None and not self.trusts_tokens:
            self.program.report(
                block.end,
                "unresolved-call",
                f"call site of {block.end.opcode} not reached by the thread-level analysis; resolve the preceding gap first",
            )
        yield from self._lead(key[0], block, facts, warp, targets or ())

    def _lead(self, context: Context, block: BasicBlock, facts: Facts, warp: Warp, targets: tuple[CallTarget, ...]) -> Iterator[WarpStep]:
        match targets:
            case ():
                if facts.flow is not Flow.RETURN:
                    yield from self.program.go_on(context, block.end, self.program.forget(warp))
            case (CallTarget(to=None),):
                yield from self._leave(context, block, facts, warp, 0)
            case _:
                yield from self._lead_apart(context, block, facts, warp, [(kind, to) for kind, to in targets if to is not None])

    def _lead_apart(
        self, context: Context, block: BasicBlock, facts: Facts, warp: Warp, targets: list[tuple[EdgeKind, Key]]
    ) -> Iterator[WarpStep]:
        """Yield a branch to each target; and where the threads that take it may go apart, what a divergent BRX does (README)."""
        for target in targets:
            yield from self._take(context, block, facts, warp, target, 0)
        if len(targets) > 1 and facts.reads & ~warp.active:
            steps = [WarpStep(kind, to, warp) for kind, to in targets]
            passes = self.program.go_on(context, block.end, warp) if conditional(block.end, facts) else ()
            yield from self._wait_here(context, block.end, warp, (*steps, *passes))

    def token_targets(self, context: Context, block: BasicBlock, warp: Warp) -> Iterator[ActivationPoint]:
        """Yield where the threads that run the block's POP, or its barrier of the warp, resume, in the state before it."""
        if block.last is None:
            return
        if block.last.flow is Flow.POP:
            for number in bits(self.domain.nearest(warp, self.points.of(block.last.tag))):
                yield self.points[number]
        elif block.last.flow is Flow.WARP_BARRIER:
            yield ActivationPoint(context, block.end.following, MEET)
