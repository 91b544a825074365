"""Immediate post-dominators of a function's blocks, and the regions in which threads wait for each other there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sassan.analysis.graph import immediate_dominators, reachable


@dataclass(frozen=True, slots=True)
class Tree:
    """`above[b]` is the immediate post-dominator of block b, None at the end of its component; `span` numbers the blocks below each."""

    above: dict[int, int | None]
    span: dict[int, tuple[int, int]]

    def chain(self, block: int) -> list[int]:
        """Return the strict post-dominators of a block, the nearest first."""
        out: list[int] = []
        dominator = self.above[block]
        while dominator is not None:
            out.append(dominator)
            dominator = self.above[dominator]
        return out

    def leads(self, block: int, join: int) -> bool:
        """Say whether `join` is a strict post-dominator of a block."""
        first, last = self.span[join]
        return first < self.span[block][0] <= last


def _spans(above: dict[int, int | None]) -> dict[int, tuple[int, int]]:
    """Return, per block, its number in a walk down the tree and the last number below it."""
    below: dict[int | None, list[int]] = {}
    for block in sorted(above):
        below.setdefault(above[block], []).append(block)
    out: dict[int, tuple[int, int]] = {}
    first: dict[int, int] = {}
    work = [(block, False) for block in reversed(below.get(None, []))]
    while work:
        block, done = work.pop()
        if done:
            out[block] = (first[block], len(first) - 1)
        else:
            first[block] = len(first)
            work.append((block, True))
            work += [(each, False) for each in reversed(below.get(block, []))]
    return out


def post_dominators(blocks: Iterable[int], successors: Sequence[Sequence[int]]) -> Tree:
    """Return the immediate post-dominators of the blocks of one function.

    Paths that end before the last end do not count: no thread waits for threads that have ended. Code that reaches only such an end is a
    component of its own, and so is a loop without an end.
    """
    above: dict[int, int | None] = {}
    left = set(blocks)
    while left:
        ends = [block for block in left if not left.intersection(successors[block])]
        root = max(ends) if ends else max(left)
        component = immediate_dominators(root, _reversed(left, successors))
        above |= component
        left -= component.keys()
    return Tree(above, _spans(above))


def _reversed(nodes: set[int], successors: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """Return the predecessors of every node, inside the set."""
    before: dict[int, list[int]] = {node: [] for node in nodes}
    for node in sorted(nodes):
        for to in sorted(nodes.intersection(successors[node])):
            before[to].append(node)
    return before


def regions(tree: Tree, splits: Iterable[int], successors: Sequence[Sequence[int]]) -> dict[int, frozenset[int]]:
    """Return the region of every join, where its token is on the stack: two are disjoint, or the inner join's is inside the other."""
    out: dict[int, set[int]] = {}
    for split in splits:
        join = tree.above[split]
        if join is not None:
            out.setdefault(join, set()).update(_before(join, split, tree, successors))
    changed = True
    while changed:
        changed = False
        for join in sorted(out):
            for other in sorted(out):
                if tree.leads(other, join) and _overlaps(out[other], out[join]):
                    out[join] |= out[other]
                    changed = True
    return {join: frozenset(out[join]) for join in sorted(out)}


def _overlaps(inner: set[int], outer: set[int]) -> bool:
    return not inner.isdisjoint(outer) and not inner <= outer


def _before(join: int, split: int, tree: Tree, successors: Sequence[Sequence[int]]) -> set[int]:
    return reachable([split], lambda node: (to for to in successors[node] if to != join and tree.leads(to, join)))
