"""PTX says nothing of reconvergence: virtual tokens at immediate post-dominators take the place of the machine's instructions.

Threads that a branch splits wait for each other where all their paths meet again, its immediate post-dominator J. A token of J is pushed
on every way into the *region* of J: the blocks with such a branch and all that it reaches before J (README, "PTX"). So a thread holds one
token of J exactly while it is inside the region, however often it turns in there, and leaves to it on the way into J. The instructions that
do so are virtual: they take no time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sassan.ir import Function, Instruction, Operand, Target, Word
from sassan.isa.facts import Flow
from sassan.warpcfg.blocks import Block, Blocks, FactsOf, cut, static_successors
from sassan.warpcfg.postdominators import post_dominators, regions

RECONVERGENCE = "reconvergence at the immediate post-dominator; the machine code may differ"
_JOIN_BEFORE = 4
"""A join stands this many bytes before the instruction where its threads go on: instructions of PTX are 8 apart."""
_SKIP_BEFORE = 2
"""A virtual branch past a guarded call stands this many bytes before it."""
_INLINE = _JOIN_BEFORE - 1
_STEP = 8
_ALIGN = 0x1000


def with_joins(function: Function, facts_of: FactsOf) -> Function:
    """Return a function of PTX with virtual tokens, pushed and left to by virtual instructions."""
    function = _with_plain_calls(function)
    blocks = cut(function, facts_of)
    successors = static_successors(blocks)
    code = _Code(function, blocks)
    for frame in function.frames:
        own = [one.index for one in blocks.blocks if frame.start <= one.start < frame.end]
        if own:
            _Frame(code, own, successors).place()
    return code.function()


def _with_plain_calls(function: Function) -> Function:
    """Return a function in which virtual branches lead threads past the guarded calls that they do not take."""
    starts = {frame.start for frame in function.frames}
    guarded = {one.address for one in function.instructions if _is_guarded_call(one) and one.address not in starts}
    if not guarded:
        return function

    def moved(address: int) -> int:
        return address - _SKIP_BEFORE if address in guarded else address

    code: list[Instruction] = []
    for one in function.instructions:
        operands = tuple(replace(each, address=moved(each.address)) if isinstance(each, Target) else each for each in one.operands)
        here = replace(one, operands=operands, following=moved(one.following), targets=tuple(map(moved, one.targets)))
        if one.address in guarded and one.guard is not None:
            skips = replace(one.guard, negated=not one.guard.negated)
            past = (Target(here.following),)
            code.append(Instruction(moved(one.address), one.address, "_goto", past, skips, one.span, text="_goto", virtual=True))
            here = replace(here, guard=None)
        code.append(here)
    return replace(function, instructions=tuple(code))


def _is_guarded_call(one: Instruction) -> bool:
    return one.guard is not None and one.opcode.partition(".")[0] == "call"


@dataclass(slots=True)
class _Code:
    """The instructions of a function while virtual ones are added."""

    original: Function
    blocks: Blocks
    changed: dict[int, Instruction] = field(default_factory=dict[int, Instruction])
    added: list[Instruction] = field(default_factory=list[Instruction])
    entries: dict[int, int] = field(default_factory=dict[int, int])
    """Where a function is entered instead of at its first instruction."""
    next: int = 0

    def __post_init__(self) -> None:
        end = max(one.following for one in self.original.instructions)
        self.next = -(-end // _ALIGN) * _ALIGN

    def current(self, one: Instruction) -> Instruction:
        return self.changed.get(one.address, one)

    def virtual(self, near: Instruction, address: int, following: int, opcode: str, *operands: Operand) -> None:
        names = ", ".join(
            one.text if isinstance(one, Word) else f"0x{one.address:04x}" for one in operands if isinstance(one, Word | Target)
        )
        text = f"{opcode} {names}"
        self.added.append(Instruction(address, following, opcode, operands, None, near.span, text=text, virtual=True))

    def pushes(self, near: Instruction, address: int, step: int, tokens: Sequence[tuple[int, str]], following: int) -> None:
        """Add pushes from `address` on; the last goes on at `following`."""
        for place, (target, tag) in enumerate(tokens):
            last = place + 1 == len(tokens)
            here = address + place * step
            self.virtual(near, here, following if last else here + step, "_push", Word(tag), Target(target))

    def function(self) -> Function:
        entries = self.entries
        code = [self.current(one) for one in self.original.instructions] + self.added
        return replace(
            self.original,
            instructions=tuple(sorted((_entering(one, entries) for one in code), key=lambda one: one.address)),
            entry=entries.get(self.original.entry, self.original.entry),
            callees=None if self.original.callees is None else tuple(entries.get(one, one) for one in self.original.callees),
        )


def _entering(one: Instruction, entries: dict[int, int]) -> Instruction:
    if not entries or not one.opcode.startswith("call"):
        return one
    operands = tuple(
        replace(each, address=entries.get(each.address, each.address)) if isinstance(each, Target) else each for each in one.operands
    )
    return replace(one, operands=operands)


class _Frame:
    """One function (of several) in which tokens are placed."""

    def __init__(self, code: _Code, own: list[int], successors: Sequence[Sequence[int]]) -> None:
        self._code, self._own, self._successors = code, own, successors
        self._tree = post_dominators(own, successors)
        splits = [one for one in own if self._splits(code.blocks.blocks[one])]
        self._regions = regions(self._tree, splits, successors)
        self._inside = {one: [join for join in self._outwards(one) if one in self._regions[join]] for one in own}
        self._before: dict[int, list[int]] = {one: [] for one in own}
        for one in own:
            for to in successors[one]:
                self._before[to].append(one)
        self._inlined: set[int] = set()
        self._detours: dict[tuple[int, tuple[int, ...]], int] = {}

    def place(self) -> None:
        """Add the virtual instructions, and lead every way through them."""
        if not self._regions:
            return
        blocks = self._code.blocks.blocks
        self._inlined = {one for one in self._own if self._can_inline(one)}
        for join in self._regions:
            first = blocks[join].instructions[0]
            self._code.virtual(first, self._join_address(join), first.address, "_join", Word(self._tag(join)))
        for one in self._own:
            self._redirect(blocks[one])
        for one in sorted(self._inlined):
            self._inline(blocks[one], self._entering_pushes(one)[0])
        start = blocks[self._own[0]].start
        entry = self._way(None, self._own[0])
        if entry != start:
            self._code.entries[start] = entry

    def _splits(self, block: Block) -> bool:
        last = block.last
        if last is None or last.uniform or last.flow not in {Flow.BRANCH, Flow.INDIRECT_BRANCH}:
            return False
        join = self._tree.above[block.index]
        return len([to for to in self._successors[block.index] if to == join or (join is not None and self._tree.leads(to, join))]) > 1

    def _outwards(self, block: int) -> list[int]:
        """Return the joins that a block leads to, the last first: the order in which their tokens lie on the stack."""
        return [one for one in reversed(self._tree.chain(block)) if one in self._regions]

    def _tag(self, join: int) -> str:
        return f"join_{self._code.blocks.blocks[join].start:04x}"

    def _join_address(self, join: int) -> int:
        return self._code.blocks.blocks[join].start - _JOIN_BEFORE

    def _new(self, src: int | None, dst: int) -> tuple[int, ...]:
        """Return the joins whose regions the way from `src` to `dst` enters; `src` None enters the function."""
        held = self._inside[src] if src is not None else []
        return tuple(one for one in self._inside[dst] if one not in held)

    def _leaves(self, src: int | None, dst: int) -> bool:
        return src is not None and dst in self._regions and src in self._regions[dst]

    def _entering_pushes(self, block: int) -> list[tuple[int, ...]]:
        """Return what each way into a block pushes, every list once."""
        ways = {self._new(one, block) for one in self._before[block]}
        if block == self._own[0]:
            ways.add(self._new(None, block))
        return sorted(ways)

    def _can_inline(self, block: int) -> bool:
        """Say whether every way into a block pushes the same few tokens, and its first instruction only computes."""
        ways = self._entering_pushes(block)
        one = self._code.blocks.blocks[block]
        computes = len(one.instructions) > 1 or one.last is None
        return len(ways) == 1 and 0 < len(ways[0]) <= _INLINE and computes

    def _inline(self, block: Block, joins: tuple[int, ...]) -> None:
        first = self._code.current(block.instructions[0])
        self._code.pushes(first, first.address + 1, 1, self._tokens(joins), first.following)
        self._code.changed[first.address] = replace(first, following=first.address + 1)

    def _tokens(self, joins: tuple[int, ...]) -> list[tuple[int, str]]:
        return [(self._resumes(join), self._tag(join)) for join in joins]

    def _resumes(self, join: int) -> int:
        """Return where the threads of a join go on: on its first instruction, or where they first enter further regions."""
        src = min(self._regions[join])
        return self._detour(join, self._new(src, join))

    def _detour(self, dst: int, joins: tuple[int, ...]) -> int:
        """Return where a way to `dst` that pushes these tokens starts."""
        start = self._code.blocks.blocks[dst].start
        if not joins or dst in self._inlined:
            return start
        known = self._detours.get((dst, joins))
        if known is not None:
            return known
        address = self._code.next
        self._code.next += _STEP * (len(joins) + 1)
        self._detours[dst, joins] = address
        near = self._code.blocks.blocks[dst].instructions[0]
        goto = address + _STEP * len(joins)
        self._code.pushes(near, address, _STEP, self._tokens(joins), goto)
        self._code.virtual(near, goto, goto + _STEP, "_goto", Target(start))
        return address

    def _way(self, src: int | None, dst: int) -> int:
        """Return the address to which the way from one block to another leads."""
        return self._join_address(dst) if self._leaves(src, dst) else self._detour(dst, self._new(src, dst))

    def _redirect(self, block: Block) -> None:
        """Lead the ways out of a block through joins and pushes."""
        at, code, end = self._code.blocks.at, self._code, block.end
        if at.get(end.following) in self._successors[block.index]:
            end = replace(end, following=self._way(block.index, at[end.following]))
        if block.last is not None and block.last.flow in {Flow.BRANCH, Flow.INDIRECT_BRANCH}:
            operands = tuple(self._operand(one, block.index) for one in end.operands)
            targets = tuple(dict.fromkeys(self._way(block.index, at[one]) if one in at else one for one in end.targets))
            end = replace(end, operands=operands, targets=targets)
        if end is not block.end:
            code.changed[end.address] = end

    def _operand(self, one: Operand, src: int) -> Operand:
        at = self._code.blocks.at
        if isinstance(one, Target) and one.address in at and at[one.address] in self._successors[src]:
            return replace(one, address=self._way(src, at[one.address]))
        return one
