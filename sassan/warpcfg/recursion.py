"""Which call instructions close a cycle of the call graph: recursion is a gap, because no call string is deep enough for it."""

from collections.abc import Collection, Mapping

from sassan.analysis.graph import nest, reachable
from sassan.isa.facts import Flow
from sassan.warpcfg.blocks import Blocks


def recursive_calls(blocks: Blocks, successors: list[list[int]], entry: int, calls: Mapping[int, Collection[int]]) -> frozenset[int]:
    """Return the addresses of the calls whose callee can come back to the function that makes them.

    `entry` is the block where the kernel starts, `calls` the addresses that each call site calls. A function is what its first block
    reaches without following calls; blocks may belong to several.
    """
    targets = {
        block.index: {blocks.at[address] for address in calls[block.end.address] if address in blocks.at}
        for block in blocks.blocks
        if block.end.address in calls
    }
    bodies = {
        root: reachable([root], successors.__getitem__)
        for root in sorted({entry, *(callee for several in targets.values() for callee in several)})
    }
    callees = {root: {callee for index in body for callee in targets.get(index, ())} for root, body in bodies.items()}
    cycles = _cycles(callees)
    return frozenset(
        blocks.blocks[index].end.address
        for root, body in bodies.items()
        if root in cycles
        for index in body
        if any(cycles.get(callee) == cycles[root] for callee in targets.get(index, ()))
    )


def _cycles(callees: Mapping[int, Collection[int]]) -> dict[int, int]:
    """Return, for each function that can call itself again, the number of the set of functions that can all call each other."""
    functions = tuple(callees)
    places = {function: place for place, function in enumerate(functions)}
    sets = nest(len(functions), [sorted(places[callee] for callee in called) for called in callees.values()], 0)
    return {functions[place]: number for number, each in enumerate(sets) if each.parent is None for place in each.nodes}


def direct_calls(blocks: Blocks, through_pointers: Collection[int]) -> dict[int, Collection[int]]:
    """Return what each call site calls where the instruction says it; a call through a pointer may call all of `through_pointers`."""
    out: dict[int, Collection[int]] = {}
    for block in blocks.blocks:
        if block.last is not None and block.last.flow is Flow.CALL and block.last.target in blocks.at:
            out[block.end.address] = (block.last.target,)
        elif block.last is not None and block.last.flow is Flow.INDIRECT_CALL:
            out[block.end.address] = block.end.targets or through_pointers
    return out
