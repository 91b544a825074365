"""The part of a program that decides how often some loops iterate: branches that do not matter are passed on the way that all sides take.

This is the slice of M. Weiser ("Program slicing", IEEE TSE 1984) for the heads of the loops, by the control dependences of Ferrante,
Ottenstein and Warren (TOPLAS 1987). What is passed has an end: loops on which nothing depends end, and waits are over at last.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sassan.analysis.demand import Use, demand
from sassan.analysis.graph import immediate_dominators
from sassan.isa.facts import Flow
from sassan.simt.branch_sides import END, following
from sassan.simt.code import ALWAYS, ControlTransfer, ExecutableBlock, ExecutableFunction, LocalAccess, Operation, Unity
from sassan.simt.cross_lane import OPERATIONS
from sassan.simt.lane_groups import is_of_one_lane
from sassan.simt.slicing import mask_of, read_by, reads_of

Parted = tuple[frozenset[int], frozenset[int]]
"""The blocks at which threads of a warp that one branch parts may be, and those before which they wait for each other."""

_ACROSS = frozenset({*OPERATIONS, "ELECT"})
"""Opcodes whose results depend on which lanes execute them together."""


def loop_slice(code: ExecutableFunction, heads: Collection[int], apart: Sequence[Parted]) -> ExecutableFunction | None:
    """Return the code that brings threads to the heads of some loops (block numbers) as often as the whole program does.

    `apart`: where threads of a warp may be apart, for each branch that may part them. None for code with calls, with a way that has no
    end, and where lanes tell each other what decides: which of them are together, a slice does not say. Blocks keep their numbers; those
    that are passed stand there, and no thread comes to them.
    """
    after = following(code)
    if after is None:
        return None
    behind = _post_dominators(after)
    if behind is None:
        return None
    controlling = _control_dependences(after, behind)
    before: dict[int, list[int]] = {number: [] for number in range(len(code.blocks))}
    for number, several in enumerate(after):
        for each in several - {END}:
            before[each].append(number)
    kept, deciding = set(heads), frozenset[int]()
    while True:
        deciding = frozenset(branch for block in kept for branch in controlling.get(block, ()))
        deciding |= {number for number in range(len(code.blocks)) if _must_stay(code.blocks[number], after[number], behind.get(number))}
        needed = _needed(code, before, deciding, apart)
        more = kept | deciding | {number for number, places in needed.items() if places}
        if more == kept:
            break
        kept = more
    if _is_open(code, kept, needed, deciding, apart):
        return None
    blocks: list[ExecutableBlock] = []
    for number, block in enumerate(code.blocks):
        places = needed.get(number, frozenset())
        part = replace(block, operations=tuple(_kept(block, places)))
        blocks.append(part if len(after[number]) == 1 or number in deciding else _passed(part, behind[number]))
    return replace(code, blocks=tuple(blocks))


def _is_open(
    code: ExecutableFunction,
    kept: Collection[int],
    needed: Mapping[int, frozenset[int]],
    deciding: Collection[int],
    apart: Sequence[Parted],
) -> bool:
    """Say whether what is kept depends on which lanes are together: a vote, or a word of the whole warp that each group of lanes writes."""
    divided = {each.address for each in code.function.instructions if each.opcode.startswith("BRA.DIV")}
    parted = frozenset[int]().union(*(blocks for blocks, _ in apart))
    return (
        any(code.blocks[number].last in divided for number in deciding)
        or any(_is_of_several(code.blocks[number], needed.get(number, ()), number in deciding) for number in parted.intersection(kept))
        or any(each.broadcast for number in parted for each in _kept(code.blocks[number], needed.get(number, ())))
    )


def _post_dominators(after: Sequence[frozenset[int]]) -> Mapping[int, int | None] | None:
    """Return the nearest block behind each that all ways from it come through; None where some way has no end."""
    back: dict[int, list[int]] = {block: [] for block in (END, *range(len(after)))}
    for block, several in enumerate(after):
        for each in several:
            back[each].append(block)
    behind = immediate_dominators(END, back)
    return behind if len(behind) == len(after) + 1 else None


def _control_dependences(after: Sequence[frozenset[int]], behind: Mapping[int, int | None]) -> Mapping[int, set[int]]:
    """Return for each block the branches that decide whether it is executed."""
    out: dict[int, set[int]] = {}
    for branch, several in enumerate(after):
        if len(several) < 2:  # noqa: PLR2004 - two sides
            continue
        for each in several:
            block: int | None = each
            while block is not None and block not in {END, behind[branch]}:
                out.setdefault(block, set()).add(branch)
                block = behind[block]
    return out


def _must_stay(block: ExecutableBlock, several: frozenset[int], meet: int | None) -> bool:
    """Say whether the end of a block cannot be passed: it is not a branch, or its sides meet nowhere."""
    return len(several) > 1 and (block.control is None or block.control.flow is not Flow.BRANCH or meet in {None, END})


def _needed(
    code: ExecutableFunction, before: Mapping[int, Sequence[int]], deciding: Collection[int], apart: Sequence[Parted]
) -> Mapping[int, frozenset[int]]:
    """Return the places of the operations in each block on which the conditions of branches depend; one more place is that of its end."""
    memory = 1 << max((*code.registers, 0)) + 1
    count = len(code.blocks)
    every = enumerate(code.blocks)
    uses = {number: [*(_use(each, memory) for each in block.operations), *_use_at_end(block.control)] for number, block in every}
    # While threads wait, others that were parted from them write words that a warp has once: what is needed where some may wait is needed
    # behind each block at which others may be.
    leading = {number: list(several) for number, several in before.items()}
    for number, (blocks, meets) in enumerate(apart, count):
        uses[number], leading[number] = [], sorted(blocks)
        for each in blocks | meets:
            leading[each].append(number)
    ends = {number: read_by(code.blocks[number].control) for number in deciding}
    behind = demand(uses, leading, range(count + len(apart)), ends).behind
    return {
        number: frozenset(place for place, (use, live) in enumerate(zip(uses[number], lives, strict=True)) if use.writes & live)
        for number, lives in behind.items()
        if number < count
    }


def _is_of_several(block: ExecutableBlock, places: Collection[int], decides: bool) -> bool:
    """Say whether what is kept of a block depends on which lanes of the warp are together."""
    kept = _kept(block, places)
    control = block.control if decides else None
    return any(each.gathered or each.instruction.opcode.partition(".")[0] in _ACROSS or is_of_one_lane(each) for each in kept) or (
        control is not None and control.unity is not Unity.EACH
    )


def _use(operation: Operation, memory: int) -> Use:
    """Return what an operation reads and writes; all of a thread's own memory is one register."""
    local = operation.exact if isinstance(operation.exact, LocalAccess) else None
    writes = mask_of(operation.writes) | (memory if local is not None and local.store else 0)
    surely = operation.condition == ALWAYS and local is None
    return Use(writes, ~writes if surely else -1, reads_of(operation) | (memory if local is not None and not local.store else 0))


def _kept(block: ExecutableBlock, places: Collection[int]) -> list[Operation]:
    """Return the operations of a block at some places."""
    return [each for place, each in enumerate(block.operations) if place in places]


def _use_at_end(control: ControlTransfer | None) -> list[Use]:
    """Return what the end of a block writes, if anything: what BMOV reads of a barrier register."""
    moves = control.moves if control is not None else None
    return [Use(mask_of((moves.register,)), -1, 0)] if moves is not None and moves.save and moves.register is not None else []


def _passed(block: ExecutableBlock, meet: int | None) -> ExecutableBlock:
    """Return a block whose threads all go on where the sides of its branch meet."""
    assert meet is not None, "a branch whose sides meet nowhere stays"
    return replace(block, control=None, follow=meet, target=-1, targets=(), tag=0)
