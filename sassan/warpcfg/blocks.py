"""Basic blocks of one function, compiled to the few steps that matter to the warp state.

A block is what the exploration executes as a unit: straight code as one transformation of agreements, token pushes in between, and at
most one control instruction at its end.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from sassan.errors import Gap
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import EVERY

FactsOf = Callable[[Instruction], Facts | None]
"""The opcode table of one architecture: None for what it does not know."""

_STRAIGHT = frozenset({Flow.NONE, Flow.PUSH, Flow.BLOCK_BARRIER})
"""Flow classes that do not end a block (a BAR does not move threads before Volta)."""


@dataclass(frozen=True, slots=True)
class Straight:
    """Instructions that only compute: each entry is (registers written, registers that must agree or None, guarded)."""

    steps: tuple[tuple[int, int | None, bool], ...]
    writes: int

    def transform(self, agreed: int) -> int:
        """Return what threads agree on after they ran these instructions together, having agreed on `agreed`.

        Under a guard on which they agree either all run or none does, so what they agreed on before is kept and nothing is gained.
        """
        for writes, needs, guarded in self.steps:
            if needs is None or needs & ~agreed:
                agreed &= ~writes
            elif not guarded:
                agreed |= writes
        return agreed


@dataclass(frozen=True, slots=True)
class Push:
    """A token for all active threads: they resume at `address` when they leave to `tag`."""

    address: int
    tag: str


@dataclass(frozen=True, slots=True)
class Block:
    """`index` is its place in the function's list; `last` are the facts of the control instruction at its end, None where it falls through."""

    index: int
    instructions: tuple[Instruction, ...]
    steps: tuple[Straight | Push, ...]
    last: Facts | None

    @property
    def start(self) -> int:
        """Return the address of the first instruction."""
        return self.instructions[0].address

    @property
    def end(self) -> Instruction:
        """Return the last instruction."""
        return self.instructions[-1]

    @property
    def pushes(self) -> Iterator[Push]:
        """Yield the tokens that the block pushes, in order."""
        return (step for step in self.steps if isinstance(step, Push))


@dataclass(frozen=True, slots=True)
class Blocks:
    """All blocks of a function in address order, and what could not be understood while cutting them."""

    blocks: tuple[Block, ...]
    at: dict[int, int]
    """The index of the block that starts at an address."""
    gaps: tuple[Gap, ...]


def cut(function: Function, facts_of: FactsOf) -> Blocks:
    """Return the blocks of a function; an instruction that no table knows, or a jump to no instruction, is a gap."""
    gaps: list[Gap] = []
    known = [facts_of(one) for one in function.instructions]
    leaders = _leaders(function, known, gaps)
    starts = [index for index, one in enumerate(function.instructions) if one.address in leaders]
    blocks = [_block(order, function, known, begin, end, gaps) for order, (begin, end) in enumerate(pairwise([*starts, len(known)]))]
    return Blocks(tuple(blocks), {block.start: block.index for block in blocks}, tuple(gaps))


def _leaders(function: Function, known: list[Facts | None], gaps: list[Gap]) -> set[int]:
    addresses = {one.address for one in function.instructions}
    leaders = {function.instructions[0].address, function.entry}
    for one, facts in zip(function.instructions, known, strict=True):
        if facts is None or facts.flow is Flow.NONE:
            continue
        wanted = [*one.targets] if facts.target is None else [facts.target, *one.targets]
        gaps.extend(
            Gap(one.address, "bad-target", f"{one.opcode} names 0x{target:04x}, where no instruction starts")
            for target in wanted
            if target not in addresses
        )
        leaders.update(wanted)
        if facts.flow not in _STRAIGHT:
            leaders.add(one.following)
        if facts.flow is Flow.INDIRECT_BRANCH:
            leaders.add(one.address)
    return leaders & addresses


def _block(order: int, function: Function, known: list[Facts | None], begin: int, end: int, gaps: list[Gap]) -> Block:
    steps: list[Straight | Push] = []
    run: list[tuple[int, int | None, bool]] = []

    def close() -> None:
        if run:
            writes = 0
            for one in run:
                writes |= one[0]
            steps.append(Straight(tuple(run), writes))
            run.clear()

    last: Facts | None = None
    for one, facts in zip(function.instructions[begin:end], known[begin:end], strict=True):
        if facts is None:
            gaps.append(Gap(one.address, "unknown-opcode", f"no entry for '{one.opcode}' in the {function.arch} table"))
            run.append((EVERY, None, False))
            continue
        guarded = one.guard is not None
        run.extend((effect.writes, None if effect.needs is None else effect.needs | facts.guard, guarded) for effect in facts.effects)
        if facts.flow is Flow.PUSH:
            close()
            steps.extend(_push(one, facts, gaps))
        elif facts.flow not in _STRAIGHT:
            last = facts
    close()
    return Block(order, function.instructions[begin:end], tuple(steps), last)


def _push(one: Instruction, facts: Facts, gaps: list[Gap]) -> Iterator[Push]:
    if one.guard is not None:
        gaps.append(Gap(one.address, "guarded-push", f"{one.opcode} under a guard: no generation is known to push for some threads only"))
    if facts.target is None:
        gaps.append(Gap(one.address, "bad-target", f"{one.opcode} names no code address"))
    else:
        yield Push(facts.target, facts.tag)


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
        if flow not in {Flow.BRANCH, Flow.INDIRECT_BRANCH, Flow.POP, Flow.EXIT} or conditional(block.end, block.last):
            wanted.append(block.end.following)
        out.append(sorted({blocks.at[address] for address in wanted if address in blocks.at}))
    return out


def conditional(one: Instruction, facts: Facts | None) -> bool:
    """Say whether a control instruction may let threads pass to the next one."""
    if one.guard is not None or one.condition:
        return True
    return facts is not None and facts.flow is not Flow.INDIRECT_BRANCH and bool(facts.condition)
