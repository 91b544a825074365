"""Which call instructions close a cycle of the call graph: recursion is a gap, because no call string is deep enough for it."""

from sassan.isa.facts import Flow
from sassan.warpcfg.blocks import Blocks


def recursive_calls(blocks: Blocks, successors: list[list[int]], entry: int) -> frozenset[int]:
    """Return the addresses of the calls whose callee can come back to the function that makes them.

    `entry` is the block where the kernel starts. A function is what its first block reaches without following calls; blocks may belong to
    several.
    """
    targets = {
        block.index: blocks.at[block.last.target]
        for block in blocks.blocks
        if _calls(blocks, block.index) and block.last and block.last.target is not None
    }
    bodies = {root: _reach(successors, root) for root in sorted({entry, *targets.values()})}
    callees = {root: {targets[index] for index in body if index in targets} for root, body in bodies.items()}
    back = {root: _closure(callees, root) for root in callees}
    return frozenset(
        blocks.blocks[index].end.address
        for index, target in targets.items()
        if any(index in body and (root == target or root in back[target]) for root, body in bodies.items())
    )


def _calls(blocks: Blocks, index: int) -> bool:
    last = blocks.blocks[index].last
    return last is not None and last.flow is Flow.CALL and last.target in blocks.at


def _reach(successors: list[list[int]], root: int) -> set[int]:
    seen, todo = {root}, [root]
    while todo:
        for index in successors[todo.pop()]:
            if index not in seen:
                seen.add(index)
                todo.append(index)
    return seen


def _closure(callees: dict[int, set[int]], root: int) -> set[int]:
    seen: set[int] = set()
    todo = [root]
    while todo:
        for callee in callees[todo.pop()] - seen:
            seen.add(callee)
            todo.append(callee)
    return seen
