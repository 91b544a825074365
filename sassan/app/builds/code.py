"""The machine code of two builds side by side: functions by name, blocks by what they do, instructions by their text.

Compared is normalised text: no addresses, no control codes, branch targets and labels as one mark. A block whose registers alone have other
numbers is the same block under renaming (a one-to-one mapping of registers, per register file); the mapping is looked for block by block.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from sassan.ir import Function, Instruction

_ENDS = frozenset({"EXIT", "RET", "BRX", "BRXU", "JMX", "JMXU", "BRA", "JMP", "KILL", "BRK", "CONT", "SYNC", "BREAK", "BSYNC", "PEXIT"})
"""Opcodes behind which a block ends; those with targets of their own end one, too."""
_REGISTER = re.compile(r"\b(UR|UP|SB|R|P|B)([0-9]+)\b")
_PLACE = re.compile(r"`\([^)]*\)|\b0x[0-9a-f]+\b")
_BLANKS = re.compile(r"\s+")
_MANY = 2_000
"""Blocks of a function beyond which those that stand in it very often start no match."""
_PRODUCT = 250_000
"""Pairs of blocks between two matches up to which the most similar ones are looked for; beyond it they go in order."""
_Code = tuple[str, tuple[tuple[str, ...], ...]]
"""An architecture, and the texts of the blocks of a function."""
_ALIKE = 0.5
"""The share of opcodes that two blocks have in common from which on they are one block that changed."""


class BlockState(StrEnum):
    """What became of a block."""

    SAME = "same"
    RENAMED = "renamed"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A basic block: its address, its normalised instructions, and the same with registers numbered as they first appear in it."""

    address: int
    text: tuple[str, ...]
    canonical: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlockPair:
    """A block of each side, None where it was added or removed; `lines` are (sign, old text, new text) of a changed one.

    Signs are ' ', '-' (only old), '+' (only new), and '~': an instruction whose registers alone have other numbers.
    """

    state: BlockState
    old: CodeBlock | None
    new: CodeBlock | None
    lines: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionPair:
    """A function of each side, None where it was added or removed, and its blocks: those of the new side in order, removed ones between."""

    name: str
    arch: str
    old: Function | None
    new: Function | None
    blocks: tuple[BlockPair, ...] = ()

    @property
    def count(self) -> Mapping[str, int]:
        """Return how many blocks there are of each state, in the order of the states."""
        count = Counter(pair.state for pair in self.blocks)
        return {state.value: count[state] for state in BlockState if count[state]}

    @property
    def same(self) -> bool:
        """Say whether both sides have the function, with blocks that differ in register numbers at most."""
        return None not in (self.old, self.new) and self.count.keys() <= {BlockState.SAME.value, BlockState.RENAMED.value}


def compared(old: Sequence[Function], new: Sequence[Function]) -> tuple[FunctionPair, ...]:
    """Return the functions of two builds in the order of the new one, removed ones behind; they go by name and architecture.

    A name that both sides have once goes with itself also for another architecture. A function whose name is gone is the same as a new one
    with the same code, where neither side has that code twice among those that are left.
    """
    left: dict[tuple[str, str], list[Function]] = defaultdict(list)
    for function in old:
        left[function.name, function.arch].append(function)
    once = Counter(function.name for function in new)
    alone = {name for name, count in Counter(function.name for function in old).items() if count == once[name] == 1}
    before = {function.name: function for function in old if function.name in alone}
    others: list[Function | None] = []
    for function in new:
        matches = left[function.name, function.arch]
        others.append(matches.pop(0) if matches else before.get(function.name))
    taken = set(map(id, others))
    renamed = _same_code(
        [function for function in old if id(function) not in taken],
        [function for function, other in zip(new, others, strict=True) if other is None],
    )
    pairs: list[FunctionPair] = []
    for function, named in zip(new, others, strict=True):
        other = renamed.get(id(function)) if named is None else named
        taken.add(id(other))
        pairs.append(FunctionPair(function.name, function.arch, other, function, tuple(_blocks(other, function))))
    gone = (function for function in old if id(function) not in taken)
    return (*pairs, *(FunctionPair(each.name, each.arch, each, None, tuple(_blocks(each, None))) for each in gone))


def _same_code(gone: Sequence[Function], came: Sequence[Function]) -> dict[int, Function]:
    """Return, by identity of a function that came, the one that is gone with the same code; both must be the only ones that have it."""
    sides: tuple[dict[_Code, list[Function]], ...] = (defaultdict(list), defaultdict(list))
    for functions, side in zip((gone, came), sides, strict=True):
        for function in functions:
            side[function.arch, tuple(block.text for block in blocks_of(function))].append(function)
    before, after = sides
    return {id(same[0]): before[code][0] for code, same in after.items() if len(same) == len(before.get(code, ())) == 1}


def blocks_of(function: Function) -> tuple[CodeBlock, ...]:
    """Return the basic blocks of a function in the order of their addresses; padding behind the last instruction is none."""
    code = list(function.instructions)
    while code and code[-1].opcode == "NOP":
        code.pop()
    leaders = {target for instruction in code for target in instruction.targets}
    blocks: list[CodeBlock] = []
    current: list[Instruction] = []
    for instruction in code:
        if instruction.address in leaders and current:
            blocks.append(_block(current))
            current = []
        current.append(instruction)
        if instruction.targets or instruction.opcode.partition(".")[0] in _ENDS:
            blocks.append(_block(current))
            current = []
    return (*blocks, _block(current)) if current else tuple(blocks)


def _block(code: Sequence[Instruction]) -> CodeBlock:
    text = tuple(map(_normalised, code))
    return CodeBlock(code[0].address, text, _canonical(text))


def _normalised(instruction: Instruction) -> str:
    text = _BLANKS.sub(" ", instruction.text.rstrip(" ;")).replace(".reuse", "")
    if not instruction.targets:
        return text
    return _PLACE.sub("target", text)


def _canonical(text: Sequence[str]) -> tuple[str, ...]:
    """Return the text with registers numbered in the order of their first appearance, each file by itself."""
    numbers: dict[str, dict[str, int]] = defaultdict(dict)

    def renamed(match: re.Match[str]) -> str:
        known = numbers[match[1]]
        return f"{match[1]}#{known.setdefault(match[2], len(known))}"

    return tuple(_REGISTER.sub(renamed, line) for line in text)


def _blocks(old: Function | None, new: Function | None) -> Iterator[BlockPair]:
    """Yield the pairs of blocks: equal ones first by their order, then wherever they went, then those that are alike."""
    before = blocks_of(old) if old is not None else ()
    after = blocks_of(new) if new is not None else ()
    partner = _matched(before, after)
    taken = set(partner.values())
    gone = [place for place in range(len(before)) if place not in taken]
    waiting = iter(gone)
    following = next(waiting, None)
    last = -1
    for place, block in enumerate(after):
        match = partner.get(place)
        if match is not None and match > last:
            while following is not None and following < match:
                yield BlockPair(BlockState.REMOVED, before[following], None)
                following = next(waiting, None)
            last = match
        yield BlockPair(BlockState.ADDED, None, block) if match is None else _pair(before[match], block)
    while following is not None:
        yield BlockPair(BlockState.REMOVED, before[following], None)
        following = next(waiting, None)


def _matched(before: Sequence[CodeBlock], after: Sequence[CodeBlock]) -> dict[int, int]:
    """Return the place in `before` of each place in `after` that has one."""
    partner: dict[int, int] = {}
    between = tuple(_equal(before, after, partner))
    taken = set(partner.values())
    moved: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place in (k for k in range(len(before)) if k not in taken):
        moved[before[place].canonical].append(place)
    for place in (k for k in range(len(after)) if k not in partner):
        if moved[after[place].canonical]:
            partner[place] = moved[after[place].canonical].pop(0)
    taken = set(partner.values())
    for start, stop, begin, end in between:
        left, right = [k for k in range(start, stop) if k not in taken], [k for k in range(begin, end) if k not in partner]
        _alike(before, after, left, right, partner)
    return partner


def _equal(before: Sequence[CodeBlock], after: Sequence[CodeBlock], partner: dict[int, int]) -> Iterator[tuple[int, int, int, int]]:
    """Pair blocks that are equal under renaming and in one order; yield the places between them that are left."""
    matcher = SequenceMatcher(
        None, [block.canonical for block in before], [block.canonical for block in after], autojunk=len(after) > _MANY
    )
    last, latest = 0, 0
    for match in matcher.get_matching_blocks():
        yield last, match.a, latest, match.b
        partner.update((match.b + k, match.a + k) for k in range(match.size))
        last, latest = match.a + match.size, match.b + match.size


def _alike(before: Sequence[CodeBlock], after: Sequence[CodeBlock], left: list[int], right: list[int], partner: dict[int, int]) -> None:
    """Pair blocks between two matches, those that are most alike first, without crossing; many go in order."""
    if not left or not right:
        return
    if len(left) * len(right) > _PRODUCT:
        partner.update(zip(right, left, strict=False))
        return
    was, now = ([Counter(map(_opcode, side[k].text)) for k in places] for side, places in ((before, left), (after, right)))
    # The heaviest set of pairs that do not cross, by dynamic programming.
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    share = [[_share(before, other) for other in now] for before in was]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            paired = share[i][j] + best[i + 1][j + 1] if share[i][j] >= _ALIKE else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    i = j = 0
    while i < len(left) and j < len(right):
        if share[i][j] >= _ALIKE and best[i][j] == share[i][j] + best[i + 1][j + 1]:
            partner[right[j]] = left[i]
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1


def _opcode(text: str) -> str:
    words = text.split(" ", 2)
    return words[1] if words[0].startswith("@") and len(words) > 1 else words[0]


def _share(before: Counter[str], other: Counter[str]) -> float:
    return 2 * (before & other).total() / (before.total() + other.total())


def _pair(old: CodeBlock, new: CodeBlock) -> BlockPair:
    if old.text == new.text:
        return BlockPair(BlockState.SAME, old, new)
    if old.canonical == new.canonical:
        return BlockPair(BlockState.RENAMED, old, new)
    return BlockPair(BlockState.CHANGED, old, new, tuple(_lines(old, new)))


def _lines(old: CodeBlock, new: CodeBlock) -> Iterator[tuple[str, str, str]]:
    """Yield the instructions of a changed block; one whose registers alone differ is not a change of its own."""
    was, now = ([_REGISTER.sub(r"\1", line) for line in block.text] for block in (old, new))
    for operation, start, stop, begin, end in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if operation == "equal":
            yield from (
                (" " if old_line == new_line else "~", old_line, new_line)
                for old_line, new_line in zip(old.text[start:stop], new.text[begin:end], strict=True)
            )
        else:
            yield from (("-", line, "") for line in old.text[start:stop])
            yield from (("+", "", line) for line in new.text[begin:end])
