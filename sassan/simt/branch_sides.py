"""Where the sides of a branch lead: the block at which they meet, what may be executed before, and which side does no more than the other.

docs/proofs/runs-of-a-launch.md
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sassan.analysis.graph import immediate_dominators
from sassan.isa.facts import Flow
from sassan.simt.code import ControlTransfer, ExecutableBlock, ExecutableFunction, LocalAccess, Unity
from sassan.simt.shared import barriers

END = -1
"""Where a thread goes that exits."""
NEVER = -2
"""Where threads meet that meet nowhere."""
_CALLS = frozenset({Flow.CALL, Flow.INDIRECT_CALL, Flow.RETURN})
_BOTH = 2


@dataclass(frozen=True, slots=True)
class Sides:
    """Branches of which a lane may take either side: `meet` is the block at which all sides meet (`NEVER`: nowhere).

    `blocks` are those that may be executed before, `registers` those that are written there (bit numbers), `stores`: local memory is, too;
    `shared`: shared memory is, or threads wait there for their block.
    """

    meet: int
    blocks: frozenset[int]
    registers: frozenset[int]
    stores: bool
    shared: bool = True
    branches: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Detour:
    """A branch with a side that does no more than the other one: `taken` says whether threads that go to the other one take the branch.

    `loop` are the blocks of the outermost loop that the lesser side leaves, none where it leaves none. `short`: it comes to where both
    sides meet without a loop.
    """

    taken: bool
    loop: frozenset[int]
    short: bool


def following(code: ExecutableFunction) -> Sequence[frozenset[int]] | None:
    """Return the blocks at which a thread may go on after each, `END` for its end; None where that is not followed."""
    if any(block.control is not None and block.control.flow in _CALLS for block in code.blocks):
        return None
    resumed: dict[int, frozenset[int]] = {}
    for block in code.blocks:
        for tag, target in block.pushes:
            if target >= 0:
                resumed[tag] = resumed.get(tag, frozenset()) | {target}
    if not _are_registers(code):
        return [_successors(block, block.control, resumed) for block in code.blocks]
    held = _tokens_behind(code)
    return [_successors(block, block.control, {**resumed, **held.get(number, {})}) for number, block in enumerate(code.blocks)]


def _are_registers(code: ExecutableFunction) -> bool:
    """Say whether each push of a token replaces the one before with its tag: a barrier register, of which no copy is made."""
    pushed = {tag for block in code.blocks for tag, _ in block.pushes}
    guarded = any(each.guard is not None and each.opcode.startswith("BSSY") for each in code.function.instructions)
    copied = any(each.opcode.startswith("BMOV") for each in code.function.instructions)
    return not guarded and not copied and all(code.tags[tag][:1] == "B" and code.tags[tag][1:].isdigit() for tag in pushed)


def _tokens_behind(code: ExecutableFunction) -> Mapping[int, Mapping[int, frozenset[int]]]:
    """Return where the tokens that a thread holds behind each block resume, by their tags; what is not reached is missing."""
    entering: dict[int, dict[int, frozenset[int]]] = {code.entry: {}}
    behind: dict[int, dict[int, frozenset[int]]] = {}
    todo = [code.entry]
    while todo:
        number = todo.pop()
        block = code.blocks[number]
        held = behind[number] = entering[number] | {tag: frozenset({target}) for tag, target in block.pushes if target >= 0}
        for each in _successors(block, block.control, held) - {END}:
            known = entering.get(each)
            joined = {tag: (known or {}).get(tag, frozenset()) | held.get(tag, frozenset()) for tag in {*(known or {}), *held}}
            if known is None or joined != known:
                entering[each] = joined
                todo.append(each)
    return behind


def _successors(block: ExecutableBlock, control: ControlTransfer | None, resumed: Mapping[int, Iterable[int]]) -> frozenset[int]:
    if control is None:
        return frozenset({block.follow})
    always = not control.condition.tests and not control.condition.never and control.unity is not Unity.OPEN
    there = {block.target, *block.targets} - {-1}
    if control.flow in {Flow.EXIT, Flow.TRAP}:
        there = {END}
    elif control.flow is Flow.POP:
        there |= set(resumed.get(block.tag, ()))
    leaves = always and control.flow in {Flow.BRANCH, Flow.INDIRECT_BRANCH, Flow.EXIT, Flow.TRAP, Flow.POP}
    return frozenset(there if leaves and there else {*there, block.follow})


def sides_of(code: ExecutableFunction, after: Sequence[frozenset[int]] | None, branches: frozenset[int]) -> Sides:
    """Return what threads may do that take either side of some branches, until all of them meet; `after` as by `following`."""
    if after is None:
        return all_sides(code)
    meet = _reconvergence_block(after, branches)
    blocks = _blocks_before(after, [each for branch in branches for each in after[branch]], meet)
    operations = [operation for block in blocks for operation in code.blocks[block].operations]
    registers = frozenset(register for operation in operations for register in operation.writes)
    stores = [operation.exact for operation in operations if isinstance(operation.exact, LocalAccess) and operation.exact.store]
    waits = not barriers(code.function.instructions).isdisjoint(code.blocks[block].last for block in blocks)
    shared = waits or any(store.shared for store in stores)
    return Sides(meet, blocks, registers, not all(store.shared for store in stores), shared, branches)


def all_sides(code: ExecutableFunction) -> Sides:
    """Return the sides of branches that meet nowhere: everything may be executed."""
    return Sides(NEVER, frozenset(range(len(code.blocks))), frozenset(code.registers), stores=True)


def _blocks_before(after: Sequence[frozenset[int]], starts: Iterable[int], meet: int) -> frozenset[int]:
    """Return the blocks that a thread may come to from some, before it is at `meet`."""
    blocks, stack = set[int](), list(starts)
    while stack:
        block = stack.pop()
        if block not in {meet, END} and block not in blocks:
            blocks.add(block)
            stack += after[block]
    return frozenset(blocks)


def _reconvergence_block(after: Sequence[frozenset[int]], branches: frozenset[int]) -> int:
    """Return the nearest block that all ways from the branches to the end come through, `NEVER` where there is none."""
    back: dict[int, list[int]] = {block: [] for block in (END, *range(len(after)))}
    for block, several in enumerate(after):
        for each in several:
            back[each].append(block)
    behind = immediate_dominators(END, back)

    def line(block: int | None) -> list[int]:
        out: list[int] = []
        while block is not None and block != END:
            out.append(block)
            block = behind[block]
        return out

    if any(each not in behind for branch in branches for each in {branch, *after[branch]}):
        return NEVER  # some way has no end
    lines = [line(each) for branch in branches for each in after[branch]]
    return next((block for block in lines[0] if all(block in other for other in lines)), NEVER)


def taken_to_leave(block: ExecutableBlock, number: int, loops: Sequence[frozenset[int]]) -> bool | None:
    """Return whether threads that take a branch leave the innermost loop that one of its sides leaves; None where none does."""
    control = block.control
    if control is None or control.flow not in {Flow.BRANCH, Flow.EXIT} or control.unity is not Unity.EACH:
        return None
    there = block.target if control.flow is Flow.BRANCH else END
    around = [loop for loop in loops if number in loop and (there in loop) != (block.follow in loop)]
    return there not in min(around, key=len) if around else None


def detour_of(  # noqa: PLR0913, PLR0917 - a branch, and the graph that it stands in
    block: ExecutableBlock,
    branch: int,
    after: Sequence[frozenset[int]],
    meet: int,
    loops: Sequence[frozenset[int]],
    heads: Sequence[int],
) -> Detour | None:
    """Return which side of a plain branch does no more than the other, None where neither is known to.

    `branch` is the number of its block, `after` as by `following`, `meet` as in `Sides`; `loops` and `heads` are those of the function.
    """
    control = block.control
    if control is None or control.flow not in {Flow.BRANCH, Flow.EXIT, Flow.TRAP} or control.unity is not Unity.EACH:
        return None
    there = block.target if control.flow is Flow.BRANCH else END
    if len({there, block.follow}) != _BOTH:
        return None
    all_heads = frozenset(heads)
    has_loop = {taken: not all_heads.isdisjoint(_blocks_before(after, [to], meet)) for taken, to in ((True, there), (False, block.follow))}
    around = [loop for loop in loops if branch in loop and (there in loop) != (block.follow in loop)]
    if around:
        loop = max(around, key=len)
        if meet in loop:
            return None  # the side that leaves comes back: what follows is not behind the loop
        stays = there in loop
        return Detour(stays, loop, short=not has_loop[not stays])
    again = any(
        branch in loop and head in _blocks_before(after, [there, block.follow], meet) for loop, head in zip(loops, heads, strict=True)
    )
    if again or has_loop[True] == has_loop[False]:
        return None
    return Detour(has_loop[True], frozenset(), short=True)
