"""PTX says nothing of reconvergence: virtual tokens at immediate post-dominators take the place of the machine's instructions.

Threads that a branch splits wait for each other where all their paths join again, its immediate post-dominator J. A token of J is pushed
on every edge into the *region* of J: the blocks with such a branch and all that it reaches before J
(docs/proofs/ptx-tokens.md). So a thread holds one token of J exactly while it is inside the region, however often it
iterates there, and leaves to it on the edge into J. The instructions that do so are virtual: they take no time.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sassan.ir import Function, Instruction, Operand, Target, Word
from sassan.isa.facts import Flow
from sassan.warpcfg.blocks import BasicBlock, Blocks, FactsOf, cut, static_successors
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
    starts = [block.start for block in blocks.blocks]
    for frame in function.frames:
        members = list(range(bisect_left(starts, frame.start), bisect_left(starts, frame.end)))
        if members:
            _Frame(code, members, successors).place()
    return code.function()


def _with_plain_calls(function: Function) -> Function:
    """Return a function in which virtual branches lead threads past the guarded calls that they do not take."""
    starts = {frame.start for frame in function.frames}
    guarded = {
        instruction.address for instruction in function.instructions if _is_guarded_call(instruction) and instruction.address not in starts
    }
    if not guarded:
        return function

    def moved(address: int) -> int:
        return address - _SKIP_BEFORE if address in guarded else address

    code: list[Instruction] = []
    for instruction in function.instructions:
        operands = tuple(replace(each, address=moved(each.address)) if isinstance(each, Target) else each for each in instruction.operands)
        here = replace(
            instruction, operands=operands, following=moved(instruction.following), targets=tuple(map(moved, instruction.targets))
        )
        if instruction.address in guarded and instruction.guard is not None:
            skips = replace(instruction.guard, negated=not instruction.guard.negated)
            past = (Target(here.following),)
            code.append(
                Instruction(
                    moved(instruction.address), instruction.address, "_goto", past, skips, instruction.span, text="_goto", virtual=True
                )
            )
            here = replace(here, guard=None)
        code.append(here)
    return replace(function, instructions=tuple(code))


def _is_guarded_call(instruction: Instruction) -> bool:
    return instruction.guard is not None and instruction.opcode.partition(".")[0] == "call"


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
        end = max(instruction.following for instruction in self.original.instructions)
        self.next = -(-end // _ALIGN) * _ALIGN

    def current(self, instruction: Instruction) -> Instruction:
        return self.changed.get(instruction.address, instruction)

    def virtual(self, near: Instruction, address: int, following: int, opcode: str, *operands: Operand) -> None:
        names = ", ".join(
            operand.text if isinstance(operand, Word) else f"0x{operand.address:04x}"
            for operand in operands
            if isinstance(operand, Word | Target)
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
        code = [self.current(instruction) for instruction in self.original.instructions] + self.added
        return replace(
            self.original,
            instructions=tuple(
                sorted((_entering(instruction, entries) for instruction in code), key=lambda instruction: instruction.address)
            ),
            entry=entries.get(self.original.entry, self.original.entry),
            callees=None if self.original.callees is None else tuple(entries.get(callee, callee) for callee in self.original.callees),
        )


def _entering(instruction: Instruction, entries: dict[int, int]) -> Instruction:
    if not entries or not instruction.opcode.startswith("call"):
        return instruction
    operands = tuple(
        replace(each, address=entries.get(each.address, each.address)) if isinstance(each, Target) else each
        for each in instruction.operands
    )
    return replace(instruction, operands=operands)


class _Frame:
    """One function (of several) in which tokens are placed."""

    def __init__(self, code: _Code, members: list[int], successors: Sequence[Sequence[int]]) -> None:
        self._code, self._members, self._successors = code, members, successors
        self._tree = post_dominators(members, successors)
        splits = [block for block in members if self._splits(code.blocks.blocks[block])]
        self._regions = regions(self._tree, splits, successors)
        self._inside = {block: [join for join in self._outwards(block) if block in self._regions[join]] for block in members}
        self._before: dict[int, list[int]] = {block: [] for block in members}
        for block in members:
            for to in successors[block]:
                self._before[to].append(block)
        self._inlined: set[int] = set()
        self._detours: dict[tuple[int, tuple[int, ...]], int] = {}

    def place(self) -> None:
        """Add the virtual instructions, and lead every edge through them."""
        if not self._regions:
            return
        blocks = self._code.blocks.blocks
        self._inlined = {block for block in self._members if self._can_inline(block)}
        for join in self._regions:
            first = blocks[join].instructions[0]
            self._code.virtual(first, self._join_address(join), first.address, "_join", Word(self._tag(join)))
        for block in self._members:
            self._redirect(blocks[block])
        for block in sorted(self._inlined):
            self._inline(blocks[block], self._entering_pushes(block)[0])
        start = blocks[self._members[0]].start
        entry = self._edge_target(None, self._members[0])
        if entry != start:
            self._code.entries[start] = entry

    def _splits(self, block: BasicBlock) -> bool:
        last = block.last
        if last is None or last.uniform or last.flow not in {Flow.BRANCH, Flow.INDIRECT_BRANCH}:
            return False
        join = self._tree.above[block.index]
        return len([to for to in self._successors[block.index] if to == join or (join is not None and self._tree.leads(to, join))]) > 1

    def _outwards(self, block: int) -> list[int]:
        """Return the joins that a block leads to, the last first: the order in which their tokens lie on the stack."""
        return [join for join in reversed(self._tree.chain(block)) if join in self._regions]

    def _tag(self, join: int) -> str:
        return f"join_{self._code.blocks.blocks[join].start:04x}"

    def _join_address(self, join: int) -> int:
        return self._code.blocks.blocks[join].start - _JOIN_BEFORE

    def _new(self, src: int | None, dst: int) -> tuple[int, ...]:
        """Return the joins whose regions the edge from `src` to `dst` enters; `src` None enters the function."""
        held = self._inside[src] if src is not None else []
        return tuple(join for join in self._inside[dst] if join not in held)

    def _leaves(self, src: int | None, dst: int) -> bool:
        return src is not None and dst in self._regions and src in self._regions[dst]

    def _entering_pushes(self, block: int) -> list[tuple[int, ...]]:
        """Return what each edge into a block pushes, every list once."""
        edges = {self._new(source, block) for source in self._before[block]}
        if block == self._members[0]:
            edges.add(self._new(None, block))
        return sorted(edges)

    def _can_inline(self, block: int) -> bool:
        """Say whether every edge into a block pushes the same few tokens, and its first instruction only computes."""
        edges = self._entering_pushes(block)
        candidate = self._code.blocks.blocks[block]
        computes = len(candidate.instructions) > 1 or candidate.last is None
        return len(edges) == 1 and 0 < len(edges[0]) <= _INLINE and computes

    def _inline(self, block: BasicBlock, joins: tuple[int, ...]) -> None:
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
        """Return where a path to `dst` that pushes these tokens starts."""
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

    def _edge_target(self, src: int | None, dst: int) -> int:
        """Return the address to which the edge from one block to another leads."""
        return self._join_address(dst) if self._leaves(src, dst) else self._detour(dst, self._new(src, dst))

    def _redirect(self, block: BasicBlock) -> None:
        """Lead the edges out of a block through joins and pushes."""
        at, code, end = self._code.blocks.at, self._code, block.end
        if at.get(end.following) in self._successors[block.index]:
            end = replace(end, following=self._edge_target(block.index, at[end.following]))
        if block.last is not None and block.last.flow in {Flow.BRANCH, Flow.INDIRECT_BRANCH}:
            operands = tuple(self._operand(operand, block.index) for operand in end.operands)
            targets = tuple(dict.fromkeys(self._edge_target(block.index, at[target]) if target in at else target for target in end.targets))
            end = replace(end, operands=operands, targets=targets)
        if end is not block.end:
            code.changed[end.address] = end

    def _operand(self, operand: Operand, src: int) -> Operand:
        at = self._code.blocks.at
        if isinstance(operand, Target) and operand.address in at and at[operand.address] in self._successors[src]:
            return replace(operand, address=self._edge_target(src, at[operand.address]))
        return operand
