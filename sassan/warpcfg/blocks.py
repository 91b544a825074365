"""Basic blocks of one function, compiled to the few steps that matter to the warp state.

A block is what the exploration executes as a unit: straight code as one transformation of agreements, token pushes in between, and at
most one control instruction at its end.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from sassan.errors import Gap
from sassan.ir import Function, Guard, Instruction
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import EVERY

FactsOf = Callable[[Instruction], Facts | None]
"""The opcode table of one architecture: None for what it does not know."""

_STRAIGHT = frozenset({Flow.NONE, Flow.PUSH, Flow.BLOCK_BARRIER, Flow.BREAK, Flow.BARRIER_MOVE})
"""Flow classes that do not end a block (docs/concepts/warp-machine.md, "Barriers of the warp")."""
_AGAIN = frozenset({Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL, Flow.RETURN})
"""Flow classes that may run again for the threads with another target: they start a block of their own."""


Literal = tuple[int, bool]
"""A predicate, as a set of registers, and what it is."""


class GuardedWrite(NamedTuple):
    """Registers that are written, those on which threads must agree to agree on these (None: they never do), and when that happens."""

    writes: int
    needs: int | None
    guard: Literal | None = None


@dataclass(frozen=True, slots=True)
class Straight:
    """Instructions that only compute."""

    steps: tuple[GuardedWrite, ...]
    writes: int

    def transform(self, agreed: int) -> int:
        """Return what threads agree on after they ran these instructions together, having agreed on `agreed`.

        Under a guard on which they agree either all run or none does, so what they agreed on before is kept and nothing is gained.
        """
        for writes, needs, guard in self.steps:
            if needs is None or needs & ~agreed or (guard is not None and guard[0] & ~agreed):
                agreed &= ~writes
            elif guard is None:
                agreed |= writes
        return agreed


@dataclass(frozen=True, slots=True)
class TokenPush:
    """A token for all active threads: they resume at `address` when they leave to `tag`."""

    address: int
    tag: str


@dataclass(frozen=True, slots=True)
class Break:
    """Active threads leave the nearest token of `tag` and go on: all of them, or with `some` those of a guard that is not followed."""

    tag: str
    some: bool


@dataclass(frozen=True, slots=True)
class LateBreak:
    """A guarded break, held until the branch on the same predicate at the end of the block: those who leave take it, or they pass it."""

    tag: str
    takers: bool


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """`index` is its place in the function's list; `last` the facts of the control instruction at its end, None where it falls through."""

    index: int
    instructions: tuple[Instruction, ...]
    steps: tuple[Straight | TokenPush | Break, ...]
    last: Facts | None
    late: tuple[LateBreak, ...] = ()
    facts: tuple[Facts | None, ...] = ()
    """What the tables say of each instruction."""
    sides: tuple[Straight, Straight] | None = None
    """What the block does to the agreement of those threads for which the guard at its end holds, and of the others; None: what it says."""

    def agreed_where(self, agreed: int, *, holds: bool) -> int:
        """Return on what those threads agree behind the block for which the guard at its end holds, or fails; before it, on `agreed`."""
        return 0 if self.sides is None else self.sides[not holds].transform(agreed)

    @property
    def start(self) -> int:
        """Return the address of the first instruction."""
        return self.instructions[0].address

    @property
    def end(self) -> Instruction:
        """Return the last instruction."""
        return self.instructions[-1]

    @property
    def reads(self) -> int:
        """Return the registers that its instructions read before any of them writes them."""
        read, written = 0, 0
        for facts in self.facts:
            if facts is not None:
                read |= (facts.reads | facts.guard) & ~written
                written |= facts.writes
        return read

    @property
    def pushes(self) -> Iterator[TokenPush]:
        """Yield the tokens that the block pushes, in order."""
        return (step for step in self.steps if isinstance(step, TokenPush))


@dataclass(frozen=True, slots=True)
class Blocks:
    """All blocks of a function in address order, and what could not be understood while cutting them."""

    blocks: tuple[BasicBlock, ...]
    at: dict[int, int]
    """The index of the block that starts at an address."""
    gaps: tuple[Gap, ...]
    entries: frozenset[int] = frozenset()
    """The addresses where functions begin, as far as symbols and calls say so."""

    def stops(self, block: BasicBlock) -> bool:
        """Say whether a block ends in a trap behind which another function begins: no thread goes on there."""
        last, end = block.last, block.end
        return last is not None and last.flow is Flow.TRAP and not conditional(end, last) and end.following in self.entries


def contradiction(function: Function) -> tuple[Gap, ...]:
    """Return the gap of a function whose text contradicts its encodings."""
    if function.contradiction is None:
        return ()
    address, message = function.contradiction
    return (Gap(address, "text-differs", message),)


def cut(function: Function, facts_of: FactsOf) -> Blocks:
    """Return the blocks of a function; an instruction that no table knows, or a jump to no instruction, is a gap."""
    gaps = [*contradiction(function)]
    known = [facts_of(instruction) for instruction in function.instructions]
    leaders = _leaders(function, known, gaps)
    starts = [index for index, instruction in enumerate(function.instructions) if instruction.address in leaders]
    blocks: list[BasicBlock] = []
    for begin, end in pairwise([*starts, len(known)]):
        body = _Body(gaps)
        for instruction, facts in zip(function.instructions[begin:end], known[begin:end], strict=True):
            body.add(instruction, facts, function.arch)
        steps, facts_here = body.done(), tuple(known[begin:end])
        sides = _sides(steps, function.instructions[end - 1], body.last)
        blocks.append(BasicBlock(len(blocks), function.instructions[begin:end], steps, body.last, tuple(body.late), facts_here, sides))
    called = {facts.target for facts in known if facts is not None and facts.flow is Flow.CALL and facts.target is not None}
    entries = frozenset({*called, *(address for address, _ in function.symbols)})
    return Blocks(tuple(blocks), {block.start: block.index for block in blocks}, tuple(gaps), entries)


def _sides(steps: Iterable[Straight | TokenPush | Break], end: Instruction, last: Facts | None) -> tuple[Straight, Straight] | None:
    """Return what a block does to the agreement of the threads for which the guard at its end holds, and of the others.

    Since the guard was written last, all threads of a side have run what stands under it, or none of them: `@P0 MOV R4, R5; @P0 BRA L`.
    """
    guard = last.guard if last is not None and end.guard is not None else 0
    run = [step for each in steps if isinstance(each, Straight) for step in each.steps]
    since = max((place + 1 for place, step in enumerate(run) if step.writes & guard), default=0)
    if not any(step.guard is not None and step.guard[0] == guard for step in run[since:]):
        return None
    holds, fails = (_where(run[since:], (guard, value), GuardedWrite(guard, 0)) for value in (True, False))
    holding, failing = Straight((*run[:since], *holds), 0), Straight((*run[:since], *fails), 0)
    return (holding, failing) if end.guard is not None and not end.guard.negated else (failing, holding)


def _where(run: Iterable[GuardedWrite], known: Literal, first: GuardedWrite) -> Iterator[GuardedWrite]:
    """Yield what threads do for which a predicate is known, behind `first`."""
    yield first
    for step in run:
        if step.guard is None or step.guard[0] != known[0]:
            yield step
        elif step.guard == known:
            yield step._replace(guard=None)


def _leaders(function: Function, known: list[Facts | None], gaps: list[Gap]) -> set[int]:
    addresses = {instruction.address for instruction in function.instructions}
    leaders = {function.instructions[0].address, function.entry, *(function.callees or ())}
    # Where a section ends, or padding was dropped, nothing falls through to what stands next.
    leaders.update(after.address for instruction, after in pairwise(function.instructions) if instruction.following != after.address)
    for instruction, facts in zip(function.instructions, known, strict=True):
        if facts is None or facts.flow is Flow.NONE:
            continue
        wanted = [*instruction.targets] if facts.target is None else [facts.target, *instruction.targets]
        gaps.extend(
            Gap(instruction.address, "bad-target", f"{instruction.opcode} names 0x{target:04x}, where no instruction starts")
            for target in wanted
            if target not in addresses
        )
        leaders.update(wanted)
        if facts.flow not in _STRAIGHT:
            leaders.add(instruction.following)
        if facts.flow in _AGAIN:
            leaders.add(instruction.address)
    return leaders & addresses


class _Body:
    """The steps of one block while it is being cut."""

    def __init__(self, gaps: list[Gap]) -> None:
        self.last: Facts | None = None
        self.late: list[LateBreak] = []
        self._gaps = gaps
        self._steps: list[Straight | TokenPush | Break] = []
        self._run: list[GuardedWrite] = []
        self._held: list[tuple[str, Guard, int]] = []
        """Guarded breaks that may still reach the branch on their predicate: tag, guard, the predicate as a set of registers."""

    def add(self, instruction: Instruction, facts: Facts | None, arch: str) -> None:
        """Take the next instruction."""
        if facts is None:
            self._gaps.append(Gap(instruction.address, "unknown-opcode", f"no entry for '{instruction.opcode}' in the {arch} table"))
            self._run.append(GuardedWrite(EVERY, None))
            self._release(EVERY)
            return
        guard = None if instruction.guard is None or facts.unguarded else (facts.guard, not instruction.guard.negated)
        if facts.forgets:
            self._run.append(GuardedWrite(facts.forgets, None))
        self._run += [GuardedWrite(effect.writes, effect.needs, guard) for effect in facts.effects]
        if self._held:
            self._release(facts.writes, facts.tag)
        if facts.flow is Flow.PUSH:
            self._push(instruction, facts)
        elif facts.flow is Flow.BREAK:
            self._break(instruction, facts)
        elif facts.flow not in _STRAIGHT:
            self._join_breaks(instruction, facts)
            self.last = facts

    def done(self) -> tuple[Straight | TokenPush | Break, ...]:
        """Return the steps of the block."""
        self._release(EVERY)
        self._close()
        return tuple(self._steps)

    def _close(self) -> None:
        if self._run:
            writes = 0
            for entry in self._run:
                writes |= entry.writes
            self._steps.append(Straight(tuple(self._run), writes))
            self._run.clear()

    def _push(self, instruction: Instruction, facts: Facts) -> None:
        self._close()
        if conditional(instruction, facts):
            message = f"{instruction.opcode} under a condition: no generation is known to push for some threads only"
            self._gaps.append(Gap(instruction.address, "guarded-push", message))
        if facts.target is None:
            self._gaps.append(Gap(instruction.address, "bad-target", f"{instruction.opcode} names no code address"))
        else:
            self._steps.append(TokenPush(facts.target, facts.tag))

    def _break(self, instruction: Instruction, facts: Facts) -> None:
        self._close()
        if not conditional(instruction, facts):
            self._steps.append(Break(facts.tag, some=False))
        elif instruction.guard is not None and facts.guard_alone:
            self._held.append((facts.tag, instruction.guard, facts.guard))
        else:
            self._steps.append(Break(facts.tag, some=True))

    def _join_breaks(self, instruction: Instruction, facts: Facts) -> None:
        """Join the held breaks to a branch on their predicate: the threads that left are then those on one side of it."""
        for tag, guard, registers in list(self._held):
            if facts.flow is Flow.BRANCH and facts.guard == registers and registers and not facts.uniform and instruction.guard is not None:
                self._held.remove((tag, guard, registers))
                self.late.append(LateBreak(tag, takers=instruction.guard.negated == guard.negated))

    def _release(self, writes: int, tag: str = "") -> None:
        """Apply the held breaks whose predicate is overwritten, or whose token is pushed or left again: who left is no longer known."""
        for held in list(self._held):
            if held[2] & writes or held[0] == tag:
                self._held.remove(held)
                self._close()
                self._steps.append(Break(held[0], some=True))


_NEVER_PASSES = frozenset({Flow.BRANCH, Flow.INDIRECT_BRANCH, Flow.POP, Flow.EXIT, Flow.RETURN})


def static_successors(blocks: Blocks) -> list[list[int]]:
    """Return, per block, the blocks that one thread may run next within the function, with token targets as if the push jumped there.

    Calls step over to the next instruction. It orders the exploration and finds what a device function consists of; it is not the
    thread-level graph.
    """
    out: list[list[int]] = []
    for block in blocks.blocks:
        wanted = [push.address for push in block.pushes]
        flow = block.last.flow if block.last else Flow.NONE
        if block.last and flow in {Flow.BRANCH, Flow.INDIRECT_BRANCH}:
            wanted += [*block.end.targets] if block.last.target is None else [block.last.target, *block.end.targets]
        passes = flow not in _NEVER_PASSES or conditional(block.end, block.last) or (block.last is not None and block.last.is_barrier)
        if passes and not blocks.stops(block):
            wanted.append(block.end.following)
        out.append(sorted({blocks.at[address] for address in wanted if address in blocks.at}))
    return out


def conditional(instruction: Instruction, facts: Facts | None) -> bool:
    """Say whether a control instruction may let threads pass to the next one."""
    if instruction.guard is not None or instruction.condition:
        return True
    # `BRA !PT, L`: no register decides, and yet a predicate operand does.
    return facts is not None and (bool(facts.condition) or not facts.guard_alone)


def disagree(facts: Facts, agreed: int, *, places: int = 1) -> bool:
    """Say whether threads that agree on `agreed` may do different things at a control instruction.

    Where an indirect branch, a call through a pointer or a return leads to one of several `places`, all that it reads decides, the
    register of the table entry too.
    """
    decides = facts.condition | facts.reads if places > 1 else facts.condition
    return not facts.uniform and bool(decides & ~agreed)
