"""One block, one abstract state: which blocks may run next, and in which states (warp-cfg-2023, Algorithm 1, with its three productions).

The same function drives the fixpoint and, afterwards, its re-check and the edges of the graph.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sassan.domains.lattice import bits
from sassan.domains.warp import Resumed, Warp, WarpDomain
from sassan.errors import Gap, SelfCheckError
from sassan.ir import Instruction
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import EVERY, bit
from sassan.warpcfg.blocks import Block, Blocks, Push, conditional, disagree
from sassan.warpcfg.graph import Context, Kind, Point
from sassan.warpcfg.options import EITHER, Options

Key = tuple[Context, int]
"""A node of the exploration: call string and block index."""

NOWHERE = -1
"""The address of the return token under a device function that is explored on its own: who calls it is not known."""

_RET = "RET"
_CC = bit("CC", 0)


@dataclass(frozen=True, slots=True)
class Step:
    """One production: `to` None is the end of the warp."""

    kind: Kind
    to: Key | None
    warp: Warp
    pushed: int | None = None
    popped: int | None = None


@dataclass(slots=True)
class Points:
    """The activation points met so far, numbered from 1; `tagged` keeps the set of the points of each tag."""

    known: list[Point] = field(default_factory=list[Point])
    number: dict[Point, int] = field(default_factory=dict[Point, int])
    tagged: dict[str, int] = field(default_factory=dict[str, int])

    def name(self, point: Point) -> int:
        """Return the number of a point, a new one if it was not met before."""
        found = self.number.get(point)
        if found is None:
            self.known.append(point)
            found = self.number[point] = len(self.known)
            self.tagged[point.tag] = self.tagged.get(point.tag, 0) | 1 << found
        return found

    def __getitem__(self, number: int) -> Point:
        """Return the point with this number."""
        return self.known[number - 1]


class Transfer:
    """The transfer function of one program; `gap` is called with every gap that a step meets (the same one many times)."""

    def __init__(self, blocks: Blocks, recursive: frozenset[int], options: Options, gap: Callable[[Gap], None]) -> None:
        """Take the blocks of the program and the addresses of its recursive calls."""
        self.points = Points()
        self.domain = WarpDomain(options.ablate)
        self._blocks = blocks
        self._recursive = recursive
        self._gap = gap
        self.trusts_tokens = bool(options.ablate)
        """Whether a stack without the token that an instruction leaves to is passed over: where the states are coarser than the program."""
        self._either = options.order == EITHER
        self._call_depth = options.call_depth

    def __call__(self, key: Key, warp: Warp) -> Iterator[Step]:
        """Yield every production of the block `key` in the state `warp`."""
        context, index = key
        block = self._blocks.blocks[index]
        warp = self.before_last(context, block, warp)
        if block.last is None:
            yield from self._pass(context, block.end, warp, 0)
            return
        if block.end.guard is not None and block.end.guard.index is None and block.end.guard.negated:
            yield from self._pass(context, block.end, warp, 0)  # @!PT: no thread ever takes it
            return
        match block.last.flow:
            case Flow.BRANCH:
                yield from self._branch(context, block.end, block.last, warp)
            case Flow.INDIRECT_BRANCH:
                yield from self._indirect(context, block.end, block.last, warp)
            case Flow.POP | Flow.EXIT:
                yield from self._leave(context, block.end, block.last, warp)
            case Flow.CALL:
                yield from self._call(context, block.end, block.last, warp)
            case Flow.INDIRECT_CALL:
                yield from self._unknown_call(context, block.end, block.last, warp)
            case Flow.TRAP:
                yield Step(Kind.EXIT, None, self.domain.bottom)
                yield from self._pass(context, block.end, warp, 0)
            case _:
                self._report(block.end, "unsupported-flow", f"{block.end.opcode} changes the flow in a way that is not modelled")
                yield from self._pass(context, block.end, self._havoc(warp), 0)

    def before_last(self, context: Context, block: Block, warp: Warp) -> Warp:
        """Return the state in which the control instruction of the block runs."""
        for step in block.steps:
            if isinstance(step, Push):
                warp = self.domain.push(warp, self.points.name(Point(context, step.address, step.tag)))
            else:
                warp = self.domain.execute(warp, step.transform, step.writes)
        return warp

    def may_split(self, block: Block, warp: Warp) -> bool:
        """Say whether the active threads may disagree on what the control instruction does, in the state before it."""
        return block.last is not None and disagree(block.last, warp.active)

    def _pass(self, context: Context, one: Instruction, warp: Warp, learned: int) -> Iterator[Step]:
        to = self._blocks.at.get(one.following)
        if to is None:
            self._report(one, "falls-off-end", f"after {one.opcode} the code runs past the end of the function")
            return
        yield Step(Kind.FALLTHROUGH, (context, to), self.domain.learn(warp, learned))

    def _branch(self, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
        target = self._blocks.at.get(facts.target) if facts.target is not None else None
        if target is None:
            self._report(one, "bad-target", f"{one.opcode} has no known target")
            return
        # Whoever takes the branch knows that guard and predicate operands hold; a CC test says less than what CC holds.
        taken, passed = facts.condition & ~_CC, facts.guard if facts.guard_alone else 0
        yield Step(Kind.TAKEN, (context, target), self.domain.learn(warp, taken))
        if not conditional(one, facts):
            return
        yield from self._pass(context, one, warp, passed)
        if one.following not in self._blocks.at or not disagree(facts, warp.active):
            return
        other = self.points.name(Point(context, one.following, ""))
        side = self.domain.learn(self.domain.diverge(warp, other, passed), taken)
        yield Step(Kind.DIVERGE, (context, target), side, pushed=other)
        if self._either:
            other = self.points.name(Point(context, self._blocks.blocks[target].start, ""))
            side = self.domain.learn(self.domain.diverge(warp, other, taken), passed)
            yield Step(Kind.DIVERGE, (context, self._blocks.at[one.following]), side, pushed=other)

    def _indirect(self, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
        """BRX: one target runs, the others wait at the BRX itself and run it again (README, "A divergent BRX")."""
        outcomes = [(Kind.TAKEN, self._blocks.at[target]) for target in sorted(set(one.targets)) if target in self._blocks.at]
        if not outcomes and self._returns_behind(one, warp):
            yield from self._unknown_call(context, one, facts, warp)
            return
        if not outcomes:
            self._report(one, "indirect-branch", f"{one.opcode} jumps through a table that the input does not show")
        elif conditional(one, facts):
            outcomes += [(step.kind, step.to[1]) for step in self._pass(context, one, warp, 0) if step.to]
        for kind, target in outcomes:
            yield Step(kind, (context, target), warp)
        if len(outcomes) == 1 or not disagree(facts, warp.active):
            return
        again = self.points.name(Point(context, one.address, ""))
        for _, target in outcomes:
            yield Step(Kind.DIVERGE, (context, target), self.domain.diverge(warp, again, 0), pushed=again)

    def _returns_behind(self, one: Instruction, warp: Warp) -> bool:
        """Say whether a return token to the next instruction is on top: PRET and BRX together are a call, even where no note says so."""
        tops = [None if number == 0 else self.points[number] for number in bits(warp.stack.top)]
        return all(point is not None and point.tag == _RET and point.address == one.following for point in tops)

    def _leave(self, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
        tag = self.points.tagged.get(facts.tag, 0) if facts.flow is Flow.POP else 0
        if facts.flow is Flow.POP and not self.domain.nearest(warp, tag):
            self._unmatched(one, f"{one.opcode} where no {facts.tag} token can be on the stack")
        else:
            outcomes, unmatched = self.domain.leave(warp, tag)
            if unmatched and facts.flow is Flow.POP:
                self._unmatched(one, f"{one.opcode} where the stack may hold no {facts.tag} token")
            for outcome in outcomes:
                yield self._resume(outcome)
        if not conditional(one, facts):
            return
        learned = facts.guard if facts.guard_alone else 0
        yield from self._pass(context, one, warp, learned)
        if disagree(facts, warp.active):
            stay, _ = self.domain.leave_some(warp, tag, learned)
            if stay is not None:
                yield from self._pass(context, one, stay, 0)

    def _unmatched(self, one: Instruction, message: str) -> None:
        if not self.trusts_tokens:
            self._report(one, "unmatched-token", message)

    def _resume(self, outcome: Resumed) -> Step:
        if outcome.point is None:
            return Step(Kind.EXIT, None, outcome.warp)
        point = self.points[outcome.point]
        kind = {"": Kind.REACTIVATE, _RET: Kind.RETURN}.get(point.tag, Kind.RECONVERGE)
        if point.address == NOWHERE or (point.tag and point.address not in self._blocks.at):
            # Nobody knows the caller, or the token names no instruction (the gap `bad-target`).
            return Step(Kind.EXIT, None, self.domain.bottom)
        if point.address not in self._blocks.at:
            raise SelfCheckError("no-such-point", f"{point} resumes where no block starts")
        return Step(kind, (point.context, self._blocks.at[point.address]), outcome.warp, popped=outcome.point)

    def _call(self, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
        target = self._blocks.at.get(facts.target) if facts.target is not None else None
        if facts.target is None:
            self._report(one, "indirect-call", f"{one.opcode} calls code that is not in the input")
        elif target is None or conditional(one, facts):
            self._report(one, "bad-target" if target is None else "guarded-push", f"{one.opcode} is not a plain call of a known address")
        elif one.address in self._recursive:
            self._report(one, "recursion", f"{one.opcode} calls a function that is already running: no bound on the depth is known")
        elif one.following in self._blocks.at:
            inner = (*context, one.address)
            if self._call_depth is not None:
                inner = inner[max(0, len(inner) - self._call_depth) :]
            back = self.points.name(Point(context, one.following, facts.tag))
            yield Step(Kind.CALL, (inner, target), self.domain.push(warp, back))
            return
        yield from self._pass(context, one, self._havoc(warp), 0)

    def _unknown_call(self, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
        """Step over a call of nobody knows what, so that the rest can be shown.

        A call that pushes its own return goes on at the next instruction, a BRX after PRET at the token.
        """
        self._report(one, "indirect-call", f"{one.opcode} calls a function that the input does not name")
        warp = self._havoc(warp)
        if facts.tag:
            yield from self._pass(context, one, warp, 0)
            return
        outcomes, _ = self.domain.leave(warp, self.points.tagged.get(_RET, 0))
        for outcome in outcomes:
            yield self._resume(outcome)

    def _havoc(self, warp: Warp) -> Warp:
        return self.domain.execute(warp, lambda _: 0, EVERY)

    def _report(self, one: Instruction, code: str, message: str) -> None:
        self._gap(Gap(one.address, code, message))

    def token_targets(self, block: Block, warp: Warp) -> Iterator[Point]:
        """Yield the tokens to which the threads that run the block's POP belong, in the state before it."""
        if block.last is not None and block.last.flow is Flow.POP:
            for number in bits(self.domain.nearest(warp, self.points.tagged.get(block.last.tag, 0))):
                yield self.points[number]
